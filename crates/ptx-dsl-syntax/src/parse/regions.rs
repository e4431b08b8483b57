//! Names for regions of a variable, in `ptx!`: `.region smem: SHARED { .align 1024 .b8 stages[49152]; .b64 full[4]; }`. `full` is then
//! `smem+49152` wherever an address or its value stands, and the constant `SHARED` is the number of bytes. Nothing of it is printed.

use super::{Parser, Res, errors};
use crate::ast::{Expr, Word};
use crate::code::{self, Code};
use crate::span::Span;
use ptx_dsl_isa::constant::Count;
use ptx_dsl_isa::hir::NamedRegion;
use ptx_dsl_isa::ty::Ty;

/// A region of a variable.
#[derive(Debug, Clone)]
pub(super) struct Region {
    /// The variable.
    base: String,
    /// In bytes.
    offset: u64,
}

impl Region {
    /// The address, named here.
    pub(super) fn address(&self, span: Span) -> Expr {
        let base = Box::new(Expr::Name(Word { text: self.base.clone(), span }, None));
        let offset = Expr::Int { value: self.offset, unsigned: false, text: None, span };
        if self.offset == 0 { *base } else { Expr::Binary("+", base, Box::new(offset), span) }
    }
}

impl Parser<'_> {
    /// Are regions declared here?
    pub(super) fn at_regions(&self) -> bool {
        self.in_rust && self.dotted() == Some("region")
    }

    /// Reads the regions of a variable. What follows them is read after an error, too.
    pub(super) fn regions(&mut self) {
        let (mut open, mut end) = (0u32, self.pos);
        while let Some(token) = self.tokens.get(end) {
            end += 1;
            open += u32::from(token.is('{'));
            if token.is('}') || open == 0 && token.is(';') {
                break;
            }
        }
        if self.regions_until_end().is_err() {
            self.pos = self.pos.max(end);
        }
    }

    fn regions_until_end(&mut self) -> Res<()> {
        self.pos += 2;
        let base = self.name("the name of a variable in shared memory")?;
        let Some(align) = self.aligns.iter().rev().find(|(name, _)| *name == base.text).map(|(_, align)| *align) else {
            return self.fail(errors::no_variable_of_regions(base.span, &base.text));
        };
        let total = if self.eat(':') { Some(self.name("the name of a constant")?) } else { None };
        let open = self.expect('{')?;
        let mut end = 0;
        while !self.eat('}') {
            if self.peek().is_none() {
                return self.fail(errors::unclosed(open, '{'));
            }
            end = self.region(&base.text, align, end)?;
        }
        match total {
            Some(name) => self.declare_size(&name, end),
            None => Ok(()),
        }
    }

    /// `.align 8 .b64 full[4], empty[4];` after the bytes before it; returns where it ends.
    fn region(&mut self, base: &str, most: u64, mut end: u64) -> Res<u64> {
        let start = self.here();
        let mut align = None;
        if self.dotted() == Some("align") {
            self.pos += 2;
            let span = self.here();
            let value = self.known_count("an alignment", code::REGION)?;
            if !value.is_power_of_two() || value > most {
                return self.fail(errors::alignment_of_region(span.to(self.before()), value, most, base));
            }
            align = Some(value);
        }
        let (bytes, natural, span) = self.type_of_region()?;
        let align = align.unwrap_or(natural);
        if align > most {
            return self.fail(errors::alignment_of_region(start.to(span), align, most, base));
        }
        loop {
            let name = self.name("the name of a region")?;
            let mut elements = 1;
            if self.eat('[') {
                elements = self.known_count("the size of a region", code::REGION)?;
                self.expect(']')?;
            }
            let offset = end.next_multiple_of(align);
            end = match elements.checked_mul(bytes).and_then(|size| offset.checked_add(size)) {
                Some(end) if end <= u64::from(u32::MAX) => end,
                _ => return self.fail(errors::too_large_region(name.span, &name.text)),
            };
            self.declare_region(&name, Region { base: base.to_owned(), offset })?;
            self.regions.push(NamedRegion {
                function: None,
                variable: base.to_owned(),
                name: name.text,
                offset,
                bytes: end - offset,
            });
            if !self.eat(',') {
                break;
            }
        }
        self.semicolon()?;
        Ok(end)
    }

    /// `.b64`, or the name of a layout: its bytes and its alignment.
    fn type_of_region(&mut self) -> Res<(u64, u64, Span)> {
        if self.at_layout_member() {
            // one that has an error was reported
            let (bytes, align) = self.layout_here(0).map_or((1, 1), |layout| (layout.bytes(), layout.align()));
            return Ok((bytes.into(), align.into(), self.bump()));
        }
        let ty = self.dot_word()?;
        match Ty::from_name(ty.text.trim_start_matches('.')) {
            Some(known) if known != Ty::Pred && known.bytes() > 0 => {
                let bytes = u64::from(known.bytes());
                Ok((bytes, bytes, ty.span))
            }
            _ => self.fail(errors::expected(ty.span, "a type such as `.b64`", &format!("`{}`", ty.text))),
        }
    }

    /// A number that the macro knows. `code`: that of the error if it does not.
    pub(super) fn known_count(&mut self, what: &str, code: &'static Code) -> Res<u64> {
        let span = self.here();
        let e = self.constant()?;
        match (super::fold(&e), &e) {
            (Some(super::Const::Int { value, unsigned }), _) if unsigned || value.cast_signed() >= 0 => Ok(value),
            (None, Expr::Rust(id, _)) => {
                let d = super::constant::unknown_here(span, what, &self.scope.constants, *id);
                self.fail(d)
            }
            _ => self.fail(errors::no_size(code, e.span(), what)),
        }
    }

    /// Notes the alignment of a variable, of which regions may be declared.
    pub(super) fn note_alignment(&mut self, var: &crate::ast::VarDecl) {
        if var.space.text != ".shared" {
            return;
        }
        let element = Ty::from_name(var.ty.text.trim_start_matches('.')).map_or(1, |ty| u64::from(ty.bytes()));
        let align = match var.align {
            Some((Count::Known(align), _)) => align,
            _ => element,
        };
        self.aligns.extend(var.names.iter().map(|name| (name.name.text.clone(), align.max(1))));
    }
}
