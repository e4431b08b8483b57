//! Where reports say that a statement is: its line in the file, and the place in another source that `.loc` gives.

use ptx_dsl::Fault;
use ptx_dsl::fault::Origin;
use ptx_dsl::load::{Level, Module, Selector};
use ptx_dsl::monitor::{Event, Monitor, Wants, Who};
use ptx_dsl::prelude::*;
use std::sync::{Arc, Mutex};

/// As a compiler of CUDA writes it. Blank lines are not in the printed text, and a statement is on one line there.
const TEXT: &str = r#"
.version 8.3
.target sm_90
.address_size 64


.func helper(.param .u64 address)
{
    .reg .b64 %x;
    .loc 2 7 1
    ld.param.u64 %x, [address];
    st.global.u32 [%x+4096], 1; // in the function
    ret;
}

.visible .entry inlined(.param .u64 .ptr .global .align 4 x)
{
    .reg .b64 %x;
    .loc 1 90 3
    ld.param.u64 %x, [x];
    .loc 2 20 5, function_name $L__info_string0, inlined_at 1 90 3
    {
        .loc 2 30 7, function_name $L__info_string0, inlined_at 2 20 5
        st.global.u32 [%x], 1;
    }

    st.global.u32
        [%x+1024], 2; // after the block
    ret;
}

.visible .entry calls(.param .u64 .ptr .global .align 4 x)
{
    .reg .b64 %x;
    .loc 1 50 3
    ld.param.u64 %x, [x];
    {
        .param .u64 a;
        st.param.u64 [a], %x;
        call helper, (a);
    }
    ret;
}

.visible .entry plain(.param .u64 .ptr .global .align 4 x)
{
    .reg .b64 %x;
    ld.param.u64 %x, [x];
    st.global.u32 [%x+1024], 3; // without .loc
    .loc 1 0 3
    st.global.u32 [%x+1024], 4;
    ret;
}

.visible .entry races(.param .u64 .ptr .global .align 4 x) .reqntid 64
{
    .reg .b32 %t, %v, %r;
    .shared .align 4 .b8 before[16];
    .shared .align 4 .b8 buf[256];
    .loc 1 60 1
    mov.u32 %t, %tid.x;
    mov.u32 %r, buf;
    mad.lo.u32 %r, %t, 4, %r;
    st.shared.u32 [before], 0;
    .loc 1 61 9
    .loc 2 5 3, function_name $L__info_string0, inlined_at 1 61 9
    st.shared.u32 [%r], %t; // stores

    bar.sync 1;
    .loc 1 62 9
    xor.b32 %t, %t, 32;
    st.shared.u32 [%r], %t;
    mov.u32 %r, buf;
    mad.lo.u32 %r, %t, 4, %r;
    .loc 1 63 0
    ld.shared.u32 %v, [%r]; // loads
    ret;
}

.visible .entry waits(.param .u64 .ptr .global .align 4 x) .reqntid 32
{
    .reg .pred %p;
    .shared .align 8 .b64 bars[2];
    mbarrier.init.shared.b64 [bars+8], 1;
    .loc 1 70 1
    .loc 2 8 3, function_name $L__info_string0, inlined_at 1 70 1


again:
    mbarrier.try_wait.parity.shared.b64 %p, [bars+8], 0; // waits
    @!%p bra again;
    ret;
}
.file 1 "/home/me/k.cu"
.file 2 "/home/me/helpers.h"
.section .debug_str
{
$L__info_string0:
.b8 102,0
}
"#;

/// The line of the file with this comment; a statement begins `up` lines before.
fn line(comment: &str, up: usize) -> usize {
    TEXT.lines().position(|line| line.ends_with(&format!("// {comment}"))).unwrap() + 1 - up
}

