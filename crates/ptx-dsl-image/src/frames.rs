//! Frames: the variables of a recursive function in local memory. Each activation has its own, on a stack that follows the variables
//! of the other functions.

use ptx_dsl_isa::hir::{Base, Module, Operand, Space, Stmt, Var};
use ptx_dsl_isa::image::Frame;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Bytes of stack a thread has for recursive calls: for frames of local memory, and once more for registers.
pub const STACK: u32 = 1 << 16;

/// The frames of the recursive functions of a kernel.
pub struct Frames {
    /// The offset of the stack in local memory.
    pub base: u64,
    /// By function.
    frames: BTreeMap<u32, Frame>,
}

impl Frames {
    /// `local_size`: bytes of the variables of all functions.
    pub fn new(module: &Module, recursive: &BTreeSet<u32>, local_size: u32) -> Self {
        let mut align = 16;
        let mut spans = BTreeMap::new();
        for f in recursive {
            let mut span: Option<Range<u64>> = None;
            variables(module, *f, &mut |var| {
                let (from, size) = (u64::from(var.offset), u64::from(var.size));
                let all = span.take().unwrap_or(from..from);
                span = Some(all.start.min(from)..all.end.max(from + size));
                align = align.max(u64::from(var.align));
            });
            spans.insert(*f, span.unwrap_or_default());
        }
        let base = u64::from(local_size).next_multiple_of(align);
        let frame = |span: Range<u64>| {
            let from = span.start - span.start % align;
            Frame { moved: base.saturating_sub(from), size: (span.end - from).next_multiple_of(align) }
        };
        Frames { base, frames: spans.into_iter().map(|(f, span)| (f, frame(span))).collect() }
    }

    /// The frame of a function, if it is recursive.
    pub fn of(&self, f: u32) -> Option<Frame> {
        self.frames.get(&f).copied()
    }
}

/// Is it a variable of a function in local memory?
pub fn is_local(var: &Var) -> bool {
    matches!(var.space, Space::Local | Space::ParamFunc) && !var.of_module
}

/// The local variables that a function names.
fn variables(module: &Module, f: u32, found: &mut impl FnMut(&Var)) {
    let function = &module.functions[f as usize];
    let mut see = |v: usize| {
        if is_local(&module.vars[v]) {
            found(&module.vars[v]);
        }
    };
    let parameters = function.params.iter().chain(&function.rets).filter_map(|p| p.var);
    parameters.for_each(|v| see(v.0 as usize));
    for stmt in &function.body {
        let Stmt::Instr(i) = stmt else { continue };
        for arg in &i.operands {
            arg.value.visit(&mut |operand| match operand {
                Operand::VarAddr(v, _) | Operand::Address(Base::Var(v), _) => see(v.0 as usize),
                _ => {}
            });
        }
    }
}
