//! The addresses that instructions use, and how: which state space, how many bytes, reading or writing.

use super::memory::{bytes, constant};
use super::provenance::space;
use ptx_dsl_table::hir::{Arg, Instr};
use ptx_dsl_table::isa::Role;

/// What kind of address an operand is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind<'h> {
    /// In the space that the qualifier names.
    In(&'h str),
    /// Generic.
    Generic,
    /// Generic, of an object in shared memory.
    Object,
    /// In shared memory, in either form.
    Shared,
    /// Generic, of what a tensor's map may lie in: global memory, constants, parameters.
    Map,
}

/// How an instruction uses one of its addresses.
pub(super) struct Access<'h> {
    pub arg: &'h Arg,
    pub kind: Kind<'h>,
    /// Reaches the shared memory of the own CTA only.
    pub own: bool,
    pub writes: bool,
    /// In bytes; 0 if that is not known.
    pub size: u32,
    /// In bytes.
    pub align: u32,
}

fn own(kind: Kind) -> bool {
    matches!(kind, Kind::In(".shared::cta" | ".shared"))
}

/// Calls `each` with the accesses of an instruction to memory that has a state space.
pub(super) fn accesses<'h>(i: &'h Instr, each: &mut dyn FnMut(Access<'h>)) {
    let mut spaces = Vec::new();
    for q in &i.quals {
        if q == ".param::func" && spaces.is_empty() {
            return;
        }
        if space(q).is_some() || q == ".param::func" {
            spaces.push(q.as_str());
        }
    }
    in_spaces(i, &spaces, each);
}

/// `spaces`: the qualifiers that name one.
fn in_spaces<'h>(i: &'h Instr, spaces: &[&'h str], each: &mut dyn FnMut(Access<'h>)) {
    let op = i.entry.opcode;
    let kind = |k: usize| match spaces.get(k) {
        Some(q) => Kind::In(q),
        None => Kind::Generic,
    };
    let object = if spaces.is_empty() { Kind::Object } else { kind(0) };
    let mut add = |name: &str, kind: Kind<'h>, own: bool, writes: bool, size: u64, align: u32| {
        for arg in &i.operands {
            if arg.name == name && arg.role == Role::Addr {
                let size = u32::try_from(size).unwrap_or(0);
                each(Access { arg, kind, own, writes, size, align: align.max(1) });
                break;
            }
        }
    };
    match op {
        "ld" | "ldu" | "st" | "atom" | "red" => {
            let size = bytes(i);
            add("a", kind(0), own(kind(0)), !matches!(op, "ld" | "ldu"), size, size as u32);
        }
        "ldmatrix" | "stmatrix" => {
            let a = op == "stmatrix" && matches!(i.operand("a"), Some(a) if a.role == Role::Addr);
            add(if a { "a" } else { "p" }, kind(0), own(kind(0)), op == "stmatrix", 16, 16);
        }
        "st.bulk" => add("a", kind(0), own(kind(0)), true, constant(i, "size").unwrap_or(0), 8),
        "clusterlaunchcontrol.try_cancel" => {
            add("addr", object, true, true, 16, 16);
            add("mbar", object, true, false, 8, 8);
        }
        "mbarrier.init" | "mbarrier.inval" | "mbarrier.test_wait" | "mbarrier.try_wait" => {
            add("addr", object, true, false, 8, 8);
        }
        _ if op.starts_with("mbarrier.") => add("addr", object, own(object), false, 8, 8),
        "cp.async.mbarrier.arrive" => add("addr", object, true, false, 8, 8),
        "cp.async" => {
            let bytes = constant(i, "cp-size").unwrap_or(0);
            let partly = i.operand("src-size").is_some() || i.operand("ignore-src").is_some();
            add("dst", kind(0), true, true, bytes, bytes as u32);
            add("src", kind(1), false, false, if partly { 0 } else { bytes }, bytes as u32);
        }
        "cp.async.bulk" | "cp.reduce.async.bulk" if spaces.len() == 2 => {
            let by_cta = i.has(".ignore_oob");
            let partly = by_cta || i.has(".cp_mask");
            let bytes = if partly { 0 } else { constant(i, "size").unwrap_or(0) };
            add("dstMem", kind(0), own(kind(0)), true, bytes, 16);
            add("srcMem", kind(1), own(kind(1)), false, bytes, if by_cta { 1 } else { 16 });
            add("mbar", Kind::Shared, own(kind(0)), false, 8, 8);
        }
        "cp.async.bulk.tensor" | "cp.reduce.async.bulk.tensor" => {
            add("dstMem", kind(0), own(kind(0)), true, 0, alignment(i, "dstMem"));
            add("srcMem", kind(1), own(kind(1)), false, 0, alignment(i, "srcMem"));
            add("tensorMap", Kind::Map, false, false, 128, 64);
            if i.operand("dstMem").is_some() {
                add("mbar", Kind::Shared, own(kind(0)) && !i.has(".cta_group::2"), false, 8, 8);
            }
        }
        "cp.async.bulk.prefetch.tensor" => add("tensorMap", Kind::Map, false, false, 128, 64),
        "st.async" | "red.async" if i.operand("mbar").is_some() => {
            add("a", Kind::Shared, false, true, 0, 4);
            add("mbar", Kind::Shared, false, false, 8, 8);
        }
        "tensormap.replace" => add("addr", kind(0), own(kind(0)), true, 128, 128),
        "tensormap.cp_fenceproxy" => {
            add("dst", kind(0), false, true, 128, 128);
            add("src", kind(1), own(kind(1)), false, 128, 128);
        }
        _ if op == "wmma" || op.starts_with("wmma.") => {
            add("p", kind(0), own(kind(0)), op.contains("store"), 0, 1);
        }
        _ => {}
    }
}

/// What the table says of an operand's alignment.
fn alignment(i: &Instr, name: &str) -> u32 {
    for spec in i.entry.operands {
        if spec.name == name {
            return spec.align;
        }
    }
    0
}
