//! One connection of the load, moved on by what the kernel says it is ready for.

use super::error::WebError;
use super::site::{Page, Site};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, connect, recv, send};
use rustix::net::{RecvFlags, socket_with, sockopt};
use seekwell_io::units::Nanos;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Instant;

const MOST_HEAD: usize = 8 << 10;
const MOST_HEADERS: usize = 64;

/// What became of moving a connection on.
pub(super) enum Event {
    Waits,
    /// Its page came whole.
    Whole {
        /// From before connecting, or asking.
        latency: Nanos,
        /// Until the connection was there, if it was made for this page.
        connect: Option<Nanos>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Connecting,
    Sending { sent: usize },
    Head,
    Body { left: u64 },
}

pub(super) struct Connection {
    site: Site,
    id: u64,
    socket: Option<OwnedFd>,
    page: Page,
    keep: bool,
    request: Vec<u8>,
    head: Vec<u8>,
    state: State,
    began: Instant,
    connected: Option<Nanos>,
    /// Whether the server said it would keep the connection.
    kept: bool,
}

impl Connection {
    /// Begins to connect, to ask for a page.
    pub fn open(
        site: &Site,
        poll: &OwnedFd,
        id: u64,
        page: Page,
        keep: bool,
    ) -> Result<Self, WebError> {
        let mut new = Self {
            site: site.clone(),
            id,
            socket: None,
            page: page.clone(),
            keep,
            request: Vec::new(),
            head: Vec::with_capacity(1024),
            state: State::Connecting,
            began: Instant::now(),
            connected: None,
            kept: false,
        };
        new.ask(poll, page, 0)?;
        Ok(new)
    }

    pub fn page_bytes(&self) -> u64 {
        self.page.bytes
    }

    pub fn close(&mut self) {
        self.socket = None;
    }

    /// Asks for the next page: on this connection if it is kept, on a new one otherwise. `pages`
    /// came before, on any connection.
    pub fn ask(&mut self, poll: &OwnedFd, page: Page, pages: u64) -> Result<(), WebError> {
        let Site { host, prefix, .. } = &self.site;
        let keep = if self.keep { "Connection: Keep-Alive\r\n" } else { "" };
        let name = &page.name;
        self.request = format!(
            "GET {prefix}{name} HTTP/1.0\r\n{keep}Host: {host}\r\nUser-Agent: seekwell\r\n\
             Accept: */*\r\n\r\n"
        )
        .into_bytes();
        self.page = page;
        self.head.clear();
        self.began = Instant::now();
        self.connected = None;
        if let Some(socket) = self.socket.take().filter(|_| self.kept) {
            let sent = self.send(poll, &socket, 0, false, pages);
            self.socket = Some(socket);
            return sent;
        }
        self.state = State::Connecting;
        let socket = self.connect().map_err(|e| self.broken(e.into(), pages))?;
        self.wait_for(poll, &socket, EventFlags::OUT, true)?;
        self.socket = Some(socket);
        Ok(())
    }

    fn connect(&self) -> rustix::io::Result<OwnedFd> {
        let family = match self.site.address {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(family, SocketType::STREAM, flags, None)?;
        match connect(&socket, &self.site.address) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
            Err(e) => Err(e),
        }
    }

    fn wait_for(
        &self,
        poll: &OwnedFd,
        socket: &OwnedFd,
        flags: EventFlags,
        new: bool,
    ) -> Result<(), WebError> {
        let data = EventData::new_u64(self.id);
        let done = if new {
            epoll::add(poll, socket, data, flags)
        } else {
            epoll::modify(poll, socket, data, flags)
        };
        done.map_err(|e| WebError::Socket { what: "waiting for the server", source: e.into() })
    }

    /// Does what can be done without waiting. `pages` came before, on any connection.
    pub fn advance(
        &mut self,
        poll: &OwnedFd,
        buffer: &mut [u8],
        pages: u64,
    ) -> Result<Event, WebError> {
        let Some(socket) = self.socket.take() else { return Ok(Event::Waits) };
        let event = self.step(poll, &socket, buffer, pages);
        self.socket = Some(socket);
        event
    }

