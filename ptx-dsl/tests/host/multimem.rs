//! `multimem` on multicast objects. Expected values are plain Rust.

use crate::module;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::load::Kernel;
use ptx_dsl::prelude::*;
use ptx_dsl::{Arg, Error};

/// A kernel with the multimem address `%m` of 16 bytes for each thread and the address `%x` of 4 bytes for each.
fn kernel(body: &str) -> Kernel {
    let text = format!(
        ".visible .entry k(.param .u64 m, .param .u64 .ptr .global .align 16 x)\n{{\n\
         .reg .b32 %i, %v<4>; .reg .f32 %f<4>; .reg .b64 %m, %x, %d; .reg .pred %p;\n\
         ld.param.u64 %m, [m]; ld.param.u64 %x, [x]; mov.u32 %i, %tid.x;\n\
         mad.wide.u32 %m, %i, 16, %m; mad.wide.u32 %x, %i, 4, %x;\n{body}\nret;\n}}\n"
    );
    module(&text).kernel("k").unwrap().clone()
}

/// Runs a kernel in 64 threads on an object of three replicas of 256 words, whose word `i` begins as `start(replica, i)`.
fn run(kernel: &Kernel, start: impl Fn(u32, u32) -> u32) -> Result<([Vec<u32>; 3], Vec<u32>), Error> {
    let mut replicas = [0, 1, 2].map(|r| (0..256).map(|i| start(r, i)).collect::<Vec<u32>>());
    let mut x = vec![0; 64];
    for host in [Host::new(), Host::new().threads(2)] {
        replicas = [0, 1, 2].map(|r| (0..256).map(|i| start(r, i)).collect());
        x.fill(0);
        let object = Arg::multicast(replicas.iter_mut().map(|replica| &mut replica[..]));
        kernel.launch_raw(&host, Launch::grid(1).block(64), &mut [object, (&mut x).into()])?;
    }
    Ok((replicas, x))
}

fn fault(kernel: &Kernel) -> FaultKind {
    run(kernel, |_, _| 0).unwrap_err().fault().expect("a fault").kind.clone()
}

#[test]
fn a_store_reaches_every_replica() {
    let store = kernel(
        "cvt.rn.f32.u32 %f0, %i; add.f32 %f1, %f0, %f0; multimem.st.weak.global.v2.f32 [%m], {%f0, %f1};\n\
         multimem.st.release.sys.global.u32 [%m+12], %i;",
    );
    let (replicas, _) = run(&store, |r, i| r << 16 | i).unwrap();
    for (r, replica) in replicas.iter().enumerate() {
        for (i, words) in replica.chunks(4).enumerate() {
            let f = i as f32;
            let kept = (r as u32) << 16 | (4 * i as u32 + 2);
            assert_eq!(words, [f.to_bits(), (2.0 * f).to_bits(), kept, i as u32], "replica {r}, thread {i}");
        }
    }
}

#[test]
fn a_reduction_reaches_every_replica() {
    // all threads add to the words of thread 0, by integers, halves and the larger of two
    let reduce = kernel(
        "shl.b32 %v3, %i, 4; cvt.u64.u32 %d, %v3; sub.u64 %m, %m, %d;\n\
         multimem.red.relaxed.gpu.global.add.u32 [%m], %i; multimem.red.max.s32 [%m+4], %i;\n\
         mov.b32 %v0, 0x40003c00; multimem.red.add.f16x2 [%m+8], %v0;\n\
         mov.f32 %f0, 0f3F000000; multimem.red.release.sys.global.add.f32 [%m+12], %f0;",
    );
    let (replicas, _) = run(&reduce, |r, i| if i == 1 { 31 + r } else { 0 }).unwrap();
    for (r, replica) in replicas.iter().enumerate() {
        let halves = 0x5800_5400; // 2 * 64 above 1 * 64
        assert_eq!(replica[..4], [63 * 64 / 2, 63, halves, 32f32.to_bits()], "replica {r}");
        assert!(replica[4..].iter().all(|word| *word == 0));
    }
}

