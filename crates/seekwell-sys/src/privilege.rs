//! What to say to a user whom the kernel refused something.

use rustix::process::geteuid;
use std::io;

/// The end of a sentence about something that more rights would allow: root that is refused is in
/// a container or a user namespace, and `sudo` would not help it.
pub fn sudo() -> &'static str {
    if geteuid().is_root() {
        "; root lacks the capability here: run it outside the container or user namespace"
    } else {
        "; run it again with sudo"
    }
}

/// The same where the kernel's answer was that this user may not.
pub fn sudo_if_denied(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::PermissionDenied { sudo() } else { "" }
}
