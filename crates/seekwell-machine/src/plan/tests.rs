use super::*;
use crate::Station;
use crate::library::Shelf;
use crate::what_if::FASTER;
use seekwell_io::request::Op;
use seekwell_io::workload::Pattern;

const ALONE_NS: f64 = 80_000.0;
const EACH_NS: f64 = 10_000.0;

/// A drive of a known law: a request takes `alone + each * n` with `n` outstanding.
fn drive(each_ns: f64) -> Model {
    let op = |name: &str| {
        format!(
            "[drive.{name}]\nlaw = \"balanced\"\nalone_ns = {ALONE_NS:?}\n\
             each_ns = {each_ns:?}\nbyte_ns = 0.0\n"
        )
    };
    let text = format!(
        "title = \"known\"\nabout = \"a law\"\n[drive]\nfrom = \"assumed\"\nkind = \"flow\"\n\
         capacity_bytes = 1073741824\ndepth = 1024\nmixed = 1.0\nflush_ns = 0\n{}{}",
        op("read").replace("law", "from = \"assumed\"\nlaw"),
        op("write").replace("law", "from = \"assumed\"\nlaw"),
    );
    Model::read("known.toml", &text, &[], &Shelf::default()).expect("a description")
}

fn reads(pace: Pace) -> Workload {
    Workload { pace, ..Workload::closed(Pattern::Random, 100, 4096, 1, 1 << 30) }
}

fn limit(figure: Figure, bound: f64) -> Limit {
    Limit { figure, bound }
}

fn planned(model: &Model, load: Load<'_>, limits: &[Limit]) -> Planned {
    plan(&[model], load, limits, 1, 1).pop().expect("one").expect("plans")
}

#[test]
fn a_closed_loop_breaks_at_the_depth_at_which_its_law_takes_longer_than_the_bound() {
    let workload = reads(Pace::Closed { depth: 4 });
    let load = Load::Job { workload: &workload, requests: 4_000 };
    // 80 us + 10 us * 42 is 500 us; a little more, so that rounding decides nothing.
    let found = planned(&drive(EACH_NS), load, &[limit(Figure::Mean, 501_000.0)]);
    assert!(found.given.holds && found.given.depth == Some(4), "{found:?}");
    assert_eq!(found.most.as_ref().and_then(|t| t.depth), Some(42), "{found:?}");
    assert_eq!(found.breaks.as_ref().and_then(|t| t.depth), Some(43), "{found:?}");
    assert_eq!(found.most.map(|t| t.factor), Some(10.5));
}

#[test]
fn an_open_loop_breaks_where_requests_come_faster_than_the_drive_serves_any() {
    let requests_per_s = 10_000.0;
    let workload = reads(Pace::Open { requests_per_s, poisson: false, depth: 4096 });
    let load = Load::Job { workload: &workload, requests: 40_000 };
    let found = planned(&drive(EACH_NS), load, &[limit(Figure::Quantile(0.5), 1e9)]);
    // The law's rate with many outstanding is the reciprocal of `each`.
    let most = found.most.expect("bears some").factor * requests_per_s;
    let law = 1e9 / EACH_NS;
    assert!((0.9..=1.06).contains(&(most / law)), "{most} for {law}");
    assert!(found.breaks.is_some_and(|t| !t.holds));
}

#[test]
fn a_trace_is_sped_up_until_the_drive_breaks() {
    let request = |n: u64| Request {
        op: Op::Read,
        offset: n * 4096,
        len: 4096,
        wanted: Some(Nanos(n * 1_000_000)),
        id: 0,
        durable: false,
        queue: 0,
    };
    let trace: Vec<Request> = (0..5_000).map(request).collect();
    let load = Load::Trace(&trace);
    let found = planned(&drive(EACH_NS), load, &[limit(Figure::Quantile(0.99), 1e6)]);
    assert!(found.given.holds && (found.given.figures[0].value / 90_000.0 - 1.0).abs() < 0.02);
    // Every millisecond, and one of 10 us at the most: a hundred times as fast, less the queue.
    let factor = found.most.expect("bears some").factor;
    assert!((80.0..106.0).contains(&factor), "{factor}");
}

#[test]
fn limits_that_no_load_keeps_are_kept_at_none_and_loose_ones_at_the_highest() {
    let workload = reads(Pace::Closed { depth: 8 });
    let load = Load::Job { workload: &workload, requests: 2_000 };
    let never = planned(&drive(EACH_NS), load, &[limit(Figure::Mean, 10_000.0)]);
    assert!(never.most.is_none() && never.breaks.is_some_and(|t| t.depth == Some(1)));
    let load = Load::Job { workload: &workload, requests: 8_000 };
    let always = planned(&drive(EACH_NS), load, &[limit(Figure::PerSecond, 1.0)]);
    assert!(always.breaks.is_none() && always.most.is_some_and(|t| t.depth == Some(4096)));
    let few = Load::Job { workload: &workload, requests: 99 };
    let told = plan(&[&drive(EACH_NS)], few, &[limit(Figure::Quantile(0.9), 1e9)], 1, 1);
    assert!(matches!(told[0], Err(LoadError::TooFew { needed: 100, .. })), "{told:?}");
}

#[test]
fn any_number_of_threads_plans_the_same() {
    let drives: Vec<Model> = [5e3, 1e4, 2e4, 4e4].map(drive).into();
    let machines: Vec<&Model> = drives.iter().collect();
    let workload = reads(Pace::Open { requests_per_s: 3e3, poisson: true, depth: 256 });
    let load = Load::Job { workload: &workload, requests: 2_000 };
    let with = |threads| {
        let found = plan(&machines, load, &[limit(Figure::Quantile(0.99), 1e6)], 7, threads);
        found.into_iter().map(|p| p.expect("plans")).collect::<Vec<_>>()
    };
    let one = with(1);
    let most = |n: usize| one[n].most.as_ref().expect("bears some").requests_per_s;
    assert!(most(0) > 2.0 * most(3));
    let factors: Vec<f64> = one[0].trials.iter().map(|trial| trial.factor).collect();
    assert!(factors.is_sorted() && one[0].trials.contains(&one[0].given), "{factors:?}");
    assert!(with(2) == one && with(4) == one);
}

#[test]
fn what_breaks_first_is_the_station_whose_speed_helps_the_broken_limit() {
    let text = crate::library::machine("sata-ssd").expect("ships");
    let slow = [("link.speed".to_owned(), "1.5Gbps".to_owned())];
    let slow = Model::read("sata-ssd", text, &slow, &Shelf::default()).expect("is right");
    let open = Pace::Open { requests_per_s: 100.0, poisson: true, depth: 256 };
    let reads = |bytes| Workload {
        pace: open,
        ..Workload::closed(Pattern::Random, 100, bytes, 1, 1 << 30)
    };
    let large = reads(1 << 20);
    let load = Load::Job { workload: &large, requests: 2_000 };
    let found = planned(&slow, load, &[limit(Figure::Quantile(0.99), 50e6)]);
    let relief = found.limited_by.expect("breaks");
    assert_eq!(relief.station, Station::Link, "{relief:?}");
    assert!(relief.gain > 1.05 && relief.factor == FASTER, "{relief:?}");

    let volume = crate::library::machine("volume-gp3").expect("ships");
    let volume = Model::read("volume-gp3", volume, &[], &Shelf::default()).expect("is right");
    let small = reads(4096);
    let load = Load::Job { workload: &small, requests: 20_000 };
    let found = planned(&volume, load, &[limit(Figure::Mean, 50e6)]);
    assert_eq!(found.limited_by.map(|r| r.station), Some(Station::Throttle), "{found:?}");
}
