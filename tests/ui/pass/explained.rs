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

mod ptx0162 {
    use ptx_dsl::ptx;

    ptx! {
        <sm_90, ptx 8.0>
        .visible .entry k(.param .u32 n) {
            let %row = %tid.x / 8;
            ret;
        }
    }
}

mod ptx0163 {
    use ptx_dsl::ptx;

    ptx! {
        <sm_90, ptx 8.0>
        .visible .entry k(.param .u32 n) {
            let %i = 0;
            while %i < n { %i = %i + 1; }
            ret;
        }
    }
}

mod ptx0164 {
    use ptx_dsl::ptx;

    ptx! {
        <sm_90, ptx 8.0>
        const STAGES: u32 = 8;
        const _: () = assert!(STAGES <= 8, "shared memory has room for eight");
        .visible .entry k() { ret; }
    }
}

mod ptx0165 {
    use ptx_dsl::ptx;

    ptx! {
        <sm_90a, ptx 8.0>
        .visible .entry k() {
            .reg .b64 %d;
            mov.b64 %d, descriptor::wgmma(stride: 1024, swizzle: 128);
            ret;
        }
    }
}

mod ptx0166 {
    use ptx_dsl::ptx;

    ptx! {
        <sm_90, ptx 8.0>
        .extern .shared .align 1024 .b8 smem[];
        .region smem { .align 1024 .b8 stages[4096]; .b64 full[4]; }
        .visible .entry k() {
            mbarrier.init.shared::cta.b64 [full + 8], 1;
            ret;
        }
    }
}

mod ptx0167 {
    use ptx_dsl::ptx;

    ptx! {
        <sm_90a, ptx 8.0>
        layout Tile = f16[128, 64] swizzle 128;
        .visible .entry k() {
            .shared Tile stages[4];
            ret;
        }
    }
}

fn main() {
    use ptx_dsl::ptx;

    let k = ptx!(<sm_90, ptx 8.0> |n: u32| { ret; });
    let _ = (k, item::k, file::kernel, inline::k, by_value::k);
}
