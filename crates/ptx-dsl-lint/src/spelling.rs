//! Opcodes as messages spell them.

use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::qualifier::q;

/// The opcode as it is written, up to `.aligned`.
pub(crate) fn opcode(i: &Instr) -> String {
    let mut out = i.opcode.to_string();
    // `tcgen05.wait` goes on with `::ld`.
    let last = i.quals.iter().position(|q| *q == q::aligned).or(i.quals.iter().position(|q| q.joins_opcode()));
    for q in &i.quals[..last.map_or(0, |last| last + 1)] {
        out.push_str(q.text());
    }
    out
}
