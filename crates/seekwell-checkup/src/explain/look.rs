//! What rules ask of their input, and how they put values into words.

use super::ExplainInput;
use seekwell_inspect::{Device, DeviceKind, Evidence, Fact, Finding, Severity};
use seekwell_io::units::{Nanos, three_digits};
use seekwell_runs::{Medium, Phase, Spread};

/// Under this share of the bytes reaching the device, a number is a cache's.
pub const HONEST_SHARE: f64 = 0.9;
/// No rotating disk answers a random read of a large region in less: half a turn at 15,000 rpm
/// alone is 2 ms.
pub const FASTEST_ROTATING_NS: f64 = 1e6;
/// No healthy flash needs longer for a random read of 4 KiB at depth 1; the slowest cards and
/// sticks need about 2 ms.
pub const SLOWEST_FLASH_NS: f64 = 3e6;
/// The phase that shows what one random read costs.
pub const ONE_READ: &str = "rand-read-4k-d1";
/// The phase that reads the page cache on purpose.
pub const CACHED_READ: &str = "cached-read";

impl<'a> ExplainInput<'a> {
    /// The phase of this name, if it is there.
    pub fn phase(&self, name: &str) -> Option<&'a Phase> {
        self.phases.iter().find(|p| p.name == name)
    }

    /// A metric of a phase.
    pub fn spread(&self, phase: &str, metric: &str) -> Option<Spread> {
        self.phase(phase)?.metrics.get(metric).copied()
    }

    /// The median of a metric of a phase whose numbers are the device's and not a cache's.
    pub fn honest(&self, phase: &str, metric: &str) -> Option<f64> {
        let phase = self.phase(phase).filter(|p| is_honest(p))?;
        phase.median(metric)
    }

    /// How long one random read takes, in nanoseconds, where it came from the device.
    pub fn one_read_ns(&self) -> Option<f64> {
        let of = |metric| self.honest(ONE_READ, metric);
        of("read.latency_ns_p50").or_else(|| of("read.latency_ns_mean"))
    }

    /// The one disk under the target, reached through partitions and mapped devices only. `None`
    /// where there are several, or where a loop device, memory or a network lies between.
    pub fn disk(&self) -> Option<&'a Device> {
        use DeviceKind as K;
        let mut at = self.inspection.device.as_ref()?;
        loop {
            match (at.kind, at.below.as_slice()) {
                (K::MultipathHead, _) | (K::Disk, []) => return Some(at),
                (K::Partition | K::DeviceMapper | K::Md | K::Disk, [below]) => at = below,
                _ => return None,
            }
        }
    }

    /// All block devices of the target, from the top down.
    pub fn devices(&self) -> Vec<&'a Device> {
        fn walk<'a>(device: &'a Device, out: &mut Vec<&'a Device>) {
            out.push(device);
            device.below.iter().for_each(|d| walk(d, out));
        }
        let mut out = Vec::new();
        self.inspection.device.iter().for_each(|d| walk(d, &mut out));
        out
    }

    /// How it is known that a disk is a virtual machine's, where it is: its latencies and its cache
    /// are the host's affair.
    pub fn virtual_evidence(&self, disk: &Device) -> Option<Evidence> {
        if let Some(hypervisor) = &self.inspection.host.virtualization {
            let seen = format!("a virtual machine under {}", hypervisor.value);
            return Some(evidence(seen, &hypervisor.from));
        }
        let is = |fact: &Option<Fact<String>>, names: &[&str]| {
            let f = fact.as_ref()?;
            names.iter().any(|n| f.value.to_lowercase().contains(n)).then(|| f.clone())
        };
        let known = is(&disk.transport, &["virtio"])
            .or_else(|| is(&disk.driver, &["virtio", "xen", "vmw", "hv_storvsc", "storvsc"]))
            .or_else(|| is(&disk.model, &["qemu", "vbox", "vmware", "virtual disk"]))?;
        Some(evidence(format!("a virtual disk ({})", known.value), &known.from))
    }

    /// Whether a physical disk rotates, where flag and latencies do not contradict each other.
    pub fn rotates(&self, disk: &Device) -> Option<bool> {
        if self.virtual_evidence(disk).is_some() {
            return None;
        }
        let flag = disk.queue.rotational.as_ref()?.value;
        match self.one_read_ns() {
            Some(ns) if flag && ns < FASTEST_ROTATING_NS => None,
            Some(ns) if !flag && ns > SLOWEST_FLASH_NS => None,
            _ => Some(flag),
        }
    }

    /// Random 4 KiB reads by depth, honest ones only: depth, phase, median rate.
    pub fn curve(&self) -> Vec<(u32, &'a Phase, f64)> {
        let one = |p: &'a Phase| {
            let depth = p.name.strip_prefix("rand-read-4k-d")?.parse().ok()?;
            is_honest(p).then_some(())?;
            Some((depth, p, p.median("read.requests_per_s").filter(|r| *r > 0.0)?))
        };
        let mut out: Vec<_> = self.phases.iter().filter_map(one).collect();
        out.sort_by_key(|(depth, ..)| *depth);
        out
    }

    /// CPU used in a phase as a share of what its issuing threads could use: 1 is all of it. A pool
    /// uses a thread per outstanding request, as far as there are CPUs.
    pub fn cpu_share(&self, phase: &Phase) -> Option<f64> {
        let workload = phase.workload.drawn()?;
        let threads = f64::from(workload.threads.max(1));
        let cpus = self.inspection.host.cpus.as_ref().map_or(1.0, |c| c.value.max(1) as f64);
        let issuing = match self.engine {
            Some(e) if e.name == "threads" => threads * f64::from(workload.pace.depth()),
            _ => threads,
        };
        Some(phase.median("cpu_percent")? / (100.0 * issuing.min(cpus).max(1.0)))
    }
}

