//! A device whose settings are read and set by commands.

use std::io;

/// A device with settings that are commands, opened.
pub trait Knobs: std::fmt::Debug + Send + Sync {
    /// The value of a setting.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when the device does not offer it, and what the kernel or the
    /// drive answers.
    fn read(&self, knob: &str) -> io::Result<String>;

    /// Sets it.
    ///
    /// # Errors
    /// As for [`Knobs::read`]; an invalid value is [`io::ErrorKind::InvalidInput`].
    fn write(&self, knob: &str, text: &str) -> io::Result<()>;
}

/// What a device does not offer.
pub(super) fn not_offered() -> io::Error {
    io::ErrorKind::NotFound.into()
}

/// A number from `least` to `most`.
pub(super) fn number(text: &str, least: u32, most: u32) -> io::Result<u32> {
    let number = text.trim().parse().ok().filter(|n| (least..=most).contains(n));
    number.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}
