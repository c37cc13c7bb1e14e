//! Rules of style that a test can check.

use std::fs;
use std::path::{Path, PathBuf};

const MAX_FILE_LINES: usize = 1000;
const LONG_FILE_LINES: usize = 500;
const MAX_FUNCTION_LINES: usize = 120;
const MAX_COLUMNS: usize = 100;
/// Generated folders.
const GENERATED: [&str; 8] =
    ["target", "node_modules", ".git", "dist", ".cache", "corpus", "artifacts", "coverage"];
const MADE: [&str; 3] =
    ["web/package-lock.json", "checkup.html", "crates/seekwell-report/page.html"];
const SOURCE: [&str; 8] = ["rs", "ts", "css", "html", "sh", "mjs", "js", "py"];
const TEXT: [&str; 6] = ["md", "toml", "yml", "yaml", "json", "txt"];

/// What is not yet where CONTRIBUTING.md wants tests. Files leave this list; none joins it.
const TESTS_TO_MOVE: [&str; 18] = [
    "crates/seekwell-compare/src/sources/bonnie.rs",
    "crates/seekwell-compare/src/sources/bonnie_tests.rs",
    "crates/seekwell-compare/src/sources/fio.rs",
    "crates/seekwell-compare/src/sources/fio_tests.rs",
    "crates/seekwell-compare/src/sources/fio_text.rs",
    "crates/seekwell-compare/src/sources/fio_text_tests.rs",
    "crates/seekwell-compare/src/sources/hdparm.rs",
    "crates/seekwell-compare/src/sources/hdparm_tests.rs",
    "crates/seekwell-compare/src/sources/mod.rs",
    "crates/seekwell-compare/src/sources/mod_tests.rs",
    "crates/seekwell-compare/src/sources/phoronix.rs",
    "crates/seekwell-compare/src/sources/phoronix_tests.rs",
    "crates/seekwell-inspect/tests/agree.rs",
    "crates/seekwell-machine/src/",
    "crates/seekwell-report/tests/page.rs",
    "crates/seekwell-runs/tests/json_doc.rs",
    "crates/seekwell-suites/src/fs/csv.rs",
    "crates/seekwell-suites/src/fs/csv_tests.rs",
];

struct Source {
    /// Relative to the top.
    name: String,
    extension: String,
    text: String,
}

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

fn walk(dir: &Path, out: &mut Vec<Source>) {
    for entry in fs::read_dir(dir).unwrap().map(|e| e.unwrap()) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            if !GENERATED.contains(&name.as_str()) {
                walk(&path, out);
            }
            continue;
        }
        let extension = path.extension().map_or("", |e| e.to_str().unwrap()).to_owned();
        let script = ["Makefile", "run"].contains(&name.as_str());
        if script || SOURCE.contains(&extension.as_str()) || TEXT.contains(&extension.as_str()) {
            // Another program may be writing beside us: what is gone is not looked at.
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let name = path.strip_prefix(top()).unwrap().display().to_string();
            out.push(Source { name, extension, text });
        }
    }
}

fn sources() -> Vec<Source> {
    let mut out = Vec::new();
    walk(&top(), &mut out);
    assert!(out.iter().any(|s| s.name == "xtask/tests/tidy.rs"), "the walk sees this file");
    out.retain(|s| !MADE.contains(&s.name.as_str()));
    out
}

fn rust() -> Vec<Source> {
    sources().into_iter().filter(|s| s.extension == "rs").collect()
}

fn assert_none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}

#[test]
fn no_file_has_more_than_a_thousand_lines() {
    let mut too_long = Vec::new();
    for source in sources().iter().filter(|s| SOURCE.contains(&s.extension.as_str())) {
        match source.text.lines().count() {
            lines if lines > MAX_FILE_LINES => too_long.push(format!("{} ({lines})", source.name)),
            lines if lines > LONG_FILE_LINES => {
                eprintln!("long: {} has {lines} lines", source.name);
            }
            _ => {}
        }
    }
    assert_none("files to be cut", &too_long);
}

#[test]
fn no_line_of_rust_is_wider_than_a_hundred_columns() {
    let mut wide = Vec::new();
    for source in rust() {
        // An inline snapshot is output, kept as it is printed; a row of a table stays a row.
        let mut snapshot = false;
        for (number, line) in source.text.lines().enumerate() {
            snapshot |= line.contains("assert_snapshot!(");
            let table = line.matches('|').count() >= 5;
            if line.chars().count() > MAX_COLUMNS && !snapshot && !table {
                wide.push(format!("{}:{}", source.name, number + 1));
            }
            snapshot &= !line.trim_end().ends_with(");");
        }
    }
    assert_none("lines to be broken", &wide);
}

/// Lines of each function with a body: its name, where it begins, and how many. Relies on rustfmt:
/// a body ends at the first closing brace that stands as far in as its `fn`.
fn functions(text: &str) -> Vec<(String, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    for (begin, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        let is_head = |word: &str| {
            ["pub", "const", "async", "unsafe", "extern", "\"C\""].contains(&word)
                || word.starts_with("pub(")
        };
        let mut words = code.split(' ').skip_while(|word| is_head(word));
        if words.next() != Some("fn") {
            continue;
        }
        let name = words.next().unwrap_or("").split(['(', '<']).next().unwrap_or("").to_owned();
        let opened = lines[begin..].iter().position(|l| l.ends_with(['{', ';', '}']));
        if opened.is_none_or(|at| !lines[begin + at].ends_with('{')) {
            continue;
        }
        let brace = format!("{}}}", " ".repeat(indent));
        let end = lines[begin..].iter().position(|l| l.starts_with(&brace));
        let length = end.map_or(1, |at| at + 1);
        out.push((name, begin + 1, length));
    }
    out
}

