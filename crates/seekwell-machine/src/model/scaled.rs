//! Which parameters of each part belong to which station.

use super::HostParams;
use super::speedup::{Changes, Speedup, Station};
use crate::array::{ArrayParams, CacheParams};
use crate::bus::PciParams;
use crate::controller::{AhciParams, IdeParams};
use crate::flow::FlowParams;
use crate::hdd;
use crate::shingled::ShingledParams;
use crate::ssd::SsdParams;
use crate::throttle::ThrottleParams;
use seekwell_io::units::Nanos;

/// The most commands that any part takes at once.
const MOST_TAGS: u32 = 65_535;

/// A number that can be another multiple of itself.
trait Number {
    fn multiply(&mut self, factor: f64);
}

impl Number for u32 {
    fn multiply(&mut self, factor: f64) {
        *self = (f64::from(*self) * factor).round() as Self;
    }
}

impl Number for u64 {
    fn multiply(&mut self, factor: f64) {
        *self = (*self as f64 * factor).round() as Self;
    }
}

impl Number for f64 {
    fn multiply(&mut self, factor: f64) {
        *self *= factor;
    }
}

impl Number for Nanos {
    fn multiply(&mut self, factor: f64) {
        self.0.multiply(factor);
    }
}

/// Rates, and what there is room for.
fn more(rates: &mut [&mut dyn Number], by: Speedup) {
    rates.iter_mut().for_each(|rate| rate.multiply(by.factor));
}

fn less(times: &mut [&mut dyn Number], by: Speedup) {
    times.iter_mut().for_each(|time| time.multiply(1.0 / by.factor));
}

fn deeper(depth: &mut u32, by: Speedup) {
    depth.multiply(by.factor);
    *depth = (*depth).min(MOST_TAGS);
}

impl Changes for HostParams {
    fn change(&mut self, by: Speedup) {
        match by.station {
            Station::Tags if self.tags.is_some() => deeper(&mut self.openings, by),
            Station::Processor => self.work_ns.values_mut().for_each(|ns| *ns /= by.factor),
            _ => {}
        }
    }
}

impl Changes for ThrottleParams {
    fn change(&mut self, by: Speedup) {
        let rates = self.requests.iter_mut().chain(&mut self.bytes);
        match by.station {
            Station::Throttle => {
                rates.for_each(|rate| more(&mut [&mut rate.per_s, &mut rate.most_per_s], by));
            }
            Station::Credits => rates.for_each(|rate| more(&mut [&mut rate.credits], by)),
            Station::Link => less(&mut [&mut self.latency_ns], by),
            Station::Processor => less(&mut [&mut self.processor_ns], by),
            Station::Tags => self.depth.iter_mut().for_each(|depth| deeper(depth, by)),
            _ => {}
        }
    }
}

impl Changes for PciParams {
    fn change(&mut self, by: Speedup) {
        match by.station {
            Station::Controller => less(&mut [&mut self.adapter_ns], by),
            // The wire as a whole is faster, and the adapter's processor is not.
            Station::Bus => more(&mut [&mut self.adapter_ns], by),
            _ => {}
        }
    }
}

impl Changes for IdeParams {
    fn change(&mut self, by: Speedup) {
        match by.station {
            Station::TransferMode => {
                self.faster_permille = ((by.factor - 1.0) * 1000.0).round() as u32;
            }
            Station::Processor => less(&mut [&mut self.command_ns, &mut self.interrupt_ns], by),
            _ => {}
        }
    }
}

impl Changes for AhciParams {
    fn change(&mut self, by: Speedup) {
        match by.station {
            Station::Processor => {
                let (issue, end) = (&mut self.issue_ns, &mut self.completion_ns);
                less(&mut [issue, end, &mut self.interrupt_ns, &mut self.line_ns], by);
            }
            // With queueing, the slots are what bounds it.
            Station::Tags if !self.ncq => {
                deeper(&mut self.unqueued_at_once, by);
                self.unqueued_at_once = self.unqueued_at_once.min(self.slots);
            }
            _ => {}
        }
    }
}

impl Changes for CacheParams {
    fn change(&mut self, by: Speedup) {
        match by.station {
            Station::Controller => less(&mut [&mut self.command_ns], by),
            Station::WriteCache => more(&mut [&mut self.size_bytes, &mut self.bytes_per_s], by),
            _ => {}
        }
    }
}

