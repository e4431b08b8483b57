use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .extern .shared .align 16 .b8 smem[];
    .region smem { .align 1024 .b8 stages[4096]; .b64 full[4]; }
    .visible .entry k() {
        ret;
    }
}

fn main() {}
