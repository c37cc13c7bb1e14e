//! Numbers with a sign, in sentences.

/// A number with its sign and this many digits after the point, as people write it: with a minus
/// sign (U+2212), as wide as a plus and no hyphen at which a line may end. What rounds to nothing
/// is `+0`. For text only; documents keep numbers as numbers.
pub fn signed(x: f64, digits: usize) -> String {
    let text = format!("{:.digits$}", x.abs());
    let nothing = text.bytes().all(|b| b"0.".contains(&b));
    let sign = if x < 0.0 && !nothing { '\u{2212}' } else { '+' };
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fall_has_a_minus_sign_and_what_rounds_to_nothing_is_no_fall() {
        assert_eq!(signed(-1.94, 1), "−1.9");
        assert_eq!(signed(12.3, 0), "+12");
        assert_eq!(signed(-0.04, 1), "+0.0");
        assert_eq!(signed(-0.04, 2), "−0.04");
        assert_eq!(signed(-0.0, 1), "+0.0");
        assert_eq!(signed(f64::NEG_INFINITY, 1), "−inf");
    }
}
