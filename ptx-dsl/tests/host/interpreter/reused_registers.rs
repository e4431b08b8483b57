//! Instructions whose result replaces one of their own operands. All warps of a block read the operand before it changes: the
//! register may hold one value, or a start and a step, for all of them.
//!
//! The result of one round of a loop is the operand of the next. So both stay in one register; elsewhere each value has a register of its
//! own.

use crate::{one, run};
use ptx_dsl::prelude::*;

/// One warp, a part of a warp more, and many.
const BLOCKS: [u32; 4] = [32, 33, 96, 100];

const ROUNDS: u32 = 3;

/// `body`, `ROUNDS` times.
fn rounds(body: &str) -> String {
    format!("mov.u32 %n, 0;\nagain: {body} add.u32 %n, %n, 1; setp.lt.u32 %p, %n, {ROUNDS}; @%p bra again;")
}

/// Runs `body` with `n` threads. `%i` is the number of the thread, `%x` the address of its element, which is `10 * i` at first.
fn elements(n: u32, body: &str) -> Vec<u32> {
    let kernel = one("", &format!("{body} ret;"));
    let mut x: Vec<u32> = (0..n).map(|i| 10 * i).collect();
    run(&kernel, Launch::grid(1).block(n), &mut x).unwrap();
    x
}

/// The value of a lane.
type Value = fn(u32) -> u32;

/// How a register starts: the same in all lanes, growing from lane to lane, or without a pattern.
const STARTS: [(&str, Value); 3] =
    [("mov.u32 %v, 7;", |_| 7), ("add.u32 %v, %i, 5;", |i| i + 5), ("mul.lo.u32 %v, %i, %i;", |i| i * i)];

/// Checks an instruction with the element at `[%x]` and with the operand and result `%v`. `next` gives both after it.
fn expect(instr: &str, next: impl Fn(u32, u32) -> (u32, u32)) {
    for n in BLOCKS {
        for (start, value) in STARTS {
            let end = |i| (0..ROUNDS).fold((10 * i, value(i)), |(x, v), _| next(x, v));
            let body = format!("{start} {}", rounds(instr));
            let wanted: Vec<_> = (0..n).map(|i| end(i).0).collect();
            assert_eq!(elements(n, &body), wanted, "{n} threads, the element: {body}");
            let body = format!("{body} st.global.u32 [%x], %v;");
            let wanted: Vec<_> = (0..n).map(|i| end(i).1).collect();
            assert_eq!(elements(n, &body), wanted, "{n} threads, the register: {body}");
        }
    }
}

#[test]
fn atomics() {
    expect("atom.global.add.u32 %v, [%x], %v;", |x, v| (x + v, x));
    expect("atom.global.exch.b32 %v, [%x], %v;", |x, v| (v, x));
    expect("atom.global.xor.b32 %v, [%x], %v;", |x, v| (x ^ v, x));
    expect("atom.global.max.u32 %v, [%x], %v;", |x, v| (x.max(v), x));
    expect("atom.global.cas.b32 %v, [%x], %v, 4;", |x, v| (if x == v { 4 } else { x }, x));
    expect("atom.global.cas.b32 %v, [%x], 30, %v;", |x, v| (if x == 30 { v } else { x }, x));
    expect("st.global.u32 [%x], %v; ld.global.u32 %v, [%x];", |_, v| (v, v));
}

#[test]
fn atomics_of_one_element() {
    // all lanes of all warps add to one element: each sees what came before, in some order
    let kernel = one(
        "",
        "ld.param.u64 %a, [x]; mov.u32 %v, 3; atom.global.add.u32 %v, [%a], %v;\n\
         mad.wide.u32 %x, %i, 4, %a; st.global.u32 [%x+4], %v; ret;",
    );
    for n in BLOCKS {
        let mut x = vec![0; n as usize + 1];
        run(&kernel, Launch::grid(1).block(n), &mut x).unwrap();
        assert_eq!(x[0], 3 * n);
        x[1..].sort();
        assert_eq!(x[1..], (0..n).map(|i| 3 * i).collect::<Vec<_>>());
    }
}

