//! The BPF instructions that our programs need (RFC 9669).

/// A register. `R0` holds results, a call clobbers the arguments `R1` to `R5` and preserves `R6` to
/// `R9`, and `FP` is the end of 512 bytes of stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reg(u8);

pub const R0: Reg = Reg(0);
pub const R1: Reg = Reg(1);
pub const R2: Reg = Reg(2);
pub const R3: Reg = Reg(3);
pub const R4: Reg = Reg(4);
pub const R5: Reg = Reg(5);
pub const R6: Reg = Reg(6);
pub const R7: Reg = Reg(7);
pub const R8: Reg = Reg(8);
pub const R9: Reg = Reg(9);
pub const FP: Reg = Reg(10);

/// The right side of an operation or comparison.
#[derive(Debug, Clone, Copy)]
pub enum Operand {
    Reg(Reg),
    Imm(i32),
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Self {
        Self::Reg(reg)
    }
}

impl From<i32> for Operand {
    fn from(imm: i32) -> Self {
        Self::Imm(imm)
    }
}

/// Operations on 64 bits.
#[derive(Debug, Clone, Copy)]
pub enum Alu {
    Add = 0x00,
    Sub = 0x10,
    Mul = 0x20,
    Or = 0x40,
    And = 0x50,
    Lsh = 0x60,
    Rsh = 0x70,
    Xor = 0xa0,
    Mov = 0xb0,
}

/// Unsigned comparisons of 64 bits.
#[derive(Debug, Clone, Copy)]
pub enum If {
    Eq = 0x10,
    Any = 0x40,
    Ne = 0x50,
    Lt = 0xa0,
    Le = 0xb0,
}

/// Width of what is read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    W = 0x00,
    B = 0x10,
    Dw = 0x18,
}

/// Functions of the kernel, by their numbers in `enum bpf_func_id`.
#[derive(Debug, Clone, Copy)]
pub enum Helper {
    MapLookup = 1,
    MapUpdate = 2,
    Time = 5,
    Cpu = 8,
    Task = 14,
    TaskName = 16,
    /// Its structure, from Linux 5.11 on.
    TaskStruct = 158,
}

