//! Tests of the product against a direct definition in f64. They place matrices in memory by layout code of their own.

use super::multiply::Multiply;
use crate::fault::FaultKind;
use crate::machine::tensor::{TensorCta, TensorJob};
use crate::memory::tmem::Tmem;
use crate::numerics::arith::soft::{self, Num};
use crate::numerics::matrix::format::Format;
use crate::numerics::qual::{Q, Qualifier, q};
use crate::semantics::tcgen05::descriptor::instruction::Generation;
use ptx_dsl_test_support::random::Random;

mod faults;
mod fused;
mod kinds;
mod shapes;
mod undefined;

/// The value of an element, by the exact arithmetic that conversions use.
fn value(format: Format, x: u32) -> f64 {
    let x = u64::from(x);
    let num = match format {
        Format::F16 => soft::F16.decode(x),
        Format::Bf16 => soft::BF16.decode(x),
        Format::Tf32 => soft::TF32.decode(x >> 13),
        Format::E4m3 => soft::E4M3.decode(x),
        Format::E5m2 => soft::E5M2.decode(x),
        Format::E2m3 => soft::E2M3.decode(x),
        Format::E3m2 => soft::E3M2.decode(x),
        Format::E2m1 => soft::E2M1.decode(x),
        Format::U8 => Num::int(x.into()),
        Format::S8 => Num::int((x as i8).into()),
        Format::U4 | Format::S4 => unreachable!("no format of `tcgen05.mma`"),
        Format::Ue8m0 => return 2f64.powi(x as i32 - 127),
        Format::Ue4m3 => soft::E4M3.decode(x & 0x7f),
        Format::S1z4m11 => Num::int(if x >> 15 != 0 { -((x & 0x7ff) as i128) } else { (x & 0x7ff) as i128 }),
        // exponent bias 15, as e5m2 has it
        Format::Ue5m3 if x >> 3 == 0 => return x as f64 * 2f64.powi(-17),
        Format::Ue5m3 => return (8 + (x & 7)) as f64 * 2f64.powi((x >> 3) as i32 - 18),
    };
    num.to_f64()
}

/// A random element: a small multiple of 1/8, or anything moderate.
fn element(r: &mut Random, format: Format, small: bool) -> u32 {
    loop {
        let x = r.next() as u32 & (u32::MAX >> (32 - format.bits()));
        let v = value(format, x);
        let fits = match format {
            Format::U8 | Format::S8 => true,
            Format::S1z4m11 => return x & 0x87ff,
            // all 16-bit and wider patterns are rarely small: make one
            Format::F16 if small => {
                return soft::F16.encode(Num::int(r.below(17) as i128 - 8), soft::Round::Near, false) as u32;
            }
            Format::Bf16 | Format::Tf32 if small => {
                let v = (r.below(17) as f32 - 8.0).to_bits();
                return if format == Format::Tf32 { v | r.next() as u32 & 0x1fff } else { v >> 16 };
            }
            _ if small => v.abs() <= 8.0 && (v * 8.0).fract() == 0.0,
            _ => v.abs() < 1e4 && (v == 0.0 || v.abs() > 1e-4),
        };
        if fits && v.is_finite() {
            return x;
        }
    }
}

/// The layout of a matrix in shared memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Field 61-63.
    pub mode: u64,
    /// Whether the matrix is transposed.
    pub mn: bool,
    /// The start of the matrix, aligned to 1024.
    pub start: usize,
    /// Elements of k before the first, along a row: moves the start address within the swizzle atom.
    pub advance: usize,
    /// The distance between atoms beyond the needed one, in multiples of 1024 bytes.
    pub gap: usize,
    /// The leading dimension byte offset is an address.
    pub absolute: bool,
}

pub(super) const fn place(mode: u64, mn: bool) -> Place {
    Place { mode, mn, start: 0, advance: 0, gap: 0, absolute: false }
}

/// Bytes of a row of an atom, and lines of an atom.
fn atom(p: Place) -> (usize, usize) {
    match p.mode {
        0 => (16, 8),
        6 => (32, 8),
        4 => (64, 8),
        2 => (128, 8),
        _ if p.mn => (128, 4),
        _ => (128, 8),
    }
}

