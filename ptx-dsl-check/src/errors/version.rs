//! The catalogue of 03xx: versions and targets.

use std::fmt::Arguments;

use crate::diag::Diagnostic;
use crate::isa::target::describe;
use crate::isa::{Ptx, Targets};
use crate::span::Span;

use super::*;

pub(crate) fn needs_version(span: Span, what: Arguments, need: Ptx, have: Ptx, sec: &str) -> Diagnostic {
    error(
        301,
        span,
        format!("{what} needs PTX ISA {}.{}, and the module declares {}.{}", need.0, need.1, have.0, have.1),
    )
    .note(format!("see PTX ISA {sec}"))
    .help(format!("declare `ptx {0}.{1}` in the header, or `.version {0}.{1}`", need.0, need.1))
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
        Targets::Only(list) if list.len() > 3 => section(
            error(302, span, format!("{what} is not available on `{have}`")),
            &format!("it needs {}", describe(need)),
            sec,
        ),
        _ => error(302, span, format!("{what} needs {}, and the module is for `{have}`", describe(need)))
            .note(format!("see PTX ISA {sec}")),
    };
    match enough {
        Some(name) => d.help(format!("declare `{name}` in the header, or `.target {name}`")),
        None => d,
    }
}

pub(crate) fn gone(span: Span, opcode: &str, since: Ptx, have: &str, sec: &str) -> Diagnostic {
    let d = error(303, span, format!("`{opcode}` is gone for `{have}` since PTX ISA {}.{}", since.0, since.1))
        .note(format!("see PTX ISA {sec}"));
    match opcode {
        "shfl" | "vote" => d.help(format!("write `{opcode}.sync` with a mask of lanes as the last operand")),
        "mad" => d.help("give a rounding, as in `mad.rn.f32`"),
        _ => d,
    }
}

pub(crate) fn no_version(span: Span) -> Diagnostic {
    error(304, span, "the module declares no PTX ISA version")
        .help("start it with `.version 8.6`, or name it in the header")
}

pub(crate) fn no_target(span: Span) -> Diagnostic {
    error(305, span, "the module declares no target")
        .help("write `.target sm_90` after `.version`, or name it in the header")
}

pub(crate) fn unknown_version(span: Span, have: Ptx, ceiling: (u32, u32)) -> Diagnostic {
    error(306, span, format!("PTX ISA {}.{} is not known here", have.0, have.1))
        .note(if have.0 == ceiling.0 {
            format!("the last known version of PTX ISA {0} is {0}.{1}", ceiling.0, ceiling.1)
        } else {
            format!("the newest known version is {}.{}", ceiling.0, ceiling.1)
        })
        .help(format!("declare `ptx {0}.{1}` in the header, or `.version {0}.{1}`", ceiling.0, ceiling.1))
}

pub(crate) fn unknown_target(span: Span, name: &str, nearest: Option<&str>) -> Diagnostic {
    let d = error(307, span, format!("unknown target `{name}`"));
    if nearest.is_none() { d.help("write a target such as `sm_90a`") } else { did_you_mean(d, nearest) }
}

pub(crate) fn target_needs_version(span: Span, name: &str, need: Ptx, have: Ptx) -> Diagnostic {
    error(
        308,
        span,
        format!("`{name}` needs PTX ISA {}.{}, and the module declares {}.{}", need.0, need.1, have.0, have.1),
    )
    .note("see PTX ISA 11.1.2")
    .help(format!("declare `ptx {0}.{1}` in the header, or `.version {0}.{1}`", need.0, need.1))
}

pub(crate) fn address_size(span: Span, n: u32) -> Diagnostic {
    let text = match n {
        32 => "32-bit addresses are no longer supported".to_string(),
        _ => format!("the address size is 64, not {n}"),
    };
    error(309, span, text)
        .note("of the two sizes of PTX ISA 11.1.3, ptxas 13 has given up 32 for every target")
        .help("write `.address_size 64`")
}
