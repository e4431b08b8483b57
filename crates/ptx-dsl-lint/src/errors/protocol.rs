//! Messages about protocols between threads, asynchronous copies and CTAs: PTX0616 to PTX0619, PTX0640 to PTX0662.

use crate::errors::class::{against_the_manual, error, found, section, suspicious};
use ptx_dsl_catalogue as code;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::opcode::{Opcode, op};
use ptx_dsl_isa::span::Span;

pub(crate) fn not_seen(span: Span, name: &str, other: Option<usize>, made: Span, op: &str) -> Diagnostic {
    let who = other.map_or("a lane that is not elected".to_string(), |t| format!("thread {t}"));
    let d = error(
        code::NOT_MADE_READY,
        span,
        format!("{who} uses `{name}` here, but does not wait for `{op}` by another thread"),
    );
    section(
        d.label(made, "made ready here, by other threads"),
        "what one thread did is visible to others only after a barrier",
        "8.9",
    )
    .help("put `bar.sync 0;` between the two")
}

pub(crate) fn init_twice(span: Span, name: &str, first: Span) -> Diagnostic {
    section(
        error(
            code::MBARRIER_INIT_TWICE,
            span,
            format!("`{name}` is initialised again while it is a valid mbarrier object"),
        )
        .label(first, "initialised here"),
        "`mbarrier.init` of a valid object is undefined; `mbarrier.inval` makes it invalid",
        "9.7.13.15.9",
    )
    .help("put `mbarrier.inval.shared::cta.b64` of the object before it, or use other memory for the second object")
}

pub(crate) fn init_in_loop(span: Span, name: &str) -> Diagnostic {
    section(
        suspicious(code::MBARRIER_INIT_TWICE, span, format!("the next iteration initialises `{name}` again while it is a valid mbarrier object")),
        "`mbarrier.init` of a valid object is undefined; `mbarrier.inval` makes it invalid",
        "9.7.13.15.9",
    )
    .help("initialise it before the loop, or put `mbarrier.inval.shared::cta.b64` of the object at the end of each iteration")
}

pub(crate) fn data_on_object(span: Span, name: &str, first: Span, writes: bool) -> Diagnostic {
    let what = if writes { "writes data over" } else { "reads as data" };
    section(
        error(code::MBARRIER_AS_DATA, span, format!("this {what} the mbarrier `{name}`, which is still valid"))
            .label(first, "initialised here"),
        "the memory of an mbarrier may hold other data only after `mbarrier.inval`",
        "9.7.13.15.10",
    )
    .help("put `mbarrier.inval.shared::cta.b64` of the object before it, or store elsewhere")
}

pub(crate) fn after_inval(span: Span, name: &str, end: Span) -> Diagnostic {
    section(
        error(code::MBARRIER_AFTER_INVAL, span, format!("`{name}` is used here after `mbarrier.inval`"))
            .label(end, "invalidated here"),
        "after `mbarrier.inval` any operation but `mbarrier.init` on the object is undefined",
        "9.7.13.15.10",
    )
    .help("put `mbarrier.inval` after the last use, or `mbarrier.init` before this one")
}

pub(crate) fn not_published(span: Span, name: &str, init: Span) -> Diagnostic {
    let what = format!("this lets the other CTAs continue, but they may not see that `{name}` is initialised");
    section(
        against_the_manual(code::MBARRIER_INIT_NOT_FENCED, span, what).label(init, "initialised here"),
        "a relaxed arrival publishes nothing; `fence.mbarrier_init` by the thread that initialised does",
        "9.7.13.4",
    )
    .help("put `fence.mbarrier_init.release.cluster;` after the `init`, under the same guard")
}

const PROXY: &str = "an asynchronous operation sees stores through the generic proxy only after a proxy fence";

pub(crate) fn no_proxy_fence(span: Span, op: &str, store: Span, global: bool) -> Diagnostic {
    let space = if global { ".global" } else { ".shared::cta" };
    section(
        error(
            code::NO_PROXY_FENCE,
            span,
            format!("`{op}` reads what threads stored, but there is no proxy fence in between"),
        )
        .label(store, "stored here"),
        PROXY,
        "9.7.13.4",
    )
    .help(format!("put `fence.proxy.async{space};` after the stores, before the barrier"))
}

