//! Random programs. Each is defined PTX: no thread reads what another may be writing, barriers and warp instructions are where
//! all of their threads arrive, and every loop ends.

use super::copies::MERGES;
use super::matrices::{MMAS, Sum};
use super::program::{
    COUNTERS, Class, Collective, Copies, DEPTH, Direction, Function, GENERAL, Guard, Halves, LANE, LINEAR, Matrix,
    Meeting, Mode, OWN, Place, Program, Small, Source, Space, Special, Stmt, TOTALS, Target, UNIFORM, WARP, Wait,
    Width, Zeros,
};
use super::rows::ROWS;
use super::tensors::TENSORS;
use super::warpgroups::THREADS;
use crate::Random;

/// Block shapes of launches.
const BLOCKS: &[[u32; 2]] =
    &[[1, 1], [17, 1], [32, 1], [33, 1], [64, 1], [16, 4], [96, 1], [40, 2], [128, 1], [32, 4], [64, 3], [256, 1]];
const IMMEDIATES: &[u64] = &[0, 1, 2, 3, 4, 7, 8, 31, 32, 33, 100, 255, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF];
/// 0, -0, 1, -2.5, infinity, NaN, the least number, the greatest.
const FLOATS: &[u64] = &[0, 0x8000_0000, 0x3F80_0000, 0xC020_0000, 0x7F80_0000, 0x7FC0_1234, 1, 0x7F7F_FFFF];
/// Numbers near limits of `.f64`, without NaN and the greatest.
const DOUBLES: &[u64] = &[0, 1 << 63, 0x3FF0_0000_0000_0000, 0xC004_0000_0000_0000, 0x7FF0_0000_0000_0000, 1];

/// The program of a seed, with about `size` statements.
pub fn program(seed: u64, size: usize) -> Program {
    let mut random = Random::new(seed);
    let block = *random.pick(BLOCKS).expect("there are some");
    let cluster = [1, 1, 2, 4][random.below(4)];
    let target = if random.below(3) == 0 { Target::Blackwell } else { Target::Hopper };
    let warps = (block[0] * block[1]).is_multiple_of(32);
    let warpgroups = (block[0] * block[1]).is_multiple_of(THREADS as u32) && target == Target::Hopper;
    let tensor = random.below(TENSORS.len());
    let mut maker = Maker { random, left: 0, functions: 0, warps, warpgroups, tensor, cluster, target };
    let mut functions = Vec::new();
    for i in 0..maker.below(4) {
        maker.functions = i;
        functions.push(maker.function());
    }
    maker.functions = functions.len();
    maker.left = size;
    let start = maker.start();
    let together = if cluster > 1 { Together::Cluster } else { Together::Cta };
    let whole = Scope { together, loops: 0, wild: 0, kernel: true, tail: false };
    let mut body = maker.block(whole);
    maker.left = size / 4;
    let tail = maker.chance(2);
    body.extend(maker.block(Scope { together: Together::Nobody, tail, ..whole }));
    Program {
        block,
        grid: cluster * (1 + maker.below(3) as u32) * if maker.chance(8) { 10 } else { 1 },
        cluster,
        target,
        required: maker.chance(2),
        n: maker.below(10) as u32,
        tensor,
        functions,
        start,
        body,
    }
}

/// The threads that execute a statement together.
#[derive(Clone, Copy, PartialEq)]
enum Together {
    Cluster,
    Cta,
    Warp,
    /// Lanes below this number, of each warp that executes it.
    Lanes(u32),
    Nobody,
}

#[derive(Clone, Copy)]
struct Scope {
    together: Together,
    /// The loops around, and how many of them lanes may leave from here.
    loops: u8,
    wild: u8,
    kernel: bool,
    /// May threads end?
    tail: bool,
}

