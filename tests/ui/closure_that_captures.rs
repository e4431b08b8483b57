use ptx_dsl::ptx;

fn main() {
    let n = 5;
    let table = [1.0f32; 4];
    let k = ptx!(<sm_90, ptx 8.0> |y: &mut [f32]| .maxntid 32 {
        .reg .b32 %r;
        .reg .f32 %f;
        .reg .b64 %y;
        ld.param.u64 %y, [y];
        ld.global.f32 %f, [table];
        mov.u32 %r, n;
        setp.eq.u32 p, %r, 1;
        st.global.u32 [%y], %r9;
        bra somewhere;
    });
}
