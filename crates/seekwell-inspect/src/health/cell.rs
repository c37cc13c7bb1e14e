//! Places on a page and what stands there.

use super::Measure;

/// Values of a page in the order of its table.
pub(super) type Values = Vec<(Measure, i64)>;

/// How bytes become a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scale {
    Times(u64),
    /// A signed number.
    Signed,
    /// A temperature in kelvins; 0 if it is not reported.
    Kelvin,
    /// All ones stand for "not there".
    Unless1s,
}

/// A number on a page: what it is, its first byte, how many, and how to read them.
pub(super) type Cell = (Measure, usize, usize, Scale);

pub(super) const ONE: Scale = Scale::Times(1);

/// The values of a page whose numbers are little-endian. What lies beyond a short page's end or is
/// too large for anything real is left out.
pub(super) fn values(table: &[Cell], page: &[u8]) -> Values {
    let cell = |(measure, at, bytes, scale): &Cell| {
        Some((*measure, scaled(little(page, *at, *bytes)?, *bytes, *scale)?))
    };
    table.iter().filter_map(cell).collect()
}

pub(super) fn scaled(raw: u128, bytes: usize, scale: Scale) -> Option<i64> {
    match scale {
        Scale::Times(unit) => raw.checked_mul(u128::from(unit))?.try_into().ok(),
        Scale::Kelvin if raw == 0 => None,
        Scale::Kelvin => Some(i64::try_from(raw).ok()? - 273),
        Scale::Unless1s
            if raw >> (8 * bytes - 1) == 1 && raw.trailing_ones() as usize == 8 * bytes =>
        {
            None
        }
        Scale::Unless1s => raw.try_into().ok(),
        Scale::Signed => {
            let unused = 128 - 8 * bytes as u32;
            i64::try_from((raw << unused).cast_signed() >> unused).ok()
        }
    }
}

/// A little-endian number of at most 16 bytes.
pub(super) fn little(page: &[u8], at: usize, bytes: usize) -> Option<u128> {
    let field = page.get(at..at.checked_add(bytes)?)?;
    Some(field.iter().rev().fold(0, |n, byte| n << 8 | u128::from(*byte)))
}

/// A big-endian number of at most 16 bytes.
pub(super) fn big(field: &[u8]) -> Option<u128> {
    let fits = (1..=16).contains(&field.len());
    fits.then(|| field.iter().fold(0, |n, byte| n << 8 | u128::from(*byte)))
}
