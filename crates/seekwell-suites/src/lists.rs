//! Tunables that are lists: `1,2,4`.

use crate::error::SuiteError;
use crate::settings::Settings;

/// The numbers of a list, each within bounds.
///
/// # Errors
/// [`SuiteError::BadValue`].
pub fn numbers(
    settings: &Settings,
    name: &str,
    low: u32,
    high: u32,
) -> Result<Vec<u32>, SuiteError> {
    let one = |word: &str| word.parse().ok().filter(|n| (low..=high).contains(n));
    each(settings, name, &format!("numbers from {low} to {high}"), one)
}

/// The words of a list, each as what it names.
///
/// # Errors
/// [`SuiteError::BadValue`].
pub fn words<T: Copy>(
    settings: &Settings,
    name: &str,
    known: &[(&str, T)],
) -> Result<Vec<T>, SuiteError> {
    let all: Vec<_> = known.iter().map(|(word, _)| *word).collect();
    let one = |word: &str| known.iter().find(|(known, _)| *known == word).map(|(_, is)| *is);
    each(settings, name, &all.join(", "), one)
}

fn each<T>(
    settings: &Settings,
    name: &str,
    known: &str,
    one: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, SuiteError> {
    let value = settings.word(name);
    let bad = || SuiteError::BadValue {
        name: name.into(),
        value: value.into(),
        needed: format!("a list, with commas, of {known}"),
    };
    let mut parts: Vec<_> = value.split(',').map(str::trim).collect();
    parts.sort_unstable();
    // The same step twice would be two phases of one name.
    if parts.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(bad());
    }
    value.split(',').map(|part| one(part.trim())).collect::<Option<_>>().ok_or_else(bad)
}
