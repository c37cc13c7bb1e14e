use super::*;
use crate::hdd::{ReadAhead, Sparing};
use crate::part::{Command, Part};
use proptest::prelude::*;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::collections::BTreeMap;
use std::io;

struct Memory(BTreeMap<&'static str, String>);

impl Memory {
    fn new(files: &[(&'static str, &str)]) -> Self {
        Self(files.iter().map(|(name, text)| (*name, (*text).to_owned())).collect())
    }

    fn open(&self, name: &str) -> io::Result<String> {
        self.0.get(name).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn read(&self, name: &str) -> Result<Document, DisksimError> {
        read(name, &mut |file| self.open(file))
    }
}

const MODEL: &str = "dm_disk SMALL_model {
  Number of data surfaces = 2, Number of cylinders = 100, Block count = 19996,
  Layout Model = dm_layout_g1 {
    LBN-to-PBN mapping scheme = 0, Sparing scheme used = 8, Rangesize for sparing = 50,
    Zones = [ dm_layout_g1_zone {
      First cylinder number = 0, Last cylinder number = 99, Blocks per track = 100,
      Offset of first block = 0.0, Empty space at zone front = 0,
      Skew for track switch = 20.0, Skew for cylinder switch = 30.0,
      Number of spares = 2, slips = [ 7 ], defects = [ 3, 9 ] } ] },
  Mechanical Model = dm_mech_g1 {
    Access time type = trackSwitchPlusRotation, Seek type = extracted,
    Full seek curve = small.seek, Add. write settling delay = -0.1,
    Head switch time = 0.5, Rotation speed (in rpms) = 6000, Percent error in rpms = 0.0 } }";

const DISK: &str = "disksim_disk SMALL {
  Model = source deep/small.model,
  Scheduler = disksim_ioqueue { Scheduling policy = 1 },
  Max queue length = 1, Bulk sector transfer time = 0.1, Segment size (in blks) = 64,
  Number of buffer segments = 4, Maximum number of write segments = 1,
  Buffer continuous read = 3, Minimum read-ahead (blks) = 0, Maximum read-ahead (blks) = 60,
  Enable caching in buffer = 1, Fast write level = 2,
  Read hit over. after read = 0.25,   # a comment, with = and {
  Extra knob = 3 }";

const MACHINE: &str = "disksim_bus BUS0 { type = 1, Read block transfer time = 0.0 }
disksim_bus BUS1 { type = 1, Read block transfer time = 0.2, Write block transfer time = 0.05 }
disksim_ctlr CTLR0 { type = 1, Bulk sector transfer time = 0.15 }
source small.diskspecs
instantiate [ disk0 .. disk2, spare ] as SMALL
instantiate [ bus0 ] as BUS0
instantiate [ bus1 ] as BUS1
instantiate [ ctlr0 ] as CTLR0
topology disksim_iodriver driver0 [ disksim_bus bus0 [ disksim_ctlr ctlr0 [
  disksim_bus bus1 [ disksim_disk disk0 [], disksim_disk disk1 [] ] ] ] ]";

fn small() -> Memory {
    Memory::new(&[
        ("small.parv", MACHINE),
        ("small.diskspecs", DISK),
        ("small.model", MODEL),
        ("small.seek", "Seek distances measured: 2\n1,\t1.5\n99, 10.0\n"),
    ])
}

#[test]
fn a_machine_is_read_through_all_the_files_it_names() {
    let document = small().read("small.parv").expect("well-formed");
    let disks: Vec<&str> = document.components("disksim_disk").collect();
    assert_eq!(disks, ["disk0", "disk1", "disk2", "spare"]);
    let path = document.topology.as_ref().and_then(|root| root.path("disk1")).expect("is there");
    let names: Vec<&str> = path.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["driver0", "bus0", "ctlr0", "bus1", "disk1"]);
    let block = document.block_of("bus1").expect("is there");
    let time = block.get("read block transfer TIME").expect("case does not matter");
    assert_eq!((&time.value, time.place.line), (&Value::Number(0.2), 2));
}

#[test]
fn a_disk_becomes_a_drive_and_what_is_not_modelled_is_said() {
    let memory = small();
    let document = memory.read("small.parv").expect("well-formed");
    let made = drive(&document, Some("disk1"), &mut |file| memory.open(file)).expect("legal");
    let params = &made.params;
    assert_eq!((params.rpm, params.surfaces, params.write_settle_ns), (6000.0, 2, -100_000));
    assert_eq!(params.layout.sparing, Sparing::PerRange(50));
    assert_eq!(params.cache.read_ahead, ReadAhead::Segment);
    assert_eq!(params.overhead.read_hit.read.0, 250_000);
    let interface = params.interface.expect("has one");
    // The slowest of disk, bus and controller.
    assert_eq!((interface.read_sector_ns, interface.write_sector_ns), (200_000, 150_000));
    let zone = "defects = 1 sectors kept elsewhere (zone at deep/small.model:5)";
    assert_eq!(made.not_modelled, [zone, "Extra knob = 3"]);
    let drive = crate::hdd::Hdd::new(made.params, 0).expect("legal");
    assert_eq!(crate::Part::capacity(&drive), (20_000 - 4) * 512);
}

/// Times in which a drive does requests of many kinds, up to three at once.
fn times(made: Drive) -> Vec<u64> {
    let mut drive = crate::hdd::Hdd::new(made.params, 3).expect("legal parameters");
    let (mut now, mut done, mut times) = (Nanos::ZERO, Vec::new(), Vec::new());
    let mut dice = 1u64;
    let mut roll = |sides: u64| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) % sides
    };
    let mut last = 0u64;
    for round in 0..1500u64 {
        for tag in 0..[1, 3, 1, 2][(round / 10 % 4) as usize] {
            let len = [1, 4, 8, 30, 90][roll(5) as usize];
            let near = last.min(19_000);
            let sector = match roll(6) {
                0 => roll(19_000),
                1 => near.saturating_sub(roll(20)),
                2 => near + roll(3),
                3 => near.saturating_sub(len),
                _ => near,
            };
            last = sector + len;
            let op = if roll(10) < 6 { Op::Read } else { Op::Write };
            let (offset, len) = (sector * 512, len as u32 * 512);
            drive.submit(Command { tag, op, offset, len, durable: false }, now);
        }
        while drive.next() < Nanos::MAX {
            now = drive.next().max(now);
            drive.advance(now, &mut done);
        }
        times.extend(done.drain(..).map(|done| done.at.0));
        now += Nanos(roll(4) * roll(3) * 3_700_000);
    }
    times
}

