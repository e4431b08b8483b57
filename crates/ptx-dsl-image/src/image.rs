//! The image of a kernel for the interpreter: its regions with flat operands.

mod calls;
mod operands;

use crate::instr::{bits_type, destination_count, is_generic, is_move};
use crate::kernel::Kernel;
use crate::region::graph::{End, Program, Region, region_number};
use crate::sites::Sites;
use ptx_dsl_analysis::use_def::{RegKey, carry_use, destinations, registers, sources};
use ptx_dsl_isa::hir::{FuncId, Instr, Operand};
use ptx_dsl_isa::image::{self, Action, Guard, Image, NO_SITE, Register, Source};
use ptx_dsl_isa::isa::Host;
use ptx_dsl_isa::isa::effect::{Carry, Control, Tensor};
use ptx_dsl_isa::qualifier::q;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The image of a kernel whose regions are not converted yet.
pub fn image<'m>(kernel: &Kernel<'m>, program: &Program<'_>, sites: &mut Sites<'m>) -> Image {
    let mut writer = Writer {
        kernel,
        sites,
        image: Image::default(),
        registers: BTreeMap::new(),
        return_addresses: BTreeMap::new(),
        variables: HashMap::new(),
        sets: HashMap::new(),
        saved: kernel.recursive.iter().copied().zip(0..).collect(),
        loaded: loaded(program),
    };
    for region in &program.regions {
        let region = writer.region(program, region);
        writer.image.regions.push(region);
    }
    writer.finish()
}

struct Writer<'w, 'm> {
    kernel: &'w Kernel<'m>,
    sites: &'w mut Sites<'m>,
    image: Image,
    /// The first register of each.
    registers: BTreeMap<RegKey, Register>,
    /// The register with the return address of each function.
    return_addresses: BTreeMap<u32, Register>,
    /// The number of each variable in [`Image::variables`].
    variables: HashMap<u32, u32>,
    /// The number of each set of qualifiers.
    sets: HashMap<image::Qualifiers, u32>,
    /// The number of each recursive function in [`Image::saved`].
    saved: BTreeMap<u32, u32>,
    /// Registers that are written asynchronously.
    loaded: BTreeSet<RegKey>,
}

/// The registers that `tcgen05.ld` loads, and their copies in the order of the regions.
fn loaded(program: &Program<'_>) -> BTreeSet<RegKey> {
    let mut loaded = BTreeSet::new();
    for region in &program.regions {
        for i in region.instructions().chain(region.blocking()) {
            if i.entry.effects.tensor == Tensor::Load || is_move(i) && reads_any(region.func, i, &loaded) {
                loaded.extend(destinations(i).iter().flat_map(|a| registers(region.func, &a.value)));
            }
        }
    }
    loaded
}

/// Does an instruction read one of these registers?
fn reads_any(f: FuncId, i: &Instr, all: &BTreeSet<RegKey>) -> bool {
    !all.is_empty() && sources(i).iter().any(|a| registers(f, &a.value).iter().any(|key| all.contains(key)))
}

impl Writer<'_, '_> {
    fn region(&mut self, program: &Program<'_>, region: &Region<'_>) -> image::Region {
        let f = region.func;
        image::Region {
            name: region.name.clone(),
            results: region.results.map(|(call, callee)| self.call_results(f, call, callee)),
            body: region.instructions().map(|i| self.instruction(f, i)).collect(),
            end: self.end(program, f, &region.end),
            branch: region.last.filter(|i| is_branch(i)).map_or(NO_SITE, |i| self.sites.site(i)),
            last: region.last.map(|i| self.sites.lines(i)),
        }
    }

    fn end(&mut self, program: &Program<'_>, f: FuncId, end: &End<'_>) -> image::End {
        match end {
            End::Goto(to) => image::End::Goto { to: region_id(*to) },
            End::Branch { pred, taken, fall } => {
                image::End::Branch { guard: self.guard(f, pred), taken: region_id(*taken), fall: region_id(*fall) }
            }
            End::Switch { instr, targets } => {
                let index = &instr.operands[0];
                image::End::Switch {
                    site: self.sites.site(instr),
                    index: self.source(f, &index.value, index.ty, false),
                    targets: targets.iter().map(|t| region_id(*t)).collect(),
                }
            }
            End::Block { instr, next } => {
                image::End::Block { instr: self.instruction(f, instr), next: region_id(*next) }
            }
            End::Call { instr, callees } => self.call(f, instr, callees),
            End::Return => image::End::Return {
                address: self.return_address(f),
                sites: program.return_sites(f).iter().map(|s| region_id(*s)).collect(),
            },
            End::Exit => image::End::Exit {},
        }
    }

