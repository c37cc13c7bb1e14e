//! The web server under requests that no browser sends.

use super::Section;
use super::rig::{Background, Rig};
use crate::Failure;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

const SECRET: &str = "nobody-may-read-this-7f3a";

/// Paths that lead out of the folder of runs, or nowhere.
const PATHS: &[&str] = &[
    "/run/../../secret",
    "/run/..%2f..%2fsecret",
    "/run/%2e%2e/%2e%2e/secret",
    "//secret",
    "/run//secret",
    "/api/run/../../secret",
    "/api/run/..%5c..%5csecret",
    "/run/%00",
    "/run/%",
    "/run/%zz",
    "/experiment/../../secret",
    "/.././../secret",
    "/run/.",
    "/run/..",
    "/api/run/%ff%fe",
    "/run/secret%00.json",
    "/?x=../../secret",
    "http://127.0.0.1/secret",
    "*",
    "/api/runs?since=99999999999999999999",
    "/run/....//....//secret",
];

/// Whole requests.
fn raw() -> Vec<(&'static str, Vec<u8>)> {
    let host = "Host: 127.0.0.1\r\n";
    let get = |more: &str| format!("GET / HTTP/1.1\r\n{host}{more}\r\n").into_bytes();
    let long = "a".repeat(1 << 20);
    vec![
        ("nothing but zeros", vec![0; 4096]),
        ("no line end", b"GET / HTTP/1.1".to_vec()),
        ("a megabyte of path", format!("GET /{long} HTTP/1.1\r\n{host}\r\n").into_bytes()),
        ("a megabyte of header", get(&format!("X: {long}\r\n"))),
        ("ten thousand headers", get(&"X: y\r\n".repeat(10_000))),
        ("a length that lies", get("Content-Length: 99999999999\r\n")),
        ("a negative length", get("Content-Length: -1\r\n")),
        ("chunks", get("Transfer-Encoding: chunked\r\n")),
        ("two hosts", get("Host: evil.example\r\n")),
        ("a foreign host", b"GET /api/runs HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_vec()),
        ("no host", b"GET / HTTP/1.1\r\n\r\n".to_vec()),
        ("a TLS hello", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03".to_vec()),
        ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec()),
        ("another version", format!("GET / HTTP/9.9\r\n{host}\r\n").into_bytes()),
        ("a folded header", get("X: a\r\n b\r\n")),
        ("carriage returns alone", b"GET / HTTP/1.1\rHost: 127.0.0.1\r\r".to_vec()),
        ("DELETE", format!("DELETE / HTTP/1.1\r\n{host}\r\n").into_bytes()),
        ("POST", format!("POST /api/runs HTTP/1.1\r\n{host}Content-Length: 2\r\n\r\n{{}}").into()),
        ("CONNECT", b"CONNECT 127.0.0.1:22 HTTP/1.1\r\n\r\n".to_vec()),
        ("a method of a megabyte", format!("{long} / HTTP/1.1\r\n\r\n").into_bytes()),
    ]
}

/// Every request, then many at once, then the control.
pub fn run(rig: &mut Rig, section: &mut Section) -> Result<(), Failure> {
    fs::write(rig.path("secret"), SECRET)?;
    let runs = rig.path("runs");
    fs::create_dir_all(&runs)?;
    let mut command = rig.command(["serve", "--port=0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    let mut server = Background(child);
    let port = line.trim().trim_end_matches('/').rsplit(':').next().and_then(|p| p.parse().ok());
    let port: u16 = port.ok_or_else(|| format!("no port in {line:?}"))?;
    for path in PATHS {
        let text = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
        section.count(&format!("GET {path}"), harmless(&said(port, text.as_bytes())));
    }
    for (what, bytes) in raw() {
        section.count(what, harmless(&said(port, &bytes)));
    }
    for round in 0..if rig.quick { 20 } else { 500 } {
        let mut noise = vec![0; 1 + rig.below(2000) as usize];
        rig.fill(&mut noise);
        section.count(&format!("noise {round}"), harmless(&said(port, &noise)));
    }
    crowd(port, section);
    let text = format!("GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    let answer = said(port, text.as_bytes());
    let fine = answer.starts_with("HTTP/1.1 200") && answer.contains("\"list\"");
    section.count(
        "control: it answers afterwards",
        if fine { Ok(()) } else { Err(answer.chars().take(80).collect()) },
    );
    let alive = server.0.try_wait()?.is_none();
    section.count(
        "control: it is the same process",
        if alive { Ok(()) } else { Err("it has ended".to_owned()) },
    );
    Ok(())
}

/// Readers that say half a line and wait, more than are let in; they leave when this returns.
fn crowd(port: u16, section: &mut Section) {
    let mut all = Vec::new();
    for _ in 0..200 {
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
            let _ = stream.write_all(b"GET / HT");
            all.push(stream);
        }
    }
    let few = all.is_empty();
    section.count(
        "200 readers that trickle",
        if few { Err("it does not listen".to_owned()) } else { Ok(()) },
    );
}

/// Everything that is answered to these bytes.
fn said(port: u16, bytes: &[u8]) -> String {
    let mut answer = Vec::new();
    // A reader that was turned away because others are still there comes again.
    for _ in 0..50 {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { break };
        let _ = stream.set_read_timeout(Some(Duration::from_secs(15)));
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        answer.clear();
        let _ = stream.take(1 << 22).read_to_end(&mut answer);
        if !answer.starts_with(b"HTTP/1.1 503") {
            break;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    String::from_utf8_lossy(&answer).into_owned()
}

fn harmless(answer: &str) -> Result<(), String> {
    if answer.contains(SECRET) {
        return Err("DATA LEAKED: a file outside the runs was sent".to_owned());
    }
    if answer.starts_with("HTTP/1.1 5") && !answer.starts_with("HTTP/1.1 50") {
        return Err(answer.chars().take(80).collect());
    }
    Ok(())
}
