//! The blogs: what is on disk, kept beside it in memory, so that both can be compared at the end.
//!
//! Blogs are folders, numbered as they were begun. The oldest goes when there is no room for a new
//! one. Files are made under another name and renamed, so that a reader sees a file whole or not
//! at all.

use super::error::BlogError;
use crate::error::{Describe, SuiteError};
use std::collections::VecDeque;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// The most files of one kind in a blog.
pub const MOST_FILES: u32 = 100;
/// Files take whole blocks.
const BLOCK: u64 = 4096;
/// What blogbench writes at a time.
const CHUNK: usize = 8192;

/// The kinds of file in a blog, with blogbench's sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlogFile {
    /// Text by a writer: 1 to 32 KiB.
    Article,
    /// A picture beside it: 8 to 64 KiB.
    Picture,
    /// A reader's comment: 2 to 10 KiB.
    Comment,
}

impl BlogFile {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Article, Self::Picture, Self::Comment];

    /// Singular, in names of files and values.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Article => "article",
            Self::Picture => "picture",
            Self::Comment => "comment",
        }
    }

    const fn ending(self) -> &'static str {
        match self {
            Self::Picture => "jpg",
            Self::Article | Self::Comment => "xml",
        }
    }

    /// Sizes from the first to below the second, in bytes.
    pub const fn bytes(self) -> (u32, u32) {
        match self {
            Self::Article => (1024, 32_768),
            Self::Picture => (8192, 65_536),
            Self::Comment => (2048, 10_240),
        }
    }
}

/// What a blog takes at most: as many files of each kind as it may have, each as large as can be.
pub const MOST_BYTES: u64 = MOST_FILES as u64 * (32_768 + 65_536 + 12_288);

#[derive(Debug)]
pub struct Blog {
    folder: PathBuf,
    /// Whether it is removed; held while a file is made in it.
    gone: RwLock<bool>,
    /// Size of each file by kind and number, 0 if absent.
    sizes: Mutex<[[u32; MOST_FILES as usize]; 3]>,
}

impl Blog {
    pub fn file(&self, kind: BlogFile, number: u32) -> PathBuf {
        self.folder.join(format!("{}-{number}.{}", kind.name(), kind.ending()))
    }

    fn held(&self) -> (u64, u64) {
        let sizes = locked(&self.sizes);
        let all = sizes.iter().flatten().filter(|size| **size > 0);
        all.fold((0, 0), |(files, bytes), size| (files + 1, bytes + u64::from(*size)))
    }

    fn blocks(&self) -> u64 {
        locked(&self.sizes).iter().flatten().map(|size| blocks(*size)).sum()
    }
}

