//! `seekwell trace merge`: statistics gathered in parts, put together.

use crate::Ended;
use crate::cli::trace::Merge;
use crate::commands::begin_asked;
use crate::commands::trace::stats::{is_part, show};
use crate::context::Context;
use crate::exit::CommandError;
use seekwell_trace::stats::{Stats, StatsError};
use std::fs;
use std::path::Path;

pub fn run(args: &Merge, context: &Context) -> Ended {
    let output = begin_asked(args.shown.output.as_deref(), args.shown.replace, context)?;
    let mut all: Option<Stats> = None;
    for path in &args.parts {
        let part = read(path)?;
        all = Some(match all {
            None => part,
            Some(mut all) => {
                all.merge(part).map_err(|error| within(path, error))?;
                all
            }
        });
    }
    let all = all.expect("a part is required");
    if !args.partial && !output.as_ref().is_some_and(is_part) {
        all.check_whole()?;
    }
    let name = match args.parts.as_slice() {
        [only] => only.display().to_string(),
        parts => format!("of {} parts", parts.len()),
    };
    show(all, &name, &args.shown, output, context)
}

fn read(path: &Path) -> Result<Stats, CommandError> {
    let bytes =
        fs::read(path).map_err(|source| CommandError::Read { path: path.to_owned(), source })?;
    Ok(Stats::from_bytes(&bytes).map_err(|error| within(path, error))?)
}

fn within(path: &Path, error: StatsError) -> StatsError {
    StatsError::In { path: path.to_owned(), error: Box::new(error) }
}
