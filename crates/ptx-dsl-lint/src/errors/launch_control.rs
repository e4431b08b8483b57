//! Messages about `clusterlaunchcontrol`.

use crate::errors::class::{against_the_manual, error, found, section, suspicious};
use ptx_dsl_catalogue as code;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::span::Span;

pub(crate) fn response_not_awaited(span: Span, ask: Span, sure: bool) -> Diagnostic {
    let when = if sure { "" } else { " on some path" };
    let d = found(
        code::RESPONSE_BEFORE_WAIT,
        span,
        sure,
        format!("the response of `clusterlaunchcontrol.try_cancel` is read{when} before it has arrived"),
    );
    section(
        d.label(ask, "asked for here"),
        "the response is written asynchronously; only a wait on its mbarrier shows that it has arrived",
        "9.7.13.17",
    )
    .help("loop on `mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64` of its mbarrier before this load")
}

fn first_ctaid(d: Diagnostic) -> Diagnostic {
    section(d, "`get_first_ctaid` of the response of a failed request is undefined", "9.7.13.18")
        .help("guard it with the predicate of `clusterlaunchcontrol.query_cancel.is_canceled.pred.b128`")
}

const USED: &str = "the result is used here";

/// `sure`: it decides or addresses whatever the answer is.
pub(crate) fn first_ctaid_used(span: Span, used: Span, sure: bool) -> Diagnostic {
    let text = if sure {
        "this result is used without a check that the request succeeded"
    } else {
        "this result may be used where the request failed"
    };
    first_ctaid(found(code::RESPONSE_NOT_QUERIED, span, sure, text).label(used, USED))
}

pub(crate) fn first_ctaid_of_failure(span: Span, used: Span) -> Diagnostic {
    first_ctaid(
        error(code::RESPONSE_NOT_QUERIED, span, "this result is used where the request failed").label(used, USED),
    )
}

pub(crate) fn first_ctaid_sunk(span: Span) -> Diagnostic {
    first_ctaid(against_the_manual(
        code::RESPONSE_NOT_QUERIED,
        span,
        "this decodes a response that says that nothing was cancelled",
    ))
}

pub(crate) fn first_ctaid_unasked(span: Span) -> Diagnostic {
    first_ctaid(suspicious(
        code::RESPONSE_NOT_QUERIED,
        span,
        "the response is decoded without a check that the request succeeded",
    ))
}
