//! A description of a machine may be anything. What can be built must serve a request, or refuse
//! one beyond its end, without panic; sizes and counts in it are bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_machine::library::Shelf;
use seekwell_machine::{Command, Model, Part};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let set = [("drive.rpm".to_owned(), text.chars().take(20).collect())];
    let _ = Model::read("set.toml", "[drive]\npart = \"st2000dm006\"\n", &set, &Shelf::default());
    let Ok(model) = Model::read("fuzz.toml", &text, &[], &Shelf::default()) else { return };
    let _ = model.chain();
    let mut part = model.part(1);
    let len = part.capacity().min(4096) as u32;
    for (tag, op) in [Op::Read, Op::Write, Op::Flush].into_iter().enumerate() {
        let (tag, len) = (tag as u32, if op == Op::Flush { 0 } else { len });
        part.submit(Command { tag, op, offset: 0, len, durable: false }, Nanos::ZERO);
        let mut done = Vec::new();
        for _ in 0..10_000 {
            if !done.is_empty() || part.next() == Nanos::MAX {
                break;
            }
            part.advance(part.next(), &mut done);
        }
    }
});
