//! Modules that are loaded at run time. Expected values are plain Rust.

use crate::{HEAD, module, one, run};
use ptx_dsl::fault::FaultKind;
use ptx_dsl::load::{Element, Kernel, Module, Options, Ty};
use ptx_dsl::prelude::*;
use ptx_dsl::{Engine, Error};

#[test]
fn barriers_and_shared_memory() {
    let reverse = one(
        ".reqntid 64",
        ".shared .align 4 .u32 tile[64];\n\
         ld.global.u32 %v, [%x]; mov.u32 %w, tile; mov.u32 %i, %tid.x; mad.lo.u32 %c, %i, 4, %w; st.shared.u32 [%c], %v;\n\
         bar.sync 0; sub.u32 %i, 63, %i; mad.lo.u32 %c, %i, 4, %w; ld.shared.u32 %v, [%c]; st.global.u32 [%x], %v; ret;",
    );
    let mut x: Vec<u32> = (0..256).collect();
    run(&reverse, Launch::grid(4), &mut x).unwrap();
    let expected: Vec<u32> = (0..256).map(|i| i / 64 * 64 + 63 - i % 64).collect();
    assert_eq!(x, expected);
}

#[test]
fn loops_and_divergence() {
    let collatz = one(
        "",
        "ld.global.u32 %v, [%x]; mov.u32 %n, 0;\nagain: setp.eq.u32 %p, %v, 1; @%p bra done; add.u32 %n, %n, 1;\n\
         and.b32 %w, %v, 1; setp.eq.u32 %p, %w, 0; @%p bra even; mad.lo.u32 %v, %v, 3, 1; bra again;\n\
         even: shr.u32 %v, %v, 1; bra again;\ndone: st.global.u32 [%x], %n; ret;",
    );
    let steps = |mut v: u32| {
        let mut n = 0;
        while v != 1 {
            v = if v.is_multiple_of(2) { v / 2 } else { 3 * v + 1 };
            n += 1;
        }
        n
    };
    let mut x: Vec<u32> = (1..=200).collect();
    run(&collatz, Launch::grid(2).block(100), &mut x).unwrap();
    assert_eq!(x, (1..=200).map(steps).collect::<Vec<_>>());
}

#[test]
fn functions_constants_and_globals() {
    let text = ".const .align 4 .u32 primes[4] = { 2, 3, 5, 7 };\n.global .align 4 .u32 start = 1000;\n\
        .func (.reg .b32 %r) factorial(.reg .b32 %n) { .reg .pred %p; .reg .b32 %m;\n\
        mov.u32 %r, 1; setp.eq.u32 %p, %n, 0; @%p bra done; sub.u32 %m, %n, 1; call (%r), factorial, (%m); mul.lo.u32 %r, %r, %n;\n\
        done: ret; }\n\
        .visible .entry k(.param .u64 .ptr .global .align 4 x) { .reg .b32 %i, %v, %c; .reg .b64 %x, %a;\n\
        ld.param.u64 %x, [x]; mov.u32 %i, %tid.x; mad.wide.u32 %x, %i, 4, %x; call (%v), factorial, (%i);\n\
        and.b32 %i, %i, 3; mov.u64 %a, primes; mad.wide.u32 %a, %i, 4, %a; ld.const.u32 %c, [%a]; add.u32 %v, %v, %c;\n\
        ld.global.u32 %c, [start]; add.u32 %v, %v, %c; st.global.u32 [%x], %v; ret; }\n";
    let mut x = [0; 10];
    run(module(text).kernel("k").unwrap(), Launch::grid(1).block(10), &mut x).unwrap();
    let factorial = |n: u32| (1..=n).product::<u32>();
    let expected: Vec<u32> = (0..10).map(|i| factorial(i) + [2, 3, 5, 7][i as usize % 4] + 1000).collect();
    assert_eq!(x, expected[..]);
}

#[test]
fn clusters() {
    let ranks = one(
        ".reqnctapercluster 2",
        "mov.u32 %v, %cluster_ctarank; mov.u32 %w, %clusterid.x; mad.lo.u32 %v, %w, 10, %v; st.global.u32 [%x], %v; ret;",
    );
    assert_eq!((ranks.required_cluster(), ranks.required_block()), (Some([2, 1, 1]), None));
    let mut x = [0; 6];
    run(&ranks, Launch::grid(6), &mut x).unwrap();
    assert_eq!(x, [0, 1, 10, 11, 20, 21]);
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry hash(.param .u64 .ptr .global .align 4 x: &mut [u32], .param .u32 salt) .maxntid 128
    {
        .reg .b32 %i, %v, %s;
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        ld.param.u32 %s, [salt];
        mov.u32 %i, %tid.x;
        mad.wide.u32 %x, %i, 4, %x;
        xor.b32 %v, %i, %s;
        mul.lo.u32 %v, %v, 2654435761;
        shf.l.wrap.b32 %v, %v, %v, 13;
        st.global.u32 [%x], %v;
        ret;
    }
}

