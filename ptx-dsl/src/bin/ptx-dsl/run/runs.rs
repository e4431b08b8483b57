//! Runs of one launch: once, or under many schedules, which share the buffers that the kernel only reads.

use ptx_dsl::explore::{Explore, Explored};
use ptx_dsl::fault::FaultKind;
use ptx_dsl::launch::Device;
use ptx_dsl::load::Kernel;
use ptx_dsl::tensor_map::TensorMap;
use ptx_dsl::{Arg, Error, Fault, Host, Launch, Report};

use super::data::Data;
use super::progress::Progress;
use super::values::Value;

/// A value as a launch takes it.
enum Ready<'v> {
    Buffer(&'v mut Data),
    ReadOnly(&'v Data),
    Bytes(&'v [u8]),
    Map(TensorMap<'v>),
}

impl<'v> Ready<'v> {
    fn of(value: &'v mut Value) -> Self {
        match value {
            Value::Buffer(data) => Ready::Buffer(data),
            Value::Bytes(bytes) => Ready::Bytes(bytes),
            // its fields have been checked
            Value::TensorMap(map) => map.map().map_or(Ready::Bytes(&[]), Ready::Map),
        }
    }

    fn argument(&mut self) -> Arg<'_> {
        match self {
            Ready::Buffer(data) => {
                let element = data.ty.bits().div_ceil(8);
                Arg::buffer(&mut data.bytes).elements_of(element)
            }
            Ready::ReadOnly(data) => Arg::read_only(&data.bytes).elements_of(data.ty.bits().div_ceil(8)),
            Ready::Bytes(bytes) => Arg::value(bytes),
            Ready::Map(map) => Arg::from(&*map),
        }
    }
}

/// Launches a kernel with these values.
pub fn launch_once<D: Device>(
    kernel: &Kernel,
    device: &D,
    launch: Launch,
    values: &mut [Value],
) -> Result<Report, Error> {
    launch_ready(kernel, device, launch, values.iter_mut().map(Ready::of).collect())
}

fn launch_ready<D: Device>(
    kernel: &Kernel,
    device: &D,
    launch: Launch,
    mut ready: Vec<Ready<'_>>,
) -> Result<Report, Error> {
    let mut arguments: Vec<Arg<'_>> = ready.iter_mut().map(Ready::argument).collect();
    kernel.launch_raw(device, launch, &mut arguments)
}

/// Runs of one launch.
pub(super) struct Runs<'k> {
    pub kernel: &'k Kernel,
    pub launch: Launch,
    /// Buffers that depend on the schedule, and the first one (a seed, or a number) with which they do.
    pub differ: Vec<(String, String)>,
    /// Schedules are seeds.
    pub seeds: bool,
    /// The seed of the current run, or of the first one that failed.
    pub seed: u64,
    /// The first seed with which a buffer differs, and the initial values.
    pub differing: Option<(u64, Vec<Value>)>,
    /// By parameter: is it a buffer to which no run has written? Then the next runs get the initial one.
    unwritten: Vec<bool>,
}

impl<'k> Runs<'k> {
    pub fn new(kernel: &'k Kernel, launch: Launch, seed: u64) -> Self {
        let unwritten = vec![false; kernel.parameters().len()];
        Runs { kernel, launch, differ: Vec::new(), seeds: true, seed, differing: None, unwritten }
    }

    pub fn once<M>(&self, host: &Host<M>, values: &mut [Value]) -> Result<Report, Error> {
        launch_once(self.kernel, host, self.launch.clone(), values)
    }

    /// Tries schedules. The values are then those of the last one.
    pub fn explore<M>(
        &mut self,
        exploration: &Explore<M>,
        schedules: u64,
        values: &mut [Value],
    ) -> Result<Explored<Report>, Error> {
        let initial = values.to_vec();
        let progress = Progress::new(schedules, "schedules");
        let mut expected: Option<Vec<Value>> = None;
        // a fault is then run again and again, to find a shorter schedule
        let mut failed = false;
        let explored = exploration.run(|host| {
            let result = self.with_initial(host, &initial, values);
            failed |= result.is_err();
            let report = result?;
            if failed {
                return Ok(report);
            }
            match &expected {
                Some(expected) => self.compare(expected, values, &initial),
                None => {
                    self.share_unwritten(&initial, values);
                    expected = Some(values.to_vec());
                }
            }
            if self.seeds && self.differing.is_none() && !self.differ.is_empty() {
                self.differing = Some((self.seed, initial.clone()));
            }
            self.seed = self.seed.wrapping_add(1);
            progress.step();
            Ok(report)
        });
        let shared = values.iter_mut().zip(initial).zip(&self.unwritten).filter(|(_, unwritten)| **unwritten);
        shared.for_each(|((value, initial), _)| *value = initial);
        explored
    }

    /// Runs the kernel with the initial values: with the values themselves where no run has written, with a copy of the others.
    fn with_initial<M>(&mut self, host: &Host<M>, initial: &[Value], values: &mut [Value]) -> Result<Report, Error> {
        loop {
            let all = values.iter_mut().zip(initial).zip(&self.unwritten);
            let ready = all.map(|((value, initial), unwritten)| match initial {
                Value::Buffer(data) if *unwritten => Ready::ReadOnly(data),
                _ => {
                    value.clone_from(initial);
                    Ready::of(value)
                }
            });
            let result = launch_ready(self.kernel, host, self.launch.clone(), ready.collect());
            match &result {
                Err(Error::Fault(fault)) if self.is_first_write(fault) => {}
                _ => return result,
            }
        }
    }

    /// Does the kernel write to buffers to which no run has written so far? The runs from now on get copies of them.
    fn is_first_write(&mut self, fault: &Fault) -> bool {
        let all = std::iter::once(fault).chain(&fault.others);
        let writes = all.into_iter().any(|f| matches!(f.kind, FaultKind::ReadOnly { space: "global", .. }));
        let is = writes && self.unwritten.contains(&true);
        if is {
            self.unwritten.fill(false);
        }
        is
    }

    /// The first run has ended: the next ones share the buffers to which it has not written.
    fn share_unwritten(&mut self, initial: &[Value], values: &mut [Value]) {
        for ((value, initial), unwritten) in values.iter_mut().zip(initial).zip(&mut self.unwritten) {
            if let (Value::Buffer(data), Value::Buffer(before)) = (&mut *value, initial)
                && data.bytes == before.bytes
            {
                // what the run had is no longer needed
                data.bytes = Vec::new();
                *unwritten = true;
            }
        }
    }

    /// Notes buffers that differ for the first time. Those that all runs have shared so far do not.
    fn compare(&mut self, expected: &[Value], values: &[Value], initial: &[Value]) {
        let all = self.kernel.parameters().iter().zip(expected).zip(values).zip(initial).zip(&self.unwritten);
        for ((((p, expected), value), initial), unwritten) in all {
            let (Some(a), Some(b), Some(initial)) = (expected.data(), value.data(), initial.data()) else { continue };
            // without bytes: the first run did not write to it
            let a = if a.bytes.is_empty() { initial } else { a };
            if !unwritten && a.bytes != b.bytes && self.differ.iter().all(|(name, _)| *name != p.name) {
                let which =
                    if self.seeds { format!("with `--seed {}`", self.seed) } else { "between schedules".into() };
                self.differ.push((p.name.clone(), which));
            }
        }
    }
}