impl Changes for ArrayParams {
    fn change(&mut self, by: Speedup) {
        match by.station {
            Station::Controller => less(&mut [&mut self.command_ns, &mut self.access_ns], by),
            Station::Parity => more(&mut [&mut self.xor_bytes_per_s], by),
            Station::Tags => deeper(&mut self.depth, by),
            _ => {}
        }
    }
}

impl Changes for ShingledParams {
    fn change(&mut self, by: Speedup) {
        // More bytes of cache would be fewer of the disk.
        if by.station == Station::WriteCache {
            more(&mut [&mut self.cache_ranges], by);
        }
    }
}

impl Changes for FlowParams {
    fn change(&mut self, by: Speedup) {
        match by.station {
            Station::Medium => {
                for op in [&mut self.read, &mut self.write] {
                    less(&mut [&mut op.alone_ns, &mut op.each_ns, &mut op.byte_ns], by);
                }
                less(&mut [&mut self.flush_ns], by);
            }
            Station::Tags => deeper(&mut self.depth, by),
            _ => {}
        }
    }
}

impl Changes for SsdParams {
    fn change(&mut self, by: Speedup) {
        match by.station {
            Station::Flash => {
                self.sense_ns.iter_mut().for_each(|sense| less(&mut [sense], by));
                less(&mut [&mut self.program_ns, &mut self.erase_ns, &mut self.suspend_ns], by);
                self.slc.iter_mut().for_each(|slc| less(&mut [&mut slc.program_ns], by));
                more(&mut [&mut self.channel_bytes_per_s], by);
            }
            Station::Controller => {
                let f = &mut self.firmware;
                less(&mut [&mut f.read_ns, &mut f.read_unit_ns, &mut f.write_ns], by);
                less(&mut [&mut f.write_unit_ns, &mut f.flush_ns, &mut f.discard_ns], by);
                less(&mut [&mut self.read_latency_ns, &mut self.write_latency_ns], by);
                less(&mut [&mut self.write_gap_ns], by);
                self.write_pause.iter_mut().for_each(|p| less(&mut [&mut p.lasts_ns], by));
            }
            Station::Collection => {
                let spare = self.flash_bytes.saturating_sub(self.capacity_bytes) as f64;
                self.flash_bytes += (spare * (by.factor - 1.0)) as u64;
            }
            Station::WriteCache => {
                more(&mut [&mut self.buffer_bytes], by);
                self.slc.iter_mut().for_each(|slc| more(&mut [&mut slc.bytes], by));
            }
            Station::Tags => deeper(&mut self.depth, by),
            _ => {}
        }
    }
}

impl Changes for hdd::Params {
    fn change(&mut self, by: Speedup) {
        match by.station {
            Station::Mechanics => self.move_faster(by.factor),
            Station::Medium => self.pass_faster(by.factor),
            Station::Controller => electronics(self, by),
            Station::WriteCache => more(&mut [&mut self.write.extents], by),
            Station::Link => {
                if let Some(to) = &mut self.interface {
                    less(&mut [&mut to.read_sector_ns, &mut to.write_sector_ns], by);
                }
            }
            Station::Tags => {
                deeper(&mut self.queue.depth, by);
                deeper(&mut self.queue.window, by);
            }
            _ => {}
        }
    }
}

fn electronics(params: &mut hdd::Params, by: Speedup) {
    let (o, w) = (&mut params.overhead, &mut params.write);
    let kinds = [&mut o.read_hit, &mut o.read_miss, &mut o.write_hit, &mut o.write_miss];
    for after in kinds.into_iter().chain([&mut o.read_disconnect]) {
        less(&mut [&mut after.read, &mut after.write], by);
    }
    less(&mut [&mut o.read_done, &mut o.write_done, &mut o.data_preparation], by);
    less(&mut [&mut o.reselect, &mut o.write_disconnect, &mut o.turnaround], by);
    if let Some(p) = &mut o.pause {
        less(&mut [&mut p.command, &mut p.seek_delay, &mut p.disconnect, &mut p.wait], by);
        less(&mut [&mut p.second_disconnect, &mut p.second_reselect], by);
    }
    less(&mut [&mut w.destage_overhead, &mut w.flush_overhead, &mut w.min_positioning], by);
}
