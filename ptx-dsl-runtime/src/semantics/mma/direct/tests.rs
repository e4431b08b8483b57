//! The same bits as from tiles, which are compared with an H200 and with exact integers.

use super::super::{MmaProduct, direct_sum};
use super::*;
use crate::numerics::accumulation::Numerics;
use crate::numerics::lanes::Lanes;
use crate::numerics::matrix::fragment::Cells;
use crate::numerics::qual::{Q, Qualifier, Ty, q};
use crate::semantics::matrix::arithmetic::Machine;
use ptx_dsl_test_support::random::Random;

/// A register of random elements: of a moderate size, or any bits.
fn register(random: &mut Random, format: Format, any: bool) -> Lanes {
    std::array::from_fn(|_| {
        let word = random.next() as u32;
        let moderate = match format {
            Format::F16 => word & 0x8fff_8fff | 0x3000_3000,
            Format::Bf16 => word & 0x81ff_81ff | 0x3e00_3e00,
            Format::Tf32 => word & 0x83ff_ffff | 0x3c00_0000,
            // neither infinities nor NaNs
            Format::E5m2 => word & 0xbfbf_bfbf,
            Format::E4m3 => word & 0xf7f7_f7f7,
            _ => word,
        };
        u64::from(if any { word } else { moderate })
    })
}

type Case = (Qualifier, &'static [Qualifier], [Ty; 4], &'static [u32]);

const CASES: &[Case] = &[
    (q::m16n8k16, &[], [Ty::F32, Ty::F16, Ty::F16, Ty::F32], &[80, 90, 100, 120]),
    (q::m16n8k8, &[], [Ty::F32, Ty::F16, Ty::F16, Ty::F32], &[75, 80, 90]),
    (q::m16n8k16, &[], [Ty::F16, Ty::F16, Ty::F16, Ty::F16], &[80, 90]),
    (q::m16n8k16, &[], [Ty::F32, Ty::Bf16, Ty::Bf16, Ty::F32], &[80, 90]),
    (q::m16n8k8, &[], [Ty::F32, Ty::Tf32, Ty::Tf32, Ty::F32], &[80, 90]),
    (q::m16n8k4, &[], [Ty::F32, Ty::Tf32, Ty::Tf32, Ty::F32], &[80, 90]),
    (q::m16n8k32, &[q::e4m3], [Ty::F32, Ty::F32, Ty::F32, Ty::F32], &[89, 90, 120]),
    (q::m16n8k32, &[q::e5m2, q::e4m3], [Ty::F16, Ty::F16, Ty::F16, Ty::F16], &[89, 90]),
    (q::m16n8k16, &[q::e5m2], [Ty::F32, Ty::F32, Ty::F32, Ty::F32], &[89, 90]),
    (q::m16n8k32, &[], [Ty::S32, Ty::S8, Ty::U8, Ty::S32], &[80]),
    (q::m16n8k32, &[q::satfinite], [Ty::S32, Ty::S8, Ty::S8, Ty::S32], &[80]),
    (q::m16n8k16, &[], [Ty::S32, Ty::U8, Ty::U8, Ty::S32], &[80]),
];

fn registers(random: &mut Random, n: usize, format: Format, any: bool) -> Vec<Lanes> {
    (0..n).map(|_| register(random, format, any)).collect()
}

#[test]
fn direct_products_have_the_bits_of_those_of_tiles() {
    let mut random = Random::new(11);
    let set = crate::numerics::simd::best(true);
    if !set.has_rows() {
        return;
    }
    for &(shape, more, types, targets) in CASES {
        let written: Vec<Qualifier> = more.iter().copied().chain([shape]).collect();
        let q = Q::new(&written, &types);
        let form = MmaForm::of(q, false);
        let (mut direct, mut runs) = (0, 0);
        for round in 0..400 {
            let any = round % 4 == 3;
            let a = registers(&mut random, form.registers_of_a(), form.formats[0], any);
            let b = registers(&mut random, form.registers_of_b(), form.formats[1], any);
            let of_c = if form.cells[1] == Cells::Half { Format::F16 } else { Format::Tf32 };
            let c = registers(&mut random, form.registers_of_c(), of_c, any);
            // constants are no registers of 32 bits
            let narrow: Vec<Words> = a.iter().chain(&b).chain(&c).map(|l| l.map(|v| v as u32)).collect();
            let wide = a.iter().chain(&b).chain(&c).map(Source::Lanes);
            let mixed = wide.zip(narrow.iter().map(Source::Words)).enumerate();
            let all: Vec<Source> = mixed.map(|(i, (l, w))| if round % 3 == 0 && i % 5 == 1 { l } else { w }).collect();
            let (of_a, rest) = all.split_at(a.len());
            let (of_b, of_c) = rest.split_at(b.len());
            let s = Sources { a: of_a, b: of_b, c: of_c, rest: &[] };
            for (target, numerics) in targets.iter().flat_map(|t| [(t, Numerics::Exact), (t, Numerics::Fast)]) {
                let count = if form.cells[0] == Cells::Half { 2 } else { 4 };
                let machine = Machine { target: *target, set, numerics };
                let product = MmaProduct::new(&form, q, machine, s).expect("no metadata");
                let rows = if product.is_halved() { product.by_halves() } else { product.run() };
                let mut want = vec![[0; 32]; count];
                form.cells[0].store(&rows, &mut want.iter_mut().map(Destination::Words).collect::<Vec<_>>());
                let spare = spare(&s);
                let sum = direct_sum(&form, q, machine);
                let Some(job) = sum.and_then(|sum| Job::new(&form, &s, &spare, sum)) else { continue };
                let mut found = vec![[0; 32]; count];
                let done = multiply(set, &job, &mut found.iter_mut().map(Destination::Words).collect::<Vec<_>>());
                (runs, direct) = (runs + 1, direct + usize::from(done));
                assert!(!done || found == want, "{form:?} {machine:?}: {found:x?}, not {want:x?}");
                let mut found = vec![[0; 32]; count];
                multiply(set, &job, &mut found.iter_mut().map(Destination::Lanes).collect::<Vec<_>>());
                let want: Vec<Lanes> = want.iter().map(|w| w.map(u64::from)).collect();
                assert!(!done || found == want, "{form:?} {machine:?}, in lanes: {found:x?}, not {want:x?}");
            }
        }
        // any bits have infinities and NaNs now and then
        assert!(direct * 2 > runs && runs > 0, "{form:?}: {direct} of {runs}");
    }
}
