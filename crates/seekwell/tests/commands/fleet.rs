//! `seekwell fleet`: real ssh to real sshd, each host an address in a network namespace; reports
//! about made-up hosts.

use crate::common::postgres::Postgres;
use crate::common::{Ran, copies, done, is_root, programs, run, seekwell, skip};
use seekwell_inspect::facts::AtaFacts;
use seekwell_inspect::{Device, DeviceKind, Fact};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Hosts 127.0.1.1 and on, each with a folder of its own for temporary files.
struct Hosts {
    dir: tempfile::TempDir,
    names: Vec<String>,
}

impl Hosts {
    /// `None` if there is no sshd, or no root to start it.
    fn new(count: usize) -> Option<Self> {
        let there = ["/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/unshare"];
        if !is_root() || !there.iter().all(|program| Path::new(program).exists()) {
            skip("no root, or no sshd, ssh or unshare");
            return None;
        }
        let names: Vec<_> = (1..=count).map(|n| format!("127.0.1.{n}")).collect();
        let hosts = Self { dir: tempfile::tempdir().unwrap(), names };
        for key in ["host_key", "key"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(hosts.path(key));
            assert!(keygen.status().unwrap().success());
        }
        fs::create_dir(hosts.path("bin")).unwrap();
        let program = env!("CARGO_BIN_EXE_seekwell");
        std::os::unix::fs::symlink(program, hosts.path("bin/seekwell")).unwrap();
        let config = format!(
            "User root\nIdentityFile {}\nStrictHostKeyChecking no\nLogLevel ERROR\n\
             UserKnownHostsFile /dev/null\n",
            hosts.path("key").display()
        );
        fs::write(hosts.path("ssh_config"), config).unwrap();
        let listed = hosts.names.iter().enumerate();
        let lines = listed.map(|(n, name)| format!("{name} rack=r{}\n", n % 4));
        fs::write(hosts.path("hosts"), lines.collect::<String>()).unwrap();
        for name in &hosts.names {
            hosts.host(name, true, "");
        }
        Some(hosts)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Sets up a host, with the program or without, and with more of its sshd's options.
    fn host(&self, name: &str, has_program: bool, more: &str) {
        let tmp = self.path(&format!("{name}/tmp"));
        fs::create_dir_all(&tmp).unwrap();
        let bin = self.path(if has_program { "bin" } else { "none" });
        let (key, host_key) = (self.path("key.pub"), self.path("host_key"));
        let config = format!(
            "ListenAddress {name}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
             PidFile {}\nPermitRootLogin yes\nMaxStartups 100\n\
             SetEnv TMPDIR={} PATH={}:/usr/bin:/bin\n{more}\n",
            host_key.display(),
            key.display(),
            self.path(&format!("{name}/pid")).display(),
            tmp.display(),
            bin.display(),
        );
        fs::write(self.path(&format!("sshd-{name}")), config).unwrap();
    }

    /// Runs a command on all hosts, and interrupts it once it runs on `stop` of them.
    fn run(&self, options: &[&str], command: &[&str], stop: Option<usize>) -> Ran {
        let of = seekwell(self.dir.path());
        let mut unshare = Command::new("/usr/bin/unshare");
        unshare.args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]);
        unshare.args(["sh", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands/fleet.sh")]);
        unshare.arg(self.dir.path()).arg(of.get_program()).args(of.get_args());
        for (key, value) in of.get_envs() {
            match value {
                Some(value) => unshare.env(key, value),
                None => unshare.env_remove(key),
            };
        }
        unshare.env("stop", stop.map(|n| n.to_string()).unwrap_or_default());
        unshare.args(["fleet", "run", "--json", "--hosts"]).arg(self.path("hosts"));
        unshare.arg("--ssh-config").arg(self.path("ssh_config")).args(options);
        let ran = done(unshare.arg("--").args(command).output().unwrap());
        let left = fs::read_to_string(self.path("left")).unwrap();
        assert_eq!(left, "", "left on hosts; {}", ran.err);
        ran
    }
}

fn host<'a>(document: &'a Value, name: &str) -> &'a Value {
    let hosts = document["hosts"].as_array().unwrap();
    hosts.iter().find(|host| host["host"] == name).unwrap()
}

