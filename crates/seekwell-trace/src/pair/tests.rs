use super::*;
use proptest::prelude::*;

const NO_SECTOR: u64 = u64::MAX;

/// Events from lines such as `120 Q 7,0 FWS 8 + 8`: microseconds, what happened, device,
/// letters, first sector, sectors (of a split: where the second part begins), errno.
fn events(text: &str) -> Vec<Event> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(event).collect()
}

fn event(line: &str) -> Event {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |i: usize| -> u64 { words[i].parse().expect("a number") };
    let kind = match words[1] {
        "Q" => EventKind::Queue,
        "M" => EventKind::Merge,
        "X" => EventKind::Split,
        "D" => EventKind::Issue,
        "R" => EventKind::Requeue,
        "C" => EventKind::Complete,
        other => panic!("{other}?"),
    };
    let sectors = if words[5] == "/" { number(6) - number(4) } else { number(6) };
    let len = (sectors * 512) as u32;
    let (op, flags) = rwbs::parse(words[3].as_bytes(), len == 0).expect("letters");
    Event {
        at: Nanos(number(0) * 1000),
        offset: if number(4) == NO_SECTOR { Event::NOWHERE } else { number(4) * 512 },
        len,
        device: number(2) as u32,
        pid: if kind == EventKind::Queue { 77 } else { 5 },
        process: 0,
        cpu: 0,
        error: words.get(7).map_or(0, |w| w.parse().expect("an errno")),
        flags,
        op,
        kind,
    }
}

fn paired(mut pair: Pair, text: &str) -> (Vec<Record>, Pair) {
    let mut out = Vec::new();
    for event in events(text) {
        pair.push(&event, &mut out);
    }
    pair.finish(&mut out);
    (out, pair)
}

/// `op first-sector+sectors queued/issued/completed` in microseconds.
fn shown(records: &[Record]) -> Vec<String> {
    let us = |stamp: Stamp| stamp.get().map_or("-".to_owned(), |at| (at.0 / 1000).to_string());
    let one = |r: &Record| {
        let times = [us(r.queued), us(r.issued), us(r.completed)].join("/");
        let error = if r.error == 0 { String::new() } else { format!(" errno {}", r.error) };
        format!("{} {}+{} {times}{error}", r.op.name(), r.offset / 512, r.len / 512)
    };
    records.iter().map(one).collect()
}

fn asked(text: &str) -> Vec<String> {
    let (records, pair) = paired(Pair::new(), text);
    assert_eq!(pair.losses(), Losses::default());
    shown(&kept(&records, Record::was_asked_for))
}

/// What the device got, in the order of issue.
fn at_device(text: &str) -> Vec<String> {
    let (records, pair) = paired(Pair::new(), text);
    assert_eq!(pair.losses(), Losses::default());
    let mut records = kept(&records, Record::reached_device);
    records.iter_mut().for_each(|record| record.queued = Stamp::NONE);
    records.sort_by_key(|record| record.issued);
    shown(&records)
}

fn kept(records: &[Record], keep: impl Fn(&Record) -> bool) -> Vec<Record> {
    records.iter().filter(|record| keep(record)).copied().collect()
}

const MERGED: &str = "
    1 Q 0 WSM 380 + 2
    2 Q 0 WSM 382 + 2
    3 M 0 WSM 382 + 2
    4 Q 0 WSM 384 + 4
    5 M 0 WSM 384 + 4
    6 D 0 WSM 380 + 8
    9 C 0 WSM 380 + 8";

#[test]
fn merged_requests_all_take_the_times_of_the_one_that_carried_them() {
    let want = ["write 380+2 1/6/9", "write 382+2 2/6/9", "write 384+4 4/6/9"];
    assert_eq!(asked(MERGED), want);
}

/// 60,000 buffered writes reached the device as 469 requests, and the trace knew only the 60,000.
#[test]
fn what_was_merged_is_one_request_of_the_device() {
    let (records, _) = paired(Pair::new(), MERGED);
    let of_device = kept(&records, Record::reached_device);
    assert_eq!(shown(&of_device), ["write 380+8 -/6/9"]);
    assert_eq!(of_device[0].pid, 77, "whoever dispatched it is not who wanted it");
    assert_eq!(records.len(), 4);
}

