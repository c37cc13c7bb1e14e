//! Ceilings with a rate that is declared, and breaks in time that were seen.

use super::Said;
use crate::Run;
use crate::ceilings::{certain, usual};
use crate::curve::near;
use crate::point::{Op, Point};
use crate::words::command;
use seekwell_inspect::facts::MapperTarget;
use seekwell_inspect::{Device, DeviceKind, Fact};
use seekwell_io::units::{bytes_per_s, requests_per_s, whole_percent};
use seekwell_runs::limits::{Ceiling, Confidence, Station, Unit};
use seekwell_runs::{FastCause, Phase, Repeat, Study};

/// The processor time of the threads that issue requests, as a share of what they could have: 1 is
/// all of it. A pool uses a thread for each outstanding request, as far as there are processors.
pub fn cpu_share(run: &Run<'_>, phase: &Phase) -> Option<f64> {
    let document = run.document;
    let (threads, depth) = match phase.workload.plain() {
        Some(workload) => (workload.threads.max(1), workload.pace.depth()),
        None => (1, 1),
    };
    let issuing = match document.engine.name.as_str() {
        "threads" => f64::from(threads) * f64::from(depth),
        _ => f64::from(threads),
    };
    Some(phase.median("cpu_percent")? / (100.0 * issuing.min(cpus(run)).max(1.0)))
}

fn cpus(run: &Run<'_>) -> f64 {
    run.document.inspection.host.cpus.as_ref().map_or(1.0, |cpus| cpus.value.max(1) as f64)
}

/// From here on an issuing thread has no time to wait for the device; the rest is interrupts.
const BUSY: f64 = 0.9;

pub fn processor<'r>(run: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    let share = cpu_share(run, point.phase)?;
    if share >= BUSY {
        let seen =
            format!("{} of the CPU time its issuing threads could use", whole_percent(share));
        let said = Said::shown(Station::Processor).seen(seen, &point.phase.name);
        return Some(Said { tell: Some(command(run, "--numjobs=4")), ..said });
    }
    if let Some(said) = encryption(run, point) {
        return Some(said);
    }
    // A thread that needs little CPU time gets it at once, whatever other programs do.
    let others = others(point.phase).filter(|_| share >= 0.25)?;
    let own = point.phase.median("cpu_percent")? / (100.0 * cpus(run));
    let seen = format!(
        "other programs used {} of all CPU time, this one {}",
        whole_percent(others),
        whole_percent(own)
    );
    let said = || Said::likely(Station::Processor).seen(seen, &point.phase.name);
    (others + own >= BUSY).then(said)
}

/// dm-crypt works in kernel threads, whose time belongs to no program.
fn encryption<'r>(run: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    /// Of all processor time, the part used by kernel threads.
    const MOST: f64 = 0.5;
    run.document.inspection.device.as_ref().filter(|device| encrypts(device))?;
    let busy = least(point.phase, Repeat::BUSY).filter(|busy| *busy >= BUSY)?;
    let own = point.phase.median("cpu_percent")? / (100.0 * cpus(run));
    let kernel = busy - own - others(point.phase).unwrap_or(0.0);
    let seen = format!(
        "all processors were in use for {} of the time, {} by the kernel's threads",
        whole_percent(busy),
        whole_percent(kernel)
    );
    let said = Said::likely(Station::Processor).named("the processors, which encrypt for dm-crypt");
    (kernel >= MOST).then(|| said.seen(seen, &point.phase.name))
}

/// Whether a device or anything below it is encrypted by dm-crypt.
fn encrypts(device: &Device) -> bool {
    let is_crypt = |t: &Fact<MapperTarget>| matches!(t.value, MapperTarget::Crypt(_));
    device.detail.mapper.iter().flat_map(|m| &m.targets).any(is_crypt)
        || device.below.iter().any(encrypts)
}

/// The share of all processors that other programs used in every repeat; `None` if one repeat
/// has no such value, as those have in which it was small.
fn others(phase: &Phase) -> Option<f64> {
    least(phase, Repeat::OTHERS)
}

/// The least of a value in percent, as a share.
fn least(phase: &Phase, value: &str) -> Option<f64> {
    let shares = phase.repeats.iter().map(|repeat| repeat.values.get(value).copied());
    let shares: Vec<f64> = shares.collect::<Option<_>>()?;
    shares.into_iter().map(|percent| percent / 100.0).reduce(f64::min)
}

/// The measured rate in a ceiling's unit.
fn rate(point: &Point<'_>, ceiling: &Ceiling) -> f64 {
    match ceiling.unit {
        Unit::BytesPerS => point.bytes_per_s,
        Unit::RequestsPerS | Unit::Commands => point.requests_per_s,
    }
}

/// A limit that a control group sets is exact, but for slices of a tenth of a second.
pub fn group_limit<'r>(run: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    let reached = run.declared.iter().find(|ceiling| {
        let share = rate(point, ceiling) / ceiling.rate;
        ceiling.by == Station::Throttle
            && ceiling.op.as_deref() == point.op.name()
            && (usual(ceiling)..1.1).contains(&share)
    })?;
    Some(Said::shown(Station::Throttle).at(reached))
}

