//! `ldmatrix` with addresses in lanes whose rows it does not read.

use ptx_dsl::Error;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::load::Module;
use ptx_dsl::prelude::*;

/// Loads so many matrices. Lanes from `first` on are `far` bytes away from their row. The lane at fault, if there is one.
#[track_caller]
fn lane(target: &str, matrices: usize, first: u32, far: u32) -> Option<u32> {
    let registers = ["%v0", "%v1", "%v2", "%v3"][..matrices].join(", ");
    let text = format!(
        ".version 7.0\n.target {target}\n.address_size 64\n\
         .visible .entry k(.param .u32 first, .param .u32 far)\n{{\n.shared .align 16 .b8 tile[512];\n\
         .reg .b32 %t, %a, %f, %n, %v<4>; .reg .pred %p;\n\
         ld.param.u32 %f, [first]; ld.param.u32 %n, [far]; mov.u32 %t, %tid.x; mov.u32 %a, tile;\n\
         mad.lo.u32 %a, %t, 16, %a; st.shared.v4.u32 [%a], {{%t, %t, %t, %t}}; bar.sync 0;\n\
         setp.ge.u32 %p, %t, %f; @%p add.u32 %a, %a, %n;\n\
         ldmatrix.sync.aligned.m8n8.x{matrices}.shared.b16 {{{registers}}}, [%a];\nret;\n}}\n"
    );
    let module = Module::parse(&text).unwrap();
    let kernel = module.kernel("k").unwrap();
    let launch = || Launch::grid(1).block(32);
    let values = || [first, far].map(|value| Arg::value(value.to_le_bytes()));
    let plain = kernel.launch_raw(&Host::new(), launch(), &mut values()).map(|_| ());
    let checked = kernel.launch_raw(&Host::checked(), launch(), &mut values()).map(|_| ());
    let [plain, checked] = [plain, checked].map(|launched| match launched {
        Ok(()) => None,
        Err(Error::Fault(fault)) => {
            assert!(matches!(fault.kind, FaultKind::Undefined { section: "9.7.14.5.15", .. }), "{fault}");
            Some(fault.thread.unwrap().lane)
        }
        Err(error) => panic!("{error}"),
    });
    assert_eq!(plain, checked);
    plain
}

#[test]
fn unused_lanes_need_valid_addresses_up_to_sm_75() {
    for (matrices, used) in [(1, 8), (2, 16)] {
        // out of shared memory, and misaligned
        for far in [1 << 20, 512, 4] {
            assert_eq!(lane("sm_75", matrices, used, far), Some(used), "{matrices} {far}");
            assert_eq!(lane("sm_80", matrices, used, far), None, "{matrices} {far}");
        }
        // the last lane alone, by a row
        assert_eq!(lane("sm_75", matrices, used, 0), None);
        assert_eq!(lane("sm_75", matrices, 31, 16), Some(31));
        assert_eq!(lane("sm_80", matrices, 31, 16), None);
    }
    assert_eq!(lane("sm_75", 4, 32, 0), None);
}
