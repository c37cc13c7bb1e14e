//! The tests as data: their cells, the order of these, and what ends them. Section numbers are
//! those of the Solid State Storage Performance Test Specification 2.0.2.

use seekwell_io::target::Engine;
use seekwell_io::units::Nanos;
use seekwell_io::workload::Rw;
use seekwell_job::PlainJob;
use seekwell_runs::{Measure, PtsKind};

const KIB: u32 = 1024;
const MINUTE: Nanos = Nanos::from_millis(60_000);
/// The most rounds until a steady state (2.1.24).
const ROUNDS: u32 = 25;
/// The size of requests of workload-independent preconditioning (7.2, 9.2).
const FIRST: u32 = 128 * KIB;
/// Minutes of the first and the last load of cross-stimulus recovery, eight hours; that between
/// them takes three quarters of it.
const STRETCH: u32 = 480;
/// Threads, and requests outstanding in each, of the demand intensity test.
const DEMANDS: [u32; 7] = [32, 16, 8, 6, 4, 2, 1];

/// Which tests are run, and how.
#[derive(Debug, Clone)]
pub struct PtsOptions {
    /// The tests, each once.
    pub tests: Vec<PtsKind>,
    /// How long a cell is run in each round.
    pub cell: Nanos,
    /// The most rounds until a steady state.
    pub rounds: u32,
    /// Threads and requests outstanding in each, where the specification leaves them to the tester.
    /// Sequential requests have one thread.
    pub numjobs: u32,
    /// See `numjobs`.
    pub iodepth: u32,
    /// Cells of the first and the last load of cross-stimulus recovery.
    pub stretch: u32,
    /// How requests are issued.
    pub engine: Engine,
}

/// The tests for a set of options.
#[derive(Debug, Clone)]
pub struct PtsPlan {
    pub(super) options: PtsOptions,
    /// In the order of the specification.
    pub(super) tests: Vec<Test>,
}

impl PtsPlan {
    /// The plan for these options.
    pub fn of(options: PtsOptions) -> Self {
        let chosen = PtsKind::ALL.into_iter().filter(|kind| options.tests.contains(kind));
        let tests = chosen.map(|kind| options.test(kind)).collect();
        Self { options, tests }
    }

    /// Every workload that will be run.
    pub fn workloads(&self) -> impl Iterator<Item = &PlainJob> {
        let series = self.tests.iter().flat_map(|test| &test.series);
        series.flat_map(|series| &series.cells).map(|cell| &cell.job)
    }
}

/// A test.
#[derive(Debug, Clone)]
pub struct Test {
    pub kind: PtsKind,
    /// The request size with which twice the region is written sequentially before it.
    pub first_bytes: Option<u32>,
    pub series: Vec<Series>,
}

/// Cells, measured one after the other, round after round.
#[derive(Debug, Clone)]
pub struct Series {
    pub cells: Vec<Cell>,
    /// The index of the tracked cell.
    pub tracked: usize,
    /// Its tracked figure.
    pub measure: Measure,
    /// It ends as soon as that is steady.
    pub until_steady: bool,
    /// The most rounds.
    pub rounds: u32,
}

/// A workload.
#[derive(Debug, Clone)]
pub struct Cell {
    pub phase: String,
    pub job: PlainJob,
}

impl Series {
    /// The longest it can take.
    pub fn longest(&self) -> Nanos {
        let round: u64 = self.cells.iter().map(|cell| cell.job.run_time().0).sum();
        Nanos(round * u64::from(self.rounds))
    }
}

impl PtsOptions {
    fn test(&self, kind: PtsKind) -> Test {
        let (first_bytes, series) = match kind {
            PtsKind::Iops => (Some(FIRST), vec![self.iops()]),
            PtsKind::Tp => (Some(1024 * KIB), vec![self.throughput(kind, 1024 * KIB)]),
            PtsKind::Tp128k => (Some(128 * KIB), vec![self.throughput(kind, 128 * KIB)]),
            PtsKind::Latency => (Some(FIRST), vec![self.latency()]),
            PtsKind::Dirth => (None, vec![self.settling(), self.demand()]),
            PtsKind::Xsr => (None, self.recovery()),
        };
        Test { kind, first_bytes, series }
    }

    /// Why it is a short form; empty if it is not.
    pub fn short(&self) -> Vec<String> {
        let mut why = Vec::new();
        if self.cell < MINUTE {
            why.push(format!("cells of {} s in place of 60 s", self.cell.as_secs_f64()));
        }
        if self.rounds < ROUNDS {
            why.push(format!("at most {} rounds in place of {ROUNDS}", self.rounds));
        }
        if self.stretch < STRETCH && self.tests.contains(&PtsKind::Xsr) {
            why.push(format!("loads of {} cells in place of {STRETCH}", self.stretch));
        }
        why
    }

    fn cell(
        &self,
        phase: String,
        rw: (Rw, u8),
        block_bytes: u32,
        (numjobs, iodepth): Load,
    ) -> Cell {
        let ((rw, mix_read_percent), runtime_ns, engine) = (rw, self.cell, self.engine);
        let of = PlainJob { rw, mix_read_percent, block_bytes, ..PlainJob::default() };
        Cell { phase, job: PlainJob { numjobs, iodepth, runtime_ns, engine, ..of } }
    }

