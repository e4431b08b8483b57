//! Registers that a thread may read before it has written them: those that are live where the kernel starts, and those whose values
//! come from them. Only these are watched while a kernel runs ([`super::undefined`]).

use super::pending::Loaded;
use ptx_dsl_isa::image::{Action, End, Image, Instr, Place, Register, Source, Transfer};
use ptx_dsl_isa::opcode::op;

/// How the lanes of a result are undefined, where those of sources are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carry {
    /// Never. Also where bits are combined: some of the result may be defined.
    Never,
    /// If a source is.
    Any,
    /// If all sources are: `mov` that packs or unpacks.
    All,
    /// If the source is that the predicate selects: `selp`.
    Selected,
}

impl Carry {
    pub fn of(i: &Instr) -> Carry {
        let Action::Opcode { opcode, .. } = i.action else { return Carry::All };
        let zero = |s: &Source| matches!(s, Source::Constant { value: 0 });
        match opcode {
            op::selp => Carry::Selected,
            op::mul | op::mad | op::mul24 | op::mad24 if i.sources.iter().take(2).any(zero) => Carry::Never,
            op::add
            | op::sub
            | op::mul
            | op::mad
            | op::mul24
            | op::mad24
            | op::fma
            | op::div
            | op::rem
            | op::neg
            | op::min
            | op::max
            | op::cvt
            | op::cvta
            | op::setp
            | op::set
            | op::shl
            | op::shr => match &i.sources[..] {
                // the same register twice may be a way to write zero
                [a, b, ..] if a == b => Carry::Never,
                _ => Carry::Any,
            },
            _ => Carry::Never,
        }
    }
}

/// The register of a source, if it is one.
pub(super) fn register(source: &Source) -> Option<Register> {
    match source {
        Source::Register { register } | Source::Not { register } | Source::Address { base: register, .. } => {
            Some(*register)
        }
        Source::Constant { .. } | Source::Variable { .. } | Source::Special { .. } | Source::Frame { .. } => None,
    }
}

/// The registers of a kernel that are watched.
#[derive(Debug, Default, Clone)]
pub(super) struct Suspects {
    /// By register: its number among them.
    numbers: Vec<Option<u32>>,
    pub count: usize,
    /// Those that `tcgen05.ld` loads.
    pub loaded: Loaded,
}

impl Suspects {
    pub fn new(image: &Image) -> Suspects {
        let mut found = vec![false; image.registers.len()];
        live_at_start(image).into_iter().for_each(|r| found[r as usize] = true);
        if found.contains(&true) {
            while spread(image, &mut found) {}
        }
        let mut count = 0;
        let number = |found: bool| {
            found.then(|| {
                count += 1;
                count - 1
            })
        };
        let numbers = found.into_iter().map(number).collect();
        Suspects { numbers, count: count as usize, loaded: Loaded::new(image) }
    }

    #[inline]
    pub fn number(&self, r: Register) -> Option<usize> {
        self.numbers.get(r as usize).copied().flatten().map(|n| n as usize)
    }
}

/// Adds the results of instructions that carry on what they read. False if there are no more.
fn spread(image: &Image, found: &mut [bool]) -> bool {
    let mut changed = false;
    for i in image.regions.iter().flat_map(|region| &region.body) {
        let reads = i.sources.iter().filter_map(register).any(|r| found[r as usize]);
        if reads && Carry::of(i) != Carry::Never {
            for r in i.results.iter().flatten() {
                changed |= !std::mem::replace(&mut found[*r as usize], true);
            }
        }
    }
    changed
}

/// What a region reads before it writes it, and what it writes for certain, in this order.
struct Walk<'w> {
    read: &'w mut dyn FnMut(Register),
    write: &'w mut dyn FnMut(Register),
}

impl Walk<'_> {
    fn sources(&mut self, sources: &[Source]) {
        sources.iter().filter_map(register).for_each(&mut *self.read);
    }

    fn instr(&mut self, i: &Instr) {
        self.sources(&i.sources);
        match i.guard {
            Some(guard) => (self.read)(guard.register),
            None => i.results.iter().flatten().for_each(|r| (self.write)(*r)),
        }
    }

    /// `certain`: its registers are written on every way out of the region.
    fn transfer(&mut self, t: &Transfer, certain: bool) {
        for (from, _) in &t.moves {
            if let Place::Values { list } = from {
                self.sources(list);
            }
        }
        for (_, to) in t.moves.iter().filter(|_| certain) {
            if let Place::Registers { list } = to {
                list.iter().flatten().for_each(|r| (self.write)(*r));
            }
        }
    }

    fn region(&mut self, image: &Image, at: usize) {
        let region = &image.regions[at];
        region.results.iter().for_each(|t| self.transfer(t, true));
        region.body.iter().for_each(|i| self.instr(i));
        match &region.end {
            End::Branch { guard, .. } => (self.read)(guard.register),
            End::Switch { index, .. } => self.sources(std::slice::from_ref(index)),
            End::Block { instr, .. } => self.instr(instr),
            End::Call { pointer, callees, .. } => {
                self.sources(pointer.as_slice());
                for callee in callees {
                    self.transfer(&callee.arguments, callees.len() == 1);
                    if callees.len() == 1 {
                        (self.write)(callee.return_address);
                    }
                }
            }
            End::Goto { .. } | End::Return { .. } | End::Exit {} => {}
        }
    }
}

