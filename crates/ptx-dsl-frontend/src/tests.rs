//! Kernels with their errors marked in the text: `// error: PTX0207` stands on the line of the error, as often as there are,
//! and `// warning: PTX0516` on that of a warning.

use crate::diag::{Diagnostic, Severity};
use crate::hir;
use crate::isa::{FAMILIES, syntax};
use crate::lex::lex;
use crate::lines::Lines;

mod beyond;
#[path = "../../../tests/support/corpus.rs"]
pub(crate) mod corpus;
mod directives;
#[path = "../../../tests/support/helps.rs"]
mod helps;
mod matrix;
#[path = "../../../tests/support/ptxas.rs"]
mod ptxas;
mod tcgen05;
mod texture;
mod verdicts;

/// The errors that a text gives and those that it is marked with, by line, both as `line PTXnnnn`.
fn verdicts(text: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
    let (lexed, early) = lex(text);
    let mut all = early;
    let compiled = crate::compile(&lexed.tokens);
    all.extend(compiled.diagnostics);
    let mut got = Vec::new();
    let mut full = Vec::new();
    // Protocol and flow (06xx) have tests of their own.
    for d in all.iter().filter(|d| d.code < 600) {
        let line = Lines::new(text).line_column(lexed.bytes(d.span).start).0;
        let kind = if d.severity == Severity::Error { "error" } else { "warning" };
        got.push(format!("{line} {kind} PTX{:04}", d.code));
        full.push(format!("{line}: PTX{:04} {} | {:?} | {:?}", d.code, d.message, d.notes, d.helps));
    }
    let mut want = Vec::new();
    for (i, line) in text.lines().enumerate() {
        for kind in ["error", "warning"] {
            for mark in line.split(&format!("{kind}: ")).skip(1) {
                want.push(format!("{} {kind} {}", i + 1, mark.split_whitespace().next().unwrap_or("")));
            }
        }
    }
    got.sort();
    want.sort();
    (got, want, full)
}

/// Snippets read registers that nothing wrote, which is a warning.
fn errors(found: &[Diagnostic]) -> Vec<Diagnostic> {
    found.iter().filter(|d| d.severity == Severity::Error).cloned().collect()
}

/// What the helps say is done, and mends.
#[track_caller]
fn helps_hold(text: &str) {
    helps::hold(&[(String::new(), text.to_string())]);
}

#[track_caller]
fn case(text: &str) {
    let (got, want, full) = verdicts(text);
    assert_eq!(got, want, "\n{}\n", full.join("\n"));
    helps_hold(text);
}

/// A kernel around a body, for `sm_100a`.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_100a\n.address_size 64\n.shared .align 8 .b64 sh[4];\n.global .u32 g;\n.const .u32 c;\n\
         .visible .entry k(.param .u64 p, .param .f32 a)\n{{\n\
         .reg .b32 %r<10>; .reg .u32 %u; .reg .s32 %s; .reg .f32 %f<3>; .reg .b64 %rd<5>; .reg .f64 %d; .reg .b16 %h;\n\
         .reg .pred %p<3>; .reg .b128 %q; .reg .u16 %uh; .reg .b64 st; .reg .v2 .b32 %v;\n{body}\n}}\n"
    )
}

// What ptxas 13.5 says about these lines was looked up one by one; where a line differs, a comment says why.
#[test]
fn register_types() {
    case(&kernel(
        "add.u32 %r0, %f1, 1; // error: PTX0407
         add.f32 %r0, %r1, %f1;
         add.f32 %u, %u, %f1; // error: PTX0407 error: PTX0407
         add.u32 %s, %u, %r1;
         add.u32 %h, %u, %r1; // error: PTX0407
         mov.b32 %r0, %f1;
         mov.u32 %r0, %f1; // error: PTX0407
         mov.f32 %f0, %u; // error: PTX0407
         mov.f32 %f0, %r1;
         selp.b32 %f0, %f1, %u, %p0;
         selp.u32 %f0, %f1, %r1, %p0; // error: PTX0407 error: PTX0407
         selp.b32 %r0, %r1, %r2, %r3; // error: PTX0407
         setp.eq.u32 %r0, %r1, %r2; // error: PTX0407
         xor.b32 %u, %s, %f0;
         shl.b64 %rd0, %rd1, %r1;
         shl.b64 %rd0, %rd1, %rd1; // error: PTX0407
         mul.wide.u32 %rd0, %r1, 4;
         mul.wide.u32 %r0, %r1, 4; // error: PTX0407
         add.f16 %h, %h, %h;
         add.f16 %uh, %h, %h; // error: PTX0407",
    ));
}

