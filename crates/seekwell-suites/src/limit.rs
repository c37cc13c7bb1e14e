//! Whether the disk or the processor was the limit of a step, with what was counted as evidence.
//!
//! In a closed loop a worker waits for one of the two all the time. The disk's share of the
//! time is what its own counters say: requests outstanding, and flushes. The processor's is what
//! the program used of what its threads could have had; where another program does part of the
//! work, as a web server does, how busy all CPUs were. What others took of the processor is said
//! too, since it is missing here.

use crate::frame::{Meter, Stage, StepResult};
use seekwell_sys::{CpuTime, DiskCounters, Live};

/// From here on a share of the time is most of it.
const MOST: f64 = 0.5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The disk had something to do most of the time, and more of it than the processor.
    Disk,
    Cpu,
    /// Neither most of the time: locks, the network, pauses.
    Neither,
    /// Other programs, which had most of the processors while this one idled.
    Others,
    /// The processor was not it, and no device counts here.
    Unknown,
}

impl Limit {
    /// Judges by shares of the time, 0 to 1.
    pub fn of(disk: Option<f64>, cpu: f64, others: f64) -> Self {
        match disk {
            Some(disk) if disk >= MOST && disk > cpu => Self::Disk,
            _ if cpu >= MOST => Self::Cpu,
            _ if others >= MOST => Self::Others,
            Some(_) => Self::Neither,
            None => Self::Unknown,
        }
    }
}

/// Whose work a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workers {
    /// So many threads of this program.
    Own(u64),
    /// Another program's too.
    Others,
}

pub struct Watch {
    meter: Meter,
    cpus: Option<CpuTime>,
    workers: Workers,
}

impl Watch {
    /// Begins to measure, and to watch.
    pub fn begin(stage: &Stage<'_>, workers: Workers) -> Self {
        Self { cpus: CpuTime::read(&Live::system()), meter: stage.begin(), workers }
    }

    /// Ends measuring: values `disk_busy_percent`, where the device counts, and
    /// `cpu_limit_percent`, and a sentence.
    pub fn end(self) -> StepResult {
        self.end_if(|_| true)
    }

    /// The same, where `needed` decides by what the device counted whether the step needed it at
    /// all: otherwise it was busy for others, and its share counts as none.
    pub fn end_if(self, needed: impl FnOnce(&DiskCounters) -> bool) -> StepResult {
        let mut result = self.meter.end();
        let machine = self.cpus.zip(CpuTime::read(&Live::system())).map(|(b, a)| a.busy_since(b));
        let machine = machine.unwrap_or(0.0);
        let time = result.measurement.elapsed.0.max(1) as f64;
        let used = (result.measurement.cpu_user + result.measurement.cpu_system).0 as f64 / time;
        let cpu = match self.workers {
            Workers::Own(threads) => used / threads.clamp(1, cpus()) as f64,
            Workers::Others => machine,
        };
        let cpu = cpu.min(1.0);
        let counted = result.device;
        let idle = counted.is_some_and(|c| !needed(&c));
        let busy = |c: DiskCounters| ((c.busy_ms + c.flush_ms) as f64 * 1e6 / time).min(1.0);
        let disk = counted.map(|c| if idle { 0.0 } else { busy(c) });
        if let Some(disk) = disk {
            result.set("disk_busy_percent", 100.0 * disk);
        }
        result.set("cpu_limit_percent", 100.0 * cpu);
        let flushes = counted.filter(|_| !idle).map_or(0, |c| c.flushes);
        let others = match self.workers {
            Workers::Own(_) => machine - used / cpus() as f64,
            Workers::Others => 0.0,
        };
        result.notes.push(sentence(disk, cpu, others, flushes));
        if others >= MOST && Limit::of(disk, cpu, others) != Limit::Others {
            result.notes.push(format!(
                "Other programs took {:.0} % of all processors meanwhile: the figure is also \
                 theirs.",
                100.0 * others
            ));
        }
        result
    }
}

fn sentence(disk: Option<f64>, cpu: f64, others: f64, flushes: u64) -> String {
    let worked = format!("{:.0} % of the time", 100.0 * cpu);
    let disk_part = disk.map(|busy| {
        let share = format!("{:.0} % of the time", 100.0 * busy);
        format!("the disk's counters say that it was busy {share}, with {}", counted(flushes))
    });
    let disk_part = disk_part.unwrap_or_else(|| "no device counts here".into());
    match Limit::of(disk, cpu, others) {
        Limit::Others => format!(
            "Other programs were the limit: they took {:.0} % of all processors, and this one \
             worked {worked}; {disk_part}.",
            100.0 * others
        ),
        Limit::Disk => {
            format!("The disk was the limit: {disk_part}; the processor worked {worked}.")
        }
        Limit::Cpu => format!("The processor was the limit: it worked {worked}; {disk_part}."),
        Limit::Neither => {
            format!(
                "Neither disk nor processor was the limit: {disk_part}; the processor worked \
                 {worked}."
            )
        }
        Limit::Unknown => {
            format!(
                "Whether the disk was the limit is not known: {disk_part}; the processor \
                     worked {worked}."
            )
        }
    }
}

fn counted(flushes: u64) -> String {
    if flushes == 1 { "1 flush".into() } else { format!("{flushes} flushes") }
}

fn cpus() -> u64 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busier_of_two_is_the_limit_and_neither_where_both_idle() {
        assert_eq!(Limit::of(Some(0.9), 0.3, 0.9), Limit::Disk);
        assert_eq!(Limit::of(Some(0.6), 0.8, 0.0), Limit::Cpu);
        assert_eq!(Limit::of(Some(0.2), 0.3, 0.1), Limit::Neither);
        assert_eq!(Limit::of(None, 0.9, 0.0), Limit::Cpu);
        assert_eq!(Limit::of(None, 0.1, 0.0), Limit::Unknown);
    }

    #[test]
    fn a_program_that_others_kept_from_the_processors_was_not_limited_by_nothing() {
        // "Neither disk nor processor was the limit" stood beside "other programs took 96 %".
        assert_eq!(Limit::of(Some(0.1), 0.2, 0.96), Limit::Others);
        assert_eq!(Limit::of(None, 0.2, 0.96), Limit::Others);
        let told = sentence(Some(0.1), 0.2, 0.96, 0);
        assert!(told.starts_with("Other programs were the limit: they took 96 %"), "{told}");
    }

    #[test]
    fn the_sentence_names_the_limit_and_its_evidence() {
        let disk = sentence(Some(0.93), 0.12, 0.0, 400);
        assert!(disk.starts_with("The disk was the limit: the disk's counters say"), "{disk}");
        assert!(
            disk.contains("93 % of the time, with 400 flushes") && disk.contains("worked 12 %"),
            "{disk}"
        );
        assert!(sentence(None, 0.95, 0.0, 0).starts_with("The processor was the limit"));
        assert!(sentence(None, 0.2, 0.0, 0).contains("no device counts here"));
    }
}
