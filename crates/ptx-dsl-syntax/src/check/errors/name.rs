//! The catalogue of 04xx: names.

use crate::diag::{Constant, Diagnostic, Subject, Wanted};
use crate::span::Span;

use super::*;

pub(crate) fn undeclared(span: Span, wanted: Wanted, name: &str, nearest: Option<&str>) -> Diagnostic {
    let what = wanted.text();
    let d = did_you_mean(error(code::UNDECLARED, span, format!("{what} `{name}` is not declared")), nearest)
        .wants(Constant::Value, matches!(wanted, Wanted::Register | Wanted::Name))
        .about(Subject::Undeclared { name: name.to_owned(), wanted, declares: None });
    match wanted {
        Wanted::Label if nearest.is_none() => d
            .note("a label belongs to the block `{ }` that it is in, and can be named anywhere in that block")
            .help(format!("put `{name}:` before an instruction of this function")),
        Wanted::Function => d.note("a function is declared or defined before it is called (PTX ISA 9.7.12.5)"),
        _ => d,
    }
}

/// A function or variable of the module. `plain`: `.func name();` above the function at `span` declares it.
pub(crate) fn declared_below(span: Span, what: &str, name: &str, plain: bool) -> Diagnostic {
    let note = match what {
        "variable" => "a variable is declared before it is named (PTX ISA 5.4)",
        _ => "a function is declared or defined before it is named (PTX ISA 9.7.12.5)",
    };
    let d = error(code::UNDECLARED, span, format!("{what} `{name}` is used before it is declared")).note(note);
    match what {
        _ if plain => d.help(format!("put `.func {name}();` above this function")),
        "variable" => d.help("move its declaration above the first use"),
        _ => d.help("repeat its signature above the first use, with `;` in place of the body"),
    }
}

/// `%r8` with `%r<8>`: the range, and the number after its prefix.
pub(crate) fn beyond_range(
    span: Span,
    wanted: Wanted,
    name: &str,
    prefix: &str,
    count: u64,
    number: &str,
) -> Diagnostic {
    let need = number.parse::<u64>().unwrap_or(u64::MAX).saturating_add(1);
    let last = count.saturating_sub(1);
    undeclared(span, wanted, name, None)
        .note(format!("`{prefix}<{count}>` ends at `{prefix}{last}` (PTX ISA 5.4.6)"))
        .help(format!("declare `{prefix}<{need}>`"))
}

pub(crate) fn duplicate(span: Span, name: &str, first: Span) -> Diagnostic {
    explained_error(
        code::DECLARED_TWICE,
        span,
        format_args!("`{name}` is declared twice in this scope"),
        format_args!("a name is declared once in each block `{{ }}`, and hides the same name of an outer block"),
        format_args!("rename one of them"),
    )
    .label(first, format!("the first `{name}` is here"))
}

pub(crate) fn wrong_name(span: Span, name: &str, is: &str, want: &str) -> Diagnostic {
    helped_error(
        code::OTHER_KIND_OF_NAME,
        span,
        format_args!("`{name}` is {is}, but {want} is expected here"),
        format_args!("name {want}"),
    )
}

/// Lists of branch and call targets and prototypes.
pub(crate) fn list_below(span: Span, name: &str) -> Diagnostic {
    explained_error(
        code::OTHER_KIND_OF_NAME,
        span,
        format_args!("`{name}` is used before it is declared"),
        format_args!("a list of targets or a prototype comes before the instruction that names it (PTX ISA 11.3)"),
        format_args!("move its declaration above this instruction"),
    )
}

/// `list`: a free name.
pub(crate) fn label_for_list(span: Span, label: &str, list: &str) -> Diagnostic {
    let mut d = wrong_name(span, label, "a label", "a list of branch targets");
    d.helps = vec![declare_list(label, list)];
    d
}

/// Several labels, where a list of labels is wanted.
pub(crate) fn labels_for_list(span: Span, labels: &str, list: &str) -> Diagnostic {
    explained_error(
        code::OPERAND_SHAPE,
        span,
        format_args!("operand `tlist` must be the name of a list of branch targets"),
        format_args!("`.branchtargets` declares the list before the branch (PTX ISA 11.3.1)"),
        format_args!("{}", declare_list(labels, list)),
    )
}

fn declare_list(labels: &str, list: &str) -> String {
    format!("put `{list}: .branchtargets {labels};` before it, and write `{list}`")
}