    fn step(
        &mut self,
        poll: &OwnedFd,
        socket: &OwnedFd,
        buffer: &mut [u8],
        pages: u64,
    ) -> Result<Event, WebError> {
        if self.state == State::Connecting {
            let failed = sockopt::socket_error(socket).unwrap_or_else(Err);
            failed.map_err(|e| self.broken(e.into(), pages))?;
            self.connected = Some(self.began.elapsed().into());
            self.state = State::Sending { sent: 0 };
        }
        if let State::Sending { sent } = self.state {
            self.send(poll, socket, sent, true, pages)?;
            return Ok(Event::Waits);
        }
        match recv(socket, &mut *buffer, RecvFlags::empty()) {
            Ok((0, _)) => self.ended(pages),
            Ok((n, _)) => self.received(&buffer[..n]),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Event::Waits),
            Err(e) => Err(self.broken(e.into(), pages)),
        }
    }

    /// Sends the request from a byte on; `waited` until the socket took more.
    fn send(
        &mut self,
        poll: &OwnedFd,
        socket: &OwnedFd,
        mut sent: usize,
        waited: bool,
        pages: u64,
    ) -> Result<(), WebError> {
        while sent < self.request.len() {
            match send(socket, &self.request[sent..], SendFlags::NOSIGNAL) {
                Ok(n) => sent += n,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    self.state = State::Sending { sent };
                    let then =
                        (!waited).then(|| self.wait_for(poll, socket, EventFlags::OUT, false));
                    return then.unwrap_or(Ok(()));
                }
                Err(e) => return Err(self.broken(e.into(), pages)),
            }
        }
        self.state = State::Head;
        if waited { self.wait_for(poll, socket, EventFlags::IN, false) } else { Ok(()) }
    }

    /// The server has closed: on a connection that is not kept, that ends the page.
    fn ended(&mut self, pages: u64) -> Result<Event, WebError> {
        match self.state {
            State::Body { left: 0 } => Ok(self.whole()),
            _ => Err(self.broken(ErrorKind::UnexpectedEof.into(), pages)),
        }
    }

    fn received(&mut self, bytes: &[u8]) -> Result<Event, WebError> {
        let body = match self.state {
            State::Body { .. } => bytes.len(),
            _ => {
                self.head.extend_from_slice(bytes);
                match self.parse()? {
                    None if self.head.len() < MOST_HEAD => return Ok(Event::Waits),
                    None => return Err(self.other("an endless head".into())),
                    Some(length) => {
                        self.state = State::Body { left: self.page.bytes };
                        self.head.len() - length
                    }
                }
            }
        };
        let State::Body { left } = &mut self.state else { return Ok(Event::Waits) };
        *left = match left.checked_sub(body as u64) {
            Some(left) => left,
            None => return Err(self.other("more bytes than the page has".into())),
        };
        // What is not kept ends when the server closes, as for ApacheBench.
        Ok(if *left == 0 && self.kept { self.whole() } else { Event::Waits })
    }

    fn whole(&self) -> Event {
        Event::Whole { latency: self.began.elapsed().into(), connect: self.connected }
    }

    /// The length of the head once it is whole and right.
    fn parse(&mut self) -> Result<Option<usize>, WebError> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let length = match response.parse(&self.head) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(e) => return Err(self.other(format!("no HTTP ({e})"))),
        };
        let status = response.code.unwrap_or(0);
        if status != 200 {
            return Err(self.other(format!("{status} {}", response.reason.unwrap_or(""))));
        }
        let header = |name: &str| {
            let found = response.headers.iter().find(|h| h.name.eq_ignore_ascii_case(name));
            found.and_then(|h| std::str::from_utf8(h.value).ok()).map(str::trim)
        };
        let bytes = header("content-length").map(str::parse::<u64>);
        if let Some(Ok(bytes)) = bytes
            && bytes != self.page.bytes
        {
            return Err(self.other(format!("{bytes} bytes and not {}", self.page.bytes)));
        }
        let keeps = header("connection").is_some_and(|c| c.eq_ignore_ascii_case("keep-alive"));
        self.kept = self.keep && keeps && bytes.is_some();
        Ok(Some(length))
    }

    fn other(&self, answer: String) -> WebError {
        let path = format!("{}{}", self.site.prefix, self.page.name);
        WebError::Other { server: self.site.host.clone(), path, answer }
    }

    fn broken(&self, source: io::Error, pages: u64) -> WebError {
        let server = self.site.host.clone();
        match (pages, self.connected) {
            (0, None) => WebError::NoServer { server, source },
            _ => WebError::Died { server, pages, source },
        }
    }
}
