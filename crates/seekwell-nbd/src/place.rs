//! Where a server listens.

use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::str::FromStr;

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

/// A socket that listens. One in the file system is removed with it.
#[derive(Debug)]
pub enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    /// Listens, and says where: the port is known then.
    pub fn open(place: &Place) -> io::Result<(Self, Place)> {
        match place {
            Place::Tcp(address) => {
                let listener = TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                let address = listener.local_addr()?;
                Ok((Self::Tcp(listener), Place::Tcp(address)))
            }
            Place::Unix(path) => {
                let listener = UnixListener::bind(path)?;
                listener.set_nonblocking(true)?;
                Ok((Self::Unix(listener, path.clone()), place.clone()))
            }
        }
    }

    /// The next connection, where one is there.
    pub fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
            Self::Unix(listener, _) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                Ok(Stream::Unix(stream))
            }
        }
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
        if let Self::Unix(_, path) = self {
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
