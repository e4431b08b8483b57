//! The reports of wrong layouts, in words.

use super::{BoxPiece, Written, swizzle_of};
use crate::fault::{FaultKind, MatrixLayout, WrittenBox};
use crate::memory::tensor_map::{ElementType, Swizzle};
use crate::observe::probe::layout::{DescriptorOf, SharedBox, SharedMatrix};

/// A swizzle.
fn words(swizzle: Swizzle) -> &'static str {
    match swizzle {
        Swizzle::None => "without swizzling",
        Swizzle::B32 => "with 32-byte swizzling",
        Swizzle::B64 => "with 64-byte swizzling",
        Swizzle::B128 => "with 128-byte swizzling",
        Swizzle::B128Atom32 => "with 128-byte swizzling of 32-byte pieces",
        Swizzle::B128Atom32Flip8 => "with 128-byte swizzling of 32-byte pieces and exchanged halves",
        Swizzle::B128Atom64 => "with 128-byte swizzling of 64-byte pieces",
    }
}

/// The bits of an address that a swizzle changes, and those with which it does.
fn bits(swizzle: Swizzle) -> &'static str {
    match swizzle {
        Swizzle::None => "none",
        Swizzle::B32 => "bit 4 with bit 7",
        Swizzle::B64 => "bits 4-5 with bits 7-8",
        Swizzle::B128 => "bits 4-6 with bits 7-9",
        Swizzle::B128Atom32 | Swizzle::B128Atom32Flip8 => "bits 5-6 with bits 7-8",
        Swizzle::B128Atom64 => "bit 6 with bit 7",
    }
}

/// The field of a descriptor for matrices that are swizzled like this.
fn mode(of: DescriptorOf, swizzle: Swizzle) -> Option<String> {
    let mode = match (of, swizzle) {
        (_, Swizzle::None) => 0,
        (DescriptorOf::Wgmma, Swizzle::B128) => 1,
        (DescriptorOf::Wgmma, Swizzle::B64) => 2,
        (DescriptorOf::Wgmma, Swizzle::B32) => 3,
        (DescriptorOf::Mma, Swizzle::B128Atom32) => 1,
        (DescriptorOf::Mma | DescriptorOf::Cp, Swizzle::B128) => 2,
        (DescriptorOf::Mma | DescriptorOf::Cp, Swizzle::B64) => 4,
        (DescriptorOf::Mma | DescriptorOf::Cp, Swizzle::B32) => 6,
        _ => return None,
    };
    let field = if of == DescriptorOf::Wgmma { "62-63" } else { "61-63" };
    Some(format!("swizzling mode {mode} in bits {field} of the descriptor"))
}

fn of_map(swizzle: Swizzle) -> String {
    format!("`Swizzle::{swizzle:?}` in the tensor map")
}

