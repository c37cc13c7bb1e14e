//! What bonnie++'s tests ask of a disk.

use super::STEPS;
use crate::load::{Counts, Drawn, ENOUGH, Load, Pace, Played, Shape};
use crate::settings::Settings;
use seekwell_io::units::Nanos;

/// Files of each recorded phase.
const FILES: f64 = 96.0 * 1024.0;

/// The large file, and who seeks in it.
#[derive(Debug, Clone, Copy)]
pub struct File {
    pub size: u64,
    pub chunk: u32,
    pub seekers: u32,
}

/// What a step asks of a disk with the values that are set.
pub fn of(step: &str, settings: &Settings) -> Load {
    let file = File {
        size: settings.number("size"),
        chunk: settings.number("chunk") as u32,
        seekers: settings.number("seekers") as u32,
    };
    let load = load(step, file).only_with(settings, &[("sync", "end"), ("concurrency", "1")]);
    if STEPS[..super::FILES_FROM].contains(&step) {
        load.only_with(settings, &[("cache", "drop")])
    } else {
        load.only_with(settings, &[("kind", "files"), ("max_size", "0"), ("directories", "1")])
    }
}

/// What a step asks of a disk; the small files are those that were recorded.
pub fn load(step: &str, file: File) -> Load {
    let host = |work| Load::Host { work, things: 1.0 };
    let drawn = |shape, seconds: u64, counts| {
        let runs = Nanos::from_millis(seconds * 1_000);
        Load::Drawn(Drawn { requests: ENOUGH, ..Drawn::new(shape, file.size, runs, counts) })
    };
    let stream = |shape, each| drawn(shape, 20, Counts::Bytes(each));
    // `recorded_s` is what the recording's processor took for all files.
    let files = |trace, work, recorded_s: f64| {
        let thinks = Some((work, recorded_s * 1e9 / FILES));
        let played = Played::whole(trace, Pace::Dependent, Counts::InAll(FILES));
        Load::Played(Played { thinks, ..played })
    };
    match step {
        "putc" => host("put_character"),
        "put_block" => stream(Shape::Writes, 1.0),
        // What is read and written back again counts once.
        "rewrite" => stream(Shape::Rewrite, 0.5),
        "getc" => host("get_character"),
        "get_block" => stream(Shape::Reads { streams: 1 }, 1.0),
        // Every tenth block is changed.
        "seeks" => {
            let (bytes, depth) = (file.chunk, file.seekers);
            let shape = Shape::Random { read_percent: 91, bytes, depth };
            drawn(shape, 60, Counts::Requests(0.91))
        }
        "seq_create" => files("bonnie-create-seq", "create", 1.43),
        "seq_stat" => host("stat"),
        "seq_del" => files("bonnie-delete-seq", "delete", 1.42),
        "ran_create" => files("bonnie-create-random", "create", 1.45),
        "ran_stat" => host("random_stat"),
        "ran_del" => files("bonnie-delete-random", "delete", 1.45),
        _ => unreachable!("{step} is not a test of bonnie++"),
    }
}