    /// Random requests of some shares of reads and sizes, the shares outermost.
    fn matrix(&self, kind: PtsKind, reads: &[u8], sizes: &[(&str, u32)], load: Load) -> Vec<Cell> {
        let row = |reads: u8| {
            let cell = move |(name, bytes): &(&str, u32)| {
                self.cell(format!("{}-{name}-r{reads}", kind.name()), random(reads), *bytes, load)
            };
            sizes.iter().map(cell)
        };
        reads.iter().flat_map(|reads| row(*reads)).collect()
    }

    fn until_steady(&self, cells: Vec<Cell>, tracked: &str, measure: Measure) -> Series {
        let place = cells.iter().position(|cell| cell.phase == tracked);
        let tracked = place.expect("one of the cells");
        Series { cells, tracked, measure, until_steady: true, rounds: self.rounds }
    }

    /// Section 7.2; tracked are random writes of 4 KiB.
    fn iops(&self) -> Series {
        let sizes = [
            ("1m", 1024 * KIB),
            ("128k", 128 * KIB),
            ("64k", 64 * KIB),
            ("32k", 32 * KIB),
            ("16k", 16 * KIB),
            ("8k", 8 * KIB),
            ("4k", 4 * KIB),
            ("512", 512),
        ];
        let load = (self.numjobs, self.iodepth);
        let cells = self.matrix(PtsKind::Iops, &[100, 95, 65, 50, 35, 5, 0], &sizes, load);
        self.until_steady(cells, "iops-4k-r0", Measure::RequestsPerS)
    }

    /// Section 8.2; tracked are writes.
    fn throughput(&self, kind: PtsKind, bytes: u32) -> Series {
        let cell = |rw: Rw, reads| {
            let phase = format!("{}-{}", kind.name(), rw.name());
            self.cell(phase, (rw, reads), bytes, (1, self.iodepth))
        };
        let cells = vec![cell(Rw::Read, 100), cell(Rw::Write, 0)];
        let tracked = cells[1].phase.clone();
        self.until_steady(cells, &tracked, Measure::RateBytesPerS)
    }

    /// Section 9.2; tracked is the mean latency of writes of 4 KiB.
    fn latency(&self) -> Series {
        let sizes = [("8k", 8 * KIB), ("4k", 4 * KIB), ("512", 512)];
        let cells = self.matrix(PtsKind::Latency, &[100, 65, 0], &sizes, (1, 1));
        self.until_steady(cells, "latency-4k-r0", Measure::LatencyNsMean)
    }

    /// Writes at the highest demand for thirty cells, of which the last counts, until steady.
    fn settling(&self) -> Series {
        let mut cell = self.cell("dirth-before".into(), random(0), 4 * KIB, (32, 32));
        cell.job.ramp_ns = Nanos(29 * self.cell.0);
        self.until_steady(vec![cell], "dirth-before", Measure::RequestsPerS)
    }

    /// Writes of 4 KiB from the highest demand to the lowest. Each round begins with five cells of
    /// the highest, which do not count.
    fn demand(&self) -> Series {
        let mut loads: Vec<Load> =
            DEMANDS.iter().flat_map(|jobs| DEMANDS.map(|depth| (*jobs, depth))).collect();
        loads.sort_by_key(|(jobs, depth)| std::cmp::Reverse((jobs * depth, *jobs)));
        let cell = |load: &Load| {
            self.cell(format!("dirth-t{}-q{}", load.0, load.1), random(0), 4 * KIB, *load)
        };
        let mut cells: Vec<Cell> = loads.iter().map(cell).collect();
        cells[0].job.ramp_ns = Nanos(5 * self.cell.0);
        self.until_steady(cells, "dirth-t32-q32", Measure::RequestsPerS)
    }

    /// Sequential writes, small random ones, and sequential ones again.
    fn recovery(&self) -> Vec<Series> {
        let series = |phase: &str, rw, bytes, load, rounds| Series {
            cells: vec![self.cell(phase.to_owned(), rw, bytes, load)],
            tracked: 0,
            measure: Measure::RateBytesPerS,
            until_steady: false,
            rounds,
        };
        let large =
            |phase, rounds| series(phase, (Rw::Write, 0), 1024 * KIB, (1, self.iodepth), rounds);
        let between = (3 * self.stretch).div_ceil(4);
        vec![
            large("xsr-1", self.stretch),
            series("xsr-2", random(0), 8 * KIB, (self.numjobs, self.iodepth), between),
            large("xsr-3", self.stretch),
        ]
    }
}

/// Threads, and requests outstanding in each.
type Load = (u32, u32);

/// Random requests with a share of reads.
const fn random(reads: u8) -> (Rw, u8) {
    match reads {
        100 => (Rw::RandRead, 100),
        0 => (Rw::RandWrite, 0),
        mixed => (Rw::RandRw, mixed),
    }
}
