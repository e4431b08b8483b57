//! Static shared memory (PTX ISA 5.1.7): a kernel has the variables that it and the functions it calls declare, and those of
//! the module that they name. Those of different kernels lie over each other.

use super::Checker;
use crate::errors;
use crate::hir::{Base, Function, Operand, Space, Stmt, VarId};
use crate::isa::target::{Suffix, Target};
use ptx_dsl_table::list::List;

/// Static shared memory that a kernel may have, as ptxas 13.5 has it: all of a multiprocessor's for `sm_90a` and its like.
fn limit(target: Option<&Target>) -> u64 {
    match target.map(|t| (t.suffix, t.number)) {
        Some((Suffix::Exact, 120..)) => 99 * 1024,
        Some((Suffix::Exact, _)) => 227 * 1024,
        _ => 48 * 1024,
    }
}

/// What the body of a function names, once or several times.
#[derive(Default)]
struct Named {
    vars: Vec<u32>,
    functions: Vec<u32>,
}

impl Named {
    fn of(function: &Function) -> Self {
        let mut named = Named::default();
        for stmt in &function.body {
            if let Stmt::Instr(i) = stmt {
                i.operands.iter().for_each(|arg| named.operand(&arg.value));
            }
        }
        named
    }

    fn operand(&mut self, operand: &Operand) {
        match operand {
            Operand::VarAddr(VarId(v), _) | Operand::Address(Base::Var(VarId(v)), _) => {
                self.vars.push(*v);
            }
            Operand::Func(f) | Operand::FuncAddr(f) => {
                self.functions.push(f.0);
            }
            Operand::Funcs(list) => self.functions.extend(list.iter().map(|f| f.0)),
            Operand::Vector(list) | Operand::Addresses(list) | Operand::List(list) => {
                list.iter().for_each(|o| self.operand(o));
            }
            Operand::Pair(a, b) => {
                self.operand(a);
                self.operand(b);
            }
            Operand::Neg(o) => self.operand(o),
            _ => {}
        }
    }
}

impl Checker {
    /// Gives the variables in `.shared` their places, each kernel its size, and the module the largest of these.
    pub(super) fn lay_out_shared(&mut self) {
        let is_static = |v: &crate::hir::Var| v.space == Space::Shared && !v.dynamic;
        if !self.out.vars.iter().any(is_static) {
            return;
        }
        let mut named = self.out.functions.iter().map(Named::of).list();
        for (var, function) in &self.shared_of {
            named[function.0 as usize].vars.push(var.0);
        }
        let limit = limit(self.target);
        // The kernels that reach each variable, and by function the last one that reaches it.
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.out.vars.len()];
        let mut reached = vec![None; named.len()];
        for (kernel, _) in self.out.functions.iter().enumerate().filter(|(_, f)| f.entry) {
            let mut open = vec![kernel];
            while let Some(f) = open.pop() {
                if reached[f].replace(kernel) == Some(kernel) {
                    continue;
                }
                for v in &named[f].vars {
                    let users = &mut users[*v as usize];
                    if users.last() != Some(&kernel) {
                        users.push(kernel);
                    }
                }
                open.extend(named[f].functions.iter().map(|f| *f as usize));
            }
        }
        // Where the variables of a kernel end, and where they would if it were the only one.
        let mut ends = vec![(0u64, 0u64); self.out.functions.len()];
        for (var, users) in self.out.vars.iter_mut().zip(&users) {
            if !is_static(var) {
                continue;
            }
            let (size, align) = (u64::from(var.size), u64::from(var.align.max(1)));
            let offset = users.iter().map(|k| ends[*k].0).max().unwrap_or(0).next_multiple_of(align);
            var.offset = u32::try_from(offset).unwrap_or(u32::MAX);
            for k in users {
                ends[*k] = (offset.saturating_add(size), ends[*k].1.next_multiple_of(align).saturating_add(size));
            }
        }
        let mut found = Vec::new();
        for (function, (end, alone)) in self.out.functions.iter_mut().zip(ends) {
            function.shared_size = u32::try_from(end).unwrap_or(u32::MAX);
            self.out.shared_size = self.out.shared_size.max(function.shared_size);
            if alone > limit {
                found.push(errors::shared_size(function.span, &function.name, alone, limit));
            }
        }
        self.diags.extend(found);
    }
}
