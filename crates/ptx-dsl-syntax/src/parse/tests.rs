use super::*;
use crate::ast::{Expr, Item, OperandKind, Stmt};
use crate::lex::lex;
use crate::print::{Printed, print, print_with_lines};
use ptx_dsl_test_support::random::Random;

mod samples;

/// Lexes and parses; diagnostics of both as `code text-of-the-span`.
fn parsed(text: &str) -> (Module, Vec<String>) {
    let (lexed, mut diags) = lex(text);
    let (module, more) = parse(&lexed.tokens);
    diags.extend(more);
    let shown =
        diags.iter().map(|d| format!("{} {} | {}", d.code.number, &text[lexed.bytes(d.span)], d.message)).collect();
    (module, shown)
}

fn clean(text: &str) -> Module {
    let (module, diags) = parsed(text);
    assert!(diags.is_empty(), "{text}\n{diags:#?}");
    module
}

fn as_written(text: &str) -> String {
    print(&clean(text), &|_| None)
}

/// A kernel around statements.
fn kernel(body: &str) -> String {
    format!(".entry k() {{\n{body}\n}}")
}

/// Codes and spans of the diagnostics, without the messages.
fn places(text: &str) -> Vec<String> {
    parsed(text).1.iter().map(|d| d.split(" | ").next().unwrap_or("").to_string()).collect()
}

/// How an operand or statement prints.
fn statement(text: &str) -> String {
    let out = as_written(&kernel(text));
    let body = &out[out.find("{\n").expect("a body") + 2..out.rfind('}').expect("a body")];
    body.trim().to_string()
}

#[test]
fn the_manuals_examples_parse() {
    for (name, text) in samples::MANUAL {
        let module = clean(&kernel(text));
        assert!(module.instrs > 3, "{name}");
    }
}

#[test]
fn printing_is_a_fixpoint() {
    for (name, text) in samples::MODULES {
        let once = as_written(text);
        let twice = as_written(&once);
        assert_eq!(once, twice, "{name}");
    }
    for (name, text) in samples::MANUAL {
        let once = as_written(&kernel(text));
        assert_eq!(once, as_written(&once), "{name}");
    }
}

#[test]
fn what_a_module_prints() {
    let text = "<sm_90a, ptx 8.0> .global .align 8 .u32 x[2*2] = {1,0x10};
        .visible .entry k(.param .u64 .ptr .global .align 4 x: &mut [f32], .param .u32 n) .reqntid 32,1 {
        .reg .b32 %r<4>; $L: { ld.shared::cta.b32 %r1, [%r2-4]; @!%p1 bra $L; } ret; }";
    let want = ".version 8.0
.target sm_90a
.address_size 64

.global .align 8 .u32 x[4] = {1, 0x10};

.visible .entry k(
    .param .u64 .ptr .global .align 4 x,
    .param .u32 n
)
.reqntid 32, 1
{
    .reg .b32 %r<4>;
$L:
    {
        ld.shared::cta.b32 %r1, [%r2+-4];
        @!%p1 bra $L;
    }
    ret;
}
";
    let module = clean(text);
    let Printed { text: out, lines, .. } =
        print_with_lines(&module, &|i| (i.index == 0).then(|| "ld.OTHER".to_string()));
    assert_eq!(out, want.replace("ld.shared::cta.b32", "ld.OTHER"));
    assert_eq!(lines, [16, 17, 19]);
}