#[test]
fn wider_registers() {
    case(&kernel(
        "ld.global.u8 %r0, [%rd1];
         ld.global.u8 %rd0, [%rd1];
         ld.global.u8 %f0, [%rd1]; // error: PTX0407
         ld.global.f32 %rd0, [%rd1];
         ld.global.f32 %d, [%rd1]; // error: PTX0407
         ld.global.f32 %u, [%rd1]; // error: PTX0407
         ld.global.b16 %f0, [%rd1];
         st.global.b16 [%rd1], %f0;
         ld.param.u64 %r0, [p]; // error: PTX0407
         cvt.u32.u16 %r0, %r1;
         cvt.rzi.u32.f32 %r0, %f1;",
    ));
}

#[test]
fn constants() {
    case(&kernel(
        "add.f32 %f0, %f1, 1; // error: PTX0408
         add.f32 %f0, %f1, 1.0;
         add.f64 %d, %d, 0f3F800000;
         add.f32 %f0, %f1, 0d3FF0000000000000;
         mov.b32 %r0, 0f3F800000;
         mov.u32 %r0, 0f3F800000; // error: PTX0408
         mov.b32 %r0, 1.0; // error: PTX0408
         st.global.f32 [%rd1], 1; // error: PTX0408
         add.u32 %r0, 1, 2;
         add.s32 %r0, %r0, -1;
         add.f16x2 %r0, %r1, 5; // error: PTX0415
         fma.rn.f32x2 %rd0, 5, %rd1, %rd2; // error: PTX0408
         mov.u32 %r0, WARP_SZ;",
    ));
}

#[test]
fn names_and_scopes() {
    case(&kernel(
        "add.u32 %r0, %r1, %rx; // error: PTX0401
         mov.u32 %r1, %r10; // error: PTX0401
         bra nowhere; // error: PTX0401
         bra %r1; // error: PTX0403
         { .reg .b64 %r1; mov.u64 %r1, 5; bra inner; inner: }
         bra inner; // error: PTX0401
         .reg .b32 %r1; // error: PTX0402
         .reg .b64 %u; // error: PTX0402
         out: bra out;
         .reg .b32 g; add.u32 g, g, 1;",
    ));
}

#[test]
fn special_registers() {
    case(&kernel(
        "add.u32 %r0, %tid.x, 1; // error: PTX0411
         cvt.u64.u32 %rd0, %tid.x;
         mov.u32 %r0, %tid; // error: PTX0414
         mov.b16 %h, %tid.x;
         mov.u64 %rd0, %tid.x; // error: PTX0407
         mov.u64 %rd0, %clock64;
         mov.u32 %f0, %tid.x; // error: PTX0407
         st.global.u32 [%rd1], %tid.x; // error: PTX0411
         mov.u32 %tid.x, %r0; // error: PTX0411
         @%r0 bra L; // error: PTX0410
         @!%p0 bra L;
         L:",
    ));
}

#[test]
fn addresses() {
    case(&kernel(
        "ld.shared.u32 %r0, [g]; // error: PTX0413
         ld.global.u32 %r0, [sh]; // error: PTX0413
         ld.u32 %r0, [sh];
         ld.u32 %r0, [c]; // error: PTX0413
         ld.shared.u32 %r0, [sh+2]; // error: PTX0412
         ld.shared.u32 %r0, [sh+4];
         ld.shared.u32 %r0, [%r1+-4];
         ld.shared.u32 %r0, [%r1+8-4];
         ld.shared.u32 %r0, [sh+4*2];
         ld.shared.u32 %r0, [%r1-4]; // error: PTX0416
         ld.shared.u32 %r0, [4+sh]; // error: PTX0416
         mov.u32 %r0, sh-4; // error: PTX0416
         ld.global.u32 %r0, [%f1]; // error: PTX0416
         ld.global.u32 %r0, [4]; // error: PTX0416
         ld.shared.u32 %r0, [sh+%r1]; // error: PTX0416
         ld.param.u32 %r0, [g]; // error: PTX0413
         st.param.u64 [p], %rd1; // error: PTX0420
         mov.u64 %rd0, sh;
         mov.u32 %r0, g;
         mov.b64 %rd0, g+4;
         mov.f64 %d, g; // error: PTX0408
         add.u64 %rd0, g, 4; // error: PTX0415
         mov.u64 %rd0, k;",
    ));
}

