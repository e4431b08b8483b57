//! Errors of headers, and of `.version`, `.target` and `.address_size`.

use super::*;

pub(crate) fn header_item(span: Span, found: &str, nearest: Option<&str>) -> Diagnostic {
    let d = noted_error(
        code::UNKNOWN_HEADER_ITEM,
        span,
        format_args!("unknown header item {found}"),
        format_args!("the header is `<target {{, option}}, ptx M.m {{, allow(PTX0601)}}>`, as in `<sm_100a, ptx 8.6>`"),
    );
    match nearest {
        Some(n) => d.help(Help::did_you_mean(n)),
        None => d,
    }
}

/// A level for a code that has none.
pub fn no_lint(span: Span, number: u16) -> Diagnostic {
    let mut lints = String::new();
    for code in code::warnings() {
        let comma = if lints.is_empty() { "" } else { ", " };
        lints += &format!("{comma}`{code}`");
    }
    explained_error(
        code::NO_LEVEL,
        span,
        format_args!("`PTX{number:04}` is not a warning, and its level cannot be set"),
        format_args!("levels are for {} and for the findings of protocol and flow, `PTX06nn`", lints),
        format_args!("remove it from the header"),
    )
}

/// `.version 8`
pub(crate) fn whole_version(span: Span, text: &str, right: &str) -> Diagnostic {
    helped_error(
        code::UNEXPECTED_TOKEN,
        span,
        format_args!("expected a PTX version such as `8.6`, found `{text}`"),
        Help::write(right),
    )
}

pub(crate) fn header_lacks(span: Span, what: &str, right: &str, wrong: &str) -> Diagnostic {
    helped_error(
        code::INCOMPLETE_HEADER,
        span,
        format_args!("the header names no {what}"),
        format_args!("write `{right}` in place of `{wrong}`"),
    )
}

pub(crate) fn header_lacks_both(span: Span) -> Diagnostic {
    helped_error(
        code::INCOMPLETE_HEADER,
        span,
        format_args!("the header names no target and no PTX version"),
        Help::write("<sm_90, ptx 8.6>"),
    )
}

pub(crate) fn disagree(span: Span, directive: &str, here: &str, other: Span, there: &str) -> Diagnostic {
    explained_error(
        code::HEADER_CONFLICT,
        span,
        format_args!("`.{directive} {here}` contradicts `{there}`"),
        format_args!("a module has one version, one target and one address size (PTX ISA 11.1)"),
        format_args!("remove one of them"),
    )
    .label(other, format!("`{there}` is declared here"))
}