pub(crate) fn copied_without_fence(span: Span, op: &str, copy: Span) -> Diagnostic {
    let what = format!("`{op}` reads what `cp.async` copied, but there is no proxy fence in between");
    section(against_the_manual(code::NO_PROXY_FENCE, span, what).label(copy, "copied here"), PROXY, "9.7.13.4")
        .help("put `fence.proxy.async.shared::cta;` after the wait for the copy, before the barrier")
}

pub(crate) fn proxy_fence_late(span: Span, op: &str, store: Span) -> Diagnostic {
    section(
        suspicious(
            code::FENCE_AFTER_BARRIER,
            span,
            format!(
                "`{op}` reads what many threads stored, and the proxy fence is after their barrier, just before this"
            ),
        )
        .label(store, "stored here"),
        "a proxy fence covers only accesses of its own thread: the threads that store execute it, and then synchronise",
        "9.7.13.4",
    )
    .help("put `fence.proxy.async.shared::cta;` after the stores, before the barrier")
}

pub(crate) fn reused_without_fence(span: Span, op: &str, load: Span, half: bool) -> Diagnostic {
    let fence = if half { "only the release of a proxy fence" } else { "no proxy fence" };
    section(
        suspicious(code::OVERWRITTEN_WITHOUT_FENCE, span, format!("`{op}` writes over what was loaded before, but there is {fence} in between"))
            .label(load, "loaded here"),
        "without a proxy fence, loads through the generic proxy are not ordered before later writes through the async proxy",
        "9.7.13.4",
    )
    .help("put `fence.proxy.async.shared::cta;` after the loads")
}

pub(crate) fn never_complete(span: Span, name: &str, count: u64, come: u64, init: Span) -> Diagnostic {
    section(
        error(
            code::PHASE_NEVER_COMPLETES,
            span,
            format!("this waits for {count} arrivals on `{name}`, but the whole kernel makes at most {come}"),
        )
        .label(init, "the count is given here"),
        "a phase completes after as many arrivals as `mbarrier.init` says; `expect_tx` alone is not an arrival",
        "9.7.13.15.2",
    )
    .help("give `init` the number of threads that arrive, or let the others arrive too")
}

/// `fixed`: the number of bytes of the copies is, as that of a response.
pub(crate) fn bytes_differ(span: Span, name: &str, want: u64, come: u64, copy: Span, fixed: bool) -> Diagnostic {
    section(
        error(code::EXPECTED_BYTES, span, format!("`{name}` expects {want} bytes, but the copies write {come}"))
            .label(copy, "copied here"),
        "a phase completes when its tx-count is zero: exactly the expected bytes have arrived",
        "9.7.13.15.2",
    )
    .help(if fixed { format!("write {come}") } else { format!("write {come}, or copy {want} bytes") })
}

pub(crate) fn parity_of_no_phase(span: Span, name: &str) -> Diagnostic {
    section(
        error(
            code::WRONG_PARITY,
            span,
            format!("only the first phase of `{name}` can complete, and this waits for parity 1"),
        ),
        "the first phase has parity 0; a wait for parity 1 returns at once, before anything has arrived",
        "9.7.13.15.16",
    )
    .help("wait for parity 0")
}

/// `looped`: in each iteration of a loop.
pub(crate) fn barrier_count(span: Span, id: u64, count: u64, come: u64, looped: bool) -> Diagnostic {
    section(
        found(
            code::BARRIER_THREAD_COUNT,
            span,
            !looped,
            format!("barrier {id} is for {count} threads, but {come} reach it"),
        ),
        "the number counts all threads that wait or arrive",
        "9.7.13.1",
    )
    .help(format!("write {come}"))
}

pub(crate) fn barrier_of_groups(span: Span, id: u64, count: u64, come: u64) -> Diagnostic {
    section(
        suspicious(
            code::BARRIER_THREAD_COUNT,
            span,
            format!("barrier {id} is for {count} threads, but {come} wait at it here, in no order"),
        ),
        &format!(
            "the first {count} threads that come pass, whichever warps they are; the others wait for the next ones"
        ),
        "9.7.13.1",
    )
    .help(format!("give each group of {count} threads a barrier number of its own, or write {come}"))
}

pub(crate) fn load_unfinished(
    span: Span,
    copy: Span,
    writes: bool,
    map: bool,
    waited: bool,
    by_copy: bool,
) -> Diagnostic {
    let what = match (map, writes) {
        (true, _) => "this changes the tensor map while a copy may read it",
        (_, true) => "this writes to memory that a copy is still writing",
        _ => "this reads data that a copy may not have written yet",
    };
    let note = if waited {
        "a copy is complete after a wait for the phase of its mbarrier"
    } else {
        "a copy is complete after a wait for the phase of its mbarrier, and no thread waits for that mbarrier"
    };
    // One copy after another may be ordered by what is not seen here.
    let d = found(code::COPY_INCOMPLETE, span, !by_copy, what);
    section(d.label(copy, "copied here"), note, "9.7.9.25.4")
        .help("loop on `mbarrier.try_wait.parity` of the mbarrier of the copy before this place")
}

