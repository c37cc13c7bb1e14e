//! What a mistyped word was probably meant to be.

/// The most similar of `words`, when one is similar at all; else one that contains what was given.
pub(super) fn nearest<'a>(given: &str, words: impl Iterator<Item = &'a str>) -> Option<String> {
    let words: Vec<&str> = words.filter(|word| !word.ends_with('*')).collect();
    let similar = seekwell_sys::nearest(given, words.iter().copied()).into_iter().next();
    let contains = |word: &&str| given.len() > 2 && word.contains(given);
    similar.or_else(|| words.into_iter().find(contains)).map(str::to_owned)
}
