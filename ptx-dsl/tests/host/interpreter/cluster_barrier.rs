//! The barrier of a cluster, where the lanes of a warp come to it at different times.

use crate::HEAD;
use ptx_dsl::load::Module;
use ptx_dsl::prelude::*;

/// Half of the lanes take long from each arrival to the wait. The others may arrive again before.
const ROUNDS: u32 = 20;

fn text() -> String {
    format!(
        "{HEAD}.visible .entry k(.param .u64 .ptr .global .align 4 out) .reqntid 32 .reqnctapercluster 2\n{{\n\
         .reg .pred %p, %q; .reg .b32 %t, %i, %j; .reg .b64 %out, %at;\n\
         ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %i, 0; setp.lt.u32 %p, %t, 16;\n\
         round: barrier.cluster.arrive; @%p bra wait; mov.u32 %j, 0;\n\
         slow: add.u32 %j, %j, 1; setp.lt.u32 %q, %j, 700; @%q bra slow;\n\
         wait: barrier.cluster.wait; add.u32 %i, %i, 1; setp.lt.u32 %q, %i, {ROUNDS}; @%q bra round;\n\
         mul.wide.u32 %at, %t, 4; add.u64 %out, %out, %at; st.global.u32 [%out], %i; ret;\n}}\n"
    )
}

#[test]
fn lanes_wait_for_different_phases() {
    let module = Module::parse(&text()).unwrap();
    let kernel = module.kernel("k").unwrap();
    let explored = Host::new().explore(200).run(|host| {
        let mut out = [0u32; 32];
        // both CTAs store the same
        kernel.launch_raw(host, Launch::grid(2).block(32), &mut [(&mut out[..]).into()])?;
        Ok(out)
    });
    for out in explored.unwrap() {
        assert_eq!(out, [ROUNDS; 32]);
    }
}
