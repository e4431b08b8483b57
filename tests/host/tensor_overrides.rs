//! Tensor copies whose map has another address.

use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, TensorMap};

use super::everywhere::everywhere;

ptx! {
    <sm_107a, ptx 9.4>
    // A box of 8 x 4 at (8, 2), from the tensor of y instead of that of the map, and back to (0, 0) of z, with an address that may be wrong.
    .visible .entry overrides(
        .param .align 64 .b8 map[128]: &TensorMap, .param .u64 .ptr .global .align 16 y: &[u32],
        .param .u64 .ptr .global .align 16 z: &mut [u32], .param .u64 wrong) .reqntid 1
    {
        .reg .pred %p;
        .reg .b64 %map, %y, %z, %wrong;
        .shared .align 128 .b8 tile[128];
        .shared .align 8 .b64 full;
        mbarrier.init.shared::cta.b64 [full], 1;
        fence.proxy.async.shared::cta;
        mov.b64 %map, map;
        cvta.param.u64 %map, %map;
        ld.param.u64 %y, [y];
        ld.param.u64 %z, [z];
        ld.param.u64 %wrong, [wrong];
        add.u64 %z, %z, %wrong;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 128;
        cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.override::global_address
            [tile], [%map, %y, {8, 2}], [full];
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
        @!%p bra wait;
        cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.override::global_address [%map, %z, {0, 0}], [tile];
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        ret;
    }
}

#[test]
fn the_address_of_a_map_is_overridden() {
    let (x, y): (Vec<u32>, Vec<u32>) = (vec![7; 128], (0..128).collect());
    let map = TensorMap::tiled(&x, ElementType::U32).dims([16, 8]).box_dims([8, 4]).build().unwrap();
    let expected: Vec<u32> = (0..128)
        .map(|i| (i / 16, i % 16))
        .map(|(row, column)| if row < 4 && column < 8 { 16 * (row + 2) + column + 8 } else { 0 })
        .collect();
    everywhere!(host => {
        let mut z = vec![0; 128];
        overrides.launch(&host, Launch::grid(1), (&map, &y, &mut z, 0)).unwrap();
        assert_eq!(z, expected);
    });
    let error = overrides.launch(&Host::new(), Launch::grid(1), (&map, &y, &mut [0; 128], 8)).unwrap_err().to_string();
    assert!(error.contains("globalAddress"), "{error}");
}
