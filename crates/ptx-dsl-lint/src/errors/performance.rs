//! Messages of the performance rules, 07xx.

use ptx_dsl_catalogue as code;
use ptx_dsl_isa::code::Code;
use ptx_dsl_isa::diag::{Class, Diagnostic};
use ptx_dsl_isa::meaning::memory_pipeline::Served;
use ptx_dsl_isa::span::Span;

fn slow(code: &'static Code, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Class::Performance, code, span, message)
}

/// `stride`: the bytes from each lane to the next, if they are the same for all.
pub(crate) fn bank_conflicts(span: Span, served: Served, stride: Option<u64>) -> Diagnostic {
    let Served { units, ideal } = served;
    let message = format!("a warp takes {units} wavefronts here in place of {ideal}: its lanes meet in the same banks");
    let found = slow(code::BANK_CONFLICTS, span, message)
        .note("shared memory has 32 banks of 4 bytes, and a wavefront reads one word of each")
        .note(format!("a profile of this launch counts {} bank conflicts for each warp", units - ideal));
    match stride {
        Some(stride) if stride % 128 == 0 => found.help(format!(
            "pad the rows of the array: {} bytes from row to row in place of {stride}; or XOR the column with the row",
            stride + 4
        )),
        Some(stride) => found.help(format!(
            "let neighbouring lanes access neighbouring words: they are {stride} bytes apart, and an odd number of words would do"
        )),
        None => found.help("pad the rows of the array by a word, or XOR the column with the row"),
    }
}

/// `stride`: the bytes from each lane to the next, if they are the same for all.
pub(crate) fn uncoalesced(span: Span, served: Served, stride: Option<u64>) -> Diagnostic {
    let Served { units, ideal } = served;
    let message = format!("a warp moves {units} sectors of 32 bytes here, and {ideal} would hold what it asks for");
    let found = slow(code::UNCOALESCED_ACCESS, span, message).note("global memory moves whole sectors of 32 bytes");
    let apart = match stride {
        Some(stride) => format!(", which are {stride} bytes apart now"),
        None => String::new(),
    };
    found.help(format!(
        "let neighbouring lanes access neighbouring elements{apart}: exchange the indices, load vectors, or go through shared memory"
    ))
}

pub(crate) fn local_array(span: Span, name: &str) -> Diagnostic {
    slow(code::LOCAL_ARRAY, span, format!("a register indexes `{name}`, so it stays in local memory"))
        .note("local memory is global memory behind the cache; an array whose indices are all constants is kept in registers")
        .help("unroll the loop so that each index is a constant, or put the array into shared memory")
}

pub(crate) fn double(span: Span, conversion: Span) -> Diagnostic {
    slow(code::DOUBLE_BY_ACCIDENT, span, "this is computed in `.f64` from `.f32` values and constants")
        .label(conversion, "and becomes an `.f32` here")
        .note("`.f64` runs at half the rate of `.f32` on GPUs of data centres and at 1/64 on others, and the conversions at a quarter or less")
        .help("compute it in single precision; in C, a constant needs its suffix")
}

/// `divisor`: the constant, if it is one.
pub(crate) fn division(span: Span, wide: bool, divisor: Option<u64>) -> Diagnostic {
    let message = match divisor {
        Some(n) => format!("the address code of a loop divides by {n}"),
        None => "the address code of a loop divides by a register".to_owned(),
    };
    let cost = match (divisor, wide) {
        (Some(_), _) => "a division by a constant is a multiplication by its reciprocal, and shifts",
        (None, false) => "GPUs have no integer division: it is computed from a reciprocal in `.f32`",
        (None, true) => "GPUs have no integer division: in 64 bits it is a call",
    };
    slow(code::DIVISION_IN_ADDRESS, span, message)
        .note(cost)
        .help("count quotient and remainder along with the loop, or make the divisor a power of two")
}

pub(crate) fn needless_barrier(span: Span, first: Span) -> Diagnostic {
    slow(code::NEEDLESS_BARRIER, span, "this barrier orders nothing that the one before it does not")
        .label(first, "nothing but arithmetic follows this one")
        .note("each barrier makes every warp of the CTA wait for the slowest")
        .help("remove it")
}

pub(crate) fn wide_scope(span: Span, waits: bool) -> Diagnostic {
    let (what, does) =
        if waits { ("acquire", "invalidates the first cache") } else { ("release", "waits for all stores of the SM") };
    slow(
        code::WIDE_SCOPE,
        span,
        format!("this {what} beyond the CTA orders nothing: only `wgmma` reads memory in this loop"),
    )
    .note(format!("such a {what} {does}, each time; it took half of the speed of a GEMM on an H200"))
    .note("`wgmma` and bulk copies use the async proxy, which the mbarrier itself orders")
    .help("leave out the semantics and the scope")
}

pub(crate) fn waits_for_all(span: Span) -> Diagnostic {
    slow(
        code::WAITS_FOR_ALL_PRODUCTS,
        span,
        "each iteration waits for all of its products, and nothing reads their sums in the loop",
    )
    .note("the tensor cores have nothing to do from this wait until the next products are issued")
    .help("wait for all but one group with 1 in place of 0, and free the stage of the iteration before")
}
