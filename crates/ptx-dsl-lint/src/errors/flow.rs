//! Messages of the rules about control flow, reaching threads, state spaces and the cluster barrier.

use crate::errors::class::{against_the_manual, error, found, section, suspicious};
use ptx_dsl_catalogue as code;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::edit::Help;
use ptx_dsl_isa::span::Span;

fn at(d: Diagnostic, span: Option<Span>, text: &str) -> Diagnostic {
    match span {
        Some(s) => d.label(s, text),
        None => d,
    }
}

fn here(one: bool) -> &'static str {
    if one { "at most one lane of a warp reaches it" } else { "some lanes of the warp never reach it" }
}

const BRANCH: &str = "because of this branch";

pub(crate) fn warp_in_part(span: Span, op: &str, one: bool, why: Option<Span>, sure: bool) -> Diagnostic {
    let d =
        found(code::TMEM_IN_PART_OF_WARP, span, sure, format!("`{op}` is issued by a whole warp, but {}", here(one)));
    section(at(d, why, BRANCH), "Table 46 gives who issues each `tcgen05` instruction", "9.7.16.5").help(
        "run it in all lanes of one warp: choose the warp with a predicate that is uniform in the warp, such as one that compares `%tid.x` with 32",
    )
}

/// `several`: how many lanes of a warp run it, if not all.
pub(crate) fn thread_in_lanes(span: Span, op: &str, several: Option<u32>, sure: bool) -> Diagnostic {
    let who = match several {
        Some(n) => format!("{n} lanes of a warp run it"),
        None => "every lane of the warp runs it".to_string(),
    };
    section(
        found(code::SINGLE_THREAD_BY_WARP, span, sure, format!("`{op}` is issued by a single thread, but {who}")),
        "each thread that runs it starts the operation again: Table 46",
        "9.7.16.5",
    )
    .help("elect a lane: `elect.sync _|p, 0xffffffff;`, and guard the instruction with `@p`")
}

pub(crate) fn aligned_in_part(span: Span, op: &str, one: bool, why: Option<Span>, sure: bool, sec: &str) -> Diagnostic {
    let d = found(
        code::ALIGNED_DIVERGENT,
        span,
        sure,
        format!("all lanes of a warp must run `{op}` together, but {}", here(one)),
    );
    let d = section(
        at(d, why, BRANCH),
        "an aligned instruction in conditional code needs a condition that is uniform in the warp",
        sec,
    );
    d.help("move it to where the lanes have converged")
}

pub(crate) fn aligned_uneven(span: Span, op: &str, why: Span, sec: &str) -> Diagnostic {
    let d = suspicious(
        code::ALIGNED_DIVERGENT,
        span,
        format!("all lanes of a warp must run `{op}` together, but some may go another way"),
    );
    let d = section(
        if why == span { d } else { d.label(why, "each lane compares its own value here") },
        "an aligned instruction in conditional code needs a condition that is uniform in the warp",
        sec,
    );
    d.help("move it to where the lanes have converged")
}

pub(crate) fn mask_names_absent(
    span: Span,
    op: &str,
    mask: u32,
    what: &str,
    why: Option<Span>,
    sure: bool,
    sec: &str,
) -> Diagnostic {
    let d = found(
        code::MEMBER_MASK,
        span,
        sure,
        format!("the mask {mask:#x} of `{op}` names lanes that cannot run it: {what}"),
    );
    section(at(d, why, BRANCH), "every lane that the mask names runs the instruction with the same mask", sec)
        .help("move it to where all of them are, or name only the lanes that are here")
}

pub(crate) fn elects_in_part(span: Span, mask: u32, there: u32) -> Diagnostic {
    let d = suspicious(
        code::MEMBER_MASK,
        span,
        format!("the mask {mask:#x} of `elect.sync` names lanes that the CTA does not have"),
    );
    section(d, "every lane that the mask names runs the instruction with the same mask", "9.7.13.14")
        .help(format!("name the lanes that there are: `{there:#x}`"))
}

