//! Accesses against where their addresses come from: state spaces, `cvta`, read-only parameters, ends of variables, alignment.

use super::Flow;
use super::accesses::{Access, Kind, accesses};
use super::cfg::NONE;
use super::memory::{MOST, address, bytes, constant, region};
use super::provenance::{Address, From, Origin, Provenance, space};
use crate::errors::flow as errors;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::{Base, Instr, Operand, Space};
use ptx_dsl_table::isa::Role;

pub(super) fn check(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    read_only(flow, from, out);
    let block_of = std::cell::Cell::new(0);
    // Blocks that every thread comes through.
    let mut always = vec![false; flow.cfg.blocks.len()];
    let mut b = 0;
    while !always[b as usize] {
        always[b as usize] = true;
        match flow.cfg.ipdom[b as usize] {
            NONE => break,
            next => b = next,
        }
    }
    flow.walk(
        |b| block_of.set(b),
        |at, i| {
            if matches!(i.entry.opcode, "cvta" | "mapa" | "getctarank") {
                conversion(flow, from, at, i, out);
                return;
            }
            let sure = always[block_of.get() as usize] && i.pred.is_none();
            apart(flow, from, at, i, sure, out);
            for access in accesses(i) {
                // A tensor's map stands before the coordinates.
                let operand = match &access.arg.value {
                    Operand::Addresses(list) => list.first(),
                    o => Some(o),
                };
                let found = match operand {
                    Some(Operand::Address(Base::Reg(r), offset)) => Some((*r, 0, *offset)),
                    Some(Operand::Reg(r, lane)) => Some((*r, *lane, 0)),
                    Some(Operand::Address(Base::Var(v), offset)) => {
                        bounds_of_variable(flow, *v, *offset, &access, out);
                        None
                    }
                    _ => None,
                };
                let found = found.and_then(|(r, lane, offset)| {
                    let address = from.address(flow.ssa.read(at, r, lane))?;
                    Some((address, offset, flow.name(flow.ssa.var(r, lane)).to_string()))
                });
                if let Some((address, offset, name)) = found {
                    one(flow, &access, address, offset, &name, sure, out);
                }
            }
        },
    );
}

fn word(space: Space) -> &'static str {
    match space {
        Space::Global => ".global",
        Space::Const => ".const",
        Space::Shared => ".shared",
        Space::Local => ".local",
        Space::ParamEntry | Space::ParamFunc => ".param",
    }
}

fn whose(flow: &Flow, a: &Address) -> Option<String> {
    match a.base {
        Origin::Var(v) => flow.module.vars.get(v.0 as usize).map(|v| v.name.clone()),
        Origin::Pointer(n) => flow.function.params.get(n as usize).map(|p| p.name.clone()),
        Origin::None => None,
    }
}

fn one(flow: &Flow, access: &Access, a: Address, offset: i64, name: &str, always: bool, out: &mut Vec<Diagnostic>) {
    let span = access.arg.span;
    let by = flow.cfg.instrs.get(a.by as usize).map(|i| i.span);
    let is = word(a.space);
    let of = whose(flow, &a);
    let global = a.space == Space::Global;
    match access.kind {
        Kind::In(q) => {
            let wanted = space(q);
            if wanted != Some(a.space) {
                out.push(errors::space_of_register(span, name, is, a.generic, q, of.as_deref(), by));
                return;
            }
            if a.generic && !global {
                out.push(errors::generic_in_space(span, name, is, q, by));
                return;
            }
        }
        Kind::Generic | Kind::Object | Kind::Map if !a.generic && !global => {
            out.push(errors::native_as_generic(span, name, is, of.as_deref(), by));
            return;
        }
        Kind::Object | Kind::Shared if a.space != Space::Shared => {
            out.push(errors::object_elsewhere(span, name, is, of.as_deref(), by));
            return;
        }
        Kind::Map if matches!(a.space, Space::Shared | Space::Local) => {
            out.push(errors::map_elsewhere(span, name, is, of.as_deref(), by));
            return;
        }
        Kind::Generic | Kind::Object | Kind::Map | Kind::Shared => {}
    }
    if a.mapped && access.own {
        let clusters = flow.function.reqnctapercluster.is_some_and(|d| d.iter().any(|n| *n > 1));
        let map = flow.cfg.instrs.get(a.map as usize);
        let fixed = map.and_then(|i| i.operand("b")).is_some_and(|r| matches!(r.value, Operand::Imm(_)));
        let by = map.map(|i| i.span).or(by);
        out.push(errors::mapped_used_as_own(span, name, by, clusters && fixed && always && flow.function.entry));
        return;
    }
    if access.writes && matches!(a.space, Space::Const | Space::ParamEntry) {
        out.push(errors::read_only_space(span, name, is, of.as_deref(), by));
        return;
    }
    if let Origin::Pointer(n) = a.base
        && let Some(p) = flow.function.params.get(n as usize)
        && p.read_only
        && access.writes
    {
        out.push(errors::read_only_parameter(span, &p.name, p.rust_type));
        return;
    }
    let Some(total) = a.offset.and_then(|o| o.checked_add(offset)) else { return };
    let base_align = match a.base {
        Origin::Var(v) => {
            let Some(var) = flow.module.vars.get(v.0 as usize) else { return };
            // An mbarrier at a crooked address is not there for more reasons than where the variable ends.
            let crooked = var.align >= access.align && total.rem_euclid(i64::from(access.align)) != 0;
            if !crooked && past(var.size, var.dynamic, total, access.size) {
                out.push(errors::past_the_end(span, &var.name, total, access.size, var.size));
                return;
            }
            var.align
        }
        Origin::Pointer(n) => flow.function.params.get(n as usize).and_then(|p| p.ptr).map_or(1, |p| p.1),
        Origin::None => return,
    };
    if base_align >= access.align && total.rem_euclid(i64::from(access.align)) != 0 {
        let of = of.unwrap_or_default();
        out.push(errors::misaligned_register(span, name, &of, total, access.align));
    }
}