#[test]
fn statements() {
    let cases = [
        ("mov .u32 %r1 , 0x1F ;", "mov.u32 %r1, 0x1F;"),
        ("mov.u64 %r1, 0xFFFFFFFFFFFFFFFF;", "mov.u64 %r1, 0xFFFFFFFFFFFFFFFF;"),
        ("mov.u32 %r1, 5U;", "mov.u32 %r1, 5U;"),
        ("mov.u32 %r1, 017;", "mov.u32 %r1, 017;"),
        ("mov.u32 %r1, 0b101;", "mov.u32 %r1, 0b101;"),
        ("mov.f32 %r1, 0f3f800000;", "mov.f32 %r1, 0f3f800000;"),
        ("mov.f64 %r1, 0d3FF0000000000000;", "mov.f64 %r1, 0d3FF0000000000000;"),
        ("mov.f64 %r1, 1.5;", "mov.f64 %r1, 1.5;"),
        ("mov.f64 %r1, 2.;", "mov.f64 %r1, 2.;"),
        ("mov.f64 %r1, .5;", "mov.f64 %r1, .5;"),
        ("mov.f64 %r1, 25e-2;", "mov.f64 %r1, 25e-2;"),
        ("mov.f64 %r1, 2.5e-1;", "mov.f64 %r1, 2.5e-1;"),
        ("mov.f64 %r1, 00.0E9;", "mov.f64 %r1, 00.0E9;"),
        // an overflow to ptxas, because it is not a normal number
        ("mov.f64 %r1, 1e-320;", "mov.f64 %r1, 0d00000000000007E8;"),
        ("mov.f64 %r1, 1e-400;", "mov.f64 %r1, 0d0000000000000000;"),
        ("mov.u32 %r1, 1+2*3;", "mov.u32 %r1, 1+2 * 3;"),
        ("mov.u32 %r1, (1+2)*3;", "mov.u32 %r1, (1+2) * 3;"),
        ("mov.u32 %r1, 1-(2-3);", "mov.u32 %r1, 1-(2-3);"),
        ("mov.u32 %r1, 5 % 3;", "mov.u32 %r1, 5 % 3;"),
        ("mov.u32 %r1, 1<<4|1;", "mov.u32 %r1, 1 << 4 | 1;"),
        ("mov.u32 %r1, a>2?1:b?2:3;", "mov.u32 %r1, a > 2 ? 1 : b ? 2 : 3;"),
        ("mov.u32 %r1, -(-4);", "mov.u32 %r1, --4;"),
        ("mov.u32 %r1, (.u64)-1;", "mov.u32 %r1, (.u64) -1;"),
        ("setp.eq.and.s32 p|q, a, b, !r;", "setp.eq.and.s32 p|q, a, b, !r;"),
        ("elect.sync _|p, -1;", "elect.sync _|p, -1;"),
        ("ld.v2.b32 {%r1, _}, [x+8];", "ld.v2.b32 {%r1, _}, [x+8];"),
        ("ld.local.b32 %r1, [16];", "ld.local.b32 %r1, [16];"),
        ("ld.b32 %r1, [x+4*2];", "ld.b32 %r1, [x+8];"),
        ("tex.2d.v4.f32.f32 {a,b,c,d}|p, [t, {x,y}];", "tex.2d.v4.f32.f32 {a, b, c, d}|p, [t, {x, y}];"),
        ("vadd.s32.u32.s32 %r1.h0, %r2.b0, %r3;", "vadd.s32.u32.s32 %r1.h0, %r2.b0, %r3;"),
        ("mov.b32 %r1, %v.w;", "mov.b32 %r1, %v.w;"),
        ("call.uni (ret0), f, (a, 4);", "call.uni (ret0), f, (a, 4);"),
        ("call (r), %rd1, (), proto;", "call (r), %rd1, (), proto;"),
        ("call f;", "call f;"),
        ("@p bra exit;", "@p bra exit;"),
        (
            "tcgen05.cp.cta_group::2.64x128b.warpx2::02_13 [t], d;",
            "tcgen05.cp.cta_group::2.64x128b.warpx2::02_13 [t], d;",
        ),
        ("mov.u32 %r1, - -+(~(-4));", "mov.u32 %r1, --+~-4;"),
        ("ts: .branchtargets a, b;", "ts: .branchtargets a, b;"),
        (
            "P: .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[16]) .noreturn;",
            "P: .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[16]) .noreturn;",
        ),
        (".loc 1 2 3, function_name $L+4, inlined_at 1 5 6", ".loc 1 2 3, function_name $L+4, inlined_at 1 5 6"),
        (".pragma \"nounroll\", \"x\";", ".pragma \"nounroll\", \"x\";"),
        (".reg .v2 .b32 v, w<3>;", ".reg .v2 .b32 v, w<3>;"),
    ];
    for (text, want) in cases {
        assert_eq!(statement(text), want, "{text}");
    }
}

