//! Computed addresses: `[x + 4 * (%row * %n + %col)]`. An address has 64 bits if a part of it has; then its parts of 32 bits are widened where
//! they are scaled, by one `mad.wide` each, so `4 * %i` does not wrap. Constants become the offset of the address.

use super::expression::{literal, number};
use super::names::{Kind, Known};
use super::{Lowerer, Res, errors};
use crate::ast::{Expr, Instr, Operand, OperandKind};

/// A part of a sum.
struct Term {
    e: Expr,
    negative: bool,
}

/// The parts of a sum.
fn terms(e: Expr, negative: bool, out: &mut Vec<Term>) {
    match e {
        Expr::Binary("+", a, b, _) => {
            terms(*a, negative, out);
            terms(*b, negative, out);
        }
        Expr::Binary("-", a, b, _) => {
            terms(*a, negative, out);
            terms(*b, !negative, out);
        }
        e => out.push(Term { e, negative }),
    }
}

fn is_constant(e: &Expr) -> bool {
    number(e).is_some() || matches!(e, Expr::Rust(..))
}

/// Is it an address of PTX: a name, or a name and a constant?
fn is_plain(e: &Expr) -> bool {
    match e {
        Expr::Name(..) => true,
        Expr::Binary("+" | "-", a, b, _) => is_plain(a) && is_constant(b),
        e => is_constant(e),
    }
}

