//! Accesses against the provenance of their addresses: state spaces, `cvta`, read-only parameters, bounds of variables, alignment.

use crate::errors::addresses as errors;
use crate::kernel::Kernel;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::{Access, Kind, accesses, value_access};
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::provenance::{Address, AddressBase, space_of, sum};
use ptx_dsl_analysis::region::{MAX_REGIONS, address};
use ptx_dsl_isa::edit::Help;
use ptx_dsl_isa::hir::{Base, Instr, Operand, Param, Space, VarId};
use ptx_dsl_isa::isa::Role;
use ptx_dsl_isa::meaning::access::space;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::span::Span;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    read_only(kernel);
    // Blocks that post-dominate the entry: every thread executes them.
    let mut always = vec![false; flow.cfg.blocks.len()];
    let mut b = 0;
    while !always[b as usize] {
        always[b as usize] = true;
        match flow.cfg.ipdom[b as usize] {
            NONE => break,
            next => b = next,
        }
    }
    for (block, at, i) in flow.walk() {
        if matches!(i.opcode, op::cvta | op::mapa | op::getctarank) {
            conversion(kernel, at, i);
            continue;
        }
        let sure = always[block as usize] && i.pred.is_none();
        different_ctas(kernel, at, i, sure);
        accesses(i, &mut |access| accessed(kernel, at, &access, sure));
    }
}

fn accessed(kernel: &Kernel, at: u32, access: &Access, sure: bool) {
    let flow = kernel.flow;
    // The tensor map stands before the coordinates.
    let operand = match &access.arg.value {
        Operand::Addresses(list) => list.first(),
        o => Some(o),
    };
    let (r, lane, offset) = match operand {
        Some(Operand::Address(Base::Reg(r), offset)) => (*r, 0, *offset),
        Some(Operand::Reg(r, lane)) => (*r, *lane, 0),
        Some(Operand::Address(Base::Var(v), offset)) => {
            of_variable(kernel, *v, *offset, access);
            return;
        }
        _ => return,
    };
    if let Some(address) = kernel.provenance.address(flow.ssa.read(at, r, lane)) {
        check_address(kernel, access, address, offset, flow.register_name(flow.ssa.var(r, lane)), sure);
    }
}

fn word(space: Space) -> &'static str {
    let qualifier = match space {
        Space::Global => q::global,
        Space::Const => q::_const,
        Space::Shared => q::shared,
        Space::Local => q::local,
        Space::ParamEntry | Space::ParamFunc => q::param,
    };
    qualifier.text()
}

fn base_name<'h>(flow: &Flow<'h>, a: &Address) -> Option<&'h str> {
    Some(match a.base {
        AddressBase::Var(v) => &flow.module.vars.get(v.0 as usize)?.name,
        AddressBase::Pointer(n) => &flow.function.params.get(n as usize)?.name,
        AddressBase::None => return None,
    })
}

/// The span of an instruction, if there is one.
fn span(flow: &Flow, at: u32) -> Option<Span> {
    Some(flow.cfg.instrs.get(at as usize)?.span)
}

/// Is the kernel always launched with clusters of several CTAs?
fn clusters(flow: &Flow) -> bool {
    match flow.function.reqnctapercluster {
        Some([x, y, z]) => x > 1 || y > 1 || z > 1,
        None => false,
    }
}

/// The constant rank of the CTA that a `mapa` is for.
fn rank(flow: &Flow, a: &Address) -> Option<u64> {
    flow.cfg.instrs.get(a.map as usize)?.constant("b")
}

/// What to write in place of an address in another CTA.
fn own_address(access: &Access) -> Help {
    if access.takes(q::shared_cluster) {
        Help::write(".shared::cluster")
    } else if access.takes(q::multicast_cluster_all) {
        "use the address without `mapa`; `.multicast::cluster::all` reaches the same place in all CTAs of the cluster"
            .into()
    } else {
        "use the address without `mapa`, or let the CTA that owns the memory run this".into()
    }
}

