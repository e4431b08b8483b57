//! Predicated parts of a region: code that takes effect only in some lanes.

use super::builder::{Part, PartStart, RegionBuilder};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_analysis::use_def::{RegKey, UseDef};
use ptx_dsl_image::region::graph::{Condition, Item};
use ptx_dsl_isa::hir::{FuncId, Instr};
use quote::{format_ident, quote};
use std::collections::BTreeSet;

/// Has the part that starts here no `Else`, and is nothing that it sets live after it?
fn sets_nothing_live(f: FuncId, rest: &[Item<'_>]) -> bool {
    let (mut depth, mut set) = (0, Vec::new());
    for item in rest {
        match item {
            Item::Instr(i) => set.extend(UseDef::of(f, i).defs),
            Item::If(_) => depth += 1,
            Item::Else if depth == 0 => return false,
            Item::Else => {}
            Item::EndIf(live) if depth == 0 => return !set.iter().any(|k| live.contains(k)),
            Item::EndIf(_) => depth -= 1,
        }
    }
    false
}

impl<'m> RegionBuilder<'_, 'm> {
    /// An item of the region's body; `rest` follows it.
    pub(super) fn item(&mut self, item: &Item<'m>, rest: &[Item<'m>]) {
        match item {
            Item::Instr(i) => self.instruction(i),
            Item::If(condition) => self.begin_part(*condition, rest),
            Item::Else => self.begin_else(),
            Item::EndIf(live) => self.end_part(live),
        }
    }

    fn begin_part(&mut self, condition: Condition<'_>, rest: &[Item<'m>]) {
        let value = self.operand(condition.operand, 1);
        let (changed, then) = (Vec::new(), Vec::new());
        let holds = condition.holds;
        self.parts.push(Part { condition: value, holds, mask: None, changed, then, skippable: None });
        if !self.lane_serial && sets_nothing_live(self.f, rest) {
            self.running_mask();
            self.close();
            let start = PartStart { segments: self.segments.len(), undo: self.undo.len() };
            self.skippable += 1;
            if let Some(part) = self.parts.last_mut() {
                part.skippable = Some(start);
            }
        }
    }

    fn begin_else(&mut self) {
        let Some(mut part) = self.parts.pop() else { return };
        for (k, old) in std::mem::take(&mut part.changed) {
            self.log(k);
            let new = self.replace(k, old);
            part.then.push((k, new));
        }
        (part.holds, part.mask) = (!part.holds, None);
        self.parts.push(part);
    }

    fn end_part(&mut self, live: &BTreeSet<RegKey>) {
        let Some(mut part) = self.parts.pop() else { return };
        if let (Some(start), Some(mask)) = (part.skippable, &part.mask) {
            let code = self.take_segments(start.segments);
            self.roll_back(start.undo);
            self.skippable -= 1;
            return self.code(quote!(if #mask != 0 { #code }));
        }
        // for each register its value where the condition holds now, and where it does not
        let (mut values, mut both) = (Vec::new(), BTreeSet::new());
        for (k, old) in std::mem::take(&mut part.changed) {
            self.log(k);
            let new = self.replace(k, old);
            let mut other = None;
            for (_, value) in part.then.iter_mut().filter(|(changed, _)| *changed == k) {
                other = value.take();
                both.insert(k);
            }
            values.push((k, new, other));
        }
        for (k, then) in std::mem::take(&mut part.then) {
            // only the first side changed it
            if live.contains(&k) && !both.contains(&k) {
                values.push((k, Some(self.register(k)), then));
            }
        }
        for (k, new, other) in values {
            if !live.contains(&k) {
                continue;
            }
            let other = other.unwrap_or_else(|| self.register(k));
            let Some(new) = new else { continue };
            let condition = self.lane(&part.condition);
            let (new, old, bits) = (self.lane(&new), self.lane(&other), new.bits);
            let (a, b) = if part.holds { (new, old) } else { (old, new) };
            let v = self.lanes(bits, quote!(if #condition { #a } else { #b }));
            self.define(k, v);
        }
    }

    /// Undoes the changes of registers since the log had this length.
    fn roll_back(&mut self, length: usize) {
        for (k, old, dirty) in self.undo.split_off(length).into_iter().rev() {
            self.replace(k, old);
            if !dirty {
                self.dirty.remove(&k);
            }
        }
    }

    /// The mask of the lanes that run the current part, as a name.
    pub(super) fn running_mask(&mut self) -> Ident {
        let Some(mut part) = self.parts.pop() else { return format_ident!("m") };
        let name = match &part.mask {
            Some(name) => name.clone(),
            None => {
                let outer = self.running_mask();
                let (mask, name) = (self.array(&part.condition), self.name());
                let mask = if part.holds { mask } else { quote!(!#mask) };
                self.code(quote!(let #name: u32 = #outer & #mask;));
                name
            }
        };
        part.mask = Some(name.clone());
        self.parts.push(part);
        name
    }

    /// The mask that an instruction runs with, as a name.
    pub(super) fn active_mask(&mut self, i: &Instr) -> Ident {
        let running = self.running_mask();
        match &i.pred {
            Some(p) => {
                let (mask, name) = (self.mask(p), self.name());
                self.code(quote!(let #name: u32 = #running & #mask;));
                name
            }
            None => running,
        }
    }

    /// `mask != 0 &&` for an access that no lane may run: its rows may be anywhere then.
    pub(super) fn if_any_lane(&self, i: &Instr, mask: &Ident) -> TokenStream {
        if self.parts.is_empty() && i.pred.is_none() { quote!() } else { quote!(#mask != 0 &&) }
    }
}
