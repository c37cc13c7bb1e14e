//! Members of tar archives, as public traces come. A member is named as if its archive were a
//! folder: `MSR-Cambridge.tar/hm_0.csv.gz`.

use super::unpack::unpacked;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use tar::{Archive, Entries};

/// The offset of a header's magic and its first bytes, in POSIX.1-1988 and GNU archives alike.
const MAGIC: (usize, &[u8]) = (257, b"ustar");
/// How many members [`names`] gives.
const NAMES: usize = 5;

/// Whether a file that begins like this is an archive.
pub fn looks_like(head: &[u8]) -> bool {
    head.get(MAGIC.0..).is_some_and(|rest| rest.starts_with(MAGIC.1))
}

/// The archive and the member that a path leads to, if a folder of the path is a file.
pub fn split(path: &Path) -> Option<(&Path, &Path)> {
    let archive = path.ancestors().skip(1).find(|part| part.is_file())?;
    Some((archive, path.strip_prefix(archive).ok()?))
}

/// Opens a member of an archive, which may be compressed as a whole.
///
/// # Errors
/// If the archive cannot be read or has no such file.
pub fn open(archive: &Path, member: &Path) -> io::Result<Box<dyn Read + Send>> {
    let mut file = File::open(archive)?;
    let mut head = Vec::new();
    file.by_ref().take(512).read_to_end(&mut head)?;
    file.rewind()?;
    if looks_like(&head) {
        let (at, bytes) = find(Archive::new(&file).entries_with_seek()?, member)?;
        file.seek(SeekFrom::Start(at))?;
        return Ok(Box::new(file.take(bytes)));
    }
    let (at, bytes) = find(Archive::new(unpacked(file)?).entries()?, member)?;
    let mut again = unpacked(File::open(archive)?)?;
    io::copy(&mut again.by_ref().take(at), &mut io::sink())?;
    Ok(Box::new(again.take(bytes)))
}

/// Where the data of a member lies in its archive, and how many bytes.
fn find<R: Read>(entries: Entries<'_, R>, member: &Path) -> io::Result<(u64, u64)> {
    for entry in entries {
        let entry = entry?;
        if entry.path()? != member {
            continue;
        }
        if !entry.header().entry_type().is_file() {
            let kind = format!("{} is no regular file in the archive", member.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, kind));
        }
        return Ok((entry.raw_file_position(), entry.size()));
    }
    let none = format!("the archive has no file {}", member.display());
    Err(io::Error::new(io::ErrorKind::NotFound, none))
}

/// The first files of an archive, for people.
///
/// # Errors
/// If it cannot be read.
pub fn names(archive: impl Read) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Archive::new(archive).entries()? {
        let entry = entry?;
        if entry.header().entry_type().is_file() {
            names.push(entry.path()?.display().to_string());
        }
        if names.len() == NAMES {
            break;
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{self, Input, Reading};
    use std::io::Write;
    use std::path::PathBuf;
    use std::sync::Arc;

    /// An archive in a folder, with a plain member, a compressed one and a link.
    fn archive(dir: &Path, name: &str) -> PathBuf {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"packed").expect("packs");
        let gzip = gzip.finish().expect("packs");
        let mut made = tar::Builder::new(Vec::new());
        let files =
            [("in/plain.csv", &b"plain"[..]), ("in/packed.csv.gz", &gzip), ("in/x", b"PAR1 PAR1")];
        for (name, data) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(data.len() as u64);
            header.set_mode(0o644);
            made.append_data(&mut header, name, data).expect("added");
        }
        let mut link = tar::Header::new_gnu();
        link.set_entry_type(tar::EntryType::Symlink);
        link.set_size(0);
        made.append_link(&mut link, "in/link", "plain.csv").expect("added");
        let bytes = made.into_inner().expect("made");
        let path = dir.join(name);
        let bytes = match name.ends_with(".zst") {
            true => zstd::encode_all(&bytes[..], 1).expect("packs"),
            false => bytes,
        };
        std::fs::write(&path, bytes).expect("written");
        path
    }

    fn read(path: &Path) -> Result<String, String> {
        let mut text = String::new();
        let mut input = Input::open(path, &Arc::default()).map_err(|error| error.to_string())?;
        input.read_to_string(&mut text).map_err(|error| error.to_string())?;
        Ok(text)
    }

    #[test]
    fn a_member_reads_like_the_file_it_was_made_of() {
        let dir = tempfile::tempdir().expect("a folder");
        for name in ["a.tar", "a.tar.zst"] {
            let archive = archive(dir.path(), name);
            assert_eq!(read(&archive.join("in/plain.csv")).as_deref(), Ok("plain"));
            assert_eq!(read(&archive.join("in/packed.csv.gz")).as_deref(), Ok("packed"));
            let none = read(&archive.join("in/other.csv")).expect_err("not there");
            assert!(none.contains("the archive has no file in/other.csv"), "{none}");
            let link = read(&archive.join("in/link")).expect_err("a link");
            assert!(link.contains("no regular file"), "{link}");
        }
    }

    #[test]
    fn an_archive_is_known_by_its_head_and_names_its_files() {
        let dir = tempfile::tempdir().expect("a folder");
        for name in ["a.tar", "a.tar.zst"] {
            let input = Input::open(&archive(dir.path(), name), &Arc::default()).expect("opens");
            assert!(looks_like(input.head()));
            assert_eq!(names(input).expect("reads"), ["in/plain.csv", "in/packed.csv.gz", "in/x"]);
        }
        assert!(!looks_like(b"128166372003061629,hm,0,Read") && !looks_like(&[0; 1024]));
    }

    #[test]
    fn formats_that_need_a_whole_file_are_refused_by_name() {
        let dir = tempfile::tempdir().expect("a folder");
        let member = archive(dir.path(), "a.tar").join("in/x");
        let opened = formats::open(&member, &Reading::default(), &Arc::default());
        let error = opened.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("cannot be read from inside an archive"), "{error}");
    }

    #[test]
    fn a_torn_archive_is_an_error() {
        let dir = tempfile::tempdir().expect("a folder");
        let whole = archive(dir.path(), "a.tar");
        let bytes = std::fs::read(&whole).expect("reads");
        let torn = dir.path().join("torn.tar");
        std::fs::write(&torn, &bytes[..700]).expect("written");
        assert!(read(&torn.join("in/packed.csv.gz")).is_err());
        let wrong = [&bytes[..150], &[b'9'; 8][..], &bytes[158..]].concat();
        std::fs::write(&torn, wrong).expect("written");
        assert!(read(&torn.join("in/plain.csv")).is_err(), "its checksum does not fit");
    }

    #[test]
    fn what_is_no_archive_has_no_members() {
        let dir = tempfile::tempdir().expect("a folder");
        let plain = dir.path().join("plain");
        std::fs::write(&plain, "text that is longer than nothing").expect("written");
        assert!(read(&plain.join("member")).is_err());
        assert!(read(&dir.path().join("none/member")).is_err());
    }
}
