//! The fields of a tensor map, and their opaque form of 128 bytes.
//!
//! The encoding is that of this host. Every field has bytes of its own, so that `tensormap.replace` writes one without the others,
//! and 128 zeros are a map of rank 1 whose sizes are 1.

/// The type of the elements of a tensor (`CUtensorMapDataType`, `.elemtype`).
///
/// The last three are packed: 16 numbers of 4 or 6 bits. In shared memory they fill 8 or 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
#[non_exhaustive]
pub enum ElementType {
    /// `.u8`
    #[default]
    U8,
    /// `.u16`
    U16,
    /// `.u32`
    U32,
    /// `.s32`
    S32,
    /// `.u64`
    U64,
    /// `.s64`
    S64,
    /// `.f16`
    F16,
    /// `.f32`
    F32,
    /// `.f32.ftz`: subnormal numbers become zeros
    F32Ftz,
    /// `.f64`
    F64,
    /// `.bf16`
    Bf16,
    /// `.tf32`: an `f32` that is rounded to 10 bits of mantissa
    Tf32,
    /// `.tf32.ftz`: the same, and subnormal numbers become zeros
    Tf32Ftz,
    /// `16U4_ALIGN8B`: 16 numbers of 4 bits in 8 bytes
    B4x16,
    /// `16U4_ALIGN16B`: elements like `16U4_ALIGN8B`, with 8 bytes of padding after them in shared memory
    B4x16P64,
    /// `16U6_ALIGN16B`: 16 numbers of 6 bits in 12 bytes. Loads leave 4 bytes of padding after them in shared memory (`.b6x16_p32`), where
    /// stores take each from the low bits of a byte of its own (`.b6p2x16`)
    B6x16P32,
}

/// Elements that are copied as one piece: one, or those that a byte or a packed group holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit {
    pub elements: u32,
    /// Bytes in global memory.
    pub global: u32,
    /// Bytes in shared memory, with padding.
    pub shared: u32,
}

impl ElementType {
    const ALL: [ElementType; 16] = {
        use ElementType::*;
        [U8, U16, U32, S32, U64, S64, F16, F32, F32Ftz, F64, Bf16, Tf32, Tf32Ftz, B4x16, B4x16P64, B6x16P32]
    };

    pub(crate) const fn unit(self) -> Unit {
        use ElementType::*;
        let (elements, global, shared) = match self {
            U8 => (1, 1, 1),
            U16 | F16 | Bf16 => (1, 2, 2),
            U32 | S32 | F32 | F32Ftz | Tf32 | Tf32Ftz => (1, 4, 4),
            U64 | S64 | F64 => (1, 8, 8),
            B4x16 => (2, 1, 1),
            B4x16P64 => (16, 8, 16),
            B6x16P32 => (16, 12, 16),
        };
        Unit { elements, global, shared }
    }

    pub(crate) fn is_float(self) -> bool {
        use ElementType::*;
        matches!(self, F16 | F32 | F32Ftz | F64 | Bf16 | Tf32 | Tf32Ftz)
    }

    /// Whether the elements are smaller than a byte.
    pub(crate) fn is_packed(self) -> bool {
        self.unit().elements > 1
    }

    /// Whether the elements are padded in shared memory.
    pub(crate) fn is_padded(self) -> bool {
        matches!(self, ElementType::B4x16P64 | ElementType::B6x16P32)
    }
}

/// The permutation of shared memory (`CUtensorMapSwizzle`, `.swizzle_mode` and `.swizzle_atomicity`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Swizzle {
    /// The bytes stay in their order.
    #[default]
    None,
    /// `32B`: 16-byte pieces exchange places within 32 bytes
    B32,
    /// `64B`: within 64 bytes
    B64,
    /// `128B`: within 128 bytes
    B128,
    /// `128B_ATOM_32B`: pieces of 32 bytes within 128
    B128Atom32,
    /// `128B_ATOM_32B_FLIP_8B`: like `128B_ATOM_32B`, with the halves of each 16 bytes exchanged in every second row
    B128Atom32Flip8,
    /// `128B_ATOM_64B`: pieces of 64 bytes within 128
    B128Atom64,
}

