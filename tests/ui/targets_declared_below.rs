use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .func f(.param .b32 a) { ret; }
    .visible .entry k() {
        .reg .b32 %r;
        .reg .b64 %f;
        mov.u32 %r, 1;
        brx.idx %r, list;
        list: .branchtargets A, B;
        A: B:
        mov.u64 %f, f;
        call %f, (%r), signature;
        signature: .callprototype _ (.param .b32 _);
        ret;
    }
}

fn main() {}