/// fio on a ring 256 deep over a device of 128 tags: the kernel refuses what would have to wait for
/// a tag, and a thread of the ring asks again. 100,000 reads were recorded as 177,305.
#[test]
fn what_is_refused_for_want_of_a_tag_counts_once_it_comes_again() {
    let text = "1 Q 0 R 0 + 8
        2 D 0 R 0 + 8
        3 Q 0 R 8 + 8
        4 C 0 R 8 + 8 11
        5 Q 0 R 0 + 8
        6 C 0 R 0 + 8 11
        7 Q 0 R 8 + 8
        8 C 0 R 0 + 8
        9 D 0 R 8 + 8
        10 C 0 R 8 + 8";
    assert_eq!(asked(text), ["read 0+8 1/2/8", "read 8+8 7/9/10"]);
    assert_eq!(asked(text).len(), at_device(text).len());
    let (_, pair) = paired(Pair::new(), text);
    assert_eq!((pair.refused(), pair.losses()), (2, Losses::default()));
}

#[test]
fn a_front_merge_is_found_though_the_later_one_begins_the_request() {
    let text = "1 Q 0 W 8 + 8
        2 Q 0 W 0 + 8
        3 D 0 W 0 + 16
        4 C 0 W 0 + 16";
    assert_eq!(asked(text), ["write 8+8 1/3/4", "write 0+8 2/3/4"]);
}

/// Linux 6.18, `dd bs=8M oflag=direct` on a loop device: parts of two requests travel together
/// and a split is reported before, or not at all if that event is off.
#[test]
fn a_split_request_is_issued_at_its_first_part_and_done_at_its_last() {
    let told = "1 Q 0 WS 0 + 2088
        2 X 0 WS 0 / 1056
        3 D 0 WS 0 + 1056
        4 Q 0 WS 2088 + 2840
        5 D 0 WS 1056 + 1032
        6 C 0 WS 1056 + 1032
        7 C 0 WS 0 + 1056
        8 D 0 WS 2088 + 2840
        9 C 0 WS 2088 + 2840";
    let want = ["write 0+2088 1/3/7", "write 2088+2840 4/8/9"];
    assert_eq!(asked(told), want);
    let untold: Vec<&str> = told.lines().filter(|line| !line.contains('X')).collect();
    assert_eq!(asked(&untold.join("\n")), want);
    let parts = ["write 0+1056 -/3/7", "write 1056+1032 -/5/6", "write 2088+2840 -/8/9"];
    assert_eq!(at_device(told), parts);
}

#[test]
fn the_second_part_may_be_issued_first_once_the_split_was_told() {
    let text = "1 Q 0 R 0 + 16
        2 X 0 R 0 / 8
        3 D 0 R 8 + 8
        4 D 0 R 0 + 8
        5 C 0 R 0 + 8
        6 C 0 R 8 + 8";
    assert_eq!(asked(text), ["read 0+16 1/3/6"]);
}

#[test]
fn kernels_that_queue_the_rest_of_a_split_again_do_not_make_two_of_it() {
    let text = "1 Q 0 R 0 + 16
        2 X 0 R 0 / 8
        3 Q 0 R 8 + 8
        4 D 0 R 0 + 8
        5 D 0 R 8 + 8
        6 C 0 R 0 + 8
        7 C 0 R 8 + 8";
    assert_eq!(asked(text), ["read 0+16 1/4/7"]);
}

#[test]
fn parts_of_a_request_complete_from_the_front() {
    let text = "1 Q 0 R 0 + 8
        2 Q 0 R 8 + 8
        3 D 0 R 0 + 16
        4 C 0 R 0 + 4
        5 C 0 R 4 + 8
        6 C 0 R 12 + 4 5";
    assert_eq!(asked(text), ["read 0+8 1/3/5", "read 8+8 2/3/6 errno 5"]);
}

#[test]
fn a_request_given_back_counts_from_when_it_is_issued_for_good() {
    let text = "1 Q 0 R 0 + 8
        2 Q 0 R 8 + 8
        3 D 0 R 0 + 16
        4 R 0 R 0 + 16
        5 D 0 R 0 + 16
        6 C 0 R 0 + 16";
    assert_eq!(asked(text), ["read 0+8 1/5/6", "read 8+8 2/5/6"]);
    assert_eq!(at_device(text), ["read 0+16 -/5/6"]);
    let no_queue: Vec<&str> = text.lines().filter(|line| !line.contains('Q')).collect();
    assert_eq!(asked(&no_queue.join("\n")), ["read 0+16 -/5/6"]);
}