pub(super) fn successors(end: &End) -> Vec<usize> {
    let list = match end {
        End::Goto { to } => vec![*to],
        End::Branch { taken, fall, .. } => vec![*taken, *fall],
        End::Switch { targets, .. } => targets.clone(),
        End::Block { next, .. } => vec![*next],
        End::Call { callees, .. } => callees.iter().map(|c| c.start).collect(),
        End::Return { sites, .. } => sites.clone(),
        End::Exit {} => Vec::new(),
    };
    list.into_iter().map(usize::from).collect()
}

/// Registers that are live at the start of the kernel: liveness, by backward data flow.
fn live_at_start(image: &Image) -> Vec<Register> {
    let n = image.regions.len();
    // only registers that some region reads before it writes them can be live
    let mut numbers: Vec<Option<usize>> = vec![None; image.registers.len()];
    let mut written_in = vec![usize::MAX; image.registers.len()];
    let mut exposed = Vec::new();
    for at in 0..n {
        let written = std::cell::RefCell::new(&mut written_in);
        let mut read = |r: Register| {
            if written.borrow()[r as usize] != at && numbers[r as usize].is_none() {
                numbers[r as usize] = Some(exposed.len());
                exposed.push(r);
            }
        };
        let mut write = |r: Register| written.borrow_mut()[r as usize] = at;
        Walk { read: &mut read, write: &mut write }.region(image, at);
    }
    let words = exposed.len().div_ceil(64);
    let (mut reads, mut writes) = (vec![0u64; n * words], vec![0u64; n * words]);
    for at in 0..n {
        let row = at * words;
        let writes = std::cell::RefCell::new(&mut writes[row..row + words]);
        let mut read = |r: Register| {
            if let Some(i) = numbers[r as usize]
                && writes.borrow()[i / 64] >> (i % 64) & 1 == 0
            {
                reads[row + i / 64] |= 1 << (i % 64);
            }
        };
        let mut write = |r: Register| {
            if let Some(i) = numbers[r as usize] {
                writes.borrow_mut()[i / 64] |= 1 << (i % 64);
            }
        };
        Walk { read: &mut read, write: &mut write }.region(image, at);
    }
    let mut live = reads;
    let mut changed = n > 0;
    while std::mem::take(&mut changed) {
        // in reverse postorder, so that most successors come first
        for at in (0..n).rev() {
            for to in successors(&image.regions[at].end) {
                for word in 0..words {
                    let new = live[to * words + word] & !writes[at * words + word] & !live[at * words + word];
                    live[at * words + word] |= new;
                    changed |= new != 0;
                }
            }
        }
    }
    let first = live.get(..words).unwrap_or_default();
    exposed.iter().enumerate().filter(|(i, _)| first[i / 64] >> (i % 64) & 1 != 0).map(|(_, r)| *r).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_dsl_isa::image::{Guard, Region};
    use ptx_dsl_isa::opcode::Opcode;

    fn instr(opcode: Opcode, guard: Option<Guard>, sources: &[Register], result: Register) -> Instr {
        let action = Action::Opcode { opcode, qualifiers: 0, carry_out: false };
        let sources = sources.iter().map(|r| Source::Register { register: *r }).collect();
        Instr { action, site: 0, guard, sources, results: vec![Some(result)] }
    }

    fn suspects(regions: Vec<(Vec<Instr>, End)>) -> Vec<Register> {
        let region = |(body, end)| Region { name: String::new(), results: None, body, end };
        let image =
            Image { registers: vec![32; 8], regions: regions.into_iter().map(region).collect(), ..Image::default() };
        let found = Suspects::new(&image);
        (0..8).filter(|r| found.number(*r).is_some()).collect()
    }

    #[test]
    fn registers_that_are_live_at_the_start_and_what_comes_from_them() {
        let guard = Some(Guard { register: 0, holds: true });
        let exit = || End::Exit {};
        // written under a guard, read without one
        assert_eq!(suspects(vec![(vec![instr(op::ld, None, &[], 0), instr(op::ld, guard, &[], 1)], exit())]), []);
        let all = vec![
            instr(op::ld, None, &[], 0),
            instr(op::ld, guard, &[], 1),
            instr(op::add, None, &[1, 0], 2),
            instr(op::and, None, &[1, 0], 3),
            instr(op::sub, None, &[1, 1], 4),
        ];
        assert_eq!(suspects(vec![(all, exit())]), [1, 2]);
        // written on one of two ways
        let branch = End::Branch { guard: Guard { register: 0, holds: true }, taken: 1, fall: 2 };
        let first = |end| (vec![instr(op::ld, None, &[], 0)], end);
        let ways = vec![
            first(branch),
            (vec![instr(op::ld, None, &[], 5)], End::Goto { to: 2 }),
            (vec![instr(op::st, None, &[5], 6)], exit()),
        ];
        assert_eq!(suspects(ways.clone()), [5]);
        let mut both = ways;
        both[0].0.push(instr(op::ld, None, &[], 5));
        assert_eq!(suspects(both), []);
    }
}
