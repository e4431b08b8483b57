//! The arguments of a piece, as `repeat` writes them at the beginning of its block:
//! `#arguments wait (.reg .b32 %bar = %r1) (label done = exit);`. No lexer makes the word, so no text has this statement.

use super::{Parser, Res};
use crate::ast::{Argument, ArgumentKind, Arguments};

/// The word that begins the statement.
pub(crate) const ARGUMENTS: &str = "#arguments";

impl Parser<'_> {
    pub(super) fn piece_arguments(&mut self) -> Res<Arguments> {
        self.bump();
        let piece = self.name("the name of a piece")?.text;
        let mut given = Vec::new();
        while self.eat('(') {
            let start = self.here();
            let mut dotted = Vec::new();
            while self.is('.') {
                dotted.push(self.dot_word()?);
            }
            let list = self.eat('*');
            let kind = match dotted.as_slice() {
                [_, ty] if list => ArgumentKind::Registers(ty.clone()),
                [ty] => ArgumentKind::Value(ty.clone()),
                [space, ty] if space.text == ".reg" => ArgumentKind::Register(ty.clone()),
                [space, ty] => ArgumentKind::Address(space.clone(), ty.clone()),
                _ => {
                    self.name("`label`")?;
                    ArgumentKind::Label
                }
            };
            let name = self.name("the name of a parameter")?;
            let declared = start.to(name.span);
            self.expect('=')?;
            let operand = self.operand(false)?;
            self.expect(')')?;
            given.push(Argument { kind, name: name.text, declared, given: operand });
        }
        self.expect(';')?;
        Ok(Arguments { piece, given })
    }
}
