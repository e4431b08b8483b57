//! Lanes of a warp that execute one `.sync` instruction at different statements. An H100 lets them meet if the instruction has the same
//! qualifiers and the members are the same; otherwise it hangs.

use ptx_dsl::prelude::*;

ptx! {
    <sm_90, ptx 8.0, allow(PTX0604)>
    // Even lanes exchange in one loop, odd ones in another, in which lanes part once more.
    .visible .entry exchanges(.param .u64 .ptr .global .align 4 out: &mut [u32], .param .u32 rounds)
    {
        .reg .pred %p, %odd, %last;
        .reg .b32 %t, %l, %v, %r, %i, %n, %members;
        .reg .b64 %o, %d;
        ld.param.u64 %o, [out];
        ld.param.u32 %n, [rounds];
        mov.u32 %t, %tid.x;
        mov.u32 %l, %laneid;
        mul.wide.u32 %d, %t, 4;
        add.u64 %o, %o, %d;
        mul.lo.u32 %v, %t, 7;
        mov.u32 %i, 0;
        and.b32 %r, %l, 1;
        setp.eq.u32 %odd, %r, 1;
        @%odd bra odd;
    even:
        shfl.sync.bfly.b32 %r, %v, 1, 31, -1;
        mad.lo.u32 %v, %v, 3, %r;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %n;
        @%p bra even;
        bra.uni done;
    odd:
        rem.u32 %r, %l, 3;
        setp.eq.u32 %p, %r, 0;
        @%p bra third;
        shfl.sync.bfly.b32 %r, %v, 1, 31, -1;
        mad.lo.u32 %v, %v, 5, %r;
        st.global.u32 [%o], %v;
        bra.uni next;
    third:
        mul.lo.u32 %v, %v, 11;
        shfl.sync.bfly.b32 %r, %v, 1, 31, -1;
        sub.u32 %v, %r, %v;
        st.global.u32 [%o], %r;
    next:
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %n;
        @%p bra odd;
    done:
        st.global.u32 [%o], %v;
        ret;
    }
    // The other instructions, each at two statements.
    .visible .entry others(.param .u64 .ptr .global .align 4 out: &mut [u32])
    {
        .reg .pred %p, %q, %odd;
        .reg .b32 %t, %a, %ballot, %same, %sum, %leader, %elected;
        .reg .b64 %o, %d;
        ld.param.u64 %o, [out];
        mov.u32 %t, %tid.x;
        mad.wide.u32 %o, %t, 20, %o;
        rem.u32 %a, %t, 3;
        setp.eq.u32 %p, %a, 0;
        and.b32 %a, %t, 1;
        setp.eq.u32 %odd, %a, 1;
        shr.u32 %a, %t, 2;
        @%odd bra odd;
        vote.sync.ballot.b32 %ballot, %p, -1;
        match.any.sync.b32 %same, %a, -1;
        redux.sync.add.u32 %sum, %t, -1;
        elect.sync %leader|%q, -1;
        selp.u32 %elected, 1, 0, %q;
        st.global.u32 [%o+16], %elected;
        bra.uni done;
    odd:
        vote.sync.ballot.b32 %ballot, !%p, -1;
        match.any.sync.b32 %same, %a, -1;
        mul.lo.u32 %t, %t, 100;
        redux.sync.add.u32 %sum, %t, -1;
        elect.sync %leader|%q, -1;
        selp.u32 %elected, 3, 2, %q;
        st.global.u32 [%o+16], %elected;
    done:
        st.global.u32 [%o], %ballot;
        st.global.u32 [%o+4], %same;
        st.global.u32 [%o+8], %sum;
        st.global.u32 [%o+12], %leader;
        ret;
    }
    // The lanes of each third of a warp exchange and synchronise, while the halves of the warp are at different statements.
    .visible .entry thirds(.param .u64 .ptr .global .align 4 out: &mut [u32])
    {
        .reg .pred %p;
        .reg .b32 %t, %l, %third, %members, %v, %r, %sum, %tile, %at;
        .reg .b64 %o;
        .shared .align 4 .u32 tile[96];
        ld.param.u64 %o, [out];
        mov.u32 %t, %tid.x;
        mov.u32 %l, %laneid;
        mad.wide.u32 %o, %t, 12, %o;
        rem.u32 %third, %l, 3;
        match.any.sync.b32 %members, %third, -1;
        mul.lo.u32 %v, %t, 7;
        mov.u32 %tile, tile;
        mad.lo.u32 %tile, %t, 4, %tile;
        sub.u32 %at, %l, %third;
        mul.lo.u32 %at, %at, 4;
        sub.u32 %at, %tile, %at;
        setp.lt.u32 %p, %l, 16;
        @%p bra low;
        shfl.sync.idx.b32 %r, %v, %third, 31, %members;
        redux.sync.add.u32 %sum, %v, %members;
        st.shared.u32 [%tile], %r;
        bar.warp.sync %members;
        bra.uni done;
    low:
        add.u32 %v, %v, 1;
        shfl.sync.idx.b32 %r, %v, %third, 31, %members;
        redux.sync.add.u32 %sum, %v, %members;
        st.shared.u32 [%tile], %v;
        bar.warp.sync %members;
    done:
        ld.shared.u32 %v, [%at];
        bar.warp.sync %members;
        st.global.u32 [%o], %r;
        st.global.u32 [%o+4], %sum;
        st.global.u32 [%o+8], %v;
        ret;
    }
}

