//! Plans that are measured and remembered.

use ptx_dsl::launch::{Device, KernelCode};
use ptx_dsl::{Arg, Error, Host, Launch, Report};
use ptx_dsl_kernels::gemm::{Cluster, Plan, Shape};
use ptx_dsl_kernels::tune::Tuned;
use std::cell::Cell;
use std::time::Duration;

/// A host that reports a time: 1 ms, but 10 us for the fourth launch.
struct Clock(Host, Cell<u32>);

impl Device for Clock {
    fn launch_code(&self, code: &KernelCode<'_>, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error> {
        self.1.set(self.1.get() + 1);
        let mut report = self.0.launch_code(code, launch, args)?;
        report.device_time = Some(Duration::from_micros(if self.1.get() == 4 { 10 } else { 1000 }));
        Ok(report)
    }
}

#[test]
fn the_fastest_plan_is_remembered() -> Result<(), ptx_dsl_kernels::Error> {
    let file = std::env::temp_dir().join(format!("ptx-dsl-kernels-{}.txt", std::process::id()));
    let shape = Shape { m: 64, n: 64, k: 128 };
    let clock = Clock(Host::new(), Cell::new(0));
    let mut tuned = Tuned::new(&file, 132);
    let plan = tuned.plan(&clock, shape)?;
    // plans are launched twice, and the second time counts: the second plan was the fast one
    assert_eq!(Some(plan), Plan::all(shape, 132).nth(1));
    assert_eq!((plan.width(), plan.cluster()), (256, Cluster::Pair));
    let launches = clock.1.get();
    assert_eq!(launches as usize, 2 * Plan::all(shape, 132).count());
    // neither this table nor another one measures it again
    assert_eq!(tuned.plan(&clock, shape)?, plan);
    assert_eq!(Tuned::new(&file, 132).plan(&clock, shape)?, plan);
    assert_eq!(clock.1.get(), launches);
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "64 64 128 256 pair 10000\n");
    std::fs::remove_file(&file).expect("the file");
    // a host has no time
    let error = Tuned::new(&file, 132).plan(&Host::new(), shape).unwrap_err();
    assert_eq!(error.to_string(), "the device reports no time: `gpu.timed()` does");
    Ok(())
}
