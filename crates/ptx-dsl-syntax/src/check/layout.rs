//! Layout of local memory and of static shared memory (PTX ISA 5.1.5, 5.1.7). A kernel has the variables that it and the functions
//! it calls declare, and those of the module that they name. Those of different kernels overlap. Dynamic shared variables begin where
//! the static ones end.

use super::Checker;
use crate::check::errors;
use ptx_dsl_isa::hir::{Base, Function, Operand, Space, Stmt, Var, VarId};
use ptx_dsl_isa::isa::sreg::special;
use ptx_dsl_isa::isa::target::{Suffix, Target};

/// The limit of static shared memory of a kernel in ptxas 13.5: all of a multiprocessor's for `sm_90a` and similar targets.
fn limit(target: Option<&Target>) -> u64 {
    match target {
        Some(Target { suffix: Suffix::Exact, number: 120.., .. }) => 99 * 1024,
        Some(Target { suffix: Suffix::Exact, .. }) => 227 * 1024,
        _ => 48 * 1024,
    }
}

/// What a function declares and names, repeated or not.
struct Named {
    vars: Vec<u32>,
    functions: Vec<u32>,
    wants: Wants,
}

/// What special registers a function reads that give the address of memory.
#[derive(Clone, Copy, Default)]
struct Wants {
    /// That of a cooperative launch.
    cooperative: bool,
    /// Reserved shared memory.
    reserved: bool,
}

impl Named {
    fn of(function: &Function) -> Self {
        let parameters = function.params.iter().chain(&function.rets).filter_map(|p| p.var);
        let mut named =
            Named { vars: parameters.map(|v| v.0).collect(), functions: Vec::new(), wants: Wants::default() };
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
            Operand::Sreg(special::envreg1 | special::envreg2) => self.wants.cooperative = true,
            Operand::Sreg(register) if special::RESERVED.contains(register) => self.wants.reserved = true,
            Operand::Funcs(list) => self.functions.extend(list.iter().map(|f| f.0)),
            _ => {}
        });
    }
}

/// Is it in `.shared`, with a size?
fn is_static(v: &Var) -> bool {
    v.space == Space::Shared && !v.is_open()
}

/// Is it in the local memory of a thread?
fn is_local(v: &Var) -> bool {
    matches!(v.space, Space::Local | Space::ParamFunc) && !v.is_open()
}

/// Does the launch give its size?
fn is_dynamic(v: &Var) -> bool {
    v.space == Space::Shared && v.dynamic
}

/// Records the kernel with each variable that it reaches. `reached`: by function, the last kernel that reaches it.
fn reach(kernel: usize, named: &[Named], reached: &mut [Option<usize>], users: &mut [Vec<usize>]) -> Wants {
    let (mut open, mut wants) = (vec![kernel], Wants::default());
    while let Some(f) = open.pop() {
        if reached[f].replace(kernel) == Some(kernel) {
            continue;
        }
        wants.cooperative |= named[f].wants.cooperative;
        wants.reserved |= named[f].wants.reserved;
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
    wants
}

/// The end of the variables of a kernel.
#[derive(Default, Clone)]
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
    /// Places the variables of kernels. Sets the sizes of each kernel's shared and local memory, and the largest of the shared ones
    /// for the module. Notes which kernels have dynamic or reserved shared memory, and which
    /// want a cooperative launch.
    pub(super) fn lay_out(&mut self) {
        let functions = &mut self.out.functions;
        let mut named: Vec<_> = functions.iter().map(Named::of).collect();
        for (var, function) in &self.declared_in {
            named[function.0 as usize].vars.push(var.0);
        }
        // The kernels that reach each variable.
        let mut users = vec![Vec::new(); self.out.vars.len()];
        let mut reached = vec![None; functions.len()];
        for (kernel, f) in functions.iter_mut().enumerate().filter(|(_, f)| f.entry) {
            let wants = reach(kernel, &named, &mut reached, &mut users);
            (f.cooperative, f.reserved_shared) = (wants.cooperative, wants.reserved);
        }
        // Functions that no kernel calls lay out their variables together.
        let others = functions.len();
        for (_, named) in reached.iter().zip(&named).filter(|(reached, _)| reached.is_none()) {
            for v in named.vars.iter().map(|v| *v as usize).filter(|v| is_local(&self.out.vars[*v])) {
                if users[v].last() != Some(&others) {
                    users[v].push(others);
                }
            }
        }
        let (mut shared, mut local) = (vec![End::default(); others], vec![End::default(); others + 1]);
        for (var, users) in self.out.vars.iter_mut().zip(&users) {
            if is_static(var) {
                put(var, users, &mut shared);
            } else if is_local(var) {
                put(var, users, &mut local);
            } else if is_dynamic(var) {
                users.iter().for_each(|kernel| functions[*kernel].dynamic_shared = true);
            }
        }
        let limit = limit(self.target);
        for (f, function) in functions.iter_mut().enumerate() {
            function.local_end = u32::try_from(local[f].among).unwrap_or(u32::MAX);
            function.shared_size = u32::try_from(shared[f].among).unwrap_or(u32::MAX);
            self.out.shared_size = self.out.shared_size.max(function.shared_size);
            if shared[f].alone > limit {
                self.diags.push(errors::shared_size(function.span, &function.name, shared[f].alone, limit));
            }
        }
        let alone: Vec<_> = shared.iter().map(|end| end.alone).collect();
        self.lay_out_rust_shared(&users, limit, &alone);
    }
}
