//! Values as clap reads them.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use seekwell_io::target::Engine;
use seekwell_io::value::clip;
pub use seekwell_io::value::{ValueError, block_size, distribution, duration, size};
use seekwell_io::workload::Rw;

/// One of a few values by its name, each with a line of help.
pub fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [(T, &'static str); N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let values = all.map(|(value, what)| PossibleValue::new(name(value)).help(what));
    PossibleValuesParser::new(values).map(move |text| {
        let found = all.iter().find(|(value, _)| name(*value) == text);
        found.expect("one of the names").0
    })
}

/// How the requests of one workload are issued.
pub fn engine() -> impl TypedValueParser<Value = Engine> {
    one_of(Engine::ALL, Engine::name)
}

/// How requests are issued of which some may go through the page cache.
pub fn file_engine() -> impl TypedValueParser<Value = Engine> {
    let [auto, ring, threads, _commands] = Engine::ALL;
    one_of([auto, ring, threads], Engine::name)
}

/// Direction and order of requests.
pub fn direction() -> impl TypedValueParser<Value = Rw> {
    let values = Rw::ALL.map(|(rw, what)| {
        let value = PossibleValue::new(rw.name()).help(what);
        if rw == Rw::ReadWrite { value.alias("readwrite") } else { value }
    });
    PossibleValuesParser::new(values).map(|name| Rw::named(&name).expect("one of the names"))
}

/// The longest label of a run in characters: it is a word or two in every list.
const LONGEST_LABEL: usize = 200;

/// A label for runs.
///
/// # Errors
/// A sentence if it is too long.
pub fn label(text: &str) -> Result<String, String> {
    match text.chars().count() {
        ..=LONGEST_LABEL => Ok(text.to_owned()),
        long => Err(format!("it has {long} characters, and a label has at most {LONGEST_LABEL}")),
    }
}

/// A name and a value: `files=1000`.
///
/// # Errors
/// [`ValueError`] when there is no `=` or nothing before it.
pub fn pair(text: &str) -> Result<(String, String), ValueError> {
    let found = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = found.ok_or_else(|| ValueError::Unreadable {
        found: clip(text),
        what: "setting",
        example: "files=1000",
    })?;
    Ok((name.to_owned(), value.to_owned()))
}
