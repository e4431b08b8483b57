//! Which findings are about a kernel: those in it, in functions that it names, and outside of functions.

use crate::diag::Diagnostic;
use crate::hir::{Function, Instr, Module, Operand, Stmt};
use crate::span::Span;

/// Removes findings of 06xx in functions that the kernel `entry` does not reach; none if there is no such kernel.
pub fn retain(module: &Module, entry: &str, found: &mut Vec<Diagnostic>) {
    let Some(kernel) = module.functions.iter().position(|f| f.entry && f.name == entry) else { return };
    let reached = reached(module, kernel);
    let others = module.functions.iter().zip(reached).filter(|(_, reached)| !reached);
    let others: Vec<Span> = others.map(|(function, _)| extent(function)).collect();
    found.retain(|d| {
        !d.code.has_level() || !others.iter().any(|other| other.first <= d.span.first && d.span.last <= other.last)
    });
}

/// By function: does the kernel name it, directly or through others?
pub fn reached(module: &Module, kernel: usize) -> Vec<bool> {
    let mut reached = vec![false; module.functions.len()];
    let mut open = vec![kernel];
    while let Some(f) = open.pop() {
        if std::mem::replace(&mut reached[f], true) {
            continue;
        }
        let operands = instructions(&module.functions[f]).flat_map(|i| &i.operands);
        operands.for_each(|arg| {
            arg.value.visit(&mut |operand| match operand {
                Operand::Func(f) | Operand::FuncAddr(f) => open.push(f.0 as usize),
                Operand::Funcs(list) => open.extend(list.iter().map(|f| f.0 as usize)),
                _ => {}
            });
        });
    }
    reached
}

/// From the name of a function to its last instruction.
fn extent(function: &Function) -> Span {
    instructions(function).fold(function.span, |all, i| all.to(i.span))
}

/// The instructions of a function, in the order of the text.
pub fn instructions(function: &Function) -> impl Iterator<Item = &Instr> {
    function.body.iter().filter_map(|stmt| match stmt {
        Stmt::Instr(i) => Some(&**i),
        Stmt::Label(_) => None,
    })
}
