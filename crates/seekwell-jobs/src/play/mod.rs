//! Jobs as what a run is made of: the requests of a clone ([`source`]), what they carry and how
//! that is checked ([`data`]), and the one number that names a place in any of its files
//! ([`address`]).

pub mod address;
pub mod data;
pub mod source;
