//! The answers to an editor about a text of PTX: what a word means, where a name is declared and used, what may be written next, what
//! is wrong, and which edits mend it.
//!
//! A [`Document`] is a text with what the front end makes of it. Places are bytes of the text; the language server converts them.
//! A text that is broken gives the answers that its whole statements allow. Nothing here panics on any text.

mod actions;
mod calls;
mod completion;
mod document;
mod facts;
mod hover;
mod inlays;
mod marks;
mod meaning;
mod names;
mod outline;
mod signature;
mod statement;
mod table;
#[cfg(test)]
mod tests;
mod words;

pub use actions::{Fix, fix_all, fixes};
pub use calls::{Call, Callable, callable, callees, callers};
pub use completion::{Completion, CompletionKind, completions};
pub use document::{Document, Finding, Related};
pub use hover::{Hover, hover};
pub use inlays::{Inlay, inlays};
pub use marks::{Declared, List, Mark, Marks, is_place, marks};
pub use names::{Names, Symbol, SymbolKind};
pub use outline::{Fold, Outline, folds, outline};
pub use signature::{Signature, signature};
pub use table::{describe, entries_of};
pub use words::{Word, WordKind, words};
