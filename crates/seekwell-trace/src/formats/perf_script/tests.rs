use super::*;
use crate::formats::blkparse::tests::{Read, read};
use crate::source::Losses;
use proptest::prelude::*;
use seekwell_io::request::Op;

fn shown(read: &Read) -> Vec<String> {
    let one = |r: &Record| {
        let process = &read.tables.processes[r.process as usize];
        let device = &read.tables.devices[r.device as usize].name;
        let us = [r.queued, r.issued, r.completed]
            .map(|stamp| stamp.get().map_or("-".to_owned(), |at| (at.0 / 1000).to_string()));
        let what = format!("{device} {} {}+{}", r.op.name(), r.offset / 512, r.len);
        format!("{what} {} {process}:{} on {} errno {}", us.join("/"), r.pid, r.cpu, r.error)
    };
    read.records.iter().map(one).collect()
}

/// The same moments as tracefs on Linux 6.18, perf 6.1 with and without `--ns`, perf's older
/// columns and trace-cmd write them. 6.1 knows no priority.
#[test]
fn the_columns_of_all_tools_are_understood() {
    let tracefs = "# tracer: nop\n\
        fio job-24298 [001] .....  17.223500: block_bio_queue: 7,0 WS 8 + 8 [fio job]\n\
        fio job-24298 [001] d..1.  17.223509: block_rq_issue: 7,0 WS 4096 () 8 + 8 \
         be,0,4 [fio job]\n\
        ksoftirqd/0-14 [000] ..s..  17.223626: block_rq_complete: 7,0 WS () 8 + 8 be,0,4 [-5]\n";
    let perf = "fio job 24298 [001]    17.223500:   block:block_bio_queue: 7,0 WS 8 + 8 [fio job]\n\
        fio job 24298 [001]    17.223509: block:block_rq_issue: 7,0 WS 4096 () 8 + 8 [fio job]\n\
        swapper     0 [000]    17.223626: block:block_rq_complete: 7,0 WS () 8 + 8 [-5]\n";
    let nanoseconds = perf.replace("17.223", "17.223000").replace(":   block", ": block");
    let nanoseconds = nanoseconds.replace("223000500", "223500000");
    let nanoseconds = nanoseconds.replace("223000509", "223509000");
    let nanoseconds = nanoseconds.replace("223000626", "223626000");
    let threads = perf.replace("job 24298 [", "job 24290/24298 [");
    let trace_cmd = format!("cpus=2\n{}", tracefs.replace(": 7,0", ":      7,0"));
    let want = ["7,0 write 8+4096 17223500/17223509/17223626 fio job:24298 on 1 errno 5"];
    for text in [tracefs, perf, &nanoseconds, &threads, &trace_cmd] {
        let read = read(open, text.as_bytes());
        assert!(read.ended.is_ok(), "{:?}\n{text}", read.ended);
        assert_eq!(shown(&read), want, "{text}");
        assert_eq!(read.about.losses, Losses::default());
    }
}

#[test]
fn events_the_kernel_lost_make_the_trace_incomplete() {
    let text = "CPU:1 [LOST 57 EVENTS]\n\
        a-1 [001] ..... 1.000001: block_bio_queue: 7,0 WS 0 + 8 [a]\n";
    let read = read(open, text.as_bytes());
    read.ended.expect("good");
    assert_eq!(read.about.losses.lost_events, 57);
    assert!(!read.about.complete());
}

#[test]
fn a_line_that_is_no_event_is_refused_with_its_number_and_other_events_are_passed_over() {
    let head = "a-1 [001] ..... 1.000001: sched_switch: prev_comm=[x] ==> next\n\
        a-1 [001] ..... 1.000001: block_plug: [a]\n";
    for bad in [
        "timestamp,offset,length",
        "a-1 [001] ..... 1000001: block_bio_queue: 7,0 WS 0 + 8 [a]",
        "a-1 [001] ..... 1.000001: block_bio_queue: 7,0 WS 0 8 [a]",
        "a-1 [001] ..... 1.000001: block_bio_queue: 7,0 ws 0 + 8 [a]",
        "a-1 [001] ..... 1.000001: block_rq_complete: 7,0 WS () 0 + 8 [x]",
        "a-1 [001] ..... 1.000001: block_rq_issue: 7,0 WS 4096 (",
    ] {
        let read = read(open, format!("{head}{bad}\n").as_bytes());
        let error = read.ended.expect_err(bad).to_string();
        assert!(error.starts_with("perf-script, line 3: "), "{error}");
    }
}

fn sample() -> Option<Vec<u8>> {
    let name = "../../../shared/fixtures/tracefs_flush_sample_6.18.txt";
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let text = std::fs::read(path).ok();
    if text.is_none() {
        eprintln!("skipped: no sample of the kernel's own text");
    }
    text
}

/// 1024 writes and 15 fsyncs on a loop device with a write cache, Linux 6.18: paired by device and
/// sector alone, 15 flushes stayed open for ever and 30 completions belonged to nothing.
#[test]
fn flushes_of_a_real_kernel_are_all_paired() {
    let Some(text) = sample() else { return };
    let whole = read(open, &text);
    whole.ended.expect("good");
    let count = |op| whole.records.iter().filter(|r| r.op == op).count();
    assert_eq!((count(Op::Write), count(Op::Flush), whole.records.len()), (1024, 15, 1039));
    assert_eq!(whole.about.losses, Losses::default());
    assert!(whole.records.is_sorted_by_key(Record::arrival));
    for r in &whole.records {
        assert!(r.queued <= r.issued && r.issued <= r.completed, "{r:?}");
        assert!(r.completed.get().is_some(), "{r:?}");
        assert_eq!(r.len, if r.op == Op::Flush { 0 } else { 4096 });
    }
    // As the device saw it: without the events of queueing, 15 empty completions end nothing.
    let text = String::from_utf8(text).expect("text");
    let issued: Vec<&str> = text.lines().filter(|line| !line.contains("bio_queue")).collect();
    let issued = read(open, issued.join("\n").as_bytes());
    assert_eq!(issued.records.len(), 1039);
    assert_eq!(issued.about.capture, Capture::Issue);
    assert_eq!(issued.about.losses, Losses::default());
}

proptest! {
    #[test]
    fn damaged_text_is_read_or_refused_and_never_worse(
        changes in proptest::collection::vec((0..1900_usize, any::<u8>()), 1..12),
        cut in 0..1900_usize,
    ) {
        let Some(mut bytes) = sample() else { return Ok(()) };
        bytes.drain(..1000);
        bytes.truncate(1900);
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        bytes.truncate(cut);
        let read = read(open, &bytes);
        prop_assert!(read.records.len() <= 20);
    }
}
