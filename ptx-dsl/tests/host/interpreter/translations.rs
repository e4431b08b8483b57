//! `cvta` and `mapa` of addresses that grow from lane to lane, and of others: the same addresses, and the same faults.

use crate::module;
use ptx_dsl::prelude::*;

const BLOCK: usize = 80;

/// Each CTA of a cluster of two writes words to shared memory, and reads those of the other through `%far`, which `translation` makes
/// of `%near`, the address of a word in its own. `rows`: the address is not affine.
fn run(translation: &str, load: &str, rows: bool, distance: i64) -> Result<Vec<u32>, String> {
    // a number and back
    let detour =
        if rows { "xor.b32 %i, %t, 85; xor.b32 %i, %i, 85;" } else { "add.u32 %i, %t, 85; sub.u32 %i, %i, 85;" };
    let text = format!(
        ".visible .entry k(.param .u64 .ptr .global .align 4 out)\n.reqntid {BLOCK}\n.reqnctapercluster 2\n{{\n\
         .reg .b32 %t, %i, %rank, %v, %near, %far, %s; .reg .b64 %out, %near2, %far2; .shared .align 4 .b32 tile[{BLOCK}];\n\
         ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %rank, %cluster_ctarank; mov.u32 %s, tile;\n\
         {detour}\nmad.lo.u32 %v, %rank, 1000, %t; mad.lo.u32 %near, %t, 4, %s; st.shared.u32 [%near], %v;\n\
         mad.lo.s32 %near, %i, {distance}, %s; cvt.u64.u32 %near2, %near; xor.b32 %rank, %rank, 1;\n\
         barrier.cluster.arrive; barrier.cluster.wait;\n\
         {translation}\n{load}\n\
         barrier.cluster.arrive; barrier.cluster.wait;\n\
         mov.u32 %i, %ctaid.x; mad.lo.u32 %i, %i, {BLOCK}, %t; mad.wide.u32 %out, %i, 4, %out; st.global.u32 [%out], %v; ret;\n}}\n"
    );
    let mut out = vec![0u32; 2 * BLOCK];
    let module = module(&text);
    let kernel = module.kernel("k").unwrap();
    kernel
        .launch_raw(&Host::new(), Launch::grid(2).block(BLOCK as u32).cluster(2), &mut [(&mut out).into()])
        .map_err(|error| error.to_string())?;
    Ok(out)
}

const TRANSLATIONS: [(&str, &str, bool); 4] = [
    ("mapa.shared::cluster.u32 %far, %near, %rank;", "ld.shared::cluster.u32 %v, [%far];", true),
    ("cvta.shared.u64 %near2, %near2; mapa.u64 %far2, %near2, %rank;", "ld.u32 %v, [%far2];", true),
    ("cvta.shared.u64 %near2, %near2; cvta.to.shared.u64 %far2, %near2;", "ld.shared.u32 %v, [%far2];", false),
    ("cvta.shared::cluster.u64 %near2, %near2;", "ld.u32 %v, [%near2];", false),
];

#[test]
fn all_lanes_get_their_address() {
    for (translation, load, far) in TRANSLATIONS {
        let wanted: Vec<u32> = (0..2 * BLOCK)
            .map(|i| {
                let (rank, t) = ((i / BLOCK) as u32, (i % BLOCK) as u32);
                1000 * (if far { rank ^ 1 } else { rank }) + t
            })
            .collect();
        for rows in [false, true] {
            assert_eq!(run(translation, load, rows, 4), Ok(wanted.clone()), "{translation} {rows}");
        }
    }
}

#[test]
fn addresses_that_leave_the_window() {
    for (translation, load, _) in TRANSLATIONS {
        for distance in [-4, 16, 1 << 20, 1 << 24, (1 << 24) + 4, -(1 << 24), 0x4000_0000] {
            let [affine, rows] = [false, true].map(|rows| run(translation, load, rows, distance));
            assert_eq!(affine, rows, "{translation} {distance}");
            // windows are 1 << 24 bytes apart: the same place in another one is no error of `mapa`
            assert!(affine.is_err() || distance.abs() >= 1 << 24, "{translation} {distance}");
        }
    }
}
