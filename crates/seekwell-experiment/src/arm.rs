//! What the two arms are: workload options, settings of the disk, a command, a mode.

use seekwell_io::dispatch::TagPolicy;
use seekwell_io::target::Engine;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Pace, Pattern, SizeShare, Workload};
use serde::{Deserialize, Serialize};

/// Direction and order of requests, in fio's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rw {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Sequential mix.
    ReadWrite,
    /// Random mix.
    RandRw,
}

impl Rw {
    /// All, with what each does, in words.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Read, "Sequential reads"),
        (Self::Write, "Sequential writes"),
        (Self::RandRead, "Random reads"),
        (Self::RandWrite, "Random writes"),
        (Self::ReadWrite, "Sequential reads and writes"),
        (Self::RandRw, "Random reads and writes"),
    ];

    /// The direction and order of a word of fio's.
    pub fn named(name: &str) -> Option<Self> {
        let name = if name == "readwrite" { "rw" } else { name };
        Self::ALL.iter().map(|(rw, _)| *rw).find(|rw| rw.name() == name)
    }

    /// The word fio has for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::ReadWrite => "rw",
            Self::RandRw => "randrw",
        }
    }
}

/// The workload of an arm and how it is issued: `seekwell bench`'s options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Direction and order.
    pub rw: Rw,
    /// Size of a request.
    pub block_bytes: u32,
    /// Requests each thread keeps outstanding.
    pub iodepth: u32,
    /// Threads.
    pub numjobs: u32,
    /// Past the page cache.
    pub direct: bool,
    /// How requests are issued.
    pub engine: Engine,
    /// At most this many outstanding in all.
    pub tags: Option<u32>,
    /// Which waiting request gets a free tag; of no meaning without `tags`.
    #[serde(default = "shared")]
    pub tag_policy: TagPolicy,
    /// Share of reads of a mix, per cent.
    pub mix_read_percent: u8,
    /// Arrivals a second in each thread; `None` is a closed loop.
    pub rate_iops: Option<f64>,
    /// Random gaps between arrivals in place of even ones.
    pub poisson: bool,
    /// Where random requests go.
    pub distribution: Pattern,
    /// A flush after every N writes.
    pub fsync: u32,
    /// First byte used.
    pub offset_bytes: u64,
    /// Measured time of a run.
    pub runtime_ns: Nanos,
    /// Time run before measuring.
    pub ramp_ns: Nanos,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rw: Rw::RandRead,
            block_bytes: 4096,
            iodepth: 1,
            numjobs: 1,
            direct: true,
            engine: Engine::Auto,
            tags: None,
            tag_policy: TagPolicy::Shared,
            mix_read_percent: 50,
            rate_iops: None,
            poisson: false,
            distribution: Pattern::Random,
            fsync: 0,
            offset_bytes: 0,
            runtime_ns: Nanos::from_millis(5000),
            ramp_ns: Nanos::ZERO,
        }
    }
}

const fn shared() -> TagPolicy {
    TagPolicy::Shared
}

impl Options {
    /// The rule over tags, where there is one.
    pub fn tags(&self) -> Option<(TagPolicy, u32)> {
        self.tags.map(|tags| (self.tag_policy, tags))
    }

    /// Share of reads, per cent.
    pub fn read_percent(&self) -> u8 {
        match self.rw {
            Rw::Read | Rw::RandRead => 100,
            Rw::Write | Rw::RandWrite => 0,
            Rw::ReadWrite | Rw::RandRw => self.mix_read_percent,
        }
    }

    /// Whether it changes what the target holds.
    pub fn writes(&self) -> bool {
        self.read_percent() < 100
    }

    /// The workload over `region_bytes` from the offset on, with this seed. `direct` is whether the
    /// target can be driven past the page cache.
    pub fn workload(&self, region_bytes: u64, direct: bool, seed: u64) -> Workload {
        let depth = self.iodepth;
        Workload {
            pattern: match self.rw {
                Rw::Read | Rw::Write | Rw::ReadWrite => Pattern::Sequential,
                Rw::RandRead | Rw::RandWrite | Rw::RandRw => self.distribution,
            },
            read_percent: self.read_percent(),
            sizes: vec![SizeShare { bytes: self.block_bytes, weight: 1 }],
            align_bytes: 0,
            pace: match self.rate_iops {
                None => Pace::Closed { depth },
                Some(requests_per_s) => Pace::Open { requests_per_s, poisson: self.poisson, depth },
            },
            flush_every: self.fsync,
            offset_bytes: self.offset_bytes,
            region_bytes,
            threads: self.numjobs,
            direct: self.direct && direct,
            runtime_ns: self.runtime_ns,
            ramp_ns: self.ramp_ns,
            requests: 0,
            seed,
        }
    }

