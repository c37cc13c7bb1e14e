use super::*;
use io::ErrorKind::{BrokenPipe, NotFound, PermissionDenied, StorageFull};
use seekwell_access::{AccessError, OutputError as FileError, Refusal};
use seekwell_checkup::ExecuteError;
use seekwell_compare::{CompareError, SourceError, TrendError};
use seekwell_experiment::{ArmError, ExperimentError, SweepError, UnknownMetric};
use seekwell_inspect::log::LogError;
use seekwell_inspect::probe::ProbeError;
use seekwell_inspect::saved::SavedError;
use seekwell_inspect::watch::WatchError;
use seekwell_inspect::{InspectError, NotATarget};
use seekwell_io::measurement::{Failure, FailureKind};
use seekwell_io::request::Op;
use seekwell_io::target::TargetError;
use seekwell_io::units::Nanos;
use seekwell_io::workload::WorkloadError;
use seekwell_jobs::JobError;
use seekwell_jobs::output::OutputError;
use seekwell_machine::fit::FitError;
use seekwell_report::ReportError;
use seekwell_reproduce::ReproduceError;
use seekwell_run::RunError;
use seekwell_run::bench::LimitError;
use seekwell_run::jobs::JobRunError;
use seekwell_run::replay::ReplayError;
use seekwell_runs::StoreError;
use seekwell_suites::SuiteError;
use seekwell_suites::sqlite::SqliteError;
use seekwell_suites::web::WebError;
use seekwell_sys::SnapshotError;
use seekwell_trace::capture::CaptureError;
use seekwell_trace::error::{At, TraceError};
use seekwell_tune::TuneError;
use seekwell_tune::apply::WriteError;
use seekwell_tune::journal::{Damage, JournalError};
use seekwell_tune::setting::{RequestError, SettingError};

fn path() -> PathBuf {
    "it".into()
}

fn text() -> String {
    "it".into()
}

fn kernel(errno: rustix::io::Errno) -> io::Error {
    errno.into()
}

fn missing() -> io::Error {
    kernel(rustix::io::Errno::NOENT)
}

fn denied() -> io::Error {
    kernel(rustix::io::Errno::ACCESS)
}

/// Exit statuses are documented: none may change with the way errors are put together.
#[track_caller]
fn ends(with: u8, errors: impl IntoIterator<Item = CommandError>) {
    for error in errors {
        assert_eq!(error.exit().code(), with, "{error:?}");
    }
}

