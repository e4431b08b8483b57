//! A multiplication in flight: its operands, decoded and checked against each other.

use crate::fault::FaultKind;
use crate::memory::tmem;
use crate::numerics::matrix::format::{Format, Packing};
use crate::numerics::qual::{Q, q};
use crate::numerics::simd::InstructionSet;
use crate::semantics::tcgen05::descriptor::instruction::{Accumulator, Generation, Instruction, MmaForm};
use crate::semantics::tcgen05::descriptor::{ABSOLUTE, Major, Shared, Swizzle, ZeroColumns, wrong};
use crate::semantics::tcgen05::layout::DataPath;

/// Bytes of a column of B that `.decompress::lut::b` decompresses: 128 indices of 3 bits, of which half are used.
pub(super) const COMPRESSED: usize = 48;

/// The place of A.
#[derive(Debug, Clone, Copy)]
pub(super) enum A {
    Shared(Shared),
    Tmem(u32),
}

/// An operation in flight.
#[derive(Debug)]
pub(super) struct Multiply {
    pub(super) form: MmaForm,
    pub(super) instruction: Instruction,
    pub(super) path: DataPath,
    pub(super) a: A,
    pub(super) b: Shared,
    pub(super) d: u32,
    /// Addresses of the scale factors of A and B.
    pub(super) scales: [u32; 2],
    /// Address of the sparsity metadata.
    pub(super) metadata: u32,
    /// Address of the lookup tables of `.decompress::lut::b`.
    pub(super) lut: u32,
    /// A bit for each lane that keeps its D, of the even CTA and the odd one.
    pub(super) disabled: [u128; 2],
    /// enable-input-d
    pub(super) accumulate: bool,
    /// 2^-scale-input-d
    pub(super) scale_d: f32,
    pub(super) zero_columns: Option<ZeroColumns>,
    /// Adds as a tensor core does, with this instruction set; else in f32.
    pub(super) exact: Option<InstructionSet>,
}

/// A fault of an address in Tensor Memory.
pub(super) fn bad_address<T>(what: String) -> Result<T, FaultKind> {
    Err(FaultKind::TensorMemory { what, help: "" })
}

impl Multiply {
    /// Decodes the qualifiers, the target and the values of the operands.
    pub(super) fn new(q: Q, sparse: bool, ws: bool, target: Generation, s: &[u64]) -> Result<Multiply, FaultKind> {
        let form = MmaForm::of(q, sparse, ws, target)?;
        let missing = || FaultKind::Internal("too few operands of `tcgen05.mma`".into());
        let mut left = s.iter().copied();
        let mut next = || left.next().ok_or_else(missing);
        let (d, a, b) = (next()? as u32, next()?, next()?);
        let lut = if form.lut { next()? as u32 } else { 0 };
        let metadata = if sparse { next()? as u32 } else { 0 };
        let instruction = Instruction::decode(form, next()? as u32)?;
        let scales = if form.vector > 0 { [next()? as u32, next()? as u32] } else { [0; 2] };
        let rest: Vec<u64> = left.collect();
        let masks = if form.pair { 8 } else { 4 };
        let mut disabled = [0; 2];
        let rest = if form.vector == 0 && !ws && rest.len() > masks {
            for (i, &mask) in rest[..masks].iter().enumerate() {
                disabled[i / 4] |= u128::from(mask as u32) << (32 * (i % 4));
            }
            &rest[masks..]
        } else {
            &rest[..]
        };
        let accumulate = rest.first().ok_or_else(missing)? & 1 != 0;
        let extra = rest.get(1).copied();
        let zero_columns = match extra {
            Some(x) if ws => Some(ZeroColumns::decode(x, instruction.m, instruction.max_shift)?),
            _ => None,
        };
        let scale = if ws { 0 } else { extra.unwrap_or(0) as u32 & 15 };
        let path = DataPath::of(instruction.m, form.pair, sparse, ws)
            .ok_or_else(|| FaultKind::Internal(format!("no data path for M = {}", instruction.m)))?;
        let a = if q.has(q::a_tmem) { A::Tmem(a as u32) } else { A::Shared(Shared::decode(a, "A", false)?) };
        let b = Shared::decode(b, "B", form.lut)?;
        let scale_d = f32::from_bits((127 - scale) << 23);
        let job = Multiply {
            form,
            instruction,
            path,
            a,
            b,
            d,
            scales,
            metadata,
            lut,
            disabled,
            accumulate,
            scale_d,
            zero_columns,
            exact: None,
        };
        job.check()?;
        Ok(job)
    }

