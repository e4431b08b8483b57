//! Every kind, shape, layout and option.

use super::*;

/// A kind, formats that go together, K.
type Types = (Qualifier, Vec<(Format, u32)>, usize);

fn types() -> Vec<Types> {
    use Format::*;
    vec![
        (q::kind_f16, vec![(F16, 0), (Bf16, 1)], 16),
        (q::kind_tf32, vec![(Tf32, 2)], 8),
        (q::kind_f8f6f4, vec![(E4m3, 0), (E5m2, 1), (E2m3, 3), (E3m2, 4), (E2m1, 5)], 32),
        (q::kind_i8, vec![(U8, 0), (S8, 1)], 32),
        (q::kind_ti16, vec![(S1z4m11, 3)], 16),
    ]
}

fn case(kind: Qualifier, (a, code_a): (Format, u32), (b, code_b): (Format, u32), mnk: (usize, usize, usize)) -> Case {
    let mut c = Case::new(kind, [a, b], [code_a, code_b], mnk);
    c.d = if kind == q::kind_i8 || kind == q::kind_ti16 { 2 } else { 1 };
    c
}

#[test]
fn shapes_of_f16() {
    for (i, (m, n)) in
        [(64, 8), (64, 24), (64, 256), (128, 8), (128, 16), (128, 136), (128, 256)].into_iter().enumerate()
    {
        check(&Case::f16(m, n), i as u64);
        check(&Case { small: false, ..Case::f16(m, n) }, i as u64);
    }
    for (i, (m, n)) in [(128, 16), (128, 48), (128, 256), (256, 16), (256, 80), (256, 256)].into_iter().enumerate() {
        check(&Case { pair: true, ..Case::f16(m, n) }, 20 + i as u64);
    }
}

#[test]
fn half_of_the_lanes_from_16() {
    check(&Case { d_lane: 16, ..Case::f16(64, 32) }, 1);
    check(&Case { d_lane: 16, a_in_tmem: true, ..Case::f16(64, 32) }, 2);
}

#[test]
fn every_swizzle_transposed_or_not() {
    let mut seed = 100;
    for a in [0, 1, 2, 4, 6] {
        for b in [0, 1, 2, 4, 6] {
            for transposed in [[false, false], [true, false], [false, true], [true, true]] {
                let modes = [a, b];
                if (0..2).any(|side| transposed[side] && modes[side] == 1) {
                    continue;
                }
                for gap in [0, 1] {
                    let places = [0, 1].map(|side| Place { gap, ..place(modes[side], transposed[side]) });
                    seed += 1;
                    check(&Case { places, ..Case::f16(64, 32) }, seed);
                }
            }
        }
    }
}

#[test]
fn other_sizes_transposed() {
    let mut seed = 200;
    for (kind, formats, k) in types() {
        for &format in formats.iter().filter(|f| f.0.bits() >= 8 && f.0 != Format::S1z4m11) {
            for mode in [0, 2, 4, 6] {
                let mode = if kind == q::kind_tf32 { 1 } else { mode };
                let mut c = case(kind, format, format, (128, 64, k));
                c.places = [place(mode, true); 2];
                seed += 1;
                check(&c, seed);
            }
        }
    }
}

#[test]
fn descriptors_that_begin_within_an_atom() {
    for (i, advance) in [16, 32, 48].into_iter().enumerate() {
        let place = Place { advance, ..place(2, false) };
        check(&Case { places: [place; 2], ..Case::f16(128, 64) }, 300 + i as u64);
    }
    let place = Place { advance: 16, ..place(4, false) };
    check(&Case { places: [place; 2], ..Case::f16(128, 64) }, 310);
}

#[test]
fn every_pair_of_types() {
    let mut seed = 400;
    for (kind, formats, k) in types() {
        for &a in &formats {
            for &b in &formats {
                for pair in [false, true] {
                    seed += 1;
                    let c = Case { pair, ..case(kind, a, b, (128, 64, k)) };
                    check(&c, seed);
                    check(&Case { small: kind == q::kind_i8, ..c }, seed);
                }
            }
        }
    }
}

#[test]
fn a_in_tensor_memory() {
    let mut seed = 500;
    for (kind, formats, k) in types() {
        for &a in &formats {
            for (m, pair) in [(64, false), (128, false), (128, true), (256, true)] {
                seed += 1;
                check(&Case { pair, a_in_tmem: true, ..case(kind, a, a, (m, 64, k)) }, seed);
            }
        }
    }
}

