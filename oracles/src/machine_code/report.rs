//! The report on a module.

use std::collections::BTreeMap;
use std::fmt;

/// The machine code of the printed and formatted texts, compared with that of the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The code is the same.
    Same,
    /// The compiler of the module failed.
    NotMade,
    /// Printing or formatting again gives another text.
    Unstable,
    /// ptxas refuses a text.
    Refused,
    /// The code differs.
    Differs,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Code::Same => "same",
            Code::NotMade => "not made",
            Code::Unstable => "unstable",
            Code::Refused => "refused",
            Code::Differs => "differs",
        })
    }
}

/// The result for one module.
#[derive(Debug)]
pub struct Report {
    /// Number of instructions.
    pub statements: usize,
    /// The code of each error.
    pub errors: Vec<u16>,
    /// The code of each warning.
    pub warnings: Vec<u16>,
    pub code: Code,
    /// Empty if nothing is wrong.
    pub details: String,
}

impl Report {
    /// The report if the compiler wrote no module.
    pub fn not_made(details: String) -> Report {
        Report { statements: 0, errors: Vec::new(), warnings: Vec::new(), code: Code::NotMade, details }
    }

    /// Is there no error, and is the machine code the same?
    pub fn passed(&self) -> bool {
        self.errors.is_empty() && self.code == Code::Same
    }
}

/// The count of each code: `PTX0605 2, PTX0641`.
pub fn counted<'a>(codes: impl IntoIterator<Item = &'a u16>) -> String {
    let mut counts = BTreeMap::new();
    for code in codes {
        *counts.entry(*code).or_insert(0usize) += 1;
    }
    let one = |(code, count): (u16, usize)| {
        if count == 1 { format!("PTX{code:04}") } else { format!("PTX{code:04} {count}") }
    };
    counts.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn codes_are_counted_in_their_order() {
        assert_eq!(counted(&[641, 605, 605]), "PTX0605 2, PTX0641");
        assert_eq!(counted(&[]), "");
    }
}
