//! What keeps pages from being served and loaded.

use seekwell_sys::classify;
use std::io;

/// Why a step with pages ended early.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// The address is not one that can be loaded.
    #[error("server={url}: {why}")]
    Address {
        /// What was given.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The program's own server could not be started, or a socket not be used.
    #[error("{what}: {source}")]
    Socket {
        /// What was done.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The server never answered.
    #[error("no server answers at {server}: {source}")]
    NoServer {
        /// Its address.
        server: String,
        /// What the connection said.
        source: io::Error,
    },
    /// The server stopped answering: it is dead, or was restarted.
    #[error("the server at {server} died after {pages} pages: {source}")]
    Died {
        /// Its address.
        server: String,
        /// Pages that came whole.
        pages: u64,
        /// What the connection said.
        source: io::Error,
    },
    /// The server is there and says nothing.
    #[error("the server at {server} said nothing for {seconds} s, after {pages} pages")]
    Silent {
        /// Its address.
        server: String,
        /// Pages that came whole.
        pages: u64,
        /// How long was waited.
        seconds: u64,
    },
    /// The server does not serve the pages of this target.
    #[error(
        "the server at {server} answers {answer} for {path}: it has to serve the target \
        directory as it is"
    )]
    Other {
        /// Its address.
        server: String,
        /// The page.
        path: String,
        /// Status, or how the length differs.
        answer: String,
    },
}

classify!(WebError {
    Usage: Address;
    Refused: Socket, NoServer, Other;
    Invalid: Died, Silent;
});