pub(crate) fn nobody_waits(span: Span, name: &str) -> Diagnostic {
    section(
        error(
            code::COPY_NOT_WAITED_FOR,
            span,
            format!("no thread waits for this copy: the kernel has no wait for `{name}`"),
        ),
        "a copy is complete after a wait for the phase of its mbarrier; the CTA must not exit before",
        "9.7.9.25.4",
    )
    .help(format!("loop on `mbarrier.try_wait.parity.shared::cta.b64 p, [{name}], 0;` where the data is used"))
}

pub(crate) fn copy_not_awaited(span: Span, copy: Span, writes: bool, never: bool) -> Diagnostic {
    let what = if writes { "this writes to memory that" } else { "this reads memory that" };
    let d = error(code::CP_ASYNC_IN_FLIGHT, span, format!("{what} a `cp.async` may still write"))
        .label(copy, "copied here");
    let note = if never {
        "`cp.async.wait_group` waits for committed groups; this copy is in none yet"
    } else {
        "after `cp.async.wait_group N`, all but the newest N groups are complete"
    };
    section(d, note, "9.7.9.25.3.3").help("put `cp.async.commit_group; cp.async.wait_group 0;` before this place")
}

pub(crate) fn source_rewritten(span: Span, copy: Span, never: bool, map: bool) -> Diagnostic {
    let what = if map { "this changes the tensor map" } else { "this writes over the source" };
    let note = if never {
        "`cp.async.bulk.wait_group` waits for committed groups; this copy is in none yet"
    } else {
        "the source of a bulk copy must not change before `cp.async.bulk.wait_group.read`"
    };
    section(
        error(code::COPY_SOURCE_IN_FLIGHT, span, format!("{what} of a bulk copy that may still read it"))
            .label(copy, "copied here"),
        note,
        "9.7.9.25.6",
    )
    .help("put `cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;` before this place")
}

pub(crate) fn source_perhaps_rewritten(span: Span, copy: Span) -> Diagnostic {
    section(
        suspicious(
            code::COPY_SOURCE_IN_FLIGHT,
            span,
            "this may write over the source of a bulk copy that may still read it",
        )
        .label(copy, "copied here, an iteration before"),
        "the source of a bulk copy must not change before `cp.async.bulk.wait_group.read`",
        "9.7.9.25.6",
    )
    .help("put `cp.async.bulk.wait_group.read 0;` before this place, in the thread that copies, and a barrier after it")
}

pub(crate) fn source_rewritten_by_others(span: Span, copy: Span) -> Diagnostic {
    section(
        error(
            code::COPY_SOURCE_IN_FLIGHT,
            span,
            "threads that did not issue the bulk copy overwrite its source, and do not know that it is complete",
        )
        .label(copy, "issued here, by other threads"),
        "bulk groups belong to the thread that issued the copies; its wait does not synchronise other threads",
        "9.7.9.25.6",
    )
    .help("put `bar.sync 0;` after the wait")
}

pub(crate) fn leaves_with_copy(span: Span, copy: Span, never: bool) -> Diagnostic {
    let what = if never { "that was not committed" } else { "that no thread waited for" };
    section(
        suspicious(code::EXIT_WITH_COPY, span, format!("the thread exits with a bulk copy {what}"))
            .label(copy, "copied here"),
        "the shared memory that a copy reads is gone when the CTA exits",
        "9.7.9.25.6",
    )
    .help("put `cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;` before this place")
}

/// A thread ends while an operation is in flight. `commit`: what closes its group, if nothing did.
fn leaves_with(span: Span, started: Span, opcode: Opcode, commit: Option<&str>) -> Diagnostic {
    let what = if commit.is_some() { "that was not committed" } else { "that no thread waited for" };
    suspicious(code::EXIT_WITH_COPY, span, format!("the thread exits with a `{}` {what}", opcode.name()))
        .label(started, "started here")
}