    fn instruction(&mut self, f: FuncId, i: &Instr) -> image::Instr {
        let guard = i.pred.as_ref().map(|pred| self.guard(f, pred));
        // an instruction that computes lane by lane cannot fault, unless it reads a register too early
        let computes = i.entry.host == Host::Lane && !reads_any(f, i, &self.loaded);
        let site = if computes || is_move(i) { NO_SITE } else { self.sites.site(i) };
        if is_move(i) {
            return self.movement(f, i, guard);
        }
        let mut given: Vec<Source> = Vec::new();
        for a in sources(i) {
            let generic = i.entry.host != Host::Lane && is_generic(i, a);
            for part in a.value.parts() {
                self.sources(f, part, a.ty, generic, &mut given);
            }
        }
        let mut results = self.results(f, i);
        for _ in results.len()..destination_count(i, results.len()) {
            results.push(None);
        }
        let (reads, writes) = carry_use(i);
        if reads {
            given.push(Source::Register { register: self.carry(f) });
        }
        if writes {
            results.push(Some(self.carry(f)));
        }
        let carry_out = i.entry.effects.carry == Carry::Out && i.has(q::cc);
        let action = Action::Opcode { opcode: i.opcode, qualifiers: self.qualifiers(i), carry_out };
        image::Instr { action, site, lines: self.sites.lines(i), guard, sources: given, results }
    }

    /// `mov` that copies, packs or unpacks.
    fn movement(&mut self, f: FuncId, i: &Instr, guard: Option<Guard>) -> image::Instr {
        let whole = i.types.first().map_or(64, |t| t.bits().max(1));
        let count = |o: &Operand| if let Operand::Vector(v) = o { Some(v.len().max(1) as u32) } else { None };
        let (mut given, mut to) = (Vec::new(), 64);
        let mut from = None;
        if let [d, a, ..] = i.operands.as_slice() {
            let mut ty = a.ty.or(i.types.first().copied());
            match (count(&a.value), count(&d.value)) {
                (Some(n), None) => {
                    ty = bits_type(whole / n);
                    from = Some(whole / n);
                }
                (_, Some(n)) => to = whole / n,
                _ => {}
            }
            for part in a.value.parts() {
                self.sources(f, part, ty, false, &mut given);
            }
        }
        let from = from.unwrap_or(whole / (given.len() as u32).max(1));
        let results = self.results(f, i);
        let (action, lines) = (Action::Move { from, to }, self.sites.lines(i));
        image::Instr { action, site: NO_SITE, lines, guard, sources: given, results }
    }

    fn results(&mut self, f: FuncId, i: &Instr) -> Vec<Option<Register>> {
        let mut results = Vec::new();
        for part in destinations(i).iter().flat_map(|a| a.value.parts()) {
            self.destination(f, part, &mut results);
        }
        results
    }

    fn guard(&mut self, f: FuncId, (operand, holds): &(Operand, bool)) -> Guard {
        match operand {
            Operand::NotReg(r) => Guard { register: self.register(RegKey::new(f, *r, 0)), holds: !holds },
            o => {
                let key = RegKey::of(f, o).unwrap_or(RegKey::carry(f));
                Guard { register: self.register(key), holds: *holds }
            }
        }
    }

    fn qualifiers(&mut self, i: &Instr) -> u32 {
        let set = image::Qualifiers { written: self.kernel.qualifiers(i), types: i.types.clone() };
        if let Some(n) = self.sets.get(&set) {
            return *n;
        }
        let n = self.image.qualifiers.len() as u32;
        self.image.qualifiers.push(set.clone());
        self.sets.insert(set, n);
        n
    }

    fn finish(mut self) -> Image {
        self.image.stack = if self.kernel.recursive.is_empty() { 0 } else { u64::from(crate::frames::STACK) };
        self.image.saved = vec![Vec::new(); self.saved.len()];
        for (key, first) in &self.registers {
            let Some(n) = self.saved.get(&key.func.0) else { continue };
            let words = if key.is_carry() || self.kernel.reg_bits(key.func, key.reg) != 128 { 1 } else { 2 };
            self.image.saved[*n as usize].extend(*first..*first + words);
        }
        for (f, register) in &self.return_addresses {
            if let Some(n) = self.saved.get(f) {
                self.image.saved[*n as usize].push(*register);
            }
        }
        self.image
    }
}

/// Whether an instruction is `bra`.
fn is_branch(i: &Instr) -> bool {
    i.entry.effects.control == Control::Branch
}

/// A region's number in the image.
fn region_id(r: usize) -> image::RegionId {
    region_number(r)
}
