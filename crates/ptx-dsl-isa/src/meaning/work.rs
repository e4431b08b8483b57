//! What an instruction computes, for profiles: its class, its floating-point operations, its product of matrices. The numbers are those of
//! one thread; a product of matrices is divided among the threads that execute the instruction together.

use crate::isa::Instr;
use crate::isa::class::InstrClass;
use crate::isa::effect::{Group, Step};
use crate::isa::fragment::shape;
use crate::isa::syntax::is_type;
use crate::opcode::entries;
use crate::qualifier::Qualifier;
use crate::ty::Ty;

/// The numbers that arithmetic is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Number {
    /// Integers, and bits.
    Integer,
    /// 16-bit floating point: `.f16`, `.bf16`, also packed.
    F16,
    /// `.f32`, also packed.
    F32,
    /// `.f64`
    F64,
}

impl Number {
    /// The kind of number of a type.
    pub fn of(ty: Ty) -> Number {
        match ty {
            Ty::F16 | Ty::Bf16 | Ty::F16x2 | Ty::Bf16x2 => Number::F16,
            Ty::F32 | Ty::F32x2 => Number::F32,
            Ty::F64 => Number::F64,
            _ => Number::Integer,
        }
    }
}

/// A product of matrices, as an instruction names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Product {
    /// Rows, columns and depth. The depth of a sparse product counts the zeros that are left out.
    pub shape: [u32; 3],
    /// The type of the elements of A: `f16`, `e4m3`.
    pub element: &'static str,
    /// Whether half of A, which is zero, is left out.
    pub sparse: bool,
    /// Multiplications and additions of each thread.
    pub operations: u32,
}

/// What an instruction computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// The class of the instruction.
    pub class: InstrClass,
    /// The numbers that arithmetic is about: the first type of the instruction.
    pub number: Number,
    /// Floating-point operations of a thread: both elements of packed types count.
    pub flops: u32,
    /// The product of matrices, unless a descriptor at run time gives its shape.
    pub product: Option<Product>,
}

impl Work {
    /// The work of an instruction of this opcode with these qualifiers, of which `types` are those that registers can have. `instr` is one of
    /// its entries.
    pub fn of(instr: &Instr, qualifiers: &[Qualifier], types: &[Ty]) -> Work {
        let first = types.first().copied();
        let number = first.map_or(Number::Integer, Number::of);
        let elements = if matches!(first, Some(Ty::F16x2 | Ty::Bf16x2 | Ty::F32x2)) { 2 } else { 1 };
        Work {
            class: instr.class_in_mix(),
            number,
            flops: if number == Number::Integer { 0 } else { flops(instr.opcode) * elements },
            product: instr.adds_products().then(|| product(instr, qualifiers, types)).flatten(),
        }
    }
}

/// The floating-point operations on each element: a fact of the entries of an opcode that are about such numbers. `add` has others too.
fn flops(opcode: &str) -> u32 {
    let first = opcode.split(['.', ':']).next().unwrap_or(opcode);
    let same = entries(first).into_iter().filter(|entry| entry.instr.opcode == opcode);
    same.map(|entry| u32::from(entry.instr.effects.flops)).max().unwrap_or(0)
}

