//! The catalogue of 04xx: operands of textures and surfaces.

use crate::diag::Diagnostic;
use crate::span::Span;
use ptx_dsl_isa::ty::Ty;

use super::operand::operand_value;

/// A texture, a sampler or a surface in place of an ordinary variable. `moved`: as the source of a `mov`.
pub(crate) fn opaque(span: Span, name: &str, ty: Ty, moved: bool) -> Diagnostic {
    let ty = ty.name();
    let text = match moved {
        true => format!("the address of `{name}`, a `.{ty}`, is moved with `mov.u64`"),
        false => format!("`{name}` is a `.{ty}`: no instruction loads or stores it"),
    };
    operand_value(span, &text, "5.3")
}

pub(crate) fn lacks_sampler(span: Span, section: &str) -> Diagnostic {
    let text =
        "with `texmode_independent` an operand names a sampler beside the texture: `[tex, sampler, coordinates]`";
    operand_value(span, text, section)
}

pub(crate) fn sampler_without_mode(span: Span, section: &str) -> Diagnostic {
    operand_value(span, "with a sampler beside the texture this form needs `texmode_independent`", section)
}

pub(crate) fn query_without_mode(span: Span, section: &str) -> Diagnostic {
    let text = "`.force_unnormalized_coords` is asked of a sampler, which needs `texmode_independent`";
    operand_value(span, text, section)
}

pub(crate) fn no_element_of_result(span: Span, section: &str) -> Diagnostic {
    operand_value(span, "not every element of the destination can be `_`", section)
}

pub(crate) fn sink_in_halves(span: Span, section: &str) -> Diagnostic {
    operand_value(span, "both pairs of halves are written: none of them can be `_`", section)
}

pub(crate) fn elements_of_geometry(
    span: Span,
    name: &str,
    geometry: &str,
    need: usize,
    have: usize,
    section: &str,
) -> Diagnostic {
    let s = if need == 1 { "" } else { "s" };
    let verb = if have == 1 { "is" } else { "are" };
    let text = format!("operand `{name}` of `.{geometry}` has {need} element{s}, but {have} {verb} given");
    operand_value(span, &text, section)
}
