//! Machines in files: saved, inspected elsewhere, masked, compared; and a machine that is watched.

use crate::common::{self, Loop, run, seekwell, shared, signal, skip, wait_for};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn what_is_saved_is_inspected_again_byte_for_byte() {
    let home = home();
    let file = home.path().join("machine.txt");
    let target = text(home.path());
    let live = run(home.path(), &["inspect", "--json", "--save", text(&file), target]).ends(0);
    assert!(live.err.contains("--mask"), "{}", live.err);
    let again = run(home.path(), &["inspect", "--json", "--from", text(&file)]).ends(0);
    assert_eq!(again.out, live.out);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let saved = fs::read_to_string(&file).unwrap();
    assert!(saved.starts_with("seekwell/snapshot/1\n"));
    assert!(saved.contains("\n== /proc/self/mountinfo\n|"), "the tables of /proc are in it");
    let shown = run(home.path(), &["inspect", "--from", text(&file)]);
    assert!(shown.out.contains("Attachment") || shown.out.contains("memory"), "{}", shown.out);
}

#[test]
fn a_snapshot_needs_nothing_of_the_machine_it_is_looked_at_on() {
    let home = home();
    let file = home.path().join("machine.txt");
    let live = run(home.path(), &["inspect", "--json", "--save", text(&file)]).ends(0);
    // A machine that shows nothing of itself.
    let hide = "mount -t tmpfs none /sys && mount -t tmpfs none /proc && exec \"$@\"";
    let program = env!("CARGO_BIN_EXE_seekwell");
    let output = std::process::Command::new("unshare")
        .args(["--mount", "sh", "-c", hide, "sh", program])
        .args(["inspect", "--json", "--from", text(&file)])
        .output();
    let ran = match output {
        Ok(output) => common::done(output),
        Err(error) => return skip(&format!("unshare: {error}")),
    };
    if ran.err.contains("unshare") || ran.err.contains("mount") {
        return skip(&format!("a mount namespace of its own: {}", ran.err));
    }
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert_eq!(ran.out, live.out);
}

#[test]
fn another_machine_is_inspected_from_its_file_as_from_its_folder() {
    let Some(corpus) = shared("fixtures") else { return };
    let home = home();
    let file = home.path().join("machine.txt");
    for machine in ["piix", "nvme-2ctrl", "stack-md-dm-loop"] {
        let folder = corpus.join(machine);
        let from = |path: &Path| run(home.path(), &["inspect", "--json", "--from", text(path)]);
        let direct = from(&folder);
        let save = ["inspect", "--json", "--from", text(&folder), "--save", text(&file)];
        assert_eq!(run(home.path(), &[&save[..], &["--force"]].concat()).status, 0);
        assert_eq!(from(&file).out, direct.out, "{machine}");
        assert!(direct.out.contains("/dev/"), "{}", direct.out);
    }
    let two_disks = corpus.join("piix-2disks-cd");
    let one = ["inspect", "--json", "--from", text(&two_disks), "/dev/sdb"];
    assert_eq!(run(home.path(), &one).json()["device"]["name"], "sdb");
    let none =
        run(home.path(), &["inspect", "--from", text(&corpus.join("piix")), "/dev/sdx"]).ends(2);
    assert!(none.err.contains("it holds /dev/sda"), "{}", none.err);
}

#[test]
fn a_masked_snapshot_shows_the_same_disk_without_its_serial_number() {
    let Some(corpus) = shared("fixtures") else { return };
    let home = home();
    let folder = corpus.join("ahci");
    let plain = run(home.path(), &["inspect", "--json", "--from", text(&folder)]).json();
    let serial = plain["device"]["serial"]["value"].as_str().unwrap().to_owned();
    let file = home.path().join("masked.txt");
    let save = ["inspect", "--json", "--from", text(&folder), "--mask", "--save", text(&file)];
    let masked = run(home.path(), &save).ends(0);
    assert!(!masked.out.contains(&serial) && !fs::read_to_string(&file).unwrap().contains(&serial));
    let masked = masked.json();
    assert_eq!(masked["device"]["model"], plain["device"]["model"]);
    assert_eq!(masked["device"]["queue"], plain["device"]["queue"]);
    let differ = ["diff", "--json", text(&folder), text(&file)];
    let changes = run(home.path(), &differ).json()["changes"].clone();
    let matter = changes.as_array().unwrap().iter().filter(|c| c["matters"] == true);
    assert_eq!(matter.count(), 0, "{changes:#}");
}

