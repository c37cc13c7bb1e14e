//! `--format`, `--output-dir` and `--write-logs`: results in forms that other programs read.

use super::{check_output, show, write_output};
use crate::Ended;
use crate::cli::Force;
use crate::cli::format::{Format, Formats, Textfile};
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use seekwell_access::{OutputFile, begins_with, folder_of};
use seekwell_job::PlainJob;
use seekwell_job::output::{self, Bins, File, OutputError};
use seekwell_runs::{Detail, RunDocument, Work};
use seekwell_suites::fs::csv::{self, Version};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Whether what is asked for can be written at all; said before anything is measured. `suite` is
/// the one that will run, where one does.
///
/// # Errors
/// [`CommandError`] for a form that cannot hold the result, and a place that cannot be written.
pub fn check(
    formats: &Formats,
    suite: Option<&str>,
    context: &Context,
) -> Result<(), CommandError> {
    if let Some(suite) = suite
        && (formats.files() || formats.format.is_some_and(Format::is_fio))
    {
        return Err(OutputError::Suite { phase: suite.to_owned() }.into());
    }
    if formats.format.is_some_and(Format::is_bonnie) && suite != Some("fs") {
        return Err(not_bonnie(suite.unwrap_or("this run")));
    }
    check_files(formats, context)
}

/// What files of metrics begin with.
const METRICS: &[u8] = b"# HELP seekwell_";

/// Whether a file of metrics may be replaced: it is one, or --force was given.
fn may_replace(path: &Path, replace: Force) -> bool {
    replace.force || begins_with(path, METRICS)
}

/// Whether a file of metrics can be written, if there is to be one.
///
/// # Errors
/// [`CommandError`] saying why not.
pub fn check_textfile(to: &Textfile, replace: Force) -> Result<(), CommandError> {
    let Some(path) = &to.path else { return Ok(()) };
    Ok(OutputFile::check(path, may_replace(path, replace))?)
}

/// Writes a file of metrics, if there is to be one.
///
/// # Errors
/// [`CommandError`] when it cannot be written.
pub fn write_textfile(
    to: &Textfile,
    replace: Force,
    metrics: impl FnOnce() -> String,
) -> Result<(), CommandError> {
    let Some(path) = &to.path else { return Ok(()) };
    write_output(OutputFile::create(path, may_replace(path, replace))?, &metrics())
}

/// Whether files can be written.
fn check_files(formats: &Formats, context: &Context) -> Result<(), CommandError> {
    check_textfile(&formats.textfile, formats.replace)?;
    if let Some(dir) = &formats.output_dir {
        create(dir)?;
        check_output(&dir.join(".json"), formats.replace, context)?;
    }
    // Every run has these; which others there are is known at its end.
    let first = ["_bw.1.log", "_iops.1.log", "_lat.1.log"];
    let logs = formats.write_logs.iter().flat_map(|prefix| first.map(|end| behind(prefix, end)));
    logs.into_iter().try_for_each(|log| check_output(&log, formats.replace, context))
}

/// Whether the results of these workloads can be written for fio-plot.
///
/// # Errors
/// [`CommandError::Failed`] for the first that cannot be.
pub fn check_plots(formats: &Formats, workloads: &[&PlainJob]) -> Result<(), CommandError> {
    let Some(dir) = &formats.output_dir else { return Ok(()) };
    for options in workloads {
        let (rw, depth, jobs) = (options.rw.name(), options.iodepth, options.numjobs);
        let path = dir.join(format!("{rw}-{depth}-{jobs}.json"));
        OutputFile::check(&path, formats.replace.force)?;
    }
    Ok(())
}

/// Shows a run that has just ended, in the form that was asked for.
///
/// # Errors
/// [`CommandError`] when the form cannot hold it, or something cannot be written.
pub fn finish(context: &Context, ended: &(RunDocument, Detail, Exit), formats: &Formats) -> Ended {
    let (document, detail, exit) = ended;
    // The result is shown although a file cannot be written: it may not have been kept.
    let metrics = || output::openmetrics(&[(document, detail)]);
    let written = write_files(context, document, detail, formats).and(write_textfile(
        &formats.textfile,
        formats.replace,
        metrics,
    ));
    let Some(format) = formats.format else {
        let exit = show(context, ended, None)?;
        return written.map(|()| exit);
    };
    let skipped = document.phases.iter().filter_map(|p| Some((&p.title, p.skipped.as_ref()?)));
    skipped.for_each(|(title, why)| context.note(&format!("{title}: {why}")));
    document.invalid.iter().for_each(|why| context.note(why));
    context.print(&text(format, &[(document, detail)])?)?;
    written.map(|()| *exit)
}

