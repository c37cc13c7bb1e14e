//! The load of the suite `web` beside ApacheBench, both against the same server.

use super::pair::{Pair, alternate};
use crate::Failure;
use seekwell_suites::web::{Load, Page, Server, Site, Sizes, Tree, load};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

/// Seconds of one load, about.
const SECONDS: u64 = 3;

/// Pages a second from the program's own server and from nginx where it is installed: a small page
/// and one of 64 KiB, 2 and 20 at a time, and with connections that are kept.
pub fn measure(rounds: u32, dir: &Path) -> Result<Vec<Pair>, Failure> {
    let mut pairs = Vec::new();
    for bytes in [4 << 10, 64 << 10] {
        let folder = tempfile::tempdir_in(dir)?;
        let sizes = Sizes { pages: 1, smallest_bytes: bytes, largest_bytes: bytes, seed: 1 };
        let tree = Tree::make(folder.path(), &sizes, &AtomicBool::new(false), &|_| ())?;
        let tree = Arc::new(tree);
        for (concurrency, keep_alive) in [(2, false), (20, false), (20, true)] {
            let server = Server::start(&tree, concurrency)?;
            let name = "own server";
            pairs.push(beside_ab(rounds, &tree, server.address(), name, concurrency, keep_alive)?);
        }
        if let Some(nginx) = Nginx::start(folder.path())? {
            for concurrency in [2, 20] {
                pairs.push(beside_ab(rounds, &tree, nginx.address, "nginx", concurrency, false)?);
            }
        }
    }
    Ok(pairs)
}

fn beside_ab(
    rounds: u32,
    tree: &Tree,
    address: SocketAddr,
    server: &str,
    concurrency: u32,
    keep_alive: bool,
) -> Result<Pair, Failure> {
    let site = Site::at(address);
    let page = Page { name: tree.name(0), bytes: tree.bytes(0) };
    let time = Some(Duration::from_secs(SECONDS));
    let what = Load { concurrency, keep_alive, pages: None, time };
    let ours = || {
        let mut same = || Ok(page.clone());
        let served = load(&site, &what, &AtomicBool::new(false), &|_| (), &mut same)?;
        Ok(served.latency.count() as f64 / served.elapsed.as_secs_f64())
    };
    let url = format!("http://{address}/{}", page.name);
    let theirs = || apache_bench(&url, concurrency, keep_alive);
    let (ours, theirs) = alternate(rounds, ours, theirs)?;
    let kept = if keep_alive { ", connections kept" } else { "" };
    let size = tree.bytes(0) >> 10;
    Ok(Pair {
        what: format!("page of {size} KiB from {server}, {concurrency} at a time{kept}"),
        peer: "ab",
        unit: "pages/s",
        allowed_percent: 10.0,
        ours,
        theirs,
    })
}

fn apache_bench(url: &str, concurrency: u32, keep_alive: bool) -> Result<f64, Failure> {
    let mut command = Command::new("ab");
    // A time alone would stop at 50,000 pages.
    command.args(["-q", "-t", &SECONDS.to_string(), "-n", "100000000"]);
    command.args(["-c", &concurrency.to_string()]);
    if keep_alive {
        command.arg("-k");
    }
    let output = command.arg(url).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok())
    };
    if field("Failed requests:") != Some(0.0) {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("ab failed: {} {}", text.trim(), why.trim()).into());
    }
    field("Requests per second:").ok_or_else(|| "ab printed no rate".into())
}

/// An nginx of our own, ended when this is dropped.
struct Nginx {
    address: SocketAddr,
    process: Child,
    _folder: tempfile::TempDir,
}

impl Nginx {
    /// Serves a directory; nothing where nginx is not installed.
    fn start(root: &Path) -> Result<Option<Self>, Failure> {
        let folder = tempfile::tempdir()?;
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let (own, root) = (folder.path().display(), root.display());
        let config = folder.path().join("nginx.conf");
        // As the user who started it, who alone can see the directory.
        let text = format!(
            "daemon off; pid {own}/pid; error_log stderr; worker_processes auto; user root;\n\
             events {{ worker_connections 256; }}\n\
             http {{ access_log off; sendfile on; tcp_nopush on; server {{ listen {address}; \
             root {root}; }} }}\n"
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