struct Maker {
    random: Random,
    /// The number of statements still to be made.
    left: usize,
    functions: usize,
    /// Does the block have whole warps only?
    warps: bool,
    /// Whole warpgroups, that have `wgmma`?
    warpgroups: bool,
    tensor: usize,
    /// CTAs of a cluster.
    cluster: u32,
    target: Target,
}

impl Maker {
    fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    /// True once in so many.
    fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    fn function(&mut self) -> Function {
        self.left = 4 + self.below(12);
        let scope = Scope { together: Together::Nobody, loops: 0, wild: 0, kernel: false, tail: true };
        Function { body: self.block(scope) }
    }

    /// Writes every register once.
    fn start(&mut self) -> Vec<Stmt> {
        let mut body = Vec::new();
        for to in 0..GENERAL {
            body.push(match self.below(4) {
                0 => Stmt::Special { to, what: self.special() },
                1 => Stmt::Gather { constant: self.chance(2), to, index: LINEAR, guard: None },
                2 => named("mov.u32 $, $;", to, vec![self.immediate(Class::R)]),
                _ => named("mul.lo.u32 $, $, $;", to, vec![Source::Register(LINEAR), self.immediate(Class::R)]),
            });
        }
        for to in 0..4 {
            let from = |maker: &mut Self| Source::Register(maker.below(GENERAL.into()) as u8);
            let (a, b) = (from(self), from(self));
            body.push(named("mul.wide.u32 $, $, $;", to, vec![a, b]));
            body.push(named("cvt.rn.f32.s32 $, $;", to, vec![from(self)]));
            body.push(named("setp.lt.u32 $, $, $;", to, vec![b, from(self)]));
        }
        for to in 0..2 {
            let from = Source::Register(self.general());
            body.push(named("cvt.u16.u32 $, $;", to, vec![from]));
            body.push(named("cvt.rn.f64.s32 $, $;", to, vec![from]));
        }
        body
    }

    /// All remaining statements.
    fn block(&mut self, scope: Scope) -> Vec<Stmt> {
        let mut body = Vec::new();
        while self.left > 0 {
            self.left -= 1;
            self.stmt(scope, &mut body);
        }
        body
    }

    /// A few.
    fn inner(&mut self, scope: Scope) -> Vec<Stmt> {
        let mut body = Vec::new();
        for _ in 0..1 + self.below(6) {
            if self.left > 0 {
                self.left -= 1;
                self.stmt(scope, &mut body);
            }
        }
        body
    }

