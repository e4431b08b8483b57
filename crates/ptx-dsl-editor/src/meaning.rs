//! What qualifiers, directives and special registers mean, in a sentence each.

use ptx_dsl_frontend::ty::{Class, Ty};
use std::borrow::Cow;

/// What a qualifier (without its dot) means at an opcode, if it is known here.
pub(crate) fn meaning(opcode: &str, word: &str) -> Option<Cow<'static, str>> {
    let special = SPECIAL.iter().find(|(of, w, _)| *w == word && begins(opcode, of)).map(|(_, _, text)| *text);
    let plain = || GENERAL.iter().find(|(w, _)| *w == word).map(|(_, text)| *text);
    special.or_else(plain).map(Cow::Borrowed).or_else(|| shape(word).or_else(|| of_type(word)).map(Cow::Owned))
}

/// What a directive (with its dot) means.
pub(crate) fn directive_meaning(name: &str) -> Option<&'static str> {
    DIRECTIVES.iter().find(|(d, _)| *d == name).map(|(_, text)| *text)
}

/// What a special register holds.
pub(crate) fn register_meaning(name: &str) -> Option<&'static str> {
    let base = name.split_once('.').map_or(name, |(base, _)| base);
    REGISTERS.iter().find(|(r, _)| *r == base).map(|(_, text)| *text)
}

