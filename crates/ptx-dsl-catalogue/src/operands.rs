//! 04xx: names, operands and types.

use ptx_dsl_isa::code::Code;

codes! {
    UNDECLARED 401 "not declared"
        "Registers, variables, labels and functions are declared before they are used. A name declared in a block `{ \
         }` is not visible outside of it."
    DECLARED_TWICE 402 "declared twice"
        "A name is declared once in each block. A label cannot have the name of a variable of its block."
    OTHER_KIND_OF_NAME 403 "name of another kind"
        "The name is declared, but as something other than the instruction needs here."
    OPERAND_COUNT 404 "wrong number of operands"
        "No form of the instruction has this number of operands."
    OPERAND_SHAPE 405 "operand of another shape"
        "An address is written in `[ ]`, a vector in `{ }`, and a pair with `|`. The message says what the form needs."
    SINK 406 "the sink `_`"
        "`_` discards a result. It is allowed where the syntax shows it. Some forms, such as an arrival at a barrier \
         of another CTA, have no result at all."
    REGISTER_TYPE 407 "register of another type"
        "A `.b` type takes any register of its width. Integer types take integer and `.b` registers, floating-point \
         types their own type and `.b` (PTX ISA 9.4). Loads, stores and conversions also take wider registers (PTX ISA \
         9.4.1)."
    CONSTANT_TYPE 408 "constant of another type"
        "Constants are not converted between integer and floating point (PTX ISA 4.5). `1` is not an `.f32`; `1.0` and \
         `0f3F800000` are."
    CONSTANT_RANGE 409 "constant out of range"
        "The operand takes only constants of a certain range."
    GUARD_TYPE 410 "guard that is not a predicate"
        "A guard is `@p` or `@!p` with a `.pred` register."
    SPECIAL_REGISTER 411 "special register as an operand"
        "Only `mov` and `cvt` read special registers, and no instruction writes them."
    MISALIGNED_OPERAND 412 "misaligned address"
        "An address is a multiple of the size of the access (PTX ISA 6.4.1)."
    STATE_SPACE 413 "wrong state space"
        "A variable is accessed in the state space of its declaration, or through a generic address."
    ELEMENT_COUNT 414 "wrong number of elements"
        "`.v2`, `.v4` and `.v8` give the number of elements. Without them the operand is a single value."
    REGISTER_OR_CONSTANT 415 "register or constant"
        "Some operands must be registers, others constants."
    MALFORMED_ADDRESS 416 "malformed address"
        "An address is `[reg]`, `[reg+imm]`, `[var]` or `[var+imm]`, with a register of 32 or 64 bits. To subtract an \
         offset, add a negative one."
    OPERAND_DEPENDENCE 417 "qualifier and operand that need each other"
        "A cache policy needs `.L2::cache_hint`, and a mask of CTAs needs `.multicast::cluster`. Write both or \
         neither."
    OPERAND_VALUE 418 "values that the instruction does not take"
        "The qualifiers and operands are well formed, but their values or their combination are not allowed. The \
         message says which."
    NEGATION 419 "negation not allowed"
        "`!` negates only a predicate that is read. To negate the bits of a register, use `not`."
    PARAMETER_ACCESS 420 "access of a parameter that is not allowed"
        "The parameters of a kernel are read-only. A `.param` variable of a body passes a parameter of a call or receives a result: \
         `ld.param` reads it after the call that returns it, and neither `ld.param` nor `st.param` of it has a guard."
}