#[test]
fn vectors_and_sinks() {
    case(&kernel(
        "mov.b64 {%r0,%r1}, %rd0;
         mov.b64 {%f0,%r1}, %d;
         mov.b64 %rd0, {%r0,1};
         mov.b64 {%r0,_}, %rd0;
         mov.b64 %rd0, {%r0,_}; // error: PTX0406
         ld.global.v2.u32 {%r0,%r1}, [%rd0];
         ld.global.v2.u32 {%r0,%r1,%r2}, [%rd0]; // error: PTX0414
         ld.global.v2.u32 %v, [%rd0];
         ld.global.v2.u32 %rd0, [%rd0]; // error: PTX0414
         st.global.v2.u32 [%rd0], {%r0,1};
         mov.b32 %r0, %v.x;
         mov.b128 %q, {%rd0,%rd1};
         mov.u32 _, %r0; // error: PTX0406
         ld.global.u32 _, [%rd0]; // error: PTX0406
         ld.v2.b16 {%r0, %h}, [%rd0]; // error: PTX0414",
    ));
}

#[test]
fn qualifiers() {
    case(&kernel(
        "ld.relaxed.global.u32 %r1, [%rd1]; // error: PTX0207
         ld.gpu.global.u32 %r1, [%rd1]; // error: PTX0207
         ld.u32.global %r1, [%rd1];
         ld.global.global.u32 %r1, [%rd1]; // error: PTX0203
         ld.globl.u32 %r1, [%rd1]; // error: PTX0201
         ld.global %r1, [%rd1]; // error: PTX0202
         lod.global.u32 %r1, [%rd1]; // error: PTX0200
         mbarrier.foo.b64 [sh]; // error: PTX0200
         add.u32 %r1, %r2; // error: PTX0404
         add.rn.u32 %r1, %r2, %r3; // error: PTX0204
         setp.eq.and.u32 %p1|%p2, %r1, %r2, !%p0;",
    ));
}

#[test]
fn mbarriers() {
    case(&kernel(
        "mbarrier.init.shared::cta.b64 [sh], 1;
         mbarrier.arrive.shared::cta.b64 st, [sh], 1;
         mbarrier.arrive.shared::cta.b64 _, [sh], %rd1; // error: PTX0407
         mbarrier.arrive.relaxed.shared::cta.b64 _, [sh], 1; // error: PTX0207
         mbarrier.arrive.cta.shared::cta.b64 _, [sh], 1; // error: PTX0207
         mbarrier.arrive.shared::cta.cta.release.b64 _, [sh], 1;
         mbarrier.arrive.release.release.cta.shared::cta.b64 _, [sh], 1; // error: PTX0203
         mbarrier.arrive.shared::cluster.b64 st, [sh], 1; // error: PTX0406
         mbarrier.arrive.shared::cluster.b64 _, [sh], 1;
         mbarrier.arrive.b64.shared::cta _, [sh], 1;
         mbarrier.arrive.expect_tx.cluster.relaxed.shared::cta.b64 st, [sh], 16;",
    ));
}

#[test]
fn one_mistake_is_one_error() {
    case(
        ".version 8.6\n.target sm_90\n.entry k() { .reg .b33 %x; mov.u32 %x, 1; add.u32 %x, %x, 1; } // error: PTX0143",
    );
}

