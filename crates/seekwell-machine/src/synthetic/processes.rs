//! Processes and the processors that they think on.

use super::Workload;
use super::generator::{Class, Drawn, Generator};
use super::rand48::Rand48;
use seekwell_io::units::Nanos;
use std::collections::{HashSet, VecDeque};

/// A request that a process issued.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Issued {
    /// Its number, from 0.
    pub id: u32,
    /// What it asks for.
    pub request: Drawn,
}

/// What the processes report to the part that serves their requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sign {
    /// A request.
    Issue(Issued),
    /// A process now waits for this request, which it did not when it issued it.
    Raise(u32),
}

/// What a process does next, and after how much thought in milliseconds.
#[derive(Debug)]
enum Step {
    Issue(Box<Issued>),
    Wait(u32),
    Draw,
}

#[derive(Debug)]
struct Process {
    generator: Generator,
    steps: VecDeque<(f64, Step)>,
    /// Requests that will be waited for, each by the thought after the one before it.
    limits: VecDeque<(f64, u32)>,
    waits: Option<u32>,
}

/// A processor: whose thought it does, and until when.
#[derive(Debug, Clone, Copy)]
struct Processor {
    process: Option<usize>,
    due: Nanos,
}

/// All processes of a workload.
///
/// As in DiskSim, the end of a request interrupts the first processor, and a process that it wakes
/// stands in line. A process that gives up a processor hands it to the first in line; with an empty
/// line the processor stays idle, and only the first, by the next interrupt, is ever used again.
#[derive(Debug)]
pub struct Processes {
    all: Vec<Process>,
    processors: Vec<Processor>,
    line: VecDeque<usize>,
    outstanding: HashSet<u32>,
    random: Rand48,
    scale: f64,
    drawn: u64,
    requests: u64,
    until: Nanos,
    next_id: u32,
    ended: Option<Nanos>,
}

/// Nanoseconds of a millisecond.
const MS: f64 = 1e6;

impl Processes {
    /// All processes at time zero, their first requests drawn. DiskSim takes the generators in
    /// reverse order.
    pub fn new(workload: &Workload) -> Self {
        let process = |params: &super::GeneratorParams| Process {
            generator: Generator::new(params.clone()),
            steps: VecDeque::new(),
            limits: VecDeque::new(),
            waits: None,
        };
        let all: Vec<Process> = workload.generators.iter().rev().map(process).collect();
        let idle = Processor { process: None, due: Nanos::MAX };
        let mut made = Self {
            line: (0..all.len()).collect(),
            all,
            processors: vec![idle; workload.processors as usize],
            outstanding: HashSet::new(),
            random: Rand48::new(workload.seed),
            scale: workload.scale,
            drawn: 0,
            requests: workload.requests,
            until: workload.until,
            next_id: 0,
            ended: None,
        };
        for index in 0..made.all.len() {
            let first = made.all[index].generator.first(&mut made.random);
            made.append(index, first, Nanos::ZERO);
        }
        for processor in 0..made.processors.len() {
            made.dispatch(processor, Nanos::ZERO);
        }
        made
    }

    /// When a process does something next; [`Nanos::MAX`] when all wait or it is over.
    pub fn next(&self) -> Nanos {
        let due = self.processors.iter().map(|processor| processor.due).min();
        if self.ended.is_some() { Nanos::MAX } else { due.unwrap_or(Nanos::MAX) }
    }

    /// When the workload ended.
    pub const fn ended(&self) -> Option<Nanos> {
        self.ended
    }

    /// Lets a process that is due do its next step, and gives what the outside has to know of it.
    pub fn advance(&mut self, now: Nanos) -> Option<Sign> {
        let due = |processor: &Processor| processor.due <= now;
        let index = self.processors.iter().position(due)?;
        let process = self.processors[index].process?;
        let sign = match self.all[process].steps.pop_front() {
            Some((_, Step::Issue(issued))) => {
                self.outstanding.insert(issued.id);
                Some(Sign::Issue(*issued))
            }
            Some((_, Step::Wait(id))) if self.outstanding.contains(&id) => {
                self.all[process].waits = Some(id);
                self.processors[index] = Processor { process: None, due: Nanos::MAX };
                self.dispatch(index, now);
                return Some(Sign::Raise(id));
            }
            Some((_, Step::Wait(_))) | None => None,
            Some((_, Step::Draw)) => {
                self.draw(process, now);
                None
            }
        };
        self.processors[index].due = self.due(process, now);
        sign
    }

    /// A request is done: the process that waits for it stands in line.
    pub fn done(&mut self, id: u32, now: Nanos) {
        self.outstanding.remove(&id);
        if let Some(index) = self.all.iter().position(|process| process.waits == Some(id)) {
            self.all[index].waits = None;
            self.line.push_back(index);
        }
        if self.processors[0].process.is_none() {
            self.dispatch(0, now);
        }
    }

    /// Gives a processor to the first in line.
    fn dispatch(&mut self, processor: usize, now: Nanos) {
        if let Some(process) = self.line.pop_front() {
            let due = self.due(process, now);
            self.processors[processor] = Processor { process: Some(process), due };
        }
    }

    fn due(&self, process: usize, now: Nanos) -> Nanos {
        let think = self.all[process].steps.front().map_or(0.0, |(think, _)| *think);
        Nanos(now.0.saturating_add((think * self.scale * MS).round() as u64))
    }

    fn draw(&mut self, process: usize, now: Nanos) {
        self.drawn += 1;
        if self.drawn >= self.requests || now >= self.until {
            self.ended = Some(now);
            return;
        }
        let next = self.all[process].generator.next(&mut self.random);
        self.append(process, next, now);
    }

    /// Puts a request behind what the process does anyhow.
    ///
    /// A process comes to wait for a limited request when a single stretch of its thought is longer
    /// than what is left until then: as in DiskSim, shorter ones take nothing off it.
    fn append(&mut self, process: usize, drawn: Option<Drawn>, now: Nanos) {
        let Some(request) = drawn else {
            self.ended = Some(now);
            return;
        };
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        let Process { steps, limits, .. } = &mut self.all[process];
        let mut think = request.think_ms;
        if let Class::Limited(ms) = request.class {
            limit(limits, ms + think, id);
        }
        while let Some(&(after, earlier)) = limits.front().filter(|(after, _)| *after < think) {
            limits.pop_front();
            think -= after;
            steps.push_back((after, Step::Wait(earlier)));
        }
        steps.push_back((think, Step::Issue(Box::new(Issued { id, request }))));
        if request.class == Class::Critical {
            steps.push_back((0.0, Step::Wait(id)));
        }
        steps.push_back((0.0, Step::Draw));
    }
}

/// Puts a limit among those there are, each counted from the one before.
fn limit(limits: &mut VecDeque<(f64, u32)>, mut after: f64, id: u32) {
    let mut index = 0;
    while let Some((earlier, _)) = limits.get(index).filter(|(earlier, _)| *earlier <= after) {
        after -= earlier;
        index += 1;
    }
    if let Some((later, _)) = limits.get_mut(index) {
        *later -= after;
    }
    limits.insert(index, (after, id));
}
