//! Dashboards over a database of runs, with a real server: what `serve --store` shows, and what
//! Grafana gets for the queries of docs/fleet/grafana.json.

use crate::common::fleet::{disk, keep, link, slow_down};
use crate::common::postgres::Postgres;
use crate::common::server::Server;
use crate::common::{browser, run, wait_for};
use seekwell_inspect::Fact;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const HOSTILE: &str = "O'Brien's <b>SSD</b>";

/// Eight hosts measured on three days, all sent to the server. The last two have another disk; the
/// third has half the link and, since the second day, half the speed.
fn fleet(home: &Path, server: &Postgres) -> Vec<String> {
    let ids = keep(home, 8, 3, |host, day, run| {
        slow_down(run, 1.0 + 0.002 * host as f64);
        if host == 3 && day > 1 {
            link(disk(run), "3.0 Gbps");
            slow_down(run, 2.0);
        }
        if host > 6 {
            disk(run).model = Some(Fact::new(HOSTILE.to_owned(), "sysfs"));
        }
    });
    run(home, &["runs", "push", &server.url("postgres")]).ends(0);
    ids
}

/// A query after Grafana put in its variables and time range.
fn filled(sql: &str, variables: &BTreeMap<&str, Vec<String>>) -> String {
    let mut sql = sql.to_owned();
    for (name, values) in variables {
        let quoted: Vec<String> =
            values.iter().map(|value| format!("'{}'", value.replace('\'', "''"))).collect();
        sql = sql.replace(&format!("${{{name}:sqlstring}}"), &quoted.join(","));
    }
    let mut out = String::new();
    let mut parts = sql.split("$__timeFilter(");
    out += parts.next().unwrap();
    for part in parts {
        let (column, rest) = part.split_once(')').unwrap();
        out += &format!("{column} BETWEEN '2026-10-31T23:00:00Z' AND '2026-11-30T22:59:59Z'{rest}");
    }
    assert!(!out.contains('$'), "nothing is left to fill in: {out}");
    out
}

#[test]
fn every_query_of_the_grafana_dashboard_gives_the_rows_that_its_panel_shows() {
    let Some(server) = Postgres::start() else { return };
    let home = tempfile::tempdir().unwrap();
    fleet(home.path(), &server);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fleet/grafana.json");
    let dashboard: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let ask = |sql: &str, variables: &BTreeMap<&str, Vec<String>>| -> Vec<Value> {
        let sql = format!("SELECT row_to_json(q) FROM ({}) q", filled(sql, variables));
        let rows = server.sql("postgres", &sql);
        rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect()
    };

    let mut variables = BTreeMap::new();
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        let name = variable["name"].as_str().unwrap();
        if name == "datasource" {
            assert_eq!(variable["query"], "grafana-postgresql-datasource");
            continue;
        }
        let rows = ask(variable["query"].as_str().unwrap(), &variables);
        let values = rows.iter().map(|row| row.as_object().unwrap().values().next().unwrap());
        let values: Vec<String> = values.map(|v| v.as_str().unwrap().to_owned()).collect();
        assert!(values.len() > 1, "{name}: {values:?}");
        let chosen = &variable["current"]["value"];
        let all = chosen[0] == "$__all" && variable["includeAll"] == true;
        let chosen = chosen.as_str().map(str::to_owned);
        assert!(all || values.contains(chosen.as_ref().unwrap()), "{name}: {chosen:?}");
        variables.insert(name, if all { values } else { chosen.into_iter().collect() });
    }
    assert!(variables["model"].iter().any(|model| model == HOSTILE));

    let mut shown = BTreeMap::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        let (title, target) = (panel["title"].as_str().unwrap(), &panel["targets"][0]);
        assert_eq!(target["datasource"]["uid"], "${datasource}", "{title}");
        let rows = ask(target["rawSql"].as_str().unwrap(), &variables);
        let first = rows.first().unwrap_or_else(|| panic!("{title} has no rows"));
        let columns: Vec<&str> = first.as_object().unwrap().keys().map(String::as_str).collect();
        if panel["type"] == "timeseries" {
            assert_eq!(target["format"], "time_series", "{title}");
            assert_eq!(columns, ["metric", "time", "value"], "{title}");
            assert_eq!(rows.len(), 24, "{title}: a point for each run");
            let at = |row: &Value| row["time"].as_str().unwrap().to_owned();
            assert!(rows.is_sorted_by_key(at), "{title}: in the order of time");
        }
        shown.insert(title, rows);
    }
    assert_eq!(shown["Hosts"][0]["hosts"], 8);
    assert_eq!(shown["Runs"][0]["runs"], 24);
    assert_eq!(shown["By model and firmware"].len(), 2);
    assert_eq!(shown["By model and firmware"][0]["hosts"], 6);
    let outliers = &shown["Outliers"];
    assert_eq!((outliers.len(), &outliers[0]["host"]), (1, &"web3".into()), "{outliers:?}");
    assert!((-55.0..-45.0).contains(&outliers[0]["percent"].as_f64().unwrap()), "{outliers:?}");
    let slow = shown["Link speeds"].iter().find(|row| row["link"] == "3.0 Gbps").unwrap();
    assert_eq!((&slow["disks"], &slow["hosts"]), (&1.into(), &"web3".into()));
    assert_eq!(shown["Findings by severity"][0]["hosts"], 8);
    assert_eq!(shown.len(), 11, "each panel has a title of its own");
}

