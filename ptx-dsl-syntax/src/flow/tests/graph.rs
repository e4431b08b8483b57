//! The graph and the values under the rules, and how long all of it takes.

use super::*;

/// A kernel of that many instructions: blocks, branches, loops and values that go around them.
fn large(instructions: usize) -> String {
    let mut body =
        String::from("mov.u32 %r0, %tid.x;\nmov.u32 %r1, 0;\nmov.u32 %r2, 1;\nmov.u32 %r3, 2;\nmov.u64 %rd1, sh;\n");
    for k in 0..instructions / 10 {
        body += &format!(
            "L{k}:\nadd.u32 %r1, %r1, {k};\nmad.lo.u32 %r2, %r1, %r3, %r2;\nsetp.lt.u32 %p1, %r2, {k};\n@%p1 bra M{k};\n\
             xor.b32 %r3, %r3, %r1;\nadd.u32 %r4, %r0, %r3;\nst.shared.u32 [%rd1+{}], %r4;\nM{k}:\n\
             and.b32 %r5, %r0, {};\nsetp.ne.u32 %p2, %r5, %r1;\n@%p2 bra L{};\n",
            4 * (k % 16),
            k % 64,
            k - k % 5,
        );
    }
    kernel("", &body)
}

#[test]
fn ten_thousand_instructions() {
    let (lexed, _) = lex(&large(10_000));
    let (ast, _) = crate::parse::parse(&lexed.tokens);
    let (module, diagnostics) = crate::check::check(&ast, &crate::check::Options::default());
    assert!(diagnostics.iter().all(|d| d.severity != Severity::Error), "{diagnostics:?}");
    let function = &module.functions[0];
    let start = std::time::Instant::now();
    super::super::check(&module, function, &[]);
    // Half a second when optimised; tests are not, and the machine may be busy.
    assert!(start.elapsed().as_secs_f64() < 20.0, "{:?}", start.elapsed());
}

#[test]
fn odd_graphs() {
    case(&kernel("", "L: bra L;"));
    case(&kernel("", "A: bra B;\n B: bra A;\n C: bra C;"));
    case(&kernel("", "exit;\n exit;\n ret;"));
    case(&kernel("", ""));
    both(
        "ld.param.u32 %r1, [n];\n T: .branchtargets A, B, A;\n brx.idx %r1, T;\n A: mov.u32 %r2, 0;\n B: mov.u32 %r3, 0;",
    );
    // A way into the middle of a loop.
    both(
        "ld.param.u32 %r1, [n];\n setp.eq.u32 %p1, %r1, 0;\n mov.u32 %r2, 0;\n @%p1 bra M;\n L: add.u32 %r2, %r2, 1;\n M: setp.lt.u32 %p2, %r2, 9;\n @%p2 bra L;",
    );
}

#[test]
fn broken_statements_say_nothing_about_the_flow() {
    case(&kernel(
        "128",
        "mov.u32 %r1, %tid.x;\n setp.eq.u32 %p1, %r1;  // error: PTX0404\n @%p1 bar.sync 0;\n add.u32 %r2, %r3, 1;",
    ));
}

/// Levels of the header are for these rules too.
#[test]
fn levels() {
    let text = |levels: &str| {
        format!(
            "<sm_90, ptx 8.0{levels}>\n.visible .entry k() .reqntid 32 {{ .reg .b32 %r<3>; .reg .pred %p;\nmov.u32 %r1, %laneid;\n\
             setp.eq.u32 %p, %r1, 0;\n@%p bar.sync 0;MARK\nadd.u32 %r2, %r0, 1;MORE\nret; }}\n"
        )
    };
    let marked = |levels: &str, a: &str, b: &str| case(&text(levels).replace("MARK", a).replace("MORE", b));
    marked("", " // error: PTX0603", " // warning: PTX0620");
    marked(", warn(PTX0603), deny(PTX0620)", " // warning: PTX0603", " // error: PTX0620");
    marked(", allow(PTX0603), allow(PTX0620)", "", "");
}
