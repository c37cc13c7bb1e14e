//! The kernel's description of its own types (BTF, `Documentation/bpf/btf.rst`), read for where
//! fields lie: structures differ between kernels, so nothing is taken from a version number.

use std::collections::HashMap;

const MAGIC: u16 = 0xeb9f;
const HEAD: usize = 24;

const PTR: u8 = 2;
const STRUCT: u8 = 4;
const UNION: u8 = 5;
const TYPEDEF: u8 = 8;
const FUNC_PROTO: u8 = 13;

/// What is missing in a description, or wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum BtfError {
    #[error("it is cut short or of another format")]
    Unreadable,
    #[error("no {0} in it")]
    Missing(String),
}

/// A type: where it begins, and what it is.
#[derive(Debug, Clone, Copy)]
struct Type {
    at: usize,
    kind: u8,
    /// Whether the offsets of members also hold the sizes of bit fields.
    bits: bool,
    members: usize,
    /// Size, or the type that this one leads to.
    refers: u32,
}

/// The types of a kernel.
#[derive(Debug)]
pub struct Btf<'a> {
    bytes: &'a [u8],
    strings: &'a [u8],
    types: Vec<Type>,
    structs: HashMap<&'a [u8], u32>,
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

impl<'a> Btf<'a> {
    /// Reads the content of `/sys/kernel/btf/vmlinux`.
    pub fn read(bytes: &'a [u8]) -> Result<Self, BtfError> {
        Self::parse(bytes).ok_or(BtfError::Unreadable)
    }