/// The drive of [`small()`] with keys set, which stand before those of the file.
fn with(keys: &[(&str, &str)]) -> Drive {
    let mut memory = small();
    let disk = memory.0.get_mut("small.diskspecs").expect("is there");
    let set: String = keys.iter().map(|(key, value)| format!("{key} = {value},\n")).collect();
    *disk = disk.replace("SMALL {", &format!("SMALL {{ {set}"));
    let document = memory.read("small.parv").expect("well-formed");
    drive(&document, Some("disk1"), &mut |file| memory.open(file)).expect("legal")
}

/// A parameter, its other value, and what is set besides.
type Flip = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const THROUGH: (&str, &str) = ("Fast write level", "0");
const PAUSE: (&str, &str) = ("Extra write disconnect", "1");

/// Each parameter of a disk that is read, with a value that must change a time, and what must be
/// set besides.
#[rustfmt::skip]
const FLIPPED: [Flip; 59] = [
    ("Per-request overhead time", "0.5", &[]),
    ("Time scale for overheads", "2", &[]),
    ("Bulk sector transfer time", "0.3", &[]),
    ("Allow almost read hits", "1", &[]),
    ("Allow sneaky full read hits", "1", &[]),
    ("Allow read hits on write data", "1", &[]),
    ("Preseeking level", "2", &[]),
    ("Max queue length", "3", &[("Scheduler", "disksim_ioqueue { Scheduling policy = 4 }")]),
    ("Scheduler", "disksim_ioqueue { Scheduling policy = 4 }", &[("Max queue length", "3")]),
    ("Number of buffer segments", "1", &[]),
    ("Maximum number of write segments", "3", &[]),
    ("Segment size (in blks)", "100", &[]),
    ("Use separate write segment", "1", &[("Allow read hits on write data", "1")]),
    ("High (read) water mark", "1", &[("Set watermark by reqsize", "1")]),
    ("High (read) water mark", "0.5", &[]),
    ("Set watermark by reqsize", "1", &[("High (read) water mark", "0.5")]),
    ("Low (write) water mark", "0.5", &[("Segment size (in blks)", "20"), THROUGH]),
    ("Hold bus entire write xfer", "1",
        &[("Segment size (in blks)", "20"), ("First reselect overhead", "9"), THROUGH]),
    ("Never disconnect", "1", &[("High (read) water mark", "1")]),
    ("Never disconnect", "1", &[("Read disconnect afterread", "0.9")]),
    ("Enable caching in buffer", "0", &[]),
    ("Buffer continuous read", "0", &[]),
    ("Buffer continuous read", "1", &[]),
    ("Buffer continuous read", "2", &[]),
    ("Buffer continuous read", "4", &[]),
    ("Minimum read-ahead (blks)", "20", &[]),
    ("Maximum read-ahead (blks)", "5", &[]),
    ("Read-ahead over requested", "1", &[("Maximum read-ahead (blks)", "0")]),
    ("Read-ahead on idle hit", "1", &[]),
    ("Read any free blocks", "1", &[]),
    ("Fast write level", "0", &[]),
    ("Immediate buffer write", "1", &[]),
    ("Combine seq writes", "1", &[]),
    ("Stop prefetch in sector", "1", &[]),
    ("Read directly to buffer", "1",
        &[("Segment size (in blks)", "20"), ("Bulk sector transfer time", "0.23")]),
    ("Immed transfer partial hit", "1",
        &[("High (read) water mark", "1"), ("Set watermark by reqsize", "1")]),
    ("Read hit over. after read", "0.9", &[]),
    ("Read hit over. after write", "0.9", &[("Use separate write segment", "1")]),
    ("Read miss over. after read", "0.9", &[]),
    ("Read miss over. after write", "0.9", &[]),
    ("Write hit over. after read", "0.9", &[]),
    ("Write hit over. after write", "0.9", &[]),
    ("Write miss over. after read", "0.9", &[THROUGH]),
    ("Write miss over. after write", "0.9", &[THROUGH]),
    ("Read completion overhead", "0.9", &[]),
    ("Write completion overhead", "0.9", &[]),
    ("Data preparation overhead", "0.9", &[]),
    ("First reselect overhead", "0.9", &[]),
    ("Read disconnect afterread", "9", &[]),
    ("Read disconnect afterwrite", "9", &[]),
    ("Write disconnect overhead", "9", &[THROUGH]),
    ("Extra write disconnect", "1", &[]),
    ("Extradisc command overhead", "0.9", &[PAUSE]),
    ("Extradisc seek delta", "9", &[PAUSE]),
    ("Extradisc disconnect overhead", "0.9", &[PAUSE]),
    ("Extradisc inter-disconnect delay", "0.9", &[PAUSE]),
    ("Extradisc 2nd disconnect overhead", "9", &[PAUSE, THROUGH]),
    ("Other reselect overhead", "0.9", &[PAUSE, THROUGH]),
    ("Minimum seek delay", "9", &[]),
];

