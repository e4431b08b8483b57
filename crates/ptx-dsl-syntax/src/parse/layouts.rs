//! Layouts of tiles, in `ptx!`: `layout Tile = f16[128, 64] swizzle 128;`. `Tile.bytes` and its like are numbers, `Tile.at(%row, %column)` is
//! the offset of an element, `.shared Tile stages[4];` and `Tile c;` in a `.region` have its size and alignment, and
//! `descriptor::wgmma(Tile)` its fields. Nothing of it is printed. `ptx_dsl_isa::layout` computes.

use super::{Parser, Res, errors, fold};
use crate::ast::{Declarator, Expr, VarDecl, Word};
use crate::code;
use crate::parse::Const;
use crate::span::Span;
use crate::token::Tok;
use ptx_dsl_isa::constant::Count;
use ptx_dsl_isa::layout::{ELEMENTS, Layout, Swizzle};

/// A layout that a module declares, for Rust.
#[derive(Debug, Clone)]
pub struct NamedLayout {
    /// Its name.
    pub name: Word,
    /// The type of its elements: `f16`.
    pub element: &'static str,
    /// What it is.
    pub layout: Layout,
}

/// The name of the function that `crate::lower` computes: `Tile.at(row, column)`. No lexer makes it.
pub(crate) const AT: &str = "#at";

/// What a layout has beside `at`.
const MEMBERS: [&str; 7] = ["bytes", "rows", "columns", "boxes", "box_columns", "box_bytes", "pitch"];

fn int(value: u32, span: Span) -> Expr {
    Expr::Int { value: value.into(), unsigned: false, text: None, span }
}