#[test]
fn copies_between_shared_memories_need_a_launch_with_clusters() {
    let body = ".shared .align 16 .b8 tile[32]; .shared .align 8 .b64 done; .reg .pred %first; setp.eq.u32 %first, %i, 0;\n\
        @%first mbarrier.init.shared::cta.b64 [done], 1; st.shared.u32 [tile], 5; st.shared.u32 [tile+4], 5;\n\
        st.shared.u32 [tile+8], 5; st.shared.u32 [tile+12], 5; fence.proxy.async.shared::cta;\n\
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [done], 16;\n\
        cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [tile+16], [tile], 16, [done];\n\
        wait: mbarrier.try_wait.parity.shared::cta.b64 %p, [done], 0; @!%p bra wait;\n\
        ld.shared.u32 %v, [tile+28]; st.global.u32 [%x], %v;";
    let launch = |directives: &str| {
        let mut x = [0];
        run(&one(directives, body), Launch::grid(1).block(1), &mut x).map(|()| x[0])
    };
    // an H200 ends the first launch with CUDA_ERROR_ILLEGAL_INSTRUCTION, and not the second
    assert!(matches!(launch(""), Err(Error::Fault(fault)) if matches!(fault.kind, FaultKind::Undefined { .. })));
    assert_eq!(launch(".reqnctapercluster 1").unwrap(), 5);
}

#[test]
fn what_the_macro_prints_can_be_loaded() {
    let loaded = Module::parse(hash::PTX).unwrap();
    let (mut a, mut b) = ([0u32; 128], [0u32; 128]);
    hash.launch(&Host::new(), Launch::grid(1).block(128), (&mut a, 99)).unwrap();
    let kernel = loaded.kernel("hash").unwrap();
    let arguments = &mut [kernel.arg("x").unwrap().slice_mut(&mut b).unwrap(), Arg::value(99u32.to_le_bytes())];
    kernel.launch_raw(&Host::new(), Launch::grid(1).block(128), arguments).unwrap();
    let expected: Vec<u32> = (0..128u32).map(|i| (i ^ 99).wrapping_mul(2654435761).rotate_left(13)).collect();
    assert_eq!((&a[..], &b[..]), (&expected[..], &expected[..]));
    assert_eq!(loaded.ptx(), hash::PTX);
    assert_eq!(loaded.target(), "sm_90");
}

/// Modules come and go at the same addresses: nothing of an earlier one is left.
#[test]
fn many_modules() {
    for i in 0..200u32 {
        let kernel = one("", &format!("st.global.u32 [%x], {i}; ret;"));
        let mut x = [u32::MAX; 3];
        run(&kernel, Launch::grid(1).block(3), &mut x).unwrap();
        assert_eq!(x, [i; 3]);
    }
}

#[test]
fn kernels_are_shared_by_threads() {
    let kernel = one("", "add.u32 %v, %i, 7; st.global.u32 [%x], %v; ret;");
    std::thread::scope(|scope| {
        for n in 1..5 {
            let kernel = kernel.clone();
            scope.spawn(move || {
                let mut x = vec![0; 32 * n];
                let host = Host::new().threads(n);
                kernel.launch_raw(&host, Launch::grid(n as u32).block(32), &mut [(&mut x).into()]).unwrap();
                assert!(x.iter().copied().eq(7..7 + 32 * n as u32));
            });
        }
    });
}

