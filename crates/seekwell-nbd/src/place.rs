//! Where a server listens.

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use seekwell_sys::seats;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// For so long the folder of a socket may be locked by others: a server holds it while it begins.
const LOCK_TIME: Duration = Duration::from_secs(5);

/// An address as it is given: `HOST:PORT` or `unix:PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A port of an interface; port 0 is any that is free.
    Tcp(SocketAddr),
    /// A socket in the file system.
    Unix(PathBuf),
}

/// A text that is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is no address: write HOST:PORT, such as 127.0.0.1:10809, or unix:PATH")]
pub struct PlaceError {
    /// What was written.
    pub found: String,
}

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let wrong = || PlaceError { found: text.chars().take(200).collect() };
        match text.strip_prefix("unix:") {
            Some("") => Err(wrong()),
            Some(path) => Ok(Self::Unix(PathBuf::from(path))),
            None => {
                let found = text.to_socket_addrs().ok().and_then(|mut all| all.next());
                found.map(Self::Tcp).ok_or_else(wrong)
            }
        }
    }
}

impl Place {
    /// Whether only this machine can reach it.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => IpAddr::is_loopback(&address.ip()),
            Self::Unix(_) => true,
        }
    }
}

/// The NBD URI of a place (NetworkBlockDevice/nbd, `doc/uri.md`).
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "nbd://{address}"),
            Self::Unix(path) => {
                f.write_str("nbd+unix:///?socket=")?;
                path.display().to_string().bytes().try_for_each(|byte| match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                        write!(f, "{}", char::from(byte))
                    }
                    _ => write!(f, "%{byte:02X}"),
                })
            }
        }
    }
}

/// Why a server cannot listen at a place.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Somebody does already.
    #[error("a server answers there; end it or choose another path")]
    Taken,
    /// A file of another kind has the name, and may be somebody's.
    #[error("there is a file that is not a socket; move it away or choose another path")]
    NotSocket,
    /// The folder of the socket is locked.
    #[error("another program has locked its folder (flock); wait for it or choose another folder")]
    Locked,
    /// The kernel refuses.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// A socket that listens. One in the file system is removed with it.
#[derive(Debug)]
pub enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, Socket),
}

/// A socket in the file system, which may be moved away and another put there.
#[derive(Debug)]
pub struct Socket {
    path: PathBuf,
    device: u64,
    inode: u64,
}

/// Who is at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    Address(IpAddr),
    User(u32),
}

impl Listener {
    /// Listens, and says where: the port is known then. The socket of a server that was killed is
    /// replaced.
    pub fn open(place: &Place) -> Result<(Self, Place), ListenError> {
        match place {
            Place::Tcp(address) => {
                let listener = TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                let address = listener.local_addr()?;
                Ok((Self::Tcp(listener), Place::Tcp(address)))
            }
            Place::Unix(path) => {
                // Between its two steps, bind and listen, a socket looks like a dead server's.
                let _locked = lock_folder(path)?;
                remove_dead(path)?;
                let listener = UnixListener::bind(path)?;
                listener.set_nonblocking(true)?;
                let about = fs::symlink_metadata(path)?;
                let (device, inode) = (about.dev(), about.ino());
                let socket = Socket { path: path.clone(), device, inode };
                Ok((Self::Unix(listener, socket), place.clone()))
            }
        }
    }

    /// The next connection, where one is there, and whose it is.
    pub fn accept(&self) -> io::Result<(Stream, Peer)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept()?;
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                Ok((Stream::Tcp(stream), Peer::Address(seats::peer(address.ip()))))
            }
            Self::Unix(listener, _) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                let user = rustix::net::sockopt::socket_peercred(&stream)?.uid.as_raw();
                Ok((Stream::Unix(stream), Peer::User(user)))
            }
        }
    }
}

/// Keeps other servers from beginning in the folder of a socket while this one does.
fn lock_folder(socket: &Path) -> Result<File, ListenError> {
    let folder = socket.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = File::open(folder.unwrap_or(Path::new(".")))?;
    let until = Instant::now() + LOCK_TIME;
    loop {
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(folder),
            Err(Errno::WOULDBLOCK) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(Errno::WOULDBLOCK) => return Err(ListenError::Locked),
            Err(errno) => return Err(ListenError::System(errno.into())),
        }
    }
}

/// Removes a socket without a server, and nothing else.
fn remove_dead(path: &Path) -> Result<(), ListenError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
        Ok(about) if !about.file_type().is_socket() => return Err(ListenError::NotSocket),
        Ok(_) => {}
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None);
    let address = SocketAddrUnix::new(path).map_err(io::Error::from)?;
    match net::connect(&socket.map_err(io::Error::from)?, &address) {
        Err(Errno::CONNREFUSED) => Ok(fs::remove_file(path)?),
        // One that has not accepted its last clients yet.
        Ok(()) | Err(Errno::AGAIN) => Err(ListenError::Taken),
        Err(errno) => Err(ListenError::System(errno.into())),
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(listener) => listener.as_fd(),
            Self::Unix(listener, _) => listener.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let Self::Unix(_, Socket { path, device, inode }) = self else { return };
        let about = fs::symlink_metadata(&*path);
        if about.is_ok_and(|about| (about.dev(), about.ino()) == (*device, *inode)) {
            let _ = fs::remove_file(path);
        }
    }
}

/// A connection that does not wait.
#[derive(Debug)]
pub enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(into),
            Self::Unix(stream) => stream.read(into),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_become_uris() {
        for (text, uri) in [
            ("127.0.0.1:10809", "nbd://127.0.0.1:10809"),
            ("[::1]:7", "nbd://[::1]:7"),
            ("unix:/run/a disk?.sock", "nbd+unix:///?socket=/run/a%20disk%3F.sock"),
        ] {
            assert_eq!(text.parse::<Place>().unwrap().to_string(), uri, "{text}");
        }
        for text in ["", "unix:", "127.0.0.1", "127.0.0.1:99999", "/run/disk.sock"] {
            let error = text.parse::<Place>().unwrap_err().to_string();
            assert!(error.contains("HOST:PORT"), "{error}");
        }
        assert!("127.0.0.1:0".parse::<Place>().unwrap().is_local());
        assert!(!"0.0.0.0:0".parse::<Place>().unwrap().is_local());
    }
}
