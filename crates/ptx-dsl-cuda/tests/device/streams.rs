//! Scopes of a GPU: launches that return at once, lent memory, events, graphs, and what happens when something fails.

use super::{gpu, poke, scale};
use ptx_dsl::cuda::{Gpu, GpuError};
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, TensorMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::time::{Duration, Instant};

ptx! {
    <sm_90, ptx 8.0>

    // Adds 1 to each of `n` numbers, after this many nanoseconds.
    .visible .entry late(.param .u64 .ptr .global .align 4 x: &mut [u32], .param .u32 n, .param .u64 nanoseconds) {
        .reg .pred %p;
        .reg .b32 %i, %n, %v;
        .reg .b64 %x, %start, %now, %wait;
        ld.param.u64 %wait, [nanoseconds];
        mov.u64 %start, %globaltimer;
    again:
        mov.u64 %now, %globaltimer;
        sub.u64 %now, %now, %start;
        setp.lt.u64 %p, %now, %wait;
        @%p bra again;
        ld.param.u64 %x, [x];
        ld.param.u32 %n, [n];
        mov.u32 %i, %tid.x;
        setp.ge.u32 %p, %i, %n;
        @%p bra done;
        mad.wide.u32 %x, %i, 4, %x;
        ld.global.u32 %v, [%x];
        add.u32 %v, %v, 1;
        st.global.u32 [%x], %v;
    done:
        ret;
    }

    // y = 2 x, once the grid before it has ended
    .visible .entry after(.param .u64 .ptr .global .align 4 x: &[u32], .param .u64 .ptr .global .align 4 y: &mut [u32])
    .reqntid 32
    {
        .reg .b32 %i, %v;
        .reg .b64 %x, %y;
        griddepcontrol.wait;
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        mov.u32 %i, %tid.x;
        mad.wide.u32 %x, %i, 4, %x;
        mad.wide.u32 %y, %i, 4, %y;
        ld.global.u32 %v, [%x];
        add.u32 %v, %v, %v;
        st.global.u32 [%y], %v;
        ret;
    }
}

/// The result of `times` launches of `scale` with 128 elements.
fn scaled(x: &[f32], y: &[f32], a: f32, times: usize) -> Vec<f32> {
    let once = |y: Vec<f32>| x.iter().zip(y).map(|(x, y)| a.mul_add(*x, y)).collect();
    (0..times).fold(y.to_vec(), |y, _| once(y))
}

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32 * 0.25).collect()
}

#[test]
fn launches_of_a_stream_run_in_order_on_lent_memory() {
    let Some(gpu) = gpu() else { return };
    let x = numbers(128);
    let (mut on_host, mut on_device) = (vec![1.0; 128], gpu.buffer(&vec![1.0; 128]).unwrap());
    gpu.scope(|scope| {
        let stream = scope.stream()?;
        let (mut first, mut second) = (scope.lend(&mut on_host), scope.lend(&mut on_device));
        for _ in 0..10 {
            stream.launch(scale, Launch::grid(1), (&x, &mut first, 3.0, 128))?;
            stream.launch(scale, Launch::grid(1), (&x, &mut second, 3.0, 128))?;
        }
        // a part of one memory, read while the kernel writes the other
        stream.launch(scale, Launch::grid(1), (second.slice(64..), first.slice_mut(..64), 1.0, 64))
    })
    .unwrap();
    let mut expected = scaled(&x, &[1.0; 128], 3.0, 10);
    assert_eq!(on_device[..], expected);
    for i in 0..64 {
        expected[i] += expected[64 + i];
    }
    assert_eq!(on_host, expected);
}

#[test]
fn memory_that_moves_between_streams_keeps_its_order() {
    let Some(gpu) = gpu() else { return };
    let mut x = vec![0u32; 32];
    let mut y = gpu.zeroed::<u32>(32).unwrap();
    for _ in 0..20 {
        x.fill(0);
        gpu.scope(|scope| {
            let streams = [scope.stream()?, scope.stream_of_priority(-3)?, scope.stream()?];
            let (mut x, mut y) = (scope.lend(&mut x), scope.lend(&mut y));
            for i in 0..9 {
                let launch = Launch::grid(1).block(32);
                streams[i % 3].launch(late, launch, (&mut x, 32, 20_000 * (i as u64 % 2)))?;
            }
            streams[1].launch(after, Launch::grid(1), (&x, &mut y))?;
            assert_eq!(y.read()?[..], [18; 32]);
            streams[2].launch(late, Launch::grid(1).block(32), (&mut x, 32, 0))
        })
        .unwrap();
        assert_eq!(x, [10; 32]);
    }
}

