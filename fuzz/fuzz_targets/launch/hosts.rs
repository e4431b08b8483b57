//! The same launch on several hosts.

use crate::case::{self, Value};
use ptx_dsl_test_support::random::Random;
use ptx_dsl::load::{Kernel, Level, Options, Selector};
use ptx_dsl::{Error, Host, Launch, Report};
use ptx_dsl::fault::FaultKind;

/// Kernels of a module that are launched.
const KERNELS: usize = 3;

/// Words whose results depend on the schedule, or on time, although nothing is wrong.
const DEPENDENT: &str =
    "atom red. clock globaltimer activemask envreg try_wait test_wait nanosleep elect malloc free vprintf
    clusterlaunchcontrol volatile relaxed acquire .reduce";

/// Codes of the findings that a kernel is launched with all the same.
fn levels() -> impl Iterator<Item = Selector> {
    (601..700).filter(|code| ptx_dsl_frontend::levels::is_lint(*code)).map(Selector::Code)
}

/// Launches the kernels of a module.
pub fn compare(text: &str) {
    let options = Options::new().level(Level::Allow, Selector::Warnings);
    let options = levels().fold(options, |options, of| options.level(Level::Allow, of));
    let Ok(module) = options.parse(text) else { return };
    let seed = text.strip_prefix("// ").and_then(|t| t.lines().next()?.trim().parse().ok()).unwrap_or(0);
    for kernel in module.kernels().iter().take(KERNELS) {
        let mut random = Random::new(seed);
        let launch = case::launch(kernel, &mut random);
        let values = case::values(kernel, &mut random);
        let schedule = random.next();
        let dependent = DEPENDENT.split_whitespace().any(|word| text.contains(word));
        compare_kernel(kernel, &launch, &values, schedule, dependent);
    }
}

type Outcome = (Result<Report, Error>, Vec<Value>);

fn compare_kernel(kernel: &Kernel, launch: &Launch, values: &[Value], seed: u64, dependent: bool) {
    let plain = run(kernel, &Host::new(), launch, values);
    if matches!(plain.0, Err(Error::NotYet { .. } | Error::Launch { .. })) {
        return;
    }
    let seeded = run(kernel, &Host::new().seed(seed), launch, values);
    let threads = run(kernel, &Host::new().threads(3), launch, values);
    let checked = run(kernel, &Host::checked().seed(seed), launch, values);
    let first = run(kernel, &Host::checked().first(), launch, values);
    if seed % 8 == 0 {
        let _ = run(kernel, &Host::checked().weak().seed(seed), launch, values);
        let _ = run(kernel, &Host::trace(), launch, values);
    }
    // undefined behaviour, time and order may make any difference
    if dependent || checked.0.is_err() || first.0.is_err() || limited(&plain) || limited(&seeded) || limited(&threads) {
        return;
    }
    for (name, other) in [("plain", &plain), ("seeded", &seeded), ("threads", &threads)] {
        if let Err(error) = &other.0 {
            panic!("the checked host finds nothing, {name}: {error}");
        }
        assert!(other.1 == checked.1, "checked and {name} differ: kernel `{}`, {launch:?}", kernel.name());
    }
}

fn limited(outcome: &Outcome) -> bool {
    matches!(&outcome.0, Err(Error::Fault(fault)) if matches!(fault.kind, FaultKind::StepLimit { .. }))
}

fn run<M>(kernel: &Kernel, host: &Host<M>, launch: &Launch, values: &[Value]) -> Outcome {
    let host = host.clone().print(|_| {});
    let mut values = values.to_vec();
    let mut arguments: Vec<_> = values.iter_mut().map(Value::arg).collect();
    let result = kernel.launch_raw(&host, launch.clone(), &mut arguments);
    if let Err(error) = &result {
        let report = error.to_string();
        assert!(report.len() < 100_000, "{report}");
        if let Error::Fault(fault) = error {
            assert!(!matches!(fault.kind, FaultKind::Internal(_)), "{report}");
        }
    }
    drop(arguments);
    (result, values)
}