#[test]
fn what_is_wrong_in_the_command_line_is_usage() {
    let wrong_file = || io::Error::other("not of this kind");
    ends(
        2,
        [
            SnapshotError::Unreadable { path: path(), source: missing() }.into(),
            SnapshotError::NotOne { path: path() }.into(),
            SavedError::NotInSnapshot { given: text(), there: Vec::new() }.into(),
            ArmError::Same.into(),
            UnknownMetric { given: text(), nearest: text() }.into(),
            LogError::File { path: path(), source: wrong_file() }.into(),
            OutputError::Suite { phase: text() }.into(),
            SweepError::NoEngine.into(),
            CompareError::OneSide.into(),
            seekwell_compare::WriteError::Nothing.into(),
            WorkloadError { field: "it", found: text(), needed: "more" }.into(),
            ExecuteError::from(WorkloadError { field: "it", found: text(), needed: "more" }).into(),
        ],
    );
    ends(
        2,
        [
            AccessError::Missing { path: path() }.into(),
            AccessError::NotMeasurable { path: path(), kind: "pipe" }.into(),
            AccessError::NotADirectory { path: path() }.into(),
            InspectError::NotFound { given: text(), near: Vec::new() }.into(),
            InspectError::Unsupported { given: text(), is: NotATarget::Fifo, near: Vec::new() }
                .into(),
            RunError::from(InspectError::Deleted { given: text() }).into(),
            RunError::NoMachine { file: text(), near: Vec::new() }.into(),
            RunError::NoParameters { path: path() }.into(),
            RunError::LargerThanMachine { asked: 2, capacity: 1 }.into(),
            RunError::NothingToDestroy { path: path(), what: "file" }.into(),
            RunError::Read { path: path(), source: missing() }.into(),
            RunError::from(StoreError::Ambiguous { wanted: text(), candidates: Vec::new() }).into(),
        ],
    );
    ends(
        2,
        [
            StoreError::NotFound { wanted: text(), dir: path(), nearest: Vec::new() }.into(),
            StoreError::Io { doing: "reading", path: path(), source: missing() }.into(),
            SourceError::NotFound { wanted: text(), labels: Vec::new() }.into(),
            SourceError::Io { path: path(), source: missing() }.into(),
            TrendError::SeveralPhases { metric: text(), phases: Vec::new() }.into(),
            TrendError::from(SourceError::TooMany { path: path(), most: 1 }).into(),
            ReplayError::Empty { path: path() }.into(),
            JobRunError::NothingToDestroy.into(),
            JobRunError::from(JobError::NoJob { file: text() }).into(),
            JobRunError::from(JobError::Read { file: text(), source: missing() }).into(),
        ],
    );
    ends(
        2,
        [
            TuneError::NoDisk { given: text(), why: text() }.into(),
            TuneError::NoTrial { disk: None }.into(),
            TuneError::Which { disks: Vec::new() }.into(),
            TuneError::from(SettingError::Unknown { key: text(), near: None }).into(),
            TuneError::from(SettingError::Twice { key: text() }).into(),
            TuneError::from(SettingError::from(RequestError::NoValue { word: text() })).into(),
            TuneError::from(InspectError::Deleted { given: text() }).into(),
            ExperimentError::NotFound { wanted: text(), dir: path(), have: Vec::new() }.into(),
            ExperimentError::EndedInvalid { id: text(), why: text() }.into(),
            SuiteError::NoTarget { suite: "fs" }.into(),
            SuiteError::TooSmall { path: path(), size_bytes: 1, needed_bytes: 2 }.into(),
            SuiteError::from(WebError::Address { url: text(), why: "no" }).into(),
        ],
    );
    ends(
        2,
        [
            TraceError::Io { what: "reading", path: path(), source: wrong_file() }.into(),
            TraceError::Pipe { path: path() }.into(),
            TraceError::Truncated { format: "msr", at: At::Line(1), what: "it" }.into(),
            TraceError::Unrecognised { path: path(), known: text() }.into(),
        ],
    );
}

#[test]
fn what_the_system_or_the_safety_rules_forbid_is_refused() {
    ends(
        3,
        [
            SnapshotError::Unreadable { path: path(), source: denied() }.into(),
            WatchError::Wait(denied()).into(),
            ProbeError::Denied.into(),
            LogError::File { path: path(), source: denied() }.into(),
            LogError::Denied { restrict: None, fix: "sudo", journal: text() }.into(),
            ReportError::NoRuns.into(),
            FileError::Exists { path: path() }.into(),
            AccessError::Empty { path: path() }.into(),
            AccessError::ReadOnlyFileSystem { dir: path() }.into(),
            Refusal::Missing { target: path() }.into(),
            TargetError::RingRefused { errno: 1 }.into(),
            InspectError::Unreadable { given: text(), source: missing() }.into(),
        ],
    );
    ends(
        3,
        [
            RunError::WouldWrite { path: path(), what: "disk" }.into(),
            RunError::Read { path: path(), source: denied() }.into(),
            RunError::RingRefused { refused: TargetError::RingRefused { errno: 1 }, by: text() }
                .into(),
            RunError::from(StoreError::NoPlace).into(),
            StoreError::Io { doing: "writing", path: path(), source: missing() }.into(),
            StoreError::Newer { path: path(), found: text(), known: "1" }.into(),
            SourceError::from(StoreError::NoPlace).into(),
            SourceError::Io { path: path(), source: denied() }.into(),
            TrendError::from(SourceError::from(StoreError::NoPlace)).into(),
            ReplayError::NoReads { path: path() }.into(),
            JobRunError::WouldOverwrite { job: text(), path: path() }.into(),
            JobRunError::WouldDestroy { job: text(), path: path() }.into(),
            JobRunError::TooManyFiles { needed: 2, limit: 1 }.into(),
            JobRunError::from(JobError::Read { file: text(), source: denied() }).into(),
        ],
    );
    ends(
        3,
        [
            TuneError::Busy { disk: text() }.into(),
            TuneError::GuardLost { left: Vec::new() }.into(),
            TuneError::from(SettingError::ReadOnly { key: text(), path: path() }).into(),
            TuneError::from(JournalError::Io { path: path(), source: denied() }).into(),
            TuneError::from(InspectError::Unreadable { given: text(), source: denied() }).into(),
            ExperimentError::Busy { id: text() }.into(),
            ExperimentError::Io { doing: "reading", path: path(), source: missing() }.into(),
            SuiteError::Full { path: path() }.into(),
            SuiteError::from(AccessError::NotADirectory { path: path() }).into(),
            SuiteError::from(SqliteError::Exists { path: path() }).into(),
            SuiteError::from(WebError::NoServer { server: text(), source: denied() }).into(),
            ReproduceError::Missing { row: text(), name: text() }.into(),
            TraceError::Io { what: "reading", path: path(), source: denied() }.into(),
            TraceError::from(CaptureError::LockedDown { mode: text() }).into(),
            TraceError::from(FileError::Exists { path: path() }).into(),
            ExecuteError::OpenFailed { path: text(), errno: 2 }.into(),
            ExecuteError::Engine { step: "it", errno: 2 }.into(),
        ],
    );
}

