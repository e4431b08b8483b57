//! Which operands an instruction writes and which it reads, and what it has besides those that are spelt out.

use ptx_dsl_isa::hir::{Arg, Instr, Operand};
use ptx_dsl_isa::isa::Role;
use ptx_dsl_isa::ty::Ty;

/// A destination: also the `_` that a form spells out itself.
pub fn written(arg: &Arg) -> bool {
    arg.role == Role::Dst || matches!(arg.value, Operand::Sink)
}

/// The operands that an instruction writes.
pub fn written_by(i: &Instr) -> Vec<&Arg> {
    i.operands.iter().filter(|a| written(a)).collect::<Vec<_>>()
}

/// The others.
pub fn read_by(i: &Instr) -> Vec<&Arg> {
    i.operands.iter().filter(|a| !written(a)).collect::<Vec<_>>()
}

/// The registers of a destination.
pub fn targets_of<'o>(o: &'o Operand, out: &mut Vec<&'o Operand>) {
    match o {
        Operand::Vector(list) => {
            for o in list {
                targets_of(o, out);
            }
        }
        Operand::Pair(a, b) => {
            targets_of(a, out);
            targets_of(b, out);
        }
        o => out.push(o),
    }
}

/// Does it read the condition code, does it write it?
pub fn carry_use(instr: &Instr) -> (bool, bool) {
    let o = instr.entry.opcode;
    (matches!(o, "addc" | "subc" | "madc"), o.ends_with(".cc") || instr.has(".cc"))
}

/// Do the host's results end in a carry?
pub fn function_carries(instr: &Instr) -> bool {
    let (reads, writes) = carry_use(instr);
    reads || writes
}

/// `shfl.sync d[|p]` and friends have two destinations even if one is written.
pub fn named_destinations(instr: &Instr, given: usize) -> usize {
    let two = matches!(instr.entry.opcode, "shfl.sync" | "shfl" | "elect.sync")
        || (instr.entry.opcode == "match" && instr.has(".all"))
        || instr.entry.opcode == "match.all.sync";
    if two { 2 } else { given }
}

/// Plain bits of this width.
pub fn ty_of_bits(bits: u32) -> Option<Ty> {
    Some(match bits {
        8 => Ty::B8,
        16 => Ty::B16,
        32 => Ty::B32,
        _ => Ty::B64,
    })
}
