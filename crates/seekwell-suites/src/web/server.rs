//! A server of static pages: threads that take connections from one socket, each answering one at
//! a time. It opens a page for every request, as servers do, and hands the kernel the file to send.

use super::error::WebError;
use super::tree::Tree;
use rustix::net::{SendFlags, send};
use seekwell_sys::thread::start;
use std::io::{self, ErrorKind, Read};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

/// A head is no longer than this.
const MOST_HEAD: usize = 8 << 10;
const MOST_HEADERS: usize = 64;
/// A connection on which nothing comes is looked at so often.
const PATIENCE: Duration = Duration::from_millis(200);

/// A server that answers until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Serves a tree on a free port of 127.0.0.1, to as many connections at a time as there are
    /// threads.
    ///
    /// # Errors
    /// [`WebError::Socket`].
    pub fn start(tree: &Arc<Tree>, threads: u32) -> Result<Self, WebError> {
        let failed = |source| WebError::Socket { what: "starting the server", source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (listener, stop) = (Arc::new(listener), Arc::new(AtomicBool::new(false)));
        let mut server = Self { address, stop, threads: Vec::new() };
        for _ in 0..threads {
            let (listener, stop) = (Arc::clone(&listener), Arc::clone(&server.stop));
            let tree = Arc::clone(tree);
            let work = move || answer_all(&listener, &tree, &stop);
            server.threads.push(start("web-server", work).map_err(|e| failed(e.into()))?);
        }
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        for _ in &self.threads {
            // Wakes one that waits for a connection.
            let _ = TcpStream::connect(self.address);
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn answer_all(listener: &TcpListener, tree: &Tree, stop: &AtomicBool) {
    while !stop.load(Relaxed) {
        // A connection that fails is the client's to report.
        let Ok((mut stream, _)) = listener.accept() else { continue };
        if !stop.load(Relaxed) && stream.set_read_timeout(Some(PATIENCE)).is_ok() {
            let _ = answer(&mut stream, tree, stop);
        }
    }
}

/// Answers what comes on one connection until either side has had enough.
fn answer(stream: &mut TcpStream, tree: &Tree, stop: &AtomicBool) -> io::Result<()> {
    let (mut head, mut filled) = ([0; MOST_HEAD], 0);
    loop {
        match parse(&head[..filled]) {
            Parsed::Partial if filled < MOST_HEAD => match stream.read(&mut head[filled..]) {
                Ok(0) => return Ok(()),
                Ok(n) => filled += n,
                Err(e) if again(e.kind()) && !stop.load(Relaxed) => {}
                Err(e) => return Err(e),
            },
            Parsed::Partial | Parsed::Nonsense => return refuse(stream, "400 Bad Request"),
            Parsed::Whole { length, path, head_only, keep } => {
                let found = path.and_then(|path| tree.find(path));
                let Some(page) = found else { return refuse(stream, "404 Not Found") };
                serve(stream, tree, page, head_only, keep)?;
                if !keep {
                    return stream.shutdown(Shutdown::Write);
                }
                head.copy_within(length..filled, 0);
                filled -= length;
            }
        }
    }
}

fn again(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

enum Parsed<'a> {
    Partial,
    Nonsense,
    Whole { length: usize, path: Option<&'a str>, head_only: bool, keep: bool },
}

fn parse(head: &[u8]) -> Parsed<'_> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let length = match request.parse(head) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Parsed::Partial,
        Err(_) => return Parsed::Nonsense,
    };
    let head_only = request.method == Some("HEAD");
    if !head_only && request.method != Some("GET") {
        return Parsed::Nonsense;
    }
    let connection = request.headers.iter().find(|h| h.name.eq_ignore_ascii_case("connection"));
    let says = |word: &[u8]| connection.is_some_and(|h| h.value.eq_ignore_ascii_case(word));
    let keep = if request.version == Some(1) { !says(b"close") } else { says(b"keep-alive") };
    let path = request.path.map(|path| path.split('?').next().unwrap_or_default());
    Parsed::Whole { length, path, head_only, keep }
}

fn serve(
    stream: &TcpStream,
    tree: &Tree,
    page: u32,
    head_only: bool,
    keep: bool,
) -> io::Result<()> {
    let file = tree.open(page)?;
    let size = rustix::fs::fstat(&file)?.st_size as usize;
    let connection = if keep { "keep-alive" } else { "close" };
    let head = format!(
        "HTTP/1.1 200 OK\r\nServer: seekwell\r\nContent-Type: text/html\r\n\
         Content-Length: {size}\r\nConnection: {connection}\r\n\r\n"
    );
    // With the first bytes of the page in one packet.
    let flags = if head_only { SendFlags::empty() } else { SendFlags::MORE };
    send_all(stream, head.as_bytes(), flags | SendFlags::NOSIGNAL)?;
    let mut left = if head_only { 0 } else { size };
    while left > 0 {
        match rustix::fs::sendfile(stream, &file, None, left) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(n) => left -= n,
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

fn send_all(stream: &TcpStream, mut bytes: &[u8], flags: SendFlags) -> io::Result<()> {
    while !bytes.is_empty() {
        match send(stream, bytes, flags) {
            Ok(n) => bytes = &bytes[n..],
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

fn refuse(stream: &TcpStream, status: &str) -> io::Result<()> {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    send_all(stream, head.as_bytes(), SendFlags::NOSIGNAL)?;
    stream.shutdown(Shutdown::Write)
}