    /// Checks that involve several operands.
    fn check(&self) -> Result<(), FaultKind> {
        let Instruction { formats, major, .. } = self.instruction;
        let (lane, _) = tmem::split(self.d);
        if !self.path.starts_at(lane) {
            return bad_address(format!(
                "the address of D begins at lane {lane}, where layout {:?} of M = {} cannot",
                self.path, self.instruction.m
            ));
        }
        match self.a {
            A::Shared(shared) => swizzling(formats[0], major[0], shared, "A")?,
            A::Tmem(a) => {
                let (a_lane, _) = tmem::split(a);
                if a_lane != lane {
                    return bad_address(format!("the address of A begins at lane {a_lane}, that of D at lane {lane}"));
                }
                if major[0] == Major::Mn {
                    let field = "transpose A (bit 15) of the instruction descriptor";
                    return wrong(field, "A in Tensor Memory cannot be transposed");
                }
            }
        }
        swizzling(formats[1], major[1], self.b, "B")?;
        if let A::Shared(shared) = self.a {
            self.absolute(0, shared, "A")?;
        }
        self.absolute(1, self.b, "B")?;
        if self.form.sparse && tmem::split(self.metadata).0 != lane {
            let (other, _) = tmem::split(self.metadata);
            return bad_address(format!(
                "the address of the sparsity metadata begins at lane {other}, that of D at lane {lane}"
            ));
        }
        if self.form.lut && !tmem::split(self.lut).1.is_multiple_of(2) {
            return bad_address(format!("the address {:#x} of the lookup tables is in the middle of one", self.lut));
        }
        if self.form.ashift {
            self.shifting()?;
        }
        Ok(())
    }

    /// Absolute leading addresses are for rows of 48 bytes, K-major, 128-byte swizzling (9.7.16.3.1.2).
    fn absolute(&self, side: usize, shared: Shared, of: &str) -> Result<(), FaultKind> {
        if !shared.absolute {
            return Ok(());
        }
        let only = if self.form.generation == Generation::Sm100 {
            "1 is for sm_103a and sm_107a only".to_string()
        } else if self.row_bytes(side) != 48 || self.instruction.major[side] != Major::K {
            format!("1, but {of} does not have rows of 48 bytes")
        } else if shared.swizzle != Swizzle::B128 {
            format!("1, but {of} is not swizzled in 128 bytes")
        } else if !shared.leading.is_multiple_of(128) {
            format!("1, but the address {:#x} is not one of a row of 128 bytes", shared.leading)
        } else {
            return Ok(());
        };
        wrong(ABSOLUTE, only)
    }

    /// Bytes of a row of A (0) or a column of B (1) in shared memory.
    pub(super) fn row_bytes(&self, side: usize) -> usize {
        if side == 1 && self.form.lut {
            return COMPRESSED;
        }
        let k = if side == 0 { self.stored_k() } else { self.instruction.k };
        k / self.packing(side).elements() * 16
    }

    /// `.ashift` moves whole matrices of A only.
    fn shifting(&self) -> Result<(), FaultKind> {
        let m = self.instruction.m;
        match (m, self.form.pair, self.form.sparse) {
            (128, true, true) => Err(FaultKind::NotYet { what: "`.ashift` of a sparse A with M = 128".into() }),
            (128 | 256, ..) => Ok(()),
            _ => wrong(
                "M (bits 24-28) of the instruction descriptor",
                format!("{m}, but `.ashift` is for M = 128 and M = 256"),
            ),
        }
    }

    /// The packing of the elements of A (0) or B (1) in memory.
    pub(super) fn packing(&self, side: usize) -> Packing {
        let (format, dense4) = (self.instruction.formats[side], self.form.vector > 1);
        match self.a {
            A::Tmem(_) if side == 0 => Packing::in_tmem(format, dense4),
            _ => Packing::in_shared(format, dense4),
        }
    }

    /// Adds floating-point numbers as a tensor core does?
    pub(super) fn fuses(&self) -> Option<InstructionSet> {
        self.exact.filter(|_| !matches!(self.instruction.d, Accumulator::S32 { .. }))
    }

    /// Elements of a row of A in memory.
    pub(super) fn stored_k(&self) -> usize {
        if self.form.sparse { self.instruction.k / 2 } else { self.instruction.k }
    }

    /// Columns of B in each CTA, those left out by the shift included.
    pub(super) fn columns_of_b(&self) -> usize {
        let shift = self.zero_columns.map_or(0, |z| z.shift as usize);
        if self.form.pair { self.instruction.n / 2 } else { self.instruction.n + shift }
    }
}

/// Transposing 32-bit elements takes the swizzling mode with 32-byte atomicity, and transposing others cannot use it
/// (Table 52).
fn swizzling(format: Format, major: Major, shared: Shared, of: &str) -> Result<(), FaultKind> {
    let atom32 = shared.swizzle == Swizzle::B128Atom32;
    if major == Major::Mn && atom32 != (format == Format::Tf32) {
        let only = if atom32 { "transposes tf32 only" } else { "cannot transpose tf32" };
        return wrong(
            "swizzling mode (bits 61-63) of the shared-memory descriptor",
            format!("{:?} of {of} {only}", shared.swizzle),
        );
    }
    Ok(())
}
