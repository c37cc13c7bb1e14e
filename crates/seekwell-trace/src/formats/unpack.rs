//! Decompression on the way: gzip and zstd, recognised by their first bytes.

use std::io::{self, Read};

const BUFFER: usize = 256 << 10;
/// A larger window than this would make a hostile file allocate gigabytes.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// What a reader gives, decompressed if it begins like gzip or zstd.
///
/// # Errors
/// Those of the first read.
pub fn unpacked(mut reader: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut magic = Vec::with_capacity(4);
    reader.by_ref().take(4).read_to_end(&mut magic)?;
    let is_gzip = magic.starts_with(&[0x1f, 0x8b]);
    let is_zstd = magic == [0x28, 0xb5, 0x2f, 0xfd];
    let raw = io::Cursor::new(magic).chain(reader);
    if is_gzip {
        let buffered = io::BufReader::with_capacity(BUFFER, raw);
        return Ok(Box::new(flate2::read::MultiGzDecoder::new(buffered)));
    }
    if is_zstd {
        let mut decoder = zstd::Decoder::new(raw)?;
        decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
        return Ok(Box::new(decoder));
    }
    Ok(Box::new(raw))
}
