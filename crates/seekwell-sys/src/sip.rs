//! SipHash-2-4 (Aumasson and Bernstein, 2012): a short hash under a key.

pub(crate) fn hash(key: [u8; 16], data: &[u8]) -> u64 {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |sum, b| sum << 8 | u64::from(*b));
    let (k0, k1) = (word(&key[..8]), word(&key[8..]));
    let mut v = [
        k0 ^ 0x736f_6d65_7073_6575,
        k1 ^ 0x646f_7261_6e64_6f6d,
        k0 ^ 0x6c79_6765_6e65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ];
    let mut take = |m: u64| {
        v[3] ^= m;
        rounds(&mut v, 2);
        v[0] ^= m;
    };
    let chunks = data.chunks_exact(8);
    let rest = word(chunks.remainder());
    chunks.for_each(|chunk| take(word(chunk)));
    take((data.len() as u64) << 56 | rest);
    v[2] ^= 0xff;
    rounds(&mut v, 4);
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

fn rounds(v: &mut [u64; 4], count: usize) {
    for _ in 0..count {
        v[0] = v[0].wrapping_add(v[1]);
        v[1] = v[1].rotate_left(13) ^ v[0];
        v[0] = v[0].rotate_left(32);
        v[2] = v[2].wrapping_add(v[3]);
        v[3] = v[3].rotate_left(16) ^ v[2];
        v[0] = v[0].wrapping_add(v[3]);
        v[3] = v[3].rotate_left(21) ^ v[0];
        v[2] = v[2].wrapping_add(v[1]);
        v[1] = v[1].rotate_left(17) ^ v[2];
        v[2] = v[2].rotate_left(32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_test_values_come_out() {
        let key: [u8; 16] = std::array::from_fn(|i| i as u8);
        let data: Vec<u8> = (0..15).collect();
        assert_eq!(hash(key, &data), 0xa129_ca61_49be_45e5);
        assert_eq!(hash(key, &[]), 0x726f_db47_dd0e_0e31);
        assert_eq!(hash(key, &data[..8]), 0x93f5_f579_9a93_2462);
    }
}
