//! Rings of mbarriers with several stages, in the styles of CUTLASS, Triton, CCCL and ThunderKittens: PTX0642, PTX0663, PTX0696.

use super::super::case;
use super::module;

/// What a ring is made of: 128 threads read, and a fifth warp copies. Marks for findings stand behind what they are about.
#[derive(Clone, Copy)]
struct Ring {
    /// The counts of the barriers that are full, and of those that are empty.
    counts: (&'static str, &'static str),
    /// Who of the fifth warp copies.
    elect: &'static str,
    /// The producer's first parity, and marks at its wait and at its arrival.
    producer: (&'static str, &'static str, &'static str),
    /// The copy's mark.
    copy: &'static str,
    /// The consumers' first parity, a mark at their wait, and their arrival.
    consumer: (&'static str, &'static str, &'static str),
    /// The next stage and parity: of `%r3` and `%r4`.
    next: &'static str,
}

const RIGHT: Ring = Ring {
    counts: ("1", "128"),
    elect: "elect.sync _|%p6, -1; @!%p6 bra DONE;",
    producer: ("1", "", ""),
    copy: "",
    consumer: ("0", "", "mbarrier.arrive.shared::cta.b64 _, [%r7];"),
    next: "add.u32 %r3, %r3, 1; setp.eq.u32 %p4, %r3, 4; @%p4 mov.u32 %r3, 0; @%p4 xor.b32 %r4, %r4, 1;",
};

impl Ring {
    fn text(&self) -> String {
        let Ring { counts: (full, empty), elect, producer, copy, consumer, next } = self;
        module(&format!(
            "# .reqntid 160
             .shared .align 8 .b64 full[4]; .shared .align 8 .b64 empty[4]; .shared .align 128 .b8 tiles[4096];\n--
             mov.u32 %r1, %tid.x;
             mov.u32 %r11, full; mov.u32 %r12, empty; mov.u32 %r13, tiles;
             ld.param.u64 %d1, [a]; ld.param.u32 %r20, [n];
             setp.ne.u32 %p1, %r1, 0;
             @%p1 bra READY;
             mov.u32 %r30, 0;
             INIT:
             shl.b32 %r31, %r30, 3; add.u32 %r32, %r11, %r31; add.u32 %r33, %r12, %r31;
             mbarrier.init.shared::cta.b64 [%r32], {full};
             mbarrier.init.shared::cta.b64 [%r33], {empty};
             add.u32 %r30, %r30, 1; setp.lt.u32 %p9, %r30, 4;
             @%p9 bra INIT;
             fence.mbarrier_init.release.cluster;
             READY:
             bar.sync 0;
             mov.u32 %r2, 0; mov.u32 %r3, 0;
             setp.lt.u32 %p2, %r1, 128;
             @%p2 bra CONSUMER;
             {elect}
             mov.u32 %r4, {first};
             P:
             shl.b32 %r5, %r3, 3; add.u32 %r6, %r12, %r5; add.u32 %r7, %r11, %r5;
             shl.b32 %r8, %r3, 10; add.u32 %r9, %r13, %r8;
             PW: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r6], %r4; {wait}
             @!%p3 bra PW;
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r7], 1024; {arrive}
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%d1], 1024, [%r7]; {copy}
             {next}
             add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, %r20;
             @%p5 bra P;
             bra DONE;
             CONSUMER:
             mov.u32 %r4, {reads};
             C:
             shl.b32 %r5, %r3, 3; add.u32 %r6, %r11, %r5; add.u32 %r7, %r12, %r5;
             CW: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r6], %r4; {mark}
             @!%p3 bra CW;
             shl.b32 %r8, %r3, 10; add.u32 %r9, %r13, %r8; ld.shared.u32 %r21, [%r9];
             {release}
             {next}
             add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, %r20;
             @%p5 bra C;
             DONE:",
            first = producer.0,
            wait = producer.1,
            arrive = producer.2,
            reads = consumer.0,
            mark = consumer.1,
            release = consumer.2,
        ))
    }
}

#[track_caller]
fn ring(of: Ring) {
    case(&of.text());
}