pub(crate) fn leaves_with_cp_async(span: Span, copy: Span, never: bool) -> Diagnostic {
    let commit = never.then_some("cp.async.commit_group; ");
    section(
        leaves_with(span, copy, op::cp_async, commit),
        "a thread must wait for its copies: with `cp.async.wait_group`, `cp.async.wait_all` or an mbarrier",
        "9.7.9.25.3.3",
    )
    .help(format!("put `{}cp.async.wait_group 0;` before this place", commit.unwrap_or_default()))
}

pub(crate) fn leaves_with_wgmma(span: Span, mma: Span, never: bool) -> Diagnostic {
    let commit = never.then_some("wgmma.commit_group.sync.aligned; ");
    section(
        leaves_with(span, mma, op::wgmma_mma_async, commit),
        "`wgmma.wait_group` waits for the MMAs of committed groups; until then they use their registers",
        "9.7.15.7.3",
    )
    .help(format!("put `{}wgmma.wait_group.sync.aligned 0;` before this place", commit.unwrap_or_default()))
}

fn wgmma_registers(d: Diagnostic, mma: Span) -> Diagnostic {
    section(
        d.label(mma, "used here"),
        "accumulators and fragments of A belong to the MMA until a `wgmma.wait_group` for its group",
        "9.7.15.7.3",
    )
    .help("put `wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;` before this place")
}

/// `moved`: the instruction is a `mov`, which compilers put before the wait.
pub(crate) fn wgmma_result_early(span: Span, reg: &str, mma: Span, moved: bool) -> Diagnostic {
    let what = format!("`{reg}` is read here, and a `wgmma.mma_async` may still write it");
    let d = if moved {
        against_the_manual(code::MMA_REGISTERS_IN_FLIGHT, span, what)
    } else {
        error(code::MMA_REGISTERS_IN_FLIGHT, span, what)
    };
    wgmma_registers(d, mma)
}

pub(crate) fn wgmma_overwritten(span: Span, reg: &str, mma: Span) -> Diagnostic {
    wgmma_registers(
        error(
            code::MMA_REGISTERS_IN_FLIGHT,
            span,
            format!("`{reg}` is written here, and a `wgmma.mma_async` may still use it"),
        ),
        mma,
    )
}

pub(crate) fn no_wgmma_fence(span: Span) -> Diagnostic {
    section(
        error(code::NO_WGMMA_FENCE, span, "there is no `wgmma.fence` between the write to its registers and this MMA"),
        "`wgmma.fence` comes before the first MMA, and after each other access to the registers of one",
        "9.7.15.7.1",
    )
    .help("put `wgmma.fence.sync.aligned;` before it")
}

pub(crate) fn never_committed(span: Span) -> Diagnostic {
    section(
        error(code::MMA_NOT_COMMITTED, span, "no `wgmma.commit_group` follows, so no thread can wait for this MMA"),
        "`wgmma.wait_group` waits for groups, and `wgmma.commit_group` puts the MMAs before it into one",
        "9.7.15.7.2",
    )
    .help("put `wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;` after the MMAs")
}

pub(crate) fn wait_for_uncommitted(span: Span, mma: Span) -> Diagnostic {
    section(
        suspicious(code::MMA_NOT_COMMITTED, span, "this does not wait for the MMA before it, which is in no group yet")
            .label(mma, "this MMA"),
        "`wgmma.wait_group` waits for the groups that `wgmma.commit_group` has made",
        "9.7.15.7.3",
    )
    .help("put `wgmma.commit_group.sync.aligned;` before it")
}

pub(crate) fn stage_freed(span: Span, op: &str, mma: Span) -> Diagnostic {
    section(
        suspicious(
            code::STAGE_FREED_WHILE_READ,
            span,
            format!("this `{op}` frees the stage that a `wgmma.mma_async` may still read"),
        )
        .label(mma, "it is read here"),
        "an MMA reads its matrices until `wgmma.wait_group` has waited for its group",
        "9.7.15.7.3",
    )
    .help("put `wgmma.wait_group.sync.aligned 0;` before it, or free the stage of the MMA before")
}

pub(crate) fn arrives_while_loading(span: Span, load: Span, sure: bool) -> Diagnostic {
    section(
        found(
            code::ARRIVAL_DURING_TMEM_LOAD,
            span,
            sure,
            "this thread arrives while its `tcgen05.ld` may still be reading Tensor Memory",
        )
        .label(load, "loaded here"),
        "a thread that waits for the arrival writes or releases the same Tensor Memory",
        "9.7.16.6.4",
    )
    .help("put `tcgen05.wait::ld.sync.aligned;` before it")
}

