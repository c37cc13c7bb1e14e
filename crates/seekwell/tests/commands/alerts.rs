//! Metrics of inspection, the alerts on them, and recipes for many hosts: the files in docs/fleet.

use crate::common::postgres::Postgres;
use crate::common::{Ran, done, programs, run, seekwell, shared, skip, tool};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fleet")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of letters")
}

/// Metrics of all saved machines.
fn fixtures(home: &Path) -> Vec<(String, String)> {
    let Some(saved) = shared("fixtures") else { return Vec::new() };
    let machines = fs::read_dir(saved).expect("lists").flatten().map(|machine| machine.path());
    machines
        .filter(|machine| machine.join("sysfs.txt").exists())
        .map(|machine| {
            let args = ["inspect", "--from", text(&machine), "--format", "openmetrics"];
            (text(&machine).to_owned(), run(home, &args).ends(0).out)
        })
        .collect()
}

#[test]
fn what_inspection_finds_is_metrics_that_promtool_accepts() {
    let home = tempfile::tempdir().unwrap();
    let found = fixtures(home.path());
    for (machine, metrics) in &found {
        assert!(metrics.ends_with("# EOF\n"), "{machine}: {metrics}");
        let has = |line: &str| assert!(metrics.contains(line), "{machine}, {line}: {metrics}");
        let of = "device=\"sda\",model=\"QEMU HARDDISK\",firmware=\"2.5+\",serial=\"INSP0001\"";
        if machine.ends_with("ahci-1.5Gbps") {
            has(&format!("{of}}} 150000000\n"));
            has(&format!("target=\"/dev/sda\",{of},severity=\"warning\"}} 1\n"));
            has("severity=\"warning\",id=\"SW-LINK-002\"} 1\n");
            has("driver=\"ahci\",pci=\"0000:00:1f.2\",mode=\"SATA controller, AHCI\"");
        }
        if machine.ends_with("noncq") {
            has(&format!("seekwell_disk_queue_depth{{host=\"unknown\",{of}}} 1\n"));
        }
    }
    if tool("promtool", &["--version"]).is_none() {
        return skip("promtool is not installed");
    }
    for (machine, metrics) in found {
        let file = home.path().join("metrics");
        fs::write(&file, metrics).unwrap();
        let mut checked = Command::new("promtool");
        checked.args(["check", "metrics"]).stdin(fs::File::open(&file).unwrap());
        let Ran { status, out, err } = done(checked.output().unwrap());
        assert_eq!((status, &*out, &*err), (0, "", ""), "{machine}");
    }
}

#[test]
fn a_textfile_of_metrics_replaces_its_own_file_and_no_other() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("seekwell.prom");
    let args = ["inspect", text(home.path()), "--textfile", text(&file)];
    for _ in 0..2 {
        assert!(!run(home.path(), &args).ends(0).out.is_empty());
    }
    let metrics = fs::read_to_string(&file).unwrap();
    assert!(metrics.contains("seekwell_inspect_info{version="), "{metrics}");
    fs::write(&file, "node_load1 3\n").unwrap();
    run(home.path(), &args).ends(3);
    assert_eq!(fs::read_to_string(&file).unwrap(), "node_load1 3\n");
    run(home.path(), &[&args[..], &["--force"]].concat()).ends(0);
    for other in ["--json", "--watch", "--explain"] {
        run(home.path(), &["inspect", "--format", "openmetrics", other]).ends(2);
    }
}

/// Names of our metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("seekwell_")).map(str::to_owned).collect()
}

#[test]
fn alerts_fire_when_they_should_and_name_metrics_that_there_are() {
    let home = tempfile::tempdir().unwrap();
    let rules = fs::read_to_string(docs().join("alerts.yml")).unwrap();
    let written: String = fixtures(home.path()).into_iter().map(|(_, metrics)| metrics).collect();
    if !written.is_empty() {
        let (used, there) = (names(&rules), names(&written));
        assert!(used.len() > 4 && used.is_subset(&there), "{used:?} of {there:?}");
    }
    if tool("promtool", &["--version"]).is_none() {
        return skip("promtool is not installed");
    }
    for (what, file) in [("check", "alerts.yml"), ("test", "alerts_test.yml")] {
        let mut promtool = Command::new("promtool");
        let checked = promtool.args([what, "rules", file]).current_dir(docs()).output().unwrap();
        assert!(checked.status.success(), "{checked:?}");
    }
}

/// A recipe, which must not have a password on a command line or in an address.
fn recipe(name: &str) -> String {
    let text = fs::read_to_string(docs().join(name)).unwrap();
    let shown = ["PGPASSWORD=", "PGPASSWORD:", "://seekwell:"];
    assert!(shown.iter().all(|password| !text.contains(password)), "{text}");
    text
}

