//! bonnie++'s tests: twelve figures, each with its CPU share and its longest call.
//!
//! Six are of one large file: written byte by byte, written in blocks, read and rewritten, read
//! byte by byte, read in blocks, and read at random places by several processes at once (here
//! threads), one block in ten being changed. Six are of many small files: made, looked at and
//! removed in the order of their names, then made and removed in random order. A byte by itself is
//! one system call, and output counts until the sync that ends it: both as bonnie++ 2.00 has it.
//!
//! What bonnie++ wants a file of twice the memory for, `cache=drop` has with any size: what the
//! page cache holds of the file is written and dropped before every step that reads it. A step that
//! is over too soon for a figure is done again.

mod blocks;
pub mod csv;
mod tree;

use crate::error::SuiteError;
use crate::frame::{Run, Stage, Step, StepResult};
use crate::suite::{Needs, On, Settings, Suite, Tunable, Values, told_direct};
use blocks::Blocks;
use seekwell_io::units::Nanos;
use std::cell::RefCell;
use std::rc::Rc;
use tree::{Order, Trees};

/// No figure from less; a little more than the 0.5 s that are needed.
const LEAST: Nanos = Nanos::from_millis(600);
/// bonnie++ counts files in units of this.
const FILES_UNIT: u64 = 1024;

/// The suite.
pub static SUITE: Suite = Suite {
    name: "fs",
    title: "file system tests, as bonnie++ does them",
    does: "Twelve figures: output, rewrite and input of a large file by character and by block, \
           random seeks by several threads, and making, looking at and removing many files in \
           sequential and random order.",
    takes: ["20 s", "2 to 20 min"],
    writes: "a file of 4 GiB and 131072 empty files for each copy",
    source: "bonnie++ 2.00a",
    on: On::Directory,
    tunables: &[
        Tunable {
            name: "size",
            what: "size of the large file (-s)",
            values: Values::Bytes(1 << 20, 1 << 50),
            default: ["256m", "4g"],
        },
        Tunable {
            name: "chunk",
            what: "size of a block, a power of two (-s SIZE:CHUNK)",
            values: Values::Bytes(256, 1 << 20),
            default: ["8k", "8k"],
        },
        Tunable {
            name: "char_size",
            what: "how much of it is done by character (-f)",
            values: Values::Bytes(1 << 13, 1 << 40),
            default: ["4m", "20m"],
        },
        Tunable {
            name: "seeks",
            what: "random seeks, at the least",
            values: Values::Count(1, 1 << 32),
            default: ["8192", "8192"],
        },
        Tunable {
            name: "seekers",
            what: "threads that seek",
            values: Values::Count(1, 1024),
            default: ["5", "5"],
        },
        Tunable {
            name: "files",
            what: "number of small files, in units of 1024 (-n)",
            values: Values::Count(1, 100_000),
            default: ["16", "128"],
        },
        Tunable {
            name: "max_size",
            what: "size of the largest small file",
            values: Values::Bytes(0, 1 << 30),
            default: ["0", "0"],
        },
        Tunable {
            name: "min_size",
            what: "size of the smallest small file",
            values: Values::Bytes(0, 1 << 30),
            default: ["0", "0"],
        },
        Tunable {
            name: "directories",
            what: "directories the small files lie in",
            values: Values::Count(1, 99_999),
            default: ["1", "1"],
        },
        Tunable {
            name: "file_chunk",
            what: "size of a block of a small file",
            values: Values::Bytes(256, 1 << 20),
            default: ["8k", "8k"],
        },
        Tunable {
            name: "kind",
            what: "what the small files are: files, or links to one (-n N:-1 and -n N:-2)",
            values: Values::OneOf(&["files", "hard-links", "symlinks"]),
            default: ["files", "files"],
        },
        Tunable {
            name: "sync",
            what: "when output is synced: at the end of a test, or after each write, creation and \
                   removal (-b)",
            values: Values::OneOf(&["end", "each"]),
            default: ["end", "end"],
        },
        Tunable {
            name: "concurrency",
            what: "copies of every test at once (-c)",
            values: Values::Count(1, 1024),
            default: ["1", "1"],
        },
        Tunable {
            name: "cache",
            what: "the page cache: dropped before steps that read, kept, or passed by (-D)",
            values: Values::OneOf(&["drop", "keep", "direct"]),
            default: ["drop", "drop"],
        },
    ],
    check,
    needs,
    direct: told_direct,
    steps,
};

