//! The pages: files in folders, of sizes between two bounds, each power of two of size equally
//! likely, filled with bytes that nothing compresses.

use crate::error::{Describe, SuiteError};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{Advice, Mode, OFlags};
use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const FOLDER: u32 = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    pub pages: u32,
    /// The smallest, in bytes; 1 at least.
    pub smallest_bytes: u64,
    pub largest_bytes: u64,
    pub seed: u64,
}

impl Sizes {
    /// The size of each, in order.
    pub fn draw(&self) -> Vec<u64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let (low, high) = (self.smallest_bytes as f64, self.largest_bytes as f64);
        let one = |_| {
            let even = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            (low * (high / low).powf(even)).round() as u64
        };
        (0..self.pages).map(one).collect()
    }
}

/// Pages on disk. What made the directory removes them.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    handle: OwnedFd,
    bytes: Vec<u64>,
}

impl Tree {
    /// Writes the pages into `root`, an empty directory, and syncs them. Folders and
    /// files can be read by everybody, for a server that is another user.
    ///
    /// # Errors
    /// [`SuiteError`].
    pub fn make(
        root: &Path,
        sizes: &Sizes,
        stop: &AtomicBool,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Self, SuiteError> {
        let bytes = sizes.draw();
        let total = bytes.iter().sum::<u64>().max(1);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(!sizes.seed);
        let mut content = vec![0; sizes.largest_bytes as usize];
        random.fill_bytes(&mut content);
        let mut written = 0;
        for (n, &size) in (0..).zip(&bytes) {
            if stop.load(Relaxed) {
                return Err(SuiteError::Interrupted);
            }
            let path = root.join(name(n));
            if n % FOLDER == 0 {
                let folder = path.parent().unwrap_or(root);
                DirBuilder::new().mode(0o755).create(folder).doing("making", folder)?;
            }
            let content = &mut content[..size as usize];
            let head = content.len().min(8);
            content[..head].copy_from_slice(&random.next_u64().to_le_bytes()[..head]);
            let file = File::create_new(&path).and_then(|mut file| file.write_all(content));
            file.doing("writing", &path)?;
            written += size;
            progress(written as f64 / total as f64);
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(root, flags, Mode::empty()).doing("opening", root)?;
        rustix::fs::syncfs(&handle).doing("syncing", root)?;
        Ok(Self { root: root.to_path_buf(), handle, bytes })
    }

    pub fn pages(&self) -> u32 {
        self.bytes.len() as u32
    }

    pub fn bytes(&self, page: u32) -> u64 {
        self.bytes[page as usize]
    }

    pub fn total_bytes(&self) -> u64 {
        self.bytes.iter().sum()
    }

    /// Its path in the tree, as it stands in an address after the slash.
    pub fn name(&self, page: u32) -> String {
        name(page)
    }

    /// The page of an address, if it is one.
    pub fn find(&self, path: &str) -> Option<u32> {
        let digits = path.rsplit_once('/')?.1.strip_suffix(".html")?;
        let page = digits.parse().ok().filter(|page| *page < self.pages())?;
        (path.strip_prefix('/')? == name(page)).then_some(page)
    }

    /// Opens a page to be read.
    ///
    /// # Errors
    /// The kernel's.
    pub fn open(&self, page: u32) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        rustix::fs::openat(&self.handle, name(page), flags, Mode::empty())
    }

    /// Drops a page from the page cache unless it is in use.
    ///
    /// # Errors
    /// [`SuiteError`].
    pub fn forget(&self, number: u32) -> Result<(), SuiteError> {
        let done =
            self.open(number).and_then(|f| rustix::fs::fadvise(&f, 0, None, Advice::DontNeed));
        done.doing("dropping from the cache", &self.root.join(name(number)))
    }

    /// Drops all pages from the page cache.
    ///
    /// # Errors
    /// [`SuiteError`].
    pub fn forget_all(&self) -> Result<(), SuiteError> {
        (0..self.pages()).try_for_each(|page| self.forget(page))
    }

    /// Reads all pages into the page cache.
    ///
    /// # Errors
    /// [`SuiteError`].
    pub fn warm(&self) -> Result<(), SuiteError> {
        let mut sink = std::io::sink();
        for number in 0..self.pages() {
            let path = self.root.join(name(number));
            let read = File::open(&path).and_then(|mut file| std::io::copy(&mut file, &mut sink));
            read.doing("reading", &path)?;
        }
        Ok(())
    }
}

fn name(page: u32) -> String {
    format!("{:03}/{page:06}.html", page / FOLDER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const SIZES: Sizes = Sizes { pages: 1_200, smallest_bytes: 100, largest_bytes: 6_400, seed: 5 };

    fn made(sizes: &Sizes) -> (tempfile::TempDir, Tree) {
        let dir = tempfile::tempdir().unwrap();
        let tree = Tree::make(dir.path(), sizes, &AtomicBool::new(false), &|_| ()).unwrap();
        (dir, tree)
    }

    #[test]
    fn pages_have_the_sizes_they_were_drawn_and_the_same_seed_draws_the_same() {
        let (dir, tree) = made(&SIZES);
        assert_eq!(SIZES.draw(), SIZES.draw());
        for page in [0, 1, 499, 500, 1_199] {
            let len = fs::metadata(dir.path().join(tree.name(page))).unwrap().len();
            assert_eq!(len, tree.bytes(page));
            assert!((100..=6_400).contains(&len));
        }
        let below = SIZES.draw().iter().filter(|b| **b < 800).count();
        assert!(
            (500..700).contains(&below),
            "half of them are under the geometric middle: {below}"
        );
    }

    #[test]
    fn only_the_exact_address_of_a_page_finds_it() {
        let (_dir, tree) = made(&SIZES);
        assert_eq!(tree.find("/001/000500.html"), Some(500));
        for other in [
            "/001/000499.html",
            "/001/500.html",
            "001/000500.html",
            "/002/001200.html",
            "/../etc/passwd",
            "/001/000500.html/",
            "/",
            "",
            "/001/+00500.html",
        ] {
            assert_eq!(tree.find(other), None, "{other}");
        }
    }

    #[test]
    fn asked_to_stop_it_makes_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let tree = Tree::make(dir.path(), &SIZES, &AtomicBool::new(true), &|_| ());
        assert!(matches!(tree, Err(SuiteError::Interrupted)));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
