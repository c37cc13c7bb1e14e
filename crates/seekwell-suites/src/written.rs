//! Suites that write a device until something is known of it. They have no steps: `bench` puts a
//! question to the device, and how much is written follows from the answers.

use crate::settings::Values::{Bytes, Count};
use crate::settings::tunables;
use crate::suite::{Needs, On, Suite, any};

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
