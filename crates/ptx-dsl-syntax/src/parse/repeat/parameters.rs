//! Parameters of pieces: registers, ranges of registers, values, addresses, constants, labels, with default values.

use std::ops::Range;

use super::{Expander, errors};
use crate::parse::SPACES;
use crate::token::Tok;
use ptx_dsl_isa::constant::{Kind as Number, RustType};

/// A parameter of a piece.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// All of it, but for its default value.
    pub(super) tokens: Range<usize>,
    /// The tokens of its default value.
    pub(super) default: Option<Range<usize>>,
}

/// What can be an argument.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// `.reg .b64 %bar`, `.b32 %parity`, `.shared .b64 full`: a register, a register or a constant, an address.
    Operand,
    /// `.reg .f32 %d<N>`: N registers, with the first token of `N` and the one after its last.
    Registers(usize, usize),
    /// `label done`
    Label,
    /// `const N: u32`
    Constant(RustType),
    /// The name of a variable that a layout declares.
    Name,
}

impl Expander<'_> {
    /// A parameter of a definition.
    pub(super) fn parameter(&mut self, all: Range<usize>, layout: bool) -> Option<Parameter> {
        let equals = all.clone().find(|at| self.is(*at, '=')).filter(|_| !layout);
        let tokens = all.start..equals.unwrap_or(all.end);
        let default = equals.map(|equals| equals + 1..all.end);
        let kinds: Vec<&Tok> = self.tokens[tokens.clone()].iter().map(|token| &token.kind).collect();
        let found = match kinds.as_slice() {
            [Tok::Word(name)] if layout => Some((Kind::Name, name)),
            [Tok::Word(keyword), Tok::Word(name), Tok::Punct(':'), Tok::Word(ty)] if keyword == "const" => {
                let ty = RustType::from_name(ty).filter(|ty| ty.kind() == Number::Int);
                ty.map(|ty| (Kind::Constant(ty), name))
            }
            [Tok::Word(keyword), Tok::Word(name)] if keyword == "label" && !layout => Some((Kind::Label, name)),
            [Tok::Punct('.'), Tok::Word(space), Tok::Punct('.'), Tok::Word(_), Tok::Word(name)]
                if SPACES.contains(&space.as_str()) && !layout =>
            {
                Some((Kind::Operand, name))
            }
            [
                Tok::Punct('.'),
                Tok::Word(space),
                Tok::Punct('.'),
                Tok::Word(_),
                Tok::Word(name),
                Tok::Punct('<'),
                _,
                ..,
                Tok::Punct('>'),
            ] if space == "reg" && !layout => Some((Kind::Registers(tokens.start + 6, tokens.end - 1), name)),
            [Tok::Punct('.'), Tok::Word(_), Tok::Word(name)] if !layout => Some((Kind::Operand, name)),
            _ => None,
        };
        // what has a default value takes a constant
        let value = |kind| matches!(kind, Kind::Constant(_)) || kind == Kind::Operand && tokens.len() == 3;
        let span = self.span(all.start, all.end.max(all.start + 1) - 1);
        let Some((kind, name)) = found else {
            self.fail(errors::bad_parameter(span, layout));
            return None;
        };
        let name = name.clone();
        if default.as_ref().is_some_and(|default| default.is_empty() || !value(kind)) {
            self.fail(errors::bad_default(span, &name));
            return None;
        }
        Some(Parameter { kind, name, tokens, default })
    }
}
