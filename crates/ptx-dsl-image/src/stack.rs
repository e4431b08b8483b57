//! The stack of `alloca`: a function that uses it restores the stack pointer when it returns.

use ptx_dsl_isa::hir::{Arg, Function, Instr, Operand, Reg, RegId, Stmt};
use ptx_dsl_isa::isa::Role;
use ptx_dsl_isa::isa::effect::Control;
use ptx_dsl_isa::opcode::{Opcode, op};
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::ty::Ty;

/// Does the function move or read the stack pointer?
pub fn uses(function: &Function) -> bool {
    function.body.iter().any(|stmt| matches!(stmt, Stmt::Instr(i) if i.entry.effects.stack))
}

/// Does the function have to restore it?
pub fn restores(function: &Function) -> bool {
    !function.entry && uses(function)
}

/// Saves the stack pointer at the start, and restores it before each return.
pub fn restore(function: &mut Function) {
    let body = std::mem::take(&mut function.body);
    let Some(first) = body.iter().find_map(instruction).cloned() else { return };
    function.regs.push(Reg { name: String::new(), ty: Ty::U64, lanes: 1 });
    let saved = RegId(function.regs.len() as u32 - 1);
    let falls_through = body.last().and_then(instruction).is_none_or(|last| !ends(last));
    function.body.extend(moves(op::stacksave, Role::Dst, saved, &first, false));
    for stmt in body {
        if let Some(i) = instruction(&stmt).filter(|i| i.entry.effects.control == Control::Return) {
            let i = i.clone();
            function.body.extend(moves(op::stackrestore, Role::Src, saved, &i, true));
        }
        function.body.push(stmt);
    }
    if falls_through {
        function.body.extend(moves(op::stackrestore, Role::Src, saved, &first, false));
    }
}

fn instruction(stmt: &Stmt) -> Option<&Instr> {
    if let Stmt::Instr(i) = stmt { Some(i) } else { None }
}

fn ends(i: &Instr) -> bool {
    i.entry.effects.control.ends_block(i.pred.is_some())
}

/// `stacksave` to or `stackrestore` from the register, in the place of an instruction, and with its guard if it is `guarded`.
fn moves(opcode: Opcode, role: Role, saved: RegId, place: &Instr, guarded: bool) -> Option<Stmt> {
    let entry = opcode.entries().next()?;
    let (name, value) = (entry.instr.operands[0].name, Operand::Reg(saved, 0));
    let operand = Arg { name, role, ty: Some(Ty::U64), value, span: place.span };
    let mut new = Instr::made(entry, vec![q::u64], vec![Ty::U64], vec![operand], place);
    new.pred = place.pred.clone().filter(|_| guarded);
    Some(Stmt::Instr(Box::new(new)))
}
