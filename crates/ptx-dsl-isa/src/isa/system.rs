//! Functions of CUDA's device runtime: "System Calls" in the PTX Writer's Guide to Interoperability.
//!
//! Results come before parameters. Code generation makes one instruction of a call, so these entries have no syntax.

use super::*;

const U32: OpTy = ty(Ty::B32);
const U64: OpTy = ty(Ty::B64);

/// The functions.
pub const LIST: &[Instr] = &[
    instr("vprintf")
        .class(InstrClass::Other)
        .operands(&[dst("result", U32), src("format", U64), src("arguments", U64)])
        .host(Host::Warp),
    instr("__assertfail")
        .class(InstrClass::Other)
        .operands(&[
            src("message", U64),
            src("file", U64),
            src("line", U32),
            src("function", U64),
            src("charSize", U64),
        ])
        .host(Host::Warp),
    instr("malloc").operands(&[dst("result", U64), src("size", U64)]).host(Host::Warp).heap(),
    instr("free").operands(&[src("pointer", U64)]).host(Host::Warp).heap(),
];
