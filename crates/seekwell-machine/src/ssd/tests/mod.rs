mod amplification;
mod corners;
mod drives;
mod laws;
mod log;
mod map;
mod slc;
