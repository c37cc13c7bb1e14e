//! Which workloads a checkup runs, how often and for how long.
//!
//! A plan is data. It is made to a time budget, because a checkup that takes longer than it
//! promised is not run a second time. What does not fit, or what the target does not allow, stays
//! in the plan as a phase that is skipped, with the reason in words.

use seekwell_io::units::Nanos;
use seekwell_io::workload::{Pattern, Workload};
use seekwell_runs::{Measure, PhaseId};
use serde::{Deserialize, Serialize};
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// 15 s, two repeats, the most telling phases only.
    Quick,
    /// A minute, three repeats.
    Normal,
    /// Five minutes, five repeats.
    Thorough,
}

impl Level {
    /// The time for everything, the fill of the temporary file included.
    pub const fn budget(self) -> Nanos {
        Nanos::from_millis(match self {
            Self::Quick => 15_000,
            Self::Normal => 60_000,
            Self::Thorough => 300_000,
        })
    }

    /// The time for the phases: a fifth of the budget is left to the fill.
    pub const fn measuring_budget(self) -> Nanos {
        Nanos(self.budget().0 / 5 * 4)
    }

    /// The size the temporary file should have: more than most drives cache, and no more than a
    /// rotating disk writes in the time left to the fill.
    pub const fn wanted_region_bytes(self) -> u64 {
        match self {
            Self::Quick => 256 << 20,
            Self::Normal => 1 << 30,
            Self::Thorough => 4 << 30,
        }
    }

    /// The option that asks for it; empty for the level that needs none.
    pub const fn option(self) -> &'static str {
        match self {
            Self::Quick => "--quick",
            Self::Normal => "",
            Self::Thorough => "--thorough",
        }
    }

    const fn timing(self) -> Timing {
        let (repeats, ramp, settle, longest) = match self {
            Self::Quick => (2, 50, 20, 1_000),
            Self::Normal => (3, 100, 50, 2_000),
            Self::Thorough => (5, 250, 100, 5_000),
        };
        Timing { repeats, ramp_ms: ramp, settle_ms: settle, longest_ms: longest }
    }
}

/// Times of one level, in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Timing {
    repeats: u32,
    ramp_ms: u64,
    settle_ms: u64,
    longest_ms: u64,
}

/// The shortest measured time of one run: half a second is the least a rate is taken from, and a
/// run may end a little early.
const SHORTEST_MS: u64 = 550;
/// Opening the target, registering buffers, draining at the end.
const OVERHEAD: Nanos = Nanos::from_millis(20);
/// Depth of the sequential phases: four requests of 1 MiB keep any present link busy, and are still
/// few enough for a rotating disk to see one stream.
const SEQUENTIAL_DEPTH: u32 = 4;
/// A curve goes on to the next depth while the last doubling of the depth raised the rate by more
/// than this factor.
const RISE: f64 = 1.10;
const KIB4: u32 = 4 << 10;
const KIB128: u32 = 128 << 10;
const MIB: u32 = 1 << 20;
/// Depth of the random requests of 128 KiB.
const LARGE_DEPTH: u32 = 8;
/// What `hdparm -T` reads again and again.
const CACHED_BYTES: u64 = 2 << 20;

/// What the measured data lie in, as far as the plan depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanMedium {
    /// A temporary file of the program's own: may be written.
    Scratch,
    /// A device or file of the user's: is only read.
    ReadOnly,
    /// A device given to be destroyed: may be written.
    Destroyed,
    /// A modelled machine: may be written, and has no page cache.
    Modelled,
    /// A modelled machine with zones: is only read, as writes at write pointers are asked for by
    /// jobs alone.
    ModelledZones,
}

