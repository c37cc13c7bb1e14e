//! Kept runs and experiments over HTTP, to be read in a browser: those of a folder, or the runs of
//! many hosts in a database; and metrics, to be read by Prometheus.
//!
//! Every connection has a thread of its own and makes one request, with two seconds for its head
//! and a lowest rate for its answer. When all places are taken, a newcomer gets that of the
//! slowest. Nothing can be changed: an address has one of a few forms or names nothing, and no part
//! of it is joined to a path before it is known to be an id.

mod connections;
mod door;
mod experiments;
mod fleet;
mod folder;
mod guests;
mod http;

use door::{Door, is_token};
use fleet::Fleet;
use folder::Folder;
use guests::{Guest, Guests};
use http::{Answer, Request};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use seekwell_fleet::{FleetError, Place};
use seekwell_report::{Kept, ReportError, Served};
use seekwell_runs::{RunEntry, Store};
use seekwell_sys::classify;
use seekwell_sys::thread::start;
use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};

/// How often the stop flag is looked at while no connection comes, in milliseconds.
const TURN_MS: i64 = 200;
/// The path that Prometheus scrapes.
const METRICS: &str = "metrics";

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The text is not a token. It is not repeated: it may be somebody's secret.
    #[error(
        "a token is 16 to 128 letters, digits, '-', '.', '_' and '~'; leave it out for a random one"
    )]
    Token,
    /// The port is taken, or the address is not this machine's.
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    /// The kernel gives no random bytes or no connections.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
    /// The database cannot be read.
    #[error(transparent)]
    Fleet(#[from] FleetError),
}

classify!(ServeError {
    Usage: Token;
    Refused: Listen, System;
    | Self::Fleet(error) => error.class(),
});

/// Where runs are read from.
#[derive(Debug)]
pub enum Source {
    /// A folder; the experiments beside it are shown, too.
    Folder(Store),
    /// A database of many hosts' runs.
    Database(Box<Place>),
    /// Current metrics as OpenMetrics, at `/metrics`.
    Metrics(Arc<Mutex<String>>),
}

/// A server that listens, and answers once it [runs](Server::run).
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    pages: Arc<Pages>,
}

impl Server {
    /// Listens on an address. Beyond loopback a token is needed: the given one, else a random one.
    ///
    /// # Errors
    /// [`ServeError`] for what is no token, an address that cannot be listened on, and a database
    /// that cannot be read.
    pub fn open(
        source: Source,
        wanted: SocketAddr,
        token: Option<String>,
    ) -> Result<Self, ServeError> {
        let token = match token {
            Some(token) if is_token(&token) => Some(token),
            Some(_) => return Err(ServeError::Token),
            None if wanted.ip().is_loopback() => None,
            None => Some(random_token()?),
        };
        let fail = |source| ServeError::Listen { address: wanted, source };
        let listener = TcpListener::bind(wanted).map_err(fail)?;
        listener.set_nonblocking(true).map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        let shown = match source {
            Source::Folder(store) => Shown::Folder(Folder::new(store)),
            Source::Database(place) => Shown::Fleet(Fleet::open(place)?),
            Source::Metrics(text) => Shown::Metrics(text),
        };
        let door = Door { bind: wanted.ip(), token };
        Ok(Self { listener, address, pages: Arc::new(Pages { shown, door }) })
    }

    /// Where it listens; the port is known here where any free one was asked for.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a reader has to know.
    pub fn token(&self) -> Option<&str> {
        self.pages.door.token.as_deref()
    }

    /// The address of the list of what is kept, or of the metrics, with the token.
    pub fn url(&self) -> String {
        let what = if matches!(self.pages.shown, Shown::Metrics(_)) { METRICS } else { "" };
        format!("http://{}/{what}{}", self.address, self.pages.query())
    }

