//! The kernel's letters for what a request does (`blk_fill_rwbs`), as in `FWFSM`.
//!
//! One letter says the operation; an `F` before it asks for a flush first and one after it for
//! forced unit access, so the same letter means two things and a lone `FF` is the flush itself.

use crate::record::Flags;
use seekwell_io::request::Op;

/// Reads the letters. `empty` says that the request carries no data, without which `FN` and `FWS`
/// would be writes. `None` when these are not such letters.
pub fn parse(letters: &[u8], empty: bool) -> Option<(Op, Flags)> {
    let mut flags = Flags(0);
    let mut rest = letters;
    if let [b'F', after @ ..] = rest {
        flags = Flags::PREFLUSH;
        rest = after;
    }
    let (op, mut rest) = match rest {
        [] => (Op::Flush, rest),
        [b'F', after @ ..] => (Op::Flush, after),
        [b'R', after @ ..] => (Op::Read, after),
        [b'W', after @ ..] => (Op::Write, after),
        [b'D', b'E', after @ ..] => {
            flags = flags | Flags::SECURE;
            (Op::Discard, after)
        }
        [b'D', after @ ..] => (Op::Discard, after),
        [b'N', after @ ..] if flags.has(Flags::PREFLUSH) => (Op::Flush, after),
        [b'N', after @ ..] => {
            flags = flags | Flags::OTHER;
            (Op::Read, after)
        }
        [b'Z', kind, after @ ..] => {
            flags = flags | Flags::OTHER;
            // `ZR` resets one zone and `ZRA` all of them: there the A is no read-ahead.
            let after =
                if *kind == b'R' { after.strip_prefix(b"A").unwrap_or(after) } else { after };
            (Op::Write, after)
        }
        _ => return None,
    };
    if letters.is_empty() {
        return None;
    }
    while let [letter, after @ ..] = rest {
        flags = flags
            | match letter {
                b'F' => Flags::FUA,
                b'S' => Flags::SYNC,
                b'M' => Flags::META,
                b'A' => Flags::READ_AHEAD,
                b'E' => Flags::SECURE,
                b'A'..=b'Z' => Flags(0),
                _ => return None,
            };
        rest = after;
    }
    Some(settle(op, flags, empty))
}

/// A request with nothing but a flush in it is a flush, whatever its letter or direction bit says.
pub fn settle(op: Op, flags: Flags, empty: bool) -> (Op, Flags) {
    if op == Op::Flush || (empty && flags.has(Flags::PREFLUSH)) {
        return (Op::Flush, Flags(flags.0 & !(Flags::PREFLUSH.0 | Flags::FUA.0)));
    }
    (op, flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letter_f_means_flush_before_the_operation_and_forced_access_after_it() {
        let fua_meta = Flags::PREFLUSH | Flags::FUA | Flags::SYNC | Flags::META;
        assert_eq!(parse(b"FWFSM", false), Some((Op::Write, fua_meta)));
        assert_eq!(parse(b"WFS", false), Some((Op::Write, Flags::FUA | Flags::SYNC)));
        assert_eq!(parse(b"FF", true), Some((Op::Flush, Flags(0))));
        assert_eq!(parse(b"FN", true), Some((Op::Flush, Flags(0))));
        assert_eq!(parse(b"FWS", true), Some((Op::Flush, Flags::SYNC)));
        assert_eq!(parse(b"WS", true), Some((Op::Write, Flags::SYNC)));
    }

    #[test]
    fn every_other_letter_has_its_meaning_and_nonsense_has_none() {
        assert_eq!(parse(b"RAM", false), Some((Op::Read, Flags::READ_AHEAD | Flags::META)));
        assert_eq!(parse(b"DS", false), Some((Op::Discard, Flags::SYNC)));
        assert_eq!(parse(b"DE", false), Some((Op::Discard, Flags::SECURE)));
        assert_eq!(parse(b"N", false), Some((Op::Read, Flags::OTHER)));
        assert_eq!(parse(b"ZRA", true), Some((Op::Write, Flags::OTHER)));
        assert_eq!(parse(b"WSU", false), Some((Op::Write, Flags::SYNC)));
        for bad in [&b""[..], b"S", b"Ws", b"7", b"Z"] {
            assert_eq!(parse(bad, false), None, "{bad:?}");
        }
    }
}
