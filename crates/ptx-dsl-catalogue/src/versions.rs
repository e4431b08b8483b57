//! 03xx: versions and targets.

use ptx_dsl_isa::code::Code;

codes! {
    NEEDS_VERSION 301 "needs a newer PTX ISA version"
        "The declared version does not have this yet. Raise `.version`, or `ptx M.m` in the header, if the driver is \
         new enough."
    NEEDS_TARGET 302 "not available on this target"
        "The target does not have this. `sm_90a` has everything of exactly that chip, `sm_100f` what the family of \
         `sm_100` shares, and `sm_100` only what every later target keeps."
    REMOVED_INSTRUCTION 303 "removed from the ISA"
        "The instruction was removed for this target in the declared version. Its successor usually has `.sync` and a \
         member mask."
    NO_VERSION 304 "no version"
        "A module begins with `.version` (PTX ISA 11.1.1)."
    NO_TARGET 305 "no target"
        "`.target` follows `.version` (PTX ISA 11.1.2)."
    UNKNOWN_VERSION 306 "unknown version"
        "The version is newer than those known here, or never existed."
    UNKNOWN_TARGET 307 "unknown target"
        "No target has this name. `sm_101` was renamed to `sm_110` in PTX ISA 9.0."
    TARGET_NEEDS_VERSION 308 "target newer than the version"
        "Each target was introduced in a version of the ISA (PTX ISA 11.1.2). The module declares an older one."
    ADDRESS_SIZE 309 "address size"
        "Addresses have 64 bits. PTX ISA 11.1.3 also has 32 bits, but ptxas 13 refuses them for every target."
}
