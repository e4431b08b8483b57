//! ptx-dsl and cudarc in one program: `cargo run -p cudarc-example`. Without the CUDA driver it runs on the host alone.
//!
//! cudarc launches the text of one kernel. Then ptx-dsl launches another one in cudarc's context, on its stream, and on its memory: an
//! address of the device is the argument of a parameter `.u64` without `.ptr`, for which a host takes a buffer.

use cudarc::driver::{CudaContext, DevicePtrMut, LaunchConfig, PushKernelArg, sys::is_culib_present};
use cudarc::nvrtc::Ptx;
use ptx_dsl::cuda::Gpu;
use ptx_dsl::prelude::*;

ptx! {
    <sm_75, ptx 6.4>
    // The sum of each 32 neighbours, in each of their places.
    .visible .entry sums(.param .u64 .ptr .global .align 4 x: &mut [u32]) .reqntid 32
    {
        .reg .b32 %i, %block, %v, %other, %step;
        .reg .pred %more;
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        cvta.to.global.u64 %x, %x;
        mov.u32 %i, %tid.x;
        mov.u32 %block, %ctaid.x;
        mad.lo.u32 %i, %block, 32, %i;
        mad.wide.u32 %x, %i, 4, %x;
        ld.global.u32 %v, [%x];
        mov.u32 %step, 16;
    next:
        shfl.sync.bfly.b32 %other, %v, %step, 31, -1;
        add.u32 %v, %v, %other;
        shr.u32 %step, %step, 1;
        setp.ne.u32 %more, %step, 0;
        @%more bra next;
        st.global.u32 [%x], %v;
        ret;
    }

    // Adds its number to each element.
    .visible .entry numbered(.param .u64 x) .reqntid 32
    {
        .reg .b32 %i, %block, %v;
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        cvta.to.global.u64 %x, %x;
        mov.u32 %i, %tid.x;
        mov.u32 %block, %ctaid.x;
        mad.lo.u32 %i, %block, 32, %i;
        mad.wide.u32 %x, %i, 4, %x;
        ld.global.u32 %v, [%x];
        add.u32 %v, %v, %i;
        st.global.u32 [%x], %v;
        ret;
    }
}

const BLOCKS: u32 = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let input: Vec<u32> = (0..BLOCKS * 32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let sum = |part: &[u32]| part.iter().fold(0u32, |sum, v| sum.wrapping_add(*v));
    let expected: Vec<u32> = input.chunks(32).flat_map(|part| [sum(part); 32]).collect();

    let mut x = input.clone();
    sums.launch(&Host::checked(), Launch::grid(BLOCKS), (&mut x,))?;
    assert_eq!(x, expected);
    numbered.launch(&Host::checked(), Launch::grid(BLOCKS), (&mut x,))?;
    let all_numbered: Vec<u32> = (0..).zip(&expected).map(|(i, v)| v.wrapping_add(i)).collect();
    assert_eq!(x, all_numbered);
    println!("the host agrees with Rust");

    // SAFETY: loading the driver's library runs its initialisers, which are NVIDIA's.
    if !unsafe { is_culib_present() } {
        println!("no CUDA driver here: that was all");
        return Ok(());
    }
    let stream = CudaContext::new(0)?.default_stream();
    let module = stream.context().load_module(Ptx::from_src(sums::PTX))?;
    let function = module.load_function(sums::NAME)?;
    let mut on_device = stream.clone_htod(&input)?;
    let config = LaunchConfig { grid_dim: (BLOCKS, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&function);
    launch.arg(&mut on_device);
    // SAFETY: the argument is what the kernel wants, and the checked host found no access outside of it for this grid.
    unsafe { launch.launch(config) }?;
    assert_eq!(stream.clone_dtoh(&on_device)?, expected);
    println!("the GPU agrees with Rust");

    // SAFETY: `numbered` accesses as many elements as there are threads; the slice has them, and lives until the launch has ended.
    let gpu = unsafe { Gpu::in_context(stream.context().clone()) }?.on_stream(stream.clone());
    let (address, in_use) = on_device.device_ptr_mut(&stream);
    numbered.launch(&gpu, Launch::grid(BLOCKS), (address,))?;
    drop(in_use);
    assert_eq!(stream.clone_dtoh(&on_device)?, all_numbered);
    println!("and so does ptx-dsl in cudarc's context, on its stream and its memory");
    Ok(())
}
