//! One mistake in a repetition is one finding of the checked host, with a number.

use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;
use ptx_dsl::{Error, Fault};

ptx! {
    <sm_90, ptx 8.0, allow(warnings)>
    /// Loads what nothing has written, and then what another thread writes.
    .visible .entry repeated(.param .u64 .ptr .global .align 4 x: &mut [u32]) .reqntid 64
    {
        .shared .align 4 .b8 never[1024];
        .shared .align 4 .b8 tile[16384];
        .reg .b32 %t, %s, %v, %w<64>;
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        cvta.to.global.u64 %x, %x;
        mov.u32 %t, %tid.x;
        mov.u32 %s, tile;
        mad.lo.u32 %s, %t, 4, %s;
        @for I in 0..20 {
            st.shared.u32 [%s + 256 * I], %t;
        }
        @for I in 0..20 {
            ld.shared.u32 %v, [tile + 256 * I + 128];
            st.global.u32 [%x + 4 * I], %v;
        }
        @for I in 0..60 {
            ld.shared.u32 %w{I}, [never + 4 * I];
            st.global.u32 [%x + 4 * I], %w{I};
        }
        ret;
    }
}

fn fault() -> Fault {
    let mut x = [0; 64];
    match repeated.launch(&Host::checked(), Launch::grid(1), (&mut x[..],)) {
        Err(Error::Fault(fault)) => *fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_mistake_in_a_repetition_is_one_finding() {
    let fault = fault();
    let found: Vec<&Fault> = std::iter::once(&fault).chain(&fault.others).collect();
    let races: Vec<usize> =
        found.iter().filter(|f| matches!(f.kind, FaultKind::DataRace(_))).map(|f| f.alike).collect();
    let reads: Vec<usize> =
        found.iter().filter(|f| matches!(f.kind, FaultKind::Uninitialised { .. })).map(|f| f.alike).collect();
    // the loads with the stores to shared memory before them; the stores to global memory with each other
    assert!(races.contains(&19) && races.len() <= 4, "{fault}");
    assert_eq!(reads, [59], "{fault}");
    let text = fault.to_string();
    assert!(text.contains("\n  = the same 59 more times in repetitions of these lines\n"), "{text}");
    assert!(text.len() < 6000, "{text}");
}

/// The limit counts such findings once: those of other lines are not left out.
#[test]
fn the_limit_counts_lines() {
    let mut x = [0; 64];
    let Err(Error::Fault(fault)) = repeated.launch(&Host::checked().limit(8), Launch::grid(1), (&mut x[..],)) else {
        panic!()
    };
    let all = std::iter::once(&*fault).chain(&fault.others);
    assert!(all.clone().any(|f| matches!(f.kind, FaultKind::Uninitialised { .. })), "{fault}");
}
