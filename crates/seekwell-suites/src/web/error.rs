//! What keeps pages from being served and loaded.

use seekwell_sys::classify;
use std::io;

#[derive(Debug, thiserror::Error)]
pub enum WebError {
    #[error("server={url}: {why}")]
    Address { url: String, why: &'static str },
    /// The program's own server could not be started, or a socket not be used.
    #[error("{what}: {source}")]
    Socket { what: &'static str, source: io::Error },
    #[error("no server answers at {server}: {source}")]
    NoServer { server: String, source: io::Error },
    /// The server stopped answering: it is dead, or was restarted.
    #[error("the server at {server} died after {pages} pages: {source}")]
    Died { server: String, pages: u64, source: io::Error },
    #[error("the server at {server} said nothing for {seconds} s, after {pages} pages")]
    Silent { server: String, pages: u64, seconds: u64 },
    #[error(
        "the server at {server} answers {answer} for {path}: it has to serve the target \
        directory as it is"
    )]
    Other { server: String, path: String, answer: String },
}

classify!(WebError {
    Usage: Address;
    Refused: Socket, NoServer, Other;
    Invalid: Died, Silent;
});
