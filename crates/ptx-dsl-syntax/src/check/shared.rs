//! Layout of static shared memory (PTX ISA 5.1.7). A kernel has the variables that it and the functions it calls declare, and
//! those of the module that they name. Those of different kernels overlap. Dynamic variables begin where the static ones end.

use super::Checker;
use crate::check::errors;
use ptx_dsl_isa::hir::{Base, Function, Operand, Space, Stmt, Var, VarId};
use ptx_dsl_isa::isa::target::{Suffix, Target};

/// The limit of static shared memory of a kernel in ptxas 13.5: all of a multiprocessor's for `sm_90a` and similar targets.
fn limit(target: Option<&Target>) -> u64 {
    match target {
        Some(Target { suffix: Suffix::Exact, number: 120.., .. }) => 99 * 1024,
        Some(Target { suffix: Suffix::Exact, .. }) => 227 * 1024,
        _ => 48 * 1024,
    }
}

/// The names in the body of a function, repeated or not.
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
                for arg in &i.operands {
                    named.operand(&arg.value);
                }
            }
        }
        named
    }

    fn operand(&mut self, operand: &Operand) {
        operand.visit(&mut |operand| match operand {
            Operand::VarAddr(VarId(v), _) | Operand::Address(Base::Var(VarId(v)), _) => self.vars.push(*v),
            Operand::Func(f) | Operand::FuncAddr(f) => self.functions.push(f.0),
            Operand::Funcs(list) => self.functions.extend(list.iter().map(|f| f.0)),
            _ => {}
        });
    }
}

/// Lays out static variables in `.shared`.
fn is_static(v: &Var) -> bool {
    v.space == Space::Shared && !v.is_open()
}

/// Does the launch give its size?
fn is_dynamic(v: &Var) -> bool {
    v.space == Space::Shared && v.dynamic
}

/// Records the kernel with each variable that it reaches. `reached`: by function, the last kernel that reaches it.
fn reach(kernel: usize, named: &[Named], reached: &mut [Option<usize>], users: &mut [Vec<usize>]) {
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
        for f in &named[f].functions {
            open.push(*f as usize);
        }
    }
}

/// The end of the variables of a kernel.
#[derive(Default)]
struct End {
    /// Laid out together with other kernels.
    among: u64,
    /// If it were the only kernel.
    alone: u64,
}

/// Places a variable after those of all kernels that have it.
fn put(var: &mut Var, users: &[usize], ends: &mut [End]) {
    let (size, align) = (u64::from(var.size), u64::from(var.align.max(1)));
    let mut offset = 0u64;
    for k in users {
        offset = offset.max(ends[*k].among);
    }
    offset = offset.next_multiple_of(align);
    var.offset = u32::try_from(offset).unwrap_or(u32::MAX);
    for k in users {
        let end = &mut ends[*k];
        end.among = offset.saturating_add(size);
        end.alone = end.alone.next_multiple_of(align).saturating_add(size);
    }
}

impl Checker {
    /// Places the variables in `.shared`, and sets the size of each kernel and the largest of them for the module. Notes which
    /// kernels have dynamic ones.
    pub(super) fn lay_out_shared(&mut self) {
        let mut any = false;
        // The kernels that reach each variable.
        let mut users: Vec<Vec<usize>> = Vec::with_capacity(self.out.vars.len());
        for v in &self.out.vars {
            any |= is_static(v) || is_dynamic(v) || v.rust.is_some();
            users.push(Vec::new());
        }
        if !any {
            return;
        }
        let functions = &mut self.out.functions;
        let (mut named, mut reached, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for f in functions.iter() {
            named.push(Named::of(f));
            reached.push(None);
            ends.push(End::default());
        }
        for (var, function) in &self.shared_of {
            named[function.0 as usize].vars.push(var.0);
        }
        for (kernel, f) in functions.iter().enumerate() {
            if f.entry {
                reach(kernel, &named, &mut reached, &mut users);
            }
        }
        for (v, var) in self.out.vars.iter_mut().enumerate() {
            if is_static(var) {
                put(var, &users[v], &mut ends);
            } else if is_dynamic(var) {
                users[v].iter().for_each(|kernel| functions[*kernel].dynamic_shared = true);
            }
        }
        let limit = limit(self.target);
        for (f, function) in functions.iter_mut().enumerate() {
            function.shared_size = u32::try_from(ends[f].among).unwrap_or(u32::MAX);
            self.out.shared_size = self.out.shared_size.max(function.shared_size);
            if ends[f].alone > limit {
                self.diags.push(errors::shared_size(function.span, &function.name, ends[f].alone, limit));
            }
        }
        self.lay_out_rust_shared(&users, limit, &ends.iter().map(|end| end.alone).collect::<Vec<_>>());
    }
}
