//! The sums that verify headers hold, under fio's numbers for them.

use crate::job::Checksum;
use crc::Crc;
use sha2::Digest;

/// The longest sum, in bytes.
pub const LONGEST: usize = 64;

/// Polynomials and bit orders as fio has them: CRC-64 of ECMA-182 in its plain form, CRC-16 as on
/// IBM's tapes, CRC-7 as on memory cards.
static CRC64: Crc<u64> = Crc::<u64>::new(&crc::CRC_64_ECMA_182);
static CRC32: Crc<u32> = Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);
static CRC16: Crc<u16> = Crc::<u16>::new(&crc::CRC_16_ARC);
static CRC7: Crc<u8> = Crc::<u8>::new(&crc::CRC_7_MMC);

/// fio's number of a kind of header.
pub const fn number(sum: Checksum) -> u16 {
    match sum {
        Checksum::Meta => 1,
        Checksum::Md5 => 2,
        Checksum::Crc64 => 3,
        Checksum::Crc32 => 4,
        Checksum::Crc32c => 5,
        Checksum::Crc16 => 7,
        Checksum::Crc7 => 8,
        Checksum::Sha256 => 9,
        Checksum::Sha512 => 10,
        Checksum::Sha3_224 => 11,
        Checksum::Sha3_256 => 12,
        Checksum::Sha3_384 => 13,
        Checksum::Sha3_512 => 14,
        Checksum::Xxhash => 15,
        Checksum::Sha1 => 16,
        Checksum::Pattern => 17,
        Checksum::Null => 18,
    }
}

/// How many bytes of a header the sum takes.
pub const fn len(sum: Checksum) -> usize {
    match sum {
        Checksum::Meta | Checksum::Pattern | Checksum::Null => 0,
        Checksum::Crc7 => 1,
        Checksum::Crc16 => 2,
        Checksum::Crc32 | Checksum::Crc32c | Checksum::Xxhash => 4,
        Checksum::Crc64 => 8,
        Checksum::Md5 => 16,
        Checksum::Sha1 => 20,
        Checksum::Sha3_224 => 28,
        Checksum::Sha256 | Checksum::Sha3_256 => 32,
        Checksum::Sha3_384 => 48,
        Checksum::Sha512 | Checksum::Sha3_512 => 64,
    }
}

/// Sums up `data` into the first [`len`] bytes of `out`.
pub fn sum(kind: Checksum, data: &[u8], out: &mut [u8; LONGEST]) {
    match kind {
        Checksum::Meta | Checksum::Pattern | Checksum::Null => {}
        Checksum::Crc7 => out[0] = CRC7.checksum(data),
        Checksum::Crc16 => out[..2].copy_from_slice(&CRC16.checksum(data).to_le_bytes()),
        Checksum::Crc32 => out[..4].copy_from_slice(&CRC32.checksum(data).to_le_bytes()),
        Checksum::Crc32c => out[..4].copy_from_slice(&plain_crc32c(data).to_le_bytes()),
        Checksum::Xxhash => {
            // The seed is fio's.
            let hash = twox_hash::XxHash32::oneshot(1, data);
            out[..4].copy_from_slice(&hash.to_le_bytes());
        }
        Checksum::Crc64 => out[..8].copy_from_slice(&CRC64.checksum(data).to_le_bytes()),
        Checksum::Md5 => digest::<md5::Md5>(data, out),
        Checksum::Sha1 => digest::<sha1::Sha1>(data, out),
        Checksum::Sha256 => digest::<sha2::Sha256>(data, out),
        Checksum::Sha512 => digest::<sha2::Sha512>(data, out),
        Checksum::Sha3_224 => digest::<sha3::Sha3_224>(data, out),
        Checksum::Sha3_256 => digest::<sha3::Sha3_256>(data, out),
        Checksum::Sha3_384 => digest::<sha3::Sha3_384>(data, out),
        Checksum::Sha3_512 => digest::<sha3::Sha3_512>(data, out),
    }
}

/// CRC-32C without the inversion at its end, as the processor's instruction leaves it.
pub fn plain_crc32c(data: &[u8]) -> u32 {
    !crc32c::crc32c(data)
}

/// Writes the digest of `data`.
fn digest<D: Digest>(data: &[u8], out: &mut [u8; LONGEST]) {
    let digest = D::digest(data);
    out[..digest.len()].copy_from_slice(&digest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(kind: Checksum, data: &[u8]) -> String {
        let mut out = [0; LONGEST];
        sum(kind, data, &mut out);
        out[..len(kind)].iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn sums_have_the_check_values_of_their_definitions() {
        // The catalogue of CRCs by G. Cook gives CRCs of "123456789"; RFC 1321, FIPS 180 and 202
        // the digests of "abc".
        let nine = b"123456789";
        assert_eq!(hex(Checksum::Crc32c, nine), format!("{:08x}", (!0xe306_9283_u32).swap_bytes()));
        assert_eq!(hex(Checksum::Crc32, nine), "2639f4cb");
        assert_eq!(hex(Checksum::Crc16, nine), "3dbb");
        assert_eq!(hex(Checksum::Crc7, nine), "75");
        assert_eq!(hex(Checksum::Md5, b"abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(hex(Checksum::Sha1, b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert!(hex(Checksum::Sha256, b"abc").starts_with("ba7816bf8f01cfea414140de5dae2223"));
        assert!(hex(Checksum::Sha3_256, b"abc").starts_with("3a985da74fe225b2045c172d6bd390bd"));
    }
}
