//! 04xx: names, operands and types.

use super::Explanation;

pub(super) const LIST: &[Explanation] = explained! {
    401 "not declared"
        "Registers, variables, labels and functions are declared before they are used. A block `{ }` hides what is \
         declared in it."
    402 "declared twice"
        "A name is declared once in each block. A label may not have the name of a variable of its block."
    403 "a name of another kind"
        "The name is declared, but as something else than is needed here."
    404 "wrong number of operands"
        "No form of the instruction has as many operands."
    405 "an operand of another shape"
        "An address stands in `[ ]`, a vector in `{ }`, a pair has a `|`. The message says what the form asks for."
    406 "the sink `_`"
        "`_` discards a result. It stands where the syntax shows it, and some forms, such as an arrival at a barrier \
         of another CTA, have no result at all."
    407 "a register of another type"
        "A `.b` type takes any register of its width; integers take integer and `.b` registers; floating point takes \
         its own type and `.b` (PTX ISA 9.4). Loads, stores and conversions also take wider registers (PTX ISA \
         9.4.1)."
    408 "a constant of another type"
        "Constants are not converted between integer and floating point (PTX ISA 4.5). `1` is no `.f32`; `1.0` and \
         `0f3F800000` are."
    409 "constant out of range"
        "The instruction takes constants of a certain range here."
    410 "the guard is no predicate"
        "A guard is `@p` or `@!p` with a `.pred` register."
    411 "a special register here"
        "Special registers are read with `mov` or `cvt`, and never written."
    412 "misaligned address"
        "An address is a multiple of the size of the access (PTX ISA 6.4.1)."
    413 "the wrong state space"
        "A variable is accessed in the state space that it is declared in, or by a generic address."
    414 "wrong number of elements"
        "The number of elements is that of `.v2`, `.v4` or `.v8`; without one the operand is a single value."
    415 "register or constant"
        "Some operands are registers only, some constants only."
    416 "malformed address"
        "An address is `[reg]`, `[reg+imm]`, `[var]` or `[var+imm]`, with a register of 32 or 64 bits. An offset is \
         subtracted by adding a negative one."
    417 "qualifier and operand come together"
        "A cache policy goes with `.L2::cache_hint`, a mask of CTAs with `.multicast::cluster`: write both or \
         neither."
    418 "a value that the instruction does not take"
        "Qualifiers and operands are well formed, but a check of their values and combinations fails; the message \
         says which."
    419 "no negation here"
        "`!` negates a predicate that is read, and nothing else: `not` negates the bits of a register."
    420 "write to an input parameter"
        "Parameters of a kernel are read only."
};
