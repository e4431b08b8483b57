use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 9.4>
    .visible .entry k() {
        .reg .b64 %rd;
        .reg .b128 %q;
        ld.global.b128.proxy::readonly %q, [%rd];
        ret;
    }
}

fn main() {}
