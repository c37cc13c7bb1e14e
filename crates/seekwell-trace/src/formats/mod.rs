//! The formats of other tools, and which of them a file is in.
//!
//! Each format is one file that knows its fields, units and codes and nothing else: reading lines,
//! decompressing, naming devices, sorting and renaming the finished output are done once, here.

mod alibaba;
pub mod archive;
mod blkparse;
mod blktrace;
mod columns;
pub mod csv;
mod cursor;
mod digits;
mod disksim;
mod disksim_validate;
mod events;
mod fiu;
pub(crate) mod format;
mod input;
mod iolog;
pub(crate) mod mapping;
mod mqsim;
mod msr;
pub mod names;
mod oracle;
mod output;
pub(crate) mod parquet;
mod perf_script;
mod reading;
mod spc;
mod systor;
mod tencent;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod text;
mod time_unit;
mod unpack;
mod vscsi;

pub use format::{Created, Detail, Format, Holds, Opened, Step};
pub use input::Input;
pub use mapping::Mapping;
pub use output::Output;
pub use reading::{Doubt, Reading};
pub use time_unit::TimeUnit;

use crate::error::TraceError;
use crate::order::Ordered;
use crate::record::Record;
use crate::shipped::Shipped;
use crate::source::{About, Capture, Sink, Tables, Written};
use crate::store::{self, Contents};
use format::{Create, Reader, Sample, Writer};
use seekwell_io::engine::Control;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Format {
    /// All formats, in the order of `trace list`. A new one is a file and a line here.
    pub const ALL: [&'static Self; 18] = [
        &store::FORMAT,
        &blktrace::FORMAT,
        &blkparse::FORMAT,
        &perf_script::FORMAT,
        &iolog::FORMAT,
        &msr::FORMAT,
        &alibaba::FORMAT,
        &tencent::FORMAT,
        &systor::FORMAT,
        &spc::FORMAT,
        &fiu::FORMAT,
        // Before DiskSim's, whose lines its own are as well.
        &mqsim::FORMAT,
        &disksim::FORMAT,
        &disksim_validate::FORMAT,
        &vscsi::FORMAT,
        &oracle::FORMAT,
        &csv::FORMAT,
        &parquet::FORMAT,
    ];

    /// The format of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.into_iter().find(|f| f.name == name)
    }

    /// The formats that [`create`] writes.
    pub fn written() -> impl Iterator<Item = &'static Self> {
        Self::ALL.into_iter().filter(|f| f.is_written())
    }

    /// The format that an output of this name is meant to be in, where its ending says it.
    pub fn of_output(path: &Path) -> Option<&'static Self> {
        let name = path.file_name()?.to_str()?;
        let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(name);
        let (_, ending) = name.rsplit_once('.')?;
        Self::ALL.into_iter().find(|f| f.ending == Some(ending))
    }
}

/// The format that a file of this name begins like, if there is one.
pub fn detect(head: &[u8], path: &Path) -> Option<&'static Format> {
    let sample = Sample { bytes: head, path };
    let likely = Format::ALL.into_iter().filter_map(|f| Some(((f.looks_like)(&sample)?, f)));
    // Of equally likely formats the first is taken.
    let best = likely.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    Some(best.1)
}

/// Opens a trace, in the order of arrival, whatever the format keeps. A name that no file has may
/// be that of a trace that ships. A pipe is waited for until `control` says stop.
///
/// # Errors
/// [`TraceError::Io`]; [`TraceError::Interrupted`]; [`TraceError::Unrecognised`] where no format
/// was named and none is seen; what the format says of the first bytes.
pub fn open(path: &Path, how: &Reading, control: &Arc<Control>) -> Opened {
    let (path, format) = match locate(path, how.format) {
        Some((found, format)) => (found, Some(format)),
        None => (path.to_owned(), how.format),
    };
    if let Some(shipped) = Shipped::at(&path) {
        return shipped.open();
    }
    let unpacked = |format: &'static Format| match (format.reader, archive::split(&path)) {
        (Reader::File(_), Some(_)) => {
            Err(TraceError::Packed { path: path.clone(), format: format.name })
        }
        _ => Ok(format),
    };
    let format = format.map(unpacked).transpose()?;
    let (format, source) = match format {
        Some(format @ Format { reader: Reader::File(open), .. }) => (format, open(&path)?),
        _ => {
            let input = Input::open(&path, control)?;
            let detected = match format {
                Some(format) => Some(format),
                None => detect(input.head(), &path).map(unpacked).transpose()?,
            };
            match (&how.columns, detected.map(|format| (format, format.reader))) {
                (Some(mapping), Some((format, Reader::File(_)))) => {
                    if store::contents(&path)?.is_some() {
                        let (format, what) = (format.name, "columns hold");
                        return Err(TraceError::Known { format, what, option: "--columns" });
                    }
                    return parquet::open(&path, mapping);
                }
                (Some(mapping), _) => {
                    return Ok(Box::new(Ordered::new(csv::mapped(input, mapping)?)));
                }
                (None, Some((format, Reader::File(open)))) => (format, open(&path)?),
                (None, Some((format, Reader::Stream(_)))) => (format, open_input(input, format)?),
                (None, None) if archive::looks_like(input.head()) => {
                    return Err(match archive::names(input) {
                        Ok(names) => TraceError::Archive { path, names },
                        Err(source) => TraceError::Io { what: "reading", path, source },
                    });
                }
                (None, None) => {
                    let known = Format::ALL.map(|f| f.name).join(", ");
                    return Err(TraceError::Unrecognised { path, known });
                }
            }
        }
    };
    match how.unit {
        Some(unit) => reading::in_unit(source, format, unit),
        None => Ok(source),
    }
}

