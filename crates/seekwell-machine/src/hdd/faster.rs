//! Drives that cannot be had: a faster arm under which data passes at the same rate, and data that
//! passes faster under the same arm. By these one learns which of the two a load waits for.
//!
//! Tracks get shorter or longer and cylinders more or fewer, so that a drive holds as much, and a
//! sector has as many others between it and the arm's last place, as before.

use super::params::{Layout, Params};
use super::seek::SeekCurve;
use seekwell_io::units::Nanos;

impl Params {
    /// Arm and platters move that many times as fast, and data passes as it did.
    pub(crate) fn move_faster(&mut self, factor: f64) {
        self.rpm *= factor;
        self.layout.stretch(1.0 / factor);
        self.seek.stretch(factor);
        self.seek.faster(factor);
        for time in [&mut self.head_switch, &mut self.queue.miss_margin] {
            *time = Nanos((time.0 as f64 / factor).round() as u64);
        }
        self.write_settle_ns = (self.write_settle_ns as f64 / factor).round() as i64;
    }

    /// Data passes that many times as fast, and arm and platters move as they did.
    pub(crate) fn pass_faster(&mut self, factor: f64) {
        self.layout.stretch(factor);
        self.seek.stretch(1.0 / factor);
    }
}

impl Layout {
    /// Tracks that many times as long, on as many fewer cylinders. The last zone has a few more,
    /// so that what rounding takes is not missing.
    fn stretch(&mut self, factor: f64) {
        let mut from = 0;
        let last = self.zones.len().saturating_sub(1);
        for (index, zone) in self.zones.iter_mut().enumerate() {
            let before = f64::from(zone.sectors_per_track);
            let track = (before * factor).round().clamp(1.0, 65_536.0);
            let cylinders = f64::from(zone.last_cylinder - zone.first_cylinder + 1);
            let more = if index == last { cylinders / 100.0 + 2.0 } else { 0.0 };
            let needed = (cylinders * before / track + more).ceil() as u32;
            let first = (f64::from(zone.first_cylinder) / factor).round() as u32;
            zone.first_cylinder = first.max(from);
            zone.last_cylinder = zone.first_cylinder + needed - 1;
            from = zone.last_cylinder + 1;
            zone.sectors_per_track = track as u32;
            // Angles stay what they were.
            for sectors in [&mut zone.track_skew, &mut zone.cylinder_skew, &mut zone.first_offset] {
                *sectors *= track / before;
            }
        }
    }
}

impl SeekCurve {
    /// Seeks that take as long over that many times the distance; those of one cylinder are as they
    /// were. Curves through a share of all cylinders follow by themselves.
    fn stretch(&mut self, factor: f64) {
        match self {
            Self::Constant { .. } | Self::Lines { .. } | Self::ThreePoint { .. } => {}
            Self::Table(points) => {
                for (distance, _) in &mut *points {
                    *distance = 1 + (f64::from(*distance - 1) * factor).round() as u32;
                }
                points.dedup_by_key(|(distance, _)| *distance);
            }
            Self::RootThenLine { line_from, per_root_ms, per_cylinder_ms, .. } => {
                *line_from = (f64::from(*line_from) * factor).round() as u32;
                *per_root_ms /= factor.sqrt();
                *per_cylinder_ms /= factor;
            }
        }
    }

    fn faster(&mut self, factor: f64) {
        match self {
            Self::Constant { ms } => *ms /= factor,
            Self::Table(points) => points.iter_mut().for_each(|(_, ms)| *ms /= factor),
            Self::Lines { one_ms, average_ms, full_ms }
            | Self::ThreePoint { one_ms, average_ms, full_ms } => {
                [one_ms, average_ms, full_ms].into_iter().for_each(|ms| *ms /= factor);
            }
            Self::RootThenLine {
                first_ms, root_ms, per_root_ms, line_ms, per_cylinder_ms, ..
            } => {
                first_ms.iter_mut().for_each(|ms| *ms /= factor);
                let factors = [root_ms, per_root_ms, line_ms, per_cylinder_ms];
                factors.into_iter().for_each(|ms| *ms /= factor);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Model;
    use crate::hdd::{Hdd, Params};
    use crate::library::{Shelf, machine};
    use crate::part::Part;

    fn described(name: &str) -> Params {
        let text = machine(name).expect("ships");
        let model = Model::read(name, text, &[], &Shelf::default()).expect("is right");
        let mut drive = model.description().root().get("drive").expect("a drive").clone();
        for key in ["kind", "count", "actuators", "shingled"] {
            drive.take(key);
        }
        crate::describe::read(&drive, "drive").expect("is a hard drive")
    }

    #[test]
    fn a_drive_with_a_faster_arm_or_faster_data_holds_as_much() {
        for name in ["sata-7200", "exos-x18", "megaraid1600-pci32-33", "st8000as0002"] {
            let plain = described(name);
            let capacity = |params: &Params| Hdd::new(params.clone(), 1).expect("legal").capacity();
            let (mut arm, mut data) = (plain.clone(), plain.clone());
            arm.move_faster(1.1);
            data.pass_faster(1.1);
            for other in [&arm, &data] {
                let share = capacity(other) as f64 / capacity(&plain) as f64;
                assert!((1.0..1.01).contains(&share), "{name}: {share}");
            }
            let rate = |p: &Params| p.rpm * f64::from(p.layout.zones[0].sectors_per_track);
            assert!((rate(&arm) / rate(&plain) - 1.0).abs() < 0.003, "{name}");
            assert!((rate(&data) / rate(&plain) - 1.1).abs() < 0.003, "{name}");
        }
    }
}
