//! The items through which rust-analyzer understands a `ptx!`: paths that have the spans of the tokens and lead to documented items.
//!
//! `mbarrier.try_wait.b64 %done, [%bar];` becomes
//!
//! ```text
//! const _: () = {
//!     w0::mbarrier();      // a module has what may stand at the token, and the text about what does
//!     w1::try_wait();
//!     w2::b64();
//!     l3::done; l3::done;  // with the spans of the name and of the `%`
//!     ...
//! };
//! ```
//!
//! and, after all statements, the modules: `mod w1 { pub use super::l1::*; #[doc = "..."] pub fn try_wait(); }`, where `l1` has all words
//! that may follow `mbarrier.`.
//!
//! rust-analyzer expands the macro with and without a made-up word at the cursor, and completes if the text before that word is the same. So
//! the word is taken out, the rest is read as without it, and what becomes of the token at the cursor gets the word. Where a word may
//! be written but is not, there is a path to `__`. Paths that lead nowhere are no findings of rust-analyzer. Its macros have no lines:
//! `mbarrier.` at the end of a line goes on with the next line here.
//!
//! rustc gets nothing of this: [`call`] is empty there.

use crate::parts::{self, Module, Step};
use crate::tokens::Source;
use proc_macro2::{Ident, Span, TokenStream};
use ptx_dsl_editor::{Declared, Document, List, Mark, Marks, is_place, marks};
use ptx_dsl_frontend::token::{Tok, Token};
use quote::{format_ident, quote};
use std::collections::{BTreeSet, HashMap};

