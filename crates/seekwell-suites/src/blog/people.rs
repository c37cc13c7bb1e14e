//! Who works on the blogs: writers, rewriters, commenters and readers, each a thread that does one
//! thing after another until the time is over.
//!
//! What each does is blogbench's (Frank Denis; its manual and what it does when run): a writer
//! makes a new blog of up to 100 articles and up to 100 pictures, from the highest number down; a
//! rewriter rewrites an article of any blog, and every second time a picture too; a commenter
//! writes up to 100 comments to a blog; a reader reads a blog from its first article on, each
//! article's picture with it, and every second time its comments before.

use super::store::{Blog, BlogFile, BlogStore, MOST_FILES, read};
use crate::error::SuiteError;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use seekwell_io::measurement::{OpMeasurement, Series};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// How long is waited for the first blog.
const NOTHING_YET: Duration = Duration::from_millis(10);
const STEP: Nanos = Nanos::from_millis(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Makes blogs.
    Writer,
    Rewriter,
    Commenter,
    Reader,
}

/// Counts so far, of all threads. Kinds in the order of [`BlogFile::ALL`].
#[derive(Debug, Default)]
pub struct Counters {
    pub blogs_written: AtomicU64,
    pub blogs_read: AtomicU64,
    pub written: [AtomicU64; 3],
    pub read: [AtomicU64; 3],
}

/// What all threads share.
pub struct Scene<'a> {
    pub store: &'a BlogStore,
    pub counters: &'a Counters,
    /// Raised when all are to end.
    pub over: &'a AtomicBool,
    pub began: Instant,
    /// Bytes asked for at a time.
    pub read_bytes: usize,
}

/// What one thread measured.
pub struct Done {
    /// Files read, with times from opening to closing.
    pub read: OpMeasurement,
    /// Files written, with times from creating to renaming.
    pub written: OpMeasurement,
    /// Both over time.
    pub series: Series,
}

pub struct Person<'a> {
    scene: &'a Scene<'a>,
    number: u32,
    random: Xoshiro256PlusPlus,
    content: Vec<u8>,
    buffer: Vec<u8>,
    done: Done,
}

/// What ended a piece of work early.
enum Cut {
    Over,
    Failed(SuiteError),
}

impl From<SuiteError> for Cut {
    fn from(error: SuiteError) -> Self {
        Self::Failed(error)
    }
}

impl<'a> Person<'a> {
    /// The thread of this number.
    pub fn new(scene: &'a Scene<'a>, number: u32, seed: u64) -> Self {
        let seed = seed ^ (u64::from(number) << 32);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut content = vec![0; 65_536];
        random.fill_bytes(&mut content);
        let done = Done {
            read: OpMeasurement::default(),
            written: OpMeasurement::default(),
            series: Series::new(STEP),
        };
        Self { scene, number, random, content, buffer: vec![0; scene.read_bytes], done }
    }

    /// Works until it is over.
    ///
    /// # Errors
    /// [`SuiteError`]; then it is over for all.
    pub fn work(mut self, role: Role) -> Result<Done, SuiteError> {
        loop {
            let done = match role {
                Role::Writer => self.write_blog(),
                Role::Rewriter => self.rewrite(),
                Role::Commenter => self.comment(),
                Role::Reader => self.read_blog(),
            };
            match done {
                Ok(()) => {}
                Err(Cut::Over) => return Ok(self.done),
                Err(Cut::Failed(error)) => {
                    self.scene.over.store(true, Relaxed);
                    return Err(error);
                }
            }
        }
    }

    fn go_on(&self) -> Result<(), Cut> {
        if self.scene.over.load(Relaxed) { Err(Cut::Over) } else { Ok(()) }
    }

    /// From 1 to 100.
    fn number(&mut self) -> u32 {
        (self.random.next_u64() % u64::from(MOST_FILES)) as u32 + 1
    }

    fn coin(&mut self) -> bool {
        self.random.next_u64() & 1 == 0
    }