/// Distances between atoms: along the contiguous dimension, and across it. `size` = (lines, bytes of a line).
fn distances(p: Place, size: (usize, usize)) -> (usize, usize) {
    let (width, lines) = atom(p);
    let across = width * lines + p.gap * 1024;
    (across * size.0.div_ceil(lines), across)
}

/// The address of 16-byte piece `piece` of line `line`: the pictures of 9.7.16.10.6, atom by atom.
fn address(p: Place, size: (usize, usize), line: usize, piece: usize) -> usize {
    let (width, lines) = atom(p);
    let (along, across) = distances(p, size);
    let (i, j) = (line % lines, piece % (width / 16));
    let place = match p.mode {
        0 => j,
        6 => j ^ (i / 4 % 2),
        4 => j ^ (i / 2 % 4),
        2 => j ^ i,
        _ => ((j / 2) ^ (i % 4)) * 2 + j % 2,
    };
    p.start + piece / (width / 16) * along + line / lines * across + i * width + place * 16
}

/// The descriptor of such a matrix. Without swizzling, transposing swaps the two offsets.
fn descriptor(p: Place, size: (usize, usize), advance_bytes: usize) -> u64 {
    let (along, across) = distances(p, size);
    let (leading, stride) = if p.mode == 0 && p.mn { (across, along) } else { (along, across) };
    let field = |x: usize| (x as u64 & 0x3ffff) >> 4;
    let leading = if p.absolute { p.start + along } else { leading };
    u64::from(p.absolute) << 52
        | field(p.start + advance_bytes)
        | field(leading) << 16
        | field(stride) << 32
        | 1 << 46
        | p.mode << 61
}

/// Bits of an element in memory, and elements of a 16-byte piece.
fn packing(format: Format, dense4: bool) -> (usize, usize) {
    match format.bits() {
        4 if dense4 => (4, 32),
        4 => (4, 16),
        6 => (6, 16),
        bits => (bits as usize, 128 / bits as usize),
    }
}

/// Stores a matrix `x[line][k]` and gives its descriptor.
fn store(memory: &mut [u8], p: Place, x: &[Vec<u32>], format: Format, dense4: bool) -> u64 {
    let (bits, per) = packing(format, dense4);
    let (lines, k) = (x.len(), x[0].len() + p.advance);
    let size = if p.mn { (k, lines.div_ceil(per) * 16) } else { (lines, k.div_ceil(per) * 16) };
    for (line, row) in x.iter().enumerate() {
        for (k, &x) in row.iter().enumerate() {
            let (outer, inner) = if p.mn { (k, line) } else { (line, k + p.advance) };
            let at = address(p, size, outer, inner / per);
            let piece: &mut [u8; 16] = (&mut memory[at..at + 16]).try_into().expect("16 bytes");
            let mut word = u128::from_le_bytes(*piece);
            word &= !(((1 << bits) - 1) << (inner % per * bits));
            word |= u128::from(x) << (inner % per * bits);
            *piece = word.to_le_bytes();
        }
    }
    descriptor(p, size, p.advance / per * 16)
}

/// A multiplication to try.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub kind: Qualifier,
    pub formats: [Format; 2],
    pub codes: [u32; 2],
    /// Field 4-5.
    pub d: u32,
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub pair: bool,
    pub sparse: bool,
    pub ws: bool,
    pub a_in_tmem: bool,
    pub places: [Place; 2],
    pub negate: [bool; 2],
    pub accumulate: bool,
    pub d_lane: usize,
    pub small: bool,
    pub target: Generation,
    pub extras: Extras,
}

/// The parameters that few cases change.
#[derive(Debug, Clone, Default)]
pub(super) struct Extras {
    pub saturate: bool,
    pub scale_d: Option<u32>,
    pub disabled: Option<[u32; 8]>,
    /// Scale factors of a row, their format and its code, IDs.
    pub scale: Option<(usize, Format, u32, [u32; 2])>,
    pub scale_flags: Vec<Qualifier>,
    /// Zero-column mask, and the maximum shift's code.
    pub zero: Option<(u64, u32)>,
    /// Bits of the instruction descriptor that the rest does not make: K.
    pub extra: u32,
    /// The column of metadata of 16- and 32-bit elements.
    pub selector: usize,
    /// 4-bit elements are sparse one by one.
    pub single: bool,
    /// The scale factors of A are not repeated.
    pub spread: bool,
    pub ashift: bool,
    /// B is compressed, and in this half of what there is.
    pub lut: Option<usize>,
}