#[test]
fn versions_and_targets() {
    case(".version 7.0\n.target sm_90 // error: PTX0308\n.entry k() { ret; }");
    case(".version 8.6\n.target sm_91 // error: PTX0307\n.entry k() { ret; }");
    case(".version 9.9 // error: PTX0306\n.target sm_90\n.entry k() { ret; }");
    case(
        ".version 7.0\n.target sm_80\n.shared .b64 sh;\n.entry k() { .reg .b64 %s; .reg .b32 %r; .reg .pred %p;
         barrier.cluster.arrive; // error: PTX0301
         mbarrier.try_wait.b64 %p, [sh], %s; // error: PTX0301
         mov.u32 %r, %cluster_ctarank; // error: PTX0301
         ret; }",
    );
    case(
        ".version 8.6\n.target sm_80\n.entry k() { .reg .b32 %r;
         barrier.cluster.arrive; // error: PTX0302
         mov.u32 %r, %cluster_ctarank; // error: PTX0302
         ret; }",
    );
}

#[test]
fn kernels() {
    case(
        ".version 8.6\n.target sm_90
         .entry a() .reqntid 32 .maxntid 32 { ret; } // error: PTX0503
         .entry b() .minnctapersm 2 { ret; } // warning: PTX0516
         .entry c() .reqntid 2000 { ret; } // error: PTX0504
         .entry d() .reqnctapercluster 2 .maxclusterrank 4 { ret; } // error: PTX0503
         .entry e() .maxnreg 0 { ret; } // error: PTX0504
         .entry f(.param .b8 n[5000]) { ret; }
         .entry g(.param .b8 n[40000]) { ret; } // error: PTX0502
         .entry h() { .shared .b8 big[50000]; ret; } // error: PTX0507
         .shared .u32 s = 4; // error: PTX0508
         .global .f32 x = 1; // error: PTX0508
         .global .u32 y[2] = {1, 2, 3}; // error: PTX0508",
    );
}

#[test]
fn calls() {
    case(
        ".version 8.6\n.target sm_90
         .func (.param .b32 r0) foo(.param .b32 a, .param .b64 b);
         .func bar(.reg .b32 a) { ret; }
         .entry k() {
         .reg .b32 %r<4>; .reg .b64 %rd<4>; .param .b32 x; .param .b64 y; .param .b32 z;
         st.param.b32 [x], %r1;
         call (z), foo, (x, y);
         call (z), foo, (x); // error: PTX0506
         call (z), foo, (y, y); // error: PTX0506
         call foo, (x, y); // error: PTX0506
         call bar, (%r1);
         call bar, (5);
         call nofn, (%r1); // error: PTX0401
         ld.param.b32 %r2, [z];
         ret; }",
    );
}

#[test]
fn layout() {
    let text = ".version 8.6\n.target sm_90
        .global .u32 one = 1;
        .global .align 8 .u64 where_one = generic(one)+4;
        .const .u8 bytes[] = {1, 2, 3};
        .const .f32 half = 0.5;
        .extern .shared .align 16 .b8 dyn[];
        .entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20]) { .shared .u8 s; .shared .b64 t; .local .b32 l[3]; ret; }
        .entry m() { .local .b32 l; ret; }";
    helps_hold(text);
    let (lexed, _) = lex(text);
    let compiled = crate::compile(&lexed.tokens);
    assert_eq!(compiled.diagnostics, vec![]);
    let m = &compiled.hir;
    let offsets: Vec<_> = m.vars.iter().map(|v| (v.name.as_str(), v.offset, v.size)).collect();
    assert_eq!(
        offsets,
        [
            ("one", 0, 4),
            ("where_one", 8, 8),
            ("bytes", 0, 3),
            ("half", 4, 4),
            ("dyn", 16, 0),
            ("a", 0, 1),
            ("b", 8, 8),
            ("c", 16, 20),
            ("s", 0, 1),
            ("t", 8, 8),
            ("l", 0, 12),
            ("l", 12, 4)
        ]
    );
    assert_eq!(m.const_image, [1, 2, 3, 0, 0, 0, 0, 0x3f]);
    let mut image = vec![1, 0, 0, 0, 0, 0, 0, 0];
    image.extend_from_slice(&((1u64 << 40) + 4).to_le_bytes());
    assert_eq!(m.global_image, image);
    assert_eq!((m.shared_size, m.functions[0].local_end, m.functions[1].local_end), (16, 12, 16));
}

