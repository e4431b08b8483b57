//! The difference that an agreement finds, and its words.

use super::bound::{Found, Number};
use super::watched::Contents;
use crate::api::launch::Error;
use crate::fault::At;
use std::fmt;

/// The devices agree.
#[derive(Debug)]
#[non_exhaustive]
pub struct Agreed<R> {
    /// The result of the test on the first device.
    pub result: R,
    /// Launches of each device.
    pub launches: usize,
    /// The names of the devices.
    pub devices: Vec<String>,
    /// The devices that were not there, with the reason.
    pub left_out: Vec<(String, String)>,
}

impl<R> fmt::Display for Agreed<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (s, agree) =
            (if self.launches == 1 { "" } else { "es" }, if self.devices.len() == 1 { "ran alone" } else { "agree" });
        write!(f, "{} launch{s}: `{}` {agree}", self.launches, self.devices.join("` and `"))?;
        self.left_out.iter().try_for_each(|(name, why)| write!(f, "; `{name}` was left out: {why}"))
    }
}

/// Why devices do not agree.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum AgreeError {
    /// The test failed on a device.
    #[error("on `{device}`: {error}")]
    Failed {
        /// The name of the device
        device: String,
        /// The error
        error: Error,
    },
    /// A device has launched another kernel, or one with buffers of other sizes.
    #[error("launch {launch} is of `{}` on `{}`, and of `{}` with other buffers on `{}`: the test must do the same each time", first.1, first.0, other.1, other.0)]
    OtherLaunch {
        /// The number of the launch, from 1
        launch: usize,
        /// The first device, and its kernel
        first: (String, String),
        /// The other device, and its kernel
        other: (String, String),
    },
    /// A device had more launches than the first one.
    #[error("`{}` had {} launches, and `{}` {}: the test must do the same each time", first.0, first.1, other.0, other.1)]
    Launches {
        /// The first device, and its launches
        first: (String, usize),
        /// The other device, and its launches
        other: (String, usize),
    },
    /// A buffer differs.
    #[error("{0}")]
    Differs(Difference),
}

impl fmt::Debug for AgreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The first element on which two devices do not agree.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// The number of the launch, from 1.
    pub launch: usize,
    /// The kernel.
    pub kernel: String,
    /// The name of the parameter.
    pub buffer: String,
    /// The number of the element.
    pub index: usize,
    /// Elements of the buffer that differ.
    pub count: usize,
    /// Elements of the buffer.
    pub elements: usize,
    /// The name of the first device, and the bytes of the element there.
    pub first: (String, Vec<u8>),
    /// The name of the other device, and the bytes of the element there.
    pub other: (String, Vec<u8>),
    /// The thread that wrote the element last when a host ran the launch; `None` if none did, or the host could not run it.
    pub writer: Option<Writer>,
    number: Option<Number>,
}

/// The thread and the statement that wrote an element.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Writer {
    /// `%ctaid`
    pub cta: [u32; 3],
    /// `%tid`
    pub thread: [u32; 3],
    /// Whether an asynchronous operation of the thread wrote it, such as a bulk copy.
    pub is_asynchronous: bool,
    /// The statement.
    pub at: Option<At>,
}

impl Difference {
    pub(super) fn new(
        (launch, kernel): (usize, &str),
        (first, other): (&str, &str),
        (of_first, of_other): (&Contents, &Contents),
        Found { index, bytes, count, number }: Found,
        writer: Option<Writer>,
    ) -> Self {
        Difference {
            launch,
            kernel: kernel.to_owned(),
            buffer: of_first.name.clone(),
            index,
            count: count.0,
            elements: count.1,
            first: (first.to_owned(), of_first.bytes[bytes.clone()].to_vec()),
            other: (other.to_owned(), of_other.bytes[bytes].to_vec()),
            writer,
            number,
        }
    }

    /// A value in words: its bits, and as a number of its type or of the size.
    fn value(&self, bytes: &[u8]) -> String {
        let hex: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
        let number = self.number.map(|number| (number.of(bytes), ""));
        let guessed = || match bytes.len() {
            4 => (Number::F32.of(bytes), " as f32"),
            8 => (Number::F64.of(bytes), " as f64"),
            _ => (None, ""),
        };
        match number.unwrap_or_else(guessed) {
            (Some(number), of) => format!("0x{hex} ({number:?}{of})"),
            (None, _) => format!("0x{hex}"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { launch, kernel, buffer, index, count, elements, first, other, writer, .. } = self;
        writeln!(
            f,
            "`{kernel}`, launch {launch}: `{buffer}` differs at element {index}, and in {count} of {elements}"
        )?;
        writeln!(f, "  {}: {}", first.0, self.value(&first.1))?;
        writeln!(f, "  {}: {}", other.0, self.value(&other.1))?;
        let Some(Writer { cta, thread, is_asynchronous, at }) = writer else {
            return write!(f, "  on a host, no thread of this launch writes it");
        };
        let by = if *is_asynchronous { "an asynchronous operation of thread" } else { "thread" };
        write!(f, "  on a host, {by} {thread:?} of CTA {cta:?} writes it last")?;
        let Some(At { text, line, file, rust_line, of_file, .. }) = at else { return Ok(()) };
        write!(f, ": `{text}` (PTX line {line}")?;
        if !of_file && *rust_line > 0 {
            write!(f, ", {file}:{rust_line}")?;
        }
        write!(f, ")")
    }
}
