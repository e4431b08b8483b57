//! Comments at their places, and `.loc`.

use super::Printer;
use crate::notes::Notes;
use crate::span::Span;

/// The notes that are not printed yet.
pub(super) struct Open<'a> {
    notes: &'a Notes,
    /// Comments that are printed.
    comments: usize,
    /// File and line of the last `.loc`.
    last: Option<(u32, u32)>,
}

/// Stands for the end of the text.
const END: u32 = u32::MAX;

impl<'a> Open<'a> {
    pub fn new(notes: &'a Notes) -> Self {
        Open { notes, comments: 0, last: None }
    }
}

impl<'a> Printer<'a> {
    /// Prints comments up to a token. Those after something stay on its line.
    pub(super) fn comments_before(&mut self, token: u32) {
        while self.comment_behind(token) {}
        while let Some(text) = self.next_comment(token) {
            self.open.comments += 1;
            let lines = text
                .lines()
                .map(str::trim)
                .map(|line| if line.starts_with('*') { format!(" {line}") } else { line.into() });
            let lines: Vec<String> = lines.collect();
            self.line(&lines.join("\n"));
            while self.comment_behind(token) {}
        }
    }

    /// Adds the next comment to the last line, if it was after that.
    pub(super) fn comment_behind(&mut self, token: u32) -> bool {
        let notes = self.open.notes;
        let Some(text) = self.next_comment(token) else { return false };
        if notes.comments[self.open.comments].alone
            || text.contains('\n')
            || self.out.ends_with("\n\n")
            || !self.out.ends_with('\n')
        {
            return false;
        }
        self.open.comments += 1;
        self.out.pop();
        self.out.push(' ');
        self.out.push_str(text.trim_end());
        self.out.push('\n');
        true
    }

    /// Prints what is left.
    pub(super) fn last_comments(&mut self) {
        self.comments_before(END);
    }

    fn next_comment(&self, token: u32) -> Option<&'a str> {
        let notes = self.open.notes;
        let comment = notes.comments.get(self.open.comments)?;
        let position = if token == END { END } else { notes.position(token)? };
        (comment.before <= position).then_some(comment.text.as_str())
    }

    /// `.file` for each source file.
    pub(super) fn files(&mut self) {
        let Some(places) = &self.open.notes.places else { return };
        self.line("");
        for (n, file) in places.files().iter().enumerate() {
            let file: String = file.chars().map(|c| if matches!(c, '\\' | '"') { '/' } else { c }).collect();
            self.line(&format!(".file {} \"{file}\"", n + 1));
        }
    }

    /// A function begins: its first instruction has a `.loc`.
    pub(super) fn begin_lines(&mut self) {
        self.open.last = None;
    }

    /// `.loc` if the instruction is on another line than the last one.
    pub(super) fn location(&mut self, span: Span) {
        let Some(place) = self.open.notes.places.as_ref().and_then(|places| places.of(span)) else { return };
        if self.open.last.replace((place.file, place.line)) != Some((place.file, place.line)) {
            self.line(&format!(".loc {} {} {}", place.file, place.line, place.column));
        }
    }
}