#[test]
fn negated_scaled_and_without_d() {
    for (i, negate) in [[false, true], [true, false], [true, true]].into_iter().enumerate() {
        check(&Case { negate, ..Case::f16(128, 32) }, 600 + i as u64);
    }
    for scale in [0, 1, 15] {
        check(
            &Case { extras: Extras { scale_d: Some(scale), ..Extras::default() }, ..Case::f16(128, 32) },
            610 + u64::from(scale),
        );
    }
    check(&Case { accumulate: false, ..Case::f16(128, 32) }, 630);
    let disabled = Some([0x0000_00ff, 0xffff_0000, 0, 0xffff_ffff, 1, 2, 0x8000_0000, 0x5555_5555]);
    check(&Case { extras: Extras { disabled, ..Extras::default() }, ..Case::f16(128, 32) }, 631);
    check(
        &Case { pair: true, extras: Extras { disabled, scale_d: Some(3), ..Extras::default() }, ..Case::f16(256, 32) },
        632,
    );
    check(&Case { pair: true, extras: Extras { disabled, ..Extras::default() }, ..Case::f16(128, 32) }, 633);
}

#[test]
fn accumulators_of_f16() {
    for (i, accumulate) in [true, false].into_iter().enumerate() {
        check(&Case { d: 0, accumulate, ..Case::f16(128, 64) }, 700 + i as u64);
        check(&Case { d: 0, accumulate, small: false, pair: true, ..Case::f16(256, 64) }, 710 + i as u64);
    }
    let e4m3 = (Format::E4m3, 0);
    check(&Case { d: 0, ..case(q::kind_f8f6f4, e4m3, e4m3, (128, 64, 32)) }, 720);
}

#[test]
fn integers_saturate() {
    let u8 = (Format::U8, 0);
    check(
        &Case { extras: Extras { saturate: true, ..Extras::default() }, ..case(q::kind_i8, u8, u8, (128, 32, 32)) },
        800,
    );
    for n in [8, 16, 24, 32, 48, 240, 256] {
        check(&case(q::kind_i8, u8, (Format::S8, 1), (64, n, 32)), 801 + n as u64);
    }
}

#[test]
fn block_scaling() {
    use Format::*;
    let mx: Vec<_> = [(E4m3, 0), (E5m2, 1), (E2m3, 3), (E3m2, 4), (E2m1, 5)].into();
    let mut seed = 900;
    for (m, pair) in [(128, false), (128, true), (256, true)] {
        for (i, &a) in mx.iter().enumerate() {
            let b = mx[(i + 1) % mx.len()];
            seed += 1;
            let mut c = case(q::kind_mxf8f6f4, a, b, (m, 96, 32));
            c.pair = pair;
            c.a_in_tmem = i % 2 == 1;
            c.extras.scale_flags = vec![q::block_scale];
            c.extras.scale = Some((1, Ue8m0, 1, [i as u32 % 4, (i as u32 + 1) % 4]));
            check(&c, seed);
            c.a_in_tmem = !c.a_in_tmem;
            check(&Case { small: false, ..c }, seed);
        }
        let e2m1 = (E2m1, 1);
        for (kind, flags, scale) in [
            (q::kind_mxf4, vec![], (2, Ue8m0, 1, [2, 0])),
            (q::kind_mxf4, vec![q::scale_vec_2X], (2, Ue8m0, 1, [0, 2])),
            (q::kind_mxf4nvf4, vec![q::block32], (2, Ue8m0, 1, [2, 2])),
            (q::kind_mxf4nvf4, vec![q::scale_vec_4X], (4, Ue8m0, 1, [0, 0])),
            (q::kind_mxf4nvf4, vec![q::block16], (4, Ue4m3, 0, [0, 0])),
        ] {
            for a_in_tmem in [false, true] {
                seed += 1;
                let mut c = case(kind, e2m1, e2m1, (m, 256, 64));
                (c.pair, c.a_in_tmem) = (pair, a_in_tmem);
                c.extras.scale_flags = flags.clone();
                c.extras.scale = Some(scale);
                check(&c, seed);
            }
        }
    }
}

#[test]
fn weights_stationary() {
    let mut seed = 1000;
    for (kind, formats, k) in types() {
        for m in [32, 64, 128] {
            for n in [64, 128, 256] {
                for a_in_tmem in [false, true] {
                    seed += 1;
                    let c = case(kind, formats[0], formats[0], (m, n, k));
                    check(&Case { ws: true, a_in_tmem, ..c }, seed);
                }
            }
        }
    }
}