    fn stmt(&mut self, scope: Scope, body: &mut Vec<Stmt>) {
        let whole = matches!(scope.together, Together::Cluster | Together::Cta);
        let warp = self.warps && scope.together != Together::Nobody;
        match self.below(100) {
            0..10 => self.branch(scope, body),
            10..15 if scope.loops < DEPTH => self.turns(scope, body),
            15..16 if scope.loops < DEPTH => {
                let (depth, select) = (scope.loops, self.readable(scope));
                let inside = Scope { loops: depth + 1, together: Together::Nobody, ..scope };
                let arms = [self.inner(inside), self.inner(inside), self.inner(inside)];
                body.push(Stmt::Tangle { depth, select, arms });
            }
            15..17 => {
                let index = self.readable(scope);
                let inside = Scope { together: Together::Nobody, ..scope };
                let arms = (0..2 + self.below(3)).map(|_| self.inner(inside)).collect();
                body.push(Stmt::Switch { index, arms });
            }
            17..20 if self.functions > 0 => {
                let function = self.below(self.functions);
                let from = [self.readable(scope), self.readable(scope)];
                body.push(Stmt::Call { function, to: self.general(), from });
            }
            20..26 if scope.wild > 0 => {
                let guard = self.some_guard();
                let further = self.below(scope.wild.into()) as u8;
                body.push(if self.chance(3) { Stmt::Continue { guard } } else { Stmt::Break { guard, further } });
            }
            26..28 if scope.tail => {
                let guard = self.some_guard();
                body.push(Stmt::Leave { guard, from: self.general() });
            }
            28..35 if warp => self.together(scope, body),
            35..38 if whole || warp && !matches!(scope.together, Together::Lanes(_)) => {
                let shift = self.below(40) as u32;
                let (to, from) = (self.general(), self.readable(scope));
                let meeting = match self.below(6) {
                    0 if self.warps => Meeting::Warp,
                    _ if !whole => Meeting::Warp,
                    1 if scope.together == Together::Cluster => Meeting::Cluster,
                    2 if scope.together == Together::Cluster => Meeting::Remote,
                    3 => Meeting::Parity,
                    4 => Meeting::State,
                    5 => Meeting::Named,
                    _ => Meeting::Barrier,
                };
                body.push(Stmt::Exchange { to, from, shift, meeting });
            }
            38..39 if whole => {
                body.push(Stmt::Count { to: self.general(), from: self.below(4) as u8 });
            }
            39..42 if whole => {
                let to = UNIFORM.start + self.below(UNIFORM.len()) as u8;
                let from = UNIFORM.start + self.below(UNIFORM.len()) as u8;
                let what = ["add.u32 $, $, $;", "xor.b32 $, $, $;", "min.u32 $, $, $;"][self.below(3)];
                body.push(named(what, to, vec![Source::Register(from), self.immediate(Class::R)]));
            }
            42..62 if scope.kernel => self.memory(scope, body),
            62..66 if scope.kernel => self.copies(scope, body),
            66..68 if whole && self.warpgroups => {
                let warpgroup = self.warpgroup();
                body.push(warpgroup);
            }
            68..70 if whole => {
                let (to, index) = (self.general(), self.readable(scope));
                body.push(Stmt::Tensor { to, index, at: self.coordinates() });
            }
            66..74 if warp && !matches!(scope.together, Together::Lanes(_)) => {
                for _ in 0..1 + self.below(4) {
                    let matrix = self.matrix();
                    body.push(Stmt::Matrix(matrix));
                }
            }
            78..80 if scope.together == Together::Cluster => {
                let merge = self.merge();
                body.push(Stmt::Deliver { merge });
            }
            74..78 if scope.together == Together::Cluster || whole && self.cluster == 1 => {
                let (to, from) = (self.general(), self.readable(scope));
                body.push(if self.chance(3) {
                    Stmt::Multicast { to, index: from, first: self.below(13) as u32 }
                } else {
                    Stmt::Send { to, from, shift: self.below(300) as u32, merge: self.merge() }
                });
            }
            _ => self.row(scope, body),
        }
    }

    /// An operation of reductions, or none.
    fn merge(&mut self) -> Option<usize> {
        if self.chance(2) { None } else { Some(self.below(MERGES.len())) }
    }

    fn copies(&mut self, scope: Scope, body: &mut Vec<Stmt>) {
        let what = match self.below(5) {
            0..2 => self.small_copies(scope),
            2 if self.target == Target::Blackwell => {
                let at = self.below(OWN as usize / 8) as u32;
                Copies::Zeros { at: 8 * at, size: 8 * (1 + self.below((OWN / 8 - at) as usize) as u32) }
            }
            _ => self.bulk_copy(),
        };
        let mut during = Vec::new();
        for _ in 0..self.below(4) {
            self.row(scope, &mut during);
        }
        body.push(Stmt::Copies { what, during });
    }

