//! Tensor Memory (manual 9.7.16): allocation, loads and stores, CTA pairs, and Tables 47 and 48 of 9.7.16.5.

use ptx_dsl::prelude::*;

ptx! {
    <sm_100a, ptx 8.6, allow(PTX0606), allow(PTX0608)>

    // Four warps store their rows, convert them through another shape, and load them again.
    .visible .entry through(.param .u64 .ptr .global .align 4 out: &mut [u32])
    {
        .reg .b32 %t, %taddr, %lane, %r<8>, %v, %w;
        .reg .b64 %p, %at;
        .reg .pred %first;
        .shared .align 4 .b32 where_;
        mov.u32 %t, %tid.x;
        setp.lt.u32 %first, %t, 32;
        @!%first bra allocated;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [where_], 64;
        tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
    allocated:
        bar.sync 0;
        ld.shared.u32 %taddr, [where_];
        // the quarter of the warp: lanes in the upper half of the address
        and.b32 %lane, %t, 0x60;
        shl.b32 %lane, %lane, 16;
        add.u32 %taddr, %taddr, %lane;
        // row t holds 4t to 4t + 3
        shl.b32 %r0, %t, 2;
        add.u32 %r1, %r0, 1;
        add.u32 %r2, %r0, 2;
        add.u32 %r3, %r0, 3;
        tcgen05.st.sync.aligned.32x32b.x4.b32 [%taddr + 8], {%r0, %r1, %r2, %r3};
        tcgen05.wait::st.sync.aligned;
        tcgen05.ld.sync.aligned.16x128b.x1.b32 {%r4, %r5}, [%taddr + 8];
        tcgen05.wait::ld.sync.aligned;
        shl.b32 %v, %t, 1;
        ld.param.u64 %p, [out];
        mul.wide.u32 %at, %v, 4;
        add.u64 %p, %p, %at;
        st.global.v2.u32 [%p], {%r4, %r5};
        bar.sync 0;
        @!%first bra done;
        ld.shared.u32 %w, [where_];
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %w, 64;
    done:
        ret;
    }

    .visible .entry table_47()
    {
        .reg .b32 %taddr;
        .shared .align 4 .b32 where_;
        tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [where_], 32;
        ld.shared.u32 %taddr, [where_];
        barrier.cluster.arrive;
        barrier.cluster.wait;
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %taddr, 32;
        exit;
    }

    .visible .entry table_48()
    {
        .reg .b32 %taddr, %rank;
        .reg .pred %odd;
        .shared .align 4 .b32 where_;
        tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [where_], 32;
        ld.shared.u32 %taddr, [where_];
        mov.u32 %rank, %cluster_ctarank;
        setp.eq.u32 %odd, %rank, 1;
        @%odd bra other;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %taddr, 32;
        exit;
    other:
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %taddr, 32;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        exit;
    }

    // Deallocates only on request.
    .visible .entry leak(.param .u32 tidy)
    {
        .reg .b32 %taddr, %tidy;
        .reg .pred %p;
        .shared .align 4 .b32 where_;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [where_], 32;
        ld.shared.u32 %taddr, [where_];
        ld.param.u32 %tidy, [tidy];
        setp.eq.u32 %p, %tidy, 0;
        @%p exit;
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %taddr, 32;
        exit;
    }
}

#[test]
fn through_tensor_memory_and_back() {
    for host in [Host::new(), Host::new().seed(1), Host::new().seed(2)] {
        let mut out = [0u32; 256];
        through.launch(&host, Launch::grid(1).block(128), (&mut out,)).unwrap();
        for t in 0..128u32 {
            // the first 16 rows of the warp's quarter: row l / 4 and the eighth one after it, column l % 4
            let (quarter, l) = (t / 32 * 32, t % 32);
            let row = quarter + l / 4;
            assert_eq!(out[t as usize * 2..][..2], [4 * row + l % 4, 4 * (row + 8) + l % 4], "thread {t}");
        }
    }
    through.launch(&Host::checked(), Launch::grid(1).block(128), (&mut [0u32; 256],)).unwrap();
}

fn pair() -> Launch {
    Launch::grid(2).cluster(2).block(32)
}

#[test]
fn table_47_ends_whatever_dealloc_does() {
    table_47.launch(&Host::new(), pair(), ()).unwrap();
    Host::new().explore(64).run(|host| table_47.launch(host, pair(), ())).unwrap();
}

#[test]
fn table_48_hangs_if_dealloc_waits() {
    table_48.launch(&Host::new(), pair(), ()).unwrap();
    let Err(ptx_dsl::Error::Fault(fault)) = Host::new().explore(64).run(|host| table_48.launch(host, pair(), ()))
    else {
        panic!("the deadlock is not found");
    };
    let text = fault.to_string();
    for part in [
        "deadlock",
        "waits for the cluster barrier, not arrived: CTA rank 1",
        "waits for `tcgen05.dealloc` of CTA rank 0",
        "a cycle: threads 0 to 31 of CTA rank ",
        "`Host::new().seed(",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(table_48.launch(&Host::new().replay(fault.schedule.clone()), pair(), ()).is_err());
}

#[test]
fn allocations_are_given_back() {
    leak.launch(&Host::new(), Launch::grid(1).block(32), (1,)).unwrap();
    let text = leak.launch(&Host::new(), Launch::grid(1).block(32), (0,)).unwrap_err().to_string();
    assert!(text.contains("exits without deallocating the 32 columns") && text.contains("tcgen05.alloc"), "{text}");
}
