//! The state of a region while it is lowered.

use super::value::{Repr, Value};
use crate::emit::Emitter;
use crate::names::ty;
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_analysis::affine::lattice::Affine;
use ptx_dsl_analysis::use_def::RegKey;
use ptx_dsl_isa::hir::{FuncId, Instr, RegId};
use quote::{format_ident, quote};
use std::collections::{BTreeMap, BTreeSet};

/// Emitted code: statements of the warp, or a loop over its lanes.
pub(super) enum Segment {
    Code(TokenStream),
    LaneLoop(LaneLoop),
}

/// A loop over the lanes: its statements, and the values it defines with their widths.
#[derive(Default)]
pub(super) struct LaneLoop {
    pub body: Vec<TokenStream>,
    pub values: Vec<(u32, u32)>,
}

/// An open predicated part: code that takes effect only in some lanes.
pub(super) struct Part {
    pub condition: Value,
    /// The value of the condition for which the code takes effect.
    pub holds: bool,
    /// The mask of these lanes, once it has been computed.
    pub mask: Option<Ident>,
    /// Registers that the part has changed, with what they were; and those that it changed before its `Else`, with what they became.
    pub changed: Vec<(RegKey, Option<Value>)>,
    pub then: Vec<(RegKey, Option<Value>)>,
    /// The start of the part, if nothing that it sets is live after it: then it is skipped if no lane wants it.
    pub skippable: Option<PartStart>,
}

/// The lengths of the segments and of the undo log at the start of a part.
pub(super) struct PartStart {
    pub segments: usize,
    pub undo: usize,
}

/// The value of a register before a skippable part changed or first read it, and whether it was dirty.
pub(super) type Undo = (RegKey, Option<Value>, bool);

pub struct RegionBuilder<'e, 'm> {
    pub(super) e: &'e mut Emitter<'m>,
    pub(super) f: FuncId,
    pub(super) region: usize,
    /// The values of registers that have been read or set.
    pub(super) values: BTreeMap<RegKey, Value>,
    /// Registers that differ from the warp's state.
    pub(super) dirty: BTreeSet<RegKey>,
    /// The region is a loop that lanes run one after the other: all code is that of lane `l`.
    pub(super) lane_serial: bool,
    /// Open predicated parts, the innermost last.
    pub(super) parts: Vec<Part>,
    /// The number of open parts that are skippable, and their undo log.
    pub(super) skippable: usize,
    pub(super) undo: Vec<Undo>,
    /// The values of registers at the head of the loop that the region is.
    pub(super) loop_entry: BTreeMap<RegKey, Value>,
    pub(super) segments: Vec<Segment>,
    /// The loop over the lanes that is still open.
    pub(super) open_loop: LaneLoop,
    /// Values of loops that are read outside of their loop.
    pub(super) exported: BTreeSet<u32>,
    /// Values of loops whose NaNs are not canonical. Arithmetic does not distinguish NaNs, so a chain of it canonicalises them only at
    /// its end.
    pub(super) any_nan: BTreeSet<u32>,
    /// Arrays that a load group has loaded, by instruction.
    pub(super) loaded: Vec<(u32, Ident)>,
    /// Names that are defined before the loop over the warps.
    pub(super) hoisted: BTreeSet<Ident>,
    count: u32,
}

impl<'e, 'm> RegionBuilder<'e, 'm> {
    pub fn new(e: &'e mut Emitter<'m>, f: FuncId, region: usize) -> Self {
        RegionBuilder {
            e,
            f,
            region,
            values: BTreeMap::new(),
            dirty: BTreeSet::new(),
            lane_serial: false,
            parts: Vec::new(),
            skippable: 0,
            undo: Vec::new(),
            loop_entry: BTreeMap::new(),
            segments: Vec::new(),
            open_loop: LaneLoop::default(),
            exported: BTreeSet::new(),
            any_nan: BTreeSet::new(),
            loaded: Vec::new(),
            hoisted: BTreeSet::new(),
            count: 0,
        }
    }

