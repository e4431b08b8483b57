//! 0700 to 0799: performance. A kernel with such a finding is right.

use ptx_dsl_isa::code::Code;
use ptx_dsl_isa::code::classes::PERFORMANCE;

codes! {
    BANK_CONFLICTS 701 "bank conflicts in shared memory"
        "Shared memory has 32 banks of 4 bytes. The lanes of a warp that access different words of one bank take turns. If the rows of \
         an array are a multiple of 128 bytes long, a column is in one bank: pad the rows by a word, or XOR the column with the row."
        ["" "a load or store of shared memory whose lanes take at least twice the wavefronts that they need" , PERFORMANCE]
    UNCOALESCED_ACCESS 702 "uncoalesced access to global memory"
        "Global memory moves sectors of 32 bytes. A warp should ask for all bytes of the sectors that it moves: neighbouring lanes access \
         neighbouring elements."
        ["" "a load or store of global memory that moves at least twice the sectors that hold its bytes", PERFORMANCE]
    LOCAL_ARRAY 703 "local array with an index in a register"
        "Registers cannot be indexed. An array in local memory becomes registers only if each index is a constant."
        ["" "a `.local` variable that a register indexes, after inlining and constant folding", PERFORMANCE]
    DOUBLE_BY_ACCIDENT 704 "`.f64` between `.f32` values"
        "A constant of C without its `f` is a `double`, and makes the whole expression one: the values are converted, computed in `.f64` and \
         converted back."
        ["" "`.f64` arithmetic of values that were `.f32` and of constants, whose result becomes an `.f32`", PERFORMANCE]
    DIVISION_IN_ADDRESS 705 "division in the address code of a loop"
        "GPUs have no integer division. A quotient and a remainder that count along with the loop cost an addition and a comparison."
        ["" "an integer `div` or `rem` in a loop, by a register or by a constant that is no power of two, from which an address is computed", PERFORMANCE]
    NEEDLESS_BARRIER 706 "barrier that nobody needs"
        "A barrier orders the accesses before it with those after it. Where only arithmetic is between two barriers, one is enough."
        ["" "a barrier of the CTA after the same barrier, with nothing but arithmetic in between", PERFORMANCE]
    WIDE_SCOPE 707 "scope that orders nothing"
        "A release or an acquire beyond the CTA waits for all stores of the SM, or invalidates its first cache. `wgmma` and bulk copies do \
         not need it: the mbarrier orders what the async proxy does."
        ["" "an arrival or a wait with a written scope beyond the CTA, in a loop where only `wgmma` reads memory", PERFORMANCE]
    WAITS_FOR_ALL_PRODUCTS 708 "loop that waits for all of its products"
        "`wgmma.wait_group 0` in a loop leaves the tensor cores without work until the next products are issued. Leave one group pending, \
         and free the stage that the group before it has read."
        ["" "a `wgmma.wait_group 0` in a loop in which nothing else reads the sums", PERFORMANCE]
}
