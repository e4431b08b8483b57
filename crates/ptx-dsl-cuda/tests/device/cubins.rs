//! Machine code that the program has: it is taken where it fits, and the driver compiles the PTX elsewhere.

use super::{agree, gpu};
use ptx_dsl::cuda::{Cubin, Gpu, GpuError};
use ptx_dsl::load::Module;
use ptx_dsl::prelude::*;

const TEXT: &str = include_str!("data/newer.ptx");
const CODE: &[u8] = include_bytes!("data/newer.cubin");

/// Runs the kernel, of which the driver has not heard, and whose text it may not be able to read.
fn run(gpu: &Gpu, text: &str) -> Result<[u32; 32], Error> {
    let mut x = [5; 32];
    let module = Module::parse(text).unwrap();
    module.kernel("newer").unwrap().launch_raw(gpu, Launch::grid(1).block(32), &mut [(&mut x).into()])?;
    Ok(x)
}

#[test]
fn machine_code_runs_where_the_driver_cannot_read_the_text() {
    let module = Module::parse(TEXT).unwrap();
    let on_hosts = {
        let mut x = [5; 32];
        let host = Host::checked();
        module.kernel("newer").unwrap().launch_raw(&host, Launch::grid(1).block(32), &mut [(&mut x).into()]).unwrap();
        x
    };
    assert_eq!(on_hosts, std::array::from_fn(|i| 15 + i as u32));
    let Some(gpu) = gpu().filter(|gpu| gpu.properties().capability.0 == 9) else { return };
    if gpu.properties().cuda < (13, 3) {
        let Err(Error::Device { problem, .. }) = run(&gpu, TEXT) else { panic!("the driver reads it") };
        assert!(matches!(problem.downcast_ref(), Some(GpuError::PtxVersion { .. })), "{problem}");
    }
    // SAFETY: the kernel accesses its argument alone.
    let gpu = unsafe { Gpu::new(0) }.unwrap().with_cubins(&[Cubin::of("sm_90", TEXT, CODE)]);
    assert_eq!(run(&gpu, TEXT).unwrap(), on_hosts);
    // machine code of another text is not taken: this one adds, and the driver compiles it
    let other = TEXT.replace(".version 9.3", ".version 8.0").replace("%v, 3, %i", "%v, 4, %i");
    assert_eq!(run(&gpu, &other).unwrap(), std::array::from_fn(|i| 20 + i as u32));
}

#[test]
fn where_the_driver_refuses_machine_code_it_compiles() {
    let text = TEXT.replace(".version 9.3", ".version 8.0");
    let module = Module::parse(&text).unwrap();
    let x = agree(|device| {
        let mut x = [5; 32];
        module.kernel("newer").unwrap().launch_raw(device, Launch::grid(1).block(32), &mut [(&mut x).into()])?;
        Ok(x)
    });
    if gpu().is_none() {
        return;
    }
    for broken in [&b"no machine code"[..], b"\x7fELF"] {
        // SAFETY: the kernel accesses its argument alone.
        let gpu = unsafe { Gpu::new(0) }.unwrap().with_cubins(&[Cubin::of("sm_90", &text, broken)]);
        assert_eq!(run(&gpu, &text).unwrap(), x);
    }
}
