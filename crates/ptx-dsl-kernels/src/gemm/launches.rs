//! The functions that launch the kernel.

use super::{Cluster, Plan, Shape, gemm};
use crate::Error;
use half::{bf16, f16};
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, Swizzle, TensorMap};

fn operand<T: bytemuck::Pod>(
    x: &[T],
    element: ElementType,
    [rows, k]: [usize; 2],
    box_rows: u32,
) -> Result<TensorMap<'_>, Error> {
    let map =
        TensorMap::tiled(x, element).dims([k as u64, rows as u64]).box_dims([128 / size_of::<T>() as u32, box_rows]);
    Ok(map.swizzle(Swizzle::B128).build()?)
}

/// Launches the instance of a width.
macro_rules! instance {
    ($type:literal, $plan:ident, $device:ident, $launch:ident, $arguments:ident, [$($width:literal)*]) => {
        match ($plan.width(), $plan.cluster()) {
            $(
                ($width, Cluster::Pair) => gemm::<$width, $type, 1>.launch($device, $launch, $arguments),
                ($width, _) => gemm::<$width, $type, 0>.launch($device, $launch, $arguments),
            )*
            _ => unreachable!("a plan has one of these widths"),
        }
    };
}

macro_rules! front {
    ($(#[$doc:meta])* $name:ident($($scale:ident: $scale_type:ty),*), $from:ty, $input:ident, $to:ty, $output:ident, $type:literal, $scales:expr) => {
        $(#[$doc])*
        ///
        /// `k` and `n` are multiples of 8 (`k` of 16 for e4m3, `n` of 4 if C is f32), because a tensor map has rows of multiples of 16 bytes;
        /// `m` is any number.
        ///
        /// # Errors
        /// A length does not fit the shape, a dimension is not such a multiple, or the launch fails.
        pub fn $name(device: &impl Device, a: &[$from], b: &[$from], c: &mut [$to], plan: Plan $(, $scale: $scale_type)*) -> Result<Report, Error> {
            let Shape { m, n, k } = plan.shape();
            Error::unless_length("a", a.len(), m * k)?;
            Error::unless_length("b", b.len(), n * k)?;
            Error::unless_length("c", c.len(), m * n)?;
            let (scale, a_scales, b_scales): (f32, &[f32], &[f32]) = $scales;
            let scaled = u32::from(!a_scales.is_empty());
            if scaled != 0 {
                Error::unless_length("a_scales", a_scales.len(), m)?;
                Error::unless_length("b_scales", b_scales.len(), n)?;
            }
            let a = operand(a, ElementType::$input, [m, k], plan.height())?;
            let b = operand(b, ElementType::$input, [n, k], if plan.cluster() == Cluster::Pair { plan.width() / 2 } else { plan.width() })?;
            let columns = plan.box_bytes() / size_of::<$to>() as u32;
            let c = TensorMap::tiled(c, ElementType::$output).dims([n as u64, m as u64]).box_dims([columns, 64]);
            let c = c.swizzle(plan.swizzle()).build()?;
            let launch = Launch::grid(plan.ctas()).cluster(plan.cluster().ctas()).dynamic_shared(plan.shared_memory()).programmatic();
            let arguments = (&a, &b, &c, m as u32, n as u32, k as u32, scale, scaled, a_scales, b_scales);
            Ok(instance!($type, plan, device, launch, arguments, [256 192 144 128 64])?)
        }
    };
}
front!(
    /// C = A * B^T of bf16, rounded to bf16.
    bf16_bf16(), bf16, Bf16, bf16, Bf16, 0, (1.0, &[], &[]));
front!(
    /// C = A * B^T of bf16, in f32.
    bf16_f32(), bf16, Bf16, f32, F32, 4, (1.0, &[], &[]));
front!(
    /// C = A * B^T of f16, rounded to f16.
    f16_f16(), f16, F16, f16, F16, 1, (1.0, &[], &[]));
front!(
    /// C = A * B^T of f16, in f32.
    f16_f32(), f16, F16, f32, F32, 5, (1.0, &[], &[]));
front!(
    /// C = scale * A * B^T of e4m3 (`torch.float8_e4m3fn`), rounded to bf16. The sums are those of the tensor cores, which keep fewer bits
    /// than f32.
    e4m3_bf16(scale: f32), u8, U8, bf16, Bf16, 2, (scale, &[], &[]));
front!(
    /// C = A * B^T of e4m3, each element times the scale of its row of A and that of its row of B, rounded to bf16. The sums are as those of
    /// [`e4m3_bf16`]. A part of `b_scales` begins at a multiple of 8 bytes.
    e4m3_rows_bf16(a_scales: &[f32], b_scales: &[f32]), u8, U8, bf16, Bf16, 2, (1.0, a_scales, b_scales));
