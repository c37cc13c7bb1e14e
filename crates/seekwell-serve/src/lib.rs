//! Kept runs and experiments over HTTP, to be read in a browser.
//!
//! Every connection has a thread of its own, makes one request and has a few seconds for it; more
//! than a few at once are turned away. Nothing can be changed: an address has one of six forms or
//! names nothing, and no part of it is joined to a path before it is known to be an id.

mod door;
mod experiments;
mod http;

use door::{Door, is_token};
use experiments::Experiments;
use http::{Answer, Request};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use seekwell_experiment::{ExperimentError, ExperimentStore};
use seekwell_report::{
    Kept, ReportError, experiment_json, html_experiment_served, html_list, html_served, list_json,
    run_json,
};
use seekwell_runs::{
    Detail, Filter, RunDocument, RunEntry, RunState, Runs, Store, StoreError, is_id,
};
use seekwell_sys::classify;
use std::fs::File;
use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// Connections at a time.
const MOST_CONNECTIONS: usize = 32;
const TURNED_AWAY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
/// How often the stop flag is looked at while no connection comes, in milliseconds.
const TURN_MS: i64 = 200;

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
}

classify!(ServeError {
    Usage: Token;
    Refused: Listen, System;
});

/// A server that listens, and answers once it [runs](Server::run).
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    pages: Arc<Pages>,
}

impl Server {
    /// Listens on an address. Beyond loopback a token is needed: the given one, else a random one.
    ///
    /// # Errors
    /// [`ServeError`] for what is no token, and an address that cannot be listened on.
    pub fn open(
        store: Store,
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
        let experiments = Experiments::new(ExperimentStore::beside(store.dir()));
        let door = Door { bind: wanted.ip(), token };
        Ok(Self { listener, address, pages: Arc::new(Pages { store, experiments, door }) })
    }

    /// Where it listens; the port is known here where any free one was asked for.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a reader has to know.
    pub fn token(&self) -> Option<&str> {
        self.pages.door.token.as_deref()
    }

    /// The address of the list of what is kept, with the token.
    pub fn url(&self) -> String {
        format!("http://{}/{}", self.address, self.pages.query())
    }

