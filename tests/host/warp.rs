//! Warp-wide instructions.

use ptx_dsl::Engine;
use ptx_dsl::prelude::*;

#[test]
fn shuffles_sum_a_warp() {
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .pred %p;
        .reg .b32 %i, %v, %t;
        .reg .b64 %pd, %o;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        ld.global.u32 %v, [%pd];
        shfl.sync.bfly.b32 %t, %v, 16, 31, 0xffffffff;
        add.u32 %v, %v, %t;
        shfl.sync.bfly.b32 %t, %v, 8, 31, 0xffffffff;
        add.u32 %v, %v, %t;
        shfl.sync.bfly.b32 %t, %v, 4, 31, 0xffffffff;
        add.u32 %v, %v, %t;
        shfl.sync.bfly.b32 %t, %v, 2, 31, 0xffffffff;
        add.u32 %v, %v, %t;
        shfl.sync.bfly.b32 %t, %v, 1, 31, 0xffffffff;
        add.u32 %v, %v, %t;
        shfl.sync.up.b32 %t|%p, %i, 3, 0, 0xffffffff;
        @%p add.u32 %v, %v, %t;
        st.global.u32 [%pd], %v;
    });
    let mut d: Vec<u32> = (0..64).map(|i| i * i).collect();
    k.launch(&Host::new(), Launch::grid(1).block(64), (&mut d,)).unwrap();
    for w in 0..2u32 {
        let sum: u32 = (w * 32..w * 32 + 32).map(|i| i * i).sum();
        for l in 0..32 {
            let t = w * 32 + l;
            assert_eq!(d[t as usize], sum + if l >= 3 { t - 3 } else { 0 });
        }
    }
}

#[test]
fn votes_matches_and_reductions_see_the_members() {
    let k = ptx!(<sm_90, ptx 8.0, allow(PTX0604)> |d: &mut [u32]| {
        .reg .pred %p, %q, %e;
        .reg .b32 %i, %v, %b, %m, %r, %l;
        .reg .b64 %pd, %o;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %laneid;
        mul.wide.u32 %o, %i, 16;
        add.u64 %pd, %pd, %o;
        and.b32 %v, %i, 3;
        setp.eq.u32 %p, %v, 1;
        vote.sync.ballot.b32 %b, %p, 0xffffffff;
        match.any.sync.b32 %m, %v, 0xffffffff;
        redux.sync.add.u32 %r, %i, 0xffffffff;
        mov.b32 %l, 0xfffffff0;
        elect.sync %l|%e, %l;
        selp.u32 %l, 99, %l, %e;
        st.global.v4.u32 [%pd], {%b, %m, %r, %l};
    });
    // Lanes 0 to 3 are not members of the election: run it with all lanes that are.
    let mut d = vec![0u32; 128];
    let error = k.launch(&Host::new(), Launch::grid(1).block(32), (&mut d,)).unwrap_err();
    assert!(error.to_string().contains("member mask"), "{error}");

    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .pred %p, %e;
        .reg .b32 %i, %v, %b, %m, %r, %l;
        .reg .b64 %pd, %o;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %laneid;
        mul.wide.u32 %o, %i, 16;
        add.u64 %pd, %pd, %o;
        and.b32 %v, %i, 3;
        setp.eq.u32 %p, %v, 1;
        vote.sync.ballot.b32 %b, %p, 0xffffffff;
        match.any.sync.b32 %m, %v, 0xffffffff;
        redux.sync.add.u32 %r, %i, 0xffffffff;
        elect.sync %l|%e, 0xffffffff;
        selp.u32 %l, 99, %l, %e;
        st.global.v4.u32 [%pd], {%b, %m, %r, %l};
    });
    k.launch(&Host::new(), Launch::grid(1).block(32), (&mut d,)).unwrap();
    for l in 0..32 {
        let elected = if l == 0 { 99 } else { 0 };
        assert_eq!(d[4 * l..4 * l + 4], [0x2222_2222, 0x1111_1111 << (l % 4), 496, elected]);
    }
}