#[test]
fn a_load_reduces_all_replicas() {
    let start = |r: u32, i: u32| match i % 4 {
        0 => 10 * r + i,                                          // integers
        1 => (0.25 * (r + i) as f32).to_bits(),                   // f32
        2 => [0x3c00_6800, 0x3c00_1000, 0x4000_1000][r as usize], // pairs of f16
        _ => 0xff ^ (1 << r),                                     // bits
    };
    let load = |instruction: &str| {
        let body = format!("{instruction}\n st.global.b32 [%x], %v0;");
        run(&kernel(&body), start).unwrap().1
    };
    let sums: Vec<u32> = (0..64).map(|i| 30 + 12 * i).collect();
    assert_eq!(load("multimem.ld_reduce.weak.global.add.u32 %v0, [%m];"), sums);
    let largest: Vec<u32> = (0..64).map(|i| 20 + 4 * i).collect();
    assert_eq!(load("multimem.ld_reduce.acquire.sys.global.max.s32 %v0, [%m];"), largest);
    let floats: Vec<u32> = (0..64).map(|i| (0.75 * (4 * i + 2) as f32).to_bits()).collect();
    assert_eq!(load("multimem.ld_reduce.relaxed.gpu.add.f32 %f0, [%m+4]; mov.b32 %v0, %f0;"), floats);
    assert_eq!(load("multimem.ld_reduce.weak.and.b32 %v0, [%m+12];"), [0xf8; 64]);
    assert_eq!(load("multimem.ld_reduce.weak.xor.b32 %v0, [%m+12];"), [0xff ^ 7; 64]);
    // the low halves: 2048 and two numbers that are too small to change it; the high halves: 1 + 1 + 2
    assert_eq!(load("multimem.ld_reduce.weak.add.f16x2 %v0, [%m+8];"), [0x4400_6800; 64]);
}

#[test]
fn a_sum_in_f32_is_rounded_once() {
    // 2048 + 1 + 1: each 1 is half a unit in the last place of an f16, and is lost alone
    let start = |r: u32, i: u32| if i.is_multiple_of(4) { [0x6800, 0x3c00, 0x3c00][r as usize] } else { 0 };
    let load = |acc: &str| {
        let body = format!("multimem.ld_reduce.weak.add{acc}.f16x2 %v0, [%m]; st.global.b32 [%x], %v0;");
        run(&kernel(&body), start).unwrap().1[0]
    };
    assert_eq!((load(""), load(".acc::f32")), (0x6800, 0x6801));
}

#[test]
fn other_accesses_and_other_addresses_fault() {
    let text = |kind: FaultKind| match kind {
        FaultKind::WrongWindow { wanted, .. } => wanted,
        other => panic!("{other:?}"),
    };
    assert!(text(fault(&kernel("ld.global.u32 %v0, [%m];"))).contains("only `multimem` instructions"));
    assert!(text(fault(&kernel("atom.add.u32 %v0, [%m], 1;"))).contains("only `multimem` instructions"));
    assert!(text(fault(&kernel("multimem.st.weak.u32 [%x], %i;"))).contains("a multimem address"));
    // one byte in the middle of the object is an address too, but no address of its beginning
    assert!(matches!(fault(&kernel("multimem.st.weak.u32 [%m+2], %i;")), FaultKind::Misaligned { .. }));
    assert!(matches!(fault(&kernel("multimem.st.weak.u32 [%m+1024], %i;")), FaultKind::OutOfBounds { size: 1024, .. }));
}

#[test]
fn replicas_have_one_length() {
    let store = kernel("multimem.st.weak.u32 [%m], %i;");
    let (mut first, mut second, mut x) = ([0u32; 8], [0u32; 7], [0u32; 64]);
    let mut launch = |object: Arg<'_>| {
        let launched = store.launch_raw(&Host::new(), Launch::grid(1).block(1), &mut [object, (&mut x).into()]);
        launched.map(|_| ()).map_err(|error| error.to_string())
    };
    let different = launch(Arg::multicast([&mut first[..], &mut second[..]])).unwrap_err();
    assert!(different.contains("whose replicas have [32, 28] bytes"), "{different}");
    assert!(launch(Arg::multicast::<u32>([])).is_err());
    assert_eq!(launch(Arg::multicast([&mut first[..]])), Ok(()));
}
