//! Splitting traces by device, in one pass: a file for each device, or for each of a number of
//! parts that devices fall to by their name.

use crate::error::TraceError;
use crate::formats::{self, Format, Reading};
use crate::record::Record;
use crate::source::{About, Device, Sink, Tables, TraceSource};
use crate::stats::{Shard, identity};
use crate::store;
use seekwell_access::OutputFile;
use seekwell_io::engine::Control;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Files open at once.
pub const MOST_FILES: usize = 256;
/// Requests held for a group of each file: 256 MiB in all.
const GROUP: usize = 1 << 14;

/// What is written.
#[derive(Debug, Clone)]
pub struct Options {
    /// The format of the files.
    pub format: &'static Format,
    /// How many files; none for one of each device.
    pub parts: Option<u64>,
    /// Files that are there are replaced.
    pub replace: bool,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The file.
    pub path: PathBuf,
    /// Its devices.
    pub devices: Vec<String>,
    /// Its requests.
    pub records: u64,
    /// Requests that the format has no place for.
    pub left_out: u64,
}

/// Splits traces, one after the other, into files of a folder. A device keeps one name in all of
/// them ([`identity`]). `go_on` is called with the number of requests so far; `false` stops it, and
/// nothing is left behind then, nor after an error while reading.
///
/// # Errors
/// What is wrong with a trace or the output; [`TraceError::TooManyFiles`];
/// [`TraceError::OtherClock`].
pub fn split(
    inputs: &[PathBuf],
    how: &Reading,
    into: &Path,
    options: &Options,
    control: &Arc<Control>,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<Vec<Piece>>, TraceError> {
    let mut splitter = Splitter { into, options, files: Vec::new(), known: HashMap::new() };
    match splitter.pour(inputs, how, control, go_on) {
        Ok(Some(about)) => {
            let finish = |file: Open| {
                let written = file.sink.finish(&about, &file.tables)?;
                let devices = file.tables.devices.into_iter().map(|device| device.name).collect();
                let (records, left_out) = (written.records, written.left_out);
                Ok(Piece { path: file.path, devices, records, left_out })
            };
            let pieces: Result<Vec<_>, _> = splitter.files.into_iter().map(finish).collect();
            pieces.map(Some)
        }
        stopped => {
            splitter.files.into_iter().for_each(|file| file.sink.discard());
            stopped.map(|_| None)
        }
    }
}

/// A file that is being written. Its tables hold its devices only, and the processes seen so far.
struct Open {
    path: PathBuf,
    sink: Box<dyn Sink + Send>,
    tables: Tables,
    held: Vec<Record>,
}

struct Splitter<'a> {
    into: &'a Path,
    options: &'a Options,
    files: Vec<Open>,
    /// File and number there of each device.
    known: HashMap<String, (usize, u32)>,
}