#[test]
fn one_elected_lane_branches_again() {
    // Lanes converge and diverge: `elect.sync` runs together with the following branch for a whole warp, and in a partial one
    // that branch runs with the elected lane's code.
    let k = ptx!(<sm_90, ptx 8.0> |n: u32, d: &mut [u32]| {
        .shared .align 8 .b64 bar;
        .reg .pred %p, %leader;
        .reg .b32 %i, %n, %v;
        .reg .b64 %pd, %o, %s;
        ld.param.u64 %pd, [d];
        ld.param.u32 %n, [n];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        mov.u32 %v, 0;
        setp.ne.u32 %p, %i, 0;
        @%p bra ready;
        mbarrier.init.shared.b64 [bar], 1;
    ready:
        bar.warp.sync 0xffffffff;
        and.b32 %i, %i, 1;
        setp.ne.u32 %p, %i, 0;
        @%p bra odd;
        add.u32 %v, %v, 7;
    odd:
        elect.sync _|%leader, 0xffffffff;
        @!%leader bra done;
        add.u32 %v, %v, 100;
        setp.eq.u32 %p, %n, 0;
        @%p bra done;
        mbarrier.arrive.shared.b64 %s, [bar];
    wait:
        mbarrier.try_wait.parity.shared.b64 %p, [bar], 0;
        @!%p bra wait;
        add.u32 %v, %v, 1000;
    again:
        sub.u32 %n, %n, 1;
        add.u32 %v, %v, %n;
        setp.ne.u32 %p, %n, 0;
        @%p bra again;
    done:
        st.global.u32 [%pd], %v;
    });
    for n in [0, 3] {
        let mut d = vec![0u32; 32];
        k.launch(&Host::new(), Launch::grid(1).block(32), (n, &mut d)).unwrap();
        let elected = if n == 0 { 100 } else { 1100 + 2 + 1 };
        let want: Vec<u32> =
            (0..32).map(|l| if l % 2 == 0 { 7 } else { 0 } + if l == 0 { elected } else { 0 }).collect();
        assert_eq!(d, want);
    }
}

#[test]
fn movmatrix_transposes() {
    let k = ptx!(<sm_75, ptx 7.8> |d: &mut [u32]| {
        .reg .b32 %i, %v;
        .reg .b64 %pd;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %laneid;
        mad.wide.u32 %pd, %i, 4, %pd;
        ld.global.u32 %v, [%pd];
        movmatrix.sync.aligned.m8n8.trans.b16 %v, %v;
        st.global.u32 [%pd], %v;
    });
    let mut matrix = [[0u16; 8]; 8];
    for (i, element) in matrix.as_flattened_mut().iter_mut().enumerate() {
        *element = (i as u16 + 1) * 1009;
    }
    // Two neighbours of a row in each word.
    let mut words: [u32; 32] =
        std::array::from_fn(|l| u32::from(matrix[l / 4][l % 4 * 2]) | u32::from(matrix[l / 4][l % 4 * 2 + 1]) << 16);
    k.launch(&Host::new(), Launch::grid(1).block(32), (&mut words[..],)).unwrap();
    for (l, word) in words.into_iter().enumerate() {
        let [low, high] = [0, 1].map(|c| matrix[l % 4 * 2 + c][l / 4]);
        assert_eq!(word, u32::from(low) | u32::from(high) << 16, "lane {l}");
    }
}