fn begins(opcode: &str, of: &str) -> bool {
    opcode.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// `m64n128k16`, `x4`
fn shape(word: &str) -> Option<String> {
    let number = |text: &str| text.parse::<u32>().ok();
    if let Some(count) = word.strip_prefix('x').and_then(number) {
        return Some(format!("{count} of what the shape says."));
    }
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    match rest.split_once('k') {
        Some((n, k)) => Some(format!(
            "The shape of the product: A has {m} rows and {k} columns, B {k} rows and {n} columns, D {m} rows and {n} columns.",
            m = number(m)?,
            n = number(n)?,
            k = number(k)?
        )),
        None => Some(format!("A matrix of {} rows and {} columns.", number(m)?, number(rest)?)),
    }
}

/// A type that registers can have.
fn of_type(word: &str) -> Option<String> {
    let ty = Ty::from_name(word)?;
    let bits = ty.bits();
    let (element, count) = match word.split_once('x') {
        Some((element, count)) => (Ty::from_name(element)?, count.parse::<u32>().ok()?),
        None => (ty, 1),
    };
    let one = match element.class() {
        Class::Bits => format!("{} bits without a type", element.bits()),
        Class::Unsigned => format!("an unsigned integer of {} bits", element.bits()),
        Class::Signed => format!("a signed integer of {} bits", element.bits()),
        _ => match element {
            Ty::Bf16 => "a float of 8 exponent and 7 fraction bits".to_owned(),
            Ty::Tf32 => "a float of 8 exponent and 10 fraction bits, in 32 bits".to_owned(),
            Ty::F16 | Ty::F32 | Ty::F64 => format!("an IEEE float of {} bits", element.bits()),
            Ty::Pred => "a predicate".to_owned(),
            _ => return None,
        },
    };
    Some(match count {
        1 => format!("The type: {one}."),
        n => format!("The type: {n} values in {bits} bits, each {one}."),
    })
}

/// Meanings at opcodes that begin so.
#[rustfmt::skip]
const SPECIAL: &[(&str, &str, &str)] = &[
    ("mul", "wide", "The result is twice as wide as the operands."),
    ("mad", "wide", "The product and `c` are twice as wide as `a` and `b`."),
    ("mul", "hi", "The upper half of the product."),
    ("mad", "hi", "The upper half of the product is added."),
    ("mul", "lo", "The lower half of the product."),
    ("mad", "lo", "The lower half of the product is added."),
    ("setp", "lo", "Less, of unsigned integers."),
    ("setp", "hi", "Greater, of unsigned integers."),
    ("setp", "ls", "Less or equal, of unsigned integers."),
    ("setp", "hs", "Greater or equal, of unsigned integers."),
    ("setp", "and", "The result of the comparison and `c`."),
    ("setp", "or", "The result of the comparison or `c`."),
    ("setp", "xor", "The exclusive or of the result of the comparison and `c`."),
    ("set", "and", "The result of the comparison and `c`."),
    ("set", "or", "The result of the comparison or `c`."),
    ("set", "xor", "The exclusive or of the result of the comparison and `c`."),
    ("shfl", "up", "Lane i reads lane i - b."),
    ("shfl", "down", "Lane i reads lane i + b."),
    ("shfl", "bfly", "Lane i reads lane i xor b."),
    ("shfl", "idx", "Lane i reads lane b."),
    ("vote", "all", "True if the predicate is true in all lanes of the mask."),
    ("vote", "any", "True if the predicate is true in some lane of the mask."),
    ("vote", "uni", "True if the predicate is the same in all lanes of the mask."),
    ("vote", "ballot", "A bit for each lane: its predicate."),
    ("match", "any", "The lanes of the mask that have the same value."),
    ("match", "all", "The mask if all its lanes have the same value, else 0."),
    ("bar", "aligned", "All threads of the warp execute this instruction."),
    ("barrier", "aligned", "All threads of the warp execute this instruction."),
    ("barrier.cluster", "aligned", "All threads of the warp execute this instruction."),
    ("bar", "sync", "Arrives, and waits until the expected threads have arrived."),
    ("bar", "arrive", "Arrives and goes on."),
    ("bra", "uni", "All active threads of the warp take the same way."),
    ("call", "uni", "All active threads of the warp call the same function."),
    ("ret", "uni", "All active threads of the warp return here."),
    ("ldmatrix", "trans", "Each matrix is transposed while it is loaded."),
    ("stmatrix", "trans", "Each matrix is transposed while it is stored."),
    ("ldmatrix", "x1", "One matrix; lanes 0 to 7 give the addresses of its rows."),
    ("ldmatrix", "x2", "Two matrices; lanes 0 to 15 give the addresses of their rows."),
    ("ldmatrix", "x4", "Four matrices; all lanes give the addresses of their rows."),
    ("mbarrier", "parity", "The phase to wait for is given by its parity, 0 or 1."),
    ("mbarrier", "noComplete", "The arrival must not complete the phase."),
    ("mbarrier.arrive", "expect_tx", "Before the arrival the phase expects `txCount` more bytes."),
    ("mbarrier.arrive_drop", "expect_tx", "Before the arrival the phase expects `txCount` more bytes."),
    ("cp.async.mbarrier.arrive", "noinc", "The arrival counts as one that the barrier was initialised for."),
    ("cp.async.bulk.wait_group", "read", "Waits until the sources have been read; the writes may still be under way."),
    ("cp.async", "ca", "The copy goes through all caches, L1 too."),
    ("cp.async", "cg", "The copy goes through L2 and not through L1."),
    ("wgmma.mma_async", "sp", "A is sparse."),
    ("atom", "add", "Adds `b`."),
    ("atom", "cas", "Stores `c` if the value is `b`."),
    ("atom", "exch", "Stores `b`."),
    ("atom", "inc", "Adds 1, or stores 0 if the value is `b` or more."),
    ("atom", "dec", "Subtracts 1, or stores `b` if the value is 0 or more than `b`."),
    ("atom", "min", "Stores the lesser one."),
    ("atom", "max", "Stores the greater one."),
    ("red", "inc", "Adds 1, or stores 0 if the value is `b` or more."),
    ("red", "dec", "Subtracts 1, or stores `b` if the value is 0 or more than `b`."),
    ("prmt", "f4e", "Extracts four bytes forward from the position."),
    ("prmt", "b4e", "Extracts four bytes backward from the position."),
    ("prmt", "rc8", "Repeats one byte four times."),
    ("prmt", "rc16", "Repeats one half twice."),
    ("prmt", "ecl", "Clamps on the left edge."),
    ("prmt", "ecr", "Clamps on the right edge."),
    ("shf", "l", "Shifts to the left."),
    ("shf", "r", "Shifts to the right."),
    ("shf", "wrap", "The amount is taken modulo 32."),
    ("shf", "clamp", "An amount above 32 is 32."),
    ("bfind", "shiftamt", "The result is the amount that shifts the found bit to the top."),
    ("szext", "wrap", "The position is taken modulo 32."),
    ("szext", "clamp", "A position above 32 is 32."),
    ("add", "cc", "The carry-out goes to the condition code."),
    ("sub", "cc", "The borrow-out goes to the condition code."),
    ("addc", "cc", "The carry-out goes to the condition code."),
    ("subc", "cc", "The borrow-out goes to the condition code."),
    ("mad", "cc", "The carry-out goes to the condition code."),
    ("madc", "cc", "The carry-out goes to the condition code."),
    ("tcgen05", "ws", "A and B are held as for weight-stationary products."),
    ("elect", "sync", "The lanes of the mask execute it together."),
];

/// Meanings wherever the word stands.
#[rustfmt::skip]
const GENERAL: &[(&str, &str)] = &[
    // arithmetic
    ("rn", "Rounds to the nearest, ties to even."),
    ("rna", "Rounds to the nearest, ties away from zero."),
    ("rz", "Rounds towards zero."),
    ("rm", "Rounds towards minus infinity."),
    ("rp", "Rounds towards plus infinity."),
    ("rs", "Rounds stochastically with random bits of an operand."),
    ("rni", "Rounds to the nearest integer, ties to even."),
    ("rzi", "Rounds to an integer towards zero."),
    ("rmi", "Rounds to an integer towards minus infinity."),
    ("rpi", "Rounds to an integer towards plus infinity."),
    ("ftz", "Subnormal operands and results become zeros of their sign."),
    ("sat", "The result is clamped: floats to 0.0 to 1.0, integers to their range."),
    ("satfinite", "A result outside of the range becomes the greatest finite value of its sign."),
    ("relu", "A negative result becomes 0."),
    ("approx", "A fast approximation; the manual bounds its error."),
    ("full", "A fast approximation over the full range; the manual bounds its error."),
    ("NaN", "The result is NaN if an operand is NaN."),
    ("nan", "True if an operand is NaN."),
    ("num", "True if no operand is NaN."),
    ("xorsign", "The sign of the result is the exclusive or of the signs of the operands."),
    ("abs", "The absolute values are taken."),
    ("hi", "The upper half."),
    ("lo", "The lower half."),
    ("wide", "The result is twice as wide as the operands."),
    ("eq", "Equal."),
    ("ne", "Not equal."),
    ("lt", "Less."),
    ("le", "Less or equal."),
    ("gt", "Greater."),
    ("ge", "Greater or equal."),
    ("equ", "Equal, or an operand is NaN."),
    ("neu", "Not equal, or an operand is NaN."),
    ("ltu", "Less, or an operand is NaN."),
    ("leu", "Less or equal, or an operand is NaN."),
    ("gtu", "Greater, or an operand is NaN."),
    ("geu", "Greater or equal, or an operand is NaN."),
    ("and", "Bitwise and."),
    ("or", "Bitwise or."),
    ("xor", "Bitwise exclusive or."),
    ("add", "The sum."),
    ("min", "The lesser one."),
    ("max", "The greater one."),
    ("popc", "The number of bits that are set."),
    // memory consistency
    ("relaxed", "A strong access that orders nothing else (PTX ISA 8)."),
    ("acquire", "What the released value was written after is visible after it (PTX ISA 8)."),
    ("release", "What precedes it is visible to those who acquire what it writes (PTX ISA 8)."),
    ("acq_rel", "Acquires and releases (PTX ISA 8)."),
    ("sc", "Acquires and releases, and all `.sc` fences have one order (PTX ISA 8)."),
    ("weak", "A plain access: no other thread may access the bytes without synchronisation."),
    ("volatile", "A relaxed access with the scope of the system, which is not merged with others or left out."),
    ("mmio", "An access to memory of a device: exactly as often as it is written, whole."),
    ("cta", "The scope: the threads of the CTA."),
    ("cluster", "The scope: the threads of the cluster."),
    ("gpu", "The scope: the threads of the GPU."),
    ("sys", "The scope: all threads of the system, of the CPU and of other GPUs too."),
    ("async", "The async proxy, in which bulk copies and matrix instructions access memory."),
    ("alias", "The same memory at another virtual address."),
    ("proxy", "Orders accesses of different proxies."),
    // state spaces
    ("global", "Global memory: all threads of the device see it."),
    ("shared", "Shared memory of the CTA."),
    ("shared::cta", "Shared memory of the executing CTA."),
    ("shared::cluster", "Shared memory of any CTA of the cluster."),
    ("local", "Memory of the thread alone."),
    ("const", "Constant memory, which is only read."),
    ("param", "The parameters."),
    ("param::entry", "The parameters of the kernel."),
    ("param::func", "The parameters of the function."),
    // caches
    ("ca", "Cached at all levels, likely to be accessed again."),
    ("cg", "Cached in L2 and not in L1."),
    ("cs", "Cached for streaming, likely to be accessed once."),
    ("lu", "The last use of the line."),
    ("cv", "Not cached: fetched again each time."),
    ("wb", "Written back at all levels."),
    ("wt", "Written through L2 to memory of the system."),
    ("nc", "Through the read-only cache: nothing may write the bytes while the kernel runs."),
    ("L1::evict_first", "The line is among the first to leave L1."),
    ("L1::evict_last", "The line is among the last to leave L1."),
    ("L1::evict_normal", "The line leaves L1 in the usual order."),
    ("L1::evict_unchanged", "The order in which lines leave L1 does not change."),
    ("L1::no_allocate", "No line of L1 is taken."),
    ("L2::evict_first", "The line is among the first to leave L2."),
    ("L2::evict_last", "The line is among the last to leave L2."),
    ("L2::evict_normal", "The line leaves L2 in the usual order."),
    ("L2::cache_hint", "An operand has a policy of `createpolicy` for L2."),
    ("L2::64B", "64 bytes around the address are fetched to L2; a hint."),
    ("L2::128B", "128 bytes around the address are fetched to L2; a hint."),
    ("L2::256B", "256 bytes around the address are fetched to L2; a hint."),
    // vectors and matrices
    ("v2", "A vector of 2 values."),
    ("v4", "A vector of 4 values."),
    ("v8", "A vector of 8 values."),
    ("row", "The matrix is stored row by row."),
    ("col", "The matrix is stored column by column."),
    ("trans", "The matrix is transposed."),
    ("sync", "The threads execute it together: they wait for each other."),
    ("aligned", "All threads of the warp execute this instruction."),
    // asynchronous copies
    ("mbarrier::complete_tx::bytes", "The mbarrier is told the number of bytes when they have arrived."),
    ("mbarrier::arrive::one", "When the operations before it are done, the mbarrier gets one arrival."),
    ("bulk_group", "The copy belongs to the bulk group of the thread, which `commit_group` closes."),
    ("commit_group", "Closes the group of the copies before it."),
    ("multicast::cluster", "The data goes to the same place in each CTA of a mask."),
    ("cp_mask", "A mask says which bytes of 16 are copied."),
    ("tile", "The tensor is copied as a box."),
    ("tile::gather4", "Four rows of the tensor are gathered."),
    ("tile::scatter4", "Four rows are scattered to the tensor."),
    ("im2col", "The box is that of a convolution: columns of pixels."),
    ("im2col::w", "The box is that of a convolution, along W."),
    ("1d", "The tensor has one dimension."),
    ("2d", "The tensor has two dimensions."),
    ("3d", "The tensor has three dimensions."),
    ("4d", "The tensor has four dimensions."),
    ("5d", "The tensor has five dimensions."),
    // Tensor Memory
    ("cta_group::1", "One CTA executes it."),
    ("cta_group::2", "A pair of CTAs executes it together."),
    ("kind::f16", "A and B are `.f16` or `.bf16`."),
    ("kind::tf32", "A and B are `.tf32`."),
    ("kind::f8f6f4", "A and B are floats of 8, 6 or 4 bits."),
    ("kind::i8", "A and B are integers of 8 bits."),
    ("kind::mxf8f6f4", "A and B are floats of 8, 6 or 4 bits with scales."),
    ("kind::mxf4", "A and B are floats of 4 bits with scales for 32 elements."),
    ("kind::mxf4nvf4", "A and B are floats of 4 bits with scales for 16 or 32 elements."),
    ("block_scale", "Blocks of elements have scales."),
    ("ashift", "The rows of A are shifted by one in Tensor Memory."),
    ("32x32b", "32 lanes of Tensor Memory, 32 bits of each."),
    ("16x64b", "16 lanes of Tensor Memory, 64 bits of each."),
    ("16x128b", "16 lanes of Tensor Memory, 128 bits of each."),
    ("16x256b", "16 lanes of Tensor Memory, 256 bits of each."),
    ("16x32bx2", "Two times 16 lanes of Tensor Memory, 32 bits of each."),
    ("pack::16b", "Two columns of 16 bits become one register."),
    ("unpack::16b", "One register becomes two columns of 16 bits."),
    ("warpx4", "All four warps of the warpgroup get the data."),
    ("::before_thread_sync", "Orders the `tcgen05` operations before it before a synchronisation of threads after it."),
    ("::after_thread_sync", "Orders the `tcgen05` operations after it after a synchronisation of threads before it."),
    ("::ld", "Waits for the `tcgen05.ld` of the thread."),
    ("::st", "Waits for the `tcgen05.st` of the thread."),
    // others
    ("to", "Converts to this state space; without it, from it to a generic address."),
];

#[rustfmt::skip]
const DIRECTIVES: &[(&str, &str)] = &[
    (".version", "The version of PTX that the module needs."),
    (".target", "The architecture that the module is for, and options."),
    (".address_size", "The bits of an address, 32 or 64."),
    (".entry", "Begins a kernel, which the host launches."),
    (".func", "Begins a function, which `call` calls."),
    (".alias", "Gives a function a second name."),
    (".branchtargets", "Lists the labels that a `brx.idx` may go to."),
    (".calltargets", "Lists the functions that an indirect `call` may call."),
    (".callprototype", "The parameters of the function that an indirect `call` calls."),
    (".maxnreg", "The most registers that each thread may have."),
    (".maxntid", "The most threads that a CTA has."),
    (".reqntid", "The threads that a CTA has, exactly."),
    (".minnctapersm", "The fewest CTAs that are to fit on a multiprocessor together."),
    (".maxnctapersm", "The old name of `.minnctapersm`."),
    (".noreturn", "The function does not return."),
    (".pragma", "Tells the assembler something, in a string."),
    (".section", "A section of the debug information."),
    (".file", "A source file, for the lines of `.loc`."),
    (".loc", "The line of the source of what follows."),
    (".extern", "Defined in another module."),
    (".visible", "Other modules and the host see it."),
    (".weak", "Other modules see it; one of several with this name is taken."),
    (".common", "Other modules see it; the largest of several with this name is taken."),
    (".reqnctapercluster", "The CTAs that a cluster has, exactly."),
    (".explicitcluster", "The kernel is launched with clusters."),
    (".maxclusterrank", "The most CTAs that a cluster has."),
    (".blocksareclusters", "The grid of a launch counts clusters."),
    (".attribute", "An attribute of a variable, such as `.managed`."),
    (".ptr", "The parameter is a pointer, to a space and with an alignment."),
    (".reg", "Declares registers. Each thread has its own."),
    (".const", "Declares a variable in constant memory."),
    (".global", "Declares a variable in global memory."),
    (".local", "Declares a variable that each thread has for itself."),
    (".param", "Declares a parameter, or a variable that passes one."),
    (".shared", "Declares a variable in the shared memory of the CTA."),
    (".align", "The alignment in bytes."),
];

#[rustfmt::skip]
const REGISTERS: &[(&str, &str)] = &[
    ("%tid", "The index of the thread in its CTA"),
    ("%ntid", "The number of threads of the CTA"),
    ("%laneid", "The lane of the thread in its warp, 0 to 31"),
    ("%warpid", "The warp of the thread in its CTA; it may change"),
    ("%nwarpid", "The greatest number of warps"),
    ("%ctaid", "The index of the CTA in the grid"),
    ("%nctaid", "The number of CTAs of the grid"),
    ("%smid", "The multiprocessor that runs the thread; it may change"),
    ("%nsmid", "The greatest number of multiprocessors"),
    ("%gridid", "The number of the launch"),
    ("%is_explicit_cluster", "Whether the launch has clusters"),
    ("%clusterid", "The index of the cluster in the grid"),
    ("%nclusterid", "The number of clusters of the grid"),
    ("%cluster_ctaid", "The index of the CTA in its cluster"),
    ("%cluster_nctaid", "The number of CTAs of the cluster"),
    ("%cluster_ctarank", "The rank of the CTA in its cluster"),
    ("%cluster_nctarank", "The number of CTAs of the cluster"),
    ("%lanemask_eq", "The bit of the own lane"),
    ("%lanemask_le", "The bits of the own lane and of those below"),
    ("%lanemask_lt", "The bits of the lanes below the own one"),
    ("%lanemask_ge", "The bits of the own lane and of those above"),
    ("%lanemask_gt", "The bits of the lanes above the own one"),
    ("%clock", "A counter of cycles, the lower 32 bits"),
    ("%clock_hi", "A counter of cycles, the upper 32 bits"),
    ("%clock64", "A counter of cycles"),
    ("%globaltimer", "A timer in nanoseconds"),
    ("%globaltimer_lo", "A timer in nanoseconds, the lower 32 bits"),
    ("%globaltimer_hi", "A timer in nanoseconds, the upper 32 bits"),
    ("%total_smem_size", "The bytes of shared memory of the CTA"),
    ("%aggr_smem_size", "The bytes of shared memory of the CTA, with those that the system reserves"),
    ("%dynamic_smem_size", "The bytes of shared memory that the launch gave"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_dsl_frontend::isa::directive;
    use ptx_dsl_frontend::isa::sreg::SREGS;
    use ptx_dsl_frontend::qualifier::Qualifier;
    use ptx_dsl_frontend::table::FAMILIES;

    #[test]
    fn all_words_exist() {
        for (word, _) in GENERAL {
            assert!(Qualifier::from_word(word).is_some(), "`{word}`");
        }
        let opcodes = || FAMILIES.iter().flat_map(|(_, list)| list.iter()).map(|i| i.opcode);
        for (opcode, word, _) in SPECIAL {
            assert!(opcodes().any(|o| begins(o, opcode)), "`{opcode}`");
            let of_opcode = opcodes().any(|o| o.split('.').any(|piece| piece == *word));
            assert!(of_opcode || Qualifier::from_word(word).is_some(), "`{word}`");
        }
        for (name, _) in DIRECTIVES {
            assert!(directive::directive(name).is_some(), "`{name}`");
        }
        for (name, _) in REGISTERS {
            assert!(SREGS.iter().any(|s| s.name == *name), "`{name}`");
        }
    }

    #[test]
    fn types_and_shapes_are_described() {
        let of = |opcode, word| meaning(opcode, word).unwrap_or_default().into_owned();
        assert_eq!(of("add", "u32"), "The type: an unsigned integer of 32 bits.");
        assert_eq!(of("add", "f16x2"), "The type: 2 values in 32 bits, each an IEEE float of 16 bits.");
        assert!(of("mma", "m16n8k4").contains("A has 16 rows and 4 columns"));
        assert_eq!(of("mul", "hi"), "The upper half of the product.");
        assert_eq!(of("setp", "hi"), "Greater, of unsigned integers.");
    }
}