impl Swizzle {
    /// Codes of `.swizzle_mode` and `.swizzle_atomicity`.
    fn codes(self) -> (u8, u8) {
        match self {
            Swizzle::None => (0, 0),
            Swizzle::B32 => (1, 0),
            Swizzle::B64 => (2, 0),
            Swizzle::B128 => (3, 0),
            Swizzle::B128Atom32 => (3, 1),
            Swizzle::B128Atom32Flip8 => (3, 2),
            Swizzle::B128Atom64 => (3, 3),
        }
    }

    fn from_codes(mode: u8, atomicity: u8) -> Option<Swizzle> {
        use Swizzle::*;
        [None, B32, B64, B128, B128Atom32, B128Atom32Flip8, B128Atom64]
            .into_iter()
            .find(|s| s.codes() == (mode, atomicity))
    }

    /// The number of bytes within which the swizzle permutes; 0 without a swizzle.
    pub(crate) fn span(self) -> u32 {
        match self {
            Swizzle::None => 0,
            Swizzle::B32 => 32,
            Swizzle::B64 => 64,
            _ => 128,
        }
    }
}

/// Interleaved layouts (`CUtensorMapInterleave`).
///
/// Channels lie in slices of 16 or 32 bytes, and the dimensions are width, height, depth, slices and images: dimension 0 counts pixels,
/// each of which has one slice, and the last but one counts slices. A copy has one slice of each pixel, whatever `boxDim` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
#[non_exhaustive]
pub enum Interleave {
    /// The channels are not interleaved.
    #[default]
    None,
    /// `16B`: slices of 16 bytes (`NC/8HWC8`)
    B16,
    /// `32B`: slices of 32 bytes (`NC/16HWC16`)
    B32,
}

impl Interleave {
    /// Bytes of a slice.
    pub(crate) fn slice(self) -> Option<u32> {
        match self {
            Interleave::None => None,
            Interleave::B16 => Some(16),
            Interleave::B32 => Some(32),
        }
    }
}

/// The value that a load gives for elements outside of the tensor (`CUtensorMapFloatOOBfill`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
#[non_exhaustive]
pub enum Fill {
    /// zeros
    #[default]
    Zero,
    /// a NaN: `0x7ff7` in each 16 bits
    Nan,
}

/// The size of L2 requests (`CUtensorMapL2promotion`). It has no effect on the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
#[non_exhaustive]
pub enum L2Promotion {
    /// No promotion
    #[default]
    None,
    /// Reads of 64 bytes
    B64,
    /// Reads of 128 bytes
    B128,
    /// Reads of 256 bytes
    B256,
}

/// The addressing mode of boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
#[non_exhaustive]
pub enum Mode {
    /// A box of elements (`tile`)
    #[default]
    Tiled,
    /// `im2col`
    Im2col,
    /// `im2col::w`
    Im2colW,
    /// `im2col::w::128`
    Im2colW128,
}

impl Mode {
    const ALL: [Mode; 4] = [Mode::Tiled, Mode::Im2col, Mode::Im2colW, Mode::Im2colW128];

    /// Are the pixels along the width only?
    pub fn is_wide(self) -> bool {
        matches!(self, Mode::Im2colW | Mode::Im2colW128)
    }

    /// Dimensions of the bounding box of a tensor of this rank.
    pub fn spatial(self, rank: usize) -> usize {
        if self.is_wide() { 1 } else { rank.saturating_sub(2) }
    }
}

