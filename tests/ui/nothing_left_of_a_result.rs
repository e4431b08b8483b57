use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() {
        .reg .pred %p;
        .reg .b32 %r<2>;
        .reg .b64 %d;
        .reg .v2 .b32 %v;
        .shared .b64 s;
        mov.b64 {_, _}, %d;
        ld.shared.v2.u32 {_, _}, [s];
        setp.lt.u32 _|_, %r0, %r1;
        mov.b32 %v, %r0;
        ret;
    }
}

fn main() {}