impl Lowerer<'_> {
    /// Computes the addresses of an instruction.
    pub(super) fn addresses(&mut self, instr: &mut Instr) -> Res<()> {
        // these name parameters
        if instr.parts.iter().any(|part| part.text.starts_with("param")) {
            return Ok(());
        }
        let global = instr.parts.iter().any(|part| part.text == "global");
        for operand in &mut instr.operands {
            if let OperandKind::Address(list) = &mut operand.kind {
                for (n, part) in list.iter_mut().enumerate() {
                    self.part_of_address(part, n == 0, global)?;
                }
            }
        }
        Ok(())
    }

    fn part_of_address(&mut self, part: &mut Operand, first: bool, global: bool) -> Res<()> {
        match &mut part.kind {
            OperandKind::Expr(e) if first && (!is_plain(e) || global && self.is_pointer(e)) => {
                let span = e.span();
                let placeholder = Expr::Int { value: 0, unsigned: false, text: None, span };
                *e = self.address(std::mem::replace(e, placeholder))?;
            }
            // coordinates
            OperandKind::Vector(list) => {
                for element in list {
                    let OperandKind::Expr(e) = &mut element.kind else { continue };
                    if !matches!(e, Expr::Name(..)) && !is_constant(e) {
                        let kind = self.kind(e)?.unwrap_or(Kind::S32);
                        *e = self.compute(&e.clone(), kind, None, e.span())?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Is the base of the address a parameter of 64 bits? Its value is meant, because the access is not in `.param`.
    fn is_pointer(&self, e: &Expr) -> bool {
        match e {
            Expr::Name(word, None) => match self.known(&word.text) {
                Some(Known::Parameter(ty, _)) => Kind::named(&ty).is_some_and(|kind| kind.width() == 64),
                _ => false,
            },
            Expr::Binary(_, a, ..) => self.is_pointer(a),
            _ => false,
        }
    }

    /// The address of PTX for a sum.
    fn address(&mut self, e: Expr) -> Res<Expr> {
        let span = e.span();
        let mut all = Vec::new();
        terms(e, false, &mut all);
        let (constants, parts): (Vec<Term>, Vec<Term>) = all.into_iter().partition(|term| is_constant(&term.e));
        let mut kinds = Vec::new();
        for part in &parts {
            match self.kind(&part.e)? {
                Some(Kind::Pred) => return self.fail(errors::no_operator(part.e.span(), "+", Kind::Pred)),
                kind => kinds.push(kind.unwrap_or(Kind::U32)),
            }
        }
        let wide = kinds.iter().any(|kind| kind.width() == 64);
        // the sum begins with a part that is not a product and not subtracted
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|n| {
            let part = &parts[*n];
            let widens = wide && kinds[*n].width() == 32;
            (part.negative || widens, matches!(part.e, Expr::Binary("*", ..)))
        });
        let mut sum: Option<Expr> = None;
        for n in order {
            let (part, kind) = (&parts[n], kinds[n]);
            sum = Some(self.add_part(sum, part, kind, wide)?);
        }
        let Some(mut address) = sum else { return self.fail(errors::no_expression(span)) };
        let to = if wide { Kind::U64 } else { Kind::U32 };
        let mut offset: i128 = 0;
        let mut unknown = None;
        for Term { e, negative } in constants {
            match number(&e) {
                Some(value) => offset += if negative { -value } else { value },
                None if !negative && unknown.is_none() => unknown = Some(e),
                None => {
                    let opcode = format!("{}.{}", if negative { "sub" } else { "add" }, to.name());
                    address = self.made(&opcode, (to, None, span), vec![address, e]);
                }
            }
        }
        let mut add = |e: Expr| {
            let base = std::mem::replace(&mut address, e.clone());
            address = Expr::Binary("+", Box::new(base), Box::new(e), span);
        };
        match (unknown, offset) {
            (None, 0) => {}
            (Some(e), 0) => add(e),
            (None, offset) => add(literal(offset, span)),
            (Some(e), offset) => {
                address = self.made(&format!("add.{}", to.name()), (to, None, span), vec![address, e]);
                address = Expr::Binary("+", Box::new(address), Box::new(literal(offset, span)), span);
            }
        }
        Ok(address)
    }

    /// Adds one part to the sum before it.
    fn add_part(&mut self, sum: Option<Expr>, part: &Term, kind: Kind, wide: bool) -> Res<Expr> {
        let (e, span) = (&part.e, part.e.span());
        let to = if wide && kind.width() == 32 { if kind.signed() { Kind::S64 } else { Kind::U64 } } else { kind };
        let Some(sum) = sum else {
            let value = self.compute(e, kind, None, span)?;
            if to == kind {
                return Ok(value);
            }
            let opcode = if kind.signed() { "cvt.s64.s32" } else { "cvt.u64.u32" };
            return Ok(self.made(opcode, (to, None, span), vec![value]));
        };
        if part.negative {
            let value = self.compute(e, kind, None, span)?;
            if to == kind {
                return Ok(self.made(&format!("sub.{}", kind.name()), (kind, None, span), vec![sum, value]));
            }
            if !kind.signed() {
                return self.fail(errors::subtracted(span));
            }
            let minus = Expr::Unary('-', Box::new(Expr::Int { value: 1, unsigned: false, text: None, span }), span);
            return Ok(self.made("mad.wide.s32", (to, None, span), vec![value, minus, sum]));
        }
        if to == kind {
            if let Expr::Binary("*", x, y, _) = e {
                return self.product(x, y, Some(sum), (kind, None, span));
            }
            let value = self.compute(e, kind, None, span)?;
            return Ok(self.made(&format!("add.{}", kind.name()), (kind, None, span), vec![sum, value]));
        }
        let one = Expr::Int { value: 1, unsigned: false, text: None, span };
        let (x, y) = match e {
            Expr::Binary("*", x, y, _) => ((**x).clone(), (**y).clone()),
            Expr::Binary("<<", x, y, _) if number(y).is_some_and(|n| (0..31).contains(&n)) => {
                let scale = 1u64 << number(y).unwrap_or_default();
                ((**x).clone(), Expr::Int { value: scale, unsigned: false, text: None, span: y.span() })
            }
            e => (e.clone(), one),
        };
        let (x, y) = if is_constant(&x) { (y, x) } else { (x, y) };
        let x = self.compute(&x, kind, None, x.span())?;
        let y = self.compute(&y, kind, None, y.span())?;
        Ok(self.made(&format!("mad.wide.{}", kind.name()), (to, None, span), vec![x, y, sum]))
    }
}
