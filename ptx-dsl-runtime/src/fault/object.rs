//! The object that a faulty address belongs to, in the words of the program: an element of an argument, a null pointer, dynamic
//! shared memory.

use std::fmt;

/// The object that the address of a fault belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Object {
    /// A place in a buffer, or near one: the buffer is an argument of the kernel.
    Buffer {
        /// Name of the parameter.
        name: String,
        /// The offset of the address from the first byte of the buffer, in bytes; negative before the buffer.
        offset: i64,
        /// The offset of the buffer from an aligned address, in bytes, where it is a part of a larger buffer.
        start: u64,
        /// Bytes of the buffer.
        len: u64,
        /// Bytes of an element; 1 if unknown.
        element: u32,
    },
    /// A variable of the kernel or of the module, in which the bytes are, or from whose address that of the access is made.
    Variable {
        /// The name of the variable in the source.
        name: String,
        /// The offset of the address from the first byte of the variable, in bytes; negative before the variable.
        offset: i64,
        /// Bytes of the variable.
        len: u64,
    },
    /// Near address 0 of global memory.
    Null {
        /// The pointer parameters whose argument is null.
        parameters: Vec<String>,
        /// The 64-bit integer parameters whose argument is 0, which may be pointers, if no pointer parameter is null.
        integers: Vec<String>,
    },
    /// Dynamic shared memory, past what the launch gives.
    DynamicShared {
        /// The offset of the address in dynamic shared memory, in bytes.
        offset: u64,
        /// The bytes that the launch gives.
        given: u32,
    },
}

impl Object {
    /// The elements that an access of this many bytes touches, if it touches whole elements: `x[3]`, `x[4..8]`.
    fn elements(&self, bytes: u32) -> Option<(String, u64)> {
        let Object::Buffer { name, offset, len, element, .. } = self else { return None };
        let size = i64::from(*element);
        let whole = *element > 1 && offset % size == 0 && bytes.is_multiple_of(*element);
        let (first, count) = whole.then(|| (offset / size, i64::from(bytes) / size))?;
        let place = if count <= 1 { format!("{name}[{first}]") } else { format!("{name}[{first}..{}]", first + count) };
        Some((place, len / u64::from(*element)))
    }

    /// A place in the object in words, with its address: `` byte 16 of `tile` (shared address 0x90) ``.
    pub(super) fn place(&self, bytes: u32, space: &str, addr: u64) -> String {
        let place = match self {
            Object::Buffer { name, offset, .. } => match self.elements(bytes) {
                Some((place, _)) => format!("`{place}`"),
                None => format!("byte {offset} of `{name}`"),
            },
            // all of it
            Object::Variable { name, offset: 0, len } if *len == u64::from(bytes) => format!("`{name}`"),
            Object::Variable { name, offset, .. } => format!("byte {offset} of `{name}`"),
            Object::DynamicShared { .. } | Object::Null { .. } => return format!("{space} address {addr:#x}"),
        };
        format!("{place} ({space} address {addr:#x})")
    }

    /// The message of a fault: an access of this many bytes outside of the object.
    pub(super) fn out_of_bounds(&self, f: &mut fmt::Formatter<'_>, addr: u64, bytes: u32) -> fmt::Result {
        write!(f, "access of {bytes} bytes ")?;
        match self {
            Object::Null { .. } => write!(f, "through a null pointer, at global address {addr:#x}"),
            Object::DynamicShared { offset, given } => {
                write!(f, "at byte {offset} of dynamic shared memory is out of bounds: the launch gives ")?;
                match given {
                    0 => f.write_str("none"),
                    _ => write!(f, "{given} bytes"),
                }
            }
            Object::Buffer { name, offset, len, .. } => match self.elements(bytes) {
                Some((place, count)) => {
                    let s = if count == 1 { "" } else { "s" };
                    write!(f, "at `{place}` is out of bounds: it has {count} element{s}")
                }
                None => write!(f, "at byte {offset} of `{name}` is out of bounds: it has {len} bytes"),
            },
            Object::Variable { name, offset, len } => {
                write!(f, "at byte {offset} of `{name}` is out of bounds: it has {len} bytes")
            }
        }
    }

