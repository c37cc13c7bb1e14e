//! `seekwell machine serve` as a program, under the clients that people use.

use crate::common::{run, schema, seekwell, signal, skip, wait_for};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// A server on a socket in a folder of its own.
struct Served {
    child: Child,
    home: tempfile::TempDir,
}

impl Served {
    fn start(machine: &str, more: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let socket = home.path().join("disk.sock");
        let [out, err] = ["out", "err"].map(|f| fs::File::create(home.path().join(f)).unwrap());
        let child = seekwell(home.path())
            .args(["machine", "serve", machine, "--json", "--nbd"])
            .arg(format!("unix:{}", socket.display()))
            .args(more)
            .stdout(out)
            .stderr(err)
            .spawn()
            .unwrap();
        let served = Self { child, home };
        wait_for("its address", || served.said().contains("nbd+unix:"));
        served
    }

    fn uri(&self) -> String {
        format!("nbd+unix:///?socket={}", self.home.path().join("disk.sock").display())
    }

    fn said(&self) -> String {
        fs::read_to_string(self.home.path().join("err")).unwrap()
    }

    /// Ends it with Ctrl-C and reads what it printed.
    fn end(&mut self) -> Value {
        signal(&self.child, "INT");
        assert_eq!(self.child.wait().unwrap().code(), Some(130));
        assert!(!self.home.path().join("disk.sock").exists(), "the socket is removed");
        let out = fs::read_to_string(self.home.path().join("out")).unwrap();
        let document = serde_json::from_str(&out).unwrap();
        schema::check(&document);
        document
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a client; `None` if it is not installed.
fn client(program: &str, args: &[&str]) -> Option<Output> {
    let output = Command::new(program).args(args).stdin(Stdio::null()).output();
    if output.is_err() {
        skip(&format!("{program} is not installed"));
    }
    output.ok()
}

fn text(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat()
}

fn op<'a>(served: &'a Value, name: &str) -> &'a Value {
    let ops = served["ops"].as_array().unwrap();
    ops.iter().find(|op| op["op"] == name).unwrap()
}

#[test]
fn nbdinfo_sees_a_disk_of_the_machine_s_size_and_kind() {
    let mut served = Served::start("pii350-default.toml", &[]);
    let Some(info) = client("nbdinfo", &["--json", &served.uri()]) else { return };
    let told: Value = serde_json::from_slice(&info.stdout).unwrap_or_else(|_| {
        panic!("{}", text(&info));
    });
    let export = &told["exports"][0];
    let machine = run(served.home.path(), &["machine", "list", "--json"]).json();
    let machines = machine["machines"].as_array().unwrap();
    let found = machines.iter().find(|m| m["name"] == "pii350-default").unwrap();
    let capacity = found["capacity_bytes"].as_u64().unwrap() / 512 * 512;
    assert_eq!(export["export-size"], capacity);
    assert_eq!((&export["can_flush"], &export["can_fua"]), (&true.into(), &true.into()));
    assert_eq!(export["is_rotational"], true);
    assert_eq!(export["can_trim"], false);
    assert!(served.end()["clients"].as_u64() > Some(0));
}

#[test]
fn what_nbdcopy_writes_is_read_back_from_the_file_of_the_data() {
    let home = tempfile::tempdir().unwrap();
    let (data, from) = (home.path().join("data"), home.path().join("from"));
    let bytes: Vec<u8> = (0..3_000_320_u32).map(|n| (n / 512 * 7 + n) as u8).collect();
    fs::write(&from, &bytes).unwrap();
    let more = ["--data", data.to_str().unwrap()];
    let mut served = Served::start("nvme-ssd.toml", &more);
    let from = from.to_str().unwrap();
    let Some(copied) = client("nbdcopy", &["--flush", from, &served.uri()]) else { return };
    assert!(copied.status.success(), "{}", text(&copied));
    let second = run(
        home.path(),
        &["machine", "serve", "nvme-ssd.toml", "--nbd=127.0.0.1:0", more[0], more[1]],
    );
    assert!(second.ends(3).err.contains("being served already"));
    let told = served.end();
    assert_eq!(op(&told, "write")["bytes"], bytes.len());
    let other = ["machine", "serve", "pii350-default.toml", "--nbd=127.0.0.1:0", more[0], more[1]];
    assert!(run(home.path(), &other).ends(3).err.contains("name a new file"));
    let mut kept = fs::File::open(&data).unwrap();
    let mut found = vec![0; bytes.len()];
    std::io::Read::read_exact(&mut kept, &mut found).unwrap();
    assert!(found == bytes);
}

