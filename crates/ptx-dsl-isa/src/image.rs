//! The image of a kernel: its typed code as regions of flat instructions, in bytes. Code generation writes it; the interpreter of
//! the runtime decodes it at the first launch.
//!
//! Registers of all functions have one numbering. A 128-bit register is two of 64 bits, a vector one for each element, and each
//! function that has extended-precision arithmetic has a predicate for its condition code. Operands are flattened in the order of
//! the form, with constant addresses.

mod code;

use crate::isa::sreg::SpecialRegister;
use crate::opcode::Opcode;
use crate::qualifier::Qualifier;
use crate::ty::Ty;
use code::{Code, code};

/// Changes with every change of the format. An image of another version does not decode.
const VERSION: u32 = 7;

/// A register: an index into [`Image::registers`].
pub type Register = u32;
/// A region: an index into [`Image::regions`].
pub type RegionId = u16;

/// The number of a statement without one: it cannot fault.
pub const NO_SITE: u32 = u32::MAX;

code! {
    /// The code of a kernel and of all functions that it calls.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    pub struct Image {
        /// The width of each register in bits: 1, 8, 16, 32 or 64.
        pub registers: Vec<u8>,
        /// The name of each register in the PTX text, for faults. Empty for those that the text does not name.
        pub names: Vec<String>,
        /// Sets of qualifiers, and types, that instructions refer to.
        pub qualifiers: Vec<Qualifiers>,
        /// In reverse postorder; the first one is where the kernel starts.
        pub regions: Vec<Region>,
        /// The variables whose addresses instructions refer to.
        pub variables: Vec<Variable>,
        /// Regions of these variables that have names of their own.
        pub named: Vec<Variable>,
        /// The registers of each recursive function, by the number that [`Transfer::saves`] has. A call saves them.
        pub saved: Vec<Vec<Register>>,
        /// Bytes of stack that recursive calls of a thread may take.
        pub stack: u64,
    }
}

code! {
    /// Qualifiers and types as the semantics of an instruction read them.
    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    pub struct Qualifiers {
        /// Without types.
        pub written: Vec<Qualifier>,
        /// In the order written.
        pub types: Vec<Ty>,
    }
}

code! {
    /// A variable of the kernel, of one of its functions or of the module.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Variable {
        /// As written.
        pub name: String,
        /// The window of generic addresses that its state space has.
        pub window: u8,
        /// The first of its bytes.
        pub from: u64,
        /// The byte after the last one; `u64::MAX` for dynamic shared memory, the size of which a launch gives.
        pub to: u64,
    }
}

code! {
    /// A region: straight code in which no thread waits.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Region {
        /// Its label, or what it starts with; for reports.
        pub name: String,
        /// It begins with the results of a call.
        pub results: Option<Transfer>,
        /// In order.
        pub body: Vec<Instr>,
        /// How it ends.
        pub end: End,
        /// The number of the statement `bra` that ends it, or [`NO_SITE`]; for reports.
        pub branch: u32,
        /// The statement that ends it, if that is not an instruction of a region: a branch, a call, a return.
        pub last: Option<Lines>,
    }
}

code! {
    /// An instruction.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Instr {
        /// What it does.
        pub action: Action,
        /// Its number among the statements of the kernel, for faults, or [`NO_SITE`].
        pub site: u32,
        /// Where its statement is.
        pub lines: Lines,
        /// It takes effect in lanes where this predicate has this value.
        pub guard: Option<Guard>,
        /// Flattened; the condition code last.
        pub sources: Vec<Source>,
        /// Flattened; `None` for `_`. The condition code last.
        pub results: Vec<Option<Register>>,
    }
}

code! {
    /// The lines of a statement, counted from 1; 0 if unknown.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
    pub struct Lines {
        /// In the printed PTX.
        pub ptx: u32,
        /// In the source.
        pub source: u32,
    }
}

code! {
    /// What an instruction does.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Action {
        /// Runs the semantics of this opcode. `carry_out`: those of the `.cc` form, where it is a qualifier.
        Opcode { opcode: Opcode, qualifiers: u32, carry_out: bool },
        /// Puts sources of this many bits together and takes results of this many bits from them: `mov`.
        Move { from: u32, to: u32 },
    }
}

code! {
    /// The value of a predicate for which an instruction or a branch is taken.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Guard {
        /// The predicate.
        pub register: Register,
        /// Its value.
        pub holds: bool,
    }
}

code! {
    /// A value that an instruction reads: 64 bits, zero-extended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Source {
        /// A register.
        Register { register: Register },
        /// `!p`
        Not { register: Register },
        /// A constant.
        Constant { value: u64 },
        /// A place in a variable, or near it: a constant.
        Variable { variable: u32, value: u64 },
        /// A special register.
        Special { register: SpecialRegister },
        /// A register plus an offset, modulo the width of the register: an address operand, even if the offset is 0.
        Address { base: Register, offset: i64 },
        /// A place in the frame of a recursive function.
        Frame { at: u64 },
    }
}