/// Linux 6.18, an fsync and two commits of ext4's journal: the flush has no place when it is
/// done, and the empty completion after it is what the program waits for.
const FLUSHES: &str = "
    10 Q 0 FWS 0 + 0
    11 D 0 FF 0 + 0
    12 C 0 FF 18446744073709551615 + 0
    13 C 0 WS 0 + 0
    20 Q 0 FWFSM 396 + 2
    21 D 0 FF 0 + 0
    22 C 0 FF 18446744073709551615 + 0
    23 D 0 WSM 396 + 2
    24 C 0 WSM 396 + 2
    25 D 0 FF 0 + 0
    26 C 0 FF 18446744073709551615 + 0
    27 C 0 WSM 396 + 0
    30 Q 0 WFS 0 + 8
    31 D 0 WS 0 + 8
    32 C 0 WS 0 + 8
    33 D 0 FF 0 + 0
    34 C 0 FF 18446744073709551615 + 0
    35 C 0 WS 0 + 0";

#[test]
fn a_request_with_a_flush_in_it_ends_when_its_flush_has() {
    let want = ["flush 0+0 10/11/13", "write 396+2 20/23/27", "write 0+8 30/31/35"];
    assert_eq!(asked(FLUSHES), want);
    let (records, pair) = paired(Pair::new(), FLUSHES);
    assert!(records[1].flags.has(Flags::PREFLUSH | Flags::FUA | Flags::META));
    assert_eq!(pair.empty_completions(), 0);
}

#[test]
fn at_the_device_every_flush_is_a_request_of_its_own() {
    let mut want = [
        "flush 0+0 -/11/13",
        "flush 0+0 -/21/22",
        "write 396+2 -/23/24",
        "flush 0+0 -/25/26",
        "write 0+8 -/31/32",
        "flush 0+0 -/33/34",
    ];
    assert_eq!(at_device(FLUSHES), want);
    let unqueued: Vec<&str> = FLUSHES.lines().filter(|line| !line.contains('Q')).collect();
    want[0] = "flush 0+0 -/11/12";
    assert_eq!(at_device(&unqueued.join("\n")), want);
}

#[test]
fn one_flush_serves_all_that_wait_and_later_ones_wait_for_the_next() {
    let text = "1 Q 0 FWS 0 + 0
        2 Q 0 FWS 0 + 0
        3 D 0 FF 0 + 0
        4 Q 0 FWS 0 + 0
        5 C 0 FF 18446744073709551615 + 0
        6 C 0 WS 0 + 0
        7 C 0 WS 0 + 0
        8 D 0 FF 0 + 0
        9 C 0 FF 18446744073709551615 + 0
        10 C 0 WS 0 + 0";
    assert_eq!(asked(text), ["flush 0+0 1/3/6", "flush 0+0 2/3/7", "flush 0+0 4/8/10"]);
    assert_eq!(at_device(text), ["flush 0+0 -/3/5", "flush 0+0 -/8/10"]);
}

#[test]
fn a_drive_with_forced_access_ends_its_writes_itself() {
    let text = "1 Q 0 WFS 0 + 8
        2 D 0 WFS 0 + 8
        3 C 0 WFS 0 + 8";
    let mut pair = Pair::new();
    let mut out = Vec::new();
    events(text).iter().for_each(|event| pair.push(event, &mut out));
    assert_eq!(shown(&out), ["write 0+8 1/2/3"], "and nothing is waited for");
}

#[test]
fn drivers_without_a_queue_end_requests_that_were_never_issued() {
    let text = "1 Q 3 R 0 + 8
        2 Q 3 FWS 0 + 0
        3 C 3 FWS 0 + 0
        4 C 3 R 0 + 8";
    assert_eq!(asked(text), ["read 0+8 1/-/4", "flush 0+0 2/-/3"]);
}

/// Since Linux 5.12 a request for a partition is queued under the partition's number, already at
/// the disk's sector, and issued under the disk's.
#[test]
fn requests_for_a_partition_are_found_on_its_disk() {
    let text = "1 Q 1 R 2048 + 8
        2 Q 1 R 2056 + 8
        3 D 0 R 2048 + 16
        4 C 0 R 2048 + 16
        5 Q 1 FWS 0 + 0
        6 D 0 FF 0 + 0
        7 C 0 FF 18446744073709551615 + 0
        8 C 0 WS 0 + 0";
    let want = ["read 2048+8 1/3/4", "read 2056+8 2/3/4", "flush 0+0 5/6/8"];
    assert_eq!(asked(text), want);
    let mut pair = Pair::new();
    pair.partition(1, 0);
    let (records, _) = paired(pair, text);
    assert_eq!(shown(&kept(&records, Record::was_asked_for)), want);
    assert!(records.iter().all(|record| record.device == 0));
}