fn check_address(kernel: &Kernel, access: &Access, a: Address, offset: i64, name: &str, always: bool) {
    let flow = kernel.flow;
    let span = access.arg.span;
    let by = self::span(flow, a.by);
    let is = word(a.space);
    let of = base_name(flow, &a);
    let global = a.space == Space::Global;
    match access.kind {
        Kind::In(q) => {
            let wanted = space(q);
            if wanted != Some(a.space) {
                kernel.report(errors::space_of_register(span, name, is, a.generic, q.text(), of, by));
                return;
            }
            if a.generic && !global {
                kernel.report(errors::generic_in_space(span, name, is, q.text(), by));
                return;
            }
        }
        Kind::Generic | Kind::Object | Kind::Map if !a.generic && !global => {
            let write = if a.space == Space::Shared { access.shared().text() } else { is };
            kernel.report(errors::native_as_generic(span, name, (is, write), of, by));
            return;
        }
        Kind::Object | Kind::Shared if a.space != Space::Shared => {
            kernel.report(errors::object_elsewhere(span, &errors::held(name, is, of), by));
            return;
        }
        Kind::Map if matches!(a.space, Space::Shared | Space::Local) => {
            kernel.report(errors::map_elsewhere(span, &errors::held(name, is, of), by));
            return;
        }
        Kind::Generic | Kind::Object | Kind::Map | Kind::Shared => {}
    }
    if a.mapped && access.own {
        let sure = clusters(flow) && rank(flow, &a).is_some() && always && flow.function.entry;
        let map = self::span(flow, a.map).or(by);
        kernel.report(if let Some(state) = access.own_for_result {
            errors::peer_returns_nothing(state.span, name, map, sure, access.entry.section)
        } else if matches!(access.kind, Kind::In(_)) {
            errors::mapped_in_own_window(span, name, map, sure, own_address(access))
        } else {
            let entry = access.entry;
            errors::mapped_used_as_own(span, name, map, sure, (entry.opcode, entry.section), own_address(access))
        });
        return;
    }
    if access.writes && matches!(a.space, Space::Const | Space::ParamEntry) {
        kernel.report(errors::read_only_space(span, name, is, of, by));
        return;
    }
    if let AddressBase::Pointer(n) = a.base
        && let Some(p) = flow.function.params.get(n as usize)
        && p.read_only
        && access.writes
    {
        kernel.report(errors::read_only_parameter(span, &p.name, p.rust_type));
        return;
    }
    let Some(total) = sum(a.offset, offset) else { return };
    let base_align = match a.base {
        AddressBase::Var(v) => {
            let Some(var) = flow.module.vars.get(v.0 as usize) else { return };
            // Misalignment is reported before the end of the variable.
            let misaligned = var.align >= access.align && total.rem_euclid(i64::from(access.align)) != 0;
            if !misaligned && past(var.size, var.is_open(), total, access.size) {
                // what a string holds decides how much of it is read
                let sure = always || !matches!(var.space, Space::Global | Space::Const);
                kernel.report(errors::past_the_end(span, (&var.name, var.size), (total, access.size), sure));
                return;
            }
            var.align
        }
        AddressBase::Pointer(n) => match flow.function.params.get(n as usize) {
            Some(Param { ptr: Some((_, align)), .. }) => *align,
            _ => 1,
        },
        AddressBase::None => return,
    };
    if base_align >= access.align && total.rem_euclid(i64::from(access.align)) != 0 {
        kernel.report(errors::misaligned_register(span, name, of.unwrap_or(""), total, access.align));
    }
}

fn past(size: u32, dynamic: bool, offset: i64, access: u32) -> bool {
    if dynamic || size == 0 || access == 0 {
        return false;
    }
    offset < 0 || offset.saturating_add(i64::from(access)) > i64::from(size)
}

/// An address that names a variable.
fn of_variable(kernel: &Kernel, id: VarId, offset: i64, access: &Access) {
    let Some(var) = kernel.flow.module.vars.get(id.0 as usize) else { return };
    let (span, is) = (access.arg.span, word(var.space));
    match access.kind {
        Kind::Object | Kind::Shared if var.space != Space::Shared => {
            kernel.report(errors::object_elsewhere(span, &errors::variable(&var.name, is), None));
            return;
        }
        Kind::Map if matches!(var.space, Space::Shared | Space::Local) => {
            kernel.report(errors::map_elsewhere(span, &errors::variable(&var.name, is), None));
            return;
        }
        _ => {}
    }
    if var.space != Space::ParamFunc && past(var.size, var.is_open(), offset, access.size) {
        kernel.report(errors::past_the_end(access.arg.span, (&var.name, var.size), (offset, access.size), true));
    }
}

