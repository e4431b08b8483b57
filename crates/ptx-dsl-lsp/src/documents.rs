//! The open files.

use line_index::{LineCol, LineIndex, TextSize, WideEncoding, WideLineCol};
use lsp_types::{Position, Range as Lines, TextDocumentContentChangeEvent, Uri};
use ptx_dsl_editor::Document;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

/// Finds the bodies of `ptx!` in a file of Rust.
pub type Bodies = fn(&str) -> Vec<Range<usize>>;

/// The open files, by address.
pub struct Documents {
    is_utf8: bool,
    bodies: Bodies,
    open: HashMap<String, Open>,
}

/// An open file. Its analysis is made when something asks for it, so that keys typed quickly wait for none.
pub struct Open {
    text: String,
    document: OnceCell<Document>,
    /// The bodies of `ptx!`, if it is a file of Rust.
    bodies: Option<Vec<(Range<usize>, OnceCell<Document>)>>,
    lines: LineIndex,
    is_utf8: bool,
}

impl Documents {
    /// None yet. `is_utf8`: columns count bytes, else units of UTF-16.
    pub fn new(is_utf8: bool, bodies: Bodies) -> Documents {
        Documents { is_utf8, bodies, open: HashMap::new() }
    }

    /// A file is open with this text.
    pub fn open(&mut self, uri: Uri, text: String) {
        let bodies = uri.as_str().ends_with(".rs").then(|| (self.bodies)(&text));
        let open = Open::new(text, bodies, self.is_utf8);
        self.open.insert(uri.as_str().to_owned(), open);
    }

    /// Parts of a file have changed, one after the other. Changes of a file that is not open are no changes.
    pub fn change(&mut self, uri: &Uri, changes: Vec<TextDocumentContentChangeEvent>) {
        let Some(open) = self.open.get(uri.as_str()) else { return };
        let mut text = open.text.clone();
        let mut lines = open.lines.clone();
        for change in changes {
            match change.range {
                None => text = change.text,
                Some(range) => {
                    let range = bytes(&lines, &text, self.is_utf8, range);
                    text.replace_range(range, &change.text);
                }
            }
            lines = LineIndex::new(&text);
        }
        self.open(uri.clone(), text);
    }

    /// A file is no longer open.
    pub fn close(&mut self, uri: &Uri) {
        self.open.remove(uri.as_str());
    }

    /// An open file.
    pub fn get(&self, uri: &Uri) -> Option<&Open> {
        self.open.get(uri.as_str())
    }

    /// All open files with their addresses.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Open)> {
        self.open.iter().map(|(uri, open)| (uri.as_str(), open))
    }
}

impl Open {
    fn new(text: String, bodies: Option<Vec<Range<usize>>>, is_utf8: bool) -> Open {
        let lines = LineIndex::new(&text);
        let bodies = bodies.map(|bodies| bodies.into_iter().map(|body| (body, OnceCell::new())).collect());
        Open { text, document: OnceCell::new(), bodies, lines, is_utf8 }
    }

    /// Is it a file of PTX? Of a file of Rust the server only knows the bodies of `ptx!`.
    pub fn is_ptx(&self) -> bool {
        self.bodies.is_none()
    }

    /// The analysis of a file of PTX.
    pub fn document(&self) -> &Document {
        self.document.get_or_init(|| Document::new(self.text.clone()))
    }

    /// The analysis of what is at a byte: the file, or the body of a `ptx!`. `None` in other Rust.
    pub fn document_at(&self, byte: usize) -> Option<&Document> {
        let Some(bodies) = &self.bodies else { return Some(self.document()) };
        let (body, document) = bodies.iter().find(|(body, _)| body.start <= byte && byte <= body.end)?;
        Some(document.get_or_init(|| Document::in_rust(self.text.clone(), body.clone())))
    }

    /// The analyses of all that is PTX in it.
    pub fn documents(&self) -> impl Iterator<Item = &Document> {
        let of_rust = self
            .bodies
            .iter()
            .flatten()
            .map(|(body, document)| document.get_or_init(|| Document::in_rust(self.text.clone(), body.clone())));
        self.is_ptx().then(|| self.document()).into_iter().chain(of_rust)
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The byte at a position. One after the end of its line is the end of the line.
    pub fn byte(&self, position: Position) -> usize {
        byte(&self.lines, &self.text, self.is_utf8, position)
    }

    /// The bytes between two positions.
    pub fn bytes(&self, range: Lines) -> Range<usize> {
        bytes(&self.lines, &self.text, self.is_utf8, range)
    }

    /// The position of a byte.
    pub fn position(&self, byte: usize) -> Position {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let at = self.lines.line_col(TextSize::new(byte as u32));
        match self.is_utf8 {
            true => Position { line: at.line, character: at.col },
            false => {
                let wide = self.lines.to_wide(WideEncoding::Utf16, at);
                wide.map_or(Position::default(), |WideLineCol { line, col }| Position { line, character: col })
            }
        }
    }

    /// The positions of bytes.
    pub fn lines(&self, range: &Range<usize>) -> Lines {
        Lines { start: self.position(range.start), end: self.position(range.end) }
    }
}

fn byte(lines: &LineIndex, text: &str, is_utf8: bool, position: Position) -> usize {
    let Position { line, character } = position;
    let wide = WideLineCol { line, col: character };
    let at = match is_utf8 {
        true => Some(LineCol { line, col: character }),
        false => lines.to_utf8(WideEncoding::Utf16, wide),
    };
    let found = at.and_then(|at| lines.offset(at)).map(|at| u32::from(at) as usize);
    let end = lines.line(line).map_or(text.len(), |range| {
        let whole = u32::from(range.start()) as usize..u32::from(range.end()) as usize;
        let ends = text.get(whole.clone()).is_some_and(|line| line.ends_with('\n'));
        whole.end - usize::from(ends)
    });
    let mut byte = found.unwrap_or(end).min(end);
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}

fn bytes(lines: &LineIndex, text: &str, is_utf8: bool, range: Lines) -> Range<usize> {
    let start = byte(lines, text, is_utf8, range.start);
    start..byte(lines, text, is_utf8, range.end).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_go_there_and_back() {
        let text = "a\u{1f600}b\u{e9};\n\nx\u{e9}\u{1f600}\u{1f600};y\n";
        for is_utf8 in [false, true] {
            let open = Open::new(text.to_owned(), None, is_utf8);
            for byte in (0..=text.len()).filter(|byte| text.is_char_boundary(*byte)) {
                assert_eq!(open.byte(open.position(byte)), byte, "byte {byte}, {is_utf8}");
            }
            assert_eq!(open.byte(Position { line: 0, character: 99 }), 9, "the end of the line");
            assert_eq!(open.byte(Position { line: 99, character: 0 }), text.len());
        }
    }
}
