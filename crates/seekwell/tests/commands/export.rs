//! `seekwell runs export`: tables that other programs read.

use crate::common::{python_with, run};
use std::path::Path;
use std::process::Command;

/// Runs the SQL of the documentation in a folder of tables; `None` if DuckDB is not there.
fn query(dir: &Path, sql: &str) -> Option<String> {
    let python = python_with("duckdb")?;
    let program = "import duckdb, sys; print(duckdb.sql(sys.argv[1]).fetchall())";
    let done = Command::new(&python).args(["-c", program, sql]).current_dir(dir).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(String::from_utf8(done.stdout).unwrap())
}

#[test]
fn the_documented_questions_are_answered_by_exported_runs() {
    let home = tempfile::tempdir().unwrap();
    for machine in ["nvme-ssd.toml", "sata-ssd.toml"] {
        let ran = run(home.path(), &["checkup", "--quick", machine]);
        assert_eq!(ran.status, 0, "{}", ran.err);
    }
    let tables = home.path().join("tables");
    let words = ["runs", "export", tables.to_str().unwrap(), "--json"];
    let first = run(home.path(), &words).json();
    assert_eq!((&first["exported"], &first["already_there"]), (&2.into(), &0.into()), "{first}");
    let again = run(home.path(), &words).json();
    assert_eq!((&again["exported"], &again["already_there"]), (&0.into(), &2.into()), "{again}");
    let guide =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fleet.md"));
    let guide = guide.unwrap();
    let sql: Vec<&str> =
        guide.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(sql.len(), 3, "the third is PostgreSQL's");
    let Some(found) = query(&tables, sql[0]) else { return };
    // Modelled drives have no model name, so both are one; what is theirs together lies between.
    let bounds = "SELECT min(median) / 1e6, max(median) / 1e6 \
                  FROM read_parquet('metrics/*/*.parquet') \
                  WHERE phase = 'rand-read-4k-d32' AND metric = 'read.latency_ns_p99'";
    let numbers = |text: &str| -> Vec<f64> {
        let words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
        words.filter_map(|word| word.parse().ok()).collect()
    };
    let (found, bounds) = (numbers(&found), numbers(&query(&tables, bounds).unwrap()));
    assert!(found.len() == 1 && bounds.len() == 2 && bounds[0] < bounds[1], "{found:?} {bounds:?}");
    assert!(bounds[0] <= found[0] && found[0] <= bounds[1], "{found:?} {bounds:?}");
    assert_eq!(query(&tables, sql[1]).unwrap().trim(), "[]", "every disk has its model's link");
}
