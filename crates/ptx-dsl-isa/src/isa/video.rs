//! Video: manual 9.7.18. A selector names bytes or half-words of a register; the entries say which ones an operand accepts.

use super::*;
use crate::written;

/// Is this selector allowed on this operand? The scalar instructions (9.7.18.1) select one byte or half-word of `a`, `b` and, if
/// the result is merged into `c`, of `d`; the others (9.7.18.2) a lane of each source and a mask of lanes of `d`.
pub fn selects(opcode: &str, operand: &str, selector: &str) -> bool {
    let (kind, lanes) = selector.split_at_checked(1).unwrap_or(("", ""));
    let (half, byte) = (kind == "h", kind == "b");
    if !opcode.starts_with('v') || operand == "c" {
        return false;
    }
    match (opcode.as_bytes().last(), operand) {
        (Some(b'2'), "d") => half && matches!(lanes, "0" | "1" | "10"),
        (Some(b'2'), _) => half && lanes.len() == 2 && up_to(lanes, b'3'),
        (Some(b'4'), "d") => byte && (1..=4).contains(&lanes.len()) && up_to(lanes, b'3') && falls(lanes),
        (Some(b'4'), _) => byte && lanes.len() == 4 && up_to(lanes, b'7'),
        (_, "d") if opcode == "vmad" => false,
        _ => lanes.len() == 1 && (half && up_to(lanes, b'1') || byte && up_to(lanes, b'3')),
    }
}

/// Are the lanes numbers from 0 to this one?
fn up_to(lanes: &str, last: u8) -> bool {
    lanes.as_bytes().iter().all(|lane| !(*lane < b'0' || *lane > last))
}

/// Is each lane lower than the previous one?
fn falls(lanes: &str) -> bool {
    let mut lanes = lanes.as_bytes();
    while let [a, rest @ ..] = lanes {
        if let [b, ..] = rest
            && a <= b
        {
            return false;
        }
        lanes = rest;
    }
    true
}

/// Can the operand be negated? Those of `vmad` can.
pub fn negates(opcode: &str) -> bool {
    opcode == "vmad"
}

/// A selector: which bytes or half-words. Without lanes it selects all, as an operand without one does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Selector {
    /// Bytes, not half-words.
    pub bytes: bool,
    lanes: [u8; 4],
    count: u8,
}

impl Selector {
    /// From the text of an operand, `h10`.
    pub fn of(text: &str) -> Selector {
        let (kind, digits) = text.split_at_checked(1).unwrap_or_default();
        let mut selector = Selector { bytes: kind == "b", ..Selector::default() };
        for (to, digit) in selector.lanes.iter_mut().zip(digits.bytes()) {
            *to = digit & 7;
            selector.count += 1;
        }
        selector
    }

    /// The selected lanes, as written: the one for the highest lane of the result first.
    pub fn lanes(&self) -> &[u8] {
        self.lanes.get(..usize::from(self.count)).unwrap_or_default()
    }

    /// Bits of [`Selector::number`].
    const BITS: u32 = 16;

    fn number(self) -> u64 {
        let lanes = self.lanes.iter().fold(0, |n, lane| n << 3 | u64::from(*lane));
        lanes << 4 | u64::from(self.bytes) << 3 | u64::from(self.count)
    }

    fn from_number(n: u64) -> Selector {
        let lane = |i: u32| (n >> (13 - 3 * i) & 7) as u8;
        Selector { bytes: n >> 3 & 1 != 0, lanes: [0, 1, 2, 3].map(lane), count: (n & 7).min(4) as u8 }
    }
}

/// What the operands of a video instruction have besides registers and constants. Its semantics get this as their last operand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// Of the destination.
    pub d: Selector,
    /// Of the first source.
    pub a: Selector,
    /// Of the second source.
    pub b: Selector,
    /// The product is negated.
    pub minus_product: bool,
    /// `c` is negated.
    pub minus_c: bool,
}

impl Modifiers {
    /// As one number.
    pub fn number(self) -> u64 {
        let selectors = [self.d, self.a, self.b].iter().fold(0, |n, s| n << Selector::BITS | s.number());
        selectors << 2 | u64::from(self.minus_product) << 1 | u64::from(self.minus_c)
    }

    /// The number of [`Modifiers::number`].
    pub fn from_number(n: u64) -> Modifiers {
        let selector = |i: u32| Selector::from_number(n >> (2 + i * Selector::BITS));
        Modifiers { d: selector(2), a: selector(1), b: selector(0), minus_product: n & 2 != 0, minus_c: n & 1 != 0 }
    }
}