/// The fields of a tensor map. The innermost dimension comes first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fields {
    /// `globalAddress`: 0 before the launch.
    pub address: u64,
    /// The part of a tensor that a copy takes.
    pub mode: Mode,
    /// `tensorRank`: 1 to 5. Only so many numbers of the lists below count.
    pub rank: usize,
    /// `tensorDataType`
    pub element: ElementType,
    /// `globalDim`
    pub dims: [u64; 5],
    /// `globalStrides`: in bytes, of each dimension but the innermost.
    pub strides: [u64; 4],
    /// `boxDim`, of a tiled map
    pub box_dims: [u32; 5],
    /// `elementStrides`
    pub element_strides: [u32; 5],
    /// `interleave`
    pub interleave: Interleave,
    /// `swizzle`
    pub swizzle: Swizzle,
    /// `oobFill`
    pub fill: Fill,
    /// `l2Promotion`
    pub l2: L2Promotion,
    /// The box of an im2col map
    pub pixels: PixelBox,
}

/// The parameters of `im2col` maps, which replace box dimensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PixelBox {
    /// `pixelBoxLowerCorner`: an offset in width, height and depth.
    pub lower: [i32; 3],
    /// `pixelBoxUpperCorner`
    pub upper: [i32; 3],
    /// `channelsPerPixel`
    pub channels: u32,
    /// `pixelsPerColumn`
    pub pixels: u32,
}

/// The byte offsets of the fields in the encoding.
pub(crate) mod at {
    pub const ADDRESS: usize = 0;
    pub const DIMS: usize = 8;
    pub const RANK: usize = 28;
    pub const ELEMENT: usize = 29;
    pub const INTERLEAVE: usize = 30;
    pub const SWIZZLE: usize = 31;
    pub const STRIDES: usize = 32;
    pub const ATOMICITY: usize = 64;
    pub const FILL: usize = 65;
    pub const MODE: usize = 66;
    pub const L2: usize = 67;
    pub const BOX: usize = 68;
    pub const ELEMENT_STRIDES: usize = 78;
    pub const LOWER: usize = 84;
    pub const UPPER: usize = 90;
    pub const CHANNELS: usize = 96;
    pub const PIXELS: usize = 98;
    /// The rest is zero.
    pub const END: usize = 100;
}

impl Default for Fields {
    fn default() -> Self {
        Fields {
            address: 0,
            mode: Mode::Tiled,
            rank: 1,
            element: ElementType::U8,
            dims: [1; 5],
            strides: [0; 4],
            box_dims: [1; 5],
            element_strides: [1; 5],
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            fill: Fill::Zero,
            l2: L2Promotion::None,
            pixels: PixelBox { lower: [0; 3], upper: [0; 3], channels: 0, pixels: 0 },
        }
    }
}

impl Fields {
    /// The opaque form.
    pub fn encode(&self) -> [u8; 128] {
        let mut to = [0; 128];
        let mut put = |at: usize, bytes: &[u8]| to[at..at + bytes.len()].copy_from_slice(bytes);
        put(at::ADDRESS, &self.address.to_le_bytes());
        put(at::RANK, &[self.rank as u8 - 1, self.element as u8, self.interleave as u8]);
        let (mode, atomicity) = self.swizzle.codes();
        put(at::SWIZZLE, &[mode]);
        put(at::ATOMICITY, &[atomicity, self.fill as u8, self.mode as u8, self.l2 as u8]);
        for i in 0..5 {
            put(at::DIMS + 4 * i, &(self.dims[i].wrapping_sub(1) as u32).to_le_bytes());
            put(at::BOX + 2 * i, &(self.box_dims[i].wrapping_sub(1) as u16).to_le_bytes());
            put(at::ELEMENT_STRIDES + i, &[self.element_strides[i].wrapping_sub(1) as u8]);
        }
        (0..4).for_each(|i| put(at::STRIDES + 8 * i, &self.strides[i].to_le_bytes()));
        for i in 0..3 {
            put(at::LOWER + 2 * i, &(self.pixels.lower[i] as i16).to_le_bytes());
            put(at::UPPER + 2 * i, &(self.pixels.upper[i] as i16).to_le_bytes());
        }
        put(at::CHANNELS, &(self.pixels.channels as u16).to_le_bytes());
        put(at::PIXELS, &(self.pixels.pixels as u16).to_le_bytes());
        to
    }

