//! Measures how long the front end takes to parse and write out a kernel of 300 lines in expressions and control, and the PTX that it becomes:
//! `cargo run -p ptx-dsl-frontend --example forms_speed`. An unoptimised build is what users' macros are. With a number, it runs so often
//! and prints nothing, for a profiler.

#[path = "../../../xtask/src/budget/forms.rs"]
mod forms;

use ptx_dsl_frontend::compile_rust_file;
use ptx_dsl_frontend::lex::{lex, lex_rust};
use ptx_dsl_frontend::parse::parse;
use ptx_dsl_frontend::parse::repeat::expand;
use ptx_dsl_frontend::token::Token;
use std::hint::black_box;
use std::time::{Duration, Instant};

fn written_out(tokens: &[Token]) -> usize {
    let expanded = expand(tokens, tokens.len() as u32 + 100);
    let (module, wrong) = parse(&expanded.tokens);
    assert!(wrong.is_empty() && expanded.diagnostics.is_empty(), "{wrong:?} {:?}", expanded.diagnostics);
    module.instrs as usize
}

/// The least time of many.
fn least(mut run: impl FnMut()) -> Duration {
    let time = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..200).map(|_| time(&mut run)).min().unwrap_or_default()
}

fn main() {
    let text = forms::kernel(300);
    let tokens = lex_rust(&text).0.tokens;
    if let Some(times) = std::env::args().nth(1).and_then(|times| times.parse::<usize>().ok()) {
        (0..times).for_each(|_| _ = black_box(written_out(&tokens)));
        return;
    }
    let expanded = expand(&tokens, tokens.len() as u32 + 100);
    let compiled = compile_rust_file(&expanded.tokens, None, None, &[], Default::default());
    let plain = lex(&compiled.ptx).0.tokens;
    let forms = least(|| _ = black_box(written_out(&tokens)));
    let ptx = least(|| _ = black_box(parse(&plain).0.instrs));
    let lines = |text: &str| text.lines().count();
    println!(
        "{} lines of forms: {:.2} ms; the {} lines of PTX that they become: {:.2} ms; ratio {:.2}",
        lines(&text),
        forms.as_secs_f64() * 1e3,
        lines(&compiled.ptx),
        ptx.as_secs_f64() * 1e3,
        forms.as_secs_f64() / ptx.as_secs_f64()
    );
}