fn parse(text: &str) -> Module {
    let options = super::races::permissive().level(Level::Allow, Selector::Code(642)).name("k.ptx");
    options.parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn module() -> Module {
    parse(TEXT)
}

/// The fault of a kernel of one warp.
#[track_caller]
fn fault<M>(host: &Host<M>, name: &str, threads: u32) -> Fault {
    let launch = Launch::grid(1).block(threads);
    let result = module().kernel(name).unwrap().launch_raw(host, launch, &mut [(&mut [0u32; 64][..]).into()]);
    match result {
        Err(ptx_dsl::Error::Fault(fault)) => *fault,
        other => panic!("{other:?}"),
    }
}

/// The report of a kernel of a text, which fails.
#[track_caller]
fn report<M>(text: &str, name: &str, host: &Host<M>, launch: Launch) -> String {
    let result = parse(text).kernel(name).unwrap().launch_raw(host, launch, &mut [(&mut [0u32; 4][..]).into()]);
    result.unwrap_err().to_string()
}

fn origin(file: &str, line: u32, column: u32) -> Origin {
    Origin { file: file.to_owned(), line, column }
}

#[test]
fn the_place_is_that_of_the_last_loc() {
    let fault = fault(&Host::new(), "inlined", 1);
    let (report, line) = (fault.to_string(), line("after the block", 1));
    let places = format!(
        "\n  --> kernel `inlined`, PTX line {line}: `st.global.u32 [%x+1024], 2;`\n  --> /home/me/helpers.h:30:7\n      \
         inlined at /home/me/helpers.h:20:5\n      inlined at /home/me/k.cu:90:3\n  = thread"
    );
    assert!(report.contains(&places), "{report}");
    let at = fault.at.unwrap();
    assert_eq!((at.line as usize, at.rust_line as usize, &at.file[..], at.of_file), (line, line, "k.ptx", true));
    let helper = |line, column| origin("/home/me/helpers.h", line, column);
    assert_eq!(at.origin, [helper(30, 7), helper(20, 5), origin("/home/me/k.cu", 90, 3)]);
}

#[test]
fn a_function_that_is_called_has_its_own_places() {
    let report = fault(&Host::new(), "calls", 1).to_string();
    let places = format!(
        "PTX line {}: `st.global.u32 [%x+4096], 1;`\n  --> /home/me/helpers.h:7:1\n      called at /home/me/k.cu:50:3\n  = thread",
        line("in the function", 0)
    );
    assert!(report.contains(&places), "{report}");
}

/// A function that calls itself: with `n` odd from one place, else from another one.
const RECURSIVE: &str = r#"
.func down(.param .b64 x, .param .b32 n)
{
    .reg .b64 %x; .reg .b32 %n, %one; .reg .pred %p;
    ld.param.b64 %x, [x];
    ld.param.b32 %n, [n];
    setp.eq.u32 %p, %n, 0;
    @%p bra deepest;
    and.b32 %one, %n, 1;
    setp.eq.u32 %p, %one, 0;
    sub.u32 %n, %n, 1;
    @%p bra even;
    {
        .param .b64 a; .param .b32 b;
        st.param.b64 [a], %x;
        st.param.b32 [b], %n;
        .loc 1 3 1
        call down, (a, b);
    }
    ret;
even:
    {
        .param .b64 a; .param .b32 b;
        st.param.b64 [a], %x;
        st.param.b32 [b], %n;
        .loc 1 4 1
        call down, (a, b);
    }
    ret;
deepest:
    .loc 1 5 1
    st.global.u32 [%x+4096], 1;
    ret;
}

.visible .entry k(.param .u64 .ptr .global .align 4 x, .param .u32 n)
{
    .reg .b64 %x; .reg .b32 %n, %lane;
    ld.param.u64 %x, [x];
    ld.param.u32 %n, [n];
    mov.u32 %lane, %laneid;
    add.u32 %n, %n, %lane;
    {
        .param .b64 a; .param .b32 b;
        st.param.b64 [a], %x;
        st.param.b32 [b], %n;
        .loc 1 9 1
        .loc 1 8 1, function_name $L__info_string0, inlined_at 1 9 1
        call down, (a, b);
    }
    ret;
}
.file 1 "k.cu"
.section .debug_str
{
$L__info_string0:
.b8 102,0
}
"#;

/// The places of the calls that lead to the fault of a lane.
fn callers(text: &str, n: u32) -> (Vec<String>, String) {
    let mut x = [0u32; 4];
    let launch = Launch::grid(1).block(1);
    let result = parse(text).kernel("k").unwrap().launch_raw(
        &Host::new(),
        launch,
        &mut [(&mut x[..]).into(), ptx_dsl::Arg::value(n.to_le_bytes())],
    );
    let Err(ptx_dsl::Error::Fault(fault)) = result else { panic!("no fault") };
    let place = |at: &ptx_dsl::fault::At| at.origin.first().map_or("no place".into(), |place| place.line.to_string());
    (fault.callers.iter().map(place).collect(), fault.to_string())
}

#[test]
fn calls_of_a_function_by_itself() {
    let text = format!("{}{RECURSIVE}", crate::HEAD);
    for (n, wanted) in [(0, "8"), (1, "3 8"), (2, "3 4 8"), (5, "3 4 3 4 3 8"), (20, "3 4 3 4 3 4 3 4")] {
        assert_eq!(callers(&text, n).0.join(" "), wanted);
    }
    for (n, wanted) in [(7, "\n  = thread"), (8, "\n      and 1 more call\n"), (200, "\n      and 193 more calls\n")] {
        let report = callers(&text, n).1;
        let eight = report.split_once("called at").unwrap().1.matches("called at").count() == 7;
        assert!(eight && report.contains(wanted) && report.contains("more call") == (n > 7), "{n}: {report}");
    }
    let report = callers(&text, 1).1;
    let calls =
        "\n  --> k.cu:5:1\n      called at k.cu:3:1\n      called at k.cu:8:1\n      inlined at k.cu:9:1\n  = thread";
    assert!(report.contains(calls), "{report}");
    let without: Vec<&str> = text.lines().filter(|line| !line.contains(".loc") && !line.contains(".file")).collect();
    let calls: Vec<usize> =
        (1..).zip(&without).filter(|(_, line)| line.contains("call down")).map(|(n, _)| n).collect();
    let report = callers(&without.join("\n"), 2).1;
    let wanted = format!(
        "\n      called at k.ptx:{}\n      called at k.ptx:{}\n      called at k.ptx:{}\n  = thread",
        calls[0], calls[1], calls[2]
    );
    assert!(report.contains(&wanted), "{report}");
}

#[test]
fn a_function_begins_without_a_place() {
    let fault = fault(&Host::new(), "plain", 1);
    let (report, line) = (fault.to_string(), line("without .loc", 0));
    let places = format!("PTX line {line}: `st.global.u32 [%x+1024], 3;`\n  --> k.ptx:{line}\n  = thread");
    assert!(report.contains(&places), "{report}");
    assert_eq!(fault.at.unwrap().origin, []);
}

#[test]
fn races_have_two_places_and_name_the_variable() {
    let report = fault(&Host::checked(), "races", 64).to_string();
    let found: Vec<&str> = report.split("\n\n").filter(|part| part.contains("this load")).collect();
    let [report] = found[..] else { panic!("{report}") };
    // thread 0 loads what thread 32 has stored there
    let message =
        "data race: nothing orders this load of 4 bytes at byte 128 of `buf` (shared address 0x90) and a store";
    let own = format!("PTX line {}: `ld.shared.u32 %v, [%r];`\n  --> /home/me/k.cu:63\n", line("loads", 0));
    for part in [message, &own, "= the earlier store: `st.shared.u32 [%r], %t;` at PTX line", ", /home/me/k.cu:62:9\n"]
    {
        assert!(report.contains(part), "`{part}` is not in\n{report}");
    }
    assert!(!report.contains("k.ptx"), "{report}");
}

#[test]
fn an_earlier_access_is_inlined() {
    // the first store races with the load, if there is no other and no barrier
    let text = TEXT.replace("    bar.sync 1;\n", "").replace("32;\n    st.shared.u32 [%r], %t;\n", "32;\n");
    let report = report(&text, "races", &Host::checked(), Launch::grid(1).block(64));
    let earlier = format!(
        "\n  = the earlier store: `st.shared.u32 [%r], %t;` at PTX line {}, /home/me/helpers.h:5:3\n      \
         inlined at /home/me/k.cu:61:9\n  = by thread",
        line("stores", 0)
    );
    assert!(report.contains(&earlier), "{report}");
}

#[test]
fn what_threads_wait_for_has_the_line_of_the_file() {
    let fault = fault(&Host::new(), "waits", 32);
    let (report, line) = (fault.to_string(), line("waits", 0));
    let waiting = format!(
        "\n  = waiting: CTA (0, 0, 0), threads 0 to 31 at `mbarrier.try_wait.parity.shared.b64 %p, [bars+8], 0;` \
         (PTX line {line}, /home/me/k.cu:70:1): waits for mbarrier 0x8 (`bars` + 8 bytes) of CTA rank 0, parity 0"
    );
    assert!(report.contains(&waiting), "{report}");
    assert!(report.contains("\n  --> /home/me/helpers.h:8:3\n      inlined at /home/me/k.cu:70:1\n"), "{report}");
}

#[test]
fn timelines_have_the_places() {
    let host = Host::trace();
    let launch = Launch::grid(1).block(32);
    module().kernel("waits").unwrap().launch_raw(&host, launch, &mut [(&mut [0u32; 1][..]).into()]).unwrap_err();
    let timeline = host.timeline();
    let wait = timeline.slices.iter().find(|slice| slice.name.starts_with("mbarrier 0x8")).unwrap();
    let note = |name: &str| wait.notes.iter().find(|(n, _)| *n == name).map(|(_, text)| text.as_str());
    assert_eq!(note("PTX line"), Some(&line("waits", 0).to_string()[..]));
    assert_eq!(note("source"), Some("/home/me/helpers.h:8:3"));
    assert_eq!(note("inlined at"), Some("/home/me/k.cu:70:1"));
    assert!(timeline.tracks.iter().any(|track| track.name == "mbarrier 0x8 (`bars` + 8 bytes)"));
}

#[test]
fn the_step_limit_names_the_line_of_the_file() {
    let text = format!(
        "{}.visible .entry k(.param .u64 .ptr .global .align 4 x)\n{{\n.reg .pred %p; .reg .b32 %v; .reg .b64 %x;\n\n\n\
         .loc 1 5 1\nld.param.u64 %x, [x];\nagain:\n\n.loc 1 6 1\nld.relaxed.gpu.global.u32 %v, [%x];\n\
         setp.eq.u32 %p, %v, 0;\n@%p bra again;\ntrap;\n}}\n.file 1 \"k.cu\"\n",
        crate::HEAD
    );
    let line = text.lines().position(|line| line.starts_with("ld.relaxed")).unwrap() + 1;
    let report = report(&text, "k", &Host::new(), Launch::grid(1).step_limit(10_000));
    let place = format!("PTX line {line}: `ld.relaxed.gpu.global.u32 %v, [%x];`\n  --> k.cu:6:1\n");
    assert!(report.contains(&place), "{report}");
}

/// The first line of the report of 32 threads on the checked host.
#[track_caller]
fn message(variables: &str, body: &str) -> String {
    let text = format!(
        "{}.extern .shared .align 4 .b8 dynamic[];\n.extern .shared .align 4 .b8 other[];\n.global .align 4 .u32 counts[8];\n\
         .visible .entry k(.param .u64 .ptr .global .align 4 x)\n{{\n\
         .reg .b32 %t, %v, %r; .reg .b64 %x, %d; .shared .align 8 .b64 unused, bar;\n{variables}\n\
         ld.param.u64 %x, [x]; mov.u32 %t, %tid.x; mov.u64 %d, unused;\n{body}\nret;\n}}\n",
        crate::HEAD
    );
    let launch = Launch::grid(1).block(32).dynamic_shared(64);
    report(&text, "k", &Host::checked(), launch).lines().next().unwrap().to_owned()
}

#[test]
fn variables_and_elements_are_named() {
    let race = |place: &str| {
        format!("data race: nothing orders this store of 4 bytes at {place} and a store of another thread")
    };
    // static shared memory has 16 bytes
    let (dynamic, other) =
        (race("byte 8 of `dynamic` (shared address 0x18)"), race("byte 4 of `other` (shared address 0x14)"));
    assert_eq!(message("", "st.shared.u32 [dynamic+8], %t;"), dynamic);
    // both are at one place: the statement tells
    assert_eq!(message("", "st.shared.u32 [dynamic+60], 0; st.shared.u32 [other+4], %t;"), other);
    assert_eq!(message("", "st.global.u32 [counts+4], %t;"), race("byte 4 of `counts` (global address 0x10000000004)"));
    // the first buffer is in the segment after that of the module's variables
    assert_eq!(message("", "st.global.u32 [%x+12], %t;"), race("`x[3]` (global address 0x2000000000c)"));
    let local = message(
        ".local .align 4 .b8 first[16]; .local .align 4 .b8 second[16];",
        "st.local.u32 [first], 0; ld.local.u32 %v, [second+4]; st.global.u32 [%x], %v;",
    );
    assert_eq!(local, "read of byte 4 of `second` (local address 0x14), which nothing has written");
    assert_eq!(
        message("", "mov.u32 %r, bar; mbarrier.arrive.shared.b64 _, [%r];"),
        "`bar` (shared address 0x8) holds no mbarrier object: it was never initialised, or it was invalidated"
    );
    // of the second lane
    assert_eq!(
        message("", "mbarrier.init.shared.b64 [bar], 1;"),
        "`mbarrier.init` over a live mbarrier object, `bar` (shared address 0x8)"
    );
}

/// The statements of events, by number.
#[derive(Default)]
struct Sites(Arc<Mutex<Vec<(&'static str, u32)>>>);

impl Monitor for Sites {
    fn wants(&self) -> Wants {
        Wants { events: true, ..Wants::default() }
    }

    fn event(&mut self, _turns: u64, event: Event<'_>) {
        let (name, who): (_, Who) = match event {
            Event::Runs { who, .. } => ("runs", who),
            Event::Waits { who, .. } => ("waits", who),
            Event::Resumes { who, .. } => ("resumes", who),
            _ => return,
        };
        self.0.lock().unwrap().push((name, who.site));
    }
}

#[test]
fn events_without_a_statement_name_none() {
    let text = ".version 8.3 .target sm_90 .address_size 64 .visible .entry k() .reqntid 64 {
        .reg .b32 %i; .reg .pred %p; mov.u32 %i, %tid.x; setp.lt.u32 %p, %i, 32; @%p bar.sync 0; @!%p bar.sync 0; ret; }";
    let kernel = Module::parse(text).unwrap().kernel("k").unwrap().clone();
    let sites = Arc::new(Mutex::new(Vec::new()));
    let shared = sites.clone();
    let host = Host::monitored(move || Sites(shared.clone()));
    kernel.launch_raw(&host, Launch::grid(1), &mut []).unwrap();
    let sites = sites.lock().unwrap();
    for wanted in ["runs", "waits", "resumes"] {
        let mut sites = sites.iter().filter(|(name, _)| *name == wanted).map(|(_, site)| *site).peekable();
        assert!(sites.peek().is_some(), "{wanted}");
        assert!(sites.all(|site| (site == u32::MAX) == (wanted != "waits")), "{wanted}");
    }
}
