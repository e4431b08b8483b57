//! Times the plans of a product on a device, and remembers the best in a file.

use crate::Error;
use crate::gemm::{self, Cluster, Plan, Shape};
use half::bf16;
use ptx_dsl::launch::Device;
use std::path::PathBuf;
use std::time::Duration;

/// The best plans of shapes on a device, as measured. Each is a line of a file: `m n k width cluster nanoseconds`.
///
/// The file is for one kind of device and of driver: give each its own.
#[derive(Debug, Clone)]
pub struct Tuned {
    file: PathBuf,
    multiprocessors: u32,
    plans: Vec<(Shape, Plan, Duration)>,
}

impl Tuned {
    /// Reads a file, which need not exist. Lines that are no plan for a device with so many multiprocessors are left out.
    pub fn new(file: impl Into<PathBuf>, multiprocessors: u32) -> Tuned {
        let file = file.into();
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let plans = text.lines().filter_map(|line| parse(line, multiprocessors)).collect();
        Tuned { file, multiprocessors, plans }
    }

    /// The best plan for a bf16 product of this shape: from the file, or the fastest of all plans that the device runs now, which is then
    /// written to the file. `device` measures launches: `gpu.timed()` or `gpu.repeated(..)`.
    ///
    /// # Errors
    /// A launch fails, no launch reports its time, because the device is a host, or the file cannot be written.
    pub fn plan(&mut self, device: &impl Device, shape: Shape) -> Result<Plan, Error> {
        if let Some((_, plan, _)) = self.plans.iter().find(|(known, ..)| *known == shape) {
            return Ok(*plan);
        }
        let (a, b) = (vec![bf16::ONE; shape.m * shape.k], vec![bf16::ONE; shape.n * shape.k]);
        let mut c = vec![bf16::ZERO; shape.m * shape.n];
        let mut best: Option<(Plan, Duration)> = None;
        for plan in Plan::all(shape, self.multiprocessors) {
            // the first launch loads the kernel
            gemm::bf16_bf16(device, &a, &b, &mut c, plan)?;
            let report = gemm::bf16_bf16(device, &a, &b, &mut c, plan)?;
            let time = report.device_time.ok_or(Error::NoTime)?;
            if best.is_none_or(|(_, shortest)| time < shortest) {
                best = Some((plan, time));
            }
        }
        let (plan, time) = best.ok_or(Error::NoTime)?;
        self.plans.push((shape, plan, time));
        let lines: String = self.plans.iter().map(line).collect();
        std::fs::write(&self.file, lines).map_err(|error| Error::File { file: self.file.clone(), error })?;
        Ok(plan)
    }
}

fn line((shape, plan, time): &(Shape, Plan, Duration)) -> String {
    let Shape { m, n, k } = shape;
    let cluster = match plan.cluster() {
        Cluster::Pair => "pair".to_owned(),
        cluster => cluster.ctas().to_string(),
    };
    format!("{m} {n} {k} {} {cluster} {}\n", plan.width(), time.as_nanos())
}

fn parse(line: &str, multiprocessors: u32) -> Option<(Shape, Plan, Duration)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [m, n, k, width, cluster, time] = words[..] else { return None };
    let shape = Shape { m: m.parse().ok()?, n: n.parse().ok()?, k: k.parse().ok()? };
    let cluster = match cluster {
        "pair" => Cluster::Pair,
        "1" => Cluster::Alone,
        ctas => Cluster::Split(ctas.parse().ok()?),
    };
    let plan = Plan::new(shape, width.parse().ok()?, cluster, multiprocessors).ok()?;
    Some((shape, plan, Duration::from_nanos(time.parse().ok()?)))
}
