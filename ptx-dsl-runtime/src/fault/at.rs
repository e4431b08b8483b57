//! The statement of a report, and where it comes from.

use std::fmt;

/// The statement a fault is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At {
    /// The PTX statement.
    pub text: String,
    /// Line in the PTX: of the file, if the module is one; else of the printed PTX.
    pub line: u32,
    /// The file with the source: Rust, or PTX.
    pub file: String,
    /// Line in that file, 0 if unknown.
    pub rust_line: u32,
    /// Whether that file is one of PTX, so that both lines are the same.
    pub of_file: bool,
    /// The place in another source that `.loc` gives, as in PTX of `nvcc -lineinfo` or of Triton, or in a piece (`.inline`). The places
    /// after it are those at which it is inlined, or the piece is used; the last one is in the kernel. Empty without `.loc` and pieces.
    pub origin: Vec<Origin>,
}

/// A place in a source file. It is printed as `k.cu:17:5`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The name of the file, as `.file` gives it; of a piece, as rustc does.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1; 0 if unknown.
    pub column: u32,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.column > 0 { write!(f, ":{}", self.column) } else { Ok(()) }
    }
}

/// The lines of a report that say where: a kernel, and a statement if it is known.
pub(crate) struct Where<'a>(pub &'a str, pub Option<&'a At>);

impl fmt::Display for Where<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n  --> kernel `{}`", self.0)?;
        let Some(at) = self.1 else { return Ok(()) };
        write!(f, ", PTX line {}: `{}`", at.line, at.text)?;
        at.arrows(f)
    }
}

impl At {
    /// The line of the file. A place of `.loc` takes the place of the line of a PTX file, which nobody has written then. Nor is it said twice:
    /// the line of a piece, or of its use, is among the other places.
    fn of_source(&self) -> Option<String> {
        let said = |place: &Origin| place.line == self.rust_line && place.column == 0 && place.file == self.file;
        let said = if self.of_file { !self.origin.is_empty() } else { self.origin.iter().any(said) };
        (self.rust_line > 0 && !said).then(|| format!("{}:{}", self.file, self.rust_line))
    }

    /// The lines at which the place of `.loc` is inlined, or the piece is used.
    fn inlined(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.origin.iter().skip(1).try_for_each(|place| write!(f, "\n      inlined at {place}"))
    }

    /// The line of a call in a report.
    pub(super) fn called(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n      called at ")?;
        match (self.origin.first(), self.of_source()) {
            (Some(place), _) => write!(f, "{place}")?,
            (None, Some(source)) => write!(f, "{source}")?,
            (None, None) => write!(f, "PTX line {}", self.line)?,
        }
        self.inlined(f)
    }

    /// The places of a report, each in a line.
    fn arrows(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(source) = self.of_source() {
            write!(f, "\n  --> {source}")?;
        }
        if let Some(place) = self.origin.first() {
            write!(f, "\n  --> {place}")?;
        }
        self.inlined(f)
    }

    /// Writes the statement and its places, at the end of a line.
    pub(super) fn within(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at PTX line {}", self.text, self.line)?;
        if let Some(source) = self.of_source().filter(|_| !self.of_file) {
            write!(f, ", {source}")?;
        }
        if let Some(place) = self.origin.first() {
            write!(f, ", {place}")?;
        }
        self.inlined(f)
    }

    /// The line in the PTX, and the place in the kernel that `.loc` gives, or of the use of a piece.
    pub(crate) fn short(&self) -> String {
        match self.origin.last() {
            Some(place) => format!("PTX line {}, {place}", self.line),
            None => format!("PTX line {}", self.line),
        }
    }

    /// The place in the source, in the words of `.loc` if it gives one, or in a piece.
    pub(crate) fn source(&self) -> String {
        self.origin.first().map_or_else(|| format!("{}:{}", self.file, self.rust_line), Origin::to_string)
    }

    /// The places at which that is inlined, or "".
    pub(crate) fn inlined_at(&self) -> String {
        self.origin.iter().skip(1).map(Origin::to_string).collect::<Vec<_>>().join(", ")
    }
}