pub(crate) fn mask_lacks_lanes(span: Span, op: &str, mask: u32, lacking: u32, sec: &str) -> Diagnostic {
    let lane = lacking.trailing_zeros();
    let d = error(
        code::MEMBER_MASK,
        span,
        format!("every lane runs this `{op}`, and its mask {mask:#x} does not name lane {lane}"),
    );
    section(d, "a lane that runs the instruction is in its mask", sec)
        .help(Help::write("0xffffffff").then(", or let only those lanes run it"))
}

const AWAIT: &str = "`tcgen05.ld` is asynchronous: it is complete after `tcgen05.wait::ld`";

pub(crate) fn load_not_awaited(span: Span, reg: &str, load: Span, every: bool) -> Diagnostic {
    let when = if every { "" } else { " on some path" };
    let d = against_the_manual(
        code::TMEM_LOAD_INCOMPLETE,
        span,
        format!("`{reg}` is read{when} before `tcgen05.wait::ld`"),
    );
    section(d.label(load, "it is loaded here"), AWAIT, "9.7.16.8")
        .note("ptxas 13.5 makes the first reader of a register wait for its load, so that the value is right")
        .help("put `tcgen05.wait::ld.sync.aligned;` between the load and this place")
}

pub(crate) fn loaded_again(span: Span, reg: &str, first: Span, sure: bool) -> Diagnostic {
    let when = if sure { "" } else { " on some path" };
    let d = found(
        code::TMEM_LOAD_INCOMPLETE,
        span,
        sure,
        format!("`{reg}` is loaded{when} while another `tcgen05.ld` still writes it"),
    );
    section(d.label(first, "the first load"), AWAIT, "9.7.16.8")
        .help("put `tcgen05.wait::ld.sync.aligned;` between the two loads, or load into other registers")
}

pub(crate) fn released_while_loading(span: Span, load: Span, sure: bool) -> Diagnostic {
    let when = if sure { "" } else { " on some path" };
    let d = found(
        code::TMEM_LOAD_INCOMPLETE,
        span,
        sure,
        format!("this Tensor Memory is deallocated{when} while a `tcgen05.ld` still reads it"),
    );
    section(d.label(load, "loaded here"), AWAIT, "9.7.16.8")
        .help("put `tcgen05.wait::ld.sync.aligned;` between the load and `tcgen05.dealloc`")
}

pub(crate) fn never_freed(span: Span, sure: bool) -> Diagnostic {
    let what = if sure { "is never deallocated" } else { "is not deallocated by the warp that allocates it" };
    section(
        found(code::TMEM_NOT_DEALLOCATED, span, sure, format!("this Tensor Memory {what}")),
        "a kernel deallocates what it allocates before it ends",
        "9.7.16.7",
    )
    .help("end with `tcgen05.dealloc` of the same address, number of columns and `.cta_group`")
}

pub(crate) fn left_allocated(span: Span, alloc: Span, sure: bool) -> Diagnostic {
    let d = found(
        code::TMEM_NOT_DEALLOCATED,
        span,
        sure,
        "the kernel ends here with Tensor Memory that is still allocated",
    );
    section(d.label(alloc, "allocated here"), "a kernel deallocates what it allocates before it ends", "9.7.16.7")
        .help("put `tcgen05.dealloc` before this exit too")
}

pub(crate) fn alloc_after_relinquish(span: Span, gave: Span, sure: bool) -> Diagnostic {
    let when = if sure { "" } else { " on some path" };
    let d = found(
        code::ALLOCATION_AFTER_RELINQUISH,
        span,
        sure,
        format!("`tcgen05.alloc` comes{when} after the CTA has given up the right to allocate"),
    );
    section(
        d.label(gave, "given up here"),
        "a CTA may not allocate after `tcgen05.relinquish_alloc_permit`",
        "9.7.16.7",
    )
    .help("move `tcgen05.relinquish_alloc_permit` after the last `tcgen05.alloc`")
}

pub(crate) fn dealloc_without_rendezvous(span: Span) -> Diagnostic {
    section(
        suspicious(
            code::DEALLOCATION_BEFORE_RENDEZVOUS,
            span,
            "the CTAs of the pair do not synchronise before their Tensor Memory is deallocated",
        ),
        "`.dealloc` of a pair may or may not wait for the peer, which must no longer access that memory: Table 48",
        "9.7.16.5",
    )
    .help("put `barrier.cluster.arrive; barrier.cluster.wait;` before it in both CTAs")
}

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

