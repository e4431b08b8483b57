//! Video instructions: their selectors and signs become a constant, the last operand, so that all others are registers and constants.

use ptx_dsl_isa::hir::{Arg, Instr, Operand, Stmt};
use ptx_dsl_isa::isa::Role;
use ptx_dsl_isa::isa::video::{Modifiers, Selector};
use ptx_dsl_isa::ty::Ty;

/// Is it a video instruction?
pub fn is_video(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Instr(i) if i.entry.effects.selectors)
}

/// Makes the last operand.
pub fn with_modifiers(i: &mut Instr) {
    let mut modifiers = Modifiers::default();
    for arg in &mut i.operands {
        while let Some(inner) = bare(arg, &mut modifiers) {
            arg.value = inner;
        }
    }
    let value = Operand::Imm(modifiers.number());
    let (ty, span) = (Some(Ty::U64), i.span);
    i.operands.push(Arg { name: "modifiers", role: Role::Src, ty, value, span });
}

/// The operand without its outermost selector or sign.
fn bare(arg: &Arg, modifiers: &mut Modifiers) -> Option<Operand> {
    match &arg.value {
        Operand::Select(r, text) => {
            let selector = Selector::of(text);
            match arg.name {
                "d" => modifiers.d = selector,
                "a" => modifiers.a = selector,
                _ => modifiers.b = selector,
            }
            Some(Operand::Reg(*r, 0))
        }
        Operand::Neg(inner) => {
            match arg.name {
                "c" => modifiers.minus_c = true,
                _ => modifiers.minus_product = !modifiers.minus_product,
            }
            Some((**inner).clone())
        }
        _ => None,
    }
}
