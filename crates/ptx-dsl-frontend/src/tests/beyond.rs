//! Cases in which ptxas and the manual differ, or the manual is silent: our verdicts agree with those of ptxas.

use super::{errors, helps_hold};
use crate::lex::lex;
use ptx_dsl_test_support::ptxas;

/// The error codes of each module; ptxas refuses those that have any.
#[track_caller]
fn modules(cases: &[(&str, &[u16])]) {
    let mut texts = Vec::new();
    for (text, want) in cases {
        helps_hold(text);
        let (lexed, _) = lex(text);
        let compiled = crate::compile(&lexed.tokens);
        let got: Vec<u16> = errors(&compiled.diagnostics).iter().map(|d| d.code.number).filter(|c| *c < 600).collect();
        assert_eq!(got, *want, "{text}\n{:#?}", compiled.diagnostics);
        texts.push((text.to_string(), text.to_string()));
    }
    for ((text, want), verdict) in cases.iter().zip(ptxas::assemble_all(&texts).unwrap_or_default()) {
        assert_eq!(verdict.is_ok(), want.is_empty(), "{text}\n{verdict:?}");
    }
}

/// The same for statements, for a version and target.
#[track_caller]
fn statements(version: &str, target: &str, cases: &[(&str, &[u16])]) {
    let whole: Vec<(String, &[u16])> = cases
        .iter()
        .map(|(statement, want)| {
            let text = format!(
                ".version {version}\n.target {target}\n.address_size 64\n\
                 .global .align 8 .u32 t[4];\n.shared .align 16 .b8 s[64];\n.global .texref tex;\n\
                 .visible .entry k(.param .u64 p)\n{{\n.reg .b32 %r<9>; .reg .u32 %u<3>; .reg .s32 %s<3>;\n\
                 .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %e<3>; .reg .f16x2 %h<9>; .reg .pred %p<5>;\n\
                 ld.param.u64 %d1, [p];\n{statement}\nret;\n}}\n"
            );
            (text, *want)
        })
        .collect();
    let cases: Vec<(&str, &[u16])> = whole.iter().map(|(text, want)| (text.as_str(), *want)).collect();
    modules(&cases);
}

#[test]
fn declarations_of_old_compilers() {
    let old = ".version 2.3\n.target sm_20\n.address_size 64\n";
    let kernel = ".entry k() { .reg .u32 %x; mov.u32 %x, 1; call (%x), f, (%x); ret; }\n";
    let defined = ".func (.reg .u32 r) f (.reg .u32 a) { mov.u32 r, a; ret; }\n";
    let codes = &[];
    for head in [old.to_string(), old.replace("2.3", "9.0").replace("sm_20", "sm_75")] {
        modules(&[
            // Without `;`, as nvcc 2 and 3 wrote them.
            (&format!("{head}.func (.reg .u32 r) f (.reg .u32 a)\n{defined}{kernel}"), codes),
            (&format!("{head}.func (.reg .u32 r) f (.reg .u32 a);\n{defined}{kernel}"), codes),
            (&format!("{head}.visible .func (.reg .u32 r) f (.reg .u32 a)\n.visible {defined}{kernel}"), codes),
        ]);
    }
    modules(&[
        (".version 3.0\n.target sm_21\n.address_size 64\n.entry k() { ret; }\n", &[]),
        (".version 2.3\n.target sm_21\n.address_size 64\n.entry k() { ret; }\n", &[]),
    ]);
}

#[test]
fn registers_of_the_module() {
    let body = ".entry k() { mov.u32 %x, 1; st.local.u32 [l], %x; ret; }\n";
    for (version, codes) in [("2.3", &[][..]), ("3.0", &[509, 509]), ("9.0", &[509, 509])] {
        let text =
            format!(".version {version}\n.target sm_20\n.address_size 64\n.reg .u32 %x;\n.local .u32 l;\n{body}");
        let text = if version == "9.0" { text.replace("sm_20", "sm_75") } else { text };
        modules(&[(&text, codes)]);
        let (lexed, _) = lex(&text);
        let warnings = crate::compile(&lexed.tokens).diagnostics.iter().filter(|d| d.code.number == 519).count();
        assert_eq!(warnings, if codes.is_empty() { 2 } else { 0 }, "{version}");
    }
}

#[test]
fn vector_parameters() {
    let module = |argument: &str| {
        format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.func f(.reg .v2 .b32 a) {{ ret; }}\n\
             .visible .entry k() {{ .reg .v2 .b32 %v; .reg .v4 .b32 %w; .reg .b32 %r; .reg .b64 %d; .reg .v2 .u32 %u;\n\
             mov.b32 %r, 1; mov.b32 %v.x, %r; mov.b32 %v.y, %r; call f, ({argument}); ret; }}\n"
        )
    };
    modules(&[
        (&module("%v"), &[]),
        (&module("%u"), &[]),
        (&module("%w"), &[506]),
        (&module("%r"), &[506]),
        (&module("%d"), &[506]),
    ]);
}

#[test]
fn sums_as_values() {
    statements(
        "8.0",
        "sm_90",
        &[
            ("st.global.u64 [%d1], t + 1;", &[]),
            ("st.global.u64 [%d1], t;", &[415]),
            ("st.global.u32 [%d1], s + 4;", &[]),
            ("mov.u64 %d2, t + 4;", &[]),
            ("add.u64 %d2, %d1, t + 4;", &[]),
        ],
    );
}