/// At the nesting limit, the printed text is not deeper: signs and conditions get no additional parentheses.
#[test]
fn printing_adds_no_depth() {
    for value in ["- ".repeat(60) + "1", "1 ? 2 : ".repeat(60) + "3", "1 ? ".repeat(60) + "2" + &" : 3".repeat(60)] {
        let once = statement(&format!("mov.u32 %r1, {value};"));
        assert_eq!(statement(&once), once);
    }
}

#[test]
fn shapes_of_operands() {
    let module = clean(&kernel("setp.s32 p|q, %tid.x, !r; mov.b32 %r1, %r2.b3;"));
    let Item::Function(f) = &module.items[0] else { panic!("a function") };
    let body = f.body.as_ref().expect("a body");
    let Stmt::Instr(i) = &body[0] else { panic!("an instruction") };
    assert!(matches!(i.operands[0].kind, OperandKind::Pair(..)));
    assert!(
        matches!(&i.operands[1].kind, OperandKind::Expr(Expr::Name(n, Some(m))) if n.text == "%tid" && m.text == "x")
    );
    assert!(matches!(&i.operands[2].kind, OperandKind::Not(w) if w.text == "r"));
    let Stmt::Instr(i) = &body[1] else { panic!("an instruction") };
    assert_eq!(i.index, 1);
    assert!(matches!(&i.operands[1].kind, OperandKind::Select(..)));
}

