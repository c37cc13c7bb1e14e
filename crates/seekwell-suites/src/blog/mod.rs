//! `blog`: blogs that grow while they are read, as blogbench does it.
//!
//! The scores are blogbench's: whole blogs written and whole blogs read. What it is run for is the
//! course of both: as long as the blogs fit into memory reads cost the disk nothing, and when they
//! no longer do, reads and writes meet at the disk. Where that happens is shown.

pub(crate) mod error;
mod people;
mod store;

pub use error::BlogError;
pub use store::BlogFile;

use crate::error::SuiteError;
use crate::folder;
use crate::frame::{Stage, Step, StepResult};
use crate::limit::{Watch, Workers};
use crate::load::Load;
use crate::memory::usable_bytes;
use crate::settings::Values::{Bytes, Count};
use crate::settings::{Settings, tunables};
use crate::suite::{Needs, On, Suite, through_cache};
use people::{Counters, Done, Person, Role, Scene};
use seekwell_io::request::Op;
use seekwell_sys::thread::start_scoped;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use store::{BlogStore, MOST_BYTES};

pub static SUITE: Suite = Suite {
    name: "blog",
    title: "blogs",
    does: "Threads write, change, comment and read blogs of articles and pictures at the same \
           time; counts what was done in every interval. When its room is used up the oldest blog \
           makes place for the newest.",
    takes: ["10 seconds", "5 minutes"],
    writes: "up to 512 MiB in the quick form, 16 GiB in the full one",
    source: "blogbench by Frank Denis: its threads, files, sizes and scores",
    on: On::Directory,
    tunables: tunables! {
        "intervals" Count(1, 1000), "10" | "30": "how many intervals";
        "seconds" Count(1, 600), "1" | "10": "length of an interval";
        "writers" Count(1, 64), "3" | "3": "threads that write blogs";
        "rewriters" Count(0, 64), "1" | "1": "threads that change articles and pictures";
        "commenters" Count(0, 64), "5" | "5": "threads that write comments";
        "readers" Count(0, 1000), "20" | "100": "threads that read";
        "size" Bytes(64 << 20, 1 << 44), "512m" | "16g":
            "room for the blogs; more than the memory, to see the cache blow out";
        "read-chunk" Bytes(1, 1 << 20), "64k" | "64k":
            "bytes a reader asks for at a time; blogbench's code asks for 8, the size of a \
             pointer, where it means 64 KiB";
    },
    check,
    needs,
    direct: through_cache,
    steps,
};

/// On average a file takes 19 KiB.
const FILE_BYTES: u64 = 14 << 10;

/// What may be written between two looks at how much room is left.
fn reserve(settings: &Settings) -> u64 {
    let others = settings.number("commenters") + settings.number("rewriters");
    settings.number("writers") * MOST_BYTES + others * (2 << 20)
}

fn check(settings: &Settings) -> Result<(), SuiteError> {
    let (size, least) = (settings.number("size"), 2 * reserve(settings));
    if size >= least {
        return Ok(());
    }
    Err(SuiteError::BadValue {
        name: "size".into(),
        value: size.to_string(),
        needed: format!("at least {least} bytes for this many writing threads"),
    })
}

fn needs(settings: &Settings) -> Needs {
    let bytes = settings.number("size");
    Needs { bytes, files: bytes / FILE_BYTES }
}

/// How many of whom, for how long, on how much room.
#[derive(Debug, Clone, Copy)]
struct Cast {
    people: [(Role, u32); 4],
    intervals: u32,
    interval: Duration,
    room_bytes: u64,
    read_bytes: usize,
}

