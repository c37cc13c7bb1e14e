//! Steps that the programs have in common.

use super::layout::{Entry, Times};
use crate::bpf::asm::Width::{Dw, W};
use crate::bpf::asm::{Alu, Asm, If, R0, R1, R2, R3, R4, R5, Reg};
use crate::bpf::field;
use seekwell_io::histogram::BINS;

/// Frees the entry in `R0`.
pub fn forget(asm: &mut Asm) {
    asm.store(Dw, R0, field!(Entry, queued), 0);
    asm.store(Dw, R0, field!(Entry, key), 0);
}

/// `R1`: the time between two moments; none if the clocks of two processors differ.
pub fn took(asm: &mut Asm, from: Reg, to: Reg) {
    asm.mov(R4, to);
    asm.alu(Alu::Sub, R4, from);
    asm.mov(R1, R4);
    // All ones if that is not negative.
    asm.alu(Alu::Rsh, R4, 63);
    asm.alu(Alu::Sub, R4, 1);
    asm.alu(Alu::And, R1, R4);
}

/// Records the time in `R1` in the distribution at `base`; keeps both, and `R0`. The bin is that of
/// [`seekwell_io::histogram::Histogram::bin_of`]: (s << 6) + (ns >> s) where s = log2(ns | 64) − 6.
pub fn record(asm: &mut Asm, base: Reg) {
    assert!(base == R5, "the others are used up here");
    let small = asm.label();
    asm.add_to(Dw, base, field!(Times, sum_ns), R1);
    asm.mov(R2, R1);
    asm.alu(Alu::Or, R2, 64);
    asm.alu(Alu::Rsh, R2, 6);
    asm.mov(R3, 0);
    for (bits, most) in [(4, 0xffff), (3, 0xff), (2, 0xf), (1, 0x3), (0, 0x1)] {
        // 1 where R2 is more than that.
        asm.mov(R4, most);
        asm.alu(Alu::Sub, R4, R2);
        asm.alu(Alu::Rsh, R4, 63);
        asm.alu(Alu::Lsh, R4, bits);
        asm.alu(Alu::Rsh, R2, R4);
        asm.alu(Alu::Add, R3, R4);
    }
    asm.mov(R2, R1);
    asm.alu(Alu::Rsh, R2, R3);
    asm.alu(Alu::Lsh, R3, 6);
    asm.alu(Alu::Add, R3, R2);
    asm.jump_if(R3, If::Lt, BINS as i32, small);
    asm.mov(R3, BINS as i32 - 1);
    asm.here(small);
    asm.alu(Alu::Lsh, R3, 2);
    asm.alu(Alu::Add, R3, base);
    asm.mov(R2, 1);
    asm.add_to(W, R3, field!(Times, bins), R2);
}
