//! Phases of mbarrier objects that do not wait for a copy.

use std::fmt;

/// A phase of the mbarrier object of a copy that a thread has seen complete, although the copy was not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EarlyPhase {
    /// The object in words.
    pub object: String,
    /// The offset of the object in shared memory.
    pub offset: u32,
    /// The copy started in this phase. Else it started in the next one.
    pub pending: bool,
    /// The bytes that `expect_tx` counted in the phase, and the bytes of the copies that started in it, if known.
    pub bytes: Option<(u64, u64)>,
}

impl EarlyPhase {
    /// Advice on how to fix the wait.
    pub(super) fn help(&self) -> &'static str {
        match (self.pending, self.bytes) {
            (true, _) => {
                "let `expect_tx` count the bytes of all copies of a phase, before the last arrival of the phase"
            }
            (false, Some((0, _))) => {
                "wait for the phase that the copy completes: `expect_tx` counts its bytes before the last arrival of the phase"
            }
            // perhaps the copy is too early
            (false, _) => {
                "wait for the phase that the copy completes, or let the thread arrive at another mbarrier object after \
                 the access, for which the copy waits"
            }
        }
    }

    /// The line of a report.
    pub(super) fn note(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EarlyPhase { object, pending, bytes, .. } = self;
        match (pending, bytes) {
            (true, Some((expected, started))) if expected < started => {
                write!(
                    f,
                    "\n  = note: the phase of {object} in which the copy started was complete before the copy: "
                )?;
                write!(f, "`expect_tx` counted {expected} bytes, and the copies of the phase bring {started}")
            }
            (true, _) => {
                write!(f, "\n  = note: the phase of {object} in which the copy started was complete before the copy")
            }
            (false, bytes) => {
                write!(f, "\n  = note: the copy started after the last phase of {object} that this thread waited for")?;
                let Some((expected, _)) = bytes else { return Ok(()) };
                write!(f, "; `expect_tx` counted {expected} bytes in that phase")
            }
        }
    }
}
