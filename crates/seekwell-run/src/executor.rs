//! Executes workloads on what was opened: the one place where real targets, the engine and the
//! device's own counters meet.

use crate::RunError;
use crate::bench::Watch;
use crate::wear::{Counting, shares};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use seekwell_access::{Opened, Way};
use seekwell_checkup::{ExecuteError, Execution, Executor, Load, PhaseSpec, Wear, WentBack};
use seekwell_io::clock::Clock;
use seekwell_io::dispatch::{SharedTags, TagPolicy, Unlimited, dispatcher};
use seekwell_io::engine::{Bounds, Control, EngineError, run_beside, run_source, run_threads};
use seekwell_io::measurement::Measurement;
use seekwell_io::request::{Flags, Op};
use seekwell_io::target::{Engine, Null, Passthrough, Real, Stamped, Target, TargetError, Uring};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Generator, Pattern, Together, Workload};
use seekwell_job::PlainJob;
use seekwell_machine::{AnyPart, Machine, Model, Part, Written};
use seekwell_runs::DeviceCount;
use seekwell_sys::{DevId, DiskCounters, HostActivity, HostCounters, Live, View};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// How often, and how long apart, a device is looked for after a request failed. The kernel takes a
/// disk out of sysfs tens of milliseconds after its requests begin to fail.
const REMOVAL_LOOKS: u32 = 10;
const REMOVAL_PAUSE: Duration = Duration::from_millis(50);

/// Depth of the ring that is tried out: the deepest of a checkup.
const PROBE_DEPTH: u32 = 128;
/// Locked memory that is enough for a ring, in KiB.
const RING_KIB: u32 = 1024;

/// The engine for a choice, and, if it is not io_uring, why. `tell` is called with that, too,
/// unless threads were asked for.
///
/// # Errors
/// When io_uring was insisted on and is refused, or fails for another reason.
pub fn pick(choice: Engine, tell: impl Fn(&str)) -> Result<(Engine, Option<String>), RunError> {
    if choice == Engine::Threads {
        return Ok((choice, Some("threads were asked for (--engine threads)".into())));
    }
    let probe = File::open("/proc/self/exe").map_err(|e| TargetError::Setup {
        what: "opening the program's own file",
        errno: e.raw_os_error().unwrap_or(0),
    })?;
    match Uring::new(probe.as_fd(), PROBE_DEPTH, 4096, 0) {
        Ok(_) => Ok((choice, None)),
        Err(refused @ TargetError::RingRefused { .. }) if choice == Engine::Auto => {
            let notice = format!("{refused}{}", who_forbids(&refused));
            tell(&format!("{notice}; threads are used instead and cost more CPU time"));
            Ok((Engine::Threads, Some(notice)))
        }
        Err(refused @ TargetError::RingRefused { .. }) => {
            Err(RunError::RingRefused { by: who_forbids(&refused), refused })
        }
        Err(e) => Err(e.into()),
    }
}

/// What forbids io_uring, and the command that allows it: the limit of locked memory, the sysctl,
/// or else a seccomp filter.
fn who_forbids(refused: &TargetError) -> String {
    let no_memory = TargetError::RingRefused { errno: Errno::NOMEM.raw_os_error() };
    if *refused == no_memory
        && let Some(limit) = getrlimit(Resource::Memlock).current
    {
        return format!(
            " (this process may lock {} KiB of memory, `ulimit -l`; needed {RING_KIB}: \
             `ulimit -l {RING_KIB}`, as root where the hard limit is lower)",
            limit >> 10
        );
    }
    match std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").as_deref().map(str::trim) {
        Ok("0") | Err(_) => " (a container's or service's seccomp filter, or an old kernel)".into(),
        Ok(value) => format!(
            " (kernel.io_uring_disabled is {value}; needed 0: sysctl kernel.io_uring_disabled=0)"
        ),
    }
}

/// Where requests go.
pub enum Source {
    /// Nowhere.
    Null,
    /// To a modelled machine, a new one for each execution.
    Modelled(Arc<Model>),
    /// To something that was opened, and whose device counts under this number.
    Opened {
        /// What was opened.
        opened: Box<Opened>,
        /// Its block device, if it has one.
        device: Option<DevId>,
        /// The device whose counters show what reached a disk: the one below loop devices.
        counting: Option<DevId>,
        /// Its character device, once NVMe passthrough was asked for.
        commands: Option<OwnedFd>,
    },
}

