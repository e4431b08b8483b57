//! Kernels that race: their results are open, but they touch nothing else. The sanitizers run these too.

use super::{THREADS, numbers};
use ptx_dsl::prelude::*;

ptx! {
    <sm_90, ptx 8.4>
    // All blocks store and load all sizes at the same 512 bytes, correctly aligned.
    .visible .entry sizes(.param .u64 .ptr .global .align 16 d: &mut [u8]) .reqntid 64 {
        .reg .pred %p;
        .reg .b16 %h;
        .reg .b32 %t, %b, %i, %v, %w, %x, %y;
        .reg .b64 %d, %a, %o, %q, %r;
        .reg .b128 %wide, %old;
        ld.param.u64 %d, [d];
        mov.u32 %t, %tid.x;
        mov.u32 %b, %ctaid.x;
        mov.u32 %i, 0;
      more:
        // where: a hash of thread and iteration
        mad.lo.u32 %w, %i, 77, %b;
        mad.lo.u32 %w, %w, 1103515245, %t;
        shr.u32 %w, %w, 3;
        and.b32 %w, %w, 496;
        cvt.u64.u32 %o, %w;
        add.u64 %a, %d, %o;
        ld.global.u8 %v, [%a+3];
        st.global.u8 [%a+5], %v;
        ld.global.u16 %h, [%a+6];
        st.global.u16 [%a+2], %h;
        ld.volatile.global.u32 %x, [%a+4];
        st.volatile.global.u32 [%a+8], %x;
        ld.relaxed.gpu.global.u64 %q, [%a];
        st.relaxed.sys.global.u64 [%a+8], %q;
        ld.global.v4.u32 {%v, %w, %x, %y}, [%a];
        st.global.v4.u32 [%a], {%y, %x, %w, %v};
        ld.global.v2.u64 {%q, %r}, [%a];
        st.global.v2.u64 [%a], {%r, %q};
        atom.global.add.u32 %v, [%a+4], %w;
        atom.global.cas.b16 %h, [%a+10], %h, 7;
        atom.global.exch.b64 %q, [%a+8], %r;
        mov.b128 %wide, {%q, %r};
        atom.global.exch.b128 %old, [%a], %wide;
        // all lanes at once, in rows
        mul.wide.u32 %o, %t, 4;
        add.u64 %a, %d, %o;
        ld.global.u32 %v, [%a];
        add.u32 %v, %v, %i;
        st.global.u32 [%a], %v;
        and.b32 %w, %t, 1;
        setp.eq.u32 %p, %w, 0;
        @%p st.global.u32 [%a], %i;
        mul.wide.u32 %o, %t, 8;
        add.u64 %a, %d, %o;
        st.global.u64 [%a], %q;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 10;
        @%p bra more;
        ret;
    }

    // Half of the lanes store; the others' elements belong to the neighbouring block.
    .visible .entry every_other(.param .u64 .ptr .global .align 4 d: &mut [u32]) .reqntid 32 {
        .reg .pred %p, %q;
        .reg .b32 %t, %b, %parity, %i, %v;
        .reg .b64 %d, %o;
        ld.param.u64 %d, [d];
        mov.u32 %t, %tid.x;
        mov.u32 %b, %ctaid.x;
        and.b32 %parity, %b, 1;
        shr.u32 %b, %b, 1;
        mad.lo.u32 %v, %b, 32, %t;
        mul.wide.u32 %o, %v, 4;
        add.u64 %d, %d, %o;
        and.b32 %v, %t, 1;
        setp.eq.u32 %p, %v, %parity;
        mov.u32 %i, 0;
      more:
        @%p ld.global.u32 %v, [%d];
        add.u32 %v, %v, 1;
        @%p st.global.u32 [%d], %v;
        add.u32 %i, %i, 1;
        setp.lt.u32 %q, %i, 500;
        @%q bra more;
        ret;
    }

    // Two threads synchronise with fences alone (Dekker): one of them must see the other.
    .visible .entry dekker(
        .param .u64 .ptr .global .align 4 d: &mut [u32],
        .param .u64 .ptr .global .align 4 both: &mut [u32],
        .param .u32 rounds)
        .reqntid 1
    {
        .reg .pred %p;
        .reg .b32 %b, %i, %n, %v, %other;
        .reg .b64 %d, %own, %peer, %both, %o;
        ld.param.u64 %d, [d];
        ld.param.u64 %both, [both];
        ld.param.u32 %n, [rounds];
        mov.u32 %b, %ctaid.x;
        xor.b32 %other, %b, 1;
        mul.wide.u32 %o, %b, 4;
        add.u64 %own, %d, %o;
        mul.wide.u32 %o, %other, 4;
        add.u64 %peer, %d, %o;
        mov.u32 %i, 0;
      round:
        st.relaxed.gpu.global.u32 [%own], 1;
        fence.sc.gpu;
        ld.relaxed.gpu.global.u32 %v, [%peer];
        setp.eq.u32 %p, %v, 0;
        @%p red.global.add.u32 [%both], 1;
        // both have looked: meet, clear, meet
        red.release.gpu.global.add.u32 [%both+4], 1;
        mad.lo.u32 %v, %i, 4, 2;
      meet:
        ld.acquire.gpu.global.u32 %other, [%both+4];
        setp.lt.u32 %p, %other, %v;
        @%p bra meet;
        setp.eq.u32 %p, %b, 0;
        ld.relaxed.gpu.global.u32 %other, [%both];
        @%p st.relaxed.gpu.global.u32 [%both], 0;
        @%p red.relaxed.gpu.global.max.u32 [%both+8], %other;
        st.relaxed.gpu.global.u32 [%own], 0;
        red.release.gpu.global.add.u32 [%both+4], 1;
        add.u32 %v, %v, 2;
      clear:
        ld.acquire.gpu.global.u32 %other, [%both+4];
        setp.lt.u32 %p, %other, %v;
        @%p bra clear;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %n;
        @%p bra round;
        ret;
    }
}

#[test]
fn all_sizes_at_one_place() {
    for n in THREADS {
        // at an odd address in a larger buffer, too
        for at in [64, 67] {
            let mut bytes: Vec<u8> = numbers(700).iter().map(|v| *v as u8).collect();
            let before = bytes.clone();
            let d = &mut bytes[at..at + 528];
            sizes.launch_raw(&Host::new().threads(n), Launch::grid(30).block(64), &mut [Arg::buffer(d)]).unwrap();
            assert_eq!((&bytes[..at], &bytes[at + 528..]), (&before[..at], &before[at + 528..]), "{n} threads");
        }
    }
}

#[test]
fn lanes_that_do_not_store_leave_memory_alone() {
    for n in THREADS {
        let mut d = vec![0u32; 8 * 32];
        every_other.launch(&Host::new().threads(n), Launch::grid(16), (&mut d,)).unwrap();
        assert_eq!(d, vec![500; 8 * 32], "{n} threads");
    }
}

#[test]
fn fences_keep_two_blocks_apart() {
    for n in THREADS {
        let (mut d, mut both) = ([0u32; 2], [0u32; 3]);
        dekker.launch(&Host::new().threads(n), Launch::grid(2), (&mut d, &mut both, 60)).unwrap();
        assert!(both[2] < 2, "{n} threads: neither saw the other");
    }
}