#[test]
fn halves_as_integers() {
    statements(
        "8.0",
        "sm_90",
        &[
            ("add.u32 %h1, %h2, %h3;", &[]),
            ("add.s32 %r1, %h2, %r3;", &[]),
            ("mul.wide.u32 %d2, %h1, %h2;", &[]),
            ("ld.global.u32 %h1, [%d1];", &[]),
            ("ld.global.s16 %h1, [%d1];", &[]),
            ("add.f32 %f1, %h1, %f2;", &[407]),
            ("add.u64 %d2, %h1, %d1;", &[407]),
            ("setp.eq.u32 %p1, %h1, %r1;", &[]),
            ("tex.a1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tex, {%r1, %f1}];", &[]),
            ("tex.a1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tex, {%r1, %h1}];", &[]),
            ("tex.a1d.v4.f16x2.f32 {%h1, %h2, %h3, %h4}, [tex, {%r1, %f1}];", &[204]),
            ("tex.a1d.v2.f16x2.f32 {%h1, %h2}, [tex, {%r1, %f1}];", &[]),
            ("tex.a2d.v2.f16x2.f32 {%h1, %h2}, [tex, {%r1, %f1, %f2, %f3}];", &[]),
            ("tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tex, {%r1}];", &[]),
            ("tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tex, {%h1}];", &[407]),
        ],
    );
}

#[test]
fn negated_predicates() {
    statements(
        "8.2",
        "sm_90",
        &[
            ("lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 5, !%p2;", &[]),
            ("lop3.and.b32 _|%p1, %r2, %r3, %r4, 5, !%p2;", &[]),
            ("selp.b32 %r1, 1, 0, !%p1;", &[]),
            ("and.pred %p1, %p2, !%p3;", &[]),
            ("or.pred %p1, !%p2, !%p3;", &[]),
            ("not.pred %p1, !%p2;", &[]),
            ("mov.pred %p1, !%p2;", &[]),
            ("slct.b32.s32 %r1, %r2, %r3, !%r4;", &[419]),
            ("and.pred !%p1, %p2, %p3;", &[419]),
            ("and.b32 %r1, %r2, !%r3;", &[419]),
            ("add.u32 %r1, %r2, !%p3;", &[419]),
        ],
    );
}

#[test]
fn sizes_of_bulk_copies() {
    let into = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d1],";
    let out = "cp.async.bulk.global.shared::cta.bulk_group [%d1], [s],";
    for (size, codes) in [("16", &[][..]), ("1048560", &[]), ("1048576", &[409]), ("1048592", &[409]), ("-16", &[409])]
    {
        statements(
            "8.6",
            "sm_100a",
            &[
                (&format!("{into} {size}, [s];"), codes),
                (&format!("{out} {size};"), codes),
                (&format!("cp.async.bulk.prefetch.L2.global [%d1], {size};"), codes),
                (&format!("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [s], {size};"), codes),
            ],
        );
    }
    statements(
        "8.6",
        "sm_100a",
        &[
            ("st.bulk.shared::cta [%d1], 16777208, 0;", &[]),
            ("st.bulk.shared::cta [%d1], 16777216, 0;", &[]),
            ("st.bulk.shared::cta [%d1], 16777224, 0;", &[409]),
        ],
    );
}

#[test]
fn labels_in_sections() {
    let section = |version: &str, item: &str| {
        format!(
            ".version {version}\n.target sm_75\n.address_size 64\n.visible .entry k() {{ a: ret; }}\n\
             .section .debug_info {{ {item} }}\n"
        )
    };
    modules(&[
        (&section("6.5", ".b32 1"), &[]),
        (&section("6.5", "l: .b32 1"), &[301]),
        (&section("7.0", "l: .b32 1\n .b64 l"), &[]),
        (&section("7.4", "l: .b32 1\n .b64 m-l\n m: .b8 0"), &[301]),
        (&section("7.5", "l: .b32 1\n .b64 m-l\n m: .b8 0"), &[]),
        (&section("7.5", ".b32 .debug_abbrev\n l: .b8 0"), &[]),
        (&section("7.5", "l\n .b8 0"), &[110]),
        (&section("7.5", "l.m: .b8 0"), &[110]),
    ]);
}

#[test]
fn names_of_targets() {
    let module = |version: &str, target: &str| {
        format!(".version {version}\n.target {target}\n.address_size 64\n.visible .entry k() {{ ret; }}\n")
    };
    modules(&[(&module("8.8", "sm_101a"), &[]), (&module("9.0", "sm_110a"), &[])]);
    // ptxas knows no architecture of the old names, and takes them in PTX for the new ones.
    for name in ["sm_101", "sm_101a", "sm_101f"] {
        let text = module("9.0", name);
        helps_hold(&text);
        let found = errors(&crate::compile(&lex(&text).0.tokens).diagnostics);
        assert!(matches!(found.as_slice(), [d] if d.code.number == 307 && d.message.contains("sm_110")), "{found:#?}");
    }
}

#[test]
fn vectors_of_mixed_kinds() {
    statements(
        "8.0",
        "sm_90",
        &[
            ("st.global.v2.b32 [%d1], {%r1, %f1};", &[]),
            ("st.global.v2.b32 [%d1], {%u1, %f1};", &[414]),
            ("st.global.v2.b32 [%d1], {%f1, %s1};", &[414]),
            ("mov.b64 %d2, {%u1, %f1};", &[414]),
            ("mov.b64 %d2, {%r1, %f1};", &[]),
        ],
    );
}
