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
        .reg .f32 %a, %x, %y;

        let %i = %ctaid.x * %ntid.x + %tid.x;
        if %i < n {                         // the last CTA is not full
            ld.param.f32 %a, [a];
            ld.global.f32 %x, [x + 4 * %i];
            ld.global.f32 %y, [y + 4 * %i];
            fma.rn.f32 %y, %a, %x, %y;
            st.global.f32 [y + 4 * %i], %y;
        }
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
        .reg .f32 %a, %x, %y;

        ld.param.f32 %a, [a];
        let %i = %tid.x;
        while %i < n {
            ld.global.f32 %x, [x + 4 * %i];
            ld.global.f32 %y, [y + 4 * %i];
            fma.rn.f32 %y, %a, %x, %y;
            st.global.f32 [y + 4 * %i], %y;
            %i = %i + 32;
        }
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
