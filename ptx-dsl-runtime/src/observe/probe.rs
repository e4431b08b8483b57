//! Probes: the hooks that the machine has for this crate's own monitors, beyond those of [`Monitor`].
//!
//! The machine calls a [`Probe`]. The checked host and the tracer are probes. A monitor of a user becomes one by [`UserMonitor`], which
//! passes on what [`Monitor`] has and takes the defaults for the rest.

pub mod layout;
mod monitored;
pub mod stopped;
mod user;
pub mod weak;

pub(crate) use monitored::{MakeProbe, Monitored};
pub(crate) use user::UserMonitor;

use crate::fault::{FaultKind, ThreadId};
use crate::kernel::variables::Variables;
use crate::memory::address::Place;
use crate::observe::monitor::{Access, Monitor, Order, Wait, Who};
use layout::{SharedBox, SharedMatrix, TensorProduct};
use ptx_dsl_isa::image::Image;
use std::ops::Range;
use std::sync::Arc;

/// The last write to a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LastWrite {
    /// The probe does not know.
    Unknown,
    /// No thread of the launch has written there.
    Nobody,
    /// A store of this writer.
    By(LastWriter),
}

/// A thread that has written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LastWriter {
    /// The statement.
    pub site: u32,
    /// The thread, without its `%tid`.
    pub thread: ThreadId,
}

/// The pieces of memory that neighbouring warps access, each of them with all lanes: pieces of neighbouring lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// The number of pieces.
    pub count: u32,
    /// Lanes of a piece: 8, 16 or 32.
    pub lanes: u32,
    /// Bytes from lane to lane: the size of an access, or 0.
    pub step: u32,
    /// Bytes from piece to piece.
    pub distance: i64,
}

/// The state of a word of Tensor Memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TensorWord {
    /// A value.
    Written,
    /// Unwritten words.
    Unwritten,
    /// Unwritten words onto which `tcgen05.mma` has accumulated.
    OnlyAdded,
    /// An undefined value that an operation has computed or copied.
    Undefined {
        /// The number of the value.
        origin: u32,
    },
}

/// The needs of a probe beyond [`Wants`](crate::observe::monitor::Wants).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Needs {
    /// Whether the probe sees the variable that each statement accesses.
    pub variables: bool,
    /// Whether the probe sees a barrier of all threads of a CTA once, and need not see the end of a cluster of one CTA.
    pub barriers: bool,
    /// Whether the probe sees each region that runs, and the threads that guards turn off.
    pub regions: bool,
    /// Whether the probe is asked before each statement of each warp ([`Probe::stops`]). It then wants warps
    /// [apart](crate::observe::monitor::Wants::apart).
    pub statements: bool,
    /// Whether the probe sees which warps wait, and for how long, and which clusters are cancelled.
    pub waits: bool,
    /// Whether the probe sees loads from constant memory.
    pub constants: bool,
}

