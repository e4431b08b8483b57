//! A kernel in expressions and control, for measuring the front end.

use std::fmt::Write;

/// The beginning of a kernel, and lines that are repeated: assignments, addresses, branches and loops, as in a tiled kernel.
const BEGIN: &str = "<sm_90a, ptx 8.0>
const BM: u32 = 128;
const BN: u32 = 64;
layout Tile = f16[BM, BN] swizzle 128;
.visible .entry k(.param .u64 .ptr .global .align 4 x, .param .u32 n, .param .u32 m)
.reqntid 128
{
.reg .f32 %a, %b, %d<8>;
.shared Tile tile;
let %row = %ctaid.x * BM + %tid.x / 4;
let %col = %ctaid.y * BN + %tid.x % 4 * 2;
";

/// A kernel of about so many lines.
pub fn kernel(lines: usize) -> String {
    let mut out = BEGIN.to_owned();
    for i in 0..lines.saturating_sub(12) / 10 {
        let _ = write!(
            out,
            "let %at{i} = (%row + {i}) * n + %col;
if %at{i} < n * m && %row < m {{
ld.global.f32 %a, [x + 4 * %at{i} + 16];
st.shared.f32 [tile + Tile.at(%tid.x, {column})], %a;
}}
let %k{i} = 0;
while %k{i} < n {{
@for I in 0..2 {{ ld.shared.f32 %d{{I}}, [tile + 4 * (%k{i} + I) + %row * 8]; }}
%k{i} = %k{i} + 8;
}}
",
            column = i % 16 * 2,
        );
    }
    out + "ret;\n}\n"
}
