//! Computes the layout of a program: an optimistic fixed point over affine lanes, liveness and divergence.
//!
//! A register whose lanes are affine is kept in the warp's state as one number a row, everything else as 32 lanes. Fragments of a
//! warp share its state, so one number for all lanes is right only if no other fragment can change it: on the paths from a
//! divergent branch a register must not be defined on one and mentioned on another. Paths end at a CTA barrier that all of them
//! meet first, because no fragment passes it before all have arrived. What is live after the barrier counts as mentioned there.

use super::result::{blocking_result, constant_operand, result};
use super::scalar_op::weight;
use crate::analysis::divergence::Barriers;
use crate::analysis::region_use_def::{address_registers, region_use_def};
use crate::layout::scalar_op::scalar_op;
use ptx_dsl_analysis::affine::lattice::{Affine, VARYING};
use ptx_dsl_analysis::divergence::divergent as divergent_regions;
use ptx_dsl_analysis::liveness::{GlobalRegisters, Liveness, NodeUseDef};
use ptx_dsl_analysis::uniformity::Uniformity;
use ptx_dsl_analysis::use_def::{RegKey, UseDef};
use ptx_dsl_image::kernel::Kernel;
use ptx_dsl_image::region::chains::{fall_through_loop, is_in_exit_chain};
use ptx_dsl_image::region::graph::{End, Item, Program};
use ptx_dsl_isa::hir::{FuncId, Instr, Operand};
use ptx_dsl_isa::isa::{Host, MemoryOp};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::{PARAM, q};
use std::collections::{BTreeMap, BTreeSet};

/// The lane layout of registers in the warp's state, and the regions where warps diverge.
#[derive(Default)]
pub struct Layout {
    /// Registers that are kept as rows.
    rows: BTreeMap<RegKey, Affine>,
    /// Registers that are kept as lanes, and as rows with a flag that tells whether the rows are valid.
    guarded: BTreeMap<RegKey, Affine>,
    liveness: Liveness,
    /// The kernel calls functions: every register is live everywhere.
    pub has_calls: bool,
    /// No register is read before it is written.
    pub all_initialised: bool,
    /// Heads of loops that lanes run one after the other.
    pub lane_serial: BTreeSet<usize>,
    /// Regions that end with a divergent branch.
    divergent_branches: BTreeSet<usize>,
    /// Tells for each region whether the warp may be split there.
    divergent: Vec<bool>,
}

impl Layout {
    /// The layout in which the warp's state keeps a register.
    pub fn kept(&self, k: &RegKey) -> Affine {
        self.rows.get(k).copied().unwrap_or(VARYING)
    }

    /// The rows of a register that is also kept as lanes.
    pub fn guarded(&self, k: &RegKey) -> Option<Affine> {
        self.guarded.get(k).copied()
    }

    /// The layout of a register that is read.
    pub fn read(&self, k: &RegKey) -> Affine {
        self.guarded(k).unwrap_or_else(|| self.kept(k))
    }

    pub fn is_live_in(&self, region: usize, k: &RegKey) -> bool {
        self.has_calls || self.liveness.is_live_in(region, k)
    }

    pub fn is_live_out(&self, region: usize, k: &RegKey) -> bool {
        self.has_calls || self.liveness.is_live_out(region, k)
    }

    /// Are there registers that all warps of a CTA hold alike?
    pub fn has_cta_uniform(&self) -> bool {
        self.rows.values().any(|affine| affine.is_cta_uniform())
    }

    /// May the warp be split in the region?
    pub fn is_divergent(&self, region: usize) -> bool {
        self.divergent.get(region) == Some(&true)
    }

    /// Does the region end with a divergent branch?
    pub fn diverges_behind(&self, region: usize) -> bool {
        self.divergent_branches.contains(&region)
    }
}

/// The layouts of the registers that a region has set; `None` where a layout is not known yet.
type Env = BTreeMap<RegKey, Option<Affine>>;

