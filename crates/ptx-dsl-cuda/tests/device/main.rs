//! Each test runs launches on hosts and on a GPU, and compares. Without a GPU it says so and compares the hosts.
#![allow(unsafe_code)]

use ptx_dsl::cuda::{Gpu, GpuError, LimitedBy};
use ptx_dsl::launch::Device;
use ptx_dsl::load::Module;
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, Swizzle, TensorMap};
use std::process::Command;

mod cubins;
mod features;
mod group;
mod streams;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry scale(
        .param .u64 .ptr .global .align 4 x: &[f32],
        .param .u64 .ptr .global .align 4 y: &mut [f32],
        .param .f32 a,
        .param .u32 n)
    .reqntid 128
    {
        .reg .pred %p;
        .reg .b32 %i, %block, %n;
        .reg .f32 %a, %v, %w;
        .reg .b64 %x, %y, %o;
        mov.u32 %i, %tid.x;
        mov.u32 %block, %ctaid.x;
        mad.lo.u32 %i, %block, 128, %i;
        ld.param.u32 %n, [n];
        setp.ge.u32 %p, %i, %n;
        @%p bra done;
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        mul.wide.u32 %o, %i, 4;
        add.u64 %x, %x, %o;
        add.u64 %y, %y, %o;
        ld.param.f32 %a, [a];
        ld.global.f32 %v, [%x];
        ld.global.f32 %w, [%y];
        fma.rn.f32 %w, %a, %v, %w;
        st.global.f32 [%y], %w;
    done:
        ret;
    }

    // Nothing, for the cost of a launch.
    .visible .entry nothing(
        .param .u64 .ptr .global .align 4 x: &[f32],
        .param .u64 .ptr .global .align 4 y: &mut [f32],
        .param .f32 a,
        .param .u32 n)
    {
        ret;
    }

    // Stores `v` at index `at` of `x`, which is the caller's to choose rightly.
    .visible .entry poke(.param .u64 .ptr .global .align 4 x: &mut [u32], .param .u32 at, .param .u32 v) {
        .reg .b32 %i, %v;
        .reg .b64 %x, %o;
        ld.param.u64 %x, [x];
        ld.param.u32 %i, [at];
        ld.param.u32 %v, [v];
        mul.wide.u32 %o, %i, 4;
        add.u64 %x, %x, %o;
        st.global.u32 [%x], %v;
        ret;
    }
}

ptx! {
    <sm_90, ptx 8.0>
    .extern .shared .align 1024 .b8 tile[];

    // Copies the box at (8, 4) of a tensor of u32 to `out`, as it lies in shared memory.
    .visible .entry copy_box(
        .param .align 64 .b8 map[128]: &TensorMap,
        .param .u64 .ptr .global .align 4 out: &mut [u32])
    .reqntid 32
    {
        .reg .pred %p;
        .reg .b32 %t, %v, %tile, %bar, %cx, %cy;
        .reg .b64 %map, %out, %o;
        .shared .align 8 .b64 full;
        mov.u32 %t, %tid.x;
        mov.u32 %tile, tile;
        mov.u32 %bar, full;
        setp.ne.u32 %p, %t, 0;
        @%p bra wait;
        mbarrier.init.shared::cta.b64 [%bar], 1;
        fence.mbarrier_init.release.cluster;
        mov.b64 %map, map;
        cvta.param.u64 %map, %map;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 512;
        mov.u32 %cx, 8;
        mov.u32 %cy, 4;
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%tile], [%map, {%cx, %cy}], [%bar];
    wait:
        bar.warp.sync 0xffffffff;
    again:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0;
        @!%p bra again;
        ld.param.u64 %out, [out];
        mul.wide.u32 %o, %t, 4;
        add.u64 %out, %out, %o;
        mad.lo.u32 %tile, %t, 4, %tile;
        @for I in 0..4 {
            ld.shared.u32 %v, [%tile + 128 * I];
            st.global.u32 [%out + 128 * I], %v;
        }
        ret;
    }
}

