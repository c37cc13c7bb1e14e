//! The load: as many connections as wanted, each asking for its next page as soon as it has the
//! last one whole.
//!
//! This is ApacheBench's method, so that its numbers and these are the same kind: a closed loop on
//! one thread, HTTP/1.0, a new connection for every page unless connections are kept (its `-k`), a
//! page's time from before connecting to its last byte. Unlike it every answer is checked, and the
//! first that is wrong ends the load: pages per second beside errors would be a rate of something
//! else.

use super::connection::{Connection, Event};
use super::error::WebError;
use super::site::{Page, Site};
use crate::error::SuiteError;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags};
use seekwell_io::histogram::Histogram;
use seekwell_io::units::Nanos;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A server that says nothing for so long is given up; ApacheBench's `-s`.
const SILENCE: Duration = Duration::from_secs(30);
/// How often it is looked whether to stop.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    pub concurrency: u32,
    /// Whether they are kept from page to page.
    pub keep_alive: bool,
    /// How much is read from a connection at a time, in bytes.
    pub read_bytes: usize,
    /// How many pages, where that ends it.
    pub pages: Option<u64>,
    /// How long, where that ends it.
    pub time: Option<Duration>,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Served {
    /// From before connecting (on a kept connection, before asking) to the last byte.
    pub latency: Histogram,
    /// Of it, until the connection was there.
    pub connect: Histogram,
    /// Bytes of the pages, without heads.
    pub bytes: u64,
    /// From the first connection to the last page.
    pub elapsed: Nanos,
}

/// Loads a site. `next` chooses each page and does what has to be done before it is asked for.
///
/// # Errors
/// [`WebError`]: the first answer that is not the page. [`SuiteError::Interrupted`].
pub fn load(
    site: &Site,
    what: &Load,
    stop: &AtomicBool,
    progress: &(dyn Fn(f64) + Sync),
    next: &mut dyn FnMut() -> Result<Page, SuiteError>,
) -> Result<Served, SuiteError> {
    let socket =
        |e: rustix::io::Errno| WebError::Socket { what: "waiting for answers", source: e.into() };
    let poll = epoll::create(CreateFlags::CLOEXEC).map_err(socket)?;
    let mut served = Served::default();
    let began = Instant::now();
    let mut asked = 0;
    let done = |asked: u64| {
        stop.load(Relaxed)
            || what.pages.is_some_and(|most| asked >= most)
            || what.time.is_some_and(|time| began.elapsed() >= time)
    };
    let mut connections: Vec<Connection> = Vec::new();
    while connections.len() < what.concurrency as usize && !done(asked) {
        let id = connections.len() as u64;
        connections.push(Connection::open(site, &poll, id, next()?, what.keep_alive)?);
        asked += 1;
    }
    let (mut open, mut heard) = (connections.len(), Instant::now());
    let mut events = Vec::with_capacity(what.concurrency as usize);
    let mut buffer = vec![0; what.read_bytes];
    while open > 0 {
        events.clear();
        match epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), Some(&TICK)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(socket(e).into()),
        }
        if events.is_empty() {
            silent(site, &served, heard)?;
            progress(share(what, served.latency.count(), began));
            // Unfinished pages are not waited for: the server may be dead.
            if stop.load(Relaxed) {
                return Err(SuiteError::Interrupted);
            }
            continue;
        }
        heard = Instant::now();
        for event in &events {
            let id = event.data.u64();
            let connection = &mut connections[id as usize];
            match connection.advance(&poll, &mut buffer, served.latency.count())? {
                Event::Waits => continue,
                Event::Whole { latency, connect } => {
                    served.latency.record(latency);
                    connect.into_iter().for_each(|t| served.connect.record(t));
                    served.bytes += connection.page_bytes();
                }
            }
            if done(asked) {
                open -= 1;
                connection.close();
            } else {
                connection.ask(&poll, next()?, served.latency.count())?;
                asked += 1;
            }
        }
        progress(share(what, served.latency.count(), began));
    }
    served.elapsed = began.elapsed().into();
    if stop.load(Relaxed) { Err(SuiteError::Interrupted) } else { Ok(served) }
}

fn silent(site: &Site, served: &Served, heard: Instant) -> Result<(), WebError> {
    if heard.elapsed() < SILENCE {
        return Ok(());
    }
    Err(WebError::Silent {
        server: site.host.clone(),
        pages: served.latency.count(),
        seconds: SILENCE.as_secs(),
    })
}

fn share(what: &Load, pages: u64, began: Instant) -> f64 {
    let by_count = what.pages.map_or(0.0, |most| pages as f64 / most.max(1) as f64);
    let by_time =
        what.time.map_or(0.0, |t| began.elapsed().as_secs_f64() / t.as_secs_f64().max(1e-9));
    by_count.max(by_time).min(1.0)
}