    /// Answers until `stop` is set.
    ///
    /// # Errors
    /// When the kernel does not let it wait for connections.
    pub fn run(&self, stop: &AtomicBool) -> Result<(), ServeError> {
        let open = Arc::new(AtomicUsize::new(0));
        while !stop.load(Relaxed) {
            let mut waits = [PollFd::new(&self.listener, PollFlags::IN)];
            let turn = Timespec { tv_sec: 0, tv_nsec: TURN_MS * 1_000_000 };
            match poll(&mut waits, Some(&turn)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => {}
                Err(errno) => return Err(ServeError::System(errno.into())),
            }
            match self.listener.accept() {
                Ok((stream, _)) => self.pages.take(stream, &open),
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
#[derive(Debug)]
struct Pages {
    store: Store,
    experiments: Experiments,
    door: Door,
}

/// Counts a connection for as long as it lives, a panic in its thread included.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, AcqRel);
    }
}

impl Pages {
    /// What links end in, so that they work for who knows the token.
    fn query(&self) -> String {
        self.door.token.as_ref().map(|token| format!("?token={token}")).unwrap_or_default()
    }

    /// Answers a connection in a thread of its own, or turns it away.
    fn take(self: &Arc<Self>, stream: TcpStream, open: &Arc<AtomicUsize>) {
        if stream.set_nonblocking(false).is_err() {
            return;
        }
        let before = open.fetch_add(1, AcqRel);
        let counted = Counted(Arc::clone(open));
        if before >= MOST_CONNECTIONS {
            // A few bytes fit into any socket's buffer: this does not wait.
            let _ = io::Write::write_all(&mut &stream, TURNED_AWAY);
            return;
        }
        let pages = Arc::clone(self);
        // Where no thread is available, the connection is closed.
        let _ = std::thread::Builder::new().name("reader".into()).spawn(move || {
            let _counted = counted;
            pages.converse(stream);
        });
    }

    fn converse(&self, mut stream: TcpStream) {
        let Some(asked) = http::read(&mut stream) else { return };
        let head_only = asked.as_ref().is_ok_and(|request| request.method == "HEAD");
        let answer = match &asked {
            Ok(request) => self.answer(request),
            Err(answer) => answer.clone(),
        };
        http::send(&mut stream, &answer, head_only);
    }

    fn answer(&self, request: &Request) -> Answer {
        if let Err(refusal) = self.door.check(request) {
            return refusal;
        }
        match request.path.strip_prefix('/').and_then(|path| self.show(path)) {
            Some(Ok(answer) | Err(answer)) => answer,
            None => Answer::refusal(404, "There is nothing at this address."),
        }
    }

    /// What is at an address, which comes without its slash; `None` where nothing can be.
    fn show(&self, path: &str) -> Option<Result<Answer, Answer>> {
        let (api, what) = match path.strip_prefix("api/") {
            Some(rest) => (true, rest),
            None => (false, path),
        };
        Some(match (what, what.split_once('/')) {
            ("", _) if !api => self.list(api),
            ("runs", _) if api => self.list(api),
            (_, Some(("run", id))) if is_id(id) => self.run(id, api),
            (_, Some(("experiment", id))) if is_id(id) => self.experiment(id, api),
            _ => return None,
        })
    }

    fn list(&self, api: bool) -> Result<Answer, Answer> {
        let listing = self.store.list(&Filter::default()).map_err(unreadable)?;
        let mut list: Vec<Kept> = listing.runs.into_iter().map(kept).collect();
        list.extend(self.experiments.list());
        list.sort_by(|a, b| b.started_at.cmp(&a.started_at));
        let made = if api {
            list_json(&list).map(Answer::json)
        } else {
            html_list(&list, &self.query()).map(Answer::html)
        };
        made.map_err(unshowable)
    }

    fn run(&self, id: &str, api: bool) -> Result<Answer, Answer> {
        let (run, state) = self.load(id).map_err(|error| match error {
            StoreError::NotFound { .. } | StoreError::Ambiguous { .. } => not_kept("run"),
            error => unreadable(error),
        })?;
        let made = if api {
            run_json(&run, state.name()).map(Answer::json)
        } else {
            html_served(&run, state.name()).map(Answer::html)
        };
        made.map_err(unshowable)
    }

    fn experiment(&self, id: &str, api: bool) -> Result<Answer, Answer> {
        let (document, state) = self.experiments.load(id).map_err(|error| match error {
            ExperimentError::NotFound { .. } => not_kept("experiment"),
            error => unreadable(error),
        })?;
        let made = if api {
            experiment_json(&document, state).map(Answer::json)
        } else {
            html_experiment_served(&document, state).map(Answer::html)
        };
        made.map_err(unshowable)
    }

    fn load(&self, id: &str) -> Result<((RunDocument, Detail), RunState), StoreError> {
        let dir = self.store.dir().join(id);
        let once = || -> Result<_, StoreError> {
            let run = self.store.load(id)?;
            let state = Store::state(&dir, run.0.status);
            Ok((run, state))
        };
        match once()? {
            // It may have come to its end between reading it and looking for its writer.
            (_, RunState::Killed) => once(),
            found => Ok(found),
        }
    }
}

fn not_kept(what: &str) -> Answer {
    Answer::refusal(404, &format!("No {what} of this name is kept."))
}

fn unreadable(error: impl std::error::Error) -> Answer {
    Answer::refusal(500, &format!("It cannot be read: {error}."))
}

fn unshowable(error: ReportError) -> Answer {
    Answer::refusal(500, &format!("It cannot be shown: {error}."))
}

fn kept(run: RunEntry) -> Kept {
    Kept {
        id: run.id,
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
