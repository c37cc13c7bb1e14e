//! The server as a reader, a stranger and a web page of another origin meet it.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

#[path = "../../seekwell-report/tests/common/browser.rs"]
mod browser;
#[path = "../../seekwell-report/tests/sample/mod.rs"]
mod sample;

use jiff::Timestamp;
use seekwell_runs::{RunKind, Status, Store, Writer};
use seekwell_serve::{ServeError, Source};
use seekwell_sys::{Class, Classified};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A server that ends with the test.
struct Server {
    url: String,
    port: u16,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn start(home: &Path) -> Self {
        Self::open(home, "127.0.0.1:0", None).expect("it listens")
    }

    fn open(home: &Path, at: &str, token: Option<&str>) -> Result<Self, ServeError> {
        let store = Store::open(home.join("runs"));
        let server = seekwell_serve::Server::open(
            Source::Folder(store),
            at.parse().unwrap(),
            token.map(str::to_owned),
        )?;
        let (url, port) = (server.url(), server.address().port());
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = thread::spawn(move || server.run(&flag).expect("it is served"));
        Ok(Self { url, port, stop, thread: Some(thread) })
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        stream
    }

    /// Everything that is answered to these bytes.
    fn say(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // It may have heard enough, and closed, before all is said.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn ask(&self, method: &str, path: &str, more: &str) -> (u16, String, String) {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", self.port);
        parts(&self.say(format!("{head}{more}\r\n").as_bytes()))
    }

    fn get(&self, path: &str) -> (u16, String, String) {
        self.ask("GET", path, "")
    }

    fn is_alive(&self) -> bool {
        self.get("/").0 == 200
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(thread::panicking() || matches!(ended, Some(Ok(()))), "it ends when it is told to");
    }
}

/// Status, head and body.
fn parts(answer: &str) -> (u16, String, String) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    (status, head.to_owned(), body.to_owned())
}

/// A home in which one run is kept, with its id and, for as long as it is held, its writer.
fn home(status: Status) -> (tempfile::TempDir, String, Writer) {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path().join("runs"));
    let mut writer = store.create(RunKind::Checkup, Timestamp::now()).unwrap();
    let (mut document, detail) = sample::rich();
    document.id = writer.id().to_owned();
    document.status = status;
    writer.save(&document, &detail).unwrap();
    (home, document.id, writer)
}

#[test]
fn what_is_kept_is_shown_as_pages_and_as_json() {
    let (home, id, writer) = home(Status::Complete);
    drop(writer);
    let server = Server::start(home.path());
    let (status, head, page) = server.get("/");
    assert_eq!(status, 200, "{head}");
    assert!(page.contains(&format!("href=\"/run/{id}\"")), "the list names the run");
    for header in ["Cache-Control: no-store", "nosniff", "frame-ancestors 'none'"] {
        assert!(head.contains(header), "{head}");
    }
    let (status, _, page) = server.get(&format!("/run/{id}"));
    assert_eq!(status, 200);
    assert!(page.contains("random read 4 KiB, depth 1") && page.contains("connect-src 'self'"));
    let (status, head, text) = server.get(&format!("/api/run/{id}"));
    assert_eq!((status, head.contains("application/json")), (200, true));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["runs"][0]["document"]["id"], id.as_str());
    assert_eq!(json["runs"][0]["state"], "complete");
    let (_, _, text) = server.get("/api/runs");
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["list"][0]["id"], id.as_str());
}

#[test]
fn head_tells_the_length_and_sends_no_body() {
    let (home, id, _writer) = home(Status::Complete);
    let server = Server::start(home.path());
    let (status, head, body) = server.ask("HEAD", &format!("/run/{id}"), "");
    assert_eq!((status, body.as_str()), (200, ""));
    let (_, _, page) = server.get(&format!("/run/{id}"));
    assert!(head.contains(&format!("Content-Length: {}", page.len())), "{head}");
}