#[test]
fn what_is_wrong_with_a_text() {
    let text = format!(
        "{HEAD}.visible .entry k()\n{{\n  .reg .b32 %r<2>; .reg .f32 %f;\n  /* \u{e9} */ mov.u32 %f, 1;\n  add.u32 %r0;\n  ret;\n}}\n"
    );
    let error = Options::new().name("a.ptx").parse(&text).unwrap_err();
    let found: Vec<_> =
        error.findings.iter().filter(|f| f.is_error).map(|f| (f.code, f.place.line, f.place.column)).collect();
    assert_eq!(found, [(407, 7, 19), (404, 8, 3)], "{error}");
    let shown = error.to_string();
    assert!(shown.starts_with("error[PTX0407]: "), "{shown}");
    assert!(shown.contains("\n  --> a.ptx:7:19\n   | /* \u{e9} */ mov.u32 %f, 1;\n"), "{shown}");
    assert!(shown.contains("\n\nerror[PTX0404]: ") && shown.contains("\n   = help: "), "{shown}");
    assert_eq!(shown, format!("{error:?}"));
    let unnamed = Module::parse("").unwrap_err().to_string();
    assert!(unnamed.contains("--> <text>:1:1"), "{unnamed}");
    // only the part around the mistake of a line of thousands of characters
    let long = format!(
        "{HEAD}.visible .entry k() {{ {} rex; {} ret; }}",
        "bar.sync 0;".repeat(900),
        "bar.sync 0;".repeat(900)
    );
    assert!(Module::parse(&long).unwrap_err().to_string().len() < 1000);
}

#[test]
fn warnings() {
    let module = module(".visible .entry k() { .reg .b32 %r<2>; add.u32 %r0, %r1, 1; ret; }");
    let found: Vec<_> = module.warnings().iter().map(|f| (f.code, f.is_error)).collect();
    assert_eq!(found, [(620, false)]);
}

#[test]
fn no_text_panics() {
    let text = format!(
        "{HEAD}.const .u32 c[2] = {{ 1, 2 }};\n.func (.reg .u32 %r) f(.reg .u32 %a) {{ add.u32 %r, %a, 1; ret; }}\n\
         .visible .entry k(.param .u64 .ptr .global .align 4 x, .param .u32 n) .reqntid 32 {{\n\
         .reg .b32 %v<3>; .reg .b64 %x; .reg .pred %p; .shared .u32 s[32];\nld.param.u64 %x, [x]; mov.u32 %v0, %tid.x;\n\
         call (%v1), f, (%v0); setp.lt.u32 %p, %v1, 7; @%p bra out; bar.sync 0; st.shared.u32 [s+4], %v1;\nout: ret; }}\n"
    );
    let mut loaded = 0;
    let mut check = |text: &str| {
        let Ok(module) = Module::parse(text) else { return };
        for kernel in module.kernels() {
            loaded += 1;
            kernel.pointees();
            let _ = kernel.launch_raw(&Host::new(), Launch::grid(1).block(32).step_limit(100), &mut []);
            let count = kernel.parameters().len();
            let mut arguments: Vec<Arg<'_>> = (0..count).map(|_| Arg::value([0; 8])).collect();
            let _ = kernel.launch_raw(&Host::new(), Launch::grid(1).block(32).step_limit(100), &mut arguments);
        }
    };
    for end in 0..text.len() {
        check(&text[..end]);
    }
    // every token left out, or there twice
    let words: Vec<&str> = text.split_inclusive([' ', ',', ';', '\n']).collect();
    for at in 0..words.len() {
        check(&[&words[..at], &words[at + 1..]].concat().concat());
        check(&[&words[..=at], &words[at..]].concat().concat());
    }
    assert!(loaded > 20, "{loaded}");
}

#[test]
fn parameters() {
    let text = "<sm_90, ptx 8.0>\n.visible .entry k(.param .u64 .ptr .global .align 16 x: &mut [f32], .param .u64 .ptr .shared y,\n\
                .param .align 8 .b8 s[24], .param .f32 a, .param .u64 z: &[u16], .param .s32 n, .param .b32 bits) { ret; }";
    let module = Module::parse(text).unwrap();
    let kernel = &module.kernels()[0];
    let shown: Vec<String> = kernel.parameters().iter().map(|p| format!("{}: {p}", p.name)).collect();
    let expected = [
        "x: a buffer of `.f32` in global memory, aligned to 16 bytes",
        "y: a buffer in shared memory",
        "s: 24 bytes",
        "a: a value of `.f32`",
        "z: a buffer of `.u16`",
        "n: a value of `.s32`",
        "bits: a value of `.b32`",
    ];
    assert_eq!(shown, expected);
    let arg = |name: &str| kernel.arg(name).unwrap();
    let z = arg("z").pointer.as_ref().unwrap();
    assert!(z.read_only && z.element == Some(Ty::U16) && z.align == 1);
    assert_eq!((arg("s").size, arg("s").align, arg("s").is_array, arg("s").ty), (24, 8, true, Ty::B8));
    let mut floats = [0f32; 4];
    assert!(arg("x").slice_mut(&mut floats).is_ok() && arg("x").slice(&floats).is_ok());
    assert!(arg("y").slice(&[0u8; 4]).is_ok() && arg("z").slice(&[0i16; 4]).is_ok());
    assert!(arg("a").value(1f32).is_ok() && arg("n").value(1u32).is_ok() && arg("bits").value(1f32).is_ok());
    let wrong = arg("x").slice_mut(&mut [0u32; 4]).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "`x` wants a buffer of `.f32` in global memory, aligned to 16 bytes, but a buffer of `.u32` was given"
    );
    assert!(arg("a").value(1u32).is_err() && arg("n").value(1f32).is_err() && arg("n").value(1u64).is_err());
    assert!(arg("x").value(1u64).is_err() && arg("s").value(1u8).is_err());
    assert!(arg("n").slice(&[1u32]).is_err() && arg("s").slice(&[1u8; 24]).is_err());
    assert_eq!(<f64 as Element>::TYPE, Ty::F64);
}

