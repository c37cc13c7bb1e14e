//! Gathering the statistics of a trace, on as many cores as there are.

use super::which::name_of;
use super::{Options, Shard, Stats, StatsError};
use crate::error::TraceError;
use crate::record::Record;
use crate::source::{About, BATCH, Tables, TraceSource};
use seekwell_sys::thread::start_scoped;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

/// Batches that wait for a thread.
const WAITING: usize = 8;

/// Reads of a source, called `file`, what the figures need, to its end. With several threads, this
/// one decodes and each of the others takes some of the devices. `proceed` is asked after every
/// batch with the requests so far.
///
/// # Errors
/// What the source answers, and as [`Stats::update`]. `None` where `proceed` said no.
pub fn of(
    mut source: impl TraceSource,
    file: &str,
    options: &Options,
    threads: usize,
    mut proceed: impl FnMut(u64) -> bool,
) -> Result<Option<Stats>, StatsError> {
    source.narrow(options.fields());
    if threads < 2 {
        let mut stats = Stats::new(options.clone());
        stats.begin(file);
        let whole = each(&mut source, &mut proceed, |records, about, tables| {
            stats.update(records, about, tables)
        })?;
        return Ok(whole.then_some(stats));
    }
    thread::scope(|scope| {
        let (used, unused) = channel();
        let mut dealer = Dealer { file, hands: Vec::new(), of_device: Vec::new(), unused };
        let mut workers = Vec::new();
        let room = Arc::default();
        for index in 0..threads as u64 {
            let (sender, receiver) = sync_channel(WAITING);
            let shard = options.shard.part(index, threads as u64);
            let mut stats = Stats::new(Options { shard, ..options.clone() });
            stats.room.all = Arc::clone(&room);
            dealer.hands.push(Hand { shard, records: Vec::new(), sender });
            let used = used.clone();
            let worker = start_scoped(scope, "stats", move || work(stats, file, &receiver, &used));
            workers.push(worker.map_err(TraceError::from)?);
        }
        let whole = each(&mut source, &mut proceed, |records, about, tables| {
            // A thread that has given up says why below.
            let sent = dealer.deal(records, about, tables);
            if sent { Ok(()) } else { Err(TraceError::Interrupted.into()) }
        });
        drop(dealer);
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

/// What a thread is given.
struct Batch {
    records: Vec<Record>,
    about: Arc<About>,
    tables: Arc<Tables>,
}

/// A thread, its devices, and what it is given next.
struct Hand {
    shard: Shard,
    records: Vec<Record>,
    sender: SyncSender<Batch>,
}

/// Gives each thread the requests of its devices.
struct Dealer<'a> {
    file: &'a str,
    hands: Vec<Hand>,
    /// Which thread counts each device of the file, once it was seen; `None` if it is not counted.
    of_device: Vec<Option<Option<usize>>>,
    /// What threads are done with.
    unused: Receiver<Vec<Record>>,
}

impl Dealer<'_> {
    /// Whether all threads still take something.
    fn deal(&mut self, records: &[Record], about: &Arc<About>, tables: &Arc<Tables>) -> bool {
        for record in records {
            let device = record.device as usize;
            let whose = match self.of_device.get(device) {
                Some(Some(whose)) => *whose,
                _ => self.place(device, about, tables),
            };
            if let Some(whose) = whose {
                self.hands[whose].records.push(*record);
            }
        }
        self.hands.iter_mut().all(|hand| {
            let next = self.unused.try_recv().unwrap_or_default();
            let records = std::mem::replace(&mut hand.records, next);
            let (about, tables) = (Arc::clone(about), Arc::clone(tables));
            hand.sender.send(Batch { records, about, tables }).is_ok()
        })
    }

    #[cold]
    fn place(&mut self, device: usize, about: &About, tables: &Tables) -> Option<usize> {
        let name = name_of(device, about, tables, self.file);
        let whose = self.hands.iter().position(|hand| hand.shard.holds(&name));
        if device >= self.of_device.len() {
            self.of_device.resize(device + 1, None);
        }
        self.of_device[device] = Some(whose);
        whose
    }
}

fn work(
    mut stats: Stats,
    file: &str,
    batches: &Receiver<Batch>,
    used: &Sender<Vec<Record>>,
) -> Result<Stats, StatsError> {
    stats.begin(file);
    while let Ok(Batch { mut records, about, tables }) = batches.recv() {
        stats.update(&records, &about, &tables)?;
        records.clear();
        // It is not needed once all is read.
        let _ = used.send(records);
    }
    Ok(stats)
}

/// Hands out a source batch by batch, and at its end what is known of it then.
fn each(
    source: &mut dyn TraceSource,
    proceed: &mut dyn FnMut(u64) -> bool,
    mut take: impl FnMut(&[Record], &Arc<About>, &Arc<Tables>) -> Result<(), StatsError>,
) -> Result<bool, StatsError> {
    let (mut about, mut tables) = (Arc::new(source.about().clone()), Arc::new(Tables::default()));
    let mut read = 0;
    let mut records = Vec::with_capacity(BATCH);
    loop {
        records.clear();
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
        take(&records, &about, &tables)?;
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
