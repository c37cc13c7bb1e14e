//! A program other than the command line measures: no terminal, no signals, nothing printed.

use seekwell_checkup::{Executor, Group, Load, PhaseSpec, Progress};
use seekwell_io::engine::Control;
use seekwell_io::target::Engine;
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Pattern, Workload};
use seekwell_job::PlainJob;
use seekwell_run::bench::{BenchOptions, Question, bench};
use seekwell_run::{Ending, Host, Keeping, Purpose, RealExecutor, RunError, Source, Watcher};
use seekwell_runs::{RunKind, Tool};
use seekwell_sys::{Live, Patient};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

struct Nobody;

impl Watcher for Nobody {
    fn doing(&self, _: &str) {}
    fn part(&self, _: &str, _: u64, _: u64) {}
    fn at(&self, _: &Progress<'_>) {}
    fn note(&self, _: &str) {}
    fn clear(&self) {}
}

fn measure(target: &Path, workload: PlainJob) -> Result<seekwell_run::Finished, RunError> {
    let view = Patient::new(Live::system(), Duration::from_secs(2));
    let host = Host { view: &view, control: &Arc::new(Control::default()) };
    let tool = Tool { version: "1".to_owned(), git_commit: None };
    let purpose = Purpose {
        kind: RunKind::Bench,
        label: None,
        keep: Keeping::No,
        engine: Engine::Auto,
        tool,
    };
    let options = BenchOptions {
        target,
        size_bytes: None,
        destroy: None,
        set: &[],
        precondition: false,
        repeats: 2,
        seed: 1,
    };
    bench(host, Nobody, purpose, &options, &Question::Once(workload))
}

#[test]
fn another_program_measures_a_workload_and_gets_its_document() {
    let mut workload = PlainJob::parse("randread,iodepth=8").unwrap();
    workload.runtime_ns = Nanos::from_millis(700);
    let (document, detail, ending) = measure(Path::new("null"), workload).unwrap();
    assert_eq!(ending, Ending::Complete, "{:?}", document.invalid);
    assert_eq!(document.phases[0].name, "randread-4096-d8");
    assert!(document.phases[0].metrics.contains_key("read.requests_per_s"));
    assert_eq!(detail.repeats.len(), 2);
}

#[test]
fn a_workload_that_writes_is_refused_on_a_file_of_the_users() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let copy = std::env::temp_dir().join(format!("seekwell-library-{}", std::process::id()));
    std::fs::copy(file, &copy).unwrap();
    let refused = measure(&copy, PlainJob::parse("randwrite").unwrap());
    std::fs::remove_file(&copy).unwrap();
    assert!(matches!(refused, Err(RunError::WouldWrite { .. })));
}

#[test]
fn two_workloads_on_one_target_run_at_the_same_time_and_end_together() {
    let opened = seekwell_access::open_read_only(Path::new("/proc/self/exe")).unwrap();
    let bytes = opened.size_bytes;
    let opened = Box::new(seekwell_access::Opened::ReadOnly(opened));
    let source = Source::Opened { opened, device: None, counting: None, commands: None };
    let control = Arc::new(Control::default());
    let mut executor = RealExecutor::new(source, Engine::Auto, None, control);
    let phase = |name: &str, requests| {
        let mut workload = Workload::closed(Pattern::Random, 100, 4096, 4, bytes / 4096 * 4096);
        (workload.direct, workload.runtime_ns) = (false, Nanos::from_millis(5_000));
        workload.requests = requests;
        PhaseSpec::new(name, name, Group::Custom, workload, 1)
    };
    let phases = [phase("long", 0), phase("short", 2_000)];
    let loads: Vec<_> =
        phases.iter().map(|phase| Load { phase, workload: phase.workload.clone() }).collect();
    let executed = executor.beside(&loads);
    for one in &executed {
        let measured = &one.as_ref().unwrap().measurement;
        assert!(measured.requests() > 0);
        assert!(measured.elapsed < Nanos::from_millis(4_000), "{}", measured.elapsed);
    }
    assert_eq!(executed[1].as_ref().unwrap().measurement.requests(), 2_000);
}