    /// To places that do not overlap: which of two copies to one place is last is open.
    fn small_copies(&mut self, scope: Scope) -> Copies {
        let mut copies = Vec::new();
        let mut end = 0u32;
        loop {
            let size = [4u32, 8, 16][self.below(3)];
            let to = end.next_multiple_of(size) + if self.chance(3) { size } else { 0 };
            end = to + size;
            if end > OWN {
                break;
            }
            let zeros = match self.below(4) {
                0 => Zeros::Behind(self.readable(scope)),
                1 => Zeros::If(self.below(4) as u8),
                _ => Zeros::None,
            };
            let from = size * self.below((OWN / size) as usize) as u32;
            copies.push(Small { from, to, size, global: size == 16 && self.chance(2), zeros, guard: self.guard() });
        }
        let wait = match self.below(3) {
            0 => Wait::All,
            1 => Wait::Groups(copies.iter().map(|_| self.general()).collect()),
            _ => Wait::Arrive { noinc: self.chance(2) },
        };
        Copies::Small { copies, wait }
    }

    fn bulk_copy(&mut self) -> Copies {
        let read = self.chance(2);
        let direction = if self.chance(2) { Direction::GlobalToShared } else { Direction::SharedToGlobal { read } };
        let merge = if direction == Direction::GlobalToShared { None } else { self.merge() };
        let size = [16, 32][self.below(2)];
        let halves = (OWN - size) as usize / 16 + 1;
        let (from, to) = (self.below(halves) as u32, self.below(halves) as u32);
        let may_mask = matches!(direction, Direction::SharedToGlobal { .. }) && merge.is_none();
        let mask = may_mask && self.target == Target::Blackwell && self.chance(2);
        let mask = mask.then(|| self.below(0x1_0000) as u16);
        Copies::Bulk { direction, from, to, size, merge, mask }
    }

    fn matrix(&mut self) -> Matrix {
        let registers = |maker: &mut Self| {
            let (first, count) = (maker.general(), [1, 2, 4][maker.below(3)]);
            (0..count).map(|i| (first + i) % GENERAL).collect()
        };
        let (step, shift) = (2 * self.below(32) as u32 + 1, self.below(64) as u32);
        let trans = self.chance(2);
        match self.below(10) {
            0 => Matrix::Move { to: self.general(), from: self.general() },
            1..3 => Matrix::Load { registers: registers(self), trans, step, shift },
            3..5 => Matrix::Store { registers: registers(self), trans, step, shift },
            _ => {
                let which = self.below(MMAS.len());
                // Without a bit of the exponent most floats are no NaNs.
                let mask = match MMAS[which].sum {
                    Sum::S32 | Sum::F64 => u32::MAX,
                    _ if self.chance(4) => u32::MAX,
                    _ => 0xBFFF_BFFF,
                };
                let mut any = || self.general();
                Matrix::Mma { which, d: any(), a: any(), b: any(), c: any(), mask }
            }
        }
    }

    fn warpgroup(&mut self) -> Stmt {
        let apart = 1 + self.below(100);
        let first = self.below(THREADS * OWN as usize / 16 - 8 - apart);
        let mask = if self.chance(4) { u32::MAX } else { 0xBFFF_BFFF };
        let (d, a) = (self.below(4) as u8, self.general());
        Stmt::Warpgroup { d, a, mask, b: Halves { first, apart }, adds: !self.chance(4) }
    }

    /// Some are outside of the tensor. The first is a multiple of 16 bytes.
    fn coordinates(&mut self) -> Vec<i32> {
        let dims = TENSORS[self.tensor].dims;
        let first = 4 * self.below(dims[0] / 4 + 2) as i32 - 4;
        [first].into_iter().chain(dims[1..].iter().map(|d| self.below(d + 2) as i32 - 1)).collect()
    }

    fn row(&mut self, scope: Scope, body: &mut Vec<Stmt>) {
        let class = match self.below(24) {
            0..10 => Class::R,
            10..14 => Class::P,
            14..17 => Class::D,
            17..19 => Class::H,
            19..21 => Class::E,
            _ => Class::F,
        };
        let rows: Vec<usize> =
            (0..ROWS.len()).filter(|i| ROWS[*i].classes[0] == class && ROWS[*i].since <= self.target).collect();
        let row = rows[self.below(rows.len())];
        let to = self.below(class.count().into()) as u8;
        let from = ROWS[row].classes[1..].iter().map(|c| self.source(*c, scope)).collect();
        body.push(Stmt::Row { row, to, from, guard: self.guard() });
    }