#[test]
fn every_parameter_that_is_read_changes_a_time() {
    let unchanged = FLIPPED.iter().filter(|(key, value, besides)| {
        let flipped = [&[(*key, *value)], *besides].concat();
        times(with(besides)) == times(with(&flipped))
    });
    let unchanged: Vec<_> = unchanged.map(|(key, value, _)| (key, value)).collect();
    assert!(unchanged.is_empty(), "{unchanged:?}");
    // An interface slower than the medium hides in which order sectors are read, and never waits.
    let quick = |keys| {
        let mut made = with(keys);
        made.params.interface.as_mut().expect("has one").read_sector_ns = 20_000;
        times(made)
    };
    assert_ne!(quick(&[]), quick(&[("Immediate buffer read", "1")]));
    let mark = ("High (read) water mark", "0.5");
    assert_ne!(quick(&[mark]), quick(&[mark, ("Hold bus entire read xfer", "1")]));
}

/// Story: DiskSim takes no notice of the maximum when it reads to the end of a track, and of the
/// block count never.
#[test]
fn the_track_alone_bounds_reading_ahead_by_scheme_4_and_the_zones_the_capacity() {
    let scheme = ("Buffer continuous read", "4");
    let set = |most| times(with(&[scheme, ("Maximum read-ahead (blks)", most)]));
    assert_eq!(set("5"), set("60"));
    assert_eq!(with(&[]).params.layout.sectors, None);
    let all = ["Read directly to buffer", "Immed transfer partial hit", "Write hit stop prefetch"];
    let made = with(&all.map(|key| (key, "1")));
    assert!(!made.not_modelled.iter().any(|left| all.iter().any(|key| left.contains(key))));
}

