//! An initramfs: archives in cpio's `newc` form, one after another, as the kernel takes them.

#[derive(Default)]
pub struct Archive {
    bytes: Vec<u8>,
    inodes: u32,
    folders: Vec<String>,
}

const FOLDER: u32 = 0o040_755;
const SYMLINK: u32 = 0o120_777;
const CHARACTER_DEVICE: u32 = 0o020_600;

impl Archive {
    /// A file, with the folders above it. `path` has no leading slash.
    pub fn file(&mut self, path: &str, permissions: u32, content: &[u8]) {
        self.parents(path);
        self.entry(path, 0o100_000 | permissions, (0, 0), content);
    }

    /// A folder, with those above it.
    pub fn folder(&mut self, path: &str) {
        self.parents(&format!("{path}/"));
    }

    pub fn symlink(&mut self, path: &str, to: &str) {
        self.parents(path);
        self.entry(path, SYMLINK, (0, 0), to.as_bytes());
    }

    pub fn character_device(&mut self, path: &str, major: u32, minor: u32) {
        self.parents(path);
        self.entry(path, CHARACTER_DEVICE, (major, minor), &[]);
    }

    /// The archive, closed.
    pub fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, (0, 0), &[]);
        self.bytes
    }

    fn parents(&mut self, path: &str) {
        for (at, _) in path.match_indices('/') {
            let folder = &path[..at];
            if !self.folders.iter().any(|f| f == folder) {
                self.folders.push(folder.to_owned());
                self.entry(folder, FOLDER, (0, 0), &[]);
            }
        }
    }

    fn entry(&mut self, path: &str, mode: u32, device: (u32, u32), content: &[u8]) {
        self.inodes += 1;
        let fields = [
            self.inodes,
            mode,
            0, // owner
            0, // group
            1, // links
            0, // time
            content.len() as u32,
            0, // device it lies on
            0,
            device.0,
            device.1,
            path.len() as u32 + 1,
            0, // checksum: none in this form
        ];
        self.bytes.extend(b"070701");
        for field in fields {
            self.bytes.extend(format!("{field:08X}").bytes());
        }
        self.bytes.extend(path.bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    #[test]
    fn cpio_reads_what_was_written() {
        let mut archive = Archive::default();
        archive.file("a/b/odd", 0o755, b"12345");
        archive.symlink("a/link", "b/odd");
        archive.folder("proc");
        let bytes = archive.finish();
        let spawned = Command::new("cpio")
            .args(["--list", "--verbose", "--numeric-uid-gid", "--quiet"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut child) = spawned else {
            eprintln!("skipped: there is no cpio");
            return;
        };
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let text = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        let line = |name: &str| text.lines().find(|l| l.ends_with(name)).unwrap_or_default();
        assert!(line(" a").starts_with("drwxr-xr-x"), "{text}");
        assert!(line(" a/b/odd").starts_with("-rwxr-xr-x"), "{text}");
        assert!(line(" a/b/odd").contains(" 5 "), "{text}");
        assert!(line(" a/link -> b/odd").starts_with('l'), "{text}");
        assert!(line(" proc").starts_with('d'), "{text}");
    }

    #[test]
    fn a_folder_is_written_once_and_every_entry_starts_on_a_word() {
        let mut archive = Archive::default();
        archive.file("x/1", 0o644, b"a");
        archive.file("x/2", 0o644, b"ab");
        let bytes = archive.finish();
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes);
        let heads: Vec<usize> = text.match_indices("070701").map(|(at, _)| at).collect();
        assert_eq!(heads.len(), 4, "the folder, two files and the trailer");
        assert!(heads.iter().all(|at| at % 4 == 0), "{heads:?}");
    }
}
