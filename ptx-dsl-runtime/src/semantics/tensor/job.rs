//! Tensor copies in flight.

use super::rows::{BoxRow, Run, TensorBox};
use super::swizzle::BoxLayout;
use crate::fault::FaultKind;
use crate::machine::copy::{CopyJob, JobAccess, SharedRange};
use crate::machine::spaces::{GlobalPlace, SharedPlace, Spaces};
use crate::memory::address::Place;
use crate::memory::tensor_map::{ElementType, Fill, Swizzle};
use crate::observe::monitor::Proxy;
use crate::observe::probe::layout::SharedBox;
use crate::semantics::bulk::reduction::Reduction;

/// The bytes of the longest row: 256 elements of 8 bytes.
const LONGEST: usize = 2048;

/// A box of a tensor and its place in shared memory.
#[derive(Debug)]
pub struct Transfer {
    /// The place of the tensor map.
    pub map: Place,
    pub tensor: GlobalPlace,
    pub shared: SharedPlace,
    pub of: TensorBox,
    pub layout: BoxLayout,
}

impl Transfer {
    /// Bytes of shared memory, with padding.
    pub fn extent(&self) -> u64 {
        self.of.count() * u64::from(self.layout.pitch)
    }

    /// The bytes that an mbarrier object counts: without padding, as the loads of Triton and TileLang expect.
    pub fn transferred(&self) -> u64 {
        self.size() as u64
    }

    fn range(&self) -> SharedRange {
        SharedRange::new(self.shared, self.extent() as u32)
    }

    fn shared_box(&self) -> SharedBox {
        let Transfer { shared, of, layout, .. } = self;
        // no address undoes an exchange of halves of 16 bytes
        let whole = layout.swizzle != Swizzle::B128Atom32Flip8;
        let is_matrix = whole && of.map.rank > 1 && of.map.interleave.slice().is_none();
        let (pitch, rows, element) = (layout.pitch, of.count() as u32, of.map.element);
        SharedBox { rank: shared.rank, offset: shared.offset, pitch, rows, swizzle: layout.swizzle, element, is_matrix }
    }

    fn global(&self, row: &BoxRow) -> GlobalPlace {
        self.tensor.plus(row.from)
    }

    /// The offset of a row in shared memory, without swizzle.
    #[inline(always)]
    fn start(&self, row: &BoxRow) -> u32 {
        self.shared.offset + row.index * self.layout.pitch
    }

    /// All bytes of the rows, without padding.
    fn size(&self) -> usize {
        self.of.count() as usize * self.layout.row as usize
    }

    /// Each access to the tensor and to shared memory. Those to bytes that follow each other are one.
    fn accesses(&self, stores: bool) -> Vec<JobAccess> {
        let map = JobAccess { place: self.map, bytes: 128, write: false, proxy: Proxy::Tensormap };
        let (mut of_tensor, mut whole) = (Vec::<JobAccess>::new(), true);
        let done = self.of.rows(|row| {
            whole &= !stores || row.bytes == self.layout.row;
            if row.bytes > 0 {
                let access = JobAccess::of_copy(self.global(&row).place(), row.bytes, stores);
                let joined = of_tensor.last_mut().is_some_and(|last| last.join(&access));
                if !joined {
                    of_tensor.push(access);
                }
            }
            Ok(())
        });
        debug_assert!(done.is_ok());
        let of_shared = if whole && self.is_one_range() {
            vec![JobAccess::of_copy(self.shared.place(), self.extent() as u32, !stores)]
        } else {
            self.pieces(stores)
        };
        [map].into_iter().chain(of_tensor).chain(of_shared).collect()
    }

    /// Are the rows all bytes of one range of shared memory? Swizzles exchange pieces within lines of 128 bytes.
    fn is_one_range(&self) -> bool {
        let BoxLayout { row, pitch, piece, step, .. } = self.layout;
        let lines = self.shared.offset.is_multiple_of(128) && self.extent().is_multiple_of(128);
        row == pitch && piece == step && (self.layout.is_plain() || lines)
    }

    /// The accesses to shared memory, a piece at a time.
    fn pieces(&self, stores: bool) -> Vec<JobAccess> {
        let (mut all, layout) = (Vec::new(), self.layout);
        let pieces =
            if layout.is_plain() { BoxLayout { piece: layout.row, step: layout.row, ..layout } } else { layout };
        let done = self.of.rows(|row| {
            for (at, offset) in pieces.pieces(self.start(&row)) {
                if stores && at >= row.bytes {
                    break;
                }
                let place = SharedPlace { offset, ..self.shared }.place();
                let bytes = match stores {
                    true if self.spreads() => layout.step,
                    true => pieces.piece.min(row.bytes - at),
                    false => pieces.piece,
                };
                all.push(JobAccess::of_copy(place, bytes, !stores));
            }
            Ok(())
        });
        debug_assert!(done.is_ok());
        all
    }