    fn parse(bytes: &'a [u8]) -> Option<Self> {
        if u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?) != MAGIC {
            return None;
        }
        let number = |at| word(bytes, at).map(|n| n as usize);
        let head = number(4)?.max(HEAD);
        let begin = head.checked_add(number(8)?)?;
        let end = begin.checked_add(number(12)?)?;
        let strings = head.checked_add(number(16)?)?;
        let strings = bytes.get(strings..strings.checked_add(number(20)?)?)?;
        let void = Type { at: 0, kind: 0, bits: false, members: 0, refers: 0 };
        let mut btf = Self { bytes, strings, types: vec![void], structs: HashMap::new() };
        let mut at = begin;
        while at < end {
            let (info, refers) = (word(bytes, at + 4)?, word(bytes, at + 8)?);
            let (kind, members) = ((info >> 24 & 0x1f) as u8, (info & 0xffff) as usize);
            let found = Type { at, kind, bits: info >> 31 == 1, members, refers };
            if kind == STRUCT {
                btf.structs.insert(btf.name(found)?, btf.types.len() as u32);
            }
            btf.types.push(found);
            at += 12
                + match kind {
                    1 | 14 | 17 => 4,
                    3 => 12,
                    STRUCT | UNION | 15 | 19 => 12 * members,
                    6 | FUNC_PROTO => 8 * members,
                    _ => 0,
                };
        }
        (at == end && end <= bytes.len()).then_some(btf)
    }

    fn name(&self, of: Type) -> Option<&'a [u8]> {
        self.text(word(self.bytes, of.at)?)
    }

    fn text(&self, at: u32) -> Option<&'a [u8]> {
        let rest = self.strings.get(at as usize..)?;
        rest.split(|byte| *byte == 0).next()
    }

    fn kind(&self, id: u32) -> Option<Type> {
        self.types.get(id as usize).copied()
    }

    /// The type behind names, qualifiers and attributes.
    fn bare(&self, mut id: u32) -> Option<(u32, Type)> {
        for _ in 0..32 {
            let found = self.kind(id)?;
            if !matches!(found.kind, TYPEDEF | 9 | 10 | 11 | 18) {
                return Some((id, found));
            }
            id = found.refers;
        }
        None
    }

    /// Bytes from the beginning of a structure to a member, such as `bi_iter.bi_size`.
    pub fn offset(&self, of: &str, path: &str) -> Result<i16, BtfError> {
        let missing = || BtfError::Missing(format!("{of}.{path}"));
        let id = self.structs.get(of.as_bytes()).ok_or_else(missing)?;
        let (mut id, mut bits) = (*id, 0);
        for name in path.split('.') {
            let (more, member) = self.member(id, name.as_bytes(), 0).ok_or_else(missing)?;
            bits = u32::checked_add(bits, more).ok_or_else(missing)?;
            id = self.bare(member).ok_or_else(missing)?.0;
        }
        if bits % 8 == 0 { i16::try_from(bits / 8).map_err(|_| missing()) } else { Err(missing()) }
    }

    /// Offset in bits and type of a member, also within members without a name.
    fn member(&self, id: u32, name: &[u8], depth: u32) -> Option<(u32, u32)> {
        let of = self.kind(id).filter(|of| matches!(of.kind, STRUCT | UNION) && depth < 8)?;
        (0..of.members).find_map(|index| {
            let at = of.at + 12 + 12 * index;
            let (own, kind) = (self.text(word(self.bytes, at)?)?, word(self.bytes, at + 4)?);
            let bits = word(self.bytes, at + 8)?;
            let bits = if of.bits { bits & 0xff_ffff } else { bits };
            if own == name {
                return Some((bits, kind));
            }
            let inner = if own.is_empty() { self.bare(kind) } else { None };
            let (more, kind) = self.member(inner?.0, name, depth + 1)?;
            Some((bits.checked_add(more)?, kind))
        })
    }

    /// The type by which a program is attached to a tracepoint, and which of the tracepoint's
    /// arguments points to a structure of this name.
    pub fn tracepoint(&self, name: &str, argument: &str) -> Result<(u32, i16), BtfError> {
        let wanted = format!("btf_trace_{name}");
        let named = |of: &Type| {
            of.kind == TYPEDEF && self.name(*of).is_some_and(|name| name == wanted.as_bytes())
        };
        let found = self.types.iter().position(named);
        let place = found.and_then(|id| Some((id as u32, self.argument(id as u32, argument)?)));
        place.ok_or(BtfError::Missing(wanted))
    }

    fn argument(&self, tracepoint: u32, argument: &str) -> Option<i16> {
        let (_, pointer) = self.bare(tracepoint)?;
        let (_, function) = self.bare(pointer.refers)?;
        let is_it = |index: &usize| {
            let pointer = word(self.bytes, function.at + 12 + 8 * index + 4);
            let pointer = pointer.and_then(|id| self.bare(id)).filter(|(_, of)| of.kind == PTR);
            let (_, to) = pointer.and_then(|(_, pointer)| self.bare(pointer.refers))?;
            (to.kind == STRUCT && self.name(to)? == argument.as_bytes()).then_some(())
        };
        let members = if function.kind == FUNC_PROTO { function.members } else { 0 };
        // The first one is internal and is not passed to programs.
        (1..members).find(|index| is_it(index).is_some()).map(|index| index as i16 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `struct request { int tag; union { struct bio *bio; }; }`, `struct bio`, a tracepoint.
    fn described() -> Vec<u8> {
        let strings = b"\0request\0tag\0bio\0btf_trace_done\0int\0";
        let at = |name: &str| {
            let place = strings.windows(name.len()).position(|part| part == name.as_bytes());
            place.unwrap() as u32
        };
        let kind = |kind: u32, members: u32| kind << 24 | members;
        let types = [
            &[at("int"), kind(1, 0), 4, 32][..],                         // 1
            &[at("bio"), kind(4, 0), 8],                                 // 2
            &[0, kind(2, 0), 2],                                         // 3: struct bio *
            &[0, kind(5, 1), 8, at("bio"), 3, 0],                        // 4
            &[at("request"), kind(4, 2), 16, at("tag"), 1, 0, 0, 4, 64], // 5
            &[0, kind(2, 0), 5],                                         // 6: struct request *
            &[0, kind(13, 3), 0, 0, 0, 0, 1, 0, 6], // 7: (void, int, request *)
            &[0, kind(2, 0), 7],                    // 8
            &[at("btf_trace_done"), kind(8, 0), 8], // 9
        ]
        .concat();
        let length = types.len() as u32 * 4;
        let head = [u32::from(MAGIC) | 1 << 16, HEAD as u32, 0, length, length, 36];
        let words = head.iter().chain(&types).flat_map(|word| word.to_ne_bytes());
        words.chain(*strings).collect()
    }

    #[test]
    fn members_and_arguments_are_found_by_name() {
        let bytes = described();
        let btf = Btf::read(&bytes).unwrap();
        assert_eq!((btf.offset("request", "tag"), btf.offset("request", "bio")), (Ok(0), Ok(8)));
        assert_eq!(btf.tracepoint("done", "request"), Ok((9, 1)));
        let said = btf.offset("request", "bio.size").unwrap_err().to_string();
        assert_eq!(said, "no request.bio.size in it");
        assert!(btf.tracepoint("done", "bio").is_err() && btf.tracepoint("gone", "bio").is_err());
    }

    #[test]
    fn what_is_cut_short_is_refused() {
        let bytes = described();
        for length in 0..bytes.len() {
            assert!(Btf::read(&bytes[..length]).is_err(), "{length}");
        }
    }

    proptest! {
        #[test]
        fn no_description_makes_the_reader_panic(at in 0_usize..330, byte in any::<u8>()) {
            let mut bytes = described();
            let length = bytes.len();
            bytes[at % length] = byte;
            if let Ok(btf) = Btf::read(&bytes) {
                let _ = btf.offset("request", "bio");
                let _ = btf.tracepoint("done", "request");
            }
        }
    }
}