#[test]
fn twenty_hosts_give_their_runs_and_those_that_fail_say_why() {
    let Some(hosts) = Hosts::new(20) else { return };
    // One is down, one has no seekwell, one has no room for it, one goes away while it runs.
    fs::remove_file(hosts.path("sshd-127.0.1.5")).unwrap();
    hosts.host("127.0.1.2", false, "");
    hosts.host("127.0.1.3", false, "");
    fs::create_dir(hosts.path("127.0.1.3/small")).unwrap();
    let away = "ForceCommand (until ls $TMPDIR/*/output; do sleep 0.1; done; kill -9 $PPID) \
                >/dev/null 2>&1 & eval \"$SSH_ORIGINAL_COMMAND\"";
    hosts.host("127.0.1.9", true, away);
    let command =
        ["bench", "--on", "null", "--rw=randread", "--rate_iops=50", "--runtime=3s", "--label=all"];
    let options = ["--jobs=20", "--per", "rack=5"];
    let ran = hosts.run(&options, &command, None).ends(3);
    let document = ran.json();
    assert_eq!(document["hosts"].as_array().unwrap().len(), 20);
    for (name, outcome) in [
        ("127.0.1.2", "done"),
        ("127.0.1.3", "no_room"),
        ("127.0.1.5", "unreachable"),
        ("127.0.1.9", "lost"),
    ] {
        assert_eq!(host(&document, name)["outcome"], outcome, "{}", host(&document, name));
    }
    assert!(host(&document, "127.0.1.5")["said"].as_str().unwrap().contains("refused"));
    let list = document["hosts"].as_array().unwrap();
    let mut runs: Vec<_> =
        list.iter().flat_map(|h| h["runs"].as_array().unwrap()).map(Value::to_string).collect();
    runs.sort_unstable();
    runs.dedup();
    assert_eq!(runs.len(), 17, "{document:#}");
    let kept = run(hosts.dir.path(), &["runs", "list", "--label", "all", "--json"]).json();
    assert_eq!(kept["runs"].as_array().unwrap().len(), 17);
}

/// Runs a command on hosts without a network, in a home with one run.
fn without_network(hosts: &str, options: &[&str]) -> (tempfile::TempDir, PathBuf, Value) {
    let home = tempfile::tempdir().unwrap();
    let bench = ["bench", "--on", "null", "--runtime=600ms"];
    run(home.path(), &bench).ends(0);
    let runs = fs::read_dir(home.path().join("runs")).unwrap().flatten();
    let kept = runs.map(|entry| entry.path()).find(|path| path.is_dir()).unwrap();
    fs::write(home.path().join("hosts"), hosts).unwrap();
    let mut fleet = seekwell(home.path());
    fleet.env("PATH", programs(home.path(), &[("ssh", include_str!("ssh.sh"))])).env("RUN", &kept);
    fleet.args(["fleet", "run", "--json", "--hosts"]).arg(home.path().join("hosts"));
    let ran = done(fleet.args(options).arg("--").args(bench).output().unwrap()).ends(3);
    let document = ran.json();
    (home, kept, document)
}

/// One host that sent runs without end made the program grow until it was aborted, and the runs of
/// all hosts were lost.
#[test]
fn a_host_that_sends_runs_without_end_is_stopped_and_the_runs_of_all_are_kept() {
    let (home, _, document) = without_network("a\nflood\nb\n", &["--max-runs=5"]);
    let runs = |name: &str| host(&document, name)["runs"].as_array().unwrap().len();
    assert_eq!((runs("a"), runs("flood"), runs("b")), (1, 5, 1), "{document:#}");
    assert_eq!(host(&document, "flood")["outcome"], "too_much");
    let kept = run(home.path(), &["runs", "list", "--json"]).json();
    assert_eq!(kept["runs"].as_array().unwrap().len(), 8);
    let (_home, _, document) = without_network("flood\n", &["--max-bytes=1k"]);
    assert_eq!(host(&document, "flood")["outcome"], "too_much");
    assert_eq!(host(&document, "flood")["runs"], json!([]));
}

/// With --timeout 5s a connection that hung was waited for as long as anything that it had started
/// kept a pipe open.
#[test]
fn a_host_that_hangs_is_given_up_while_a_process_still_holds_its_connection() {
    let (_home, kept, document) = without_network("hang\n", &["--timeout=1s"]);
    assert_eq!(host(&document, "hang")["outcome"], "timed_out");
    let held = fs::read_to_string(kept.join("held")).unwrap();
    let ended = Command::new("kill").arg(held.trim()).status().unwrap();
    assert!(ended.success(), "it was waited for");
}

#[test]
fn ctrl_c_ends_the_runs_on_the_hosts_and_keeps_what_they_measured() {
    let Some(hosts) = Hosts::new(4) else { return };
    let command = ["bench", "--on", "null", "--rw=randread", "--rate_iops=50", "--runtime=300s"];
    let ran = hosts.run(&["--jobs=3"], &command, Some(3)).ends(130);
    let document = ran.json();
    assert_eq!(host(&document, "127.0.1.4")["outcome"], "stopped");
    for name in ["127.0.1.1", "127.0.1.2", "127.0.1.3"] {
        let host = host(&document, name);
        assert_eq!((&host["outcome"], &host["status"]), (&"failed".into(), &130.into()), "{host}");
        assert_eq!(host["runs"].as_array().unwrap().len(), 1, "{host}");
    }
}

#[test]
fn runs_of_hosts_are_sent_to_a_database_at_once_or_once_it_is_back() {
    let Some(hosts) = Hosts::new(2) else { return };
    let Some(mut server) = Postgres::start() else { return };
    let url = server.url("postgres");
    let command = ["bench", "--on", "null", "--runtime=600ms"];
    let ran = hosts.run(&["--push", &url], &command, None).ends(0);
    assert!(!ran.err.contains("sent"), "{}", ran.err);
    server.crash(false);
    let ran = hosts.run(&["--push", &url], &command, None).ends(0);
    assert!(ran.err.contains("still to be sent: 2"), "{}", ran.err);
    server.restart();
    run(hosts.dir.path(), &["runs", "push", &url]).ends(0);
    assert_eq!(server.sql("postgres", "SELECT count(*) FROM seekwell.runs"), "4");
    let wrong = hosts.run(&["--push", "mysql://db"], &command, None).ends(2);
    assert!(wrong.err.contains("no address"), "{}", wrong.err);
}

