//! Helps of findings, and the edits that they mean. Whatever words a help writes its edits too, so that nothing reads the words back.

use crate::span::Span;

/// What an edit replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The tokens of the span. A dot before them belongs to them if the text begins with a dot or is empty.
    Tokens,
    /// The dotted word that the tokens belong to: an opcode with its qualifiers.
    Opcode,
    /// Nothing: the text follows the dotted word that the tokens belong to.
    Behind,
}

/// One edit of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Tokens of the source.
    pub span: Span,
    /// What the text replaces there.
    pub extent: Extent,
    /// What to write; nothing to remove what is there.
    pub text: String,
}

/// A help: words, and the edits that they mean, each of which does what the help says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Help {
    /// The words.
    pub text: String,
    /// The edits. Those without a span are at the finding.
    edits: Vec<(Option<Span>, Extent, String)>,
}

impl Help {
    /// Words with one edit at the finding.
    fn edit(text: String, extent: Extent, edit: String) -> Help {
        Help { text, edits: vec![(None, extent, edit)] }
    }

    /// Writes a text in place of the finding.
    pub fn write(text: impl Into<String>) -> Help {
        let text = text.into();
        Help::edit(format!("write `{text}`"), Extent::Tokens, text)
    }

    /// Writes one of these texts in place of the finding.
    pub fn write_one_of<S: AsRef<str>>(texts: &[S]) -> Help {
        let edits = texts.iter().take(8).map(|text| (None, Extent::Tokens, text.as_ref().to_owned()));
        Help { text: format!("write {}", one_of(texts)), edits: edits.collect() }
    }

    /// Asks whether a text was meant in place of the finding.
    pub fn did_you_mean(text: impl Into<String>) -> Help {
        let text = text.into();
        Help::edit(format!("did you mean `{text}`?"), Extent::Tokens, text)
    }

    /// Writes another qualifier, or another word, in place of the one at a place.
    pub fn replace(new: &str, old: &str, at: Span) -> Help {
        let text = format!("write `{new}` in place of `{old}`");
        Help { text, edits: vec![(Some(at), Extent::Tokens, new.to_owned())] }
    }

    /// Adds a qualifier to the opcode of the finding.
    pub fn add(qualifier: &str) -> Help {
        Help::edit(format!("add `{qualifier}`"), Extent::Behind, qualifier.to_owned())
    }

    /// Removes what the finding is about.
    pub fn remove() -> Help {
        Help::edit("remove it".to_owned(), Extent::Tokens, String::new())
    }

    /// Removes a qualifier, or another word, at a place.
    pub fn remove_word(word: &str, at: Span) -> Help {
        Help { text: format!("remove `{word}`"), edits: vec![(Some(at), Extent::Tokens, String::new())] }
    }

    /// One of several helps, such as `remove `.a`` or `remove `.b``. `verb`: the word before the list of their texts.
    pub fn any(verb: &str, helps: &[(&str, &Help)]) -> Help {
        let words: Vec<&str> = helps.iter().map(|(word, _)| *word).collect();
        let edits = helps.iter().take(8).flat_map(|(_, help)| help.edits.clone()).collect();
        Help { text: format!("{verb} {}", one_of(&words)), edits }
    }

    /// Adds words behind the others. They need no edit.
    pub fn then(mut self, words: &str) -> Help {
        self.text.push_str(words);
        self
    }

    /// Replaces the words, and keeps the edits.
    pub fn worded(mut self, text: impl Into<String>) -> Help {
        self.text = text.into();
        self
    }

    /// Its edits replace the opcode with all qualifiers, of which the finding is a part.
    pub fn whole_opcode(mut self) -> Help {
        self.edits.iter_mut().for_each(|edit| edit.1 = Extent::Opcode);
        self
    }

    /// Its edits are at this place.
    pub fn at(mut self, span: Span) -> Help {
        self.edits.iter_mut().for_each(|edit| edit.0 = Some(span));
        self
    }

    /// Another edit that does what the help says.
    pub fn or(mut self, span: Span, extent: Extent, text: impl Into<String>) -> Help {
        self.edits.push((Some(span), extent, text.into()));
        self
    }

    /// Its edits, for a finding at this place.
    pub(crate) fn edits(self, finding: Span) -> impl Iterator<Item = Edit> {
        self.edits.into_iter().map(move |(span, extent, text)| Edit { span: span.unwrap_or(finding), extent, text })
    }
}

impl From<String> for Help {
    fn from(text: String) -> Help {
        Help { text, edits: Vec::new() }
    }
}

impl From<&str> for Help {
    fn from(text: &str) -> Help {
        text.to_owned().into()
    }
}

impl From<&String> for Help {
    fn from(text: &String) -> Help {
        text.clone().into()
    }
}

impl From<std::fmt::Arguments<'_>> for Help {
    fn from(text: std::fmt::Arguments) -> Help {
        std::fmt::format(text).into()
    }
}

/// "a, b or c", with `last` before the last one.
pub fn enumeration<S: AsRef<str>>(words: &[S], last: &str) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [first @ .., end] if !first.is_empty() => format!("{} {last} {end}", first.join(", ")),
        _ => words.concat(),
    }
}

/// "`.a`, `.b` or `.c`"; at most eight.
pub fn one_of<S: AsRef<str>>(words: &[S]) -> String {
    let mut quoted: Vec<String> = words.iter().take(8).map(|word| format!("`{}`", word.as_ref())).collect();
    if words.len() > 8 {
        quoted.push(format!("{} more", words.len() - 8));
    }
    enumeration(&quoted, "or")
}