#[test]
fn right_rings() {
    ring(RIGHT);
    // One lane of each warp arrives, an elected one or the first.
    let by_warps = Ring { counts: ("1", "4"), ..RIGHT };
    let first = "and.b32 %r34, %r1, 31; setp.eq.u32 %p7, %r34, 0; @%p7 mbarrier.arrive.shared::cta.b64 _, [%r7];";
    ring(Ring { consumer: ("0", "", first), ..by_warps });
    let elected = "bar.warp.sync -1; elect.sync _|%p7, -1; @%p7 mbarrier.arrive.shared::cta.b64 _, [%r7];";
    ring(Ring { consumer: ("0", "", elected), ..by_warps });
    // One thread for all.
    let one = "bar.sync 1, 128; setp.eq.u32 %p7, %r1, 0; @%p7 mbarrier.arrive.shared::cta.b64 _, [%r7];";
    ring(Ring { counts: ("1", "1"), consumer: ("0", "", one), ..RIGHT });
    // The thread of a number.
    ring(Ring { elect: "setp.ne.u32 %p6, %r1, 128; @%p6 bra DONE;", ..RIGHT });
    // By selection, as compilers write it.
    let selected = "add.u32 %r35, %r3, 1; setp.eq.u32 %p4, %r35, 4; selp.b32 %r3, 0, %r35, %p4; \
                    selp.u32 %r36, 1, 0, %p4; xor.b32 %r4, %r4, %r36;";
    ring(Ring { next: selected, ..RIGHT });
    // A branch.
    let branch =
        "add.u32 %r3, %r3, 1; setp.ne.u32 %p4, %r3, 4; { @%p4 bra SAME; mov.u32 %r3, 0; xor.b32 %r4, %r4, 1; SAME: }";
    ring(Ring { next: branch, ..RIGHT });
    // A power of two: the stage is the lower bits, the parity the next one.
    let shifted = "add.u32 %r37, %r2, 1; and.b32 %r3, %r37, 3; setp.eq.u32 %p4, %r3, 0; selp.u32 %r36, 1, 0, %p4; xor.b32 %r4, %r4, %r36;";
    ring(Ring { next: shifted, ..RIGHT });
}

#[test]
fn counts_of_a_ring() {
    // One lane arrives where a warp should, and the other way round.
    ring(Ring { counts: ("32", "128"), consumer: ("0", "// error: PTX0642", RIGHT.consumer.2), ..RIGHT });
    ring(Ring { counts: ("1", "256"), producer: ("1", "// warning: PTX0642", ""), ..RIGHT });
    let first = "and.b32 %r34, %r1, 31; setp.eq.u32 %p7, %r34, 0; @%p7 mbarrier.arrive.shared::cta.b64 _, [%r7];";
    ring(Ring { producer: ("1", "// warning: PTX0642", ""), consumer: ("0", "", first), ..RIGHT });
    let elected = "elect.sync _|%p7, -1; @%p7 mbarrier.arrive.shared::cta.b64 _, [%r7];";
    ring(Ring { producer: ("1", "// warning: PTX0642", ""), consumer: ("0", "", elected), ..RIGHT });
    let all = "mbarrier.arrive.shared::cta.b64 _, [%r7]; // warning: PTX0663";
    ring(Ring { counts: ("1", "4"), consumer: ("0", "", all), ..RIGHT });
    ring(Ring { counts: ("1", "1"), consumer: ("0", "", all), ..RIGHT });
}

#[test]
fn every_lane_copies() {
    // A warp of which nobody elects a lane.
    ring(Ring { elect: "", producer: ("1", "", "// warning: PTX0663"), copy: "// warning: PTX0691", ..RIGHT });
    ring(Ring { counts: ("32", "128"), elect: "", copy: "// warning: PTX0691", ..RIGHT });
}

#[test]
fn parities_of_a_ring() {
    // The consumers begin with the producer's parity.
    ring(Ring { consumer: ("1", "// error: PTX0696", RIGHT.consumer.2), ..RIGHT });
    // The producer begins with the consumers'.
    ring(Ring { producer: ("0", "// error: PTX0696", ""), ..RIGHT });
    // The parity changes with each stage.
    let each = "add.u32 %r3, %r3, 1; setp.eq.u32 %p4, %r3, 4; @%p4 mov.u32 %r3, 0; xor.b32 %r4, %r4, 1;";
    ring(Ring {
        next: each,
        producer: ("1", "// error: PTX0696", ""),
        consumer: ("0", "// error: PTX0696", RIGHT.consumer.2),
        ..RIGHT
    });
    // It changes a stage too early.
    let early = "add.u32 %r3, %r3, 1; setp.eq.u32 %p8, %r3, 3; @%p8 xor.b32 %r4, %r4, 1; setp.eq.u32 %p4, %r3, 4; @%p4 mov.u32 %r3, 0;";
    ring(Ring {
        next: early,
        producer: ("1", "// warning: PTX0696", ""),
        consumer: ("0", "// warning: PTX0696", RIGHT.consumer.2),
        ..RIGHT
    });
}