fn product(instr: &Instr, qualifiers: &[Qualifier], types: &[Ty]) -> Option<Product> {
    let [m, n, k] = shape(qualifiers)?;
    let narrow = qualifiers.iter().find(|q| is_type(q.word()) && q.ty().is_none()).map(|q| q.word());
    // `wmma.mma` of `.f16` only names the types of the sums
    let wide = if let [_, a, _, ..] = types { a.name() } else { "f16" };
    let asynchronous = instr.effects.group == Group::Wgmma(Step::Start);
    // four products of quarters of the warp (9.7.14.5.1)
    let quarters = instr.opcode == "mma" && [m, n, k] == [8, 8, 4] && types.get(1) == Some(&Ty::F16);
    let operations = 2 * m * n * k * if quarters { 4 } else { 1 } / if asynchronous { 128 } else { 32 };
    let element = narrow.unwrap_or(wide).trim_start_matches('.');
    Some(Product { shape: [m, n, k], element, sparse: instr.opcode.ends_with(".sp"), operations })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qualifier::q;

    fn work(opcode: &str, family: &str, qualifiers: &[Qualifier], types: &[Ty]) -> Work {
        let first = opcode.split(['.', ':']).next().unwrap();
        let found = entries(first).into_iter().find(|entry| entry.instr.opcode == opcode && entry.family == family);
        Work::of(found.unwrap().instr, qualifiers, types)
    }

    #[test]
    fn flops_are_those_of_each_element() {
        let flops = |opcode, family, ty| work(opcode, family, &[], &[ty]).flops;
        assert_eq!(flops("add", "float", Ty::F32), 1);
        assert_eq!(flops("fma", "float", Ty::F64), 2);
        assert_eq!(flops("fma", "half", Ty::F16x2), 4);
        assert_eq!(flops("mul", "half", Ty::Bf16), 1);
        assert_eq!(flops("min", "float", Ty::F32), 0);
        // the image knows an opcode by its first entry
        assert_eq!(flops("add", "integer", Ty::F32), 1);
        assert_eq!(flops("add", "integer", Ty::S32), 0);
    }

    #[test]
    fn products_are_divided_among_their_threads() {
        let product = |opcode, family, shape, narrow: &[Qualifier], types: &[Ty]| {
            let qualifiers: Vec<Qualifier> = [shape].iter().chain(narrow).copied().collect();
            work(opcode, family, &qualifiers, types).product.map(|p| (p.shape, p.element, p.operations))
        };
        let f = [Ty::F32, Ty::F16, Ty::F16, Ty::F32];
        assert_eq!(product("mma", "mma", q::m16n8k16, &[], &f), Some(([16, 8, 16], "f16", 128)));
        assert_eq!(product("mma", "mma", q::m8n8k4, &[], &f), Some(([8, 8, 4], "f16", 64)));
        let narrow = [q::e4m3];
        assert_eq!(
            product("wgmma.mma_async", "wgmma", q::m64n256k32, &narrow, &[Ty::F32]),
            Some(([64, 256, 32], "e4m3", 8192))
        );
        assert_eq!(
            product("wmma.mma", "wmma", q::m16n16k16, &[], &[Ty::F32, Ty::F32]),
            Some(([16, 16, 16], "f16", 256))
        );
    }

    #[test]
    fn classes_are_those_of_the_entries() {
        let class = |opcode: &str, family| work(opcode, family, &[], &[]).class;
        for (opcode, family, expected) in [
            ("add", "integer", InstrClass::Arithmetic),
            ("setp", "compare", InstrClass::Arithmetic),
            ("xor", "logic", InstrClass::Arithmetic),
            ("popc", "integer", InstrClass::Arithmetic),
            ("cvt", "convert", InstrClass::Conversion),
            ("bra", "control", InstrClass::Control),
            ("ld", "ld_st", InstrClass::Memory),
            ("cp.async", "async_copy", InstrClass::Memory),
            ("ldmatrix", "ldmatrix", InstrClass::Memory),
            ("tcgen05.ld", "tcgen05", InstrClass::Memory),
            ("shfl.sync", "warp", InstrClass::Communication),
            ("bar.sync", "bar", InstrClass::Synchronisation),
            ("bar.warp.sync", "bar", InstrClass::Synchronisation),
            ("mbarrier.try_wait", "mbarrier", InstrClass::Synchronisation),
            ("fence", "fence", InstrClass::Synchronisation),
            ("mma", "mma", InstrClass::Matrix),
            ("wgmma.mma_async", "wgmma", InstrClass::Matrix),
            ("tcgen05.mma", "tcgen05", InstrClass::Matrix),
            ("mov", "movement", InstrClass::Other),
            ("setmaxnreg", "misc", InstrClass::Other),
        ] {
            assert_eq!(class(opcode, family), expected, "{opcode}");
        }
    }
}