/// A call of the macro `editor!` with the input of `ptx!`, if rust-analyzer runs this macro. It stands before everything else.
///
/// The process that runs macros for rust-analyzer does not start without this variable. Should that change: it is also the only one
/// that says no positions. If neither tells, the editor has the findings alone; if one is wrong, rustc drops what the `cfg` hides.
pub fn call(module: &Module) -> TokenStream {
    let named = std::env::var_os("RUST_ANALYZER_INTERNALS_DO_NOT_USE").is_some();
    if !named && has_position(Span::call_site()) {
        return TokenStream::new();
    }
    let again = module.again();
    quote! {
        // only an item around the `cfg` can allow the lint
        #[allow(unexpected_cfgs)]
        const _: () = {
            #[cfg(rust_analyzer)]
            const _: () = { ::ptx_dsl::__private::editor! { #again } };
        };
    }
}

fn has_position(span: Span) -> bool {
    let start = span.unwrap();
    let end = start.end();
    (start.line(), start.column()) != (end.line(), end.column())
}

/// The items for the input of a `ptx!`.
pub fn expand(input: TokenStream) -> TokenStream {
    let Step::Module(module) = parts::step(input) else { return TokenStream::new() };
    let source = Source::of(&module);
    let document = Document::of_tokens(source.tokens.clone(), source.spans.len() as u32);
    let marks = marks(&document);
    let defines_parts = !module.definitions().is_empty();
    let mut items =
        Items { source: &source, marks: &marks, defines_parts, modules: HashMap::new(), out: TokenStream::new() };
    items.statements();
    if source.marker.is_none() {
        items.lists();
        items.groups();
    }
    let Items { out, .. } = items;
    quote! {
        #[allow(nonstandard_style, unused)]
        mod ptx { #out }
    }
}

struct Items<'s> {
    source: &'s Source,
    marks: &'s Marks,
    defines_parts: bool,
    /// The modules of words with a text, by their list, the word, the text and whether the word is in an opcode.
    modules: HashMap<(Option<usize>, String, usize, bool), Ident>,
    out: TokenStream,
}

impl Items<'_> {
    /// The paths, then the modules of words. At a cursor nothing else is wanted.
    fn statements(&mut self) {
        let mut body = TokenStream::new();
        let mut modules = TokenStream::new();
        let marked = self.source.marked();
        for (number, mark) in self.marks.tokens.iter().enumerate() {
            let token = self.source.tokens.get(number);
            if token.is_some_and(|token| !self.source.is_own(token) || !is_place(token)) {
                continue;
            }
            if let Some(module) = self.target(token, *mark, &mut modules) {
                let is_marked = marked == Some(number);
                self.path(&module, token, (*mark, is_marked), &mut body);
            }
            let is_end = token.is_none_or(|token| token.is(';')) || marked == Some(number);
            if is_end && !body.is_empty() {
                self.out.extend(quote!(const _: () = { #body };));
                body = TokenStream::new();
            }
            if marked == Some(number) {
                return;
            }
        }
        self.out.extend(modules);
    }

    /// The path that a token becomes. In an opcode it is a call, because rust-analyzer adds parentheses to the name of a function where there
    /// are none.
    fn path(&self, module: &Ident, token: Option<&Token>, (mark, is_marked): (Mark, bool), body: &mut TokenStream) {
        let word = token.and_then(|token| Some((text(token)?, self.source.span(token.span()))));
        let Some((text, (first, last))) = word.filter(|_| !is_marked) else {
            let written = self.source.marker.as_ref().filter(|_| is_marked).map(|marker| marker.word.clone());
            let none = written.unwrap_or_else(|| format_ident!("__"));
            body.extend(if mark.in_opcode { quote!(#module::#none();) } else { quote!(#module::#none;) });
            return;
        };
        let id = name(text, last);
        if mark.in_opcode {
            body.extend(quote!(#module::#id();));
            return;
        }
        body.extend(quote!(#module::#id;));
        if text.starts_with(['%', '$']) {
            // the `%` shows the same as the name
            let id = name(text, first);
            body.extend(quote!(#module::#id;));
        }
    }

    /// The module that the path of a token leads into.
    fn target(&mut self, token: Option<&Token>, mark: Mark, modules: &mut TokenStream) -> Option<Ident> {
        let list = mark.list.map(|list| format_ident!("l{list}"));
        let (Some(token), Some(about)) = (token, mark.text) else { return list };
        let Some(word) = text(token) else { return list };
        let key = (mark.list, word.to_owned(), about, mark.in_opcode);
        if let Some(module) = self.modules.get(&key) {
            return Some(module.clone());
        }
        let module = format_ident!("w{}", self.modules.len());
        self.modules.insert(key, module.clone());
        // at the token, but with the hygiene of a macro: rust-analyzer goes there and does not rename
        let id = name(word, Span::mixed_site().located_at(self.source.span(token.span()).1));
        let about = &self.marks.texts[about];
        let item = if mark.in_opcode { quote!(pub fn #id();) } else { quote!(pub const #id: word;) };
        let all = list.map(|list| quote!(pub use super::#list::*;));
        modules.extend(quote!(mod #module { use super::types::*; #all #[doc = #about] #item }));
        Some(module)
    }

    /// The modules of what may be written.
    fn lists(&mut self) {
        let mut of_opcode = vec![false; self.marks.lists.len()];
        for mark in &self.marks.tokens {
            if let (Some(list), true) = (mark.list, mark.in_opcode) {
                of_opcode[list] = true;
            }
        }
        for (number, list) in self.marks.lists.iter().enumerate() {
            let module = format_ident!("l{number}");
            let (groups, words): (&[usize], &[(String, String)]) = match list {
                List::Words(words) => (&[], words),
                List::Groups(groups) => (groups, &[]),
                List::GroupsAndWords(groups, words) => (groups, words),
            };
            let groups = groups.iter().map(|group| format_ident!("g{group}"));
            let words = words.iter().map(|(word, about)| {
                let id = name(word, Span::call_site());
                let about = (!about.is_empty()).then(|| quote!(#[doc = #about]));
                match of_opcode[number] {
                    true => quote!(#about pub fn #id();),
                    false => quote!(#about pub const #id: word;),
                }
            });
            self.out.extend(quote!(mod #module { use super::types::*; #(pub use super::#groups::*;)* #(#words)* }));
        }
    }

    /// The modules of declared names.
    fn groups(&mut self) {
        let mut types: BTreeSet<&str> = BTreeSet::from(["word"]);
        for (number, group) in self.marks.groups.iter().enumerate() {
            types.extend(group.iter().map(|declared| declared.ty.as_str()));
            let module = format_ident!("g{number}");
            let items = group.iter().map(|declared| self.declared(declared));
            self.out.extend(quote!(mod #module { use super::types::*; #(#items)* }));
        }
        let types = types.into_iter().map(|ty| name(ty, Span::call_site()));
        self.out.extend(quote!(mod types { #(pub struct #types;)* }));
    }

    fn declared(&self, declared: &Declared) -> TokenStream {
        let Declared { ty, text, is_derived, is_piece, is_global, .. } = declared;
        let Some(token) = self.source.tokens.get(declared.token) else { return TokenStream::new() };
        let span = self.source.span(token.span()).1;
        // rust-analyzer would write the name of `%r1` over the `r` of `%r<8>`, and miss the other users of a part
        let is_fixed = *is_derived || !self.source.is_own(token) || self.defines_parts && *is_global;
        let span = if is_fixed { Span::mixed_site().located_at(span) } else { span };
        let (id, ty) = (name(&declared.name, span), name(ty, Span::call_site()));
        match is_piece {
            true => quote!(#[doc = #text] pub fn #id();),
            false => quote!(#[doc = #text] pub const #id: #ty;),
        }
    }
}

fn text(token: &Token) -> Option<&str> {
    match &token.kind {
        Tok::Word(text) | Tok::Number(text) => Some(text),
        _ => None,
    }
}

/// A word as a name of Rust, without its `%` or `$`. A panic here would take everything from the editor, in silence.
fn name(word: &str, span: Span) -> Ident {
    let bare = word.strip_prefix(['%', '$']).unwrap_or(word);
    let mut text: String = bare.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        text.insert(0, '_');
    }
    match text.as_str() {
        "_" | "self" | "Self" | "super" | "crate" => Ident::new("__", span),
        text if RESERVED.contains(&text) => Ident::new_raw(text, span),
        text => Ident::new(text, span),
    }
}

/// Words that Rust reserves in some edition.
const RESERVED: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
