//! Several hosts that share memory run one kernel at the same time. `crates/ptx-dsl-cuda/tests/device/group.rs` runs `exchange` on two GPUs.

use ptx_dsl::KernelFn;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::launch::{Devices, LaunchError, Shared};
use ptx_dsl::prelude::*;

include_ptx!("../../../crates/ptx-dsl-cuda/tests/device/data/exchange.ptx", allow(protocol));

ptx! {
    <sm_90, ptx 8.1, allow(protocol)>

    // As `exchange`, but nothing waits for the peer.
    .visible .entry hasty(
        .param .u64 .ptr .global .align 4 own,
        .param .u64 .ptr .global .align 4 peer,
        .param .u64 .ptr .global .align 4 out: &mut [u32],
        .param .u32 rank)
    .reqntid 32
    {
        .reg .b32 %t, %v;
        .reg .b64 %own, %peer, %out, %o;
        ld.param.u64 %own, [own];
        ld.param.u64 %peer, [peer];
        ld.param.u64 %out, [out];
        mov.u32 %t, %tid.x;
        mul.wide.u32 %o, %t, 4;
        add.u64 %own, %own, %o;
        add.u64 %peer, %peer, %o;
        add.u64 %out, %out, %o;
        st.global.u32 [%peer], %t;
        ld.global.u32 %v, [%own];
        st.global.u32 [%out], %v;
        ret;
    }

    // What a CTA knows of itself, and a sum over all devices through a multicast object.
    .visible .entry multicast(.param .u64 m, .param .u64 .ptr .global .align 4 out: &mut [u32], .param .u32 rank) {
        .reg .b32 %z, %c, %v, %rank;
        .reg .b64 %m, %out;
        ld.param.u64 %m, [m];
        ld.param.u64 %out, [out];
        ld.param.u32 %rank, [rank];
        mov.u32 %z, %ctaid.z;
        mov.u32 %c, %clusterid.z;
        mad.lo.u32 %v, %rank, 10, 1;
        multimem.red.relaxed.sys.global.add.u32 [%m], %v;
        mad.wide.u32 %out, %z, 8, %out;
        st.global.u32 [%out], %z;
        st.global.u32 [%out + 4], %c;
        ret;
    }
}

const CTAS: usize = 4;

/// Two buffers of each of two devices.
type OfTwo = ([Vec<u32>; 2], [Vec<u32>; 2]);

/// What both devices read of each other, and their memory.
fn run<K: KernelFn>(devices: &impl Devices, kernel: K, launch: Launch) -> Result<OfTwo, Error> {
    let (mut memory, mut out) = ([(); 2].map(|()| vec![0u32; 16 + 32 * CTAS]), [(); 2].map(|()| vec![0u32; 32 * CTAS]));
    {
        let [a, b] = memory.each_mut().map(|memory| Shared::new(memory));
        let [first, second] = out.each_mut();
        let arguments = [(&a, &b, first, 0u32), (&b, &a, second, 1u32)].map(|(own, peer, out, rank)| {
            vec![Arg::shared(own), Arg::shared(peer), out.into(), Arg::value(rank.to_le_bytes())]
        });
        devices.launch(kernel, launch, arguments)?;
    }
    Ok((out, memory))
}

fn check(devices: &impl Devices, launch: Launch) {
    let (out, memory) = run(devices, exchange, launch).unwrap();
    for (rank, (out, memory)) in out.iter().zip(&memory).enumerate() {
        let of_peer = 1000 * (1 - rank as u32);
        assert!(out.iter().copied().eq(of_peer..of_peer + 32 * CTAS as u32), "device {rank}: {out:?}");
        assert_eq!(memory[15], 32 * CTAS as u32);
    }
}

#[test]
fn two_hosts_exchange_what_they_have_stored() {
    let grid = || Launch::grid(CTAS as u32);
    check(&Host::new().devices(2), grid());
    check(&Host::new().threads(3).devices(2), grid());
    check(&Host::new().resident_clusters(1).devices(2), grid());
    check(&Host::checked().devices(2), grid());
    check(&Host::checked().devices(2), grid().cluster(2));
    for seed in 0..20 {
        check(&Host::new().seed(seed).devices(2), grid());
        check(&Host::checked().seed(seed).devices(2), grid().cluster(4));
    }
}

