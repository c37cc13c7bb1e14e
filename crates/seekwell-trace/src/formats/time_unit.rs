//! What a trace counts its times in.

use std::fmt;
use std::str::FromStr;

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// 10⁻⁹ s.
    Nanoseconds,
    /// 10⁻⁶ s.
    Microseconds,
    /// 10⁻³ s.
    Milliseconds,
    /// Seconds.
    Seconds,
}

impl TimeUnit {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Nanoseconds, Self::Microseconds, Self::Milliseconds, Self::Seconds];

    /// In nanoseconds.
    pub const fn ns(self) -> u64 {
        1000_u64.pow(self as u32)
    }

    /// Its symbol.
    pub const fn symbol(self) -> &'static str {
        ["ns", "us", "ms", "s"][self as usize]
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["nanoseconds", "microseconds", "milliseconds", "seconds"][*self as usize])
    }
}

impl FromStr for TimeUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unit = Self::ALL.into_iter().find(|unit| unit.symbol() == text);
        unit.ok_or_else(|| "one of ns, us, ms and s is needed".to_owned())
    }
}
