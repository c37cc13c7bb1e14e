//! `seekwell serve`: what is kept, to be read in a browser.
//!
//! Every connection has a thread of its own, makes one request and has a few seconds for it; more
//! than a few at once are turned away. There is no way to change anything: an address has one of
//! six forms or is nothing, and what is in it is never joined to a path before it was seen to be
//! an id.

mod door;
mod experiments;
mod http;

use crate::Ended;
use crate::cli::serve::Serve;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::signals;
use door::{Door, is_token};
use experiments::Experiments;
use http::{Answer, Request};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use seekwell_experiment::{ExperimentError, ExperimentStore};
use seekwell_report::{
    Kept, ReportError, experiment_json, html_experiment_served, html_list, html_served, list_json,
    run_json,
};
use seekwell_runs::{Detail, Filter, RunDocument, RunEntry, RunState, Store, StoreError, is_id};
use serde_json::json;
use std::fs::File;
use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};

/// Connections at a time.
const MOST_CONNECTIONS: usize = 32;
const TURNED_AWAY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
/// How long is waited for a connection before signals are looked after, in milliseconds.
const TURN_MS: i64 = 200;

pub fn run(args: &Serve, context: &Context) -> Ended {
    let store = context.store()?;
    let token = match &args.token {
        Some(token) if is_token(token) => Some(token.clone()),
        Some(_) => return Err(CommandError::Token),
        None if args.bind.is_loopback() => None,
        None => Some(random_token().map_err(CommandError::Serve)?),
    };
    signals::watch(Arc::clone(&context.control)).map_err(CommandError::Serve)?;
    let wanted = SocketAddr::new(args.bind, args.port);
    let fail = |source| CommandError::Listen { address: wanted, source };
    let listener = TcpListener::bind(wanted).map_err(fail)?;
    listener.set_nonblocking(true).map_err(fail)?;
    tell(listener.local_addr().map_err(fail)?, token.as_deref(), context)?;
    let experiments = Experiments::new(ExperimentStore::beside(store.dir()));
    let server = Arc::new(Server { store, experiments, door: Door { bind: args.bind, token } });
    let open = Arc::new(AtomicUsize::new(0));
    while !context.control.stop.load(Relaxed) {
        let mut waits = [PollFd::new(&listener, PollFlags::IN)];
        let turn = Timespec { tv_sec: 0, tv_nsec: TURN_MS * 1_000_000 };
        match poll(&mut waits, Some(&turn)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(errno) => return Err(CommandError::Serve(errno.into())),
        }
        match listener.accept() {
            Ok((stream, _)) => server.take(stream, &open),
            // A connection that is gone again, or no descriptor is free: neither is for ever.
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => std::thread::sleep(std::time::Duration::from_millis(50)),
        }
    }
    Ok(Exit::Interrupted)
}

/// Says where to look.
fn tell(at: SocketAddr, token: Option<&str>, context: &Context) -> Result<(), CommandError> {
    let query = query(token);
    let address = format!("http://{at}/{query}");
    if context.json {
        let told = json!({"schema": "seekwell/serve/1", "address": address, "token": token});
        return context.print_json(&told);
    }
    context.print(&format!("{address}\n"))?;
    if !at.ip().is_loopback() {
        context.note("traffic is not encrypted: who can listen on the network can read it");
    }
    context.note("Ctrl-C ends it");
    Ok(())
}

fn query(token: Option<&str>) -> String {
    token.map(|token| format!("?token={token}")).unwrap_or_default()
}

fn random_token() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

struct Server {
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

impl Server {
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
        let server = Arc::clone(self);
        // Where no thread is to be had, the connection is closed.
        let _ = std::thread::Builder::new().name("reader".into()).spawn(move || {
            let _counted = counted;
            server.converse(stream);
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
        let query = query(self.door.token.as_deref());
        let made = if api {
            list_json(&list).map(Answer::json)
        } else {
            html_list(&list, &query).map(Answer::html)
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