/// A kernel of the pieces that all styles have in common: 128 threads read, a lane of a fifth warp copies.
fn styled(init: &str, producer: &str, consumer: &str) -> String {
    module(&format!(
        "# .reqntid 160
         .shared .align 8 .b64 full[4]; .shared .align 8 .b64 empty[4]; .shared .align 128 .b8 tiles[4096];\n--
         mov.u32 %r1, %tid.x;
         mov.u32 %r11, full; mov.u32 %r12, empty; mov.u32 %r13, tiles;
         ld.param.u64 %d1, [a]; ld.param.u32 %r20, [n];
         setp.ne.u32 %p1, %r1, 0;
         @%p1 bra READY;
         {init}
         fence.mbarrier_init.release.cluster;
         READY:
         bar.sync 0;
         setp.lt.u32 %p2, %r1, 128;
         @%p2 bra CONSUMER;
         elect.sync _|%p6, -1; @!%p6 bra DONE;
         {producer}
         bra DONE;
         CONSUMER:
         and.b32 %r40, %r1, 31; setp.eq.u32 %p7, %r40, 0;
         {consumer}
         DONE:"
    ))
    .replace("%r<40>", "%r<60>")
}

/// One `init` after the other, in the order of the stages.
const ONE_BY_ONE: &str = "mbarrier.init.shared::cta.b64 [full], 1; mbarrier.init.shared::cta.b64 [empty], 4;
    mbarrier.init.shared::cta.b64 [full+8], 1; mbarrier.init.shared::cta.b64 [empty+8], 4;
    mbarrier.init.shared::cta.b64 [full+16], 1; mbarrier.init.shared::cta.b64 [empty+16], 4;
    mbarrier.init.shared::cta.b64 [full+24], 1; mbarrier.init.shared::cta.b64 [empty+24], 4;";

const COPY: &str = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r7], 1024;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%d1], 1024, [%r7];";

/// CUTLASS: a look at the next stage first, and a wait only if that was too early; at the end the producer waits for all stages.
fn with_tokens(producer: &str, consumer: &str, mark: &str) -> String {
    let next = "add.u32 %r3, %r3, 1; setp.eq.u32 %p4, %r3, 4; selp.b32 %r3, 0, %r3, %p4; selp.b32 %r41, 1, 0, %p4; xor.b32 %r4, %r4, %r41;";
    styled(
        ONE_BY_ONE,
        &format!(
            "mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, {producer};
             shl.b32 %r5, %r3, 3; add.u32 %r6, %r12, %r5;
             mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r6], %r4;
             P:
             shl.b32 %r5, %r3, 3; add.u32 %r6, %r12, %r5; add.u32 %r7, %r11, %r5;
             shl.b32 %r8, %r3, 10; add.u32 %r9, %r13, %r8;
             @%p8 bra FREE;
             PW: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r6], %r4;
             @!%p3 bra PW;
             FREE:
             {COPY}
             {next}
             shl.b32 %r5, %r3, 3; add.u32 %r6, %r12, %r5;
             mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r6], %r4;
             add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, %r20;
             @%p5 bra P;
             mov.u32 %r2, 0;
             T:
             shl.b32 %r5, %r3, 3; add.u32 %r6, %r12, %r5;
             TW: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r6], %r4;
             @!%p3 bra TW;
             {next}
             add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, 4;
             @%p5 bra T;"
        ),
        &format!(
            "mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, {consumer};
             mbarrier.try_wait.parity.shared::cta.b64 %p8, [full], %r4;
             C:
             shl.b32 %r5, %r3, 3; add.u32 %r6, %r11, %r5; add.u32 %r7, %r12, %r5;
             @%p8 bra HERE;
             CW: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r6], %r4; {mark}
             @!%p3 bra CW;
             HERE:
             shl.b32 %r8, %r3, 10; add.u32 %r9, %r13, %r8; ld.shared.u32 %r21, [%r9];
             bar.warp.sync -1;
             @%p7 mbarrier.arrive.shared::cta.b64 _, [%r7];
             {next}
             shl.b32 %r5, %r3, 3; add.u32 %r6, %r11, %r5;
             mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r6], %r4;
             add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, %r20;
             @%p5 bra C;"
        ),
    )
}

/// ThunderKittens: a bit for the parity of each stage.
fn with_bits(producer: &str, consumer: &str, mark: &str) -> String {
    let next =
        "mov.u32 %r41, 1; shl.b32 %r41, %r41, %r3; xor.b32 %r4, %r4, %r41; add.u32 %r3, %r3, 1; and.b32 %r3, %r3, 3;";
    styled(
        ONE_BY_ONE,
        &format!(
            "mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, {producer};
             P:
             shl.b32 %r5, %r3, 3; add.u32 %r6, %r12, %r5; add.u32 %r7, %r11, %r5;
             shl.b32 %r8, %r3, 10; add.u32 %r9, %r13, %r8;
             shr.u32 %r42, %r4, %r3; and.b32 %r42, %r42, 1;
             PW: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r6], %r42;
             @!%p3 bra PW;
             {COPY}
             {next}
             add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, %r20;
             @%p5 bra P;"
        ),
        &format!(
            "mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, {consumer};
             C:
             shl.b32 %r5, %r3, 3; add.u32 %r6, %r11, %r5; add.u32 %r7, %r12, %r5;
             shr.u32 %r42, %r4, %r3; and.b32 %r42, %r42, 1;
             CW: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r6], %r42; {mark}
             @!%p3 bra CW;
             shl.b32 %r8, %r3, 10; add.u32 %r9, %r13, %r8; ld.shared.u32 %r21, [%r9];
             bar.warp.sync -1;
             @%p7 mbarrier.arrive.shared::cta.b64 _, [%r7];
             {next}
             add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, %r20;
             @%p5 bra C;"
        ),
    )
}