impl Source {
    /// Whether a request failed because the device was removed, which is not the disk's fault. It
    /// then loses its folder in sysfs, or its size while it is still open, but only some time after
    /// the request failed.
    pub fn was_removed(&self, measurement: &Measurement, view: &dyn View) -> bool {
        let Self::Opened { device: Some(device), .. } = self else { return false };
        let folder = device.sysfs();
        let is_gone = || !view.exists(&folder) || view.number(&folder.join("size")) == Ok(0);
        measurement.first_failure.is_some()
            && (0..REMOVAL_LOOKS).any(|look| {
                if look > 0 {
                    std::thread::sleep(REMOVAL_PAUSE);
                }
                is_gone()
            })
    }

    /// Refuses what requests of up to `max_bytes` cannot have here.
    ///
    /// # Errors
    /// As for [`Flags::check`], and where requests go to no kernel.
    pub fn check(&self, flags: Flags, max_bytes: u32) -> Result<(), TargetError> {
        match self {
            _ if flags.is_none() => Ok(()),
            Self::Null | Self::Modelled(_) => Err(TargetError::NoKernel),
            Self::Opened { opened, .. } => flags.check(opened.as_fd(), max_bytes),
        }
    }

    /// Opens the character device for NVMe passthrough if a job, or the default engine, uses it.
    ///
    /// # Errors
    /// What [`Opened::commands`] and [`Passthrough::check`] refuse, and jobs that go through the
    /// page cache.
    pub fn open_commands(
        &mut self,
        own: Engine,
        jobs: &[&PlainJob],
        view: &dyn View,
    ) -> Result<(), RunError> {
        let Self::Opened { opened, commands, .. } = self else { return Ok(()) };
        let by_command = || jobs.iter().filter(|job| job.engine == Engine::IoUringCmd);
        if own != Engine::IoUringCmd && by_command().next().is_none() {
            return Ok(());
        }
        let opened = commands.insert(opened.commands(view)?);
        by_command().try_for_each(|job| match job.direct {
            true => Ok(Passthrough::check(opened.as_fd(), job.flags, job.block_bytes)?),
            false => Err(TargetError::NotByCommand.into()),
        })
    }

    /// The descriptor that an engine uses; `None` if requests do not reach the kernel.
    pub fn file(&self, engine: Engine) -> Option<BorrowedFd<'_>> {
        match (self, engine) {
            (Self::Null | Self::Modelled(_), _) => None,
            (Self::Opened { commands, .. }, Engine::IoUringCmd) => {
                Some(commands.as_ref().expect("opened where a job wants it").as_fd())
            }
            (Self::Opened { opened, .. }, _) => Some(opened.as_fd()),
        }
    }

    /// What its device has counted so far, where it counts.
    pub fn counters(&self, view: &dyn View) -> Option<DiskCounters> {
        let Self::Opened { counting: Some(device), .. } = self else { return None };
        DiskCounters::read(view, *device).ok()
    }
}

/// Executes workloads on a [`Source`].
pub struct RealExecutor {
    source: Source,
    engine: Engine,
    tags: Option<(TagPolicy, u32)>,
    control: Arc<Control>,
    view: Live,
    clock: Clock,
    /// Phases that are issued by an engine and under tags of their own.
    by_phase: BTreeMap<String, (Engine, Option<(TagPolicy, u32)>)>,
    /// Phases that run on a model of their own.
    models: BTreeMap<String, Arc<Model>>,
    /// The same data through the page cache, once that was asked for.
    buffered: Option<OwnedFd>,
    /// A modelled machine stays as the last workload left it.
    lasting: bool,
    machine: Option<Machine<AnyPart>>,
    /// What looks on at the next workload of one thread, and may end it.
    watch: Option<Watch>,
    counting: Counting,
    /// What the modelled drive wrote in the last workload.
    worn: Option<Result<Wear, WentBack>>,
}

