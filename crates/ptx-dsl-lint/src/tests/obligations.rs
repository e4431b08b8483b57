//! What `tcgen05` instructions owe: PTX0601, PTX0602, PTX0605 to PTX0608.

use super::*;

const ELECT: &str = "elect.sync _|%p1, 0xffffffff;\n";
const WARP0: &str = "mov.u32 %r1, %tid.x;\n setp.lt.u32 %p2, %r1, 32;\n";
const ALLOC: &str = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [sh], 64;";
const READ: &str = "ld.shared.u32 %r9, [sh];\n";
const FREE: &str = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r9, 64;";
const MMA: &str = "tcgen05.mma.cta_group::1.kind::f16 [%r9], %rd1, %rd2, %r2, %p3;";
const OPERANDS: &str = "ld.param.u64 %rd1, [any];\n ld.param.u64 %rd2, [any];\n mov.u32 %r2, 0x8100490;\n setp.ne.u32 %p3, %r2, 0;\n mov.u32 %r9, 0;\n";
const COMMIT: &str = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar1];";
const LOAD: &str = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r3, %r4}, [%r9];";
const WAIT: &str = "tcgen05.wait::ld.sync.aligned;";

/// A warp that has Tensor Memory.
fn owner(body: &str) -> String {
    kernel("32", &format!("{ALLOC}\n bar.sync 0;\n {READ}{body}\n {FREE}"))
}

#[test]
fn warp_instruction_for_one_lane() {
    both(&format!("{WARP0}{ELECT} @%p1 {ALLOC} // error: PTX0601\n bar.sync 0;\n {READ} @%p2 {FREE}"));
    both(&format!(
        "{WARP0} setp.eq.u32 %p1, %r1, 0;\n @!%p1 bra L;\n {ALLOC} // error: PTX0601\n L:\n bar.sync 0;\n {READ} @%p2 {FREE}"
    ));
    case(&owner(&format!("{ELECT} @!%p1 bra L;\n {LOAD} // error: PTX0601\n {WAIT} // error: PTX0601\n L:")));
    // The allocation's warp without those that left.
    case(&kernel("32", &format!("{ALLOC}\n bar.sync 0;\n {READ} mov.u32 %r1, %laneid;\n setp.ge.u32 %p1, %r1, 16;\n @%p1 exit; // warning: PTX0606\n {FREE} // error: PTX0601").replace(" // warning: PTX0606", " // error: PTX0606")));
}

#[test]
fn warp_instruction_for_a_warp() {
    case(&kernel(
        "128",
        &format!("{WARP0} @%p2 {ALLOC}\n bar.sync 0;\n {READ} {LOAD}\n {WAIT}\n bar.sync 0;\n @%p2 {FREE}"),
    ));
    case(&kernel(
        "128",
        &format!(
            "mov.u32 %r1, %tid.x;\n shr.u32 %r5, %r1, 5;\n setp.ne.u32 %p2, %r5, 2;\n @%p2 bra L;\n {ALLOC}\n L:\n bar.sync 0;\n {READ} @!%p2 {FREE}"
        ),
    ));
    case(&kernel("32", &format!("{ALLOC}\n bar.sync 0;\n {READ} {FREE}")));
    // The number of the warp from a shuffle, which all of it has.
    both(&format!(
        "mov.u32 %r1, %tid.x;\n shr.u32 %r5, %r1, 5;\n shfl.sync.idx.b32 %r6, %r5, 0, 31, 0xffffffff;\n setp.eq.u32 %p2, %r6, 0;\n @%p2 {ALLOC}\n bar.sync 0;\n {READ} @%p2 {FREE}"
    ));
}

#[test]
fn thread_instruction_for_every_lane() {
    case(&kernel("128", &format!("{OPERANDS} {MMA} // error: PTX0602\n {COMMIT} // warning: PTX0602")));
    // A number of threads that is not said: perhaps one.
    case(&kernel("", &format!("{OPERANDS} {MMA} // warning: PTX0602")));
    // The lanes of one warp.
    case(&kernel("128", &format!("{OPERANDS}{WARP0} @!%p2 bra L;\n {MMA} // error: PTX0602\n L:")));
    case(&kernel(
        "128",
        &format!("{OPERANDS} ld.param.u32 %r7, [n];\n setp.eq.u32 %p4, %r7, 0;\n @%p4 {MMA} // error: PTX0602"),
    ));
}

