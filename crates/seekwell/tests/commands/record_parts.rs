//! Recording less than a disk and more than one: partitions, stacks, threads that come and go, and
//! what is left when tracefs cannot be written.

use crate::common::{self, Loop, Mounted, Ran, done, is_root, seekwell, skip, tool, wait_for};
use seekwell_io::request::Op;
use seekwell_trace::formats;
use seekwell_trace::record::Record;
use seekwell_trace::source::{Tables, TraceSource};
use seekwell_trace::store;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Records a device while a command runs; `None` if recording is impossible.
fn record(home: &Path, device: &str, switches: &[&str], command: &[&str]) -> Option<Ran> {
    let mut program = seekwell(home);
    program.args(["record", device, "--json", "-o"]).arg(trace(home)).args(switches);
    let ran = done(program.arg("--").args(command).output().unwrap());
    if ran.status == 3 {
        skip(&format!("no recording here: {}", ran.err));
        return None;
    }
    assert_eq!(ran.status, 0, "{}", ran.err);
    Some(ran)
}

fn trace(home: &Path) -> PathBuf {
    home.join("t.parquet")
}

fn read(path: &Path) -> (Vec<Record>, Tables) {
    let mut source = formats::open_file(path, &formats::Reading::default()).unwrap();
    let (mut records, mut before) = (Vec::new(), usize::MAX);
    while records.len() != before {
        before = records.len();
        source.read(&mut records).unwrap();
    }
    (records, source.tables().clone())
}

/// Operation, first byte and bytes of the requests that a process made, sorted.
fn by(process: &str, records: &[Record], tables: &Tables) -> Vec<(Op, u64, u32)> {
    let its = |r: &&Record| tables.processes[r.process as usize] == process;
    let mut places: Vec<_> = records.iter().filter(its).map(|r| (r.op, r.offset, r.len)).collect();
    places.sort_unstable_by_key(|place| (place.0 as u8, place.1));
    places
}

fn write(device: &str, block: &str, seek: u32, count: u32) -> String {
    format!(
        "dd if=/dev/zero of={device} bs={block} seek={seek} count={count} oflag=direct \
         conv=notrunc status=none"
    )
}

const SECTOR: u64 = 512;
/// First sector and sectors of each.
const PARTS: [(u32, u32); 2] = [(2048, 16_384), (20_480, 32_768)];

/// A loop device with two partitions.
struct Parted {
    device: String,
    _dir: tempfile::TempDir,
}

