use ptx_dsl::ptx;

ptx! {
    <sm_100, ptx 8.8>
    .visible .entry k() {
        .reg .b16 %h<8>;
        .reg .b64 %rd;
        ld.global.v8.b16 {%h0, %h1, %h2, %h3, %h4, %h5, %h6, %h7}, [%rd];
        ret;
    }
}

fn main() {}
