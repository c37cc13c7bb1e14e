//! The suite as a whole, and servers that do what servers should not.

use super::*;
use crate::testing::{SmallFs, roomy, round, round_in, skip};
use seekwell_sys::{Class, Classified};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::Instant;

const SIZES: Sizes = Sizes { pages: 20, smallest_bytes: 100, largest_bytes: 300_000, seed: 5 };

fn tree() -> (tempfile::TempDir, Arc<Tree>) {
    let dir = tempfile::tempdir().unwrap();
    let tree = Tree::make(dir.path(), &SIZES, &AtomicBool::new(false), &|_| ()).unwrap();
    (dir, Arc::new(tree))
}

fn in_turn(tree: &Tree) -> impl FnMut() -> Result<Page, SuiteError> {
    let pages: Vec<_> = (0..tree.pages())
        .map(|page| Page { name: tree.name(page), bytes: tree.bytes(page) })
        .collect();
    let mut next = 0;
    move || {
        next += 1;
        Ok(pages[next % pages.len()].clone())
    }
}

fn loaded(site: &Site, tree: &Tree, what: &Load) -> Result<Served, SuiteError> {
    load(site, what, &AtomicBool::new(false), &|_| (), &mut in_turn(tree))
}

fn pages(concurrency: u32, keep_alive: bool, pages: u64) -> Load {
    Load { concurrency, keep_alive, read_bytes: 4096, pages: Some(pages), time: None }
}

#[test]
fn every_page_comes_whole_on_new_and_on_kept_connections() {
    let (_dir, tree) = tree();
    let server = Server::start(&tree, 8).unwrap();
    let site = Site::at(server.address());
    for (concurrency, keep) in [(1, false), (8, false), (1, true), (8, true)] {
        let served = loaded(&site, &tree, &pages(concurrency, keep, 200)).unwrap();
        assert_eq!(served.latency.count(), 200);
        assert_eq!(served.bytes, 10 * tree.total_bytes(), "{concurrency} {keep}");
        let connections = if keep { u64::from(concurrency) } else { 200 };
        assert_eq!(served.connect.count(), connections, "{concurrency} {keep}");
    }
}

#[test]
fn a_load_ends_when_its_time_is_over_or_somebody_asks() {
    let (_dir, tree) = tree();
    let server = Server::start(&tree, 2).unwrap();
    let site = Site::at(server.address());
    let time = Some(Duration::from_millis(300));
    let timed = Load { time, pages: None, ..pages(2, false, 0) };
    let served = loaded(&site, &tree, &timed).unwrap();
    assert!(served.elapsed.0 >= 300_000_000 && served.latency.count() > 2);
    let stopped = load(&site, &timed, &AtomicBool::new(true), &|_| (), &mut in_turn(&tree));
    assert!(matches!(stopped, Err(SuiteError::Interrupted)));
}

/// A server of one thread that treats each connection in turn as the test says.
fn odd(
    mut treat: impl FnMut(u32, &mut std::net::TcpStream) -> bool + Send + 'static,
) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = thread::spawn(move || {
        for n in 0.. {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request);
            if !treat(n, &mut stream) {
                return;
            }
        }
    });
    (address, thread)
}

#[test]
fn a_server_that_dies_in_the_middle_is_told_with_how_many_pages_came() {
    let (_dir, tree) = tree();
    let first = tree.bytes(1);
    let (address, server) = odd(move |n, stream| {
        let body = vec![0; first as usize];
        let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {first}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let sent = if n < 3 { body.len() } else { body.len() / 2 };
        stream.write_all(&body[..sent]).unwrap();
        n < 3
    });
    let mut same = || Ok(Page { name: tree.name(1), bytes: first });
    let (site, what) = (Site::at(address), pages(1, false, 100));
    let died = load(&site, &what, &AtomicBool::new(false), &|_| (), &mut same).unwrap_err();
    let expect = format!("the server at {address} died after 3 pages: ");
    assert!(died.to_string().starts_with(&expect) && died.class() == Class::Invalid, "{died}");
    server.join().unwrap();
    let nobody = load(&site, &what, &AtomicBool::new(false), &|_| (), &mut same).unwrap_err();
    let expect = format!("no server answers at {address}: ");
    assert!(
        nobody.to_string().starts_with(&expect) && nobody.class() != Class::Invalid,
        "{nobody}"
    );
}

#[test]
fn an_answer_that_is_not_the_page_ends_the_load() {
    let (_dir, tree) = tree();
    for (answer, said) in [
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "404 Not Found"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n1234567", "7 bytes and not"),
        ("SSH-2.0-OpenSSH_9.2\r\n", "no HTTP"),
    ] {
        let (address, server) = odd(move |_, stream| {
            stream.write_all(answer.as_bytes()).unwrap();
            false
        });
        let wrong = loaded(&Site::at(address), &tree, &pages(1, false, 10)).unwrap_err();
        assert!(wrong.to_string().contains(said), "{wrong}");
        assert!(matches!(wrong, SuiteError::Web(WebError::Other { .. })));
        server.join().unwrap();
    }
}

