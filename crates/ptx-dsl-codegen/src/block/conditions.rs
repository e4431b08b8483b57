//! Pieces of a region that only some lanes run.

use super::super::mentions::mentions;
use super::super::regions::{Cond, Item};
use super::{Block, Key, Value};
use proc_macro2::{Ident, TokenStream};
use ptx_dsl_isa::hir::{FuncId, Instr};
use quote::{format_ident, quote};
use std::collections::BTreeSet;

/// A piece of code that only some lanes run.
pub(super) struct Condition {
    value: Value,
    holds: bool,
    /// The lanes, once somebody has asked.
    mask: Option<Ident>,
    /// Registers that it has changed, with what they were, and those that it changed before its `Else`, with what they became.
    changed: Vec<(Key, Option<Value>)>,
    then: Vec<(Key, Option<Value>)>,
    /// What it was begun with, if nobody behind it reads what it sets: then it is not run where no lane wants it.
    apart: Option<Apart>,
}

/// A piece that is skipped as a whole: the pieces of code before it, and the registers that were changed before it.
struct Apart {
    before: usize,
    changes: usize,
}

/// What a register was before a piece that is skipped changed or read it, and whether it was to be stored.
pub(super) type Change = (Key, Option<Value>, bool);

impl Condition {
    /// Of one lane, and whether it has to hold.
    pub(super) fn lane(&self) -> (Value, bool) {
        (self.value.clone(), self.holds)
    }
}

/// Does a condition that begins here have one way, and nobody behind it reads what is set there?
fn leaves_nothing(f: FuncId, rest: &[Item<'_>]) -> bool {
    let (mut depth, mut set) = (0, Vec::new());
    for item in rest {
        match item {
            Item::Instr(i) => set.append(&mut mentions(f, i).1),
            Item::If(_) => depth += 1,
            Item::Else if depth == 0 => return false,
            Item::Else => {}
            Item::End(live) if depth == 0 => return !set.iter().any(|k| live.contains(k)),
            Item::End(_) => depth -= 1,
        }
    }
    false
}

impl<'m> Block<'_, 'm> {
    /// A part of the region, and what follows it there.
    pub(super) fn item(&mut self, item: &Item<'m>, rest: &[Item<'m>]) {
        match item {
            Item::Instr(i) => self.instruction(i),
            Item::If(cond) => self.begin(*cond, rest),
            Item::Else => self.otherwise(),
            Item::End(live) => self.end(live),
        }
    }

    fn begin(&mut self, cond: Cond<'_>, rest: &[Item<'m>]) {
        let value = self.operand(cond.operand, 1);
        let (changed, then) = (Vec::new(), Vec::new());
        self.conditions.push(Condition { value, holds: cond.holds, mask: None, changed, then, apart: None });
        if !self.alone && leaves_nothing(self.f, rest) {
            self.running();
            self.close();
            let apart = Apart { before: self.pieces.len(), changes: self.changes.len() };
            self.aparts += 1;
            if let Some(c) = self.conditions.last_mut() {
                c.apart = Some(apart);
            }
        }
    }

    /// The register `k` is about to change, or to be read for the first time.
    pub(super) fn note(&mut self, k: Key) {
        if self.aparts > 0 {
            self.changes.push((k, self.env.get(&k).cloned(), self.dirty.contains(&k)));
        }
    }

    fn set_to(&mut self, k: Key, v: Option<Value>) -> Option<Value> {
        self.note(k);
        match v {
            Some(v) => self.env.insert(k, v),
            None => self.env.remove(&k),
        }
    }

    fn otherwise(&mut self) {
        let Some(mut c) = self.conditions.pop() else { return };
        for (k, was) in std::mem::take(&mut c.changed) {
            let is = self.set_to(k, was);
            c.then.push((k, is));
        }
        (c.holds, c.mask) = (!c.holds, None);
        self.conditions.push(c);
    }

    fn end(&mut self, live: &BTreeSet<Key>) {
        let Some(mut c) = self.conditions.pop() else { return };
        if let (Some(apart), Some(mask)) = (c.apart, &c.mask) {
            let code = self.pieces_from(apart.before);
            while self.changes.len() > apart.changes
                && let Some((k, was, dirty)) = self.changes.pop()
            {
                match was {
                    Some(v) => self.env.insert(k, v),
                    None => self.env.remove(&k),
                };
                if !dirty {
                    self.dirty.remove(&k);
                }
            }
            self.aparts -= 1;
            return self.code(quote!(if #mask != 0 { #code }));
        }
        // without an `Else` there is one way, else what it changed is what the others have
        let (mut keys, mut both) = (Vec::new(), BTreeSet::new());
        for (k, was) in std::mem::take(&mut c.changed) {
            let is = self.set_to(k, was);
            let mut then = None;
            for (other, value) in &mut c.then {
                if *other == k {
                    then = value.take();
                    both.insert(k);
                }
            }
            keys.push((k, is, then));
        }
        for (k, then) in std::mem::take(&mut c.then) {
            // only the first way changed it: the second keeps it
            if live.contains(&k) && !both.contains(&k) {
                keys.push((k, Some(self.register(k)), then));
            }
        }
        for (k, new, other) in keys {
            if !live.contains(&k) {
                continue;
            }
            let other = match other {
                Some(other) => other,
                None => self.register(k),
            };
            let Some(new) = new else { continue };
            let condition = self.lane(&c.value);
            let (new, old, bits) = (self.lane(&new), self.lane(&other), new.bits);
            let (a, b) = if c.holds { (new, old) } else { (old, new) };
            let v = self.lanes(bits, quote!(if #condition { #a } else { #b }));
            self.define(k, v);
        }
    }

    /// A register gets a new value.
    pub(super) fn define(&mut self, k: Key, v: Value) {
        self.note(k);
        let was = self.env.insert(k, v);
        self.dirty.insert(k);
        if let Some(c) = self.conditions.last_mut() {
            for (changed, _) in &c.changed {
                if *changed == k {
                    return;
                }
            }
            c.changed.push((k, was));
        }
    }

    /// The lanes that run what comes now, as a name.
    pub(super) fn running(&mut self) -> Ident {
        let Some(mut c) = self.conditions.pop() else { return format_ident!("m") };
        let name = match &c.mask {
            Some(name) => name.clone(),
            None => {
                let outer = self.running();
                let (mask, name) = (self.array(&c.value), self.name());
                let mask = if c.holds { mask } else { quote!(!#mask) };
                self.code(quote!(let #name: u32 = #outer & #mask;));
                name
            }
        };
        c.mask = Some(name.clone());
        self.conditions.push(c);
        name
    }

    /// What an access has to ask first that no lane may run: then its rows may be anywhere.
    pub(super) fn anybody(&self, i: &Instr, mask: &Ident) -> TokenStream {
        if self.conditions.is_empty() && i.pred.is_none() { quote!() } else { quote!(#mask != 0 &&) }
    }
}
