//! Why phases were not run.

/// The device vanished; the reason of a repeat that could not begin for that begins with it.
pub const DEVICE_GONE: &str = "the device is gone";
/// The target had stopped answering twice.
pub const DEVICE_STALLED: &str = "the device stopped answering";
/// The run was interrupted before it got there.
pub const INTERRUPTED: &str = "interrupted before it was run";
/// It has not been reached yet; what a killed run leaves behind.
pub const NOT_REACHED: &str = "not reached";
