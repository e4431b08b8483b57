//! Collector buffers: an operation that uses one needs the matrix that the buffer holds.

use ptx_dsl::Error;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;

use super::everywhere::everywhere;

ptx! {
    <sm_100a, ptx 8.6>
    // Two or three products in one of several ways, of an A and a B of zeros and ones; 64 columns of D are loaded into `y`.
    .visible .entry collects(.param .u32 way, .param .u64 other, .param .u32 idesc, .param .u64 .ptr .global .align 4 y: &mut [f32])
        .reqntid 128
    {
        .reg .pred %p, %first, %warp, %no, %yes;
        .reg .b32 %t, %i, %at, %way, %taddr, %idesc, %v;
        .reg .b64 %a, %b, %other, %y, %o;
        .shared .align 1024 .b8 tile[16384];
        .shared .align 8 .b64 done;
        .shared .align 4 .b32 where_;
        mov.u32 %t, %tid.x;
        setp.eq.u32 %first, %t, 0;
        setp.lt.u32 %warp, %t, 32;
        // ones
        mov.u32 %at, tile;
        mad.lo.u32 %at, %t, 4, %at;
        mov.u32 %i, 0;
      fill:
        st.shared.u32 [%at], 0x3c003c00;
        add.u32 %at, %at, 512;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 32;
        @%p bra fill;
        @%warp tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [where_], 64;
        @%first mbarrier.init.shared::cta.b64 [done], 1;
        fence.proxy.async.shared::cta;
        tcgen05.fence::before_thread_sync;
        bar.sync 0;
        tcgen05.fence::after_thread_sync;
        ld.shared.u32 %taddr, [where_];
        ld.param.u32 %way, [way];
        ld.param.u64 %other, [other];
        ld.param.u32 %idesc, [idesc];
        mov.u64 %a, 0x0000401000080000;
        add.u64 %other, %other, %a;
        mov.u64 %b, %a;
        setp.ne.u32 %yes, %t, -1;
        setp.eq.u32 %no, %t, -1;
        @!%first bra wait;
        setp.eq.u32 %p, %way, 0;
        @%p bra one_last;
        setp.eq.u32 %p, %way, 1;
        @%p bra used;
        setp.eq.u32 %p, %way, 2;
        @%p bra between;
        setp.eq.u32 %p, %way, 3;
        @%p bra size;
        setp.eq.u32 %p, %way, 4;
        @%p bra stationary;
        bra stationary_between;
      one_last:
        tcgen05.mma.cta_group::1.kind::f16.collector::a::lastuse [%taddr], %other, %b, %idesc, %no; // nothing
        bra commit;
      used:
        tcgen05.mma.cta_group::1.kind::f16.collector::a::fill [%taddr], %a, %b, %idesc, %no;
        tcgen05.mma.cta_group::1.kind::f16.collector::a::use [%taddr], %a, %b, %idesc, %yes;
        tcgen05.mma.cta_group::1.kind::f16.collector::a::lastuse [%taddr], %other, %b, %idesc, %yes; // other
        bra commit;
      between:
        tcgen05.mma.cta_group::1.kind::f16.collector::a::fill [%taddr], %a, %b, %idesc, %no;
        tcgen05.mma.cta_group::1.kind::f16 [%taddr], %a, %b, %idesc, %yes;
        tcgen05.mma.cta_group::1.kind::f16.collector::a::use [%taddr], %a, %b, %idesc, %yes; // between
        bra commit;
      size:
        tcgen05.mma.cta_group::1.kind::f16.collector::a::fill [%taddr], %a, %b, 0x8020010, %no;
        tcgen05.mma.cta_group::1.kind::f16.collector::a::use [%taddr], %a, %b, %idesc, %no; // size
        bra commit;
      stationary:
        tcgen05.mma.ws.cta_group::1.kind::f16.collector::b2::fill [%taddr], %a, %b, %idesc, %no;
        tcgen05.mma.ws.cta_group::1.kind::f16 [%taddr], %a, %b, %idesc, %yes;
        tcgen05.mma.ws.cta_group::1.kind::f16.collector::b2::lastuse [%taddr], %other, %b, %idesc, %yes;
        bra commit;
      stationary_between:
        tcgen05.mma.ws.cta_group::1.kind::f16.collector::b0::fill [%taddr], %a, %b, %idesc, %no;
        tcgen05.mma.ws.cta_group::1.kind::f16 [%taddr], %a, %b, %idesc, %yes;
        tcgen05.mma.ws.cta_group::1.kind::f16.collector::b0::lastuse [%taddr], %a, %b, %idesc, %yes; // stationary
      commit:
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [done], 0;
        @!%p bra wait;
        bar.sync 0;
        tcgen05.fence::after_thread_sync;
        shr.u32 %at, %t, 5;
        shl.b32 %at, %at, 21;
        add.u32 %at, %at, %taddr;
        tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v}, [%at];
        tcgen05.wait::ld.sync.aligned;
        ld.param.u64 %y, [y];
        mad.wide.u32 %y, %t, 4, %y;
        st.global.u32 [%y], %v;
        tcgen05.fence::before_thread_sync;
        bar.sync 0;
        @%warp tcgen05.dealloc.cta_group::1.sync.aligned.b32 %taddr, 64;
        ret;
    }
}

/// f16, a D of f32, M = 128.
const F16: u32 = 1 << 4 | 8 << 24;
const N8: u32 = 1 << 17;
const N64: u32 = 8 << 17;

fn launch<M>(host: &Host<M>, way: u32, other: u64, idesc: u32) -> Result<[f32; 128], Error> {
    let mut y = [0.0; 128];
    collects.launch(host, Launch::grid(1), (way, other, idesc, &mut y))?;
    Ok(y)
}

fn fault(way: u32, other: u64, idesc: u32, words: &str) {
    match launch(&Host::new(), way, other, idesc) {
        Err(Error::Fault(fault)) => {
            assert!(matches!(fault.kind, FaultKind::Undefined { .. }), "{fault}");
            assert!(fault.to_string().contains(words), "{fault}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_matrix_is_used_again() {
    everywhere!(host => {
        // K = 16, three products of ones
        assert_eq!(launch(&host, 1, 0, F16 | N8).unwrap(), [48.0; 128]);
        // another A, the same B
        assert_eq!(launch(&host, 4, 8, F16 | N64).unwrap(), [48.0; 128]);
    });
}

#[test]
fn buffers_that_hold_something_else() {
    fault(0, 0, F16 | N8, "`.collector::a::lastuse` reads a collector buffer that no operation has filled");
    fault(
        1,
        8,
        F16 | N8,
        "`.collector::a::lastuse` reads the A at 0x401000080008 from a collector buffer that holds the one at",
    );
    fault(
        2,
        0,
        F16 | N8,
        "`.collector::a::use` reads a collector buffer that no operation has filled since it was discarded",
    );
    let m64 = F16 & !(8 << 24) | 4 << 24 | N8;
    fault(3, 0, m64, "`.collector::a::use` reads A from a collector buffer that holds one of another size or type");
    fault(5, 0, F16 | N64, "`.collector::b0::lastuse` reads a collector buffer");
}