/// Thirty hosts and their runs, one of them at half the link speed and half the rate.
fn thirty() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    run(home.path(), &["bench", "--on", "null", "--runtime=600ms", "--label=measured"]).ends(0);
    let rates: Vec<f64> =
        (0..30).map(|n| if n == 17 { 500.0 } else { 1000.0 + (n * 7 % 11) as f64 }).collect();
    copies(home.path(), "fleet", "20200101", &rates, |n, run| {
        let fact = |text: &str| Some(Fact::new(text.to_owned(), "/sys"));
        let mut disk = Device::new("sda", "8:0", DeviceKind::Disk);
        (disk.model, disk.firmware) = (fact("EXAMPLE SSD 960"), fact("X1"));
        disk.detail.ata = Some(AtaFacts {
            link_speed: fact(if n == 17 { "3.0 Gbps" } else { "6.0 Gbps" }),
            ..AtaFacts::default()
        });
        run["inspection"]["device"] = serde_json::to_value(disk).unwrap();
        run["inspection"]["host"]["name"]["value"] = json!(format!("web{n:02}"));
        let metrics = &mut run["phases"][0]["metrics"];
        let bytes = metrics["read.requests_per_s"]["median"].as_f64().unwrap() * 4096.0;
        metrics["read.rate_bytes_per_s"]["median"] = json!(bytes);
    });
    // An older run of each host, in which all are equal, does not count any more.
    copies(home.path(), "fleet", "20191231", &rates[..1], |_, run| {
        run["started_at"] = json!("2019-12-31T00:00:00Z");
        run["inspection"]["host"]["name"]["value"] = json!("web17");
    });
    home
}

#[test]
fn a_report_names_the_one_host_at_half_the_link_speed_from_a_folder_and_from_a_database() {
    let home = thirty();
    let report =
        |more: &[&str]| run(home.path(), &[&["fleet", "report", "--label=fleet"], more].concat());
    let page = home.path().join("fleet.html");
    let text = report(&["-o", page.to_str().unwrap()]).ends(0);
    assert!(text.out.contains("1 outlier: web17."), "{}", text.out);
    assert!(text.out.contains("link: the only one of 30 at 3.0 Gbps; the others: 6.0 Gbps"));
    assert!(text.out.lines().all(|line| line.chars().count() <= 80), "{}", text.out);
    assert!(text.err.contains("fleet.html"), "{}", text.err);
    assert!(fs::read_to_string(&page).unwrap().contains("the only one of 30 at 3.0 Gbps"));
    report(&["-o", page.to_str().unwrap()]).ends(3);

    let document = report(&["--json"]).ends(0).json();
    assert_eq!(document["schema"], "seekwell/fleet/1");
    let [outlier] = document["outliers"].as_array().unwrap().as_slice() else {
        panic!("{document:#}")
    };
    let member = outlier["member"].as_u64().unwrap() as usize;
    assert_eq!(document["members"][member]["host"], "web17");
    assert_eq!(document["members"].as_array().unwrap().len(), 30);

    let late = report(&["--since=2021-01-01"]).ends(2);
    assert!(late.err.contains("\"fleet\" since 2021-01-01T00:00:00Z is saved"), "{}", late.err);
    assert_eq!(
        report(&["--since=2020-01-01", "--json"]).ends(0).json()["members"][0]["host"],
        "web00"
    );
    let odd = report(&["--since=yesterday"]).ends(2);
    assert!(odd.err.contains("an age in m, h, d or w"), "{}", odd.err);
    let none = run(home.path(), &["fleet", "report"]).ends(2);
    assert!(none.err.contains("no finished checkup"), "{}", none.err);

    let Some(server) = Postgres::start() else { return };
    let url = server.url("postgres");
    run(home.path(), &["runs", "push", &url]).ends(0);
    assert_eq!(report(&["--json", "--store", &url]).ends(0).json(), document);
    report(&["--store", &url, "--since=2021-01-01"]).ends(2);
}

#[test]
fn what_cannot_be_run_is_refused_before_any_host_is_asked() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("hosts");
    let path = file.to_str().unwrap();
    for (hosts, words, said) in [
        ("a\n", &["--hosts", path, "--", "chekup"][..], "chekup"),
        ("a\n", &["--hosts", path, "--per", "rack=1", "--", "checkup"], "no host has the label"),
        ("a\n", &["--hosts", path, "--program", "/none", "--", "checkup"], "cannot read /none"),
        ("-oProxyCommand=x\n", &["--hosts", path, "--", "checkup"], "line 1"),
    ] {
        fs::write(&file, hosts).unwrap();
        let ran = run(home.path(), &[&["fleet", "run"], words].concat()).ends(2);
        assert!(ran.err.contains(said), "{}", ran.err);
    }
}
