//! Buffers that are filled again while bulk copies may still read them: PTX0649.

use super::super::case;
use super::module;

/// A loop that fills one of several buffers of 1024 bytes with all threads, and copies it out with one.
struct Loop {
    /// What stands before the stores, behind the commit, and the mark of the store.
    before: &'static str,
    behind: &'static str,
    mark: &'static str,
    /// `%r3` is the buffer.
    next: &'static str,
}

impl Loop {
    fn text(&self) -> String {
        let Loop { before, behind, mark, next } = self;
        module(&format!(
            ".shared .align 128 .b8 out[4096];\n--
             ld.param.u64 %d1, [a]; ld.param.u32 %r20, [n];
             mov.u32 %r0, %tid.x; mov.u32 %r1, out; setp.eq.u32 %p1, %r0, 0;
             mov.u32 %r2, 0; mov.u32 %r3, 0;
             L:
             {before}
             bar.sync 0;
             shl.b32 %r4, %r3, 10; add.u32 %r5, %r1, %r4; shl.b32 %r6, %r0, 2; add.u32 %r7, %r5, %r6;
             st.shared.u32 [%r7], %r2; {mark}
             fence.proxy.async.shared::cta;
             bar.sync 0;
             @%p1 cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r5], 512;
             @%p1 cp.async.bulk.commit_group;
             {behind}
             add.u64 %d1, %d1, 1024;
             {next}
             add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, %r20; @%p3 bra L;
             @%p1 cp.async.bulk.wait_group.read 0;"
        ))
    }
}

const FOUR: &str = "add.u32 %r3, %r3, 1; setp.eq.u32 %p2, %r3, 4; @%p2 mov.u32 %r3, 0;";
const THREE: &str = "add.u32 %r3, %r3, 1; setp.eq.u32 %p2, %r3, 3; selp.b32 %r3, 0, %r3, %p2;";
const TWO: &str = "xor.b32 %r3, %r3, 1;";
const MARK: &str = "// error: PTX0649";

#[test]
fn buffers_in_turn() {
    let ring = |before, behind, mark, next| case(&Loop { before, behind, mark, next }.text());
    ring("@%p1 cp.async.bulk.wait_group.read 1;", "", "", TWO);
    ring("@%p1 cp.async.bulk.wait_group.read 2;", "", MARK, TWO);
    ring("", "@%p1 cp.async.bulk.wait_group.read 2;", "", THREE);
    ring("", "@%p1 cp.async.bulk.wait_group.read 3;", MARK, THREE);
    ring("", "@%p1 cp.async.bulk.wait_group 3;", "", FOUR);
    ring("", "@%p1 cp.async.bulk.wait_group 4;", MARK, FOUR);
    // In a branch of the thread that copies.
    ring("@!%p1 bra S; cp.async.bulk.wait_group.read 1; S:", "", "", TWO);
    ring("@!%p1 bra S; cp.async.bulk.wait_group.read 2; S:", "", MARK, TWO);
    // One buffer.
    ring("@%p1 cp.async.bulk.wait_group.read 0;", "", "", "");
    ring("@%p1 cp.async.bulk.wait_group.read 1;", "", MARK, "");
    // Two groups in each round.
    let second = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d1+512], [%r5+512], 512; \
                  @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group.read 3;";
    ring("", second, "", TWO);
    // Another wait is long enough.
    ring("@%p1 cp.async.bulk.wait_group.read 2;", "@%p1 cp.async.bulk.wait_group.read 0;", "", TWO);
    // Which buffer it is, is not known.
    ring("@%p1 cp.async.bulk.wait_group.read 2;", "", "", "ld.global.u32 %r3, [%d1];");
}
