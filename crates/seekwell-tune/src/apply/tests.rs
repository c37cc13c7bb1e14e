use super::*;
use crate::writer::fake::{Attributes, Behaviour};

const SCHEDULER: &str = "/q/scheduler";
const REQUESTS: &str = "/q/nr_requests";
const AHEAD: &str = "/q/read_ahead_kb";
const AFFINITY: &str = "/q/rq_affinity";

fn queue() -> Attributes {
    let words = ["none", "mq-deadline", "bfq"].map(str::to_owned).to_vec();
    Attributes::new()
        .with(SCHEDULER, "none", Behaviour::Lists(words))
        .with(REQUESTS, "32", Behaviour::Clamps(4, 1024))
        .with(AHEAD, "128", Behaviour::Takes)
        .with(AFFINITY, "1", Behaviour::Clamps(0, 2))
        .resetting(SCHEDULER, REQUESTS, "64")
}

fn originals() -> Vec<Original> {
    let of = |key: &str, path: &str, value: &str, stage, freezes| Original {
        key: key.to_owned(),
        path: path.into(),
        value: value.to_owned(),
        stage,
        freezes,
    };
    vec![
        of("read_ahead_kb", AHEAD, "128", Stage::Last, false),
        of("nr_requests", REQUESTS, "32", Stage::Requests, false),
        of("rq_affinity", AFFINITY, "1", Stage::Rest, false),
        of("scheduler", SCHEDULER, "none", Stage::Scheduler, true),
    ]
}

fn keys(of: &[&str]) -> BTreeSet<String> {
    of.iter().map(|k| (*k).to_owned()).collect()
}

fn applier(attributes: &Arc<Attributes>) -> Applier {
    let limits = Limits { plain_ms: 5_000, freezing_ms: 1_000 };
    Applier::new(Arc::clone(attributes) as Arc<dyn Writer>, limits)
}

#[test]
fn a_value_the_kernel_moved_into_its_range_is_a_failure() {
    // `echo 3 > rq_affinity` succeeds, and 2 is what is set: a tuner that trusts the write reports
    // a setting that is not there.
    let attributes = Arc::new(queue());
    let error = applier(&attributes).set(Path::new(AFFINITY), false, "3").unwrap_err();
    assert_eq!(error, WriteError::Changed { wanted: "3".into(), got: "2".into() });
    attributes.behave(AHEAD, Behaviour::Ignores);
    let error = applier(&attributes).set(Path::new(AHEAD), false, "256").unwrap_err();
    assert_eq!(error, WriteError::Changed { wanted: "256".into(), got: "128".into() });
}

#[test]
fn a_refused_value_and_an_attribute_that_is_gone_are_told_apart() {
    let attributes = Arc::new(queue());
    let applier = applier(&attributes);
    let error = applier.set(Path::new(SCHEDULER), true, "deadline").unwrap_err();
    assert!(matches!(error, WriteError::Refused { .. }), "{error:?}");
    assert_eq!(applier.set(Path::new("/q/none"), false, "1"), Err(WriteError::Gone));
    assert_eq!(applier.read(Path::new("/q/none")), Err(WriteError::Gone));
}

#[test]
fn everything_comes_back_in_the_order_in_which_settings_reset_each_other() {
    let attributes = Arc::new(queue());
    let applier = applier(&attributes);
    for (path, value) in [(SCHEDULER, "bfq"), (REQUESTS, "256"), (AHEAD, "512")] {
        applier.set(Path::new(path), false, value).unwrap();
    }
    let outcome =
        applier.restore(&originals(), &keys(&["scheduler", "nr_requests", "read_ahead_kb"]));
    assert!(outcome.complete(), "{outcome:?}");
    assert_eq!(outcome.restored, ["nr_requests", "read_ahead_kb", "scheduler"]);
    assert!(applier.differences(&originals()).is_empty());
    let order: Vec<_> = attributes.writes().into_iter().skip(3).map(|(p, _)| p).collect();
    // The scheduler's reset made the number of requests 64 before it was put back to 32.
    assert_eq!(order, [PathBuf::from(SCHEDULER), REQUESTS.into(), AHEAD.into()]);
}

#[test]
fn what_someone_else_changed_meanwhile_is_named_and_left_alone() {
    let attributes = Arc::new(queue());
    let applier = applier(&attributes);
    applier.set(Path::new(AHEAD), false, "512").unwrap();
    attributes.put(AFFINITY, "2");
    let outcome = applier.restore(&originals(), &keys(&["read_ahead_kb"]));
    let foreign = Difference { key: "rq_affinity".into(), was: "1".into(), is: "2".into() };
    assert_eq!(outcome.foreign, [foreign]);
    assert_eq!(attributes.value(AFFINITY), "2");
    assert_eq!(attributes.value(AHEAD), "128");
}