#[test]
fn the_length_of_a_function_is_counted_from_its_head_to_its_brace() {
    let text = "\
fn a() {
    if x {
    }
}

impl T {
    pub(crate) const fn b(
        x: u8,
    ) -> u8 {
        x
    }
    fn declared(&self);
    fn c() {}
}
";
    let expected = [("a".to_owned(), 1, 4), ("b".to_owned(), 7, 5)];
    assert_eq!(functions(text), expected);
}

#[test]
fn no_function_has_more_than_a_hundred_and_twenty_lines() {
    let mut long = Vec::new();
    for source in rust() {
        for (name, line, length) in functions(&source.text) {
            if length > MAX_FUNCTION_LINES {
                long.push(format!("{}:{line}: {name} ({length} lines)", source.name));
            }
        }
    }
    assert_none("functions to be cut", &long);
}

#[test]
fn tests_lie_where_contributing_says() {
    let mut misplaced = Vec::new();
    for Source { name, text, .. } in rust() {
        let own_path = |line: &str| line.starts_with("#[path = ") && !line.contains("\"../");
        let stray = name.ends_with("_tests.rs") || text.lines().any(own_path);
        if stray && !TESTS_TO_MOVE.iter().any(|known| name.starts_with(known)) {
            misplaced.push(name);
        }
    }
    assert_none("tests to be moved", &misplaced);
}

#[test]
fn every_file_of_a_folder_of_tests_is_a_module_of_it() {
    // A test in a file that no `mod` names is never run.
    let mut unnamed = Vec::new();
    let all = rust();
    for main in all.iter().filter(|s| s.name.ends_with("/main.rs") && s.name.contains("/tests/")) {
        let folder = main.name.trim_end_matches("main.rs");
        for name in all.iter().filter_map(|s| s.name.strip_prefix(folder)?.strip_suffix(".rs")) {
            let module = format!("mod {name};");
            if name != "main" && !name.contains('/') && !main.text.contains(&module) {
                unnamed.push(format!("{folder}{name}.rs"));
            }
        }
    }
    assert_none("files without a `mod` in the main.rs beside them", &unnamed);
}

#[test]
fn nothing_is_left_half_done() {
    // Written in two parts, so that this file does not find itself.
    let words = [
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("dbg", "!("),
        concat!("#[", "ignore"),
    ];
    let mut found = Vec::new();
    for source in sources().iter().filter(|s| SOURCE.contains(&s.extension.as_str())) {
        for (number, line) in source.text.lines().enumerate() {
            if let Some(word) = words.iter().find(|word| line.contains(*word)) {
                found.push(format!("{}:{}: {word}", source.name, number + 1));
            }
        }
    }
    assert_none("leftovers", &found);
}

#[test]
fn threads_are_started_in_one_place() {
    // Where a limit refuses one, the standard library's panic left others waiting for ever.
    let ways = ["thread::spawn(", "scope.spawn(", "thread::Builder"];
    let mut found = Vec::new();
    for Source { name, text, .. } in rust() {
        let ours = name.starts_with("crates/") && !name.contains("test");
        if !ours || name == "crates/seekwell-sys/src/thread.rs" {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        if let Some(way) = ways.iter().find(|way| code.contains(*way)) {
            found.push(format!("{name}: {way}"));
        }
    }
    assert_none("threads that seekwell_sys::thread should start", &found);
}

#[test]
fn nothing_names_a_folder_of_one_machine_or_a_registry() {
    let folders = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];
    let hosts =
        [concat!("crates", ".io"), concat!("registry", ".npmjs"), concat!("static.rust", "-lang")];
    let mut found = Vec::new();
    for source in sources() {
        for (number, line) in source.text.lines().enumerate() {
            // In the middle of a path such a name means nothing.
            let starts_path = |folder: &&&str| {
                line.match_indices(**folder).any(|(at, _)| {
                    !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-}\"*)".contains(c))
                        || line[..at].ends_with('"')
                })
            };
            let named = folders.iter().find(starts_path);
            if let Some(word) = named.or_else(|| hosts.iter().find(|host| line.contains(**host))) {
                found.push(format!("{}:{}: {word}", source.name, number + 1));
            }
        }
    }
    assert_none("names that mean nothing elsewhere", &found);
}

#[test]
fn every_crate_opens_by_saying_what_it_is_for() {
    let mut silent = Vec::new();
    let mut roots = 0;
    for source in rust() {
        let is_root = source.name.ends_with("src/lib.rs")
            || source.name.ends_with("src/main.rs")
            || source.name.starts_with("fuzz/fuzz_targets/");
        if is_root {
            roots += 1;
            if !source.text.starts_with("//! ") {
                silent.push(source.name);
            }
        }
    }
    assert!(roots > 8, "only {roots} crates were seen");
    assert_none("crates without a head", &silent);
}

#[test]
fn the_readme_shows_how_to_begin() {
    let text = fs::read_to_string(top().join("README.md")).unwrap();
    for command in ["make checkup", "make test"] {
        assert!(text.contains(command), "README.md does not show `{command}`");
    }
}
