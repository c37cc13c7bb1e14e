//! Numbers in text, eight letters at a time: a word of eight bytes holds up to eight digits, and a
//! few operations on the whole word say which of its bytes are digits and what they are worth.
//!
//! The first letter is always the lowest byte.

/// One in each byte.
const ONES: u64 = u64::MAX / 0xff;
const BLANKS: u64 = ONES * b' ' as u64;
/// What a number of digits multiplies by.
const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The eight bytes from `at` on; zeros where the text is over.
#[inline(always)]
pub fn word(text: &[u8], at: usize) -> u64 {
    if let Some(bytes) = text.get(at..).and_then(<[u8]>::first_chunk) {
        return u64::from_le_bytes(*bytes);
    }
    // The last eight, moved: nothing beyond the end is read, and no byte by itself.
    match text.last_chunk() {
        Some(bytes) if at < text.len() => u64::from_le_bytes(*bytes) >> ((at + 8 - text.len()) * 8),
        _ => short(text, at),
    }
}

#[cold]
fn short(text: &[u8], at: usize) -> u64 {
    let bytes = text.get(at..).unwrap_or_default().iter().take(8);
    bytes.enumerate().fold(0, |word, (i, byte)| word | u64::from(*byte) << (i * 8))
}

/// How many digits a word begins with.
#[inline(always)]
pub const fn count(word: u64) -> usize {
    let from_zero = word ^ (ONES * b'0' as u64);
    // The highest bit of each byte that is above nine; no sum reaches into the next byte.
    let others = ((from_zero & (ONES * 0x7f)) + ONES * (0x80 - 10)) | from_zero;
    ((others & (ONES * 0x80)).trailing_zeros() / 8) as usize
}

/// What the first `n` digits of a word are worth, for `n` from 1 to 8 that [`count`] allows.
#[inline(always)]
pub const fn value(word: u64, n: usize) -> u64 {
    whole(word << ((8 - n) * 8))
}

/// Multiplies a value by ten to the power of `n`, at most 8.
#[inline(always)]
pub const fn shifted(value: u64, n: usize) -> u64 {
    value * POWERS[n]
}

/// What a word of eight digits is worth, blanks and zero bytes counting as 0: neighbours are put
/// together to pairs, pairs to fours and those to the whole.
#[inline(always)]
const fn whole(word: u64) -> u64 {
    let digits = word & (ONES * 0x0f);
    let pairs = (digits.wrapping_mul((10 << 8) + 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul((100 << 16) + 1) >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul((10_000 << 32) + 1) >> 32
}

/// The number in a column of the `width` letters before `end`, blanks in front of it; `None` if
/// anything else stands there. `width` is at most 8, and `end` at least 8.
#[inline(always)]
pub fn column(text: &[u8], end: usize, width: usize) -> Option<u64> {
    let kept = u64::MAX << ((8 - width) * 8);
    let word = (word(text, end - 8) & kept) | (BLANKS & !kept);
    // The one bit that a digit has and a blank has not: with it, a blank is a 0.
    let bit = ONES * 0x10;
    let blanks = !word & bit;
    // Only the first byte, and one behind a blank, may be a blank; the last one may not.
    let allowed = ((blanks << 8) | 0x10) & (u64::MAX >> 8);
    (blanks & !allowed == 0 && count(word | bit) == 8).then(|| whole(word | bit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn digits_are_counted_and_worth_what_they_say(
            text in "[0-9]{0,8}[^0-9]{1,3}[ -~]{0,8}", before in "[ -~]{0,9}",
        ) {
            let all = format!("{before}{text}");
            let word = word(all.as_bytes(), before.len());
            let n = text.find(|c: char| !c.is_ascii_digit()).unwrap();
            prop_assert_eq!(count(word), n);
            if n > 0 {
                prop_assert_eq!(value(word, n), text[..n].parse::<u64>().unwrap());
            }
        }

        #[test]
        fn any_bytes_are_counted_like_letters(bytes in any::<[u8; 8]>()) {
            let n = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
            prop_assert_eq!(count(u64::from_le_bytes(bytes)), n);
        }

        #[test]
        fn a_column_is_a_number_with_blanks_in_front_and_nothing_else(
            text in "[ 0-9x]{1,8}", width in 1usize..=8,
        ) {
            let text = format!("{text:>16}");
            let field = &text[16 - width..];
            let expected = field.trim_start().parse::<u64>().ok();
            prop_assert_eq!(column(text.as_bytes(), 16, width), expected, "{:?}", field);
        }
    }

    #[test]
    fn a_word_ends_with_the_text() {
        assert_eq!(word(b"abcdefghij", 8), u64::from(b'i') | u64::from(b'j') << 8);
        assert_eq!(word(b"abc", 1), u64::from(b'b') | u64::from(b'c') << 8);
        assert_eq!((word(b"abcdefgh", 8), word(b"abcdefgh", 20), word(b"", 0)), (0, 0, 0));
        assert_eq!(column(b"        +1234567", 16, 8), None, "no sign");
    }
}
