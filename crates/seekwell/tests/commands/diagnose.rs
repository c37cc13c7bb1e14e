//! From evidence to diagnosis with the real program: published text, logs, saved machines, rubbish.

use crate::common::{self, Ran, done, is_root, run, seekwell, shared, skip};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Identifiers of findings that are more than information, as `severity id`.
fn serious(inspection: &Value) -> Vec<String> {
    let all = inspection["findings"].as_array().unwrap_or_else(|| panic!("{inspection:#}"));
    let named = all.iter().filter(|f| f["severity"] != "info");
    let word = |f: &Value, key: &str| f[key].as_str().unwrap().to_owned();
    named.map(|f| format!("{} {}", word(f, "severity"), word(f, "id"))).collect()
}

/// The texts between `<pre>` and `</pre>` of a stored page, as a reader of the page sees them.
fn printed_in(page: &Path) -> Vec<String> {
    let page: Value = serde_json::from_str(&fs::read_to_string(page).unwrap()).unwrap();
    let html = page["content"]["rendered"].as_str().unwrap();
    let blocks = html.split("<pre>").skip(1).filter_map(|rest| rest.split("</pre>").next());
    let plain = |block: &str| {
        let named = block.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        named.replace("&#8217;", "'").replace("&amp;", "&").replace('\r', "")
    };
    blocks.map(plain).collect()
}

#[test]
fn the_two_controllers_of_the_piix_page_are_told_apart_from_their_text_alone() {
    let Some(page) = shared("seeds/000_00b3285b93ee93f2.txt") else { return };
    let home = home();
    let blocks: Vec<String> =
        printed_in(&page).into_iter().filter(|block| block.contains("Kernel driver")).collect();
    assert_eq!(blocks.len(), 2, "the page has two blocks of lspci");
    for (block, mode, id, driver, interrupt, findings) in [
        (
            &blocks[0],
            "IDE, compatible mode, bus-master DMA",
            "8086:2820",
            "ata_piix",
            "intx",
            &["warning SW-AHCI-001"][..],
        ),
        (&blocks[1], "AHCI 1.0", "8086:2824", "ahci", "msi", &[]),
    ] {
        let file = home.path().join("lspci.txt");
        fs::write(&file, block).unwrap();
        let json = run(home.path(), &["inspect", "--json", "--from", text(&file)]).ends(0);
        let document = json.json();
        let device = &document["device"];
        let controller = &device["detail"]["pci"][0];
        assert_eq!(device["driver"]["value"], driver);
        assert_eq!(controller["id"]["value"], id);
        assert_eq!(controller["interrupt"]["value"], interrupt);
        let words = device["attachment"][0]["detail"].as_str().unwrap();
        assert!(words.starts_with(mode), "{words}");
        assert_eq!(serious(&document), findings, "{driver}");
        let shown = run(home.path(), &["inspect", "--from", text(&file)]).ends(0);
        for word in [mode, driver, "from text alone"] {
            assert!(shown.out.contains(word), "{word:?} is not in {}", shown.out);
        }
        let sound = shown.out.contains("No problems were found");
        assert_eq!(sound, findings.is_empty(), "{}", shown.out);
    }
}

#[test]
fn a_controller_without_a_driver_line_gets_it_from_the_modules_that_are_loaded() {
    let Some(page) = shared("seeds/000_00b3285b93ee93f2.txt") else { return };
    let home = home();
    let block = printed_in(&page).into_iter().find(|b| b.contains("in use: ahci")).unwrap();
    let lspci = home.path().join("lspci.txt");
    let silent: Vec<&str> = block.lines().filter(|l| !l.contains("in use")).collect();
    fs::write(&lspci, silent.join("\n")).unwrap();
    let lsmod = home.path().join("lsmod.txt");
    fs::write(&lsmod, "Module Size Used by\nahci 20480 3\nlibahci 28672 1 ahci\n").unwrap();
    let from = ["inspect", "--json", "--from", text(&lspci)];
    assert_eq!(run(home.path(), &from).json()["device"]["driver"], Value::Null);
    let both = [&from[..], &["--lsmod", text(&lsmod)]].concat();
    assert_eq!(run(home.path(), &both).json()["device"]["driver"]["value"], "ahci");
}