fn past(size: u32, dynamic: bool, offset: i64, access: u32) -> bool {
    if dynamic || size == 0 || access == 0 {
        return false;
    }
    offset < 0 || offset.saturating_add(i64::from(access)) > i64::from(size)
}

fn bounds_of_variable(
    flow: &Flow,
    id: ptx_dsl_table::hir::VarId,
    offset: i64,
    access: &Access,
    out: &mut Vec<Diagnostic>,
) {
    let Some(var) = flow.module.vars.get(id.0 as usize) else { return };
    if var.space != Space::ParamFunc && past(var.size, var.dynamic, offset, access.size) {
        out.push(errors::past_the_end(access.arg.span, &var.name, offset, access.size, var.size));
    }
}

/// A copy and the mbarrier that it completes on, in two CTAs.
fn apart(flow: &Flow, from: &Provenance, at: u32, i: &Instr, sure: bool, out: &mut Vec<Diagnostic>) {
    let data = i.operand("dstMem").or_else(|| i.operand("a").filter(|_| i.entry.opcode.ends_with(".async")));
    let (Some(data), Some(mbar)) = (data, i.operand("mbar")) else { return };
    // Of a pair of CTAs either may have it.
    if i.has(".cta_group::2") {
        return;
    }
    let at_address = |o: &Operand| address(flow, from, at, o).map(|a| a.0).filter(|a| a.space == Space::Shared);
    let (Some(a), Some(b)) = (at_address(&data.value), at_address(&mbar.value)) else { return };
    let rank = |a: &Address| flow.cfg.instrs.get(a.map as usize).and_then(|i| constant(i, "b"));
    let differ = match (a.mapped, b.mapped) {
        (true, true) => rank(&a).zip(rank(&b)).is_some_and(|(a, b)| a != b),
        (true, false) | (false, true) => true,
        (false, false) => false,
    };
    if differ {
        let clusters = flow.function.reqnctapercluster.is_some_and(|d| d.iter().any(|n| *n > 1));
        let fixed = rank(if a.mapped { &a } else { &b }).is_some();
        let sure = clusters && fixed && sure && flow.function.entry;
        out.push(errors::apart(mbar.span, i.entry.opcode, data.span, sure || (a.mapped && b.mapped)));
    }
}

/// `cvta` takes an address in its own space, `cvta.to` a generic one; so does `mapa` with and without a space.
fn conversion(flow: &Flow, from: &Provenance, at: u32, i: &Instr, out: &mut Vec<Diagnostic>) {
    let Some(arg) = i.operand("a") else { return };
    let (a, name) = match &arg.value {
        Operand::Reg(r, lane) => {
            let v = flow.ssa.read(at, *r, *lane);
            (from.of.get(v as usize).copied(), flow.name(flow.ssa.var(*r, *lane)))
        }
        _ => return,
    };
    let Some(From::Address(a)) = a else { return };
    let is = word(a.space);
    let by = flow.cfg.instrs.get(a.by as usize).map(|i| i.span);
    let global = a.space == Space::Global;
    if i.entry.opcode != "cvta" {
        let in_space = i.has(".shared::cluster");
        if a.space != Space::Shared {
            out.push(errors::space_of_register(
                arg.span,
                name,
                is,
                a.generic,
                ".shared",
                whose(flow, &a).as_deref(),
                by,
            ));
        } else if in_space == a.generic {
            out.push(errors::mapa_form(arg.span, i.entry.opcode, name, a.generic, by));
        }
        return;
    }
    let to = i.spelling.starts_with("cvta.to.") || i.has(".to");
    let Some(q) = i.quals.iter().map(|q| q.trim_start_matches(".to")).find(|q| space(q).is_some()) else { return };
    if space(q) != Some(a.space) {
        out.push(errors::cvta_of_other_space(arg.span, name, is, q, by));
    } else if !global && to != a.generic {
        out.push(errors::cvta_direction(arg.span, name, is, to, by));
    }
}

/// `ld.global.nc` is for what the kernel leaves alone.
fn read_only(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let constant = |i: &Instr| i.entry.opcode == "ld" && i.has(".nc");
    if !flow.cfg.any(&constant) {
        return;
    }
    let mut loads = Vec::new();
    let mut stores = Vec::new();
    flow.walk(
        |_| {},
        |at, i| {
            let list = match i.entry.opcode {
                "st" | "atom" | "red" => &mut stores,
                _ if constant(i) => &mut loads,
                _ => return,
            };
            let arg = i.operand("a").filter(|a| a.role == Role::Addr);
            if let Some(r) = arg.and_then(|a| region(flow, from, at, a, bytes(i)))
                && r.space == Space::Global
                && list.len() < MOST
            {
                list.push((at, r));
            }
        },
    );
    for (at, load) in &loads {
        if let Some((store, _)) = stores.iter().find(|s| s.1.meets(flow, load)) {
            out.push(errors::not_read_only(flow.cfg.instrs[*at as usize].span, flow.cfg.instrs[*store as usize].span));
            return;
        }
    }
}