#[test]
fn qemu_reads_writes_flushes_and_sees_errors() {
    let mut served = Served::start("nvme-ssd.toml", &["--fault", "error=8m+4k"]);
    let uri = served.uri();
    let commands =
        ["write -P 5 0 1M", "flush", "read -P 5 4k 64k", "discard 0 64k", "read -P 0 0 64k"];
    let mut args = vec!["-f", "raw"];
    commands.iter().for_each(|command| args.extend(["-c", command]));
    let Some(done) = client("qemu-io", &[&args[..], &[&uri]].concat()) else { return };
    assert!(done.status.success() && !text(&done).contains("failed"), "{}", text(&done));
    let failed = client("qemu-io", &["-f", "raw", "-c", "read 8m 4k", &uri]).unwrap();
    assert!(text(&failed).contains("Input/output error"), "{}", text(&failed));
    let told = served.end();
    assert_eq!(op(&told, "read")["errors"], 1);
    assert_eq!(op(&told, "trim")["bytes"], 65_536);
}

#[test]
fn fio_verifies_what_it_wrote_to_a_modelled_disk() {
    let mut served = Served::start("nvme-ssd.toml", &[]);
    let uri = format!("--uri={}", served.uri());
    let args = ["--name=v", "--ioengine=nbd", &uri, "--rw=randwrite", "--bs=4k", "--size=4m"];
    let more = ["--iodepth=16", "--verify=crc32c", "--verify_state_save=0", "--fsync=64"];
    let Some(done) = client("fio", &[&args[..], &more].concat()) else { return };
    if text(&done).contains("engine nbd not loadable") {
        skip("this fio has no nbd engine");
        return;
    }
    assert!(done.status.success(), "{}", text(&done));
    let told = served.end();
    assert_eq!(op(&told, "write")["requests"], 1024);
    let read = op(&told, "read");
    assert_eq!(read["bytes"], 4 << 20);
    assert!(read["real_ns_mean"].as_f64() >= read["modelled_ns_mean"].as_f64());
}

#[test]
fn a_power_cut_hangs_up_and_the_disk_comes_back() {
    let more = ["--fault", "power-cut=2writes", "--down", "10ms"];
    let mut served = Served::start("nvme-ssd.toml", &more);
    let uri = served.uri();
    let write = ["-f", "raw", "-c", "write -f -P 7 0 4k", "-c", "write -P 8 1m 4k", &uri];
    let Some(done) = client("qemu-io", &write) else { return };
    assert!(!text(&done).is_empty());
    wait_for("the power", || served.said().contains("power on"));
    let back = client("qemu-io", &["-f", "raw", "-c", "read -P 7 0 4k", &uri]).unwrap();
    assert!(!text(&back).contains("failed"), "{}", text(&back));
    let told = served.end();
    schema::complete(&["machine-serve-1.json"], std::slice::from_ref(&told), &[]);
    let cut = &told["power_cuts"][0];
    assert_eq!(cut["kept_sectors"].as_u64().unwrap() + cut["lost_sectors"].as_u64().unwrap(), 8);
}

#[test]
fn what_cannot_be_served_says_why() {
    let home = tempfile::tempdir().unwrap();
    let taken = home.path().join("taken");
    fs::write(&taken, "something else").unwrap();
    let unix = format!("--nbd=unix:{}", taken.display());
    let serve =
        |args: &[&str]| run(home.path(), &[&["machine", "serve", "nvme-ssd.toml"], args].concat());
    assert!(serve(&[&unix]).ends(3).err.contains("cannot listen"));
    assert_eq!(fs::read_to_string(&taken).unwrap(), "something else");
    assert!(serve(&["--nbd=nowhere"]).ends(2).err.contains("HOST:PORT"));
    let fault = serve(&["--nbd=127.0.0.1:0", "--fault=hang=5s"]).ends(2);
    assert!(fault.err.contains("hang=AT:TIME"), "{}", fault.err);
    let data = ["--nbd=127.0.0.1:0", "--data", taken.to_str().unwrap()];
    assert!(serve(&data).ends(3).err.contains("name a new file"));
    assert!(Path::new(&taken).metadata().unwrap().len() == 14);
    assert!(serve(&["--nbd=127.0.0.1:0", "--data=/dev/null"]).ends(3).err.contains("regular file"));
}
