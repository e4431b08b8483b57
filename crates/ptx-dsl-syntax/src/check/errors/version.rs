//! The catalogue of 03xx: versions and targets.

use std::fmt::Arguments;

use crate::diag::Diagnostic;
use crate::span::Span;
use ptx_dsl_isa::isa::target::describe;
use ptx_dsl_isa::isa::{Ptx, Targets};

use super::*;

/// Is it about version or target only?
pub(crate) fn is_gate(d: &Diagnostic) -> bool {
    d.code.is_one_of(&[code::NEEDS_VERSION, code::NEEDS_TARGET])
}

/// Is it about the number of operands or their kinds?
pub(crate) fn is_misplaced(d: &Diagnostic) -> bool {
    d.code.is_one_of(&[code::OPERAND_COUNT, code::OPERAND_SHAPE, code::ELEMENT_COUNT])
}

/// `renamed`: the target's name in that version, if it has another one now.
pub(crate) fn needs_version(
    span: Span,
    what: Arguments,
    need: Ptx,
    have: Ptx,
    renamed: Option<String>,
    sec: &str,
) -> Diagnostic {
    let d = noted_error(
        code::NEEDS_VERSION,
        span,
        format_args!("{what} needs PTX ISA {}.{}, but the module declares {}.{}", need.0, need.1, have.0, have.1),
        format_args!("see PTX ISA {sec}"),
    );
    let version = format!("{}.{}", need.0, need.1);
    d.help(match renamed {
        None => format!("declare `ptx {version}` in the header, or `.version {version}`"),
        Some(target) => format!(
            "declare `ptx {version}` and `{target}` in the header, or `.version {version}` and `.target {target}`"
        ),
    })
}

pub(crate) fn needs_target(
    span: Span,
    what: Arguments,
    need: Targets,
    have: &str,
    enough: Option<&str>,
    sec: &str,
) -> Diagnostic {
    let d = match need {
        Targets::Only(list) if list.len() > 3 => noted_error(
            code::NEEDS_TARGET,
            span,
            format_args!("{what} is not available on `{have}`"),
            format_args!("it needs {} (PTX ISA {sec})", describe(need)),
        ),
        _ => noted_error(
            code::NEEDS_TARGET,
            span,
            format_args!("{what} needs {}, but the module is for `{have}`", describe(need)),
            format_args!("see PTX ISA {sec}"),
        ),
    };
    match enough {
        Some(name) => d.help(format!("declare `{name}` in the header, or `.target {name}`")),
        None => d,
    }
}

/// Its help is found when operands are checked.
pub(crate) fn gone(span: Span, opcode: &str, since: Ptx, have: &str, sec: &str) -> Diagnostic {
    noted_error(
        code::REMOVED_INSTRUCTION,
        span,
        format_args!("`{opcode}` was removed for `{have}` in PTX ISA {}.{}", since.0, since.1),
        format_args!("see PTX ISA {sec}"),
    )
}

pub(crate) fn no_version(span: Span) -> Diagnostic {
    helped_error(
        code::NO_VERSION,
        span,
        format_args!("the module declares no PTX ISA version"),
        format_args!("declare `.version 8.6`, or `ptx 8.6` in the header"),
    )
}

pub(crate) fn no_target(span: Span) -> Diagnostic {
    helped_error(
        code::NO_TARGET,
        span,
        format_args!("the module declares no target"),
        format_args!("declare `.target sm_90`, or `sm_90` in the header"),
    )
}

/// The help is an edit of the `.version` if the finding is at one.
fn declare_version(major: u32, minor: u32) -> Help {
    let version = format!(".version {major}.{minor}");
    Help::write(&version).worded(format!("declare `ptx {major}.{minor}` in the header, or `{version}`"))
}

pub(crate) fn unknown_version(span: Span, have: Ptx, ceiling: (u32, u32)) -> Diagnostic {
    error(code::UNKNOWN_VERSION, span, format!("unknown PTX ISA version {}.{}", have.0, have.1))
        .note(if have.0 == ceiling.0 {
            format!("the last known version of PTX ISA {0} is {0}.{1}", ceiling.0, ceiling.1)
        } else {
            format!("the newest known version is {}.{}", ceiling.0, ceiling.1)
        })
        .help(declare_version(ceiling.0, ceiling.1))
}

pub(crate) fn unknown_target(span: Span, name: &str, nearest: Option<&str>) -> Diagnostic {
    let d = error(code::UNKNOWN_TARGET, span, format!("unknown target `{name}`"));
    if nearest.is_none() { d.help("write a target such as `sm_90a`") } else { did_you_mean(d, nearest) }
}

/// `sm_101`, which is `sm_110` now.
pub(crate) fn renamed_target(span: Span, old: &str, new: &str) -> Diagnostic {
    explained_error(
        code::UNKNOWN_TARGET,
        span,
        format_args!("`{old}` is called `{new}` since PTX ISA 9.0"),
        format_args!("the old name is known in PTX ISA 8.6 to 8.8 (PTX ISA 11.1.2)"),
        Help::write(new),
    )
}

pub(crate) fn target_needs_version(span: Span, name: &str, need: Ptx, have: Ptx) -> Diagnostic {
    explained_error(
        code::TARGET_NEEDS_VERSION,
        span,
        format_args!("`{name}` needs PTX ISA {}.{}, but the module declares {}.{}", need.0, need.1, have.0, have.1),
        format_args!("see PTX ISA 11.1.2"),
        declare_version(need.0, need.1).text,
    )
}

pub(crate) fn address_size(span: Span, n: u32) -> Diagnostic {
    let text = match n {
        32 => "32-bit addresses are no longer supported".to_string(),
        _ => format!("the address size is 64, not {n}"),
    };
    explained_error(
        code::ADDRESS_SIZE,
        span,
        format_args!("{text}"),
        format_args!("PTX ISA 11.1.3 has 32 and 64, but ptxas 13 refuses 32 for every target"),
        Help::write(".address_size 64"),
    )
}