impl Parser<'_> {
    /// Is a layout declared here?
    pub(super) fn at_layout(&self) -> bool {
        self.in_rust && self.word_at(0) == Some("layout") && self.word_at(1).is_some() && self.is_at(2, '=')
    }

    /// Reads `layout Tile = f16[128, 64] swizzle 128;`. The name is known after an error, too.
    pub(super) fn layout(&mut self) -> Res<NamedLayout> {
        self.bump();
        let name = self.name("the name of a layout")?;
        self.bump();
        let value = self.layout_value();
        let layout = value.as_ref().ok().map(|(_, layout)| *layout);
        self.declare_layout(&name, layout)?;
        let (element, layout) = value?;
        self.semicolon()?;
        Ok(NamedLayout { name, element, layout })
    }

    /// `f16[128, 64] swizzle 128`
    fn layout_value(&mut self) -> Res<(&'static str, Layout)> {
        let element = self.name("a type such as `f16`")?;
        let Some((named, bytes)) = ELEMENTS.iter().find(|(name, _)| *name == element.text) else {
            return self.fail(errors::element_of_layout(element.span, &element.text));
        };
        self.expect('[')?;
        let start = self.here();
        let rows = self.size_of_layout()?;
        self.expect(',')?;
        let columns = self.size_of_layout()?;
        let sizes = start.to(self.before());
        self.expect(']')?;
        let swizzle = if self.word_at(0) == Some("swizzle") {
            self.bump();
            let span = self.here();
            let Some(Tok::Word(word) | Tok::Number(word)) = self.peek() else {
                return self.unexpected("a swizzle such as `128`");
            };
            self.bump();
            match Swizzle::named(word) {
                Some(swizzle) => swizzle,
                None => return self.fail(errors::swizzle_of_layout(span, word)),
            }
        } else if self.is(';') {
            Swizzle::None
        } else {
            return self.unexpected("`swizzle 128` or `;`");
        };
        match Layout::new(*bytes, [rows, columns], swizzle) {
            Ok(layout) => Ok((named, layout)),
            Err(mistake) => self.fail(errors::sizes_of_layout(sizes, mistake, *bytes, swizzle)),
        }
    }

    fn size_of_layout(&mut self) -> Res<u32> {
        let span = self.here();
        let size = self.known_count("a size of a layout", code::LAYOUT)?;
        match u32::try_from(size) {
            Ok(size) => Ok(size),
            Err(_) => self.fail(errors::no_size(code::LAYOUT, span.to(self.before()), "a size of a layout")),
        }
    }

    /// Is it the name of a layout, and not that of something else?
    pub(super) fn layout_here(&self, n: usize) -> Option<Layout> {
        self.scope.layout(self.word_at(n)?)?
    }

    /// Does a member of a layout begin here, or the name of a layout alone?
    pub(super) fn at_layout_member(&self) -> bool {
        self.word_at(0).is_some_and(|word| self.scope.layout(word).is_some())
    }

    /// `Tile.bytes` or `Tile.at(row, column)`
    pub(super) fn layout_member(&mut self) -> Res<Expr> {
        let name = self.name("the name of a layout")?;
        let layout = self.scope.layout(&name.text).flatten();
        if !self.is('.') {
            return self.fail(errors::layout_alone(name.span, &name.text));
        }
        self.bump();
        let member = self.name("a member of a layout such as `bytes`")?;
        let span = name.span.to(member.span);
        if member.text == "at" {
            return self.element(layout, name.span);
        }
        let Some(layout) = layout else { return Ok(int(1, span)) };
        Ok(int(
            match member.text.as_str() {
                "bytes" => layout.bytes(),
                "rows" => layout.rows(),
                "columns" => layout.columns(),
                "boxes" => layout.boxes(),
                "box_columns" => layout.box_columns(),
                "box_bytes" => layout.box_bytes(),
                "pitch" => layout.pitch(),
                _ => {
                    let other = super::near::nearest(&member.text, &MEMBERS);
                    return self.fail(errors::member_of_layout(member.span, &member.text, &MEMBERS, other));
                }
            },
            span,
        ))
    }

    /// `(row, column)`: a number, or a call that is computed.
    fn element(&mut self, layout: Option<Layout>, start: Span) -> Res<Expr> {
        self.expect('(')?;
        self.down()?;
        let inner = self.row_and_column();
        self.up();
        let (row, column) = inner?;
        let span = start.to(self.expect(')')?);
        let Some(layout) = layout else { return Ok(int(0, span)) };
        let mut known = [None; 2];
        for (n, (e, size, what)) in
            [(&row, layout.rows(), "row"), (&column, layout.columns(), "column")].into_iter().enumerate()
        {
            let Some(value) = fold(e) else { continue };
            match value {
                Const::Int { value, .. } if value < u64::from(size) => known[n] = u32::try_from(value).ok(),
                _ => return self.fail(errors::outside_of_layout(e.span(), what, size)),
            }
        }
        if let [Some(row), Some(column)] = known {
            return Ok(int(layout.at(row, column), span));
        }
        if !self.with_registers {
            let unknown = if known[0].is_none() { &row } else { &column };
            return self.fail(errors::computed_element(unknown.span()));
        }
        let (shift, mask) = layout.swizzle().exchange();
        let numbers = [
            layout.element(),
            layout.pitch(),
            if layout.boxes() > 1 { layout.box_columns() } else { 0 },
            layout.box_bytes(),
            shift,
            mask,
        ];
        let arguments = [row, column].into_iter().chain(numbers.map(|number| int(number, span))).collect();
        Ok(Expr::Call(Word { text: AT.to_owned(), span: start }, arguments, span))
    }

    fn row_and_column(&mut self) -> Res<(Expr, Expr)> {
        let row = self.expr()?;
        self.expect(',')?;
        Ok((row, self.expr()?))
    }

    /// Is it `.shared Tile stages[4];`?
    pub(super) fn at_tiles(&self) -> bool {
        let named = |n| self.word_at(n).is_some_and(|word| self.scope.layout(word).is_some());
        self.in_rust && self.dotted() == Some("shared") && named(2) && self.word_at(3).is_some()
    }

    /// Reads it: variables of bytes, aligned as the swizzle is.
    pub(super) fn tiles(&mut self) -> Res<VarDecl> {
        let start = self.here();
        let space = self.dot_word()?;
        // of one whose declaration has an error it is not known what fits
        let (bytes, align) = self.layout_here(0).map_or((1024, 1024), |layout| (layout.bytes(), layout.align()));
        let span = self.bump();
        let mut names = Vec::new();
        loop {
            self.no_sink()?;
            let name = self.name("the name of a variable")?;
            self.no_constant(&name);
            let elements = if self.eat('[') {
                let elements = self.known_count("the number of tiles", code::LAYOUT)?;
                self.expect(']')?;
                elements
            } else {
                1
            };
            let dims = vec![Some(Count::Known(elements.saturating_mul(bytes.into())))];
            names.push(Declarator { name, range: None, dims, init: None, rust_type: None, read_only: false });
            if !self.eat(',') {
                break;
            }
        }
        self.semicolon()?;
        Ok(VarDecl {
            linkage: Vec::new(),
            space,
            attribute: None,
            align: Some((Count::Known(align.into()), span)),
            vector: None,
            ty: Word { text: ".b8".to_owned(), span },
            ptr: None,
            names,
            span: start.to(self.before()),
        })
    }
}