impl RealExecutor {
    /// An executor; `tags` bounds what is outstanding, by a policy.
    pub fn new(
        source: Source,
        engine: Engine,
        tags: Option<(TagPolicy, u32)>,
        control: Arc<Control>,
    ) -> Self {
        let clock = Clock::real();
        let (view, buffered, lasting, machine) = (Live::system(), None, false, None);
        let (by_phase, models) = (BTreeMap::new(), BTreeMap::new());
        Self {
            source,
            engine,
            tags,
            control,
            view,
            clock,
            by_phase,
            models,
            buffered,
            lasting,
            machine,
            watch: None,
            counting: Counting::default(),
            worn: None,
        }
    }

    /// From now on a modelled machine stays as each workload leaves it, as a real one does; without
    /// this, each has a new one.
    pub fn keep_machine(&mut self) {
        self.lasting = true;
    }

    /// The next workload has a new machine.
    pub fn renew_machine(&mut self) {
        self.machine = None;
    }

    /// Asks a drive what it has written, around each workload that writes.
    pub(crate) fn count(&mut self, counting: Counting) {
        self.counting = counting;
    }

    /// What the drive, or that of the model, has written so far.
    pub(crate) fn wear(&mut self) -> Option<Wear> {
        let Source::Modelled(model) = &self.source else { return self.counting.read() };
        let written = match &self.machine {
            Some(machine) => machine.part().usage().written?,
            None => model.build(0).part().usage().written?,
        };
        Some(modelled_wear(written))
    }

    /// Has something look on at the next workload, which has one thread.
    pub(crate) fn watch(&mut self, watch: Watch) {
        self.watch = Some(watch);
    }

    /// What looked on at the last workload.
    pub(crate) fn watched(&mut self) -> Option<Watch> {
        self.watch.take()
    }

    /// Asks another model from now on.
    pub fn ask(&mut self, model: Model) {
        self.source = Source::Modelled(Arc::new(model));
    }

    /// Issues the next workloads by another engine, under other tags.
    pub fn issue_by(&mut self, engine: Engine, tags: Option<(TagPolicy, u32)>) {
        (self.engine, self.tags) = (engine, tags);
    }

    /// Issues a phase by another engine, under other tags, whenever it is its turn.
    pub fn issue_phase_by(&mut self, phase: &str, engine: Engine, tags: Option<(TagPolicy, u32)>) {
        self.by_phase.insert(phase.to_owned(), (engine, tags));
    }

    /// Asks a model of its own whenever it is the turn of a phase.
    pub fn ask_in_phase(&mut self, phase: &str, model: Model) {
        self.models.insert(phase.to_owned(), Arc::new(model));
    }

    /// Makes ready for a workload.
    pub(crate) fn ready(&mut self, workload: &Workload) -> Result<(), ExecuteError> {
        if self.control.stop.load(Relaxed) {
            return Err(ExecuteError::Interrupted);
        }
        self.source.check(workload.flags, workload.max_bytes()).map_err(EngineError::from)?;
        if !workload.direct
            && let (Source::Opened { opened, .. }, None) = (&self.source, &self.buffered)
        {
            let fd = opened.reopen(Way::default()).map_err(|e| ExecuteError::OpenFailed {
                path: "the target, through the page cache".into(),
                errno: e.raw_os_error().unwrap_or(0),
            })?;
            self.buffered = Some(fd);
        }
        Ok(())
    }

