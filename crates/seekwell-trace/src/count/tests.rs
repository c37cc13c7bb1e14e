//! Totals without a kernel, and programs on the one that runs.

use super::*;
use crate::capture::tests::skip;
use std::process::Command;

#[test]
fn what_came_since_an_earlier_look_is_right_where_numbers_have_wrapped() {
    let (mut then, mut now) = (Totals::default(), Totals::default());
    let bin = Histogram::bin_of(5_000);
    then.times[Op::Write as usize].bins[bin] = u32::MAX;
    then.times[Op::Write as usize].bytes = u64::MAX - 4095;
    now.times[Op::Write as usize].bins[bin] = 2;
    now.times[Op::Write as usize].bytes = 8192;
    now.times[Op::Write as usize].sum_ns = 15_000;
    now.failed = 1;
    let since = now.since(&then);
    let response = since.response(Op::Write);
    assert_eq!((response.count(), response.mean_ns()), (3, Some(5_000.0)));
    assert_eq!((since.bytes(Op::Write), since.failed()), (12_288, 1));
    let middle = Nanos(Histogram::middle_of(bin));
    assert_eq!((response.min(), response.max()), (Some(middle), Some(middle)));
    assert_eq!(since.response(Op::Read).count() + since.queue().count(), 0);
}

#[test]
fn a_part_of_a_disk_is_counted_in_sectors() {
    let place = Place { disk: (8, 1), part: Some((1 << 20, 4096)) };
    assert_eq!((place.number(), place.sectors()), (8 << 20 | 1, (2048, 8)));
    assert_eq!(Place { part: None, ..place }.sectors(), (0, u64::MAX));
}

#[test]
fn this_kernel_takes_the_programs_and_there_is_room_for_disks_that_come() {
    let nothing = |minor| Place { disk: (4095, minor), part: None };
    let mut counting = match Counting::start(&[nothing(0)]) {
        Ok(counting) => counting,
        Err(why) => return skip(&why.to_string()),
    };
    let added = (1..).map_while(|minor| counting.add(nothing(minor)).unwrap()).count();
    assert_eq!((added, counting.slots().count()), (SPARE, SPARE + 1));
    assert!(counting.counts((4095, 3)) && !counting.counts((4095, 99)));
    for slot in counting.slots() {
        assert_eq!(counting.totals(slot).device().count(), 0);
    }
    assert!(counting.outstanding().is_empty() && counting.take_usage().unwrap().is_empty());
}

/// A loop device of 1 MiB.
struct Loop {
    device: String,
    _file: tempfile::NamedTempFile,
}

impl Loop {
    fn new() -> Result<Self, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 20).unwrap();
        let mut losetup = Command::new("losetup");
        let made = losetup.args(["--find", "--show"]).arg(file.path()).output();
        let made = made.map_err(|why| format!("losetup: {why}"))?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).trim().to_owned());
        }
        let device = String::from_utf8(made.stdout).unwrap().trim().to_owned();
        Ok(Self { device, _file: file })
    }

    fn attribute(&self, attribute: &str) -> String {
        let name = self.device.trim_start_matches("/dev/");
        std::fs::read_to_string(format!("/sys/block/{name}/{attribute}")).unwrap()
    }

    fn place(&self) -> Place {
        let dev = self.attribute("dev");
        let (major, minor) = dev.trim().split_once(':').unwrap();
        Place { disk: (major.parse().unwrap(), minor.parse().unwrap()), part: None }
    }

    /// Reads completed, as the kernel counts them. Other programs may read a new device too.
    fn reads(&self) -> u64 {
        self.attribute("stat").split_whitespace().next().unwrap().parse().unwrap()
    }

    /// Reads this many blocks of 4 KiB in order, past the page cache.
    fn read(&self, blocks: u32) {
        let mut dd = Command::new("dd");
        dd.args([format!("if={}", self.device), format!("count={blocks}")]);
        dd.args(["of=/dev/null", "bs=4k", "iflag=direct", "status=none"]);
        assert!(dd.status().unwrap().success());
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.device]).status();
    }
}

#[test]
fn completions_that_no_program_saw_are_missed_when_the_bio_comes_back_or_is_forgotten() {
    let disk = match Loop::new() {
        Ok(disk) => disk,
        Err(why) => return skip(&why),
    };
    let mut counting = match Counting::start(&[disk.place()]) {
        Ok(counting) => counting,
        Err(why) => return skip(&why.to_string()),
    };
    let (slot, before) = (Slot(0), disk.reads());
    let known = |counting: &Counting| {
        let seen = counting.totals(slot).response(Op::Read).count();
        (seen, counting.missed(), counting.outstanding().len() as u64)
    };
    disk.read(50);
    let (seen, missed, waiting) = known(&counting);
    assert_eq!(seen + missed + waiting, disk.reads() - before);
    // Detaches the program that sees completions. A child that another test starts may have a copy
    // of its descriptor until it calls exec(2).
    counting.attached.remove(1);
    let detached = |_| {
        let before = known(&counting).0;
        disk.read(1);
        known(&counting).0 == before
    };
    assert!((0..1000).any(detached), "reads are still counted");
    let seen = known(&counting).0;
    disk.read(250);
    let (also_seen, later, waiting) = known(&counting);
    let unseen = disk.reads() - before - seen;
    assert_eq!((also_seen, later + waiting), (seen, unseen));
    assert!(later > missed && waiting > 0, "{later} and {waiting}");
    for request in counting.outstanding() {
        assert!(request.issued, "{request:?}");
        counting.forget(&request);
    }
    assert_eq!(known(&counting), (seen, unseen, 0));
}
