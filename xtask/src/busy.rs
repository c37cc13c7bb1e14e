//! Keeping processors busy while something else runs.

use rustix::thread::{CpuSet, sched_setaffinity};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;

/// Threads that compute until this is dropped, one on each of some processors.
pub struct Busy {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    pub fn on(processors: impl Iterator<Item = usize>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let spin = |cpu: usize| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                let mut set = CpuSet::new();
                set.set(cpu);
                // Where the kernel refuses, it is busy all the same, on a processor of its choice.
                let _ = sched_setaffinity(None, &set);
                while !stop.load(Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let threads = processors.map(spin).collect();
        Self { stop, threads }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
