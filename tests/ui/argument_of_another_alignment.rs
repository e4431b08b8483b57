use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .func f(.param .align 8 .b8 a[16]) { ret; }
    .visible .entry k() {
        .param .align 16 .b8 wide[16];
        .param .b32 word;
        .reg .b16 %h;
        call f, (wide);
        call f, (word);
        call f, (%h);
        ret;
    }
}

fn main() {}