impl PlanMedium {
    const fn is_modelled(self) -> bool {
        matches!(self, Self::Modelled | Self::ModelledZones)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanInputs {
    pub medium: PlanMedium,
    /// First byte in reach.
    pub offset_bytes: u64,
    /// Bytes in reach, from there on.
    pub region_bytes: u64,
    /// The smallest unit the disk addresses, in bytes.
    pub logical_block_bytes: u32,
    /// Whether the target can be driven past the page cache.
    pub direct: bool,
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    Cached,
    Sequential,
    /// Random 4 KiB reads over depth.
    Curve,
    /// Random reads of one logical block.
    Block,
    /// Random requests of 128 KiB.
    Large,
    Write,
    /// Reads beside writes.
    Mix,
    Commit,
    /// Asked for by the user.
    Custom,
}

/// Run only where the rate of random reads rose from one phase to another by more than `factor`.
#[derive(Debug, Clone, PartialEq)]
pub struct Rise {
    pub from: String,
    pub to: String,
    /// The rise that must be exceeded, as a factor.
    pub factor: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PhaseSpec {
    /// Stable name: `rand-read-4k-d32`.
    pub name: String,
    /// For people: `random read 4 KiB, depth 32`.
    pub title: String,
    /// The workload; the driver changes nothing but its seed.
    pub workload: Workload,
    pub repeats: u32,
    pub group: Group,
    /// What must have been measured before for it to be worth running.
    pub only_if: Option<Rise>,
    /// Why it is not run at all, if it is not.
    pub skipped: Option<String>,
    /// How many of its repeats are run.
    pub rounds: Rounds,
    /// Which of several targets it is run on; 0 if there is one.
    pub target: usize,
    /// Phases that follow one another and have the same number here are run at the same time.
    pub beside: Option<u32>,
}

/// How many repeats of a phase are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounds {
    All,
    /// Until the tracked figure is steady, see [`crate::steady`], but no more than all of them.
    UntilSteady(Tracked),
}

/// The figure that decides whether rounds are steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tracked {
    /// The index of its phase in the plan.
    pub place: usize,
    pub measure: Measure,
}

impl Rounds {
    /// Until the request rate of a plan's only phase is steady.
    pub const OWN_RATE: Self =
        Self::UntilSteady(Tracked { place: 0, measure: Measure::RequestsPerS });
}

impl PhaseSpec {
    /// A phase that is always run.
    pub fn new(
        name: impl Into<String>,
        title: impl Into<String>,
        group: Group,
        workload: Workload,
        repeats: u32,
    ) -> Self {
        let (name, title) = (name.into(), title.into());
        let (only_if, skipped, rounds) = (None, None, Rounds::All);
        let (target, beside) = (0, None);
        Self { name, title, workload, repeats, group, only_if, skipped, rounds, target, beside }
    }
}

/// The phases of a run, in the order of one round. Rounds follow one another: a drift of the disk
/// then shows as spread between repeats and not as a difference between phases.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The phases, those that are skipped included.
    pub phases: Vec<PhaseSpec>,
    /// The pause before each run, for caches to drain and the device to come to rest.
    pub settle: Nanos,
    /// Rounds after the first begin no run once so much time has passed: what a device that is slow
    /// to finish its requests takes beyond the plan. A model has none: its figures do not depend on
    /// how fast they are computed.
    pub budget: Option<Nanos>,
    /// For how many of the last rounds histograms and series are kept; `None` for all.
    pub detailed_rounds: Option<u32>,
}

