use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .global .b32 g;
    .visible .entry k() {
        .reg .pred %p;
        isspacep.global %p, g;
        ret;
    }
}

fn main() {}