#[test]
fn the_text_of_lspci_and_a_kernel_log_of_one_machine_are_both_used() {
    // The log was ignored beside pasted text, and of a folder one name of lspci's text was known.
    let Some(saved) = shared("fixtures/ahci-1.5Gbps") else { return };
    let home = home();
    let folder = home.path().join("both");
    fs::create_dir(&folder).unwrap();
    let (lspci, log) = (folder.join("lspci.txt"), folder.join("dmesg.txt"));
    fs::copy(saved.join("lspci-vvnnk.txt"), &lspci).unwrap();
    fs::copy(saved.join("dmesg.txt"), &log).unwrap();
    let named = ["inspect", "--json", "--from", text(&lspci), "--log", text(&log)];
    for words in [&named[..], &["inspect", "--json", "--from", text(&folder)]] {
        let document = run(home.path(), words).ends(0).json();
        let all = document["inspections"].as_array().unwrap();
        let (last, controllers) = all.split_last().unwrap();
        assert!(controllers.iter().any(|c| c["device"]["driver"]["value"] == "ahci"), "{words:?}");
        // Its disk was not to be seen, though the log names it with its port and link.
        let sda = controllers.iter().find(|i| i["target"] == "sda").expect("the disk");
        assert_eq!(sda["device"]["model"]["value"], "QEMU HARDDISK");
        let ata = &sda["device"]["detail"]["ata"];
        assert_eq!(
            (&ata["port"], &ata["link_speed"]["value"]),
            (&"ata1".into(), &"1.5 Gbps".into())
        );
        assert_eq!(sda["device"]["attachment"][0]["detail"], "SATA link up 1.5 Gbps");
        let count = |i: &Value| i["incidents"].as_array().map_or(0, Vec::len);
        assert_eq!((count(sda), count(last)), (2, 5), "each incident once");
        let forced = |f: &Value| f["title"].as_str().is_some_and(|t| t.contains("libata setting"));
        for one in [sda, last] {
            assert!(one["findings"].as_array().unwrap().iter().any(forced), "{words:?}: {one}");
        }
    }
}

/// Runs inspect on a kernel log given on standard input.
fn of_log(home: &Path, log: &[u8], more: &[&str]) -> Ran {
    let mut command = seekwell(home);
    command.args(["inspect", "--log", "-"]).args(more);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(log).unwrap();
    done(child.wait_with_output().unwrap())
}

/// The kernel's lines quoted in the section of the SATA modes.
fn published_log_lines(results: &Path) -> Vec<String> {
    let all = fs::read_to_string(results).unwrap();
    let section = all.split("\n## ").find(|s| s.starts_with("R1 ")).unwrap();
    let quoted = section.split('`').skip(1).step_by(2);
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    quoted.filter(|q| q.starts_with("ata")).map(flat).collect()
}

#[test]
fn the_published_log_lines_of_the_sata_modes_lead_to_the_published_diagnosis() {
    let Some(results) = shared("published-results.md") else { return };
    let home = home();
    let lines = published_log_lines(&results);
    assert_eq!(lines.len(), 3, "{lines:?}");
    let (before, after): (Vec<_>, Vec<_>) = lines.iter().partition(|l| l.contains("limiting"));
    let document =
        of_log(home.path(), format!("{}\n", before[0]).as_bytes(), &["--json"]).ends(0).json();
    assert_eq!(serious(&document), ["error SW-LOG-002"]);
    let incident = &document["incidents"][0];
    assert_eq!(incident["subject"], "ata2.00");
    let held = serde_json::json!({"state": "link-limited", "speed": "1.5 Gbps"});
    assert_eq!(incident["states"][0], held);
    assert_eq!(incident["disk"], Value::Null, "nothing says which disk it was");
    let shown = of_log(home.path(), lines[0].as_bytes(), &[]);
    assert!(shown.out.contains("1.5 Gbps") && shown.out.contains("SW-LOG-002"), "{}", shown.out);

    let good: Vec<&str> = after.iter().map(|l| l.as_str()).collect();
    let document = of_log(home.path(), good.join("\n").as_bytes(), &["--json"]).ends(0).json();
    assert_eq!(
        (serious(&document), document["incidents"].as_array().map(Vec::len)),
        (vec![], Some(0))
    );
}