/// `seekwell serve` over the runs of a database.
fn serve(home: &Path, server: &Postgres) -> Server {
    Server::start(home, &["--store", &server.url("postgres")])
}

fn json(server: &Server, path: &str) -> Value {
    let (status, text) = server.get(path);
    assert_eq!(status, 200, "{path}: {text}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn the_pages_of_a_database_show_the_runs_of_all_hosts() {
    let Some(postgres) = Postgres::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let ids = fleet(home.path(), &postgres);
    let server = serve(tempfile::tempdir().unwrap().path(), &postgres);
    let document = &json(&server, "/api/fleet")["document"];
    assert_eq!(document["schema"], "seekwell/fleet/1");
    assert_eq!(document["members"].as_array().unwrap().len(), 8);
    assert_eq!(document["groups"].as_array().unwrap().len(), 2);
    assert_eq!(server.get("/?label=none").0, 404);
    assert_eq!(json(&server, "/api/runs")["list"].as_array().unwrap().len(), 24);
    let of_one = json(&server, "/api/runs?host=web3");
    assert_eq!(of_one["of"], "Runs of web3");
    assert!(of_one["list"].as_array().unwrap().iter().all(|run| run["host"] == "web3"));

    let run = json(&server, &format!("/api/run/{}?host=web1", ids[0]));
    assert_eq!(run["runs"][0]["document"]["id"], ids[0].as_str());
    assert_eq!(run["runs"][0]["state"], "complete");
    assert_eq!(server.get(&format!("/run/{}?host=web2", ids[0])).0, 404, "of another host");

    let metric = "phase=rand-read-4k-d32&metric=read.requests_per_s";
    let trend = &json(&server, &format!("/api/trend?host=web3&{metric}"))["history"];
    let values: Vec<f64> =
        trend["points"].as_array().unwrap().iter().map(|p| p["value"].as_f64().unwrap()).collect();
    assert_eq!(values.len(), 3);
    assert!(values[1] < 0.6 * values[0], "{values:?}");
    let trend =
        &json(&server, &format!("/api/trend?model=Example+NV-1000%20Pro&{metric}"))["history"];
    let last = &trend["points"][2];
    assert_eq!((&last["at"], &last["hosts"]), (&"2026-11-03T00:00:00Z".into(), &6.into()));
    assert_eq!((&last["host"], &last["run"]), (&"web6".into(), &ids[21].as_str().into()));
    assert!(last["low"].as_f64().unwrap() < 0.6 * last["high"].as_f64().unwrap());
    for path in [
        "/trend",
        "/trend?metric=read.requests_per_s&host=web1",
        &format!("/trend?host=web9&{metric}"),
        &format!("/trend?model=%27%3B+DROP+TABLE+seekwell.runs%3B--&{metric}"),
        "/run/last",
        "/experiment/20261101-000001-checkup-0001",
    ] {
        assert_eq!(server.get(path).0, 404, "{path}");
    }
}

#[test]
fn the_browser_draws_the_pages_of_a_database_and_hostile_names_are_text() {
    let (Some(postgres), Some(browser)) = (Postgres::start(), browser::browser()) else { return };
    let home = tempfile::tempdir().unwrap();
    let ids = fleet(home.path(), &postgres);
    let token = "0123456789abcdef";
    let server =
        Server::start(home.path(), &["--store", &postgres.url("postgres"), "--token", token]);
    let (at, _) = server.at.split_once('/').unwrap_or((&server.at, ""));
    let shown = |path: &str| {
        let and = if path.contains('?') { '&' } else { '?' };
        let dom = browser::dom(&browser, &format!("http://{at}{path}{and}token={token}"), |_| {});
        let state = ["data-state=\"drawn\"", "data-refused=\"0\"", "data-served"];
        assert!(state.iter().all(|state| dom.contains(state)), "{path}: {}", &dom[..500]);
        assert!(!dom.contains("<b>") && !dom.contains("data-updates"), "{path}");
        dom
    };
    let overview = shown("/");
    let ways = [
        format!("/runs?host=web3&amp;token={token}"),
        format!("/run/{}?host=web3&amp;token={token}", ids[18]),
        format!(
            "/trend?model=Example+NV-1000+Pro&amp;firmware=3B2Q&amp;phase=rand-read-4k-d32&amp;\
             metric=read.requests_per_s&amp;token={token}"
        ),
        format!(
            "/trend?host=web3&amp;target=%2Fhome%2Fanna&amp;phase=rand-read-4k-d32&amp;\
             metric=read.requests_per_s&amp;token={token}"
        ),
    ];
    for way in &ways {
        assert!(overview.contains(way), "{way}");
    }
    for way in &ways[2..] {
        let way = way.replace("&amp;", "&");
        let way = way.strip_suffix(&format!("&token={token}")).unwrap();
        assert!(shown(way).contains("data-points=\"3\""), "{way}");
    }
    let list = shown("/runs");
    assert!(list.contains("O'Brien's &lt;b&gt;SSD&lt;/b&gt;"), "a model is text");
    let of_host = format!("/run/{}?host=web3&amp;token={token}", ids[2]);
    assert!(
        list.contains(&of_host) && list.contains(&format!("/runs?host=web3&amp;token={token}"))
    );
    let run = shown(&of_host.replace("&amp;token=0123456789abcdef", ""));
    assert!(run.contains("random read 4 KiB, depth 32"));
    let metric = "phase=rand-read-4k-d32&metric=read.latency_ns_p99";
    let trend = shown(&format!("/trend?model=O%27Brien%27s+%3Cb%3ESSD%3C%2Fb%3E&{metric}"));
    assert!(trend.contains("data-points=\"3\"") && trend.contains("random read 4 KiB"));
    assert!(trend.contains("/run/20261103-"), "it leads to its runs");
    assert!(trend.contains("<option selected=\"\">read latency p99</option>"), "and to others");
}

#[test]
fn a_server_outlives_its_database_says_so_and_shows_the_runs_again() {
    let Some(mut postgres) = Postgres::start() else { return };
    let home = tempfile::tempdir().unwrap();
    fleet(home.path(), &postgres);
    let server = serve(home.path(), &postgres);
    assert_eq!(server.get("/runs").0, 200);
    postgres.crash(false);
    for _ in 0..5 {
        let (status, text) = server.get("/runs");
        assert_eq!(status, 503, "{text}");
        assert!(text.contains("postgres://") && text.contains("Load this page again"), "{text}");
        assert!(!text.contains("tester"), "{text}");
    }
    postgres.restart();
    assert_eq!(server.get("/runs").0, 200);
    // A connection that is cut between two questions is not even noticed.
    postgres.sql(
        "postgres",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()
         AND application_name = 'seekwell'",
    );
    assert_eq!(server.get("/runs").0, 200);
    // Readers that come all at once share a few connections.
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..20).map(|_| scope.spawn(|| server.get("/runs").0)).collect();
        assert!(asked.into_iter().all(|asked| asked.join().unwrap() == 200));
    });
    let open = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'seekwell'";
    assert!(postgres.sql("postgres", open).parse::<u32>().unwrap() <= 3);
}

