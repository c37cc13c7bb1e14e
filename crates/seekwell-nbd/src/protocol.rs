//! The server's side of the NBD protocol, without a socket: bytes in, requests and bytes out.
//!
//! Fixed newstyle negotiation and the transmission phase with simple and structured replies, as the
//! specification defines them (NetworkBlockDevice/nbd, `doc/proto.md`). All numbers are big-endian.

use std::fmt;

const GREETING: u64 = 0x4e42_444d_4147_4943;
const OPTION: u64 = 0x4948_4156_454f_5054;
const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
const REQUEST: u32 = 0x2560_9513;
const SIMPLE_REPLY: u32 = 0x6744_6698;
const STRUCTURED_REPLY: u32 = 0x668e_33ef;

const FIXED_NEWSTYLE: u16 = 1;
const NO_ZEROES: u16 = 2;

const OPT_EXPORT_NAME: u32 = 1;
const OPT_ABORT: u32 = 2;
const OPT_LIST: u32 = 3;
const OPT_INFO: u32 = 6;
const OPT_GO: u32 = 7;
const OPT_STRUCTURED_REPLY: u32 = 8;

const REP_ACK: u32 = 1;
const REP_SERVER: u32 = 2;
const REP_INFO: u32 = 3;
const REP_ERR_UNSUP: u32 = (1 << 31) | 1;
const REP_ERR_INVALID: u32 = (1 << 31) | 3;
const REP_ERR_UNKNOWN: u32 = (1 << 31) | 6;

const INFO_EXPORT: u16 = 0;
const INFO_NAME: u16 = 1;
const INFO_BLOCK_SIZE: u16 = 3;

const HAS_FLAGS: u16 = 1;
const SEND_FLUSH: u16 = 1 << 2;
const SEND_FUA: u16 = 1 << 3;
const ROTATIONAL: u16 = 1 << 4;
const SEND_TRIM: u16 = 1 << 5;
const SEND_DF: u16 = 1 << 7;
const CAN_MULTI_CONN: u16 = 1 << 8;

const CMD_READ: u16 = 0;
const CMD_WRITE: u16 = 1;
const CMD_DISCONNECT: u16 = 2;
const CMD_FLUSH: u16 = 3;
const CMD_TRIM: u16 = 4;

const CMD_FLAG_FUA: u16 = 1;
const CMD_FLAG_DF: u16 = 4;

const CHUNK_DONE: u16 = 1;
const CHUNK_OFFSET_DATA: u16 = 1;
const CHUNK_ERROR: u16 = (1 << 15) | 1;

/// The smallest block of a request, in bytes.
pub const MIN_BLOCK: u32 = 512;
/// What requests are best multiples of, in bytes.
const PREFERRED_BLOCK: u32 = 4096;
/// The longest read or write, in bytes.
pub const MAX_BLOCK: u32 = 32 << 20;
/// The longest data of an option: a name of the longest kind and as much again for the rest.
const MAX_OPTION: u32 = 8192;
const HEADER_BYTES: usize = 28;

/// Why a request fails, with the number the protocol has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Failure {
    /// The medium cannot.
    Io = 5,
    /// It makes no sense.
    Invalid = 22,
    /// There is no room, or the disk ends before.
    NoSpace = 28,
}

/// What is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Its name; clients that name none get it as well.
    pub name: String,
    /// Bytes, a multiple of `min_block`.
    pub size_bytes: u64,
    /// Bytes of the shortest request: a sector, at least [`MIN_BLOCK`].
    pub min_block: u32,
    /// Whether it has an arm to move.
    pub rotational: bool,
    /// Whether it understands TRIM.
    pub trims: bool,
}

/// What a request asks for. Ranges lie within the export and are multiples of the
/// export's shortest request.
#[derive(Clone, PartialEq, Eq)]
pub enum Command {
    /// Data from a range.
    Read {
        /// First byte.
        offset: u64,
        /// Bytes, at most [`MAX_BLOCK`].
        len: u32,
    },
    /// Data to a range.
    Write {
        /// First byte.
        offset: u64,
        /// What to write.
        data: Vec<u8>,
        /// Durable when it is done.
        fua: bool,
    },
    /// What was written and acknowledged made durable.
    Flush,
    /// A range that may be forgotten.
    Trim {
        /// First byte.
        offset: u64,
        /// Bytes.
        len: u32,
    },
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { offset, len } => write!(f, "Read({offset}+{len})"),
            Self::Write { offset, data, fua } => {
                write!(f, "Write({offset}+{}, fua: {fua})", data.len())
            }
            Self::Flush => write!(f, "Flush"),
            Self::Trim { offset, len } => write!(f, "Trim({offset}+{len})"),
        }
    }
}

