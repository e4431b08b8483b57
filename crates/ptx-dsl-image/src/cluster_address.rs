//! Addresses of shared variables in kernels that reach other CTAs. In the shared window of a cluster such an address has the rank of
//! its CTA (5.1.4), and kernels change the rank: `and.b32 %r, %r, 0xFEFFFFFF` gives the even CTA of a pair. So the address of a
//! variable as a value becomes that of `mapa` with the rank of the executing CTA.

use ptx_dsl_isa::hir::{Arg, Function, Instr, Module, Operand, Reg, RegId, Space, Stmt};
use ptx_dsl_isa::isa::Role;
use ptx_dsl_isa::isa::sreg::special;
use ptx_dsl_isa::opcode::{Entry, op};
use ptx_dsl_isa::qualifier::{Qualifier, q};
use ptx_dsl_isa::ty::Ty;

/// Does the module have an instruction that reaches shared memory of other CTAs?
pub fn reaches_peers(module: &Module) -> bool {
    let peers = |stmt: &Stmt| matches!(stmt, Stmt::Instr(i) if i.has(q::shared_cluster) && i.opcode != op::mapa);
    module.functions.iter().any(|f| f.body.iter().any(peers))
}

/// Appends what computes the addresses that an instruction has as values, and puts registers in their place.
pub fn with_rank(module: &Module, function: &mut Function, i: &mut Instr) {
    if i.opcode == op::mapa {
        return;
    }
    for at in 0..i.operands.len() {
        let arg = &i.operands[at];
        let (Role::Src, Some(ty), Operand::VarAddr(var, _)) = (arg.role, arg.ty, &arg.value) else { continue };
        // one that a rewrite has added is not shared
        if module.vars.get(var.0 as usize).is_none_or(|v| v.space != Space::Shared) {
            continue;
        }
        let word = match ty.bits() {
            32 => Ty::U32,
            64 => Ty::U64,
            _ => continue,
        };
        let (Some(mov), Some(mapa)) = (op::mov.entries().next(), op::mapa.entries().next()) else { continue };
        let (rank, address) = (register(function, Ty::U32), register(function, word));
        let variable = std::mem::replace(&mut i.operands[at].value, address.clone());
        push(function, i, mov, &[], Ty::U32, &[rank.clone(), Operand::Sreg(special::cluster_ctarank)]);
        push(function, i, mapa, &[q::shared_cluster], word, &[address, variable, rank]);
    }
}

fn register(function: &mut Function, ty: Ty) -> Operand {
    function.regs.push(Reg { name: String::new(), ty, lanes: 1 });
    Operand::Reg(RegId(function.regs.len() as u32 - 1), 0)
}

/// Appends an instruction with operands of the type `ty` in the place of another.
fn push(function: &mut Function, place: &Instr, entry: Entry, quals: &[Qualifier], ty: Ty, values: &[Operand]) {
    let quals = quals.iter().copied().chain(Qualifier::from_word(ty.name())).collect();
    let specs = entry.instr.operands.iter().zip(values);
    let operands = specs
        .map(|(spec, value)| Arg {
            name: spec.name,
            role: spec.role,
            ty: Some(ty),
            value: value.clone(),
            span: place.span,
        })
        .collect();
    function.body.push(Stmt::Instr(Box::new(Instr::made(entry, quals, vec![ty], operands, place))));
}
