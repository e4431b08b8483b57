//! Tensor maps as arguments: `tensormap(f16[128,64]:iota, box=64x32, swizzle=128)`.

use ptx_dsl::tensor_map::{
    ElementType, Fill, Interleave, Swizzle, Tensor, TensorMap, TensorMapBuilder, TensorMapError,
};

use super::data::{Data, Element};
use super::small::Small;

/// The mode of a map, if `mode=` gives one.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    Tiled,
    Im2col,
    Im2colW,
    Im2colW128,
}

/// What stands in the parentheses, without the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Fields {
    ty: Option<ElementType>,
    /// Without one, `channels=` makes an im2col map.
    mode: Option<Mode>,
    interleave: Interleave,
    /// Of the array, the innermost first, if it is not that of the data.
    dims: Option<Vec<u64>>,
    strides: Option<Vec<u64>>,
    boxes: Option<Vec<u32>>,
    steps: Option<Vec<u32>>,
    swizzle: Swizzle,
    fill: Fill,
    lower: Option<Vec<i32>>,
    upper: Option<Vec<i32>>,
    channels: Option<u32>,
    pixels: u32,
}

/// Numbers with `x` between them.
fn list<T: std::str::FromStr>(name: &str, text: &str) -> Result<Vec<T>, String> {
    let number = |part: &str| part.trim().replace('_', "").parse();
    let numbers =
        text.split('x').map(|part| number(part).map_err(|_| format!("`{name}={text}`: write `{name}=64x32`")));
    numbers.collect()
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("`{name}={text}` is not a number"))
}

fn element(name: &str) -> Option<ElementType> {
    use ElementType::*;
    Some(match name {
        "u8" | "b8" => U8,
        "u16" | "b16" => U16,
        "u32" | "b32" => U32,
        "s32" | "i32" => S32,
        "u64" | "b64" => U64,
        "s64" | "i64" => S64,
        "f16" => F16,
        "f32" => F32,
        "f32ftz" => F32Ftz,
        "f64" => F64,
        "bf16" => Bf16,
        "tf32" => Tf32,
        "tf32ftz" => Tf32Ftz,
        "b4x16" => B4x16,
        "b4x16_p64" => B4x16P64,
        "b6x16_p32" => B6x16P32,
        _ => return None,
    })
}

/// The type of elements of data.
fn of_data(of: Element) -> Option<ElementType> {
    match of.small {
        Some(Small::E2m1) => Some(ElementType::B4x16),
        Some(_) => Some(ElementType::U8),
        None => element(of.ty.name()),
    }
}

