//! Experiments on a machine that exists in memory only: its effect, noise and drift are known.

mod going_on;
mod keeping;
mod method;

use crate::{
    Applied, ArmSpec, Condition, Design, Document, ExperimentError, Keeper, NotRestored,
    PrepareError, Region, Rig, Setting, Shape, Status, Temperature, begin, conduct,
};
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use seekwell_checkup::{ExecuteError, Execution};
use seekwell_inspect::{Fact, Inspection};
use seekwell_io::measurement::{Failure, FailureKind, Measurement, Stopped};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_io::workload::Workload;
use seekwell_job::PlainJob;
use seekwell_runs::Tool;
use seekwell_stats::Arm;
use seekwell_sys::HostActivity;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// A machine whose noise depends on the run's seed alone, so that a run repeated is the same run.
pub struct Virtual {
    /// Rate of B over that of A.
    pub effect: f64,
    /// Standard deviation of the logarithm of a run's rate.
    pub noise: f64,
    /// Rate of a run over that of the run before.
    pub drift: f64,
    /// The rate over a run's seconds, relative.
    pub course: Vec<f64>,
    /// Runs made on this machine, on any rig.
    pub made: u32,
    /// The run that fails with EIO.
    pub fails_at: Option<u32>,
    /// The run during which it gets too hot.
    pub hot_at: Option<u32>,
    /// What other programs have of its processors, 0 to 1.
    pub others: Option<f64>,
    /// A setting it does not take.
    pub refuses: Option<&'static str>,
    /// The stop flag is set inside this run.
    pub stop_in: Option<u32>,
    pub stop: Arc<AtomicBool>,
    pub inspection: Inspection,
    /// What inspecting gives after this many times.
    pub later: Option<(u32, Inspection)>,
    pub inspected: u32,
    pub boot: String,
    pub arm: Arm,
    pub settings: BTreeMap<String, String>,
    pub original: BTreeMap<String, String>,
    clock: u64,
}

pub fn inspection() -> Inspection {
    static ONCE: OnceLock<Inspection> = OnceLock::new();
    ONCE.get_or_init(Inspection::null).clone()
}

pub fn other_kernel(name: &str) -> Inspection {
    let mut inspection = inspection();
    inspection.host.kernel = Some(Fact::new(name.to_owned(), "/proc/sys/kernel/osrelease"));
    inspection
}

impl Virtual {
    pub fn new(effect: f64, noise: f64, drift: f64) -> Self {
        let original = BTreeMap::from([("scheduler".to_owned(), "mq-deadline".to_owned())]);
        Self {
            effect,
            noise,
            drift,
            course: Vec::new(),
            made: 0,
            fails_at: None,
            hot_at: None,
            others: None,
            refuses: None,
            stop_in: None,
            stop: Arc::default(),
            inspection: inspection(),
            later: None,
            inspected: 0,
            boot: "boot-1".to_owned(),
            arm: Arm::A,
            settings: original.clone(),
            original,
            clock: 0,
        }
    }

    fn rate(&self, seed: u64) -> f64 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let chance = Normal::new(0.0, self.noise).expect("a standard deviation");
        let effect = if self.arm == Arm::B { self.effect } else { 1.0 };
        let drift = self.drift.powi(self.made as i32);
        2e6 * effect * drift * chance.sample(&mut random).exp()
    }
}

impl Rig for Virtual {
    fn prepare(&mut self, which: Arm, arm: &ArmSpec) -> Result<Vec<Applied>, PrepareError> {
        self.settings.clone_from(&self.original);
        self.arm = which;
        let apply = |s: &Setting| {
            if self.refuses == Some(s.value.as_str()) {
                let (key, value) = (s.key.clone(), s.value.clone());
                return Err(PrepareError::Setting { key, value, why: "refused".to_owned() });
            }
            let was = self.settings.insert(s.key.clone(), s.value.clone()).unwrap_or_default();
            Ok(Applied { key: s.key.clone(), was, is: s.value.clone() })
        };
        arm.settings.iter().map(apply).collect()
    }

    fn settle(&mut self, pause: Nanos) {
        self.clock += pause.0;
    }

