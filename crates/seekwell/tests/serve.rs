//! `seekwell serve` as a program: what it prints, what it shows of others, how it ends.

mod common;

use common::{run, seekwell, signal, wait_for};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A server that ends with the test.
struct Server {
    child: Child,
    /// `127.0.0.1:PORT`.
    at: String,
}

impl Server {
    fn start(home: &Path) -> Self {
        let mut command = seekwell(home);
        command.env_remove("SEEKWELL_TOKEN").args(["serve", "--port=0"]);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program");
        let mut line = String::new();
        let out = child.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("an address");
        let at = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { child, at }
    }

    fn get(&self, path: &str) -> (u16, String) {
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

#[test]
fn an_experiment_is_listed_and_shown_while_it_is_made_and_when_it_is_over() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path());
    let json = |path: &str| -> serde_json::Value {
        let (status, text) = server.get(path);
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(json("/api/runs")["list"], serde_json::json!([]));
    let mut child = seekwell(home.path())
        .args(["experiment", "--on", "null", "--b", "iodepth=8", "--pairs", "--blocks=8"])
        .args(["--runtime=600ms", "--settle=0"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut listed = serde_json::Value::Null;
    wait_for("a line in the list", Duration::from_secs(20), || {
        listed = json("/api/runs")["list"][0].clone();
        !listed.is_null()
    });
    let id = listed["id"].as_str().unwrap();
    assert_eq!((&listed["kind"], &listed["state"]), (&"experiment".into(), &"running".into()));
    assert_eq!(listed["label"], "iodepth=8 against iodepth=1");
    let (_, page) = server.get(&format!("/experiment/{id}"));
    assert!(page.contains("● RUNNING") && page.contains("data-served"));
    let (address, api) = (format!("href=\"/experiment/{id}\""), format!("/api/experiment/{id}"));
    assert!(server.get("/").1.contains(&address), "the list leads to it");
    let early = json(&api);
    assert_eq!((&early["state"], &early["document"]["id"]), (&"running".into(), &id.into()));
    assert!(early["sheets"][0]["course"].is_null(), "nobody sees numbers come in");
    child.wait().unwrap();
    let late = json(&api);
    assert_eq!(late["state"], "complete");
    assert_eq!(json("/api/runs")["list"][0]["state"], "complete");
    let verdict = late["sheets"][0]["verdict"][0].as_str().unwrap();
    assert!(server.get(&format!("/experiment/{id}")).1.contains(verdict));
    assert_eq!(server.get(&format!("/run/{id}")).0, 404, "it is no run");
}

#[test]
fn a_port_that_is_taken_and_a_token_that_is_too_short_end_with_their_statuses() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path());
    let (_, port) = server.at.split_once(':').unwrap();
    assert_eq!(run(home.path(), &["serve", "--port", port]).status, 3);
    assert_eq!(run(home.path(), &["serve", "--token=secret"]).status, 2);
}

#[test]
fn ctrl_c_ends_it_at_once_with_130_also_while_somebody_is_connected() {
    let home = tempfile::tempdir().unwrap();
    let mut server = Server::start(home.path());
    assert_eq!(server.get("/").0, 200);
    let _idle = TcpStream::connect(&server.at).unwrap();
    signal(&server.child, "INT");
    let begun = Instant::now();
    let status = server.child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}
