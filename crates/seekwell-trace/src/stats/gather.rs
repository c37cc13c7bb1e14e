//! Gathering the statistics of a trace, on as many cores as there are.

use super::pool::Pool;
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
use std::thread;

/// Gathers the statistics of a source called `file`, reading only what the figures need. With
/// several threads, this one decodes, and also counts when the others fall behind. `proceed` is
/// called after every batch with the number of requests so far; if it returns false, the result is
/// `None`.
///
/// # Errors
/// What the source returns, and as [`Stats::update`].
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
    let shards = (0..threads as u64).map(|index| options.shard.part(index, threads as u64));
    let shards: Vec<Shard> = shards.collect();
    let room = Arc::default();
    let lane = |shard: &Shard| {
        let mut stats = Stats::new(Options { shard: *shard, ..options.clone() });
        stats.room.all = Arc::clone(&room);
        stats.begin(file);
        stats
    };
    let pool = Pool::new(shards.iter().map(lane));
    let whole = thread::scope(|scope| {
        let mut dealer = Dealer::new(file, shards, &pool);
        for _ in 1..threads {
            start_scoped(scope, "stats", || pool.count()).map_err(TraceError::from)?;
        }
        let whole = each(&mut source, &mut proceed, |records, about, tables| {
            // A lane's own error is returned below.
            let counts = dealer.deal(records, about, tables);
            if counts { Ok(()) } else { Err(TraceError::Interrupted.into()) }
        });
        drop(dealer);
        pool.count();
        whole
    });
    let merge = |mut all: Stats, part| all.merge(part).map(|()| all);
    let all = pool.into_parts().reduce(|all, part| merge(all?, part?));
    let mut all = all.expect("there are threads")?;
    all.options.shard = options.shard;
    all.shards = Stats::new(options.clone()).shards;
    Ok(whole?.then_some(all))
}

/// Gives each lane the requests of its devices; the pool ends when this is dropped.
struct Dealer<'a> {
    file: &'a str,
    /// Of each lane.
    shards: Vec<Shard>,
    /// What each lane gets next.
    dealt: Vec<Vec<Record>>,
    /// The lane of each device of the file, once it was seen; `None` if it is not counted.
    of_device: Vec<Option<Option<usize>>>,
    pool: &'a Pool,
}

impl Drop for Dealer<'_> {
    fn drop(&mut self) {
        self.pool.end();
    }
}

impl<'a> Dealer<'a> {
    fn new(file: &'a str, shards: Vec<Shard>, pool: &'a Pool) -> Self {
        let dealt = vec![Vec::new(); shards.len()];
        Self { file, shards, dealt, of_device: Vec::new(), pool }
    }

    /// Returns false once a lane has failed.
    fn deal(&mut self, records: &[Record], about: &Arc<About>, tables: &Arc<Tables>) -> bool {
        for record in records {
            let device = record.device as usize;
            let lane = match self.of_device.get(device) {
                Some(Some(lane)) => *lane,
                _ => self.place(device, about, tables),
            };
            if let Some(lane) = lane {
                self.dealt[lane].push(*record);
            }
        }
        self.pool.add(&mut self.dealt, about, tables)
    }

    #[cold]
    fn place(&mut self, device: usize, about: &About, tables: &Tables) -> Option<usize> {
        let name = name_of(device, about, tables, self.file);
        let lane = self.shards.iter().position(|shard| shard.holds(&name));
        if device >= self.of_device.len() {
            self.of_device.resize(device + 1, None);
        }
        self.of_device[device] = Some(lane);
        lane
    }
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

/// The rate at which blocks are followed if none is given. It depends on nothing but the size of
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