/// The target of jumps.
#[derive(Debug, Clone, Copy)]
pub struct Label(usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Insn {
    code: u8,
    regs: u8,
    off: i16,
    imm: i32,
}

const fn insn(code: u8, dst: Reg, src: Reg, off: i16, imm: i32) -> Insn {
    Insn { code, regs: src.0 << 4 | dst.0, off, imm }
}

/// A program that is being written.
#[derive(Debug, Default)]
pub struct Asm {
    code: Vec<Insn>,
    /// Where each label is.
    labels: Vec<Option<usize>>,
    /// Jumps and where they go.
    jumps: Vec<(usize, Label)>,
}

impl Asm {
    /// A new label, to be placed with [`Asm::here`].
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Places the label here.
    pub fn here(&mut self, label: Label) {
        let place = self.labels[label.0].replace(self.code.len());
        assert_eq!(place, None, "a label is in one place");
    }

    pub fn alu(&mut self, op: Alu, dst: Reg, by: impl Into<Operand>) {
        self.code.push(match by.into() {
            Operand::Reg(src) => insn(0x07 | 0x08 | op as u8, dst, src, 0, 0),
            Operand::Imm(imm) => insn(0x07 | op as u8, dst, R0, 0, imm),
        });
    }

    pub fn mov(&mut self, dst: Reg, by: impl Into<Operand>) {
        self.alu(Alu::Mov, dst, by);
    }

    /// `dst = *(src + off)`.
    pub fn load(&mut self, width: Width, dst: Reg, src: Reg, off: i16) {
        self.code.push(insn(0x61 | width as u8, dst, src, off, 0));
    }

    /// `*(dst + off) = by`.
    pub fn store(&mut self, width: Width, dst: Reg, off: i16, by: impl Into<Operand>) {
        self.code.push(match by.into() {
            Operand::Reg(src) => insn(0x63 | width as u8, dst, src, off, 0),
            Operand::Imm(imm) => insn(0x62 | width as u8, dst, R0, off, imm),
        });
    }

    /// `*(dst + off) += src`, atomically; of 4 or 8 bytes.
    pub fn add_to(&mut self, width: Width, dst: Reg, off: i16, src: Reg) {
        assert!(matches!(width, Width::W | Width::Dw), "the processor adds words");
        self.code.push(insn(0xc3 | width as u8, dst, src, off, 0));
    }

    /// Atomic compare and exchange: if `*(dst + off)` is `R0`, it becomes `src`; `R0` becomes the
    /// old value.
    pub fn exchange(&mut self, dst: Reg, off: i16, src: Reg) {
        self.code.push(insn(0xdb, dst, src, off, 0xf1));
    }

    /// The address of the one value of an array, by its descriptor.
    pub fn value(&mut self, dst: Reg, fd: i32) {
        self.code.push(insn(0x18, dst, Reg(2), 0, fd));
        self.code.push(insn(0, R0, R0, 0, 0));
    }

    /// The address of a map, by its descriptor.
    pub fn map(&mut self, dst: Reg, fd: i32) {
        self.code.push(insn(0x18, dst, Reg(1), 0, fd));
        self.code.push(insn(0, R0, R0, 0, 0));
    }

    /// `src = *(dst + off); *(dst + off) += src`, atomically.
    pub fn fetch_add(&mut self, dst: Reg, off: i16, src: Reg) {
        self.code.push(insn(0xdb, dst, src, off, 0x01));
    }

    /// `src` and `*(dst + off)` change places, atomically and in order with all other accesses.
    pub fn swap(&mut self, dst: Reg, off: i16, src: Reg) {
        self.code.push(insn(0xdb, dst, src, off, 0xe1));
    }

    /// The address of a place on the stack.
    pub fn address(&mut self, reg: Reg, place: i16) {
        self.mov(reg, FP);
        self.alu(Alu::Add, reg, i32::from(place));
    }

    /// `R0`: what a map holds under the key at a place on the stack, or 0.
    pub fn look_up(&mut self, map: i32, key: i16) {
        self.map(R1, map);
        self.address(R2, key);
        self.call(Helper::MapLookup);
    }

    pub fn call(&mut self, helper: Helper) {
        self.code.push(insn(0x85, R0, R0, 0, helper as i32));
    }

    pub fn jump(&mut self, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.code.push(insn(0x05, R0, R0, 0, 0));
    }

    pub fn jump_if(&mut self, left: Reg, is: If, right: impl Into<Operand>, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.code.push(match right.into() {
            Operand::Reg(right) => insn(0x05 | 0x08 | is as u8, left, right, 0, 0),
            Operand::Imm(imm) => insn(0x05 | is as u8, left, R0, 0, imm),
        });
    }

    pub fn exit(&mut self) {
        self.mov(R0, 0);
        self.code.push(insn(0x95, R0, R0, 0, 0));
    }

    /// The program as the kernel reads it.
    pub fn finish(mut self) -> Vec<u8> {
        for (at, to) in self.jumps {
            let place = self.labels[to.0].expect("a label that is jumped to is somewhere");
            let distance = place as i64 - at as i64 - 1;
            self.code[at].off = i16::try_from(distance).expect("a program is short");
        }
        let bytes = |i: &Insn| {
            let mut bytes = [i.code, i.regs, 0, 0, 0, 0, 0, 0];
            bytes[2..4].copy_from_slice(&i.off.to_ne_bytes());
            bytes[4..].copy_from_slice(&i.imm.to_ne_bytes());
            bytes
        };
        self.code.iter().flat_map(bytes).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_those_of_the_specification() {
        let mut asm = Asm::default();
        let (back, out) = (asm.label(), asm.label());
        asm.here(back);
        asm.load(Width::W, R2, R1, 8); // 61 12 0008
        asm.jump_if(R2, If::Eq, 7, out); // 15 02 +4
        asm.alu(Alu::Add, R2, R3); // 0f 32
        asm.add_to(Width::Dw, R0, -8, R2); // db 20 fff8
        asm.map(R1, 5); // 18 11, 5
        asm.jump(back); // 05 -7
        asm.here(out);
        asm.exit(); // b7 00, 95
        let program = asm.finish();
        if cfg!(target_endian = "big") {
            return;
        }
        let hex: Vec<String> = program.iter().map(|byte| format!("{byte:02x}")).collect();
        let lines: Vec<String> = hex.chunks(8).map(<[String]>::concat).collect();
        assert_eq!(
            lines,
            [
                "6112080000000000",
                "1502050007000000",
                "0f32000000000000",
                "db20f8ff00000000",
                "1811000005000000",
                "0000000000000000",
                "0500f9ff00000000",
                "b700000000000000",
                "9500000000000000",
            ]
        );
    }
}