/// Prints and writes kept runs.
///
/// # Errors
/// As for [`finish`], and when several runs are given for a form of one.
pub fn kept(context: &Context, runs: &[(RunDocument, Detail)], formats: &Formats) -> Ended {
    let runs: Vec<_> = runs.iter().map(|(document, detail)| (document, detail)).collect();
    if runs.len() > 1 && (formats.files() || formats.format.is_some_and(Format::is_fio)) {
        return Err(CommandError::OneRun { given: runs.len() });
    }
    check_files(formats, context)?;
    write_textfile(&formats.textfile, formats.replace, || output::openmetrics(&runs))?;
    for (document, detail) in &runs {
        write_files(context, document, detail, formats)?;
    }
    match formats.format {
        Some(format) => context.print(&text(format, &runs)?)?,
        None if context.json => runs.iter().try_for_each(|(run, _)| context.print_json(run))?,
        None => {}
    }
    Ok(Exit::Done)
}

fn text(format: Format, runs: &[(&RunDocument, &Detail)]) -> Result<String, CommandError> {
    let documents: Vec<&RunDocument> = runs.iter().map(|(document, _)| *document).collect();
    let fio = |bins| runs.iter().map(|(run, detail)| output::fio_json(run, detail, bins)).collect();
    let text: Result<String, OutputError> = match format {
        Format::FioJson => fio(Bins::Without),
        Format::FioJsonPlus => fio(Bins::With),
        Format::Csv => Ok(output::csv(&documents)),
        Format::Prometheus => Ok(output::prometheus(&documents)),
        Format::Openmetrics => Ok(output::openmetrics(runs)),
        Format::BonnieCsv => return bonnie(&documents, Version::V1_98),
        Format::BonnieCsv197 => return bonnie(&documents, Version::V1_97),
        Format::BonnieCsv196 => return bonnie(&documents, Version::V1_96),
    };
    Ok(text?)
}

/// One line for each repeat of the suite fs.
fn bonnie(runs: &[&RunDocument], version: Version) -> Result<String, CommandError> {
    let is_fs = |work: &Work| matches!(work, Work::Suite(step) if step.suite == "fs");
    let mut text = String::new();
    for run in runs {
        if !run.phases.iter().any(|phase| is_fs(&phase.workload)) {
            return Err(not_bonnie(&run.id));
        }
        for repeat in 0..csv::repeats(run) {
            text += &csv::line(run, repeat, version);
            text.push('\n');
        }
    }
    Ok(text)
}

fn not_bonnie(what: &str) -> CommandError {
    CommandError::NoSuchResult { suite: what.to_owned(), format: "bonnie++ CSV" }
}

/// Writes what was asked for in files, each whole or not at all.
fn write_files(
    context: &Context,
    document: &RunDocument,
    detail: &Detail,
    formats: &Formats,
) -> Result<(), CommandError> {
    if let Some(dir) = &formats.output_dir {
        let files = output::plot_files(document, detail)?;
        for File { path, .. } in &files {
            create(folder_of(&dir.join(path)))?;
        }
        write_all(&files, |path| dir.join(path), formats)?;
        context.note(&format!("{} files for fio-plot are in {}", files.len(), dir.display()));
    }
    if let Some(prefix) = &formats.write_logs {
        let files = output::logs(document, detail)?;
        write_all(&files, |path| behind(prefix, path), formats)?;
        let prefix = prefix.display();
        context.note(&format!("{} logs are {prefix}_bw.N.log and so on", files.len()));
    }
    Ok(())
}

/// Writes all files or, where one could not be written, none.
fn write_all(
    files: &[File],
    place: impl Fn(&Path) -> PathBuf,
    formats: &Formats,
) -> Result<(), CommandError> {
    let force = formats.replace.force;
    for file in files {
        OutputFile::check(&place(&file.path), force)?;
    }
    for file in files {
        write_output(OutputFile::create(&place(&file.path), force)?, &file.text)?;
    }
    Ok(())
}

fn create(dir: &Path) -> Result<(), CommandError> {
    let fail = |source| CommandError::Folder { path: dir.to_path_buf(), source };
    std::fs::create_dir_all(dir).map_err(fail)
}

/// A path with something behind it.
fn behind(prefix: &Path, end: impl AsRef<std::ffi::OsStr>) -> PathBuf {
    let mut path = OsString::from(prefix);
    path.push(end);
    path.into()
}
