//! Healthy machines, to be spoiled by one test at a time.

pub(crate) mod machine;
