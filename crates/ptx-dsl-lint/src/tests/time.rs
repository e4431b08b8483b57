//! Analysis time is linear in the number of instructions.

use ptx_dsl_frontend::check::Checked;
use ptx_dsl_frontend::lex::lex;
use ptx_dsl_isa::diag::Severity;

/// A kernel of that many threads (none: not said) around a body.
fn kernel(threads: &str, body: &str) -> String {
    let reqntid = if threads.is_empty() { String::new() } else { format!(".reqntid {threads}") };
    format!(
        ".version 8.8\n.target sm_100a\n.address_size 64\n.shared .align 16 .b8 sh[64];\n.shared .align 8 .b64 bar1;\n\
         .visible .entry k(.param .u64 .ptr .global .align 4 w) {reqntid}\n\
         {{\n.reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<10>;\n{body}\nret;\n}}\n"
    )
}

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

/// Tiles that are copied, multiplied and stored, all in a row: asynchronous operations, barriers, roles, mbarriers.
fn tiles(instructions: usize) -> String {
    let mut body = String::from(
        "mov.u32 %r0, %tid.x;\nld.param.u64 %rd1, [w];\nsetp.eq.u32 %p0, %r0, 0;\nsetp.lt.u32 %p9, %r0, 32;\nmov.u32 %r9, 0;\n\
         @%p0 mbarrier.init.shared::cta.b64 [bar1], 1;\nbar.sync 0;\n",
    );
    for k in 0..instructions / 20 {
        let n = 8 * (k % 8);
        body += &format!(
            "cp.async.ca.shared.global [sh+{n}], [%rd1], 8;\ncp.async.commit_group;\nadd.u32 %r1, %r0, {k};\n\
             setp.gt.u32 %p1, %r1, {};\n@%p1 bra S{k};\nmov.u32 %r2, %r1;\nS{k}:\ncp.async.wait_group 0;\nbar.sync 0;\n\
             ld.shared.u32 %r3, [sh+{n}];\nadd.u32 %r4, %r3, %r1;\n@%p9 bra R{k};\nbarrier.sync 1, 96;\nR{k}:\n\
             @%p0 mbarrier.arrive.shared::cta.b64 _, [bar1];\nW{k}:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [bar1], {};\n@!%p2 bra W{k};\n\
             bar.sync 0;\nst.shared.u32 [sh+{n}], %r4;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nst.global.u32 [%rd1], %r4;\n\
             shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1;\n",
            k % 200,
            k % 2,
        );
    }
    kernel("128", &body)
}

/// Functions that are called often.
fn calls(instructions: usize) -> String {
    let mut body = String::from("mov.u32 %r0, %tid.x;\nmov.u32 %r1, 1;\n");
    for k in 0..instructions / 5 {
        body += &format!(
            "call (%r1), f, (%r1);\nadd.u32 %r1, %r1, {k};\nsetp.lt.u32 %p1, %r1, %r0;\n@%p1 add.u32 %r1, %r1, 2;\n"
        );
    }
    let function = ".func (.reg .b32 out) f(.reg .b32 in)\n{\nadd.u32 out, in, 1;\nbar.warp.sync -1;\nret;\n}\n";
    kernel("128", &body).replace(".visible", &format!("{function}.visible"))
}

/// Time that this thread has had, where the system tells; else time that has passed.
fn clock(since: std::time::Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|t| t.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| since.elapsed().as_secs_f64(), |n| n / 1e9)
}

/// How long the analysis of the module takes, so many times in a row, the best of a few.
fn seconds(text: &str, times: usize) -> f64 {
    let (lexed, _) = lex(text);
    let (ast, _) = ptx_dsl_frontend::parse::parse(&lexed.tokens);
    let options = ptx_dsl_frontend::check::Options::default();
    let Checked { hir: module, diagnostics, .. } = ptx_dsl_frontend::check::check(&ast, &options);
    assert!(diagnostics.iter().all(|d| d.code.number > 600 || d.severity != Severity::Error), "{diagnostics:?}");
    let all: Vec<_> = (0..module.functions.len() as u32).map(ptx_dsl_isa::hir::FuncId).collect();
    let begin = std::time::Instant::now();
    let once = |_| {
        let start = clock(begin);
        for _ in 0..times {
            super::super::check(&module, &all);
        }
        clock(begin) - start
    };
    (0..3).map(once).fold(f64::INFINITY, f64::min)
}

/// Ten thousand instructions take less than half a second when optimised, and about as long as 1,250 eight times. What grows
/// with the square would take eight times as long.
#[test]
fn ten_thousand_instructions() {
    for (name, shape) in [("large", large as fn(usize) -> String), ("tiles", tiles), ("calls", calls)] {
        let (few, many) = (seconds(&shape(1_250), 8), seconds(&shape(10_000), 1));
        let limit = if cfg!(debug_assertions) { 20.0 } else { 0.5 };
        assert!(many < limit, "{name}: {many} s");
        // Of the few milliseconds that it takes when optimised, caches decide.
        assert!(many < 5.0 * few || many < 0.1, "{name}: {few} s and {many} s");
        eprintln!("{name}: {few:.4} s and {many:.4} s");
    }
}