pub(crate) fn arrives_twice(span: Span, sure: bool) -> Diagnostic {
    let when = if sure { "" } else { " on some path" };
    section(
        found(
            code::SECOND_CLUSTER_ARRIVAL,
            span,
            sure,
            format!("this thread has arrived at the cluster barrier, and arrives again{when} without waiting"),
        ),
        "each `barrier.cluster.arrive` is followed by a `barrier.cluster.wait` before the next one",
        "9.7.13.3",
    )
    .help("put `barrier.cluster.wait;` between the two")
}

pub(crate) fn wait_without_arrive(span: Span, sure: bool) -> Diagnostic {
    let when = if sure { "" } else { " on some path" };
    section(
        found(
            code::CLUSTER_WAIT_WITHOUT_ARRIVAL,
            span,
            sure,
            format!("this thread waits at the cluster barrier, and has not arrived{when}"),
        ),
        "a thread waits for a phase of the barrier in which it arrived",
        "9.7.13.3",
    )
    .help("put `barrier.cluster.arrive;` before it")
}

pub(crate) fn before_init(span: Span, name: &str) -> Diagnostic {
    section(
        error(
            code::MBARRIER_BEFORE_INIT,
            span,
            format!("the mbarrier `{name}` is used here before its `mbarrier.init`"),
        ),
        "any operation but `mbarrier.init` needs an object that is initialised",
        "9.7.13.15",
    )
    .help("move `mbarrier.init` before this place, and let the other threads wait for it with `bar.sync`")
}

pub(crate) fn init_by_many(span: Span, name: &str, elected: bool) -> Diagnostic {
    let who = if elected { "the elected lane of each warp" } else { "every lane that reaches this" };
    section(
        suspicious(code::MBARRIER_SEVERAL_INIT, span, format!("{who} initialises the mbarrier `{name}`")),
        "`mbarrier.init` of an object that is initialised and not invalidated is undefined",
        "9.7.13.15.9",
    )
    .help("let one thread of the CTA do it, as with `setp.eq.u32 p, %r, 0;` where `%r` is `%tid.x`")
}

pub(crate) fn barrier_without_all(span: Span, op: &str, missing: usize, why: Option<Span>, sec: &str) -> Diagnostic {
    let d = suspicious(
        code::BARRIER_NOT_REACHED,
        span,
        format!("this `{op}` waits for the whole CTA, but thread {missing} never reaches it"),
    );
    section(at(d, why, BRANCH), "without a number of threads a barrier is for all threads of the CTA", sec).help(
        format!(
            "give the number of threads that wait here, and use a barrier other than 0: `{op} 1, 32;` for one warp"
        ),
    )
}

pub(crate) fn barrier_passed_by(span: Span, op: &str, missing: usize, why: Option<Span>, sec: &str) -> Diagnostic {
    let message = format!("this `{op}` waits for the whole CTA, but thread {missing} goes past it");
    section(
        at(suspicious(code::BARRIER_NOT_REACHED, span, message), why, BRANCH),
        "without a number of threads a barrier is for all threads of the CTA",
        sec,
    )
    .help(format!(
        "put it where all threads come, or give the number of threads that wait here: `{op} 1, 32;` for one warp"
    ))
}

/// When a register is read that nothing has written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unwritten {
    /// Nothing writes it on any path.
    Never,
    /// Only what follows the read writes it, in a loop.
    FirstTime,
    /// The first product of a loop adds to it, and only products write it.
    Sum,
    /// The first product of a loop may add to it, unless a predicate leaves the old sum out.
    OptionalSum,
    SomePath,
}

