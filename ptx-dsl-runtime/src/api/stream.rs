//! Streams of a host: launches in order, and programmatic dependent launch.

mod dependency;

use crate::api::device::{Device, KernelCode};
use crate::api::host::{Host, Off, Report};
use crate::api::launch::{Arg, Error, Launch};
use crate::observe::checked::Checked;
use dependency::{Buffers, Dependency, PendingLaunch};
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

/// A stream of a host, from [`Host::stream`]: launches run in order, each when the one before it has ended.
///
/// On the stream of a checked host a launch with [`Launch::programmatic`] (programmatic dependent launch) is checked as a GPU may run it:
/// beside the grid before it, if that one executes `griddepcontrol.launch_dependents`. An access to memory that the grid before writes, or a
/// store to memory that it reads, is then a fault before `griddepcontrol.wait`. Each launch on such a stream runs twice: once to see what it
/// accesses, and once on the checked host.
///
/// A wait of one thread counts for the other threads of its cluster after their next synchronisation of any kind, so a missing
/// synchronisation after it is not found here. Memory that is no argument, such as `.global` variables, is not compared.
///
/// ```
/// # use ptx_dsl_runtime::{Error, Host, KernelFn, Launch};
/// fn run(producer: impl KernelFn, consumer: impl KernelFn) -> Result<(), Error> {
///     let (host, mut x) = (Host::checked(), [0u32; 32]);
///     let stream = host.stream();
///     producer.launch_raw(&stream, Launch::grid(1), &mut [(&mut x).into()])?;
///     consumer.launch_raw(&stream, Launch::grid(1).programmatic(), &mut [(&mut x).into()])?;
///     Ok(())
/// }
/// ```
pub struct HostStream<M> {
    host: Host<M>,
    is_checked: bool,
    in_flight: RefCell<PendingLaunch>,
    /// The arguments that a grid writes which may run beside each launch.
    written: Vec<usize>,
}

impl Host<Off> {
    /// A stream of this host.
    pub fn stream(&self) -> HostStream<Off> {
        HostStream { host: self.clone(), is_checked: false, in_flight: RefCell::default(), written: Vec::new() }
    }
}

impl Host<Checked> {
    /// A stream of this host, which also finds accesses before `griddepcontrol.wait` ([`HostStream`]).
    pub fn stream(&self) -> HostStream<Checked> {
        HostStream { host: self.clone(), is_checked: true, in_flight: RefCell::default(), written: Vec::new() }
    }
}

impl HostStream<Checked> {
    /// Checks each launch with [`Launch::programmatic`] as one that may run beside a grid which writes these of its arguments, by their
    /// positions. The grid itself need not be launched.
    ///
    /// ```
    /// # use ptx_dsl_runtime::{Error, Host, KernelFn, Launch};
    /// fn run(consumer: impl KernelFn) -> Result<(), Error> {
    ///     let (host, mut x) = (Host::checked(), [0u32; 32]);
    ///     let stream = host.stream().after_writer_of([0]);
    ///     consumer.launch_raw(&stream, Launch::grid(1).programmatic(), &mut [(&mut x).into()])?;
    ///     Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn after_writer_of(mut self, arguments: impl IntoIterator<Item = usize>) -> Self {
        self.written.extend(arguments);
        self
    }
}

impl<M> Device for HostStream<M> {
    fn launch_code(&self, code: &KernelCode<'_>, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error> {
        if self.is_checked {
            self.check(code, &launch, args)?;
        }
        self.host.launch_code(code, launch, args)
    }
}

impl<M> HostStream<M> {
    /// Runs a launch to see what it accesses, with the grids in flight that it may overtake. The buffers are then as before.
    fn check(&self, code: &KernelCode<'_>, launch: &Launch, args: &mut [Arg<'_>]) -> Result<(), Error> {
        let mut before = if launch.programmatic { self.in_flight.take() } else { PendingLaunch::default() };
        if launch.programmatic {
            let written = self.written.iter().filter_map(|argument| args.get(*argument)?.memory());
            written.for_each(|(address, bytes)| before.add_written(address, bytes));
        }
        let buffers: Buffers = args.iter().map(Arg::place).collect();
        let saved: Vec<_> = args.iter().map(Arg::results).collect();
        let state = Arc::new(Mutex::new(Dependency::new(before, buffers)));
        let shared = state.clone();
        let host = Host::monitored(move || dependency::Watch(shared.clone()));
        let result = host.launch_code(code, launch.clone(), args);
        for (arg, saved) in args.iter_mut().zip(saved) {
            if let Some((bytes, _)) = saved {
                arg.restore(&bytes);
            }
        }
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        *self.in_flight.borrow_mut() = state.end();
        // other errors are the checked host's to find
        match result {
            Err(error @ Error::Fault(_)) if state.found => Err(error),
            _ => Ok(()),
        }
    }
}