// The two drives of a port whose link the kernel held back gave the same finding twice, and a
// setting forced on six ports gave it six times.
#[test]
fn what_one_cause_did_to_two_drives_is_one_finding_of_both() {
    let home = home();
    let line = |drive: &str| format!("[ 9.1] {drive}: limiting SATA link speed to 1.5 Gbps\n");
    let log = line("ata2.00") + &line("ata2.01") + "[ 9.2] ata3.00: applying bridge limits\n";
    let document = of_log(home.path(), log.as_bytes(), &["--json"]).ends(0).json();
    assert_eq!(serious(&document), ["error SW-LOG-002"]);
    let finding = &document["findings"][0];
    assert_eq!(finding["title"], "ata2.00, ata2.01: the link is limited to 1.5 Gbps");
    let seen = finding["evidence"].to_string();
    assert!(
        ["ata2.00: limiting", "ata2.01: limiting"].iter().all(|line| seen.contains(line)),
        "{seen}"
    );
    assert_eq!(document["incidents"].as_array().map(Vec::len), Some(3), "each is an incident");
}

/// machine|target|findings of severity warning and error. All other saved machines have none.
const WRONG: &str = "\
ahci-1.5Gbps|/dev/sda|warning SW-LINK-002
ahci-nodma|/dev/sda|error SW-DMA-001,warning SW-NCQ-002
noncq|/dev/sda|warning SW-NCQ-001
pc-piix+ahci|/dev/sdb|warning SW-AHCI-001
piix|/dev/sda|warning SW-AHCI-001
piix-2disks-cd|/dev/sda|warning SW-AHCI-001
piix-2disks-cd|/dev/sdb|warning SW-AHCI-001
piix-by-ata_generic|/dev/sda|error SW-DMA-001,warning SW-AHCI-001,warning SW-DMA-004
piix-nodma|/dev/sda|error SW-DMA-001,warning SW-AHCI-001
scsi_debug-wp|/dev/sda|error SW-BLK-001
";

#[test]
fn every_saved_machine_shows_what_is_wrong_with_it_and_a_healthy_one_nothing() {
    let Some(corpus) = shared("fixtures") else { return };
    let home = home();
    let mut seen = BTreeSet::new();
    let mut machines = 0;
    for entry in fs::read_dir(corpus).unwrap().flatten() {
        if !entry.path().join("sysfs.txt").exists() {
            continue;
        }
        machines += 1;
        let name = entry.file_name().into_string().unwrap();
        let ran = run(home.path(), &["inspect", "--json", "--from", text(&entry.path())]);
        assert_eq!(ran.status, 0, "{name}: {}", ran.err);
        let document = ran.json();
        let several = document["inspections"].as_array().cloned();
        let all = several.unwrap_or_else(|| vec![document]);
        assert!(all.iter().all(|i| i["device"]["attachment"].is_array()), "{name}");
        for one in all {
            let found = serious(&one).join(",");
            if !found.is_empty() {
                seen.insert(format!("{name}|{}|{found}", one["target"].as_str().unwrap()));
            }
        }
    }
    assert!(machines > 0, "no machine was looked at");
    let wanted: BTreeSet<String> = WRONG.lines().map(str::to_owned).collect();
    let more: Vec<_> = seen.difference(&wanted).collect();
    let less: Vec<_> = wanted.difference(&seen).collect();
    assert!(more.is_empty() && less.is_empty(), "too many: {more:#?}\ntoo few: {less:#?}");
}

