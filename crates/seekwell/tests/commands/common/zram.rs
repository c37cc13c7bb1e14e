//! A disk without a request queue.

use super::skip;
use std::fs;
use std::time::Duration;

/// A zram device of 64 MiB.
pub struct Zram(pub String);

impl Zram {
    pub fn new() -> Option<Self> {
        let Ok(number) = fs::read_to_string("/sys/class/zram-control/hot_add") else {
            skip("no zram device can be made here");
            return None;
        };
        let zram = Self(format!("zram{}", number.trim()));
        fs::write(zram.attribute("disksize"), (64 << 20).to_string()).unwrap();
        Some(zram)
    }

    fn attribute(&self, name: &str) -> String {
        format!("/sys/block/{}/{name}", self.0)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        // udev may hold it open for a moment.
        let number = self.0.trim_start_matches("zram");
        for _ in 0..100 {
            if fs::write(self.attribute("reset"), "1").is_ok()
                && fs::write("/sys/class/zram-control/hot_remove", number).is_ok()
            {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