fn blocks(size: u32) -> u64 {
    u64::from(size).next_multiple_of(BLOCK)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
pub struct BlogStore {
    dir: PathBuf,
    /// The oldest first.
    shelf: Mutex<VecDeque<Arc<Blog>>>,
    begun: AtomicU64,
    removed: AtomicU64,
    bytes: AtomicU64,
    room_bytes: u64,
}

impl BlogStore {
    /// No blogs yet, in `dir`, that may take `room_bytes` there.
    pub fn new(dir: &Path, room_bytes: u64) -> Self {
        Self {
            dir: dir.to_path_buf(),
            shelf: Mutex::default(),
            begun: AtomicU64::new(0),
            removed: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            room_bytes,
        }
    }

    /// What the files take on disk, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// How many were removed to make room.
    pub fn removed(&self) -> u64 {
        self.removed.load(Relaxed)
    }

    /// One of the blogs, whichever `random` says.
    pub fn pick(&self, random: u64) -> Option<Arc<Blog>> {
        let shelf = locked(&self.shelf);
        let index = random.checked_rem(shelf.len() as u64)?;
        shelf.get(index as usize).cloned()
    }

    /// Begins a blog.
    ///
    /// # Errors
    /// [`SuiteError`].
    pub fn begin(&self) -> Result<Arc<Blog>, SuiteError> {
        self.make_room()?;
        let folder = self.dir.join(format!("blog-{}", self.begun.fetch_add(1, Relaxed) + 1));
        fs::create_dir(&folder).doing("making", &folder)?;
        let blog = Blog { folder, gone: RwLock::new(false), sizes: Mutex::new([[0; 100]; 3]) };
        let blog = Arc::new(blog);
        locked(&self.shelf).push_back(Arc::clone(&blog));
        Ok(blog)
    }

    /// Removes the oldest blogs until the others fit.
    ///
    /// # Errors
    /// [`SuiteError`].
    pub fn make_room(&self) -> Result<(), SuiteError> {
        while self.bytes() > self.room_bytes {
            let oldest = {
                let mut shelf = locked(&self.shelf);
                if shelf.len() > 1 { shelf.pop_front() } else { None }
            };
            let Some(oldest) = oldest else { return Ok(()) };
            *oldest.gone.write().unwrap_or_else(PoisonError::into_inner) = true;
            fs::remove_dir_all(&oldest.folder).doing("removing", &oldest.folder)?;
            self.bytes.fetch_sub(oldest.blocks(), Relaxed);
            self.removed.fetch_add(1, Relaxed);
        }
        Ok(())
    }

    /// Replaces a file, as `writer`; false when the blog was removed meanwhile.
    ///
    /// # Errors
    /// [`SuiteError`].
    pub fn write(
        &self,
        blog: &Blog,
        kind: BlogFile,
        number: u32,
        content: &[u8],
        writer: u32,
    ) -> Result<bool, SuiteError> {
        let gone = blog.gone.read().unwrap_or_else(PoisonError::into_inner);
        if *gone {
            return Ok(false);
        }
        let path = blog.file(kind, number);
        let unfinished = path.with_extension(format!("{writer}.tmp"));
        let new = OpenOptions::new().write(true).create_new(true).open(&unfinished);
        let written = new.and_then(|mut f| content.chunks(CHUNK).try_for_each(|c| f.write_all(c)));
        written.doing("writing", &unfinished)?;
        let size = content.len() as u32;
        // Under the lock, or of two writers the store could believe the other.
        let mut sizes = locked(&blog.sizes);
        fs::rename(&unfinished, &path).doing("renaming", &unfinished)?;
        let place = &mut sizes[kind as usize][number as usize - 1];
        let before = std::mem::replace(place, size);
        self.bytes.fetch_add(blocks(size), Relaxed);
        self.bytes.fetch_sub(blocks(before), Relaxed);
        Ok(true)
    }

    /// Compares all blogs with what is on disk.
    ///
    /// # Errors
    /// [`BlogError::Differs`].
    pub fn check(&self) -> Result<(), SuiteError> {
        for blog in &*locked(&self.shelf) {
            let (mut files, mut bytes) = (0, 0);
            for entry in fs::read_dir(&blog.folder).doing("listing", &blog.folder)? {
                let entry = entry.doing("listing", &blog.folder)?;
                files += 1;
                bytes += entry.metadata().doing("looking at", &entry.path())?.len();
            }
            if blog.held() != (files, bytes) {
                let words = |(files, bytes)| format!("{files} files with {bytes} bytes");
                return Err(SuiteError::Blog(BlogError::Differs {
                    path: blog.folder.clone(),
                    expected: words(blog.held()),
                    found: words((files, bytes)),
                }));
            }
        }
        Ok(())
    }
}

/// Reads a whole file, a buffer at a time; `None` if it does not exist.
///
/// # Errors
/// [`BlogError::Torn`], and what the kernel says.
pub fn read(path: &Path, kind: BlogFile, buffer: &mut [u8]) -> Result<Option<u64>, SuiteError> {
    use std::io::Read;
    let mut file = match fs::File::open(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.doing("opening", path)?,
    };
    let mut bytes = 0;
    loop {
        match file.read(buffer) {
            Ok(0) => break,
            Ok(n) => bytes += n as u64,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            failed => drop(failed.doing("reading", path)?),
        }
    }
    let (least, most) = kind.bytes();
    if !(u64::from(least)..u64::from(most)).contains(&bytes) {
        return Err(BlogError::Torn { path: path.to_path_buf(), bytes }.into());
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::{Class, Classified};

    fn content(kind: BlogFile) -> Vec<u8> {
        vec![7; kind.bytes().0 as usize + 100]
    }

    #[test]
    fn the_book_agrees_with_the_disk_and_says_so_when_it_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let store = BlogStore::new(dir.path(), 1 << 30);
        let blog = store.begin().unwrap();
        for kind in BlogFile::ALL {
            assert!(store.write(&blog, kind, 1, &content(kind), 0).unwrap());
            assert!(store.write(&blog, kind, 100, &content(kind), 0).unwrap());
            assert!(store.write(&blog, kind, 1, &content(kind)[1..], 1).unwrap(), "again");
        }
        store.check().unwrap();
        assert_eq!(blog.held(), (6, 2 * (1024 + 8192 + 2048) + 597));
        assert_eq!(store.bytes(), 2 * (4096 + 12_288 + 4096));
        let path = blog.file(BlogFile::Article, 100);
        let mut buffer = [0; 8];
        assert_eq!(read(&path, BlogFile::Article, &mut buffer).unwrap(), Some(1124));
        let missing = blog.file(BlogFile::Article, 99);
        assert_eq!(read(&missing, BlogFile::Article, &mut buffer).unwrap(), None);
        fs::write(&path, b"short").unwrap();
        let torn = read(&path, BlogFile::Article, &mut buffer).unwrap_err();
        assert!(
            torn.to_string().contains("was read as 5 bytes") && torn.class() == Class::Invalid,
            "{torn}"
        );
        let differs = store.check().unwrap_err();
        assert!(differs.to_string().contains("holds 6 files"), "{differs}");
    }

    #[test]
    fn the_oldest_blog_makes_room_and_nothing_is_written_to_it_any_more() {
        let dir = tempfile::tempdir().unwrap();
        let store = BlogStore::new(dir.path(), 20_000);
        let first = store.begin().unwrap();
        assert!(store.write(&first, BlogFile::Picture, 1, &content(BlogFile::Picture), 0).unwrap());
        let second = store.begin().unwrap();
        assert!(
            store.write(&second, BlogFile::Picture, 1, &content(BlogFile::Picture), 0).unwrap()
        );
        let third = store.begin().unwrap();
        assert_eq!((store.removed(), store.bytes()), (1, 12_288));
        assert!(
            !store.write(&first, BlogFile::Article, 1, &content(BlogFile::Article), 0).unwrap()
        );
        assert!(!first.folder.exists() && second.folder.exists() && third.folder.exists());
        store.check().unwrap();
    }
}
