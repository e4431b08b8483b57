//! Reports of the host name the regions of dynamic shared memory, not their offsets.

use ptx_dsl::prelude::*;

ptx! {
    <sm_90, ptx 8.0, allow(PTX0642, PTX0690)>
    .extern .shared .align 16 .b8 smem[];
    .region smem: BYTES {
        .b32 stages[64];
        .b32 c[32];
        .b64 full[2];
    }

    .visible .entry races() .reqntid 64 {
        .reg .b32 %v;
        let %t = %tid.x;
        st.shared.b32 [c + 4 * (%t % 32)], %t;
        ld.shared.b32 %v, [c + 4];
        ret;
    }

    .visible .entry waits<const N: u32 in [2, 4]>() .reqntid 32 {
        .region smem { .b32 first[N]; .b64 ready[2]; }
        .reg .pred %done;
        if %tid.x == 0 { mbarrier.init.shared::cta.b64 [ready + 8], N; }
        bar.sync 0;
        loop {
            mbarrier.try_wait.parity.shared::cta.b64 %done, [ready + 8], 0;
            if %done { break; }
        }
        ret;
    }
}

#[test]
fn a_race_is_in_the_region() {
    let launch = Launch::grid(1).dynamic_shared(400);
    let error = races.launch(&Host::checked(), launch, ()).expect_err("a race").to_string();
    assert!(error.contains("of `c` (shared address"), "{error}");
}

#[test]
fn an_mbarrier_has_the_name_of_its_region() {
    let launch = Launch::grid(1).dynamic_shared(400);
    let few = waits::<2>.launch(&Host::new(), launch.clone(), ()).expect_err("a deadlock").to_string();
    assert!(few.contains("(`ready` + 8 bytes)"), "{few}");
    let many = waits::<4>.launch(&Host::new(), launch, ()).expect_err("a deadlock").to_string();
    assert!(many.contains("(`ready` + 8 bytes)"), "{many}");
}