/// A request of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What the client knows it by; goes back in the reply.
    pub cookie: u64,
    /// What it asks for.
    pub command: Command,
}

/// What a session has to say when it is asked to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A request to be answered by [`Session::reply`].
    Request(Request),
    /// The client takes its leave: answer what is outstanding, send what is to be sent, close.
    Leave,
    /// Nothing before more bytes come.
    Wait,
}

/// A client that does not speak the protocol; its connection is to be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// A number that begins every message is another.
    #[error("a message begins with {found:#x}, not with {wanted:#x}")]
    Magic {
        /// What came.
        found: u64,
        /// What begins such a message.
        wanted: u64,
    },
    /// Flags of the handshake that were not offered.
    #[error("the client sets flags that were not offered: {flags:#x}")]
    Flags {
        /// All it set.
        flags: u32,
    },
    /// More than is kept for one message.
    #[error("a message of {bytes} bytes is too long")]
    TooLong {
        /// What it announces.
        bytes: u32,
    },
    /// An export of another name, asked for in the way that allows no refusal.
    #[error("the client asks for an export of another name")]
    NoSuchExport,
    /// Half a handshake, and no more for a time.
    #[error("the client did not end the handshake in time")]
    Late,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The client's flags are to come.
    Flags,
    Options,
    Transmission,
    Over,
}

/// One connection.
#[derive(Debug)]
pub struct Session {
    export: Export,
    phase: Phase,
    no_zeroes: bool,
    structured: bool,
    input: Vec<u8>,
    /// Bytes of `input` already understood.
    taken: usize,
}