/// A limit of a cloud volume or its instance that the volume itself counts as exceeded.
pub fn volume_limit<'r>(_: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    /// Of the time, in percent.
    const MOST: f64 = 50.0;
    let share = |name: &str| point.phase.median(name).filter(|percent| *percent >= MOST);
    let limits = Repeat::EXCEEDED.iter();
    let reached = limits.filter_map(|(_, name, limit)| Some((share(name)?, *limit)));
    let (percent, limit) = reached.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let seen = format!("the volume counts {percent:.0} % of the time above {limit}");
    Some(Said::shown(Station::Throttle).named(limit).seen(seen, &point.phase.name))
}

/// A thin pool whose metadata device is hardly ever idle: new chunks and flushes wait for it.
pub fn pool_metadata<'r>(_: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    /// Of the time, in percent.
    const MOST: f64 = 80.0;
    let percent = point.phase.median(Repeat::POOL_METADATA).filter(|percent| *percent >= MOST)?;
    let seen = format!("the metadata device of the thin pool was busy {percent:.0} % of the time");
    let said = Said::likely(Station::Medium).named("the thin pool's metadata device");
    Some(said.seen(seen, &point.phase.name))
}

/// A disk in compressed memory: the processor does all of its work.
pub fn compressed_memory<'r>(run: &'r Run<'r>, _: &Point<'_>) -> Option<Said<'r>> {
    let device = run.document.inspection.device.as_ref()?;
    let is_zram = device.kind == DeviceKind::Zram;
    let said =
        || Said::likely(Station::Processor).seen("a disk in compressed memory", &device.name);
    is_zram.then(said)
}

/// A break in time: what was saved up is spent.
pub fn rate_that_fell<'r>(run: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    let study = match &run.document.study {
        Some(Study::Sustained(study)) if study.phase == point.phase.name => {
            study.fast.map(|_| match study.cause {
                FastCause::BurstCredits => Station::Credits,
                _ => Station::WriteCache,
            })
        }
        _ => None,
    };
    let fall = point.phase.repeats.iter().find_map(|repeat| repeat.slowdown);
    let fall = fall.filter(|fall| fall.after_per_s < 0.8 * fall.before_per_s);
    let by = study.or_else(|| {
        fall?;
        match (run.is_unseen(), point.op) {
            (true, _) => Some(Station::Credits),
            (false, Op::Write | Op::Mixed) => Some(Station::WriteCache),
            (false, Op::Read) => None,
        }
    })?;
    let said = Said::likely(by);
    let said = match fall {
        Some(fall) => {
            let (before, after) = (fall.before_per_s, fall.after_per_s);
            let rates = format!("{} to {}", requests_per_s(before), requests_per_s(after));
            said.seen(format!("the rate fell from {rates} and stayed"), &point.phase.name)
        }
        None => said.seen("the rate fell after a volume of writes", &point.phase.name),
    };
    Some(match by {
        Station::WriteCache if run.rotates != Some(true) => {
            said.or(Station::Collection, command(run, "--suite sustained"))
        }
        _ => said,
    })
}

/// The processor carries each word, so that it and the mode are one station. What a virtual machine
/// plays keeps to no cable's rate.
pub fn programmed_io<'r>(run: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    let is_pio = |c: &&Ceiling| c.by == Station::TransferMode && c.name.starts_with("PIO");
    let mode = run.declared.iter().find(is_pio).filter(|_| run.is_virtual)?;
    let said = Said::likely(Station::TransferMode).named(format!("the {}", mode.name));
    let said = said.seen("the processor carries each word", &mode.from);
    point.is_large().then_some(said)
}

/// A link, a bus or a transfer mode that carries what such a one usually carries.
pub fn full_link<'r>(run: &'r Run<'r>, point: &Point<'_>) -> Option<Said<'r>> {
    let is_rate = |c: &&Ceiling| c.unit == Unit::BytesPerS && c.by != Station::Throttle;
    let ceiling = run.declared.iter().find(is_rate)?;
    let share = point.bytes_per_s / ceiling.rate;
    if !point.is_large() || !(usual(ceiling)..1.03).contains(&share) {
        return None;
    }
    // A full link carries the same whatever is sent over it; of a hard drive it may be the medium
    // that is as fast by chance.
    let same = run.points.iter().find(|other| {
        let differs = (other.op, other.sequential) != (point.op, point.sequential);
        other.is_large() && differs && near(other.bytes_per_s, point.bytes_per_s, 0.04)
    });
    // It has carried more: perhaps something else stops these a little earlier.
    let most = run.points.iter().filter(|p| p.is_large()).map(|p| p.bytes_per_s);
    let is_most = point.bytes_per_s > 0.993 * most.fold(0.0, f64::max);
    let sure = match (same, run.rotates) {
        (Some(_), Some(false)) if is_most && share >= certain(ceiling) => Confidence::Shown,
        _ => Confidence::Likely,
    };
    let mut said = Said::new(ceiling.by, sure).at(ceiling);
    if let Some(same) = same {
        said = said.seen(format!("{}, the same", bytes_per_s(same.bytes_per_s)), &same.phase.name);
    }
    match run.rotates {
        Some(true) => said = said.or(Station::Medium, command(run, "--rw=read --offset=90%")),
        Some(false) if share < certain(ceiling) => {
            said = said.or(Station::Flash, command(run, "--bs=128k --iodepth=32"));
        }
        Some(false) if !is_most => {
            said = said.or(Station::Controller, command(run, "--bs=128k --iodepth=32"));
        }
        _ => {}
    }
    Some(said)
}