    fn memory(&mut self, scope: Scope, body: &mut Vec<Stmt>) {
        let width = [Width::U8, Width::S8, Width::U16, Width::S16, Width::U32, Width::U32, Width::U64, Width::F32];
        let width = width[self.below(width.len())];
        let space = [Space::Global, Space::Shared, Space::Local][self.below(3)];
        let register = self.below(width.class().count().into()) as u8;
        let at = self.place(scope, width.bytes());
        let guard = self.guard();
        body.push(match self.below(12) {
            10.. => {
                let count = [2u8, 4][self.below(2)];
                let (first, at) = (self.general(), self.place(scope, 4 * u32::from(count)));
                let registers = (0..count).map(|i| (first + i) % GENERAL).collect();
                Stmt::Vector { space, store: self.chance(2), registers, at, guard }
            }
            0..4 => Stmt::Load { space, width, to: register, at, guard },
            4..7 => Stmt::Store { space, width, from: register, at, guard },
            7 => Stmt::Gather { constant: self.chance(3), to: self.general(), index: self.readable(scope), guard },
            8 => Stmt::Total { which: self.below(TOTALS) as u32, from: self.readable(scope), guard },
            _ => {
                let space = if self.chance(2) { Space::Global } else { Space::Shared };
                let at = self.place(scope, 4);
                Stmt::Atom {
                    space,
                    exchange: self.chance(3),
                    to: self.general(),
                    from: self.readable(scope),
                    at,
                    guard,
                }
            }
        });
    }

    fn place(&mut self, scope: Scope, bytes: u32) -> Place {
        if self.chance(3) {
            return Place::Computed(self.readable(scope));
        }
        Place::Fixed(self.below((OWN / bytes) as usize) as u32 * bytes)
    }

    fn branch(&mut self, scope: Scope, body: &mut Vec<Stmt>) {
        let guard = self.some_guard();
        let whole = !matches!(scope.together, Together::Lanes(_) | Together::Nobody);
        let alike = if scope.together == Together::Cluster { Together::Cta } else { scope.together };
        let (what, register, with, together) = match self.below(8) {
            0 | 1 => {
                let register = UNIFORM.start + self.below(UNIFORM.len()) as u8;
                ("setp.lt.u32 $, $, $;", register, self.below(8), alike)
            }
            2 if whole => ("setp.eq.u32 $, $, $;", WARP, self.below(3), Together::Warp),
            3 if whole => {
                let lanes = 1 + self.below(31);
                ("setp.lt.u32 $, $, $;", LANE, lanes, Together::Lanes(lanes as u32))
            }
            _ => ("", 0, 0, Together::Nobody),
        };
        // If negated, the other lanes execute it.
        let guard = Guard { negated: guard.negated && !matches!(together, Together::Lanes(_)), ..guard };
        if !what.is_empty() {
            body.push(named(what, guard.register, vec![Source::Register(register), Source::Immediate(with as u64)]));
        }
        let inside = Scope { together, ..scope };
        let then = self.inner(inside);
        let others = if matches!(together, Together::Lanes(_)) { Together::Nobody } else { together };
        let otherwise = if self.chance(2) { self.inner(Scope { together: others, ..scope }) } else { Vec::new() };
        let uniform = !what.is_empty() && register != LANE && self.chance(2);
        body.push(Stmt::If { guard, then, otherwise, swapped: self.chance(2), uniform });
    }

