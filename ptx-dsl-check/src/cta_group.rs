//! One `.cta_group` in a kernel and all that it calls (PTX ISA 9.7.16.5.1). ptxas sees it within a function only, and late.

use super::Checker;
use crate::ast;
use crate::errors;
use crate::hir::{Function, Instr, Operand, Stmt};
use crate::span::Span;

const GROUPS: [&str; 2] = [".cta_group::1", ".cta_group::2"];

/// The instructions of a function.
fn body(function: &Function) -> impl Iterator<Item = &Instr> {
    function.body.iter().filter_map(|s| match s {
        Stmt::Instr(i) => Some(&**i),
        Stmt::Label(_) => None,
    })
}

/// What an instruction of Tensor Memory says; those of bulk copies may differ.
fn group(instr: &Instr) -> Option<&'static str> {
    GROUPS.into_iter().find(|g| instr.family == "tcgen05" && instr.has(g))
}

impl Checker {
    /// Reports the first instruction of each kernel that names another group than the first one does.
    pub(super) fn one_cta_group(&mut self, module: &ast::Module) {
        let functions = &self.out.functions;
        // Without both groups in the module there is nothing to find.
        let said = |g: &str| functions.iter().flat_map(body).any(|i| group(i) == Some(g));
        if !GROUPS.into_iter().all(said) {
            return;
        }
        let mut found: Vec<(u32, u32)> = Vec::new();
        // By function: the last kernel that reaches it.
        let mut reached = vec![None; functions.len()];
        for start in functions.iter().enumerate().filter(|(_, f)| f.entry).map(|(i, _)| i) {
            let mut queue = vec![start];
            reached[start] = Some(start);
            let mut said: Vec<(u32, &str)> = Vec::new();
            while let Some(function) = queue.pop().and_then(|f| functions.get(f)) {
                for instr in body(function) {
                    said.extend(group(instr).map(|g| (instr.index, g)));
                    // What an indirect call reaches is not known for sure.
                    for arg in instr.operands.iter().filter(|_| instr.entry.opcode == "call") {
                        if let Operand::Func(f) = arg.value
                            && reached.get_mut(f.0 as usize).is_some_and(|r| r.replace(start) != Some(start))
                        {
                            queue.push(f.0 as usize);
                        }
                    }
                }
            }
            let Some((first, group)) = said.iter().min().copied() else { continue };
            if let Some((other, _)) = said.iter().filter(|s| s.1 != group).min()
                && !found.contains(&(*other, first))
            {
                found.push((*other, first));
            }
        }
        for (other, first) in found {
            if let (Some(other), Some(first)) = (spelling(module, other), spelling(module, first)) {
                self.report(errors::two_cta_groups(other.1, other.0, first.0, first.1));
            }
        }
    }
}

/// The qualifier of the instruction with this number, as written.
fn spelling(module: &ast::Module, index: u32) -> Option<(&str, Span)> {
    fn instr(stmts: &[ast::Stmt], index: u32) -> Option<&ast::Instr> {
        stmts.iter().find_map(|s| match s {
            ast::Stmt::Instr(i) if i.index == index => Some(i),
            ast::Stmt::Block(inner, _) => instr(inner, index),
            _ => None,
        })
    }
    let found = module.items.iter().find_map(|item| match item {
        ast::Item::Function(f) => f.body.as_ref().and_then(|b| instr(b, index)),
        _ => None,
    })?;
    let word = found.parts.iter().find(|w| w.text.starts_with("cta_group::"))?;
    Some((&word.text, word.span))
}
