//! The registers that are live where a region starts: registers that some path from there reads before it writes them. The
//! registers that a recursive call saves do not count.

use ptx_dsl_isa::image::{End, Image, Instr, Place, Region, Register, Source, Transfer};

/// The register of a source, if it is one.
pub(super) fn register(source: &Source) -> Option<Register> {
    match source {
        Source::Register { register } | Source::Not { register } | Source::Address { base: register, .. } => {
            Some(*register)
        }
        Source::Constant { .. } | Source::Variable { .. } | Source::Special { .. } | Source::Frame { .. } => None,
    }
}

/// The registers that a region reads before it writes them, and the registers that it writes for certain, in this order.
pub(super) struct Walk<'w> {
    pub read: &'w mut dyn FnMut(Register),
    pub write: &'w mut dyn FnMut(Register),
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

    /// Walks through a transfer. `certain`: its registers are written on every way out of the region.
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

    pub fn region(&mut self, image: &Image, at: usize) {
        let region = &image.regions[at];
        self.start(region);
        region.body.iter().for_each(|i| self.instr(i));
        self.end(region);
    }

    /// Walks through a region without its instructions.
    pub fn around_body(&mut self, region: &Region) {
        self.start(region);
        self.end(region);
    }

    fn start(&mut self, region: &Region) {
        region.results.iter().for_each(|t| self.transfer(t, true));
    }

    fn end(&mut self, region: &Region) {
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
            End::Return { address, .. } => (self.read)(*address),
            End::Goto { .. } | End::Exit {} => {}
        }
    }
}

/// The regions that may follow one that ends so.
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

/// The live registers of each region.
#[derive(Debug)]
pub(super) struct Liveness {
    /// The number of each register among the registers that are live anywhere.
    numbers: Vec<Option<usize>>,
    /// The number of words of a set of live registers.
    words: usize,
    /// A set for each region.
    live: Vec<u64>,
}

impl Liveness {
    /// Backward data flow.
    pub fn new(image: &Image) -> Liveness {
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
        Liveness { numbers, words, live }
    }

    /// Is a register live where a region starts? Nothing is after the last one.
    pub fn is_live(&self, region: usize, r: Register) -> bool {
        let Some(i) = self.numbers.get(r as usize).copied().flatten() else { return false };
        self.live.get(region * self.words + i / 64).is_some_and(|word| word >> (i % 64) & 1 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_dsl_isa::image::{Action, Guard};
    use ptx_dsl_isa::opcode::op;

    fn instr(guard: Option<Guard>, sources: &[Register], result: Register) -> Instr {
        let action = Action::Opcode { opcode: op::add, qualifiers: 0, carry_out: false };
        let sources = sources.iter().map(|r| Source::Register { register: *r }).collect();
        Instr { action, site: 0, lines: Default::default(), guard, sources, results: vec![Some(result)] }
    }

    #[test]
    fn registers_that_some_path_reads_first() {
        let guard = Guard { register: 0, holds: true };
        let branch = End::Branch { guard, taken: 1, fall: 2 };
        let regions = vec![
            // writes 1, and 2 in some lanes
            (vec![instr(None, &[], 1), instr(Some(guard), &[], 2)], branch),
            // a loop that counts in 3
            (vec![instr(None, &[3, 1], 3)], End::Branch { guard, taken: 1, fall: 2 }),
            (vec![instr(None, &[2], 4), instr(None, &[4], 4)], End::Return { address: 5, sites: Vec::new() }),
        ];
        let region = |(body, end)| Region { name: String::new(), results: None, body, end, branch: 0, last: None };
        let image =
            Image { registers: vec![32; 8], regions: regions.into_iter().map(region).collect(), ..Image::default() };
        let live = Liveness::new(&image);
        let at = |region| (0..8).filter(|r| live.is_live(region, *r)).collect::<Vec<_>>();
        assert_eq!([at(0), at(1), at(2), at(3)], [vec![0, 2, 3, 5], vec![0, 1, 2, 3, 5], vec![2, 5], vec![]]);
        assert!(!live.is_live(usize::from(u16::MAX), 2) && !live.is_live(0, 1000));
    }
}