    /// Every option as typed on the command line, defaults that change nothing left out.
    pub fn words(&self) -> Vec<(&'static str, String)> {
        let mut words = vec![
            ("rw", self.rw.name().to_owned()),
            ("bs", bytes(u64::from(self.block_bytes))),
            ("iodepth", self.iodepth.to_string()),
            ("numjobs", self.numjobs.to_string()),
            ("direct", u8::from(self.direct).to_string()),
            ("engine", self.engine.name().to_owned()),
        ];
        let mut add = |key, value: Option<String>| words.extend(value.map(|v| (key, v)));
        add("tags", self.tags.map(|t| t.to_string()));
        let ruled = self.tags().filter(|(policy, _)| *policy != TagPolicy::Shared);
        add("tag-policy", ruled.map(|(policy, _)| policy.name().to_owned()));
        let mixed = matches!(self.rw, Rw::ReadWrite | Rw::RandRw);
        add("rwmixread", mixed.then(|| self.mix_read_percent.to_string()));
        add("rate_iops", self.rate_iops.map(|r| r.to_string()));
        add("rate_process", self.poisson.then(|| "poisson".to_owned()));
        add(
            "random_distribution",
            match self.distribution {
                Pattern::Zipf { theta } => Some(format!("zipf:{theta}")),
                Pattern::Random | Pattern::Sequential => None,
            },
        );
        add("fsync", (self.fsync > 0).then(|| self.fsync.to_string()));
        add("offset", (self.offset_bytes > 0).then(|| bytes(self.offset_bytes)));
        add("runtime", Some(time(self.runtime_ns)));
        let ramp = self.ramp_ns > Nanos::ZERO;
        add("ramp_time", ramp.then(|| time(self.ramp_ns)));
        words
    }
}

fn time(t: Nanos) -> String {
    match t.0 {
        ns if ns % 1_000_000_000 == 0 => format!("{}s", ns / 1_000_000_000),
        ns if ns % 1_000_000 == 0 => format!("{}ms", ns / 1_000_000),
        ns => format!("{}us", ns as f64 / 1e3),
    }
}

fn bytes(n: u64) -> String {
    match n {
        n if n > 0 && n % (1 << 30) == 0 => format!("{}g", n >> 30),
        n if n > 0 && n % (1 << 20) == 0 => format!("{}m", n >> 20),
        n if n > 0 && n % (1 << 10) == 0 => format!("{}k", n >> 10),
        n => n.to_string(),
    }
}

/// A setting of the disk or machine, by tune's key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// `scheduler`, `read_ahead_kb` …
    pub key: String,
    /// The value to set.
    pub value: String,
}

/// One arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArmSpec {
    /// Its workload.
    pub options: Options,
    /// Settings applied before each of its runs, in this order.
    pub settings: Vec<Setting>,
    /// The letter of the highest risk its settings may have, where that is C or D.
    #[serde(default)]
    pub allow_risk: Option<char>,
    /// A shell command run before each of its runs.
    pub command: Option<String>,
    /// A mode of the machine that only a person can set, `AHCI in the BIOS`.
    pub mode: Option<String>,
}

impl ArmSpec {
    /// An arm with these options and nothing else.
    pub fn new(options: Options) -> Self {
        Self { options, settings: Vec::new(), allow_risk: None, command: None, mode: None }
    }

    /// Its settings as keys and values.
    pub fn pairs(&self) -> Vec<(String, String)> {
        self.settings.iter().map(|s| (s.key.clone(), s.value.clone())).collect()
    }

    /// What this arm has that the other lacks or sets differently, as typed: `iodepth=32`,
    /// `scheduler=none`. Empty when it is the baseline the other one changes, or the same.
    pub fn against(&self, other: &Self) -> Vec<String> {
        let theirs = other.options.words();
        let mut own: Vec<String> = self
            .options
            .words()
            .into_iter()
            .filter(|word| !theirs.contains(word))
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let settings = self.settings.iter().filter(|s| !other.settings.contains(s));
        own.extend(settings.map(|s| format!("{}={}", s.key, s.value)));
        if self.command != other.command {
            own.extend(self.command.as_ref().map(|c| format!("after `{c}`")));
        }
        if self.mode != other.mode {
            own.extend(self.mode.clone());
        }
        own
    }

    /// [`ArmSpec::against`] as one line; `as it is` where there is nothing to name.
    pub fn label(&self, other: &Self) -> String {
        let own = self.against(other);
        if own.is_empty() { "as it is".to_owned() } else { own.join(", ") }
    }
}