#[test]
fn every_rule_has_a_page_in_both_forms() {
    let home = home();
    let mut ids = BTreeSet::new();
    for rule in seekwell_explain::rules() {
        let shown = run(home.path(), &["inspect", "--explain", rule.id]);
        assert_eq!((shown.status, shown.err.as_str()), (0, ""), "{}", rule.id);
        assert!(shown.out.starts_with(&format!("{}: ", rule.id)), "{}", shown.out);
        let parts = [
            "What it means",
            "How it is known",
            "Why it matters",
            "What to do",
            "What tune can do",
        ];
        for part in parts {
            assert!(shown.out.contains(&format!("\n{part}\n")), "{part}: {}", shown.out);
        }
        let json = run(home.path(), &["inspect", "--json", "--explain", rule.id]).json();
        assert_eq!(
            (json["schema"].as_str(), json["id"].as_str()),
            (Some("seekwell/rule/1"), Some(rule.id))
        );
        assert_eq!(json["fix"].as_str(), Some(rule.fix));
        ids.insert(rule.id);
    }
    assert!(ids.len() >= 60, "{} rules", ids.len());
    let list = run(home.path(), &["inspect", "--explain"]);
    let listed = list.out.lines().filter_map(|line| line.split_whitespace().next());
    assert_eq!((list.status, listed.collect::<BTreeSet<_>>()), (0, ids), "{}", list.err);
    let lower = run(home.path(), &["inspect", "--explain", "sw-ahci-001"]);
    assert!(lower.out.starts_with("SW-AHCI-001: "), "letter case does not matter");
}

#[test]
fn a_rule_that_is_not_there_is_refused_with_those_near_it() {
    let home = home();
    for (id, near) in [
        ("SW-LINK-999", "near it: SW-LINK-001, SW-LINK-002"),
        ("sw-dma-9", "near it: SW-DMA-001"),
        ("nonsense", "they look like SW-LINK-001"),
    ] {
        for form in [&["inspect", "--explain", id][..], &["inspect", "--json", "--explain", id]] {
            let ran = run(home.path(), form);
            assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{}", ran.err);
            assert!(ran.err.contains(near), "{near:?} is not in {:?}", ran.err);
        }
    }
}

/// That a command was refused in a sentence, with nothing for a program to read.
fn refused(ran: &Ran, what: &str) {
    assert!([2, 3].contains(&ran.status), "{what}: status {}, {}", ran.status, ran.err);
    assert_eq!(ran.out, "", "{what}");
    assert!(
        ran.err.starts_with("seekwell: ") && !ran.err.contains("panicked"),
        "{what}: {}",
        ran.err
    );
    let lines: Vec<&str> = ran.err.lines().collect();
    assert!(lines.len() == 1 && !lines[0].contains(char::is_control), "{what}: {:?}", ran.err);
}

