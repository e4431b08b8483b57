//! `quote!` for `ptx-dsl-codegen`: Rust code with holes becomes one call with one string. The crate `quote` makes a call of each
//! token, and with what it depends on a fifth of the time that a clean build of `ptx-dsl-macros` took.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, TokenStream, TokenTree};
use std::iter::Peekable;

/// Rust code. `#name` is what a variable stands for, `#( ... #names ... )sep*` what a list of them does, once each with `sep`
/// between; both as in the crate `quote`. Expands to `ptx_dsl_codegen::code::fill("text", &[&name, &names])`, where `text` has
/// the marks for the holes that `fill` knows.
#[proc_macro]
pub fn quote(input: TokenStream) -> TokenStream {
    let mut template = Template::default();
    template.read(input);
    let mut holes = TokenStream::new();
    for hole in template.holes {
        holes.extend([punct('&'), TokenTree::Ident(hole), punct(',')]);
    }
    let text = TokenTree::Literal(Literal::string(&template.text));
    let holes = TokenTree::Group(Group::new(Delimiter::Bracket, holes));
    let arguments = [text, punct(','), punct('&'), holes].into_iter().collect();
    let path = "::ptx_dsl_codegen::code::fill".parse::<TokenStream>();
    let mut call = path.unwrap_or_default();
    call.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, arguments))]);
    call
}

fn punct(c: char) -> TokenTree {
    TokenTree::Punct(Punct::new(c, Spacing::Alone))
}

type Trees = Peekable<proc_macro::token_stream::IntoIter>;

/// Text in which `\x01` is a hole, and `\x02 body \x03 separator \x04` a body for each of a list.
#[derive(Default)]
struct Template {
    text: String,
    holes: Vec<Ident>,
}

impl Template {
    fn read(&mut self, input: TokenStream) {
        let mut trees: Trees = input.into_iter().peekable();
        while let Some(tree) = trees.next() {
            match tree {
                TokenTree::Punct(p) if p.as_char() == '#' && self.hole(&mut trees) => {}
                TokenTree::Punct(p) => {
                    self.text.push(p.as_char());
                    // What follows may be a hole, whose text must not become part of this token.
                    let hole = matches!(trees.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '#');
                    if p.spacing() == Spacing::Alone || hole {
                        self.text.push(' ');
                    }
                }
                TokenTree::Group(g) => {
                    let (open, close) = match g.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    self.text.push_str(open);
                    self.read(g.stream());
                    self.text.push_str(close);
                }
                word => {
                    self.text.push_str(&word.to_string());
                    self.text.push(' ');
                }
            }
        }
    }

    /// What stands behind a `#`, if that makes a hole of it.
    fn hole(&mut self, trees: &mut Trees) -> bool {
        match trees.peek().cloned() {
            Some(TokenTree::Ident(name)) => {
                trees.next();
                self.text.push_str("\x01 ");
                self.holes.push(name);
            }
            Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis => {
                trees.next();
                self.text.push('\x02');
                self.read(g.stream());
                self.text.push('\x03');
                for tree in trees.by_ref() {
                    match tree {
                        TokenTree::Punct(p) if p.as_char() == '*' => break,
                        other => self.text.push_str(&other.to_string()),
                    }
                }
                self.text.push('\x04');
            }
            _ => return false,
        }
        true
    }
}
