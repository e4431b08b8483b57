//! The C header of modules.

use crate::load::{Kernel, Module, Parameter, Ty};
use std::fmt::Write;

const BEGIN: &str = "#include <stddef.h>
#include <stdint.h>

#ifndef PTX_DSL_ALIGN
#ifdef __cplusplus
#define PTX_DSL_ALIGN(bytes) alignas(bytes)
#define PTX_DSL_CHECK(condition) static_assert(condition, #condition)
#else
#define PTX_DSL_ALIGN(bytes) _Alignas(bytes)
#define PTX_DSL_CHECK(condition) _Static_assert(condition, #condition)
#endif
#endif
";

/// The header of the modules of a source file, each with its name. `entries`: with the text of each kernel alone.
pub fn header(stem: &str, source: &str, (modules, entries): (&[(String, &Module)], bool)) -> String {
    let guard = format!("PTX_DSL_{}_H", identifier(stem).to_uppercase());
    let mut out = format!("/* Written by ptx-dsl from {source}. */\n#ifndef {guard}\n#define {guard}\n\n{BEGIN}");
    for (name, module) in modules {
        let _ =
            write!(out, "\n/* {name}.ptx, for {} */\nstatic const char {}_ptx[] =", module.target(), identifier(name));
        text(&mut out, module.ptx());
        for kernel in module.kernels() {
            describe(&mut out, kernel);
            if entries {
                let _ = write!(out, "static const char {}_ENTRY_ptx[] =", identifier(kernel.name()));
                text(&mut out, kernel.ptx());
            }
        }
    }
    let _ = write!(out, "\n#endif\n");
    out
}

/// The lines of a text as a literal of C, with the `;`.
fn text(out: &mut String, ptx: &str) {
    for line in ptx.lines() {
        let _ = write!(out, "\n    \"{}\\n\"", line.escape_default());
    }
    out.push_str(";\n");
}

fn describe(out: &mut String, kernel: &Kernel) {
    let name = identifier(kernel.name());
    let _ = write!(out, "\n#define {name}_NAME \"{}\"\n", kernel.name().escape_default());
    for (what, value) in [("BLOCK", kernel.required_block()), ("CLUSTER", kernel.required_cluster())] {
        for (axis, n) in ["X", "Y", "Z"].iter().zip(value.into_iter().flatten()) {
            let _ = writeln!(out, "#define {name}_{what}_{axis} {n}");
        }
    }
    if let Some(most) = kernel.largest_block() {
        let threads: u64 = most.iter().map(|n| u64::from(*n)).product();
        let _ = writeln!(out, "#define {name}_MAX_THREADS {threads}");
    }
    if let Some(least) = kernel.least_resident() {
        let _ = writeln!(out, "#define {name}_MIN_CTAS {least}");
    }
    let mut end = 0u32;
    let mut places: Vec<(String, u32, &Parameter)> = kernel
        .parameters()
        .iter()
        .map(|p| {
            let at = end.next_multiple_of(p.align.max(1));
            end = at + p.size;
            (identifier(&p.name), at, p)
        })
        .collect();
    // `a$b` and `a_b` are one name in C
    for i in 1..places.len() {
        while places[..i].iter().any(|(earlier, ..)| *earlier == places[i].0) {
            places[i].0.push('_');
        }
    }
    let _ = writeln!(out, "#define {name}_PARAMS_SIZE {end}");
    // C has no empty struct
    if places.is_empty() {
        return;
    }
    let _ = writeln!(out, "struct {name}_params {{");
    for (field, _, p) in &places {
        let length = if p.is_array { format!("[{}]", p.size / p.ty.bytes().max(1)) } else { String::new() };
        let _ = writeln!(out, "    PTX_DSL_ALIGN({}) {} {field}{length};", p.align.max(1), c_type(p.ty));
    }
    out.push_str("};\n");
    for (field, at, _) in &places {
        let _ = writeln!(out, "PTX_DSL_CHECK(offsetof(struct {name}_params, {field}) == {at});");
    }
}

/// The type of C with the same bytes.
fn c_type(ty: Ty) -> &'static str {
    match ty {
        Ty::F32 => "float",
        Ty::F64 => "double",
        Ty::S8 => "int8_t",
        Ty::S16 => "int16_t",
        Ty::S32 => "int32_t",
        Ty::S64 => "int64_t",
        _ => match ty.bits() {
            8 => "uint8_t",
            16 => "uint16_t",
            32 => "uint32_t",
            _ => "uint64_t",
        },
    }
}

/// A name that C and C++ take: of other characters `_`, and `_` after a keyword.
fn identifier(name: &str) -> String {
    let mut out: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, '_');
    }
    if KEYWORDS.split_ascii_whitespace().any(|word| word == out) {
        out.push('_');
    }
    out
}

/// Of C23 and C++23.
const KEYWORDS: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
    compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do
    double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace new
    noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires restrict return short
    signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename
    typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq";