#[test]
fn zero_columns_and_shifts() {
    let mut seed = 1100;
    // start counts, first spans, non-zero mask, skip span, use span, shift
    for (starts, first, skip, used, shift, code) in [
        (0x0000_0000u64, 0u64, 2u64, 3u64, 0u64, 0),
        (0x0102_0100, 0b0011, 2, 3, 2, 1),
        (0x0908_0705, 0b1010, 0, 6, 8, 1),
        (0x0000_0003, 0b0001, 12, 40, 16, 2),
    ] {
        for m in [32, 64, 128] {
            for transposed in [false, true] {
                for non_zero in [0, 1] {
                    seed += 1;
                    let x = starts | first << 32 | non_zero << 39 | skip << 40 | used << 48 | shift << 56;
                    let places = [place(2, false), place(if shift == 2 { 0 } else { 2 }, transposed)];
                    check(
                        &Case {
                            ws: true,
                            places,
                            extras: Extras { zero: Some((x, code)), ..Extras::default() },
                            ..Case::f16(m, 64)
                        },
                        seed,
                    );
                }
            }
        }
    }
}

#[test]
fn sparse_matrices() {
    let mut seed = 1200;
    for (kind, formats, k) in types() {
        for &a in &formats {
            for (m, pair, ws) in [
                (64, false, false),
                (128, false, false),
                (128, true, false),
                (256, true, false),
                (32, false, true),
                (64, false, true),
                (128, false, true),
            ] {
                for mode in [0, 2, 4, 6] {
                    seed += 1;
                    if mode != 2 && m < 128 {
                        continue;
                    }
                    let c = case(kind, a, formats[0], (m, 64, 2 * k));
                    let places = [place(2, false), place(mode, false)];
                    check(&Case { pair, ws, sparse: true, places, ..c.clone() }, seed);
                    if mode == 2 {
                        check(&Case { pair, ws, sparse: true, a_in_tmem: true, ..c }, seed);
                    }
                }
            }
        }
    }
}

#[test]
fn sparse_matrices_with_block_scaling() {
    use Format::*;
    let mut seed = 1300;
    for (m, pair) in [(128, false), (256, true)] {
        for (kind, flags, format, scale, k) in [
            (q::kind_mxf8f6f4, vec![], (E4m3, 0), (1, Ue8m0, 1, [3, 1]), 64),
            (q::kind_mxf4, vec![], (E2m1, 1), (2, Ue8m0, 1, [2, 0]), 128),
            (q::kind_mxf4nvf4, vec![q::scale_vec_4X], (E2m1, 1), (4, Ue4m3, 0, [0, 0]), 128),
        ] {
            seed += 1;
            let mut c = case(kind, format, format, (m, 64, k));
            (c.pair, c.sparse) = (pair, true);
            (c.extras.scale_flags, c.extras.scale) = (flags, Some(scale));
            check(&c, seed);
        }
    }
}

#[test]
fn sparse_from_lane_16_and_with_the_other_column() {
    let mut seed = 1400;
    for (kind, formats, k) in types() {
        for (m, pair) in [(64, false), (128, true)] {
            for a_in_tmem in [false, true] {
                seed += 1;
                let c = Case { pair, a_in_tmem, sparse: true, ..case(kind, formats[0], formats[0], (m, 64, 2 * k)) };
                check(&Case { d_lane: 16, ..c.clone() }, seed);
                if formats[0].0.bits() >= 16 {
                    check(&Case { extras: Extras { selector: 1, ..c.extras.clone() }, ..c }, seed);
                }
            }
        }
    }
}

#[test]
fn a_shifts_afterwards() {
    let mut seed = 1500;
    for (kind, formats, k) in types() {
        for (m, pair, sparse) in
            [(128, false, false), (256, true, false), (128, true, false), (128, false, true), (256, true, true)]
        {
            seed += 1;
            let k = if sparse { 2 * k } else { k };
            let c = case(kind, formats[0], formats[0], (m, 32, k));
            check(
                &Case { pair, sparse, a_in_tmem: true, extras: Extras { ashift: true, ..c.extras.clone() }, ..c },
                seed,
            );
        }
    }
}

/// K = 96 and 128 of 4-bit kinds, both block sizes, factors that run on into the next word, all layouts.
#[test]
fn more_of_k() {
    use Format::*;
    let e2m1 = (E2m1, 1);
    let mut seed = 1600;
    for (k, bit, ids32, ids16) in [(96, 31, [0, 1, 2, 3], [0, 2, 2, 0]), (128, 3, [0; 4], [0; 4])] {
        for (m, pair) in [(128, false), (128, true), (256, true)] {
            for (i, n) in [64, 256].into_iter().enumerate() {
                for (vector, flag, format, code) in [
                    (k / 32, q::block32, Ue8m0, 1),
                    (k / 32, q::block32, Ue5m3, 2),
                    (k / 16, q::block16, Ue4m3, 0),
                    (k / 16, q::block16, Ue8m0, 1),
                    (k / 16, q::block16, Ue5m3, 2),
                ] {
                    for (a_in_tmem, spread) in [(false, false), (true, false), (false, true)] {
                        seed += 1;
                        if n == 256 && (a_in_tmem || spread || format != Ue8m0) {
                            continue;
                        }
                        let ids = if flag == q::block32 { ids32 } else { ids16 };
                        let mut c = case(q::kind_mxf4nvf4, e2m1, e2m1, (m, n, k));
                        (c.pair, c.a_in_tmem, c.extras.spread) = (pair, a_in_tmem, spread);
                        (c.target, c.extras.extra) = (Generation::Sm107, 1 << bit);
                        c.extras.scale_flags = vec![flag];
                        c.extras.scale = Some((vector, format, code, [ids[i], ids[i + 2]]));
                        check(&c, seed);
                    }
                }
            }
        }
    }
    // what sm_103a has
    let mut c = case(q::kind_mxf4, e2m1, e2m1, (128, 128, 96));
    (c.target, c.extras.extra) = (Generation::Sm103, 1 << 31);
    c.extras.scale = Some((3, Ue8m0, 1, [1, 2]));
    check(&c, seed);
}