    fn write_blog(&mut self) -> Result<(), Cut> {
        self.go_on()?;
        let blog = self.scene.store.begin()?;
        for kind in [BlogFile::Article, BlogFile::Picture] {
            self.write_down(&blog, kind)?;
        }
        self.scene.counters.blogs_written.fetch_add(1, Relaxed);
        Ok(())
    }

    fn comment(&mut self) -> Result<(), Cut> {
        let Some(blog) = self.some_blog()? else { return Ok(()) };
        self.scene.store.make_room()?;
        self.write_down(&blog, BlogFile::Comment)
    }

    fn rewrite(&mut self) -> Result<(), Cut> {
        let Some(blog) = self.some_blog()? else { return Ok(()) };
        self.scene.store.make_room()?;
        if self.coin() {
            let number = self.number();
            self.write(&blog, BlogFile::Picture, number)?;
        }
        let number = self.number();
        self.write(&blog, BlogFile::Article, number)
    }

    fn some_blog(&mut self) -> Result<Option<std::sync::Arc<Blog>>, Cut> {
        self.go_on()?;
        let blog = self.scene.store.pick(self.random.next_u64());
        if blog.is_none() {
            thread::sleep(NOTHING_YET);
        }
        Ok(blog)
    }

    /// Some files of a kind, the first last: then a reader finds all of them.
    fn write_down(&mut self, blog: &Blog, kind: BlogFile) -> Result<(), Cut> {
        (1..=self.number()).rev().try_for_each(|number| self.write(blog, kind, number))
    }

    fn write(&mut self, blog: &Blog, kind: BlogFile, number: u32) -> Result<(), Cut> {
        self.go_on()?;
        let (least, most) = kind.bytes();
        let size = least + (self.random.next_u64() % u64::from(most - least)) as u32;
        let began = Instant::now();
        let content = &self.content[..size as usize];
        if self.scene.store.write(blog, kind, number, content, self.number)? {
            self.scene.counters.written[kind as usize].fetch_add(1, Relaxed);
            self.note(Op::Write, began, u64::from(size));
        }
        Ok(())
    }

    fn read_blog(&mut self) -> Result<(), Cut> {
        let Some(blog) = self.some_blog()? else { return Ok(()) };
        if self.coin() {
            let mut number = 1;
            while number <= MOST_FILES && self.read(&blog, BlogFile::Comment, number)? {
                number += 1;
            }
        }
        for number in 1..=MOST_FILES {
            self.read(&blog, BlogFile::Picture, number)?;
            if !self.read(&blog, BlogFile::Article, number)? {
                break;
            }
        }
        self.scene.counters.blogs_read.fetch_add(1, Relaxed);
        Ok(())
    }

    fn read(&mut self, blog: &Blog, kind: BlogFile, number: u32) -> Result<bool, Cut> {
        self.go_on()?;
        let path = blog.file(kind, number);
        let began = Instant::now();
        let Some(bytes) = read(Path::new(&path), kind, &mut self.buffer)? else {
            return Ok(false);
        };
        self.scene.counters.read[kind as usize].fetch_add(1, Relaxed);
        self.note(Op::Read, began, bytes);
        Ok(true)
    }

    fn note(&mut self, op: Op, began: Instant, bytes: u64) {
        let (now, latency) = (Instant::now(), Nanos::from(began.elapsed()));
        let at = now.duration_since(self.scene.began).into();
        let of = if op == Op::Read { &mut self.done.read } else { &mut self.done.written };
        of.requests += 1;
        of.bytes += bytes;
        of.service.record(latency);
        let interval = self.done.series.at(at);
        interval.requests[op as usize] += 1;
        interval.bytes[usize::from(op == Op::Write)] += bytes;
        interval.latency_ns_sum[op as usize] += latency.0;
        interval.latency_ns_max = interval.latency_ns_max.max(latency.0);
    }
}