#[test]
fn a_volume_and_the_disk_under_it_keep_their_own_requests() {
    let text = "1 Q 5 W 0 + 8
        2 Q 0 W 100 + 8
        3 D 0 W 100 + 8
        4 C 0 W 100 + 8
        5 C 5 W 0 + 8";
    assert_eq!(asked(text), ["write 0+8 1/-/5", "write 100+8 2/3/4"]);
}

#[test]
fn a_discard_of_several_ranges_takes_those_merged_into_it() {
    let text = "1 Q 0 DS 0 + 8
        2 Q 0 DS 100 + 8
        3 M 0 DS 100 + 8
        4 Q 0 DS 200 + 8
        5 D 0 DS 0 + 16
        6 C 0 DS 0 + 16
        7 D 0 DS 200 + 8
        8 C 0 DS 200 + 8";
    assert_eq!(asked(text), ["discard 0+8 1/5/6", "discard 100+8 2/5/6", "discard 200+8 4/7/8"]);
}

#[test]
fn commands_passed_through_are_counted_though_they_have_no_place() {
    let text = "1 D 0 N 0 + 1
        2 C 0 N 18446744073709551615 + 1";
    let (records, pair) = paired(Pair::new(), text);
    assert_eq!(shown(&records), ["read 0+1 -/1/2"]);
    assert!(records[0].flags.has(Flags::OTHER));
    assert_eq!(pair.losses(), Losses::default());
}

#[test]
fn what_is_missing_at_the_edges_of_a_trace_is_counted() {
    let text = "1 C 0 R 500 + 8
        2 C 0 FF 18446744073709551615 + 0
        3 Q 0 R 0 + 8
        4 D 0 R 0 + 8
        5 Q 0 R 8 + 8";
    let (records, pair) = paired(Pair::new(), text);
    assert_eq!(shown(&records), ["read 0+8 3/4/-", "read 8+8 5/-/-"]);
    assert_eq!(pair.losses(), Losses { unfinished: 2, orphans: 2, ..Losses::default() });
}

#[test]
fn a_trace_of_queued_requests_alone_misses_nothing() {
    let (records, pair) = paired(Pair::new(), "1 Q 0 R 0 + 8\n2 Q 0 R 0 + 8");
    assert_eq!(shown(&records), ["read 0+8 1/-/-", "read 0+8 2/-/-"]);
    assert_eq!(pair.losses(), Losses::default());
    assert_eq!(pair.capture(), Capture::Queue);
}

#[test]
fn a_request_that_never_ends_holds_the_others_up_no_longer_than_its_limit() {
    let limits = Limits { requests: 100, age: Nanos::from_micros(500) };
    let mut pair = Pair::with_limits(limits);
    let mut out = Vec::new();
    pair.push(&event("1 Q 0 R 9000 + 8"), &mut out);
    for i in 0..400_u64 {
        for (at, what) in [(0, "Q"), (1, "D"), (2, "C")] {
            let line = format!("{} {what} 0 R {} + 8", 10 + 3 * i + at, i * 8);
            pair.push(&event(&line), &mut out);
        }
        assert!(pair.window.len() <= 100);
    }
    assert_eq!(out.len(), 401);
    assert!(out.is_sorted_by_key(Record::arrival));
    assert_eq!(pair.losses().unfinished, 1);
    assert!(pair.table.len() < 3);
}

/// One request's life, and what must come of it.
#[derive(Debug, Clone)]
struct Life {
    place: u64,
    bios: Vec<u64>,
    op: &'static str,
    cut: bool,
    requeued: bool,
    parts: u64,
}

fn life() -> impl Strategy<Value = Life> {
    let op = prop_oneof![Just("R"), Just("WS"), Just("WM")];
    (proptest::collection::vec(1_u64..64, 1..5), op, any::<bool>(), any::<bool>(), 1_u64..4)
        .prop_map(|(bios, op, cut, requeued, parts)| Life {
            place: 0,
            bios,
            op,
            cut,
            requeued,
            parts,
        })
}

