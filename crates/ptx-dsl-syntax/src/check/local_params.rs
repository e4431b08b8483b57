//! Accesses of a `.param` variable of a body. `ld.param` reads the result of a call that stands before it: ptxas decides this by the
//! order of the text, not by the flow of control. Neither `ld.param` nor `st.param` of such a variable has a guard. ptxas refuses the
//! rest in kernels and in functions that the module calls.

use super::Checker;
use crate::check::errors;
use crate::diag::Diagnostic;
use ptx_dsl_isa::hir::{Arg, Base, FuncId, Function, Module, Operand, Space, Stmt, VarId};
use ptx_dsl_isa::isa::Role;
use ptx_dsl_isa::opcode::op;
use std::collections::HashSet;

impl Checker {
    /// Reports such accesses. A broken statement may have been a call.
    pub(super) fn loads_before_calls(&mut self) {
        let called: HashSet<u32> = self.out.functions.iter().flat_map(calls).collect();
        let whole = |id: u32| self.whole.binary_search(&FuncId(id)).is_ok();
        let compiled = (0..).zip(&self.out.functions).filter(|(id, f)| whole(*id) && (f.entry || called.contains(id)));
        let found: Vec<Diagnostic> = compiled.flat_map(|(_, f)| unreturned(&self.out, f)).collect();
        self.diags.extend(found);
    }
}

/// The functions that a function calls by name.
fn calls(function: &Function) -> impl Iterator<Item = u32> {
    function.body.iter().flat_map(|stmt| {
        let operands: &[Arg] = match stmt {
            Stmt::Instr(i) if i.opcode == op::call => &i.operands,
            _ => &[],
        };
        operands.iter().filter_map(|arg| match arg.value {
            Operand::Func(id) => Some(id.0),
            _ => None,
        })
    })
}

/// The errors of a function.
fn unreturned(module: &Module, function: &Function) -> Vec<Diagnostic> {
    let mut returned: HashSet<VarId> = HashSet::new();
    let own: HashSet<VarId> = function.params.iter().chain(&function.rets).filter_map(|param| param.var).collect();
    let mut found = Vec::new();
    for stmt in &function.body {
        let Stmt::Instr(i) = stmt else { continue };
        if i.opcode == op::call {
            returned.extend(i.operands.iter().filter(|arg| arg.role == Role::Dst).flat_map(variables));
        }
        let Some(&Arg { value: Operand::Address(Base::Var(var), _), span, .. }) = i.address() else { continue };
        let local = &module.vars[var.0 as usize];
        if local.space != Space::ParamFunc || own.contains(&var) {
            continue;
        }
        if i.pred.is_some() {
            found.push(errors::guarded_param(span, i.opcode.name(), &local.name));
        } else if i.opcode == op::ld && !returned.contains(&var) {
            found.push(errors::load_before_call(span, &local.name));
        }
    }
    found
}

/// The variables in the list of results of a call.
fn variables(arg: &Arg) -> Vec<VarId> {
    let Operand::List(list) = &arg.value else { return Vec::new() };
    let variable = |operand: &Operand| match operand {
        Operand::VarAddr(var, _) | Operand::Address(Base::Var(var), _) => Some(*var),
        _ => None,
    };
    list.iter().filter_map(variable).collect()
}