#[test]
fn a_file_that_is_no_snapshot_is_refused_with_its_line() {
    let home = home();
    let file = home.path().join("bad.txt");
    for (content, words) in [
        ("hello\n", "not a snapshot"),
        ("seekwell/snapshot/1\n/sys/../../etc/x: 1\n", "line 2"),
        ("seekwell/snapshot/1\na: b\nnonsense\n", "line 3"),
        ("seekwell/snapshot/1\n|x\n", "line 2"),
    ] {
        fs::write(&file, content).unwrap();
        let ran = run(home.path(), &["inspect", "--from", text(&file)]);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert!(ran.err.contains(words), "{words:?} is not in {:?}", ran.err);
    }
    run(home.path(), &["inspect", "--from", "/no/such/file"]).ends(2);
    let huge = home.path().join("huge.txt");
    fs::write(&huge, "seekwell/snapshot/1\n").unwrap();
    fs::File::options().write(true).open(&huge).unwrap().set_len(300 << 20).unwrap();
    let ran = run(home.path(), &["inspect", "--from", text(&huge)]).ends(2);
    assert!(ran.err.contains("larger than"), "{}", ran.err);
}

#[test]
fn a_snapshot_never_takes_the_place_of_what_is_not_a_file() {
    // A file renamed over /dev/sda would have left the machine without the node.
    let home = home();
    let folder = home.path().join("folder");
    fs::create_dir(&folder).unwrap();
    for path in ["/dev/null", text(&folder), "/no/such/folder/file"] {
        let ran = run(home.path(), &["inspect", "--save", path, text(home.path())]);
        assert_eq!(ran.status, 3, "{path}: {}", ran.err);
        assert!(ran.err.contains(path), "{}", ran.err);
    }
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    assert_eq!(common::names(home.path()), ["folder"], "nothing is left behind");
}

#[test]
fn diff_says_what_the_other_mode_changed() {
    let Some(corpus) = shared("fixtures") else { return };
    let home = home();
    let (piix, ahci) = (corpus.join("piix"), corpus.join("ahci"));
    let document = run(home.path(), &["diff", "--json", text(&piix), text(&ahci)]).ends(0).json();
    assert_eq!(document["schema"], "seekwell/diff/1");
    assert_eq!(document["changes"][0]["what"], "driver");
    assert_eq!(document["changes"][0]["before"], "ata_piix");
    let shown = run(home.path(), &["diff", text(&piix), text(&ahci)]);
    for word in ["queue depth", "controller mode", "transfer mode", "ata_piix", "also different"] {
        assert!(shown.out.contains(word), "{word:?} is not in {}", shown.out);
    }
    let same = run(home.path(), &["diff", text(&ahci), text(&ahci)]);
    assert!(same.out.starts_with("no difference"), "{}", same.out);
    // An inspection that was kept as JSON is as good as a snapshot.
    let kept = home.path().join("ahci.json");
    let json = run(home.path(), &["inspect", "--json", "--from", text(&ahci)]);
    fs::write(&kept, &json.out).unwrap();
    let same = run(home.path(), &["diff", text(&kept), text(&ahci)]);
    assert!(same.out.starts_with("no difference"), "{}", same.out);
    fs::write(&kept, "{\"schema\":\"seekwell/run/1\"}").unwrap();
    let other = run(home.path(), &["diff", text(&kept), text(&ahci)]).ends(2);
    assert!(other.err.contains("seekwell/run/1"), "{}", other.err);
}