fn error_of(files: &[(&'static str, &str)]) -> String {
    Memory::new(files).read("a").expect_err("ill-formed").to_string()
}

#[test]
fn errors_name_file_line_and_what_was_expected() {
    assert_eq!(error_of(&[("a", "X y {\n key }")]), "a:2: expected “=” after the key, found “}”");
    assert_eq!(error_of(&[("a", "X y {\n k = ,")]), "a:2: expected a value, found “,”");
    assert_eq!(
        error_of(&[("a", "instantiate [ d3 .. d1 ] as X")]),
        "a:1: expected a range like “disk0 .. disk8”, found d3 .. d1"
    );
    assert_eq!(
        error_of(&[("a", "\nsource b"), ("b", "X\n{")]),
        "b:2: expected the name of the block, found “{”"
    );
    assert_eq!(error_of(&[("a", "X y { k = source b }")]), "b: entity not found (named at a:1)");
    let memory = small();
    let document = memory.read("small.parv").expect("well-formed");
    let none = drive(&document, Some("disk9"), &mut |file| memory.open(file));
    assert_eq!(none.expect_err("no such").to_string(), "there is no disk9");
}

#[test]
fn what_would_never_end_is_refused() {
    assert_eq!(error_of(&[("a", "source b"), ("b", "source a")]), "b:1: a is being read already");
    let deep = format!("X y {{ k = {}", "[".repeat(100_000));
    assert_eq!(error_of(&[("a", &deep)]), "a:1: more than 32 levels of nesting");
    let wide = "instantiate [ d0 .. d99999999 ] as X";
    assert_eq!(error_of(&[("a", wide)]), "a:1: more than 65536 names in a range");
}

/// Reads and writes the last sector of a drive that may be a strange one.
fn serve_last_sector(params: crate::hdd::Params) {
    let Ok(mut drive) = crate::hdd::Hdd::new(params, 0) else { return };
    let offset = drive.capacity() - 512;
    for op in [Op::Read, Op::Write, Op::Read] {
        let command = Command { tag: 0, op, offset, len: 512, durable: true };
        let (now, mut done) = (drive.next(), Vec::new());
        drive.submit(command, if now == Nanos::MAX { Nanos::ZERO } else { now });
        while done.is_empty() {
            drive.advance(drive.next(), &mut done);
        }
    }
}

proptest! {
    /// Whatever is cut out of a file or put into it: an answer, never a panic.
    #[test]
    fn no_text_makes_it_panic(
        which in 0usize..4,
        from in 0usize..2000,
        length in 0usize..40,
        put in "[a-z0-9\\[\\]{}=,#. \n-]{0,12}",
    ) {
        let mut memory = small();
        let name = ["small.parv", "small.diskspecs", "small.model", "small.seek"][which];
        if let Some(text) = memory.0.get_mut(name) {
            let from = from % text.len();
            let to = (from + length).min(text.len());
            text.replace_range(from..to, &put);
        }
        if let Ok(document) = memory.read("small.parv") {
            let made = drive(&document, None, &mut |file| memory.open(file));
            if let Ok(made) = made {
                serve_last_sector(made.params);
            }
        }
    }
}
