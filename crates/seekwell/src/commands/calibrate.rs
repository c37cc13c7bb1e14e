//! `seekwell calibrate`: the numbers that other programs need.

use super::{begin_asked, list, show, write_output};
use crate::Ended;
use crate::cli::calibrate::Calibrate;
use crate::context::Context;
use crate::exit::Exit;
use crate::session::{RunOptions, begin_command};
use seekwell_io::target::Engine;
use seekwell_io::units::time;
use seekwell_report::{of_job, wrap};
use seekwell_run::calibration::{CALIBRATIONS, Changes};
use seekwell_run::jobs::Request;
use seekwell_runs::{Beginning, Calibration, Quantity, RunDocument, RunKind, Study};

/// Lists the programs, shows what one asks for, or measures it.
///
/// # Errors
/// Whatever is wrong with the calibration or refused, before anything is written.
pub fn run(args: &Calibrate, context: &Context) -> Ended {
    let Some(program) = &args.program else { return list_all(context) };
    let file = CALIBRATIONS.read(program)?;
    let request = args.repeated.request(args.program.as_slice(), &args.on);
    let changes = Changes { runtime: args.runtime, size_bytes: args.size };
    let jobs = file.jobs(Request { ages: true, ..request }, changes)?;
    if args.show {
        let text = described(file.calibration(), context.width);
        context.print(&format!("{text}\n{}", jobs.show(|text| context.note(text))))?;
        return Ok(Exit::Done);
    }
    let output = begin_asked(args.out.as_deref(), args.replace, context)?;
    let options =
        RunOptions { kind: RunKind::Bench, keep: &args.repeated.keep, engine: Engine::Auto };
    let (line, purpose) = begin_command(context, options)?;
    let ((document, detail, ending), logged) = file.run(&jobs, context.host(), line, purpose)?;
    let text = text(&document);
    let exit = match Exit::from(ending) {
        Exit::Done if text.is_none() => Exit::NotShown,
        exit => exit,
    };
    let exit = show(context, &(document.clone(), detail, exit), None)?;
    logged?;
    match (output, text) {
        (Some(output), Some(text)) => {
            let path = output.path().to_owned();
            write_output(output, text)?;
            context.note(&format!("what the program reads is in {}", path.display()));
        }
        (Some(output), None) => context.note(&format!(
            "{} is not written, because not all numbers are known",
            output.path().display()
        )),
        (None, Some(text)) if !context.json => context.print(&format!("\n{text}"))?,
        (None, _) => {}
    }
    Ok(exit)
}

/// What the program reads, if all its numbers are known.
fn text(document: &RunDocument) -> Option<&str> {
    match &document.study {
        Some(Study::Calibration(calibration)) => calibration.text.as_deref(),
        _ => None,
    }
}

fn list_all(context: &Context) -> Ended {
    let mut rows = Vec::new();
    for name in CALIBRATIONS.names() {
        let file = CALIBRATIONS.built_in(name)?;
        rows.push((name, file.calibration().title.clone()));
    }
    list(context, "calibrations", "program", &rows)
}

/// A calibration before it is measured.
fn described(calibration: &Calibration, width: usize) -> String {
    let mut lines = wrap(&calibration.title, width, "", "");
    let own = |quantity: &Quantity| match quantity.own_part {
        Some(Beginning::Ns(part)) => {
            format!("the program takes the mean of the first {}", time(part.0 as f64))
        }
        Some(Beginning::Requests(count)) => {
            format!("the program takes the mean of the first {count} requests")
        }
        None => "the program does not measure it".to_owned(),
    };
    for quantity in &calibration.quantities {
        let what = of_job(&quantity.job, &quantity.metric);
        let text = format!("{}: {what}; {}", quantity.name, own(quantity));
        lines.extend(wrap(&text, width, "- ", "  "));
    }
    lines.push("Sources:".to_owned());
    lines.extend(calibration.sources.iter().flat_map(|source| wrap(source, width, "- ", "  ")));
    lines.join("\n") + "\n"
}
