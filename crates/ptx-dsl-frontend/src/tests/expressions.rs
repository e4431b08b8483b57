//! Integer expressions, computed addresses and run-time control, without rustc: what they print, and what is wrong with them.

use crate::lex::lex;
use crate::{Compiled, compile_rust_file};

fn compiled(text: &str) -> Compiled {
    compile_rust_file(&lex(text).0.tokens, None, None, &[], Default::default())
}

fn module(body: &str) -> String {
    format!(
        "<sm_90, ptx 8.0> const BM: u32 = 128; const R: u32 = crate::R;
        .visible .entry k(.param .u64 .ptr .global .align 4 x, .param .u32 n, .param .s32 s, .param .f32 f) {{
        .reg .b32 %r<8>; .reg .s32 %i<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .pred %p, %q; .reg .b16 %h;
        .shared .align 8 .b64 bar[4]; .shared .align 4 .b32 tile[64];
        mov.u32 %r1, 0; mov.u32 %r2, 0; {body} ret; }}"
    )
}

/// The statements as printed, after the loads of parameters.
fn printed(body: &str) -> String {
    let compiled = compiled(&module(body));
    let errors: Vec<_> = compiled.diagnostics.iter().filter(|d| d.code.number < 600).collect();
    assert!(errors.is_empty(), "{body}: {errors:?}");
    let (_, body) = compiled.ptx.split_once("mov.u32 %r2, 0;").expect("the beginning");
    body.rsplit_once("ret;").expect("the end").0.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The codes of the errors, with the text that each is at.
fn errors(body: &str) -> Vec<(u16, String)> {
    let text = module(body);
    let lexed = lex(&text).0;
    let found = compiled(&text).diagnostics;
    let errors = found.iter().filter(|d| d.code.number < 600);
    errors.map(|d| (d.code.number, text[lexed.bytes(d.span)].to_owned())).collect()
}

#[test]
fn an_operator_is_an_instruction() {
    for (body, wanted) in [
        ("%r1 = %r2;", "mov.b32 %r1, %r2;"),
        ("%r1 = 4 * 8;", "mov.b32 %r1, 32;"),
        ("%r1 = %r2 + 1;", "add.u32 %r1, %r2, 1;"),
        ("%r1 = 1 + %r2;", "add.u32 %r1, %r2, 1;"),
        ("%r1 = 64 - %r2;", "sub.u32 %r1, 64, %r2;"),
        ("%r1 = %r2 * 8;", "shl.b32 %r1, %r2, 3;"),
        ("%r1 = 6 * %r2;", "mul.lo.u32 %r1, %r2, 6;"),
        ("%r1 = %r2 * BM + %r3;", "mad.lo.u32 %r1, %r2, 128, %r3;"),
        ("%r1 = 16 + %r2 * %r3;", "mad.lo.u32 %r1, %r2, %r3, 16;"),
        ("%r1 = %r2 / 4;", "shr.u32 %r1, %r2, 2;"),
        ("%r1 = %r2 % 32;", "and.b32 %r1, %r2, 31;"),
        ("%r1 = %r2 << 3 | %r3 & 7;", "shl.b32 %er0, %r2, 3; and.b32 %er1, %r3, 7; or.b32 %r1, %er0, %er1;"),
        ("%r1 = (%r2 ^ %r3) >> %r4;", "xor.b32 %er0, %r2, %r3; shr.u32 %r1, %er0, %r4;"),
        ("%i0 = %i1 >> 1;", "shr.s32 %i0, %i1, 1;"),
        ("%i0 = -%i1;", "neg.s32 %i0, %i1;"),
        ("%r1 = ~%r2;", "not.b32 %r1, %r2;"),
        ("%r1 = min(%r2, 16);", "min.u32 %r1, %r2, 16;"),
        ("%i0 = max(%i1, -1);", "max.s32 %i0, %i1, -1;"),
        ("%r1 = %r2 < %r3 ? %r2 : 0;", "setp.lt.u32 %ep0, %r2, %r3; selp.b32 %r1, %r2, 0, %ep0;"),
        ("%p = 4 < %i1;", "setp.gt.s32 %p, %i1, 4;"),
        ("%p = %r1 == 0 && !%q;", "setp.eq.u32 %ep0, %r1, 0; not.pred %ep1, %q; and.pred %p, %ep0, %ep1;"),
        ("%rd1 = %r2 as u64;", "cvt.u64.u32 %rd1, %r2;"),
        ("%rd1 = 4 as u64 << 32;", "mov.b64 %rd1, 17179869184;"),
        ("%rd1 = %i2 as s64;", "cvt.s64.s32 %rd1, %i2;"),
        ("%rd1 = %r2 as u64 * 4 + %rd2;", "mad.wide.u32 %rd1, %r2, 4, %rd2;"),
        ("%rd1 = %r2 as u64 * %r3 as u64;", "mul.wide.u32 %rd1, %r2, %r3;"),
        ("%r1 = %rd1 as u32 + 1;", "cvt.u32.u64 %er0, %rd1; add.u32 %r1, %er0, 1;"),
        ("%r1 = %i1 as u32 / 4;", "shr.u32 %r1, %i1, 2;"),
        ("%r1 = %q as u32;", "selp.b32 %r1, 1, 0, %q;"),
        ("%r1 = %tid.x;", "mov.u32 %r1, %tid.x;"),
        ("%r1 = tile + 4;", "mov.b32 %er0, tile; add.u32 %r1, %er0, 4;"),
        ("%r1 = n + n;", "add.u32 %r1, %er0, %er0;"),
        ("let %a = %r1 + 1; %a = %a + 1;", ".reg .b32 %a; add.u32 %a, %r1, 1; add.u32 %a, %a, 1;"),
        ("let %a: s32 = 0;", ".reg .s32 %a; mov.b32 %a, 0;"),
        ("let %a = %i1 + 1;", ".reg .s32 %a; add.s32 %a, %i1, 1;"),
        ("let %a = x;", ".reg .b64 %a; mov.b64 %a, %erd0;"),
        ("let %a = %r1 > 3;", ".reg .pred %a; setp.gt.u32 %a, %r1, 3;"),
        (
            "let %row = %ctaid.x * BM + %r1 * 16 + %r2 / 4;",
            ".reg .b32 %row; shr.u32 %er1, %r2, 2; mov.u32 %er2, %ctaid.x; shl.b32 %er3, %er2, 7; \
             mad.lo.u32 %er0, %r1, 16, %er3; add.u32 %row, %er0, %er1;",
        ),
    ] {
        let got = printed(body);
        if body.starts_with("let %row") {
            // the numbers of registers are not what is tested
            assert_eq!(got.matches("mad.lo.u32").count() + got.matches("shl.b32").count(), 2, "{got}");
            assert_eq!(got.split(';').count(), wanted.split(';').count(), "{got}");
        } else {
            assert_eq!(got, wanted, "{body}");
        }
    }
    // rustc writes its constants
    assert!(printed("%r1 = %r2 * R; ld.shared.u32 %r3, [tile + R * %r2 + R];").starts_with("mul.lo.u32 %r1, %r2, "));
    let text = compiled(&module("%r1 = n * 2; %r2 = n + s as u32; %rd1 = x;")).ptx;
    for load in ["ld.param.u32 %er0, [n];", "ld.param.s32 %es0, [s];", "ld.param.u64 %erd0, [x];"] {
        assert_eq!(text.matches(load).count(), 1, "{text}");
    }
}

#[test]
fn addresses_are_computed() {
    for (body, wanted) in [
        ("ld.shared.u32 %r1, [tile + 4];", "ld.shared.u32 %r1, [tile+4];"),
        (
            "ld.shared.u32 %r1, [tile + 4 * %r2 + 8];",
            "mov.b32 %er0, tile; mad.lo.u32 %er1, %r2, 4, %er0; ld.shared.u32 %r1, [%er1+8];",
        ),
        ("ld.shared.u32 %r1, [%r3 + %r2 - 8];", "add.u32 %er0, %r3, %r2; ld.shared.u32 %r1, [%er0+-8];"),
        ("ld.global.u32 %r1, [x];", "ld.global.u32 %r1, [%erd0];"),
        ("ld.global.u32 %r1, [x + 4];", "ld.global.u32 %r1, [%erd0+4];"),
        ("ld.global.u32 %r1, [x + 4 * %r2];", "mad.wide.u32 %erd1, %r2, 4, %erd0; ld.global.u32 %r1, [%erd1];"),
        (
            "ld.global.u32 %r1, [x + 4 * (%r2 * n + %r3) - 4];",
            "mad.lo.u32 %er1, %r2, %er0, %r3; mad.wide.u32 %erd1, %er1, 4, %erd0; ld.global.u32 %r1, [%erd1+-4];",
        ),
        ("st.global.u32 [4 * %i1 + %rd1], %r1;", "mad.wide.s32 %esd0, %i1, 4, %rd1; st.global.u32 [%esd0], %r1;"),
        ("st.global.u32 [%rd1 + (%r1 << 2)], %r1;", "mad.wide.u32 %erd0, %r1, 4, %rd1; st.global.u32 [%erd0], %r1;"),
        ("st.global.u32 [%rd1 + %r2], %r1;", "mad.wide.u32 %erd0, %r2, 1, %rd1; st.global.u32 [%erd0], %r1;"),
        ("st.global.u32 [%rd1 - %rd2], %r1;", "sub.u64 %erd0, %rd1, %rd2; st.global.u32 [%erd0], %r1;"),
        ("ld.param.u32 %r1, [n];", "ld.param.u32 %r1, [n];"),
    ] {
        let got = printed(body);
        // addresses of `x` and `n` are loaded before
        assert_eq!(got, wanted, "{body}");
    }
    assert_eq!(errors("st.global.u32 [%rd1 - %r1], %r1;"), [(162, "%r1".to_owned())]);
}

#[test]
fn control_is_branches() {
    for (body, wanted) in [
        ("if %p { mov.u32 %r1, 1; }", "@%p mov.u32 %r1, 1;"),
        ("if !%p { ret; }", "@!%p ret;"),
        ("if %p { mov.u32 %r1, 1; } else { mov.u32 %r1, 2; }", "@%p mov.u32 %r1, 1; @!%p mov.u32 %r1, 2;"),
        (
            "if %r1 < n { mov.u32 %r1, 1; %r2 = 2; }",
            "setp.lt.u32 %ep0, %r1, %er0; @!%ep0 bra $at_end_1; mov.u32 %r1, 1; mov.b32 %r2, 2; $at_end_1:",
        ),
        (
            "if %p { trap; exit; } else if %q { let %a = %r1; %r2 = %a; } else { ret; }",
            "@!%p bra $at_else_2; trap; exit; $at_else_2: @!%q bra $at_else_1; { .reg .b32 %a; mov.b32 %a, %r1; \
             mov.b32 %r2, %a; } bra $at_end_2; $at_else_1: ret; $at_end_2:",
        ),
        (
            "A: list: .branchtargets A; if %p { %r2 = 1; brx.idx %r1, list; } else { %r2 = 2; %r1 = 2; }",
            "A: list: .branchtargets A; @!%p bra $at_else_1; mov.b32 %r2, 1; brx.idx %r1, list; $at_else_1: \
             mov.b32 %r2, 2; mov.b32 %r1, 2;",
        ),
        (
            "while %r1 < n { %r1 = %r1 + 1; }",
            "$at_loop_1: setp.lt.u32 %ep0, %r1, %er0; @!%ep0 bra $at_end_2; add.u32 %r1, %r1, 1; bra $at_loop_1; \
             $at_end_2:",
        ),
        (
            "loop { %r1 = %r1 + 1; if %r1 >= n { break; } }",
            "$at_loop_1: add.u32 %r1, %r1, 1; setp.ge.u32 %ep0, %r1, %er0; @!%ep0 bra $at_loop_1;",
        ),
        (
            "loop { if %p { break; } if %q { continue; } let %a = %r1 + 1; %r1 = %a; }",
            "$at_loop_1: { @%p bra $at_end_2; @%q bra $at_loop_1; .reg .b32 %a; add.u32 %a, %r1, 1; mov.b32 %r1, %a; } \
             bra $at_loop_1; $at_end_2:",
        ),
        (
            "loop { let %a = %r1 + 1; if %a == 3 { break; } }",
            "$at_loop_1: { .reg .b32 %a; add.u32 %a, %r1, 1; setp.eq.u32 %ep0, %a, 3; @!%ep0 bra $at_loop_1; }",
        ),
    ] {
        let got = printed(body);
        if body.starts_with("if %p { trap") {
            let dense = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
            assert_eq!(dense(&got).split("exit;").nth(1).map(|s| s.contains("bra $at_end_")), Some(true), "{got}");
        } else {
            assert_eq!(got, wanted, "{body}");
        }
    }
}

#[test]
fn loops_have_names() {
    for (body, wanted) in [
        (
            "outer: loop { loop { if %p { break outer; } if %q { continue outer; } } }",
            "$at_loop_1: { $at_loop_3: @%p bra $at_end_2; @%q bra $at_loop_1; bra $at_loop_3; } bra $at_loop_1; $at_end_2:",
        ),
        (
            "outer: while %p { loop { break outer; } }",
            "$at_loop_1: @!%p bra $at_end_2; { $at_loop_3: bra $at_end_2; bra $at_loop_3; } bra $at_loop_1; $at_end_2:",
        ),
        // a label to which a branch goes stays
        (
            "again: loop { if %p { bra again; } break; }",
            "again: $at_loop_1: @%p bra again; bra $at_end_2; bra $at_loop_1; $at_end_2:",
        ),
    ] {
        assert_eq!(printed(body), wanted, "{body}");
    }
    for (body, at) in [
        ("a: loop { break b; }", "b"),
        ("a: loop { a: loop { break a; } }", "a"),
        ("a: loop { break; } loop { continue a; }", "a"),
    ] {
        assert_eq!(errors(body), [(163, at.to_owned())], "{body}");
    }
}

/// What the tokens become when repetitions are written out first, as the macro does.
fn expanded(body: &str) -> String {
    let tokens = lex(&module(body)).0.tokens;
    let expanded = crate::parse::repeat::expand(&tokens, 100_000);
    assert!(expanded.diagnostics.is_empty(), "{:?}", expanded.diagnostics);
    let compiled = compile_rust_file(&expanded.tokens, None, None, &[], Default::default());
    let errors: Vec<_> = compiled.diagnostics.iter().filter(|d| d.code.number < 600).collect();
    assert!(errors.is_empty(), "{body}: {errors:?}");
    let (_, body) = compiled.ptx.split_once("mov.u32 %r2, 0;").expect("the beginning");
    body.rsplit_once("ret;").expect("the end").0.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn iterations_declare_a_register_once() {
    for (body, wanted) in [
        (
            "@for I in 0..2 { let %a = %r1 + I; %r2 = %a; }",
            ".reg .b32 %a; add.u32 %a, %r1, 0; mov.b32 %r2, %a; add.u32 %a, %r1, 1; mov.b32 %r2, %a;",
        ),
        (
            "@for I in 0..2 { @for J in 0..2 { let %a: s32 = I + J; } }",
            ".reg .s32 %a; mov.b32 %a, 0; mov.b32 %a, 1; mov.b32 %a, 1; mov.b32 %a, 2;",
        ),
        (
            "@for I in 0..2 { { let %a = I; } let %b{I} = I; }",
            "{ .reg .b32 %a; mov.b32 %a, 0; } .reg .b32 %b0; mov.b32 %b0, 0; { .reg .b32 %a; mov.b32 %a, 1; } \
             .reg .b32 %b1; mov.b32 %b1, 1;",
        ),
        ("if !(%r1 < 4) { ret; }", "setp.lt.u32 %ep0, %r1, 4; @!%ep0 ret;"),
        ("while !%p { %r1 = 1; }", "$at_loop_1: @%p bra $at_end_2; mov.b32 %r1, 1; bra $at_loop_1; $at_end_2:"),
    ] {
        assert_eq!(expanded(body), wanted, "{body}");
    }
    // a piece is in a block of its own
    let piece = "<sm_90, ptx 8.0> .inline next(.reg .b32 %x) { @for I in 0..2 { let %a = %x + 1; %x = %a; } }
        .visible .entry k() { .reg .b32 %x; mov.u32 %x, 0; @for I in 0..2 { next!(%x); } ret; }";
    let expanded = crate::parse::repeat::expand(&lex(piece).0.tokens, 100_000);
    let compiled = compile_rust_file(&expanded.tokens, None, None, &[], Default::default());
    assert_eq!(compiled.ptx.matches(".reg .b32 %a;").count(), 2, "{}", compiled.ptx);
    let twice = errors("let %a = 1; let %a = 2;");
    assert_eq!(twice, [(162, "%a".to_owned())]);
}

#[test]
fn comparisons_are_constants() {
    for (body, wanted) in [
        ("const X: bool = BM == 128 || BM > 256; mov.u32 %r1, X;", "mov.u32 %r1, 1;"),
        ("const X: bool = !(BM > 64 && BM < 128); const Y: bool = X && BM != 128; mov.u32 %r1, Y;", "mov.u32 %r1, 0;"),
        ("const X: u32 = (BM >= 128) as u32 * 4 + (BM == 0) as u32; mov.u32 %r1, X;", "mov.u32 %r1, 4;"),
        ("const X: u64 = BM as u64 * 2; mov.u32 %r1, X;", "mov.u32 %r1, 256;"),
        (
            "const D: u64 = descriptor::wgmma(stride: 8 * BM, swizzle: 128) | 1; mov.b64 %rd1, D;",
            "mov.b64 %rd1, 4611686293305360385;",
        ),
    ] {
        assert_eq!(printed(body), wanted, "{body}");
    }
    // rustc refuses a number that is a comparison
    assert!(!compiled(&module("const X: u32 = BM == 128; mov.u32 %r1, X;")).hir.constants.is_empty());
}

#[test]
fn what_is_wrong_with_expressions_and_control() {
    for (body, code, at) in [
        ("%r1 = %r2 + %rd1;", 162, "%rd1"),
        ("%r1 = %r2 + %i1;", 162, "%i1"),
        ("%r1 = %rd1;", 162, "%rd1"),
        ("%rd1 = %r1 + 1;", 162, "%r1 + 1"),
        ("%r1 = %f1;", 162, "%f1"),
        ("%r1 = %h + 1;", 162, "%h"),
        ("%r1 = f;", 162, "f"),
        ("%r1 = %r2 / 3;", 162, "%r2 / 3"),
        ("%r1 = %r2 / n;", 162, "%r2 / n"),
        ("%r1 = %r2 % R;", 162, "R"),
        ("%r1 = %r2 / 0;", 162, "0"),
        ("%i1 = %i2 / 4;", 162, "%i2 / 4"),
        ("%r1 = %none;", 401, "%none"),
        ("%none = 1;", 401, "%none"),
        ("let %r1 = 1;", 162, "%r1"),
        ("let %a: f32 = 1;", 162, "f32"),
        ("%r1 = %r2 + 5000000000;", 162, "5000000000"),
        ("%p = %r1 > -1;", 162, "-1"),
        ("%r1 = %p + 1;", 162, "%p + 1"),
        ("%r1 = %r1 && %r2;", 162, "%r1 && %r2"),
        ("%r1 = %r2 as f32;", 162, "f32"),
        ("%r1 = %r2 * (4 as u64);", 162, "4 as u64"),
        ("{ .param .b32 call; %r1 = call; }", 162, "call"),
        ("if %r1 { ret; }", 163, "%r1"),
        ("if 1 < 2 { ret; }", 163, "1 < 2"),
        ("break;", 163, "break"),
        ("if %p { continue; }", 163, "continue"),
        ("x = 4;", 140, "x"),
    ] {
        let found = errors(body);
        if code == 140 {
            assert!(!found.is_empty(), "{body}");
        } else {
            assert_eq!(found, [(code, at.to_owned())], "{body}");
        }
    }
}

#[test]
fn no_statements_panic() {
    let text = module(
        "let %a = (%r1 + 2) * n as u64; if %a < 4 { while %p { break; continue; } } else { loop { %r1 = min(%r1, -1) ? 1 : 2; } }
         ld.global.u32 %r1, [x + 4 * (%r2 * n + %r3) - 4]; let %b: s32 = -s;",
    );
    let tokens = lex(&text).0.tokens;
    for at in 0..tokens.len() {
        let mut changed = tokens.clone();
        changed.remove(at);
        for tokens in [&tokens[..at], &changed] {
            compile_rust_file(tokens, None, None, &[], Default::default());
        }
    }
}

#[test]
fn a_peeled_loop_has_two_bodies() {
    assert_eq!(
        printed(
            "@peel FIRST while %r1 < n { @if FIRST { %r2 = 1; } else { %r2 = 2; } %r1 = %r1 + FIRST; if %p { continue; } }"
        ),
        "setp.lt.u32 %ep0, %r1, %er0; @!%ep0 bra $at_end_2; mov.b32 %r2, 1; add.u32 %r1, %r1, 1; @%p bra $at_loop_1; \
         $at_loop_1: setp.lt.u32 %ep1, %r1, %er0; @!%ep1 bra $at_end_2; mov.b32 %r2, 2; add.u32 %r1, %r1, 0; \
         @%p bra $at_loop_1; bra $at_loop_1; $at_end_2:"
    );
    assert_eq!(
        printed("@peel A loop { st.shared.u32 [tile + 4 * A], %r1; if %p { break; } }"),
        "st.shared.u32 [tile+4], %r1; @%p bra $at_end_2; $at_loop_1: st.shared.u32 [tile+0], %r1; \
         @!%p bra $at_loop_1; $at_end_2:"
    );
}

#[test]
fn assertions_hold_or_are_errors() {
    for right in [
        "const _: () = assert!(BM % 64 == 0);",
        "const _: () = assert!(BM < 256, \"small\");",
        "const _: () = assert!(R > 4);",
    ] {
        assert_eq!(errors(right), [], "{right}");
    }
    for (wrong, code, at) in [
        ("const _: () = assert!(BM == 64);", 164, "BM == 64"),
        ("@for I in 0..4 { const _: () = assert!(I < 3, \"few\"); }", 164, "I < 3"),
        ("const _: () = assert!();", 140, ""),
        ("const _: u32 = 4;", 155, "const _: u32"),
    ] {
        let found = errors(wrong);
        assert!(code == 140 && !found.is_empty() || found == [(code, at.to_owned())], "{wrong}: {found:?}");
    }
    let module = compiled(&module("const _: () = assert!(R > 4);"));
    assert_eq!(module.hir.constants.assertions.len(), 1);
}

#[test]
fn descriptors_are_numbers() {
    for (body, wanted) in [
        ("mov.b64 %rd1, descriptor::wgmma(stride: 8 * BM, swizzle: 128);", "mov.b64 %rd1, 4611686293305360384;"),
        (
            "const D: u64 = descriptor::tcgen05(leading: 16, stride: 1024, swizzle: none); mov.b64 %rd1, D >> 32;",
            "mov.b64 %rd1, 70368744194112 >> 32;",
        ),
        (
            "%rd1 = descriptor::wgmma(stride: 1024, swizzle: 128) | (%r1 >> 4) as u64;",
            "shr.u32 %er0, %r1, 4; cvt.u64.u32 %erd0, %er0; or.b64 %rd1, %erd0, 4611686293305360384;",
        ),
        (
            "mov.b32 %r1, descriptor::instruction(kind: f16, d: f32, a: bf16, b: bf16, m: 128, n: 128);",
            "mov.b32 %r1, 136316048;",
        ),
    ] {
        let got = printed(body);
        if body.starts_with("const") {
            assert!(got.starts_with("mov.b64 %rd1, ") && got.contains(">>"), "{got}");
        } else {
            assert_eq!(got, wanted, "{body}");
        }
    }
    for (body, code, at) in [
        ("mov.b64 %rd1, descriptor::wgmma(stride: 1000, swizzle: 128);", 165, "1000"),
        ("mov.b64 %rd1, descriptor::wgmma(stride: 1024);", 165, "descriptor::wgmma"),
        ("mov.b64 %rd1, descriptor::wgmma(stride: R, swizzle: 64);", 156, "R"),
        ("mov.b64 %rd1, descriptor::wmma(stride: 16);", 165, "descriptor::wmma"),
    ] {
        assert_eq!(errors(body), [(code, at.to_owned())], "{body}");
    }
}

#[test]
fn regions_are_offsets() {
    let region = ".region tile: SIZE { .b8 first[10]; .b64 full[2], empty[2]; .align 4 .b32 last; }";
    for (body, wanted) in [
        ("mbarrier.init.shared::cta.b64 [full + 8], 1;", "mbarrier.init.shared::cta.b64 [bar+24], 1;"),
        ("mov.u32 %r1, empty; st.shared.u32 [last], SIZE;", "mov.u32 %r1, bar+32; st.shared.u32 [bar+48], 52;"),
        ("ld.shared.b8 %r1, [first];", "ld.shared.b8 %r1, [bar];"),
        (
            "%r1 = full / 16; st.shared.u32 [full + 8 * %r1 + 8], %r1;",
            "mov.b32 %er0, bar; add.u32 %er1, %er0, 16; shr.u32 %r1, %er1, 4; mov.b32 %er2, bar; \
             mad.lo.u32 %er3, %r1, 8, %er2; st.shared.u32 [%er3+24], %r1;",
        ),
    ] {
        assert_eq!(printed(&format!("{} {body}", region.replace("tile", "bar"))), wanted, "{body}");
    }
    let wait = "<sm_90, ptx 8.0> .extern .shared .align 8 .b8 smem[]; .region smem { .b64 full[2]; }
        .inline wait(.shared .b64 at) { mbarrier.init.shared::cta.b64 [at + 8], 1; }
        .visible .entry k() { wait!(full); ret; }";
    assert!(compiled(wait).ptx.contains("[smem+8], 1;"), "{:?}", compiled(wait).diagnostics);
    for (body, code, at) in [
        (".region none { .b8 x[4]; }", 166, "none"),
        (".region bar { .align 16 .b8 x[4]; }", 166, "16"),
        (".region bar { .b8 x[R]; }", 156, "R"),
        (".region bar { .b8 x[-1]; }", 166, "-1"),
        (".region bar { .b8 x, x; }", 121, "x"),
        (".region bar { .b8 BM; }", 121, "BM"),
        (".region tile { .b64 x; }", 166, ".b64"),
    ] {
        let found = errors(body);
        assert!(found.len() == 1 && found[0].1 == at && (found[0].0 == code || code == 121), "{body}: {found:?}");
    }
}