/// A database over TCP: its address, and a file with the password that it asks for.
fn database(home: &Path) -> Option<(Postgres, String, PathBuf)> {
    let server = Postgres::start_with(|_| vec!["listen_addresses=127.0.0.1".to_owned()])?;
    let address = server.tcp("secret", "").replace(":secret", "");
    let file = home.join(".pgpass");
    fs::write(&file, format!("localhost:{}:*:tester:secret\n", server.port())).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    Some((server, address, file))
}

fn sent(server: &Postgres) -> String {
    server.sql("postgres", "SELECT count(*) FROM seekwell.runs")
}

#[test]
fn the_daemon_set_measures_a_node_once_sends_the_run_and_then_inspects_the_node() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let Some((mut server, address, _)) = database(home) else { return };
    // A quarter of an hour is over at once, and so is the loop.
    let path = programs(home, &[("sleep", "#!/bin/sh\nexit 7\n")]);
    let set = recipe("daemonset.yaml");
    assert!(set.contains("name: SEEKWELL_PUSH\n"), "{set}");
    assert!(set.contains("name: PGPASSWORD\n              valueFrom: {secretKeyRef:"), "{set}");
    let (_, script) = set.split_once("- |\n").expect("a script");
    let (script, _) = script.split_once("          env:").expect("what follows it");
    let script = script
        .replace("--quick /var/lib/seekwell", "--quick sata-7200.toml")
        .replace("/var/lib/seekwell", text(home))
        .replace("/metrics/", &format!("{}/", text(home)));
    server.crash(true);
    for is_up in [false, true] {
        if is_up {
            server.restart();
        }
        let mut shell = Command::new("/bin/sh");
        shell.env("PATH", &path).env("SEEKWELL_PUSH", &address).env("PGPASSWORD", "secret");
        let ran = done(shell.args(["-ec", &script]).output().unwrap());
        assert_eq!(ran.status, 7, "{}", ran.err);
        assert_eq!(ran.err.contains("not sent"), !is_up, "{}", ran.err);
    }
    let metrics = fs::read_to_string(home.join("seekwell.prom")).unwrap();
    assert!(metrics.starts_with("# HELP seekwell_"), "{metrics}");
    let kept = run(home, &["runs", "list", "--json"]).json();
    assert_eq!(kept["runs"].as_array().map(Vec::len), Some(1), "{kept}");
    assert_eq!(sent(&server), "1");
}

#[test]
fn the_job_for_slurm_sends_the_runs_of_all_nodes() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let Some((server, address, _)) = database(home) else { return };
    // Two nodes, of which the second has no disk to measure.
    let srun = "#!/bin/sh\nshift\nSLURM_NODEID=0 \"$@\"\nSLURM_NODEID=1 sh -c 'exit 3'\n";
    let path = programs(home, &[("srun", srun)]);
    recipe("checkup.sbatch");
    let mut shell = Command::new("/bin/sh");
    shell.args([text(&docs().join("checkup.sbatch")), "sata-7200.toml", &address]);
    shell.env("PATH", &path).env("SLURM_JOB_ID", "12").env("HOME", home);
    let ran = done(shell.output().unwrap()).ends(0);
    assert!(ran.out.contains("1 were there already"), "the node sent it: {}", ran.out);
    assert_eq!(sent(&server), "1");
}

/// Of the playbook for Ansible the command is run, and it is read as Ansible reads it where that is
/// installed.
#[test]
fn the_playbook_measures_and_sends_the_run() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let Some((server, address, file)) = database(home) else { return };
    let tasks = recipe("checkup.yml");
    assert!(
        tasks.contains("        SEEKWELL_PUSH: \"{{ push }}\"\n        PGPASSFILE: /"),
        "{tasks}"
    );
    let (_, command) = tasks.split_once("cmd: seekwell ").expect("a command");
    let command = command.lines().next().unwrap().replace("{{ folder }}", "sata-7200.toml");
    let mut measure = seekwell(home);
    measure.args(command.split_whitespace());
    measure.env("SEEKWELL_PUSH", &address).env("PGPASSFILE", &file);
    done(measure.output().unwrap()).ends(0);
    assert_eq!(sent(&server), "1");
    if tool("ansible-playbook", &["--version"]).is_none() {
        return skip("Ansible is not installed");
    }
    let playbook = docs().join("checkup.yml");
    let args = ["--syntax-check", "-i", "localhost,", text(&playbook)];
    assert!(tool("ansible-playbook", &args).is_some());
}