struct Solver<'a, 'm> {
    kernel: &'a Kernel<'m>,
    p: &'a Program<'m>,
    liveness: &'a Liveness,
    rows: BTreeMap<RegKey, Affine>,
    /// Registers that must be kept as 32 lanes.
    varying: BTreeSet<RegKey>,
    /// Registers that may be kept as rows under a condition: addresses that no blocking instruction sets.
    may_be_guarded: BTreeSet<RegKey>,
    /// Registers of which warps of a cohort may hold different values.
    warp_dependent: BTreeSet<RegKey>,
}

impl<'m> Solver<'_, 'm> {
    /// `None`: nothing is known yet.
    fn register(&self, env: &Env, key: RegKey) -> Option<Affine> {
        match env.get(&key) {
            Some(Some(affine)) => Some(*affine),
            _ if self.varying.contains(&key) => Some(VARYING),
            _ => self.rows.get(&key).copied(),
        }
    }

    fn operand(&self, env: &Env, f: FuncId, o: &Operand) -> Option<Affine> {
        match RegKey::of(f, o) {
            Some(key) => self.register(env, key),
            None => Some(constant_operand(self.kernel, f, o)),
        }
    }

    /// Goes through all regions until nothing changes. Returns what is known at the end of each.
    fn solve_rows(&mut self) -> Vec<Env> {
        self.rows = BTreeMap::new();
        loop {
            let (mut envs, mut changed) = (Vec::new(), false);
            for r in 0..self.p.regions.len() {
                let env = self.region(r);
                let liveness = self.liveness;
                for (key, affine) in env.iter().filter(|(key, _)| liveness.is_live_out(r, key)) {
                    changed |= affine.is_some_and(|affine| self.learn(*key, affine));
                }
                envs.push(env);
            }
            if !changed {
                return envs;
            }
        }
    }

    /// Evaluates a region.
    fn region(&self, r: usize) -> Env {
        let region = &self.p.regions[r];
        let f = region.func;
        let mut walk = Walk::default();
        for item in &region.body {
            match item {
                Item::Instr(i) => {
                    let affine = result(self.kernel, f, i, &|o| self.operand(&walk.env, f, o));
                    walk.set(&UseDef::of(f, i).defs, affine);
                }
                Item::If(_) => walk.open.push(BTreeMap::new()),
                Item::Else => walk.otherwise(),
                Item::EndIf(live) => walk.end(live),
            }
        }
        if let Some(instr) = region.blocking() {
            let affine = blocking_result(instr, &|o| self.operand(&walk.env, f, o));
            walk.set(&UseDef::of(f, instr).defs, affine);
        }
        walk.env
    }

    /// Joins what a definition gives into the register's layout. Returns whether that changed it.
    fn learn(&mut self, key: RegKey, affine: Affine) -> bool {
        if self.varying.contains(&key) {
            return false;
        }
        let old = self.rows.get(&key).copied();
        let mut joined = match old {
            Some(old) => old.join(affine),
            None if affine.guards == 0 => affine,
            None if self.may_be_guarded.contains(&key) => Affine { guards: 1, ..affine },
            None => VARYING,
        };
        if self.warp_dependent.contains(&key) {
            joined = joined.with_uniformity(Uniformity::Warp);
        }
        if !joined.is_affine() {
            self.varying.insert(key);
            self.rows.remove(&key);
            return true;
        }
        self.rows.insert(key, joined);
        old != Some(joined)
    }

    /// Keeps the affine ones of these registers, as far as they match, as 32 lanes.
    fn make_varying(&mut self, registers: &BTreeSet<RegKey>, matches: fn(&Affine) -> bool) {
        let rows = &self.rows;
        self.varying.extend(registers.iter().filter(|k| rows.get(k).is_some_and(matches)));
    }

    /// Records that registers are no longer the same in all warps of a CTA.
    fn make_warp_dependent(&mut self, registers: &BTreeSet<RegKey>) {
        let rows = &self.rows;
        self.warp_dependent.extend(registers.iter().filter(|k| rows.get(k).is_some_and(|s| s.is_cta_uniform())));
    }

    /// The predicate of the branch at the end of a region.
    fn predicate(&self, envs: &[Env], r: usize, pred: &Operand) -> Option<Affine> {
        self.operand(&envs[r], self.p.regions[r].func, pred)
    }

    /// Regions at the end of which lanes may diverge.
    fn divergent_branches(&self, envs: &[Env]) -> Vec<usize> {
        let may_diverge = |r: usize| match &self.p.regions[r].end {
            End::Branch { pred, .. } => !self.predicate(envs, r, &pred.0).is_some_and(Affine::is_uniform),
            End::Switch { .. } => true,
            _ => false,
        };
        (0..self.p.regions.len()).filter(|r| may_diverge(*r) && !is_in_exit_chain(self.p, *r)).collect()
    }

    /// Regions at the end of which warps of a CTA may part and meet again.
    fn warp_branches(&self, successors: &[Vec<usize>], envs: &[Env]) -> Vec<usize> {
        let regions = &self.p.regions;
        // does it lead straight to an exit?
        let mut exits = vec![false; regions.len()];
        for r in (0..regions.len()).rev() {
            exits[r] = match regions[r].end {
                End::Exit => true,
                End::Goto(to) => to > r && exits[to],
                _ => false,
            };
        }
        let parts = |r: usize| match &regions[r].end {
            End::Branch { pred, .. } => {
                let together = self.predicate(envs, r, &pred.0).is_some_and(|s| s.is_cta_uniform());
                !together && successors[r].iter().filter(|s| !exits[**s]).count() > 1
            }
            End::Switch { .. } => true,
            _ => false,
        };
        (0..regions.len()).filter(|r| parts(*r)).collect()
    }

    /// Is this loop better run lane by lane? So it is if scattered memory accesses outweigh the arithmetic.
    fn is_better_lane_serial(&self, chain: &[usize], branches: &[usize], envs: &[Env]) -> bool {
        let (mut scattered, mut other) = (0, 0);
        for r in chain {
            let region = &self.p.regions[*r];
            let f = region.func;
            for i in region.instructions() {
                match lane_serial(self.kernel, f, i) {
                    None => return false,
                    Some(LaneSerial::Compute) => other += weight(self.kernel, i),
                    // a reduction goes lane by lane either way
                    Some(LaneSerial::Access) if i.opcode == op::red => {}
                    Some(LaneSerial::Access) => {
                        let addresses = i.operands.iter().filter(|a| matches!(a.value, Operand::Address(..)));
                        let varying = |o| self.operand(&envs[*r], f, o).is_some_and(|s| !s.is_affine());
                        scattered += addresses.filter(|a| varying(&a.value)).count() as u32;
                    }
                }
            }
        }
        scattered > 0 && other <= 8 * scattered && chain.iter().any(|r| branches.binary_search(r).is_ok())
    }
}