#[test]
fn a_setting_changed_since_the_snapshot_is_found_on_the_live_machine() {
    let Some(disk) = Loop::new(8 << 20) else { return };
    let home = home();
    let file = home.path().join("before.txt");
    let save = ["inspect", "--save", text(&file), &disk.device];
    assert_eq!(run(home.path(), &save).status, 0);
    let name = disk.device.trim_start_matches("/dev/");
    let knob = PathBuf::from(format!("/sys/block/{name}/queue/read_ahead_kb"));
    let before = fs::read_to_string(&knob).unwrap();
    fs::write(&knob, "8192").unwrap();
    let ran = run(home.path(), &["diff", "--json", text(&file), "-"]);
    fs::write(&knob, before.trim()).unwrap();
    let document = ran.json();
    let changes = document["changes"].as_array().unwrap();
    let found = changes.iter().find(|c| c["what"] == "read-ahead").expect("the change");
    assert_eq!((found["device"].as_str(), found["after"].as_str()), (Some(name), Some("8 MiB")));
}

/// The program watching, ended whatever happens.
struct Watching(Child);

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn watching(home: &Path) -> Watching {
    let mut command = seekwell(home);
    command.args(["inspect", "--watch", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    Watching(command.spawn().unwrap())
}

#[test]
fn watching_tells_of_a_disk_that_comes_and_ends_with_ctrl_c() {
    let home = home();
    let mut child = watching(home.path());
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let mut next = || -> Option<Value> {
        let line = lines.next()?.unwrap();
        let line = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e} in {line:?}"));
        common::schema::check(&line);
        Some(line)
    };
    let Some(first) = next() else {
        let mut err = String::new();
        child.0.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        return skip(&format!("nothing can be watched here: {err}"));
    };
    assert_eq!(
        (first["schema"].as_str(), first["event"].as_str()),
        (Some("seekwell/watch/1"), Some("start"))
    );
    assert!(first["hot_plug"].is_array());
    if let Some(disk) = Loop::new(8 << 20) {
        let name = disk.device.trim_start_matches("/dev/").to_owned();
        let ours = |line: &Value| line["device"] == name.as_str() && line["size_bytes"] == 8 << 20;
        while !ours(&next().expect("the program goes on")) {}
    }
    signal(&child.0, "INT");
    let status = child.0.wait().unwrap();
    assert_eq!(status.code(), Some(130));
}

#[test]
fn what_is_printed_of_saved_machines_is_what_the_schemas_say() {
    let home = home();
    let check = |args: &[&str]| run(home.path(), &[args, &["--json"]].concat()).ends(0).json();
    check(&["inspect"]);
    check(&["inspect", text(home.path())]);
    check(&["diff", "-", "-"]);
    let Some(corpus) = shared("fixtures") else { return };
    for machine in ["ahci-nodma", "megaraid", "nvme", "sdcard", "stack-md-dm-loop", "usb-uas"] {
        check(&["inspect", "--from", text(&corpus.join(machine))]);
    }
    let [a, b] = ["ahci", "piix"].map(|machine| corpus.join(machine));
    check(&["diff", text(&a), text(&b)]);
    check(&["inspect", "--from", text(&corpus.join("fault/ahci-timeout"))]);
}

#[test]
fn a_folder_with_a_log_or_printed_text_alone_is_diagnosed() {
    let home = home();
    let folder = home.path().join("report");
    fs::create_dir_all(folder.join("sos_commands/pci")).unwrap();
    fs::create_dir_all(folder.join("sos_commands/kernel")).unwrap();
    let lspci = "00:1f.2 IDE interface [0101]: Intel Corporation 82801H 4 port SATA IDE Controller \
                 [8086:2820] (rev 02) (prog-if 8a [Master SecP PriP])\n\
                 \tInterrupt: pin B routed to IRQ 17\n";
    fs::write(folder.join("sos_commands/pci/lspci_-nnvv"), lspci).unwrap();
    let lsmod = "Module                  Size  Used by\nata_piix 36864 2\n";
    fs::write(folder.join("sos_commands/kernel/lsmod"), lsmod).unwrap();
    let log = "[    9.1] ata1.00: NCQ disabled due to excessive errors\n";
    fs::write(folder.join("sos_commands/kernel/dmesg"), log).unwrap();
    let ran = run(home.path(), &["inspect", "--json", "--from", text(&folder)]);
    let both = ran.json();
    let (found, logged) = (&both["inspections"][0], &both["inspections"][1]);
    assert_eq!(found["target"], "0000:00:1f.2", "{}", ran.err);
    assert_eq!(found["device"]["driver"]["value"], "ata_piix", "as lsmod tells");
    assert_eq!(found["findings"][0]["id"], "SW-AHCI-001");
    assert_eq!(logged["findings"][0]["id"], "SW-LOG-001", "{logged:#}");
    // Saved again, it is the same.
    let file = home.path().join("saved.txt");
    let save = ["inspect", "--json", "--from", text(&folder), "--save", text(&file)];
    assert_eq!(run(home.path(), &save).status, 0);
    assert_eq!(run(home.path(), &["inspect", "--json", "--from", text(&file)]).out, ran.out);

    let alone = home.path().join("alone");
    fs::create_dir(&alone).unwrap();
    fs::write(alone.join("dmesg.txt"), log).unwrap();
    let found = run(home.path(), &["inspect", "--json", "--from", text(&alone)]).json();
    assert_eq!(found["findings"][0]["id"], "SW-LOG-001", "{found:#}");
    assert!(found["device"].is_null());
}

#[test]
fn a_logical_volume_is_shown_with_its_name_beside_its_role() {
    let home = home();
    let file = home.path().join("machine.txt");
    let dm = "/sys/devices/virtual/block/dm-0";
    let lines = [
        "seekwell/snapshot/1".to_owned(),
        "/sys/block/dm-0 -> ../devices/virtual/block/dm-0".to_owned(),
        format!("{dm}/dev: 253:0"),
        format!("{dm}/size: 2048"),
        format!("{dm}/dm/uuid: LVM-abcdef"),
        format!("{dm}/dm/name: vg-lv0"),
    ];
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    let shown = run(home.path(), &["inspect", "--from", text(&file)]);
    assert!(shown.out.contains("lvm, vg-lv0"), "{}{}", shown.out, shown.err);
    // Of one whose maker is not known the name is all there is, once.
    fs::write(&file, lines.join("\n").replace("LVM-abcdef", "x") + "\n").unwrap();
    let shown = run(home.path(), &["inspect", "--from", text(&file)]);
    assert_eq!(shown.out.matches("device mapper, vg-lv0").count(), 1, "{}", shown.out);
    assert!(!shown.out.contains("vg-lv0, vg-lv0"), "{}", shown.out);
}

#[test]
fn watching_ends_when_nobody_reads_it() {
    let home = home();
    let mut child = watching(home.path());
    let mut out = BufReader::new(child.0.stdout.take().unwrap());
    let mut line = String::new();
    if out.read_line(&mut line).unwrap() == 0 {
        return skip("nothing can be watched here");
    }
    drop(out);
    let mut ended = None;
    wait_for("the end", || {
        ended = child.0.try_wait().unwrap();
        ended.is_some()
    });
    assert_eq!(ended.and_then(|s| s.code()), Some(0));
}

/// A machine with one NVMe drive, in which `media_errors` were counted.
fn drive_with(media_errors: u8) -> String {
    const AT: &str = "/sys/devices/pci0000:00/0000:00:01.0/nvme/nvme0";
    let page = |bytes: usize, fields: &[(usize, &[u8])]| {
        let mut page = vec![0; bytes];
        fields.iter().for_each(|(at, field)| page[*at..at + field.len()].copy_from_slice(field));
        page.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    // Spare capacity below its threshold, 41 °C, 5 % left of 10, worn by 83 %; a gigabyte written.
    let health: [(usize, &[u8]); 4] = [
        (0, &[1, 58, 1, 5, 10, 83]),
        (48, &2000_u32.to_le_bytes()),
        (160, &[media_errors]),
        (128, &[7]),
    ];
    let namespace: [(usize, &[u8]); 2] = [(25, &[1]), (128, &[0, 0, 9, 2, 0, 0, 12, 0])];
    format!(
        "seekwell/snapshot/1
/sys/block/nvme0n1 -> ../devices/pci0000:00/0000:00:01.0/nvme/nvme0/nvme0n1
{AT}/nvme0n1/dev: 259:0
{AT}/nvme0n1/size: 2000000
{AT}/nvme0n1/nsid: 1
{AT}/nvme0n1/device -> ../../nvme0
{AT}/state: live
{AT}/serial: S123456789
{AT}/model: DRIVE
{AT}/firmware_rev: 1
/dev/nvme0/page/identify-01-0: hex:{}
/dev/nvme0/page/log-02-512: hex:{}
/dev/nvme0/page/identify-00-1: hex:{}
",
        page(4096, &[(77, &[5])]),
        page(512, &health),
        page(4096, &namespace),
    )
}

#[test]
fn pages_of_a_drive_in_a_snapshot_are_shown_judged_and_exported() {
    let home = home();
    let (before, now) = (home.path().join("before.txt"), home.path().join("now.txt"));
    fs::write(&before, drive_with(1)).unwrap();
    fs::write(&now, drive_with(4)).unwrap();
    let from = ["inspect", "--from", text(&now)];
    let shown = run(home.path(), &from).ends(0).out;
    for words in
        ["Health of nvme0n1", "wear", "83 %", "1.02 GB", "41 °C", "media errors", "128 KiB"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let long: Vec<&str> = shown.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(long.is_empty(), "{long:?}");

    let json = run(home.path(), &[&from[..], &["--json"]].concat()).json();
    let health = &json["device"]["detail"]["health"];
    assert_eq!(health["warnings"]["value"], serde_json::json!(["spare-low"]));
    assert_eq!(health["values"]["written"]["value"], 1_024_000_000);
    assert_eq!(health["values"]["spare"]["from"], "/dev/nvme0/page/log-02-512");
    let found = |json: &Value| -> Vec<(String, String)> {
        let all = json["findings"].as_array().unwrap().iter();
        let text = |f: &Value, key: &str| f[key].as_str().unwrap().to_owned();
        all.map(|f| (text(f, "id"), text(f, "severity"))).collect()
    };
    let pair = |id: &str, severity: &str| (id.to_owned(), severity.to_owned());
    let alone = found(&json);
    for (id, severity) in [
        ("SW-HEALTH-001", "warning"),
        ("SW-HEALTH-002", "error"),
        ("SW-HEALTH-004", "info"),
        ("SW-HEALTH-005", "warning"),
    ] {
        assert!(alone.contains(&pair(id, severity)), "{id}: {alone:?}");
    }
    let since = [&from[..], &["--since", text(&before), "--json"]].concat();
    let grown = found(&run(home.path(), &since).json());
    assert!(grown.contains(&pair("SW-HEALTH-001", "error")), "{grown:?}");

    let metrics = run(home.path(), &[&from[..], &["--format", "openmetrics"]].concat()).out;
    for (name, labels, value) in [
        ("seekwell_disk_wear_ratio", "", "0.83"),
        ("seekwell_disk_written_bytes_total", "", "1024000000"),
        ("seekwell_disk_errors_total", "source=\"drive\",kind=\"media\"", "4"),
    ] {
        let is = |line: &&str| {
            line.starts_with(name) && line.contains(labels) && line.ends_with(&format!(" {value}"))
        };
        assert!(metrics.lines().any(|line| is(&line)), "{name}: {metrics}");
    }
    // Masking takes the serial number away and leaves the pages readable.
    let masked = home.path().join("masked.txt");
    let save = [&from[..], &["--mask", "--save", text(&masked), "--json"]].concat();
    assert_eq!(found(&run(home.path(), &save).json()), alone);
    assert!(!fs::read_to_string(&masked).unwrap().contains("S123456789"));
}
