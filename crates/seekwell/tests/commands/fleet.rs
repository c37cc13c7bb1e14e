//! `seekwell fleet run`: real ssh to real sshd, each host an address in a network namespace.

use crate::common::{Ran, done, is_root, run, seekwell, skip};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Hosts 127.0.1.1 and on, each with a folder of its own for temporary files.
struct Hosts {
    dir: tempfile::TempDir,
    names: Vec<String>,
}

impl Hosts {
    /// None where there is no sshd, or no root to start it.
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

    /// Runs a command on all hosts, and interrupts it once so many run.
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
    // One is down, one has no seekwell, one has no room for it, one is slow, one goes away.
    fs::remove_file(hosts.path("sshd-127.0.1.5")).unwrap();
    hosts.host("127.0.1.2", false, "");
    hosts.host("127.0.1.3", false, "");
    fs::create_dir(hosts.path("127.0.1.3/small")).unwrap();
    hosts.host("127.0.1.7", true, "ForceCommand sleep 60; eval \"$SSH_ORIGINAL_COMMAND\"");
    let away = "ForceCommand (sleep 1; kill -9 $PPID) & eval \"$SSH_ORIGINAL_COMMAND\"";
    hosts.host("127.0.1.9", true, away);
    let command =
        ["bench", "--on", "null", "--rw=randread", "--rate_iops=50", "--runtime=3s", "--label=all"];
    let options = ["--jobs=20", "--per", "rack=5", "--timeout=20s"];
    let ran = hosts.run(&options, &command, None).ends(3);
    let document = ran.json();
    assert_eq!(document["hosts"].as_array().unwrap().len(), 20);
    for (name, outcome) in [
        ("127.0.1.2", "done"),
        ("127.0.1.3", "no_room"),
        ("127.0.1.5", "unreachable"),
        ("127.0.1.7", "timed_out"),
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
    assert_eq!(runs.len(), 16, "{document:#}");
    let kept = run(hosts.dir.path(), &["runs", "list", "--label", "all", "--json"]).json();
    assert_eq!(kept["runs"].as_array().unwrap().len(), 16);
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
