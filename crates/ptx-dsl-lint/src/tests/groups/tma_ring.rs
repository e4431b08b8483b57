//! A ring of four stages: the elected lane of warp 0 loads tiles with TMA, warps 1 to 3 read them. Each test takes one thing away
//! or changes it.

use super::super::case;

const RING: &str = include_str!("tma_ring.ptx");

/// The ring with these edits; what stands behind `//` in them are the findings.
#[track_caller]
fn ring(edits: &[(&str, &str)]) {
    let mut text = RING.to_string();
    for (old, new) in edits {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    case(&text);
}

const FULL_WAIT: &str = "mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r20], %r18;";
const EMPTY_WAIT: &str = "mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r10], %r8;";
const COPY: &str =
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r13], [%rd1, {%r14, 0}], [%r11];";
const EXPECT: &str = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r11], 4096;";
const RELEASE: &str = "mbarrier.arrive.shared::cta.b64 _, [%r24];";

fn with(statement: &str, finding: &str) -> String {
    format!("{statement} // {finding}")
}

#[test]
fn as_it_should_be() {
    ring(&[]);
    let one_lane = format!("and.b32 %r25, %r1, 31;\nsetp.eq.u32 %p11, %r25, 0;\nbar.warp.sync -1;\n@%p11 {RELEASE}");
    ring(&[("], 96;", "], 3;"), (RELEASE, &one_lane)]);
    // Two stages of the four.
    ring(&[("%r7, 4;", "%r7, 2;"), ("%r17, 4;", "%r17, 2;")]);
    // Both phases of an object have a meaning: each wait has a parity that stays.
    let one_thread = format!("bar.sync 1, 96;\nsetp.eq.u32 %p11, %r1, 32;\n@%p11 {RELEASE}");
    ring(&[
        ("mov.u32 %r24, empty;", "mov.u32 %r24, full;"),
        (RELEASE, &one_thread),
        ("mov.u32 %r10, empty;", "mov.u32 %r10, full;"),
        ("@%p6 xor.b32 %r8, %r8, 1;", ""),
        ("@%p9 xor.b32 %r18, %r18, 1;", ""),
    ]);
}

#[test]
fn counts() {
    let (full, empty) = (with(FULL_WAIT, "error: PTX0642"), with(EMPTY_WAIT, "warning: PTX0642"));
    ring(&[("], 96;", "], 3;"), (RELEASE, &with(RELEASE, "warning: PTX0663"))]);
    ring(&[("], 96;", "], 128;"), (EMPTY_WAIT, &empty)]);
    ring(&[("], 1;", "], 2;"), (FULL_WAIT, &full)]);
    ring(&[(RELEASE, ""), (EMPTY_WAIT, &empty)]);
    let one_lane = format!("and.b32 %r25, %r1, 31;\nsetp.eq.u32 %p11, %r25, 0;\n@%p11 {RELEASE}");
    ring(&[(RELEASE, &one_lane), (EMPTY_WAIT, &empty)]);
}

#[test]
fn parities() {
    let (full, empty) = (with(FULL_WAIT, "error: PTX0696"), with(EMPTY_WAIT, "error: PTX0696"));
    ring(&[("mov.u32 %r8, 1;", "mov.u32 %r8, 0;"), (EMPTY_WAIT, &empty)]);
    ring(&[("mov.u32 %r18, 0;", "mov.u32 %r18, 1;"), (FULL_WAIT, &full)]);
    ring(&[("@%p9 xor", "xor"), (FULL_WAIT, &full)]);
    // They stay.
    let (full, empty) = (with(FULL_WAIT, "warning: PTX0696"), with(EMPTY_WAIT, "warning: PTX0696"));
    ring(&[("@%p6 xor.b32 %r8, %r8, 1;", ""), (EMPTY_WAIT, &empty)]);
    ring(&[("@%p9 xor.b32 %r18, %r18, 1;", ""), (FULL_WAIT, &full)]);
}

#[test]
fn who_copies() {
    let elected = "elect.sync _|%p3, 0xffffffff;\n@!%p3 bra DONE;";
    let (copy, expect) = (with(COPY, "warning: PTX0691"), with(EXPECT, "warning: PTX0663"));
    ring(&[(elected, ""), (COPY, &copy), (EXPECT, &expect)]);
    ring(&[(EXPECT, "mbarrier.arrive.shared::cta.b64 _, [%r11];"), (COPY, &with(COPY, "error: PTX0693"))]);
}

#[test]
fn initialised_before_others_use_it() {
    let (full, empty) = (with(FULL_WAIT, "error: PTX0616"), with(RELEASE, "error: PTX0616"));
    // The producer is in the warp of the thread that initialises.
    ring(&[("bar.sync 0;", ""), (FULL_WAIT, &full), (RELEASE, &empty)]);
    ring(&[("bar.sync 0;", "bar.warp.sync -1;")]);
}

#[test]
fn objects() {
    // Nobody waits.
    ring(&[(FULL_WAIT, ""), ("@!%p8 bra CWAIT;", ""), (COPY, &with(COPY, "error: PTX0647"))]);
    // A fifth stage.
    let (full, empty) = (with(FULL_WAIT, "warning: PTX0633"), with(RELEASE, "warning: PTX0633"));
    ring(&[("setp.eq.u32 %p9, %r17, 4;", "setp.eq.u32 %p9, %r17, 5;"), (FULL_WAIT, &full), (RELEASE, &empty)]);
}
