//! The threads of a run: those of one workload, and several workloads at the same time.

use super::{Bounds, Control, EngineError, run_source};
use crate::dispatch::Dispatcher;
use crate::gate::{Gate, Ticket};
use crate::measurement::{Failure, Measurement};
use crate::request::{Completion, Request};
use crate::target::Target;
use crate::units::Nanos;
use crate::workload::{Generator, Next, Source, Workload};
use seekwell_sys::thread::{NoThread, start_scoped};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::ScopedJoinHandle;

/// Runs all threads of a workload, each on a target of its own that `open` makes on that thread,
/// and adds up what they measured. Threads begin together once all targets are open, and none
/// begins where one cannot be.
///
/// # Errors
/// The first error of any thread.
pub fn run_threads<T: Target, D: Dispatcher>(
    workload: &Workload,
    open: impl Fn(u32) -> Result<(T, D), EngineError> + Sync,
    control: &Control,
) -> Result<Measurement, EngineError> {
    let one = |_, thread, ticket: Ticket<'_>| {
        let (mut target, mut dispatcher) = open(thread)?;
        let (mut generator, bounds) = (Generator::new(workload, thread), Bounds::of(workload));
        let mut run = || run_source(&mut generator, bounds, &mut target, &mut dispatcher, control);
        ticket.pass().then(&mut run).transpose()
    };
    let mut measured = through_one_gate(&[workload], one);
    measured.pop().unwrap_or(Err(EngineError::Thread))
}

/// Runs several workloads at the same time; `open` makes the target of a workload's thread. All
/// begin together or none does, and all end with the first that does: what is measured of each is
/// the time in which all ran. They share the longest of their ramps, and the CPU time of the
/// process is divided among them by their requests.
pub fn run_beside<T: Target, D: Dispatcher>(
    workloads: &[&Workload],
    open: impl Fn(usize, u32) -> Result<(T, D), EngineError> + Sync,
    control: &Control,
) -> Vec<Result<Measurement, EngineError>> {
    let ramp = workloads.iter().map(|w| w.ramp_ns).max().unwrap_or(Nanos::ZERO);
    let over = AtomicBool::new(false);
    let one = |number: usize, thread, ticket: Ticket<'_>| {
        let workload = workloads[number];
        let (mut target, mut dispatcher) = open(number, thread)?;
        let mut source = Until { source: Generator::new(workload, thread), over: &over };
        let bounds = Bounds { ramp, ..Bounds::of(workload) };
        let mut run = || {
            let run = run_source(&mut source, bounds, &mut target, &mut dispatcher, control);
            over.store(true, Relaxed);
            run
        };
        ticket.pass().then(&mut run).transpose()
    };
    let mut measured = through_one_gate(workloads, one);
    let all: u64 = measured.iter().flatten().map(Measurement::requests).sum();
    for one in measured.iter_mut().flatten() {
        let share = one.requests() as f64 / all.max(1) as f64;
        let of = |time: Nanos| Nanos((time.0 as f64 * share) as u64);
        (one.cpu_user, one.cpu_system) = (of(one.cpu_user), of(one.cpu_system));
    }
    measured
}

/// Starts every thread of every workload and adds up the threads of each.
fn through_one_gate(
    workloads: &[&Workload],
    one: impl Fn(usize, u32, Ticket<'_>) -> Result<Option<Measurement>, EngineError> + Sync,
) -> Vec<Result<Measurement, EngineError>> {
    let gate = Gate::default();
    let (one, gate) = (&one, &gate);
    let tickets: Vec<Vec<Ticket<'_>>> =
        workloads.iter().map(|w| (0..w.threads).map(|_| gate.ticket()).collect()).collect();
    std::thread::scope(|scope| {
        let begin = |(number, tickets): (usize, Vec<_>)| {
            // Tickets of a workload that cannot be run are dropped, which calls the others off.
            workloads[number].check()?;
            let begin = |(thread, ticket)| {
                start_scoped(scope, "measure", move || {
                    sharpen_timers();
                    one(number, thread, ticket)
                })
            };
            Ok::<_, EngineError>((0..).zip(tickets).map(begin).collect::<Vec<_>>())
        };
        let begun: Vec<_> = tickets.into_iter().enumerate().map(begin).collect();
        let join = |thread: Result<ScopedJoinHandle<'_, _>, NoThread>| {
            thread?.join().unwrap_or(Err(EngineError::Thread))
        };
        let total = |threads: Result<Vec<_>, _>| {
            let mut total: Option<Measurement> = None;
            let mut failed = None;
            for thread in threads? {
                match (&mut total, join(thread)) {
                    (_, Err(error)) => failed = failed.or(Some(error)),
                    (Some(sum), Ok(Some(measured))) => sum.merge(measured),
                    (None, Ok(measured)) => total = measured,
                    (Some(_), Ok(None)) => {}
                }
            }
            failed.map_or(Ok(()), Err)?;
            total.ok_or(EngineError::CalledOff)
        };
        begun.into_iter().map(total).collect()
    })
}

/// Requests of a source until a run beside it is over.
struct Until<'o, S> {
    source: S,
    over: &'o AtomicBool,
}

impl<S: Source> Source for Until<'_, S> {
    fn next(&mut self, now: Nanos) -> Next {
        if self.over.load(Relaxed) { Next::Done } else { self.source.next(now) }
    }

    fn is_warming(&mut self, now: Nanos) -> bool {
        self.source.is_warming(now)
    }

    fn submitted(&mut self, request: &Request, at: Nanos) {
        self.source.submitted(request, at);
    }

    fn completed(&mut self, request: &Request, submitted: Nanos, completion: &Completion) {
        self.source.completed(request, submitted, completion);
    }

    fn tolerates(&mut self, failure: &Failure) -> bool {
        self.source.tolerates(failure)
    }
}

/// Lets timed waits of the calling thread end on time: by default the kernel may add 50 µs to each.
pub fn sharpen_timers() {
    // SAFETY: PR_SET_TIMERSLACK takes a number and touches no memory of ours. If it is refused,
    // waits are merely less exact.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
}