/// The tables are locked, as by a migration that hangs: a question that waits for them must end,
/// and readers must not wait for ever behind it.
#[test]
fn a_question_that_takes_too_long_is_ended() {
    let Some(postgres) = Postgres::start() else { return };
    let home = tempfile::tempdir().unwrap();
    fleet(home.path(), &postgres);
    let server = serve(home.path(), &postgres);
    std::thread::scope(|scope| {
        let lock = "BEGIN; LOCK TABLE seekwell.runs; DO $$ BEGIN
            WHILE NOT EXISTS (SELECT FROM pg_class WHERE relname = 'answered')
            LOOP PERFORM pg_sleep(0.1); END LOOP; END $$; ROLLBACK";
        let held = scope.spawn(|| postgres.sql("postgres", lock));
        wait_for("a lock", || {
            let locks =
                "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted";
            postgres.sql("postgres", locks) != "0"
        });
        let (status, text) = server.get("/runs");
        postgres.sql("postgres", "CREATE TABLE public.answered ()");
        held.join().unwrap();
        assert_eq!(status, 503, "{text}");
        assert!(text.contains("statement timeout"), "{text}");
    });
    assert_eq!(server.get("/runs").0, 200);
}

#[test]
fn a_database_that_cannot_be_read_ends_serve_with_a_sentence_and_without_its_password() {
    let Some(postgres) = Postgres::start_with(|_| vec!["listen_addresses=127.0.0.1".to_owned()])
    else {
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let serve = |url: &str, status: i32| {
        let err = run(home.path(), &["serve", "--port=0", "--store", url]).ends(status).err;
        assert!(!err.contains("wrongword") && !err.contains("secret"), "{err}");
        err
    };
    let err = serve(&postgres.tcp("wrongword", ""), 3);
    assert!(err.contains("password authentication failed") && err.contains("PGPASSFILE"), "{err}");
    assert!(serve(&postgres.tcp("secret", ""), 3).contains("holds no runs; seekwell runs push"));
    assert!(serve("mysql://me:secret@db", 2).contains("postgres://"));
    // With runs but without a checkup there is nothing to compare, and a list to show.
    run(home.path(), &["bench", "--on", "null", "--runtime=600ms", "--label=x"]).ends(0);
    run(home.path(), &["runs", "push", &postgres.tcp("secret", "")]).ends(0);
    let server = Server::start(home.path(), &["--store", &postgres.tcp("secret", "")]);
    let (status, page) = server.get("/");
    assert!(status == 200 && page.contains("Runs of all hosts") && !page.contains("secret"));
}

/// Who may only look at the tables must not need more than that.
#[test]
fn a_reader_without_the_right_to_write_is_enough() {
    let Some(postgres) = Postgres::start() else { return };
    let home = tempfile::tempdir().unwrap();
    fleet(home.path(), &postgres);
    postgres.sql(
        "postgres",
        "CREATE USER reader; GRANT USAGE ON SCHEMA seekwell TO reader;
         GRANT SELECT ON ALL TABLES IN SCHEMA seekwell TO reader",
    );
    let url = postgres.url("postgres").replace("user=tester", "user=reader");
    let server = Server::start(home.path(), &["--store", &url]);
    assert_eq!(server.get("/runs").0, 200);
}