    /// The fields of an opaque form; `None` if these bytes are not one.
    pub fn decode(from: &[u8; 128]) -> Option<Fields> {
        let half = |at: usize| u16::from_le_bytes([from[at], from[at + 1]]);
        let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        if from[at::END..].iter().any(|b| *b != 0) || from[at::RANK] > 4 {
            return None;
        }
        let corner = |at: usize| std::array::from_fn(|i| i32::from(half(at + 2 * i) as i16));
        Some(Fields {
            address: long(at::ADDRESS),
            mode: *Mode::ALL.get(usize::from(from[at::MODE]))?,
            rank: usize::from(from[at::RANK]) + 1,
            element: *ElementType::ALL.get(usize::from(from[at::ELEMENT]))?,
            dims: std::array::from_fn(|i| u64::from(word(at::DIMS + 4 * i)) + 1),
            strides: std::array::from_fn(|i| long(at::STRIDES + 8 * i)),
            box_dims: std::array::from_fn(|i| u32::from(half(at::BOX + 2 * i)) + 1),
            element_strides: std::array::from_fn(|i| u32::from(from[at::ELEMENT_STRIDES + i]) + 1),
            interleave: *[Interleave::None, Interleave::B16, Interleave::B32].get(usize::from(from[at::INTERLEAVE]))?,
            swizzle: Swizzle::from_codes(from[at::SWIZZLE], from[at::ATOMICITY])?,
            fill: *[Fill::Zero, Fill::Nan].get(usize::from(from[at::FILL]))?,
            l2: *[L2Promotion::None, L2Promotion::B64, L2Promotion::B128, L2Promotion::B256]
                .get(usize::from(from[at::L2]))?,
            pixels: PixelBox {
                lower: corner(at::LOWER),
                upper: corner(at::UPPER),
                channels: half(at::CHANNELS).into(),
                pixels: half(at::PIXELS).into(),
            },
        })
    }

    /// Has an opaque form the `.swizzle_mode` of 96 bytes, which maps of this host do not have?
    pub fn swizzles_96_bytes(from: &[u8; 128]) -> bool {
        from[at::SWIZZLE] == 4
    }

    /// Elements of a row of the box: along the innermost dimension.
    pub fn inner(&self) -> u32 {
        match self.mode {
            Mode::Tiled => self.box_dims[0],
            _ => self.pixels.channels,
        }
    }

    /// Bytes of a row of the box in shared memory.
    pub fn row_bytes(&self) -> u32 {
        let unit = self.element.unit();
        self.inner().div_ceil(unit.elements) * unit.shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_encoded_and_decoded() {
        let map = Fields {
            address: 0x200_0000_0010,
            rank: 5,
            element: ElementType::Bf16,
            dims: [1 << 32, 2, 3, 4, 5],
            strides: [16, 32, 48, (1 << 40) - 16],
            box_dims: [256, 1, 7, 8, 9],
            element_strides: [1, 2, 8, 4, 5],
            interleave: Interleave::B32,
            swizzle: Swizzle::B128Atom32Flip8,
            fill: Fill::Nan,
            l2: L2Promotion::B128,
            mode: Mode::Im2col,
            pixels: PixelBox { lower: [-32768, 2, -3], upper: [32767, -5, 6], channels: 256, pixels: 1024 },
        };
        assert_eq!(Fields::decode(&map.encode()), Some(map));
        assert_eq!(Fields::decode(&[0; 128]), Some(Fields::default()));
        for (at, value) in
            [(at::RANK, 5), (at::ELEMENT, 16), (at::SWIZZLE, 4), (at::ATOMICITY, 1), (at::MODE, 4), (127, 1)]
        {
            let mut bytes = [0; 128];
            bytes[at] = value;
            assert_eq!(Fields::decode(&bytes), None, "byte {at}");
        }
    }
}
