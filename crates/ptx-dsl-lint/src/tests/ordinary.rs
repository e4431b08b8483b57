//! PTX0620 to PTX0622.

use super::*;

#[test]
fn register_that_nobody_wrote() {
    both("add.u32 %r1, %r2, 1; // warning: PTX0620\n add.u32 %r3, %r2, 1;");
    both("@%p1 bra A; // warning: PTX0620\n mov.u32 %r1, 0;\n A:");
    both("L:\n add.u32 %r1, %r1, 1; // warning: PTX0620\n setp.lt.u32 %p1, %r1, 4;\n @%p1 bra L;");
    both("ld.global.u32 %r1, [%rd1]; // warning: PTX0620");
}

#[test]
fn register_that_somebody_may_write() {
    both("ld.param.u32 %r1, [n];\n setp.eq.u32 %p1, %r1, 0;\n @%p1 mov.u32 %r2, 1;\n @%p1 add.u32 %r3, %r2, 1;");
    case(
        ".version 8.0\n.target sm_90\n.address_size 64\n.func (.reg .u32 out) f(.reg .u32 in)\n{\nadd.u32 out, in, 1;\nret;\n}\n",
    );
}

#[test]
fn code_that_nothing_reaches() {
    both("bra A;\n mov.u32 %r1, 0; // warning: PTX0621\n mov.u32 %r2, 0;\n A: mov.u32 %r3, 0;");
    both("ret;\n L: mov.u32 %r1, 0; // warning: PTX0621\n bra L;");
    both("L: mov.u32 %r1, 0;\n bra L;\n ret;");
    both("ld.param.u32 %r1, [n];\n setp.eq.u32 %p1, %r1, 0;\n @%p1 bra A;\n mov.u32 %r2, 1;\n A: mov.u32 %r3, 0;");
}

#[test]
fn guard_that_never_holds() {
    both("mov.u32 %r1, 4;\n setp.gt.u32 %p1, %r1, 5;\n @%p1 st.shared.u32 [sh], 0; // warning: PTX0622");
    both("setp.eq.s32 %p1, 1, 1;\n @!%p1 bra A; // warning: PTX0622\n mov.u32 %r1, 0;\n A:");
    both("mov.u32 %r1, 4;\n setp.lt.u32 %p1, %r1, 5;\n @%p1 st.shared.u32 [sh], 0;");
    // The counter of a loop is no constant.
    both("mov.u32 %r1, 0;\n L:\n add.u32 %r1, %r1, 1;\n setp.lt.u32 %p1, %r1, 4;\n @%p1 bra L;");
}