impl Plan {
    /// The plan of a checkup. Within a round reads come before writes and commits last, so that a
    /// full write cache disturbs as little as possible.
    pub fn new(level: Level, inputs: PlanInputs) -> Self {
        let timing = level.timing();
        let mut candidates = candidates(&inputs);
        for c in &mut candidates {
            c.spec.skipped = refusal(&c.spec, &inputs);
            c.spec.repeats = timing.repeats;
        }
        let fixed = Nanos::from_millis(timing.ramp_ms + timing.settle_ms) + OVERHEAD;
        let slot = Nanos::from_millis(SHORTEST_MS) + fixed;
        let room = level.measuring_budget().0 / (slot.0 * u64::from(timing.repeats));
        let chosen = keep_the_most_telling(&mut candidates, room as usize, level);

        let runs = u64::from(timing.repeats) * chosen.max(1) as u64;
        let each_ms = (level.measuring_budget().0 / runs).saturating_sub(fixed.0) / 1_000_000;
        let runtime = Nanos::from_millis(each_ms.clamp(SHORTEST_MS, timing.longest_ms) / 10 * 10);
        let mut phases: Vec<_> = candidates.into_iter().map(|c| c.spec).collect();
        for spec in &mut phases {
            spec.workload.runtime_ns = runtime;
            spec.workload.ramp_ns = Nanos::from_millis(timing.ramp_ms);
        }
        let budget = (!inputs.medium.is_modelled()).then(|| level.measuring_budget());
        let (settle, detailed_rounds) = (Nanos::from_millis(timing.settle_ms), None);
        Self { phases, settle, budget, detailed_rounds }
    }

    /// A plan of the user's own phases, as `seekwell bench` runs them.
    pub fn of(phases: Vec<PhaseSpec>, settle: Nanos) -> Self {
        Self { phases, settle, budget: None, detailed_rounds: None }
    }

    pub fn phase(&self, name: &str) -> Option<&PhaseSpec> {
        self.phases.iter().find(|p| p.name == name)
    }

    /// How many rounds there are: the most repeats of any phase that is run.
    pub fn rounds(&self) -> u32 {
        self.run_phases().map(|p| p.repeats).max().unwrap_or(0)
    }

    /// The phases that are run together with the one at `index`, which is the first of them.
    pub fn group(&self, index: usize) -> Range<usize> {
        let beside = self.phases[index].beside;
        let with = |p: &&PhaseSpec| beside.is_some() && p.beside == beside;
        let others = self.phases[index + 1..].iter().take_while(with).count();
        index..index + 1 + others
    }

    /// How long one run of a phase takes: pause, ramp, measured time and overhead. A run that is
    /// bounded by requests alone counts as nothing.
    pub fn duration_of(&self, spec: &PhaseSpec) -> Nanos {
        self.settle + spec.workload.ramp_ns + spec.workload.runtime_ns + OVERHEAD
    }

    /// How long everything takes at most, curves extended to the end.
    pub fn duration(&self) -> Nanos {
        let repeats = |p: &PhaseSpec| if p.skipped.is_none() { p.repeats } else { 0 };
        self.time_of(&self.phases.iter().map(repeats).collect::<Vec<_>>())
    }

    /// How long `runs` runs of each phase take. Phases that are run at the same time take the time
    /// of the longest.
    pub fn time_of(&self, runs: &[u32]) -> Nanos {
        let (mut index, mut all) = (0, 0);
        while index < self.phases.len() {
            let group = self.group(index);
            index = group.end;
            let each = |i: usize| self.duration_of(&self.phases[i]).0 * u64::from(runs[i]);
            all += group.map(each).max().unwrap_or(0);
        }
        Nanos(all)
    }

    fn run_phases(&self) -> impl Iterator<Item = &PhaseSpec> {
        self.phases.iter().filter(|p| p.skipped.is_none())
    }
}

/// A phase and how useful it is: if time is short, low ranks are run first.
struct Candidate {
    rank: u32,
    spec: PhaseSpec,
}

