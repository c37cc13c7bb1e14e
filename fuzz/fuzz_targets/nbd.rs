//! A client of the NBD server may send anything, in any pieces. What is understood lies within the
//! disk, and whatever is answered is bounded by what was asked.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_nbd::protocol::{Command, Export, MAX_BLOCK, Session, Step};
use seekwell_nbd::{Fault, Place};

const SIZE: u64 = 1 << 30;

/// Beginnings of messages, chosen by a byte of the input: random bytes would take long to find
/// their magic numbers.
const PIECES: &[&[u8]] = &[
    &[0, 0, 0, 3],
    b"IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0",
    b"IHAVEOPT\0\0\0\x01\0\0\0\0",
    b"IHAVEOPT\0\0\0\x08\0\0\0\0",
    b"IHAVEOPT\0\0\0",
    &[0x25, 0x60, 0x95, 0x13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0],
    &[0x25, 0x60, 0x95, 0x13, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0],
    &[0x25, 0x60, 0x95, 0x13, 0, 0],
    &[0, 0, 2, 0],
];

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = text.parse::<Fault>();
        if text.starts_with("unix:") {
            let _ = text.parse::<Place>().map(|place| place.to_string());
        }
    }
    let (name, min_block) = ("disk".to_owned(), 512);
    let export = Export { name, size_bytes: SIZE, rotational: false, trims: true, min_block };
    let mut out = Vec::new();
    let mut session = Session::new(export, &mut out);
    for byte in data {
        match PIECES.get(usize::from(*byte).wrapping_sub(128)) {
            Some(piece) => session.feed(piece),
            None => session.feed(&[*byte]),
        }
        loop {
            match session.step(&mut out) {
                Ok(Step::Request(request)) => {
                    let (offset, len) = match &request.command {
                        Command::Read { offset, len } => (*offset, u64::from(*len)),
                        Command::Trim { offset, len } => (*offset, u64::from(*len)),
                        Command::Write { offset, data, .. } => (*offset, data.len() as u64),
                        Command::Flush => (0, 512),
                    };
                    assert!(len > 0 && offset.checked_add(len).is_some_and(|end| end <= SIZE));
                    let trims = matches!(request.command, Command::Trim { .. });
                    assert!(trims || len <= u64::from(MAX_BLOCK));
                    session.reply(request.cookie, &request.command, Ok(&[]), &mut out);
                }
                Ok(Step::Wait) => break,
                Ok(Step::Leave) | Err(_) => return,
            }
        }
        assert!(out.len() < 1 << 20, "answers to options and errors are short");
    }
});