fn steps(settings: &Settings) -> Vec<Step> {
    let of = |role, name| (role, settings.number(name) as u32);
    let cast = Cast {
        people: [
            of(Role::Writer, "writers"),
            of(Role::Rewriter, "rewriters"),
            of(Role::Commenter, "commenters"),
            of(Role::Reader, "readers"),
        ],
        intervals: settings.number("intervals") as u32,
        interval: Duration::from_secs(settings.number("seconds")),
        room_bytes: settings.number("size") - reserve(settings),
        read_bytes: settings.number("read-chunk") as usize,
    };
    let primary = if cast.people[3].1 > 0 { "blogs_read_per_s" } else { "blogs_written_per_s" };
    let expected = (cast.interval * cast.intervals).into();
    let run = folder::each_time("blogs".into(), move |stage| grow(stage, &cast));
    let why = "what it reaches is decided by memory and processors, which are not modelled; \
               `seekwell replay blog --on MACHINE.toml` plays its recorded requests";
    let step = Step::new("grow", "blogs that grow and are read", primary, expected, run);
    vec![step.on_model(Load::None { why: why.into() })]
}

/// What was counted up to the end of an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counted {
    blogs_written: u64,
    blogs_read: u64,
    written: [u64; 3],
    read: [u64; 3],
}

impl Counted {
    fn of(counters: &Counters) -> Self {
        let each = |of: &[AtomicU64; 3]| [0, 1, 2].map(|kind| of[kind].load(Relaxed));
        Self {
            blogs_written: counters.blogs_written.load(Relaxed),
            blogs_read: counters.blogs_read.load(Relaxed),
            written: each(&counters.written),
            read: each(&counters.read),
        }
    }
}

fn grow(stage: &Stage<'_>, cast: &Cast) -> Result<StepResult, SuiteError> {
    let store = BlogStore::new(stage.path, cast.room_bytes);
    let (counters, over) = (Counters::default(), AtomicBool::new(false));
    let threads = cast.people.iter().map(|(_, n)| u64::from(*n)).sum();
    let watch = Watch::begin(stage, Workers::Own(threads));
    let scene = Scene {
        store: &store,
        counters: &counters,
        over: &over,
        began: Instant::now(),
        read_bytes: cast.read_bytes,
    };
    let (course, removed_at, people) = thread::scope(|scope| {
        let roles = cast.people.iter().flat_map(|&(role, n)| (0..n).map(move |_| role));
        let mut people = Vec::new();
        for (number, role) in (0..).zip(roles) {
            let person = Person::new(&scene, number, stage.seed);
            let started = start_scoped(scope, "person", move || person.work(role));
            people.push(started.inspect_err(|_| over.store(true, Relaxed))?);
        }
        let (course, removed_at) = observe(stage, cast, &scene);
        // Where it was interrupted, too.
        over.store(true, Relaxed);
        let people: Vec<_> = people.into_iter().map(|p| p.join()).collect();
        Ok::<_, SuiteError>((course, removed_at, people))
    })?;
    stage.go_on()?;
    let mut result = watch.end();
    for person in people {
        add(&mut result, person.map_err(|_| SuiteError::Thread)??);
    }
    store.check()?;
    report(&mut result, cast, &course);
    remark(&mut result, &course, &store, removed_at);
    Ok(result)
}

/// Counts at the end of each interval, and in which of them blogs first had to be removed.
fn observe(stage: &Stage<'_>, cast: &Cast, scene: &Scene<'_>) -> (Vec<Counted>, Option<usize>) {
    let mut course = vec![Counted::default()];
    let (mut removed_at, whole) = (None, cast.interval * cast.intervals);
    for interval in 1..=cast.intervals {
        let end = cast.interval * interval;
        loop {
            let elapsed = scene.began.elapsed();
            if scene.over.load(Relaxed) || stage.stop.load(Relaxed) {
                return (course, removed_at);
            }
            if elapsed >= end {
                break;
            }
            (stage.progress)(elapsed.as_secs_f64() / whole.as_secs_f64());
            thread::sleep((end - elapsed).min(Duration::from_millis(100)));
        }
        // Ended before it is counted, so that nothing but what is in hand comes after.
        scene.over.fetch_or(interval == cast.intervals, Relaxed);
        course.push(Counted::of(scene.counters));
        if removed_at.is_none() && scene.store.removed() > 0 {
            removed_at = Some(interval as usize);
        }
    }
    (course, removed_at)
}