/// Every order of the qualifiers that are no types gives the same instruction, spelt in the manual's order.
#[test]
fn order_of_qualifiers() {
    let spellings: &[(&str, &[&str], &str)] = &[
        ("ld", &["relaxed", "gpu", "global", "u32"], "%r0, [%rd0]"),
        ("ld", &["acquire", "cluster", "shared::cluster", "b64"], "%rd0, [%rd1]"),
        ("st", &["release", "sys", "global", "v2", "b32"], "[%rd0], {%r0, %r1}"),
        ("mbarrier.arrive.expect_tx", &["relaxed", "cluster", "shared::cta", "b64"], "st, [sh], 16"),
        ("mbarrier.try_wait", &["acquire", "cluster", "shared::cta", "b64"], "%p0, [sh], st"),
        ("atom", &["acq_rel", "gpu", "global", "add", "u32"], "%r0, [%rd0], 1"),
        ("fma", &["rn", "ftz", "sat", "f32"], "%f0, %f0, %f1, %f2"),
        ("setp", &["lt", "and", "ftz", "f32"], "%p0, %f0, %f1, %p1"),
        ("cvt", &["rzi", "ftz", "sat", "s32", "f32"], "%r0, %f0"),
    ];
    for (opcode, words, operands) in spellings {
        let canonical = format!("{opcode}.{}", words.join("."));
        let mut orders = vec![Vec::new()];
        for w in *words {
            let mut next = Vec::new();
            for o in &orders {
                for i in 0..=o.len() {
                    let mut p: Vec<&str> = o.clone();
                    p.insert(i, w);
                    next.push(p);
                }
            }
            orders = next;
        }
        let types =
            |o: &[&str]| -> Vec<String> { o.iter().filter(|w| syntax::is_type(w)).map(|w| w.to_string()).collect() };
        orders.retain(|o| types(o) == types(words));
        let body: String = orders.iter().map(|o| format!("{opcode}.{} {operands};\n", o.join("."))).collect();
        let text = kernel(&body);
        helps_hold(&text);
        let (lexed, _) = lex(&text);
        let compiled = crate::compile(&lexed.tokens);
        assert_eq!(errors(&compiled.diagnostics), vec![], "{canonical}");
        for spelling in &compiled.hir.spelling {
            assert_eq!(spelling.as_deref(), Some(canonical.as_str()));
        }
        // What is printed checks and prints the same again.
        let (again, _) = lex(&compiled.ptx);
        let second = crate::compile(&again.tokens);
        assert_eq!((errors(&second.diagnostics), second.ptx), (vec![], compiled.ptx));
    }
}

/// What ptxas 13.5 reads as a part of the opcode stays behind it; an operation comes before its `.popc`.
#[test]
fn qualifiers_that_do_not_move() {
    for (text, want) in [
        ("mad.u32.lo %r0, %r0, %r1, %r0;", Some(204)),
        ("mul.u32.wide %rd0, %r0, %r1;", Some(204)),
        ("cvta.global.to.u64 %rd0, %rd1;", Some(204)),
        ("shf.wrap.l.b32 %r0, %r0, %r1, %r0;", Some(204)),
        ("mbarrier.arrive.relaxed.cluster.expect_tx.b64 st, [sh], 16;", Some(204)),
        ("fence.async.proxy.global;", Some(204)),
        ("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.popc.and {%r0, %r1}, {%r0}, {%r0}, {%r0, %r1};", Some(204)),
        ("mma.sync.aligned.and.m8n8k128.row.col.s32.b1.b1.s32.popc {%r0, %r1}, {%r0}, {%r0}, {%r0, %r1};", None),
        ("mad.lo.u32 %r0, %r0, %r1, %r0;", None),
    ] {
        helps_hold(&kernel(text));
        let (lexed, _) = lex(&kernel(text));
        let found = crate::compile(&lexed.tokens).diagnostics;
        assert_eq!(errors(&found).first().map(|d| d.code), want, "{text}: {found:?}");
    }
}