#[test]
fn thread_instruction_for_a_thread() {
    case(&kernel("1", &format!("{OPERANDS} {MMA}\n {COMMIT}")));
    case(&kernel("", &format!("{OPERANDS} {MMA}\n {COMMIT}")).replace(" any) ", " any) .maxntid 1 "));
    case(&kernel("32", &format!("{OPERANDS}{ELECT} @%p1 {MMA}\n @%p1 {COMMIT}")));
    both(&format!("{OPERANDS}{WARP0} @!%p2 bra L;\n {ELECT} @!%p1 bra L;\n {MMA}\n {COMMIT}\n L:"));
    both(&format!("{OPERANDS} mov.u32 %r1, %tid.x;\n setp.eq.u32 %p1, %r1, 0;\n @%p1 {MMA}"));
    // What chooses the lane is not known here.
    both(&format!("{OPERANDS} ld.shared.u32 %r7, [sh];\n setp.eq.u32 %p4, %r7, 0;\n @%p4 {MMA}"));
    both(&format!(
        "{OPERANDS} ld.param.u32 %r7, [n];\n mov.u32 %r1, %tid.x;\n setp.eq.u32 %p4, %r7, %r1;\n @!%p4 bra L;\n {MMA}\n L:"
    ));
}

#[test]
fn registers_before_the_wait() {
    case(&owner(&format!("{LOAD}\n add.u32 %r5, %r3, 1; // warning: PTX0605\n {WAIT}")));
    case(&owner(&format!("{WAIT}\n {LOAD}\n mov.u32 %r5, %r4; // warning: PTX0605\n st.shared.u32 [sh+8], %r5;")));
    case(&owner(&format!(
        "{LOAD}\n ld.param.u32 %r7, [n];\n setp.eq.u32 %p4, %r7, 0;\n @%p4 bra L;\n {WAIT}\n L:\n add.u32 %r5, %r3, 1; // warning: PTX0605"
    )));
    case(&owner(&format!(
        "{LOAD}\n {WAIT}\n add.u32 %r5, %r3, 1;\n {LOAD}\n st.shared.u32 [sh+8], %r4; // warning: PTX0605"
    )));
    // Against the manual, and an error where that is denied.
    let denied = owner(&format!("{LOAD}\n add.u32 %r5, %r3, 1; // error: PTX0605\n {WAIT}"));
    let header = "<sm_100a, ptx 8.8, deny(protocol)>";
    case(&denied.replace(".version 8.8\n.target sm_100a\n.address_size 64", header));
}

#[test]
fn registers_and_columns_that_are_in_use() {
    // Nothing waits for the first load when the second one writes the same registers.
    case(&owner(&format!("{LOAD}\n {LOAD} // error: PTX0605\n {WAIT}\n add.u32 %r5, %r3, 1;")));
    case(&owner(&format!(
        "{LOAD}\n ld.param.u32 %r7, [n];\n setp.eq.u32 %p4, %r7, 0;\n @%p4 bra L;\n {WAIT}\n L:\n \
         {LOAD} // warning: PTX0605\n {WAIT}\n add.u32 %r5, %r3, 1;"
    )));
    // A read of one register waits for the load.
    case(&owner(&format!("{LOAD}\n mov.u32 %r6, %r4; // warning: PTX0605\n {LOAD}\n {WAIT}\n add.u32 %r5, %r3, %r6;")));
    // The columns are given back while they are read.
    let freed = format!("{ALLOC}\n {READ} {LOAD}\n {FREE} // error: PTX0605\n {WAIT}\n st.shared.u32 [sh+8], %r3;");
    case(&kernel("32", &freed));
    case(&kernel("32", &format!("{ALLOC}\n {READ} {LOAD}\n {WAIT}\n {FREE}\n st.shared.u32 [sh+8], %r3;")));
}

