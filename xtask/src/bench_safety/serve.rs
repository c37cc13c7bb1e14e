//! What is served and what is far away: the web server under requests that no browser sends, a
//! served machine under clients that say nothing, a fleet of hosts that lie.

use super::Section;
use super::rig::{Background, Rig, changed, tool, tree};
use crate::Failure;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

const SECRET: &str = "nobody-may-read-this-7f3a";
/// A fleet's `ssh` without a network.
const SSH: &str = include_str!("../../../crates/seekwell/tests/commands/ssh.sh");

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

/// All of it, in a home with one large run.
pub fn run(rig: &mut Rig, section: &mut Section) -> Result<(), Failure> {
    fs::write(rig.path("secret"), SECRET)?;
    let runs = rig.path("runs");
    fs::create_dir_all(&runs)?;
    rig.run(["bench", "--on", "null", "--runtime=600ms"])?.documented()?;
    let kept = fs::read_dir(&runs)?.flatten().map(|entry| entry.path()).find(|path| path.is_dir());
    let kept = kept.ok_or("no run is kept")?;
    fleet(rig, section, &kept)?;
    machine(rig, section)?;
    web(rig, section, &kept)
}

/// A program that serves, and the first line that it printed; an error if it ended instead.
fn serving<const N: usize>(rig: &Rig, args: [&str; N]) -> Result<(Background, String), Failure> {
    let mut child = rig.command(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut line = String::new();
    let out = child.stdout.take().ok_or("no output")?;
    let server = Background(child);
    BufReader::new(out).read_line(&mut line)?;
    Ok((server, line.trim().to_owned()))
}

fn holds(is: bool, why: impl Into<String>) -> Result<(), String> {
    if is { Ok(()) } else { Err(why.into()) }
}

/// Every request, then many at once, then the control.
fn web(rig: &mut Rig, section: &mut Section, kept: &Path) -> Result<(), Failure> {
    let (mut server, line) = serving(rig, ["serve", "--port=0"])?;
    let port = |line: &str| line.split(&['/', '?'][..]).nth(2)?.rsplit(':').next()?.parse().ok();
    let number: u16 = port(&line).ok_or_else(|| format!("no port in {line:?}"))?;
    for path in PATHS {
        let text = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{number}\r\n\r\n");
        section.count(&format!("GET {path}"), harmless(&said(number, text.as_bytes())));
    }
    for (what, bytes) in raw() {
        section.count(what, harmless(&said(number, &bytes)));
    }
    for round in 0..if rig.quick { 20 } else { 500 } {
        let mut noise = vec![0; 1 + rig.below(2000) as usize];
        rig.fill(&mut noise);
        section.count(&format!("noise {round}"), harmless(&said(number, &noise)));
    }
    let rounds = if rig.quick { 5 } else { 30 };
    crowd("heads", b"GET / HT", number, rounds, section);
    let document = kept.join("run.json");
    let large = format!("\"label\": \"{}\"", "x".repeat(12 << 20));
    fs::write(&document, fs::read_to_string(&document)?.replace("\"label\": null", &large))?;
    let id = kept.file_name().unwrap_or_default().to_string_lossy();
    let ask = format!("GET /api/run/{id} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    crowd("readers", ask.as_bytes(), number, rounds, section);
    let alive = server.0.try_wait()?.is_none();
    section.count("control: it is the same process", holds(alive, "it has ended"));

    let (_locked, line) = serving(rig, ["serve", "--port=0", "--token=0123456789abcdef"])?;
    let number: u16 = port(&line).ok_or_else(|| format!("no port in {line:?}"))?;
    for token in ["", "0", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "%30"] {
        let body = "Content-Length: 1000000000\r\nExpect: 100-continue\r\n";
        let text = format!("GET /?token={token} HTTP/1.1\r\nHost: localhost\r\n{body}\r\n");
        let refused = said(number, text.as_bytes()).starts_with("HTTP/1.1 401");
        section.count(&format!("token {token:?}"), holds(refused, "it is not refused"));
    }
    Ok(())
}

/// An honest reader beside 100 that say this and then nothing, and take no answer.
fn crowd(what: &str, says: &[u8], port: u16, rounds: u32, section: &mut Section) {
    let all = (0..100).filter_map(|_| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
        stream.write_all(says).ok()?;
        Some(stream)
    });
    let all: Vec<TcpStream> = all.collect();
    section.count(&format!("100 slow {what}"), holds(all.len() == 100, "it does not listen"));
    let text = format!("GET /api/experiment/x HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    for round in 0..rounds {
        let answer = said(port, text.as_bytes());
        let why = answer.chars().take(80).collect::<String>();
        let fine = holds(answer.starts_with("HTTP/1.1 404"), why);
        section.count(&format!("an honest reader beside slow {what}, {round}"), fine);
    }
}

/// A machine over the sockets of killed servers, of living ones, and of none; and beside clients
/// that say nothing.
fn machine(rig: &Rig, section: &mut Section) -> Result<(), Failure> {
    let folder = rig.folder("sockets")?;
    let serve = |socket: &Path| {
        let place = format!("unix:{}", socket.display());
        serving(rig, ["machine", "serve", "nvme-ssd.toml", "--nbd", &place])
    };
    let socket = folder.join("disk");
    let (mut last, _) = serve(&socket)?;
    for round in 0..if rig.quick { 3 } else { 40 } {
        last.0.kill()?;
        last.0.wait()?;
        // Two begin at once: one listens, the other says that it does.
        let (one, other) = std::thread::scope(|scope| {
            let other = scope.spawn(|| serve(&socket).map_err(|error| error.to_string()));
            (serve(&socket), other.join())
        });
        let other = other.map_err(|_| "a starter panics")??;
        let (listens, mut other) = match one? {
            one if one.1.is_empty() => (other, one),
            one => (one, other),
        };
        let is_one = !listens.1.is_empty() && other.1.is_empty();
        let is_one = is_one && other.0.0.wait()?.code() == Some(3);
        let there = UnixStream::connect(&socket).is_ok();
        let fine = holds(is_one && there, "not one of two listens");
        section.count(&format!("over a dead socket {round}"), fine);
        last = listens.0;
    }
    fs::write(folder.join("file"), SECRET)?;
    fs::create_dir(folder.join("folder"))?;
    std::os::unix::fs::symlink("disk", folder.join("link"))?;
    tool("mkfifo", [folder.join("pipe")])?;
    let before = tree(&folder)?;
    for name in ["file", "folder", "link", "pipe", "disk"] {
        let (mut refused, line) = serve(&folder.join(name))?;
        let fine = line.is_empty() && refused.0.wait()?.code() == Some(3);
        let lost = changed(&before, &tree(&folder)?);
        section.count(&format!("over a {name}"), holds(fine && lost.is_empty(), lost.join("; ")));
    }
    let half_open: Vec<_> = (0..100).map(|_| UnixStream::connect(&socket)).collect();
    for round in 0..if rig.quick { 5 } else { 50 } {
        let mut client = UnixStream::connect(&socket)?;
        client.set_read_timeout(Some(Duration::from_secs(15)))?;
        let greeted = client.read_exact(&mut [0; 18]).map_err(|error| error.to_string());
        section.count(&format!("a client beside half-open ones {round}"), greeted);
    }
    drop(half_open);
    Ok(())
}

/// Hosts that send without end or hang, beside two that do as they should.
fn fleet(rig: &Rig, section: &mut Section, kept: &Path) -> Result<(), Failure> {
    let bin = rig.folder("bin")?;
    fs::write(bin.join("ssh"), SSH)?;
    fs::set_permissions(bin.join("ssh"), fs::Permissions::from_mode(0o755))?;
    let hosts = rig.path("hosts");
    let visit = |names: &str, options: &[&str]| {
        fs::write(&hosts, names)?;
        let mut command = rig.command(["fleet", "run", "--json", "--hosts"]);
        command.arg(&hosts).args(options).args(["--", "bench", "--on", "null", "--runtime=600ms"]);
        rig.finish(command.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).env("RUN", kept))
    };
    for round in 0..if rig.quick { 1 } else { 20 } {
        let ended = visit("a\nflood\nb\n", if round % 2 == 0 { &[] } else { &["--max-bytes=3m"] })?;
        let named = ended.out.matches("too_much").count() == 1;
        // On a machine too busy for valid figures they fail, and their runs are kept all the same.
        let ends = ["\"done\"", "\"failed\""].map(|word| ended.out.matches(word).count());
        let others = ends.iter().sum::<usize>() == 2;
        let fine = ended.ended_with(3).and(holds(named && others, ended.out));
        section.count(&format!("a host that sends without end {round}"), fine);
        let ended = visit("hang\n", &["--timeout=300ms"])?;
        let held = fs::read_to_string(kept.join("held"))?;
        let fine = tool("kill", [held.trim()]).map_err(|_| "the pipe's holder was waited for");
        let fine = ended.ended_with(3).and(fine.map(drop).map_err(str::to_owned));
        section.count(&format!("a host that hangs {round}"), fine);
    }
    Ok(())
}

/// Everything that is answered to these bytes.
fn said(port: u16, bytes: &[u8]) -> String {
    let mut answer = Vec::new();
    if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
        let _ = stream.set_read_timeout(Some(Duration::from_secs(60)));
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.take(1 << 22).read_to_end(&mut answer);
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
