//! Unit tests of the checker: layout, spellings, tables of statements with the verdicts of ptxas, and the part of the corpus of
//! diagnostics about syntax, types, targets and declarations.

use crate::diag::{Diagnostic, Severity};
use crate::hir;
use crate::isa::syntax;
use crate::lex::lex;
use crate::table::FAMILIES;

mod beyond;
mod budget;
mod codes;
mod constants;
#[path = "../../../tests/support/corpus.rs"]
pub(crate) mod corpus;
mod directives;
mod expressions;
#[path = "../../../tests/support/helps.rs"]
mod helps;
mod layouts;
mod matrix;
mod notes;
mod pieces;
mod session;
mod tcgen05;
mod texture;
mod verdicts;

/// Snippets read registers that nothing wrote, which is a warning.
fn errors(found: &[Diagnostic]) -> Vec<Diagnostic> {
    found.iter().filter(|d| d.severity == Severity::Error).cloned().collect()
}

/// Helps can be applied, and fix the error.
#[track_caller]
fn helps_hold(text: &str) {
    helps::hold(&[(String::new(), text.to_string())]);
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
            ("l", 0, 4)
        ]
    );
    assert_eq!(m.const_image, [1, 2, 3, 0, 0, 0, 0, 0x3f]);
    let mut image = vec![1, 0, 0, 0, 0, 0, 0, 0];
    image.extend_from_slice(&((1u64 << 40) + 4).to_le_bytes());
    assert_eq!(m.global_image, image);
    assert_eq!((m.shared_size, m.functions[0].local_end, m.functions[1].local_end), (16, 12, 4));
}

/// Every order of the qualifiers that are not types gives the same instruction, spelt in the manual's order.
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

/// Qualifiers that ptxas 13.5 reads as a part of the opcode stay after it; an operation precedes its `.popc`.
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
        assert_eq!(errors(&found).first().map(|d| d.code.number), want, "{text}: {found:?}");
    }
}

/// The budget is 20 ms for 200 instructions, unoptimised; the test allows ten times that, for slow machines.
#[test]
fn fast_enough() {
    let line =
        "ld.global.u32 %r1, [%rd1+4]; add.u32 %r2, %r1, 7; setp.lt.u32 %p1, %r2, %r1; fma.rn.f32 %f0, %f1, %f2, %f0;\n";
    let text = kernel(&line.repeat(50));
    helps_hold(&text);
    let (lexed, _) = lex(&text);
    let (ast, _) = crate::parse::parse(&lexed.tokens);
    let start = std::time::Instant::now();
    let diags = crate::compile_ast(ast, true).diagnostics;
    let took = start.elapsed();
    assert_eq!(errors(&diags), vec![]);
    println!("200 instructions: {took:?}");
    assert!(took.as_millis() < 200, "{took:?}");
}

/// Every form of the table compiles, and every operand in it has a specification.
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

/// Nothing panics on broken text: checks every prefix, and every text with a token left out.
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

/// Nothing panics on huge numbers, in any position.
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
}

#[test]
fn unified_addresses() {
    let text = kernel("ld.weak.global.b32 %r1, [%rd1].unified;");
    helps_hold(&text);
    let (lexed, _) = lex(&text);
    let compiled = crate::compile(&lexed.tokens);
    assert_eq!(errors(&compiled.diagnostics), vec![]);
    assert!(compiled.ptx.contains("ld.weak.global.b32 %r1, [%rd1].unified;"), "{}", compiled.ptx);
}

/// The modules of `tests/diagnostics` about syntax, types, targets and declarations.
#[test]
fn corpus_of_the_checker() {
    corpus::hold(&corpus::of_codes(0..600));
}
