//! Values as written on a command line: sizes, times and distributions, in fio's notation.

use crate::units::{Nanos, parse_size, parse_time};
use crate::workload::{Law, Pattern};

/// The longest time that can be asked for.
const MOST_TIME: Nanos = Nanos::from_millis(30 * 86_400_000);

/// A value that could not be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ValueError {
    #[error("{found:?} is not a {what}; write it like {example}")]
    Unreadable { found: String, what: &'static str, example: &'static str },
    #[error("{found:?} is out of range: {range}")]
    OutOfRange { found: String, range: &'static str },
}

/// Bytes: `4k`, `1M`, `2GiB`, `512`. Factors are 1024, as in fio.
///
/// # Errors
/// [`ValueError`] when it is not a number with a known unit, or more than 8 EiB.
pub fn size(text: &str) -> Result<u64, ValueError> {
    let bad = || ValueError::Unreadable {
        found: clip(text),
        what: "size",
        example: "512, 4k, 1M or 2GiB",
    };
    match parse_size(text).ok_or_else(bad)? {
        bytes if bytes <= i64::MAX as u64 => Ok(bytes),
        _ => Err(ValueError::OutOfRange { found: clip(text), range: "0 to 8 EiB" }),
    }
}

/// A request size: a size from 1 byte to 64 MiB.
///
/// # Errors
/// As for [`size`].
pub fn block_size(text: &str) -> Result<u32, ValueError> {
    match size(text)? {
        bytes @ 1..=0x0400_0000 => Ok(bytes as u32),
        _ => Err(ValueError::OutOfRange { found: clip(text), range: "1 byte to 64 MiB" }),
    }
}

/// A span of time: `5s`, `500ms`, `2m`, `1h`; a bare number is seconds, as in fio.
///
/// # Errors
/// [`ValueError`] when it is not a number with a known unit, or more than 30 days.
pub fn duration(text: &str) -> Result<Nanos, ValueError> {
    let bad = || ValueError::Unreadable {
        found: clip(text),
        what: "duration",
        example: "5s, 500ms or 2m",
    };
    match parse_time(text).ok_or_else(bad)? {
        time if time <= MOST_TIME => Ok(time),
        _ => Err(ValueError::OutOfRange { found: clip(text), range: "0 to 30 days" }),
    }
}

/// Where random requests go: `random`, `zipf:THETA`, `pareto:POWER` or `normal:DEVIATION`.
///
/// # Errors
/// [`ValueError`] when it is something else, or has a centre, which only job files can give.
pub fn distribution(text: &str) -> Result<Pattern, ValueError> {
    let unreadable = |_| ValueError::Unreadable {
        found: clip(text),
        what: "distribution",
        example: "random, zipf:1.2, pareto:0.2 or normal:10",
    };
    Pattern::of(&law(text).map_err(unreadable)?)
        .ok_or(ValueError::OutOfRange { found: clip(text), range: "a centre needs a job file" })
}

/// How blocks are preferred, in fio's notation: a word, its parameter and, after another colon, its
/// centre from 0 to 1.
///
/// # Errors
/// What would be accepted.
pub fn law(text: &str) -> Result<Law, &'static str> {
    let (word, rest) = text.split_once(':').unwrap_or((text, ""));
    let number = |text: &str| text.trim().parse().ok().filter(|n: &f64| n.is_finite());
    let mut parameters = rest.split(':').filter(|p| !p.is_empty()).map(number);
    let needed = "a parameter and, after another colon, a centre from 0 to 1";
    let first = parameters.next().map(|n| n.ok_or("a number")).transpose()?;
    let centre = parameters.next().map(|n| n.ok_or("a number")).transpose()?;
    if parameters.next().is_some() || centre.is_some_and(|c| !(0.0..=1.0).contains(&c)) {
        return Err(needed);
    }
    // fio's defaults.
    let (theta, power) = (first.unwrap_or(1.1), first.unwrap_or(0.2));
    let deviation = first.unwrap_or(0.0);
    match word {
        "random" if first.is_none() => Ok(Law::Uniform),
        "zipf" if theta > 0.0 && theta <= 10.0 => Ok(Law::Zipf { theta, centre }),
        "zipf" => Err("zipf:THETA, above 0 and at most 10"),
        "pareto" if power > 0.0 && power < 1.0 => Ok(Law::Pareto { power, centre }),
        "pareto" => Err("pareto:POWER, above 0 and below 1"),
        "normal" | "gauss" if (0.0..100.0).contains(&deviation) => {
            Ok(Law::Normal { deviation: deviation / 100.0, centre: centre.unwrap_or(0.5) })
        }
        "normal" | "gauss" => Err("normal:DEVIATION, from 0 and below 100"),
        _ => Err("random, zipf, pareto, normal, zoned, zoned_abs or sequence"),
    }
}

/// What was typed, short enough to be shown.
pub fn clip(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_a_value_says_how_to_write_one() {
        for text in ["", "k", "4x", "ib", "four", "-1", "1e3", "4kk"] {
            let error = size(text).unwrap_err().to_string();
            assert!(error.contains("4k"), "{text}: {error}");
        }
        assert!(size("99999999999999999999").is_err());
        assert!(block_size("65M").is_err());
        assert!(duration("40d").unwrap_err().to_string().contains("30 days"));
        for wrong in ["zipf:-1", "pareto:1", "normal:x", "zipf:1.1:0.5", "random:2", "flat"] {
            assert!(distribution(wrong).is_err(), "{wrong}");
        }
        for text in ["random", "zipf:1.2", "pareto:0.3", "normal:10", "normal:7"] {
            let pattern = distribution(text).unwrap();
            assert_eq!(pattern.distribution().as_deref().unwrap_or("random"), text);
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_a_reader_panic(text in ".{0,30}") {
            let _ = (size(&text), block_size(&text), duration(&text), distribution(&text));
        }
    }
}