    /// Puts a row into shared memory.
    #[inline(always)]
    fn put(&self, window: &mut [u8], row: &BoxRow, bytes: &[u8]) -> Option<()> {
        let (start, layout) = (self.start(row), self.layout);
        if layout.is_plain() {
            window.get_mut(start as usize..)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
            return Some(());
        }
        if layout.piece == 16 {
            let (pieces, _) = bytes.as_chunks::<16>();
            for (piece, i) in pieces.iter().zip(0..) {
                let at = layout.place(start + 16 * i) as usize;
                *window.get_mut(at..)?.first_chunk_mut::<16>()? = *piece;
            }
            return Some(());
        }
        for (piece, (_, at)) in bytes.chunks_exact(layout.piece as usize).zip(layout.pieces(start)) {
            window.get_mut(at as usize..)?.get_mut(..piece.len())?.copy_from_slice(piece);
        }
        Some(())
    }

    /// Puts whole lines of 128 bytes into shared memory, the most frequent case. `None` if a row is not one, or not all are in `from`,
    /// which begins with the first.
    #[inline(always)]
    fn put_lines(&self, window: &mut [u8], run: &Run, from: &[u8]) -> Option<()> {
        let (start, layout) = (self.start(&run.first) as usize, self.layout);
        if layout.swizzle != Swizzle::B128 || layout.row != 128 || layout.piece != 16 || layout.step != 16 {
            return None;
        }
        let stride = usize::try_from(run.stride).ok()?;
        let (lines, _) = window.get_mut(start..)?.get_mut(..128 * run.count as usize)?.as_chunks_mut::<128>();
        for (i, to) in lines.iter_mut().enumerate() {
            exchange_pieces(to, from.get(i * stride..)?.first_chunk()?, (start >> 7) + i);
        }
        Some(())
    }

    /// Whether a store takes each element of 6 bits in a byte of its own (`.b6p2x16`).
    fn spreads(&self) -> bool {
        self.of.map.element == ElementType::B6x16P32
    }

    /// Takes a row from shared memory.
    #[inline(always)]
    fn take(&self, window: &[u8], row: &BoxRow, to: &mut [u8]) -> Option<()> {
        let (start, layout) = (self.start(row), self.layout);
        if self.spreads() {
            for (piece, (_, at)) in to.chunks_exact_mut(layout.piece as usize).zip(layout.pieces(start)) {
                piece.copy_from_slice(&packed(window.get(at as usize..)?.first_chunk()?));
            }
            return Some(());
        }
        if layout.is_plain() {
            to.copy_from_slice(window.get(start as usize..)?.get(..to.len())?);
            return Some(());
        }
        for (piece, (_, at)) in to.chunks_exact_mut(layout.piece as usize).zip(layout.pieces(start)) {
            piece.copy_from_slice(window.get(at as usize..)?.get(..piece.len())?);
        }
        Some(())
    }

    fn outside(&self, size: usize) -> FaultKind {
        let (addr, bytes) = (self.shared.offset.into(), self.extent() as u32);
        FaultKind::OutOfBounds { space: "shared", addr, bytes, size: size as u64 }
    }
}

/// The low six bits of each byte, without gaps.
fn packed(bytes: &[u8; 16]) -> [u8; 12] {
    let bits = bytes.iter().rev().fold(0u128, |bits, byte| bits << 6 | u128::from(byte & 0x3f));
    std::array::from_fn(|i| (bits >> (8 * i)) as u8)
}

/// Copies a line of 128 bytes, in which the number of the line exchanges pieces of 16.
#[inline(always)]
fn exchange_pieces(to: &mut [u8; 128], from: &[u8; 128], line: usize) {
    let (to, _) = to.as_chunks_mut::<16>();
    let (from, _) = from.as_chunks::<16>();
    for (i, piece) in from.iter().enumerate() {
        to[(i ^ line) & 7] = *piece;
    }
}

/// A copy from a tensor to shared memory.
#[derive(Debug)]
pub struct Load(pub Transfer);

impl Load {
    /// Fills a row with what is outside of the tensor.
    fn fill(&self, row: &mut [u8]) {
        match self.0.of.map.fill {
            Fill::Zero => row.fill(0),
            Fill::Nan => row.chunks_exact_mut(2).for_each(|half| half.copy_from_slice(&[0xf7, 0x7f])),
        }
    }

    /// Does the type change values?
    fn converts(&self) -> bool {
        matches!(self.0.of.map.element, ElementType::Tf32 | ElementType::Tf32Ftz)
    }

    /// Reads a row, with what is outside.
    fn gather(&self, row: &BoxRow, to: &mut [u8], read: impl FnOnce(GlobalPlace, &mut [u8]) -> bool) -> bool {
        let inside = row.before as usize..(row.before + row.bytes) as usize;
        if inside.len() != to.len() {
            self.fill(to);
        }
        let Some(part) = to.get_mut(inside) else { return false };
        if !part.is_empty() && !read(self.0.global(row), part) {
            return false;
        }
        if self.converts() {
            part.as_chunks_mut::<4>()
                .0
                .iter_mut()
                .for_each(|word| *word = tf32(u32::from_le_bytes(*word)).to_le_bytes());
        }
        true
    }
}

