//! Several GPUs: peers, buffers of a peer as arguments, and one kernel on two GPUs at the same time, which signal each other.

use super::scale;
use ptx_dsl::cuda::{Gpu, GpuError, Gpus};
use ptx_dsl::launch::{Devices, Shared};
use ptx_dsl::prelude::*;

include_ptx!("data/exchange.ptx", allow(protocol));

/// Flags are words 0 to 14.
const CTAS: usize = 15;

/// The first two GPUs, or `None` with a message.
fn two() -> Option<[Gpu; 2]> {
    if !Gpu::count().is_ok_and(|count| count >= 2) {
        println!("no two GPUs here: hosts alone");
        return None;
    }
    // SAFETY: the kernels of this file access their arguments alone.
    Some([0, 1].map(|ordinal| unsafe { Gpu::new(ordinal) }.unwrap()))
}

/// What both devices read of each other, and the words of their memory that count threads.
fn exchanged(devices: &impl Devices, memory: [&mut [u32]; 2], launch: Launch) -> [Vec<u32>; 2] {
    let mut out = [(); 2].map(|()| vec![0u32; 32 * CTAS]);
    let [a, b] = memory.map(Shared::new);
    let [first, second] = out.each_mut();
    let arguments = [(&a, &b, first, 0u32), (&b, &a, second, 1u32)].map(|(own, peer, out, rank)| {
        vec![Arg::shared(own), Arg::shared(peer), out.into(), Arg::value(rank.to_le_bytes())]
    });
    devices.launch(exchange, launch, arguments).unwrap();
    out
}

fn expected() -> [Vec<u32>; 2] {
    [1000, 0].map(|first| (first..first + 32 * CTAS as u32).collect())
}

#[test]
fn two_gpus_exchange_what_they_have_stored() {
    let grid = || Launch::grid(CTAS as u32);
    let mut memory = [(); 2].map(|()| vec![0u32; 16 + 32 * CTAS]);
    let out = exchanged(&Host::checked().devices(2), memory.each_mut().map(|m| &mut m[..]), grid());
    assert_eq!(out, expected());
    let Some(gpus) = two() else { return };
    let group = Gpus::new(gpus.clone()).unwrap();
    for round in 0..50 {
        let mut on_gpus = gpus.each_ref().map(|gpu| gpu.zeroed::<u32>(16 + 32 * CTAS).unwrap());
        let out = exchanged(&group, on_gpus.each_mut().map(|m| &mut m[..]), grid());
        assert_eq!(out, expected(), "round {round}");
        assert_eq!(on_gpus.map(|m| m.to_vec()), memory, "round {round}: the same memory as on hosts");
    }
}

#[test]
fn a_buffer_of_a_peer_is_an_argument() {
    let Some([first, second]) = two() else { return };
    let x = first.buffer(&[1.0f32; 128]).unwrap();
    let mut y = second.buffer(&[0.5f32; 128]).unwrap();
    for (n, gpu) in [(1, &first), (2, &second), (3, &first)] {
        scale.launch(gpu, Launch::grid(1), (&x, &mut y, 2.0, 128)).unwrap();
        assert_eq!(y[..], [0.5 + 2.0 * n as f32; 128], "launch {n}");
    }
}

#[test]
fn memory_that_gpus_share_is_that_of_a_buffer() {
    // one GPU is a group too
    let Some(gpu) = super::gpu() else { return };
    let group = Gpus::new([gpu.clone()]).unwrap();
    assert_eq!(group.gpus().len(), 1);
    let mut slice = vec![0u32; 16 + 32];
    let shared = Shared::new(&mut slice);
    let mut out = vec![0u32; 32];
    let arguments = vec![Arg::shared(&shared), Arg::shared(&shared), (&mut out).into(), Arg::value(0u32.to_le_bytes())];
    let error = group.launch(exchange, Launch::grid(1), [arguments]).unwrap_err();
    let Error::Device { problem, .. } = &error else { panic!("{error}") };
    assert!(matches!(problem.downcast_ref(), Some(GpuError::SharedOutsideOfBuffer)), "{error}");
    // a device is its own peer
    let mut memory = gpu.zeroed::<u32>(16 + 32).unwrap();
    {
        let shared = Shared::new(&mut memory);
        let arguments =
            vec![Arg::shared(&shared), Arg::shared(&shared), (&mut out).into(), Arg::value(7u32.to_le_bytes())];
        group.launch(exchange, Launch::grid(1), [arguments]).unwrap();
    }
    assert!(out.iter().copied().eq(7000..7032), "{out:?}");
    assert_eq!((memory[0], memory[15]), (1, 32));
}
