//! The addresses that instructions use, and how: which state space, how many bytes, reading or writing.

use super::memory::constant;
use super::provenance::space;
use ptx_dsl_table::hir::{Arg, Instr};
use ptx_dsl_table::isa::Role;
use ptx_dsl_table::list::List;

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

/// The accesses of an instruction to memory that has a state space.
pub(super) fn accesses(i: &Instr) -> Vec<Access<'_>> {
    let op = i.entry.opcode;
    let word = op.split('.').next().unwrap_or(op);
    let spaces: Vec<&str> =
        i.quals.iter().map(String::as_str).filter(|q| space(q).is_some() || *q == ".param::func").list();
    let kind = |k: usize| spaces.get(k).map_or(Kind::Generic, |q| Kind::In(q));
    if spaces.first() == Some(&".param::func") {
        return Vec::new();
    }
    let spec = |name: &str| i.entry.operands.iter().find(|s| s.name == name).map_or(0, |s| s.align);
    let mut out = Vec::new();
    let mut add = |name: &str, kind: Kind<'_>, own: bool, writes: bool, size: u64, align: u32| {
        if let Some(arg) = i.operands.iter().find(|a| a.name == name && a.role == Role::Addr) {
            // The qualifier is that of the instruction itself.
            let kind = match kind {
                Kind::In(q) => spaces.iter().find(|s| **s == q).map_or(Kind::Generic, |s| Kind::In(s)),
                Kind::Generic => Kind::Generic,
                Kind::Object => Kind::Object,
                Kind::Shared => Kind::Shared,
                Kind::Map => Kind::Map,
            };
            let size = u32::try_from(size).unwrap_or(0);
            out.push(Access { arg, kind, own, writes, size, align: align.max(1) });
        }
    };
    match op {
        "ld" | "ldu" | "st" | "atom" | "red" => {
            let n = [(".v2", 2), (".v4", 4), (".v8", 8)].iter().find(|v| i.has(v.0)).map_or(1, |v| v.1);
            let bytes = i.types.last().map_or(0, |t| t.bytes() * n);
            add("a", kind(0), own(kind(0)), !matches!(op, "ld" | "ldu"), bytes.into(), bytes);
        }
        "ldmatrix" | "stmatrix" => {
            let rows = if op == "ldmatrix" { "p" } else { "a" };
            let name = if i.operand(rows).is_some_and(|a| a.role == Role::Addr) { rows } else { "p" };
            add(name, kind(0), own(kind(0)), op == "stmatrix", 16, 16);
        }
        "st.bulk" => add("a", kind(0), own(kind(0)), true, constant(i, "size").unwrap_or(0), 8),
        "clusterlaunchcontrol.try_cancel" => {
            let kind = if spaces.is_empty() { Kind::Object } else { kind(0) };
            add("addr", kind, true, true, 16, 16);
            add("mbar", kind, true, false, 8, 8);
        }
        _ if op.starts_with("mbarrier.") => {
            let waits = ["init", "inval", "test_wait", "try_wait"].iter().any(|w| op == format!("mbarrier.{w}"));
            let kind = if spaces.is_empty() { Kind::Object } else { kind(0) };
            add("addr", kind, waits || own(kind), false, 8, 8);
        }
        "cp.async.mbarrier.arrive" => {
            let kind = if spaces.is_empty() { Kind::Object } else { kind(0) };
            add("addr", kind, true, false, 8, 8);
        }
        "cp.async" => {
            let bytes = constant(i, "cp-size").unwrap_or(0);
            let partly = i.operand("src-size").is_some() || i.operand("ignore-src").is_some();
            add("dst", kind(0), true, true, bytes, bytes as u32);
            add("src", kind(1), false, false, if partly { 0 } else { bytes }, bytes as u32);
        }
        "cp.async.bulk" | "cp.reduce.async.bulk" if spaces.len() == 2 => {
            let bytes = constant(i, "size").unwrap_or(0);
            let partly = i.has(".ignore_oob") || i.has(".cp_mask");
            let by_cta = i.has(".ignore_oob");
            add("dstMem", kind(0), own(kind(0)), true, if partly { 0 } else { bytes }, 16);
            add("srcMem", kind(1), own(kind(1)), false, if partly { 0 } else { bytes }, if by_cta { 1 } else { 16 });
            add("mbar", Kind::Shared, own(kind(0)), false, 8, 8);
        }
        "cp.async.bulk.tensor" | "cp.reduce.async.bulk.tensor" => {
            let into = i.operand("dstMem").is_some();
            add("dstMem", kind(0), own(kind(0)), true, 0, spec("dstMem"));
            add("srcMem", kind(1), own(kind(1)), false, 0, spec("srcMem"));
            add("tensorMap", Kind::Map, false, false, 128, 64);
            if into {
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
        _ if word == "wmma" => add("p", kind(0), own(kind(0)), op.contains("store"), 0, 1),
        _ => {}
    }
    out
}
