//! Healthy machines and checkups of them, to be spoiled by one test at a time.

pub(crate) mod checkup;
pub(crate) mod machine;
mod whole;