impl Splitter<'_> {
    /// What is known of the traces in the end; `None` if it was stopped.
    fn pour(
        &mut self,
        inputs: &[PathBuf],
        how: &Reading,
        control: &Arc<Control>,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<About>, TraceError> {
        let mut all: Option<About> = None;
        let mut processes = vec![String::new()];
        let mut read = 0;
        for input in inputs {
            let mut source = formats::open(input, how, control)?;
            let name = input.display().to_string();
            let mut devices: Vec<Option<(usize, u32)>> = Vec::new();
            let mut renumbered: Vec<u32> = Vec::new();
            let mut batch = Vec::new();
            loop {
                batch.clear();
                source.read(&mut batch)?;
                let about = source.about();
                let clock = |about: &About| (about.clock, about.unix_ns_at_zero);
                if all.as_ref().is_some_and(|all| clock(all) != clock(about)) {
                    return Err(TraceError::OtherClock { path: input.clone() });
                }
                if batch.is_empty() {
                    break;
                }
                read += batch.len() as u64;
                if !go_on(read) {
                    return Ok(None);
                }
                let tables = source.tables();
                devices.resize(tables.devices.len(), None);
                for record in &batch {
                    let place = &mut devices[record.device as usize];
                    if place.is_none() {
                        let device = &tables.devices[record.device as usize];
                        let identity = identity(&device.name, about, &name).into_owned();
                        let device = Device { name: identity, ..device.clone() };
                        *place = Some(self.place(device, about)?);
                    }
                }
                for process in tables.processes.iter().skip(renumbered.len()) {
                    let at = processes.iter().position(|known| known == process);
                    renumbered.push(at.unwrap_or(processes.len()) as u32);
                    if at.is_none() {
                        processes.push(process.clone());
                    }
                }
                self.write(&batch, &devices, &renumbered, &processes)?;
            }
            let about = source.about().clone();
            all = Some(match all {
                Some(all) => all.and(about),
                None => about,
            });
        }
        Ok(all)
    }

    /// The file of a device, and its number there.
    fn place(&mut self, device: Device, about: &About) -> Result<(usize, u32), TraceError> {
        if let Some(place) = self.known.get(&device.name) {
            return Ok(*place);
        }
        let name = match self.options.parts {
            Some(count) => {
                let index = (0..count).find(|i| Shard { index: *i, count }.holds(&device.name));
                format!("part-{:04}-of-{count:04}", index.map_or(0, |index| index + 1))
            }
            None => file_name(&device.name),
        };
        let ending = self.options.format.ending.unwrap_or(self.options.format.name);
        let path = self.into.join(format!("{name}.{ending}"));
        let at = match self.files.iter().position(|file| file.path == path) {
            Some(at) => at,
            None => self.create(path, about)?,
        };
        let devices = &mut self.files[at].tables.devices;
        let place = (at, devices.len() as u32);
        self.known.insert(device.name.clone(), place);
        devices.push(device);
        Ok(place)
    }

    fn create(&mut self, path: PathBuf, about: &About) -> Result<usize, TraceError> {
        if self.files.len() == MOST_FILES {
            return Err(TraceError::TooManyFiles { most: MOST_FILES });
        }
        let Options { format, replace, .. } = *self.options;
        let sink = if *format == store::FORMAT {
            let output = OutputFile::create_part(&path, replace)?;
            // A file of many is not to be recovered by itself.
            let group_time = Duration::MAX;
            store::create_with(output, about, store::Options { group_records: GROUP, group_time })?
        } else {
            formats::create(&path, format, about, replace)?
        };
        let tables = Tables { devices: Vec::new(), processes: vec![String::new()] };
        self.files.push(Open { path, sink, tables, held: Vec::new() });
        Ok(self.files.len() - 1)
    }

    fn write(
        &mut self,
        batch: &[Record],
        devices: &[Option<(usize, u32)>],
        renumbered: &[u32],
        processes: &[String],
    ) -> Result<(), TraceError> {
        for record in batch {
            let (file, device) = devices[record.device as usize].expect("it was placed");
            let process = renumbered.get(record.process as usize).copied().unwrap_or(0);
            self.files[file].held.push(Record { device, process, ..*record });
        }
        for file in self.files.iter_mut().filter(|file| !file.held.is_empty()) {
            let more = &processes[file.tables.processes.len()..];
            file.tables.processes.extend_from_slice(more);
            file.sink.write(&file.held, &file.tables)?;
            file.held.clear();
        }
        Ok(())
    }
}

/// The name of a device as one of a file: what may be trouble there is replaced, and then its hash
/// keeps names apart.
fn file_name(device: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins_well = device.starts_with(|c: char| c.is_ascii_alphanumeric());
    if device.len() <= 64 && begins_well && device.chars().all(is_plain) {
        return device.to_owned();
    }
    let plain = device.chars().map(|c| if is_plain(c) { c } else { '_' });
    let plain: String = plain.take(64).collect();
    format!("device-{plain}-{:016x}", crate::stats::seed_of(device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_stay_in_the_folder_and_differ_where_devices_do() {
        assert_eq!(file_name("web_2"), "web_2");
        let odd = ["../x", "..", ".hidden", "a/b", "a_b?", "a_b!", "", "8,0", "ü"];
        let names: Vec<String> = odd.iter().map(|name| file_name(name)).collect();
        for (i, name) in names.iter().enumerate() {
            assert!(name.starts_with("device-") && !name.contains('/'), "{name}");
            assert!(!names[..i].contains(name), "{name}");
        }
    }
}
