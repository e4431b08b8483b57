//! Accesses past the end of the variables in shared memory fault on every host.

use crate::{one, run};
use ptx_dsl::Error;
use ptx_dsl::fault::FaultKind;
use ptx_dsl::prelude::*;

fn is_outside(done: Result<(), Error>) -> bool {
    matches!(done, Err(Error::Fault(fault)) if matches!(fault.kind, FaultKind::OutOfBounds { space: "shared", .. }))
}

/// The kernel of README.md, with a tile of so many elements. The compiler does not see that what is loaded is zero, and so no index.
fn reverse(tile: &str, dynamic: u32) -> Result<(), Error> {
    let kernel = one(
        ".reqntid 64",
        &format!(
            "{tile}\nld.global.u32 %v, [%x]; mov.u32 %w, tile; mov.u32 %i, %tid.x; sub.u32 %i, %i, %v; mad.lo.u32 %c, %i, 4, %w; st.shared.u32 [%c], %v;\n\
             bar.sync 0; sub.u32 %i, 63, %i; mad.lo.u32 %c, %i, 4, %w; ld.shared.u32 %v, [%c]; st.global.u32 [%x], %v; ret;"
        ),
    );
    run(&kernel, Launch::grid(1).dynamic_shared(dynamic), &mut [0; 64])
}

#[test]
fn the_last_variable() {
    reverse(".shared .align 4 .u32 tile[64];", 0).unwrap();
    assert!(is_outside(reverse(".shared .align 4 .u32 tile[63];", 0)));
    // another variable after it: the end of that one counts
    reverse(".shared .align 4 .u32 tile[63]; .shared .align 4 .u32 other;", 0).unwrap();
    // with dynamic shared memory, that is the last one
    reverse(".shared .align 4 .u32 tile[63];", 16).unwrap();
}

#[test]
fn dynamic_shared_memory() {
    let kernel = |last: u32| {
        let text = format!(
            "{}.extern .shared .align 16 .b8 tile[];\n.visible .entry k(.param .u64 .ptr .global .align 4 x) {{\n\
             .shared .align 4 .b32 one; st.shared.u32 [one], 0; st.shared.u32 [tile+{last}], 1; ret; }}\n",
            crate::HEAD
        );
        ptx_dsl::load::Module::parse(&text).unwrap().kernel("k").unwrap().clone()
    };
    let launch = |last, dynamic| run(&kernel(last), Launch::grid(1).block(1).dynamic_shared(dynamic), &mut [0; 1]);
    launch(96, 100).unwrap();
    assert!(is_outside(launch(100, 100)));
    // without any, not even the padding before it is there
    let text = format!(
        "{}.extern .shared .align 16 .b8 tile[];\n.visible .entry k(.param .u64 .ptr .global .align 4 x) {{\n\
         .reg .b32 %i, %r; .shared .align 4 .b32 one; mov.u32 %r, tile; mov.u32 %r, one; mov.u32 %i, %tid.x;\n\
         mad.lo.u32 %r, %i, 4, %r; st.shared.u32 [%r], %i; ret; }}\n",
        crate::HEAD
    );
    let module = ptx_dsl::load::Module::parse(&text).unwrap();
    let launch = |threads| run(module.kernel("k").unwrap(), Launch::grid(1).block(threads), &mut [0; 1]);
    launch(1).unwrap();
    assert!(is_outside(launch(2)));
}