/// `wait`: one before it that returns at once when it is first executed.
pub(crate) fn peer_not_there(span: Span, op: &str, wait: Option<Span>) -> Diagnostic {
    let d = error(
        code::PEER_MAY_NOT_HAVE_STARTED,
        span,
        format!("this `{op}` accesses another CTA, which may not have started"),
    );
    section(
        match wait {
            Some(wait) => d.label(wait, "this wait for a free stage returns at once in the first round"),
            None => d,
        },
        "the shared memory of a CTA exists once the CTA runs; nothing before this place waits for that",
        "5.1.7",
    )
    .help("put `barrier.cluster.arrive; barrier.cluster.wait;` before it in all CTAs")
}

pub(crate) fn leaves_peer(span: Span, leave: Span) -> Diagnostic {
    section(
        error(
            code::PEER_MAY_HAVE_EXITED,
            span,
            "this accesses another CTA, which may have exited: nothing makes it wait",
        )
        .label(leave, "a CTA exits here"),
        "the shared memory of a CTA is gone when it exits",
        "5.1.7",
    )
    .help("put `barrier.cluster.arrive; barrier.cluster.wait;` before the end in all CTAs")
}

pub(crate) fn too_many_registers(span: Span, asked: u64, most: u64) -> Diagnostic {
    section(
        error(
            code::TOO_MANY_REGISTERS,
            span,
            format!("the warpgroups request {asked} registers together, but the CTA has {most}"),
        ),
        "`setmaxnreg.inc` waits until enough registers are free in the pool of the CTA",
        "9.7.19.5",
    )
    .help("request fewer, let other warpgroups release more, or start with more by `.maxnreg`")
}

pub(crate) fn registers_unknown_at_entry(span: Span) -> Diagnostic {
    section(
        suspicious(
            code::REGISTERS_UNKNOWN_AT_ENTRY,
            span,
            "ptxas ignores this `setmaxnreg`: no directive gives the number of registers at entry",
        ),
        "without a number of registers at the launch, `setmaxnreg` may have no effect",
        "9.7.19.5",
    )
    .help("give the number by `.maxnreg`, or by `.minnctapersm` beside the number of threads")
}

pub(crate) fn part_of_warpgroup(span: Span, group: usize) -> Diagnostic {
    section(
        error(
            code::SETMAXNREG_IN_PART,
            span,
            format!("some threads of warpgroup {group} run this `setmaxnreg`, and others do not"),
        ),
        "all warps of a warpgroup run the same `setmaxnreg`",
        "9.7.19.5",
    )
    .help("branch on `%tid.x` divided by 128, so that whole warpgroups take the branch")
}

pub(crate) fn map_without_fence(span: Span, change: Span, released: bool) -> Diagnostic {
    let (what, help) = if released {
        ("acquire", "put `fence.proxy.tensormap::generic.acquire.gpu [map], 128;` before it")
    } else {
        (
            "release",
            "put `fence.proxy.tensormap::generic.release.gpu; fence.proxy.tensormap::generic.acquire.gpu [map], 128;` before it",
        )
    };
    section(
        error(
            code::TENSORMAP_FENCE,
            span,
            format!("this uses a tensor map that was changed, with no {what} of the tensormap proxy in between"),
        )
        .label(change, "changed here"),
        "copies read maps through the tensormap proxy: release with `fence.proxy.tensormap::generic`, then acquire",
        "9.7.13.4",
    )
    .help(help)
}

pub(crate) fn more_arrive(span: Span, name: &str, count: u64, come: u64, init: Span) -> Diagnostic {
    section(
        suspicious(
            code::TOO_MANY_ARRIVALS,
            span,
            format!("{come} arrivals on `{name}` here, but its count is {count}"),
        )
        .label(init, "the count is given here"),
        "a phase completes after as many arrivals as `mbarrier.init` says; further arrivals count for the next phases",
        "9.7.13.15.2",
    )
    .help("give `init` that number, or let one thread arrive, as with `setp.eq.u32 p, %r, 0;` where `%r` is `%tid.x`")
}

pub(crate) fn never_initialised(span: Span, name: &str) -> Diagnostic {
    section(
        error(code::MBARRIER_BEFORE_INIT, span, format!("nothing in this kernel initialises the mbarrier `{name}`")),
        "any operation but `mbarrier.init` needs an object that is initialised",
        "9.7.13.15",
    )
    .help("let one thread run `mbarrier.init` first, and the others wait for it with `bar.sync`")
}
