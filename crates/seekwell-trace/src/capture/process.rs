//! Whose requests are kept.
//!
//! The kernel names the task that queued a request: a thread. A process is asked for by its number
//! or name, so threads have to be known as its own, those included that live for milliseconds
//! only: the kernel reports every new one while a recording asks for a process by number.

use std::collections::{BTreeSet, HashMap};
use std::fs;

/// clone(2): the new task is a thread of the process.
const CLONE_THREAD: u64 = 0x0001_0000;
/// The kernel keeps this many letters of a task's name.
const COMM_LETTERS: usize = 15;

/// Which processes; none named means all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Processes {
    /// By number.
    pub pids: Vec<u32>,
    /// By name, of the process or of one of its threads.
    pub names: Vec<String>,
}

impl Processes {
    pub(super) fn everyone(&self) -> bool {
        self.pids.is_empty() && self.names.is_empty()
    }

    pub(super) fn follows_threads(&self) -> bool {
        !self.pids.is_empty()
    }
}

/// A task was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Birth {
    pub at: u64,
    pub parent: u32,
    pub child: u32,
    pub clone_flags: u64,
}

/// Judges tasks.
#[derive(Debug)]
pub(super) struct Judge {
    wanted: Processes,
    tasks: BTreeSet<u32>,
    /// What was found of a task, as long as it has the same name.
    known: HashMap<(u32, u32), bool>,
}

impl Judge {
    /// Looks up the threads that there are now.
    pub fn new(mut wanted: Processes) -> Self {
        for name in &mut wanted.names {
            // The kernel cuts bytes, not letters.
            let cut = (0..=COMM_LETTERS.min(name.len())).rev().find(|n| name.is_char_boundary(*n));
            name.truncate(cut.unwrap_or(0));
        }
        let mut tasks: BTreeSet<u32> = wanted.pids.iter().copied().collect();
        for pid in &wanted.pids {
            let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
            let names = entries.flatten().filter_map(|e| e.file_name().into_string().ok());
            tasks.extend(names.filter_map(|name| name.parse::<u32>().ok()));
        }
        Self { wanted, tasks, known: HashMap::new() }
    }

    /// Notes a new task.
    pub fn born(&mut self, parent: u32, child: u32, clone_flags: u64) {
        self.known.retain(|(task, _), _| *task != child);
        if clone_flags & CLONE_THREAD != 0 && self.tasks.contains(&parent) {
            self.tasks.insert(child);
        } else if !self.wanted.pids.contains(&child) {
            // The number had another owner before.
            self.tasks.remove(&child);
        }
    }

    /// Whether a task's requests are kept. `name` is its name and `index` that name's number.
    pub fn wants(&mut self, task: u32, index: u32, name: &str) -> bool {
        if self.wanted.everyone() || self.tasks.contains(&task) {
            return true;
        }
        if self.wanted.names.is_empty() {
            return false;
        }
        let names = &self.wanted.names;
        *self.known.entry((task, index)).or_insert_with(|| {
            names.iter().any(|wanted| wanted == name)
                || leader(task).is_some_and(|leader| names.contains(&leader))
        })
    }
}

/// The name of the process that a thread belongs to.
fn leader(task: u32) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{task}/status")).ok()?;
    let pid = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim();
    Some(fs::read_to_string(format!("/proc/{pid}/comm")).ok()?.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(pids: &[u32], names: &[&str]) -> Judge {
        let names = names.iter().map(|n| (*n).to_owned()).collect();
        Judge::new(Processes { pids: pids.to_vec(), names })
    }

    #[test]
    fn without_a_wish_everybody_is_wanted() {
        assert!(judge(&[], &[]).wants(1, 0, "x"));
    }

    #[test]
    fn threads_belong_to_their_process_from_birth_to_the_next_owner_of_the_number() {
        let mut judge = judge(&[4_000_000_000], &[]);
        assert!(judge.wants(4_000_000_000, 1, "db"));
        assert!(!judge.wants(4_000_000_001, 2, "db"));
        judge.born(4_000_000_000, 4_000_000_001, CLONE_THREAD);
        judge.born(4_000_000_001, 4_000_000_002, CLONE_THREAD);
        judge.born(4_000_000_000, 4_000_000_003, 0);
        assert!(judge.wants(4_000_000_001, 2, "db"));
        assert!(judge.wants(4_000_000_002, 2, "db"));
        assert!(!judge.wants(4_000_000_003, 2, "a child"));
        judge.born(1, 4_000_000_002, 0);
        assert!(!judge.wants(4_000_000_002, 2, "db"));
    }

    #[test]
    fn names_are_compared_as_the_kernel_cuts_them() {
        let mut judge = judge(&[], &["a-name-longer-than-the-kernels"]);
        assert!(judge.wants(4_000_000_001, 1, "a-name-longer-t"));
        assert!(!judge.wants(4_000_000_001, 2, "a-name-longer"));
    }

    #[test]
    fn a_thread_with_a_name_of_its_own_is_found_by_that_of_its_process() {
        let process = fs::read_to_string("/proc/self/comm").unwrap();
        let process = process.trim_end().to_owned();
        let run = move || {
            let task = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
            let mut judge = judge(&[], &[&process]);
            assert!(judge.wants(task, 1, "another name"));
            assert!(judge_of_self().wants(task, 1, "another name"));
        };
        std::thread::Builder::new().name("other".into()).spawn(run).unwrap().join().unwrap();
    }

    fn judge_of_self() -> Judge {
        judge(&[std::process::id()], &[])
    }
}