#[test]
fn what_is_not_there() {
    let module =
        module(".visible .entry a() { ret; }\n.visible .entry b(.param .u32 n) { ret; }\n.func f() { ret; }\n");
    assert_eq!(module.kernels().iter().map(Kernel::name).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(module.kernel("f").unwrap_err().to_string(), "the module has no kernel `f`; its kernels are `a`, `b`");
    let missing = |kernel: &str| module.kernel(kernel).unwrap().arg("m").unwrap_err().to_string();
    assert_eq!(missing("a"), "kernel `a` has no parameter `m`; it has none");
    assert_eq!(missing("b"), "kernel `b` has no parameter `m`; its parameters are `n`");
    assert_eq!(Module::parse(HEAD).unwrap().kernels().len(), 0);
}

#[test]
fn launches_that_do_not_fit() {
    let kernel = one(".reqntid 32", "st.global.u32 [%x], %i; ret;");
    let shown = |launch: Launch, arguments: &mut [Arg<'_>]| {
        let error = kernel.launch_raw(&Host::new(), launch, arguments).unwrap_err();
        assert!(matches!(error, Error::Launch { .. }), "{error}");
        error.to_string()
    };
    let launch = || Launch::grid(1);
    let start = "cannot launch `k`: ";
    assert_eq!(shown(launch(), &mut []), format!("{start}0 arguments for 1 parameter: `x`"));
    let value = format!(
        "{start}argument 0 for `x` is a value, but the parameter is a pointer and wants a buffer, or eight zero bytes for null"
    );
    assert_eq!(shown(launch(), &mut [5u64.into()]), value);
    let size = format!("{start}argument 0 for `x` has 4 bytes, but the parameter has 8");
    assert_eq!(shown(launch(), &mut [Arg::value([0; 4])]), size);
    assert!(shown(launch().block(64), &mut [(&mut [0u32; 64]).into()]).contains(".reqntid"));
    assert!(shown(launch().cluster(2), &mut [(&mut [0u32; 64]).into()]).contains("not a multiple"));
    // the engine that is asked for
    let compiled = kernel.launch_raw(&Host::new().engine(Engine::Compiled), launch(), &mut [(&mut [0u32; 32]).into()]);
    let Err(Error::Engine { kernel: name, .. }) = compiled else { panic!("{compiled:?}") };
    assert_eq!(name, "k");
    let host = Host::new().engine(Engine::Interpreted);
    kernel.launch_raw(&host, launch(), &mut [(&mut [0u32; 32]).into()]).unwrap();
}

#[test]
fn instructions_that_the_host_lacks() {
    let kernel = one("", "txq.width.b32 %v, [%x]; ret;");
    let error = run(&kernel, Launch::grid(1), &mut [0; 4]).unwrap_err();
    let Error::NotYet { instruction, why, at, .. } = error else { panic!("{error}") };
    assert_eq!(
        (instruction.as_str(), why.as_str(), at.unwrap().text.as_str()),
        ("txq.width.b32", "the host has no textures, and a launch cannot bind any", "txq.width.b32 %v, [%x];")
    );
}

#[test]
fn faults_name_the_line() {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 .ptr .global .align 4 x)\n{{\n    .reg .b64 %x;\n    ld.param.u64 %x, [x];\n\n    st.global.u32 [%x+8], 1;\n    ret;\n}}\n"
    );
    let module = Options::new().name("kernels/k.ptx").parse(&text).unwrap();
    let kernel = module.kernel("k").unwrap().clone();
    drop(module);
    let error = run(&kernel, Launch::grid(1), &mut [0; 2]).unwrap_err();
    let fault = error.fault().unwrap();
    assert!(matches!(fault.kind, FaultKind::OutOfBounds { bytes: 4, size: 8, .. }), "{fault}");
    let at = fault.at.clone().unwrap();
    assert_eq!((at.file.as_str(), at.rust_line, at.text.as_str()), ("kernels/k.ptx", 9, "st.global.u32 [%x+8], 1;"));
    assert_eq!(fault.kernel, "k");
    assert!(fault.to_string().contains("\n  --> kernels/k.ptx:9\n"), "{fault}");
}

