//! A system at work.

use super::super::error::DisksimError;
use super::System;
use super::controllers::{Cache, Port};
use super::devices::Device;
use crate::bus::{OnShared, SharedLine};
use crate::controller::{CacheDevice, MemoryCache};
use crate::driver::{Driver, Ended, Request};
use crate::model::AnyPart;
use crate::synthetic::{Class, Processes, Sign};
use crate::validate::Times;
use seekwell_io::units::Nanos;

/// What became of a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemTimes {
    /// Response times of requests to volumes.
    pub requests: Times,
    /// Response times of accesses to devices, from when they stood in the driver's queue.
    pub accesses: Times,
    /// The same by device, in the order of the file.
    pub devices: Vec<(String, Times)>,
    /// How long it took.
    pub span: Nanos,
}

impl System {
    /// Runs the workload from a system at rest to its end. What is outstanding then is not counted.
    ///
    /// # Errors
    /// None that [`super::system`] would not have given.
    pub fn run(&self) -> Result<SystemTimes, DisksimError> {
        let mut driver = self.driver()?;
        let mut processes = Processes::new(&self.workload);
        let mut ended = Vec::new();
        let mut requests = Vec::new();
        let mut devices: Vec<Vec<u64>> = vec![Vec::new(); self.ports.len()];
        let mut now = Nanos::ZERO;
        loop {
            let (thought, work) = (processes.next(), driver.next());
            if processes.ended().is_some() || thought.min(work) == Nanos::MAX {
                break;
            }
            if work <= thought {
                now = work;
                driver.advance(now, &mut ended);
                for end in ended.drain(..) {
                    match end {
                        Ended::Access(device, took) => devices[device].push(took.0),
                        Ended::Request(id, took) => {
                            requests.push(took.0);
                            processes.done(id, now);
                        }
                    }
                }
                continue;
            }
            now = thought;
            match processes.advance(now) {
                Some(Sign::Issue(issued)) => {
                    let asked = issued.request;
                    let request = Request {
                        id: issued.id,
                        volume: asked.volume,
                        op: asked.op,
                        start: asked.start,
                        sectors: asked.sectors,
                        urgent: asked.class != Class::Free,
                    };
                    driver.submit(request, now);
                }
                Some(Sign::Raise(id)) => driver.raise(id),
                None => {}
            }
        }
        let all = devices.iter().flatten().copied().collect();
        let names = self.ports.iter().map(|port| self.devices[port.device].name.clone());
        Ok(SystemTimes {
            requests: Times::new(requests),
            accesses: Times::new(all),
            devices: names.zip(devices.into_iter().map(Times::new)).collect(),
            span: now,
        })
    }

    /// The driver with all devices at rest.
    pub(super) fn driver(&self) -> Result<Driver<AnyPart>, DisksimError> {
        let lines: Vec<SharedLine> = self.devices.iter().map(|_| SharedLine::default()).collect();
        let mut parts = Vec::new();
        for port in &self.ports {
            let most = if self.queues_below { port.depth } else { 1 };
            parts.push((self.port(port, &lines)?, most));
        }
        Ok(Driver::new(self.volumes.organisations(), parts, self.queue))
    }

    /// A device, behind its controller's cache where that has one.
    fn port(&self, port: &Port, lines: &[SharedLine]) -> Result<AnyPart, DisksimError> {
        let device = &self.devices[port.device];
        let part = self.attached(device, lines)?;
        let wrong = |source| DisksimError::Range {
            part: device.controller.clone().unwrap_or_default(),
            source,
        };
        Ok(match &port.cache {
            None => part,
            Some(Cache::Memory(params)) => {
                Box::new(MemoryCache::new(*params, part).map_err(wrong)?)
            }
            Some(Cache::Device(params, copy)) => {
                let copy = self.attached(&self.devices[*copy], lines)?;
                Box::new(CacheDevice::new(*params, part, copy).map_err(wrong)?)
            }
        })
    }

    /// A device on its buses.
    fn attached(&self, device: &Device, lines: &[SharedLine]) -> Result<AnyPart, DisksimError> {
        let part = device.build(self.workload.seed.into())?;
        if device.lines.is_empty() {
            return Ok(part);
        }
        let lines = device.lines.iter().map(|&line| lines[line].clone()).collect();
        Ok(Box::new(OnShared::new(part, lines, device.bus)))
    }
}