ptx! {
    <sm_90, ptx 8.0>
    .extern .shared .align 4 .b8 large[];

    // The sum of the ranks that the CTAs of a cluster write into each other's shared memory, far from its beginning.
    .visible .entry ranks(.param .u64 .ptr .global .align 4 x: &mut [u32]) .reqntid 1 {
        .reg .b32 %rank, %size, %next, %at, %v, %i;
        .reg .b64 %x, %o;
        mov.u32 %rank, %cluster_ctarank;
        mov.u32 %size, %cluster_nctarank;
        add.u32 %next, %rank, 1;
        rem.u32 %next, %next, %size;
        mov.u32 %at, large;
        add.u32 %at, %at, 100000;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        mapa.shared::cluster.u32 %at, %at, %next;
        st.shared::cluster.u32 [%at], %rank;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ld.shared.u32 %v, [large + 100000];
        mov.u32 %i, %ctaid.x;
        ld.param.u64 %x, [x];
        mul.wide.u32 %o, %i, 4;
        add.u64 %x, %x, %o;
        st.global.u32 [%x], %v;
        ret;
    }
}

/// The GPU, or `None` with a message.
fn gpu() -> Option<Gpu> {
    if !Gpu::available() {
        println!("no GPU here: hosts alone");
        return None;
    }
    // SAFETY: the kernels of this file access their arguments alone, but for `poke` in a process of its own.
    Some(unsafe { Gpu::new(0) }.expect("a GPU"))
}

/// Runs `run` on a host, on the checked host, and on a GPU if there is one, and compares the results.
fn agree<T: PartialEq + std::fmt::Debug>(run: impl Fn(&&dyn Device) -> Result<T, Error>) -> T {
    let (plain, checked, gpu) = (Host::new(), Host::checked(), gpu());
    let result = run(&(&plain as &dyn Device)).expect("the host");
    assert_eq!(run(&(&checked as &dyn Device)).expect("the checked host"), result);
    if let Some(gpu) = &gpu {
        assert_eq!(run(&(gpu as &dyn Device)).expect("the GPU"), result, "the GPU differs");
    }
    result
}

#[test]
fn slices_are_copied_in_and_out() {
    let x: Vec<f32> = (0..1000).map(|i| i as f32 * 0.25).collect();
    let y = agree(|device| {
        let mut y = vec![1.0; 1000];
        scale.launch(device, Launch::grid(8), (&x, &mut y, 3.0, 1000))?;
        scale.launch_raw(
            device,
            Launch::grid(1),
            &mut [(&x).into(), (&mut y[..]).into(), Arg::value(2.0f32.to_le_bytes()), Arg::value(5u32.to_le_bytes())],
        )?;
        scale.on(device, Launch::grid(1))(&x, &mut y[10..20], 1.0, 7)?;
        Ok(y)
    });
    assert_eq!((y[0], y[4], y[5], y[999]), (1.0, 6.0, 4.75, 999.0 * 0.75 + 1.0));
}

#[test]
fn the_checks_of_a_host_come_first() {
    let mut x = [0u32; 4];
    let Some(gpu) = gpu() else { return };
    let both = |launch: fn() -> Launch, x: &mut [u32]| {
        let on_host = poke.launch(&Host::new(), launch(), (&mut x[..], 0, 0)).unwrap_err().to_string();
        assert_eq!(poke.launch(&gpu, launch(), (&mut x[..], 0, 0)).unwrap_err().to_string(), on_host);
    };
    both(|| Launch::grid(0), &mut x);
    both(|| Launch::grid(1).block(1025), &mut x);
    both(|| Launch::grid(3).cluster(2), &mut x);
}

#[test]
fn buffers_stay_on_the_device_and_have_parts() {
    let x: Vec<f32> = (0..64).map(|i| i as f32).collect();
    let Some(gpu) = gpu() else { return };
    let on_device = gpu.buffer(&x).unwrap();
    let mut y = gpu.zeroed::<f32>(64).unwrap();
    for _ in 0..3 {
        scale.launch(&gpu, Launch::grid(1), (&on_device, &mut y, 2.0, 64)).unwrap();
    }
    assert_eq!(y[10], 60.0);
    scale.launch(&gpu, Launch::grid(1), (on_device.slice(32..), &mut y[..32], 1.0, 32)).unwrap();
    assert_eq!((y[0], y[31], y[32]), (32.0, 31.0 * 6.0 + 63.0, 192.0));
    y[5] = 0.5;
    let view = ptx_dsl::argument::Strided::new(&on_device[..], [2, 8], [32, 1]).unwrap();
    scale.launch(&gpu, Launch::grid(1), (&view, &mut y, 1.0, 64)).unwrap();
    assert_eq!(y[5], 5.5);
    scale.launch(&Host::checked(), Launch::grid(1), (&on_device, &mut y, 1.0, 64)).unwrap();
    assert_eq!(y[5], 10.5, "a host runs on the same memory");
}