/// `d.h0` merges the result into `c`: it requires `c` and excludes a second operation.
fn merge(i: &written::Written) -> Option<Violation> {
    let selected = i.operands.first().is_some_and(|d| matches!(d.value, written::Operand::Select(..)));
    if !selected {
        return None;
    }
    if i.first_of(&[q::add, q::min, q::max]).is_some() {
        return Some(Violation::of_operand(
            0,
            "a selector of the destination and a second operation exclude each other",
        ));
    }
    let merged = i.operand("c").is_some();
    let text = "a selector of the destination needs the operand `c`, whose other bits it keeps";
    (!merged).then(|| Violation::of_operand(0, text))
}

/// The product or `c` can be negated, neither with `.po`, which adds the one that a negation needs too.
fn negations(i: &written::Written) -> Option<Violation> {
    let negated = |a: &written::Arg| matches!(a.value, written::Operand::Neg(_));
    let first = i.operands.iter().position(negated)?;
    if i.has(q::po) {
        return Some(Violation::of_operand(first, "`.po` and a negated operand exclude each other"));
    }
    let last = i.operands.len() - 1;
    let both = first != last && i.operands.get(last).is_some_and(negated);
    both.then(|| Violation::of_operand(last, "the product and `c` cannot both be negated"))
}

const D: OperandSpec = dst("d", slot(".dtype"));
const A: OperandSpec = src("a", slot(".atype"));
const B: OperandSpec = src("b", slot(".btype"));
const C: OperandSpec = src("c", slot(".dtype"));
const OPERANDS: &[OperandSpec] = &[D, A, B, C];
/// The result of a comparison, and its addend, have no written type.
const COMPARED: &[OperandSpec] = &[dst("d", ty(Ty::U32)), A, B, src("c", ty(Ty::U32))];
const LANES_COMPARED: &[OperandSpec] = &[dst("d", ty(Ty::U32)), A.reg(), B.reg(), src("c", ty(Ty::U32)).reg()];
/// The instructions of 9.7.18.2 only take registers.
const LANES: &[OperandSpec] = &[D, A.reg(), B.reg(), C.reg()];

macro_rules! scalar {
    ($op:literal) => {
        instr($op)
            .section("9.7.18.1.1")
            .since(ptx(2, 0))
            .requires(sm(20))
            .syntax(concat!(
                $op,
                ".dtype.atype.btype{.sat} d, a, b{, c};\n",
                $op,
                ".dtype.atype.btype{.sat}.op2 d, a, b, c;
                 .dtype = { .u32, .s32 }
                 .atype = { .u32, .s32 }
                 .btype = { .u32, .s32 }
                 .op2 = { .add, .min, .max }"
            ))
            .operands(OPERANDS)
            .rules(&[Rule::Custom(merge)])
            .host(Host::Lane)
            .selectors()
    };
}
macro_rules! shift {
    ($op:literal) => {
        instr($op)
            .section("9.7.18.1.2")
            .since(ptx(2, 0))
            .requires(sm(20))
            .syntax(concat!(
                $op,
                ".dtype.atype.u32{.sat}.mode d, a, b{, c};\n",
                $op,
                ".dtype.atype.u32{.sat}.mode.op2 d, a, b, c;
                 .dtype = { .u32, .s32 }
                 .atype = { .u32, .s32 }
                 .mode = { .clamp, .wrap }
                 .op2 = { .add, .min, .max }"
            ))
            .operands(OPERANDS)
            .rules(&[Rule::Custom(merge)])
            .host(Host::Lane)
            .selectors()
    };
}
macro_rules! lanes {
    ($op:literal, $section:literal) => {
        instr($op)
            .section($section)
            .since(ptx(3, 0))
            .requires(sm(30))
            .syntax(concat!(
                $op,
                ".dtype.atype.btype{.sat} d, a, b, c;\n",
                $op,
                ".dtype.atype.btype.add d, a, b, c;
                 .dtype = { .u32, .s32 }
                 .atype = { .u32, .s32 }
                 .btype = { .u32, .s32 }"
            ))
            .operands(LANES)
            .host(Host::Lane)
            .selectors()
    };
}
macro_rules! compare {
    ($op:literal, $section:literal) => {
        instr($op)
            .section($section)
            .since(ptx(3, 0))
            .requires(sm(30))
            .syntax(concat!(
                $op,
                ".atype.btype.cmp{.add} d, a, b, c;
                 .atype = { .u32, .s32 }
                 .btype = { .u32, .s32 }
                 .cmp = { .eq, .ne, .lt, .le, .gt, .ge }"
            ))
            .operands(LANES_COMPARED)
            .host(Host::Lane)
            .selectors()
    };
}