#[test]
fn nothing_but_reading_is_possible() {
    let (home, id, _writer) = home(Status::Complete);
    let server = Server::start(home.path());
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get"] {
        let body = "Content-Length: 5\r\n";
        let (status, head, _) = server.ask(method, &format!("/run/{id}"), body);
        assert_eq!(status, 405, "{method}");
        assert!(head.contains("Allow: GET, HEAD"), "{head}");
    }
    let long = format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n\r\n{}",
        "x".repeat(300_000)
    );
    assert!(server.say(long.as_bytes()).starts_with("HTTP/1.1 405 "), "the answer still arrives");
    assert_eq!(server.get(&format!("/run/{id}")).0, 200, "it is still there");
}

#[test]
fn no_address_leads_out_of_the_folder_of_runs() {
    let (home, id, _writer) = home(Status::Complete);
    std::fs::write(home.path().join("secret"), "do not show").unwrap();
    let server = Server::start(home.path());
    for path in [
        "/run/../../secret".to_owned(),
        "/run/..%2f..%2fsecret".to_owned(),
        "/run//etc/passwd".to_owned(),
        format!("/run/{id}/../../../secret"),
        format!("/run/{id}/run.json"),
        "/run/last".to_owned(),
        format!("/run/{}", &id[..8]),
        "/api/run/".to_owned(),
        "/run/20200101-000000-bench-0000".to_owned(),
        "/experiment/20200101-000000-experiment-0000".to_owned(),
        "/experiment/last".to_owned(),
        "/experiment/../experiments/noise.json".to_owned(),
        "/favicon.ico".to_owned(),
        "//".to_owned(),
    ] {
        let (status, _, body) = server.get(&path);
        assert_eq!(status, 404, "{path}");
        assert!(!body.contains("do not show") && !body.contains("root:"), "{path}");
    }
}

#[test]
fn a_page_of_another_origin_cannot_read_by_a_name_of_its_own() {
    let (home, _, _writer) = home(Status::Complete);
    let server = Server::start(home.path());
    for host in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "169.254.0.1"] {
        let answer = server.say(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes());
        assert!(answer.starts_with("HTTP/1.1 421 "), "{host}: {answer}");
    }
    let without = server.say(b"GET / HTTP/1.1\r\n\r\n");
    assert!(without.starts_with("HTTP/1.1 400 "), "{without}");
}

#[test]
fn beyond_loopback_a_token_is_made_and_asked_for() {
    let (home, id, _writer) = home(Status::Complete);
    let server = Server::open(home.path(), "0.0.0.0:0", None).unwrap();
    let (_, token) = server.url.split_once("?token=").expect("a token is made");
    assert_eq!(token.len(), 32);
    let path = format!("/run/{id}");
    let (status, head, body) = server.get(&path);
    assert_eq!(status, 401);
    assert!(head.contains("WWW-Authenticate: Bearer") && !body.contains("random read"), "{head}");
    assert_eq!(server.get(&format!("{path}?token={}", "0".repeat(32))).0, 401);
    assert_eq!(server.get(&format!("{path}?token={token}")).0, 200);
    assert_eq!(server.ask("GET", &path, &format!("Authorization: Bearer {token}\r\n")).0, 200);
    let (_, _, list) = server.get(&format!("/?token={token}"));
    assert!(list.contains(&format!("/run/{id}?token={token}")), "its links go on working");
}

#[test]
fn a_token_that_was_given_is_asked_for_on_loopback_too_and_a_short_one_is_refused() {
    let (home, _, _writer) = home(Status::Complete);
    let server = Server::open(home.path(), "127.0.0.1:0", Some("abcdefghijklmnop")).unwrap();
    assert_eq!(server.get("/api/runs").0, 401);
    assert_eq!(server.get("/api/runs?token=abcdefghijklmnop").0, 200);
    let error = Server::open(home.path(), "127.0.0.1:0", Some("secret")).err().expect("too short");
    assert!(error.class() == Class::Usage && !error.to_string().contains("secret"), "{error}");
}

#[test]
fn garbage_is_answered_with_400_and_the_server_lives_on() {
    let (home, _, _writer) = home(Status::Complete);
    let server = Server::start(home.path());
    let garbage: [&[u8]; 5] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"\0\0\0\0",
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
        b"GET /\xff\xfe\x80 HTTP/1.1\r\nHost: \xff\r\n\r\n",
    ];
    for bytes in garbage {
        let answer = server.say(bytes);
        assert!(answer.starts_with("HTTP/1.1 400 "), "{bytes:?}: {answer:?}");
    }
    let endless = format!("GET /{} HTTP/1.1\r\n", "a".repeat(20_000));
    let answer = server.say(endless.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer:?}");
    assert!(server.is_alive());
}