impl Life {
    fn front(&self, total: u64) -> u64 {
        if self.cut { (total / 2).max(1) } else { total }
    }

    /// First byte and bytes of the requests that the device gets.
    fn issued(&self) -> Vec<(u64, u32)> {
        let total = self.bios.iter().sum();
        let front = self.front(total);
        let parts = [(self.place, front), (self.place + front, total - front)];
        let parts = parts.into_iter().filter(|(_, sectors)| *sectors > 0);
        parts.map(|(sector, sectors)| (sector * 512, (sectors * 512) as u32)).collect()
    }

    /// What happens to it, in order.
    fn steps(&self) -> Vec<String> {
        let op = self.op;
        let total: u64 = self.bios.iter().sum();
        let mut steps = Vec::new();
        let mut at = self.place;
        for len in &self.bios {
            steps.push(format!("Q 0 {op} {at} + {len}"));
            at += len;
        }
        let front = self.front(total);
        if self.cut && self.bios.len() == 1 && total > 1 {
            steps.push(format!("X 0 {op} {} / {}", self.place, self.place + front));
        }
        for (place, len) in [(self.place, front), (self.place + front, total - front)] {
            if len == 0 {
                continue;
            }
            steps.push(format!("D 0 {op} {place} + {len}"));
            if self.requeued {
                steps.push(format!("R 0 {op} {place} + {len}"));
                steps.push(format!("D 0 {op} {place} + {len}"));
            }
            let mut done = 0;
            for part in 1..=self.parts {
                let upto = len * part / self.parts;
                if upto > done {
                    steps.push(format!("C 0 {op} {} + {}", place + done, upto - done));
                }
                done = upto;
            }
        }
        steps
    }
}

proptest! {
    #[test]
    fn interleaved_lives_are_put_together_again(
        mut lives in proptest::collection::vec(life(), 1..40),
        order in proptest::collection::vec(any::<u16>(), 2000),
    ) {
        let mut waiting = Vec::new();
        for (i, life) in lives.iter_mut().enumerate() {
            life.place = i as u64 * 1000;
            let mut steps = life.steps();
            steps.reverse();
            waiting.push((i, steps));
        }
        let mut pair = Pair::new();
        let mut out = Vec::new();
        // By request: last issue of its first part, last completion.
        let mut want = Vec::new();
        let mut now = 0_u64;
        while !waiting.is_empty() {
            now += 1;
            let pick = usize::from(order[now as usize % order.len()]) % waiting.len();
            let step = waiting[pick].1.pop().expect("not empty");
            let event = event(&format!("{now} {step}"));
            if event.kind == EventKind::Queue {
                want.push((event.offset, event.len, event.at));
            }
            pair.push(&event, &mut out);
            if waiting[pick].1.is_empty() {
                waiting.swap_remove(pick);
            }
        }
        // Everything has ended, so nothing may be left behind.
        prop_assert_eq!(pair.table.len(), 0);
        prop_assert!(pair.window.is_empty());
        prop_assert_eq!(pair.losses(), Losses::default());
        let asked = kept(&out, Record::was_asked_for);
        let got: Vec<_> =
            asked.iter().map(|r| (r.offset, r.len, r.queued.get().expect("queued"))).collect();
        prop_assert_eq!(got, want);
        for r in &asked {
            prop_assert!(r.queued < r.issued && r.issued < r.completed, "{:?}", r);
        }
        // At the device the requests are those that were issued for good, however cut.
        let mut at_device = kept(&out, Record::reached_device);
        at_device.sort_by_key(|r| r.offset);
        let at_device: Vec<_> = at_device.iter().map(|r| (r.offset, r.len)).collect();
        let issued: Vec<_> = lives.iter().flat_map(Life::issued).collect();
        prop_assert_eq!(at_device, issued);
    }

    #[test]
    fn any_events_at_all_leave_in_order_and_are_all_accounted_for(
        raw in proptest::collection::vec(
            (0_u64..6, 0_u64..12, 0_u64..5, 0_usize..9, 0_u64..2),
            0..400,
        ),
    ) {
        let letters = ["R", "W", "WFS", "FWS", "FF", "DS", "N", "FWFS", "WS"];
        let limits = Limits { requests: 30, age: Nanos::from_micros(90) };
        let mut pair = Pair::with_limits(limits);
        let mut out = Vec::new();
        let mut queued = 0;
        for (i, &(kind, place, len, op, device)) in raw.iter().enumerate() {
            let kind = ["Q", "M", "X", "D", "R", "C"][kind as usize];
            let (how, last) = if kind == "X" { ("/", place + len) } else { ("+", len) };
            let line = format!("{i} {kind} {device} {} {place} {how} {last}", letters[op]);
            queued += usize::from(kind == "Q");
            pair.push(&event(&line), &mut out);
            prop_assert!(pair.window.len() <= 30);
        }
        pair.finish(&mut out);
        prop_assert!(out.is_sorted_by_key(Record::arrival));
        let kept = out.iter().filter(|r| r.queued != Stamp::NONE).count();
        prop_assert!(kept <= queued);
        prop_assert!(pair.seen.split || kept == queued);
    }
}