/// Bytes that look random and are the same every time.
fn rubbish(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn what_is_no_machine_is_refused_in_a_sentence() {
    let home = home();
    let file = home.path().join("file");
    let deep = format!("seekwell/snapshot/1\n/sys{}: 1\n", "/x".repeat(40_000));
    for (what, bytes) in [
        ("nothing", Vec::new()),
        ("rubbish", rubbish(100_000)),
        ("a compressed file", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03".to_vec()),
        ("a program", fs::read(env!("CARGO_BIN_EXE_seekwell")).unwrap()[..65_536].to_vec()),
        ("escape sequences", b"\x1b]0;owned\x07\x1b[2J\n".repeat(100)),
        ("a later version", b"seekwell/snapshot/99\n/sys/x: 1\n".to_vec()),
        ("a path out of the tree", b"seekwell/snapshot/1\n/sys/../../etc/shadow: x\n".to_vec()),
        ("a path too deep", deep.into_bytes()),
        ("JSON of something else", b"{\"schema\":\"seekwell/run/1\"}".to_vec()),
    ] {
        fs::write(&file, bytes).unwrap();
        for form in [&["inspect", "--from"][..], &["inspect", "--json", "--from"]] {
            refused(&run(home.path(), &[form, &[text(&file)]].concat()), what);
        }
    }
    fs::remove_file(&file).unwrap();
    for path in [text(&file), "/dev/null", text(home.path())] {
        refused(&run(home.path(), &["inspect", "--from", path]), path);
    }
}

#[test]
fn the_running_system_is_not_taken_for_a_saved_one() {
    // The root folder has sys and proc as a sosreport has them. Every file of both was read, which
    // took minutes and has effects: some files of /proc and /sys do something when they are read.
    let home = home();
    for path in ["/", "/proc/self/root", "/../"] {
        refused(&run(home.path(), &["inspect", "--from", path]), path);
    }
}

#[test]
fn a_hostile_folder_is_refused_or_shows_nothing_of_this_machine() {
    let home = home();
    let folder = home.path().join("folder");
    fs::create_dir(&folder).unwrap();
    let listing = folder.join("sysfs.txt");
    for (what, bytes) in [
        ("rubbish", rubbish(10_000)),
        ("a path out of the tree", b"/sys/../../etc/shadow: x\n".to_vec()),
        ("a line without a value", b"/sys/block/sda\n".to_vec()),
    ] {
        fs::write(&listing, bytes).unwrap();
        refused(&run(home.path(), &["inspect", "--json", "--from", text(&folder)]), what);
    }
    // Links that lead out of a report are not followed.
    fs::remove_file(&listing).unwrap();
    fs::create_dir(folder.join("proc")).unwrap();
    std::os::unix::fs::symlink("/sys", folder.join("sys")).unwrap();
    let ran = run(home.path(), &["inspect", "--json", "--from", text(&folder)]);
    match ran.status {
        0 => assert_eq!(ran.json()["inspections"].as_array().map(Vec::len), Some(0)),
        _ => refused(&ran, "links"),
    }
}

#[test]
fn a_log_of_rubbish_leads_to_nothing_and_breaks_nothing() {
    let home = home();
    let long = [b"[    1.0] ata1: ".to_vec(), vec![b'x'; 4 << 20], b"\n".to_vec()].concat();
    for (what, log) in [
        ("nothing", Vec::new()),
        ("rubbish", rubbish(1 << 20)),
        ("zeros", vec![0; 1 << 16]),
        ("escape sequences", b"[    1.0] ata1.00: \x1b]0;owned\x07\x1b[2J\n".repeat(50)),
        ("one long line", long),
        ("half a record", b"6,339,5140900,-;ata1: ".to_vec()),
    ] {
        let json = of_log(home.path(), &log, &["--json"]);
        assert_eq!(json.status, 0, "{what}: {}", json.err);
        assert_eq!(serious(&json.json()), Vec::<String>::new(), "{what}");
        let shown = of_log(home.path(), &log, &[]);
        let control = shown.out.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!((shown.status, control), (0, None), "{what}: {}", shown.err);
    }
    // What matters is found between rubbish too.
    let line = b"\n[    1.0] ata2.00: limiting SATA link speed to 1.5 Gbps\n".to_vec();
    let log = [rubbish(50_000), line, rubbish(50_000)].concat();
    let found = serious(&of_log(home.path(), &log, &["--json"]).json());
    assert_eq!(found, ["error SW-LOG-002"]);
}

#[test]
fn a_log_that_cannot_be_read_is_refused_in_a_sentence() {
    let home = home();
    for path in ["/no/such/log", text(home.path())] {
        refused(&run(home.path(), &["inspect", "--json", "--log", path]), path);
        let both = ["inspect", "--json", "--log", path, text(home.path())];
        refused(&run(home.path(), &both), path);
    }
}

#[test]
fn without_root_nearly_all_is_shown_and_what_root_would_add_is_said_once() {
    if !is_root() {
        return skip("becoming nobody needs root");
    }
    let restricted = fs::read_to_string("/proc/sys/kernel/dmesg_restrict").unwrap_or_default();
    // The build's folder may not be readable to that user.
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let program = place.path().join("seekwell");
    common::install(Path::new(env!("CARGO_BIN_EXE_seekwell")), &program);
    let nobody = |more: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", text(&program)]);
        command.args(["inspect", text(place.path())]).args(more).env("NO_COLOR", "1");
        command.env("SEEKWELL_RUNS", place.path().join("runs")).output().map(done)
    };
    let ran = match nobody(&["--json"]) {
        Ok(ran) => ran,
        Err(error) => return skip(&format!("setpriv: {error}")),
    };
    assert_eq!(ran.status, 0, "{}", ran.err);
    let (ours, theirs) =
        (run(place.path(), &["inspect", "--json", text(place.path())]).json(), ran.json());
    let facts = ["name", "size_bytes", "model", "serial", "driver", "pci", "attachment", "queue"];
    for fact in facts {
        assert_eq!(theirs["device"][fact], ours["device"][fact], "{fact}");
    }
    let count = |document: &Value| document["missing"].as_array().map_or(0, Vec::len);
    let asks = |m: &&Value| m["reason"].as_str().is_some_and(|r| r.contains("root"));
    let advice = theirs["missing"].as_array().unwrap().iter().filter(asks).count();
    assert!(advice <= 1, "{:#}", theirs["missing"]);
    if restricted.trim() == "1" {
        assert_eq!((advice, count(&theirs)), (1, count(&ours) + 1), "{:#}", theirs["missing"]);
        let shown = nobody(&[]).unwrap();
        assert_eq!(shown.out.matches("run as root").count(), 1, "{}", shown.out);
    }
}

#[test]
fn the_guide_counts_the_rules_of_each_theme_as_they_are() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/inspect.md");
    let guide = fs::read_to_string(guide).unwrap();
    let rows = guide.lines().filter_map(|line| line.strip_prefix("| `SW-")?.split_once("` | "));
    let told: BTreeSet<(String, usize)> = rows
        .map(|(theme, rest)| (theme.to_owned(), rest.split(' ').next().unwrap().parse().unwrap()))
        .collect();
    let themes: Vec<&str> =
        seekwell_explain::rules().filter_map(|r| r.id.split('-').nth(1)).collect();
    let count = |theme: &str| themes.iter().filter(|t| **t == theme).count();
    let real = themes.iter().map(|t| ((*t).to_owned(), count(t))).collect();
    assert_eq!(told, real);
}

