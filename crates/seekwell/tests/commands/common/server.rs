//! `seekwell serve` for a test.

use super::seekwell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

/// A server that ends with the test.
pub struct Server {
    pub child: Child,
    /// `127.0.0.1:PORT`.
    pub at: String,
}

impl Server {
    pub fn start(home: &Path, more: &[&str]) -> Self {
        let mut command = seekwell(home);
        command.env_remove("SEEKWELL_TOKEN").args(["serve", "--port=0"]).args(more);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program");
        let mut line = String::new();
        let out = child.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("an address");
        let at = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { child, at }
    }

    pub fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.at).expect("it listens");
        let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.at);
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        (status, body.to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