#[test]
fn errors_point_at_the_token() {
    let cases: &[(&str, &[&str])] = &[
        ("mov.u32 %r1, 08;", &["120 08"]),
        ("mov.u32 %r1, 1_000;", &["120 1_000"]),
        ("mov.u32 %r1, 0x;", &["120 0x"]),
        ("mov.f32 %r1, 0f3F;", &["120 0f3F"]),
        ("mov.u64 %r1, 0x1FFFFFFFFFFFFFFFF;", &["121 0x1FFFFFFFFFFFFFFFF"]),
        ("mov.u32 %r1, %r2\nadd.u32 %r1, %r2, %r3;", &["111 %r2"]),
        ("mov.u32 %r1, %r2\n", &["111 %r2"]),
        ("mov.u32 %r1 %r2;", &["110 %r2"]),
        ("mov.u32 %r1, ;", &["110 ;"]),
        ("mov.b64 {%r1, %r2, %rd1; ret;", &["112 {"]),
        ("mov.b64 {%r1 %r2}, %rd1; mov.u32 %r1, @; ret;", &["110 %r2", "110 @"]),
        ("ld.b32 %r1, [%r2; ret;", &["112 ["]),
        ("ld.b32 %r1, [x[1]]; ret;", &["142 ["]),
        ("ld.b32 %r1 [x]; ret;", &["110 ["]),
        ("mov.u32 %r1, %tid.q\nadd.u32 %r1, 08, 1;", &["146 .q", "120 08"]),
        ("mov.u32 %r1, 08 ? b : c;", &["120 08"]),
        ("ret\nadd.u32 %r1, %r2, 08;", &["111 ret", "120 08"]),
        ("ret\n@p bra L;", &["111 ret"]),
        ("L: :", &["110 :"]),
        ("P: .callprototype (.b32 _) _ (.param .b32 _);", &["110 .b32"]),
        (".loc 1 2;", &["110 ;"]),
        (".loc 1 2 3, inlined_at 1 5 6", &["110 inlined_at"]),
        (".loc 1 2 3, function_name $L ret;", &["110 ret"]),
        (".global .b32 x = {1, 2;", &["110 ;"]),
        (".global .b32 x = {1 2}, y; ret;", &["110 2"]),
        ("call (r), f, (a;", &["112 ("]),
        ("mov.b32 %r1, %r2.foo;", &["146 .foo"]),
        ("mov.b32 %r1, {};", &["148 {}"]),
        ("ld..b32 %r1, [%r2];", &["110 .b32"]),
        (";", &["110 ;"]),
        ("@ ret;", &[]),
        (".branchtargets a, b;", &["117 .branchtargets"]),
        (".reqntid 4;", &["115 .reqntid"]),
        (".prgma \"x\"; ret;", &["114 .prgma"]),
        (".reg .b33 %r1;", &["143 .b33"]),
        (".reg %r1;", &["144 .reg"]),
        (".reg .b32 5; mov.u32 %r1, 08;", &["110 5", "120 08"]),
        (".reg .b32 .b32 %r1;", &["145 .b32"]),
        (".extern .shared .b8 x[];", &["115 .extern"]),
        (".shared .b8 x[y];", &["122 y"]),
        ("mov.u32 %r1, #5;", &["101 #"]),
        // Verdicts of ptxas 13.5, as those of what follows.
        ("ld.b32 %r1, [(%r2)]; ret;", &["110 %r2"]),
        ("ld.b32 %r1, [(%r2)+4]; ret;", &["110 %r2"]),
        ("mov.b64 {(%r1), %r2}, %rd1; ret;", &["110 %r1"]),
        ("add.u32 %r1, (%r2), 1; ret;", &["110 %r2"]),
        ("mov.u32 %r1, 7%3;", &["110 %3"]),
        (".global .u64 q = (x); ret;", &["110 x"]),
        (".global .u64 q = generic((x)); ret;", &["110 x"]),
        (".global .u64 q = (generic(x)); ret;", &["110 generic"]),
        ("mov.f64 %e1, 1.e; ret;", &["110 .e"]),
        ("mov.f64 %e1, 1.e5U; ret;", &["110 .e5U"]),
        ("mov.f64 %e1, 1.e5.3; ret;", &["110 ."]),
        (")", &["110 )"]),
    ];
    let mut wrong = Vec::new();
    for (text, want) in cases {
        let got = places(&kernel(text));
        if *text == "@ ret;" {
            // The predicate swallows the opcode; what matters is one report.
            assert_eq!(got.len(), 1, "{text}: {got:?}");
            continue;
        }
        if got != *want {
            wrong.push(format!("{text}: {got:?}, not {want:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn errors_of_modules() {
    let cases: &[(&str, &[&str])] = &[
        ("<sm_90, ptx 8.0> .version 8.1", &["132 .version 8.1"]),
        ("<sm_90, ptx 8.0> .version 8.0 .target sm_90a", &["132 sm_90a"]),
        ("<sm_90, ptx 8.0> .version 8.0 .target sm_90, debug .address_size 64", &[]),
        ("<sm_90>", &["131 <sm_90>"]),
        ("<ptx 8.0>", &["131 <ptx 8.0>"]),
        ("<sm_90, ptz 8.0> .global .b32 x;", &["130 ptz"]),
        ("<sm_90, ptx 8.0, allow(PTX0612, PTX0601)>", &[]),
        ("<sm_90, ptx 8.0, allow(X)>", &["110 X"]),
        ("mov.u32 %r1, 4; ret; .entry k() { ret; }", &["116 mov"]),
        (".entry k() { ret; } } .entry l() { ret; }", &["113 }"]),
        (".entry k() { ret; .entry l() { ret; }", &["112 {"]),
        (".entry k() { { ret; ", &["112 {"]),
        (".entry k(.param .b32 x .param .b32 y) { mov.u32 %r1, 08; }", &["110 .param", "120 08"]),
        (".entry k(.param .b32 x, y) { }", &["147 y"]),
        (".entry k(.param .b32 x { ret; }", &["112 ("]),
        (".entry () { mov.u32 %r1, 08; } .global .b32 x;", &["110 {", "120 08"]),
        (".entry k() .maxntd 4 .minnctapersm 2 { ret; }", &["114 .maxntd"]),
        (".entry k() .loc 1 2 3 { ret; }", &["115 .loc"]),
        (".global .b32 x", &["111 x"]),
        (".global .b32 x = {1, 2; .global .b32 y;", &["110 ;"]),
        (".visble .entry k() { ret; } .global .b32 x;", &["114 .visble"]),
        (".file 1", &["110 1"]),
    ];
    let mut wrong = Vec::new();
    for (text, want) in cases {
        let got = places(text);
        if got != *want {
            wrong.push(format!("{text}: {got:?}, not {want:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn broken_statements_leave_the_rest() {
    let text = kernel(".reg .b32 %a %b, %c; mov.u32 %a, 08; L: bra L; { mov.u32 %a, ); ret; } exit;");
    let (module, diags) = parsed(&text);
    assert_eq!(diags.len(), 3, "{diags:?}");
    let out = print(&module, &|_| None);
    for kept in ["%a, %b, %c;", "L:", "bra L;", "ret;", "exit;"] {
        assert!(out.contains(kept), "{kept} in\n{out}");
    }
}

#[test]
fn headers() {
    let module = clean("<sm_100a, texmode_independent, ptx 8.6, allow(PTX0612)>");
    assert_eq!(module.version.map(|v| (v.major, v.minor)), Some((8, 6)));
    assert_eq!(module.target.iter().map(|t| t.text.as_str()).collect::<Vec<_>>(), ["sm_100a", "texmode_independent"]);
    assert_eq!(module.levels.iter().map(|a| a.of).collect::<Vec<_>>(), [crate::levels::Selector::Code(612)]);
    let (lexed, _) = lex("<sm_90, ptx 8.0> |x: &[f32]| { ret; }");
    let (header, used, diags) = parse_header(&lexed.tokens);
    assert!(header.is_some() && diags.is_empty());
    assert_eq!(lexed.tokens[used].kind, Tok::Punct('|'));
    for (word, code) in [("compiled", HostCode::Always), ("interpreted", HostCode::Never)] {
        let (lexed, _) = lex(&format!("<sm_90, ptx 8.0, {word}>"));
        let (header, _, diags) = parse_header(&lexed.tokens);
        assert_eq!((header.unwrap().host_code, diags.len()), (code, 0));
    }
}

#[test]
fn rust_types_are_spans() {
    let text = ".entry k(.param .u64 x: &mut [f32; 4], .param .u64 f: Map<fn(u32) -> u32, (u8, u8)>, .param .b8 s[16]: S) { ret; }";
    let (lexed, _) = lex(text);
    let module = clean(text);
    let Item::Function(f) = &module.items[0] else { panic!("a function") };
    let types: Vec<&str> =
        f.params.iter().filter_map(|p| p.names[0].rust_type).map(|s| &text[lexed.bytes(s)]).collect();
    assert_eq!(types, ["&mut [f32; 4]", "Map<fn(u32) -> u32, (u8, u8)>", "S"]);
}

#[test]
fn constants() {
    let cases = [
        ("7/2", 3),
        ("-7/2", -3),
        // What ptxas 13.5 stores of these: `%` and `~` are unsigned, shifts go by the low six bits.
        ("-7 % 3", 0),
        ("-17 % 5", 4),
        ("(7 % 5) / -1", 0),
        ("(17 % 3) > -(7)", 0),
        ("-100 % -17", -100),
        ("4294967296 < ~(1)", 1),
        ("~(1) >> 1", i64::MAX),
        ("((7 % 5) - 10) / 2", 0x7fff_ffff_ffff_fffc),
        ("1 << 64", 1),
        ("1 << 100", 0x10_0000_0000),
        ("7 << -62", 28),
        ("-64 >> 65", -32),
        ("1<<4|1", 17),
        ("WARP_SZ*2", 64),
        ("3>2 ? 10 : 20", 10),
        ("!5", 0),
        ("~0", -1),
        ("-1 < 0U", 0),
        ("(.s64) (2-9)", -7),
        ("1.5>2.0 ? 7 : 8", 8),
        ("1.5 < 2.0", 1),
        ("-8 >> 1", -4),
        ("2 && 4", 1),
        ("6 & 3 ^ 1", 3),
    ];
    for (text, want) in cases {
        let (lexed, _) = lex(text);
        let mut parser = Parser::new(&lexed.tokens, 0);
        let e = parser.constant().expect("an expression");
        assert!(matches!(fold(&e), Some(Const::Int { value, .. }) if value as i64 == want), "{text}: {:?}", fold(&e));
    }
    for text in ["1/0", "1 % 0", "x", "1+1.5", "(.s64) 2.9", "1>2 ? 1.5 : 2.5"] {
        let (lexed, _) = lex(text);
        let e = Parser::new(&lexed.tokens, 0).constant().expect("an expression");
        assert_eq!(fold(&e), None, "{text}");
    }
}

/// Texts that ptxas 13.5 accepts.
#[test]
fn what_ptxas_reads() {
    for text in [
        "ld.b32 %r1, [x+(4)]; ld.b32 %r1, [x+(4+WARP_SZ)*2];",
        "mov.u32 %r1, %tid .x; mov.b64 %rd1, {%tid\n.x, %v .y}; vadd.u32.u32.u32 %r1, %r2 .b0, %r3;",
        "mov.u32 %r1, 7 % 3; mov.u32 %r1, 7%(3);",
        ".local .align WARP_SZ .b8 x[64]; .reg .b32 %z<WARP_SZ>;",
        "# 1 \"x.cu\" 2\nadd.u32 %r1,\n#line 7 \"x.cu\"\n%r2, %r3;",
    ] {
        let (lexed, early) = lex(&kernel(text));
        assert!(early.is_empty(), "{text}: {early:?}");
        let (_, found) = parse(&lexed.tokens);
        assert!(found.is_empty(), "{text}: {found:?}");
    }
    for (text, want) in [("1.e5", 1e5), ("1.E+5", 1e5), ("1.e-5", 1e-5), ("00.5", 0.5), (".5e3", 500.0), ("2.", 2.0)] {
        let (lexed, _) = lex(text);
        let mut parser = Parser::new(&lexed.tokens, 0);
        let e = parser.constant().expect("an expression");
        assert_eq!((fold(&e), parser.pos), (Some(Const::F64(want)), lexed.tokens.len()), "{text}");
    }
}

#[test]
fn deep_nesting_is_reported() {
    let n = 10_000;
    let cases = [
        kernel(&"{".repeat(n)),
        kernel(&format!("mov.u32 %r1, {}1{};", "(".repeat(n), ")".repeat(n))),
        kernel(&format!("mov.u32 %r1, {}1;", "-".repeat(n))),
        kernel(&format!("mov.u32 %r1, 1{};", "+1".repeat(n))),
        kernel(&format!("mov.u32 %r1, 1{};", "?1:1".repeat(n))),
        kernel(&format!("mov.u32 {}", "{".repeat(n))),
        format!(".global .b32 x = {}", "{".repeat(n)),
        format!(".global .b32 x = {}1{};", "f(".repeat(n), ")".repeat(n)),
        kernel(&format!("{}{}", "{".repeat(n), "}".repeat(n))),
    ];
    for text in cases {
        let (module, diags) = parsed(&text);
        assert!((1..4).contains(&diags.len()), "{}: {diags:?}", &text[..60]);
        print(&module, &|_| None);
    }
}

#[test]
fn garbage_never_panics() {
    let sources: Vec<&str> = samples::MODULES.iter().chain(samples::MANUAL).map(|(_, t)| *t).collect();
    let pieces = [
        "{", "}", "(", ")", ";", ",", ".", "::", "%", "$", "@", "\"", "/*", "[", "]", "<", "=", "?", "|", "!", "0x",
        "1e", "é", ".reg", ".entry",
    ];
    let mut random = Random::new(1);
    for _ in 0..2000 {
        let mut text: Vec<u8> = sources[random.below(sources.len())].bytes().collect();
        // Whole modules, and windows that begin anywhere.
        let from = random.below(text.len()) * random.below(2);
        let to = (from + 400 + random.below(4000)).min(text.len());
        text = text[from..to].to_vec();
        for _ in 0..1 + random.below(8) {
            let at = random.below(text.len());
            match random.below(4) {
                0 => drop(text.drain(at..(at + random.below(12)).min(text.len()))),
                1 => drop(text.splice(at..at, pieces[random.below(pieces.len())].bytes())),
                2 if at < text.len() => text[at] = random.below(256) as u8,
                _ => {
                    let end = (at + random.below(30)).min(text.len());
                    let copy = text[at..end].to_vec();
                    let to = random.below(text.len());
                    drop(text.splice(to..to, copy));
                }
            }
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        let (lexed, _) = lex(&text);
        let (module, _) = parse(&lexed.tokens);
        let once = print(&module, &|_| None);
        // What survives of a broken module still prints as PTX that parses the same.
        let (again, mut more) = parsed(&once);
        // A dot that stood alone in a section still does.
        more.retain(|m| !m.contains("white space"));
        assert!(more.is_empty(), "{text}\n---\n{once}\n{more:#?}");
        assert_eq!(print(&again, &|_| None), once, "{text}");
    }
}

/// A quadratic algorithm would take minutes here.
#[test]
fn large_inputs_end() {
    let many = |s: &str| kernel(&s.repeat(20_000));
    for text in
        [many("mov.u32 %r1, %r2;\n"), many("mov.u32 %r1 %r2;\n"), many("{ } "), many(") "), many("L: "), many(".x ")]
    {
        parsed(&text);
    }
}

/// ptxas accepts the qualifier only after the address, with or without a space before it.
#[test]
fn unified_stands_behind_the_address() {
    let text = "ld.global.b32 %r1, [%rd1+4].unified;";
    assert_eq!(statement(text), text);
    assert_eq!(statement("ld.global.b32 %r1, [%rd1+4] .unified;"), text);
    assert_eq!(
        statement("ld.global.L2::cache_hint.b32 %r1, [a].unified, %rd2;"),
        "ld.global.L2::cache_hint.b32 %r1, [a].unified, %rd2;"
    );
    assert_eq!(statement("foo [a], [b].unified, [c];"), "foo [a], [b].unified, [c];");
    assert_eq!(places(&kernel("ld.global.unified.b32 %r1, [%rd1];")), ["110 unified"]);
    assert_eq!(places(&kernel("ld.global.b32 %r1, [%rd1].foo;")), ["110 .foo"]);
    let module = clean(&kernel(text));
    let Item::Function(f) = &module.items[0] else { panic!("a kernel") };
    let Some([Stmt::Instr(i)]) = f.body.as_deref() else { panic!("an instruction") };
    assert_eq!(i.parts.iter().map(|p| p.text.as_str()).collect::<Vec<_>>(), ["ld", "global", "b32", "unified"]);
}

#[test]
fn offsets_of_addresses_print_as_one_number() {
    for (written, printed) in [
        ("[s-4+8]", "[s+4]"),
        ("[s-4]", "[s+-4]"),
        ("[%r1+8-4]", "[%r1+4]"),
        ("[%r1+4*2]", "[%r1+8]"),
        ("[%r1+(1?4:8)]", "[%r1+4]"),
        ("[%r1+-4]", "[%r1+-4]"),
        ("[%r1+0x10]", "[%r1+0x10]"),
        ("[%r1+8U]", "[%r1+8U]"),
        ("[%r1+%r2]", "[%r1+%r2]"),
        ("[4+4]", "[4+4]"),
    ] {
        assert_eq!(statement(&format!("ld.b32 %r0, {written};")), format!("ld.b32 %r0, {printed};"));
    }
}

#[test]
fn integers_print_as_written() {
    for number in ["0x1F", "0X1f", "0x0001FU", "017", "00", "0b101", "0B1U", "12", "12U", "0", "18446744073709551615"] {
        let text = format!("mov.b32 %r1, {number};");
        assert_eq!(statement(&text), text);
    }
}

#[test]
fn indexed_arrays() {
    for text in ["ld.global.b32 %r1, x[2];", "st.global.b32 x[1+1], %r1;", "ld.global.b32 %r1, x[1].unified;"] {
        assert_eq!(statement(text), text);
    }
    // ptxas takes neither of these.
    assert_eq!(places(&kernel("ld.global.b32 %r1, [x[1]];")), ["142 ["]);
    assert_eq!(places(&kernel("ld.global.b32 %r1, x[1][2];")), ["142 x[1]["]);
}