#[test]
fn the_embedded_server_serves_its_pages_and_nothing_else() {
    let (_dir, tree) = tree();
    let server = Server::start(&tree, 1).unwrap();
    let ask = |request: &str| {
        let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer[..answer.len().min(60)]).into_owned()
    };
    assert!(ask("GET /000/000003.html?x HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 200 OK"));
    assert!(ask("HEAD /000/000003.html HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 200 OK"));
    for path in ["/000/000020.html", "/../../etc/passwd", "/", "//000/000003.html"] {
        assert!(ask(&format!("GET {path} HTTP/1.0\r\n\r\n")).starts_with("HTTP/1.1 404"), "{path}");
    }
    assert!(ask("POST /000/000003.html HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 400"));
    assert!(ask("nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
    assert!(ask(&format!("GET /{} ", "a".repeat(9000))).starts_with("HTTP/1.1 400"));
}

#[test]
fn addresses_are_read_as_people_write_them() {
    let site = Site::parse("http://127.0.0.1:8080/pages/").unwrap();
    assert_eq!((site.address, site.prefix.as_str()), (([127, 0, 0, 1], 8080).into(), "/pages/"));
    let site = Site::parse("http://127.0.0.1").unwrap();
    assert_eq!((site.address.port(), site.host.as_str()), (80, "127.0.0.1"));
    assert_eq!(below(site, Path::new("/srv/.own-1")).prefix, "/.own-1/");
    for url in ["https://a", "localhost", "http://", "http://a b", "http://u@a/", "http:///x"] {
        assert!(matches!(Site::parse(url), Err(WebError::Address { .. })), "{url}");
    }
}

#[test]
fn every_step_gives_its_figures_and_says_what_the_limit_was() {
    let set = [("seconds", "1"), ("pages", "50"), ("concurrency", "2,5"), ("keep-alive", "on")];
    let Some(steps) = round(&SUITE, &set) else { return };
    let names: Vec<_> = steps.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["warm-c2", "warm-c5", "cold-c2", "cold-c5"]);
    for (name, result) in &steps {
        let (m, values) = (&result.measurement, &result.values);
        assert_eq!(m.op(Op::Read).requests as f64, values["pages_count"], "{name}");
        let rate = m.op(Op::Read).bytes as f64 / m.elapsed.as_secs_f64();
        assert!((values["page_rate_bytes_per_s"] - rate).abs() < 1.0, "{name}");
        assert!(values.contains_key("page_latency_ns_p50"), "{name}");
        assert!(result.notes.iter().any(|n| n.contains("processor")), "{:?}", result.notes);
    }
}

#[test]
fn another_server_loads_the_pages_of_the_target_and_is_told_when_it_does_not_have_them() {
    let serve = |dir: &Path| {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = std::process::Command::new("python3");
        command.args(["-m", "http.server", "--bind", "127.0.0.1", &free.to_string()]);
        let quiet = command.current_dir(dir).stderr(std::process::Stdio::null());
        let server = quiet.stdout(std::process::Stdio::null()).spawn().ok()?;
        let began = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", free)).is_err() {
            if began.elapsed() > Duration::from_secs(20) {
                return None;
            }
            thread::sleep(Duration::from_millis(20));
        }
        Some((server, format!("http://127.0.0.1:{free}/")))
    };
    let (target, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let Some((mut server, url)) = serve(target.path()) else {
        return skip("no other server can be started");
    };
    let set = [("seconds", "1"), ("pages", "5"), ("concurrency", "2"), ("server", url.as_str())];
    let there = round_in(&SUITE, &set, target.path(), |_| ());
    let missing = round_in(&SUITE, &set, elsewhere.path(), |_| ());
    server.kill().unwrap();
    server.wait().unwrap();
    let Some(there) = roomy(there) else { return };
    let (there, missing) = (there.unwrap(), missing.unwrap_err());
    assert!(there[0].1.values["pages_count"] > 1.0);
    assert!(missing.to_string().contains("404"), "{missing}");
    assert!(missing.to_string().contains("has to serve the target directory"), "{missing}");
    let none = round_in(&SUITE, &set, target.path(), |_| ()).unwrap_err();
    assert!(none.to_string().starts_with("no server answers at "), "{none}");
}

#[test]
fn pages_on_a_full_or_read_only_file_system_or_one_without_inodes_are_a_sentence() {
    let make = |small: &SmallFs, pages| {
        let sizes = Sizes { pages, smallest_bytes: 1000, largest_bytes: 9000, seed: 1 };
        Tree::make(&small.path(), &sizes, &AtomicBool::new(false), &|_| ()).unwrap_err()
    };
    let Some(small) = SmallFs::ext4(2 << 20, 4096) else { return };
    assert!(matches!(make(&small, 2000), SuiteError::Full { .. }));
    let Some(few) = SmallFs::ext4(8 << 20, 64) else { return };
    assert!(matches!(make(&few, 2000), SuiteError::NoInodes { .. }));
    let Some(small) = SmallFs::ext4(2 << 20, 64) else { return };
    small.only_read();
    assert!(matches!(make(&small, 1), SuiteError::ReadOnly { .. }));
}
