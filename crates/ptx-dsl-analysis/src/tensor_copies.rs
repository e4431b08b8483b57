//! The tensor copies of a kernel by each of its tensor maps: how many dimensions the map has, and how many bytes a copy has room for in
//! shared memory, up to where the next copy begins.

use crate::flow::Flow;
use crate::provenance::{AddressBase, Provenance};
use crate::reachable::{Query, reachable};
use crate::region::{address, constant_part};
use ptx_dsl_isa::hir::{Base, Function, Instr, Module, Operand, Space, VarId};
use ptx_dsl_isa::qualifier::{Qualifier, q};

/// The facts about a tensor map that its copies tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MapUse {
    /// The dimensions of the tensor.
    pub rank: usize,
    /// The bytes from the start of a copy to that of the next one in the same variable, if they are known and always the same.
    pub bytes: Option<u64>,
    /// Does the copy bring data to shared memory?
    pub loads: bool,
}

const RANKS: [Qualifier; 5] = [q::_1d, q::_2d, q::_3d, q::_4d, q::_5d];

/// The dimensions of the tensor that an instruction names.
pub fn rank(i: &Instr) -> Option<usize> {
    (1..).zip(RANKS).find(|(_, rank)| i.has(*rank)).map(|(rank, _)| rank)
}

/// A copy between a tensor and shared memory.
struct Copy<'h> {
    at: u32,
    parameter: usize,
    rank: usize,
    var: VarId,
    memory: &'h Operand,
    loads: bool,
}

/// By parameter of the kernel; `None` if it is no tensor map that a copy names, and no pointer to one.
pub fn map_uses(module: &Module, kernel: &Function) -> Vec<Option<MapUse>> {
    let mut uses = vec![None; kernel.params.len()];
    let Some(flow) = Flow::new(module, kernel) else { return uses };
    let provenance = Provenance::new(&flow);
    let copies: Vec<Copy> = flow.walk().filter_map(|(_, at, i)| copy(&flow, &provenance, at, i)).collect();
    let starts = starts(&flow, &copies);
    for copy in &copies {
        let of_constants = || constant_gap(&flow, &copies, copy);
        let bytes = starts.as_ref().and_then(|starts| gap(starts, copy)).or_else(of_constants);
        let new = MapUse { rank: copy.rank, bytes, loads: copy.loads };
        let old = uses[copy.parameter].get_or_insert(new);
        // several copies by one map: the smallest room
        old.bytes = [old.bytes, bytes].into_iter().flatten().min();
    }
    uses
}

fn copy<'h>(flow: &Flow<'h>, provenance: &Provenance, at: u32, i: &'h Instr) -> Option<Copy<'h>> {
    let (map, rank) = (i.operand("tensorMap")?, rank(i)?);
    let parameter = match address(flow, provenance, at, &map.value)?.0.base {
        AddressBase::Var(param) => flow.function.params.iter().position(|p| p.var == Some(param))?,
        // a map in global memory
        AddressBase::Pointer(parameter) => parameter as usize,
        AddressBase::None => return None,
    };
    let (memory, loads) = match (i.operand("dstMem"), i.operand("srcMem")) {
        (Some(into), _) => (&into.value, true),
        (_, Some(from)) => (&from.value, false),
        _ => return None,
    };
    let (place, _) = address(flow, provenance, at, memory)?;
    match place.base {
        AddressBase::Var(var) if place.space == Space::Shared => Some(Copy { at, parameter, rank, var, memory, loads }),
        _ => None,
    }
}

/// The start of the copies: the variable, the offset and the instruction. `None` if one is unknown.
fn starts(flow: &Flow, copies: &[Copy]) -> Option<Vec<(VarId, i64, u32)>> {
    let mut queries = Vec::new();
    for copy in copies {
        if let Operand::Address(Base::Reg(r), _) = copy.memory {
            queries.push(Query::new(copy.at, vec![flow.ssa.read(copy.at, *r, 0)]));
        }
    }
    if !queries.is_empty() && !reachable(flow, &mut queries) {
        return None;
    }
    let mut starts = Vec::new();
    for copy in copies {
        let Operand::Address(base, offset) = copy.memory else { continue };
        let found = queries.iter().find(|query| query.at == copy.at).map_or(&[][..], |query| &query.found);
        let places: Vec<i64> = match base {
            Base::Reg(_) => found.iter().filter_map(|f| Some(i64::from(f[0]? as i32) + offset)).collect(),
            _ => vec![*offset],
        };
        starts.extend(places.into_iter().map(|place| (copy.var, place, copy.at)));
    }
    Some(starts)
}

/// The bytes to the next start at another constant from the same unknown address.
fn constant_gap(flow: &Flow, copies: &[Copy], copy: &Copy) -> Option<u64> {
    let part = |copy: &Copy| match copy.memory {
        Operand::Address(Base::Reg(r), offset) => {
            let (root, constant) = constant_part(flow, flow.ssa.read(copy.at, *r, 0));
            Some((root, constant + offset))
        }
        _ => None,
    };
    let (root, from) = part(copy)?;
    let others = copies.iter().filter_map(part).filter(|(other, to)| *other == root && *to > from);
    others.map(|(_, to)| (to - from) as u64).min()
}

/// The fewest bytes from a start of the copy to the next start.
fn gap(starts: &[(VarId, i64, u32)], copy: &Copy) -> Option<u64> {
    let own = starts.iter().filter(|(_, _, at)| *at == copy.at);
    let next = |&(var, from, _): &(VarId, i64, u32)| {
        starts.iter().filter(|(other, to, _)| *other == var && *to > from).map(|(_, to, _)| (to - from) as u64).min()
    };
    own.filter_map(next).min()
}
