//! Descriptors in constant expressions: `descriptor::wgmma(stride: 1024, swizzle: 128)` is a number. `ptx_dsl_isa::descriptor` has their
//! fields.

use super::constant::unknown_here;
use super::{Parser, Res, errors, fold};
use crate::ast::Expr;
use crate::span::Span;
use crate::token::Tok;
use ptx_dsl_isa::constant::Const;
use ptx_dsl_isa::descriptor::{self, Value};
use ptx_dsl_isa::layout::Layout;

impl Parser<'_> {
    /// Does a descriptor begin here?
    pub(super) fn at_descriptor(&self) -> bool {
        self.in_rust && self.word_at(0) == Some("descriptor") && self.is_path(1) && self.is_at(4, '(')
    }

    /// The value of a descriptor.
    pub(super) fn descriptor(&mut self) -> Res<Expr> {
        let start = self.bump();
        self.pos += 2;
        let builder = self.name("the name of a descriptor")?;
        let head = start.to(builder.span);
        self.expect('(')?;
        let of_layout = self.at_layout_member();
        let layout = if of_layout { self.layout_argument()? } else { None };
        let mut given = Vec::new();
        // with the places of the name and of the value
        let mut spans = Vec::new();
        while !self.is(')') {
            let field = self.name("a field such as `stride: 1024`")?;
            self.expect(':')?;
            let from = self.here();
            let value = self.field_value()?;
            spans.push([field.span, from.to(self.before())]);
            given.push((field.text, value));
            if !self.eat(',') {
                break;
            }
        }
        let close = self.expect(')')?;
        let major = given.iter().position(|(name, _)| of_layout && name == "major");
        let major = major.map(|at| (given.remove(at).1, spans.remove(at)));
        let transposed = match &major {
            None => false,
            Some((Value::Word(word), _)) if word == "k" || word == "mn" => word == "mn",
            Some((_, [_, value])) => {
                let help = "write `mn` if K is along the rows of the tile";
                return self.fail(errors::wrong_descriptor(*value, "`major` is `k` or `mn`", help));
            }
        };
        let built = match layout {
            Some((layout, _)) => {
                let all = layout.fields(&builder.text, transposed, given);
                all.and_then(|all| descriptor::build(&builder.text, &all))
            }
            // the declaration of the layout has an error
            None if of_layout => Ok(0),
            None => descriptor::build(&builder.text, &given),
        };
        match built {
            Ok(value) => Ok(Expr::Int { value, unsigned: value > i64::MAX as u64, text: None, span: start.to(close) }),
            Err(wrong) => {
                let at = wrong.field.and_then(|field| spans.get(field));
                let whole = layout.map_or(head, |(_, at)| at);
                let at = at.map_or(whole, |[name, value]| if wrong.name { *name } else { *value });
                self.fail(errors::wrong_descriptor(at, &wrong.message, &wrong.help))
            }
        }
    }

    /// The layout that is the first argument, and where it is named. `None` if its declaration has an error.
    fn layout_argument(&mut self) -> Res<Option<(Layout, Span)>> {
        let layout = self.layout_here(0);
        let at = self.bump();
        if !self.eat(',') && !self.is(')') {
            return self.unexpected("`,` or `)` after the layout");
        }
        Ok(layout.map(|layout| (layout, at)))
    }

    /// A number, or a word. `128_atom_32` is one token.
    fn field_value(&mut self) -> Res<Value> {
        let ends = self.is_at(1, ',') || self.is_at(1, ')');
        match self.peek() {
            Some(Tok::Word(word)) if ends && !self.constant_at(0) => {
                let value = Value::Word(word.clone());
                self.bump();
                Ok(value)
            }
            Some(Tok::Number(number)) if ends && number.contains('_') => {
                let value = Value::Word(number.clone());
                self.bump();
                Ok(value)
            }
            _ => {
                let e = self.expr()?;
                match (fold(&e), &e) {
                    (Some(Const::Int { value, .. }), _) => Ok(Value::Number(value.cast_signed())),
                    (None, Expr::Rust(id, span)) => {
                        let d = unknown_here(*span, "a field of a descriptor", &self.scope.constants, *id);
                        self.fail(d)
                    }
                    _ => self.fail(errors::wrong_descriptor(
                        e.span(),
                        "a field of a descriptor is a constant integer or a word",
                        "write a number, or a constant that the macro knows",
                    )),
                }
            }
        }
    }
}