impl Session {
    /// A new connection; `out` gets the greeting.
    pub fn new(export: Export, out: &mut Vec<u8>) -> Self {
        out.extend(GREETING.to_be_bytes());
        out.extend(OPTION.to_be_bytes());
        out.extend((FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
        let (no_zeroes, structured, input, taken) = (false, false, Vec::new(), 0);
        Self { export, phase: Phase::Flags, no_zeroes, structured, input, taken }
    }

    /// Whether the client has not yet asked for the export.
    pub const fn is_greeting(&self) -> bool {
        matches!(self.phase, Phase::Flags | Phase::Options)
    }

    /// Takes what the client sent.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.input.drain(..self.taken);
        self.taken = 0;
        self.input.extend_from_slice(bytes);
    }

    /// The next thing to do. Answers to options, and to requests that make no sense, go to `out`.
    ///
    /// # Errors
    /// [`ProtocolError`] when the connection is to be closed.
    pub fn step(&mut self, out: &mut Vec<u8>) -> Result<Step, ProtocolError> {
        loop {
            let went_on = match self.phase {
                Phase::Flags => self.flags()?,
                Phase::Options => self.option(out)?,
                Phase::Transmission => match self.request(out)? {
                    Some(Some(request)) => return Ok(Step::Request(request)),
                    Some(None) => true,
                    None => false,
                },
                Phase::Over => return Ok(Step::Leave),
            };
            if !went_on {
                return Ok(Step::Wait);
            }
        }
    }

    /// Writes the reply to a request: its data (none but for a read), or why it failed.
    pub fn reply(
        &self,
        cookie: u64,
        command: &Command,
        result: Result<&[u8], Failure>,
        out: &mut Vec<u8>,
    ) {
        let at = match command {
            Command::Read { offset, .. } if self.structured => *offset,
            _ => {
                out.extend(SIMPLE_REPLY.to_be_bytes());
                out.extend(result.err().map_or(0, |e| e as u32).to_be_bytes());
                out.extend(cookie.to_be_bytes());
                out.extend_from_slice(result.unwrap_or_default());
                return;
            }
        };
        let mut chunk = |kind: u16, len: usize| {
            out.extend(STRUCTURED_REPLY.to_be_bytes());
            out.extend(CHUNK_DONE.to_be_bytes());
            out.extend(kind.to_be_bytes());
            out.extend(cookie.to_be_bytes());
            out.extend((len as u32).to_be_bytes());
        };
        match result {
            Ok(data) => {
                chunk(CHUNK_OFFSET_DATA, data.len() + 8);
                out.extend(at.to_be_bytes());
                out.extend_from_slice(data);
            }
            Err(failure) => {
                chunk(CHUNK_ERROR, 6);
                out.extend((failure as u32).to_be_bytes());
                // A message of no length.
                out.extend(0_u16.to_be_bytes());
            }
        }
    }

    /// What came and is not yet understood, where that is at least so long.
    fn peek(&self, bytes: usize) -> Option<&[u8]> {
        self.input[self.taken..].get(..bytes)
    }

    fn flags(&mut self) -> Result<bool, ProtocolError> {
        let Some(head) = self.peek(4) else { return Ok(false) };
        let flags = u32_at(head, 0);
        if flags & !u32::from(FIXED_NEWSTYLE | NO_ZEROES) != 0 {
            return Err(ProtocolError::Flags { flags });
        }
        self.no_zeroes = flags & u32::from(NO_ZEROES) != 0;
        self.taken += 4;
        self.phase = Phase::Options;
        Ok(true)
    }

    fn option(&mut self, out: &mut Vec<u8>) -> Result<bool, ProtocolError> {
        let Some(head) = self.peek(16) else { return Ok(false) };
        let (found, option, len) = (u64_at(head, 0), u32_at(head, 8), u32_at(head, 12));
        if found != OPTION {
            return Err(ProtocolError::Magic { found, wanted: OPTION });
        }
        if len > MAX_OPTION {
            return Err(ProtocolError::TooLong { bytes: len });
        }
        let whole = 16 + len as usize;
        let Some(message) = self.peek(whole) else { return Ok(false) };
        let data = message[16..].to_vec();
        self.taken += whole;
        self.answer(option, &data, out)?;
        Ok(true)
    }

    fn answer(&mut self, option: u32, data: &[u8], out: &mut Vec<u8>) -> Result<(), ProtocolError> {
        let invalid = |out: &mut Vec<u8>| option_reply(option, REP_ERR_INVALID, &[], out);
        match option {
            OPT_EXPORT_NAME => {
                if !self.is_name(data) {
                    return Err(ProtocolError::NoSuchExport);
                }
                out.extend(self.export.size_bytes.to_be_bytes());
                out.extend(self.transmission_flags().to_be_bytes());
                if !self.no_zeroes {
                    out.extend([0; 124]);
                }
                self.phase = Phase::Transmission;
            }
            OPT_ABORT => {
                option_reply(option, REP_ACK, &[], out);
                self.phase = Phase::Over;
            }
            OPT_LIST if data.is_empty() => {
                let name = self.export.name.as_bytes();
                let entry = [&(name.len() as u32).to_be_bytes(), name].concat();
                option_reply(option, REP_SERVER, &entry, out);
                option_reply(option, REP_ACK, &[], out);
            }
            OPT_STRUCTURED_REPLY if data.is_empty() => {
                self.structured = true;
                option_reply(option, REP_ACK, &[], out);
            }
            OPT_LIST | OPT_STRUCTURED_REPLY => invalid(out),
            OPT_INFO | OPT_GO => match asked_of_export(data) {
                None => invalid(out),
                Some((name, _)) if !self.is_name(name) => {
                    option_reply(option, REP_ERR_UNKNOWN, &[], out);
                }
                Some((_, wants_name)) => self.inform(option, wants_name, out),
            },
            _ => option_reply(option, REP_ERR_UNSUP, &[], out),
        }
        Ok(())
    }

    /// Tells size, flags and block sizes; with GO, requests come next.
    fn inform(&mut self, option: u32, wants_name: bool, out: &mut Vec<u8>) {
        let mut export = INFO_EXPORT.to_be_bytes().to_vec();
        export.extend(self.export.size_bytes.to_be_bytes());
        export.extend(self.transmission_flags().to_be_bytes());
        option_reply(option, REP_INFO, &export, out);
        let mut blocks = INFO_BLOCK_SIZE.to_be_bytes().to_vec();
        let sizes = [self.export.min_block, PREFERRED_BLOCK, MAX_BLOCK];
        blocks.extend(sizes.iter().flat_map(|bytes| bytes.to_be_bytes()));
        option_reply(option, REP_INFO, &blocks, out);
        if wants_name {
            let name = [&INFO_NAME.to_be_bytes(), self.export.name.as_bytes()].concat();
            option_reply(option, REP_INFO, &name, out);
        }
        option_reply(option, REP_ACK, &[], out);
        if option == OPT_GO {
            self.phase = Phase::Transmission;
        }
    }

    fn is_name(&self, name: &[u8]) -> bool {
        name.is_empty() || name == self.export.name.as_bytes()
    }

    fn transmission_flags(&self) -> u16 {
        let when = |is: bool, flag: u16| if is { flag } else { 0 };
        HAS_FLAGS
            | SEND_FLUSH
            | SEND_FUA
            | CAN_MULTI_CONN
            | when(self.export.rotational, ROTATIONAL)
            | when(self.export.trims, SEND_TRIM)
            | when(self.structured, SEND_DF)
    }

    /// `None` before a whole request is there; `Some(None)` of one that is answered already.
    fn request(&mut self, out: &mut Vec<u8>) -> Result<Option<Option<Request>>, ProtocolError> {
        let Some(head) = self.peek(HEADER_BYTES) else { return Ok(None) };
        let (found, flags, kind) = (u32_at(head, 0), u16_at(head, 4), u16_at(head, 6));
        let (cookie, offset, len) = (u64_at(head, 8), u64_at(head, 16), u32_at(head, 24));
        if found != REQUEST {
            let (found, wanted) = (u64::from(found), u64::from(REQUEST));
            return Err(ProtocolError::Magic { found, wanted });
        }
        let payload = if kind == CMD_WRITE { len } else { 0 };
        if payload > MAX_BLOCK {
            return Err(ProtocolError::TooLong { bytes: payload });
        }
        let whole = HEADER_BYTES + payload as usize;
        let Some(message) = self.peek(whole) else { return Ok(None) };
        if kind == CMD_DISCONNECT {
            self.taken += whole;
            self.phase = Phase::Over;
            return Ok(Some(None));
        }
        let fua = flags & CMD_FLAG_FUA != 0;
        let command = match kind {
            CMD_READ => Command::Read { offset, len },
            CMD_WRITE => Command::Write { offset, data: message[HEADER_BYTES..].to_vec(), fua },
            CMD_FLUSH => Command::Flush,
            CMD_TRIM => Command::Trim { offset, len },
            // Not offered; what it asks for is of no matter to an error's reply.
            _ => {
                self.taken += whole;
                self.reply(cookie, &Command::Flush, Err(Failure::Invalid), out);
                return Ok(Some(None));
            }
        };
        self.taken += whole;
        match self.check(&command, flags, offset, len) {
            Ok(()) => Ok(Some(Some(Request { cookie, command }))),
            Err(failure) => {
                self.reply(cookie, &command, Err(failure), out);
                Ok(Some(None))
            }
        }
    }

    fn check(&self, command: &Command, flags: u16, offset: u64, len: u32) -> Result<(), Failure> {
        if flags & !(CMD_FLAG_FUA | CMD_FLAG_DF) != 0 {
            return Err(Failure::Invalid);
        }
        let most = match command {
            Command::Flush => return Ok(()),
            Command::Trim { .. } if !self.export.trims => return Err(Failure::Invalid),
            Command::Trim { .. } => u32::MAX,
            Command::Read { .. } | Command::Write { .. } => MAX_BLOCK,
        };
        let block = self.export.min_block;
        let aligned = offset.is_multiple_of(block.into()) && len.is_multiple_of(block);
        if len == 0 || len > most || !aligned {
            return Err(Failure::Invalid);
        }
        let end = offset.checked_add(len.into());
        if end.is_none_or(|end| end > self.export.size_bytes) {
            let writes = matches!(command, Command::Write { .. });
            return Err(if writes { Failure::NoSpace } else { Failure::Invalid });
        }
        Ok(())
    }
}

fn option_reply(option: u32, kind: u32, data: &[u8], out: &mut Vec<u8>) {
    out.extend(OPTION_REPLY.to_be_bytes());
    out.extend(option.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend((data.len() as u32).to_be_bytes());
    out.extend_from_slice(data);
}

/// The name in an INFO or GO, and whether the client asks for the name; `None` of data that
/// contradict themselves.
fn asked_of_export(data: &[u8]) -> Option<(&[u8], bool)> {
    let len = u32::from_be_bytes(data.get(..4)?.try_into().ok()?) as usize;
    let name = data.get(4..len.checked_add(4)?)?;
    let rest = &data[4 + len..];
    let count = usize::from(u16::from_be_bytes(rest.get(..2)?.try_into().ok()?));
    let wanted = &rest[2..];
    if wanted.len() != 2 * count {
        return None;
    }
    Some((name, wanted.chunks_exact(2).any(|kind| kind == INFO_NAME.to_be_bytes())))
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    (u32::from(u16_at(bytes, at)) << 16) | u32::from(u16_at(bytes, at + 2))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    (u64::from(u32_at(bytes, at)) << 32) | u64::from(u32_at(bytes, at + 4))
}

#[cfg(test)]
mod tests;
