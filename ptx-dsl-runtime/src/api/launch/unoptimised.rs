//! Says once that the runtime is not optimised, when that has cost seconds.

use std::io::Write;
use std::sync::Once;
use std::time::{Duration, Instant};

/// Launches that take less are not worth a note.
const LONG: Duration = Duration::from_secs(2);

const NOTE: &str = "\
note: this launch took long, because `ptx-dsl-runtime` is not optimised: kernels take some 100 times as long. The workspace's Cargo.toml can
      have it optimised in development builds:

          [profile.dev.package.ptx-dsl-runtime]
          opt-level = 3

";

/// Writes the note to the standard error if a launch that began then was the first long one. Not through `eprintln`, which tests
/// capture: who waits for a test that passes wants to know too.
pub(super) fn note(began: Instant) {
    static ONCE: Once = Once::new();
    if !cfg!(ptx_dsl_optimised) && began.elapsed() > LONG {
        ONCE.call_once(|| drop(std::io::stderr().write_all(NOTE.as_bytes())));
    }
}
