//! Functions of CUDA's device runtime: `vprintf`, `__assertfail`, `malloc` and `free` (PTX Writer's Guide to Interoperability, "System Calls").

mod number;
mod printf;

use super::{Done, active, set};
use crate::fault::{Fault, FaultKind};
use crate::machine::Ctx;
use crate::memory::address::{self, AddrSpace, Place, decode};
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::Q;
use printf::{Argument, FormatPiece, MOST, WIDEST};

/// A string that ends with a zero, or after `most` bytes. More than [`MOST`] bytes are a fault.
fn text(x: &mut Ctx<'_>, at: u64, most: usize, lane: usize) -> Result<Vec<u8>, Box<Fault>> {
    let mut bytes = Vec::new();
    while bytes.len() < most {
        if bytes.len() == MOST {
            return Err(too_long(x, "a string that `printf` reads", MOST, lane));
        }
        let byte = x.read(AddrSpace::Generic, at.wrapping_add(bytes.len() as u64), 1, lane as u32)?[0] as u8;
        if byte == 0 {
            break;
        }
        bytes.push(byte);
    }
    Ok(bytes)
}

#[cold]
fn too_long(x: &Ctx<'_>, what: &str, most: usize, lane: usize) -> Box<Fault> {
    let what = format!("{what} has more than {most} bytes");
    x.fault(
        FaultKind::undefined(what, "", "check that it ends with a zero byte, and that widths are small"),
        lane as u32,
    )
}

/// The variable arguments of a thread: each at a multiple of its size.
struct Arguments {
    at: u64,
    /// The variable that has the arguments, if a monitor checks accesses outside of it.
    buffer: Option<FormatBuffer>,
}

/// The variable whose address `vprintf` gets.
struct FormatBuffer {
    name: String,
    /// The generic address of the variable.
    begin: u64,
    /// The size of the variable in bytes.
    len: u64,
}

/// A conversion of a format string, for faults.
struct Conversion<'f> {
    text: &'f [u8],
    /// The number of the conversion, from 1.
    number: usize,
}

impl Arguments {
    /// The arguments from an address on.
    fn new(x: &Ctx<'_>, at: u64) -> Self {
        let buffer = if x.monitor.is_on() { FormatBuffer::around(x, at) } else { None };
        Arguments { at, buffer }
    }

    fn next(
        &mut self,
        x: &mut Ctx<'_>,
        bytes: u32,
        conversion: &Conversion<'_>,
        lane: usize,
    ) -> Result<u64, Box<Fault>> {
        let size = u64::from(bytes);
        let at = self.at.wrapping_add(size - 1) & !(size - 1);
        self.at = at.wrapping_add(size);
        if let Some(buffer) = self.buffer.as_ref().filter(|b| !b.has(at, size)) {
            return Err(x.fault(buffer.too_small(at, bytes, conversion), lane as u32));
        }
        Ok(x.read(AddrSpace::Generic, at, bytes, lane as u32)?[0])
    }
}

impl FormatBuffer {
    /// The variable in which the byte at a generic address is.
    fn around(x: &Ctx<'_>, at: u64) -> Option<FormatBuffer> {
        const MODULE: usize = address::MODULE as usize;
        let (window, offset) = match decode(AddrSpace::Generic, at, x.rank())? {
            Place::Local { offset } => (address::LOCAL as u8, offset),
            Place::Global { segment: MODULE, offset } => (0, offset),
            _ => return None,
        };
        let variable = x.geometry.variables().in_window(window, offset)?;
        let begin = at.wrapping_sub(offset - variable.from);
        Some(FormatBuffer { name: variable.name.clone(), begin, len: variable.to - variable.from })
    }

    /// Are all bytes of an argument inside?
    fn has(&self, at: u64, size: u64) -> bool {
        at.wrapping_sub(self.begin).checked_add(size).is_some_and(|end| end <= self.len)
    }

    #[cold]
    fn too_small(&self, at: u64, bytes: u32, &Conversion { text, number }: &Conversion<'_>) -> FaultKind {
        let FormatBuffer { name, begin, len } = self;
        let (text, offset) = (String::from_utf8_lossy(text), at.wrapping_sub(*begin));
        let what = format!(
            "`{text}`, conversion {number} of the format, reads {bytes} bytes at byte {offset} of `{name}`, an argument buffer of {len} bytes"
        );
        let help = "store an argument for each conversion of the format and each `*`, at a multiple of its size";
        FaultKind::undefined(what, "", help)
    }
}

