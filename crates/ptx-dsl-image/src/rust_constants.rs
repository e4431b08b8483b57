//! Rust constants as the engines see them: values in the `.const` bank, which const evaluation fills. An instruction loads those that
//! it takes into registers. So images and compiled code do not depend on the values, and all instances of a kernel share them.

use ptx_dsl_isa::constant::{Const, ConstId, Constants};
use ptx_dsl_isa::hir::{
    Arg, Base, Function, GLOBALS, Instr, Module, Operand, Patch, Reg, RegId, Space, Stmt, Var, VarId,
};
use ptx_dsl_isa::isa::Role;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::{Qualifier, q};
use ptx_dsl_isa::ty::Ty;
use std::collections::BTreeMap;

/// Bytes of a value in the bank.
const WORD: u32 = 8;

/// A value in the bank: an expression, plus an offset; of a floating-point number the bits of an `f32` (`single`) or an `f64`.
type Value = (ConstId, i64, bool);

/// The values that the code of a module takes.
struct Bank {
    var: VarId,
    /// The constants with their number in the bank.
    values: BTreeMap<Value, u32>,
}

/// Replaces Rust constants, and the addresses of variables that depend on them, by registers.
pub fn lower(module: &mut Module) {
    let var = VarId(module.vars.len() as u32);
    let mut bank = Bank { var, values: BTreeMap::new() };
    for function in &mut module.functions {
        for stmt in std::mem::take(&mut function.body) {
            let Stmt::Instr(mut instr) = stmt else {
                function.body.push(stmt);
                continue;
            };
            let place = instr.clone();
            for arg in &mut instr.operands {
                let generic = crate::instr::is_generic(&place, arg);
                let (ty, vars) = (arg.ty, &module.vars);
                arg.value.visit_mut(&mut |operand| {
                    let Some((value, ty)) = needed(vars, operand, ty, generic) else { return };
                    let register = bank.load(function, value, ty, &place);
                    *operand = match operand {
                        Operand::Address(..) => Operand::Address(Base::Reg(register), 0),
                        _ => Operand::Reg(register, 0),
                    };
                });
            }
            function.body.push(Stmt::Instr(instr));
        }
    }
    bank.finish(module);
}

/// The value that an operand takes from the bank, and its type.
fn needed(vars: &[Var], operand: &Operand, ty: Option<Ty>, generic: bool) -> Option<(Value, Ty)> {
    let layout = |var: &VarId| vars[var.0 as usize].rust;
    let space = |var: &VarId| vars[var.0 as usize].space;
    let first = |var: &VarId| if space(var) == Space::Global { GLOBALS.cast_signed() } else { 0 };
    match operand {
        Operand::Rust(id) => {
            let ty = match ty.map_or(64, Ty::bits) {
                8 | 16 => Ty::B16,
                32 => Ty::B32,
                _ => Ty::B64,
            };
            Some(((*id, 0, ty == Ty::B32), ty))
        }
        Operand::VarAddr(var, offset) => {
            let ty = if ty.map_or(64, Ty::bits) == 32 { Ty::B32 } else { Ty::B64 };
            Some(((layout(var)?.offset, offset.wrapping_add(first(var)), false), ty))
        }
        Operand::Address(Base::Var(var), offset) => {
            let window = if generic { u64::from(crate::kernel::window(space(var))) << 56 } else { 0 };
            let offset = offset.wrapping_add(window.cast_signed()).wrapping_add(first(var));
            Some(((layout(var)?.offset, offset, false), Ty::B64))
        }
        _ => None,
    }
}

impl Bank {
    /// Appends a load of the value.
    fn load(&mut self, function: &mut Function, value: Value, ty: Ty, place: &Instr) -> RegId {
        let next = self.values.len() as u32;
        let number = *self.values.entry(value).or_insert(next);
        function.regs.push(Reg { name: String::new(), ty, lanes: 1 });
        let register = RegId(function.regs.len() as u32 - 1);
        let Some(entry) = op::ld.entries().next() else { return register };
        let arg = |name, role, value| Arg { name, role, ty: Some(ty), value, span: place.span };
        let address = Operand::Address(Base::Var(self.var), i64::from(WORD * number));
        let operands = vec![arg("d", Role::Dst, Operand::Reg(register, 0)), arg("a", Role::Addr, address)];
        let quals = [q::_const].into_iter().chain(Qualifier::from_word(ty.name())).collect();
        function.body.push(Stmt::Instr(Box::new(Instr::made(entry, quals, vec![ty], operands, place))));
        register
    }

    /// Adds the bank to the module.
    fn finish(self, module: &mut Module) {
        let offset = (module.const_image.len() as u32).next_multiple_of(WORD);
        let size = WORD * self.values.len() as u32;
        module.const_image.resize((offset + size) as usize, 0);
        if let Some((begin, _)) = module.const_open {
            module.constants.set(begin, Const::unsigned(u64::from(offset + size)));
        }
        module.vars.push(Var {
            name: String::new(),
            space: Space::Const,
            offset,
            size,
            align: WORD,
            ty: Ty::B64,
            array: true,
            dynamic: false,
            of_module: true,
            rust: None,
        });
        for ((id, plus, single), number) in self.values {
            let value = if plus == 0 { id } else { plus_offset(&mut module.constants, id, plus) };
            module.const_patches.push(Patch { var: None, at: offset + WORD * number, width: WORD, value, single });
        }
    }
}

fn plus_offset(constants: &mut Constants, id: ConstId, plus: i64) -> ConstId {
    let span = constants.span(id);
    let offset = constants.number(plus.cast_unsigned(), span);
    constants.int("+", id, offset)
}
