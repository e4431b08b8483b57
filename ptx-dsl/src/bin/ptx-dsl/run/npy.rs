//! `.npy` files: arrays of numbers in C order.

use super::data::Data;
use npyz::{DType, NpyHeader, Order, TypeChar, WriteOptions, WriterBuilder};
use ptx_dsl::load::Ty;

/// The most bytes of a header that are read. NumPy writes 118 for an array of two axes.
const LONGEST_HEADER: usize = 10_000;

/// Is it the name of an array of NumPy?
pub fn is_npy(path: &str) -> bool {
    ends_with(path, ".npy")
}

/// Is it the name of several arrays of NumPy?
pub fn is_npz(path: &str) -> bool {
    ends_with(path, ".npz")
}

fn ends_with(path: &str, suffix: &str) -> bool {
    let start = path.len().saturating_sub(suffix.len());
    path.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(suffix))
}

/// Reads an array.
pub fn read(file: &[u8]) -> Result<Data, String> {
    check_header(file)?;
    let mut rest = file;
    let header = NpyHeader::from_reader(&mut rest).map_err(|e| format!("not an .npy file: {e}"))?;
    let dtype = header.dtype();
    let DType::Plain(plain) = &dtype else { return Err(format!("not an array of numbers but of {}", dtype.descr())) };
    let ty = match (plain.type_char(), plain.size_field()) {
        (TypeChar::Bool, 1) | (TypeChar::Uint, 1) => Ty::U8,
        (TypeChar::Uint, 2) => Ty::U16,
        (TypeChar::Uint, 4) => Ty::U32,
        (TypeChar::Uint, 8) => Ty::U64,
        (TypeChar::Int, 1) => Ty::S8,
        (TypeChar::Int, 2) => Ty::S16,
        (TypeChar::Int, 4) => Ty::S32,
        (TypeChar::Int, 8) => Ty::S64,
        (TypeChar::Float, 2) => Ty::F16,
        (TypeChar::Float, 4) => Ty::F32,
        (TypeChar::Float, 8) => Ty::F64,
        _ => return Err(format!("elements of type {}, which no kernel takes", dtype.descr())),
    };
    let shape = header.shape().to_vec();
    if header.order() == Order::Fortran && shape.len() > 1 {
        return Err("an array in Fortran order; `numpy.ascontiguousarray` makes one in C order".into());
    }
    let size = ty.bytes() as usize;
    let count = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
    if count.and_then(|n| n.checked_mul(size as u64)) != Some(rest.len() as u64) {
        return Err(format!("{} bytes of data for the shape {shape:?} of {}", rest.len(), dtype.descr()));
    }
    let mut bytes = rest.to_vec();
    if plain.endianness() == npyz::Endianness::Big {
        bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    Ok(Data { ty, small: None, shape, bytes })
}

/// Refuses headers whose numbers would overflow in the reader, or that are nested deeply.
fn check_header(file: &[u8]) -> Result<(), String> {
    let length = match *file {
        [_, _, _, _, _, _, 1, _, a, b, ..] => 10 + usize::from(u16::from_le_bytes([a, b])),
        [_, _, _, _, _, _, 2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([a, b, c, d]) as usize).saturating_add(12),
        _ => return Err("not an .npy file".into()),
    };
    let header =
        file.get(..length).filter(|_| length <= LONGEST_HEADER).ok_or("not an .npy file, or a truncated one")?;
    let open = header.iter().filter(|b| matches!(b, b'(' | b'[' | b'{')).count();
    let mut numbers = header[8..].split(|b| !b.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let product = numbers.try_fold(1u64, |product, digits| {
        let number = std::str::from_utf8(digits).ok()?.parse::<u64>().ok()?;
        product.checked_mul(number.max(1))
    });
    if open > 32 || product.is_none() {
        return Err("not an array of numbers, or one that is too large".into());
    }
    Ok(())
}

/// The type in NumPy; `None` if it has none.
pub fn name(ty: Ty) -> Option<&'static str> {
    Some(match ty {
        Ty::U8 => "uint8",
        Ty::U16 => "uint16",
        Ty::U32 => "uint32",
        Ty::U64 => "uint64",
        Ty::S8 => "int8",
        Ty::S16 => "int16",
        Ty::S32 => "int32",
        Ty::S64 => "int64",
        Ty::F16 => "float16",
        Ty::F32 => "float32",
        Ty::F64 => "float64",
        _ => return None,
    })
}

/// Writes an array. Untyped bits are unsigned integers, and so are `.bf16`, which NumPy lacks.
pub fn write(data: &Data) -> Result<Vec<u8>, String> {
    let size = data.ty.bytes();
    let kind = match data.ty {
        Ty::F16 | Ty::F32 | Ty::F64 => 'f',
        ty if ty.is_signed() => 'i',
        _ => 'u',
    };
    let order = if size == 1 { '|' } else { '<' };
    let failed = |e: &dyn std::fmt::Display| format!("cannot write an .npy file: {e}");
    let dtype = DType::new_scalar(format!("{order}{kind}{size}").parse().map_err(|e| failed(&e))?);
    let mut out = Vec::new();
    // two elements of four bits are one byte of the array
    let shape = match (data.element().bits(), data.shape.split_last()) {
        (4, Some((last, rest))) if last.is_multiple_of(2) => rest.iter().copied().chain([last / 2]).collect(),
        (4, _) => vec![data.bytes.len() as u64],
        _ => data.shape.clone(),
    };
    let header = WriteOptions::new_header_only().dtype(dtype).shape(&shape).writer(&mut out);
    header.write_header_only().map_err(|e| failed(&e))?;
    out.extend_from_slice(&data.bytes);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file as NumPy writes it: magic, version 1.0, length, header padded to 64 bytes.
    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut header = header.to_owned();
        while !(10 + header.len() + 1).is_multiple_of(64) {
            header.push(' ');
        }
        header.push('\n');
        let length = (header.len() as u16).to_le_bytes();
        [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes(), data].concat()
    }

    fn header(descr: &str, fortran: &str, shape: &str) -> String {
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}")
    }

    #[test]
    fn files_of_numpy() {
        let floats: Vec<u8> = [1.0f32, -2.0, 3.5, 0.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let data = read(&file(&header("<f4", "False", "(2, 2)"), &floats)).unwrap();
        assert_eq!(data, Data { ty: Ty::F32, small: None, shape: vec![2, 2], bytes: floats.clone() });
        assert_eq!(read(&write(&data).unwrap()).unwrap(), data);
        let big = read(&file(&header(">i2", "False", "(2,)"), &[0, 1, 255, 254])).unwrap();
        assert_eq!((big.ty, big.bytes), (Ty::S16, [1i16.to_le_bytes(), (-2i16).to_le_bytes()].concat()));
        let row = read(&file(&header("|b1", "True", "(3,)"), &[0, 1, 1])).unwrap();
        assert_eq!((row.ty, row.bytes), (Ty::U8, vec![0, 1, 1]));
        assert_eq!(read(&file(&header("<f8", "False", "()"), &[0; 8])).unwrap().shape, [0u64; 0]);
    }

    #[test]
    fn files_that_do_not_fit() {
        for (descr, fortran, shape, data) in [
            ("<f4", "True", "(2, 2)", 16),
            ("<f4", "False", "(2, 2)", 12),
            ("<f4", "False", "(2, 2)", 17),
            ("<c8", "False", "(1,)", 8),
            ("<U4", "False", "(1,)", 16),
            ("|O", "False", "(1,)", 8),
            ("<f4", "False", "(9223372036854775807, 4, 4)", 0),
            ("<f4", "False", "(9223372036854775807, 4, 0)", 0),
            ("<f4", "False", "(99999999999999999999999,)", 0),
            ("<f4", "False", "-1", 4),
        ] {
            assert!(read(&file(&header(descr, fortran, shape), &vec![0; data])).is_err(), "{descr} {fortran} {shape}");
        }
        assert!(read(&file(&"(".repeat(3000), &[])).is_err());
    }

    #[test]
    fn no_bytes_panic() {
        let right = file(&header("<f4", "False", "(2,)"), &[0; 8]);
        for end in 0..right.len() {
            assert!(read(&right[..end]).is_err(), "{end}");
        }
        for at in 0..right.len() {
            for byte in [0, b'(', b'9', b'\'', 0xff] {
                let mut wrong = right.clone();
                wrong[at] = byte;
                let _ = read(&wrong);
            }
        }
    }
}
