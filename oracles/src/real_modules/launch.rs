//! Launches made modules on the host: `tests/real/launches/run.py` compares the results with NumPy's.

use std::path::Path;
use std::process::Command;

use super::generator::{Compiler, GENERATORS};
use crate::tools::{cargo, root, run_shown};

/// NumPy is among the packages of this generator.
const HAS_NUMPY: &str = "numba";

/// Runs the launches of the modules below `modules` whose titles contain one of `names`, with so many schedules on the checked host.
pub fn run(below: &Path, modules: &Path, schedules: u32, names: &[String]) -> Result<(), String> {
    let packages = GENERATORS.iter().find(|generator| generator.name == HAS_NUMPY).map(|g| g.find_or_fetch(below));
    let Some(Compiler::Python { packages, .. }) = packages.transpose()? else {
        return Err(format!("{HAS_NUMPY} is not a generator in Python"));
    };
    run_shown(cargo().args(["build", "--quiet", "--release", "-p", "ptx-dsl", "--features", "cli"]))?;
    let tool = root().join("target").join("release").join("ptx-dsl");
    let script = root().join("tests").join("real").join("launches").join("run.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(tool).arg(modules).arg(schedules.to_string()).args(names);
    // Leaves nothing in the source tree.
    run_shown(command.env("PYTHONPATH", packages).env("PYTHONDONTWRITEBYTECODE", "1"))
}
