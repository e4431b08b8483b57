use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k(.param .u64 .ptr .global .align 16 p) {
        .reg .b64 %d;
        .shared .align 16 .b8 s[64];
        ld.param.u64 %d, [p];
        cp.async.bulk.global.shared::cta.bulk_group [%d], [s], 1048576;
        ret;
    }
}

fn main() {}
