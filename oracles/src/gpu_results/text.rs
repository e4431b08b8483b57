//! Forms as kernels: each thread loads its operands, runs some forms, and stores their results.

use std::fmt::Write;

use super::data::{Form, Set, WIDTHS, Width, registers};
use super::values::count;

/// Forms of a kernel.
pub const FORMS: usize = 48;
/// Threads of a CTA.
pub const BLOCK: usize = 128;

/// A kernel of this name with some forms of a set. Operands, results and cells are arrays of 64-bit words, one word per thread,
/// in the order of the forms.
pub fn kernel(name: &str, set: &Set, forms: &[Form]) -> String {
    let count = count(&set.kinds);
    let all: String = forms.iter().map(|f| f.text.as_str()).collect::<Vec<_>>().join("\n");
    let mut out = format!(".visible .entry {name}(.param .u64 in, .param .u64 cells, .param .u64 out)\n{{\n");
    for (i, kind) in set.kinds.iter().enumerate() {
        let _ = writeln!(out, "    .reg {} %a{i};", kind.register());
    }
    for (_, letter, ty) in WIDTHS {
        for prefix in ["%", "%t"] {
            let numbers =
                registers(&all).filter_map(|r| r.strip_prefix(prefix)?.strip_prefix(letter)?.parse::<u32>().ok());
            if let Some(most) = numbers.max() {
                let _ = writeln!(out, "    .reg {ty} {prefix}{letter}<{}>;", most + 1);
            }
        }
    }
    out += "    .reg .b32 %i, %n, %k;\n    .reg .b64 %in, %out, %at;\n";
    out += "    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n";
    out += "    mov.u32 %i, %tid.x;\n    mov.u32 %n, %ctaid.x;\n";
    let _ = writeln!(out, "    mad.lo.u32 %i, %n, {BLOCK}, %i;\n    mul.wide.u32 %at, %i, 8;");
    out += "    add.u64 %in, %in, %at;\n    add.u64 %out, %out, %at;\n";
    if all.contains("%cell") {
        out += "    .reg .b64 %cell;\n    ld.param.u64 %cell, [cells];\n    add.u64 %cell, %cell, %at;\n";
    }
    if all.contains("%scell") {
        let _ = writeln!(out, "    .shared .align 8 .b8 shared[{}];\n    .reg .b32 %scell;", 8 * BLOCK);
        out += "    mov.u32 %n, %tid.x;\n    mov.u32 %scell, shared;\n    mad.lo.u32 %scell, %n, 8, %scell;\n";
    }
    for (i, kind) in set.kinds.iter().enumerate() {
        let at = format!("[%in+{}]", i * count * 8);
        let _ = match kind.bits() {
            1 => writeln!(out, "    ld.global.u32 %k, {at};\n    setp.ne.u32 %a{i}, %k, 0;"),
            8 => writeln!(out, "    ld.global.u8 %a{i}, {at};"),
            bits => writeln!(out, "    ld.global.b{bits} %a{i}, {at};"),
        };
    }
    let mut at = 0;
    for form in forms {
        let _ = writeln!(out, "    {{ {} }}", form.text);
        for (width, name) in form.outputs() {
            let to = format!("[%out+{}]", at * count * 8);
            let _ = match width {
                Width::Pred => writeln!(out, "    selp.b32 %k, 1, 0, {name};\n    st.global.b32 {to}, %k;"),
                Width::Byte => writeln!(out, "    st.global.b8 {to}, {name};"),
                Width::Half => writeln!(out, "    st.global.b16 {to}, {name};"),
                Width::Word => writeln!(out, "    st.global.b32 {to}, {name};"),
                Width::Double => writeln!(out, "    st.global.b64 {to}, {name};"),
            };
            at += 1;
        }
    }
    out + "    ret;\n}\n"
}

/// The head of a module.
pub const HEAD: &str = ".version 9.3\n.target sm_90a\n.address_size 64\n\n";
