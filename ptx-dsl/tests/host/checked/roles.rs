//! Reports of threads that wait name their role.

use crate::HEAD;
use ptx_dsl::load::{Level, Options, Selector};
use ptx_dsl::prelude::*;

/// A deadlock names the role that waits: the first statement that only its threads execute.
#[test]
fn a_wait_names_its_role() {
    let text = "
        .visible .entry k() .reqntid 64
        {
            .shared .align 8 .b64 full; .shared .align 8 .b64 empty;
            .reg .b32 %t, %parity, %n; .reg .pred %p, %q;
            mov.u32 %t, %tid.x;
            setp.eq.u32 %p, %t, 0;
            @%p mbarrier.init.shared::cta.b64 [full], 1;
            @%p mbarrier.init.shared::cta.b64 [empty], 32;
            bar.sync 0;
            setp.lt.u32 %p, %t, 32;
            @%p bra producer;
            mov.u32 %parity, 0;
        consume:
            mbarrier.try_wait.parity.shared::cta.b64 %q, [full], %parity;
            @!%q bra consume;
            xor.b32 %parity, %parity, 1;
            bra consume;
        producer:
            mov.u32 %n, 0;
        produce:
            setp.eq.u32 %q, %t, 0;
            @%q mbarrier.arrive.shared::cta.b64 _, [full];
        room:
            mbarrier.try_wait.parity.shared::cta.b64 %q, [empty], 0;
            @!%q bra room;
            bra produce;
        }";
    let options = Options::new().level(Level::Warn, Selector::Code(642));
    let kernel = options.parse(&format!("{HEAD}{text}")).unwrap().kernel("k").unwrap().clone();
    let report = kernel.launch_raw(&Host::new(), Launch::grid(1), &mut []).unwrap_err().to_string();
    let line = |of: &str| 1 + HEAD.lines().count() + text.lines().position(|line| line.trim().starts_with(of)).unwrap();
    // the first statements of the roles that can go wrong
    let arrives = "@%q mbarrier.arrive.shared::cta.b64 _, [full];";
    let waits = "mbarrier.try_wait.parity.shared::cta.b64 %q, [full], %parity;";
    let roles = [(arrives, "[empty]"), (waits, "[full]")];
    let at = report.lines().nth(1).unwrap();
    let (first, _) = roles.into_iter().find(|(_, object)| at.contains(object)).expect("a wait");
    let wanted = format!("\n  = in the role that begins at `{first}` (PTX line {})\n", line(first));
    assert!(report.contains("deadlock") && report.contains(&wanted), "{wanted}\n{report}");
}
