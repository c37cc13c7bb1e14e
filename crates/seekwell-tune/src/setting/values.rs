//! What an attribute takes.

use super::nearest::nearest;
use seekwell_sys::did_you_mean;
use std::fmt;

/// What an attribute takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Values {
    Words(Vec<String>),
    Number {
        least: i64,
        /// The most; `None` if the kernel alone knows.
        most: Option<i64>,
        /// It must be a multiple of this.
        step: i64,
        /// A number outside the range with a special meaning.
        also: Option<i64>,
    },
    /// A number as of [`Values::Number`], or one of these words.
    NumberOr {
        number: Box<Values>,
        words: Vec<String>,
    },
    /// CPUs as the kernel lists them, `0-3,8`; the highest there is.
    Cpus {
        highest: u32,
    },
    /// With two decimals, as the kernel prints it.
    Percent {
        least: u32,
        most: u32,
    },
    /// `name=value` words, of which any may be left out, with what each takes.
    Line(Vec<(&'static str, Values)>),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueProblem {
    #[error("not one of {}{}", words.join(", "), did_you_mean(near.as_ref()))]
    NotAWord { words: Vec<String>, near: Option<String> },
    #[error("not a whole number ({range})")]
    NotANumber { range: String },
    #[error("out of range: {range}")]
    OutOfRange { range: String },
    /// It is between two steps: the kernel would round it without saying so.
    #[error("the kernel would round it to {would}: {range}")]
    Step { would: i64, range: String },
    #[error("not a list of CPUs such as 0-{highest} or 0,{highest}")]
    NotCpus { highest: u32 },
    #[error("not a percentage with at most two decimals ({range})")]
    NotAPercentage { range: String },
    #[error("not made of name=value words; the names are {}", names.join(", "))]
    NotALine { names: Vec<String> },
    #[error("given twice")]
    Twice,
    #[error("the kernel chooses it under ctrl=auto: leave one of them out")]
    NotUnderAuto,
    /// Of one word of a line.
    #[error("{name}: {problem}")]
    In { name: String, problem: Box<ValueProblem> },
}

impl Values {
    /// Whole numbers from `least` to `most`.
    pub fn number(least: i64, most: i64) -> Self {
        Self::Number { least, most: Some(most), step: 1, also: None }
    }

    /// Whole numbers from `least`.
    pub fn at_least(least: i64) -> Self {
        Self::Number { least, most: None, step: 1, also: None }
    }

    /// These words too, beside the numbers it takes.
    pub fn or_words<const N: usize>(self, words: [&str; N]) -> Self {
        Self::NumberOr { number: Box::new(self), words: words.map(str::to_owned).to_vec() }
    }

    pub fn words(words: &[&str]) -> Self {
        Self::Words(words.iter().map(|w| (*w).to_owned()).collect())
    }

    /// The value as it is to be written.
    ///
    /// # Errors
    /// [`ValueProblem`] with what would be right.
    pub fn check(&self, given: &str) -> Result<String, ValueProblem> {
        let range = || self.to_string();
        match self {
            Self::Words(words) => {
                if words.iter().any(|w| w == given) {
                    return Ok(given.to_owned());
                }
                let near = nearest(given, words.iter().map(String::as_str));
                Err(ValueProblem::NotAWord { words: words.clone(), near })
            }
            Self::Number { least, most, step, also } => {
                let number: i64 =
                    given.parse().map_err(|_| ValueProblem::NotANumber { range: range() })?;
                if *also == Some(number) {
                    return Ok(number.to_string());
                }
                if number < *least || most.is_some_and(|most| number > most) {
                    return Err(ValueProblem::OutOfRange { range: range() });
                }
                if number % step != 0 {
                    let would = number - number % step;
                    return Err(ValueProblem::Step { would, range: range() });
                }
                Ok(number.to_string())
            }
            Self::NumberOr { words, .. } if words.iter().any(|w| w == given) => {
                Ok(given.to_owned())
            }
            Self::NumberOr { number, .. } => number.check(given).map_err(|problem| match problem {
                ValueProblem::NotANumber { .. } => ValueProblem::NotANumber { range: range() },
                problem => problem,
            }),
            Self::Cpus { highest } => {
                let problem = ValueProblem::NotCpus { highest: *highest };
                let listed = cpus(given).filter(|l| l.iter().all(|c| c <= highest));
                listed.map(|_| given.to_owned()).ok_or(problem)
            }
            Self::Percent { least, most } => {
                let hundredths = hundredths(given)
                    .ok_or_else(|| ValueProblem::NotAPercentage { range: range() })?;
                if !(u64::from(*least) * 100..=u64::from(*most) * 100).contains(&hundredths) {
                    return Err(ValueProblem::OutOfRange { range: range() });
                }
                Ok(format!("{}.{:02}", hundredths / 100, hundredths % 100))
            }
            Self::Line(fields) => check_line(fields, given),
        }
    }

    /// Whether an attribute that reads `is` has the value `wanted`: a list of CPUs can be written
    /// in several ways, and a line may be asked for in part.
    pub fn same(is: &str, wanted: &str) -> bool {
        is == wanted
            || matches!((cpus(is), cpus(wanted)), (Some(is), Some(wanted)) if is == wanted)
            || matches!((pairs(is), pairs(wanted)), (Some(is), Some(wanted))
                if !wanted.is_empty() && wanted.iter().all(|pair| is.contains(pair)))
    }
}

/// The `name=value` words of a line; `None` for any other text.
pub(super) fn pairs(text: &str) -> Option<Vec<(&str, &str)>> {
    let words = text.split(|c: char| c.is_whitespace() || c == ',');
    words.filter(|w| !w.is_empty()).map(|w| w.split_once('=')).collect()
}

/// A line as it is to be written: each name once, in their order.
fn check_line(fields: &[(&'static str, Values)], given: &str) -> Result<String, ValueProblem> {
    let names = || fields.iter().map(|(name, _)| *name);
    let not_a_line = || ValueProblem::NotALine { names: names().map(str::to_owned).collect() };
    let given = pairs(given).filter(|p| !p.is_empty()).ok_or_else(not_a_line)?;
    let within = |name: &str, problem| ValueProblem::In { name: name.to_owned(), problem };
    if let Some((name, _)) = given.iter().find(|(name, _)| !names().any(|n| n == *name)) {
        let words = names().map(str::to_owned).collect();
        let near = nearest(name, names());
        return Err(within(name, Box::new(ValueProblem::NotAWord { words, near })));
    }
    let mut words = Vec::new();
    for (name, takes) in fields {
        let mut values = given.iter().filter(|(n, _)| n == name);
        let Some((_, value)) = values.next() else { continue };
        if values.next().is_some() {
            return Err(within(name, Box::new(ValueProblem::Twice)));
        }
        let value = takes.check(value).map_err(|problem| within(name, Box::new(problem)))?;
        words.push((*name, value));
    }
    let value = |name: &str| words.iter().find(|(n, _)| *n == name).map(|(_, v)| v.as_str());
    let own = words.iter().find(|(name, _)| !["enable", "ctrl", "model"].contains(name));
    if let (Some("auto"), Some((name, _))) = (value("ctrl"), own) {
        return Err(within(name, Box::new(ValueProblem::NotUnderAuto)));
    }
    let percent = |name| value(name).and_then(|v| v.parse::<f64>().ok());
    if let (Some(min), Some(max)) = (percent("min"), percent("max"))
        && min > max
    {
        let range = format!("at most max, which is {max:.2}");
        return Err(within("min", Box::new(ValueProblem::OutOfRange { range })));
    }
    Ok(words.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" "))
}

/// Digits with at most two more behind a point, as hundredths.
fn hundredths(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 2 {
        return None;
    }
    let part: u64 = format!("{part:0<2}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(100)?.checked_add(part)
}

/// The CPUs of a list, in order; `None` for anything else.
fn cpus(list: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in list.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to): (u32, u32) = (from.parse().ok()?, to.parse().ok()?);
        if from > to || to > 1 << 16 {
            return None;
        }
        all.extend(from..=to);
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => f.write_str(&words.join(", ")),
            Self::Number { least, most, step, also } => {
                match most {
                    Some(most) if most == least => write!(f, "{least} alone")?,
                    Some(most) if least + 1 == *most => write!(f, "{least} or {most}")?,
                    Some(most) => write!(f, "{least} to {most}")?,
                    None => write!(f, "{least} or more")?,
                }
                if *step != 1 {
                    write!(f, ", in steps of {step}")?;
                }
                also.map_or(Ok(()), |also| write!(f, ", or {also} for off"))
            }
            Self::NumberOr { number, words } => {
                write!(f, "{number}, or {}", words.join(" or "))
            }
            Self::Cpus { highest } => write!(f, "a list of CPUs, 0 to {highest}"),
            Self::Percent { least, most } => write!(f, "{least} to {most} %"),
            Self::Line(fields) => {
                let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
                write!(f, "any of {}, each as name=value", names.join(", "))
            }
        }
    }
}
