use ptx_dsl::ptx;

ptx! {
    <sm_75, ptx 6.5>
    .visible .entry k() {
        ret;
    }
    .section .debug_info {
        .b32 1
        start: .b8 0
    }
}

fn main() {}