    fn run(&mut self, _: &ArmSpec, workload: &Workload) -> Result<Execution, ExecuteError> {
        let index = self.made;
        let mut m = Measurement::new(Nanos::from_millis(1000));
        m.elapsed = workload.runtime_ns;
        let seconds = workload.runtime_ns.as_secs_f64();
        let requests = (self.rate(workload.seed) * seconds).round() as u64;
        m.ops[Op::Read as usize].requests = requests;
        m.ops[Op::Read as usize].bytes = requests * 4096;
        for (i, share) in self.course.iter().enumerate() {
            let at = Nanos::from_millis(1000 * i as u64);
            m.series.at(at).requests[Op::Read as usize] =
                (share * requests as f64 / seconds) as u64;
        }
        if self.stop_in == Some(index) {
            self.stop_in = None;
            self.stop.store(true, Ordering::Relaxed);
            m.stopped = Stopped::Interrupted;
            return Ok(Execution::of(m));
        }
        if self.fails_at == Some(index) {
            m.failed = 1;
            m.stopped = Stopped::Failed;
            let kind = FailureKind::Errno { errno: 5 };
            m.first_failure = Some(Failure { op: Op::Read, offset: 8192, len: 4096, kind });
        }
        self.made += 1;
        self.clock += workload.runtime_ns.0;
        let host = HostActivity { others: self.others, ..HostActivity::default() };
        Ok(Execution { host, ..Execution::of(m) })
    }

    fn condition(&mut self) -> Condition {
        let hot = self.hot_at.is_some_and(|at| self.made > at);
        let celsius = if hot { 85.0 } else { 41.0 };
        let what = "the disk".to_owned();
        let limit_celsius = Some(84.0);
        let disk = Temperature { what, celsius, limit_celsius, alarm: false };
        Condition { temperatures: vec![disk], ..Condition::default() }
    }

    fn put_back(&mut self) -> Vec<NotRestored> {
        self.settings.clone_from(&self.original);
        Vec::new()
    }

    fn inspect(&mut self) -> Inspection {
        assert_eq!(self.settings, self.original, "inspected with an arm's settings");
        self.inspected += 1;
        match &self.later {
            Some((after, later)) if self.inspected > *after => later.clone(),
            _ => self.inspection.clone(),
        }
    }

    fn boot_id(&self) -> String {
        self.boot.clone()
    }

    fn region(&self) -> Region {
        Region { bytes: 1 << 30, direct: true }
    }

    fn now(&self) -> Nanos {
        Nanos(self.clock)
    }

    fn timestamp(&self) -> String {
        "2026-11-20T23:15:02Z".to_owned()
    }
}

/// Keeps every document that was saved, as the bytes that would be on the disk.
#[derive(Default)]
pub struct Saved(pub Vec<Vec<u8>>);

impl Keeper for Saved {
    fn save(&mut self, document: &Document) -> Result<(), ExperimentError> {
        self.0.push(serde_json::to_vec(document).expect("a document"));
        Ok(())
    }
}

/// Keeps nothing.
pub struct Nowhere;

impl Keeper for Nowhere {
    fn save(&mut self, _: &Document) -> Result<(), ExperimentError> {
        Ok(())
    }
}

pub fn document(seed: u64) -> Document {
    let metric = "read.requests_per_s".to_owned();
    let options = PlainJob { runtime_ns: Nanos::from_millis(1000), ..PlainJob::default() };
    let b = PlainJob { iodepth: 32, ..options.clone() };
    let tool = Tool { version: "0".to_owned(), git_commit: None };
    let design = Design { settle_ns: Nanos::from_millis(100), ..Design::new(metric, None, seed) };
    Document {
        id: "20261120-231502-experiment-5f3a".to_owned(),
        started_at: "2026-11-20T23:15:02Z".to_owned(),
        command: ["seekwell", "experiment", "--on", "null"].map(str::to_owned).to_vec(),
        identity: "null null".to_owned(),
        ..Document::new(tool, "null".to_owned(), design, ArmSpec::new(options), ArmSpec::new(b))
    }
}

/// One session to its end.
pub fn session(document: &mut Document, machine: &mut Virtual, keeper: &mut dyn Keeper) {
    begin(document, machine, None).expect("the machine is as it was");
    let stop = Arc::clone(&machine.stop);
    conduct(document, machine, keeper, &mut (), &stop).expect("it can be kept");
}
