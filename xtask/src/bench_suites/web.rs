//! The load of the suite `web` beside ab, against the same two servers: the program's own, and
//! nginx if it is installed.

use super::{Bench, Figure, Figures};
use crate::bench::build;
use crate::report::{Page, Unit, Wanted};
use crate::{Failure, process};
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// How pages are asked for.
#[derive(Debug, Clone, Copy)]
struct Load {
    bytes: u64,
    concurrency: u32,
    keep_alive: bool,
}

/// A small page and one of 64 KiB, 2 and 20 at a time, and on connections that are kept.
pub fn measure(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    let server = build(
        &["--release", "--package", "seekwell-suites", "--example", "serve-page"],
        "serve-page",
    )?;
    let nginx = Nginx::start(bench.place.dir())?;
    for bytes in [4 << 10, 64 << 10] {
        for (concurrency, keep_alive) in [(2, false), (20, false), (20, true)] {
            let load = Load { bytes, concurrency, keep_alive };
            own(bench, page, load, &server)?;
            match &nginx {
                Some(nginx) => beside(bench, page, load, nginx)?,
                None => page.missing(load.words("nginx"), "nginx is not installed"),
            }
        }
    }
    Ok(())
}

impl Load {
    fn words(self, server: &str) -> String {
        let kept = if self.keep_alive { ", connections kept" } else { "" };
        let (size, n) = (self.bytes >> 10, self.concurrency);
        format!("web: page of {size} KiB from {server}, {n} at a time{kept}, beside ab")
    }
}

/// The suite with its embedded server, and ab on one that is the same.
fn own(bench: &Bench, page: &mut Page, load: Load, program: &Path) -> Result<(), Failure> {
    let theirs = || {
        let folder = tempfile::tempdir_in(bench.place.dir())?;
        let mut child = Command::new(program)
            .arg(folder.path())
            .args([load.bytes.to_string(), load.concurrency.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut url = String::new();
        BufReader::new(child.stdout.take().ok_or("no stdout")?).read_line(&mut url)?;
        let rate = apache_bench(bench, url.trim(), load);
        // It ends when its standard input does.
        drop(child.stdin.take());
        child.wait()?;
        rate
    };
    pair(bench, page, load, ("its own server", "embedded"), theirs)
}

/// The suite and ab on one nginx.
fn beside(bench: &Bench, page: &mut Page, load: Load, nginx: &Nginx) -> Result<(), Failure> {
    let file = tempfile::Builder::new().suffix(".html").tempfile_in(bench.place.dir())?;
    std::fs::write(file.path(), vec![b'x'; load.bytes as usize])?;
    let name = file.path().file_name().ok_or("a file without a name")?.to_string_lossy();
    let site = format!("http://{}", nginx.address);
    let url = format!("{site}/{name}");
    pair(bench, page, load, ("nginx", &site), || apache_bench(bench, &url, load))
}

fn pair(
    bench: &Bench,
    page: &mut Page,
    load: Load,
    (server, address): (&str, &str),
    theirs: impl FnMut() -> Result<Figures, Failure>,
) -> Result<(), Failure> {
    let set = [
        ("pages", "1".to_owned()),
        ("smallest", load.bytes.to_string()),
        ("largest", load.bytes.to_string()),
        ("cache", "warm".to_owned()),
        ("concurrency", load.concurrency.to_string()),
        ("keep-alive", if load.keep_alive { "on" } else { "off" }.to_owned()),
        // As much as ab does: large pages cost the fewer calls the more is read by each.
        ("read", "8k".to_owned()),
        ("seconds", seconds(bench).to_string()),
        ("server", address.to_owned()),
    ];
    let step = format!("warm-c{}", load.concurrency);
    let figure = Figure {
        name: &step,
        what: load.words(server),
        unit: Unit::PerSecond,
        wanted: Wanted::RatioWithin(0.1),
    };
    let ours = || bench.suite("web", bench.place.dir(), &set);
    bench.compare(page, vec![figure], ours, theirs)
}

fn seconds(bench: &Bench) -> u32 {
    bench.choose(2, 5)
}

/// Pages a second, under the name the suite's step has.
fn apache_bench(bench: &Bench, url: &str, load: Load) -> Result<Figures, Failure> {
    let mut command = Command::new("ab");
    // A time alone would stop at 50,000 pages.
    command.args(["-q", "-t", &seconds(bench).to_string(), "-n", "100000000"]);
    command.args(["-c", &load.concurrency.to_string()]);
    if load.keep_alive {
        command.arg("-k");
    }
    let output = process::output(command.arg(url))?;
    let text = String::from_utf8_lossy(&output);
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok())
    };
    let (failed, complete) = (field("Failed requests:"), field("Complete requests:"));
    // Under load ab counts one in some thousands as an exception of its own polling.
    let fails = failed.zip(complete).is_none_or(|(failed, all)| failed > all / 1000.0);
    if fails || text.contains("Non-2xx") {
        let lines = text.lines().filter(|line| line.contains("requests:"));
        return Err(format!("ab failed: {}", lines.collect::<Vec<_>>().join("; ")).into());
    }
    let rate = field("Requests per second:").ok_or("ab printed no rate")?;
    Ok(Figures::from([(format!("warm-c{}", load.concurrency), rate)]))
}

/// An nginx of our own, ended when this is dropped.
struct Nginx {
    address: SocketAddr,
    process: Child,
    _folder: tempfile::TempDir,
}

impl Nginx {
    /// Serves a directory; `None` if nginx is not installed.
    fn start(root: &Path) -> Result<Option<Self>, Failure> {
        let folder = tempfile::tempdir()?;
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let (own, root) = (folder.path().display(), root.display());
        let config = folder.path().join("nginx.conf");
        // As the user who started it, who alone can see the directory.
        let text = format!(
            "daemon off; pid {own}/pid; error_log stderr; worker_processes auto; user root;\n\
             events {{ worker_connections 256; }}\n\
             http {{ access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; \
             server {{ listen {address}; root {root}; }} }}\n"
        );
        std::fs::write(&config, text)?;
        let mut command = Command::new("nginx");
        command.arg("-p").arg(folder.path()).arg("-c").arg(&config).stderr(Stdio::null());
        let Ok(process) = command.spawn() else { return Ok(None) };
        let started = Self { address, process, _folder: folder };
        for _ in 0..100 {
            if TcpStream::connect(address).is_ok() {
                return Ok(Some(started));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err("nginx was started and does not answer".into())
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // The master ends its workers on SIGTERM; a kill would leave them behind.
        let pid = rustix::process::Pid::from_child(&self.process);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.process.wait();
    }
}