/// DeepGEMM: the stages one after the other in the loop, and the number of the loop's round for the parity. `{}` is how the
/// consumers come to theirs.
fn unrolled(consumer: &str, mark: &str) -> String {
    let stage = |s: u32, wait: &str, on: &str, parity: &str, then: &str, mark: &str| {
        format!(
            "{wait}{s}: mbarrier.try_wait.parity.shared::cta.b64 %p3, [{on}+{}], {parity}; {mark}
             @!%p3 bra {wait}{s};
             {}",
            8 * s,
            then.replace("[%r7]", &format!("[full+{}]", 8 * s)).replace("[%r9]", &format!("[tiles+{}]", 1024 * s))
        )
    };
    let (mut fill, mut read) = (String::new(), String::new());
    for s in 0..4 {
        fill += &stage(s, "PW", "empty", "%r4", COPY, "");
        let then = format!("@%p7 mbarrier.arrive.shared::cta.b64 _, [empty+{}];", 8 * s);
        read += &stage(s, "CW", "full", "%r5", &then, if s == 0 { mark } else { "" });
    }
    styled(
        ONE_BY_ONE,
        &format!(
            "mov.u32 %r2, 0;
             P:
             not.b32 %r4, %r2; and.b32 %r4, %r4, 1;
             {fill}
             add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, %r20;
             @%p5 bra P;"
        ),
        &format!(
            "mov.u32 %r2, 0;
             C:
             {consumer} and.b32 %r5, %r5, 1;
             {read}
             add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, %r20;
             @%p5 bra C;"
        ),
    )
}

#[test]
fn rings_in_several_styles() {
    case(&with_tokens("1", "0", ""));
    case(&with_bits("0xf", "0", ""));
    case(&unrolled("mov.u32 %r5, %r2;", ""));
    // The readers begin with the parity of who fills.
    case(&with_bits("0xf", "0xf", "// error: PTX0696"));
    case(&unrolled("not.b32 %r5, %r2;", "// error: PTX0696"));
    case(&with_tokens("1", "1", "// error: PTX0696"));
    // Who fills begins with that of the readers: nobody goes on.
    let stuck = with_bits("0", "0", "").replacen("[%r6], %r42;", "[%r6], %r42; // error: PTX0696", 1);
    case(&stuck);
}

/// One stage, and all threads wait.
#[test]
fn a_ring_of_one() {
    let kernel = |count: u32, parity: u32, mark: &str| {
        case(&module(&format!(
            "mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 0;
             ld.param.u64 %d1, [a]; ld.param.u32 %r20, [n];
             @%p1 mbarrier.init.shared::cta.b64 [bar], {count};
             bar.sync 0;
             mov.u32 %r2, 0; mov.u32 %r3, {parity};
             L:
             @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
             @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 1024, [bar];
             W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], %r3; {mark}
             @!%p2 bra W;
             ld.shared.u32 %r5, [sh];
             xor.b32 %r3, %r3, 1;
             fence.proxy.async.shared::cta;
             bar.sync 0;
             add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, %r20; @%p3 bra L;"
        )));
    };
    kernel(1, 0, "");
    kernel(1, 1, "// error: PTX0696");
    kernel(2, 0, "// error: PTX0642");
}

/// What is too much to work out is given up, not tried in all orders.
#[test]
fn a_condition_of_many_values() {
    let doubled = "add.u32 %r5, %r5, %r5; ".repeat(600);
    case(&module(&format!(
        "# .reqntid 1
         mbarrier.init.shared::cta.b64 [bars], 1; mbarrier.init.shared::cta.b64 [bars+8], 1;
         ld.param.u32 %r5, [n]; mov.u32 %r1, bars; mov.u32 %r2, 0; mov.u32 %r3, 0;
         L:
         {doubled}
         setp.eq.u32 %p1, %r5, 7;
         @%p1 bra S;
         mbarrier.arrive.shared::cta.b64 _, [%r1];
         W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], %r3;
         @!%p2 bra W;
         S:
         xor.b32 %r3, %r3, 1;
         add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 9; @%p3 bra L;"
    )));
}
