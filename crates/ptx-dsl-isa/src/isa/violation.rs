//! What a rule of the table finds wrong with an instruction. The checker knows where the parts stand, and shows it.

use crate::qualifier::Qualifier;

/// A part of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The opcode.
    Opcode,
    /// A qualifier; the opcode, if the instruction does not have it.
    Qualifier(Qualifier),
    /// The operand of this number.
    Operand(usize),
}

/// What makes an instruction right. Quoted PTX is data, so that an editor can apply it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// One of these texts in place of the wrong part. The words behind them need no edit: ` or less`.
    Write(Vec<String>, &'static str),
    /// The whole opcode with its qualifiers, written so.
    Spell(String),
    /// One of the other qualifiers in place of the first. The words behind them tell what else changes, if anything.
    Replace(Qualifier, Vec<Qualifier>, &'static str),
    /// The instruction without this qualifier.
    Remove(Qualifier),
    /// Anything else, in words alone.
    Rewrite(&'static str),
}

/// A rule that an instruction breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// What is wrong, as a sentence.
    pub text: String,
    /// The part that is wrong.
    pub part: Part,
    /// What makes it right, if the rule knows.
    pub remedy: Option<Remedy>,
}

impl Violation {
    /// The instruction as a whole is wrong.
    pub fn of_opcode(text: impl Into<String>) -> Violation {
        Violation { text: text.into(), part: Part::Opcode, remedy: None }
    }

    /// This qualifier is wrong.
    pub fn of_qualifier(qualifier: Qualifier, text: impl Into<String>) -> Violation {
        Violation { text: text.into(), part: Part::Qualifier(qualifier), remedy: None }
    }

    /// The operand of this number is wrong.
    pub fn of_operand(number: usize, text: impl Into<String>) -> Violation {
        Violation { text: text.into(), part: Part::Operand(number), remedy: None }
    }

    /// The violation with what makes it right.
    pub fn remedy(mut self, remedy: Remedy) -> Violation {
        self.remedy = Some(remedy);
        self
    }

    /// The text to write in place of the part.
    pub fn write(self, text: impl ToString) -> Violation {
        self.remedy(Remedy::Write(vec![text.to_string()], ""))
    }

    /// The largest number to write in place of the operand.
    pub fn write_at_most(self, most: u64) -> Violation {
        self.remedy(Remedy::Write(vec![most.to_string()], " or less"))
    }

    /// The qualifier to remove.
    pub fn remove(self, qualifier: Qualifier) -> Violation {
        self.remedy(Remedy::Remove(qualifier))
    }

    /// What to write instead, in words.
    pub fn rewrite(self, text: &'static str) -> Violation {
        self.remedy(Remedy::Rewrite(text))
    }
}