    /// The file that a workload's requests go to; `None` if they go nowhere.
    fn file(&self, workload: &Workload) -> Option<BorrowedFd<'_>> {
        match (&self.source, workload.direct, &self.buffered) {
            (Source::Opened { .. }, false, Some(buffered)) => Some(buffered.as_fd()),
            (source, ..) => source.file(self.engine),
        }
    }

    /// What its device has counted so far. The kernel does not count passthrough commands.
    fn counters(&self) -> Option<DiskCounters> {
        let counts = self.engine != Engine::IoUringCmd;
        counts.then(|| self.source.counters(&self.view)).flatten()
    }

    fn measure(&mut self, workload: &Workload) -> Result<Measurement, EngineError> {
        if let Source::Modelled(model) = &self.source {
            let model = Arc::clone(model);
            return self.modelled(&model, workload);
        }
        let mut watch = self.watch.take();
        let measured = self.opened(workload, watch.as_mut());
        self.watch = watch;
        measured
    }

    /// Measures on what is open, or on nothing.
    fn opened(
        &self,
        workload: &Workload,
        watch: Option<&mut Watch>,
    ) -> Result<Measurement, EngineError> {
        let (engine, file) = (self.engine, self.file(workload));
        if file.is_none() {
            // The engine's own cost: not even a choice of targets is in its loop.
            return self.issued(workload, |_| Ok(Null::new()));
        }
        if let Some(watch) = watch {
            workload.check()?;
            let mut target = open(engine, file, workload, 0)?;
            let mut source = watch.over(Generator::new(workload, 0));
            let bounds = Bounds::of(workload);
            let mut tags = Unlimited::default();
            return run_source(&mut source, bounds, &mut target, &mut tags, &self.control);
        }
        self.issued(workload, |thread| open(engine, file, workload, thread))
    }

    /// Runs the threads of a workload under the rule over tags.
    fn issued<T: Target>(
        &self,
        workload: &Workload,
        open: impl Fn(u32) -> Result<T, TargetError> + Sync,
    ) -> Result<Measurement, EngineError> {
        let control = &self.control;
        match self.tags {
            None => run_threads(workload, |t| Ok((open(t)?, Unlimited::default())), control),
            Some((TagPolicy::Shared, tags)) => {
                run_threads(workload, |t| Ok((open(t)?, SharedTags::new(tags))), control)
            }
            Some((policy, tags)) => {
                run_threads(workload, |t| Ok((open(t)?, policy.over(tags))), control)
            }
        }
    }

    /// What came of a measurement; `before` is what the device had counted.
    fn executed(
        &self,
        measured: Result<Measurement, EngineError>,
        before: Option<DiskCounters>,
        host: HostActivity,
    ) -> Result<Execution, ExecuteError> {
        let measurement = measured?;
        if self.source.was_removed(&measurement, &self.view) {
            return Err(ExecuteError::DeviceGone { errno: Errno::NODEV.raw_os_error() });
        }
        let after = self.counters();
        let device = before.zip(after).and_then(|(b, a)| share(&a.since(&b), &measurement));
        Ok(Execution { device, host, ..Execution::of(measurement) })
    }

    /// All threads of a workload on one machine, on its own clock.
    fn modelled(&mut self, model: &Model, workload: &Workload) -> Result<Measurement, EngineError> {
        workload.check()?;
        let mut machine = self.machine.take().unwrap_or_else(|| model.build(workload.seed));
        let before = machine.part().usage().written;
        let mut dispatcher = dispatcher(self.tags.or_else(|| model.tags()));
        let depth = workload.pace.depth();
        let threads = (0..workload.threads).map(|t| (Generator::new(workload, t), depth));
        let mut source = Together::new(threads);
        let bounds = Bounds { depth: source.depth(), ..Bounds::of(workload) };
        let control = &self.control;
        let measured = match &mut self.watch {
            None => run_source(&mut source, bounds, &mut machine, &mut dispatcher, control),
            Some(watch) => {
                let mut source = watch.over(source);
                run_source(&mut source, bounds, &mut machine, &mut dispatcher, control)
            }
        };
        let worn = before.zip(machine.part().usage().written);
        self.worn = worn.map(|(b, a)| modelled_wear(a).since(modelled_wear(b)));
        self.machine = self.lasting.then_some(machine);
        measured
    }
}

impl Executor for RealExecutor {
    fn execute(&mut self, workload: &Workload) -> Result<Execution, ExecuteError> {
        self.ready(workload)?;
        let counted = workload.destroys().then(|| self.counting.read()).flatten();
        let times = self.counting.times();
        let began = Instant::now();
        self.worn = None;
        let real = !matches!(self.source, Source::Modelled(_));
        let host = real.then(|| HostCounters::read(&self.view));
        let before = self.counters();
        let measured = self.measure(workload);
        let host = host.map(|before| HostCounters::read(&self.view).since(&before));
        let executed = self.executed(measured, before, host.unwrap_or_default())?;
        let counted = counted.and_then(|before| Some(self.counting.read()?.since(before)));
        let wear = self.worn.take().or(counted).filter(|_| workload.destroys());
        let shares = shares(&times, &self.counting.times(), began.elapsed());
        Ok(Execution { wear, shares, ..executed })
    }

