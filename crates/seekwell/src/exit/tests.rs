use super::*;
use io::ErrorKind::{BrokenPipe, NotFound, PermissionDenied, StorageFull};
use rustix::io::Errno;
use seekwell_access::AccessError;
use seekwell_checkup::ExecuteError;
use seekwell_compare::{SourceError, TrendError};
use seekwell_inspect::InspectError;
use seekwell_inspect::log::LogError;
use seekwell_io::engine::EngineError;
use seekwell_io::workload::WorkloadError;
use seekwell_run::RunError;
use seekwell_runs::StoreError;
use seekwell_suites::SuiteError;
use seekwell_suites::sqlite::SqliteError;
use seekwell_suites::web::WebError;
use seekwell_sys::SnapshotError;
use seekwell_trace::error::TraceError;
use seekwell_tune::journal::{Damage, JournalError};
use seekwell_tune::setting::SettingError;
use seekwell_tune::{DiskError, TuneError};

fn path() -> PathBuf {
    "it".into()
}

fn text() -> String {
    "it".into()
}

fn missing() -> io::Error {
    Errno::NOENT.into()
}

fn denied() -> io::Error {
    Errno::ACCESS.into()
}

fn codes(errors: impl IntoIterator<Item = CommandError>) -> Vec<u8> {
    errors.into_iter().map(|error| error.exit().code()).collect()
}

#[test]
fn a_file_that_the_user_named_is_a_matter_of_usage_only_where_another_name_would_help() {
    for (source, code) in [
        (missing as fn() -> io::Error, 2),
        (|| Errno::ISDIR.into(), 2),
        (|| io::Error::other("not of this kind"), 2),
        (denied, 3),
    ] {
        let errors = [
            CommandError::Read { path: path(), source: source() },
            SnapshotError::Unreadable { path: path(), source: source() }.into(),
            LogError::File { path: path(), source: source() }.into(),
            RunError::Read { path: path(), source: source() }.into(),
            StoreError::Io { doing: "reading", path: path(), source: source() }.into(),
            SourceError::Io { path: path(), source: source() }.into(),
            TraceError::Io { what: "reading", path: path(), source: source() }.into(),
        ];
        assert_eq!(codes(errors), [code; 7]);
    }
    let writing = StoreError::Io { doing: "writing", path: path(), source: missing() };
    assert_eq!(codes([writing.into()]), [3]);
}

#[test]
fn an_error_ends_with_the_same_status_however_it_is_wrapped() {
    let stopped = || AccessError::Stopped { written_bytes: 1, wanted_bytes: 2 };
    let workload = || WorkloadError { field: "it", found: text(), needed: "more" };
    let deleted = || InspectError::Deleted { given: text() };
    assert_eq!(codes([stopped().into(), RunError::from(stopped()).into()]), [130; 2]);
    assert_eq!(
        codes([workload().into(), ExecuteError::from(EngineError::from(workload())).into()]),
        [2; 2]
    );
    let gone = || DiskError::from(deleted());
    assert_eq!(codes([deleted().into(), gone().into(), TuneError::from(gone()).into()]), [2; 3]);
    let unknown = SettingError::Unknown { key: text(), near: None };
    let read_only = SettingError::ReadOnly { key: text(), path: path() };
    assert_eq!(codes([unknown, read_only].map(|e| TuneError::from(e).into())), [2, 3]);
    let nowhere = SourceError::from(StoreError::NoPlace);
    assert_eq!(codes([TrendError::from(nowhere).into()]), [3]);
}

#[test]
fn what_may_not_be_put_back_is_incomplete() {
    let damaged = JournalError::Damaged { path: path(), damage: Damage::Empty, keys: Vec::new() };
    let lost = |left| TuneError::GuardLost { left }.into();
    let damaged = TuneError::from(damaged).into();
    assert_eq!(codes([lost(vec![text()]), damaged, lost(Vec::new())]), [5, 5, 3]);
}

#[test]
fn a_suite_that_fails_while_it_measures_is_invalid() {
    let lost = SqliteError::Lost { what: "rows", expected: 2, found: 1 };
    let silent = WebError::Silent { server: text(), pages: 1, seconds: 1 };
    let io = SuiteError::Io { what: "reading", path: path(), source: missing() };
    assert_eq!(codes([SuiteError::from(lost), silent.into(), io].map(Into::into)), [4; 3]);
    let there = SqliteError::Exists { path: path() };
    let address = WebError::Address { url: text(), why: "no" };
    assert_eq!(codes([SuiteError::from(there), address.into()].map(Into::into)), [3, 2]);
}

#[test]
fn a_closed_pipe_is_no_error_and_a_command_that_does_not_start_ends_as_in_a_shell() {
    let output = |kind: io::ErrorKind| CommandError::Output(kind.into());
    assert_eq!(codes([output(BrokenPipe), output(StorageFull)]), [0, 3]);
    let not_started =
        |kind: io::ErrorKind| CommandError::NotStarted { program: text(), source: kind.into() };
    assert_eq!(codes([not_started(NotFound), not_started(PermissionDenied)]), [127, 126]);
}
