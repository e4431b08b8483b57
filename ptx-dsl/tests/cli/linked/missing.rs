//! The part is in a file that no module names.

ptx_dsl::ptx! {
    <sm_90, ptx 8.0>
    use crate::elsewhere::pipe;
    .visible .entry uses() {
        .reg .b32 %r, %n;
        .shared .align 8 .b64 bar;
        pipe::start!(%r);
        @for I in 0..STAGES { add.u32 %n, %r, FIRST; }
        ld.sahred.b32 %r, [bar];
        ret;
    }
}