fn as_they_end(text: &str) -> (Vec<String>, Pair) {
    let (mut pair, mut out) = (Pair::in_order(Order::Completion), Vec::new());
    events(text).iter().for_each(|event| pair.push(event, &mut out));
    (shown(&out), pair)
}

/// One request that hung kept a million that came after it from being seen.
#[test]
fn whoever_watches_gets_requests_as_they_end_and_those_that_hang_as_outstanding() {
    let text = "1 Q 0 R 0 + 8\n2 D 0 R 0 + 8\n3 Q 0 W 80 + 8\n4 D 0 W 80 + 8\n5 C 0 W 80 + 8";
    let (records, pair) = as_they_end(text);
    assert_eq!(records, ["write 80+8 3/4/5"]);
    let hung: Vec<Record> = pair.outstanding().copied().collect();
    assert_eq!(shown(&hung), ["read 0+8 1/2/-"]);
    // The same in a flush, which ends by a completion of its own.
    let flush = "1 Q 0 FWS 0 + 0\n2 D 0 FF 0 + 0\n3 C 0 FF 18446744073709551615 + 0\n\
                 4 C 0 WS 0 + 0";
    assert_eq!(as_they_end(flush).0, ["flush 0+0 1/2/4"]);
}

#[test]
fn a_request_that_hangs_is_still_known_after_millions_of_others() {
    let mut text = "1 Q 0 R 0 + 8\n2 D 0 R 0 + 8\n3 Q 0 R 16 + 8".to_owned();
    let others = 3 * WINDOW_OF_ENDED as u64;
    for i in 0..others {
        let at = 10 + 120_000 * i;
        let place = 80 + 8 * i;
        text +=
            &format!("\n{at} Q 0 W {place} + 8\n{at} D 0 W {place} + 8\n{at} C 0 W {place} + 8");
    }
    let (records, mut pair) = as_they_end(&text);
    assert_eq!(records.len() as u64, others);
    assert_eq!(pair.outstanding().count(), 2);
    assert!(pair.window.len() <= WINDOW_OF_ENDED && pair.passed.len() == 2);
    // One of them is issued and ends after all.
    let mut out = Vec::new();
    let end = "9 D 0 R 16 + 8\n10 C 0 R 16 + 8\n11 C 0 R 0 + 8";
    events(end).iter().for_each(|event| pair.push(event, &mut out));
    assert_eq!(shown(&out), ["read 16+8 3/9/10", "read 0+8 1/2/11"]);
    assert_eq!((pair.outstanding().count(), pair.passed.len()), (0, 0));
    assert_eq!(pair.losses(), Losses::default());
}

proptest! {
    /// Order is all that differs.
    #[test]
    fn the_same_records_leave_in_both_orders(
        picks in proptest::collection::vec((0_usize..6, 0_u64..6, 1_u64..4), 0..200),
    ) {
        let kinds = ["Q", "D", "C", "Q", "D", "C"];
        let line = |(i, (kind, place, len)): (usize, &(usize, u64, u64))| {
            format!("{i} {} 0 R {} + {}", kinds[*kind], place * 8, len * 8)
        };
        let text: Vec<String> = picks.iter().enumerate().map(line).collect();
        let all = |order| {
            let (records, pair) = paired(Pair::in_order(order), &text.join("\n"));
            let mut shown = shown(&records);
            shown.sort();
            (shown, pair.losses())
        };
        prop_assert_eq!(all(Order::Arrival), all(Order::Completion));
    }
}
