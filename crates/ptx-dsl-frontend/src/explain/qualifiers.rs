//! 02xx: opcodes and qualifiers. 03xx: versions and targets.

use super::Explanation;

pub(super) const LIST: &[Explanation] = explained! {
    200 "unknown instruction"
        "No instruction has this name. `ptx-dsl isa` lists them."
    201 "unknown qualifier"
        "The instruction has no such qualifier. `ptx-dsl isa` shows its forms."
    202 "missing qualifier"
        "A required qualifier is missing: usually the type, or the rounding of an operation that has no default."
    203 "qualifier given twice"
        "Each qualifier is given once. Instructions with two types may have the same type twice."
    204 "qualifiers that no form combines"
        "The instruction knows each of the qualifiers, but no form takes all of them."
    207 "qualifiers that need each other"
        "A memory ordering needs a scope, and a scope needs an ordering: `.relaxed.gpu`, `.acquire.cta`."
    208 "a rule of the instruction forbids this"
        "A form of the instruction has these qualifiers and operands, but the manual excludes the combination."
    301 "needs a newer PTX ISA version"
        "The declared version does not have this yet. Raise `.version`, or `ptx M.m` in the header, if the driver is \
         new enough."
    302 "not available on this target"
        "The target does not have this. `sm_90a` has everything of exactly that chip, `sm_100f` what the family of \
         `sm_100` shares, and `sm_100` only what every later target keeps."
    303 "removed from the ISA"
        "The instruction was removed for this target in the declared version. Its successor usually has `.sync` and a \
         member mask."
    304 "no version"
        "A module begins with `.version` (PTX ISA 11.1.1)."
    305 "no target"
        "`.target` follows `.version` (PTX ISA 11.1.2)."
    306 "unknown version"
        "The version is newer than those known here, or never existed."
    307 "unknown target"
        "No target has this name. `sm_101` was renamed to `sm_110` in PTX ISA 9.0."
    308 "target newer than the version"
        "Each target was introduced in a version of the ISA (PTX ISA 11.1.2). The module declares an older one."
    309 "address size"
        "Addresses have 64 bits. PTX ISA 11.1.3 also has 32 bits, but ptxas 13 refuses them for every target."
};
