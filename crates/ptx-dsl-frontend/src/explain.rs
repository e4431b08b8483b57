//! Explanations of error codes, each with a wrong and a right example. `ptx-dsl explain` and docs/error-index.md show them.
//!
//! The examples are files of `explain/examples` and a part of the corpus of diagnostics: comments mark the findings of a line,
//! and are not shown.

/// The explanations of codes, each with a title, a text, and two files of `examples`. `rust`: the examples are Rust.
macro_rules! explained {
    (rust $($code:literal $title:literal $text:literal)*) => { explained!(@ true ".rs" $($code $title $text)*) };
    (@ $rust:literal $extension:literal $($code:literal $title:literal $text:literal)*) => {
        &[$(Explanation {
            code: $code,
            title: $title,
            text: $text,
            wrong: include_str!(concat!("examples/PTX0", $code, ".wrong", $extension)),
            right: include_str!(concat!("examples/PTX0", $code, ".right", $extension)),
            rust: $rust,
        }),*]
    };
    ($($code:literal $title:literal $text:literal)*) => { explained!(@ false ".ptx" $($code $title $text)*) };
}

mod flow;
mod kernels;
mod operands;
mod protocol;
mod qualifiers;
mod syntax;
#[cfg(test)]
mod tests;

/// The explanation of an error code.
#[derive(Debug, Clone, Copy)]
pub struct Explanation {
    /// `PTX0207` is 207.
    pub code: u16,
    /// Its subject, in a few words.
    pub title: &'static str,
    /// The rule, and how to fix the error.
    pub text: &'static str,
    wrong: &'static str,
    right: &'static str,
    rust: bool,
}

/// All of them, by family of codes.
pub static EXPLANATIONS: &[&[Explanation]] =
    &[syntax::LIST, syntax::RUST, qualifiers::LIST, operands::LIST, kernels::LIST, flow::LIST, protocol::LIST];

/// The explanation of a code.
pub fn explanation(code: u16) -> Option<&'static Explanation> {
    EXPLANATIONS.iter().flat_map(|list| list.iter()).find(|explanation| explanation.code == code)
}

impl Explanation {
    /// The wrong example: a whole module with this code and no other, or Rust.
    pub fn wrong(&self) -> String {
        without_marks(self.wrong)
    }

    /// The right one.
    pub fn right(&self) -> String {
        without_marks(self.right)
    }

    /// Is the example Rust, because only the macros give this code?
    pub fn is_rust(&self) -> bool {
        self.rust
    }
}

/// The example without `// error: PTX0207` and `// warning: PTX0516` at the ends of lines.
fn without_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let mark = line.find(" // error: PTX").or_else(|| line.find(" // warning: PTX"));
        out.push_str(&line[..mark.unwrap_or(line.len())]);
        out.push('\n');
    }
    out
}
