//! Functions of CUDA's device runtime in the output of nvcc 13.5 for `tests/nvcc/printf.cu` and `heap.cu`, and calls written by hand.

use ptx_dsl::Engine;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;
use std::sync::{Arc, Mutex};

mod printf {
    ptx_dsl::include_ptx!("nvcc/printf.ptx");
}

mod heap {
    ptx_dsl::include_ptx!("nvcc/heap.ptx");
}

/// A host that collects its output.
fn collecting() -> (Host, Arc<Mutex<Vec<String>>>) {
    let output = Arc::new(Mutex::new(Vec::new()));
    let to = output.clone();
    (Host::new().print(move |text| to.lock().unwrap().push(text.to_owned())), output)
}

#[test]
fn threads_print_in_order() {
    for threads in [1, 4] {
        let (host, output) = collecting();
        let mut results = [0i32; 256];
        printf::threads.launch(&host.threads(threads), Launch::grid(4).block(64), (&mut results, 256)).unwrap();
        let mut printed = output.lock().unwrap().clone();
        let line = |t: u32| {
            let parity = if t % 2 == 1 { "odd" } else { "even" };
            format!("thread {t} of 256: {parity} {:.2}\n", t as f32 / 4.0)
        };
        let mut expected: Vec<String> = (0..256).filter(|t| t % 3 == 0).map(line).collect();
        expected.extend((0..=255u8).map(|t| char::from(b'a' + t % 26).to_string()));
        expected.sort();
        printed.sort();
        assert_eq!(printed, expected);
        for (t, result) in results.iter().enumerate() {
            assert_eq!(*result, if t % 3 == 0 { 4 } else { -7 }, "thread {t}");
        }
    }
}

#[test]
fn a_false_assertion_is_a_fault_that_quotes_it() {
    let x: Vec<i32> = (0..64).collect();
    for host in [Host::new(), Host::new().seed(1)] {
        let error = printf::asserts.launch(&host, Launch::grid(1).block(64), (x.as_ptr() as u64,)).unwrap_err();
        assert!(matches!(error, Error::Fault(_)), "{error}");
    }
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    .extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
    .global .align 1 .b8 format[] = { 37, 100, 32, 37, 115, 32, 37, 42, 120, 10, 0 }; // "%d %s %*x\n"
    .global .align 1 .b8 word[] = { 119, 111, 114, 100, 0 };
    .visible .entry by_hand(.param .u64 .ptr .global .align 4 out: &mut [u32], .param .u32 wrong: u32) .reqntid 32
    {
        .local .align 8 .b8 list[32];
        .reg .b32 %i, %r;
        .reg .b64 %f, %w, %l, %out;
        .reg .pred %p, %q;
        mov.u32 %i, %tid.x;
        ld.param.u64 %out, [out];
        mad.wide.u32 %out, %i, 4, %out;
        mov.u64 %f, format;
        cvta.global.u64 %f, %f;
        mov.u64 %w, word;
        cvta.global.u64 %w, %w;
        ld.param.u32 %r, [wrong];
        setp.eq.u32 %q, %i, %r;
        @%q mov.u64 %w, 64;
        st.local.u32 [list], %i;
        st.local.u64 [list+8], %w;
        st.local.u32 [list+16], 6;
        st.local.u32 [list+20], %i;
        mov.u64 %l, list;
        cvta.local.u64 %l, %l;
        mov.u32 %r, 77;
        setp.lt.u32 %p, %i, 20;
        @%p call (%r), vprintf, (%f, %l);
        st.global.u32 [%out], %r;
        ret;
    }
}

#[test]
fn a_guarded_call_with_registers() {
    for engine in [Engine::Interpreted, Engine::Compiled] {
        let (host, output) = collecting();
        let mut out = [0; 32];
        by_hand.launch(&host.engine(engine), Launch::grid(1), (&mut out, 99)).unwrap();
        let expected: String = (0..20).map(|t| format!("{t} word {t:6x}\n")).collect();
        assert_eq!(output.lock().unwrap().concat(), expected);
        for (t, result) in out.iter().enumerate() {
            assert_eq!(*result, if t < 20 { 4 } else { 77 });
        }
    }
}

