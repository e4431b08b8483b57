//! Reports diagnostics through rustc: on stable `compile_error!` on the offending tokens, on nightly real labels, notes and
//! helps. A warning on stable is the use of a deprecated macro on the token.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use ptx_dsl_frontend::code::Code;
use ptx_dsl_frontend::diag::{Diagnostic, Severity};
use quote::{format_ident, quote, quote_spanned};
use std::fmt;

/// Maps PTX tokens to Rust spans, the first and the last.
type Spans<'a> = &'a dyn Fn(ptx_dsl_frontend::span::Span) -> (Span, Span);
/// Maps PTX tokens to a place in a file that rustc does not show.
type Places<'a> = &'a dyn Fn(ptx_dsl_frontend::span::Span) -> Option<String>;

/// All findings as items. `spans` maps the place of a diagnostic to Rust spans.
pub fn items(diagnostics: &[Diagnostic], spans: Spans<'_>, place: Places<'_>) -> TokenStream {
    diagnostics.iter().map(|d| item(d, spans, place)).collect()
}

/// An error that only the macros can find: in Rust code in or around a kernel.
pub struct Problem {
    /// The error code of the finding.
    pub code: &'static Code,
    /// The message, one sentence.
    pub message: String,
    /// The first Rust token.
    pub first: Span,
    /// The last one.
    pub last: Span,
    /// An edit that compiles.
    pub help: Option<String>,
}

/// One error of the macro itself.
pub fn problem(p: &Problem) -> TokenStream {
    let Problem { code, message, help, .. } = p;
    let text = match help {
        Some(help) => format!("[{code}] {message}\n  = help: {help}"),
        None => format!("[{code}] {message}"),
    };
    error(&text, p.first, p.last)
}

#[cfg(ptx_dsl_nightly)]
fn item(d: &Diagnostic, spans: Spans<'_>, place: Places<'_>) -> TokenStream {
    if place(d.span).is_some() || d.labels.iter().any(|(span, _)| place(*span).is_some()) {
        return shown(d, spans, place);
    }
    let level = match d.severity {
        Severity::Error => proc_macro::Level::Error,
        Severity::Warning => proc_macro::Level::Warning,
    };
    let join = |s| {
        let (first, last) = spans(s);
        first.unwrap().join(last.unwrap()).unwrap_or(first.unwrap())
    };
    let mut shown = proc_macro::Diagnostic::spanned(join(d.span), level, format!("[{}] {}", d.code, d.message));
    for (span, text) in &d.labels {
        shown = shown.span_note(join(*span), text.clone());
    }
    for note in &d.notes {
        shown = shown.note(note.clone());
    }
    for help in &d.helps {
        shown = shown.help(help.clone());
    }
    shown.emit();
    TokenStream::new()
}

#[cfg(not(ptx_dsl_nightly))]
fn item(d: &Diagnostic, spans: Spans<'_>, place: Places<'_>) -> TokenStream {
    shown(d, spans, place)
}

/// Tokens that rustc complains about: `compile_error!`, or for a warning the use of a deprecated macro that is named after the code.
fn shown(d: &Diagnostic, spans: Spans<'_>, place: Places<'_>) -> TokenStream {
    let (first, last) = spans(d.span);
    let text = text(d, spans, place);
    let code = d.code;
    match d.severity {
        Severity::Error => error(&format!("[{code}] {text}"), first, last),
        Severity::Warning => {
            // One token is underlined: of `.name` the name.
            let at = if first.unwrap().source_text().as_deref() == Some(".") { last } else { first };
            // definition and use have the same hygiene
            let name = format_ident!("{}", code.to_string(), span = at);
            quote! {
                const _: () = {
                    #[deprecated(note = #text)]
                    macro_rules! #name { () => { () } }
                    #name!{}
                };
            }
        }
    }
}

/// The message and what follows it: the place in a file, other places, notes, helps.
fn text(d: &Diagnostic, spans: Spans<'_>, place: Places<'_>) -> String {
    let mut text = d.message.clone();
    if let Some(place) = place(d.span) {
        add(&mut text, format_args!("\n --> {place}"));
    }
    let primary = spans(d.span).0.unwrap();
    let (primary, file) = (primary.line(), primary.file());
    for (span, label) in &d.labels {
        let at = spans(*span).0.unwrap();
        match (place(*span), at.line()) {
            (Some(place), _) => add(&mut text, format_args!("\n  = note: {label}\n ::: {place}")),
            (None, 0) => add(&mut text, format_args!("\n  = note: {label}")),
            (None, line) if line == primary && at.file() == file => {
                add(&mut text, format_args!("\n  = note: {label}, at column {} of this line", at.column()));
            }
            (None, line) if at.file() != file => {
                add(&mut text, format_args!("\n  = note: {label}, at line {line} of {}", at.file()));
            }
            (None, line) => add(&mut text, format_args!("\n  = note: {label}, at line {line}")),
        }
    }
    for note in &d.notes {
        add(&mut text, format_args!("\n  = note: {note}"));
    }
    for help in &d.helps {
        add(&mut text, format_args!("\n  = help: {help}"));
    }
    text
}

fn add(text: &mut String, more: fmt::Arguments<'_>) {
    text.push_str(&fmt::format(more));
}

/// `::core::compile_error! { "text" }`, underlined from `first` to `last`.
fn error(text: &str, first: Span, last: Span) -> TokenStream {
    let mut body = Group::new(Delimiter::Brace, quote!(#text));
    body.set_span(last);
    quote_spanned!(first=> ::core::compile_error! #body)
}
