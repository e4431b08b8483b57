//! `y = a * x + y` in both forms of `ptx!`: as an item of the module and as a closure in an expression.

use ptx_dsl::cuda::{Gpu, GpuError};
use ptx_dsl::{Error, prelude::*};

ptx! {
    <sm_90, ptx 8.0>

    .visible .entry saxpy(
        .param .u64 .ptr .global .align 4 x: &[f32],
        .param .u64 .ptr .global .align 4 y: &mut [f32],
        .param .f32 a,
        .param .u32 n)
    .reqntid 256
    {
        .reg .pred %p;
        .reg .b32 %r<5>;
        .reg .f32 %f<4>;
        .reg .b64 %rd<6>;

        mov.u32 %r1, %ctaid.x;
        mov.u32 %r2, %ntid.x;
        mov.u32 %r3, %tid.x;
        mad.lo.u32 %r4, %r1, %r2, %r3;
        ld.param.u32 %r0, [n];
        setp.ge.u32 %p, %r4, %r0;
        @%p bra $L_end;                     // the last CTA is not full

        ld.param.u64 %rd1, [x];
        ld.param.u64 %rd2, [y];
        mul.wide.u32 %rd3, %r4, 4;
        add.u64 %rd4, %rd1, %rd3;
        add.u64 %rd5, %rd2, %rd3;
        ld.global.f32 %f1, [%rd4];
        ld.global.f32 %f2, [%rd5];
        ld.param.f32 %f3, [a];
        fma.rn.f32 %f2, %f3, %f1, %f2;
        st.global.f32 [%rd5], %f2;
    $L_end:
        ret;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n = 1_000_003_u32;
    let a = 2.5_f32;
    let x: Vec<f32> = (0..n).map(|i| (i % 1013) as f32 * 0.25).collect();
    let start: Vec<f32> = (0..n).map(|i| (i % 509) as f32 - 254.0).collect();
    let expected: Vec<f32> = x.iter().zip(&start).map(|(x, y)| a.mul_add(*x, *y)).collect();

    // The item form: typed parameters, and the PTX for a driver that has a GPU.
    let mut y = start.clone();
    saxpy.launch(&Host::new(), Launch::grid(n.div_ceil(256)).block(256), (&x, &mut y, a, n))?;
    assert_eq!(y, expected);
    println!("item form: kernel `{}`, {n} elements, equal to Rust bit for bit", saxpy::NAME);
    println!("{}", saxpy::PTX.lines().take(4).collect::<Vec<_>>().join("\n"));

    // The expression form: one warp strides through the array.
    let warp = ptx!(<sm_90, ptx 8.0> |x: &[f32], y: &mut [f32], a: f32, n: u32| .maxntid 32 {
        .reg .pred %p;
        .reg .b32 %i, %n;
        .reg .f32 %a, %x, %y;
        .reg .b64 %px, %py, %offset;

        ld.param.u64 %px, [x];
        ld.param.u64 %py, [y];
        ld.param.f32 %a, [a];
        ld.param.u32 %n, [n];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %offset, %i, 4;
        add.u64 %px, %px, %offset;
        add.u64 %py, %py, %offset;
    $L_loop:
        setp.ge.u32 %p, %i, %n;
        @%p ret;
        ld.global.f32 %x, [%px];
        ld.global.f32 %y, [%py];
        fma.rn.f32 %y, %a, %x, %y;
        st.global.f32 [%py], %y;
        add.u32 %i, %i, 32;
        add.u64 %px, %px, 128;
        add.u64 %py, %py, 128;
        bra $L_loop;
    });
    let mut y = start.clone();
    warp.launch(&Host::new(), Launch::grid(1).block(32), (&x, &mut y, a, n))?;
    assert_eq!(y, expected);
    println!("expression form: one warp, {n} elements, equal to Rust bit for bit");
    println!("{} lines of PTX", warp.ptx().lines().count());

    // Either is also a Rust closure, and works as any other function of these arguments.
    let host = Host::new();
    let blocks = saxpy.on(&host, Launch::grid(n.div_ceil(256)).block(256));
    assert_eq!(twice(blocks, &x, &start, n)?, twice(warp.on(&host, Launch::grid(1).block(32)), &x, &start, n)?);

    // The same call on a GPU. Its buffers stay there from launch to launch, and Rust reads them as slices.
    if let Some(gpu) = gpu()? {
        let (x, mut y) = (gpu.buffer(&x)?, gpu.buffer(&start)?);
        saxpy.launch(&gpu, Launch::grid(n.div_ceil(256)).block(256), (&x, &mut y, a, n))?;
        assert_eq!(y[..], expected);
        println!("on the GPU: equal to Rust bit for bit");
    }
    Ok(())
}

/// The first GPU, if the program is called with `--gpu`.
fn gpu() -> Result<Option<Gpu>, GpuError> {
    if !std::env::args().any(|arg| arg == "--gpu") {
        return Ok(None);
    }
    // SAFETY: the kernels access their arguments alone.
    #[allow(unsafe_code)]
    let gpu = unsafe { Gpu::new(0) }?;
    println!("{gpu}");
    Ok(Some(gpu))
}

/// Computes `x / 2 + y`, then adds `x / 4`, with any function for `a * x + y`.
fn twice(
    f: impl Fn(&[f32], &mut [f32], f32, u32) -> Result<Report, Error>,
    x: &[f32],
    y: &[f32],
    n: u32,
) -> Result<Vec<f32>, Error> {
    let mut y = y.to_vec();
    f(x, &mut y, 0.5, n)?;
    f(x, &mut y, 0.25, n)?;
    Ok(y)
}
