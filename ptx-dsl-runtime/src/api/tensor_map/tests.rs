//! Each rule of the driver about a field, broken alone.

use super::{ElementType, Fill, Interleave, Swizzle, TensorMap, TensorMapBuilder, TensorMapError};

const MEMORY: &[u8] = &[0; 1 << 16];

fn tiled(element: ElementType) -> TensorMapBuilder<'static> {
    TensorMap::tiled(MEMORY, element)
}

/// A tiled map of 128 x 64 f16 with boxes of 64 x 32.
fn matrix() -> TensorMapBuilder<'static> {
    tiled(ElementType::F16).dims([128, 64]).box_dims([64, 32])
}

/// An im2col map of an image of 16 x 8 x 4 x 2 f16.
fn image() -> TensorMapBuilder<'static> {
    TensorMap::im2col(MEMORY, ElementType::F16)
        .dims([16, 8, 4, 2])
        .pixel_box_lower([-1, -1])
        .pixel_box_upper([-1, -1])
        .channels_per_pixel(8)
        .pixels_per_column(64)
}

fn field(map: TensorMapBuilder<'_>) -> String {
    match map.build() {
        Ok(_) => String::new(),
        Err(TensorMapError { field, .. }) => field,
    }
}

#[test]
fn an_error_names_the_field() {
    assert_eq!(field(matrix()), "");
    assert_eq!(field(image()), "");
    let five = tiled(ElementType::U8).dims([16; 6]).box_dims([16; 6]);
    for (wanted, map) in [
        ("tensorRank", five),
        ("tensorRank", matrix().dims(Vec::new())),
        ("tensorRank", matrix().interleave(Interleave::B16)),
        ("globalDim[1]", matrix().dims([128, 0])),
        ("globalDim[0]", matrix().dims([(1 << 32) + 1, 1])),
        ("globalDim", matrix().dims([128, 1024])),
        ("globalDim[0]", tiled(ElementType::B4x16).dims([129, 2]).strides([80]).box_dims([32, 1])),
        ("globalDim[0]", tiled(ElementType::B4x16P64).dims([64, 2]).box_dims([128, 1])),
        ("globalStrides[0]", matrix().strides([264])),
        ("globalStrides[0]", matrix().strides([1 << 40])),
        ("globalStrides", matrix().strides([256, 16384])),
        ("globalStrides[0]", tiled(ElementType::B6x16P32).dims([128, 2]).strides([112]).box_dims([128, 1])),
        ("boxDim[1]", matrix().box_dims([64, 257])),
        ("boxDim[0]", matrix().box_dims([0, 1])),
        ("boxDim[0]", matrix().box_dims([4, 1])),
        ("boxDim[0]", matrix().dims([16, 8, 8]).box_dims([4, 1, 1]).interleave(Interleave::B16)),
        ("boxDim", matrix().box_dims([64])),
        ("boxDim", tiled(ElementType::U8).dims([16])),
        ("boxDim[0]", tiled(ElementType::B4x16P64).dims([128, 2]).box_dims([64, 1])),
        ("boxDim[0]", matrix().swizzle(Swizzle::B64)),
        ("elementStrides[1]", matrix().element_strides([1, 9])),
        ("elementStrides[0]", matrix().element_strides([0, 1])),
        ("swizzle", matrix().dims([16, 8, 8]).box_dims([16, 1, 1]).interleave(Interleave::B32)),
        ("swizzle", tiled(ElementType::B4x16P64).dims([128, 2]).box_dims([128, 1]).swizzle(Swizzle::B128Atom64)),
        ("oobFill", tiled(ElementType::U16).dims([16]).box_dims([16]).fill(Fill::Nan)),
        ("pixelBoxLowerCorner", matrix().pixel_box_lower([0])),
        ("pixelBoxLowerCorner[0]", image().pixel_box_lower([-129, 0])),
        ("pixelBoxUpperCorner[1]", image().pixel_box_upper([0, 128])),
        ("pixelBoxUpperCorner[0]", image().pixel_box_upper([-9, 0])),
        ("pixelBoxUpperCorner", image().pixel_box_upper([0])),
        ("channelsPerPixel", image().channels_per_pixel(257)),
        ("channelsPerPixel", image().channels_per_pixel(4)),
        ("pixelsPerColumn", image().pixels_per_column(1025)),
        ("pixelsPerColumn", image().pixels_per_column(0)),
        ("boxDim", image().box_dims([8, 8, 8, 8])),
        ("tensorRank", image().dims([16, 8])),
    ] {
        assert_eq!(field(map), wanted);
    }
}

#[test]
fn an_error_says_what_is_wrong() {
    let text = matrix().swizzle(Swizzle::B64).build().unwrap_err().to_string();
    assert_eq!(text, "`boxDim[0]` of the tensor map is 64: 128 bytes, but the swizzle needs at most 64");
    let text = matrix().dims([128, 1024]).build().unwrap_err().to_string();
    assert_eq!(text, "`globalDim` of the tensor map is that of 262144 bytes, but the memory has 65536");
}