/// What the lanes of a warp compute, whose first thread is `first`.
fn exchanged(first: u32, lanes: u32, rounds: u32) -> Vec<u32> {
    let mut v: Vec<u32> = (first..first + lanes).map(|t| t * 7).collect();
    for _ in 0..rounds {
        for l in (3..v.len()).step_by(6) {
            v[l] = v[l].wrapping_mul(11);
        }
        let old = v.clone();
        for (l, v) in v.iter_mut().enumerate() {
            // a lane that the warp does not have reads as 0
            let r = old.get(l ^ 1).copied().unwrap_or(0);
            *v = match (l % 2, l % 3) {
                (0, _) => v.wrapping_mul(3).wrapping_add(r),
                (_, 0) => r.wrapping_sub(*v),
                _ => v.wrapping_mul(5).wrapping_add(r),
            };
        }
    }
    v
}

fn expected(threads: u32, rounds: u32) -> Vec<u32> {
    (0..threads).step_by(32).flat_map(|first| exchanged(first, (threads - first).min(32), rounds)).collect()
}

#[test]
fn shuffles_at_several_statements() {
    for (threads, rounds) in [(32, 1), (32, 6), (19, 3), (96, 4), (80, 5)] {
        let launch = Launch::grid(1).block(threads);
        let mut out = vec![0; threads as usize];
        exchanges.launch(&Host::new(), launch.clone(), (&mut out, rounds)).unwrap();
        assert_eq!(out, expected(threads, rounds), "{threads} threads, {rounds} rounds");
        for seed in 0..8 {
            let mut out = vec![0; threads as usize];
            exchanges.launch(&Host::new().seed(seed), launch.clone(), (&mut out, rounds)).unwrap();
            assert_eq!(out, expected(threads, rounds), "seed {seed}");
        }
        let mut out = vec![0; threads as usize];
        exchanges.launch(&Host::checked(), launch, (&mut out, rounds)).unwrap();
        assert_eq!(out, expected(threads, rounds), "checked");
    }
}

#[test]
fn other_instructions_at_two_statements() {
    for host in (0..4).map(|seed| Host::new().seed(seed)).chain([Host::new()]) {
        let mut out = [0u32; 160];
        others.launch(&host, Launch::grid(1).block(32), (&mut out,)).unwrap();
        let ballot = (0..32).filter(|t| (t % 3 == 0) != (t % 2 == 1)).fold(0u32, |m, t| m | 1 << t);
        let sum: u32 = (0..32).map(|t| if t % 2 == 1 { 100 * t } else { t }).sum();
        for t in 0..32u32 {
            let elected = if t == 0 { 1 } else { (t % 2) * 2 };
            let words = [ballot, 15 << (t / 4 * 4), sum, 0, elected];
            assert_eq!(out[t as usize * 5..][..5], words, "thread {t}");
        }
    }
}