#[test]
fn addresses() {
    // each element holds the address of the next: of each lane, and the same in all lanes
    for (at, same) in [("mad.wide.u32 %x, %i, 40, %a;", false), ("mov.u64 %x, %a;", true)] {
        let kernel = one(
            "",
            &format!(
                "ld.param.u64 %a, [x]; {at} add.u64 %a, %x, 8; st.global.u64 [%x], %a; add.u64 %a, %x, 16;\n\
                 st.global.u64 [%x+8], %a; add.u64 %a, %x, 24; st.global.u64 [%x+16], %a;\n{}\n\
                 ld.param.u64 %a, [x]; {at_a} sub.u64 %x, %x, %a; cvt.u32.u64 %v, %x; add.u32 %v, %v, %i;\n\
                 ld.param.u64 %a, [x]; mad.wide.u32 %a, %i, 40, %a; st.global.u32 [%a+32], %v; ret;",
                rounds("ld.global.u64 %x, [%x];"),
                at_a = at.replace("%x", "%a"),
            ),
        );
        for n in BLOCKS {
            let mut x = vec![9; 10 * n as usize];
            run(&kernel, Launch::grid(1).block(n), &mut x).unwrap();
            let found: Vec<u32> = x.chunks(10).map(|element| element[8]).collect();
            assert_eq!(found, (0..n).map(|i| 8 * ROUNDS + i).collect::<Vec<_>>(), "{n} threads, same: {same}");
        }
    }
    let exchange = one(
        "",
        "ld.param.u64 %x, [x]; mad.wide.u32 %x, %i, 8, %x; setp.lt.u32 %p, %i, 0;\n\
         again: add.u64 %a, %x, 4; st.global.u64 [%x], %a; atom.global.exch.b64 %x, [%x], %x; @%p bra again;\n\
         sub.u64 %x, %x, 4; st.global.u32 [%x], %i; ret;",
    );
    for n in BLOCKS {
        let mut x = vec![9; 2 * n as usize];
        run(&exchange, Launch::grid(1).block(n), &mut x).unwrap();
        let found: Vec<u32> = x.chunks(2).map(|element| element[0]).collect();
        assert_eq!(found, (0..n).collect::<Vec<_>>());
    }
}

/// Exchanges of whole warps. `next` gives the registers of a warp after one.
fn exchanged(instr: &str, next: impl Fn(&[u32]) -> Vec<u32>) {
    for n in [32, 64, 96] {
        for (start, value) in STARTS {
            let body = format!("{start} {} st.global.u32 [%x], %v;", rounds(instr));
            let mut wanted: Vec<u32> = (0..n).map(value).collect();
            for _ in 0..ROUNDS {
                wanted = wanted.chunks(32).flat_map(&next).collect();
            }
            assert_eq!(elements(n, &body), wanted, "{n} threads: {body}");
        }
    }
}

#[test]
fn exchanges_of_a_warp() {
    let lanes = |f: &dyn Fn(usize) -> u32| (0..32).map(f).collect::<Vec<_>>();
    exchanged("shfl.sync.idx.b32 %v, %v, 3, 31, 0xffffffff;", |w| vec![w[3]; 32]);
    exchanged("shfl.sync.bfly.b32 %v, %v, 1, 31, 0xffffffff;", |w| lanes(&|l| w[l ^ 1]));
    exchanged("shfl.sync.down.b32 %v, %v, 4, 31, 0xffffffff;", |w| lanes(&|l| w[if l < 28 { l + 4 } else { l }]));
    // the result takes the place of the lane that is read from
    exchanged("shfl.sync.idx.b32 %v, %i, %v, 31, 0xffffffff; and.b32 %v, %v, 31;", |w| lanes(&|l| w[l] % 32));
    exchanged("redux.sync.add.u32 %v, %v, 0xffffffff; and.b32 %v, %v, 255;", |w| vec![w.iter().sum::<u32>() % 256; 32]);
    exchanged("setp.lt.u32 %p, %v, 40; vote.sync.ballot.b32 %v, %p, 0xffffffff;", |w| {
        vec![(0..32).map(|l| u32::from(w[l] < 40) << l).sum(); 32]
    });
    exchanged("match.any.sync.b32 %v, %v, 0xffffffff;", |w| {
        lanes(&|l| (0..32).map(|other| u32::from(w[other] == w[l]) << other).sum())
    });
}