#[test]
fn checked_and_explored() {
    let unwritten = one(".reqntid 32", ".shared .u32 s; ld.shared.u32 %v, [s]; st.global.u32 [%x], %v; ret;");
    run(&unwritten, Launch::grid(1), &mut [0; 32]).unwrap();
    let checked = unwritten.launch_raw(&Host::checked(), Launch::grid(1), &mut [(&mut [0u32; 32]).into()]);
    let error = checked.unwrap_err();
    assert!(matches!(error.fault().unwrap().kind, FaultKind::Uninitialised { .. }), "{error}");
    // bytes that a load does not use may be unwritten
    for space in ["shared", "local"] {
        for (mask, wanted) in [("0x1", true), ("0x8", false), ("0x9", true), ("0xf", true)] {
            let body = format!(
                ".{space} .align 4 .b8 s[4]; st.{space}.u8 [s], 7; .pragma \"used_bytes_mask {mask}\"; ld.{space}.u32 %v, [s];
                add.u32 %v, %v, 1; st.global.u32 [%x], %v; ret;"
            );
            let partly = one(".reqntid 1", &body);
            let mut x = [0u32; 32];
            let checked = partly.launch_raw(&Host::checked(), Launch::grid(1), &mut [(&mut x).into()]);
            assert_eq!(checked.is_ok(), wanted, "{space} {mask}");
            assert_eq!(x[0] & 255, 8);
        }
    }
    // the CTA that runs last wins: both orders are found
    let race = one(".reqntid 1", "ld.param.u64 %x, [x]; st.global.u32 [%x], %c; ret;");
    let explored = Host::new().explore(32).run(|host| {
        let mut x = [9u32];
        race.launch_raw(host, Launch::grid(2), &mut [(&mut x).into()])?;
        Ok(x[0])
    });
    let explored = explored.unwrap();
    assert!(explored.contains(&0) && explored.contains(&1), "{explored:?}");
}

/// Every legal module of `tests/ptx`, with arguments that mean nothing: faults and errors, no panic and no hang.
#[test]
fn modules_of_every_family() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/ptx");
    let (mut ran, mut faults) = (0, 0);
    for file in std::fs::read_dir(folder).unwrap().flatten() {
        let text = std::fs::read_to_string(file.path()).unwrap();
        let module = Options::new().name(file.path().display().to_string()).parse(&text).unwrap();
        for kernel in module.kernels() {
            kernel.pointees();
            let mut buffers = vec![vec![0u8; 4096]; kernel.parameters().len()];
            let given = kernel.parameters().iter().zip(&mut buffers);
            let mut arguments: Vec<Arg<'_>> = given
                .map(|(p, b)| if p.takes_buffer() { b.into() } else { Arg::value(vec![1; p.size as usize]) })
                .collect();
            let cluster = kernel.required_cluster().unwrap_or([1; 3]);
            let block = kernel.required_block().or(kernel.largest_block()).unwrap_or([32, 1, 1]);
            let launch = Launch::grid(cluster).cluster(cluster).block(block).dynamic_shared(1024).step_limit(2000);
            match kernel.launch_raw(&Host::new(), launch, &mut arguments) {
                Ok(_) => ran += 1,
                Err(Error::Fault(fault)) => {
                    assert!(!matches!(fault.kind, FaultKind::Internal(_)), "{fault}");
                    faults += 1;
                }
                Err(Error::NotYet { .. }) => {}
                Err(error) => panic!("{}: {error}", file.path().display()),
            }
        }
    }
    assert!(ran > 0 && faults > 0, "{ran} ran, {faults} faults");
}
