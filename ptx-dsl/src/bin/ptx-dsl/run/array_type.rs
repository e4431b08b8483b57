//! The element type of an array: what contradicts the module is a mistake.

use ptx_dsl::load::{Parameter, Pointee, Ty};

use super::data::{Data, is_bits, is_element};
use super::npy;

/// Elements of another width than that of the Rust type, or floats of another width than the kernel accesses, are a mistake.
pub fn check(parameter: &Parameter, pointee: Option<&Pointee>, given: Ty) -> Result<(), String> {
    let declared = parameter.pointer.as_ref().and_then(|p| p.element);
    let accessed = pointee.and_then(|p| p.element).filter(|ty| ty.is_float() && given.is_float());
    match declared.or(accessed) {
        Some(wanted) if wanted.bits() != given.bits() => {
            Err(format!("the elements are `.{}`, but the kernel wants `.{}`", given.name(), wanted.name()))
        }
        _ => Ok(()),
    }
}

/// Refuses the array of a `.npy` file if it is certain that the kernel takes other elements. Nobody has written its type on the command
/// line: NumPy makes `int64` and `float64` where no type is given.
pub fn check_file(parameter: &Parameter, pointee: Option<&Pointee>, path: &str, array: &Data) -> Result<(), String> {
    let declared = parameter.pointer.as_ref().and_then(|p| p.element);
    let by_value = (!parameter.takes_buffer() && !parameter.is_array).then_some(parameter.ty);
    let (wanted, bytes) = match (declared.or(by_value), pointee) {
        (Some(ty), _) => (ty, ty.bytes()),
        (None, Some(Pointee { element: Some(ty), bytes, .. })) => (*ty, *bytes),
        _ => return Ok(()),
    };
    // nvcc moves halves as integers, but no wider floats
    let wider = wanted.is_float() && wanted.bits() > 16;
    let halves = declared.or(by_value).is_none() && matches!(array.ty, Ty::F16 | Ty::Bf16) && !wider;
    if halves || !contradicts(array.ty, wanted, bytes) {
        return Ok(());
    }
    let mut help = match npy::name(same_kind(array.ty, wanted)) {
        Some(name) => format!("convert them with NumPy's `.astype(\"{name}\")`"),
        None => format!("pass the bits of `.{}` as an array of `uint{}`", wanted.name(), wanted.bits()),
    };
    // types that are written are not compared with those of accesses to bits and integers
    let fits = by_value.is_none_or(|ty| ty.bits() == array.ty.bits());
    if fits && check(parameter, pointee, array.ty).is_ok() {
        help += &format!(", or write `{}=@{path}:{}` to pass them as they are", parameter.name, array.ty.name());
    }
    let use_of = if declared.or(by_value).is_some() { "wants" } else { "accesses" };
    Err(format!(
        "the elements of `{path}` are `.{}`, but the kernel {use_of} `.{}`; {help}",
        array.ty.name(),
        wanted.name()
    ))
}

/// Is it certain that elements of the type `given` are not those of the type `wanted`? `bytes`: of the largest access.
fn contradicts(given: Ty, wanted: Ty, bytes: u32) -> bool {
    match wanted {
        // packed types, and others that no array has
        _ if !is_element(wanted) => false,
        // NumPy lacks it
        Ty::Bf16 if given == Ty::U16 => false,
        _ if wanted.is_float() => given != wanted,
        // compilers access several narrow elements as one value of bits
        _ if is_bits(wanted) => given.bytes() > bytes.max(wanted.bytes()),
        // vectors of integers copy elements of any type
        _ if bytes > wanted.bytes() => given.bytes() > bytes,
        _ => given.is_float() || given.bits() != wanted.bits(),
    }
}

/// A type of the width of `wanted`, and of the kind of `given` where `wanted` has none.
fn same_kind(given: Ty, wanted: Ty) -> Ty {
    let of_width = |types: [Ty; 4]| types.into_iter().find(|ty| ty.bits() == wanted.bits());
    let found = match is_bits(wanted) {
        false => Some(wanted),
        true if given.is_float() => of_width([Ty::F16, Ty::F32, Ty::F64, Ty::F64]),
        true if given.is_signed() => of_width([Ty::S8, Ty::S16, Ty::S32, Ty::S64]),
        true => of_width([Ty::U8, Ty::U16, Ty::U32, Ty::U64]),
    };
    found.unwrap_or(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_certain_is_refused() {
        // the array, the accesses, the bytes of the largest one
        for (given, wanted, bytes) in [
            (Ty::S64, Ty::S32, 4),
            (Ty::F64, Ty::S32, 4),
            (Ty::F32, Ty::U32, 4),
            (Ty::S32, Ty::F32, 4),
            (Ty::U8, Ty::F32, 4),
            (Ty::F64, Ty::F32, 16),
            (Ty::F16, Ty::Bf16, 2),
            (Ty::S64, Ty::B32, 4),
        ] {
            assert!(contradicts(given, wanted, bytes), "{given:?} as {wanted:?}, {bytes} bytes");
        }
        for (given, wanted, bytes) in [
            (Ty::S32, Ty::U32, 4),
            (Ty::F32, Ty::B32, 4),
            // pairs of `.f16` and four bytes, as Triton accesses them; copies in vectors
            (Ty::F16, Ty::B32, 4),
            (Ty::U8, Ty::B32, 16),
            (Ty::F64, Ty::B32, 8),
            (Ty::F32, Ty::U32, 16),
            (Ty::U16, Ty::Bf16, 2),
            (Ty::F16, Ty::F16x2, 4),
        ] {
            assert!(!contradicts(given, wanted, bytes), "{given:?} as {wanted:?}, {bytes} bytes");
        }
    }
}