#[test]
fn registers_after_the_wait() {
    case(&owner(&format!("{LOAD}\n {WAIT}\n add.u32 %r5, %r3, %r4;")));
    case(&owner(&format!(
        "{LOAD}\n tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r6}}, [%r9+2];\n {WAIT}\n add.u32 %r5, %r3, %r6;"
    )));
    // The next load is under way while the last one's registers are used.
    case(&owner(&format!(
        "{LOAD}\n {WAIT}\n mov.u32 %r10, 0;\n L:\n mov.u32 %r11, %r3;\n {LOAD}\n add.u32 %r10, %r10, %r11;\n {WAIT}\n setp.lt.u32 %p4, %r10, 9;\n @%p4 bra L;"
    )));
}

#[test]
fn memory_that_stays_allocated() {
    case(&kernel("32", &format!("{ALLOC} // error: PTX0606")));
    case(&kernel("128", &format!("{WARP0} @%p2 {ALLOC} // error: PTX0606\n bar.sync 0;\n {READ}")));
    case(&kernel(
        "32",
        &format!(
            "{ALLOC}\n {READ} ld.param.u32 %r7, [n];\n setp.eq.u32 %p4, %r7, 0;\n @%p4 ret; // error: PTX0606\n {FREE}"
        ),
    ));
    // The warp that allocates goes away; another one deallocates.
    case(&kernel(
        "128",
        &format!(
            "{WARP0} @!%p2 bra L;\n {ALLOC} // warning: PTX0606\n bar.sync 0;\n exit;\n L:\n bar.sync 0;\n {READ} setp.lt.u32 %p4, %r1, 64;\n @%p4 {FREE}"
        ),
    ));
}

#[test]
fn memory_that_is_deallocated() {
    case(&kernel(
        "128",
        &format!(
            "{WARP0} @%p2 {ALLOC}\n bar.sync 0;\n {READ} ld.param.u32 %r7, [n];\n setp.eq.u32 %p4, %r7, 0;\n @%p4 bra L;\n {LOAD}\n {WAIT}\n L:\n bar.sync 0;\n @%p2 {FREE}"
        ),
    ));
    // All but the first warp leave early.
    case(&kernel("128", &format!("{WARP0} @%p2 {ALLOC}\n bar.sync 0;\n {READ} @!%p2 exit;\n {FREE}")));
    case(&kernel(
        "32",
        &format!(
            "{ALLOC}\n {READ} ld.param.u32 %r7, [n];\n setp.eq.u32 %p4, %r7, 0;\n @!%p4 bra L;\n {FREE}\n ret;\n L:\n {FREE}"
        ),
    ));
}

#[test]
fn allocation_after_the_permit_is_gone() {
    let gone = "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;";
    case(&kernel("32", &format!("{gone}\n {ALLOC} // error: PTX0607\n {READ}{FREE}")));
    case(&kernel(
        "32",
        &format!(
            "ld.param.u32 %r7, [n];\n L:\n {ALLOC} // warning: PTX0607\n {READ}{FREE}\n {gone}\n sub.u32 %r7, %r7, 1;\n setp.gt.u32 %p4, %r7, 0;\n @%p4 bra L;"
        ),
    ));
    case(&kernel("32", &format!("{ALLOC}\n {gone}\n {READ}{FREE}")));
    case(&kernel("64", &format!("{WARP0} @!%p2 bra L;\n {ALLOC}\n {gone}\n {READ}{FREE}\n L:")));
}

#[test]
fn pair_that_does_not_meet() {
    let alloc = ALLOC.replace("::1", "::2");
    let free = FREE.replace("::1", "::2");
    let meet = "barrier.cluster.arrive;\n barrier.cluster.wait;";
    case(&kernel("32", &format!("{alloc}\n {READ} {free} // warning: PTX0608\n {meet}")));
    case(&kernel("32", &format!("{alloc}\n bar.sync 0;\n {READ} bar.sync 0;\n {free} // warning: PTX0608")));
    // Table 47.
    case(&kernel("32", &format!("{alloc}\n {READ} {meet}\n {free}")));
    case(&kernel(
        "32",
        &format!(
            "{alloc}\n {READ} W: mbarrier.try_wait.parity.shared::cta.b64 %p5, [bar1], 0;\n @!%p5 bra W;\n {free}"
        ),
    ));
}