#[test]
fn a_log_of_two_devices_on_one_sata_port_points_to_ide_mode_and_not_to_the_cable() {
    // The published lines were answered with "replace the cable".
    let home = home();
    let file = home.path().join("before.txt");
    let lines = "ata2.00: limiting SATA link speed to 1.5 Gbps\n\
                 ata2.01: limiting SATA link speed to 1.5 Gbps\n";
    fs::write(&file, lines).unwrap();
    let shown = run(home.path(), &["inspect", "--log", text(&file)]);
    assert!(shown.out.contains("set the SATA mode to AHCI"), "{}", shown.out);
    assert!(shown.out.contains("ata2.00 and ata2.01, as in IDE mode"), "{}", shown.out);
    fs::write(&file, "ata2.00: limiting SATA link speed to 1.5 Gbps\n").unwrap();
    let shown = run(home.path(), &["inspect", "--log", text(&file)]);
    assert!(!shown.out.contains("AHCI"), "{}", shown.out);
}

#[test]
fn a_line_that_only_says_how_a_link_came_up_is_the_kernel_s() {
    // The published line was "none of them looks like a kernel's".
    let home = home();
    let file = home.path().join("after.txt");
    fs::write(&file, "ata1: SATA link up 3.0 Gbps (SStatus 123 SControl 300)\n").unwrap();
    let shown = run(home.path(), &["inspect", "--log", text(&file)]);
    assert_eq!(shown.err, "");
    assert!(shown.out.contains("ata1: SATA link up 3.0 Gbps"), "{}", shown.out);
}

#[test]
fn a_file_system_in_memory_has_none_of_a_disk_s_errors() {
    // tmpfs and overlay showed whatever the log says of any disk.
    if !Path::new("/dev/shm").is_dir() {
        return skip("there is no /dev/shm");
    }
    let home = home();
    let file = home.path().join("log.txt");
    fs::write(&file, "[    9.0] ata2.00: limiting SATA link speed to 1.5 Gbps\n").unwrap();
    let shown = run(home.path(), &["inspect", "/dev/shm", "--log", text(&file)]);
    assert!(!shown.out.contains("SW-LOG-002"), "{}", shown.out);
}