#[test]
fn a_bad_pointer_is_a_fault_of_its_thread() {
    for engine in [Engine::Interpreted, Engine::Compiled] {
        let (host, output) = collecting();
        let launched = by_hand.launch(&host.engine(engine), Launch::grid(1), (&mut [0; 32], 3));
        let Err(Error::Fault(fault)) = launched else { panic!("{launched:?}") };
        assert_eq!(fault.thread.unwrap().tid, [3, 0, 0]);
        assert!(fault.at.as_ref().unwrap().text.contains("vprintf"), "{fault}");
        assert!(matches!(fault.kind, FaultKind::OutOfBounds { addr: 64, .. }), "{fault}");
        assert_eq!(output.lock().unwrap().concat(), "0 word      0\n1 word      1\n2 word      2\n");
    }
}

#[test]
fn lists_on_the_heap() {
    // the list of a thread has `n` numbers from its own on
    let expected: Vec<i32> = (0..256).map(|t| (0..7).map(|i| ((t % 64) ^ 1) + i).sum()).collect();
    for threads in [1, 2] {
        let mut out = vec![0i32; 256];
        heap::lists.launch(&Host::new().threads(threads), Launch::grid(4).block(64), (7, &mut out[..])).unwrap();
        assert_eq!(out, expected);
    }
    // blocks that are used again, also by other CTAs, are not a race
    for seed in 0..4 {
        let mut out = vec![0i32; 256];
        let launch = Launch::grid(4).block(64).malloc_heap(1 << 16);
        heap::lists.launch(&Host::checked().seed(seed), launch, (7, &mut out[..])).unwrap();
        assert_eq!(out, expected);
    }
}

#[test]
fn room_on_the_heap() {
    let count = |bytes: u64, launch: Launch| {
        let mut out = [7i32; 32];
        heap::large.launch(&Host::new(), launch.block(32), (bytes, &mut out[..])).unwrap();
        out.iter().sum::<i32>()
    };
    // a block takes 16 bytes more
    assert_eq!(count(1 << 20, Launch::grid(1)), 7);
    assert_eq!(count((1 << 20) - 16, Launch::grid(1)), 8);
    assert_eq!(count(64, Launch::grid(1).malloc_heap(800)), 10);
    // as an H100 does
    assert_eq!((count(0, Launch::grid(1)), count(u64::MAX, Launch::grid(1))), (32, 0));
    let large = Launch::grid(1).block(32).malloc_heap(1 << 40);
    let error = heap::large.launch(&Host::new(), large, (1u64, &mut [0i32; 32][..])).unwrap_err().to_string();
    assert!(error.contains("a heap of 1099511627776 bytes, but the limit is 4 GiB"), "{error}");
}

#[test]
fn wrong_uses_of_the_heap() {
    for host in [Host::new(), Host::new().seed(1)] {
        let error = heap::twice.launch(&host, Launch::grid(1).block(1), ()).unwrap_err().to_string();
        assert!(error.contains("`free` of 0x") && error.contains("not the address of an allocated block"), "{error}");
    }
    let checked = Host::checked();
    // one thread stays in its block, of which it reads what nothing has written
    let unwritten = heap::overrun.launch(&checked, Launch::grid(1).block(1), (&mut [0i32],)).unwrap_err().to_string();
    assert!(unwritten.contains("is stored to global memory"), "{unwritten}");
    let overrun = heap::overrun.launch(&checked, Launch::grid(1).block(2), (&mut [0i32],)).unwrap_err().to_string();
    let after = heap::after.launch(&checked, Launch::grid(1).block(1), (&mut [0i32],)).unwrap_err().to_string();
    for error in [overrun, after] {
        assert!(error.contains("in the `malloc` heap, outside of every allocated block"), "{error}");
    }
}