    /// Writes that an address is not aligned.
    pub(super) fn misaligned(&self, f: &mut fmt::Formatter<'_>, addr: u64, align: u32) -> fmt::Result {
        match self {
            Object::Null { .. } => write!(f, "access through a null pointer, at global address {addr:#x}"),
            Object::DynamicShared { .. } | Object::Variable { .. } => {
                write!(f, "address {addr:#x} is not a multiple of {align}")
            }
            Object::Buffer { name, offset, start, .. } => {
                write!(f, "address {addr:#x}, byte {offset} of `{name}`, is not a multiple of {align}")?;
                match start {
                    0 => Ok(()),
                    _ => write!(f, ": `{name}` begins {start} bytes after an aligned address of its buffer"),
                }
            }
        }
    }

    /// Writes that a store is to a read-only buffer. False, with nothing written, if the object is none.
    pub(super) fn read_only(&self, f: &mut fmt::Formatter<'_>) -> Result<bool, fmt::Error> {
        let Object::Buffer { name, offset, element, .. } = self else { return Ok(false) };
        match self.elements(*element) {
            Some((place, _)) => write!(f, "store to `{place}`, which is read-only")?,
            None => write!(f, "store to byte {offset} of `{name}`, which is read-only")?,
        }
        Ok(true)
    }

    /// Has an index or a byte offset of 32 bits wrapped at 2^31? With 2^32 added to it the bytes would be inside of the buffer.
    fn has_wrapped(&self) -> bool {
        let Object::Buffer { offset: offset @ ..0, len, element, .. } = self else { return false };
        let is_inside = |scale: i64| u64::try_from(offset.saturating_add(scale << 32)).is_ok_and(|at| at < *len);
        is_inside(1) || is_inside((*element).into())
    }

    /// A note that explains the address further, or "".
    pub(super) fn note(&self) -> String {
        match self {
            Object::Buffer { name, .. } if self.has_wrapped() => {
                format!("with 2^32 added to the index the access is inside of `{name}`: the index has wrapped at 2^31")
            }
            Object::Null { parameters, .. } if !parameters.is_empty() => {
                format!("the launch passes a null pointer for {}", quoted(parameters))
            }
            Object::Null { integers, .. } if !integers.is_empty() => {
                format!("the launch passes 0 for {}", quoted(integers))
            }
            _ => String::new(),
        }
    }

    /// A fix that replaces that of the kind of fault.
    pub(super) fn help(&self) -> Option<&'static str> {
        match self {
            Object::Buffer { .. } if self.has_wrapped() => {
                Some("compute the index in 64 bits: `mul.wide`, `mad.wide`, or `cvt.u64.u32` before the addition")
            }
            Object::Buffer { .. } | Object::Variable { .. } => None,
            Object::Null { .. } => Some("pass a buffer, or compare the address with 0 before the access"),
            Object::DynamicShared { .. } => {
                Some("give its size with `Launch::dynamic_shared`, or `--shared` of `ptx-dsl run`")
            }
        }
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(offset: i64, len: u64, element: u32) -> Object {
        Object::Buffer { name: "input".into(), offset, start: 0, len, element }
    }

    #[test]
    fn an_index_that_wrapped_at_2_31() {
        // element 2^31 of 2,160,000,000 bytes, and the byte offset 4 * (2^29 + 1) of an array of 2^30 words, both in 32 bits
        for object in [buffer(-(1 << 31), 2_160_000_000, 1), buffer(4 - (1 << 31), 1 << 32, 4)] {
            assert_eq!(
                object.note(),
                "with 2^32 added to the index the access is inside of `input`: the index has wrapped at 2^31"
            );
            assert!(object.help().is_some_and(|help| help.contains("in 64 bits")));
        }
        // element 2^31 of an array of words: the index has wrapped, and is then multiplied in 64 bits
        assert!(buffer(-(1 << 33), 1 << 34, 4).has_wrapped());
        for object in [buffer(-4, 256, 4), buffer(-(1 << 31), 1 << 31, 1), buffer(1 << 31, 256, 4)] {
            assert_eq!((object.note(), object.help()), (String::new(), None));
        }
    }
}
