//! Diagnostics as rustc shows them: `compile_error!` on the offending tokens on stable, real labels, notes and helps on
//! nightly. Warnings on stable are the use of a deprecated item on the token.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use ptx_dsl_syntax::diag::{Diagnostic, Severity};

/// Tokens of PTX to Rust spans, the first and the last.
type Spans<'a> = &'a dyn Fn(ptx_dsl_syntax::span::Span) -> (Span, Span);
/// Tokens of PTX to a place in a file that rustc does not show.
type Places<'a> = &'a dyn Fn(ptx_dsl_syntax::span::Span) -> Option<String>;

/// All findings as items. `spans` maps a diagnostic's place to Rust spans.
pub fn items(diagnostics: &[Diagnostic], spans: Spans<'_>, place: Places<'_>) -> TokenStream {
    diagnostics.iter().map(|d| item(d, spans, place)).collect()
}

/// An error that only the macros can find: of the Rust in a kernel, or around it.
pub struct Problem {
    /// `PTX0150` is 150.
    pub code: u16,
    /// One sentence, as that of a diagnostic.
    pub message: String,
    /// The first Rust token.
    pub first: Span,
    /// The last one.
    pub last: Span,
    /// An edit that compiles.
    pub help: Option<String>,
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
fn item(d: &Diagnostic, spans: Spans<'_>, place: Places<'_>) -> TokenStream {
    if place(d.span).is_some() {
        return shown(d, spans, place);
    }
    let level = match d.severity {
        Severity::Error => proc_macro::Level::Error,
        Severity::Warning => proc_macro::Level::Warning,
    };
    let join = |s| {
        let (first, last): (Span, Span) = spans(s);
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
    TokenStream::new()
}

#[cfg(not(ptx_dsl_nightly))]
fn item(d: &Diagnostic, spans: Spans<'_>, place: Places<'_>) -> TokenStream {
    shown(d, spans, place)
}

/// As tokens that rustc complains about: `compile_error!`, or for a warning a deprecated constant that is named like the
/// finding and used where it is.
fn shown(d: &Diagnostic, spans: Spans<'_>, place: Places<'_>) -> TokenStream {
    let (first, last) = spans(d.span);
    let notes = notes(d, spans, place);
    let code = format!("PTX{:04}", d.code);
    match d.severity {
        Severity::Error => error(&format!("[{code}] {}{notes}", d.message), first, last),
        Severity::Warning => {
            let text = format!("{}{notes}", d.message);
            // One token is underlined: of `.name` the name.
            let at = if first.source_text().as_deref() == Some(".") { last } else { first };
            let deprecated = format!("#[deprecated(note = {text:?})] const {code}: () = ();");
            let mut body: TokenStream = deprecated.parse().unwrap_or_default();
            body.extend([TokenTree::Ident(Ident::new(&code, at))]);
            let mut out: TokenStream = "const _: () =".parse().unwrap_or_default();
            out.extend([group(body), TokenTree::Punct(Punct::new(';', Spacing::Alone))]);
            out
        }
    }
}

/// What follows the message: where it is in a file, the other places, notes, helps.
fn notes(d: &Diagnostic, spans: Spans<'_>, place: Places<'_>) -> String {
    let mut text = String::new();
    if let Some(place) = place(d.span) {
        text.push_str(&format!("\n --> {place}"));
    }
    let line = |s| {
        let at = spans(s).0;
        (at.line(), at.column())
    };
    for (span, label) in &d.labels {
        match place(*span) {
            Some(place) => text.push_str(&format!("\n  = note: {label}\n ::: {place}")),
            None => match (line(*span), line(d.span)) {
                ((0, _), _) => text.push_str(&format!("\n  = note: {label}")),
                ((here, column), (primary, _)) if here == primary => {
                    text.push_str(&format!("\n  = note: {label}, at column {column} of this line"));
                }
                ((here, _), _) => text.push_str(&format!("\n  = note: {label}, at line {here}")),
            },
        }
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
    let path: TokenStream = "::core::compile_error!".parse().unwrap_or_default();
    let mut body = group(TokenTree::Literal(Literal::string(text)).into());
    body.set_span(last);
    let path = path.into_iter().map(|mut tree| {
        tree.set_span(first);
        tree
    });
    path.chain([body]).collect()
}

fn group(body: TokenStream) -> TokenTree {
    TokenTree::Group(Group::new(Delimiter::Brace, body))
}
