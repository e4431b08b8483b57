//! Asynchronous copies of a thread from global to shared memory: manual 9.7.9.25.3.

use super::*;
use crate::written;

/// The source size is not larger than the copy size.
fn sizes(i: &written::Written) -> Option<Violation> {
    let number = i.position("src-size")?;
    let (written::Operand::Imm(src), written::Operand::Imm(cp)) =
        (&i.operands[number].value, &i.operand("cp-size")?.value)
    else {
        return None;
    };
    (src > cp).then(|| {
        let text = format!("`src-size` is {src}, more than the {cp} bytes that are copied");
        Violation::of_operand(number, text).write_at_most(*cp)
    })
}

/// 4, 8 or 16 bytes.
fn copied(i: &written::Written) -> Option<Violation> {
    let number = i.position("cp-size")?;
    let written::Operand::Imm(size) = i.operands[number].value else { return None };
    let allowed = if i.has(q::cg) { size == 16 } else { matches!(size, 4 | 8 | 16) };
    (!allowed).then(|| {
        if i.has(q::cg) {
            let text = format!("`.cg` copies 16 bytes, not {size}");
            let remedy = Remedy::Replace(q::cg, vec![q::ca], ", or copy 16 bytes");
            return Violation::of_operand(number, text).remedy(remedy);
        }
        let text = format!("4, 8 or 16 bytes are copied, not {size}");
        Violation::of_operand(number, text).write(size.clamp(4, 16).next_power_of_two())
    })
}

const SIZE: Size = Size::Operand("cp-size");
/// The rest is filled with zeros.
const PARTLY: &[When] = &[operand("src-size"), operand("ignore-src")];

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    instr("cp.async").section("9.7.9.25.3.1").since(ptx(7, 0)).requires(sm(80))
        .syntax(
            "cp.async.cop.shared{::cta}.global{.level::cache_hint}{.level::prefetch_size} [dst], [src], cp-size{, src-size}{, cache-policy};
             cp.async.cop.shared{::cta}.global{.level::cache_hint}{.level::prefetch_size} [dst], [src], cp-size, ignore-src{, cache-policy};
             .cop = { .ca, .cg }
             .level::cache_hint = { .L2::cache_hint }
             .level::prefetch_size = { .L2::64B, .L2::128B, .L2::256B }",
        )
        .operands(&[
            addr("dst", writes(SIZE).own_cta().partial(PARTLY)),
            addr("src", reads(SIZE).qualifier(1).partial(PARTLY)),
            src("cp-size", ty(Ty::U32)).imm(),
            src("src-size", ty(Ty::U32)),
            src("ignore-src", ty(Ty::Pred)).reg(),
            src("cache-policy", ty(Ty::U64)),
        ])
        .gates(&[
            gate(&[has(q::L2_cache_hint)]).since(ptx(7, 4)),
            gate(&[any(&[q::L2_64B, q::L2_128B, q::L2_256B])]).since(ptx(7, 4)),
            gate(&[operand("ignore-src")]).since(ptx(7, 5)),
        ])
        .rules(&[Rule::Custom(copied), Rule::Custom(sizes)]).host(Host::Warp).group(Group::Copy(Step::Start)).asynchronous(MemoryOp::Copy, Proxy::Generic),
    instr("cp.async.commit_group").section("9.7.9.25.3.2").since(ptx(7, 0)).requires(sm(80))
        .syntax("cp.async.commit_group;").host(Host::Warp).group(Group::Copy(Step::Commit)),
    instr("cp.async.wait_group").section("9.7.9.25.3.3").since(ptx(7, 0)).requires(sm(80))
        .syntax("cp.async.wait_group N;")
        .operands(&[src("N", ty(Ty::U64)).imm()]).host(Host::Warp).group(Group::Copy(Step::Wait)),
    instr("cp.async.wait_all").section("9.7.9.25.3.3").since(ptx(7, 0)).requires(sm(80))
        .syntax("cp.async.wait_all;").host(Host::Warp).group(Group::Copy(Step::Wait)),
];