impl Fields {
    /// From `name=value` and so on.
    pub fn from_text<'t>(fields: impl Iterator<Item = &'t str>) -> Result<Fields, String> {
        let mut all = Fields {
            ty: None,
            mode: None,
            interleave: Interleave::None,
            dims: None,
            strides: None,
            boxes: None,
            steps: None,
            swizzle: Swizzle::None,
            fill: Fill::Zero,
            lower: None,
            upper: None,
            channels: None,
            pixels: 0,
        };
        let mut names = Vec::new();
        for field in fields {
            let (name, text) = field.split_once('=').ok_or_else(|| format!("`{field}`: write `box=64x32`"))?;
            let (name, text) = (name.trim(), text.trim());
            if names.contains(&name) {
                return Err(format!("two values for `{name}` of a tensor map"));
            }
            names.push(name);
            match name {
                "type" => {
                    all.ty = Some(element(text).ok_or_else(|| format!("`{text}` is not a type of a tensor map"))?)
                }
                "mode" => {
                    all.mode = Some(match text {
                        "tile" => Mode::Tiled,
                        "im2col" => Mode::Im2col,
                        "im2col::w" => Mode::Im2colW,
                        "im2col::w::128" => Mode::Im2colW128,
                        _ => return Err(format!("`mode={text}`: it is tile, im2col, im2col::w or im2col::w::128")),
                    })
                }
                "interleave" => {
                    all.interleave = match text {
                        "none" | "0" => Interleave::None,
                        "16" => Interleave::B16,
                        "32" => Interleave::B32,
                        _ => return Err(format!("`interleave={text}`: it is 16 or 32")),
                    }
                }
                "dims" => all.dims = Some(list(name, text)?),
                "strides" => all.strides = Some(list(name, text)?),
                "box" => all.boxes = Some(list(name, text)?),
                "steps" => all.steps = Some(list(name, text)?),
                "lower" => all.lower = Some(list(name, text)?),
                "upper" => all.upper = Some(list(name, text)?),
                "channels" => all.channels = Some(number(name, text)?),
                "pixels" => all.pixels = number(name, text)?,
                "swizzle" => {
                    all.swizzle = match text {
                        "none" | "0" => Swizzle::None,
                        "32" => Swizzle::B32,
                        "64" => Swizzle::B64,
                        "128" => Swizzle::B128,
                        "128/32" => Swizzle::B128Atom32,
                        "128/32flip8" => Swizzle::B128Atom32Flip8,
                        "128/64" => Swizzle::B128Atom64,
                        _ => return Err(format!("`swizzle={text}`: it is 32, 64, 128, 128/32, 128/32flip8 or 128/64")),
                    }
                }
                "fill" => {
                    all.fill = match text {
                        "zero" => Fill::Zero,
                        "nan" => Fill::Nan,
                        _ => return Err(format!("`fill={text}`: it is zero or nan")),
                    }
                }
                _ => return Err(format!("a tensor map has no `{name}`")),
            }
        }
        Ok(all)
    }

    /// Do they say the type of the elements?
    pub fn have_type(&self) -> bool {
        self.ty.is_some()
    }

    /// The map of a tensor that has, or whose argument has, these elements.
    pub fn build<'a>(&self, tensor: Tensor<'a>, of: Element, shape: &[u64]) -> Result<TensorMap<'a>, String> {
        let no_type = || format!("a tensor map has no elements of `.{}`: give `type=`", of.name());
        let ty = self.ty.or_else(|| of_data(of)).ok_or_else(no_type)?;
        let dims = self.dims.clone().unwrap_or_else(|| shape.iter().rev().copied().collect());
        let mode = self.mode.unwrap_or(if self.channels.is_some() { Mode::Im2col } else { Mode::Tiled });
        let mut map: TensorMapBuilder<'a> = match mode {
            Mode::Tiled => TensorMap::tiled(tensor, ty),
            Mode::Im2col => TensorMap::im2col(tensor, ty),
            Mode::Im2colW => TensorMap::im2col_w(tensor, ty),
            Mode::Im2colW128 => TensorMap::im2col_w_128(tensor, ty),
        };
        if let Some(channels) = self.channels {
            map = map.channels_per_pixel(channels);
        }
        if self.pixels > 0 {
            map = map.pixels_per_column(self.pixels);
        }
        map = map.dims(dims).swizzle(self.swizzle).fill(self.fill).interleave(self.interleave);
        if let Some(strides) = &self.strides {
            map = map.strides(strides.as_slice());
        }
        if let Some(sizes) = &self.boxes {
            map = map.box_dims(sizes.as_slice());
        }
        if let Some(steps) = &self.steps {
            map = map.element_strides(steps.as_slice());
        }
        if let Some(corner) = &self.lower {
            map = map.pixel_box_lower(corner.as_slice());
        }
        if let Some(corner) = &self.upper {
            map = map.pixel_box_upper(corner.as_slice());
        }
        map.build().map_err(|e: TensorMapError| e.to_string())
    }
}

/// A tensor map and its tensor.
#[derive(Debug, Clone)]
pub struct Mapped {
    pub fields: Fields,
    pub data: Data,
    /// The data are those of this parameter; here they are empty, but have its type and shape.
    pub of: Option<String>,
}

impl Mapped {
    /// The argument.
    pub fn map(&mut self) -> Result<TensorMap<'_>, String> {
        let Mapped { fields, data, of } = self;
        let element = data.element();
        let tensor = match of {
            Some(name) => Tensor::argument(name.as_str()),
            None => Tensor::from(&mut data.bytes),
        };
        fields.build(tensor, element, &data.shape)
    }
}

/// The parts of a list, at commas outside of brackets.
pub fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    text.split(move |c| {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
}
