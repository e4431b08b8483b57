//! Buffers are device memory: a part has its offset from an aligned address. Plain slices of Rust are copies to device memory.

use ptx_dsl::Engine;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;

ptx! {
    <sm_90, ptx 8.0, compiled>
    // each thread negates four elements
    .visible .entry quads(.param .u64 .ptr .global .align 16 x: &mut [f32]) {
        .reg .b32 %i;
        .reg .b64 %x;
        .reg .f32 %v<4>;
        ld.param.u64 %x, [x];
        mov.u32 %i, %tid.x;
        mad.wide.u32 %x, %i, 16, %x;
        ld.global.v4.f32 {%v0, %v1, %v2, %v3}, [%x];
        neg.f32 %v0, %v0;
        neg.f32 %v1, %v1;
        neg.f32 %v2, %v2;
        neg.f32 %v3, %v3;
        st.global.v4.f32 [%x], {%v0, %v1, %v2, %v3};
        ret;
    }

    // the same without a promise; the first thread begins so many bytes further
    .visible .entry any_quads(.param .u64 x: &mut [f32], .param .u64 skip: u64) {
        .reg .b32 %i;
        .reg .b64 %x, %skip;
        .reg .f32 %v<4>;
        ld.param.u64 %x, [x];
        ld.param.u64 %skip, [skip];
        mov.u32 %i, %tid.x;
        mad.wide.u32 %x, %i, 16, %x;
        add.u64 %x, %x, %skip;
        ld.global.v4.f32 {%v0, %v1, %v2, %v3}, [%x];
        neg.f32 %v0, %v0;
        neg.f32 %v1, %v1;
        neg.f32 %v2, %v2;
        neg.f32 %v3, %v3;
        st.global.v4.f32 [%x], {%v0, %v1, %v2, %v3};
        ret;
    }

    // adds 1 to elements of the CTA in no regular order, and counts in the first
    .visible .entry scattered(.param .u64 .ptr .global .align 4 x: &mut [u32], .param .u32 n: u32) {
        .reg .b32 %i, %n, %v;
        .reg .b64 %x, %at;
        ld.param.u64 %x, [x];
        ld.param.u32 %n, [n];
        mov.u32 %i, %ctaid.x;
        mov.u32 %v, %ntid.x;
        mul.lo.u32 %i, %i, %v;
        mov.u32 %v, %tid.x;
        add.u32 %i, %i, %v;
        mul.lo.u32 %i, %i, 7;
        rem.u32 %i, %i, %n;
        mad.wide.u32 %at, %i, 4, %x;
        ld.global.u32 %v, [%at + 4];
        add.u32 %v, %v, 1;
        st.global.u32 [%at + 4], %v;
        red.global.add.u32 [%x], 1;
        ret;
    }
}

mod untyped {
    ptx_dsl::include_ptx!("buffers.ptx", compiled);
}

fn hosts() -> Vec<Host> {
    let engines = [Engine::Compiled, Engine::Interpreted].map(|engine| Host::new().engine(engine));
    engines.into_iter().chain([Host::new().threads(3), Host::new().seed(1)]).collect()
}

fn data(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32).collect()
}

#[test]
fn align_is_compared_with_the_offset_in_the_buffer() {
    let host = Host::new();
    let launch = || Launch::grid(1).block(2);
    let error = quads.launch(&host, launch(), (&mut host.buffer(&data(9))[1..],)).unwrap_err().to_string();
    assert!(
        error.contains("argument 0 for `x` begins at byte 4 of its buffer, but `.align` promises a multiple of 16"),
        "{error}"
    );
    let mut x = host.buffer(&data(12));
    for (from, fits) in [(0, true), (1, false), (2, false), (3, false), (4, true)] {
        assert_eq!(quads.launch(&host, launch(), (x.slice_mut(from..from + 8),)).is_ok(), fits, "{from}");
    }
    assert_eq!(x.to_vec(), [0., -1., -2., -3., 4., 5., 6., 7., -8., -9., -10., -11.]);
    // two parts of one buffer, a view of one, bytes without a Rust type
    let (_, right) = x.split_at_mut(3);
    quads.launch(&host, launch(), (right,)).unwrap_err();
    let mut view = ptx_dsl::argument::Strided::new(&mut x[2..], [10], [1]).unwrap();
    quads.launch(&host, launch(), (&mut view,)).unwrap_err();
    let mut bytes = host.zeroed::<u8>(9);
    untyped::word.launch(&host, Launch::grid(1), (&mut bytes[1..],)).unwrap_err();
    untyped::word.launch(&host, Launch::grid(1), (&mut bytes[4..],)).unwrap();
    assert_eq!(bytes.to_vec(), [0, 0, 0, 0, 42, 0, 0, 0, 0]);
    let mut arg = [ptx_dsl::Arg::buffer(&mut bytes[4..])];
    untyped::word.launch_raw(&host, Launch::grid(1), &mut arg).unwrap();
    let mut arg = [ptx_dsl::Arg::buffer_at(&mut bytes[3..], 1)];
    untyped::word.launch_raw(&host, Launch::grid(1), &mut arg).unwrap();
    let mut arg = [ptx_dsl::Arg::buffer_at(&mut bytes[4..], 1)];
    untyped::word.launch_raw(&host, Launch::grid(1), &mut arg).unwrap_err();
}