/// An observer of a launch, as the machine sees it.
pub(crate) trait Probe: Monitor {
    /// The needs of the probe, which do not change.
    fn needs(&self) -> Needs {
        Needs::default()
    }
    /// The variables of the kernel, before it begins: for a probe that needs them or wants events.
    fn variables(&mut self, _: Arc<Variables>) {}
    /// The code of the kernel, before it begins.
    fn code(&mut self, _: &Arc<Image>) {}
    /// A region runs with these lanes of neighbouring warps, for a probe that needs regions. One that waits is told of once.
    fn region(&mut self, _region: usize, _lanes: &[u32]) {}
    /// The guard of an instruction does not hold in this many threads, for a probe that needs regions. Instructions are numbered in the
    /// order of the image.
    fn predicated_off(&mut self, _instruction: u32, _threads: u64) {}
    /// Neighbouring warps, from `who.warp` on, start to wait at a statement, for a probe that needs waits.
    fn waits(&mut self, _turn: u64, _: Who, _warps: u32, _: &Wait) {}
    /// Warps that waited go on: the same as in [`Probe::waits`], without the statement.
    fn resumes(&mut self, _turn: u64, _: Who, _warps: u32) {}
    /// A thread has asked for a pending cluster, and has got one or not, for a probe that needs waits.
    fn cancels(&mut self, _: Who, _cancelled: bool) {}
    /// A lane starts a product of matrices whose shape is in a descriptor.
    fn multiplies(&mut self, _: TensorProduct, _: Who) {}
    /// What is asked before each statement, for a probe that needs statements.
    fn stops(&mut self) -> Option<&mut dyn stopped::Stops> {
        None
    }
    /// Finds the bytes of a load that nothing has written, or that it does not use, one bit for each byte. The machine calls this after
    /// [`Monitor::memory`] has found such bytes.
    fn unwritten(&mut self, _: &Access) -> u64 {
        0
    }
    /// Finds what this lane and column of the Tensor Memory of a CTA hold. The machine has called [`Monitor::tensor`] for the access.
    fn tensor_word(&mut self, _: Who, _rank: u32, _lane: usize, _column: usize) -> TensorWord {
        TensorWord::Written
    }
    /// Columns of this lane of the Tensor Memory of a CTA get an undefined value with this number. The machine has called
    /// [`Monitor::tensor`] for the operation.
    fn undefined_words(&mut self, _: Who, _rank: u32, _lane: usize, _columns: Range<usize>, _origin: u32) {}
    /// Does Tensor Memory hold undefined values that operations have put there?
    fn has_undefined_words(&self) -> bool {
        false
    }
    /// A thread has just stored an undefined value with this number.
    fn undefined(&mut self, _: &Access, _origin: u32) {}
    /// Finds the bytes of an access that hold undefined values, one bit for each byte, and the number of one of these values. For more
    /// than 64 bytes the bits are all set, or there are none.
    fn undefined_bytes(&mut self, _: &Access) -> Option<(u64, u32)> {
        None
    }
    /// A block of a segment of global memory, which `malloc` uses, is allocated, or free again.
    fn heap(&mut self, _segment: usize, _block: Range<u64>, _allocated: bool) {}
    /// Several warps make weak loads or stores. `first` is the access of the first lane of the first warp. True if the probe has seen all
    /// accesses; otherwise the machine reports each warp.
    fn warps(&mut self, _first: &Access, _: &Pieces) -> bool {
        false
    }
    /// Several warps make loads of more than one statement. Each statement after that of `first` has a site, and its accesses are this
    /// many bytes from those of `first`. True if the probe has seen all accesses.
    fn chain(&mut self, _first: &Access, _: &Pieces, _others: &[(u32, i32)]) -> bool {
        false
    }
    /// All threads of a CTA of this many warps pass a barrier, for a probe that needs barriers.
    fn barrier(&mut self, _: Who, _warps: u32) {}
    /// Lanes of a warp test the mbarrier object at this offset of their CTA: `phase` has a parity, and whether its phase is complete. True
    /// if the probe has seen the test; otherwise the machine reports each synchronisation.
    fn test(&mut self, _offset: u32, _phase: (u64, bool), _order: Order, _: Who) -> bool {
        false
    }
    /// Chooses the stores from which strong loads read. With `None` they read what memory holds.
    fn weak(&mut self) -> Option<&mut dyn weak::WeakMemory> {
        None
    }
    /// A copy with this number starts to write a box of a tensor to shared memory.
    fn writes_box(&mut self, _: &SharedBox, _copy: u64, _: Who) {}
    /// A copy starts to read a box of a tensor in shared memory.
    fn reads_box(&mut self, _: &SharedBox, _: Who) -> Result<(), FaultKind> {
        Ok(())
    }
    /// `stmatrix` has written the rows of its matrix with this number to these places of the CTA's shared memory.
    fn writes_rows(&mut self, _matrix: u32, _rows: &[u32], _: Who) {}
    /// An operation reads a matrix in the shared memory of the CTA with this rank.
    fn reads_matrix(&mut self, _: &SharedMatrix, _rank: u32, _: Who) -> Result<(), FaultKind> {
        Ok(())
    }
    /// `ldmatrix` reads the rows of its matrix with this number at these places of the CTA's shared memory.
    fn reads_rows(&mut self, _matrix: u32, _rows: &[u32], _: Who) -> Result<(), FaultKind> {
        Ok(())
    }
    /// Finds the last write to a place of the launch that a thread reads.
    fn last_write(&mut self, _: Place, _: Who) -> LastWrite {
        LastWrite::Unknown
    }
}
