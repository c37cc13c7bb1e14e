//! Signs of trouble that the kernel shows without being asked to do anything.

use crate::disk::Disk;
use crate::reason::Trouble;
use seekwell_sys::View;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What is watched of one disk at one moment. What it does not have is `None` and stays so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vitals {
    /// `ioerr_cnt`, `iotmo_cnt` and entries of `ering`, each with its name.
    pub errors: Vec<(&'static str, Option<u64>)>,
    /// `state`, `xfer_mode`, `sata_spd` and `spdn_cnt`, each with its name.
    pub modes: Vec<(&'static str, Option<String>)>,
    pub in_flight: Option<u64>,
    /// Requests completed since boot.
    pub completed: Option<u64>,
}

/// Watches one disk.
pub struct Health {
    errors: Vec<(&'static str, PathBuf)>,
    modes: Vec<(&'static str, PathBuf)>,
    inflight: PathBuf,
    stat: PathBuf,
    first: Vitals,
    /// Since when nothing was completed, and how many had been.
    still: Option<(Instant, u64)>,
    patience: Duration,
}

impl Health {
    /// Takes what it finds now as healthy. Requests in flight without progress for longer than
    /// `patience` are trouble.
    pub fn new(view: &dyn View, disk: &Disk, patience: Duration) -> Self {
        let mut errors = vec![
            ("ioerr_cnt", disk.at("device/ioerr_cnt")),
            ("iotmo_cnt", disk.at("device/iotmo_cnt")),
        ];
        let mut modes = vec![("state", disk.at("device/state"))];
        if let Some(ata) = disk.ata_device(view) {
            errors.push(("ering", ata.join("ering")));
            modes.push(("xfer_mode", ata.join("xfer_mode")));
            modes.push(("spdn_cnt", ata.join("spdn_cnt")));
        }
        if let Some(link) = disk.ata_link(view) {
            modes.push(("sata_spd", link.join("sata_spd")));
        }
        let mut health = Self {
            errors,
            modes,
            inflight: disk.at("inflight"),
            stat: disk.at("stat"),
            first: Vitals::default(),
            still: None,
            patience,
        };
        health.first = health.read(view);
        health
    }

    /// What there is to see now.
    pub fn read(&self, view: &dyn View) -> Vitals {
        let count = |(what, path): &(&'static str, PathBuf)| {
            let text = view.text(path).ok();
            let number = text.and_then(|t| match *what {
                "ering" => u64::try_from(t.lines().filter(|l| l.starts_with('[')).count()).ok(),
                _ => u64::from_str_radix(t.trim_start_matches("0x"), 16).ok(),
            });
            (*what, number)
        };
        let numbers = |path: &PathBuf| -> Vec<u64> {
            let text = view.text(path).unwrap_or_default();
            text.split_whitespace().map_while(|n| n.parse().ok()).collect()
        };
        let (inflight, stat) = (numbers(&self.inflight), numbers(&self.stat));
        // Reads, writes, discards and flushes completed: fields 1, 5, 12 and 16.
        let fields = [0, 4, 11, 15].into_iter().filter_map(|i| stat.get(i));
        Vitals {
            errors: self.errors.iter().map(count).collect(),
            modes: self.modes.iter().map(|(w, p)| (*w, view.text(p).ok())).collect(),
            in_flight: (!inflight.is_empty()).then(|| inflight.iter().sum()),
            completed: (!stat.is_empty()).then(|| fields.fold(0u64, |sum, n| sum.wrapping_add(*n))),
        }
    }

    /// What has gone wrong since the beginning.
    pub fn look(&mut self, view: &dyn View) -> Option<Trouble> {
        self.judge(&self.read(view), Instant::now())
    }

    /// What these vitals mean at this moment.
    pub fn judge(&mut self, now: &Vitals, at: Instant) -> Option<Trouble> {
        for ((what, was), (_, is)) in self.first.errors.iter().zip(&now.errors) {
            if let (Some(was), Some(is)) = (*was, *is)
                && is > was
            {
                return Some(Trouble::Errors { what: (*what).to_owned(), was, is });
            }
        }
        for ((what, was), (_, is)) in self.first.modes.iter().zip(&now.modes) {
            if let Some(was) = was
                && was.as_str() != is.as_deref().unwrap_or_default()
            {
                let is = is.clone().unwrap_or_else(|| "nothing".to_owned());
                let (what, was) = ((*what).to_owned(), was.clone());
                return Some(Trouble::Changed { what, was, is });
            }
        }
        let (Some(in_flight), Some(completed)) = (now.in_flight, now.completed) else {
            return None;
        };
        match self.still {
            Some((since, then)) if in_flight > 0 && then == completed => {
                let still = at.saturating_duration_since(since);
                if still >= self.patience {
                    let for_ms = u64::try_from(still.as_millis()).unwrap_or(u64::MAX);
                    return Some(Trouble::Stuck { in_flight, for_ms });
                }
            }
            _ => self.still = (in_flight > 0).then_some((at, completed)),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::tests::{ahci, disk};
    use seekwell_sys::fake::Fake;

    const SDEV: &str = "/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0";
    const ATA: &str = "/sys/devices/pci0000:00/0000:00:1f.2/ata1/link1";

    fn healthy() -> Fake {
        let device = format!("{ATA}/dev1.0/ata_device/dev1.0");
        let link = format!("{ATA}/ata_link/link1");
        ahci()
            .symlink("/sys/class/ata_device/dev1.0", &device)
            .symlink("/sys/class/ata_link/link1", &link)
            .file(format!("{device}/class"), "ata\n")
            .file(format!("{device}/xfer_mode"), "XFER_UDMA_6\n")
            .file(format!("{device}/ering"), "[17179569.184000] Unknown\n")
            .file(format!("{link}/sata_spd"), "6.0 Gbps\n")
            .file(format!("{SDEV}/ioerr_cnt"), "0x3\n")
            .file(format!("{SDEV}/iotmo_cnt"), "0x0\n")
            .file(format!("{SDEV}/block/sda/inflight"), "0 0\n")
            .file(format!("{SDEV}/block/sda/stat"), "10 0 0 0 5 0 0 0 0 0 0 0 0 0 0 0 0\n")
    }

    fn seen(then: Fake) -> Option<String> {
        let view = healthy();
        let mut health = Health::new(&view, &disk(&view), Duration::from_secs(5));
        assert_eq!(health.look(&view), None, "what was there before is no trouble");
        health.look(&then).map(|t| t.to_string())
    }

    #[test]
    fn every_sign_of_trouble_is_seen_and_named() {
        let h = healthy;
        assert_eq!(
            seen(h().file(format!("{SDEV}/iotmo_cnt"), "0x1\n")).unwrap(),
            "iotmo_cnt grew from 0 to 1"
        );
        assert_eq!(
            seen(h().file(format!("{SDEV}/ioerr_cnt"), "0x10\n")).unwrap(),
            "ioerr_cnt grew from 3 to 16"
        );
        assert_eq!(
            seen(h().file(format!("{SDEV}/state"), "blocked\n")).unwrap(),
            "state went from running to blocked"
        );
        let device = format!("{ATA}/dev1.0/ata_device/dev1.0");
        assert_eq!(
            seen(h().file(format!("{device}/xfer_mode"), "XFER_PIO_4\n")).unwrap(),
            "xfer_mode went from XFER_UDMA_6 to XFER_PIO_4"
        );
        let ring = "[17179571.1] Timeout\n[17179569.184000] Unknown\n";
        assert_eq!(
            seen(h().file(format!("{device}/ering"), ring)).unwrap(),
            "ering grew from 1 to 2"
        );
        let link = format!("{ATA}/ata_link/link1/sata_spd");
        assert_eq!(
            seen(h().file(link, "1.5 Gbps\n")).unwrap(),
            "sata_spd went from 6.0 Gbps to 1.5 Gbps"
        );
        assert_eq!(
            seen(h().without(format!("{SDEV}/state"))).unwrap(),
            "state went from running to nothing"
        );
    }

    #[test]
    fn requests_in_flight_are_trouble_only_when_none_is_completed() {
        let view = healthy();
        let mut health = Health::new(&view, &disk(&view), Duration::from_secs(5));
        let base = health.read(&view);
        assert_eq!((base.in_flight, base.completed), (Some(0), Some(15)));
        let busy =
            |completed| Vitals { in_flight: Some(3), completed: Some(completed), ..base.clone() };
        let start = Instant::now();
        let at = |s| start + Duration::from_secs(s);
        assert_eq!(health.judge(&busy(15), at(0)), None);
        assert_eq!(health.judge(&busy(15), at(4)), None);
        assert_eq!(health.judge(&busy(16), at(5)), None, "one came back");
        assert_eq!(health.judge(&busy(16), at(9)), None);
        let stuck = Trouble::Stuck { in_flight: 3, for_ms: 5000 };
        assert_eq!(health.judge(&busy(16), at(10)), Some(stuck));
        assert_eq!(health.judge(&base, at(11)), None, "nothing in flight is no trouble");
        assert_eq!(health.judge(&busy(16), at(30)), None, "counted again");
    }
}
