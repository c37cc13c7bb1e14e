//! One client: its socket, what it said and what is yet to be sent to it.

use crate::disk::{Answer, bytes_of};
use crate::place::{Peer, Stream};
use crate::protocol::{Export, ProtocolError, Request, Session, Step};
use seekwell_io::units::Nanos;
use seekwell_sys::seats::Taken;
use std::io::{self, ErrorKind, Read, Write};

/// A client has said which export it wants within this time.
const HANDSHAKE: Nanos = Nanos::from_millis(2000);

/// Requests of a client that are under way; it is not heard beyond them.
const MOST_REQUESTS: u32 = 1024;
/// Bytes of a client that are under way or to be sent; it is not heard beyond them. One request
/// more may be of the longest kind.
const MOST_BYTES: u64 = 32 << 20;

/// A client.
#[derive(Debug)]
pub struct Connection {
    pub stream: Stream,
    peer: Peer,
    /// When it came.
    since: Nanos,
    session: Session,
    out: Vec<u8>,
    sent: usize,
    requests: u32,
    bytes: u64,
    leaves: bool,
}

impl Connection {
    pub fn new((stream, peer): (Stream, Peer), since: Nanos, export: Export) -> Self {
        let mut out = Vec::new();
        let session = Session::new(export, &mut out);
        let (sent, requests, bytes, leaves) = (0, 0, 0, false);
        Self { stream, peer, since, session, out, sent, requests, bytes, leaves }
    }

    /// Its place among others. It is its own once the client has asked for the export: a disk may
    /// be idle for days.
    pub fn taken(&self, id: u64) -> Taken<Peer, Nanos> {
        let idle_since = self.session.is_greeting().then_some(self.since);
        Taken { id, peer: self.peer, idle_since }
    }

    /// Whether it should have asked for the export by now.
    pub fn is_late(&self, now: Nanos) -> bool {
        self.session.is_greeting() && now.since(self.since) > HANDSHAKE
    }

    const fn unsent(&self) -> usize {
        self.out.len() - self.sent
    }

    /// Whether it may be heard.
    pub const fn listens(&self) -> bool {
        let bytes = self.bytes + self.unsent() as u64;
        !self.leaves && self.requests < MOST_REQUESTS && bytes < MOST_BYTES
    }

    /// Whether something is to be sent.
    pub const fn has_to_send(&self) -> bool {
        self.unsent() > 0
    }

    /// Whether all is said.
    pub const fn is_over(&self) -> bool {
        self.leaves && self.requests == 0 && self.unsent() == 0
    }

    /// Reads what is there, as much as `room` holds. False: the client is gone.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn receive(&mut self, room: &mut [u8]) -> io::Result<bool> {
        match self.stream.read(room) {
            Ok(0) => Ok(false),
            Ok(n) => {
                self.session.feed(&room[..n]);
                Ok(true)
            }
            Err(e) if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&e.kind()) => {
                Ok(true)
            }
            Err(e) => Err(e),
        }
    }

    /// The next request that it may have under way.
    ///
    /// # Errors
    /// When the client does not speak the protocol.
    pub fn request(&mut self) -> Result<Option<Request>, ProtocolError> {
        if !self.listens() {
            return Ok(None);
        }
        match self.session.step(&mut self.out)? {
            Step::Request(request) => {
                self.requests += 1;
                let bytes = bytes_of(&request.command);
                self.bytes += (bytes.end - bytes.start).min(MOST_BYTES);
                Ok(Some(request))
            }
            Step::Leave => {
                self.leaves = true;
                Ok(None)
            }
            Step::Wait => Ok(None),
        }
    }

    /// Tells the answer to a request, as soon as the socket takes it.
    pub fn answer(&mut self, answer: &Answer) {
        let Request { cookie, command } = &answer.request;
        self.requests -= 1;
        let bytes = bytes_of(command);
        self.bytes -= (bytes.end - bytes.start).min(MOST_BYTES);
        let result = answer.result.as_deref().map_err(|failure| *failure);
        self.session.reply(*cookie, command, result, &mut self.out);
    }

    /// Sends as much as the socket takes.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn send(&mut self) -> io::Result<()> {
        while self.unsent() > 0 {
            match self.stream.write(&self.out[self.sent..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => self.sent += n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.out.clear();
        self.sent = 0;
        Ok(())
    }
}