    /// The number of the instruction's site.
    pub fn site(&mut self, i: &Instr) -> u32 {
        self.e.sites.site(i)
    }

    pub(super) fn fresh(&mut self) -> u32 {
        self.count += 1;
        self.count
    }

    /// A new name with this prefix.
    pub(super) fn fresh_name(&mut self, prefix: &str) -> Ident {
        format_ident!("{prefix}{}", self.fresh())
    }

    pub(super) fn name(&mut self) -> Ident {
        self.fresh_name("v")
    }

    /// The key of an element of a register of this function.
    pub(super) fn key(&self, reg: RegId, element: u32) -> RegKey {
        RegKey::new(self.f, reg, element)
    }

    /// Appends statements.
    pub(super) fn code(&mut self, code: TokenStream) {
        if self.lane_serial {
            return self.open_loop.body.push(code);
        }
        self.segments.push(Segment::Code(code));
    }

    /// Ends the open loop over the lanes.
    pub(super) fn close(&mut self) {
        if !self.open_loop.body.is_empty() && !self.lane_serial {
            self.segments.push(Segment::LaneLoop(std::mem::take(&mut self.open_loop)));
        }
    }

    /// Is the value computed in the open loop?
    pub(super) fn is_open(&self, v: &Value) -> bool {
        let defined = |n: u32| self.open_loop.values.binary_search_by_key(&n, |d| d.0).is_ok();
        matches!(v.repr, Repr::Loop(n) if self.lane_serial || defined(n))
    }

    /// Appends a value for each lane to the open loop.
    pub(super) fn lanes(&mut self, bits: u32, expr: TokenStream) -> Value {
        let n = self.fresh();
        let (name, t) = (format_ident!("t{}", n), ty(bits));
        self.open_loop.body.push(quote!(let #name: #t = #expr;));
        self.open_loop.values.push((n, bits));
        Value::varying(Repr::Loop(n), bits)
    }

    /// Appends the definition of `name`, before the loop over the warps if it is `hoisted`.
    pub(super) fn named(&mut self, hoisted: bool, name: &Ident, code: TokenStream) {
        match &mut self.e.hoist.code {
            Some(before) if hoisted => {
                before.extend(code);
                self.hoisted.insert(name.clone());
            }
            _ => self.code(code),
        }
    }

    /// An array with a value for each row.
    pub(super) fn define_rows(&mut self, hoisted: bool, affine: Affine, bits: u32, rows: &[TokenStream]) -> Ident {
        let (name, t, n) = (self.name(), ty(bits), affine.rows() as usize);
        self.named(hoisted, &name, quote!(let #name: [#t; #n] = [#(#rows),*];));
        name
    }

    /// Logs the state of a register that is about to change, or to be read for the first time.
    pub(super) fn log(&mut self, k: RegKey) {
        if self.skippable > 0 {
            self.undo.push((k, self.values.get(&k).cloned(), self.dirty.contains(&k)));
        }
    }

    /// Sets the value of a register, `None` for that in the warp's state. Returns the old one.
    pub(super) fn replace(&mut self, k: RegKey, v: Option<Value>) -> Option<Value> {
        match v {
            Some(v) => self.values.insert(k, v),
            None => self.values.remove(&k),
        }
    }

    /// A register gets a new value.
    pub(super) fn define(&mut self, k: RegKey, v: Value) {
        self.log(k);
        let old = self.values.insert(k, v);
        self.dirty.insert(k);
        if let Some(part) = self.parts.last_mut()
            && !part.changed.iter().any(|(changed, _)| *changed == k)
        {
            part.changed.push((k, old));
        }
    }

    /// The registers that differ from the warp's state and are live into a region.
    pub(super) fn dirty_live_in(&self, region: usize) -> Vec<RegKey> {
        self.dirty.iter().filter(|k| self.e.layout.is_live_in(region, k)).copied().collect()
    }
}
