//! What each error code means, with a wrong and a right example. `ptx-dsl explain` and docs/error-index.md show these texts, and
//! the tests compile the examples.

mod flow;
mod kernels;
mod operands;
mod protocol;
mod qualifiers;
mod syntax;
#[cfg(test)]
mod tests;

/// An error code explained.
#[derive(Debug, Clone, Copy)]
pub struct Explanation {
    /// `PTX0207` is 207.
    pub code: u16,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// The rule, and what to do.
    pub text: &'static str,
    /// A module that gives this code and no other.
    wrong: Example,
    /// The same, mended.
    right: Example,
}

/// An example.
#[derive(Debug, Clone, Copy)]
enum Example {
    /// The statements of a kernel.
    Body(&'static str),
    /// A module.
    Module(&'static str),
    /// Rust, of an error that only the macros give.
    Rust(&'static str),
}

/// All of them, by family of codes.
pub static EXPLANATIONS: &[&[Explanation]] =
    &[syntax::LIST, qualifiers::LIST, operands::LIST, kernels::LIST, flow::LIST, protocol::LIST];

/// That of a code.
pub fn explanation(code: u16) -> Option<&'static Explanation> {
    for list in EXPLANATIONS {
        for explanation in *list {
            if explanation.code == code {
                return Some(explanation);
            }
        }
    }
    None
}

impl Explanation {
    /// The wrong example as it is shown: a whole module, or Rust.
    pub fn wrong(&self) -> String {
        self.wrong.text()
    }

    /// The right one.
    pub fn right(&self) -> String {
        self.right.text()
    }

    /// Is the example Rust, because only the macros give this code?
    pub fn is_rust(&self) -> bool {
        matches!(self.wrong, Example::Rust(_))
    }
}

impl Example {
    fn text(self) -> String {
        match self {
            Example::Body(body) => format!(
                ".version 9.0\n.target sm_90\n.address_size 64\n\n.visible .entry k(.param .u64 p)\n{{\n{}    ret;\n}}\n",
                lines(body, "    ")
            ),
            Example::Module(text) | Example::Rust(text) => lines(text, ""),
        }
    }
}

/// The lines, moved to the right, with nothing at their ends.
fn lines(text: &str, indent: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let line = line.trim_end();
        if !line.is_empty() {
            out.push_str(indent);
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

/// A code whose examples are statements of a kernel.
const fn body(
    code: u16,
    title: &'static str,
    text: &'static str,
    wrong: &'static str,
    right: &'static str,
) -> Explanation {
    Explanation { code, title, text, wrong: Example::Body(wrong), right: Example::Body(right) }
}

/// A code whose examples are modules.
const fn module(
    code: u16,
    title: &'static str,
    text: &'static str,
    wrong: &'static str,
    right: &'static str,
) -> Explanation {
    Explanation { code, title, text, wrong: Example::Module(wrong), right: Example::Module(right) }
}

/// A code that only the macros give.
const fn rust(
    code: u16,
    title: &'static str,
    text: &'static str,
    wrong: &'static str,
    right: &'static str,
) -> Explanation {
    Explanation { code, title, text, wrong: Example::Rust(wrong), right: Example::Rust(right) }
}
