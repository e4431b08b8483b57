//! The bytes of each phase of an mbarrier object: those that `expect_tx` counts, and those of the copies that start in it.

/// Phases whose bytes are kept, the current one included.
const KEPT: usize = 4;

/// The bytes of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::observe::checked) struct TxBytes {
    phase: u32,
    /// Bytes that `expect_tx` has counted.
    pub expected: u64,
    /// Bytes of the copies that have started in this phase and name the object.
    pub started: u64,
}

/// The bytes of the last phases.
#[derive(Debug, Default)]
pub(super) struct Tx([TxBytes; KEPT]);

impl Tx {
    /// `expect_tx` counts bytes in this phase.
    pub fn expect(&mut self, phase: u32, bytes: u32) {
        self.of(phase).expected += u64::from(bytes);
    }

    /// A copy of so many bytes starts in this phase.
    pub fn start(&mut self, phase: u32, bytes: u32) {
        self.of(phase).started += u64::from(bytes);
    }

    /// The bytes of a phase, if it is one of the last.
    pub fn at(&self, phase: u32, current: u32) -> Option<TxBytes> {
        let kept = self.0[phase as usize % KEPT];
        match current.checked_sub(phase) {
            Some(age) if age < KEPT as u32 => Some(if kept.phase == phase { kept } else { TxBytes::default() }),
            _ => None,
        }
    }

    fn of(&mut self, phase: u32) -> &mut TxBytes {
        let kept = &mut self.0[phase as usize % KEPT];
        if kept.phase != phase {
            *kept = TxBytes { phase, ..TxBytes::default() };
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_phases_are_kept() {
        let mut tx = Tx::default();
        tx.expect(1, 16);
        tx.start(1, 16);
        tx.start(1, 48);
        tx.expect(3, 8);
        let of = |tx: &Tx, phase, current| tx.at(phase, current).map(|b| (b.expected, b.started));
        assert_eq!(of(&tx, 1, 3), Some((16, 64)));
        assert_eq!(of(&tx, 2, 3), Some((0, 0)));
        assert_eq!(of(&tx, 3, 4), Some((8, 0)));
        assert_eq!(of(&tx, 1, 5), None, "too old");
        tx.start(5, 4);
        assert_eq!(of(&tx, 5, 5), Some((0, 4)), "in the place of phase 1");
        assert_eq!(of(&tx, 6, 5), None, "to come");
    }
}
