//! The catalogue of error codes: the only place that gives a code its number, title, explanation, section, classes and examples.
//! `ptx-dsl explain`, docs/reference/error-index.md and docs/reference/rules.md are made from it.
//!
//! A code is a static that other crates name, `code::UNDECLARED`; nothing else compares numbers. The examples are files of `examples/`
//! and a part of the corpus of diagnostics: comments mark the findings of a line, and are not shown.

pub use ptx_dsl_isa::code::Code;

/// Defines the codes of a file, in ascending order: the name, the number, a title and a text. A warning, or a rule of protocol and flow,
/// also has the section of the manual, what is found, and the classes of its findings. `rust`: the examples are Rust.
macro_rules! codes {
    (rust $($rest:tt)*) => { codes!(@ true ".rs" $($rest)*); };
    (@ $rust:literal $extension:literal
     $($name:ident $number:literal $title:literal $text:literal $([$section:literal $about:literal, $($class:expr),+])?)*) => {
        $(
            #[doc = $title]
            pub static $name: &Code = &Code {
                number: $number,
                title: $title,
                text: $text,
                section: concat!($($section)?),
                about: concat!($($about)?),
                classes: codes!(@classes $($($class),+)?),
                example: ptx_dsl_isa::code::Example {
                    wrong: include_str!(concat!("examples/PTX0", $number, ".wrong", $extension)),
                    right: include_str!(concat!("examples/PTX0", $number, ".right", $extension)),
                    is_rust: $rust,
                },
            };
        )*
        /// The codes of this file, in ascending order.
        pub(crate) static LIST: &[&Code] = &[$($name),*];
    };
    (@classes) => { &[ptx_dsl_isa::code::classes::ILLEGAL] };
    (@classes $($class:expr),+) => { &[$($class),+] };
    ($($rest:tt)*) => { codes!(@ false ".ptx" $($rest)*); };
}

mod flow;
mod kernels;
mod operands;
mod performance;
mod protocol;
mod qualifiers;
mod rust;
mod syntax;
mod versions;

pub use flow::*;
pub use kernels::*;
pub use operands::*;
pub use performance::*;
pub use protocol::*;
pub use qualifiers::*;
pub use rust::*;
pub use syntax::*;
pub use versions::*;

static LISTS: &[&[&Code]] = &[
    syntax::LIST,
    rust::LIST,
    qualifiers::LIST,
    versions::LIST,
    operands::LIST,
    kernels::LIST,
    flow::LIST,
    protocol::LIST,
    performance::LIST,
];

/// Every code, in ascending order.
pub fn all() -> impl Iterator<Item = &'static Code> {
    LISTS.iter().flat_map(|list| list.iter().copied())
}

/// The code of this number.
pub fn find(number: u16) -> Option<&'static Code> {
    all().find(|code| code.number == number)
}

/// The rules of protocol and flow, 06xx.
pub fn rules() -> impl Iterator<Item = &'static Code> {
    all().filter(|code| code.is_flow())
}

/// The rules about performance, 07xx.
pub fn of_performance() -> impl Iterator<Item = &'static Code> {
    all().filter(|code| code.is_performance())
}

/// The warnings outside of protocol, flow and performance.
pub fn warnings() -> impl Iterator<Item = &'static Code> {
    all().filter(|code| code.has_level() && !code.is_flow() && !code.is_performance())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_dsl_isa::diag::Class;

    #[test]
    fn codes_ascend() {
        let numbers: Vec<u16> = all().map(|code| code.number).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    }

    #[test]
    fn an_error_of_the_language_has_no_level() {
        for code in all() {
            let illegal = code.classes.iter().any(|(class, _)| *class == Class::Illegal);
            assert!(code.has_level() != illegal || code == NOT_CHECKED, "{code}");
            assert!(code.has_level() || !code.is_flow(), "{code}");
        }
    }
}