fn candidates(inputs: &PlanInputs) -> Vec<Candidate> {
    let base = |pattern, reads, bytes, depth| {
        let mut w = Workload::closed(pattern, reads, bytes, depth, inputs.region_bytes);
        w.offset_bytes = inputs.offset_bytes;
        w.direct = inputs.direct;
        w.seed = inputs.seed;
        w
    };
    let random = |reads, bytes, depth| base(Pattern::Random, reads, bytes, depth);
    let sequential = |reads, bytes, depth| base(Pattern::Sequential, reads, bytes, depth);
    let mut out = Vec::new();
    let mut add = |rank, group, id: PhaseId, title: String, workload| {
        let spec = PhaseSpec::new(id, title, group, workload, 0);
        out.push(Candidate { rank, spec });
    };

    let mut cached = sequential(100, MIB, 1);
    cached.direct = false;
    cached.region_bytes = CACHED_BYTES.min(inputs.region_bytes);
    let title = "cached read 1 MiB, depth 1 (page cache, as hdparm -T)";
    add(9, Group::Cached, PhaseId::CachedRead, title.into(), cached);
    let d = SEQUENTIAL_DEPTH;
    let title = format!("sequential read 1 MiB, depth {d}");
    add(3, Group::Sequential, PhaseId::SequentialRead, title, sequential(100, MIB, d));
    let ranks = [(1, 1), (2, 14), (4, 11), (8, 10), (16, 13), (32, 2), (64, 16), (128, 17)];
    for (depth, rank) in ranks.into_iter().chain([(256, 18)]) {
        let title = format!("random read 4 KiB, depth {depth}");
        add(rank, Group::Curve, PhaseId::RandomRead(depth), title, random(100, KIB4, depth));
    }
    let block = inputs.logical_block_bytes;
    for (depth, rank) in [(1, 12), (32, 15)] {
        let title = format!("random read of one block ({block} bytes), depth {depth}");
        add(rank, Group::Block, PhaseId::BlockRead(depth), title, random(100, block, depth));
    }
    let large = LARGE_DEPTH;
    let title = format!("random read 128 KiB, depth {large}");
    add(19, Group::Large, PhaseId::LargeRead, title, random(100, KIB128, large));
    let title = format!("sequential write 1 MiB, depth {d}");
    add(6, Group::Sequential, PhaseId::SequentialWrite, title, sequential(0, MIB, d));
    for (depth, rank) in [(1, 5), (8, 21), (32, 8)] {
        let title = format!("random write 4 KiB, depth {depth}");
        add(rank, Group::Write, PhaseId::RandomWrite(depth), title, random(0, KIB4, depth));
    }
    let title = format!("random write 128 KiB, depth {large}");
    add(20, Group::Large, PhaseId::LargeWrite, title, random(0, KIB128, large));
    let title = "70 % reads, 30 % writes, random 4 KiB, depth 32".into();
    add(7, Group::Mix, PhaseId::Mix, title, random(70, KIB4, 32));
    let mut commit = sequential(0, KIB4, 1);
    commit.flush_every = 1;
    let title = "commit: write 4 KiB and flush, depth 1".into();
    add(4, Group::Commit, PhaseId::Commit, title, commit);

    for depth in [64, 128, 256] {
        let name = |d: u32| PhaseId::RandomRead(d).to_string();
        if let Some(c) = out.iter_mut().find(|c| c.spec.name == name(depth)) {
            let (from, to) = (name(depth / 4), name(depth / 2));
            c.spec.only_if = Some(Rise { from, to, factor: RISE });
        }
    }
    out
}

/// Why the target does not allow a phase.
fn refusal(spec: &PhaseSpec, inputs: &PlanInputs) -> Option<String> {
    let (w, block) = (&spec.workload, inputs.logical_block_bytes);
    if w.destroys() && inputs.medium == PlanMedium::ReadOnly {
        return Some("the target is only read: writing would destroy what it holds".into());
    }
    if w.destroys() && inputs.medium == PlanMedium::ModelledZones {
        let why = "zones are only written at their write pointers: seekwell bench --zonemode=zbd";
        return Some(why.into());
    }
    if inputs.medium.is_modelled() && !w.direct {
        return Some("a modelled machine has no page cache".into());
    }
    if spec.group == Group::Block && block == KIB4 {
        return Some("one logical block is 4 KiB: the same as rand-read-4k".into());
    }
    if spec.group == Group::Block && !inputs.direct {
        return Some("without O_DIRECT the page cache reads whole pages, never one block".into());
    }
    if w.direct && (block == 0 || !w.max_bytes().is_multiple_of(block)) {
        let bytes = w.max_bytes();
        return Some(format!(
            "the logical block is {block} bytes: requests of {bytes} bytes are impossible"
        ));
    }
    if w.region_bytes < u64::from(w.max_bytes()) {
        let (region, bytes) = (w.region_bytes, w.max_bytes());
        return Some(format!("too small: {region} bytes in reach, {bytes} a request"));
    }
    w.check().err().map(|e| e.to_string())
}

