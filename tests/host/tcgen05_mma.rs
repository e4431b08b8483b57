//! `tcgen05.mma` is asynchronous: a thread that reads D too early sees the old data, and the checked host reports it, and
//! unwritten shared memory that the tensor core reads.

use ptx_dsl::Error;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;

ptx! {
    <sm_100a, ptx 8.6, allow(PTX0604), allow(PTX0605), allow(PTX0608)>

    // A of 128 x 16 ones, B of 8 x 16 halves: D = 8 everywhere. Fills A and B only up to a number of bytes; reads D before the
    // product is done, on request, and after.
    .visible .entry multiply(
        .param .u64 .ptr .global .align 4 early: &mut [f32],
        .param .u64 .ptr .global .align 4 late: &mut [f32],
        .param .u32 peek,
        .param .u32 fill_a,
        .param .u32 fill_b) .reqntid 128
    {
        .reg .pred %p, %leader;
        .reg .b32 %t, %warp, %tmem, %at, %n, %row, %v<8>;
        .reg .b64 %out, %o, %adesc, %bdesc;
        .shared .align 128 .b8 a[4096];
        .shared .align 128 .b8 b[256];
        .shared .align 8 .b64 done;
        .shared .align 4 .b32 tensor;

        mov.u32 %t, %tid.x;
        shr.u32 %warp, %t, 5;
        setp.ne.u32 %p, %warp, 0;
        @%p bra allocated;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tensor], 32;
      allocated:
        setp.eq.u32 %leader, %t, 0;
        @%leader mbarrier.init.shared::cta.b64 [done], 1;
        mov.u32 %v0, 0x3c003c00;
        mul.lo.u32 %at, %t, 4;
        ld.param.u32 %n, [fill_a];
      fillA:
        setp.ge.u32 %p, %at, %n;
        @%p bra filledA;
        mov.u32 %row, a;
        add.u32 %row, %row, %at;
        st.shared.u32 [%row], %v0;
        add.u32 %at, %at, 512;
        bra fillA;
      filledA:
        mov.u32 %v0, 0x38003800;
        mul.lo.u32 %at, %t, 4;
        ld.param.u32 %n, [fill_b];
        setp.ge.u32 %p, %at, %n;
        @%p bra filledB;
        mov.u32 %row, b;
        add.u32 %row, %row, %at;
        st.shared.u32 [%row], %v0;
      filledB:
        fence.proxy.async.shared::cta;
        bar.sync 0;
        ld.shared.u32 %tmem, [tensor];

        @!%leader bra issued;
        mov.u32 %at, a;
        shr.u32 %at, %at, 4;
        cvt.u64.u32 %adesc, %at;
        or.b64 %adesc, %adesc, 0x0000401000080000;      // 128 bytes to the next 8 columns, 256 to the next 8 rows
        mov.u32 %at, b;
        shr.u32 %at, %at, 4;
        cvt.u64.u32 %bdesc, %at;
        or.b64 %bdesc, %bdesc, 0x0000401000080000;
        mov.u32 %n, 0x08020010;                         // f16 * f16 to f32, N = 8, M = 128
        setp.ne.u32 %p, %n, %n;
        tcgen05.mma.cta_group::1.kind::f16 [%tmem], %adesc, %bdesc, %n, %p;
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
      issued:
        shl.b32 %row, %warp, 21;
        add.u32 %row, %tmem, %row;
        mul.wide.u32 %o, %t, 32;
        ld.param.u32 %n, [peek];
        setp.eq.u32 %p, %n, 0;
        @%p bra wait;
        tcgen05.ld.sync.aligned.32x32b.x8.b32 {%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7}, [%row];
        tcgen05.wait::ld.sync.aligned;
        ld.param.u64 %out, [early];
        add.u64 %out, %out, %o;
        st.global.v4.b32 [%out], {%v0, %v1, %v2, %v3};
        st.global.v4.b32 [%out+16], {%v4, %v5, %v6, %v7};

      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [done], 0;
        @!%p bra wait;
        tcgen05.fence::after_thread_sync;
        tcgen05.ld.sync.aligned.32x32b.x8.b32 {%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7}, [%row];
        tcgen05.wait::ld.sync.aligned;
        ld.param.u64 %out, [late];
        add.u64 %out, %out, %o;
        st.global.v4.b32 [%out], {%v0, %v1, %v2, %v3};
        st.global.v4.b32 [%out+16], {%v4, %v5, %v6, %v7};
        tcgen05.fence::before_thread_sync;
        bar.sync 0;
        setp.ne.u32 %p, %warp, 0;
        @%p bra end;
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 32;
      end:
        ret;
    }
}