pub(crate) fn unwritten(span: Span, reg: &str, when: Unwritten) -> Diagnostic {
    let (message, help) = match when {
        Unwritten::Never => (format!("`{reg}` is read here, but nothing wrote it before"), WRITE),
        Unwritten::FirstTime => (format!("`{reg}` is read here, but nothing wrote it before the first time"), WRITE),
        Unwritten::SomePath => (format!("`{reg}` is read here, but nothing wrote it before on some path"), WRITE),
        Unwritten::Sum => (
            format!("this product is added to `{reg}`, but nothing wrote it before the first time"),
            "set the sums to zero before the first product",
        ),
        Unwritten::OptionalSum => (
            format!("this product is added to `{reg}`, but nothing wrote it before the first time"),
            "let the first product of a tile overwrite the sums, or set them to zero before it",
        ),
    };
    suspicious(code::UNINITIALISED_REGISTER, span, message)
        .note("the value of a register is undefined until it is written (PTX ISA 5.1.1)")
        .help(help)
}

const WRITE: &str = "write it first, if only with `mov`";

pub(crate) fn accumulator_unwritten(span: Span) -> Diagnostic {
    section(
        suspicious(
            code::UNINITIALISED_REGISTER,
            span,
            "each `tcgen05.mma` of the kernel adds to Tensor Memory that nothing has written",
        ),
        "memory that `tcgen05.alloc` gives holds anything, and `enable-input-d` adds the product to it",
        "9.7.16.10.9",
    )
    .help("make `enable-input-d` false for the first product of a tile")
}

pub(crate) fn unreachable(span: Span) -> Diagnostic {
    suspicious(code::UNREACHABLE, span, "no path leads to this instruction")
        .note("the code before it always branches, returns or exits, and no branch leads here (PTX ISA 9.7.12)")
        .help(Help::remove().then(", or branch to it"))
}

pub(crate) fn never_runs(span: Span, op: &str, why: &str) -> Diagnostic {
    suspicious(code::GUARD_NEVER_HOLDS, span, format!("this `{op}` never runs: {why}"))
        .note("an instruction under a guard runs in the threads whose predicate is true (PTX ISA 9.3)")
        .help("remove the instruction, or correct the guard")
}

fn points(is: &str, generic: bool, of: Option<&str>) -> String {
    let kind = if generic { "a generic address of" } else { "an address in" };
    match of {
        Some(name) => format!("{kind} `{is}` memory, that of `{name}`,"),
        None => format!("{kind} `{is}` memory,"),
    }
}

const SPACES: &str = "an access needs an address in the state space that it names";
const MADE: &str = "made here";

pub(crate) fn space_of_register(
    span: Span,
    reg: &str,
    is: &str,
    generic: bool,
    want: &str,
    of: Option<&str>,
    by: Option<Span>,
) -> Diagnostic {
    let have = points(is, generic, of);
    let d = error(
        code::ADDRESS_OF_OTHER_SPACE,
        span,
        format!("`{reg}` holds {have} but the instruction accesses `{want}`"),
    );
    section(at(d, by, MADE), SPACES, "5.1")
        .help(Help::write(is).then(&format!(" in place of `{want}`, or take the address of a `{want}` variable")))
}

/// What a register holds that is used as a generic address, as the beginning of a sentence.
pub(crate) fn held(reg: &str, is: &str, of: Option<&str>) -> String {
    format!("`{reg}` holds {}", points(is, true, of))
}

/// The same of a variable that is named.
pub(crate) fn variable(name: &str, is: &str) -> String {
    format!("`{name}` is a `{is}` variable,")
}

pub(crate) fn object_elsewhere(span: Span, what: &str, by: Option<Span>) -> Diagnostic {
    let d = error(code::ADDRESS_OF_OTHER_SPACE, span, format!("{what} but this operand must be in shared memory"));
    section(at(d, by, MADE), "mbarriers, responses and addresses of Tensor Memory lie in shared memory", "9.7.13.15")
        .help("take the address of a `.shared` variable")
}

pub(crate) fn map_elsewhere(span: Span, what: &str, by: Option<Span>) -> Diagnostic {
    let d = error(code::ADDRESS_OF_OTHER_SPACE, span, format!("{what} but this operand must be a tensor map"));
    section(at(d, by, MADE), "a tensor map lies in `.param`, `.const` or `.global` memory", "9.7.9.26")
        .help("give the map as a kernel parameter, and its generic address here")
}