/// The family.
#[rustfmt::skip]
pub const LIST: &[Instr] = &[
    scalar!("vadd"),
    scalar!("vsub"),
    scalar!("vabsdiff"),
    scalar!("vmin"),
    scalar!("vmax"),
    shift!("vshl"),
    shift!("vshr"),
    instr("vmad").section("9.7.18.1.3").since(ptx(2, 0)).requires(sm(20))
        .syntax(
            "vmad.dtype.atype.btype{.po}{.sat}{.scale} d, a, b, c;
             .dtype = { .u32, .s32 }
             .atype = { .u32, .s32 }
             .btype = { .u32, .s32 }
             .scale = { .shr7, .shr15 }",
        )
        .operands(OPERANDS)
        .rules(&[Rule::Custom(negations)])
        .host(Host::Lane).selectors(),
    instr("vset").section("9.7.18.1.4").since(ptx(2, 0)).requires(sm(20))
        .syntax(
            "vset.atype.btype.cmp d, a, b{, c};
             vset.atype.btype.cmp.op2 d, a, b, c;
             .atype = { .u32, .s32 }
             .btype = { .u32, .s32 }
             .cmp = { .eq, .ne, .lt, .le, .gt, .ge }
             .op2 = { .add, .min, .max }",
        )
        .operands(COMPARED)
        .rules(&[Rule::Custom(merge)])
        .host(Host::Lane).selectors(),
    lanes!("vadd2", "9.7.18.2.1"),
    lanes!("vsub2", "9.7.18.2.1"),
    lanes!("vavrg2", "9.7.18.2.1"),
    lanes!("vabsdiff2", "9.7.18.2.1"),
    lanes!("vmin2", "9.7.18.2.1"),
    lanes!("vmax2", "9.7.18.2.1"),
    compare!("vset2", "9.7.18.2.2"),
    lanes!("vadd4", "9.7.18.2.3"),
    lanes!("vsub4", "9.7.18.2.3"),
    lanes!("vavrg4", "9.7.18.2.3"),
    lanes!("vabsdiff4", "9.7.18.2.3"),
    lanes!("vmin4", "9.7.18.2.3"),
    lanes!("vmax4", "9.7.18.2.3"),
    compare!("vset4", "9.7.18.2.4"),
];

#[cfg(test)]
mod tests {
    use super::{Modifiers, Selector, selects};

    #[test]
    fn modifiers_are_numbers() {
        for (d, a, b) in [("", "h1", "b3"), ("b3210", "b7654", "b0000"), ("h10", "h33", ""), ("b0", "", "")] {
            for (minus_product, minus_c) in [(false, false), (true, false), (false, true)] {
                let [d, a, b] = [d, a, b].map(Selector::of);
                let modifiers = Modifiers { d, a, b, minus_product, minus_c };
                assert_eq!(Modifiers::from_number(modifiers.number()), modifiers);
            }
        }
        assert_eq!(Selector::of("b310").lanes(), [3, 1, 0]);
    }

    #[test]
    fn selectors_as_the_manual_lists_them() {
        for (opcode, operand, good, bad) in [
            ("vadd", "a", &["b0", "b3", "h1"][..], &["b4", "h2", "h10", "b10"][..]),
            ("vadd", "d", &["h0"], &["h10"]),
            ("vadd", "c", &[], &["h0"]),
            ("vmad", "d", &[], &["h0"]),
            ("vadd2", "a", &["h10", "h33", "h01"], &["h0", "b10", "h40"]),
            ("vadd2", "d", &["h0", "h10"], &["h01", "b0"]),
            ("vset4", "b", &["b7654", "b0000"], &["b765", "b8000", "h10"]),
            ("vset4", "d", &["b0", "b310", "b3210"], &["b01", "b4", "b33"]),
        ] {
            for s in good {
                assert!(selects(opcode, operand, s), "{opcode} {operand}.{s}");
            }
            for s in bad {
                assert!(!selects(opcode, operand, s), "{opcode} {operand}.{s}");
            }
        }
    }
}
