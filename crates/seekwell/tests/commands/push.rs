//! Runs in PostgreSQL, with a real server: sent once whatever is killed meanwhile, read back as
//! they were kept, and what is refused.

use crate::common::postgres::Postgres;
use crate::common::{copies, run, seekwell, skip, tool};
use seekwell_fleet::{Database, Place};
use seekwell_runs::{Runs, Store};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// A folder with a measured run and some made of it, under two labels.
fn kept(count: usize) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let args = ["bench", "--on", "null", "--runtime=600ms", "--iodepth=8", "--label=measured"];
    run(home.path(), &args).ends(0);
    let noise = |i: usize| [0.0, 3.0, -2.0, 1.0, -3.0, 2.0][i % 6];
    let rates: Vec<f64> =
        (0..count).map(|i| if i < count / 2 { 1000.0 } else { 800.0 } + noise(i)).collect();
    copies(home.path(), "history", "20200101", &rates, |_, _| {});
    copies(home.path(), "slow", "20200102", &rates[count / 2..], |_, _| {});
    home
}

/// Rows of all tables, with a sum that changes with what they hold.
fn held(server: &Postgres, database: &str) -> String {
    let tables = ["documents", "runs", "disks", "metrics", "histograms", "findings"];
    let sums = tables.map(|table| {
        format!("SELECT '{table}', count(*), sum(hashtext(t::text)) FROM seekwell.{table} t")
    });
    server.sql(database, &sums.join(" UNION ALL "))
}

/// The numbers of `runs push --json`.
fn pushed(home: &Path, url: &str) -> (u64, u64) {
    let done = run(home, &["runs", "push", url, "--json"]).ends(0).json();
    let number = |key: &str| done[key].as_u64().unwrap();
    (number("pushed"), number("already_there"))
}

#[test]
fn runs_that_were_pushed_are_read_from_the_database_as_from_the_folder() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url("postgres");
    let home = kept(24);
    let home = home.path();
    let machine = run(home, &["checkup", "--quick", "nvme-ssd.toml", "--label=modelled"]);
    assert_eq!(machine.status, 0, "{}", machine.err);
    let empty = run(home, &["runs", "list", "--store", &url]).ends(3);
    assert!(empty.err.contains("holds no runs; seekwell runs push"), "{}", empty.err);
    assert_eq!(pushed(home, &url), (38, 0));
    let first = held(&server, "postgres");
    assert_eq!(pushed(home, &url), (0, 38));
    run(home, &["runs", "push", &url, "last", "20200101-000003-bench-0003"]).ends(0);
    assert_eq!(held(&server, "postgres"), first, "a run that is sent again is there once");

    let both = |args: &[&str]| {
        let local = run(home, args);
        let remote = run(home, &[args, &["--store", &url]].concat());
        assert_eq!(local.status, remote.status, "{args:?}: {}", remote.err);
        (local, remote)
    };
    for args in [
        &["runs", "trend", "read.requests_per_s", "--label=history"][..],
        &["runs", "trend", "read.requests_per_s", "--label=history", "--json"],
        &["runs", "trend", "read.no_such_metric"],
        &["runs", "trend", "read.latency_ns_p50", "--label=modelled"],
        &["compare", "history", "slow", "--json"],
        &["compare", "history", "slow", "--all"],
        &["runs", "show", "last", "--json"],
        &["runs", "show", "0003"],
    ] {
        let (local, remote) = both(args);
        assert_eq!(local.out, remote.out, "{args:?}");
    }
    for args in
        [&["runs", "list", "--json"][..], &["runs", "list", "--json", "-n3", "--label=slow"]]
    {
        let (local, remote) = both(args);
        let mut listed = local.json();
        listed["runs"].as_array_mut().unwrap().iter_mut().for_each(|r| r["path"] = Value::Null);
        assert_eq!(listed, remote.json());
    }
    let (_, remote) = both(&["runs", "list"]);
    assert!(remote.out.lines().next().unwrap().contains("host"), "{}", remote.out);
    assert_eq!(run(home, &["runs", "list", "--store", &url, "--host=no"]).out.lines().count(), 1);

    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fleet.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let question = guide.rsplit("```sql\n").next().unwrap().split("```").next().unwrap();
    assert_eq!(server.sql("postgres", question), "", "all are of one host");

    let store = Store::open(home.join("runs"));
    let database = Database::open(&Place::parse(&url, |_| None).unwrap()).unwrap();
    for entry in store.list(&Default::default()).unwrap().runs {
        let back = database.load(&format!("{}:{}", entry.host, entry.id)).unwrap();
        assert!(back == store.load(&entry.id).unwrap(), "{} is another run", entry.id);
    }
}