const PIIX: &str = "00:1f.2 IDE interface [0101]: Intel Corporation 82801H (ICH8 Family) 4 port \
                    SATA Controller [IDE mode] [8086:2820] (rev 02) (prog-if 8a [Master SecP \
                    PriP])\n\tKernel driver in use: ata_piix\n";
const AHCI: &str = "00:1f.2 SATA controller [0106]: Intel Corporation 82801HR/HO/HH 6 port SATA \
                    Controller [AHCI mode] [8086:2821] (rev 02) (prog-if 01 [AHCI 1.0])\n\
                    \tKernel driver in use: ahci\n";

#[test]
fn two_pasted_texts_of_lspci_differ_as_files_and_as_folders() {
    // Folders: "no difference". Files: "neither a snapshot nor JSON", although inspect reads them.
    let home = home();
    let folder = |name: &str, lspci: &str| {
        let folder = home.path().join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("lspci.txt"), lspci).unwrap();
        folder
    };
    let (before, after) = (folder("a", PIIX), folder("b", AHCI));
    fs::write(after.join("notes.md"), "changed in the firmware").unwrap();
    let folders = run(home.path(), &["diff", text(&before), text(&after)]);
    let (before, after) = (before.join("lspci.txt"), after.join("lspci.txt"));
    let files = run(home.path(), &["diff", text(&before), text(&after)]);
    for ran in [&folders, &files] {
        assert_eq!(ran.status, 0, "{}", ran.err);
        assert!(ran.out.contains("ata_piix") && ran.out.contains("ahci"), "{}", ran.out);
    }
    assert!(folders.err.contains("not used: notes.md"), "{}", folders.err);
}

#[test]
fn a_driver_that_lsmod_alone_tells_is_joined_from_the_same_folder() {
    let home = home();
    let lspci = PIIX.replace("\tKernel driver in use: ata_piix\n", "\tKernel modules: ata_piix\n");
    fs::write(home.path().join("lspci.txt"), lspci).unwrap();
    fs::write(home.path().join("lsmod.txt"), "Module  Size  Used by\nata_piix  36864  2\n")
        .unwrap();
    let shown = run(home.path(), &["inspect", "--json", "--from", text(home.path())]);
    assert_eq!(shown.json()["device"]["driver"]["value"], "ata_piix", "{}", shown.err);
}

#[test]
fn a_loop_device_shows_its_own_queue() {
    // Only the queue of the disk below its file was shown.
    let Some(disk) = common::Loop::new(64 << 20) else { return };
    let home = home();
    let shown = run(home.path(), &["inspect", &disk.device]);
    let name = disk.device.strip_prefix("/dev/").unwrap();
    assert!(shown.out.contains(&format!("Queue of {name}\n")), "{}", shown.out);
}

#[test]
fn devices_that_differ_in_names_alone_are_shown_once() {
    // Eight loop devices filled 672 lines.
    let disks: Vec<common::Loop> = (0..3).filter_map(|_| common::Loop::new(64 << 20)).collect();
    if disks.len() < 3 {
        return;
    }
    let home = home();
    let log = home.path().join("empty.txt");
    fs::write(&log, "[    1.0] nothing\n").unwrap();
    let targets: Vec<&str> = disks.iter().map(|disk| disk.device.as_str()).collect();
    let shown = run(home.path(), &[&["inspect", "--log", text(&log)], &targets[..]].concat());
    assert_eq!(shown.out.matches("Attachment").count(), 1, "{}", shown.out);
    assert!(shown.out.contains("The same but for names: loop"), "{}", shown.out);
}

#[test]
fn the_list_of_suites_fits_a_screen_and_a_half() {
    let home = home();
    let short = run(home.path(), &["bench", "--suite", "list"]).out;
    assert!(short.lines().count() <= 36, "{short}");
    let full = run(home.path(), &["bench", "--suite", "list", "--full"]).out;
    assert!(full.contains("settle=3000") && full.lines().count() > 100, "{full}");
}