#[test]
fn launches_return_before_the_kernel_has_ended_and_streams_run_beside_each_other() {
    let Some(gpu) = gpu() else { return };
    let (mut x, mut y) = ([0u32; 4], [0u32; 4]);
    // the first launch loads the module
    late.launch(&gpu, Launch::grid(1).block(32), (&mut x, 0, 0)).unwrap();
    let (began, wait) = (Instant::now(), 30_000_000u64);
    gpu.scope(|scope| {
        let (first, second) = (scope.stream()?, scope.stream()?);
        let (start, other) = (first.event()?, second.event()?);
        first.launch(late, Launch::grid(1).block(32), (&mut x, 4, wait))?;
        second.launch(late, Launch::grid(1).block(32), (&mut y, 4, wait))?;
        assert!(began.elapsed() < Duration::from_millis(25), "the launches have waited: {:?}", began.elapsed());
        let (end, end_of_second) = (first.event()?, second.event()?);
        let times = [end.since(&start)?, end_of_second.since(&other)?];
        println!("{times:?} on the device, {:?} on the host", began.elapsed());
        assert!(
            times.iter().all(|time| *time >= Duration::from_nanos(wait) && *time < Duration::from_millis(55)),
            "{times:?}"
        );
        Ok(())
    })
    .unwrap();
    let all = began.elapsed();
    assert!(all >= Duration::from_nanos(wait) && all < Duration::from_millis(55), "one after the other: {all:?}");
    assert_eq!((x, y), ([1; 4], [1; 4]));
}

#[test]
fn an_event_orders_streams_without_the_host() {
    let Some(gpu) = gpu() else { return };
    let (mut x, mut y) = (gpu.zeroed::<u32>(32).unwrap(), [0u32; 32]);
    gpu.scope(|scope| {
        let (first, second) = (scope.stream()?, scope.stream()?);
        let mut y = scope.lend(&mut y);
        first.launch(late, Launch::grid(1).block(32), (&mut x, 32, 5_000_000))?;
        let written = first.event()?;
        second.wait(&written)?;
        second.launch(late, Launch::grid(1).block(32), (&mut y, 32, 0))?;
        let since = second.event()?.since(&written)?;
        assert!(since < Duration::from_millis(4), "{since:?}");
        assert_eq!(y.read()?[..4], [1; 4]);
        Ok(())
    })
    .unwrap();
    assert_eq!((x[31], y[31]), (1, 1));
}

#[test]
fn a_panic_or_an_early_error_waits_for_what_was_launched() {
    let Some(gpu) = gpu() else { return };
    let mut x = gpu.zeroed::<u32>(32).unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        gpu.scope(|scope| -> Result<(), Error> {
            scope.stream()?.launch(late, Launch::grid(1).block(32), (&mut x, 32, 20_000_000))?;
            panic!("in a scope")
        })
    }));
    assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"in a scope"));
    assert_eq!(x[..], [1; 32]);
    let error = gpu.scope(|scope| {
        let stream = scope.stream()?;
        let mut x = scope.lend(&mut x);
        stream.launch(late, Launch::grid(1).block(32), (&mut x, 32, 20_000_000))?;
        stream.launch(late, Launch::grid(1).block(2048), (&mut x, 32, 0))
    });
    assert!(error.unwrap_err().to_string().contains("2048"));
    assert_eq!(x[..], [2; 32]);
}

#[test]
fn graphs_run_recorded_launches_again() {
    let Some(gpu) = gpu() else { return };
    let x = numbers(128);
    let mut y = vec![1.0; 128];
    gpu.scope(|scope| {
        let (stream, other) = (scope.stream()?, scope.stream()?);
        let mut y = scope.lend(&mut y);
        let graph = stream.capture(|stream| {
            for _ in 0..3 {
                stream.launch(scale, Launch::grid(1), (&x, &mut y, 2.0, 128))?;
            }
            Ok(())
        })?;
        assert_eq!(y.read()?[5], 1.0, "nothing has run");
        for i in 0..4 {
            graph.launch(if i % 2 == 0 { &stream } else { &other })?;
        }
        stream.launch(scale, Launch::grid(1), (&x, &mut y, 2.0, 128))?;
        let reading = y.read()?;
        assert_eq!(reading[..], scaled(&x, &[1.0; 128], 2.0, 13));
        assert!(is(graph.launch(&stream), |problem| matches!(problem, GpuError::MemoryIsRead)));
        drop(reading);
        graph.launch(&stream)
    })
    .unwrap();
    assert_eq!(y, scaled(&x, &[1.0; 128], 2.0, 16));
}

#[test]
fn a_capture_that_fails_leaves_the_stream_usable() {
    let Some(gpu) = gpu() else { return };
    let mut y = gpu.zeroed::<u32>(32).unwrap();
    gpu.scope(|scope| {
        let (stream, other) = (scope.stream()?, scope.stream()?);
        let mut y = scope.lend(&mut y);
        let captured = stream.capture(|stream| {
            stream.launch(late, Launch::grid(1).block(32), (&mut y, 32, 0))?;
            assert!(is(y.read(), |problem| matches!(problem, GpuError::InCapture { .. })));
            other.launch(late, Launch::grid(1).block(32), (&mut y, 32, 0))
        });
        assert!(is(captured, |problem| matches!(problem, GpuError::InCapture { .. })));
        stream.launch(late, Launch::grid(1).block(32), (&mut y, 32, 0))
    })
    .unwrap();
    assert_eq!(y[..], [1; 32]);
}

