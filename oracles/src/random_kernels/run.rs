//! Interprets a program in plain Rust: all threads of a cluster at a time, each path with the threads that take it.

use super::copies::{self, MERGES};
use super::matrices::{self, Lane, MMAS, Sum};
use super::program::{
    CONSTANTS, COUNTERS, Class, Collective, Copies, GENERAL, Guard, LANE, LINEAR, Matrix, Meeting, Mode, OWN, Place,
    Program, RESULT, STEPS, Source, Space, Special, Stmt, TABLE, TOTALS, UNIFORM, WARP, Width,
};
use super::rows::ROWS;
use super::tensors::TENSORS;
use super::warpgroups::{self, THREADS};

/// The words that the kernel leaves in memory.
pub struct Outcome {
    pub result: Vec<u32>,
    pub totals: [u32; TOTALS],
}

/// The contents of the result before the launch; `main.txt` and `gpu.py` have the same.
pub fn blank(program: &Program) -> Vec<u32> {
    (0..program.threads() * program.grid * RESULT / 4).map(|i| i.wrapping_mul(0x0101_4001)).collect()
}

/// The contents of the table.
pub fn table() -> Vec<u32> {
    (0..TABLE as u32).map(|i| i.wrapping_mul(0x9E37_79B9) >> (i % 29)).collect()
}

/// Runs it.
pub fn run(program: &Program) -> Outcome {
    let mut outcome = Outcome { result: blank(program), totals: [0; TOTALS] };
    let table = table();
    let count = program.threads() * program.cluster;
    for (number, result) in outcome.result.chunks_mut((count * RESULT / 4) as usize).enumerate() {
        let first = number as u32 * program.cluster;
        let threads = (0..count).map(|t| Thread::new(program, first, t, result)).collect();
        let jumps = vec![None; count as usize];
        let mut cluster = Cluster { program, first, threads, jumps, totals: &mut outcome.totals, table: &table };
        let all = (0..count as usize).collect();
        let started = cluster.block(&program.start, all);
        let through = cluster.block(&program.body, started);
        for t in &through {
            cluster.threads[*t].write_registers(&mut result[t * RESULT as usize / 4..]);
        }
        for (t, thread) in cluster.threads.iter().enumerate() {
            let part = &mut result[t * RESULT as usize / 4..][..RESULT as usize / 4];
            if let Some(Jump::Gone(value)) = cluster.jumps[t] {
                part[0] = value;
            }
            let own = &mut part[(RESULT - OWN) as usize / 4..];
            own.iter_mut().zip(thread.own[Space::Global as usize].chunks(4)).for_each(|(w, bytes)| *w = word(bytes));
        }
    }
    outcome
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// The statement at which a thread continues, if it is not the next one.
#[derive(Clone, Copy)]
enum Jump {
    /// The thread leaves the enclosing loop, or this many more.
    Break(u8),
    Continue,
    /// The thread has ended with this result.
    Gone(u32),
}

struct Thread {
    /// By class.
    registers: [Vec<u64>; 6],
    /// By space.
    own: [[u8; OWN as usize]; 3],
}

impl Thread {
    fn new(program: &Program, first: u32, number: u32, result: &[u32]) -> Thread {
        let (cta, linear) = (first + number / program.threads(), number % program.threads());
        let registers = Class::ALL.map(|c| vec![0; c.all() as usize]);
        let mut own = [[0; OWN as usize]; 3];
        let part = &result[((number + 1) * RESULT - OWN) as usize / 4..];
        for (bytes, word) in own[Space::Global as usize].chunks_mut(4).zip(part) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        let mut thread = Thread { registers, own };
        let fixed = [(UNIFORM.start, program.n), (UNIFORM.start + 1, cta), (UNIFORM.start + 2, 5)];
        for (register, value) in fixed.into_iter().chain([(WARP, linear / 32), (LANE, linear % 32), (LINEAR, linear)]) {
            thread.registers[Class::R as usize][register as usize] = u64::from(value);
        }
        thread
    }

    fn get(&self, class: Class, register: u8) -> u64 {
        self.registers[class as usize][register as usize]
    }

    fn set(&mut self, class: Class, register: u8, value: u64) {
        self.registers[class as usize][register as usize] = value;
    }

    fn read(&self, class: Class, source: Source) -> u64 {
        match source {
            Source::Register(r) => self.get(class, r),
            Source::Immediate(value) => value,
        }
    }

    /// The accessed bytes.
    fn bytes(&mut self, space: Space, at: Place, bytes: u32) -> &mut [u8] {
        let offset = match at {
            Place::Fixed(offset) => offset,
            Place::Computed(register) => self.get(Class::R, register) as u32 & (OWN - bytes),
        };
        &mut self.own[space as usize][offset as usize..(offset + bytes) as usize]
    }

    fn write_registers(&self, words: &mut [u32]) {
        let [r, d, f, p, h, e] = &self.registers;
        for i in 0..UNIFORM.end as usize {
            words[i] = r[i] as u32;
        }
        words[11] = p.iter().enumerate().map(|(i, p)| (*p as u32) << i).sum();
        for (i, d) in d.iter().enumerate() {
            words[12 + 2 * i] = *d as u32;
            words[13 + 2 * i] = (*d >> 32) as u32;
        }
        for (i, f) in f.iter().enumerate() {
            words[20 + i] = *f as u32;
        }
        for (i, e) in e.iter().enumerate() {
            words[24 + 2 * i] = *e as u32;
            words[25 + 2 * i] = (*e >> 32) as u32;
        }
        words[28] = h[0] as u32 | (h[1] as u32) << 16;
    }
}

/// The CTAs of a cluster, one after the other.
struct Cluster<'p> {
    program: &'p Program,
    /// The first CTA of the cluster.
    first: u32,
    threads: Vec<Thread>,
    jumps: Vec<Option<Jump>>,
    totals: &'p mut [u32; TOTALS],
    table: &'p [u32],
}

