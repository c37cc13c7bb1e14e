//! The formats of other tools, and which of them a file is in.
//!
//! Each format is one file that knows its fields, units and codes and nothing else: reading lines,
//! decompressing, naming devices, sorting and renaming the finished output are done once, here.

mod alibaba;
mod blkparse;
mod blktrace;
pub mod csv;
mod cursor;
mod detect;
mod digits;
mod disksim;
mod disksim_validate;
mod events;
mod fiu;
mod input;
mod iolog;
mod msr;
pub mod names;
mod oracle;
mod output;
mod perf_script;
mod spc;
mod systor;
mod tencent;
#[cfg(test)]
mod testing;
pub mod text;
mod vscsi;

pub use detect::detect;
pub use input::Input;
pub use output::Output;

use crate::error::TraceError;
use crate::order::Ordered;
use crate::source::{About, Sink, Source};
use crate::store;
use seekwell_io::engine::Control;
use std::path::Path;
use std::sync::Arc;

/// A way of writing a trace down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Our own store, Parquet.
    Seekwell,
    /// `blktrace` binary, version 7 or 8, merged or one file per CPU.
    Blktrace,
    /// What `blkparse` prints.
    Blkparse,
    /// What `perf script` prints of block events.
    PerfScript,
    /// fio's I/O log, version 2 or 3.
    Iolog,
    /// Microsoft Research Cambridge, 2007 (SNIA 388).
    Msr,
    /// Alibaba block traces, 2020.
    Alibaba,
    /// Tencent CBS, 2018 (SNIA 27917).
    Tencent,
    /// Systor '17 (SNIA 4928).
    Systor,
    /// Storage Performance Council trace file, revision 1.0.1.
    Spc,
    /// Florida International University (SNIA 411).
    Fiu,
    /// DiskSim's ASCII input.
    DiskSim,
    /// DiskSim's validation traces of measured drives.
    DiskSimValidate,
    /// VMware vscsiStats, version 1 or 2.
    Vscsi,
    /// libCacheSim's oracleGeneral.
    Oracle,
    /// Our own comma-separated text.
    Csv,
}

impl Format {
    /// All formats, in the order of `trace list`.
    pub const ALL: [Self; 16] = [
        Self::Seekwell,
        Self::Blktrace,
        Self::Blkparse,
        Self::PerfScript,
        Self::Iolog,
        Self::Msr,
        Self::Alibaba,
        Self::Tencent,
        Self::Systor,
        Self::Spc,
        Self::Fiu,
        Self::DiskSim,
        Self::DiskSimValidate,
        Self::Vscsi,
        Self::Oracle,
        Self::Csv,
    ];

    /// The name that `--from` and `--to` take.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seekwell => "seekwell",
            Self::Blktrace => "blktrace",
            Self::Blkparse => "blkparse",
            Self::PerfScript => "perf-script",
            Self::Iolog => "iolog",
            Self::Msr => "msr",
            Self::Alibaba => "alibaba",
            Self::Tencent => "tencent",
            Self::Systor => "systor",
            Self::Spc => "spc",
            Self::Fiu => "fiu",
            Self::DiskSim => "disksim",
            Self::DiskSimValidate => "disksim-validate",
            Self::Vscsi => "vscsi",
            Self::Oracle => "oracle",
            Self::Csv => "csv",
        }
    }

    /// The format of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }

    /// The format that an output of this name is meant to be in, where its ending says it.
    pub fn of_output(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        if name.ends_with(".parquet") {
            return Some(Self::Seekwell);
        }
        let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(name);
        match name.rsplit_once('.')?.1 {
            "csv" => Some(Self::Csv),
            "iolog" => Some(Self::Iolog),
            _ => None,
        }
    }

    /// One line on what it is and where it comes from.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Seekwell => "seekwell's own store (Parquet)",
            Self::Blktrace => "blktrace binary, version 7 or 8, merged or one file per CPU",
            Self::Blkparse => "text that blkparse prints",
            Self::PerfScript => "text that perf script prints of block events",
            Self::Iolog => "fio I/O log, version 2 and 3; written as 3",
            Self::Msr => "Microsoft Research Cambridge, 2007 (SNIA 388)",
            Self::Alibaba => "Alibaba block traces, 2020",
            Self::Tencent => "Tencent cloud block storage, 2018 (SNIA 27917)",
            Self::Systor => "Systor '17 (SNIA 4928)",
            Self::Spc => "Storage Performance Council 1.0.1 (UMass Financial, WebSearch)",
            Self::Fiu => "Florida International University (SNIA 411)",
            Self::DiskSim => "DiskSim ASCII input",
            Self::DiskSimValidate => "DiskSim validation traces of measured drives",
            Self::Vscsi => "VMware vscsiStats, version 1 and 2",
            Self::Oracle => "libCacheSim oracleGeneral, for cache simulation",
            Self::Csv => "seekwell's comma-separated text",
        }
    }

    /// What of a request it can hold.
    pub fn holds(self) -> Holds {
        let times = |times, step_ns| Holds {
            times,
            step_ns,
            ops: "read write",
            has_process: false,
            has_devices: true,
        };
        match self {
            Self::Seekwell | Self::Csv | Self::Blktrace | Self::Blkparse | Self::PerfScript => {
                Holds { ops: ALL_OPS, has_process: true, ..times("Q D C", 1) }
            }
            Self::Iolog => Holds { ops: ALL_OPS, ..times("Q", 1000) },
            Self::Msr => times("Q C", 100),
            Self::Alibaba => times("Q", 1000),
            Self::Tencent => times("Q", 1_000_000_000),
            Self::Systor => times("Q C", 1000),
            Self::Spc => times("Q", 1000),
            Self::Fiu => Holds { has_process: true, ..times("Q", 1) },
            Self::DiskSim => times("Q", 1),
            Self::DiskSimValidate => Holds { has_devices: false, ..times("D C", 1000) },
            Self::Vscsi => Holds { ops: ALL_OPS, has_devices: false, ..times("Q C", 1000) },
            Self::Oracle => {
                Holds { ops: "(none)", has_devices: false, ..times("Q", 1_000_000_000) }
            }
        }
    }

    /// Whether [`create`] writes it.
    pub const fn is_written(self) -> bool {
        matches!(
            self,
            Self::Seekwell
                | Self::Blktrace
                | Self::Iolog
                | Self::Msr
                | Self::DiskSim
                | Self::Oracle
                | Self::Csv
        )
    }
}

