//! What was typed: `KEY=VALUE`, or a classic switch such as `-a256`.

use std::fmt;

/// One switch of `hdparm` with its value; empty when none was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    pub(super) letter: char,
    pub(super) value: String,
}

impl Switch {
    /// `None` when hdparm has no such switch that sets something.
    pub fn new(letter: char, value: String) -> Option<Self> {
        "aABcdkmMQrSuWX".contains(letter).then_some(Self { letter, value })
    }
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hdparm -{}{}", self.letter, self.value)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    Set { key: String, value: String },
    Classic(Switch),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    #[error("expected KEY=VALUE, not {word}")]
    NoValue { word: String },
    #[error(
        "{word} is no switch of hdparm that sets something: those are -a -A -B -c -d -k -m \
         -M -Q -r -S -u -W -X"
    )]
    NoSwitch { word: String },
}

/// Reads one word. The key may stand behind `hdparm`, as in `hdparm-a=256`.
///
/// # Errors
/// [`RequestError`].
pub fn parse(word: &str) -> Result<Request, RequestError> {
    if let Some(rest) = word.strip_prefix("hdparm").unwrap_or(word).strip_prefix('-') {
        let bad = || RequestError::NoSwitch { word: word.to_owned() };
        let mut letters = rest.chars();
        let letter = letters.next().ok_or_else(bad)?;
        let value = letters.as_str();
        let value = value.strip_prefix('=').unwrap_or(value).trim().to_owned();
        let switch = Switch::new(letter, value).ok_or_else(bad)?;
        return Ok(Request::Classic(switch));
    }
    match word.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok(Request::Set { key: key.trim().to_owned(), value: value.trim().to_owned() })
        }
        _ => Err(RequestError::NoValue { word: word.to_owned() }),
    }
}