#[test]
fn a_race_between_devices_is_found() {
    let error = run(&Host::checked().devices(2), hasty, Launch::grid(1)).unwrap_err();
    let fault = error.fault().unwrap();
    let FaultKind::DataRace(race) = &fault.kind else { panic!("{error}") };
    // the CTA of the second device has the number after those of the first in z
    let ctas = [fault.thread.unwrap().ctaid, race.other.thread.ctaid];
    assert!(ctas == [[0, 0, 0], [0, 0, 1]] || ctas == [[0, 0, 1], [0, 0, 0]], "{error}");
}

#[test]
fn a_device_that_waits_for_nobody_is_reported() {
    // each device waits for the flag of its peer in its own memory, but both store to their own
    let mut memory = [(); 2].map(|()| vec![0u32; 16 + 32]);
    let mut out = [vec![0u32; 32], vec![0; 32]];
    let [a, b] = memory.each_mut().map(|memory| Shared::new(memory));
    let [first, second] = out.each_mut();
    let mut nobody = vec![0u32; 16 + 32];
    let nobody = Shared::new(&mut nobody);
    let arguments = [(&a, first), (&b, second)]
        .map(|(own, out)| vec![Arg::shared(own), Arg::shared(&nobody), out.into(), Arg::value(0u32.to_le_bytes())]);
    let error = Host::new().devices(2).launch(exchange, Launch::grid(1), arguments).unwrap_err();
    assert!(error.fault().is_some(), "{error}");
}

#[test]
fn a_multicast_object_is_the_memory_of_all_devices() {
    for host in [Host::new(), Host::new().threads(2)] {
        let (mut a, mut b) = ([100u32], [200u32]);
        let mut out = [[9u32; 4]; 3];
        let mut c = [300u32];
        {
            let shared = [&mut a, &mut b, &mut c].map(|memory| Shared::new(memory));
            let [x, y, z] = out.each_mut();
            let arguments = [x, y, z].into_iter().zip(0u32..).map(|(out, rank)| {
                vec![Arg::multicast_of(&shared), (&mut *out).into(), Arg::value(rank.to_le_bytes())]
            });
            host.devices(3).launch(multicast, Launch::grid((1, 1, 2)), arguments).unwrap();
        }
        // 2 * (1 + 11 + 21)
        assert_eq!((a, b, c), ([166], [266], [366]));
        assert_eq!(out, [[0, 0, 1, 1]; 3], "each device has the whole grid");
    }
}

#[test]
fn arguments_are_those_of_each_device() {
    let devices = Host::new().devices(2);
    let mut out = [0u32; 4];
    let one = vec![Arg::value(0u64.to_le_bytes()), (&mut out).into(), Arg::value(0u32.to_le_bytes())];
    let error = devices.launch(multicast, Launch::grid(1), [one]).unwrap_err();
    assert!(
        matches!(error, Error::Launch { problem: LaunchError::ListsOfArguments { given: 1, devices: 2 }, .. }),
        "{error}"
    );
    let (mut x, mut y) = ([0u32; 4], [0u32; 4]);
    let (x, y) = (Shared::new(&mut x), Shared::new(&mut y));
    let mut outs = [[0u32; 4]; 2];
    let [first, second] = outs.each_mut();
    // the objects of the devices have other replicas
    let arguments = [(vec![&x, &y], first), (vec![&y, &x], second)]
        .map(|(replicas, out)| vec![Arg::multicast_of(replicas), out.into(), Arg::value(0u32.to_le_bytes())]);
    let error = devices.launch(multicast, Launch::grid(1), arguments).unwrap_err();
    assert!(matches!(error, Error::Launch { problem: LaunchError::MulticastOfShared { .. }, .. }), "{error}");
    let grid = Launch::grid(1).cooperative();
    let error = run(&devices, exchange, grid).unwrap_err();
    assert!(matches!(error, Error::Launch { problem: LaunchError::SeveralDevices { .. }, .. }), "{error}");
}

#[test]
fn shared_memory_is_an_argument_of_one_device_too() {
    let mut memory: Vec<u32> = (0..64).collect();
    let mut out = [0u32; 32];
    {
        let memory = Shared::new(&mut memory);
        let mut arguments =
            [Arg::shared(&memory), Arg::shared(&memory), (&mut out).into(), Arg::value(0u32.to_le_bytes())];
        hasty.launch_raw(&Host::new(), Launch::grid(1), &mut arguments).unwrap();
    }
    assert!(out.iter().copied().eq(0..32), "both parameters are one memory");
}
