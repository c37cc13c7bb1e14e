//! Paths in documents. A path is bytes and JSON is text: what is not UTF-8 is written `\xff`, and
//! so that this can be read back, a backslash before an `x` is written `\x5c`.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A path as documents write it.
pub fn path_text(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text += &chunk.valid().replace("\\x", "\\x5cx");
        chunk.invalid().iter().for_each(|byte| text += &format!("\\x{byte:02x}"));
    }
    text
}

/// The path that [`path_text`] wrote.
pub fn text_path(text: &str) -> PathBuf {
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let byte = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend_from_slice(&part.as_bytes()[2..]);
            }
            None => bytes.extend_from_slice(format!("\\x{part}").as_bytes()),
        }
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn every_path_comes_back_as_it_was() {
        for (bytes, text) in [
            (&b"/mnt/disk"[..], "/mnt/disk"),
            (b"/mnt/\xff\xfe/a", "/mnt/\\xff\\xfe/a"),
            ("/mnt/größe".as_bytes(), "/mnt/größe"),
            (b"/a\\b", "/a\\b"),
            (b"/a\\xff", "/a\\x5cxff"),
            (b"\\x\xff\\\\x", "\\x5cx\\xff\\\\x5cx"),
            (b"\\", "\\"),
            (b"", ""),
        ] {
            let path = Path::new(OsStr::from_bytes(bytes));
            assert_eq!(path_text(path), text);
            assert_eq!(text_path(text), path, "{text}");
        }
        assert_eq!(text_path("a\\xzz"), Path::new("a\\xzz"), "as it stands");
    }
}
