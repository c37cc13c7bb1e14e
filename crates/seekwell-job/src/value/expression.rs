//! Whole-number arithmetic: `+ - * / % ^`, parentheses, and a unit after each number.

use seekwell_io::units::Decimal;

/// What one of a unit is worth; none for a unit that there is not.
pub(super) type Unit<'u> = dyn Fn(&str) -> Option<i128> + 'u;

/// Parentheses and signs within one another; more are refused.
const DEEPEST: u32 = 32;

/// One number with its unit: a decimal number, or `0x` and digits of base 16. `1.5k` is whole, and
/// `1.5` is not.
pub(super) fn literal(text: &str, unit: &Unit<'_>) -> Option<i128> {
    let decimal = Decimal::split(text).and_then(|(n, rest)| n.exactly(unit(rest.trim())?));
    if decimal.is_some() {
        return decimal;
    }
    let (value, rest) = digits(text)?;
    value.checked_mul(unit(rest.trim())?)
}

/// The number at the start of a text, and what follows it.
fn digits(text: &str) -> Option<(i128, &str)> {
    let (base, body) = match text.get(..2) {
        Some("0x" | "0X") => (16, &text[2..]),
        _ => (10, text),
    };
    let end = body.find(|c: char| !c.is_digit(base)).unwrap_or(body.len());
    Some((i128::from_str_radix(&body[..end], base).ok()?, &body[end..]))
}

/// The value of a whole expression; none when it is not one, divides by zero, or is too large.
pub(super) fn value(text: &str, unit: &Unit<'_>) -> Option<i128> {
    let mut reader = Reader { rest: text, unit, depth: 0 };
    let value = reader.sum()?;
    reader.rest.trim_start().is_empty().then_some(value)
}

/// Reads an expression from its start.
struct Reader<'t, 'u> {
    /// What is not read yet.
    rest: &'t str,
    unit: &'u Unit<'u>,
    /// Parentheses and signs around this place.
    depth: u32,
}

impl Reader<'_, '_> {
    /// Takes one of these characters, if it comes next.
    fn take(&mut self, any: &[char]) -> Option<char> {
        let rest = self.rest.trim_start();
        let c = rest.chars().next().filter(|c| any.contains(c))?;
        self.rest = &rest[c.len_utf8()..];
        Some(c)
    }

    /// Terms added and subtracted.
    fn sum(&mut self) -> Option<i128> {
        let mut value = self.product()?;
        while let Some(sign) = self.take(&['+', '-']) {
            let next = self.product()?;
            value = match sign {
                '+' => value.checked_add(next)?,
                _ => value.checked_sub(next)?,
            };
        }
        Some(value)
    }

    /// Factors multiplied and divided.
    fn product(&mut self) -> Option<i128> {
        let mut value = self.power()?;
        while let Some(sign) = self.take(&['*', '/', '%']) {
            let next = self.power()?;
            value = match sign {
                '*' => value.checked_mul(next)?,
                '/' => value.checked_div(next)?,
                _ => value.checked_rem(next)?,
            };
        }
        Some(value)
    }

    /// A base and its exponents, the last of which binds first.
    fn power(&mut self) -> Option<i128> {
        let base = self.atom()?;
        if self.take(&['^']).is_none() {
            return Some(base);
        }
        let exponent = self.nested(Self::power)?;
        base.checked_pow(u32::try_from(exponent).ok()?)
    }

    /// A number, a sum in parentheses, or either with a sign.
    fn atom(&mut self) -> Option<i128> {
        if self.take(&['-']).is_some() {
            return self.nested(Self::atom)?.checked_neg();
        }
        if self.take(&['(']).is_some() {
            let value = self.nested(Self::sum)?;
            self.take(&[')'])?;
            return Some(value);
        }
        let (value, rest) = digits(self.rest.trim_start())?;
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        self.rest = &rest[end..];
        value.checked_mul((self.unit)(&rest[..end])?)
    }

    /// Reads one level deeper.
    fn nested(&mut self, read: fn(&mut Self) -> Option<i128>) -> Option<i128> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let value = read(self);
        self.depth -= 1;
        value
    }
}
