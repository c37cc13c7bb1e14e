//! What the whole machine did during an interval, from its counters before and after.

use crate::View;
use crate::background::Background;
use crate::cpu_time::CpuTime;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// Counters of the whole machine at a moment.
#[derive(Debug, Clone)]
pub struct HostCounters {
    at: Instant,
    cpu: Option<CpuTime>,
    swapped: Option<Swapped>,
    deep_idles: Option<u64>,
    background: BTreeMap<String, (Background, u64)>,
}

/// What the machine did between two moments; `None` if the kernel does not report it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostActivity {
    /// The share of all processors that other programs had, 0 to 1.
    pub others: Option<f64>,
    /// The share of all processors that was busy, including kernel threads, 0 to 1.
    pub busy: Option<f64>,
    pub swapped: Option<Swapped>,
    /// How often a processor went into an idle state that takes at least [`DEEP_IDLE_US`] to leave;
    /// `None` if there is no such state, as in most virtual machines.
    pub deep_idles: Option<u64>,
    /// The CPU time of each kind of background work, as a share of one processor. Work that ended
    /// meanwhile is not seen.
    pub background: BTreeMap<Background, f64>,
}

/// Bytes that moved between memory and swap areas, compressed memory (zram) included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swapped {
    pub in_bytes: u64,
    pub out_bytes: u64,
}

/// From this exit latency on an idle state counts as deep, in microseconds: a quarter of the time
/// that a fast NVMe drive takes to read 4 KiB from flash, about 80 µs.
pub const DEEP_IDLE_US: u64 = 20;

impl HostCounters {
    /// As of now.
    pub fn read(view: &dyn View) -> Self {
        Self {
            swapped: Swapped::read(view),
            deep_idles: deep_idles(view),
            background: Background::running(view),
            // The last, so that before a run the reading itself is not counted.
            cpu: CpuTime::read(view),
            at: Instant::now(),
        }
    }

    /// What happened since `before`.
    pub fn since(&self, before: &Self) -> HostActivity {
        let cpu = before.cpu.zip(self.cpu);
        HostActivity {
            others: cpu.map(|(before, after)| after.others_since(before)),
            busy: cpu.map(|(before, after)| after.busy_since(before)),
            swapped: before.swapped.zip(self.swapped).map(|(before, after)| after.since(before)),
            deep_idles: before.deep_idles.zip(self.deep_idles).map(|(b, a)| a.saturating_sub(b)),
            background: self.background_since(before),
        }
    }

    fn background_since(&self, before: &Self) -> BTreeMap<Background, f64> {
        let elapsed_ns = self.at.duration_since(before.at).as_nanos().max(1) as f64;
        let mut shares = BTreeMap::new();
        for (pid, (background, ns)) in &self.background {
            // One that has begun meanwhile began with nothing.
            let earlier = before.background.get(pid).map_or(0, |(_, ns)| *ns);
            let gained = ns.saturating_sub(earlier) as f64 / elapsed_ns;
            *shares.entry(*background).or_insert(0.0) += gained;
        }
        shares
    }
}

impl Swapped {
    /// Since boot: `pswpin` and `pswpout` count pages (mm/page_io.c).
    fn read(view: &dyn View) -> Option<Self> {
        let text = view.text(Path::new("/proc/vmstat")).ok()?;
        let bytes = |name: &str| {
            let count = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
            count.parse::<u64>().ok()?.checked_mul(rustix::param::page_size() as u64)
        };
        Some(Self { in_bytes: bytes("pswpin")?, out_bytes: bytes("pswpout")? })
    }

    fn since(self, before: Self) -> Self {
        Self {
            in_bytes: self.in_bytes.saturating_sub(before.in_bytes),
            out_bytes: self.out_bytes.saturating_sub(before.out_bytes),
        }
    }
}

/// How often all processors have gone into deep idle states since boot
/// (Documentation/admin-guide/pm/cpuidle.rst).
fn deep_idles(view: &dyn View) -> Option<u64> {
    let processors = Path::new("/sys/devices/system/cpu");
    let usage = |state: &Path| {
        let latency_us = view.number(&state.join("latency")).ok()?;
        (latency_us >= DEEP_IDLE_US).then(|| view.number(&state.join("usage")).ok())?
    };
    let names = view.list(processors).ok()?;
    let states = names.iter().filter(|name| name.starts_with("cpu")).flat_map(|name| {
        let folder = processors.join(name).join("cpuidle");
        let states = view.list(&folder).unwrap_or_default();
        states.into_iter().map(move |state| folder.join(state))
    });
    states.filter_map(|state| usage(&state)).reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Live;
    use crate::fake::Fake;
    use std::time::Duration;

    fn idle(fake: Fake, cpu: u32, state: u32, latency_us: u64, usage: u64) -> Fake {
        let at = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}");
        fake.file(format!("{at}/latency"), format!("{latency_us}\n"))
            .file(format!("{at}/usage"), format!("{usage}\n"))
    }

    fn thread(fake: Fake, comm: &str, ns: u64) -> Fake {
        fake.file("/proc/60/comm", comm)
            .file("/proc/60/stat", format!("60 ({comm}) D 2 0 0 0"))
            .file("/proc/60/schedstat", format!("{ns} 0 9"))
    }

    fn between(before: &Fake, after: &Fake) -> HostActivity {
        let before = HostCounters::read(before);
        let after =
            HostCounters { at: before.at + Duration::from_secs(2), ..HostCounters::read(after) };
        after.since(&before)
    }

    #[test]
    fn pages_swapped_are_bytes_and_a_kernel_without_swap_tells_none() {
        let vmstat = |pages_in: u64, pages_out: u64| {
            let text = format!("nr_free_pages 9\npswpin {pages_in}\npswpout {pages_out}\n");
            Fake::new().file("/proc/vmstat", text)
        };
        let page = rustix::param::page_size() as u64;
        let swapped = between(&vmstat(1, 5), &vmstat(3, 5)).swapped;
        assert_eq!(swapped, Some(Swapped { in_bytes: 2 * page, out_bytes: 0 }));
        let none = Fake::new().file("/proc/vmstat", "nr_free_pages 9\n");
        assert_eq!(between(&none, &none), HostActivity::default());
    }

    #[test]
    fn only_idle_states_that_take_long_to_leave_are_counted() {
        let at = |shallow: u64, deep: u64| {
            let fake = idle(Fake::new().dir("/sys/devices/system/cpu/cpufreq"), 0, 1, 2, shallow);
            idle(idle(fake, 0, 2, 133, deep), 1, 2, 20, deep)
        };
        assert_eq!(between(&at(10, 100), &at(500, 107)).deep_idles, Some(14));
        let guest = idle(Fake::new(), 0, 1, 1, 12_544_078);
        assert_eq!(between(&guest, &guest).deep_idles, None);
    }

    #[test]
    fn background_work_is_a_share_of_one_processor_also_where_it_has_just_begun() {
        let at = |ns: u64| thread(Fake::new(), "ext4lazyinit", ns);
        let share = |found: &HostActivity| found.background.get(&Background::InodeTables).copied();
        assert_eq!(share(&between(&at(5_000_000), &at(25_000_000))), Some(0.01));
        assert_eq!(share(&between(&Fake::new(), &at(20_000_000))), Some(0.01));
        assert_eq!(share(&between(&at(1), &Fake::new())), None);
    }

    #[test]
    fn this_machine_tells_how_busy_it_is() {
        let view = Live::system();
        let before = HostCounters::read(&view);
        assert!(HostCounters::read(&view).since(&before).busy.is_some());
    }
}