/// Marks all but the `room` most telling of what could be run as left out; gives the number kept.
fn keep_the_most_telling(candidates: &mut [Candidate], room: usize, level: Level) -> usize {
    let mut open: Vec<_> = candidates.iter_mut().filter(|c| c.spec.skipped.is_none()).collect();
    open.sort_by_key(|c| c.rank);
    for c in open.iter_mut().skip(room) {
        c.spec.skipped = Some(match level {
            Level::Normal => "left out: no time for it".into(),
            _ => format!("left out of {}", level.option()),
        });
    }
    open.len().min(room)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVELS: [Level; 3] = [Level::Quick, Level::Normal, Level::Thorough];
    const MEDIA: [PlanMedium; 4] =
        [PlanMedium::Scratch, PlanMedium::ReadOnly, PlanMedium::Destroyed, PlanMedium::Modelled];

    fn inputs(medium: PlanMedium) -> PlanInputs {
        PlanInputs {
            medium,
            offset_bytes: 0,
            region_bytes: 1 << 30,
            logical_block_bytes: 512,
            direct: true,
            seed: 7,
        }
    }

    fn run_names(plan: &Plan) -> Vec<&str> {
        plan.run_phases().map(|p| p.name.as_str()).collect()
    }

    #[test]
    fn every_plan_keeps_its_budget_and_uses_most_of_it() {
        for level in LEVELS {
            for medium in MEDIA {
                for direct in [true, false] {
                    for logical_block_bytes in [512, 4096, 16384] {
                        let i = PlanInputs { direct, logical_block_bytes, ..inputs(medium) };
                        let plan = Plan::new(level, i);
                        let took = plan.duration();
                        assert!(took <= level.measuring_budget(), "{level:?} {i:?}: {took}");
                        if logical_block_bytes == 512 && direct {
                            let least = Nanos(level.measuring_budget().0 / 10 * 9);
                            assert!(took >= least, "{level:?} {i:?}: only {took}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn every_run_is_long_enough_for_a_rate_and_repeated() {
        for level in LEVELS {
            for medium in MEDIA {
                let plan = Plan::new(level, inputs(medium));
                for p in plan.run_phases() {
                    assert!(p.workload.runtime_ns > crate::summary::SHORTEST_RATE, "{}", p.name);
                    let least = if level == Level::Quick { 2 } else { 3 };
                    assert!(p.repeats >= least, "{} {}", p.name, p.repeats);
                    p.workload.check().expect("can be run");
                }
            }
        }
    }

    #[test]
    fn a_normal_plan_runs_all_phases_reads_first_and_commits_last() {
        let plan = Plan::new(Level::Normal, inputs(PlanMedium::Scratch));
        assert_eq!(
            run_names(&plan),
            [
                "cached-read",
                "seq-read-1m",
                "rand-read-4k-d1",
                "rand-read-4k-d2",
                "rand-read-4k-d4",
                "rand-read-4k-d8",
                "rand-read-4k-d16",
                "rand-read-4k-d32",
                "rand-read-4k-d64",
                "rand-read-4k-d128",
                "rand-read-4k-d256",
                "rand-read-block-d1",
                "rand-read-block-d32",
                "rand-read-128k-d8",
                "seq-write-1m",
                "rand-write-4k-d1",
                "rand-write-4k-d8",
                "rand-write-4k-d32",
                "rand-write-128k-d8",
                "mix-70-30-4k-d32",
                "commit-4k",
            ]
        );
        let extended = plan.phase("rand-read-4k-d128").and_then(|p| p.only_if.clone());
        let expect =
            Rise { from: "rand-read-4k-d32".into(), to: "rand-read-4k-d64".into(), factor: 1.1 };
        assert_eq!(extended, Some(expect));
        let cached = &plan.phase("cached-read").expect("there").workload;
        assert!(!cached.direct);
        assert_eq!((cached.region_bytes, cached.max_bytes()), (2 << 20, 1 << 20));
        let commit = &plan.phase("commit-4k").expect("there").workload;
        assert_eq!((commit.flush_every, commit.pace.depth(), commit.read_percent), (1, 1, 0));
    }

    #[test]
    fn quick_runs_the_most_telling_phases_and_names_what_it_left_out() {
        let plan = Plan::new(Level::Quick, inputs(PlanMedium::Scratch));
        assert_eq!(
            run_names(&plan),
            [
                "cached-read",
                "seq-read-1m",
                "rand-read-4k-d1",
                "rand-read-4k-d32",
                "seq-write-1m",
                "rand-write-4k-d1",
                "rand-write-4k-d32",
                "mix-70-30-4k-d32",
                "commit-4k",
            ]
        );
        let left_out = plan.phase("rand-read-4k-d8").and_then(|p| p.skipped.as_deref());
        assert_eq!(left_out, Some("left out of --quick"));
    }

    #[test]
    fn nothing_that_writes_is_run_on_a_read_only_medium() {
        for level in LEVELS {
            let plan = Plan::new(level, inputs(PlanMedium::ReadOnly));
            assert!(plan.run_phases().all(|p| !p.workload.destroys()));
            for name in ["seq-write-1m", "rand-write-4k-d1", "mix-70-30-4k-d32", "commit-4k"] {
                let why = plan.phase(name).and_then(|p| p.skipped.as_deref()).expect(name);
                assert!(why.contains("only read"), "{name}: {why}");
            }
        }
    }

    #[test]
    fn a_disk_of_one_sector_or_none_has_a_plan_that_says_what_is_too_small() {
        let i = PlanInputs { region_bytes: 512, ..inputs(PlanMedium::ReadOnly) };
        assert_eq!(
            run_names(&Plan::new(Level::Normal, i)),
            ["rand-read-block-d1", "rand-read-block-d32"]
        );
        let empty = Plan::new(Level::Normal, PlanInputs { region_bytes: 0, ..i });
        assert!(run_names(&empty).is_empty());
        assert_eq!((empty.duration(), empty.rounds()), (Nanos::ZERO, 0));
        let why = empty.phase("rand-read-4k-d1").and_then(|p| p.skipped.as_deref());
        assert_eq!(why, Some("too small: 0 bytes in reach, 4096 a request"));
    }

    #[test]
    fn requests_smaller_than_a_logical_block_are_never_planned_past_the_page_cache() {
        for block in [4096, 16384, 65536] {
            let i = PlanInputs { logical_block_bytes: block, ..inputs(PlanMedium::Destroyed) };
            let plan = Plan::new(Level::Normal, i);
            let direct = plan.run_phases().filter(|p| p.workload.direct);
            for p in direct {
                assert!(p.workload.max_bytes().is_multiple_of(block), "{block}: {}", p.name);
            }
            let one_block = plan.phase("rand-read-block-d1").expect("there");
            assert_eq!(one_block.skipped.is_some(), block == 4096);
        }
    }

    #[test]
    fn without_o_direct_every_phase_is_buffered_and_one_block_is_not_read() {
        let plan =
            Plan::new(Level::Normal, PlanInputs { direct: false, ..inputs(PlanMedium::Scratch) });
        assert!(plan.phases.iter().all(|p| !p.workload.direct));
        assert!(plan.phase("rand-read-block-d1").is_some_and(|p| p.skipped.is_some()));
    }
}
