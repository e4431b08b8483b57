//! Constants of Rust, without rustc: what the macro knows of them.

use crate::constant::Constants;
use crate::lex::lex;
use crate::{Compiled, compile, compile_in_rust};

fn compiled(text: &str) -> Compiled {
    compile_in_rust(&lex(text).0.tokens, Default::default())
}

/// A kernel with these statements, after constants of all types: `U`, `I`, `F`, `D`.
fn kernel(body: &str) -> String {
    format!(
        "<sm_90, ptx 8.0, const U: u32 = x::U> const I: i64 = x::I; const F: f32 = x::F; const D: f64 = x::D;
        .visible .entry k() {{ .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .f64 %d<4>; .reg .pred %p;
        .shared .align 16 .b8 s[64]; mov.u64 %rd1, 0; mov.u32 %r1, 0; {body} ret; }}"
    )
}

/// The statements as printed, with the constants as written.
fn printed(body: &str) -> String {
    let compiled = compiled(&kernel(body));
    let errors: Vec<_> = compiled.diagnostics.iter().filter(|d| d.code < 600).collect();
    assert!(errors.is_empty(), "{body}: {errors:?}");
    let text = compiled.hir.constants.shown(&compiled.ptx);
    let (_, body) = text.split_once("mov.u32 %r1, 0;").expect("the beginning");
    body.split_once("ret;").expect("the end").0.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn expressions_are_printed_as_one_value() {
    for (text, shown) in [
        ("mov.u32 %r1, U;", "mov.u32 %r1, U;"),
        ("mov.u32 %r1, 2 * 3 + U;", "mov.u32 %r1, 6 + U;"),
        ("mov.u32 %r1, (U + 1) * -I;", "mov.u32 %r1, (U + 1) * -I;"),
        ("mov.u32 %r1, U > 1 ? I : 4;", "mov.u32 %r1, (U > 1 ? I : 4);"),
        ("mov.u64 %rd1, (.u64) I | ~U;", "mov.u64 %rd1, (.u64) I | ~U;"),
        ("mov.u64 %rd1, !U;", "mov.u64 %rd1, !U;"),
        ("ld.global.u32 %r1, [%rd1 + U];", "ld.global.u32 %r1, [%rd1+U];"),
        ("ld.global.u32 %r1, [%rd1 + 8 + U * 4 - 12];", "ld.global.u32 %r1, [%rd1+(8 + (U * 4)) - 12];"),
        ("mov.f32 %f1, F;", "mov.f32 %f1, F;"),
        ("mov.f64 %d1, F;", "mov.f64 %d1, F;"),
        ("mov.f64 %d1, -D / 2.0;", "mov.f64 %d1, -D / 2.0;"),
        ("mov.f32 %f1, D;", "mov.f32 %f1, D;"),
    ] {
        assert_eq!(printed(text), shown, "{text}");
    }
}

#[test]
fn a_name_in_scope_is_not_declared_again() {
    assert_eq!(compiled(&kernel("{ const U: u32 = 7; }")).diagnostics[0].code, 145);
    assert_eq!(printed("{ const V: u32 = 7; } { const V: u32 = 8; mov.u32 %r1, V; }"), "{ } { mov.u32 %r1, 8; }");
}

#[test]
fn known_constants_are_numbers() {
    for (declared, value) in [
        ("u32 = 16", "16"),
        ("u8 = 0xff_u8", "255"),
        ("i32 = -7", "-7"),
        ("u64 = 18446744073709551615", "18446744073709551615"),
        ("bool = true", "1"),
        ("usize = 1_000", "1000"),
        ("i8 = -128i8", "-128"),
        ("u16 = 0o17", "15"),
        ("u32 = 010", "10"),
    ] {
        let text = format!(
            "<sm_90, ptx 8.0> const N: {declared}; .visible .entry k() {{ .reg .b64 %r; mov.b64 %r, N; ret; }}"
        );
        let compiled = compile(&lex(&text).0.tokens);
        assert!(compiled.diagnostics.is_empty(), "{declared}: {:?}", compiled.diagnostics);
        assert!(compiled.ptx.contains(&format!("mov.b64 %r, {value};")), "{declared}: {}", compiled.ptx);
    }
    for (declared, code) in [("u8 = 256", 155), ("i8 = -129", 155), ("u32 = 4294967296", 155), ("char = 4", 155)] {
        let text = format!("<sm_90, ptx 8.0> const N: {declared}; .visible .entry k() {{ ret; }}");
        let found = compile(&lex(&text).0.tokens).diagnostics;
        assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), [code], "{declared}");
    }
}

#[test]
fn only_rust_evaluates_rust() {
    let text = "<sm_90, ptx 8.0> const N: u32 = crate::N; .visible .entry k() .reqntid N { ret; }";
    let found = compile(&lex(text).0.tokens).diagnostics;
    assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), [156]);
    assert!(compiled(text).diagnostics.is_empty());
    let text = "<sm_90, ptx 8.0> .visible .entry k<const N: u32>() .reqntid N { ret; }";
    assert_eq!(compile(&lex(text).0.tokens).diagnostics[0].code, 156);
}

#[test]
fn what_depends_on_a_value_is_asserted() {
    for (text, codes) in [
        ("lop3.b32 %r1, %r1, %r1, %r1, U;", &[409, 409][..]),
        ("st.shared.b32 [s + U], %r1;", &[412, 633]),
        ("st.shared.b8 [s + U], %r1;", &[633]),
        (".shared .b8 t[U]; st.shared.b8 [t + 7], %r1;", &[509, 509, 509, 633, 507]),
        (".shared .b8 t[U][2];", &[509, 509, 509, 509, 507]),
        (".local .align U .b32 l[4]; st.local.b32 [l + 16], %r1;", &[509, 509, 509, 509, 633, 509]),
        (".reg .b32 %q<U>; mov.u32 %q7, 1; mov.u32 %q3, 1;", &[509, 509, 401]),
        (".reg .b32 %q<U>;", &[509, 509]),
        ("mov.u32 %r1, U;", &[]),
        // the base alone is no access, and a form that does not fit asserts nothing
        ("st.global.b32 [%rd1 + U], %r1;", &[]),
    ] {
        let found = compiled(&kernel(text)).hir.constants.assertions;
        assert_eq!(found.iter().map(|a| a.finding.code).collect::<Vec<_>>(), codes, "{text}");
    }
}

#[test]
fn no_tokens_with_constants_panic() {
    let text = kernel(
        ".shared .align U .b8 t[U * 2][I]; st.shared.b32 [t + U * 4], U; mov.f32 %f1, F; @%p bra L; setp.lt.u32 %p, %r1, U; L:
        lop3.b32 %r1, %r1, %r1, %r1, U; mov.u32 %r1, s + U; call (%r1), f, (U);",
    );
    let text = format!(
        "{text} .const .u32 c[3] = {{U, 2 * U}}; .visible .entry g<const N: u32, const M: bool>() .reqntid N, M {{ ret; }}"
    );
    let tokens = lex(&text).0.tokens;
    for at in 0..tokens.len() {
        let mut changed = tokens.clone();
        changed.remove(at);
        for tokens in [&tokens[..at], &changed] {
            let compiled = compile_in_rust(tokens, Default::default());
            for assertion in &compiled.hir.constants.assertions {
                Constants::pieces(&assertion.finding.message);
            }
        }
    }
}