/// A copy and the mbarrier that it completes on, in two CTAs.
fn different_ctas(kernel: &Kernel, at: u32, i: &Instr, sure: bool) {
    let Kernel { flow, provenance, .. } = *kernel;
    let data = i.operand("dstMem").or_else(|| i.operand("a"));
    let (Some(data), Some(mbar)) = (data, i.operand("mbar")) else { return };
    // Of a pair of CTAs either may have it.
    if i.has(q::cta_group_2) {
        return;
    }
    let (Some((a, _)), Some((b, _))) =
        (address(flow, provenance, at, &data.value), address(flow, provenance, at, &mbar.value))
    else {
        return;
    };
    if a.space != Space::Shared || b.space != Space::Shared {
        return;
    }
    let differ = match (a.mapped, b.mapped) {
        (true, true) => matches!((rank(flow, &a), rank(flow, &b)), (Some(a), Some(b)) if a != b),
        (check_address, other) => check_address || other,
    };
    if differ {
        let fixed = rank(flow, if a.mapped { &a } else { &b }).is_some();
        let sure = clusters(flow) && fixed && sure && flow.function.entry;
        kernel.report(errors::apart(mbar.span, i.entry.opcode, data.span, sure || (a.mapped && b.mapped)));
    }
}

/// `cvta` takes an address in its own space, `cvta.to` a generic one; so does `mapa` with and without a space.
fn conversion(kernel: &Kernel, at: u32, i: &Instr) {
    let flow = kernel.flow;
    let Some(arg) = i.operand("a") else { return };
    let Operand::Reg(r, lane) = &arg.value else { return };
    let Some(a) = kernel.provenance.address(flow.ssa.read(at, *r, *lane)) else { return };
    let name = flow.register_name(flow.ssa.var(*r, *lane));
    let is = word(a.space);
    let by = span(flow, a.by);
    let global = a.space == Space::Global;
    if i.opcode != op::cvta {
        let in_space = i.has(q::shared_cluster);
        if a.space != Space::Shared {
            kernel.report(errors::space_of_register(
                arg.span,
                name,
                is,
                a.generic,
                q::shared.text(),
                base_name(flow, &a),
                by,
            ));
        } else if in_space == a.generic {
            kernel.report(errors::mapa_form(arg.span, i.entry.opcode, name, a.generic, by));
        }
        return;
    }
    let to = i.has(q::to);
    let Some((q, space)) = space_of(i) else { return };
    if space != a.space {
        kernel.report(errors::cvta_of_other_space(arg.span, name, is, q.text(), by));
    } else if !global && to != a.generic {
        kernel.report(errors::cvta_direction(arg.span, name, is, to, by));
    } else if a.mapped && !to && matches!(q, q::shared | q::shared_cta) {
        // CUDA C++ has only `cvta.to.shared` for this conversion.
        kernel.report(errors::cvta_of_peer(arg.span, name, q.text(), span(flow, a.map).or(by)));
    }
}

/// `ld.global.nc` requires memory that the kernel does not write.
fn read_only(kernel: &Kernel) {
    let flow = kernel.flow;
    let constant = |i: &Instr| i.opcode == op::ld && i.has(q::nc);
    if !flow.cfg.any(&constant) {
        return;
    }
    let mut loads = Vec::new();
    let mut stores = Vec::new();
    for (_, at, i) in flow.walk() {
        let list = if constant(i) {
            &mut loads
        } else if value_access(i).stores() {
            &mut stores
        } else {
            continue;
        };
        if let Some(arg) = i.operand("a")
            && arg.role == Role::Addr
            && let Some(r) = kernel.region(at, arg, i.bytes())
            && r.space == Space::Global
            && list.len() < MAX_REGIONS
        {
            list.push((at, r));
        }
    }
    for (at, load) in &loads {
        for (store, to) in &stores {
            if to.overlaps(flow, load) {
                kernel.report(errors::not_read_only(flow.instr(*at).span, flow.instr(*store).span));
                return;
            }
        }
    }
}
