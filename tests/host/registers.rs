//! Every special register (PTX ISA 10), parameters by value, and static shared memory of several kernels.

use ptx_dsl::prelude::*;

mod sregs {
    ptx_dsl::ptx! {
    <sm_100a, ptx 9.0>
    .extern .shared .b8 more[];
    .visible .entry sregs(.param .u64 .ptr .global .align 8 out: &mut [u32], .param .u32 rank, .param .u32 thread) .explicitcluster .reqnctapercluster 2, 1, 1 {
        .shared .align 4 .b8 fixed[100];
        .reg .b32 r, x; .reg .b64 p, q; .reg .pred s, e; .reg .b16 q16; .reg .v4 .b32 v;
        mov.u32 x, fixed;
        st.shared.u8 [more], 1;
        // linear thread id and cta
        mov.u32 r, %ctaid.y; mov.u32 x, %nctaid.x; mad.lo.u32 r, r, x, 0; mov.u32 x, %ctaid.x; add.u32 r, r, x;
        ld.param.u32 x, [rank]; setp.ne.u32 s, r, x; @s ret;
        mov.u32 r, %tid.y; mov.u32 x, %ntid.x; mul.lo.u32 r, r, x; mov.u32 x, %tid.x; add.u32 r, r, x;
        ld.param.u32 x, [thread]; setp.ne.u32 s, r, x; @s ret;
        ld.param.u64 p, [out];
        mov.u32 r, %tid.x; st.global.u32 [p], r; mov.u32 r, %tid.y; st.global.u32 [p+4], r; mov.u32 r, %tid.z;
        st.global.u32 [p+8], r;
        mov.u32 r, %ntid.x; st.global.u32 [p+12], r; mov.u32 r, %ntid.y; st.global.u32 [p+16], r;
        mov.u32 r, %ntid.z; st.global.u32 [p+20], r;
        mov.u32 r, %laneid; st.global.u32 [p+24], r; mov.u32 r, %warpid; st.global.u32 [p+28], r;
        mov.u32 r, %nwarpid; st.global.u32 [p+32], r;
        mov.u32 r, %ctaid.x; st.global.u32 [p+36], r; mov.u32 r, %ctaid.y; st.global.u32 [p+40], r;
        mov.u32 r, %ctaid.z; st.global.u32 [p+44], r;
        mov.u32 r, %nctaid.x; st.global.u32 [p+48], r; mov.u32 r, %nctaid.y; st.global.u32 [p+52], r;
        mov.u32 r, %nctaid.z; st.global.u32 [p+56], r;
        mov.pred e, %is_explicit_cluster; selp.u32 r, 1, 0, e; st.global.u32 [p+60], r;
        mov.u32 r, %clusterid.x; st.global.u32 [p+64], r; mov.u32 r, %clusterid.y; st.global.u32 [p+68], r;
        mov.u32 r, %nclusterid.x; st.global.u32 [p+72], r; mov.u32 r, %nclusterid.y; st.global.u32 [p+76], r;
        mov.u32 r, %nclusterid.z; st.global.u32 [p+80], r;
        mov.u32 r, %cluster_ctaid.x; st.global.u32 [p+84], r; mov.u32 r, %cluster_ctaid.y; st.global.u32 [p+88], r;
        mov.u32 r, %cluster_nctaid.x; st.global.u32 [p+92], r; mov.u32 r, %cluster_nctaid.y; st.global.u32 [p+96], r;
        mov.u32 r, %cluster_ctarank; st.global.u32 [p+100], r; mov.u32 r, %cluster_nctarank;
        st.global.u32 [p+104], r;
        mov.u32 r, %lanemask_eq; st.global.u32 [p+108], r; mov.u32 r, %lanemask_le; st.global.u32 [p+112], r;
        mov.u32 r, %lanemask_lt; st.global.u32 [p+116], r; mov.u32 r, %lanemask_ge; st.global.u32 [p+120], r;
        mov.u32 r, %lanemask_gt; st.global.u32 [p+124], r;
        mov.u32 r, %dynamic_smem_size; st.global.u32 [p+128], r; mov.u32 r, %total_smem_size;
        st.global.u32 [p+132], r; mov.u32 r, %aggr_smem_size; st.global.u32 [p+136], r;
        mov.u32 r, WARP_SZ; st.global.u32 [p+140], r;
        mov.u32 r, %smid; mov.u32 x, %nsmid; setp.lt.u32 s, r, x; selp.u32 r, 1, 0, s; st.global.u32 [p+144], r;
        mov.u64 q, %gridid; mov.u32 r, %clock; mov.u32 x, %clock_hi; mov.u64 q, %clock64;
        mov.u64 q, %globaltimer; mov.u32 r, %globaltimer_lo; mov.u32 r, %globaltimer_hi;
        mov.u32 r, %pm0; mov.u32 r, %pm7; mov.u64 q, %pm0_64; mov.u64 q, %pm7_64; mov.u32 r, %envreg0;
        mov.b32 r, %envreg31;
        mov.b32 r, %reserved_smem_offset_begin; mov.b32 r, %reserved_smem_offset_end;
        mov.b32 r, %reserved_smem_offset_cap; mov.b32 r, %reserved_smem_offset_0;
        mov.b32 r, %reserved_smem_offset_1;
        mov.u64 q, %current_graph_exec;
        mov.v4.u32 v, %tid; mov.u32 r, v.x; st.global.u32 [p+148], r;
        ret;
    }
    }
}

