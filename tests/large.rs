//! Modules that are large in one respect each: the front end takes linear time, no stack overflows, and mistakes are still
//! reported. Generators write such modules, and a macro must never hang.

use std::fmt::Write;
use std::time::{Duration, Instant};

use ptx_dsl_frontend::lex::lex;

const HEAD: &str = ".version 9.0\n.target sm_100a\n.address_size 64\n";

/// A kernel with this body, after these declarations.
fn kernel(before: &str, body: &str) -> String {
    format!("{HEAD}{before}\n.visible .entry k(.param .u64 p)\n{{\n{body}\nret;\n}}\n")
}

/// One text for each number below `n`.
fn each(n: usize, text: impl Fn(usize) -> String) -> String {
    (0..n).fold(String::new(), |mut out, i| {
        let _ = writeln!(out, "{}", text(i));
        out
    })
}

const PREDICATE: &str = ".reg .pred %p;\n.reg .b32 %r;\nmov.u32 %r, %tid.x;\nsetp.eq.u32 %p, %r, 0;\n";

type Case = (&'static str, fn(usize) -> String);

const CASES: &[Case] = &[
    ("parameters", |n| {
        format!(
            "{HEAD}.entry k({}) {{ ret; }}",
            each(n, |i| format!("{} .param .u8 a{i}", if i > 0 { "," } else { "" }))
        )
    }),
    ("parentheses", |n| kernel("", &format!(".reg .b32 %r; mov.u32 %r, {}1{};", "(".repeat(n), ")".repeat(n)))),
    ("braces", |n| kernel("", &format!("{}{}", "{".repeat(n), "}".repeat(n)))),
    ("braces that stay open", |n| kernel("", &"{".repeat(n))),
    ("braces that were never open", |n| kernel("", &"}".repeat(n))),
    ("brackets", |n| kernel("", &format!("ld.u32 {};", "[".repeat(n)))),
    ("one qualifier many times", |n| kernel("", &format!(".reg .b32 %r; add{} %r, %r, 1;", ".u32".repeat(n)))),
    ("qualifiers", |n| kernel("", &format!(".reg .b32 %r; add{} %r, %r, 1;", each(n, |i| format!(".q{i}"))))),
    ("paths of qualifiers", |n| kernel("", &format!(".reg .b32 %r; add{} %r, %r, 1;", "::a".repeat(n)))),
    ("a range of registers", |n| kernel("", &format!(".reg .b32 %r<{}>; mov.b32 %r0, 1;", n * 1000))),
    ("ranges of registers", |n| {
        let used = each(n, |i| format!("mov.b32 %a{i}x1, 1;"));
        kernel("", &(each(n, |i| format!(".reg .b32 %a{i}x<5>;")) + &used))
    }),
    ("ranges beside registers with numbers", |n| {
        let ranges = each(n, |i| format!(".reg .b32 %b{i}x<100000>;"));
        kernel("", &(each(n, |i| format!(".reg .b32 %a{i};")) + &ranges))
    }),
    ("registers", |n| {
        let used = each(n, |i| format!("add.u32 %r{}, %r{i}, 1;", i + 1));
        kernel("", &format!(".reg .b32 %r<{}>;\nmov.b32 %r0, 1;\n{used}", n + 1))
    }),
    ("undeclared names near to declared ones", |n| {
        let used = each(n, |i| format!("mov.b32 %abd{i}, 1;"));
        kernel("", &(each(n, |i| format!(".reg .b32 %abc{i};")) + &used))
    }),
    ("a name that is declared again and again", |n| kernel("", &".reg .b32 %q;\n".repeat(n))),
    ("a long string", |n| format!("{HEAD}.file 1 \"{}\"\n", "a".repeat(100 * n))),
    ("strings without an end", |n| format!("{HEAD}{}", "\"a\n".repeat(n))),
    ("comments", |n| format!("{HEAD}{}", "/**/".repeat(n))),
    ("strange characters on one line", |n| format!("{HEAD}{}", "\u{e9} \u{1} ".repeat(n))),
    ("labels", |n| kernel("", &each(n, |i| format!("L{i}:")))),
    ("jumps to and fro", |n| {
        kernel("", &(PREDICATE.to_string() + &each(n, |i| format!("L{i}: @%p bra L{};", i * 7919 % n))))
    }),
    ("loops in each other", |n| {
        let ends = each(n, |i| format!("add.u32 %r, %r, 1; setp.eq.u32 %p, %r, 7; @%p bra L{};", n - 1 - i));
        kernel("", &(PREDICATE.to_string() + &each(n, |i| format!("L{i}:")) + &ends))
    }),
    ("branches that meet again", |n| {
        let one = |i| {
            format!("@%p bra A{i}; add.u32 %r, %r, 1; bra B{i}; A{i}: add.u32 %r, %r, 2; B{i}: setp.eq.u32 %p, %r, 7;")
        };
        kernel("", &(PREDICATE.to_string() + &each(n, one)))
    }),
    ("values that meet in many places", |n| {
        let one = |i| format!("add.u32 %q{i}, %q{}, 1; @%p bra M{i}; add.u32 %q{i}, %q{i}, 1; M{i}:", (i + 1) % n);
        let body = format!(
            "{PREDICATE}.reg .b32 %q<{n}>;\n{}L:\n{}@%p bra L;",
            each(n, |i| format!("mov.u32 %q{i}, 1;")),
            each(n, one)
        );
        kernel("", &body)
    }),
    ("targets of one branch", |n| {
        let list: Vec<String> = (0..n).map(|i| format!("L{i}")).collect();
        let body = each(n, |i| format!("L{i}: add.u32 %r, %r, 1;"));
        kernel("", &format!("{PREDICATE}T: .branchtargets {};\nbrx.idx %r, T;\n{body}", list.join(", ")))
    }),
    ("barriers", |n| kernel("", &"bar.sync 0;\n".repeat(n))),
    ("mbarriers", |n| {
        let body = each(n, |i| format!("mbarrier.init.shared.b64 [m+{}], 1;", 8 * i));
        kernel("", &format!(".shared .align 8 .b64 m[{n}];\n{body}"))
    }),
    ("stores and loads", |n| {
        let one = |i| format!("mov.b32 %r, {i}; st.shared.b32 [m+{0}], %r; ld.shared.b32 %r, [m+{0}];", 4 * (i % 64));
        kernel(".shared .align 8 .b32 m[64];", &format!(".reg .b32 %r;\n{}", each(n, one)))
    }),
    ("loads from Tensor Memory", |n| {
        let body = each(n, |i| format!("tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r{i}}}, [%t];"));
        kernel("", &format!(".reg .b32 %r<{n}>;\n.reg .b32 %t;\nmov.b32 %t, 0;\n{body}tcgen05.wait::ld.sync.aligned;"))
    }),
    ("asynchronous copies", |n| {
        let one = |i| format!("cp.async.ca.shared.global [s+{}], [%d], 16; cp.async.commit_group;", 16 * (i % 64));
        let body = format!(".reg .b64 %d;\nld.param.u64 %d, [p];\n{}cp.async.wait_all;", each(n, one));
        kernel(".shared .align 16 .b8 s[1024];", &body)
    }),
    ("variables", |n| HEAD.to_string() + &each(n, |i| format!(".global .align 8 .b64 v{i} = {i};"))),
    ("variables that name each other", |n| {
        format!("{HEAD}.global .b64 v0;\n{}", each(n, |i| format!(".global .align 8 .b64 v{} = v{i};", i + 1)))
    }),
    ("dimensions", |n| format!("{HEAD}.global .b8 a{};", "[2]".repeat(n))),
    ("the size of an array", |n| format!("{HEAD}.global .b8 a[{n}000000000];\n.const .b8 b[{n}0000000][{n}0000000];")),
    ("an initialiser", |n| format!("{HEAD}.global .b8 a[{n}] = {{{}1}};", "1, ".repeat(n - 1))),
    ("an initialiser in braces", |n| format!("{HEAD}.global .b8 a[2] = {}1{};", "{".repeat(n), "}".repeat(n))),
    ("a sum", |n| kernel("", &format!(".reg .b32 %r; mov.u32 %r, 1{};", "+1".repeat(n)))),
    ("conditions", |n| kernel("", &format!(".reg .b32 %r; mov.u32 %r, {}1;", "1?1:".repeat(n)))),
    ("signs", |n| kernel("", &format!(".reg .b32 %r; mov.u32 %r, {}1;", "- ".repeat(n)))),
    ("a vector", |n| kernel("", &format!(".reg .b64 %d; mov.b64 %d, {{{}%d}};", "%d, ".repeat(n)))),
    ("operands", |n| kernel("", &format!(".reg .b32 %r; add.u32 {}%r;", "%r, ".repeat(n)))),
    ("a name", |n| kernel("", &format!(".reg .b32 %{0}a, %{0}b; mov.b32 %{0}c, 1;", "a".repeat(n)))),
    ("a number", |n| kernel("", &format!(".reg .b32 %r; mov.b32 %r, {0}; mov.b32 %r, {0}.{0};", "1".repeat(n)))),
    ("unknown instructions", |n| kernel("", &each(n, |i| format!("foo{i}.u32 a, b;")))),
    ("functions", |n| HEAD.to_string() + &each(n, |i| format!(".func f{i}() {{ ret; }}"))),
    ("calls", |n| {
        let prototypes = each(n, |i| format!(".func f{i}();"));
        HEAD.to_string() + &prototypes + &each(n, |i| format!(".func f{i}() {{ call f{}; ret; }}", (i + 1) % n))
    }),
    ("aliases", |n| {
        HEAD.to_string() + &each(n, |i| format!(".func f{i}() {{ ret; }}\n.func g{i}();\n.alias g{i}, f{i};"))
    }),
    ("directives of a kernel", |n| format!("{HEAD}.visible .entry k() {} {{ ret; }}", ".maxntid 1\n".repeat(n))),
    ("bytes of debug information", |n| format!("{HEAD}.section .debug_info {{\n{}}}\n", ".b8 1\n".repeat(n))),
    ("unknown qualifiers", |n| kernel("", &format!(".reg .b32 %r; ld{}.u32 %r, [0];", ". ld".repeat(n)))),
    ("guards", |n| kernel("", &format!("{}%p ret;", "@".repeat(n)))),
    ("blocks", |n| kernel("", &"{ .reg .b32 %x; mov.b32 %x, 1; }\n".repeat(n))),
    ("levels in a header", |n| format!("<sm_90, ptx 8.0{}>\n", ", allow(PTX0620)".repeat(n))),
];

/// CPU time of this thread, which does not depend on other programs; wall clock where the system does not tell.
fn busy(since: Instant) -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let spent = text.split(' ').next().and_then(|n| n.parse().ok()).map(Duration::from_nanos);
    spent.unwrap_or_else(|| since.elapsed())
}

/// Lexes, checks and prints; a legal module prints as a legal one.
fn take(text: &str) -> Duration {
    let clock = Instant::now();
    let before = busy(clock);
    let (lexed, found) = lex(text);
    let compiled = ptx_dsl_frontend::compile(&lexed.tokens);
    let took = busy(clock) - before;
    if found.is_empty() && !compiled.failed() {
        let again = ptx_dsl_frontend::compile(&lex(&compiled.ptx).0.tokens);
        assert!(!again.failed() && again.ptx == compiled.ptx);
    }
    took
}

#[test]
fn time_grows_with_size_and_not_with_its_square() {
    let mut slow = Vec::new();
    for (name, text) in CASES {
        let (small, large) = (text(300), text(1200));
        // Try again, in case of noise.
        let bad = (0..2).all(|_| {
            let (small, large) = (take(&small), take(&large));
            let bad = large > small * 9 + Duration::from_millis(60);
            if bad {
                eprintln!("{name}: {small:?}, then {large:?}");
            }
            bad
        });
        if bad {
            slow.push(name);
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
}