/// The kind of an instruction in a loop that lanes run one after the other.
enum LaneSerial {
    Compute,
    Access,
}

/// `None` if a lane cannot run the instruction while the others wait: nothing by which a thread could wait for another.
fn lane_serial(kernel: &Kernel<'_>, f: FuncId, i: &Instr) -> Option<LaneSerial> {
    // these state spaces are for the general functions
    if i.entry.effects.memory != MemoryOp::None && (i.has(q::local) || i.has_any(PARAM)) {
        return None;
    }
    let reads_sreg = i.operands.iter().flat_map(|a| a.value.parts()).any(|o| matches!(o, Operand::Sreg(_)));
    let order = i.order();
    let is_watched = order.is_strong() && !order.atomic || order.acquires() || order.releases();
    if reads_sreg || is_watched {
        return None;
    }
    match (i.entry.host, i.opcode) {
        (Host::Lane | Host::Control, _) => Some(LaneSerial::Compute),
        (Host::Warp, op::ld | op::st) if kernel.simple_access(f, i).is_some() => Some(LaneSerial::Access),
        (Host::Warp, op::red) if kernel.is_simple_add(f, i) => Some(LaneSerial::Access),
        (Host::Warp, op::cvta) if scalar_op(kernel, f, i).is_some() => Some(LaneSerial::Compute),
        _ => None,
    }
}

/// The evaluation of a region.
#[derive(Default)]
struct Walk {
    env: Env,
    /// The earlier layouts of the registers that each open predicated part has changed.
    open: Vec<BTreeMap<RegKey, Option<Option<Affine>>>>,
}