#[test]
fn slices_of_rust_are_aligned_wherever_they_are() {
    for host in hosts() {
        let mut x = data(12);
        for from in 0..4 {
            quads.launch(&host, Launch::grid(1).block(2), (&mut x[from..],)).unwrap();
        }
        assert_eq!(x, [-0., 1., -2., 3., 4., 5., 6., 7., -8., 9., -10., 11.]);
        let mut bytes = [0; 9];
        untyped::word.launch(&host, Launch::grid(1), (&mut bytes[1..],)).unwrap();
        assert_eq!(bytes, [0, 42, 0, 0, 0, 0, 0, 0, 0]);
    }
}

#[test]
fn parts_have_the_addresses_of_device_memory() {
    for host in hosts() {
        let mut x = host.buffer(&data(16));
        let launch = || Launch::grid(1).block(2);
        let error = any_quads.launch(&host, launch(), (&mut x[1..], 0)).unwrap_err();
        let kind = error.fault().map(|fault| &fault.kind);
        assert!(matches!(kind, Some(FaultKind::Misaligned { align: 16, .. })), "{error}");
        let why = "byte 0 of `x`, is not a multiple of 16: `x` begins 4 bytes after an aligned address of its buffer";
        assert!(error.to_string().contains(why), "{error}");
        // elements 3 to 5 of the part are aligned
        any_quads.launch(&host, launch(), (&mut x[1..12], 12)).unwrap();
        let wanted: Vec<f32> = (0..16).map(|i| if (4..12).contains(&i) { -(i as f32) } else { i as f32 }).collect();
        assert_eq!(x.to_vec(), wanted);
        // neither before the part nor after it
        for (part, skip, place) in [(1..16, (-4i64) as u64, "`x[-1..3]`"), (1..11, 12, "`x[7..11]`")] {
            let error = any_quads.launch(&host, launch(), (&mut x[part], skip)).unwrap_err().to_string();
            assert!(error.contains(&format!("at {place} is out of bounds: it has ")), "{error}");
        }
    }
}

#[test]
fn accesses_of_parts_are_those_of_whole_buffers() {
    let (n, launch) = (96, Launch::grid(1).block(96));
    let wanted = |x: &[u32]| x[0] == n && x[1..=n as usize].iter().all(|v| *v == 1) && x[n as usize + 1..] == [0, 0];
    for host in hosts() {
        for from in [0, 1, 3, 5, 63, 64, 65] {
            let mut x = host.zeroed::<u32>(from + n as usize + 3);
            scattered.launch(&host, launch.clone(), (&mut x[from..], n)).unwrap();
            assert!(wanted(&x[from..]) && x[..from].iter().all(|v| *v == 0), "{from}: {x:?}");
        }
    }
    let host = Host::checked();
    let mut x = host.zeroed::<u32>(5 + n as usize + 3);
    scattered.launch(&host, launch.clone(), (&mut x[5..], n)).unwrap();
    assert!(wanted(&x[5..]));
    // two CTAs race
    let twice = Launch::grid(2).block(96);
    let report = scattered.launch(&host, twice, (&mut x[5..], n)).unwrap_err().to_string();
    assert!(report.contains("data race") && report.contains("`%at` is 0x20000000014 (`x`)"), "{report}");
}
