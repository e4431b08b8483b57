use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry ranges() {
        .reg .b32 %r<8>, %one;
        .reg .b64 %d;
        mov.b64 %d, {%r0..%r2};
        mov.b64 %d, {%one..=%r2};
        mov.b64 %d, {%r0..=};
        ret;
    }
}

fn main() {}