    fn turns(&mut self, scope: Scope, body: &mut Vec<Stmt>) {
        let depth = scope.loops;
        let bottom = self.chance(2);
        let loops = depth + 1;
        let (trips, inside) = if self.chance(2) {
            let alike = Scope { loops, wild: 0, ..scope };
            match self.below(3) {
                0 => {
                    let register = UNIFORM.start + self.below(UNIFORM.len()) as u8;
                    let of_a_cta = scope.together == Together::Cluster;
                    let together = if of_a_cta { Together::Cta } else { scope.together };
                    (Source::Register(register), Scope { together, ..alike })
                }
                _ => (Source::Immediate(self.below(5) as u64), alike),
            }
        } else {
            let trips = Source::Register(self.readable(scope));
            (trips, Scope { loops, wild: scope.wild + 1, together: Together::Nobody, ..scope })
        };
        let mut inner = self.inner(inside);
        inner.extend(self.inner(inside));
        body.push(Stmt::Loop { depth, trips, bottom, body: inner });
    }

    fn together(&mut self, scope: Scope, body: &mut Vec<Stmt>) {
        let predicate = self.below(4) as u8;
        let lanes = if let Together::Lanes(lanes) = scope.together { lanes } else { 32 };
        let what = match self.below(11) {
            0..4 if lanes == 32 => {
                let mode = [Mode::Idx, Mode::Up, Mode::Down, Mode::Bfly][self.below(4)];
                let width = [32u32, 32, 16, 8][self.below(4)];
                let clamp = if matches!(mode, Mode::Up) { 0 } else { 31 };
                let b = if self.chance(3) {
                    Source::Register(self.readable(scope))
                } else {
                    Source::Immediate(self.below(32) as u64)
                };
                Collective::Shuffle(mode, b, (32 - width) << 8 | clamp, predicate)
            }
            0..6 => Collective::Ballot(predicate),
            6 => Collective::Any(predicate),
            7 => Collective::All(predicate),
            8 => Collective::Match,
            9 => [Collective::Add, Collective::Min][self.below(2)],
            _ => Collective::Xor,
        };
        let to =
            if matches!(what, Collective::Any(_) | Collective::All(_)) { self.below(4) as u8 } else { self.general() };
        body.push(Stmt::Together { what, to, from: self.readable(scope), lanes });
    }

    fn special(&mut self) -> Special {
        use Special::{CtaidX, LaneId, NctaidX, NtidX, TidX, TidY};
        [TidX, TidY, NtidX, CtaidX, NctaidX, LaneId][self.below(6)]
    }

    fn general(&mut self) -> u8 {
        self.below(GENERAL.into()) as u8
    }

    /// A `.b32` register that has a value here.
    fn readable(&mut self, scope: Scope) -> u8 {
        match self.below(12) {
            0 => UNIFORM.start + self.below(UNIFORM.len()) as u8,
            1 => [WARP, LANE, LINEAR][self.below(3)],
            2 | 3 if scope.loops > 0 => COUNTERS + self.below(scope.loops.into()) as u8,
            _ => self.general(),
        }
    }

    fn source(&mut self, class: Class, scope: Scope) -> Source {
        match class {
            Class::P => Source::Register(self.below(4) as u8),
            _ if self.chance(4) => self.immediate(class),
            Class::R => Source::Register(self.readable(scope)),
            _ => Source::Register(self.below(class.count().into()) as u8),
        }
    }

    fn immediate(&mut self, class: Class) -> Source {
        let list = match class {
            Class::F => FLOATS,
            Class::E => DOUBLES,
            _ => IMMEDIATES,
        };
        Source::Immediate(list[self.below(list.len())])
    }

    fn guard(&mut self) -> Option<Guard> {
        if self.chance(5) { Some(self.some_guard()) } else { None }
    }

    fn some_guard(&mut self) -> Guard {
        Guard { register: self.below(4) as u8, negated: self.chance(2) }
    }
}

/// The operation with this spelling.
fn named(text: &str, to: u8, from: Vec<Source>) -> Stmt {
    let row = ROWS.iter().position(|r| r.text == text).expect("it is in the list");
    Stmt::Row { row, to, from, guard: None }
}
