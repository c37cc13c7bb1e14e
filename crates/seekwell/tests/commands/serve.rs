//! `seekwell serve` as a program: what it prints, what it shows of others, how it ends.

use crate::common::server::Server;
use crate::common::{run, seekwell, signal, wait_for};
use std::net::TcpStream;
use std::process::Stdio;

#[test]
fn an_experiment_is_listed_and_shown_while_it_is_made_and_when_it_is_over() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path(), &[]);
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
    wait_for("a line in the list", || {
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
    // A busy machine can spoil a run, and with it the experiment.
    let state = &late["document"]["status"];
    assert!(["complete", "invalid"].iter().any(|ended| state == ended), "{state}");
    assert_eq!(&late["state"], state);
    assert_eq!(&json("/api/runs")["list"][0]["state"], state);
    let verdict = late["sheets"][0]["verdict"][0].as_str().unwrap();
    assert!(server.get(&format!("/experiment/{id}")).1.contains(verdict));
    assert_eq!(server.get(&format!("/run/{id}")).0, 404, "it is no run");
}

#[test]
fn a_port_that_is_taken_and_a_token_that_is_too_short_end_with_their_statuses() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path(), &[]);
    let (_, port) = server.at.split_once(':').unwrap();
    assert_eq!(run(home.path(), &["serve", "--port", port]).status, 3);
    assert_eq!(run(home.path(), &["serve", "--token=secret"]).status, 2);
}

#[test]
fn ctrl_c_ends_it_with_130_also_while_somebody_is_connected() {
    let home = tempfile::tempdir().unwrap();
    let mut server = Server::start(home.path(), &[]);
    assert_eq!(server.get("/").0, 200);
    let _idle = TcpStream::connect(&server.at).unwrap();
    signal(&server.child, "INT");
    assert_eq!(server.child.wait().unwrap().code(), Some(130));
}
