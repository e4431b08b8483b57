//! A device that remembers what the buffers of its launches held afterwards.

use crate::api::device::{Device, KernelCode};
use crate::api::host::Report;
use crate::api::launch::{Arg, Error, Launch};
use std::cell::RefCell;

/// A device of an [`Agreement`](super::Agreement). Launches on it go to that device, and are compared with those of the others.
pub struct Watched<'d> {
    device: &'d dyn Device,
    /// The launch, counted from 0, that another device runs.
    instead: Option<(usize, &'d dyn Device)>,
    recordings: RefCell<Vec<Recording>>,
}

/// The contents of the buffers that a launch may write, after it.
#[derive(Debug)]
pub(super) struct Recording {
    pub kernel: String,
    /// Threads of a CTA.
    pub block: [u32; 3],
    pub buffers: Vec<Contents>,
}

/// The contents of a buffer after a launch.
#[derive(Debug)]
pub(super) struct Contents {
    /// The name of the parameter.
    pub name: String,
    /// The index of the buffer.
    pub argument: usize,
    /// Bytes of an element.
    pub element: usize,
    pub bytes: Vec<u8>,
    /// The offset of the first byte in its segment on a host.
    pub start: u64,
}

impl Recording {
    /// Whether the other one is of the same kernel with buffers of the same sizes.
    pub fn is_of_the_same_launch(&self, other: &Recording) -> bool {
        let sizes =
            |recording: &Recording| recording.buffers.iter().map(|b| (b.argument, b.bytes.len())).collect::<Vec<_>>();
        self.kernel == other.kernel && sizes(self) == sizes(other)
    }
}

impl<'d> Watched<'d> {
    pub(super) fn on(device: &'d dyn Device) -> Self {
        Watched { device, instead: None, recordings: RefCell::default() }
    }

    /// A device that runs one launch, counted from 0, on another one.
    pub(super) fn with_one_on(device: &'d dyn Device, launch: usize, other: &'d dyn Device) -> Self {
        Watched { device, instead: Some((launch, other)), recordings: RefCell::default() }
    }

    pub(super) fn into_recordings(self) -> Vec<Recording> {
        self.recordings.into_inner()
    }
}

impl Device for Watched<'_> {
    fn launch_code(&self, code: &KernelCode<'_>, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error> {
        let number = self.recordings.borrow().len();
        let device = match self.instead {
            Some((launch, other)) if launch == number => other,
            _ => self.device,
        };
        let block = launch.shape(code.info()).block;
        let report = device.launch_code(code, launch, args)?;
        let contents = |(argument, (arg, p)): (usize, (&Arg<'_>, &crate::kernel::ParamInfo<'_>))| {
            let (bytes, start) = arg.results().filter(|_| !p.read_only)?;
            let element = arg.element().map_or(1, |bytes| bytes.max(1) as usize);
            Some(Contents { name: p.name.to_owned(), argument, element, bytes, start })
        };
        let buffers = args.iter().zip(code.info().params).enumerate().filter_map(contents).collect();
        self.recordings.borrow_mut().push(Recording { kernel: code.name().to_owned(), block, buffers });
        Ok(report)
    }
}