impl Cluster<'_> {
    /// Runs the statements with these threads; returns those that reach the end.
    fn block(&mut self, body: &[Stmt], mut here: Vec<usize>) -> Vec<usize> {
        for stmt in body {
            if !here.is_empty() {
                here = self.stmt(stmt, here);
            }
        }
        here
    }

    fn passes(&self, thread: usize, guard: Option<Guard>) -> bool {
        guard.is_none_or(|g| (self.threads[thread].get(Class::P, g.register) != 0) != g.negated)
    }

    fn stmt(&mut self, stmt: &Stmt, here: Vec<usize>) -> Vec<usize> {
        match stmt {
            Stmt::If { guard, then, otherwise, .. } => {
                let (yes, no) = here.into_iter().partition(|t| self.passes(*t, Some(*guard)));
                let mut after = self.block(then, yes);
                after.extend(self.block(otherwise, no));
                after.sort_unstable();
                return after;
            }
            Stmt::Loop { depth, trips, bottom, body } => return self.turns(*depth, *trips, *bottom, body, here),
            Stmt::Break { guard, further } => return self.jump(here, *guard, |_| Jump::Break(*further)),
            Stmt::Continue { guard } => return self.jump(here, *guard, |_| Jump::Continue),
            Stmt::Leave { guard, from } => {
                return self.jump(here, *guard, |t| Jump::Gone(t.get(Class::R, *from) as u32));
            }
            Stmt::Switch { index, arms } => {
                let arm = |t: usize| (self.threads[t].get(Class::R, *index) as usize).min(arms.len() - 1);
                let takes: Vec<usize> = here.iter().map(|t| arm(*t)).collect();
                let mut after = Vec::new();
                for (i, arm) in arms.iter().enumerate() {
                    let these = here.iter().zip(&takes).filter(|(_, takes)| **takes == i).map(|(t, _)| *t).collect();
                    after.extend(self.block(arm, these));
                }
                after.sort_unstable();
                return after;
            }
            Stmt::Call { function, to, from } => return self.call(*function, *to, *from, here),
            Stmt::Together { what, to, from, .. } => self.together(*what, *to, *from, &here),
            Stmt::Tangle { depth, select, arms } => return self.tangle(*depth, *select, arms, here),
            Stmt::Matrix(matrix) => here.chunk_by(|a, b| a / 32 == b / 32).for_each(|warp| self.matrix(matrix, warp)),
            Stmt::Warpgroup { d, a, mask, b, adds } => {
                for group in here.chunks(THREADS) {
                    let operands = |t: &usize| {
                        let t = &self.threads[*t];
                        let a = (0..4).map(|i| t.get(Class::R, (a + i) % GENERAL) & u64::from(*mask)).collect();
                        [a, (0..4).map(|i| t.get(Class::F, (d + i) % 4)).collect::<Vec<_>>()]
                    };
                    let bytes: Vec<u8> =
                        group.iter().flat_map(|t| self.threads[*t].own[Space::Shared as usize]).collect();
                    let threads: Vec<_> = group.iter().map(operands).collect();
                    for (t, result) in group.iter().zip(warpgroups::multiply(&threads, &bytes, *b, *adds)) {
                        let results = (0..).zip(result);
                        results.for_each(|(i, value)| self.threads[*t].set(Class::F, (d + i) % 4, value));
                    }
                }
            }
            Stmt::Tensor { to, index, at } => {
                let tensor = &TENSORS[self.program.tensor];
                for t in &here {
                    let word = self.threads[*t].get(Class::R, *index) as usize % tensor.words();
                    self.threads[*t].set(Class::R, *to, tensor.word(self.table, at, word).into());
                }
            }
            Stmt::Copies { what, during } => return self.copies(what, during, here),
            Stmt::Send { to, from, shift, merge } => {
                let values: Vec<u64> = self.threads.iter().map(|t| t.get(Class::R, *from)).collect();
                for t in &here {
                    let sent = values[(t + values.len() * *shift as usize - *shift as usize) % values.len()];
                    let value = merge.map_or(sent, |m| u64::from((MERGES[m].meaning)(values[*t] as u32, sent as u32)));
                    self.threads[*t].set(Class::R, *to, value);
                }
            }
            Stmt::Deliver { merge } => {
                let shared: Vec<_> = self.threads.iter().map(|t| t.own[Space::Shared as usize]).collect();
                for t in &here {
                    let before = (t + shared.len() - self.program.threads() as usize) % shared.len();
                    let own = &mut self.threads[*t].own[Space::Shared as usize];
                    copies::deliver(own, &shared[before], *merge);
                }
            }
            Stmt::Multicast { to, index, first } => {
                for t in &here {
                    let index = self.threads[*t].get(Class::R, *index) as usize & 15;
                    let value = self.table[4 * *first as usize + index];
                    self.threads[*t].set(Class::R, *to, value.into());
                }
            }
            Stmt::Exchange { to, from, shift, meeting } => {
                let values: Vec<u64> = self.threads.iter().map(|t| t.get(Class::R, *from)).collect();
                let threads = self.program.threads() as usize;
                for t in &here {
                    let group = match meeting {
                        Meeting::Cluster | Meeting::Remote => 0..values.len(),
                        Meeting::Warp => t - t % threads % 32..t - t % threads % 32 + 32,
                        _ => t - t % threads..t - t % threads + threads,
                    };
                    let value = values[group.start + (t - group.start + *shift as usize) % group.len()];
                    self.threads[*t].set(Class::R, *to, value);
                }
            }
            Stmt::Count { to, from } => {
                let threads = self.program.threads() as usize;
                for cta in here.chunk_by(|a, b| a / threads == b / threads) {
                    let count = cta.iter().filter(|t| self.threads[**t].get(Class::P, *from) != 0).count();
                    cta.iter().for_each(|t| self.threads[*t].set(Class::R, *to, count as u64));
                }
            }
            _ => here.iter().for_each(|t| self.alone(stmt, *t)),
        }
        here
    }

    /// Statements that each thread executes on its own.
    fn alone(&mut self, stmt: &Stmt, t: usize) {
        let (Stmt::Row { guard, .. }
        | Stmt::Load { guard, .. }
        | Stmt::Store { guard, .. }
        | Stmt::Atom { guard, .. }
        | Stmt::Vector { guard, .. }
        | Stmt::Gather { guard, .. }
        | Stmt::Total { guard, .. }) = stmt
        else {
            let Stmt::Special { to, what } = stmt else { unreachable!("{stmt:?} is not done alone") };
            let value = self.special(*what, t as u32);
            return self.threads[t].set(Class::R, *to, u64::from(value));
        };
        if !self.passes(t, *guard) {
            return;
        }
        let thread = &mut self.threads[t];
        match stmt {
            Stmt::Row { row, to, from, .. } => {
                let row = ROWS[*row];
                let from: Vec<u64> = from.iter().zip(&row.classes[1..]).map(|(s, c)| thread.read(*c, *s)).collect();
                thread.set(row.classes[0], *to, (row.meaning)(&from));
            }
            Stmt::Load { space, width, to, at, .. } => {
                let bytes = thread.bytes(*space, *at, width.bytes());
                let mut whole = [0; 8];
                whole[..bytes.len()].copy_from_slice(bytes);
                let plain = u64::from_le_bytes(whole);
                let value = match width {
                    Width::S8 => u64::from(i32::from(plain as i8) as u32),
                    Width::S16 => u64::from(i32::from(plain as i16) as u32),
                    _ => plain,
                };
                thread.set(width.class(), *to, value);
            }
            Stmt::Store { space, width, from, at, .. } => {
                let value = thread.get(width.class(), *from).to_le_bytes();
                let bytes = thread.bytes(*space, *at, width.bytes());
                bytes.copy_from_slice(&value[..bytes.len()]);
            }
            Stmt::Atom { space, exchange, to, from, at, .. } => {
                let value = thread.get(Class::R, *from) as u32;
                let bytes = thread.bytes(*space, *at, 4);
                let old = word(bytes);
                let new = if *exchange { value } else { old.wrapping_add(value) };
                bytes.copy_from_slice(&new.to_le_bytes());
                thread.set(Class::R, *to, u64::from(old));
            }
            Stmt::Vector { space, store, registers, at, .. } => {
                let mut values: Vec<u64> = registers.iter().map(|r| thread.get(Class::R, *r)).collect();
                for (bytes, value) in
                    thread.bytes(*space, *at, 4 * registers.len() as u32).chunks_mut(4).zip(&mut values)
                {
                    if *store {
                        bytes.copy_from_slice(&(*value as u32).to_le_bytes());
                    } else {
                        *value = u64::from(word(bytes));
                    }
                }
                registers.iter().zip(values).for_each(|(r, value)| thread.set(Class::R, *r, value));
            }
            Stmt::Gather { constant, to, index, .. } => {
                let index = thread.get(Class::R, *index) as usize;
                let value = if *constant { CONSTANTS[index % CONSTANTS.len()] } else { self.table[index % TABLE] };
                thread.set(Class::R, *to, u64::from(value));
            }
            Stmt::Total { which, from, .. } => {
                let total = &mut self.totals[*which as usize];
                *total = total.wrapping_add(thread.get(Class::R, *from) as u32);
            }
            _ => {}
        }
    }

    /// Rows between the start of copies and the wait change no operands of the copies.
    fn copies(&mut self, what: &Copies, during: &[Stmt], here: Vec<usize>) -> Vec<usize> {
        let mut loads = Vec::new();
        for t in &here {
            let Thread { registers, own } = &mut self.threads[*t];
            let predicate = |p: u8| registers[Class::P as usize][p as usize] != 0;
            let register = |r: u8| registers[Class::R as usize][r as usize] as u32;
            let passes = |guard: Option<Guard>| guard.is_none_or(|g| predicate(g.register) != g.negated);
            loads.push(copies::run(what, own, register, predicate, |copy| passes(copy.guard)));
        }
        let here = self.block(during, here);
        for (t, loads) in here.iter().zip(loads) {
            loads.into_iter().for_each(|(to, value)| self.threads[*t].set(Class::R, to, value.into()));
        }
        here
    }

    fn matrix(&mut self, matrix: &Matrix, warp: &[usize]) {
        match matrix {
            Matrix::Mma { which, d, a, b, c, mask } => {
                let form = &MMAS[*which];
                let counts = form.registers();
                let sums = matrices::class(form.sum);
                let (elements, mask) =
                    if form.sum == Sum::F64 { (Class::E, u64::MAX) } else { (Class::R, u64::from(*mask)) };
                let read = |t: &Thread, class: Class, first: u8, count: usize, mask: u64| -> Vec<u64> {
                    (0..count).map(|i| t.get(class, (first + i as u8) % class.count()) & mask).collect()
                };
                let lane = |t: &usize| -> Lane {
                    let t = &self.threads[*t];
                    let (a, b) = (read(t, elements, *a, counts.0, mask), read(t, elements, *b, counts.1, mask));
                    [a, b, read(t, sums, *c, counts.2, u64::MAX)]
                };
                let lanes: Vec<Lane> = warp.iter().map(lane).collect();
                for (t, result) in warp.iter().zip(matrices::product(form, &lanes)) {
                    for (i, value) in result.into_iter().enumerate() {
                        self.threads[*t].set(sums, (d + i as u8) % sums.count(), value);
                    }
                }
            }
            Matrix::Move { to, from } => {
                let values: Vec<u64> = warp.iter().map(|t| self.threads[*t].get(Class::R, *from)).collect();
                for (lane, t) in warp.iter().enumerate() {
                    let half =
                        |(row, column): (usize, usize)| values[4 * row + column / 2] >> (column % 2 * 16) & 0xFFFF;
                    let [low, high] = matrices::places(lane, true).map(half);
                    self.threads[*t].set(Class::R, *to, high << 16 | low);
                }
            }
            Matrix::Load { registers, trans, step, shift } => {
                let bytes: Vec<u8> = warp.iter().flat_map(|t| self.threads[*t].own[Space::Shared as usize]).collect();
                for (lane, t) in warp.iter().enumerate() {
                    for (i, to) in registers.iter().enumerate() {
                        let half = |(row, column): (usize, usize)| {
                            let at = matrices::row_at((8 * i + row) as u32, *step, *shift) + 2 * column;
                            u64::from(bytes[at]) | u64::from(bytes[at + 1]) << 8
                        };
                        let [low, high] = matrices::places(lane, *trans).map(half);
                        self.threads[*t].set(Class::R, *to, high << 16 | low);
                    }
                }
            }
            Matrix::Store { registers, trans, step, shift } => {
                for (lane, t) in warp.iter().enumerate() {
                    for (i, from) in registers.iter().enumerate() {
                        let value = self.threads[*t].get(Class::R, *from) as u32;
                        for (half, (row, column)) in matrices::places(lane, *trans).into_iter().enumerate() {
                            let at = matrices::row_at((8 * i + row) as u32, *step, *shift) + 2 * column;
                            let own = &mut self.threads[warp[at / OWN as usize]].own[Space::Shared as usize];
                            let bytes = ((value >> (16 * half)) as u16).to_le_bytes();
                            own[at % OWN as usize..][..2].copy_from_slice(&bytes);
                        }
                    }
                }
            }
        }
    }

    fn special(&self, what: Special, t: u32) -> u32 {
        let [x, _] = self.program.block;
        let (cta, t) = (t / self.program.threads(), t % self.program.threads());
        match what {
            Special::TidX => t % x,
            Special::TidY => t / x,
            Special::NtidX => x,
            Special::CtaidX => self.first + cta,
            Special::NctaidX => self.program.grid,
            Special::LaneId => t % 32,
        }
    }

    fn jump(&mut self, here: Vec<usize>, guard: Guard, to: impl Fn(&Thread) -> Jump) -> Vec<usize> {
        let (gone, stay): (Vec<usize>, Vec<usize>) = here.into_iter().partition(|t| self.passes(*t, Some(guard)));
        for t in gone {
            self.jumps[t] = Some(to(&self.threads[t]));
        }
        stay
    }

    fn turns(&mut self, depth: u8, trips: Source, bottom: bool, body: &[Stmt], here: Vec<usize>) -> Vec<usize> {
        let counter = COUNTERS + depth;
        let limit: Vec<u64> = self
            .threads
            .iter()
            .map(|t| match trips {
                Source::Register(r) => t.get(Class::R, r) & 7,
                Source::Immediate(n) => n,
            })
            .collect();
        here.iter().for_each(|t| self.threads[*t].set(Class::R, counter, 0));
        let (mut inside, mut out): (Vec<usize>, Vec<usize>) = here.into_iter().partition(|t| bottom || limit[*t] > 0);
        while !inside.is_empty() {
            let mut after = self.block(body, inside.clone());
            for t in inside {
                match self.jumps[t] {
                    Some(Jump::Continue) => after.push(t),
                    Some(Jump::Break(0)) => out.push(t),
                    Some(Jump::Break(further)) => {
                        self.jumps[t] = Some(Jump::Break(further - 1));
                        continue;
                    }
                    Some(Jump::Gone(_)) | None => continue,
                }
                self.jumps[t] = None;
            }
            after.sort_unstable();
            for t in &after {
                let next = self.threads[*t].get(Class::R, counter) + 1;
                self.threads[*t].set(Class::R, counter, next);
            }
            let done: Vec<usize>;
            (inside, done) = after.into_iter().partition(|t| self.threads[*t].get(Class::R, counter) < limit[*t]);
            out.extend(done);
        }
        out.sort_unstable();
        out
    }

    fn tangle(&mut self, depth: u8, select: u8, arms: &[Vec<Stmt>; 3], here: Vec<usize>) -> Vec<usize> {
        let counter = COUNTERS + depth;
        let mut at: [Vec<usize>; 3] = Default::default();
        for t in here {
            self.threads[t].set(Class::R, counter, 0);
            at[self.threads[t].get(Class::R, select) as usize & 1].push(t);
        }
        let mut out = Vec::new();
        while let Some(arm) = at.iter().position(|t| !t.is_empty()) {
            let takes = std::mem::take(&mut at[arm]);
            for t in self.block(&arms[arm], takes) {
                let next = self.threads[t].get(Class::R, counter) + 1;
                self.threads[t].set(Class::R, counter, next);
                let further = if self.threads[t].get(Class::R, select) >> next & 1 != 0 { 1 } else { 2 };
                let to = if next < u64::from(STEPS) { &mut at[(arm + further) % 3] } else { &mut out };
                to.push(t);
            }
            at.iter_mut().for_each(|t| t.sort_unstable());
        }
        out.sort_unstable();
        out
    }

    fn call(&mut self, function: usize, to: u8, from: [u8; 2], here: Vec<usize>) -> Vec<usize> {
        let mut saved = Vec::new();
        for t in &here {
            let thread = &mut self.threads[*t];
            let parameters = from.map(|r| thread.get(Class::R, r));
            let mut registers = Class::ALL.map(|c| vec![0; c.all() as usize]);
            for (i, r) in registers[Class::R as usize].iter_mut().enumerate() {
                *r = u64::from(initial(i as u32));
            }
            registers[Class::R as usize][..2].copy_from_slice(&parameters);
            for (i, p) in registers[Class::P as usize].iter_mut().enumerate() {
                *p = (parameters[0] >> i) & 1;
            }
            saved.push(std::mem::replace(&mut thread.registers, registers));
        }
        let program = self.program;
        self.block(&program.functions[function].body, here.clone());
        for (t, saved) in here.iter().zip(saved) {
            let result = match self.jumps[*t].take() {
                Some(Jump::Gone(value)) => u64::from(value),
                _ => self.threads[*t].get(Class::R, 0),
            };
            self.threads[*t].registers = saved;
            self.threads[*t].set(Class::R, to, result);
        }
        here
    }

    fn together(&mut self, what: Collective, to: u8, from: u8, here: &[usize]) {
        // Blocks are whole warps then.
        for warp in here.chunk_by(|a, b| a / 32 == b / 32) {
            let values: Vec<u32> = warp.iter().map(|t| self.threads[*t].get(Class::R, from) as u32).collect();
            let predicates = |p: u8| warp.iter().map(move |t| (t % 32, *t, p));
            let ballot = |all: &Self, p: u8| -> u32 {
                predicates(p).map(|(lane, t, p)| (all.threads[t].get(Class::P, p) as u32) << lane).sum()
            };
            let here: u32 = warp.iter().map(|t| 1 << (t % 32)).sum();
            let same = |value: u32| -> u32 {
                warp.iter().zip(&values).filter(|(_, v)| **v == value).map(|(t, _)| 1 << (t % 32)).sum()
            };
            let (class, results): (Class, Vec<u32>) = match what {
                Collective::Ballot(p) => (Class::R, vec![ballot(self, p); warp.len()]),
                Collective::Any(p) => (Class::P, vec![u32::from(ballot(self, p) != 0); warp.len()]),
                Collective::All(p) => (Class::P, vec![u32::from(ballot(self, p) == here); warp.len()]),
                Collective::Match => (Class::R, values.iter().map(|v| same(*v)).collect()),
                Collective::Add => (Class::R, vec![values.iter().fold(0, |a, b| a.wrapping_add(*b)); warp.len()]),
                Collective::Min => {
                    let least = values.iter().map(|v| *v as i32).min().unwrap_or(0);
                    (Class::R, vec![least as u32; warp.len()])
                }
                Collective::Xor => (Class::R, vec![values.iter().fold(0, |a, b| a ^ b); warp.len()]),
                Collective::Shuffle(mode, b, c, in_range) => {
                    let mut results = Vec::new();
                    for (lane, t) in warp.iter().enumerate() {
                        let b = self.threads[*t].read(Class::R, b) as u32;
                        let (from, valid) = shuffled(mode, lane as u32, b, c);
                        results.push(values[from as usize]);
                        self.threads[*t].set(Class::P, in_range, u64::from(valid));
                    }
                    (Class::R, results)
                }
            };
            for (t, value) in warp.iter().zip(results) {
                self.threads[*t].set(class, to, u64::from(value));
            }
        }
    }
}

/// A register of a function before it is written.
pub fn initial(register: u32) -> u32 {
    register.wrapping_mul(0x9E37_79B9)
}

/// PTX ISA 9.7.9.6: the source lane, and whether it is in range.
fn shuffled(mode: Mode, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (b, segment, clamp) = (b & 31, (c >> 8) & 31, c & 31);
    let most = (lane & segment) | (clamp & !segment);
    let least = lane & segment;
    let (from, valid) = match mode {
        Mode::Up => (lane.wrapping_sub(b), lane as i32 - b as i32 >= most as i32),
        Mode::Down => (lane + b, lane + b <= most),
        Mode::Bfly => (lane ^ b, lane ^ b <= most),
        Mode::Idx => (least | (b & !segment), least | (b & !segment) <= most),
    };
    if valid { (from, true) } else { (lane, false) }
}