impl Case {
    pub fn new(kind: Qualifier, formats: [Format; 2], codes: [u32; 2], (m, n, k): (usize, usize, usize)) -> Case {
        Case {
            kind,
            formats,
            codes,
            d: 1,
            m,
            n,
            k,
            pair: false,
            sparse: false,
            ws: false,
            a_in_tmem: false,
            places: [place(2, false); 2],
            negate: [false; 2],
            accumulate: true,
            d_lane: 0,
            small: true,
            target: Generation::Sm100,
            extras: Extras::default(),
        }
    }

    pub fn f16(m: usize, n: usize) -> Case {
        Case::new(q::kind_f16, [Format::F16; 2], [0; 2], (m, n, 16))
    }

    pub fn descriptor(&self) -> u32 {
        let flag = |x: bool, bit: u32| u32::from(x) << bit;
        let mut x = flag(self.sparse, 2)
            | self.codes[0] << 7
            | self.codes[1] << 10
            | self.extras.extra
            | self.extras.selector as u32;
        x |= flag(self.extras.single, 12) | flag(self.extras.spread, 26);
        x |= flag(self.negate[0], 13) | flag(self.negate[1], 14);
        x |= flag(self.places[0].mn && !self.a_in_tmem, 15) | flag(self.places[1].mn, 16) | (self.n as u32 >> 3) << 17;
        match self.extras.scale {
            Some((_, _, code, [a, b])) => x | b << 4 | code << 23 | (self.m as u32 >> 7) << 27 | a << 29,
            None => {
                let shift = self.extras.zero.map_or(0, |z| z.1);
                x | flag(self.extras.saturate, 3) | self.d << 4 | (self.m as u32 >> 4) << 24 | shift << 30
            }
        }
    }

    fn dense4(&self) -> bool {
        self.kind == q::kind_mxf4 || self.kind == q::kind_mxf4nvf4
    }

    /// The CTA, lane and column of element (m, n) of D: the pictures of 9.7.16.10.5.
    fn d_at(&self, m: usize, n: usize) -> (usize, usize, usize) {
        let half = |r: usize| r / 16 * 32 + r % 16 + self.d_lane;
        match (self.m, self.pair, self.ws) {
            (256, ..) | (128, false, _) => (m / 128, m % 128, n),
            (128, true, _) if self.sparse => (m / 64, half(m % 64), n),
            (128, true, _) => (m / 64, m % 64 + n / (self.n / 2) * 64, n % (self.n / 2)),
            (64, _, true) => (0, m + n / (self.n / 2) * 64, n % (self.n / 2)),
            (64, ..) => (0, half(m), n),
            _ => (0, m + n / (self.n / 4) * 32, n % (self.n / 4)),
        }
    }
}

const A_START: usize = 0;
const B_START: usize = 0x18000;
const MEMORY: usize = 0x38000;
const D_COLUMN: usize = 64;
const A_COLUMN: usize = 16;
const SCALE_COLUMNS: [usize; 2] = [384, 400];
const META_COLUMN: usize = 420;
const LUT_COLUMN: usize = 440;
/// Lane of the first lookup table.
const LUT_LANE: usize = 40;

/// The index of the two-bit positions (first, second) that metadata have for a chunk of four.
const INDEXES: [u32; 7] = [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b0110, 0b1110];

/// Builds everything, runs it with sums of both kinds, and compares every word of Tensor Memory that belongs to D, and some that do not.
pub(super) fn check(case: &Case, seed: u64) {
    check_sums(case, seed, None);
    check_sums(case, seed, Some(crate::numerics::simd::best(true)));
}