#[test]
fn the_tensor_of_a_map_is_lent_with_it() {
    let Some(gpu) = gpu() else { return };
    let mut tensor: Vec<u32> = (0..64 * 32).collect();
    let mut out = vec![0u32; 128];
    let mut map = TensorMap::tiled(&mut tensor, ElementType::U32).dims([64, 32]).box_dims([8, 16]).build().unwrap();
    let launch = || Launch::grid(1).dynamic_shared(512);
    let refused = gpu.scope(|scope| scope.stream()?.launch(super::copy_box, launch(), (&map, &mut out)));
    assert!(is(refused, |problem| matches!(problem, GpuError::MapNotLent)));
    gpu.scope(|scope| {
        let map = scope.lend_map(&mut map);
        let mut out = scope.lend(&mut out);
        let stream = scope.stream()?;
        stream.launch(super::copy_box, launch(), (&map, &mut out))?;
        stream.launch(super::copy_box, launch(), (&map, &mut out))
    })
    .unwrap();
    assert_eq!(out, (0..128).map(|i| (4 + i / 8) * 64 + 8 + i % 8).collect::<Vec<u32>>());
}

/// The second grid may start while the first one runs, and waits for its end.
#[test]
fn a_dependent_launch_waits_for_the_grid_before() {
    let Some(gpu) = gpu() else { return };
    let mut x = gpu.zeroed::<u32>(32).unwrap();
    let mut y = gpu.zeroed::<u32>(32).unwrap();
    gpu.scope(|scope| {
        let stream = scope.stream()?;
        let (mut x, mut y) = (scope.lend(&mut x), scope.lend(&mut y));
        for i in 1..=20 {
            stream.launch(late, Launch::grid(1).block(32), (&mut x, 32, 200_000))?;
            stream.launch(after, Launch::grid(1).programmatic(), (&x, &mut y))?;
            assert_eq!(y.read()?[..], [2 * i; 32]);
        }
        Ok(())
    })
    .unwrap();
}

/// In a process of its own, because the failure loses the context.
#[test]
fn a_failure_in_a_scope_names_the_kernels_or_with_explanations_the_one() {
    let Some(gpu) = gpu() else { return };
    let Some(how) = std::env::var_os("PTX_DSL_FAIL_IN_SCOPE") else {
        for how in ["plain", "explained"] {
            let this = std::env::current_exe().unwrap();
            let test = ["streams::a_failure_in_a_scope_names_the_kernels_or_with_explanations_the_one", "--exact"];
            let output = Command::new(this).args(test).arg("--nocapture").env("PTX_DSL_FAIL_IN_SCOPE", how).output();
            let output = output.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            print!("{}", String::from_utf8_lossy(&output.stdout));
        }
        return;
    };
    let is_explained = how == "explained";
    let gpu = if is_explained { gpu.explain_failures() } else { gpu };
    let mut x = vec![0u32; 32];
    let error = gpu
        .scope(|scope| {
            let stream = scope.stream()?;
            let mut x = scope.lend(&mut x);
            stream.launch(late, Launch::grid(1).block(32), (&mut x, 32, 0))?;
            stream.launch(poke, Launch::grid(1), (&mut x, 1 << 30, 1))
        })
        .unwrap_err();
    println!("{error}");
    let text = error.to_string();
    assert!(text.contains("CUDA_ERROR_"), "{text}");
    if is_explained {
        assert!(text.starts_with("`poke` on"), "{text}");
        assert!(error.fault().expect("an explanation").to_string().contains("st.global.u32"), "{text}");
    } else {
        assert!(text.starts_with("`late`, `poke` on"), "{text}");
    }
}

/// Whether it is this error of the device.
fn is<T>(result: Result<T, Error>, wanted: fn(&GpuError) -> bool) -> bool {
    match result {
        Err(Error::Device { problem, .. }) => problem.downcast_ref().is_some_and(wanted),
        Err(error) => panic!("{error}"),
        Ok(_) => false,
    }
}

/// Prints what a launch of a scope costs the host.
#[test]
fn a_launch_of_a_scope_costs_the_host_little() {
    let Some(gpu) = gpu() else { return };
    let x = gpu.buffer(&numbers(128)).unwrap();
    let mut y = gpu.zeroed::<f32>(128).unwrap();
    let time = |gpu: &Gpu, y: &mut ptx_dsl::Buffer<f32>| {
        gpu.scope(|scope| {
            let stream = scope.stream()?;
            let mut y = scope.lend(y);
            let began = Instant::now();
            for _ in 0..500 {
                stream.launch(scale, Launch::grid(1), (&x, &mut y, 1.0, 128))?;
            }
            Ok(began.elapsed() / 500)
        })
        .unwrap()
    };
    time(&gpu, &mut y);
    println!("a launch of a scope takes {:?}", time(&gpu, &mut y));
}
