//! Diagnostics as rustc shows them: `compile_error!` on the offending tokens on stable, real labels, notes and helps on
//! nightly. Warnings on stable are the use of a deprecated item on the token.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use ptx_dsl_syntax::diag::{Diagnostic, Severity};
use quote::{quote, quote_spanned};

/// An error that the macro itself finds.
pub struct Problem {
    pub code: u16,
    pub message: String,
    pub first: Span,
    pub last: Span,
    pub help: Option<String>,
}

/// All findings as items. `spans` maps a diagnostic's place to Rust spans.
pub fn items(
    diagnostics: &[Diagnostic],
    spans: &dyn Fn(ptx_dsl_syntax::span::Span) -> (Span, Span),
    place: &dyn Fn(&Diagnostic) -> Option<String>,
) -> TokenStream {
    diagnostics.iter().map(|d| item(d, spans, place(d))).collect()
}

/// One problem of the macro's own.
pub fn problem(p: &Problem) -> TokenStream {
    let mut text = format!("[PTX{:04}] {}", p.code, p.message);
    if let Some(help) = &p.help {
        text.push_str(&format!("\n  = help: {help}"));
    }
    error(&text, p.first, p.last)
}

#[cfg(ptx_dsl_nightly)]
fn item(
    d: &Diagnostic,
    spans: &dyn Fn(ptx_dsl_syntax::span::Span) -> (Span, Span),
    place: Option<String>,
) -> TokenStream {
    if place.is_some() {
        let (first, last) = spans(d.span);
        return error(&text(d, place), first, last);
    }
    let level = match d.severity {
        Severity::Error => proc_macro::Level::Error,
        Severity::Warning => proc_macro::Level::Warning,
    };
    let join = |s| {
        let (first, last): (Span, Span) = spans(s);
        let (first, last) = (first.unwrap(), last.unwrap());
        first.join(last).unwrap_or(first)
    };
    let mut out = proc_macro::Diagnostic::spanned(join(d.span), level, format!("[PTX{:04}] {}", d.code, d.message));
    for (span, text) in &d.labels {
        out = out.span_note(join(*span), text.clone());
    }
    for note in &d.notes {
        out = out.note(note.clone());
    }
    for help in &d.helps {
        out = out.help(help.clone());
    }
    out.emit();
    quote!()
}

#[cfg(not(ptx_dsl_nightly))]
fn item(
    d: &Diagnostic,
    spans: &dyn Fn(ptx_dsl_syntax::span::Span) -> (Span, Span),
    place: Option<String>,
) -> TokenStream {
    let (first, last) = spans(d.span);
    let text = text(d, place);
    match d.severity {
        Severity::Error => error(&text, first, last),
        Severity::Warning => {
            let name = proc_macro2::Ident::new("ptx_warning", first);
            quote! {
                const _: () = {
                    #[deprecated(note = #text)]
                    #[allow(non_upper_case_globals)]
                    const ptx_warning: () = ();
                    #name
                };
            }
        }
    }
}

fn text(d: &Diagnostic, place: Option<String>) -> String {
    let mut text = format!("[PTX{:04}] {}", d.code, d.message);
    if let Some(place) = place {
        text.push_str(&format!("\n --> {place}"));
    }
    for (_, label) in &d.labels {
        text.push_str(&format!("\n  = note: {label}"));
    }
    for note in &d.notes {
        text.push_str(&format!("\n  = note: {note}"));
    }
    for help in &d.helps {
        text.push_str(&format!("\n  = help: {help}"));
    }
    text
}

/// `::core::compile_error! { "text" }`, underlined from `first` to `last`.
fn error(text: &str, first: Span, last: Span) -> TokenStream {
    let mut path = quote_spanned!(first=> ::core::compile_error!);
    let mut body = Group::new(proc_macro2::Delimiter::Brace, quote!(#text));
    body.set_span(last);
    path.extend([TokenTree::Group(body)]);
    path
}
