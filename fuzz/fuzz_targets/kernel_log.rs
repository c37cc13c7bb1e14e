//! A kernel log is written by whatever is plugged in: names, models and rubbish of any kind.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_inspect::log::{Collector, LogReport, MappedBy, Record, LogSource, catalogue, read};

fuzz_target!(|data: &[u8]| {
    let stream = LogSource::Stream("a log", &mut &data[..]);
    let whole = read(stream, None).expect("what is in a log is no error");
    // Where a read ends must not matter.
    let mut collector = Collector::new(None);
    data.chunks(7).for_each(|piece| collector.push(piece));
    assert_eq!(collector.report("a log"), whole);
    for incident in &whole.incidents {
        assert_eq!(catalogue::entry(incident.id).id, incident.id);
        assert_eq!(incident.disk.is_none(), incident.mapped_by == MappedBy::Unknown);
        assert!(incident.count > 0 && !incident.samples.is_empty());
        assert!(incident.samples.iter().all(|s| s.chars().all(|c| !c.is_control())));
    }
    let json = serde_json::to_vec(&whole).expect("a report can be written");
    let again: LogReport = serde_json::from_slice(&json).expect("and read again");
    assert_eq!(again.incidents.len(), whole.incidents.len());
    for line in data.split(|b| *b == b'\n') {
        if let Some(record) = Record::parse(line) {
            let _ = catalogue::classify(&record.text);
        }
    }
});