#[test]
fn tensor_maps_are_encoded_by_the_driver() {
    let tensor: Vec<u32> = (0..64 * 32).collect();
    for swizzle in [Swizzle::None, Swizzle::B32] {
        let out = agree(|device| {
            let map = TensorMap::tiled(&tensor, ElementType::U32)
                .dims([64, 32])
                .box_dims([8, 16])
                .swizzle(swizzle)
                .build()
                .unwrap();
            let mut out = vec![0u32; 128];
            copy_box.launch(device, Launch::grid(1).dynamic_shared(512), (&map, &mut out))?;
            Ok(out)
        });
        if swizzle == Swizzle::None {
            let expected: Vec<u32> = (0..128).map(|i| (4 + i / 8) * 64 + 8 + i % 8).collect();
            assert_eq!(out, expected);
        }
    }
}

#[test]
fn clusters_and_large_shared_memory_are_those_of_the_launch() {
    for cluster in [2, 4, 8, 16] {
        let x = agree(|device| {
            let mut x = vec![0; 16];
            ranks.launch(device, Launch::grid(16).cluster(cluster).dynamic_shared(200_000), (&mut x,))?;
            Ok(x)
        });
        let expected: Vec<u32> = (0..16).map(|i| (i + cluster - 1) % cluster).collect();
        assert_eq!(x, expected);
    }
}

#[test]
fn loaded_kernels_and_const_instances_run_too() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 .ptr .global .align 4 x) {\n    .reg .b32 %r;\n    \
                .reg .b64 %x;\n    ld.param.u64 %x, [x];\n    ld.global.u32 %r, [%x];\n    add.u32 %r, %r, 41;\n    st.global.u32 [%x], %r;\n    ret;\n}\n";
    let module = Module::parse(text).unwrap();
    let kernel = module.kernel("k").unwrap();
    let x = agree(|device| {
        let mut x = [1u32];
        kernel.launch_raw(device, Launch::grid(1), &mut [(&mut x).into()])?;
        Ok(x)
    });
    assert_eq!(x, [42]);
    let expression = ptx!(<sm_80, ptx 7.8> |x: &mut [u32]| {
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        st.global.u32 [%x], 7;
        ret;
    });
    let x = agree(|device| {
        let mut x = [1u32];
        expression.launch(device, Launch::grid(1), (&mut x,))?;
        Ok(x)
    });
    assert_eq!(x, [7]);
}

#[test]
fn a_module_that_is_not_for_the_device_is_refused() {
    let Some(gpu) = gpu() else { return };
    let run = |header: &str| {
        let module = Module::parse(&format!("{header}\n.address_size 64\n.visible .entry k() {{ ret; }}\n")).unwrap();
        let error = module.kernel("k").unwrap().launch_raw(&gpu, Launch::grid(1), &mut []).unwrap_err();
        match error {
            Error::Device { problem, .. } => *problem.downcast::<GpuError>().unwrap(),
            other => panic!("{other}"),
        }
    };
    assert!(matches!(run(".version 8.6\n.target sm_100a"), GpuError::Target { .. } | GpuError::PtxVersion { .. }));
    let newest = gpu.properties().cuda;
    if newest < (13, 4) {
        assert!(matches!(run(".version 9.4\n.target sm_80"), GpuError::PtxVersion { version: (9, 4), .. }));
    }
}

#[test]
fn preparing_says_what_limits_a_kernel() {
    let Some(gpu) = gpu() else { return };
    let prepared = gpu.prepare(ranks, &Launch::grid(16).dynamic_shared(200_000)).unwrap();
    println!("{prepared}");
    assert_eq!((prepared.ctas_per_multiprocessor, prepared.limited_by), (1, LimitedBy::Shared));
    assert!(gpu.prepare(scale, &Launch::grid(1)).unwrap().registers > 0);
}