ptx! {
    <sm_107a, ptx 9.4>

    // Integers of 12 bits. A is in Tensor Memory, and its rows move when the product is done: row 0 is then the old row 1.
    .visible .entry integers(.param .u64 .ptr .global .align 4 d: &mut [i32], .param .u64 .ptr .global .align 4 a: &mut [u32])
        .reqntid 128
    {
        .reg .pred %p, %leader;
        .reg .b32 %t, %warp, %tmem, %at, %n, %row, %arow, %v<8>;
        .reg .b64 %out, %o, %bdesc;
        .shared .align 128 .b8 b[512];
        .shared .align 8 .b64 done;
        .shared .align 4 .b32 tensor;

        mov.u32 %t, %tid.x;
        shr.u32 %warp, %t, 5;
        setp.ne.u32 %p, %warp, 0;
        @%p bra allocated;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tensor], 32;
      allocated:
        setp.eq.u32 %leader, %t, 0;
        @%leader mbarrier.init.shared::cta.b64 [done], 1;
        mov.u32 %at, b;
        mad.lo.u32 %at, %t, 4, %at;
        st.shared.u32 [%at], 0x07ff07ff;
        fence.proxy.async.shared::cta;
        tcgen05.fence::before_thread_sync;
        bar.sync 0;
        tcgen05.fence::after_thread_sync;
        ld.shared.u32 %tmem, [tensor];
        shl.b32 %row, %warp, 21;
        add.u32 %row, %tmem, %row;
        add.u32 %arow, %row, 16;
        // row t of A: -t, 16 times
        mov.u32 %at, 0x80008000;
        or.b32 %at, %at, %t;
        shl.b32 %n, %t, 16;
        or.b32 %at, %at, %n;
        tcgen05.st.sync.aligned.32x32b.x8.b32 [%arow], {%at, %at, %at, %at, %at, %at, %at, %at};
        tcgen05.wait::st.sync.aligned;
        tcgen05.fence::before_thread_sync;
        bar.sync 0;
        @!%leader bra wait;
        tcgen05.fence::after_thread_sync;
        mov.u32 %at, b;
        shr.u32 %at, %at, 4;
        cvt.u64.u32 %bdesc, %at;
        or.b64 %bdesc, %bdesc, 0x0000401000080000;
        mov.u32 %n, 0x08040da0;                         // S32, s1z4m11 twice, N = 16, M = 128
        setp.ne.u32 %p, %n, %n;
        add.u32 %at, %tmem, 16;
        tcgen05.mma.cta_group::1.kind::ti16.ashift [%tmem], [%at], %bdesc, %n, %p;
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [done], 0;
        @!%p bra wait;
        tcgen05.fence::after_thread_sync;
        mul.wide.u32 %o, %t, 4;
        tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%row];
        tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v1}, [%arow];
        tcgen05.wait::ld.sync.aligned;
        ld.param.u64 %out, [d];
        add.u64 %out, %out, %o;
        st.global.b32 [%out], %v0;
        ld.param.u64 %out, [a];
        add.u64 %out, %out, %o;
        st.global.b32 [%out], %v1;
        tcgen05.fence::before_thread_sync;
        bar.sync 0;
        setp.ne.u32 %p, %warp, 0;
        @%p bra end;
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 32;
      end:
        ret;
    }
}

const BYTES: (u32, u32) = (4096, 256);

type Results = (Vec<f32>, Vec<f32>);

#[test]
fn a_product_arrives_when_its_commit_does() {
    let run = |host: &Host, peek: u32| {
        let (mut early, mut late) = (vec![7.0; 1024], vec![7.0; 1024]);
        multiply.launch(host, Launch::grid(1).block(128), (&mut early[..], &mut late[..], peek, BYTES.0, BYTES.1))?;
        Ok::<Results, Error>((early, late))
    };
    let results = Host::new().explore(32).run(|host| run(host, 0)).unwrap();
    assert!(results.iter().all(|(_, late)| *late == vec![8.0; 1024]));
    let (early, late) = run(&Host::new(), 1).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((early, late), (vec![0.0; 1024], vec![8.0; 1024]));
}

fn checked(peek: u32, a: u32, b: u32) -> Result<Report, Error> {
    let (mut early, mut late) = (vec![7.0; 1024], vec![7.0; 1024]);
    multiply.launch(&Host::checked(), Launch::grid(1).block(128), (&mut early[..], &mut late[..], peek, a, b))
}

#[test]
fn the_checked_host_sees_who_does_not_wait() {
    checked(0, BYTES.0, BYTES.1).unwrap_or_else(|e| panic!("{e}"));
    let text = checked(1, BYTES.0, BYTES.1).unwrap_err().to_string();
    for part in [
        "columns 0 to 7 of Tensor Memory",
        "write by `tcgen05.mma`",
        "tcgen05.mma.cta_group::1.kind::f16",
        "tcgen05.ld.sync",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn the_checked_host_sees_what_nobody_has_written() {
    // the first byte that nothing has written
    for (a, b, addr) in [(4092, 256, 4092), (4096, 0, 4096), (0, 256, 0)] {
        let Err(Error::Fault(fault)) = checked(0, a, b) else { panic!("no fault for {a}, {b}") };
        assert_eq!(fault.kind, FaultKind::Uninitialised { space: "shared", addr }, "{fault}");
        assert!(fault.at.as_ref().is_some_and(|at| at.text.starts_with("tcgen05.mma")), "{fault}");
        assert!(fault.thread.is_some(), "{fault}");
    }
    // one column of padding, which a vector of four stores with three others
    checked(0, 4096, 252).unwrap_or_else(|e| panic!("{e}"));
    // the plain host reads zeros
    let (mut early, mut late) = (vec![7.0; 1024], vec![7.0; 1024]);
    multiply.launch(&Host::new(), Launch::grid(1).block(128), (&mut early[..], &mut late[..], 0, 0, 0)).unwrap();
    assert_eq!(late, vec![0.0; 1024]);
}

#[test]
fn integers_of_12_bits_and_rows_that_move() {
    for host in [Host::new(), Host::new().seed(3)] {
        let (mut d, mut a) = (vec![7i32; 128], vec![7u32; 128]);
        integers.launch(&host, Launch::grid(1).block(128), (&mut d[..], &mut a[..])).unwrap();
        for t in 0..128i32 {
            assert_eq!(d[t as usize], -t * 2047 * 16, "row {t}");
            // the last row of each warp stays
            let from = if t % 32 == 31 { t } else { t + 1 } as u32;
            assert_eq!(a[t as usize], 0x8000_8000 | from << 16 | from, "row {t}");
        }
    }
}
