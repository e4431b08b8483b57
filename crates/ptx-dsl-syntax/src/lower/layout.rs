//! `Tile.at(%row, %column)`: the offset of an element of a tile, in bytes. It is that of a row, a column and a box, and with a swizzle three
//! instructions more.

use super::expression::{literal, number};
use super::names::Kind;
use super::{Lowerer, Res, errors};
use crate::ast::{Expr, Word};
use crate::span::Span;

/// `a * b` or `a + b`.
fn of(operator: &'static str, a: Expr, b: Expr, span: Span) -> Expr {
    Expr::Binary(operator, Box::new(a), Box::new(b), span)
}

impl Lowerer<'_> {
    /// The type of an offset.
    pub(super) fn kind_of_element(&mut self, arguments: &[Expr]) -> Res<Option<Kind>> {
        for e in arguments.iter().take(2) {
            match self.kind(e)? {
                None | Some(Kind::U32) => {}
                Some(kind) => return self.fail(errors::other_index(e.span(), kind)),
            }
        }
        Ok(Some(Kind::U32))
    }

    /// Computes the offset.
    pub(super) fn element(&mut self, arguments: &[Expr], to: (Kind, Option<&Word>, Span)) -> Res<Expr> {
        let (kind, _, span) = to;
        let [row, column, numbers @ ..] = arguments else { return self.fail(errors::no_expression(span)) };
        let numbers: Vec<i128> = numbers.iter().filter_map(number).collect();
        let [element, pitch, box_columns, box_bytes, shift, mask] = numbers.as_slice() else {
            return self.fail(errors::no_expression(span));
        };
        let n = |value: i128| literal(value, span);
        let row_bytes = of("*", row.clone(), n(*pitch), span);
        if let (Some(row), 0) = (number(row), *box_columns) {
            // the row decides which pieces change places
            let within = of("*", column.clone(), n(*element), span);
            let exchanged = ((row * pitch) >> shift) & mask;
            let within = if exchanged == 0 { within } else { of("^", within, n(exchanged), span) };
            let offset = if row == 0 { within } else { of("+", within, n(row * pitch), span) };
            return self.compute(&offset, kind, to.1, span);
        }
        let column = self.compute(column, kind, None, column.span())?;
        // a box further is as many bytes further as a box has, less those of its columns
        let step = if *box_columns > 0 { box_bytes - pitch } else { 0 };
        let offset = match number(&column) {
            Some(column) => {
                let further = if step > 0 { column / box_columns * step } else { 0 };
                of("+", row_bytes, n(column * element + further), span)
            }
            None => {
                let offset = of("+", row_bytes, of("*", column.clone(), n(*element), span), span);
                let number = |column| of("/", column, n(*box_columns), span);
                if step > 0 { of("+", of("*", number(column), n(step), span), offset, span) } else { offset }
            }
        };
        if *mask == 0 {
            return self.compute(&offset, kind, to.1, span);
        }
        let offset = self.compute(&offset, kind, None, span)?;
        let bits = self.made("shr.u32", (kind, None, span), vec![offset.clone(), n(*shift)]);
        let bits = self.made("and.b32", (kind, None, span), vec![bits, n(*mask)]);
        Ok(self.made("xor.b32", to, vec![offset, bits]))
    }
}