/// One reader that sends a byte a second would hold a thread forever, and thirty-two of them the
/// whole server, were the time counted from byte to byte.
#[test]
fn a_reader_that_trickles_is_cut_off_and_others_are_answered_meanwhile() {
    let (home, _, _writer) = home(Status::Complete);
    let server = Server::start(home.path());
    let mut slow = server.connect();
    slow.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let mut answer = Vec::new();
    let mut bytes = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ".iter().chain(&[b'x'; 90]);
    while answer.is_empty() {
        let _ = slow.write_all(&[*bytes.next().expect("it is still listened to")]);
        let mut chunk = [0; 256];
        if let Ok(n) = slow.read(&mut chunk) {
            answer.extend_from_slice(&chunk[..n]);
            if n == 0 {
                break;
            }
        }
    }
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer:?}");
    assert!(server.is_alive());
}

/// Thirty-two readers that said half a line had all places for five seconds, and those that asked
/// for a large page and did not take it for a minute; everybody else was turned away.
#[test]
fn readers_that_say_or_take_nothing_keep_nobody_out() {
    let (home, id, mut writer) = home(Status::Complete);
    let server = Server::start(home.path());
    let idle: Vec<TcpStream> = (0..100).map(|_| server.connect()).collect();
    for _ in 0..20 {
        assert!(server.is_alive());
    }
    drop(idle);
    // More than the buffers of a connection take.
    let (mut document, detail) = sample::rich();
    document.id.clone_from(&id);
    document.label = Some("x".repeat(6 << 20));
    writer.save(&document, &detail).unwrap();
    let ask = format!("GET /api/run/{id} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let deaf = (0..40).map(|_| {
        let mut stream = server.connect();
        stream.write_all(ask.as_bytes()).unwrap();
        stream
    });
    let deaf: Vec<TcpStream> = deaf.collect();
    for _ in 0..5 {
        assert_eq!(server.get("/nothing").0, 404);
    }
    drop(deaf);
}

#[test]
fn a_port_that_is_taken_is_said_with_its_address() {
    let (home, _, _writer) = home(Status::Complete);
    let server = Server::start(home.path());
    let address = format!("127.0.0.1:{}", server.port);
    let error = Server::open(home.path(), &address, None).err().expect("it is taken");
    assert!(error.class() == Class::Refused && error.to_string().contains(&address), "{error}");
}

#[test]
fn a_page_follows_a_run_that_is_still_going_on() {
    let (home, id, mut writer) = home(Status::Running);
    let Some(browser) = browser::browser() else { return };
    let server = Server::open(home.path(), "127.0.0.1:0", Some("abcdefghijklmnop")).unwrap();
    let (mut document, detail) = sample::rich();
    document.id.clone_from(&id);
    document.status = Status::Running;
    let address = format!("http://127.0.0.1:{}/run/{id}?token=abcdefghijklmnop", server.port);
    let dom = browser::dom(&browser, &address, |turn| {
        document.label = Some(format!("turn-{turn}"));
        writer.save(&document, &detail).unwrap();
    });
    assert!(dom.contains("data-state=\"drawn\"") && dom.contains("data-refused=\"0\""));
    assert!(dom.contains("● RUNNING"), "it says so");
    let (_, after) = dom.split_once("data-updates=\"").expect("it was drawn again");
    assert!(!after.starts_with('0'));
    assert!(dom.contains("turn-"), "with what was saved meanwhile");
}

#[test]
fn a_page_of_a_run_that_ended_does_not_ask_again() {
    let (home, id, writer) = home(Status::Complete);
    drop(writer);
    let Some(browser) = browser::browser() else { return };
    let server = Server::start(home.path());
    let address = format!("http://127.0.0.1:{}/run/{id}", server.port);
    let dom = browser::dom(&browser, &address, |_| {});
    assert!(dom.contains("data-state=\"drawn\"") && dom.contains("data-refused=\"0\""));
    assert!(dom.contains("data-served") && !dom.contains("data-updates"));
}
