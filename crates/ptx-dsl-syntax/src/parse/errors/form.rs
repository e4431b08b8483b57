//! Errors in forms of `ptx!`: assertions 0155 and 0164, descriptors 0165, regions 0166, layouts 0167.

use super::helped_error;
use crate::code;
use crate::diag::Diagnostic;
use crate::span::Span;
use ptx_dsl_isa::layout::{ELEMENTS, Mistake, Swizzle};

pub(crate) fn no_assertion(span: Span) -> Diagnostic {
    helped_error(
        code::MALFORMED_CONSTANT,
        span,
        format_args!("this is not an assertion over constants"),
        format_args!("an assertion is `const _: () = assert!(N % 16 == 0, \"why\");`"),
    )
}

pub(crate) fn assertion(span: Span, shown: &str, message: Option<&str>) -> Diagnostic {
    let d = Diagnostic::error(code::ASSERTION, span, format!("the assertion `{shown}` does not hold"));
    let d = match message {
        Some(message) => d.note(message),
        None => d,
    };
    d.help("change the constants in it")
}

pub(crate) fn wrong_descriptor(span: Span, message: &str, help: &str) -> Diagnostic {
    helped_error(code::DESCRIPTOR, span, format_args!("{message}"), format_args!("{help}"))
}

pub(crate) fn no_variable_of_regions(span: Span, name: &str) -> Diagnostic {
    helped_error(
        code::REGION,
        span,
        format_args!("`{name}` is not a variable in shared memory that is declared before"),
        format_args!("declare it before: `.extern .shared .align 1024 .b8 {name}[];`"),
    )
}

pub(crate) fn alignment_of_region(span: Span, align: u64, most: u64, base: &str) -> Diagnostic {
    let message = format_args!("a region cannot be aligned to {align} bytes, because `{base}` is aligned to {most}");
    helped_error(code::REGION, span, message, format_args!("use powers of two, and align `{base}` as its regions"))
}

pub(crate) fn too_large_region(span: Span, name: &str) -> Diagnostic {
    helped_error(
        code::REGION,
        span,
        format_args!("`{name}` ends behind 4 GiB"),
        format_args!("make it or the regions before it smaller"),
    )
}

pub(crate) fn no_size(code: &'static code::Code, span: Span, what: &str) -> Diagnostic {
    helped_error(
        code,
        span,
        format_args!("{what} is a number that the macro knows"),
        format_args!("name a constant that is declared with a number, or a listed const parameter"),
    )
}

fn layout(span: Span, message: std::fmt::Arguments, help: std::fmt::Arguments) -> Diagnostic {
    helped_error(code::LAYOUT, span, message, help)
}

pub(crate) fn element_of_layout(span: Span, name: &str) -> Diagnostic {
    let names: Vec<String> = ELEMENTS.iter().map(|(name, _)| format!("`{name}`")).collect();
    layout(
        span,
        format_args!("`{name}` is not a type of the elements of a layout"),
        format_args!("write one of {}", names.join(", ")),
    )
}

pub(crate) fn swizzle_of_layout(span: Span, name: &str) -> Diagnostic {
    layout(
        span,
        format_args!("`{name}` is not a swizzle"),
        format_args!("write `32`, `64`, `128`, `128_atom_32`, or `none`"),
    )
}

pub(crate) fn sizes_of_layout(span: Span, mistake: Mistake, element: u32, swizzle: Swizzle) -> Diagnostic {
    match mistake {
        Mistake::Size => layout(
            span,
            format_args!("a layout has 1 to 65536 rows, and as many bytes of a row"),
            format_args!("change the sizes"),
        ),
        Mistake::Row(unit) => layout(
            span,
            format_args!("a row has a multiple of {unit} bytes"),
            format_args!("make the number of columns, the second size, a multiple of {}", (unit / element).max(1)),
        ),
        Mistake::Rows => layout(
            span,
            format_args!(
                "the tile is no multiple of the {} bytes to which {} is aligned, so the next tile would not be aligned",
                swizzle.align(),
                if swizzle == Swizzle::None {
                    "the destination of a tensor copy"
                } else {
                    "the pattern of the swizzle"
                }
            ),
            format_args!("make the number of rows, the first size, a multiple of 8"),
        ),
    }
}

pub(crate) fn layout_alone(span: Span, name: &str) -> Diagnostic {
    layout(
        span,
        format_args!("`{name}` is a layout, which has no value"),
        format_args!(
            "write `{name}.bytes` for its size, `{name}.at(0, 0)` for the offset of an element, or the name of a variable"
        ),
    )
}

pub(crate) fn member_of_layout(span: Span, name: &str, members: &[&str], near: Option<&str>) -> Diagnostic {
    let d = layout(
        span,
        format_args!("a layout has no `{name}`"),
        format_args!("it has `at(row, column)`, `{}`", members.join("`, `")),
    );
    match near {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None => d,
    }
}

pub(crate) fn outside_of_layout(span: Span, what: &str, size: u32) -> Diagnostic {
    layout(
        span,
        format_args!("there is no such {what}: the layout has {size}"),
        format_args!("write a {what} from 0 to {}", size - 1),
    )
}

pub(crate) fn computed_element(span: Span) -> Diagnostic {
    layout(
        span,
        format_args!(
            "the place of an element is computed only in expressions, and this is not a number that the macro knows"
        ),
        format_args!("write `let %place = ...;`, or an address in brackets"),
    )
}