#[test]
fn special_registers_of_one_thread() {
    // Thread (5, 1) of 40 x 2, CTA (3, 1) of 4 x 2, clusters of 2 x 1.
    let mut o = [0u32; 38];
    let launch = Launch::grid((4, 2)).block((40, 2)).dynamic_shared(50);
    sregs::sregs.launch(&Host::checked(), launch, (&mut o, 7, 45)).unwrap();
    assert_eq!(o[..9], [5, 1, 0, 40, 2, 1, 13, 1, 3], "%tid, %ntid, %laneid, %warpid, %nwarpid");
    assert_eq!(o[9..15], [3, 1, 0, 4, 2, 1], "%ctaid, %nctaid");
    assert_eq!(o[15..27], [1, 1, 1, 2, 2, 1, 1, 0, 2, 1, 1, 2], "those of the cluster");
    let (eq, lt) = (1u32 << 13, (1u32 << 13) - 1);
    assert_eq!(o[27..32], [eq, eq | lt, lt, !lt, !(eq | lt)], "%lanemask_eq, _le, _lt, _ge, _gt");
    // 100 bytes of static shared memory, dynamic memory begins at a multiple of 16.
    // Behind it is reserved memory, as much as on an H100.
    assert_eq!(o[32..], [50, 162, 176 + 288, 32, 1, 5], "sizes of shared memory, WARP_SZ, %smid < %nsmid, %tid.x");
}

mod raw {
    ptx_dsl::ptx! {
    <sm_100a, ptx 9.0>
    .shared .b8 big[40000];
    .shared .b8 big2[40000];
    .visible .entry byvalue(.param .u64 out, .param .align 64 .b8 map[128], .param .align 8 .b8 s[24], .param .f32 f, .param .u8 b) {
        .reg .b64 p, q; .reg .b32 r; .reg .f32 x; .reg .b16 h;
        ld.param.u64 p, [out]; ld.param.u64 q, [map+120]; st.global.u64 [p], q;
        ld.param.u64 q, [s+8];
        st.global.u64 [p+8], q; ld.param.f32 x, [f]; st.global.f32 [p+16], x; ld.param.u8 r, [b];
        st.global.u32 [p+20], r;
        mov.u64 q, map; cvta.param.u64 q, q; ld.u32 r, [q+4]; st.global.u32 [p+24], r;
        ret;
    }
        .visible .entry small(.param .u64 out) { .reg .b64 p; .reg .b32 r; ld.param.u64 p, [out];
        st.shared.u32 [big], 3; ld.shared.u32 r, [big]; st.global.u32 [p], r; mov.u32 r, %total_smem_size;
        st.global.u32 [p+4], r; ret; }
        .visible .entry other(.param .u64 out) { .reg .b64 p; .reg .b32 r; ld.param.u64 p, [out];
        st.shared.u32 [big2+39996], 4; ld.shared.u32 r, [big2+39996]; st.global.u32 [p], r; ret; }
    }
}

#[test]
fn structs_and_tensor_maps_are_passed_by_value() {
    let (mut map, mut s) = ([0u8; 128], [0u8; 24]);
    (map[120], map[4], s[8]) = (9, 6, 5);
    let mut o = vec![0u8; 28];
    let value = |x: &[u8]| Arg::value(x);
    let mut args = [Arg::buffer(&mut o), value(&map), value(&s), value(&2.5f32.to_le_bytes()), value(&[200])];
    raw::byvalue.launch_raw(&Host::checked(), Launch::grid(1), &mut args).unwrap();
    let words: Vec<u32> = o.chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect();
    assert_eq!(words, [9, 0, 5, 0, 2.5f32.to_bits(), 200, 6]);
    for (i, size) in [127, 25, 8, 4].into_iter().enumerate() {
        let mut args = [Arg::buffer(&mut o), Arg::value(map), Arg::value(s), Arg::value([0u8; 4]), Arg::value([1u8])];
        args[i + 1] = Arg::value(vec![0u8; size]);
        let error = raw::byvalue.launch_raw(&Host::new(), Launch::grid(1), &mut args).unwrap_err().to_string();
        assert!(error.contains(["map", "s", "f", "b"][i]) && error.contains(&size.to_string()), "{error}");
    }
}

#[test]
fn a_kernel_has_the_shared_memory_that_it_names() {
    let mut o = [0u32; 2];
    raw::small.launch(&Host::checked(), Launch::grid(1), (&mut o[..],)).unwrap();
    assert_eq!(o, [3, 40000], "not that of the other kernel too");
    raw::other.launch(&Host::checked(), Launch::grid(1), (&mut o[..],)).unwrap();
    assert_eq!(o[0], 4);
}

#[test]
fn old_code_reads_the_lower_half_of_an_index() {
    let k = ptx!(<sm_90, ptx 8.0> |o: &mut [u16]| {
        .reg .b16 h;
        .reg .b32 i;
        .reg .b64 p, at;
        ld.param.u64 p, [o];
        mov.u16 h, %tid.x;
        mul.wide.u16 i, h, 2;
        cvt.u64.u32 at, i;
        add.u64 p, p, at;
        st.global.u16 [p], h;
    });
    let mut o = [9u16; 40];
    k.launch(&Host::checked(), Launch::grid(1).block(40), (&mut o,)).unwrap();
    assert!(o.iter().copied().eq(0..40), "{o:?}");
}
