//! 02xx: opcodes and qualifiers.

use ptx_dsl_isa::code::Code;

codes! {
    UNKNOWN_INSTRUCTION 200 "unknown instruction"
        "No instruction has this name. `ptx-dsl isa` lists them."
    UNKNOWN_QUALIFIER 201 "unknown qualifier"
        "The instruction has no such qualifier. `ptx-dsl isa` shows its forms."
    MISSING_QUALIFIER 202 "missing qualifier"
        "A required qualifier is missing: usually the type, or the rounding of an operation that has no default."
    REPEATED_QUALIFIER 203 "qualifier given twice"
        "Each qualifier is given once. Instructions with two types may have the same type twice."
    QUALIFIER_COMBINATION 204 "qualifiers that no form combines"
        "The instruction knows each of the qualifiers, but no form takes all of them."
    QUALIFIER_DEPENDENCE 207 "qualifiers that need each other"
        "A memory ordering needs a scope, and a scope needs an ordering: `.relaxed.gpu`, `.acquire.cta`."
    INSTRUCTION_RULE 208 "a rule of the instruction forbids this"
        "A form of the instruction has these qualifiers and operands, but the manual excludes the combination."
}
