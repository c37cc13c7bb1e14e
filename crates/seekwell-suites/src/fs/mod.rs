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
pub mod load;
mod tree;

use crate::error::SuiteError;
use crate::frame::{Stage, Step, StepResult};
use crate::settings::Values::{Bytes, Count, OneOf};
use crate::settings::{Settings, tunables};
use crate::suite::{Needs, On, Suite, told_direct};
use blocks::Blocks;
use seekwell_io::units::Nanos;
use std::cell::RefCell;
use std::rc::Rc;
use tree::{FILES_UNIT, Order, Trees};

/// About what a step takes.
const EXPECTED: Nanos = Nanos::from_millis(2_000);

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
    tunables: tunables! {
        "size" Bytes(1 << 20, 1 << 50), "256m" | "4g": "size of the large file (-s)";
        "chunk" Bytes(256, 1 << 20), "8k" | "8k": "size of a block, a power of two (-s SIZE:CHUNK)";
        "char_size" Bytes(1 << 13, 1 << 40), "4m" | "20m":
            "how much of it is done by character (-f)";
        "seeks" Count(1, 1 << 32), "8192" | "8192": "random seeks, at the least";
        "seekers" Count(1, 1024), "5" | "5": "threads that seek";
        "files" Count(1, 100_000), "16" | "128": "number of small files, in units of 1024 (-n)";
        "max_size" Bytes(0, 1 << 30), "0" | "0": "size of the largest small file";
        "min_size" Bytes(0, 1 << 30), "0" | "0": "size of the smallest small file";
        "directories" Count(1, 99_999), "1" | "1": "directories the small files lie in";
        "file_chunk" Bytes(256, 1 << 20), "8k" | "8k": "size of a block of a small file";
        "kind" OneOf(&["files", "hard-links", "symlinks"]), "files" | "files":
            "what the small files are: files, or links to one (-n N:-1 and -n N:-2)";
        "sync" OneOf(&["end", "each"]), "end" | "end":
            "when output is synced: at the end of a test, or after each write, creation and \
             removal (-b)";
        "concurrency" Count(1, 1024), "1" | "1": "copies of every test at once (-c)";
        "cache" OneOf(&["drop", "keep", "direct"]), "drop" | "drop":
            "the page cache: dropped before steps that read, kept, or passed by (-D)";
    },
    check,
    needs,
    direct: told_direct,
    steps,
};

/// The steps in their order, which is that of bonnie++'s line.
const STEPS: [&str; 12] = [
    "putc",
    "put_block",
    "rewrite",
    "getc",
    "get_block",
    "seeks",
    "seq_create",
    "seq_stat",
    "seq_del",
    "ran_create",
    "ran_stat",
    "ran_del",
];
/// The first of those that are of small files.
const FILES_FROM: usize = 6;

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
    type OnBlocks = fn(Blocks, &Stage<'_>) -> Result<StepResult, SuiteError>;
    let of_blocks: [(&str, &str, &str, OnBlocks); 6] = [
        ("putc", "sequential output, per character", "rate_bytes_per_s", Blocks::put_chars),
        ("put_block", "sequential output, block", "rate_bytes_per_s", Blocks::put_blocks),
        ("rewrite", "rewrite", "rate_bytes_per_s", Blocks::rewrite),
        ("getc", "sequential input, per character", "rate_bytes_per_s", Blocks::get_chars),
        ("get_block", "sequential input, block", "rate_bytes_per_s", Blocks::get_blocks),
        ("seeks", "random seeks", "seeks_per_s", Blocks::seek),
    ];
    let on_blocks = |(name, title, primary, work): (&str, &str, &str, OnBlocks)| {
        Step::new(name, title, primary, EXPECTED, move |stage| work(blocks, stage))
    };
    let mut all: Vec<_> = of_blocks.into_iter().map(on_blocks).collect();
    let trees = Rc::new(RefCell::new(Trees::new(settings)));
    type OnTrees = fn(&mut Trees, &Stage<'_>, Order) -> Result<StepResult, SuiteError>;
    let verbs: [(&str, &str, OnTrees); 3] = [
        ("create", "create", Trees::create),
        ("stat", "read (stat)", Trees::look),
        ("del", "delete", Trees::delete),
    ];
    for (prefix, word, order) in
        [("seq", "sequential", Order::Names), ("ran", "random", Order::Random)]
    {
        for (verb, title, work) in verbs {
            let trees = Rc::clone(&trees);
            let (name, title) = (format!("{prefix}_{verb}"), format!("{word} {title}"));
            all.push(Step::new(name, title, "files_per_s", EXPECTED, move |stage| {
                work(&mut trees.borrow_mut(), stage, order)
            }));
        }
    }
    all.into_iter().map(|step| Step { load: load::of(&step.name, settings), ..step }).collect()
}
