//! Accesses of kernels through their parameters.

use super::*;
use crate::pointees::{Pointee, pointees};
use ptx_dsl_isa::ty::Ty;

/// By parameter: `!` for what is written, and the type.
fn of(body: &str) -> Vec<String> {
    let pointee = |p: Option<Pointee>| match p {
        None => "-".to_string(),
        Some(p) => format!("{}{}", if p.written { "!" } else { "" }, p.element.map_or("?", Ty::name)),
    };
    found(body).into_iter().map(pointee).collect()
}

/// The bytes of the largest access through `x`.
fn largest(body: &str) -> u32 {
    found(body)[0].map_or(0, |p| p.bytes)
}

fn found(body: &str) -> Vec<Option<Pointee>> {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 .ptr .global .align 4 x, .param .u64 y, .param .u32 n)\n\
         {{\n.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .pred %p;
          .shared .align 128 .b8 s[4096]; .shared .b64 m;\n\
         ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n{body}\nret;\n}}\n"
    );
    let module = module(&text);
    pointees(module, &module.functions[0])
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

#[test]
fn the_largest_access_counts() {
    assert_eq!(largest(""), 0);
    assert_eq!(largest("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1]; ld.global.u32 %r5, [%rd1];"), 16);
    assert_eq!(largest("st.global.u8 [%rd1], %r1; ld.global.v2.u64 {%rd3, %rd4}, [%rd1];"), 16);
    let copy = "mov.u32 %r3, s; mov.u32 %r4, m;\
                cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], SIZE, [%r4];";
    assert_eq!(largest(&copy.replace("SIZE", "2048")), 2048);
    assert_eq!(largest(&copy.replace("SIZE", "%r1")), 0);
}