#[test]
fn what_spoils_a_measurement_makes_it_invalid() {
    let kind = FailureKind::Errno { errno: 5 };
    ends(
        4,
        [
            FitError::NoCurve { found: Vec::new() }.into(),
            LimitError::TooSlow { metric: seekwell_checkup::limit::Metric::Mean, per_s: 1.0 }
                .into(),
            ExperimentError::NotRebooted { wanted: text() }.into(),
            ExperimentError::NotInMode { wanted: text(), other: text() }.into(),
            SuiteError::Io { what: "reading", path: path(), source: missing() }.into(),
            SuiteError::from(SqliteError::Lost { what: "rows", expected: 2, found: 1 }).into(),
            SuiteError::from(WebError::Silent { server: text(), pages: 1, seconds: 1 }).into(),
            ExecuteError::DeviceGone { errno: 19 }.into(),
            ExecuteError::Stalled { waited: Nanos(1), outstanding: 1 }.into(),
            ExecuteError::Io(Failure { op: Op::Read, offset: 0, len: 512, kind }).into(),
        ],
    );
}

#[test]
fn what_may_not_be_put_back_is_incomplete() {
    let why = || WriteError::Gone;
    let damaged = JournalError::Damaged { path: path(), damage: Damage::Empty, keys: Vec::new() };
    ends(
        5,
        [
            TuneError::NotApplied { key: text(), why: why(), left: vec![text()] }.into(),
            TuneError::GuardLost { left: vec![text()] }.into(),
            TuneError::from(damaged).into(),
        ],
    );
    ends(3, [TuneError::NotApplied { key: text(), why: why(), left: Vec::new() }.into()]);
}

#[test]
fn what_was_stopped_is_interrupted() {
    let stopped = || AccessError::Stopped { written_bytes: 1, wanted_bytes: 2 };
    ends(
        130,
        [
            stopped().into(),
            RunError::from(stopped()).into(),
            SuiteError::Interrupted.into(),
            ReproduceError::Interrupted.into(),
            TraceError::Interrupted.into(),
            ExecuteError::Interrupted.into(),
        ],
    );
}

#[test]
fn errors_of_the_command_line_itself_have_statuses_too() {
    ends(
        2,
        [
            CommandError::NoInspection { path: path(), why: text() },
            CommandError::NoSuchRule { id: text(), near: Vec::new() },
            CommandError::SuiteOnModel { path: path() },
            CommandError::NoServiceTimes { path: path() },
            CommandError::NoTrace { path: path() },
            CommandError::NothingToRecord { path: path() },
            CommandError::Read { path: path(), source: missing() },
            CommandError::NoSuchResult { suite: text(), format: "it" },
            CommandError::OneRun { given: 2 },
            CommandError::Token,
            CommandError::NoTraceFormat { path: path(), known: text() },
        ],
    );
    ends(
        3,
        [
            CommandError::Signals(denied()),
            CommandError::Read { path: path(), source: denied() },
            CommandError::Folder { path: path(), source: missing() },
            CommandError::Listen { address: ([127, 0, 0, 1], 80).into(), source: denied() },
            CommandError::Serve(denied()),
            CommandError::Output(StorageFull.into()),
        ],
    );
    ends(4, [RunError::NotMeasured { why: text() }.into()]);
    ends(0, [CommandError::Output(BrokenPipe.into())]);
    let not_started = |source: io::Error| CommandError::NotStarted { program: text(), source };
    ends(127, [not_started(NotFound.into())]);
    ends(126, [not_started(PermissionDenied.into())]);
}
