//! What an error means to the user, whichever library it came from.

use crate::is_wrong_file;
use std::io;

/// What kind of failure an error is. The documented exit statuses follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Status 1: the claim does not hold, or is undecided.
    NotShown,
    /// Status 2: the request makes no sense; other arguments would help.
    Usage,
    /// Status 3: the system or the safety rules forbid it: permission, busy, mounted, no space.
    Refused,
    /// Status 4: the measurement is not valid.
    Invalid,
    /// Status 5: a setting was not, or may not have been, put back.
    Incomplete,
    /// Status 130: interrupted; everything was put back.
    Interrupted,
}

impl Class {
    /// The class of a failure to read a file that the user named: usage where another name would
    /// help, else refused.
    pub fn of_file(error: &io::Error) -> Self {
        if is_wrong_file(error) { Self::Usage } else { Self::Refused }
    }
}

/// An error that knows its class. [`classify!`](crate::classify) implements it.
pub trait Classified: std::error::Error {
    fn class(&self) -> Class;
}

/// Implements [`Classified`]: `classify!(E: Usage)` where every value has one class, else a list of
/// the variants of each class, then arms for variants whose contents decide. The match this makes
/// is exhaustive, so a new variant does not compile before it is given a class.
///
/// ```
/// # use seekwell_sys::{Class, Classified, classify};
/// # #[derive(Debug, thiserror::Error)]
/// # enum OpenError {
/// #     #[error("")] Missing,
/// #     #[error("")] Busy { by: u32 },
/// #     #[error("")] Denied,
/// #     #[error("")] Io(std::io::Error),
/// # }
/// classify!(OpenError {
///     Usage: Missing;
///     Refused: Busy, Denied;
///     | Self::Io(error) => Class::of_file(error),
/// });
/// assert_eq!(OpenError::Busy { by: 1 }.class(), Class::Refused);
/// ```
#[macro_export]
macro_rules! classify {
    ($error:ty: $class:ident) => {
        impl $crate::Classified for $error {
            fn class(&self) -> $crate::Class {
                $crate::Class::$class
            }
        }
    };
    ($error:ty {
        $($class:ident: $($variant:ident),+;)*
        $(| $pattern:pat => $decided:expr,)*
    }) => {
        impl $crate::Classified for $error {
            fn class(&self) -> $crate::Class {
                match self {
                    $($(Self::$variant { .. })|+ => $crate::Class::$class,)*
                    $($pattern => $decided,)*
                }
            }
        }
    };
}