/// Lanes of one warp that name different members do not wait for each other.
#[test]
fn groups_with_members_of_their_own() {
    for threads in [32u32, 41, 96] {
        let expected = (0..threads).flat_map(|t| {
            let warp = t / 32 * 32;
            let v = |l: u32| (warp + l) * 7 + u32::from(l < 16);
            let third = t % 32 % 3;
            let sum = (0..32.min(threads - warp)).filter(|l| l % 3 == third).map(v).sum();
            [v(third), sum, v(third)]
        });
        let expected: Vec<u32> = expected.collect();
        let run = |host: &Host<_>| {
            let mut out = vec![0; expected.len()];
            thirds.launch(host, Launch::grid(1).block(threads), (&mut out,)).map(|_| out).unwrap()
        };
        for seed in 0..8 {
            assert_eq!(run(&Host::checked().seed(seed)), expected, "{threads} threads, seed {seed}");
        }
        assert_eq!(run(&Host::checked()), expected, "{threads} threads");
        let mut out = vec![0; expected.len()];
        thirds.launch(&Host::new(), Launch::grid(1).block(threads), (&mut out,)).unwrap();
        assert_eq!(out, expected, "{threads} threads, plain");
    }
}

/// Another mode of the shuffle, or another instruction.
#[test]
fn different_instructions_do_not_meet() {
    let k = ptx!(<sm_90, ptx 8.0, allow(PTX0604)> || {
        .reg .pred %p;
        .reg .b32 %t, %r;
        mov.u32 %t, %tid.x;
        setp.lt.u32 %p, %t, 16;
        @%p bra low;
        shfl.sync.bfly.b32 %r, %t, 1, 31, -1;
        bra.uni done;
    low:
        shfl.sync.idx.b32 %r, %t, 1, 31, -1;
    done:
        ret;
    });
    let error = k.launch(&Host::new(), Launch::grid(1).block(32), ()).unwrap_err().to_string();
    assert!(
        error.contains("deadlock") && error.contains("shfl.sync.idx") && error.contains("shfl.sync.bfly"),
        "{error}"
    );
}

/// A lane waits until those that it names name the same. An H100 does this too.
#[test]
fn members_that_agree_later() {
    let k = ptx!(<sm_90, ptx 8.0> |out: &mut [u32], rounds: u32| {
        .reg .pred %p;
        .reg .b32 %t, %v, %r, %members, %left;
        .reg .b64 %d, %o;
        ld.param.u64 %d, [out];
        ld.param.u32 %left, [rounds];
        mov.u32 %t, %tid.x;
        // thread 1 first runs by itself, so many times
        setp.eq.u32 %p, %t, 0;
        selp.u32 %members, 3, 2, %p;
        mad.lo.u32 %v, %t, 10, 5;
    again:
        redux.sync.add.u32 %r, %v, %members;
        setp.eq.u32 %p, %members, 3;
        @%p bra done;
        add.u32 %v, %v, 100;
        sub.u32 %left, %left, 1;
        setp.ne.u32 %p, %left, 0;
        selp.u32 %members, 2, 3, %p;
        bra.uni again;
    done:
        mul.wide.u32 %o, %t, 4;
        add.u64 %d, %d, %o;
        st.global.u32 [%d], %r;
        ret;
    });
    for rounds in [1, 3] {
        let run = |host: &Host<_>| {
            let mut out = [0u32; 2];
            k.launch(host, Launch::grid(1).block(2), (&mut out, rounds)).map(|_| out).unwrap()
        };
        for seed in 0..8 {
            assert_eq!(run(&Host::checked().seed(seed)), [20 + 100 * rounds; 2], "seed {seed}");
        }
        let mut out = [0u32; 2];
        k.launch(&Host::new(), Launch::grid(1).block(2), (&mut out, rounds)).unwrap();
        assert_eq!(out, [20 + 100 * rounds; 2]);
    }
}

/// Lane 0 names lane 1, which names only itself and then waits for something else.
#[test]
fn members_that_never_agree() {
    let k = ptx!(<sm_90, ptx 8.0> || {
        .reg .pred %p, %q;
        .reg .b32 %t, %members;
        mov.u32 %t, %tid.x;
        setp.eq.u32 %p, %t, 0;
        selp.u32 %members, 3, 2, %p;
        vote.sync.any.pred %q, %p, %members;
        @!%p bar.warp.sync 3;
        ret;
    });
    let error = k.launch(&Host::new(), Launch::grid(1).block(2), ()).unwrap_err().to_string();
    assert!(
        error.contains("deadlock") && error.contains("lane 1 was there with the member mask 0x00000002"),
        "{error}"
    );
}