#[test]
fn the_tables_of_an_older_version_are_brought_up_to_date_and_those_of_a_newer_one_refused() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url("postgres");
    let home = kept(4);
    run(home.path(), &["runs", "push", &url, "last"]).ends(0);
    server.sql(
        "postgres",
        "ALTER TABLE seekwell.disks DROP COLUMN firmware; DROP INDEX seekwell.metrics_by_name;
         UPDATE seekwell.version SET version = 0",
    );
    assert_eq!(pushed(home.path(), &url), (6, 1));
    server.sql("postgres", "SELECT firmware FROM seekwell.disks");
    assert_eq!(server.sql("postgres", "SELECT version FROM seekwell.version"), "2");

    server.sql("postgres", "UPDATE seekwell.version SET version = 3");
    for args in [["runs", "push", &url], ["runs", "list", "--store"]] {
        let args = if args[1] == "list" { [&args[..], &[&*url]].concat() } else { args.to_vec() };
        let ran = run(home.path(), &args).ends(3);
        assert!(ran.err.contains("tables of version 3; this program knows"), "{}", ran.err);
    }
    // Two that meet an empty database make its tables once.
    server.sql("postgres", "DROP SCHEMA seekwell CASCADE");
    let push = |mut command: Command| {
        command.args(["runs", "push", &url]).stdout(Stdio::null()).spawn().unwrap()
    };
    let mut children = [0; 3].map(|_| push(seekwell(home.path())));
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
    assert_eq!(server.sql("postgres", "SELECT count(*) FROM seekwell.runs"), "7");
}

#[test]
fn hosts_whose_runs_have_the_same_ids_are_told_apart() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url("postgres");
    let homes = [kept(4), kept(4)];
    // Both have the copies that kept() makes, of this host.
    for (home, (host, new)) in homes.iter().zip([("web1", (9, 0)), ("web2", (3, 6))]) {
        let of_host = |_: usize, run: &mut Value| {
            run["inspection"]["host"]["name"]["value"] = json!(host);
        };
        copies(home.path(), "both", "20200103", &[1000.0, 1001.0], of_host);
        assert_eq!(pushed(home.path(), &url), new);
    }
    let read = |args: &[&str]| run(homes[0].path(), &[args, &["--store", &url]].concat());
    let id = "20200103-000001-bench-0001";
    let both = read(&["runs", "show", id]).ends(2);
    let named = ["web1", "web2"].map(|host| format!("{host}:{id}"));
    assert!(named.iter().all(|name| both.err.contains(name)), "{}", both.err);
    assert_eq!(read(&["runs", "show", &named[1], "--json"]).json()["id"], id);
    let trend = ["runs", "trend", "read.requests_per_s", "--label=both", "--json"];
    for (host, others) in [(None, 2), (Some("--host=web1"), 0)] {
        let args: Vec<&str> = trend.into_iter().chain(host).collect();
        let trend = read(&args).json();
        assert_eq!(trend["points"].as_array().unwrap().len(), 2, "of one host: {trend}");
        assert_eq!(trend["other_configurations"], others, "{trend}");
    }
}

/// A measurement must not depend on whether somebody listens to it.
#[test]
fn a_run_whose_database_is_away_is_kept_and_sent_by_the_next_one() {
    let Some(mut server) = Postgres::start() else { return };
    let url = server.url("postgres");
    let home = tempfile::tempdir().unwrap();
    let bench = ["bench", "--on", "null", "--runtime=600ms"];
    let measure = |more: &[&str]| {
        let args = [&bench[..], more].concat();
        let mut command = seekwell(home.path());
        let done = command.args(args).env("SEEKWELL_PUSH", &url).output().unwrap();
        let err = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(0), "{err}");
        err
    };
    run(home.path(), &bench).ends(0);
    server.crash(false);
    let err = measure(&[]);
    assert!(err.contains("cannot send runs") && err.contains("to be sent: 1"), "{err}");
    assert!(measure(&[]).contains("to be sent: 2"));
    server.restart();
    assert!(measure(&["--no-keep"]).contains("not saved"));
    let err = measure(&[]);
    assert!(!err.contains("sent"), "{err}");
    let there = || server.sql("postgres", "SELECT count(*) FROM seekwell.documents");
    assert_eq!(there(), "3", "the run that was measured without --push was not sent");
    assert_eq!(pushed(home.path(), &url), (1, 3));
    let bad = run(home.path(), &[&bench[..], &["--push", "mysql://me:secret@db"]].concat()).ends(2);
    assert!(bad.err.contains("no address") && !bad.err.contains("secret"), "{}", bad.err);
    assert_eq!(pushed(home.path(), &url), (0, 4), "nothing was measured");
}