/// An f32 rounded to tf32: to nearest, halves away from zero. There is one NaN.
fn tf32(bits: u32) -> u32 {
    if bits & 0x7fff_ffff > 0x7f80_0000 { 0x7fff_e000 } else { bits.wrapping_add(0x1000) & !0x1fff }
}

impl CopyJob for Load {
    fn read(&self, m: &Spaces<'_, '_>) -> Result<Vec<u8>, FaultKind> {
        let (mut bytes, width) = (vec![0; self.0.size()], self.0.layout.row as usize);
        self.0.of.rows(|row| {
            let to = &mut bytes[row.index as usize * width..][..width];
            let mut result = Ok(());
            self.gather(&row, to, |at, part| {
                result = m.read_global(at, part);
                result.is_ok()
            });
            result
        })?;
        Ok(bytes)
    }

    fn write(&self, m: &mut Spaces<'_, '_>, read: Option<Vec<u8>>) -> Result<(), FaultKind> {
        let (t, width) = (&self.0, self.0.layout.row as usize);
        if let Some(bytes) = read {
            let window = m.window_mut(t.shared.rank)?;
            let size = window.len();
            return t.of.rows(|row| {
                let from = &bytes[row.index as usize * width..][..width];
                t.put(window, &row, from).ok_or_else(|| t.outside(size))
            });
        }
        let (global, window) = m.memory.global_and_window(m.cluster, t.shared.rank)?;
        let size = window.len();
        // rows are read where they lie, unless they are converted
        let plain = |row: &BoxRow| {
            let at = t.global(row);
            let (bytes, from) = global.bytes_at(at.segment, at.offset);
            bytes.get(from..).filter(|_| !self.converts())
        };
        let mut buffer = [0; LONGEST];
        t.of.runs(|run| {
            let whole = run.first.bytes as usize == width;
            if whole && plain(&run.first).and_then(|from| t.put_lines(window, &run, from)).is_some() {
                return Ok(());
            }
            run.rows().try_for_each(|row| {
                if let Some(bytes) = plain(&row).and_then(|from| from.get(..width)).filter(|_| whole) {
                    return t.put(window, &row, bytes).ok_or_else(|| t.outside(size));
                }
                let Some(to) = buffer.get_mut(..width) else { return Err(t.outside(size)) };
                if !self.gather(&row, to, |at, part| global.copy_out(at.segment, at.offset, part)) {
                    let at = t.global(&row);
                    global.check(at.segment, at.offset, row.bytes.into(), false)?;
                }
                t.put(window, &row, to).ok_or_else(|| t.outside(size))
            })
        })
    }

    fn source(&self) -> Option<SharedRange> {
        None
    }

    fn destination(&self) -> Option<SharedRange> {
        Some(self.0.range())
    }

    fn shared_box(&self) -> Option<SharedBox> {
        Some(self.0.shared_box())
    }

    fn accesses(&self) -> Vec<JobAccess> {
        self.0.accesses(false)
    }
}

/// A copy from shared memory to a tensor.
#[derive(Debug)]
pub struct TensorStore {
    pub transfer: Transfer,
    pub reduction: Option<Reduction>,
}

impl CopyJob for TensorStore {
    fn read(&self, m: &Spaces<'_, '_>) -> Result<Vec<u8>, FaultKind> {
        let (t, width) = (&self.transfer, self.transfer.layout.row as usize);
        let mut bytes = vec![0; t.size()];
        let window = m.window(t.shared.rank)?;
        t.of.rows(|row| {
            let to = &mut bytes[row.index as usize * width..][..width];
            t.take(window, &row, to).ok_or_else(|| t.outside(window.len()))
        })?;
        Ok(bytes)
    }

    fn write(&self, m: &mut Spaces<'_, '_>, read: Option<Vec<u8>>) -> Result<(), FaultKind> {
        let (t, width) = (&self.transfer, self.transfer.layout.row as usize);
        let bytes = read.map_or_else(|| self.read(m), Ok)?;
        t.of.rows(|row| {
            let from = &bytes[row.index as usize * width + row.before as usize..][..row.bytes as usize];
            let at = t.global(&row);
            // what is after the innermost dimension is written only where there is memory
            let from = match m.memory.global.check(at.segment, at.offset, from.len() as u64, true) {
                Err(_) => &from[..row.inside as usize],
                Ok(()) => from,
            };
            match self.reduction {
                _ if from.is_empty() => Ok(()),
                None => m.write_global(at, from),
                Some(r) => m.reduce_global(at, from, r.size(), &|old, operand| r.combine(old, operand)),
            }
        })
    }

    fn source(&self) -> Option<SharedRange> {
        Some(self.transfer.range())
    }

    fn destination(&self) -> Option<SharedRange> {
        None
    }

    fn reduces(&self) -> bool {
        self.reduction.is_some()
    }

    fn shared_box(&self) -> Option<SharedBox> {
        Some(self.transfer.shared_box())
    }

    fn accesses(&self) -> Vec<JobAccess> {
        self.transfer.accesses(true)
    }
}