const ALL_OPS: &str = "read write flush discard";

/// What of a request a format can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holds {
    /// Times: queued Q, issued D, completed C.
    pub times: &'static str,
    /// Their step in nanoseconds.
    pub step_ns: u64,
    /// Operations.
    pub ops: &'static str,
    /// Whether it tells who asked.
    pub has_process: bool,
    /// Whether it tells several devices apart.
    pub has_devices: bool,
}

/// Opens a trace, in the order of arrival, whatever the format keeps. A pipe is waited for until
/// `control` says stop.
///
/// # Errors
/// [`TraceError::Io`]; [`TraceError::Interrupted`]; [`TraceError::Unrecognised`] where no format
/// was named and none is seen; what the format says of the first bytes.
pub fn open(
    path: &Path,
    format: Option<Format>,
    control: &Arc<Control>,
) -> Result<Box<dyn Source + Send>, TraceError> {
    if format.is_none_or(|f| f == Format::Seekwell)
        && !path.exists()
        && store::part_of(path).is_some()
    {
        return store::open(path);
    }
    let per_cpu = if path.exists() { None } else { blktrace::first_of(path) };
    let path = per_cpu.as_deref().unwrap_or(path);
    let input = Input::open(path, control)?;
    let format = match format.or_else(|| detect(input.head(), path)) {
        Some(format) => format,
        None => {
            let known = Format::ALL.map(Format::name).join(", ");
            return Err(TraceError::Unrecognised { path: path.to_owned(), known });
        }
    };
    if format == Format::Seekwell {
        return store::open(path);
    }
    open_input(input, format)
}

/// The same of a file that is read more than once, as what is to be played is.
///
/// # Errors
/// As for [`open`], and [`TraceError::Pipe`].
pub fn open_file(
    path: &Path,
    format: Option<Format>,
) -> Result<Box<dyn Source + Send>, TraceError> {
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return Err(TraceError::Pipe { path: path.to_owned() });
    }
    open(path, format, &Arc::default())
}

/// Opens a trace of any format but our own store, whose bytes come from anywhere.
///
/// # Errors
/// What the format says of the first bytes; [`TraceError::Unrecognised`] for
/// [`Format::Seekwell`], which is read from a file.
pub fn open_input(input: Input, format: Format) -> Result<Box<dyn Source + Send>, TraceError> {
    let source = match format {
        Format::Iolog => iolog::open(input),
        Format::Msr => msr::open(input),
        Format::Alibaba => alibaba::open(input),
        Format::Tencent => tencent::open(input),
        Format::Systor => systor::open(input),
        Format::Spc => spc::open(input),
        Format::Fiu => fiu::open(input),
        Format::DiskSim => disksim::open(input),
        Format::DiskSimValidate => disksim_validate::open(input),
        Format::Vscsi => vscsi::open(input)?,
        Format::Oracle => oracle::open(input),
        Format::Csv => csv::open(input),
        Format::Blkparse => blkparse::open(input),
        Format::PerfScript => perf_script::open(input),
        Format::Blktrace => blktrace::open(input)?,
        Format::Seekwell => {
            let (path, known) = (input.path().to_owned(), String::new());
            return Err(TraceError::Unrecognised { path, known });
        }
    };
    Ok(Box::new(Ordered::new(source)))
}

/// Begins an output. Nothing appears under its name before [`Sink::finish`]; `force` allows
/// replacing a file that is there.
///
/// # Errors
/// [`TraceError::Output`]; [`TraceError::Inexpressible`] where the format is only read.
pub fn create(
    path: &Path,
    format: Format,
    about: &About,
    force: bool,
) -> Result<Box<dyn Sink + Send>, TraceError> {
    let is_packed = path.extension().is_some_and(|e| e == "gz" || e == "zst");
    match format {
        Format::Seekwell | Format::Oracle if is_packed => Err(TraceError::Inexpressible {
            format: format.name(),
            what: "itself under gzip or zstd; name the output without .gz or .zst".to_owned(),
        }),
        Format::Seekwell => store::create(path, about, force),
        Format::Blktrace => blktrace::create(Output::create(path, force)?, about),
        Format::Iolog => iolog::create(Output::create(path, force)?),
        Format::Msr => msr::create(Output::create(path, force)?, about),
        Format::DiskSim => disksim::create(Output::create(path, force)?),
        Format::Oracle => Ok(oracle::create(Output::begin(path, force)?)),
        Format::Csv => csv::create(Output::create(path, force)?),
        other => Err(TraceError::Inexpressible {
            format: other.name(),
            what: "anything: it is only read".to_owned(),
        }),
    }
}
