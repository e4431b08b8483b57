//! Messages on a stream: a header with the length, then JSON.

use serde_json::Value;
use std::io::{Error, ErrorKind, Read, Result, Write};

/// The largest message that is read, in bytes.
const MOST: usize = 16 << 20;

/// Reads a message. `None` at the end of the stream.
pub(super) fn read(from: &mut dyn Read) -> Result<Option<Value>> {
    let mut header = Vec::new();
    let mut byte = [0];
    while !header.ends_with(b"\r\n\r\n") {
        if from.read(&mut byte)? == 0 {
            return match header.is_empty() {
                true => Ok(None),
                false => Err(ErrorKind::UnexpectedEof.into()),
            };
        }
        header.push(byte[0]);
        if header.len() > 4096 {
            return Err(Error::new(ErrorKind::InvalidData, "a header that does not end"));
        }
    }
    let text = String::from_utf8_lossy(&header);
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    let length =
        fields.filter(|(name, _)| name.eq_ignore_ascii_case("content-length")).find_map(|(_, n)| n.trim().parse().ok());
    let length: usize = length.filter(|length| *length <= MOST).ok_or_else(|| {
        Error::new(ErrorKind::InvalidData, "a message without its length, or a longer one than 16 MiB")
    })?;
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    serde_json::from_slice(&body).map(Some).map_err(|e| Error::new(ErrorKind::InvalidData, e))
}

/// Writes a message.
pub(super) fn write(to: &mut dyn Write, message: &Value) -> Result<()> {
    let body = message.to_string();
    write!(to, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    to.flush()
}