code! {
    /// How a region ends.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum End {
        /// Goes on there.
        Goto { to: RegionId },
        /// Lanes whose predicate holds go to `taken`.
        Branch { guard: Guard, taken: RegionId, fall: RegionId },
        /// `brx.idx`
        Switch { site: u32, index: Source, targets: Vec<RegionId> },
        /// An instruction that may wait. It is alone in its region, which runs again when the wait is over.
        Block { instr: Instr, next: RegionId },
        /// Calls one of several functions.
        Call { site: u32, pointer: Option<Source>, callees: Vec<Callee> },
        /// Returns to the region whose number is in this register.
        Return { address: Register, sites: Vec<RegionId> },
        /// The threads exit.
        Exit { },
    }
}

code! {
    /// A function that a call may reach.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Callee {
        /// The address of the function, which the pointer of an indirect call has.
        pub address: u64,
        /// Its first region.
        pub start: RegionId,
        /// The region that it returns to.
        pub back: RegionId,
        /// The register that holds `back` until the return.
        pub return_address: Register,
        /// The arguments.
        pub arguments: Transfer,
    }
}

code! {
    /// Arguments or results of a call. All are read before any is written.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    pub struct Transfer {
        /// For faults.
        pub site: u32,
        /// The number in [`Image::saved`] of the caller's registers, if it is recursive, and the callee too.
        pub saves: Option<u32>,
        /// That of the callee, if it is recursive.
        pub frame: Option<Frame>,
        /// From where to where.
        pub moves: Vec<(Place, Place)>,
    }
}

code! {
    /// The variables of a recursive function: a part of local memory, of which each activation has a copy on the stack.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Frame {
        /// How far the first copy is from the variables.
        pub moved: u64,
        /// In bytes.
        pub size: u64,
    }
}

code! {
    /// An argument, parameter or result.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Place {
        /// Values, one for each 64-bit word.
        Values { list: Vec<Source> },
        /// Registers, one for each 64-bit word.
        Registers { list: Vec<Option<Register>> },
        /// A variable in local memory: its address, its size, and whether it moves with the frame.
        Variable { at: u64, size: u32, framed: bool },
    }
}

impl Region {
    /// Its instructions, with one that may wait.
    pub fn instructions(&self) -> impl Iterator<Item = &Instr> {
        let last = if let End::Block { instr, .. } = &self.end { Some(instr) } else { None };
        self.body.iter().chain(last)
    }
}

impl Image {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        VERSION.write(&mut bytes);
        self.write(&mut bytes);
        bytes
    }

    /// From its bytes. `None` if they are no image of this version.
    pub fn decode(mut bytes: &[u8]) -> Option<Image> {
        let from = &mut bytes;
        if u32::read(from)? != VERSION {
            return None;
        }
        let image = Image::read(from)?;
        from.is_empty().then_some(image)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::sreg::special;
    use crate::opcode::op;
    use crate::qualifier::q;

    fn sample() -> Image {
        let load = Instr {
            action: Action::Opcode { opcode: op::ld, qualifiers: 0, carry_out: false },
            site: 300,
            lines: Lines { ptx: 7, source: 200 },
            guard: Some(Guard { register: 1, holds: false }),
            sources: vec![
                Source::Address { base: 0, offset: -8 },
                Source::Constant { value: u64::MAX },
                Source::Variable { variable: 0, value: 4 },
                Source::Special { register: special::tid_x },
            ],
            results: vec![Some(2), None],
        };
        let region = |end| Region {
            name: "start of `k`".into(),
            results: None,
            body: vec![load.clone()],
            end,
            branch: 0,
            last: Some(Lines { ptx: 8, source: 0 }),
        };
        Image {
            registers: vec![64, 1, 32],
            names: vec!["%rd1".into(), "%p".into(), String::new()],
            qualifiers: vec![Qualifiers { written: vec![q::global, q::volatile], types: vec![Ty::F32] }],
            variables: vec![Variable { name: "tile".into(), window: 1, from: 4, to: 1 << 40 }],
            named: vec![Variable { name: "full".into(), window: 1, from: 8, to: 16 }],
            regions: vec![
                region(End::Branch { guard: Guard { register: 1, holds: true }, taken: 1, fall: 0 }),
                region(End::Exit {}),
            ],
            saved: vec![vec![0, 2]],
            stack: 1,
        }
    }

    #[test]
    fn an_image_is_what_was_encoded() {
        let image = sample();
        assert_eq!(Image::decode(&image.encode()), Some(image));
    }

    #[test]
    fn no_bytes_panic() {
        let bytes = sample().encode();
        for end in 0..bytes.len() {
            assert_eq!(Image::decode(&bytes[..end]), None, "the first {end} bytes");
        }
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut broken = bytes.clone();
                broken[at] = value;
                let _ = Image::decode(&broken);
            }
        }
        let mut newer = bytes;
        newer[0] += 1;
        assert_eq!(Image::decode(&newer), None);
    }
}