    /// On one model, which has one clock, one after the other.
    fn beside(&mut self, loads: &[Load<'_>]) -> Vec<Result<Execution, ExecuteError>> {
        if matches!(self.source, Source::Modelled(_)) {
            return loads.iter().map(|load| self.execute(&load.workload)).collect();
        }
        if let Some(error) = loads.iter().find_map(|load| self.ready(&load.workload).err()) {
            return loads.iter().map(|_| Err(error.clone())).collect();
        }
        beside(&loads.iter().map(|load| (&*self, &load.workload)).collect::<Vec<_>>())
    }

    fn begin(&mut self, phase: &PhaseSpec) {
        if let Some((engine, tags)) = self.by_phase.get(&phase.name) {
            self.issue_by(*engine, *tags);
        }
        if let Some(model) = self.models.get(&phase.name) {
            self.source = Source::Modelled(Arc::clone(model));
            self.machine = None;
        }
    }

    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn settle(&mut self, pause: Nanos) {
        // A modelled machine is new each time.
        if !matches!(self.source, Source::Modelled(_)) {
            std::thread::sleep(pause.into());
        }
    }
}

/// What one thread of a workload drives.
fn open(
    engine: Engine,
    file: Option<BorrowedFd<'_>>,
    workload: &Workload,
    thread: u32,
) -> Result<Real<Stamped>, TargetError> {
    let size = (workload.pace.depth(), workload.max_bytes());
    let data = || Stamped::new(workload.seed ^ u64::from(thread)).with_flags(workload.flags);
    Real::open(engine, file.as_slice(), size, data)
}

/// Runs workloads at the same time, each on what an executor has opened; two may be on the same.
/// All begin through one gate and end with the first that ends. None of them is on a model.
pub(crate) fn beside(loads: &[(&RealExecutor, &Workload)]) -> Vec<Result<Execution, ExecuteError>> {
    let Some((first, _)) = loads.first() else { return Vec::new() };
    let host = HostCounters::read(&first.view);
    let before: Vec<_> = loads.iter().map(|(on, _)| on.counters()).collect();
    let workloads: Vec<&Workload> = loads.iter().map(|(_, workload)| *workload).collect();
    let on: Vec<_> = loads.iter().map(|(on, w)| (on.engine, on.file(w), on.tags)).collect();
    let open = |number: usize, thread| {
        let (engine, file, tags) = on[number];
        Ok((open(engine, file, workloads[number], thread)?, dispatcher(tags)))
    };
    let measured = run_beside(&workloads, open, &first.control);
    let host = HostCounters::read(&first.view).since(&host);
    let each = loads.iter().zip(measured).zip(before);
    each.map(|(((on, _), measured), before)| on.executed(measured, before, host.clone())).collect()
}

/// A model counts in the units that its drives map.
fn modelled_wear(written: Written) -> Wear {
    Wear {
        host_bytes: written.host_bytes,
        media_bytes: Some(written.media_bytes),
        collected_bytes: Some(written.collected_bytes),
        erased_superblocks: Some(written.erased_superblocks),
        unit_bytes: 4096,
    }
}

/// What the device counted beside what was asked for; nothing to say of a run that asked for
/// nothing.
pub fn share(counted: &DiskCounters, measurement: &Measurement) -> Option<DeviceCount> {
    device_count(counted, measurement.op(Op::Read).bytes + measurement.op(Op::Write).bytes)
}

/// The same, where this many bytes were asked for.
pub fn device_count(counted: &DiskCounters, asked: u64) -> Option<DeviceCount> {
    let moved = counted.read_bytes + counted.written_bytes;
    (asked > 0).then(|| DeviceCount {
        read_bytes: counted.read_bytes,
        written_bytes: counted.written_bytes,
        flushes: counted.flushes,
        share: (moved as f64 / asked as f64).min(1.0),
    })
}

/// CPU time per request of the engine itself: 4 KiB random reads at depth 32 on the null target for
/// a tenth of a second. `None` when it was interrupted.
pub fn engine_cost_ns(control: &Arc<Control>) -> Option<f64> {
    let mut workload = Workload::closed(Pattern::Random, 100, 4096, 32, 1 << 40);
    workload.runtime_ns = Nanos::from_millis(100);
    let mut executor = RealExecutor::new(Source::Null, Engine::IoUring, None, Arc::clone(control));
    let measured = executor.execute(&workload).ok()?.measurement;
    let cpu = measured.cpu_user + measured.cpu_system;
    (measured.requests() > 0).then(|| cpu.0 as f64 / measured.requests() as f64)
}
