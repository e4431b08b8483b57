//! Tests with one warp and its Tensor Memory, without a kernel.

use super::super::layout::tests::straight;
use super::*;
use crate::api::host::Host;
use crate::api::launch::{Launch, grid};
use crate::fault::FaultKind;
use crate::kernel::{KernelInfo, Wait};
use crate::machine::Ctx;
use crate::machine::team::Team;
use crate::memory::global::Global;
use crate::numerics::qual::{Qualifier, Ty};
use crate::observe::probe::Monitored;

const INFO: KernelInfo<'_> =
    KernelInfo { name: "warp", file: "warp.rs", shared_size: 64, target: "sm_100a", ..KernelInfo::NONE };

/// Warp `warp` of a CTA of eight, with columns 32 to 511 allocated. Every cell tells its lane and column.
fn with<R>(warp: u32, f: impl FnOnce(&mut Ctx<'_>) -> R) -> R {
    let (host, launch) = (Host::new(), Launch::grid(1).block(256));
    let grid = grid(&INFO, &launch, host.options());
    let team = Team::new(1, &grid);
    let mut x = Ctx::new(&grid, Monitored::new(None), Vec::new(), Global::new(Vec::new()), &team);
    x.residents.clusters[0].start([0; 3], 1, 256, 64, 0);
    let start = x.residents.clusters[0].ready.pop_front().unwrap();
    x.cur = start;
    x.warp(warp as usize);
    x.tmem_mut().hold(0xfffe);
    for lane in 0..tmem::LANES {
        for (column, cell) in x.tmem_mut().lane_mut(lane).iter_mut().enumerate() {
            *cell = word(lane, column);
        }
    }
    f(&mut x)
}

fn word(lane: usize, column: usize) -> u32 {
    0x8000_0000 | (lane as u32) << 16 | column as u32
}

const fn taddr(lane: u32, column: u32) -> u32 {
    lane << 16 | column
}

fn same(v: u32) -> Lanes {
    [v.into(); 32]
}

fn qs(flags: &[Qualifier]) -> Q {
    Q::new(flags, &[Ty::B32])
}

const IMM: u32 = 100;

fn ld<const D: usize>(x: &mut Ctx<'_>, q: Q, taddr: u32) -> Result<Vec<Lanes>, FaultKind> {
    let mut v = vec![[u64::MAX; 32]; D];
    let mut d: Vec<Destination> = v.iter_mut().map(Destination::Lanes).collect();
    let flow =
        tcgen05_ld(x, q, &[Source::Lanes(&same(taddr)), Source::Lanes(&same(IMM))], &mut d).map_err(|f| f.kind)?;
    assert_eq!(flow, Flow::Next);
    Ok(v)
}

fn st(x: &mut Ctx<'_>, q: Q, taddr: u32, r: &[Lanes]) -> Result<(), FaultKind> {
    let (t, imm) = (same(taddr), same(IMM));
    let mut s = vec![Source::Lanes(&t)];
    if q.has(q::_16x32bx2) {
        s.push(Source::Lanes(&imm));
    }
    s.extend(r.iter().map(Source::Lanes));
    let flow = tcgen05_st(x, q, &s, &mut []);
    flow.map(|f| assert_eq!(f, Flow::Next)).map_err(|f| f.kind)
}

const SHAPES: [(MoveShape, Qualifier); 5] = [
    (MoveShape::S32x32b, q::_32x32b),
    (MoveShape::S16x64b, q::_16x64b),
    (MoveShape::S16x128b, q::_16x128b),
    (MoveShape::S16x256b, q::_16x256b),
    (MoveShape::S16x32bx2, q::_16x32bx2),
];

/// Warp 6 reaches lanes 64 to 95; shapes of 16 rows start at 80.
fn base(shape: MoveShape) -> (usize, u32) {
    if shape == MoveShape::S32x32b { (64, taddr(64, 40)) } else { (80, taddr(80, 40)) }
}

fn loads<const D: usize>() {
    for (shape, flag) in SHAPES {
        if D < shape.fragment().registers() {
            continue;
        }
        for pack in [false, true] {
            let q = if pack { qs(&[flag, q::pack_16b]) } else { qs(&[flag]) };
            let (row, at) = base(shape);
            // the widest take all of Tensor Memory
            let column = if shape.fragment().span(D) * (1 + pack as usize) == tmem::COLUMNS { 0 } else { 40 };
            let got = with(6, |x| {
                x.tmem_mut().hold(0xffff);
                ld::<D>(x, q, at - 40 + column as u32)
            })
            .unwrap();
            for (l, r) in (0..32).flat_map(|l| (0..D).map(move |r| (l, r))) {
                let c = straight(shape, l, r);
                let lane = row + c.row;
                let first = column + if c.second { IMM as usize } else { 0 };
                let wanted = if pack {
                    let column = first + 2 * c.column;
                    word(lane, column) & 0xffff | (word(lane, column + 1) & 0xffff) << 16
                } else {
                    word(lane, first + c.column)
                };
                assert_eq!(got[r][l], wanted.into(), "{} {pack} lane {l} register {r}", shape.fragment().name);
            }
        }
    }
}

#[test]
fn every_shape_and_count_loads_its_cells() {
    loads::<1>();
    loads::<2>();
    loads::<4>();
    loads::<8>();
    loads::<16>();
    loads::<32>();
    loads::<64>();
    loads::<128>();
}

#[test]
fn stores_reach_their_cells_and_no_others() {
    for (shape, flag) in SHAPES {
        for (n, unpack) in [(4, false), (4, true), (8, false), (8, true)] {
            let q = if unpack { qs(&[flag, q::unpack_16b]) } else { qs(&[flag]) };
            let (row, at) = base(shape);
            let r: Vec<Lanes> =
                (0..n).map(|r| std::array::from_fn(|l| 0x4000_0001 + (l << 20 | r << 8) as u64)).collect();
            with(6, |x| {
                st(x, q, at, &r).unwrap();
                let mut wanted: Vec<Vec<u32>> =
                    (0..tmem::LANES).map(|l| (0..tmem::COLUMNS).map(|c| word(l, c)).collect()).collect();
                for (l, (i, r)) in (0..32).flat_map(|l| r.iter().enumerate().map(move |r| (l, r))) {
                    let c = straight(shape, l, i);
                    let (lane, first) = (row + c.row, 40 + if c.second { IMM as usize } else { 0 });
                    if unpack {
                        wanted[lane][first + 2 * c.column] = r[l] as u32 & 0xffff;
                        wanted[lane][first + 2 * c.column + 1] = r[l] as u32 >> 16;
                    } else {
                        wanted[lane][first + c.column] = r[l] as u32;
                    }
                }
                for (lane, wanted) in wanted.iter().enumerate() {
                    assert_eq!(x.tmem().lane(lane), wanted, "{} lane {lane}", shape.fragment().name);
                }
                // and back
                let back = if unpack { qs(&[flag, q::pack_16b]) } else { q };
                let loaded = if n == 4 { ld::<4>(x, back, at) } else { ld::<8>(x, back, at) };
                assert_eq!(loaded.unwrap(), r);
            });
        }
    }
}

#[test]
fn the_second_piece_may_lie_in_other_lanes() {
    // `taddr + immHalfSplitoff` is an address: 16 lanes and 3 columns further
    let got = with(1, |x| {
        let mut d = [0; 32];
        let (t, imm) = (same(taddr(32, 64)), same(taddr(16, 3)));
        tcgen05_ld(
            x,
            qs(&[q::_16x32bx2]),
            &[Source::Lanes(&t), Source::Lanes(&imm)],
            &mut [Destination::Words(&mut d)],
        )
        .unwrap();
        d
    });
    assert_eq!(got[..16], std::array::from_fn::<u32, 16, _>(|l| word(32 + l, 64)));
    assert_eq!(got[16..], std::array::from_fn::<u32, 16, _>(|l| word(48 + l, 67)));
}

#[test]
fn halves_that_are_stored_over_each_other() {
    // the second half begins IMM columns further
    let q = qs(&[q::_16x32bx2, q::unpack_16b]);
    let store = |registers: usize| with(0, |x| st(x, q, taddr(0, 32), &vec![same(7); registers]));
    store(32).unwrap();
    store(50).unwrap();
    let Err(FaultKind::TensorMemory { what, .. }) = store(51) else { panic!("102 columns, 100 apart") };
    assert_eq!(
        what,
        "the halves of `tcgen05.st` overlap: each stores 102 columns, one from column 32 on, the other from column 132 on"
    );
}

#[test]
fn reductions_over_the_columns_of_a_lane() {
    let red = |flags: &[Qualifier], ty, rows: [[u32; 2]; 3]| {
        with(0, |x| {
            for (lane, row) in rows.iter().enumerate() {
                x.tmem_mut().lane_mut(lane)[32..34].copy_from_slice(row);
            }
            let (mut a, mut b, mut red) = ([7; 32], [7; 32], [7; 32]);
            let mut all = vec![q::_32x32b];
            all.extend(flags);
            tcgen05_ld_red(
                x,
                Q::new(&all, &[ty]),
                &[Source::Lanes(&same(32))],
                &mut [&mut a, &mut b, &mut red].map(Destination::Words),
            )
            .unwrap();
            for (lane, row) in rows.iter().enumerate() {
                assert_eq!([a[lane], b[lane]], *row);
            }
            [red[0], red[1], red[2]]
        })
    };
    let minus = u32::MAX;
    let rows = [[1, 2], [minus, 0], [5, 5]];
    assert_eq!(red(&[q::min], Ty::U32, rows), [1, 0, 5]);
    assert_eq!(red(&[q::max], Ty::U32, rows), [2, minus, 5]);
    assert_eq!(red(&[q::min], Ty::S32, rows), [1, minus, 5]);
    assert_eq!(red(&[q::max], Ty::S32, rows), [2, 0, 5]);
    let (one, two, nan) = (1f32.to_bits(), (-2f32).to_bits(), f32::NAN.to_bits());
    let rows = [[one, two], [nan, one], [two, two]];
    assert_eq!(red(&[q::min], Ty::F32, rows), [two, one, two]);
    assert_eq!(red(&[q::max, q::abs], Ty::F32, rows), [2f32.to_bits(), one, 2f32.to_bits()]);
    let [a, b, c] = red(&[q::max, q::NaN], Ty::F32, rows);
    assert!((a, c) == (one, two) && f32::from_bits(b).is_nan());
}

fn wrong(warp: u32, flag: Qualifier, taddr: u32) -> String {
    match with(warp, |x| ld::<4>(x, qs(&[flag]), taddr)) {
        Err(FaultKind::TensorMemory { what, .. }) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn lanes_and_columns_out_of_reach() {
    assert!(wrong(1, q::_32x32b, taddr(0, 32)).contains("warp 1 accesses lanes 0 to 31"));
    assert!(wrong(7, q::_32x32b, taddr(64, 32)).contains("reaches lanes 96 to 127"));
    assert!(wrong(0, q::_32x32b, taddr(16, 32)).contains("lanes 16 to 47"));
    assert!(wrong(0, q::_16x64b, taddr(24, 32)).contains("lanes 24 to 39"));
    assert!(wrong(0, q::_16x64b, taddr(0xffff, 32)).contains("lanes 127 to 142"));
    assert!(wrong(0, q::_32x32b, taddr(0, 30)).contains("column 30 of Tensor Memory is not allocated"));
    assert!(wrong(0, q::_32x32b, taddr(0, 510)).contains("past"));
    assert!(wrong(0, q::_32x32b, taddr(0, 0xffff)).contains("past"));
    // the second piece
    assert!(wrong(0, q::_16x32bx2, taddr(0, 420)).contains("past"));
}

#[test]
fn the_warp_is_whole_and_of_one_mind() {
    let differs = with(0, |x| {
        let mut t = same(32);
        t[9] = 33;
        tcgen05_ld(x, qs(&[q::_32x32b]), &[Source::Lanes(&t)], &mut [Destination::Words(&mut [0; 32])])
            .map_err(|f| f.kind)
    });
    assert!(
        matches!(differs, Err(FaultKind::IssueGranularity { what, .. }) if what.contains("Tensor Memory address differs"))
    );
    let some = with(0, |x| {
        x.mask = 0xff;
        x.cur.mask = 0xff;
        tcgen05_st(x, qs(&[q::_32x32b]), &[Source::Lanes(&same(32)), Source::Lanes(&same(1))], &mut [])
            .map_err(|f| f.kind)
    });
    assert_eq!(some, Ok(Flow::Wait(Wait::WholeWarp { pc: 0 })));
    let exited = with(0, |x| {
        x.residents.clusters[0].ctas[0].live[0] = 0xff;
        (x.mask, x.cur.mask) = (0xff, 0xff);
        tcgen05_wait(x, qs(&[q::ld]), &[], &mut []).map_err(|f| f.kind)
    });
    assert!(
        matches!(exited, Err(FaultKind::IssueGranularity { what, .. }) if what.contains("lanes 8 to 31 have exited"))
    );
}
