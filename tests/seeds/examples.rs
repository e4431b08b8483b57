//! The example blocks of the pages, as printed; only declarations and a setting stand around them.

use super::spellings::accepted;

/// Example 1 of `mbarrier.arrive_drop`, less its line of two dots.
const DROP_1: &str = "
.reg .b32 cnt;
.reg .b64 %r1;
.shared .b64 shMem;

// Example 1
@p mbarrier.arrive_drop.shared.b64 _, [shMem];
@p exit;
@p2 mbarrier.arrive_drop.noComplete.shared.b64 _, [shMem], %a;
@p2 exit;
@!p mbarrier.arrive.shared.b64   %r1, [shMem];
@!p mbarrier.test_wait.shared.b64  q, [shMem], %r1;
";

const DROP_2: &str = "
// Example 2
mbarrier.arrive_drop.shared::cluster.b64 _, [addr];
mbarrier.arrive_drop.shared::cta.release.cluster.b64     _, [addr], cnt;
";

const DROP_3: &str = "
// Example 3
mbarrier.arrive_drop.expect_tx.shared::cta.relaxed.cluster.b64 state, [addr], tx_count;
";

/// The examples of `tcgen05.commit`. One thread runs them: a warp whose lanes all did would start everything 32 times.
const COMMIT_1: &str = "
tcgen05.cp.cta_group::1.128x256b                      [taddr0], sdesc0;
tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [mbarObj1];

loop:
mbarrier.try_wait.parity.b64 p, [mbarObj1], 0;
@!p bra loop;
";

const COMMIT_2: &str = "
tcgen05.mma.cta_group::2.kind::tf32    [taddr0],  adesc,  bdesc, idesc, p;
tcgen05.commit.cta_group::2.mbarrier::arrive::one.b64 [mbarObj2];

loop:
mbarrier.try_wait.parity.b64 p, [mbarObj2], 0;
@!p bra loop;
";

const CANCEL: &str = include_str!("try_cancel_example.ptx");
const CANCEL_OLDER: &str = include_str!("try_cancel_older_example.ptx");

fn kernel(version: &str, target: &str, declarations: &str, body: &str) -> String {
    format!(
        ".version {version}\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n{declarations}\n{body}\n    ret;\n}}\n"
    )
}

#[test]
fn they_compile_as_printed() {
    let drop = ".reg .pred p, p2, q; .reg .b32 %a;";
    // the object has to be made first
    let drop_1 = DROP_1.replace("// Example 1", "mbarrier.init.shared.b64 [shMem], 32; bar.sync 0;");
    let drop_32 = ".reg .b32 addr, cnt, tx_count; .reg .b64 state;";
    let drop_64 = ".reg .b32 cnt, tx_count; .reg .b64 state, addr;";
    let registers =
        ".reg .pred p0, p, complete; .reg .b32 %r<4>, xctaid; .reg .b64 state, addr, mbar; .reg .b128 handle;";
    let mut modules = vec![("drop 1".to_string(), kernel("7.0", "sm_80", drop, &drop_1))];
    for (bits, declarations) in [(32, drop_32), (64, drop_64)] {
        modules.push((format!("drop 2, {bits}"), kernel("8.0", "sm_90", declarations, DROP_2)));
        modules.push((format!("drop 3, {bits}"), kernel("8.6", "sm_90", declarations, DROP_3)));
    }
    modules.push(("try_cancel".into(), kernel("8.6", "sm_100a", registers, CANCEL)));
    modules.push(("older try_cancel".into(), kernel("8.6", "sm_100a", registers, CANCEL_OLDER)));
    let commit =
        ".shared .b64 mbarObj1, mbarObj2; .reg .pred p; .reg .b32 taddr0, idesc; .reg .b64 sdesc0, adesc, bdesc;";
    for (name, text) in [("commit 1", COMMIT_1), ("commit 2", COMMIT_2)] {
        let setting = format!("{commit} mbarrier.init.b64 [mbarObj1], 1; mbarrier.init.b64 [mbarObj2], 1;");
        let module = kernel("8.6", "sm_100a", &setting, text).replace(".entry k()\n", ".entry k()\n.reqntid 1\n");
        modules.push((name.into(), module));
    }
    accepted(modules);
}
