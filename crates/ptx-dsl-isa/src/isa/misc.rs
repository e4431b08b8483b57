//! Other instructions: stack manipulation (manual 9.7.17), miscellaneous (9.7.19), `griddepcontrol` (9.7.13.13).

use super::*;
use crate::written;

/// Targets of `setmaxnreg`: the notes of 9.7.19.5.
const SETMAXNREG: Targets = Targets::Only(&[
    ("sm_90a", Ptx(8, 0)),
    ("sm_100a", Ptx(8, 6)),
    ("sm_101a", Ptx(8, 6)),
    ("sm_110a", Ptx(9, 0)),
    ("sm_120a", Ptx(8, 7)),
    ("sm_100f", Ptx(8, 8)),
    ("sm_101f", Ptx(8, 8)),
    ("sm_110f", Ptx(9, 0)),
    ("sm_120f", Ptx(8, 8)),
]);

const REGISTERS: &[Rule] =
    &[Rule::Multiple(Multiple { operand: "imm-reg-count", of: 8, what: "the register count", unit: "8" })];

/// Bytes of local memory that a thread of the host has for `alloca`. The first 16 hold how many are in use.
pub const STACK: u32 = 1 << 16;

/// The largest alignment.
const ALIGNMENT: u64 = 1 << 23;

/// The alignment is a power of two, and not too large.
fn alignment(i: &written::Written) -> Option<Violation> {
    let n = i.position("immAlign")?;
    let written::Operand::Imm(align) = i.operands[n].value else { return None };
    let wanted = if align > ALIGNMENT { "at most 2^23" } else { "a power of two" };
    (align > ALIGNMENT || !align.is_power_of_two()).then(|| {
        let write = align.clamp(1, ALIGNMENT).next_power_of_two();
        Violation::of_operand(n, format!("the alignment is {align}, but must be {wanted}")).write(write)
    })
}

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("griddepcontrol").class(InstrClass::Synchronisation).section("9.7.13.13").since(ptx(7, 8)).requires(sm(90))
        .syntax(
            "griddepcontrol.action;
             .action = { .launch_dependents, .wait }",
        )
        .host(Host::Warp),
    instr("stacksave").class(InstrClass::Other).section("9.7.17.1").since(ptx(7, 3)).requires(sm(52))
        .syntax("stacksave.type d;
             .type = { .u32, .u64 }")
        .operands(&[dst("d", T)])
        .host(Host::Warp).stack(),
    instr("stackrestore").class(InstrClass::Other).section("9.7.17.2").since(ptx(7, 3)).requires(sm(52))
        .syntax("stackrestore.type a;
             .type = { .u32, .u64 }")
        .operands(&[src("a", T).reg()])
        .host(Host::Warp).stack(),
    instr("alloca").class(InstrClass::Other).section("9.7.17.3").since(ptx(7, 3)).requires(sm(52))
        .syntax("alloca.type ptr, size{, immAlign};
             .type = { .u32, .u64 }")
        .operands(&[dst("ptr", T), src("size", T), src("immAlign", ty(Ty::U32)).imm()])
        .rules(&[Rule::Custom(alignment)])
        .host(Host::Warp).stack(),
    instr("brkpt").class(InstrClass::Other).section("9.7.19.1").requires(sm(11)).syntax("brkpt;").host(Host::Warp),
    // The manual says 6.3, ptxas 6.2.
    instr("nanosleep").class(InstrClass::Other).section("9.7.19.2").since(ptx(6, 2)).requires(sm(70))
        .syntax("nanosleep.u32 t;")
        .operands(&[src("t", ty(Ty::U32))])
        .host(Host::Block),
    instr("pmevent").class(InstrClass::Other).section("9.7.19.3").since(ptx(1, 4))
        .syntax("pmevent a;")
        .operands(&[src("a", ty(Ty::U32)).imm().range(0, 15)])
        .host(Host::Warp),
    instr("pmevent").class(InstrClass::Other).section("9.7.19.3").since(ptx(3, 0)).requires(sm(20))
        .syntax("pmevent.mask a;")
        .operands(&[src("a", ty(Ty::U32)).imm().range(0, 0xffff)])
        .host(Host::Warp),
    instr("trap").section("9.7.19.4").syntax("trap;").host(Host::Warp).control(Control::Trap),
    instr("setmaxnreg").class(InstrClass::Other).section("9.7.19.5").since(ptx(8, 0)).requires(SETMAXNREG)
        .first(&["inc", "dec"])
        .syntax(
            "setmaxnreg.action.sync.aligned.u32 imm-reg-count;
             .action = { .inc, .dec }",
        )
        .operands(&[src("imm-reg-count", ty(Ty::U32)).imm().range(24, 256)])
        .rules(REGISTERS)
        .host(Host::Block).issue(Issue::FullWarp), // Block: `.inc` waits until enough registers are free
];
