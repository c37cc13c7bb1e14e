//! Gathering the statistics of a trace, on as many cores as there are.

use super::{Options, Stats, StatsError};
use crate::error::TraceError;
use crate::record::Record;
use crate::source::{About, Tables, TraceSource};
use seekwell_sys::thread::start_scoped;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Batches that wait for a thread.
const WAITING: usize = 8;

/// Reads a source, called `file`, to its end. With several threads, this one decodes and each of
/// the others takes some of the devices. `proceed` is asked after every batch with the requests so
/// far.
///
/// # Errors
/// What the source answers, and as [`Stats::update`]. `None` where `proceed` said no.
pub fn of(
    source: &mut dyn TraceSource,
    file: &str,
    options: &Options,
    threads: usize,
    mut proceed: impl FnMut(u64) -> bool,
) -> Result<Option<Stats>, StatsError> {
    if threads < 2 {
        let mut stats = Stats::new(options.clone());
        stats.begin(file);
        let whole = each(source, &mut proceed, |batch| {
            stats.update(&batch.records, &batch.about, &batch.tables)
        })?;
        return Ok(whole.then_some(stats));
    }
    thread::scope(|scope| {
        let mut senders: Vec<SyncSender<Arc<Batch>>> = Vec::new();
        let mut workers = Vec::new();
        let room = Arc::default();
        for index in 0..threads as u64 {
            let (sender, receiver) = sync_channel(WAITING);
            let shard = options.shard.part(index, threads as u64);
            let mut stats = Stats::new(Options { shard, ..options.clone() });
            stats.room.all = Arc::clone(&room);
            senders.push(sender);
            let worker = start_scoped(scope, "stats", move || work(stats, file, &receiver));
            workers.push(worker.map_err(TraceError::from)?);
        }
        let whole = each(source, &mut proceed, |batch| {
            let batch = Arc::new(batch);
            // A thread that has given up says why below.
            let sent = senders.iter().all(|sender| sender.send(Arc::clone(&batch)).is_ok());
            if sent { Ok(()) } else { Err(TraceError::Interrupted.into()) }
        });
        drop(senders);
        let ended = workers.into_iter().map(|worker| worker.join().expect("it does not panic"));
        let parts: Vec<Stats> = ended.collect::<Result<_, _>>()?;
        let merge = |mut all: Stats, part| all.merge(part).map(|()| all);
        let all = parts.into_iter().map(Ok).reduce(|all, part| merge(all?, part?));
        let mut all = all.expect("there are threads")?;
        all.options.shard = options.shard;
        all.shards = Stats::new(options.clone()).shards;
        Ok(whole?.then_some(all))
    })
}

/// What the threads are given.
struct Batch {
    records: Vec<Record>,
    about: Arc<About>,
    tables: Arc<Tables>,
}

fn work(mut stats: Stats, file: &str, batches: &Receiver<Arc<Batch>>) -> Result<Stats, StatsError> {
    stats.begin(file);
    while let Ok(batch) = batches.recv() {
        stats.update(&batch.records, &batch.about, &batch.tables)?;
    }
    Ok(stats)
}

/// Hands out a source batch by batch, and at its end what is known of it then.
fn each(
    source: &mut dyn TraceSource,
    proceed: &mut dyn FnMut(u64) -> bool,
    mut take: impl FnMut(Batch) -> Result<(), StatsError>,
) -> Result<bool, StatsError> {
    let (mut about, mut tables) = (Arc::new(source.about().clone()), Arc::new(Tables::default()));
    let mut read = 0;
    loop {
        let mut records = Vec::with_capacity(crate::source::BATCH);
        source.read(&mut records)?;
        if *about != *source.about() {
            about = Arc::new(source.about().clone());
        }
        let known = source.tables();
        let names = |tables: &Tables| (tables.devices.len(), tables.processes.len());
        if names(&tables) != names(known) {
            tables = Arc::new(known.clone());
        }
        let is_over = records.is_empty();
        read += records.len() as u64;
        let (about, tables) = (Arc::clone(&about), Arc::clone(&tables));
        take(Batch { records, about, tables })?;
        if is_over || !proceed(read) {
            return Ok(is_over);
        }
    }
}

/// Up to here all blocks of a file are followed, and one in two for each doubling beyond it.
const FOLLOWED_WHOLE_BYTES: u64 = 8 << 20;
/// What a packed file is taken for.
const UNPACKED: u64 = 4;
/// No less is followed unasked, and of a pipe this.
const LOWEST_RATE_LOG2: u32 = 16;
const PIPE_RATE_LOG2: u32 = 8;

/// The rate at which blocks are followed where none is given. It depends on nothing but the size of
/// the file, so that all who read it take the same; a trace that ships is small.
pub fn usual_rate_log2(path: &Path) -> u32 {
    let Ok(found) = path.metadata() else { return 0 };
    if !found.is_file() {
        return PIPE_RATE_LOG2;
    }
    let mut first = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
    let is_packed = match first {
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd] => true,
        first => first == *b"PAR1",
    };
    let bytes = found.len().saturating_mul(if read.is_ok() && is_packed { UNPACKED } else { 1 });
    let doublings = bytes.div_ceil(FOLLOWED_WHOLE_BYTES).max(1).next_power_of_two().ilog2();
    doublings.min(LOWEST_RATE_LOG2)
}