pub(crate) fn generic_in_space(span: Span, reg: &str, is: &str, want: &str, by: Option<Span>) -> Diagnostic {
    let d = error(
        code::ADDRESS_OF_OTHER_SPACE,
        span,
        format!("`{reg}` holds a generic address, but `{want}` needs an address in that state space"),
    );
    section(at(d, by, MADE), SPACES, "6.4.1")
        .help(format!("remove `{want}`, or convert the address with `cvta.to{is}.u64`"))
}

/// `write`: the state space that the instruction takes for it.
pub(crate) fn native_as_generic(
    span: Span,
    reg: &str,
    (is, write): (&str, &str),
    of: Option<&str>,
    by: Option<Span>,
) -> Diagnostic {
    let have = points(is, false, of);
    let d = error(
        code::ADDRESS_OF_OTHER_SPACE,
        span,
        format!("`{reg}` holds {have} but the instruction takes a generic address"),
    );
    section(at(d, by, MADE), "without a state space an address is generic", "6.4.1")
        .help(Help::add(write).then(&format!(" to the instruction, or convert the address with `cvta{is}.u64`")))
}

pub(crate) fn cvta_of_other_space(span: Span, reg: &str, is: &str, want: &str, by: Option<Span>) -> Diagnostic {
    let d = error(
        code::ADDRESS_CONVERSION,
        span,
        format!("`{reg}` is an address of `{is}` memory, but is converted as one of `{want}`"),
    );
    section(at(d, by, MADE), "`cvta` converts addresses that lie in the space it names", "9.7.9.20")
        .help(Help::write(is).then(&format!(" in place of `{want}`")))
}

/// `to`: it is `cvta.to`, and the address is in its space already; else it is `cvta`, and the address is generic already.
pub(crate) fn cvta_direction(span: Span, reg: &str, is: &str, to: bool, by: Option<Span>) -> Diagnostic {
    let (have, help) = if to {
        (
            format!("an address in `{is}` already"),
            format!("use `{reg}` as it is, or write `cvta{is}` for a generic address"),
        )
    } else {
        (
            "a generic address already".to_string(),
            format!("use `{reg}` as it is, or write `cvta.to{is}` to convert it back"),
        )
    };
    let d = error(code::ADDRESS_CONVERSION, span, format!("`{reg}` is {have}"));
    section(at(d, by, MADE), "`cvta` converts an address to a generic one, and `cvta.to` converts it back", "9.7.9.20")
        .help(help)
}

pub(crate) fn mapa_form(span: Span, op: &str, reg: &str, generic: bool, by: Option<Span>) -> Diagnostic {
    let (have, want, help) = if generic {
        ("a generic address", "an address in `.shared::cta`", "remove `.shared::cluster`".to_string())
    } else {
        ("an address in `.shared`", "a generic address", format!("write `{op}.shared::cluster`"))
    };
    let d = error(code::ADDRESS_OF_OTHER_SPACE, span, format!("`{reg}` holds {have}, but this `{op}` takes {want}"));
    section(
        at(d, by, MADE),
        "with `.shared::cluster` the address is one in shared memory, without it a generic one",
        "9.7.9.23",
    )
    .help(help)
}

fn mapped(span: Span, reg: &str, by: Option<Span>, sure: bool) -> Diagnostic {
    let what = if sure { "is" } else { "may be" };
    let d = found(
        code::ADDRESS_IN_OTHER_CTA,
        span,
        sure,
        format!("`{reg}` {what} an address in another CTA, but the instruction reaches only its own CTA"),
    );
    at(d, by, "mapped here")
}

pub(crate) fn mapped_in_own_window(span: Span, reg: &str, by: Option<Span>, sure: bool, help: Help) -> Diagnostic {
    let d = mapped(span, reg, by, sure);
    section(d, "`.shared` and `.shared::cta` are the window of the executing CTA", "5.1.7").help(help)
}

/// `op`: the instruction and its section.
pub(crate) fn mapped_used_as_own(
    span: Span,
    reg: &str,
    by: Option<Span>,
    sure: bool,
    op: (&str, &str),
    help: Help,
) -> Diagnostic {
    let (name, sec) = op;
    let d = mapped(span, reg, by, sure);
    section(d, &format!("`{name}` takes addresses in the `.shared::cta` window of the executing CTA"), sec).help(help)
}

