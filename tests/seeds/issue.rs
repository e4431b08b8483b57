//! The page on issue granularity (manual 9.7.16.5): who issues each `tcgen05` instruction. Every row of Table 46, in both values of
//! `.cta_group`, under conditions that leave a whole warp, one thread or a part of a warp.

use ptx_dsl_frontend::lex::lex;

/// Who has to issue it.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Grain {
    Thread,
    Warp,
    Each,
}
use Grain::{Each, Thread, Warp};

/// The rows of Table 46.
const TABLE: &[(Grain, &str)] = &[
    (Thread, "tcgen05.mma.cta_group::N.kind::tf32 [%t], %a, %b, %i, %p7;"),
    (Thread, "tcgen05.mma.sp.cta_group::N.kind::tf32 [%t], %a, %b, [%t+100], %i, %p7;"),
    (Thread, "tcgen05.mma.ws.cta_group::1.kind::tf32 [%t], %a, %b, %i, %p7;"),
    (Thread, "tcgen05.cp.cta_group::N.128x256b [%t], %a;"),
    (Thread, "tcgen05.shift.cta_group::N.down [%t];"),
    (Thread, "tcgen05.commit.cta_group::N.mbarrier::arrive::one.b64 [%m];"),
    (Warp, "tcgen05.alloc.cta_group::N.sync.aligned.shared::cta.b32 [%s], 32;"),
    (Warp, "tcgen05.dealloc.cta_group::N.sync.aligned.b32 %t, 32;"),
    (Warp, "tcgen05.relinquish_alloc_permit.cta_group::N.sync.aligned;"),
    (Warp, "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v}, [%t];"),
    (Warp, "tcgen05.st.sync.aligned.32x32b.x1.b32 [%t], {%v};"),
    (Warp, "tcgen05.wait::ld.sync.aligned;"),
    (Warp, "tcgen05.wait::st.sync.aligned;"),
    (Each, "tcgen05.fence::before_thread_sync;"),
    (Each, "tcgen05.fence::after_thread_sync;"),
];

/// Who is there: whole warps, one lane of a warp, or some lanes.
#[derive(Clone, Copy, PartialEq, Debug)]
enum There {
    Whole,
    One,
    Some,
}
use There::{One, Some, Whole};

/// Code around the instruction, which takes the place of `*`.
const CONDITIONS: &[(There, &str)] = &[
    (Whole, "*"),
    (Whole, "shr.u32 %x, %tid, 5; setp.ne.u32 %p, %x, 2; @%p bra E; * E:"),
    (Whole, "setp.ge.u32 %p, %tid, 32; @%p exit; *"),
    (Whole, "ld.param.u32 %x, [n]; setp.eq.u32 %p, %x, 0; @%p bra E; * E:"),
    (Whole, "mov.u32 %x, 0; L: * add.u32 %x, %x, 1; setp.lt.u32 %p, %x, 3; @%p bra L;"),
    (Whole, "call f, (%t, %a, %b, %i, %m, %s);"),
    (One, "setp.eq.u32 %p, %tid, 0; @%p *"),
    (One, "setp.ne.u32 %p, %tid, 37; @%p bra E; * E:"),
    (One, "elect.sync _|%p, -1; @%p *"),
    (One, "elect.sync _|%p, -1; @!%p bra E; * E:"),
    (One, "setp.ge.u32 %p, %tid, 32; @%p bra E; elect.sync _|%p, -1; @%p * E:"),
    (One, "mov.u32 %x, 0; L: elect.sync _|%p, -1; @%p * add.u32 %x, %x, 1; setp.lt.u32 %p, %x, 3; @%p bra L;"),
    (One, "elect.sync _|%p, -1; @%p call f, (%t, %a, %b, %i, %m, %s);"),
    (One, "and.b32 %x, %tid, 31; setp.eq.u32 %p, %x, 5; @%p *"),
    (Some, "setp.lt.u32 %p, %tid, 2; @%p *"),
    (Some, "and.b32 %x, %tid, 31; setp.ge.u32 %p, %x, 16; @%p bra E; * E:"),
    (Some, "setp.ge.u32 %p, %tid, 16; @%p exit; *"),
    (Some, "setp.lt.u32 %p, %tid, 20; @%p call f, (%t, %a, %b, %i, %m, %s);"),
];

fn module(instruction: &str, group: u32, around: &str) -> String {
    let instruction = instruction.replace("::N", &format!("::{group}"));
    let cluster = if group == 2 { ".reqnctapercluster 2" } else { "" };
    let own = ".reg .b32 %v; .reg .pred %p7; mov.u32 %v, 0; setp.eq.u32 %p7, %v, 0;";
    let body = around.replace('*', &instruction).replace("%tid,", "%y,");
    format!(
        ".version 8.8\n.target sm_100a\n.address_size 64\n
        .func f(.reg .b32 %t, .reg .b64 %a, .reg .b64 %b, .reg .b32 %i, .reg .b64 %m, .reg .b32 %s)
        {{ {own} {instruction} ret; }}
        .visible .entry k(.param .u64 any, .param .u32 n) .reqntid 128 {cluster}
        {{
            {own}
            .reg .pred %p; .reg .b32 %x, %y, %t, %i, %s; .reg .b64 %a, %b, %m;
            ld.param.u64 %a, [any]; ld.param.u64 %b, [any]; ld.param.u64 %m, [any];
            ld.param.u32 %t, [n]; ld.param.u32 %i, [n]; ld.param.u32 %s, [n]; mov.u32 %y, %tid.x;
            {body}
            ret;
        }}"
    )
}

/// Is there a finding of PTX0601 or PTX0602, which are about the issuing threads?
fn found(text: &str) -> Vec<u16> {
    let (lexed, broken) = lex(text);
    let found = ptx_dsl_frontend::compile(&lexed.tokens).diagnostics;
    let all: Vec<_> = broken.iter().chain(&found).collect();
    let others: Vec<_> = all.iter().filter(|d| d.code.number < 600).collect();
    assert!(others.is_empty(), "{others:#?}\n{text}");
    let mut codes: Vec<u16> = all.iter().map(|d| d.code.number).filter(|code| matches!(code, 601 | 602)).collect();
    codes.dedup();
    codes
}

#[test]
fn who_issues_each_instruction() {
    let mut wrong = Vec::new();
    for (grain, instruction) in TABLE {
        for (there, around) in CONDITIONS {
            for group in [1, 2] {
                let expected: &[u16] = match (grain, there) {
                    (Thread, Whole | Some) => &[602],
                    (Warp, One | Some) => &[601],
                    _ => &[],
                };
                let codes = found(&module(instruction, group, around));
                if codes != expected {
                    wrong.push(format!(
                        "group {group}, {there:?}: `{instruction}` in `{around}`: {codes:?}, expected {expected:?}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