/// Whether a phase went past the page cache and its bytes came from the device, as far as is known.
pub fn is_honest(phase: &Phase) -> bool {
    phase.workload.drawn().is_some_and(|w| w.direct)
        && phase.median("device_share").is_none_or(|s| s >= HONEST_SHARE)
}

/// Requests a second of a phase, of whatever operation it is about: reads where it reads, else
/// writes.
pub fn main_rate(phase: &Phase) -> Option<(&'static str, Spread)> {
    let of = |name| Some((name, phase.metrics.get(name).copied()?));
    of("read.requests_per_s").or_else(|| of("write.requests_per_s"))
}

/// Size of the medium and whether it could be driven past the page cache.
pub fn medium_size(medium: &Medium) -> Option<(u64, bool)> {
    match medium {
        Medium::TemporaryFile { size_bytes, direct, .. }
        | Medium::ReadOnly { size_bytes, direct }
        | Medium::Destroyed { size_bytes, direct, .. } => Some((*size_bytes, *direct)),
        Medium::Null | Medium::Machine { .. } => None,
    }
}

/// A finding with its parts in order.
pub fn finding(
    id: &str,
    severity: Severity,
    title: String,
    evidence: Vec<Evidence>,
    why: impl Into<String>,
    remedy: impl Into<String>,
) -> Finding {
    debug_assert!(!evidence.is_empty(), "{id} needs evidence");
    Finding {
        id: id.into(),
        severity,
        title,
        evidence,
        why: why.into(),
        remedy: remedy.into(),
        tune: None,
    }
}

/// One piece of evidence.
pub fn evidence(seen: impl Into<String>, from: impl Into<String>) -> Evidence {
    Evidence { seen: seen.into(), from: from.into() }
}

/// A fact as evidence: `what: value`.
pub fn fact<T: std::fmt::Display>(what: &str, f: &Fact<T>) -> Evidence {
    evidence(format!("{what}: {}", f.value), &f.from)
}

/// A fact in bytes as evidence.
pub fn fact_bytes(what: &str, f: &Fact<u64>) -> Evidence {
    evidence(format!("{what}: {}", bytes(f.value)), &f.from)
}

/// A path or name as one word of a shell command.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The command that measures the device under the target itself, past the file system; reads only.
pub fn measure_device(input: &ExplainInput<'_>) -> String {
    match &input.inspection.device {
        Some(d) => format!("sudo seekwell checkup /dev/{}", d.name),
        None => {
            "seekwell checkup DIRECTORY, with a directory on a local disk (findmnt --real lists \
                 what is mounted)"
                .into()
        }
    }
}

/// The command that writes a value to a file only root may write.
pub fn set(value: &str, path: &str) -> String {
    format!("echo {value} | sudo tee {path}")
}

/// The command that sets one of a disk's queue settings.
pub fn set_queue(disk: &Device, setting: &str, value: &str) -> String {
    set(value, &format!("/sys/block/{}/queue/{setting}", disk.name))
}

/// Nanoseconds in words: `87.3 µs`.
pub fn ns(value: f64) -> String {
    Nanos(value.round().max(0.0) as u64).to_string()
}

/// Requests a second in words: `12.3 k requests/s`.
pub fn per_s(rate: f64) -> String {
    match rate {
        r if r >= 1e6 => format!("{} M requests/s", three_digits(r / 1e6)),
        r if r >= 1e4 => format!("{} k requests/s", three_digits(r / 1e3)),
        r => format!("{} requests/s", three_digits(r)),
    }
}

/// Bytes a second in words, decimal units: `512 MB/s`.
pub fn bytes_per_s(rate: f64) -> String {
    match rate {
        r if r >= 1e9 => format!("{} GB/s", three_digits(r / 1e9)),
        r if r >= 1e6 => format!("{} MB/s", three_digits(r / 1e6)),
        r => format!("{} kB/s", three_digits(r / 1e3)),
    }
}

/// Bytes in words, binary units: `128 KiB`; exact where they are few.
pub fn bytes(n: u64) -> String {
    let x = n as f64;
    let whole = |unit: u64, name: &str| {
        let number = if n.is_multiple_of(unit) {
            (n / unit).to_string()
        } else {
            three_digits(x / unit as f64)
        };
        format!("{number} {name}")
    };
    match n {
        0..1_024 => format!("{n} bytes"),
        1_024..1_048_576 => whole(1 << 10, "KiB"),
        1_048_576..1_073_741_824 => whole(1 << 20, "MiB"),
        1_073_741_824..1_099_511_627_776 => whole(1 << 30, "GiB"),
        _ => whole(1 << 40, "TiB"),
    }
}

/// A share in words: `43 %`.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_into_words_with_their_units() {
        assert_eq!(bytes(512), "512 bytes");
        assert_eq!(bytes(128 << 10), "128 KiB");
        assert_eq!(bytes((1 << 30) + (1 << 29)), "1.50 GiB");
        assert_eq!(per_s(1_234_000.0), "1.23 M requests/s");
        assert_eq!(per_s(57.6), "57.6 requests/s");
        assert_eq!(bytes_per_s(512e6), "512 MB/s");
        assert_eq!(ns(87_300.0), "87.3 µs");
        assert_eq!(percent(0.426), "43 %");
    }

    #[test]
    fn a_path_with_blanks_stays_one_word_of_a_command() {
        assert_eq!(quote("/mnt/data-1"), "/mnt/data-1");
        assert_eq!(quote("/mnt/my disk"), "'/mnt/my disk'");
        assert_eq!(quote("it's; reboot"), r"'it'\''s; reboot'");
    }
}
