//! The right examples of `ptx-dsl explain` for what only the macros find.

mod file {
    use ptx_dsl::include_ptx;

    include_ptx!("kernel.ptx");
}

mod item {
    use ptx_dsl::ptx;

    ptx! {
        <sm_90, ptx 8.0>
        .visible .entry k(.param .u64 x: &[f32]) { ret; }
    }
}

mod by_value {
    use ptx_dsl::ptx;

    #[derive(ptx_dsl::Param)]
    #[repr(C)]
    pub struct Scale {
        factor: f32,
        count: u32,
    }

    ptx! {
        <sm_90, ptx 8.0>
        .visible .entry k(.param .align 4 .b8 scale[8]: Scale) {
            .reg .f32 %f;
            ld.param.f32 %f, [scale];
            ret;
        }
    }
}

mod inline {
    use ptx_dsl::ptx;

    ptx! {
        <sm_90, ptx 8.0>
        .inline twice(.reg .b32 %x) { add.u32 %x, %x, %x; }
        .visible .entry k() { .reg .b32 %r; mov.u32 %r, 1; twice!(%r); ret; }
    }
}

fn main() {
    use ptx_dsl::ptx;

    let k = ptx!(<sm_90, ptx 8.0> |n: u32| { ret; });
    let _ = (k, item::k, file::kernel, inline::k, by_value::k);
}