/// How often something is killed.
fn kills() -> u32 {
    std::env::var("SEEKWELL_TEST_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(20)
}

#[test]
fn every_run_is_there_once_whenever_the_program_or_the_server_is_killed() {
    let Some(mut server) = Postgres::start() else { return };
    let home = kept(60);
    let whole = server.url("postgres");
    let begun = Instant::now();
    assert_eq!(pushed(home.path(), &whole), (91, 0));
    let usual = begun.elapsed();
    let wanted = held(&server, "postgres");
    let push = |url: &str| {
        let mut command = seekwell(home.path());
        command.args(["runs", "push", url]).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    // Moments all over a push, each with a database of its own every few kills.
    let moment = |n: u32| usual * (n * 37 % 100) / 100;
    for n in 0..kills() {
        let database = format!("clients{}", n / 4);
        let url = server.url(&database);
        if n % 4 == 0 {
            server.sql("postgres", &format!("CREATE DATABASE {database}"));
        }
        let mut child = push(&url);
        std::thread::sleep(moment(n));
        child.kill().unwrap();
        child.wait().unwrap();
        if n % 4 == 3 {
            run(home.path(), &["runs", "push", &url]).ends(0);
            assert_eq!(held(&server, &database), wanted);
        }
    }
    for n in 0..kills().div_ceil(4) {
        let database = format!("servers{n}");
        let url = server.url(&database);
        server.sql("postgres", &format!("CREATE DATABASE {database}"));
        let mut child = push(&url);
        std::thread::sleep(moment(n));
        server.crash(n % 2 == 0);
        let status = child.wait().unwrap().code();
        assert!(matches!(status, Some(0 | 3)), "{status:?}");
        server.restart();
        run(home.path(), &["runs", "push", &url]).ends(0);
        assert_eq!(held(&server, &database), wanted);
    }
}

#[test]
fn a_wrong_password_a_silent_server_and_a_certificate_nobody_trusts_are_refused() {
    let Some(openssl) = tool("openssl", &["version"]) else { return skip("no openssl") };
    let certificates = |dir: &Path| {
        let at = |name: &str| dir.join(name).display().to_string();
        let (ca, ca_key, request) = (at("ca.pem"), at("ca.key"), at("request.pem"));
        let (cert, key) = (at("server.pem"), at("server.key"));
        let new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
        let of_ca = ["-x509", "-subj", "/CN=a CA", "-keyout", &ca_key, "-out", &ca];
        let of_server = ["-subj", "/CN=localhost", "-keyout", &key, "-out", &request];
        let names = at("names");
        std::fs::write(&names, "subjectAltName=DNS:localhost").unwrap();
        let sign = ["x509", "-req", "-in", &request, "-CA", &ca, "-CAkey", &ca_key];
        let sign = [&sign[..], &["-CAcreateserial", "-extfile", &names, "-out", &cert]].concat();
        for args in [[&new[..], &of_ca].concat(), [&new[..], &of_server].concat(), sign] {
            tool("openssl", &args).unwrap_or_else(|| panic!("{openssl}: {args:?}"));
        }
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
        if crate::common::is_root() {
            chown(&key, Some(65534), Some(65534)).unwrap();
        }
        let files = [format!("ssl_cert_file={cert}"), format!("ssl_key_file={key}")];
        let on = ["listen_addresses=127.0.0.1".to_owned(), "ssl=on".to_owned()];
        [on, files].concat()
    };
    let Some(server) = Postgres::start_with(certificates) else { return };
    let roots = server.dir().join("ca.pem");
    let trusting = format!("sslrootcert={}", roots.display());
    let home = kept(4);
    let push = |url: &str| run(home.path(), &["runs", "push", url, "last"]);
    for (options, reason) in [
        ("sslmode=require", "certificate"),
        ("sslmode=verify-full", "certificate"),
        ("", "sslrootcert=FILE"),
    ] {
        let ran = push(&server.tcp("secret", options)).ends(3);
        assert!(ran.err.contains(reason) && !ran.err.contains("secret"), "{}", ran.err);
    }
    push(&server.tcp("secret", "sslmode=disable")).ends(0);
    push(&server.tcp("secret", &format!("sslmode=verify-full&{trusting}"))).ends(0);
    let encrypted = "SELECT count(*) FROM seekwell.runs";
    assert_eq!(server.sql("postgres", encrypted), "1");
    let wrong = push(&server.tcp("wrongword", "sslmode=disable")).ends(3);
    assert!(wrong.err.contains("password authentication failed"), "{}", wrong.err);
    assert!(wrong.err.contains("PGPASSFILE") && !wrong.err.contains("wrongword"), "{}", wrong.err);
    let other = server.tcp("secret", &trusting).replace("localhost", "127.0.0.1");
    let ran = push(&other).ends(3);
    assert!(ran.err.contains("certificate"), "of another name: {}", ran.err);
    let file = home.path().join("pgpass");
    std::fs::write(&file, format!("localhost:{}:*:tester:secret\n", server.port())).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let mut command = seekwell(home.path());
    command.env("PGPASSFILE", &file).env("PGSSLROOTCERT", &roots).env("PGHOST", "localhost");
    command.env("PGPORT", server.port().to_string()).env("PGDATABASE", "postgres");
    command.env("PGUSER", "tester").args(["runs", "list", "--json", "--store", "postgres://"]);
    let listed = crate::common::done(command.output().unwrap()).ends(0).json();
    assert_eq!(listed["runs"][0]["label"], json!("measured"), "{listed}");

    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let ran = push(&format!("postgres://x:y@127.0.0.1:{port}/x?connect_timeout=1")).ends(3);
    assert!(ran.err.contains("no answer within 1 s"), "{}", ran.err);
    drop(silent);
    let ran = push(&format!("postgres://x:y@127.0.0.1:{port}/x")).ends(3);
    assert!(ran.err.contains("refused"), "{}", ran.err);
}
