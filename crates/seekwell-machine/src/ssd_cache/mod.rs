//! An SSD in front of another part.
//!
//! Two kinds: [`Swapcache`], `DragonFly`'s victim cache of clean pages, with the host's memory that
//! it catches the victims of, and [`ReadCache`], which copies blocks when they were missed often
//! enough. Both are a [`crate::Part`] that holds two.

mod hosts;
mod pair;
mod read_cache;
#[cfg(test)]
mod stale_tests;
mod swapcache;
#[cfg(test)]
mod tests;

pub use read_cache::{Eviction, ReadCache, ReadCacheCounts, ReadCacheParams, Writes};
pub use swapcache::{Swapcache, SwapcacheCounts, SwapcacheParams};