    /// Answers until `stop` is set.
    ///
    /// # Errors
    /// When the kernel does not let it wait for connections.
    pub fn run(&self, stop: &AtomicBool) -> Result<(), ServeError> {
        let guests = Arc::new(Guests::default());
        while !stop.load(Relaxed) {
            let mut waits = [PollFd::new(&self.listener, PollFlags::IN)];
            let turn = Timespec { tv_sec: 0, tv_nsec: TURN_MS * 1_000_000 };
            match poll(&mut waits, Some(&turn)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => {}
                Err(errno) => return Err(ServeError::System(errno.into())),
            }
            match self.listener.accept() {
                Ok((stream, from)) => self.pages.take(stream, from.ip(), &guests),
                // A connection that is gone again, or no descriptor is free: neither is forever.
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(50)),
            }
        }
        Ok(())
    }
}

fn random_token() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What is shown, and to whom.
struct Pages {
    shown: Shown,
    door: Door,
}

enum Shown {
    Folder(Folder),
    Fleet(Fleet),
    Metrics(Arc<Mutex<String>>),
}

impl Pages {
    /// What links end in, so that they work for who knows the token.
    fn query(&self) -> String {
        self.door.token.as_ref().map(|token| format!("?token={token}")).unwrap_or_default()
    }

    /// Answers a connection in a thread of its own.
    fn take(self: &Arc<Self>, stream: TcpStream, from: IpAddr, guests: &Arc<Guests>) {
        if stream.set_nonblocking(false).is_err() {
            return;
        }
        let stream = Arc::new(stream);
        let Some(guest) = guests.seat(&stream, from) else { return };
        let pages = Arc::clone(self);
        // Where no thread is available, the connection is closed.
        let _ = start("reader", move || pages.converse(&stream, &guest));
    }

    fn converse(&self, stream: &TcpStream, guest: &Guest) {
        let Some(asked) = http::read(stream) else { return };
        let head_only = asked.as_ref().is_ok_and(|request| request.method == "HEAD");
        let let_in = asked.and_then(|request| self.door.check(&request).map(|()| request));
        let answer = match let_in {
            Ok(request) if guest.has_turn() => self.answer(&request),
            Ok(_) => return,
            Err(refusal) => refusal,
        };
        guest.is_awaited();
        http::send(stream, &answer, head_only, &|| guest.is_awaited());
    }

    fn answer(&self, request: &Request) -> Answer {
        let path = request.path.strip_prefix('/').unwrap_or_default();
        let (api, what) = match path.strip_prefix("api/") {
            Some(rest) => (true, rest),
            None => (false, path),
        };
        let shown = match &self.shown {
            Shown::Folder(folder) => folder.show(what, api, &self.query()),
            Shown::Fleet(fleet) => fleet.show(what, api, request, &self.query()),
            Shown::Metrics(text) => (path == METRICS).then(|| {
                let text = text.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(Answer::openmetrics(text.clone()))
            }),
        };
        match shown {
            Some(Ok(answer) | Err(answer)) => answer,
            None => Answer::refusal(404, "There is nothing at this address."),
        }
    }
}

/// A page, or what it holds.
fn page(made: Result<Served<'_>, ReportError>, api: bool) -> Result<Answer, Answer> {
    let answer = made.and_then(|page| match api {
        true => page.json().map(Answer::json),
        false => page.html().map(Answer::html),
    });
    answer.map_err(|error| Answer::refusal(500, &format!("It cannot be shown: {error}.")))
}

fn not_kept(what: &str) -> Answer {
    Answer::refusal(404, &format!("No {what} of this name is kept."))
}

fn unreadable(error: impl std::error::Error) -> Answer {
    Answer::refusal(500, &format!("It cannot be read: {error}."))
}

fn kept(run: RunEntry) -> Kept {
    Kept {
        id: run.id,
        host: Some(run.host),
        kind: run.kind.name().to_owned(),
        state: run.state.name().to_owned(),
        label: run.label,
        target: run.target,
        device_model: run.device_model,
        started_at: run.started_at,
        modelled: run.modelled,
        invalid: run.invalid,
    }
}
