//! The lane layout of results, from the layout of their operands.

use super::scalar_op::scalar_op;
use ptx_dsl_analysis::affine::lattice::{Affine, CTA_UNIFORM, UNIFORM, VARYING};
use ptx_dsl_analysis::affine::sreg;
use ptx_dsl_analysis::affine::transfer::{constant_rows, least_period};
use ptx_dsl_analysis::uniformity::{self, Uniformity};
use ptx_dsl_analysis::use_def::{carry_use, destinations, is_destination, sources};
use ptx_dsl_image::instr::{is_try_wait, is_uniform_for_uniform};
use ptx_dsl_image::kernel::Kernel;
use ptx_dsl_isa::hir::{Base, FuncId, Instr, Operand};
use ptx_dsl_isa::isa::Host;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// The lane layout of an operand; `None` if it is not known yet.
pub type Lookup<'a> = dyn Fn(&Operand) -> Option<Affine> + 'a;

/// The lane layout of an operand that is not a register.
pub fn constant_operand(kernel: &Kernel<'_>, f: FuncId, o: &Operand) -> Affine {
    match o {
        Operand::Imm(v) => Affine::constant(*v),
        Operand::FuncAddr(_) | Operand::Address(Base::Abs, _) => CTA_UNIFORM,
        Operand::VarAddr(v, _) | Operand::Address(Base::Var(v), _) if kernel.is_framed(f, *v) => VARYING,
        Operand::VarAddr(v, o) => Affine::constant(kernel.var_address(*v, *o)),
        Operand::Address(Base::Var(_), _) => UNIFORM,
        Operand::Sreg(register) => {
            let affine = sreg::affine(kernel.function.reqntid, *register);
            affine.with_uniformity(uniformity::special_register(*register))
        }
        _ => VARYING,
    }
}

/// The lane layout of an instruction's result. `None` if an operand is not known yet.
pub fn result(kernel: &Kernel<'_>, f: FuncId, i: &Instr, lookup: &Lookup<'_>) -> Option<Affine> {
    let scalar = scalar_op(kernel, f, i);
    if scalar.is_none() && is_uniform_for_uniform(i) {
        return result_for_uniform(i, lookup);
    }
    if i.pred.is_some() {
        return Some(VARYING);
    }
    let constant = |o: &Operand| if let Operand::Imm(v) = o { Some(*v) } else { None };
    let operands: Vec<_> = sources(i).iter().map(|a| (lookup(&a.value), constant(&a.value))).collect();
    let one_register = matches!(destinations(i)[..], [a] if matches!(a.value, Operand::Reg(..)));
    if !one_register || operands.iter().any(|(s, _)| s.is_some_and(|s| !s.is_affine())) {
        return Some(VARYING);
    }
    if i.opcode == op::ld {
        return load_result(kernel, f, i, operands.first()?.0?);
    }
    if (scalar.is_none() && i.entry.host != Host::Lane) || carry_use(i) != (false, false) {
        return Some(VARYING);
    }
    let known: Vec<_> = operands.iter().map(|(s, c)| Some(((*s)?, *c))).collect::<Option<_>>()?;
    if let Some(op) = scalar {
        return Some(op.transfer(&known));
    }
    let period = least_period(&known);
    let once_a_row =
        constant_rows(&known) && fits_words(kernel, f, i) && (period == 32 || !sets_predicate(kernel, f, i));
    Some(if once_a_row { UNIFORM.cut(period) } else { VARYING })
}

/// A load from an address that a row shares.
fn load_result(kernel: &Kernel<'_>, f: FuncId, i: &Instr, address: Affine) -> Option<Affine> {
    let same = kernel.loads_same_from_same(f, i) && address.is_affine() && address.stride == 0 && address.guards == 0;
    let parameter = match i.operands.get(1).map(|a| &a.value) {
        Some(Operand::Address(base, at)) => kernel.loaded_parameter(i, *base, *at).is_some(),
        _ => false,
    };
    Some(if same {
        Affine { known_align: 0, ..address }.with_uniformity(if parameter { Uniformity::Cta } else { Uniformity::Warp })
    } else {
        VARYING
    })
}

/// The results of an instruction that are uniform if all its operands are.
fn result_for_uniform(i: &Instr, lookup: &Lookup<'_>) -> Option<Affine> {
    let (dests, read): (Vec<_>, Vec<_>) = i.operands.iter().partition(|a| is_destination(a));
    let mut uniform = true;
    for o in read.iter().map(|a| &a.value).chain(i.pred.iter().map(|(p, _)| p)) {
        uniform &= lookup(o)?.is_uniform();
    }
    for o in dests.iter().flat_map(|a| a.value.parts()) {
        // lanes whose predicate is false keep the old value
        if i.pred.is_some() && matches!(o, Operand::Reg(..)) {
            uniform &= lookup(o).is_none_or(Affine::is_uniform);
        }
    }
    Some(if uniform { UNIFORM } else { VARYING })
}

/// The lane layout of a blocking instruction's result. `None` if an operand is not known yet.
pub fn blocking_result(i: &Instr, lookup: &Lookup<'_>) -> Option<Affine> {
    let to_register = matches!(i.operands.first().map(|a| &a.value), Some(Operand::Reg(..)));
    if !is_try_wait(i) || !i.has(q::parity) || destinations(i).len() != 1 || !to_register {
        return Some(VARYING);
    }
    // the object and the parity
    let mut uniform = true;
    for a in sources(i).iter().take(2) {
        uniform &= lookup(&a.value)?.is_uniform();
    }
    Some(if uniform { UNIFORM } else { VARYING })
}

fn sets_predicate(kernel: &Kernel<'_>, f: FuncId, i: &Instr) -> bool {
    destinations(i).iter().any(|a| matches!(a.value, Operand::Reg(r, _) if kernel.reg_bits(f, r) == 1))
}

/// Are all operands single values of at most 64 bits?
fn fits_words(kernel: &Kernel<'_>, f: FuncId, i: &Instr) -> bool {
    i.operands.iter().all(|a| match &a.value {
        Operand::Reg(r, _) => kernel.reg_bits(f, *r) <= 64,
        Operand::Vector(_) | Operand::Pair(..) | Operand::Addresses(_) | Operand::List(_) => false,
        _ => true,
    })
}