pub(crate) fn cvta_of_peer(span: Span, reg: &str, form: &str, by: Option<Span>) -> Diagnostic {
    let d = suspicious(
        code::ADDRESS_IN_OTHER_CTA,
        span,
        format!("`{reg}` may be an address in another CTA, but `{form}` names the window of the executing CTA"),
    );
    section(at(d, by, "mapped here"), "`cvta` converts addresses that lie in the window it names", "9.7.9.20")
        .help(Help::write(".shared::cluster"))
}

pub(crate) fn peer_returns_nothing(span: Span, reg: &str, by: Option<Span>, sure: bool, sec: &str) -> Diagnostic {
    let what = if sure { "is" } else { "may be" };
    let d = found(
        code::ADDRESS_IN_OTHER_CTA,
        span,
        sure,
        format!("`{reg}` {what} an mbarrier in another CTA, and an arrival there returns no state"),
    );
    section(at(d, by, "mapped here"), "the sink `_` takes the place of the state of a remote arrival", sec)
        .help(Help::write("_").then(" for the state, and let the CTA that owns the mbarrier wait by parity"))
}

pub(crate) fn read_only_parameter(span: Span, name: &str, ty: Option<Span>) -> Diagnostic {
    at(
        error(code::STORE_TO_READ_ONLY, span, format!("this writes to `{name}`, which is read-only")),
        ty,
        "a shared reference",
    )
    .note("a kernel only reads what is behind a `&[T]`, so that many launches may share it")
    .help(format!("make `{name}` a `&mut` slice"))
}

pub(crate) fn read_only_space(span: Span, reg: &str, is: &str, of: Option<&str>, by: Option<Span>) -> Diagnostic {
    let have = points(is, true, of);
    let d = error(code::STORE_TO_READ_ONLY, span, format!("`{reg}` holds {have} but this writes to it"));
    section(at(d, by, MADE), "constants and the parameters of a kernel are read-only", "5.1")
        .help("write to a `.global`, `.shared` or `.local` variable")
}

pub(crate) fn apart(span: Span, op: &str, data: Span, sure: bool) -> Diagnostic {
    let what = if sure { "is" } else { "may be" };
    let d = found(
        code::MBARRIER_IN_OTHER_CTA,
        span,
        sure,
        format!("the mbarrier of this `{op}` {what} in a different CTA from its data"),
    );
    section(d.label(data, "the data"), "the bytes complete on an mbarrier of the CTA that receives them", "9.7.9.25.4")
        .help("map both with `mapa` and the same rank, or neither")
}

pub(crate) fn not_read_only(span: Span, store: Span) -> Diagnostic {
    section(
        suspicious(
            code::READ_ONLY_LOAD_OF_WRITTEN,
            span,
            "this load treats memory as read-only, but the kernel writes to it",
        )
        .label(store, "written here"),
        "`ld.global.nc` is for memory that is not written while the kernel runs",
        "9.7.9.9",
    )
    .help("leave out `.nc`")
}

pub(crate) fn past_the_end(
    span: Span,
    (name, size): (&str, u32),
    (offset, access): (i64, u32),
    sure: bool,
) -> Diagnostic {
    let bytes = if access == 1 { "1 byte".to_string() } else { format!("{access} bytes") };
    let unit = if size == 1 { "byte" } else { "bytes" };
    let place = if offset < 0 { "before the start" } else { "past the end" };
    found(code::OUT_OF_BOUNDS, span, sure, format!("this accesses {bytes} at `{name}+{offset}`, {place} of `{name}`"))
        .note(format!("`{name}` has {size} {unit}, and what lies next to a variable is not defined (PTX ISA 5.4)"))
        .help("declare the variable larger, or change the offset")
}

pub(crate) fn misaligned_register(span: Span, reg: &str, of: &str, offset: i64, align: u32) -> Diagnostic {
    error(
        code::MISALIGNED_ADDRESS,
        span,
        format!("`{reg}` is `{of}+{offset}` here, which is not a multiple of {align} bytes"),
    )
    .note(format!("this access must be aligned to {align} bytes (PTX ISA 6.4.1)"))
    .help("add a multiple of the size of the access")
}