/// `vprintf (format, arguments)`: the text goes to the standard output or to [`Host::print`](crate::api::host::Host::print). Gives the number of
/// arguments, -1 for a null format.
pub fn vprintf(x: &mut Ctx<'_>, _: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    let &[format, arguments] = s else { return Ok(()) };
    for l in active(x.mask) {
        let count = if format[l] == 0 { -1 } else { print(x, format[l], Arguments::new(x, arguments[l]), l)? };
        set(d, 0, l, u64::from(count as u32));
    }
    Ok(())
}

/// Prints for one thread. Returns the number of arguments.
fn print(x: &mut Ctx<'_>, format: u64, mut arguments: Arguments, lane: usize) -> Result<i32, Box<Fault>> {
    let format = text(x, format, usize::MAX, lane)?;
    let (mut out, mut count, mut number) = (Vec::new(), 0, 0);
    for piece in printf::pieces(&format) {
        let (mut spec, conversion) = match piece {
            FormatPiece::Text(text) => {
                out.extend_from_slice(text);
                continue;
            }
            FormatPiece::Conversion { spec, text } => {
                number += 1;
                (spec, Conversion { text, number })
            }
        };
        if spec.width_is_argument {
            spec.set_width(arguments.next(x, 4, &conversion, lane)? as i32);
            count += 1;
        }
        if spec.precision_is_argument {
            spec.set_precision(arguments.next(x, 4, &conversion, lane)? as i32);
            count += 1;
        }
        let digits = if spec.is_text() { 0 } else { spec.precision.unwrap_or(0) };
        if spec.width.max(digits) > WIDEST {
            return Err(too_long(x, "a field that `printf` writes", WIDEST, lane));
        }
        let value = arguments.next(x, spec.bytes(), &conversion, lane)?;
        count += 1;
        let argument = match value {
            0 if spec.is_text() => Argument::Text(printf::null(&spec)),
            at if spec.is_text() => Argument::Text(text(x, at, spec.precision.unwrap_or(usize::MAX), lane)?),
            value => Argument::Value(value),
        };
        spec.write(&argument, &mut out);
        if out.len() > MOST {
            return Err(too_long(x, "the text of one `printf`", MOST, lane));
        }
    }
    x.geometry.print.text(&out);
    Ok(count)
}

/// `__assertfail (message, file, line, function, charSize)`: ends the launch.
pub fn __assertfail(x: &mut Ctx<'_>, _: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    let &[message, file, line, function, _] = s else { return Ok(()) };
    let Some(l) = active(x.mask).next() else { return Ok(()) };
    let mut words = |at: &Lanes| -> Result<String, Box<Fault>> {
        let text = if at[l] == 0 { b"?".to_vec() } else { text(x, at[l], usize::MAX, l)? };
        Ok(String::from_utf8_lossy(&text).into_owned())
    };
    let (message, file, function) = (words(message)?, words(file)?, words(function)?);
    let kind = FaultKind::Assertion { message, file, line: line[l] as u32, function };
    Err(x.fault(kind, l as u32))
}

/// The work of `malloc` or `free` for a thread, in instructions.
const ALLOCATION: u64 = 32;

/// `malloc (size)`: memory of the heap, or 0 if there is no room.
pub fn malloc(x: &mut Ctx<'_>, _: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    let &[size] = s else { return Ok(()) };
    x.scheduling.works(u64::from(x.mask.count_ones()) * ALLOCATION);
    for l in active(x.mask) {
        let block = x.geometry.heap.as_ref().and_then(|heap| heap.allocate(size[l]));
        if let Some(address) = block {
            x.report().heap(address, size[l], true);
        }
        set(d, 0, l, block.unwrap_or(0));
    }
    Ok(())
}

/// `free (pointer)`
pub fn free(x: &mut Ctx<'_>, _: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    let &[pointer] = s else { return Ok(()) };
    x.scheduling.works(u64::from(x.mask.count_ones()) * ALLOCATION);
    for l in active(x.mask).filter(|l| pointer[*l] != 0) {
        let address = pointer[l];
        let Some(bytes) = x.geometry.heap.as_ref().and_then(|heap| heap.free(address)) else {
            let what = format!("`free` of {address:#x}, which is not the address of an allocated block");
            let kind =
                FaultKind::undefined(what, "", "pass what `malloc` or `new` has returned, once, in the same launch");
            return Err(x.fault(kind, l as u32));
        };
        x.report().heap(address, bytes, false);
    }
    Ok(())
}

semantics! {
    warp "__assertfail" => __assertfail,
    warp "free" => free,
    warp "malloc" => malloc,
    warp "vprintf" => vprintf,
}