#[test]
fn a_write_that_never_returns_is_reported_and_the_rest_is_put_back() {
    // On a disk that hangs, writing `scheduler` waits for requests that never complete. A tuner
    // that waits with it never puts the other settings back.
    let attributes = Arc::new(queue());
    let applier = applier(&attributes);
    applier.set(Path::new(SCHEDULER), false, "bfq").unwrap();
    applier.set(Path::new(AHEAD), false, "512").unwrap();
    attributes.behave(SCHEDULER, Behaviour::Blocks);
    let ours = keys(&["scheduler", "nr_requests", "read_ahead_kb"]);
    let outcome = applier.restore(&originals(), &ours);
    assert_eq!(outcome.left_keys(), ["scheduler"]);
    assert_eq!(outcome.left[0].error, WriteError::Blocked { after_ms: 1_000 });
    assert_eq!((attributes.value(AHEAD), attributes.value(REQUESTS)), ("128".into(), "32".into()));
    assert!(applier.is_stuck(Path::new(SCHEDULER)));
    // The disk comes to: what hung is done, and the next attempt finishes the work.
    attributes.thaw();
    let waited = std::time::Instant::now();
    while applier.is_stuck(Path::new(SCHEDULER)) {
        assert!(waited.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(applier.restore(&originals(), &ours).complete());
    assert_eq!(attributes.value(SCHEDULER), "none");
}

#[test]
fn a_second_write_is_not_sent_after_one_that_has_not_returned() {
    let attributes = Arc::new(queue());
    attributes.behave(AHEAD, Behaviour::Blocks);
    let applier = applier(&attributes);
    for _ in 0..3 {
        let error = applier.set(Path::new(AHEAD), true, "512").unwrap_err();
        assert_eq!(error, WriteError::Blocked { after_ms: 1_000 });
    }
    assert_eq!(attributes.writes().len(), 1);
    attributes.thaw();
}

#[test]
fn a_value_that_cannot_be_written_back_is_known_before_anything_is_changed() {
    let attributes = Arc::new(queue());
    let applier = applier(&attributes);
    assert_eq!(applier.prove(Path::new(AHEAD), false), Ok(()));
    attributes.behave(REQUESTS, Behaviour::Refuses(io::ErrorKind::InvalidInput));
    assert!(matches!(applier.prove(Path::new(REQUESTS), false), Err(WriteError::Refused { .. })));
    assert_eq!(attributes.value(REQUESTS), "32");
}

#[test]
fn the_word_in_brackets_is_the_value() {
    assert_eq!(current("none [mq-deadline] kyber \n"), "mq-deadline");
    assert_eq!(current("write back\n"), "write back");
    assert_eq!(current(""), "");
}

#[test]
fn a_line_asked_for_in_part_is_set_when_every_asked_part_of_it_is() {
    let attributes = Arc::new(Attributes::new().with(
        "/c/io.cost.qos/8:0",
        "enable=0 ctrl=auto",
        Behaviour::Completes("ctrl=user rpct=95.00 min=1.00".to_owned()),
    ));
    let applier = applier(&attributes);
    let path = Path::new("/c/io.cost.qos/8:0");
    let got = applier.set(path, true, "enable=1 rlat=75000").unwrap();
    assert_eq!(got, "enable=1 rlat=75000 ctrl=user rpct=95.00 min=1.00");
    attributes.behave(path, Behaviour::Ignores);
    let error = applier.set(path, true, "enable=1 rlat=5").unwrap_err();
    assert!(matches!(error, WriteError::Changed { .. }), "{error}");
    assert!(!Values::same("enable=0 ctrl=auto", "enable=0 ctrl=user rlat=5"));
    assert!(!Values::same("enable=1 ctrl=user rlat=5", "enable=0 ctrl=auto"));
}

/// Attributes of a queue that is stuck: reading one never ends.
#[derive(Default)]
struct Silent {
    read: std::sync::atomic::AtomicUsize,
}

impl Writer for Silent {
    fn read(&self, _: &Path) -> io::Result<String> {
        self.read.fetch_add(1, Ordering::SeqCst);
        loop {
            std::thread::park();
        }
    }
    fn write(&self, _: &Path, _: &str) -> io::Result<()> {
        Ok(())
    }
    fn writable(&self, _: &Path) -> io::Result<bool> {
        Ok(true)
    }
}

#[test]
fn after_one_attribute_that_does_not_answer_no_other_is_asked() {
    let silent = Arc::new(Silent::default());
    let limits = Limits { plain_ms: 20, freezing_ms: 20 };
    let applier = Applier::new(Arc::clone(&silent) as Arc<dyn Writer>, limits);
    assert_eq!(applier.differences(&originals()), []);
    assert_eq!(silent.read.load(Ordering::SeqCst), 1);
}