/// What a store says of itself without being read; none of a trace in another format.
///
/// # Errors
/// As for [`open`].
pub fn contents(
    path: &Path,
    how: &Reading,
    control: &Arc<Control>,
) -> Result<Option<Contents>, TraceError> {
    if how.columns.is_some() || how.format.is_some_and(|format| *format != store::FORMAT) {
        return Ok(None);
    }
    if let Some(shipped) = Shipped::at(path) {
        return shipped.contents();
    }
    let is_store = match path.metadata() {
        // What is looked at of a pipe is lost for reading it, and a store is never one.
        Ok(found) if found.is_file() => {
            detect(Input::open(path, control)?.head(), path) == Some(&store::FORMAT)
        }
        Ok(_) => false,
        Err(_) => store::part_of(path).is_some(),
    };
    if is_store { store::contents(path) } else { Ok(None) }
}

/// The file that holds a trace of a name that no file has, in the format named or else in any.
fn locate(path: &Path, format: Option<&'static Format>) -> Option<(PathBuf, &'static Format)> {
    if path.exists() {
        return None;
    }
    let formats = Format::ALL.into_iter().filter(|f| format.is_none_or(|named| named == *f));
    formats.filter_map(|f| Some((f.locate?(path)?, f))).next()
}

/// The same of a file that is read more than once, as what is to be played is.
///
/// # Errors
/// As for [`open`], and [`TraceError::Pipe`].
pub fn open_file(path: &Path, how: &Reading) -> Opened {
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return Err(TraceError::Pipe { path: path.to_owned() });
    }
    open(path, how, &Arc::default())
}

/// Opens a trace of any format but our own store, whose bytes come from anywhere.
///
/// # Errors
/// What the format says of the first bytes; [`TraceError::Unrecognised`] for our own store, which
/// is read from a file.
pub fn open_input(input: Input, format: &Format) -> Opened {
    let Reader::Stream(open) = format.reader else {
        let (path, known) = (input.path().to_owned(), String::new());
        return Err(TraceError::Unrecognised { path, known });
    };
    Ok(Box::new(Ordered::new(open(input)?)))
}

/// Begins an output. Nothing appears under its name before it is finished; `force` allows replacing
/// a file that is there.
///
/// # Errors
/// [`TraceError::Output`]; [`TraceError::Inexpressible`] where the format is only read.
pub fn create(path: &Path, format: &Format, about: &About, force: bool) -> Created {
    let inexpressible =
        |what: &str| Err(TraceError::Inexpressible { format: format.name, what: what.to_owned() });
    let is_packed = path.extension().is_some_and(|e| e == "gz" || e == "zst");
    let sink = match &format.writer {
        None => inexpressible("anything: it is only read"),
        Some(Writer { create: Create::Stream(create), .. }) => {
            create(Output::create(path, force)?, about)
        }
        Some(Writer { create: Create::File(_), .. }) if is_packed => {
            inexpressible("itself under gzip or zstd; name the output without .gz or .zst")
        }
        Some(Writer { create: Create::File(create), .. }) => create(path, about, force),
    }?;
    Ok(match format.holds.capture() {
        Capture::Both => sink,
        Capture::Queue | Capture::Issue => Box::new(AskedFor(sink)),
    })
}

/// Requests as programs made them, for formats with one time of arrival.
struct AskedFor(Box<dyn Sink + Send>);

impl Sink for AskedFor {
    fn write(&mut self, records: &[Record], tables: &Tables) -> Result<(), TraceError> {
        let mut runs = records.split(|record| !record.was_asked_for());
        runs.try_for_each(|run| self.0.write(run, tables))
    }

    fn finish(self: Box<Self>, about: &About, tables: &Tables) -> Result<Written, TraceError> {
        self.0.finish(about, tables)
    }

    fn discard(self: Box<Self>) {
        self.0.discard();
    }
}
