//! Small programs in the kernel (BPF): assembled for the one that runs, which describes its
//! structures in `/sys/kernel/btf/vmlinux`. Nothing outlives the process.

pub(crate) mod asm;
mod btf;
pub(crate) mod kernel;

pub(crate) use btf::Btf;
pub use btf::BtfError;

use asm::Width::W;
use asm::{Alu, Asm, R1, R2};
use seekwell_sys::{classify, cpu_list};
use std::collections::BTreeSet;
use std::io;

/// Where the kernel describes its types.
const TYPES: &str = "/sys/kernel/btf/vmlinux";

/// Why the kernel does not run our programs.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum BpfError {
    #[error("the kernel does not describe its types ({TYPES}: {0})")]
    NoTypes(io::Error),
    #[error("the kernel's description of its types ({TYPES}) is not understood: {0}")]
    Types(#[from] BtfError),
    #[error("the kernel refused {what} (bpf: {source})")]
    Refused { what: &'static str, source: io::Error },
}

classify!(BpfError {
    Refused: NoTypes, Types, Refused;
});

pub(crate) fn refused(what: &'static str) -> impl Fn(io::Error) -> BpfError {
    move |source| BpfError::Refused { what, source }
}

/// The running kernel's types.
pub(crate) fn types() -> Result<Vec<u8>, BpfError> {
    std::fs::read(TYPES).map_err(BpfError::NoTypes)
}

/// The processors that are `possible` or `online`; never empty.
pub(crate) fn cpus(which: &str) -> BTreeSet<u32> {
    let list = std::fs::read_to_string(format!("/sys/devices/system/cpu/{which}"));
    let all = cpu_list(list.unwrap_or_default().trim()).unwrap_or_default();
    if all.is_empty() { BTreeSet::from([0]) } else { all }
}

/// A tracepoint: the type that a program is attached by, and the argument that it is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub id: u32,
    pub argument: i16,
}

impl Point {
    /// The tracepoint of this name, and its argument of type `argument`.
    pub fn of(btf: &Btf<'_>, name: &str, argument: &str) -> Result<Self, BtfError> {
        let (id, argument) = btf.tracepoint(name, argument)?;
        Ok(Self { id, argument })
    }

    /// The offset of that argument, or of one `after` it, in a program's context.
    pub const fn place(self, after: i16) -> i16 {
        8 * (self.argument + after)
    }
}

/// Where the kernel keeps the disk that a request or bio is for.
#[derive(Debug, Clone)]
pub(crate) struct DiskPlaces {
    /// From a request to its disk, pointer by pointer.
    pub rq: Vec<i16>,
    /// From a bio to its disk.
    pub bio: Vec<i16>,
    major: i16,
    minor: i16,
}

impl DiskPlaces {
    pub fn of(btf: &Btf<'_>) -> Result<Self, BtfError> {
        let (rq, bio) = (|path| btf.offset("request", path), |path| btf.offset("bio", path));
        // `rq_disk` until 5.16, `bi_disk` until 5.11.
        let rq_disk = rq("rq_disk").map(|disk| vec![disk]);
        let bio_disk = bio("bi_disk").map(|disk| vec![disk]);
        Ok(Self {
            rq: match rq_disk {
                Ok(disk) => disk,
                Err(_) => vec![rq("q")?, btf.offset("request_queue", "disk")?],
            },
            bio: match bio_disk {
                Ok(disk) => disk,
                Err(_) => vec![bio("bi_bdev")?, btf.offset("block_device", "bd_disk")?],
            },
            major: btf.offset("gendisk", "major")?,
            minor: btf.offset("gendisk", "first_minor")?,
        })
    }

    /// `R1`: the number of the disk that `R1` leads to, as the kernel encodes it. Uses `R2`.
    pub fn number(&self, asm: &mut Asm, way: &[i16]) {
        way.iter().for_each(|offset| asm.load(asm::Width::Dw, R1, R1, *offset));
        asm.load(W, R2, R1, self.minor);
        asm.load(W, R1, R1, self.major);
        asm.alu(Alu::Lsh, R1, 20);
        asm.alu(Alu::Or, R1, R2);
    }
}

/// The offset of a field, as instructions hold it.
macro_rules! field {
    ($of:ty, $($path:tt)+) => {
        std::mem::offset_of!($of, $($path)+) as i16
    };
}
pub(crate) use field;
