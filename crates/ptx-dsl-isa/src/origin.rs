//! The places in source files that `.file` and `.loc` give instructions (PTX ISA 11.5.3, 11.5.4).

use std::collections::BTreeMap;

/// The places of a module's instructions.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    /// The files, by the numbers that `.loc` names.
    pub files: BTreeMap<u64, String>,
    /// What `.loc` says, in the order of the text.
    pub places: Vec<Place>,
    /// By `ast::Instr::index`: the number of the instruction's place from 1, or 0. Ends after the last instruction with a place.
    of: Vec<u32>,
}

/// A place in a source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// The number of the file.
    pub file: u64,
    /// From 1; 0 for what the compiler has made.
    pub line: u64,
    /// From 1; 0 if unknown.
    pub column: u64,
    /// The number of the place it is inlined at, from 1, or 0. That place is earlier in the list.
    pub inlined_at: u32,
}

impl Origins {
    /// Notes the place of an instruction, by their numbers.
    pub fn set(&mut self, instr: u32, place: u32) {
        let at = instr as usize;
        if self.of.len() <= at {
            self.of.resize(at + 1, 0);
        }
        self.of[at] = place;
    }

    /// The number of the place of an instruction from 1, or 0.
    pub fn of(&self, instr: u32) -> u32 {
        self.of.get(instr as usize).copied().unwrap_or(0)
    }

    /// The place of an instruction, and those at which it is inlined: `k.cu:17:5`. Without those that have no line or file.
    pub fn in_words(&self, instr: u32) -> Vec<String> {
        let (mut words, mut number) = (Vec::new(), self.of(instr));
        while let Some(place) = self.place(number) {
            if let Some(name) = self.file_of(place) {
                let column = if place.column > 0 { format!(":{}", place.column) } else { String::new() };
                words.push(format!("{name}:{}{column}", place.line));
            }
            number = place.inlined_at;
        }
        words
    }

    /// The name of a place's file. `None` if the place says nothing: it has no line, or no declared file.
    pub fn file_of(&self, place: &Place) -> Option<&str> {
        self.files.get(&place.file).filter(|_| place.line > 0).map(String::as_str)
    }

    /// The place with a number from 1.
    pub fn place(&self, number: u32) -> Option<&Place> {
        self.places.get((number as usize).checked_sub(1)?)
    }
}
