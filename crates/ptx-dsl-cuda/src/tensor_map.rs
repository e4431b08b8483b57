//! Tensor maps as the driver encodes them.

use crate::calls::Called;
use crate::error::GpuError;
use cudarc::driver::sys::{self, *};
use ptx_dsl_runtime::{ElementType, Fields, Fill, Interleave, L2Promotion, Mode, Swizzle};
use std::ffi::c_void;

/// The opaque 128 bytes for a tensor at this address.
pub(crate) fn encode(fields: &Fields, address: u64) -> Result<[u8; 128], GpuError> {
    let mut map = CUtensorMap { opaque: [0; 16] };
    let rank = fields.rank as u32;
    let ty = element(fields.element);
    let (interleave, swizzle) = (interleave(fields.interleave), swizzle(fields.swizzle));
    let (promotion, fill) = (promotion(fields.l2), fill(fields.fill));
    let at = address as usize as *mut c_void;
    let (dims, strides) = (fields.dims.as_ptr(), fields.strides.as_ptr());
    let (steps, pixels) = (fields.element_strides.as_ptr(), &fields.pixels);
    let (channels, columns) = (pixels.channels, pixels.pixels);
    // SAFETY: `map` is one tensor map, and the lists have as many numbers as the largest rank, 5, needs. The driver only encodes the
    // address.
    let (result, call) = unsafe {
        match fields.mode {
            Mode::Im2col => {
                let (lower, upper) = (pixels.lower.as_ptr(), pixels.upper.as_ptr());
                let result = sys::cuTensorMapEncodeIm2col(
                    &mut map, ty, rank, at, dims, strides, lower, upper, channels, columns, steps, interleave, swizzle,
                    promotion, fill,
                );
                (result, "cuTensorMapEncodeIm2col")
            }
            Mode::Im2colW | Mode::Im2colW128 => {
                let mode = match fields.mode {
                    Mode::Im2colW128 => CUtensorMapIm2ColWideMode::CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128,
                    _ => CUtensorMapIm2ColWideMode::CU_TENSOR_MAP_IM2COL_WIDE_MODE_W,
                };
                let (lower, upper) = (pixels.lower[0], pixels.upper[0]);
                let result = sys::cuTensorMapEncodeIm2colWide(
                    &mut map, ty, rank, at, dims, strides, lower, upper, channels, columns, steps, interleave, mode,
                    swizzle, promotion, fill,
                );
                (result, "cuTensorMapEncodeIm2colWide")
            }
            _ => {
                let boxes = fields.box_dims.as_ptr();
                let result = sys::cuTensorMapEncodeTiled(
                    &mut map, ty, rank, at, dims, strides, boxes, steps, interleave, swizzle, promotion, fill,
                );
                (result, "cuTensorMapEncodeTiled")
            }
        }
    };
    result.of(call)?;
    Ok(bytemuck::cast(map.opaque))
}

fn element(of: ElementType) -> CUtensorMapDataType {
    use CUtensorMapDataType as D;
    match of {
        ElementType::U8 => D::CU_TENSOR_MAP_DATA_TYPE_UINT8,
        ElementType::U16 => D::CU_TENSOR_MAP_DATA_TYPE_UINT16,
        ElementType::U32 => D::CU_TENSOR_MAP_DATA_TYPE_UINT32,
        ElementType::S32 => D::CU_TENSOR_MAP_DATA_TYPE_INT32,
        ElementType::U64 => D::CU_TENSOR_MAP_DATA_TYPE_UINT64,
        ElementType::S64 => D::CU_TENSOR_MAP_DATA_TYPE_INT64,
        ElementType::F16 => D::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        ElementType::F32 => D::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        ElementType::F32Ftz => D::CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
        ElementType::F64 => D::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        ElementType::Bf16 => D::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        ElementType::Tf32 => D::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
        ElementType::Tf32Ftz => D::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
        ElementType::B4x16 => D::CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B,
        ElementType::B4x16P64 => D::CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B,
        _ => D::CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B,
    }
}

fn swizzle(of: Swizzle) -> CUtensorMapSwizzle {
    use CUtensorMapSwizzle as S;
    match of {
        Swizzle::B32 => S::CU_TENSOR_MAP_SWIZZLE_32B,
        Swizzle::B64 => S::CU_TENSOR_MAP_SWIZZLE_64B,
        Swizzle::B128 => S::CU_TENSOR_MAP_SWIZZLE_128B,
        Swizzle::B128Atom32 => S::CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B,
        Swizzle::B128Atom32Flip8 => S::CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B,
        Swizzle::B128Atom64 => S::CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B,
        _ => S::CU_TENSOR_MAP_SWIZZLE_NONE,
    }
}

fn interleave(of: Interleave) -> CUtensorMapInterleave {
    use CUtensorMapInterleave as I;
    match of {
        Interleave::B16 => I::CU_TENSOR_MAP_INTERLEAVE_16B,
        Interleave::B32 => I::CU_TENSOR_MAP_INTERLEAVE_32B,
        _ => I::CU_TENSOR_MAP_INTERLEAVE_NONE,
    }
}

fn promotion(of: L2Promotion) -> CUtensorMapL2promotion {
    use CUtensorMapL2promotion as P;
    match of {
        L2Promotion::B64 => P::CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
        L2Promotion::B128 => P::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        L2Promotion::B256 => P::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        _ => P::CU_TENSOR_MAP_L2_PROMOTION_NONE,
    }
}

fn fill(of: Fill) -> CUtensorMapFloatOOBfill {
    use CUtensorMapFloatOOBfill as F;
    match of {
        Fill::Nan => F::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
        _ => F::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    }
}
