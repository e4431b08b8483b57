//! Diagnostics as data. `errors` words them; the macros and the command line render them.

use crate::code::Code;
use crate::edit::{Edit, Help};
use std::cmp::Reverse;

use crate::span::Span;
use crate::ty::Ty;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The kernel is accepted.
    Warning,
    /// The kernel is refused.
    Error,
}

/// The class of a finding. It determines the severity unless a level overrides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// ptxas or the language refuses it: an error.
    Illegal,
    /// It goes wrong on hardware, however the text is compiled: a hang, a fault or wrong data. An error.
    Broken,
    /// It is against the manual, but shipped compilers write it and ptxas makes it right: a warning.
    Protocol,
    /// It is likely a mistake, or is one on some path: a warning.
    Suspicious,
    /// It is right, and slower than it need be: a warning, if a level asks for it.
    Performance,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 5] = [Class::Illegal, Class::Broken, Class::Protocol, Class::Suspicious, Class::Performance];

    /// Its name in levels, in JSON and in the documentation.
    pub fn name(self) -> &'static str {
        match self {
            Class::Illegal => "illegal",
            Class::Broken => "broken",
            Class::Protocol => "protocol",
            Class::Suspicious => "suspicious",
            Class::Performance => "performance",
        }
    }

    /// The severity if no level is set.
    pub fn severity(self) -> Severity {
        match self {
            Class::Illegal | Class::Broken => Severity::Error,
            Class::Protocol | Class::Suspicious | Class::Performance => Severity::Warning,
        }
    }
}

/// Sorts by place; at one place and code an error precedes a warning.
pub fn sort(found: &mut [Diagnostic]) {
    found.sort_by_key(|d| (d.span.first, d.span.last, d.code, Reverse(d.severity)));
}

/// Puts findings that come from uses of pieces at the uses, with the token of the piece as another place. `alone`: those that the
/// pieces have by themselves, which stay there.
pub fn show_uses(alone: &[Diagnostic], found: &mut [Diagnostic]) {
    for d in found.iter_mut().filter(|d| !alone.iter().any(|other| (other.code, other.span) == (d.code, d.span))) {
        let Some(of) = d.of_use.take_if(|of| of.by_its_use) else { continue };
        let Some((place, text)) = d.labels.get_mut(of.label) else { continue };
        std::mem::swap(&mut d.span, place);
        d.span = of.argument.unwrap_or(d.span);
        *text = format!("it is here in `{}`", of.piece);
        match of.others {
            0 => {}
            1 => d.notes.push("another use has it too".to_owned()),
            n => d.notes.push(format!("{n} other uses have it too")),
        }
    }
    sort(found);
}

/// What a Rust constant at the place of an error would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constant {
    /// A value, which rustc may compute.
    Value,
    /// A number that the front end must know, because it decides which names and statements there are.
    Known,
    /// The part of a name in braces, as in `%r{N}`. The front end must know it too.
    Name,
    /// A path such as `crate::TILE`, if the `:` of the error belongs to one.
    Path,
}

/// What a name stands for where it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// A register.
    Register,
    /// A register of type `.pred`.
    Predicate,
    /// The base of an address.
    RegisterOrVariable,
    /// A register, a variable or a function.
    Name,
    /// A variable.
    Variable,
    /// A function.
    Function,
    /// A label.
    Label,
    /// A list of branch or call targets.
    Targets,
}

impl Wanted {
    /// The noun of messages.
    pub fn text(self) -> &'static str {
        match self {
            Wanted::Register => "register",
            Wanted::Predicate => "predicate",
            Wanted::RegisterOrVariable => "register or variable",
            Wanted::Name => "name",
            Wanted::Variable => "variable",
            Wanted::Function => "function",
            Wanted::Label => "label",
            Wanted::Targets => "list of targets",
        }
    }
}

/// What a finding is about, as far as later code asks for it: nothing reads a message back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Subject {
    /// Its code says all.
    #[default]
    Code,
    /// A name that is not declared.
    Undeclared {
        /// The name as written.
        name: String,
        /// What it should be.
        wanted: Wanted,
        /// The type of the register that the help declares.
        declares: Option<Ty>,
    },
    /// A register of one type where another is needed.
    RegisterType {
        /// The type of the register.
        have: Ty,
        /// The type of the operand.
        want: Ty,
    },
    /// Several values where one register belongs.
    OneRegister,
    /// More operands than the instruction has.
    ExtraOperands,
}

/// A use of a piece whose tokens have a finding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OfUse {
    /// The argument that the token stands for, where the outermost use gives it.
    pub argument: Option<Span>,
    /// The number of the label at the use, the outermost of several.
    pub label: usize,
    /// `ring::wait`
    pub piece: String,
    /// How many other uses have the finding.
    pub others: usize,
    /// The piece belongs to a part, or some uses of it do not have the finding.
    pub by_its_use: bool,
}

/// One finding, in rustc's voice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its error code.
    pub code: &'static Code,
    /// Its class.
    pub class: Class,
    /// Error or warning.
    pub severity: Severity,
    /// One sentence, lower case, PTX in backticks.
    pub message: String,
    /// The offending tokens, nothing more.
    pub span: Span,
    /// Other places, each with a few words.
    pub labels: Vec<(Span, String)>,
    /// The rule, with its section.
    pub notes: Vec<String>,
    /// What to do, in words.
    pub helps: Vec<String>,
    /// The edits that the helps mean. Each is an alternative.
    pub edits: Vec<Edit>,
    /// A Rust constant could stand there: if the kernel does not know it, the help says how to declare it.
    pub constant: Option<Constant>,
    /// What it is about.
    pub subject: Subject,
    /// It is in the tokens of a piece.
    pub of_use: Option<Box<OfUse>>,
}

impl Diagnostic {
    /// A finding of this class, without notes yet.
    pub fn new(class: Class, code: &'static Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            class,
            severity: class.severity(),
            message: message.into(),
            span,
            labels: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
            edits: Vec::new(),
            constant: None,
            subject: Subject::Code,
            of_use: None,
        }
    }

    /// An error in the text.
    pub fn error(code: &'static Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic::new(Class::Illegal, code, span, message)
    }

    /// A warning about the text.
    pub fn warning(code: &'static Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic::new(Class::Suspicious, code, span, message)
    }

    /// Adds a `note:`.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds a `help:`.
    pub fn help(mut self, help: impl Into<Help>) -> Self {
        self.add_help(help.into());
        self
    }

    /// Adds a `help:` with its edits.
    pub fn add_help(&mut self, mut help: Help) {
        self.helps.push(std::mem::take(&mut help.text));
        self.edits.extend(help.edits(self.span));
    }

    /// Puts this help in place of all helps.
    pub fn only_help(&mut self, help: impl Into<Help>) {
        self.helps.clear();
        self.edits.clear();
        self.add_help(help.into());
    }

    /// A Rust constant could stand there, if the condition holds.
    pub fn wants(mut self, constant: Constant, holds: bool) -> Self {
        self.constant = holds.then_some(constant);
        self
    }

    /// Says what it is about.
    pub fn about(mut self, subject: Subject) -> Self {
        self.subject = subject;
        self
    }

    /// Adds a second place.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push((span, text.into()));
        self
    }
}
