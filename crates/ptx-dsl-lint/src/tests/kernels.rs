//! Complete kernels, wrong and right ones of each rule, in the shapes that people write: loops, pipelines, roles, elections,
//! predicates, generic addresses. About the right ones nothing may be said.

use super::*;

mod asynchronous;
mod barriers;
mod copies;
mod dataflow;
mod lanes;
mod lifetimes;
mod pipelines;
mod races;
mod requests;
mod results;
mod right;
mod right_too;
mod whole;

/// What a kernel is around its body.
struct Kernel {
    target: &'static str,
    version: &'static str,
    /// `.reqntid`; empty for none.
    threads: &'static str,
    /// Further directives.
    directives: &'static str,
    shared: &'static str,
}

/// A kernel, and the codes of what is to be said of it.
struct Case {
    name: &'static str,
    kernel: &'static Kernel,
    codes: &'static [u16],
    body: &'static str,
}

impl Case {
    fn text(&self) -> String {
        let Kernel { target, version, threads, directives, shared } = self.kernel;
        let threads = if threads.is_empty() { String::new() } else { format!(".reqntid {threads}") };
        format!(
            ".version {version}\n.target {target}\n.address_size 64\n{shared}\n\
             .visible .entry k(.param .u64 .ptr .global .align 128 a, .param .u64 .ptr .global .align 16 b, .param .u32 n) \
             {threads} {directives}\n{{\n\
             .reg .b32 %r<60>; .reg .b64 %d<30>; .reg .pred %p<20>; .reg .f32 %f<20>; .reg .b128 %q<4>; .reg .b16 %h<8>;\n\
             ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; cvta.to.global.u64 %d3, %d1; cvta.to.global.u64 %d4, %d2;\n\
             ld.param.u32 %r59, [n]; mov.u32 %r0, %tid.x;\n{}\nret;\n}}\n",
            self.body
        )
    }
}

/// Checks them all; a code may be said several times.
#[track_caller]
fn check(cases: &[Case]) {
    let mut wrong = Vec::new();
    for c in cases {
        let text = c.text();
        let (lexed, mut found) = lex(&text);
        found.extend(ptx_dsl_frontend::compile(&lexed.tokens).diagnostics);
        let mut codes: Vec<u16> = found.iter().map(|d| d.code).collect();
        codes.sort_unstable();
        codes.dedup();
        if codes != c.codes {
            wrong.push(format!(
                "{}: {codes:?} instead of {:?}: {:?}",
                c.name,
                c.codes,
                found.first().map(|d| &d.message)
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
