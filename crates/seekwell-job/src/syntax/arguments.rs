//! The long command line form: `--name=a --rw=randread …`.

use super::{Section, Written};
use crate::error::{JobError, shortened};
use crate::job::Origin;

/// What stands for a file's name in errors about the arguments.
pub(crate) const ARGUMENTS: &str = "arguments";

/// Reads arguments. Each `--name` begins a job; what comes before the first is global. A value is
/// after `=`, or the next argument where the option takes one (`takes_value`).
pub(crate) fn read_arguments<S: AsRef<str>>(
    arguments: &[S],
    takes_value: impl Fn(&str) -> bool,
) -> Result<Vec<Section>, JobError> {
    let at = |n: usize| Origin { file: ARGUMENTS.to_owned(), line: n as u32 + 1 };
    let global = Section { name: "global".to_owned(), at: at(0), options: Vec::new() };
    let mut sections = vec![global];
    let mut rest = arguments.iter().map(AsRef::as_ref).enumerate().peekable();
    while let Some((n, argument)) = rest.next() {
        let syntax = |needed| JobError::Syntax { at: at(n), found: shortened(argument), needed };
        let option = argument
            .strip_prefix("--")
            .filter(|option| !option.is_empty())
            .ok_or_else(|| syntax("--option=value"))?;
        let (name, mut value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, None),
        };
        if value.is_none() && takes_value(name) {
            value = rest.next_if(|(_, next)| !next.starts_with("--")).map(|(_, v)| v.to_owned());
        }
        if name == "name" {
            let job = value.filter(|job| !job.is_empty()).ok_or_else(|| syntax("--name=job1"))?;
            sections.push(Section { name: job, at: at(n), options: Vec::new() });
        } else if let Some(section) = sections.last_mut() {
            section.options.push(Written { name: name.to_owned(), value, at: at(n) });
        }
    }
    Ok(sections)
}