impl Parted {
    fn new() -> Option<Self> {
        if !is_root() {
            skip("loop devices need root");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("disk.img");
        let mut file = fs::File::create(&path).unwrap();
        file.set_len(64 << 20).unwrap();
        // A table as of old: entries of 16 bytes, type 83 hexadecimal, then start and length.
        file.seek(SeekFrom::Start(446)).unwrap();
        for (start, sectors) in PARTS {
            let mut entry = [0; 16];
            entry[4] = 0x83;
            entry[8..12].copy_from_slice(&start.to_le_bytes());
            entry[12..].copy_from_slice(&sectors.to_le_bytes());
            file.write_all(&entry).unwrap();
        }
        file.seek(SeekFrom::Start(510)).unwrap();
        file.write_all(&[0x55, 0xaa]).unwrap();
        let device = tool("losetup", &["--partscan", "--find", "--show", path.to_str().unwrap()]);
        let device = device.map(|text| text.trim().to_owned());
        let Some(device) = device else {
            skip("loop devices cannot be set up here");
            return None;
        };
        let parted = Self { device, _dir: dir };
        // Not every kernel reads such tables by itself.
        if !Path::new(&parted.part(2)).exists() {
            tool("partx", &["--add", &parted.device]);
        }
        if !Path::new(&parted.part(2)).exists() {
            skip("no partitions of loop devices here");
            return None;
        }
        Some(parted)
    }

    fn part(&self, number: u32) -> String {
        format!("{}p{number}", self.device)
    }
}

impl Drop for Parted {
    fn drop(&mut self) {
        tool("partx", &["--delete", &self.device]);
        tool("losetup", &["--detach", &self.device]);
    }
}

#[test]
fn a_partitions_trace_holds_its_own_requests_counted_from_its_start() {
    let Some(disk) = Parted::new() else { return };
    let home = tempfile::tempdir().unwrap();
    let (start, sectors) = PARTS[1];
    let load = [
        write(&disk.part(1), "8k", 3, 20),
        write(&disk.part(2), "4k", 5, 30),
        // The same partition by the disk's own name, and what lies beside it.
        write(&disk.device, "512", start + 1000, 1),
        write(&disk.device, "512", start - 1, 1),
        write(&disk.device, "512", start + sectors, 1),
    ];
    for via in ["tracefs", "bpf"] {
        let command = ["sh", "-c", &load.join(" && ")];
        let ran = record(home.path(), &disk.part(2), &["--via", via], &command);
        let Some(ran) = ran else { return };
        let (records, tables) = read(&trace(home.path()));
        let mut expected: Vec<_> = (5..35).map(|i| (Op::Write, i * 4096, 4096)).collect();
        expected.push((Op::Write, 1000 * SECTOR, 512));
        expected.sort_unstable_by_key(|place| place.1);
        assert_eq!(by("dd", &records, &tables), expected, "{via}");
        let name = disk.part(2);
        assert_eq!(tables.devices.len(), 1);
        assert_eq!(tables.devices[0].name, name.trim_start_matches("/dev/"));
        assert_eq!(tables.devices[0].size_bytes, Some(u64::from(sectors) * SECTOR));
        let length = tables.devices[0].size_bytes.unwrap();
        assert!(records.iter().all(|r| r.end() <= length), "{via}");
        assert_eq!(ran.json()["lost_events"], 0, "{via}");
        fs::remove_file(trace(home.path())).unwrap();
    }
}

#[test]
fn top_takes_a_partition_of_a_disk_and_not_two() {
    let Some(disk) = Parted::new() else { return };
    let home = tempfile::tempdir().unwrap();
    let top = |devices: &[&str]| {
        let mut program = seekwell(home.path());
        done(program.args(["top", "--json", "--for", "1ms"]).args(devices).output().unwrap())
    };
    let [one, two] = [disk.part(1), disk.part(2)];
    let refused = top(&[&one, &two]).ends(2);
    assert!(refused.err.contains("are parts of one disk"), "{}", refused.err);
    let ran = top(&[&two, &two]);
    if ran.status == 3 {
        return skip(&format!("no recording here: {}", ran.err));
    }
    let name = two.trim_start_matches("/dev/");
    assert_eq!(ran.ends(0).json()["devices"][0]["device"], name);
}

/// A loop device that is detached whatever comes.
struct Attached(String);

impl Drop for Attached {
    fn drop(&mut self) {
        tool("losetup", &["--detach", &self.0]);
    }
}

#[test]
fn a_stack_is_recorded_with_every_disk_it_stands_on() {
    let Some(lower) = Mounted::ext4(128 << 20, "defaults") else { return };
    let file = lower.point.join("inner.img");
    // Written whole: an unwritten extent would be changed by the first write to it.
    fs::write(&file, vec![1; 32 << 20]).unwrap();
    tool("sync", &["-f", lower.point.to_str().unwrap()]).unwrap();
    let path = file.to_str().unwrap();
    let Some(upper) = tool("losetup", &["--find", "--show", path]) else {
        return skip("a second loop device cannot be set up here");
    };
    let attached = Attached(upper.trim().to_owned());
    let upper = &attached.0;
    let home = tempfile::tempdir().unwrap();
    let load = format!("{} && sync {upper}", write(upper, "16k", 4, 40));
    let ran = record(home.path(), upper, &["--stack"], &["sh", "-c", &load]);
    let Some((records, tables)) = ran.map(|_| read(&trace(home.path()))) else { return };
    let names: Vec<&str> = tables.devices.iter().map(|d| d.name.as_str()).collect();
    let short = |device: &str| device.trim_start_matches("/dev/").to_owned();
    // Further down comes what the files of this test lie on, if that is a disk.
    assert_eq!(names[..2], [short(upper), short(&lower.disk.device)]);
    let written = |device: u32| -> u64 {
        let its = records.iter().filter(|r| r.device == device && r.op == Op::Write);
        its.map(|r| u64::from(r.len)).sum()
    };
    assert_eq!(written(0), 40 * 16_384);
    assert!(written(1) >= 40 * 16_384, "{}", written(1));
    // What the upper one waited for happened below while it waited.
    let first = records.iter().find(|r| r.device == 0 && r.op == Op::Write).unwrap();
    let below = records.iter().filter(|r| r.device == 1 && r.op == Op::Write);
    assert!(below.into_iter().any(|r| r.queued > first.queued));
}

/// Ends and awaits a recording in the background.
fn end(child: Child) -> Ran {
    common::signal(&child, "INT");
    done(child.wait_with_output().unwrap())
}

#[test]
fn threads_that_come_and_go_belong_to_the_process_that_was_named() {
    let Some(disk) = Loop::new(64 << 20) else { return };
    let home = tempfile::tempdir().unwrap();
    if record(home.path(), &disk.device, &[], &["true"]).is_none() {
        return;
    }
    fs::remove_file(trace(home.path())).unwrap();
    for via in ["tracefs", "bpf"] {
        let mut program = seekwell(home.path());
        program.args(["record", &disk.device, "--json", "--via", via, "-o"]);
        program.arg(trace(home.path())).args(["--pid", &std::process::id().to_string()]);
        let child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let begun = || store::part_of(&trace(home.path())).is_some();
        wait_for("the recording", begun);
        // Each lives for one request, and is the child of one that lives as shortly.
        for i in 0..100u64 {
            let device = disk.device.clone();
            let one = move || read_block(&device, 2 * i);
            let device = disk.device.clone();
            let two = move || {
                std::thread::spawn(one).join().unwrap();
                read_block(&device, 2 * i + 1);
            };
            std::thread::spawn(two).join().unwrap();
        }
        let other = write(&disk.device, "4k", 1000, 20);
        assert!(Command::new("sh").args(["-c", &other]).status().unwrap().success());
        let ran = end(child);
        assert_eq!(ran.status, 0, "{via}: {}", ran.err);
        let (records, _) = read(&trace(home.path()));
        let mut places: Vec<u64> = records.iter().map(|r| r.offset / 4096).collect();
        places.sort_unstable();
        assert_eq!(places, (0..200).collect::<Vec<u64>>(), "{via}");
        assert_eq!(ran.json()["unfinished"], 0, "{via}");
        fs::remove_file(trace(home.path())).unwrap();
    }
}

fn read_block(device: &str, block: u64) {
    use std::os::unix::fs::{FileExt, OpenOptionsExt};
    let direct = rustix::fs::OFlags::DIRECT.bits().cast_signed();
    let file = fs::OpenOptions::new().read(true).custom_flags(direct).open(device).unwrap();
    let mut memory = vec![0; 8192];
    let start = memory.as_ptr().align_offset(4096);
    file.read_exact_at(&mut memory[start..start + 4096], block * 4096).unwrap();
}

#[test]
fn where_tracefs_cannot_be_written_programs_record_the_same() {
    let Some(disk) = Loop::new(64 << 20) else { return };
    let home = tempfile::tempdir().unwrap();
    if record(home.path(), &disk.device, &["--via", "bpf"], &["true"]).is_none() {
        return;
    }
    fs::remove_file(trace(home.path())).unwrap();
    // Seen by this one command alone: tracefs as it is, but read-only.
    let place = "/sys/kernel/tracing";
    if !Path::new(place).join("instances").is_dir() {
        return skip("tracefs is not mounted at /sys/kernel/tracing");
    }
    let script = format!(
        "mountpoint -q {place} || mount -t tracefs nodev {place}; \
         mount --bind {place} {place} && mount -o remount,bind,ro {place} || exit 99; \
         exec \"$@\""
    );
    let program = seekwell(home.path());
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script, "sh"]).arg(program.get_program());
    command.args(["record", &disk.device, "--json", "-o"]).arg(trace(home.path()));
    command.args(["--", "sh", "-c", &write(&disk.device, "4k", 7, 25)]);
    let ran = done(command.output().unwrap());
    if ran.status == 99 {
        return skip(&format!("no mounts of one's own here: {}", ran.err));
    }
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert_eq!(ran.json()["via"], "bpf");
    let (records, tables) = read(&trace(home.path()));
    let expected: Vec<_> = (7..32).map(|i| (Op::Write, i * 4096, 4096)).collect();
    assert_eq!(by("dd", &records, &tables), expected);
}