/// The budget is 20 ms for 200 instructions, unoptimised; ten times that fails the test, so that a slow machine does not.
#[test]
fn fast_enough() {
    let line =
        "ld.global.u32 %r1, [%rd1+4]; add.u32 %r2, %r1, 7; setp.lt.u32 %p1, %r2, %r1; fma.rn.f32 %f0, %f1, %f2, %f0;\n";
    let text = kernel(&line.repeat(50));
    helps_hold(&text);
    let (lexed, _) = lex(&text);
    let (ast, _) = crate::parse::parse(&lexed.tokens);
    let start = std::time::Instant::now();
    let diags = crate::compile_ast(ast).diagnostics;
    let took = start.elapsed();
    assert_eq!(errors(&diags), vec![]);
    println!("200 instructions: {took:?}");
    assert!(took.as_millis() < 200, "{took:?}");
}

/// Every form of the table compiles, and every operand of it has a specification.
#[test]
fn the_table_compiles() {
    let mut bad = Vec::new();
    for (family, list) in FAMILIES {
        for entry in *list {
            let forms = syntax::forms(entry);
            assert!(!forms.is_empty(), "{family}: {}", entry.opcode);
            for form in &forms {
                let mut operands: Vec<&syntax::OpForm> = form.operands.iter().collect();
                while let Some(o) = operands.pop() {
                    match &o.shape {
                        syntax::Shape::Addr(parts) | syntax::Shape::Vector(parts) if !parts.is_empty() => {
                            operands.extend(parts)
                        }
                        syntax::Shape::Sink | syntax::Shape::Number(_) => {}
                        _ if entry.operands.iter().any(|s| s.name == o.name) => {}
                        _ => bad.push(format!("{family}: {}: {}", form.line, o.name)),
                    }
                }
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// Nothing panics on broken text: every prefix and every text with a token left out is checked.
#[test]
fn broken_texts() {
    let text = kernel(
        "ld.global.v2.u32 {%r0,%r1}, [%rd0+4]; @%p0 bra L; mov.b64 {%r0,_}, %rd0; mbarrier.arrive.shared::cta.b64 st, [sh], 1;
         { .reg .b32 %x<4>; .shared .align 4 .b8 y[4]; add.u32 %x1, %x2, -1; } elect.sync _|%p1, -1; L: ret;",
    );
    helps_hold(&text);
    let (lexed, _) = lex(&text);
    for i in 0..lexed.tokens.len() {
        crate::compile(&lexed.tokens[..i]);
        let mut without = lexed.tokens.clone();
        without.remove(i);
        crate::compile(&without);
        without.insert(i, lexed.tokens[(i * 7 + 3) % lexed.tokens.len()].clone());
        crate::compile(&without);
    }
}

/// Nor on numbers that are larger than anybody wants, wherever one stands.
#[test]
fn large_numbers() {
    let text = ".version 9.3
.target sm_100a
.address_size 64
.file 7 \"a.cu\", 7, 7
.pragma \"x 7\";
.global .align 4 .b8 g[4] = {7, 7};
.global .align 4 .b32 h[2][3] = {{7}, {7}};
.const .u64 c = 7 + 7 * 7;
.shared .align 8 .b64 sh[2];
.func (.param .align 8 .b8 r[16]) f(.reg .b32 a, .param .align 8 .b8 b[16]) { ret; }
.visible .entry k(.param .u64 .ptr .global .align 4 p, .param .align 8 .b8 q[16], .param .b32 w)
.maxntid 7, 7, 7
.minnctapersm 7
.maxnreg 7
.reqnctapercluster 7, 7, 7
{
.reg .b32 %r<7>;
.reg .b64 %rd<7>;
.reg .pred %p<7>;
.local .align 4 .b8 l[7];
.loc 7 7 7
T: .branchtargets L, L;
ld.global.b32 %r1, [%rd1+7];
st.shared.b32 [sh+7], 7;
mov.b32 %r1, g[7];
add.s32 %r1, %r2, 7;
shf.l.wrap.b32 %r1, %r2, %r3, 7;
bar.sync 7, 7;
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [sh], 7;
wgmma.wait_group.sync.aligned 7;
cp.async.bulk.wait_group 7;
setmaxnreg.inc.sync.aligned.u32 7;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [sh], 7;
L: ret;
}";
    let places: Vec<usize> = text.match_indices('7').map(|(at, _)| at).collect();
    for number in [
        "0",
        "18446744073709551615",
        "9223372036854775809",
        "-9223372036854775808",
        "4294967295",
        "0f7F800000",
        "1e999",
    ] {
        for at in &places {
            let followed = helps::followed(&format!("{}{number}{}", &text[..*at], &text[at + 1..]));
            assert!(followed.failures.is_empty(), "{}", followed.failures.join("\n"));
            let (lexed, _) = lex(&format!("{}{number}{}", &text[..*at], &text[at + 1..]));
            crate::compile(&lexed.tokens);
        }
        let aligns = text.replace(".align 4", &format!(".align {number}")).replace("[16]", &format!("[{number}]"));
        crate::compile(&lex(&aligns).0.tokens);
    }
}

/// `x[1]` is scaled by the element: ptxas makes the same machine code of `x[2]` and `[x+8]`.
#[test]
fn indexed_arrays() {
    let text = |body: &str| {
        format!(
            ".version 8.6\n.target sm_90\n.global .b32 x[4];\n.global .b64 y;\n.shared .b64 s[8];\n.entry k(.param .b32 q[4])\n\
             {{ .reg .b32 %r<4>; .reg .b64 %rd<4>;\n{body}\nret; }}"
        )
    };
    let body = "ld.global.b32 %r1, x[2];
         st.global.b32 x[1], %r1;
         ld.shared.b32 %r1, s[2];
         ld.param.b32 %r1, q[3];
         mov.b64 %rd1, x[1+1];
         cvta.global.u64 %rd1, x[1];";
    case(&text(body));
    helps_hold(&text(body));
    let (lexed, _) = lex(&text(body));
    let compiled = crate::compile(&lexed.tokens);
    let offsets: Vec<i64> = compiled.hir.functions[0]
        .body
        .iter()
        .filter_map(|s| match s {
            hir::Stmt::Instr(i) => i.operands.iter().find_map(|a| match a.value {
                hir::Operand::Address(_, n) | hir::Operand::VarAddr(_, n) => Some(n),
                _ => None,
            }),
            _ => None,
        })
        .collect();
    assert_eq!(offsets, [8, 4, 16, 12, 8, 4]);
    case(&text(
        "add.u64 %rd1, x[1], 4; // error: PTX0142
         atom.global.add.u32 %r1, x[1], 1; // error: PTX0142
         ld.global.b64 %rd1, y[1]; // error: PTX0142
         mov.b32 %r1, %r2[1]; // error: PTX0142
         ld.shared.b32 %r1, x[1]; // error: PTX0413
         ld.global.b32 %r1, z[1]; // error: PTX0401
         mov.b64 x[1], %rd1; // error: PTX0415
         ld.global.b32 %r1, x[%r1]; // error: PTX0142",
    ));
}

#[test]
fn unified_addresses() {
    let text = kernel("ld.global.b32 %r1, [%rd1].unified;\nld.volatile.global.b32 %r1, [%rd1];");
    case(&text);
    let text = kernel("ld.weak.global.b32 %r1, [%rd1].unified;");
    helps_hold(&text);
    let (lexed, _) = lex(&text);
    let compiled = crate::compile(&lexed.tokens);
    assert_eq!(errors(&compiled.diagnostics), vec![]);
    assert!(compiled.ptx.contains("ld.weak.global.b32 %r1, [%rd1].unified;"), "{}", compiled.ptx);
}

/// ptxas lets a declaration hide a special register.
#[test]
fn special_registers_can_be_hidden() {
    case(
        ".version 8.6\n.target sm_90\n.entry k() { .reg .b32 %r1; .reg .b32 %clock; .reg .v4 .b32 %ntid; .reg .b32 %pm<4>;
         { .reg .b32 %tid; mov.b32 %tid, 1; add.u32 %r1, %tid, 1; }
         mov.u32 %r1, %tid.x; mov.u32 %clock, 1; add.u32 %r1, %clock, 1; add.u32 %r1, %pm1, 4;
         mov.b32 %ntid.x, 1; add.u32 %r1, %ntid.x, 1;
         { .reg .b32 %tid;
         mov.u32 %r1, %tid.x; // error: PTX0414
         } ret; }",
    );
}

/// The modules of `tests/diagnostics` about syntax, types, targets and declarations.
#[test]
fn corpus_of_the_checker() {
    corpus::hold(&corpus::of_codes(0..600));
}
