//! Jobs as what a run is made of: the requests of a clone ([`source`]), what they carry and how
//! that is checked ([`data`]), the one number that names a place in any of its files ([`address`]),
//! where requests go on a zoned device ([`zones`]), what comes before measuring ([`ramp`]), and who
//! looks on as they are done ([`watched`], [`log`], [`steady`]).

pub mod address;
pub mod data;
pub mod log;
pub mod ramp;
pub mod source;
pub mod steady;
pub mod watched;
pub mod zones;