fn check(settings: &Settings) -> Result<(), SuiteError> {
    let bad = |name: &str, needed: &str| {
        let (name, value) = (name.to_owned(), settings.word(name).to_owned());
        Err(SuiteError::BadValue { name, value, needed: needed.into() })
    };
    let of = |name| settings.number(name);
    if !of("chunk").is_power_of_two() {
        return bad("chunk", "a power of two");
    }
    if of("size") % of("chunk") != 0 || of("char_size") % of("chunk") != 0 {
        return bad("chunk", "size and char_size are multiples of it");
    }
    if of("char_size") > of("size") {
        return bad("char_size", "no more than size");
    }
    if settings.word("cache") == "direct" && of("chunk") < 512 {
        return bad("chunk", "512 B or more with cache=direct");
    }
    if settings.word("kind") != "files" && of("max_size") > 0 {
        return bad("kind", "links have no size: max_size=0");
    }
    if of("min_size") > of("max_size") {
        return bad("min_size", "no more than max_size");
    }
    if of("directories") > of("files") * FILES_UNIT {
        return bad("directories", "no more than there are files");
    }
    Ok(())
}

fn needs(settings: &Settings) -> Needs {
    let of = |name| settings.number(name);
    let files = of("files") * FILES_UNIT;
    // The large file is there while the small ones are.
    let small = files.saturating_mul(of("max_size").next_multiple_of(4096));
    let copies = of("concurrency");
    Needs {
        bytes: copies.saturating_mul(of("size").saturating_add(small)),
        files: copies.saturating_mul(files + of("directories") + 2),
    }
}

fn steps(settings: &Settings) -> Vec<Step> {
    let blocks = Blocks::new(settings);
    let mut all = vec![
        step("putc", "sequential output, per character", "rate_bytes_per_s", move |stage| {
            blocks.put_chars(stage)
        }),
        step("put_block", "sequential output, block", "rate_bytes_per_s", move |stage| {
            blocks.put_blocks(stage)
        }),
        step("rewrite", "rewrite", "rate_bytes_per_s", move |stage| blocks.rewrite(stage)),
        step("getc", "sequential input, per character", "rate_bytes_per_s", move |stage| {
            blocks.get_chars(stage)
        }),
        step("get_block", "sequential input, block", "rate_bytes_per_s", move |stage| {
            blocks.get_blocks(stage)
        }),
        step("seeks", "random seeks", "seeks_per_s", move |stage| blocks.seek(stage)),
    ];
    let trees = Rc::new(RefCell::new(Trees::new(settings)));
    type Do = fn(&mut Trees, &Stage<'_>, Order) -> Result<StepResult, SuiteError>;
    for (prefix, word, order) in
        [("seq", "sequential", Order::Names), ("ran", "random", Order::Random)]
    {
        let verbs: [(&str, &str, Do); 3] = [
            ("create", "create", Trees::create),
            ("stat", "read (stat)", Trees::look),
            ("del", "delete", Trees::delete),
        ];
        for (verb, title, work) in verbs {
            let trees = Rc::clone(&trees);
            let (name, title) = (format!("{prefix}_{verb}"), format!("{word} {title}"));
            all.push(step(&name, &title, "files_per_s", move |stage| {
                work(&mut trees.borrow_mut(), stage, order)
            }));
        }
    }
    all
}

fn step(
    name: &str,
    title: &str,
    primary: &str,
    run: impl FnMut(&Stage<'_>) -> Result<StepResult, SuiteError> + 'static,
) -> Step {
    let run: Run = Box::new(run);
    let (name, title, primary) = (name.into(), title.into(), primary.into());
    Step { name, title, primary, expected: Nanos::from_millis(2_000), run }
}