fn check_sums(case: &Case, seed: u64, exact: Option<crate::numerics::simd::InstructionSet>) {
    let c = case;
    let r = &mut Random::new(seed);
    let ctas = if c.pair { 2 } else { 1 };
    let stored = if c.sparse { c.k / 2 } else { c.k };
    let matrix = |r: &mut Random, lines: usize, k: usize, format: Format| -> Vec<Vec<u32>> {
        (0..lines).map(|_| (0..k).map(|_| element(r, format, c.small)).collect()).collect()
    };
    let shift = c.extras.zero.map_or(0, |z| (z.0 >> 56 & 63) as usize);
    let a = matrix(r, c.m, stored, c.formats[0]);
    let mut b = matrix(r, c.n + shift, c.k, c.formats[1]);
    let mut memory = vec![vec![0xa5; MEMORY]; ctas];
    let mut tmem = vec![Tmem::default(); ctas];
    for t in &mut tmem {
        t.set_allocated(0..512, true);
        for lane in 0..128 {
            t.lane_mut(lane).fill_with(|| r.next() as u32);
        }
    }

    // A, each CTA its rows
    let mut descriptors = [0; 2];
    let rows = c.m / ctas;
    for (cta, rows_of_a) in a.chunks(rows).enumerate() {
        if !c.a_in_tmem {
            let p = Place { start: A_START, ..c.places[0] };
            descriptors[0] = store(&mut memory[cta], p, rows_of_a, c.formats[0], c.dense4());
            continue;
        }
        descriptors[0] = (c.d_lane << 16 | A_COLUMN) as u64;
        // in kinds of mixed formats a byte each, 4-bit ones in the middle
        let bits = match c.formats[0].bits() as usize {
            4 | 6 if !c.dense4() => 8,
            bits => bits,
        };
        let low = if bits == 8 && c.formats[0] == Format::E2m1 { 2 } else { 0 };
        for (m, row) in rows_of_a.iter().enumerate() {
            // every part of D below another has its copy
            let mut lanes: Vec<usize> = (0..c.n).map(|n| c.d_at(cta * rows + m, n).1).collect();
            lanes.dedup();
            for lane in lanes {
                let words = &mut tmem[cta].lane_mut(lane)[A_COLUMN..A_COLUMN + 16];
                words.fill(0);
                for (k, x) in row.iter().enumerate() {
                    words[k * bits / 32] |= x << (k * bits % 32 + low);
                }
            }
        }
    }
    // B, each CTA its columns
    for (cta, columns) in b.chunks_mut((c.n + shift) / ctas).enumerate() {
        let p = Place { start: B_START, ..c.places[1] };
        if let Some(half) = c.extras.lut {
            // eight columns have a table, every index has three bits
            let mut compressed = vec![vec![0u32; 48]; columns.len()];
            for (group, columns) in columns.chunks_mut(8).enumerate() {
                let table: [u32; 8] = std::array::from_fn(|_| element(r, Format::E4m3, c.small));
                for (i, x) in table.iter().enumerate() {
                    let word = &mut tmem[cta].lane_mut(LUT_LANE + group)[LUT_COLUMN + i / 4];
                    *word = *word & !(255 << (i % 4 * 8)) | x << (i % 4 * 8);
                }
                for (n, column) in columns.iter_mut().enumerate() {
                    for k in 0..128 {
                        let index = r.below(8) as u32;
                        if k / 64 == half {
                            column[k % 64] = table[index as usize];
                        }
                        for bit in 3 * k..3 * k + 3 {
                            compressed[group * 8 + n][bit / 8] |= (index >> (bit - 3 * k) & 1) << (bit % 8);
                        }
                    }
                }
            }
            descriptors[1] = store(&mut memory[cta], p, &compressed, Format::U8, false) | (half as u64) << 53;
            continue;
        }
        descriptors[1] = store(&mut memory[cta], p, columns, c.formats[1], c.dense4());
    }

    // where the stored elements of A belong
    let mut positions: Vec<Vec<usize>> = vec![(0..stored).collect(); c.m];
    if c.sparse {
        for (m, positions) in positions.iter_mut().enumerate() {
            positions.clear();
            let wide = c.formats[0].bits() >= 16;
            let each = match c.formats[0] {
                Format::Tf32 => 1,
                Format::E2m1 if c.dense4() && !c.extras.single => 4,
                _ => 2,
            };
            for chunk in 0..stored / each {
                let tf32 = c.formats[0] == Format::Tf32;
                let index = if tf32 { [0b1110, 0b0100][r.below(2) as usize] } else { INDEXES[r.below(7) as usize] };
                let (first, second) = ((index & 3) as usize, (index >> 2) as usize);
                match each {
                    1 => positions.push(2 * chunk + usize::from(index == 0b1110)),
                    2 => positions.extend([4 * chunk + first, 4 * chunk + second]),
                    _ => positions.extend(
                        [first, first, second, second].iter().enumerate().map(|(i, p)| 8 * chunk + 2 * p + i % 2),
                    ),
                }
                // Figures 262 to 267: row by row, or for wide elements interleaved in groups of 8 rows
                let mut lanes: Vec<usize> = (0..c.n).map(|n| c.d_at(m, n).1).collect();
                lanes.dedup();
                for at in lanes {
                    let row = at - c.d_lane;
                    let (lane, bit) = if wide {
                        (row % 8 + chunk / 4 * 8 + row / 16 * 16, (row % 16 / 8) * 16 + chunk % 4 * 4)
                    } else {
                        (row, chunk * 4)
                    };
                    let word =
                        &mut tmem[m / rows].lane_mut(c.d_lane + lane)[META_COLUMN + c.extras.selector + bit / 32];
                    *word = *word & !(15 << (bit % 32)) | index << (bit % 32);
                }
            }
        }
    }

    // scale factors
    let mut factors = [vec![[1.0; 8]; c.m], vec![[1.0; 8]; c.n]];
    if let Some((vector, format, _, ids)) = c.extras.scale {
        for side in 0..2 {
            for (line, factors) in factors[side].iter_mut().enumerate() {
                for (i, factor) in factors.iter_mut().enumerate().take(vector) {
                    let x = match format {
                        Format::Ue8m0 => 126 + r.below(3) as u32,
                        // 1/2 to 2
                        Format::Ue5m3 => 0x70 + 4 * r.below(5) as u32,
                        _ => 0x30 + 4 * r.below(5) as u32,
                    };
                    *factor = value(format, x);
                    for (cta, tmem) in tmem.iter_mut().enumerate() {
                        let l = match side {
                            0 if line / rows != cta => continue,
                            0 => line % rows,
                            _ => line,
                        };
                        // layout B: the upper half of the columns in the upper half of the lanes
                        let halves = side == 1 && c.m == 128 && c.pair;
                        let (l, partitions) = match halves {
                            true => (l % (c.n / 2), if l < c.n / 2 { 0..2 } else { 2..4 }),
                            false => (l, 0..4),
                        };
                        let byte = ids[side] as usize + i;
                        let at = 8 * (byte as u32 % 4);
                        if c.extras.spread && side == 0 {
                            let word = &mut tmem.lane_mut(l)[SCALE_COLUMNS[side] + byte / 4];
                            *word = *word & !(255 << at) | x << at;
                            continue;
                        }
                        // four columns are 128 lines; then the next four bytes
                        let next = if side == 1 && !halves && c.n > 128 { 8 } else { 4 };
                        for p in partitions {
                            let column = SCALE_COLUMNS[side] + l / 32 + byte / 4 * next;
                            let word = &mut tmem.lane_mut(p * 32 + l % 32)[column];
                            *word = *word & !(255 << at) | x << at;
                        }
                    }
                }
            }
        }
    }

    // D as it is before
    let old: Vec<Vec<f64>> = (0..c.m)
        .map(|m| {
            (0..c.n)
                .map(|n| {
                    let (cta, lane, column) = c.d_at(m, n);
                    let v = r.below(65_i32) - 32;
                    let word = match c.d {
                        0 => u32::from(half::f16::from_f32(v as f32).to_bits()) | 0xdead_0000,
                        1 => (v as f32).to_bits(),
                        _ if c.extras.saturate => (i32::MAX - 1000 + v) as u32,
                        _ => v as u32,
                    };
                    tmem[cta].lane_mut(lane)[D_COLUMN + column] = word;
                    if c.d == 2 { word as i32 as f64 } else { v as f64 }
                })
                .collect()
        })
        .collect();

    // the operands in the order of the form
    let mut flags = vec![c.kind];
    flags.extend(c.extras.scale_flags.iter().copied());
    flags.push(if c.pair { q::cta_group_2 } else { q::cta_group_1 });
    for (on, flag) in
        [(c.a_in_tmem, q::a_tmem), (c.extras.ashift, q::ashift), (c.extras.lut.is_some(), q::decompress_lut_b)]
    {
        if on {
            flags.push(flag);
        }
    }
    let mut s = vec![(c.d_lane << 16 | D_COLUMN) as u64, descriptors[0], descriptors[1]];
    if c.extras.lut.is_some() {
        s.push((LUT_LANE << 16 | LUT_COLUMN) as u64);
    }
    if c.sparse {
        s.push((c.d_lane << 16 | META_COLUMN) as u64);
    }
    s.push(c.descriptor().into());
    if c.extras.scale.is_some() {
        s.extend(SCALE_COLUMNS.map(|x| x as u64));
    } else if let Some(masks) = c.extras.disabled {
        s.extend(masks[..4 * ctas].iter().map(|&x| u64::from(x)));
    }
    s.push(c.accumulate.into());
    s.extend(c.extras.scale_d.map(u64::from));
    s.extend(c.extras.zero.map(|z| z.0));

    let job = Multiply::new(Q::new(&flags, &[]), c.sparse, c.ws, c.target, &s).unwrap_or_else(|e| panic!("{e}: {c:?}"));
    let job = Multiply { exact, ..job };
    let before = tmem.clone();
    let mut both: Vec<TensorCta<'_>> =
        tmem.iter_mut().zip(&memory).map(|(tmem, shared)| TensorCta { tmem, shared }).collect();
    job.run(&mut both).unwrap_or_else(|e| panic!("{e}: {c:?}"));

    let mut touched = vec![vec![false; 512]; 128 * ctas];
    for m in 0..c.m {
        for n in 0..c.n {
            let (cta, lane, column) = c.d_at(m, n);
            let got = tmem[cta].lane(lane)[D_COLUMN + column];
            touched[cta * 128 + lane][D_COLUMN + column] = true;
            if c.extras.disabled.is_some_and(|d| d[cta * 4 + lane / 32] >> (lane % 32) & 1 != 0) {
                assert_eq!(got, before[cta].lane(lane)[D_COLUMN + column], "({m}, {n}) is disabled: {c:?}");
                continue;
            }
            let zero = c.extras.zero.is_some_and(|z| shapes::zero_column(z.0, n, c.n, c.m));
            let (mut want, mut size) = (0.0, 0.0);
            for (&x, &k) in a[m].iter().zip(&positions[m]) {
                let block = |vector: usize| k / (c.k / vector);
                let scale = c.extras.scale.map_or(1.0, |s| factors[0][m][block(s.0)] * factors[1][n][block(s.0)]);
                let b = if zero { 0.0 } else { value(c.formats[1], b[n + shift][k]) };
                let product = value(c.formats[0], x) * b * scale;
                want += if c.negate[0] == c.negate[1] { product } else { -product };
                size += product.abs();
            }
            if c.accumulate {
                let d = old[m][n] / f64::from(1u32 << c.extras.scale_d.unwrap_or(0));
                want += d;
                size += d.abs();
            }
            if c.d == 0 && want.abs() > 65000.0 {
                continue;
            }
            let (got, tolerance) = match c.d {
                0 => (half::f16::from_bits(got as u16).to_f64(), size * 2f64.powi(-11)),
                1 => (f32::from_bits(got).into(), 0.0),
                _ if c.extras.saturate => {
                    want = want.clamp(i32::MIN.into(), i32::MAX.into());
                    (got as i32 as f64, 0.0)
                }
                _ => (got as i32 as f64, 0.0),
            };
            let tolerance = tolerance + if c.small { 0.0 } else { size * (c.k + 4) as f64 * 2f64.powi(-24) };
            assert!((got - want).abs() <= tolerance, "({m}, {n}): {got}, not {want}: {c:?}");
        }
    }
    for cta in 0..ctas {
        for lane in 0..128 {
            for (column, touched) in touched[cta * 128 + lane].iter().enumerate() {
                if !touched {
                    // `.ashift`: A moves up by a lane in each partition, whose last one stays
                    let columns = c.k * if c.sparse { 1 } else { 2 } * c.formats[0].bits() as usize / 64;
                    let moved = c.extras.ashift && (A_COLUMN..A_COLUMN + columns).contains(&column) && lane % 32 != 31;
                    let from = if moved { lane + 1 } else { lane };
                    let (now, was) = (tmem[cta].lane(lane)[column], before[cta].lane(from)[column]);
                    assert_eq!(now, was, "lane {lane}, column {column} of CTA {cta} is not D's: {c:?}");
                }
            }
        }
    }
}
