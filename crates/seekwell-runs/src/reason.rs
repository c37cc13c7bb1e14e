//! Why a phase was not run, and why a repeat does not count.
//!
//! Documents hold these as sentences. The cases that anything depends on have variants of their
//! own, so that only reading a document compares words.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Deref;

const DEVICE_GONE: &str = "the device is gone";
const BEFORE_STEADY: &str = "before the steady state";
const TOO_SHORT: &str = "too short: ";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skipped {
    /// It has not been reached yet; what a killed run leaves behind.
    NotReached,
    /// The run was interrupted before it got there.
    Interrupted,
    DeviceGone,
    /// The target had stopped answering twice.
    DeviceStalled,
    /// The time of the whole plan was over.
    OutOfTime,
    Because(String),
}

impl Deref for Skipped {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::NotReached => "not reached",
            Self::Interrupted => "interrupted before it was run",
            Self::DeviceGone => DEVICE_GONE,
            Self::DeviceStalled => "the device stopped answering",
            Self::OutOfTime => "the time for the whole run was over",
            Self::Because(reason) => reason,
        }
    }
}

impl<'de> Deserialize<'de> for Skipped {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let known = [
            Self::NotReached,
            Self::Interrupted,
            Self::DeviceGone,
            Self::DeviceStalled,
            Self::OutOfTime,
        ];
        let found = known.into_iter().find(|reason| **reason == *text);
        Ok(found.unwrap_or(Self::Because(text)))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invalid {
    /// The device vanished; the sentence says how.
    DeviceGone(String),
    BeforeSteady,
    /// It was too short for a rate; the sentence says how short.
    TooShort(String),
    Because(String),
}

impl Invalid {
    /// The device vanished, with what the kernel said, where it said anything.
    pub fn device_gone(how: Option<&dyn fmt::Display>) -> Self {
        Self::DeviceGone(match how {
            Some(how) => format!("{DEVICE_GONE}: {how}"),
            None => DEVICE_GONE.into(),
        })
    }

    pub fn too_short(measured: impl fmt::Display, needed: impl fmt::Display) -> Self {
        Self::TooShort(format!("{TOO_SHORT}{measured} measured, {needed} needed for a rate"))
    }
}

impl Deref for Invalid {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::BeforeSteady => BEFORE_STEADY,
            Self::DeviceGone(text) | Self::TooShort(text) | Self::Because(text) => text,
        }
    }
}

impl<'de> Deserialize<'de> for Invalid {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Ok(match text.as_str() {
            BEFORE_STEADY => Self::BeforeSteady,
            gone if gone.starts_with(DEVICE_GONE) => Self::DeviceGone(text),
            short if short.starts_with(TOO_SHORT) => Self::TooShort(text),
            _ => Self::Because(text),
        })
    }
}

/// Text on the way out; any text on the way in is a reason that nothing depends on.
macro_rules! as_text {
    ($($reason:ident)*) => {$(
        impl fmt::Display for $reason {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self)
            }
        }

        impl Serialize for $reason {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self)
            }
        }

        impl<T: Into<String>> From<T> for $reason {
            fn from(reason: T) -> Self {
                Self::Because(reason.into())
            }
        }
    )*};
}
as_text! { Skipped Invalid }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_written_as_sentences_and_read_back_as_what_they_were() {
        let skipped = [
            Skipped::NotReached,
            Skipped::Interrupted,
            Skipped::DeviceGone,
            Skipped::DeviceStalled,
            "no time left".into(),
        ];
        for reason in skipped {
            let text = serde_json::to_string(&reason).unwrap();
            assert_eq!(text, format!("{:?}", reason.to_string()));
            assert_eq!(serde_json::from_str::<Skipped>(&text).unwrap(), reason);
        }
        let invalid = [
            Invalid::device_gone(None),
            Invalid::device_gone(Some(&"No such device (os error 19)")),
            Invalid::BeforeSteady,
            Invalid::too_short("1 ms", "500 ms"),
            "a request failed".into(),
        ];
        for reason in invalid {
            let text = serde_json::to_string(&reason).unwrap();
            assert_eq!(serde_json::from_str::<Invalid>(&text).unwrap(), reason, "{text}");
        }
    }
}
