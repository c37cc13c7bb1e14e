//! Suites that write a device until something is known of it. They have no steps: `bench` puts a
//! question to the device, and how much is written follows from the answers.

use crate::error::SuiteError;
use crate::lists::words;
use crate::settings::Values::{Bytes, Count, Text};
use crate::settings::{Settings, tunables};
use crate::suite::{Needs, On, Suite, any};
use seekwell_runs::PtsKind;

pub static SUSTAINED: Suite = Suite {
    name: "sustained",
    title: "where the write rate falls, and what a rest gives back",
    does: "Writes from start to end until the rate has settled, at most --size (all of a device or \
           modelled machine, 8 GiB on a directory), for at most --runtime. Then it rests and \
           writes again, twice. Tells the size of the fast region, the rates before and after, and \
           how much of it each rest gave back. A device is overwritten (--destroy); on a directory \
           a fall can be the file system's.",
    takes: ["minutes to hours", "minutes to hours"],
    writes: "40 to 100 % of --size, then at most the fast region twice more",
    source: "its own documentation",
    on: On::Destroyed,
    tunables: tunables! {
        "bs" Bytes(4096, 16 << 20), "1m" | "1m": "size of one write";
        "iodepth" Count(1, 256), "8" | "8": "writes outstanding";
        "idle1" Count(0, 86_400), "5" | "30": "seconds of the first rest; 0 for none";
        "idle2" Count(0, 86_400), "0" | "60": "seconds of the second; 0 for none";
    },
    check: any,
    needs: |_| Needs { bytes: 8 << 30, files: 1 },
    direct: |_| true,
    steps: |_| Vec::new(),
};

pub static AMPLIFICATION: Suite = Suite {
    name: "wa",
    title: "write amplification: what the drive writes for what it is given",
    does: "Writes at random, first evenly and then 80 % of it to 20 % of the blocks, each in \
           rounds of --runtime until the rate is steady, and tells what the drive wrote to its \
           flash in each. The drive must tell that: an NVMe drive with OCP's page C0h, or a \
           modelled SSD. A device is overwritten (--destroy); on a directory the file system \
           writes beside it.",
    takes: ["5 to 25 rounds of each", "5 to 25 rounds of each"],
    writes: "what it can, all the time",
    source: "its own documentation; rounds as in SNIA's PTS 2.0.2",
    on: On::Destroyed,
    tunables: tunables! {
        "bs" Bytes(512, 16 << 20), "4k" | "4k": "size of one write";
        "iodepth" Count(1, 4096), "32" | "32": "writes outstanding";
    },
    check: any,
    needs: |_| Needs { bytes: 1 << 30, files: 1 },
    direct: |_| true,
    steps: |_| Vec::new(),
};

pub static PTS: Suite = Suite {
    name: "pts",
    title: "SNIA's Solid State Storage Performance Test Specification",
    does: "Writes the device twice from start to end, then measures cells round after round until \
           a steady state: requests a second of 7 shares of reads and 8 sizes (iops), throughput \
           (tp, tp-128k), response times of single requests (latency), rate and response times \
           over what is outstanding (dirth), and the rate while the load changes and comes back \
           (xsr). It does not purge the device: do that before, and run one test at a time, for \
           results that the specification accepts. A run that was stopped goes on with --resume. A \
           device is overwritten (--destroy); on a directory the file system is part of it.",
    takes: ["15 min and writing the device six times", "2 to 4 days; iops alone 5 to 23 h"],
    writes: "what it can, most of the time",
    source: "SNIA's PTS 2.0.2",
    on: On::Destroyed,
    tunables: tunables! {
        "tests" Text, "iops,tp,latency,dirth,xsr" | "iops,tp,latency,dirth,xsr":
            "tests to run: iops, tp, tp-128k, latency, dirth, xsr";
        "cell" Count(1, 3600), "1" | "60": "seconds of each cell in a round";
        "rounds" Count(1, 25), "5" | "25": "rounds at most until a steady state";
        "numjobs" Count(1, 64), "4" | "4": "threads of random requests in iops and xsr";
        "iodepth" Count(1, 1024), "32" | "32":
            "requests outstanding in each thread in iops, tp and xsr";
        "stretch" Count(1, 480), "8" | "480":
            "cells of the first and last load of xsr; the one between has three quarters of it";
    },
    check: |settings| pts_tests(settings).map(drop),
    needs: |_| Needs { bytes: 1 << 30, files: 1 },
    direct: |_| true,
    steps: |_| Vec::new(),
};

/// The tests that were chosen.
///
/// # Errors
/// [`SuiteError::BadValue`].
pub fn pts_tests(settings: &Settings) -> Result<Vec<PtsKind>, SuiteError> {
    words(settings, "tests", &PtsKind::ALL.map(|kind| (kind.name(), kind)))
}
