use ptx_dsl::ptx;

ptx! {
    <sm_120a, ptx 9.4>
    .visible .entry k() {
        .reg .pred %p;
        .reg .b16 %mask;
        .reg .b32 %r<4>, %taddr, %idesc;
        .reg .b64 %desc;
        .shared .align 4 .b32 slot;
        .shared .align 8 .b64 mb;
        tcgen05.fence::before_thread_sync;
        ret;
    }
}

fn main() {}
