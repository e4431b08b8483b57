//! Errors in what stands before the body of a kernel in expression form, `|x: &[f32], n: u32|`.

use crate::code;
use crate::diag::Diagnostic;
use crate::span::Span;

/// `move |..|`
pub fn moves(span: Span) -> Diagnostic {
    Diagnostic::error(code::CAPTURE, span, "a kernel captures nothing, so `move` moves nothing")
        .help("remove `move`, and make what the kernel needs a parameter")
}

/// `|x: &[f32]`
pub fn unclosed(bar: Span) -> Diagnostic {
    Diagnostic::error(code::UNTERMINATED_PARAMETERS, bar, "the parameters of the kernel have no closing `|`")
}

/// `|n|`
pub fn untyped(parameter: Span, name: &str) -> Diagnostic {
    Diagnostic::error(code::MALFORMED_PARAMETER, parameter, format!("the parameter `{name}` has no type"))
        .note("the bars hold parameters of the kernel; it cannot capture Rust values")
        .help(format!(
            "write `{name}: &mut [f32]` or `{name}: u32` and pass it at launch; a constant goes into the header, \
             `const N: u32 = crate::N`"
        ))
}

/// `|n: (u8, u8)|`. `ty`: the type as written.
pub fn no_parameter(parameter: Span, name: &str, ty: &str) -> Diagnostic {
    let memory = ty.starts_with(['&', '*']) || ty.contains("Vec<");
    Diagnostic::error(
        code::MALFORMED_PARAMETER,
        parameter,
        format!("`{ty}` cannot be a parameter of the expression form"),
    )
    .note("its parameters are slices, numbers, and arrays of numbers with a length in digits")
    .help(if memory {
        format!("write `{name}: &mut [f32]` for memory of the device")
    } else {
        format!(
            "write the kernel in item form: `.param .align 4 .b8 {name}[16]: {ty}`, if it has 16 bytes aligned to 4"
        )
    })
}

/// `|4|`
pub fn no_type(parameter: Span) -> Diagnostic {
    malformed(parameter, "a parameter of the kernel is a name and a type")
}

fn malformed(parameter: Span, message: &str) -> Diagnostic {
    Diagnostic::error(code::MALFORMED_PARAMETER, parameter, message)
        .help("write `name: &[f32]`, `name: &mut [u32]` or `name: u32`")
}
