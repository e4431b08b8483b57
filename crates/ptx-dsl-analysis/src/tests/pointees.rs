//! What kernels access through their parameters.

use super::*;
use crate::pointees::pointees;
use ptx_dsl_isa::ty::Ty;

/// By parameter: `!` for what is written, and the type.
fn of(body: &str) -> Vec<String> {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 .ptr .global .align 4 x, .param .u64 y, .param .u32 n)\n\
         {{\n.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .pred %p;\n\
         ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n{body}\nret;\n}}\n"
    );
    let module = module(&text);
    let pointee = |p: Option<crate::pointees::Pointee>| match p {
        None => "-".to_string(),
        Some(p) => format!("{}{}", if p.written { "!" } else { "" }, p.element.map_or("?", Ty::name)),
    };
    pointees(module, &module.functions[0]).into_iter().map(pointee).collect()
}

#[test]
fn types_of_accesses() {
    assert_eq!(of(""), ["-", "-", "-"]);
    assert_eq!(of("ld.global.f32 %f1, [%rd1]; st.global.u32 [%rd2+8], %r1;"), ["f32", "!u32", "-"]);
    // through an index, and the generic address of a global one
    let indexed = "mad.wide.u32 %rd3, %r2, 4, %rd1; ld.global.v2.f32 {%f1, %f2}, [%rd3];\
                   cvta.to.global.u64 %rd4, %rd2; mul.wide.u32 %rd5, %r2, 8; add.s64 %rd6, %rd4, %rd5;\
                   atom.global.add.u64 %rd7, [%rd6], 1;";
    assert_eq!(of(indexed), ["f32", "!u64", "-"]);
}

#[test]
fn bits_are_less_than_a_type() {
    assert_eq!(of("ld.global.b32 %r3, [%rd1]; st.global.f32 [%rd1], %f1;"), ["!f32", "-", "-"]);
    assert_eq!(of("st.global.f32 [%rd1], %f1; ld.global.b32 %r3, [%rd1];"), ["!f32", "-", "-"]);
    assert_eq!(of("ld.global.u32 %r3, [%rd1]; ld.global.f32 %f1, [%rd1];"), ["?", "-", "-"]);
    assert_eq!(of("ld.global.b64 %rd3, [%rd1]; ld.global.f32 %f1, [%rd1];"), ["?", "-", "-"]);
}
