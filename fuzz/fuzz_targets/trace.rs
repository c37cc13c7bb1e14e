//! A trace may be torn, of another byte order, or made to do harm. The first byte chooses the
//! format; Parquet is read from a file. What comes out is in order and within its tables.
//!
//! The Parquet library panics on some damaged columns, and the reader of the store makes an error
//! of that. The fuzzer ignores such a panic unless it gets out, and reports every other one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_trace::formats::{self, Format, Input};
use seekwell_trace::source::TraceSource;
use std::io::{Cursor, Write};
use std::path::Path;

fuzz_target!(init: forgive_libraries(), |data: &[u8]| {
    let Some((&first, data)) = data.split_first() else { return };
    let format = Format::ALL[usize::from(first) % Format::ALL.len()];
    let _ = formats::detect(data, Path::new("trace"));
    let _ = formats::archive::names(data);
    if matches!(format.name, "seekwell" | "parquet" | "blktrace") {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(data).expect("room");
        if let Ok(source) = formats::open_file(file.path(), &format.into()) {
            drain(source);
        }
        return;
    }
    let input = Input::from_reader(Path::new("trace"), Box::new(Cursor::new(data.to_vec())));
    if let Ok(source) = input.and_then(|input| formats::open_input(input, format)) {
        drain(source);
    }
});

/// The fuzzer's hook aborts at any panic, caught or not. What gets out aborts without it.
fn forgive_libraries() {
    let abort = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let library = panic.location().is_some_and(|at| at.file().contains("/registry/src/"));
        if !library {
            abort(panic);
        }
    }));
}

fn drain(mut source: Box<dyn TraceSource + Send>) {
    let mut records = Vec::new();
    let mut last = None;
    loop {
        records.clear();
        let ended = source.read(&mut records);
        let tables = source.tables();
        for record in &records {
            assert!((record.device as usize) < tables.devices.len());
            assert!((record.process as usize) < tables.processes.len());
            assert!(last <= Some(record.arrival()), "back in time");
            last = Some(record.arrival());
        }
        if ended.is_err() || records.is_empty() {
            return;
        }
    }
}