fn report(
    (operand, read): (&'static str, String),
    of: Option<(Written, String)>,
    section: &'static str,
    help: String,
) -> FaultKind {
    let written = of.map(|(of, how)| WrittenBox { site: of.site, at: None, how });
    FaultKind::MatrixLayout(Box::new(MatrixLayout { operand, read, written, section, help }))
}

/// Two pieces of a matrix are the same bytes.
pub(super) fn shared(matrix: &SharedMatrix, pieces: [BoxPiece; 2]) -> FaultKind {
    let [first, second] =
        pieces.map(|p| format!("bytes {} to {} of {}", 16 * p.piece, 16 * p.piece + 15, matrix.line(p.line)));
    let (leading, stride) = (matrix.descriptor.leading, matrix.descriptor.stride);
    let offsets = if matrix.needs_leading() {
        format!("a leading dimension byte offset of {leading} and a stride dimension byte offset of {stride}")
    } else {
        format!("a stride dimension byte offset of {stride}")
    };
    let read =
        format!("with {offsets}, {first} and {second} of {} are the same bytes of shared memory", matrix.operand);
    let atom = matrix.atom_bytes();
    let help = format!(
        "an atom has {atom} bytes: the next one follows after {atom} or more; the fields of the descriptor have units of 16 bytes"
    );
    report((matrix.operand, read), None, matrix.of.layouts(), help)
}

/// A piece of a matrix is not where the copy has put it, or in the same row of the box as that of the next line.
pub(super) fn differs(matrix: &SharedMatrix, of: Written, p: BoxPiece) -> FaultKind {
    let (swizzle, operand, own) = (of.layout.swizzle, matrix.operand, swizzle_of(matrix));
    let (row, byte) = of.place(p.at);
    let mut read = format!("{operand} is read {}", words(own));
    let how = if let Some(next) = p.next {
        let width = matrix.descriptor.swizzle.width();
        read += &format!(", and {} lies {width} bytes after {}", matrix.line(p.line + 1), matrix.line(p.line));
        format!(
            "{}, in rows of {} bytes: both are in row {row} of the box, at bytes {byte} and {}",
            words(swizzle),
            of.layout.pitch,
            of.place(next).1
        )
    } else {
        format!(
            "{}: for bytes {} to {} of {}, {operand} has bytes {byte} to {} of row {row} of the box",
            words(swizzle),
            16 * p.piece,
            16 * p.piece + 15,
            matrix.line(p.line),
            byte + 15
        )
    };
    let help = match mode(matrix.of, swizzle) {
        _ if own == swizzle => {
            let mode = mode(matrix.of, Swizzle::B128).unwrap_or_default();
            format!("swizzle both: {} and {mode}; or copy boxes whose rows have 16 bytes", of_map(Swizzle::B128))
        }
        Some(mode) => format!("give both the same swizzle: {mode}, or {}", of_map(own)),
        None => format!("give both the same swizzle: {}", of_map(own)),
    };
    report((operand, read), Some((of, how)), matrix.of.layouts(), help)
}

/// The elements of a matrix have another type than those of the box.
pub(super) fn types(matrix: &SharedMatrix, of: Written, [read, written]: [ElementType; 2]) -> FaultKind {
    let operand = matrix.operand;
    let name = |of: ElementType| if of == ElementType::F16 { "f16" } else { "bf16" };
    let (how, read_as) =
        (format!("as {}, by its tensor map", name(written)), format!("{operand} is read as {}", name(read)));
    let help = format!(
        "if they are {}, `ElementType::{read:?}` in the tensor map; else multiply matrices of {}",
        name(read),
        name(written)
    );
    report((operand, read_as), Some((of, how)), matrix.of.instruction_types(), help)
}

/// A matrix that `stmatrix` has written is not in one column of 16 bytes of the box that a copy stores.
pub(super) fn stored_rows(of: SharedBox, rows: [(usize, (u32, u32)); 2], site: u32) -> FaultKind {
    let [(a, (row_a, byte_a)), (b, (row_b, byte_b))] = rows;
    let read = format!(
        "the box is stored {}, so that row {a} of a matrix becomes bytes {byte_a} to {} of row {row_a} of the box, and row {b} bytes {byte_b} to {} of row {row_b}",
        words(of.swizzle),
        byte_a + 15,
        byte_b + 15,
    );
    let help = match of.swizzle {
        Swizzle::None => {
            "exchange no pieces in the addresses of `stmatrix`, or put `Swizzle::B128` into the tensor map".into()
        }
        swizzle => format!("XOR {} in the address of each row of `stmatrix`", bits(swizzle)),
    };
    stored(("the box", read), site, "9.7.14.5.16", help)
}

/// A matrix that `stmatrix` has written is not in one column of 16 bytes of the matrix that an operation reads.
pub(super) fn stored_lines(matrix: &SharedMatrix, rows: [(usize, (u32, u32)); 2], site: u32) -> FaultKind {
    let (own, operand) = (swizzle_of(matrix), matrix.operand);
    let [a, b] = rows.map(|(row, (line, piece))| {
        format!(
            "row {row} of a stored matrix becomes bytes {} to {} of {}",
            16 * piece,
            16 * piece + 15,
            matrix.line(line)
        )
    });
    let read = format!("{operand} is read {}, so that {a}, and {b}", words(own));
    let help = match own {
        Swizzle::None => "exchange no pieces in the addresses of `stmatrix`, or in the descriptor too".into(),
        own => format!("XOR {} in the address of each row of `stmatrix`", bits(own)),
    };
    stored((operand, read), site, matrix.of.layouts(), help)
}

fn stored((operand, read): (&'static str, String), site: u32, section: &'static str, help: String) -> FaultKind {
    let written = Some(WrittenBox { site, at: None, how: "as rows of one matrix".into() });
    FaultKind::MatrixLayout(Box::new(MatrixLayout { operand, read, written, section, help }))
}

/// Rows of a matrix of `ldmatrix` begin at different bytes of the rows of a box.
pub(super) fn rows(number: u32, of: Written, rows: [(usize, u32); 2]) -> FaultKind {
    let swizzle = of.layout.swizzle;
    let [(a, (row_a, byte_a)), (b, (row_b, byte_b))] = rows.map(|(row, at)| (row, of.place(at)));
    let read = format!(
        "row {a} of matrix {number} begins at byte {byte_a} of row {row_a} of a box, and row {b} at byte {byte_b} of row {row_b}"
    );
    let help = match swizzle {
        Swizzle::None => "exchange no pieces in the addresses, or put `Swizzle::B128` into the tensor map".into(),
        _ => format!("XOR {} in the address of each row", bits(swizzle)),
    };
    report(("the matrix", read), Some((of, words(swizzle).into())), "9.7.14.5.15", help)
}