/// Rows of 48 bytes that run over the end of 128 bytes.
#[test]
fn absolute_leading_addresses() {
    for (i, advance) in [160, 192, 224].into_iter().enumerate() {
        let e2m1 = (Format::E2m1, 1);
        let mut c = case(q::kind_mxf4, e2m1, e2m1, (128, 64, 96));
        (c.target, c.extras.extra) = (Generation::Sm103, 1 << 31);
        c.extras.scale = Some((3, Format::Ue8m0, 1, [0, 0]));
        c.places = [0, 1].map(|gap| Place { advance, gap, absolute: true, ..place(2, false) });
        check(&c, 1700 + i as u64);
    }
}

#[test]
fn k_64_of_8_bit_elements() {
    use Format::*;
    let mut seed = 1800;
    for (a, b) in [((E4m3, 0), (E5m2, 1)), ((E5m2, 1), (E4m3, 0))] {
        for (m, pair) in [(64, false), (128, false), (128, true), (256, true)] {
            for sparse in [false, true] {
                for a_in_tmem in [false, true] {
                    seed += 1;
                    let k = if sparse { 128 } else { 64 };
                    let mut c = case(q::kind_f8f6f4, a, b, (m, 64, k));
                    (c.pair, c.sparse, c.a_in_tmem) = (pair, sparse, a_in_tmem);
                    (c.target, c.extras.extra) = (Generation::Sm107, 1 << 29);
                    check(&c, seed);
                    if m / if pair { 2 } else { 1 } == 128 {
                        let mut c =
                            Case { kind: q::kind_mxf8f6f4, extras: Extras { extra: 1 << 31, ..c.extras.clone() }, ..c };
                        c.extras.scale = Some((2, Ue8m0, 1, [1, 3]));
                        check(&c, seed);
                        check(&Case { extras: Extras { spread: true, ..c.extras.clone() }, ..c }, seed);
                    }
                }
            }
        }
    }
}

#[test]
fn four_bit_elements_one_by_one() {
    use Format::*;
    for (i, (m, pair)) in [(128, false), (256, true)].into_iter().enumerate() {
        for (extra, k) in [(0, 128), (1 << 31, 192), (1 << 3, 256)] {
            for single in [false, true] {
                let mut c = case(q::kind_mxf4, (E2m1, 1), (E2m1, 1), (m, 64, k));
                (c.pair, c.sparse, c.extras.single, c.target, c.extras.extra) =
                    (pair, true, single, Generation::Sm107, extra);
                c.extras.scale = Some((k / 64, Ue8m0, 1, [0, 0]));
                check(&c, 1900 + i as u64 + k as u64);
                check(&Case { a_in_tmem: true, ..c }, 1950 + i as u64 + k as u64);
            }
        }
    }
}

#[test]
fn columns_from_lookup_tables() {
    use Format::*;
    let mut seed = 2000;
    for (m, pair) in [(64, false), (128, false), (128, true), (256, true)] {
        for (half, n, mode) in [(0, 16, 0), (1, 96, 2), (1, 256, 4)] {
            {
                seed += 1;
                let mut c = case(q::kind_f8f6f4, (E5m2, 1), (E4m3, 0), (m, n, 64));
                (c.pair, c.extras.lut, c.target, c.extras.extra) = (pair, Some(half), Generation::Sm107, 1 << 29);
                c.places[1] = place(mode, false);
                c.negate = [seed % 2 == 0, seed % 3 == 0];
                check(&c, seed);
                if m / if pair { 2 } else { 1 } == 128 {
                    let mut c = Case {
                        kind: q::kind_mxf8f6f4,
                        a_in_tmem: true,
                        extras: Extras { extra: 1 << 31, ..c.extras.clone() },
                        ..c
                    };
                    c.extras.scale = Some((2, Ue8m0, 1, [0, 2]));
                    check(&c, seed);
                }
            }
        }
    }
}