fn add(result: &mut StepResult, done: Done) {
    let m = &mut result.measurement;
    for (op, of) in [(Op::Read, done.read), (Op::Write, done.written)] {
        let sum = &mut m.ops[op as usize];
        sum.requests += of.requests;
        sum.bytes += of.bytes;
        sum.service.merge(&of.service);
    }
    m.series.merge(done.series);
}

fn report(result: &mut StepResult, cast: &Cast, course: &[Counted]) {
    let seconds = (cast.interval * cast.intervals).as_secs_f64();
    let all = course.last().copied().unwrap_or_default();
    result.set("write_score_count", all.blogs_written as f64);
    result.set("read_score_count", all.blogs_read as f64);
    result.set("blogs_written_per_s", all.blogs_written as f64 / seconds);
    result.set("blogs_read_per_s", all.blogs_read as f64 / seconds);
    for kind in BlogFile::ALL {
        let (name, n) = (kind.name(), kind as usize);
        result.set(format!("{name}_reads_per_s"), all.read[n] as f64 / seconds);
        result.set(format!("{name}_writes_per_s"), all.written[n] as f64 / seconds);
    }
    // What is left at the end, beside what there was at the start.
    let rates = per_interval(course, cast.interval, |c| c.read[BlogFile::Article as usize]);
    let part = rates.len().div_ceil(4);
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len().max(1) as f64;
    result.set("article_reads_at_start_per_s", mean(&rates[..part]));
    result.set("article_reads_at_end_per_s", mean(&rates[rates.len() - part..]));
}

/// What was counted in each interval, a second.
fn per_interval(
    course: &[Counted],
    interval: Duration,
    what: impl Fn(&Counted) -> u64,
) -> Vec<f64> {
    let rate = |pair: &[Counted]| (what(&pair[1]) - what(&pair[0])) as f64 / interval.as_secs_f64();
    course.windows(2).map(rate).collect()
}

/// Says how it went from interval to interval, and where it broke.
fn remark(
    result: &mut StepResult,
    course: &[Counted],
    store: &BlogStore,
    removed_at: Option<usize>,
) {
    let one = Duration::from_secs(1);
    let reads = per_interval(course, one, |c| c.read.iter().sum());
    let writes = per_interval(course, one, |c| c.written.iter().sum());
    let list = |of: &[f64]| of.iter().map(|n| format!("{n:.0}")).collect::<Vec<_>>().join(", ");
    result.notes.push(format!("Files read in each interval: {}.", list(&reads)));
    result.notes.push(format!("Files written in each interval: {}.", list(&writes)));
    for (what, rates) in [("writes", &writes), ("reads", &reads)] {
        if let Some(at) = breaks_at(rates) {
            let blogs = course[at].blogs_written;
            result.set(format!("{what}_hold_until_blog_count"), blogs as f64);
            result.notes.push(format!(
                "The rate of {what} held until blog {blogs} and fell to under half in interval {}.",
                at + 1
            ));
        }
    }
    if let Some(at) = removed_at {
        result.notes.push(format!(
            "From interval {at} on the room was used up, and for new blogs the oldest of {} MiB \
             were removed.",
            store.bytes() >> 20
        ));
    }
    if let Some(memory) = usable_bytes().filter(|memory| store.bytes() < *memory) {
        result.notes.push(format!(
            "The blogs took {} MiB at the end and fit into the memory of {} MiB: most reads did \
             not need the disk. A larger size shows what happens when they do not fit.",
            store.bytes() >> 20,
            memory >> 20
        ));
    }
}

/// The interval in which a rate falls under half of what was usual before, and stays low.
fn breaks_at(rates: &[f64]) -> Option<usize> {
    (1..rates.len()).find(|&at| {
        let (usual, after) = (median(&rates[..at]), &rates[at..]);
        // One slow interval at the very end could be anything.
        after.len() > 1 && rates[at] < usual / 2.0 && median(after) < 0.75 * usual
    })
}

fn median(of: &[f64]) -> f64 {
    let mut sorted = of.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[cfg(test)]
mod tests;