/// In a process of its own, because the failure loses the context.
#[test]
fn a_failure_names_the_launch_and_is_explained() {
    let Some(gpu) = gpu() else { return };
    if std::env::var_os("PTX_DSL_FAIL").is_none() {
        let this = std::env::current_exe().unwrap();
        let test = ["--exact", "a_failure_names_the_launch_and_is_explained", "--nocapture"];
        let output = Command::new(this).args(test).env("PTX_DSL_FAIL", "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        print!("{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let gpu = gpu.explain_failures();
    let mut x = gpu.zeroed::<u32>(4).unwrap();
    // 4 GiB behind the buffer
    let error = poke.launch(&gpu, Launch::grid(1), (&mut x, 1 << 30, 1)).unwrap_err();
    println!("{error}");
    let fault = error.fault().expect("an explanation");
    assert!(fault.to_string().contains("st.global.u32"), "{fault}");
    let text = error.to_string();
    assert!(
        text.contains("`poke` on") && text.contains("CUDA_ERROR_") && text.contains("a buffer of 16 bytes"),
        "{text}"
    );
    let error = poke.launch(&gpu, Launch::grid(1), (&mut x, 0, 1)).unwrap_err().to_string();
    assert!(error.contains("context was lost when `poke` failed"), "{error}");
}

/// Prints what a launch costs beside a bare `cuLaunchKernel` with the same arguments.
#[test]
fn a_launch_costs_little_more_than_a_bare_one() {
    use cudarc::driver::sys;
    let Some(gpu) = gpu() else { return };
    let x = gpu.zeroed::<f32>(1024).unwrap();
    let mut y = gpu.zeroed::<f32>(1024).unwrap();
    let launch = || Launch::grid(8).block(128);
    nothing.launch(&gpu, launch(), (&x, &mut y, 1.0, 1024)).unwrap();
    let stream = gpu.context().new_stream().unwrap();
    let mut module = std::ptr::null_mut();
    let text = std::ffi::CString::new(nothing::PTX).unwrap();
    let mut function = std::ptr::null_mut();
    // SAFETY: the text ends with a zero, and the kernel is in it.
    unsafe {
        sys::cuModuleLoadData(&mut module, text.as_ptr().cast()).result().unwrap();
        sys::cuModuleGetFunction(&mut function, module, c"nothing".as_ptr()).result().unwrap();
    }
    let bare = || {
        let (mut at_x, mut at_y, mut a, mut n) = (x.as_ptr(), y.as_ptr(), 1.0f32, 1024u32);
        let mut params = [(&raw mut at_x).cast(), (&raw mut at_y).cast(), (&raw mut a).cast(), (&raw mut n).cast()];
        // SAFETY: the parameters are those of the kernel.
        unsafe {
            sys::cuLaunchKernel(
                function,
                8,
                1,
                1,
                128,
                1,
                1,
                0,
                stream.cu_stream(),
                params.as_mut_ptr(),
                std::ptr::null_mut(),
            )
            .result()
            .unwrap();
            sys::cuStreamSynchronize(stream.cu_stream()).result().unwrap();
        }
    };
    let time = |run: &mut dyn FnMut()| {
        let start = std::time::Instant::now();
        (0..2000).for_each(|_| run());
        start.elapsed().as_secs_f64() / 2000.0 * 1e6
    };
    let mut ratios: Vec<f64> = Vec::new();
    let mut z = gpu.zeroed::<f32>(1024).unwrap();
    for _ in 0..15 {
        let bare = time(&mut { bare });
        let ours = time(&mut || drop(nothing.launch(&gpu, launch(), (&x, &mut z, 1.0, 1024)).unwrap()));
        println!("bare {bare:.2} us, through ptx-dsl {ours:.2} us");
        ratios.push(ours / bare);
    }
    ratios.sort_by(f64::total_cmp);
    println!("ratio {:.2}", ratios[ratios.len() / 2]);
    assert!(ratios[ratios.len() / 2] < 2.0, "{ratios:?}");
}
