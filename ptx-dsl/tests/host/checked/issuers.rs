//! Commits and waits for groups by another thread than the one that has issued the operations: they track only those of their own thread.

use super::async_races::hosts;
use super::races::permissive;
use ptx_dsl::fault::{FaultKind, TooWeak};
use ptx_dsl::load::{Level, Selector};
use ptx_dsl::prelude::*;
use ptx_dsl::{Error, Fault};

/// The result of a kernel of 64 threads with a tile in shared memory, or its first fault.
fn run(host: &Host<ptx_dsl::Checked>, body: &str) -> Result<(), Box<Fault>> {
    let text = format!(
        ".version 8.6\n.target sm_100a\n.address_size 64\n\
         .visible .entry k(.param .u64 .ptr .global .align 16 b) .reqntid 64\n{{\n\
         .reg .pred %first, %p, %q; .reg .b32 %t, %at, %tmem, %r<8>; .reg .b64 %b, %desc;\n\
         .shared .align 128 .b8 tile[1024]; .shared .align 8 .b64 bar; .shared .align 4 .b32 slot;\n\
         ld.param.u64 %b, [b]; mov.u32 %t, %tid.x; mov.u32 %at, tile; mad.lo.u32 %r0, %t, 16, %at;\n\
         st.shared.v4.u32 [%r0], {{%t, %t, %t, %t}}; fence.proxy.async.shared::cta;\n\
         setp.eq.u32 %first, %t, 0; @%first mbarrier.init.shared::cta.b64 [bar], 1; bar.sync 0;\n{body}\nret;\n}}\n"
    );
    let options = permissive().level(Level::Allow, Selector::from_name("PTX0689").unwrap());
    let module = options.parse(&text).unwrap();
    let mut b = [0u32; 256];
    match module.kernel("k").unwrap().launch_raw(host, Launch::grid(1), &mut [(&mut b[..]).into()]) {
        Ok(_) => Ok(()),
        Err(Error::Fault(fault)) => Err(fault),
        Err(other) => panic!("{other}"),
    }
}

/// Thread 0 copies the tile to Tensor Memory, and this thread commits; both warps load.
fn copy_and_commit(thread: u32) -> String {
    format!(
        "setp.ge.u32 %q, %t, 32; @%q bra met; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;\n\
         tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n\
         met: bar.sync 0; ld.shared.u32 %tmem, [slot]; shr.u32 %r1, %at, 4; cvt.u64.u32 %desc, %r1; or.b64 %desc, %desc, 0x0000400800000000;\n\
         @!%first bra issued; tcgen05.cp.cta_group::1.32x128b.warpx4 [%tmem], %desc;\n\
         issued: tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;\n\
         setp.eq.u32 %p, %t, {thread}; @!%p bra wait; tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\n\
         wait: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0; @!%p bra wait; tcgen05.fence::after_thread_sync;\n\
         and.b32 %r2, %t, 32; shl.b32 %r2, %r2, 16; add.u32 %r2, %r2, %tmem;\n\
         tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r3}}, [%r2]; tcgen05.wait::ld.sync.aligned;\n\
         tcgen05.fence::before_thread_sync; bar.sync 0; @%q bra done;\n\
         tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 32; done:"
    )
}

#[test]
fn a_commit_of_another_thread() {
    for host in hosts() {
        run(&host, &copy_and_commit(0)).unwrap();
        let fault = run(&host, &copy_and_commit(32)).unwrap_err();
        let FaultKind::TensorRace(race) = &fault.kind else { panic!("{fault}") };
        assert_eq!(race.near_miss.as_ref().map(|miss| miss.why), Some(TooWeak::OtherCommit), "{fault}");
        let text = fault.to_string();
        let note = "do not order them: a commit tracks only the operations that its own thread has issued";
        assert!(text.contains(note) && text.contains("tcgen05.commit"), "{text}");
        assert!(
            text.contains("let the thread that issues the operation execute the `tcgen05.commit` after it"),
            "{text}"
        );
    }
}

/// Thread 0 stores the tile by a bulk copy, and these threads commit and wait for groups; then all threads write the tile again.
fn store_and_wait(thread: u32, read: &str) -> String {
    format!(
        "@!%first bra started; cp.async.bulk.global.shared::cta.bulk_group [%b], [tile], 1024;\n\
         started: bar.sync 0; setp.eq.u32 %p, %t, {thread}; @!%p bra waited;\n\
         cp.async.bulk.commit_group; cp.async.bulk.wait_group{read} 0;\n\
         waited: bar.sync 0; st.shared.u32 [%r0], %t; bar.sync 0;\n\
         @!%first bra done; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; done:"
    )
}

#[test]
fn a_group_of_another_thread() {
    for read in ["", ".read"] {
        for host in hosts() {
            run(&host, &store_and_wait(0, read)).unwrap();
            let fault = run(&host, &store_and_wait(32, read)).unwrap_err();
            let FaultKind::DataRace(race) = &fault.kind else { panic!("{fault}") };
            assert_eq!(race.near_miss.as_ref().map(|miss| miss.why), Some(TooWeak::OtherGroups), "{fault}");
            let text = fault.to_string();
            assert!(text.contains("a wait for bulk groups waits only for the copies of its own thread"), "{text}");
            assert!(text.contains("let the thread that starts the copy commit and wait for its group"), "{text}");
        }
    }
}
