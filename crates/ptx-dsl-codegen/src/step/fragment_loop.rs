//! Loops of divergent regions as loops in Rust: lanes that leave wait ahead as fragments.

use super::builder::StepBuilder;
use crate::analysis::region_use_def::Mentions;
use crate::layout::scalar_op::scalar_op;
use crate::lower::builder::RegionBuilder;
use proc_macro2::TokenStream;
use ptx_dsl_analysis::use_def::{RegKey, UseDef};
use ptx_dsl_image::region::graph::region_number;
use ptx_dsl_image::region::graph::{End, Item};
use std::collections::BTreeSet;

impl StepBuilder<'_, '_> {
    /// The code of regions that are a loop.
    pub fn fragment_loop(&mut self, chain: &[usize]) -> TokenStream {
        let (head, last) = (chain[0], chain[chain.len() - 1]);
        let (f, here) = (self.p.regions[head].func, region_number(head));
        let mut mentions = Mentions::default();
        for r in chain {
            mentions.add(&self.p.regions[*r]);
            self.request_successors(*r, chain);
        }
        let mentioned = mentions.reads.union(&mentions.writes);
        let live = mentioned.filter(|k| self.e.layout.is_live_in(head, k)).copied();
        let (carried, read): (Vec<_>, Vec<_>) = live.partition(|k| mentions.writes.contains(k));
        let lane_serial = self.e.layout.lane_serial.contains(&head);
        let any_nan = self.registers_with_any_nan(chain);
        let mut exits = BTreeSet::new();
        let mut b = RegionBuilder::new(self.e, f, last);
        let before = if lane_serial { b.enter_serial_loop(&carried, &read) } else { b.enter_loop(&carried, &read) };
        for (i, r) in chain.iter().enumerate() {
            let region = &self.p.regions[*r];
            b.items(&region.body);
            if let End::Branch { pred, taken, fall } = &region.end {
                let on = chain.get(i + 1).unwrap_or(&head);
                let (to, leaves) = if taken == on { (*fall, !pred.1) } else { (*taken, pred.1) };
                let pred = (pred.0.clone(), leaves);
                exits.insert((to, region_number(to)));
                if lane_serial { b.leave_serial_loop(&pred, to) } else { b.diverge(&pred, to, region_number(to)) }
            }
        }
        if lane_serial {
            let exits: Vec<_> = exits.into_iter().collect();
            return b.end_serial_loop(&carried, &before, &exits, here);
        }
        b.end_loop(&carried, &any_nan, &before, here)
    }

    /// Registers of a loop that need no canonical NaNs from one round to the next: only arithmetic sets and reads them, and they are
    /// dead after the loop.
    fn registers_with_any_nan(&self, chain: &[usize]) -> BTreeSet<RegKey> {
        let (mut arithmetic, mut other) = (BTreeSet::new(), BTreeSet::new());
        for r in chain {
            let region = &self.p.regions[*r];
            let mut depth = 0;
            for item in &region.body {
                let i = match item {
                    Item::Instr(i) => i,
                    Item::If(_) => {
                        depth += 1;
                        continue;
                    }
                    Item::Else => continue,
                    Item::EndIf(_) => {
                        depth -= 1;
                        continue;
                    }
                };
                let UseDef { uses, defs } = UseDef::of(region.func, i);
                let op = if i.pred.is_some() { None } else { scalar_op(self.e.kernel, region.func, i) };
                if !op.is_some_and(|op| op.takes_any_nan()) {
                    other.extend(uses);
                }
                let gives = depth == 0 && op.is_some_and(|op| op.gives_any_nan());
                if gives { &mut arithmetic } else { &mut other }.extend(defs);
            }
        }
        arithmetic.retain(|k| !other.contains(k));
        let exits = chain.iter().flat_map(|r| self.p.successors(*r)).filter(|to| !chain.contains(to));
        for to in exits {
            arithmetic.retain(|k| !self.e.layout.is_live_in(to, k));
        }
        arithmetic
    }
}