impl Walk {
    fn set(&mut self, registers: &[RegKey], affine: Option<Affine>) {
        for k in registers {
            let old = self.env.insert(*k, affine);
            if let Some(changed) = self.open.last_mut() {
                changed.entry(*k).or_insert(old);
            }
        }
    }

    fn restore(&mut self, key: RegKey, old: Option<Option<Affine>>) {
        match old {
            Some(affine) => self.env.insert(key, affine),
            None => self.env.remove(&key),
        };
    }

    /// The other side of a predicated part starts.
    fn otherwise(&mut self) {
        if let Some(changed) = self.open.pop() {
            for (k, old) in &changed {
                self.restore(*k, *old);
            }
            self.open.push(changed);
        }
    }

    /// A predicated part ends, after which these registers are live.
    fn end(&mut self, live: &BTreeSet<RegKey>) {
        let Some(changed) = self.open.pop() else { return };
        for (k, old) in changed {
            self.restore(k, old);
            if live.contains(&k) {
                self.set(&[k], Some(VARYING));
            }
        }
    }
}

/// The layout of a program.
pub fn solve<'m>(kernel: &Kernel<'m>, p: &Program<'m>) -> Layout {
    if p.funcs.len() > 1 {
        return Layout { has_calls: true, divergent: vec![true; p.regions.len()], ..Layout::default() };
    }
    let successors = p.edges();
    let use_defs: Vec<NodeUseDef> = p.regions.iter().map(region_use_def).collect();
    let liveness = Liveness::new(&successors, GlobalRegisters::new(&use_defs));
    let barriers = Barriers::new(p, &successors);
    let uninitialised = liveness.uninitialised();
    let all_initialised = uninitialised.is_empty();
    let loops: Vec<Vec<usize>> = (0..p.regions.len()).filter_map(|r| fall_through_loop(p, r)).collect();
    let mut s = Solver {
        kernel,
        p,
        liveness: &liveness,
        rows: BTreeMap::new(),
        varying: uninitialised,
        may_be_guarded: address_registers(p),
        warp_dependent: BTreeSet::new(),
    };
    // A warp passes a `try_wait` by itself. Warps that have come round a loop more or less often then meet without a comparison of
    // what they hold, so nothing may be the same for all warps.
    let warps_pass_alone = p.regions.iter().filter_map(|r| r.blocking()).any(|i| i.has(q::parity));
    let mut lane_serial = BTreeSet::new();
    // Each round only adds to `varying` and `warp_dependent`.
    let (branches, divergent) = loop {
        let envs = s.solve_rows();
        let branches = s.divergent_branches(&envs);
        let before = (s.varying.len(), s.warp_dependent.len());
        let shared = barriers.shared_by_fragments(&successors, &branches, &liveness, |k| s.rows.contains_key(k));
        s.varying.extend(shared);
        let divergent = divergent_regions(&successors, &branches);
        for chain in &loops {
            let head = chain[0];
            if divergent[head] && (lane_serial.contains(&head) || s.is_better_lane_serial(chain, &branches, &envs)) {
                lane_serial.insert(head);
                chain.iter().for_each(|r| s.make_varying(&use_defs[*r].defs, |_| true));
            }
        }
        // Warps could differ for long in what they set while they are apart, and would not meet.
        let apart = divergent_regions(&successors, &s.warp_branches(&successors, &envs));
        for (r, region) in use_defs.iter().enumerate() {
            if warps_pass_alone || divergent[r] || apart[r] {
                s.make_warp_dependent(&region.defs);
            }
            if divergent[r] {
                s.make_varying(&region.defs, |s| s.guards > 0);
            }
        }
        if before == (s.varying.len(), s.warp_dependent.len()) {
            break (branches, divergent);
        }
    };
    let (guarded, rows) = s.rows.into_iter().partition(|(_, affine)| affine.guards > 0);
    let divergent_branches = branches.into_iter().collect();
    Layout { rows, guarded, liveness, has_calls: false, all_initialised, lane_serial, divergent_branches, divergent }
}