#[test]
fn ldmatrix_loads_rows_and_columns() {
    // Four matrices of 8x8 halves one after the other; those of `.x2` are the last two, by addresses in any order.
    let k = ptx!(<sm_75, ptx 7.8> |d: &mut [u32]| .reqntid 32 {
        .reg .b32 %i, %r<8>, %at, %row;
        .reg .b64 %pd, %o;
        .shared .align 16 .b32 tile[128];
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mad.wide.u32 %o, %i, 16, %pd;
        ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%o];
        mov.u32 %at, tile;
        mad.lo.u32 %row, %i, 16, %at;
        st.shared.v4.u32 [%row], {%r0, %r1, %r2, %r3};
        bar.sync 0;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%row];
        // Lane 0 has row 31, lane 1 row 30, ...
        sub.u32 %i, 31, %i;
        mad.lo.u32 %row, %i, 16, %at;
        ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r4, %r5}, [%row];
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%row];
        sub.u32 %i, 31, %i;
        mad.wide.u32 %o, %i, 28, %pd;
        st.global.u32 [%o], %r0;
        st.global.u32 [%o + 4], %r1;
        st.global.u32 [%o + 8], %r2;
        st.global.u32 [%o + 12], %r3;
        st.global.u32 [%o + 16], %r4;
        st.global.u32 [%o + 20], %r5;
        st.global.u32 [%o + 24], %r6;
    });
    let half = |row: usize, column: usize| (row * 8 + column + 1) as u32 * 251;
    let mut d: Vec<u32> = vec![0; 7 * 32];
    for row in 0..32 {
        for word in 0..4 {
            d[4 * row + word] = half(row, 2 * word) | half(row, 2 * word + 1) << 16;
        }
    }
    k.launch(&Host::new(), Launch::grid(1).block(32), (&mut d[..],)).unwrap();
    for l in 0..32 {
        let (row, column) = (l / 4, l % 4 * 2);
        let plain = |m: usize| half(8 * m + row, column) | half(8 * m + row, column + 1) << 16;
        // Row r of matrix m is row 31 - 8m - r of memory.
        let turned = |m: usize| half(31 - 8 * m - column, row) | half(31 - 8 * m - column - 1, row) << 16;
        let last = half(31 - row, column) | half(31 - row, column + 1) << 16;
        let want = [plain(0), plain(1), plain(2), plain(3), turned(0), turned(1), last];
        assert_eq!(d[7 * l..7 * l + 7], want, "lane {l}");
    }
}

ptx! {
    <sm_90, ptx 8.0, compiled, allow(PTX0687)>
    // What each lane below a limit reads from the lane a distance away; the mask names the lanes below the limit.
    .visible .entry strays(
        .param .u64 .ptr .global .align 4 d: &mut [u32],
        .param .u32 limit,
        .param .u32 distance)
    {
        .reg .pred %p;
        .reg .b32 %i, %v, %limit, %distance, %mask;
        .reg .b64 %d;
        ld.param.u64 %d, [d];
        ld.param.u32 %limit, [limit];
        ld.param.u32 %distance, [distance];
        mov.u32 %i, %tid.x;
        mad.wide.u32 %d, %i, 4, %d;
        add.u32 %v, %i, 100;
        setp.ge.u32 %p, %i, %limit;
        @%p bra done;
        shl.b32 %mask, 1, %limit;
        sub.u32 %mask, %mask, 1;
        shfl.sync.down.b32 %v, %v, %distance, 31, %mask;
        st.global.u32 [%d], %v;
    done:
        ret;
    }
}

/// A value from a lane that the mask does not name is undefined; the host gives 0, as an H200 does for a lane that does not exist.
#[test]
fn lanes_outside_of_the_mask_read_as_0() {
    for engine in [Engine::Compiled, Engine::Interpreted] {
        for block in [32, 16] {
            let mut d = [1u32; 32];
            let launch = Launch::grid(1).block(block);
            strays.launch(&Host::new().engine(engine), launch, (&mut d, 8, 4)).unwrap();
            let expected: [u32; 32] = std::array::from_fn(|l| match l as u32 {
                l @ 0..4 => 104 + l,
                4..8 => 0,
                _ => 1,
            });
            assert_eq!(d, expected, "{engine:?}");
        }
    }
}
