//! One `.cta_group` in a kernel and everything that it calls (PTX ISA 9.7.16.5.1). ptxas sees it only within a function, in code
//! generation.

use super::Checker;
use crate::ast;
use crate::check::errors;
use crate::span::Span;
use ptx_dsl_isa::hir::{Function, Instr, Operand, Stmt};
use ptx_dsl_isa::isa::Tensor;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::{Qualifier, q};

const GROUPS: [Qualifier; 2] = [q::cta_group_1, q::cta_group_2];

/// The group that a Tensor Memory instruction names; those of bulk copies may differ.
fn group(instr: &Instr) -> Option<usize> {
    if instr.entry.effects.tensor == Tensor::None {
        return None;
    }
    GROUPS.iter().position(|g| instr.has(*g))
}

/// Does an instruction name it?
fn said(functions: &[Function], wanted: usize) -> bool {
    for f in functions {
        for stmt in &f.body {
            if let Stmt::Instr(i) = stmt
                && group(i) == Some(wanted)
            {
                return true;
            }
        }
    }
    false
}

/// The first group that a kernel and its callees name, and the first instruction with another one, each with its number.
fn two_groups(functions: &[Function], kernel: usize) -> Option<(u32, u32)> {
    let mut reached = vec![false; functions.len()];
    let mut queue = vec![kernel];
    // By group, the first that says it.
    let mut first: [Option<u32>; GROUPS.len()] = [None; GROUPS.len()];
    while let Some(at) = queue.pop() {
        if at >= functions.len() || std::mem::replace(&mut reached[at], true) {
            continue;
        }
        for stmt in &functions[at].body {
            let Stmt::Instr(instr) = stmt else { continue };
            if let Some(g) = group(instr) {
                first[g] = Some(match first[g] {
                    Some(index) => instr.index.min(index),
                    None => instr.index,
                });
            }
            // What an indirect call reaches is not known for sure.
            for arg in &instr.operands {
                if let Operand::Func(f) = arg.value
                    && instr.opcode == op::call
                {
                    queue.push(f.0 as usize);
                }
            }
        }
    }
    let [Some(a), Some(b)] = first else { return None };
    Some((a.max(b), a.min(b)))
}

impl Checker {
    /// Reports the first instruction of each kernel that names another group than the first one.
    pub(super) fn one_cta_group(&mut self, module: &ast::Module) {
        let functions = &self.out.functions;
        // Without both groups in the module there is nothing to find.
        if !said(functions, 0) || !said(functions, 1) {
            return;
        }
        let mut found: Vec<(u32, u32)> = Vec::new();
        for (kernel, f) in functions.iter().enumerate() {
            if f.entry
                && let Some(two) = two_groups(functions, kernel)
                && !found.contains(&two)
            {
                found.push(two);
            }
        }
        for (other, first) in found {
            if let (Some(other), Some(first)) = (spelling(module, other), spelling(module, first)) {
                self.report(errors::two_cta_groups(other.1, other.0, first.0, first.1));
            }
        }
    }
}

/// The instruction with this number.
fn instr(stmts: &[ast::Stmt], index: u32) -> Option<&ast::Instr> {
    for stmt in stmts {
        match stmt {
            ast::Stmt::Instr(i) if i.index == index => return Some(i),
            ast::Stmt::Block(inner, _) => {
                if let Some(found) = instr(inner, index) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}

/// The qualifier of the instruction with this number, as written.
fn spelling(module: &ast::Module, index: u32) -> Option<(&str, Span)> {
    for item in &module.items {
        if let ast::Item::Function(f) = item
            && let Some(body) = &f.body
            && let Some(found) = instr(body, index)
        {
            let word = found.parts.iter().find(|w| w.text.starts_with("cta_group::"))?;
            return Some((&word.text, word.span));
        }
    }
    None
}
