//! 02xx: opcodes and qualifiers. 03xx: versions and targets.

use super::Explanation;

pub(super) const LIST: &[Explanation] = explained! {
    200 "unknown instruction"
        "There is no instruction of this name. `ptx-dsl isa` lists them."
    201 "unknown qualifier"
        "The instruction has no such qualifier. `ptx-dsl isa` shows its forms."
    202 "missing qualifier"
        "A qualifier that is not optional is missing: mostly the type, or the rounding of an operation that has no \
         default."
    203 "qualifier given twice"
        "A qualifier is given once. Some instructions have two types, and then each of them may be the same."
    204 "qualifiers that no form has together"
        "Each of the qualifiers is known, but no form of the instruction takes all of them."
    207 "qualifiers that come together"
        "A memory ordering comes with its scope, and a scope with its ordering: `.relaxed.gpu`, `.acquire.cta`."
    208 "a rule of the instruction forbids this"
        "The qualifiers and operands are in a form of the instruction, but the manual rules the combination out."
    301 "needs a newer PTX ISA version"
        "The module declares a version that does not have this yet. Raise `.version`, or the `ptx M.m` of the header, \
         if the driver is new enough."
    302 "not available on this target"
        "The target lacks this. `sm_90a` has everything of exactly that chip; `sm_100f` what the family `sm_100` \
         shares; `sm_100` only what every later target keeps."
    303 "gone from the ISA"
        "The instruction was removed for this target in the version that the module declares. Its successor mostly \
         has `.sync` and a member mask."
    304 "no version"
        "A module begins with `.version` (PTX ISA 11.1.1)."
    305 "no target"
        "`.target` follows `.version` (PTX ISA 11.1.2)."
    306 "unknown version"
        "The version is newer than what is known here, or there never was such a one."
    307 "unknown target"
        "There is no such target. `sm_101` was renamed to `sm_110` in PTX ISA 9.0."
    308 "target newer than the version"
        "Each target came with a version of the ISA (PTX ISA 11.1.2), and the module declares an older one."
    309 "address size"
        "Addresses have 64 bits. PTX ISA 11.1.3 knows 32 too, but ptxas 13 refuses them for every target."
};
