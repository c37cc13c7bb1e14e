//! Where pages are served.

use super::error::WebError;
use std::net::{SocketAddr, ToSocketAddrs};

/// A server and the folder in it that holds the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    pub address: SocketAddr,
    /// What the Host header says.
    pub host: String,
    /// Before a page's name, with slashes at both ends.
    pub prefix: String,
}

impl Site {
    /// A server at an address that has the tree at its top.
    pub fn at(address: SocketAddr) -> Self {
        Self { address, host: address.to_string(), prefix: "/".into() }
    }

    /// Reads `http://HOST[:PORT][/FOLDER]` and looks the host up.
    ///
    /// # Errors
    /// [`WebError::Address`].
    pub fn parse(url: &str) -> Result<Self, WebError> {
        let bad = |why| WebError::Address { url: url.into(), why };
        let rest = url.strip_prefix("http://").ok_or(bad("it has to begin with http://"))?;
        let (host, folder) = rest.split_once('/').unwrap_or((rest, ""));
        let plain = |c: char| c.is_ascii_graphic() && !"@?#\\".contains(c);
        if host.is_empty() || !host.chars().all(plain) || !folder.chars().all(plain) {
            return Err(bad("that is no host, port and folder"));
        }
        let port_given = !host.ends_with(']') && host.contains(':');
        let with_port = if port_given { host.into() } else { format!("{host}:80") };
        let mut found = with_port.to_socket_addrs().map_err(|_| bad("no such host"))?;
        let address = found.next().ok_or(bad("no such host"))?;
        let folder = folder.trim_matches('/');
        let prefix = if folder.is_empty() { "/".into() } else { format!("/{folder}/") };
        Ok(Self { address, host: host.into(), prefix })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// After the site's prefix.
    pub name: String,
    /// How long it has to be.
    pub bytes: u64,
}
