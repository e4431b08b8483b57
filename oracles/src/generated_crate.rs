//! A generated crate of kernels, which cargo builds and runs on the host.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::tools::{cargo, make_directory, root, write};

/// The manifest, with names to replace.
const MANIFEST: &str = include_str!("generated_crate/Cargo.txt");

/// The engine that runs kernels. Optimised builds always compile them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Engine {
    /// Compiled code.
    Compiled,
    /// The interpreter.
    Interpreted,
}

impl Engine {
    /// The value of `PTX_DSL_ENGINE`.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Compiled => "compiled",
            Engine::Interpreted => "interpreted",
        }
    }
}

/// Options of cargo's build and of the run.
pub(crate) struct Build<'a> {
    pub engine: Engine,
    pub release: bool,
    pub environment: &'a [(&'a str, &'a str)],
}

/// A crate whose modules of PTX are beside its `main.rs`.
pub(crate) struct GeneratedCrate {
    directory: PathBuf,
}

impl GeneratedCrate {
    /// Writes the manifest and `main.rs` of a crate. `compiled`: a development build contains compiled code.
    pub fn write(directory: &Path, name: &str, compiled: bool, main: &str) -> Result<Self, String> {
        make_directory(&directory.join("src"))?;
        let path = root().join("ptx-dsl").display().to_string();
        let manifest = MANIFEST.replace("PTX_DSL", &path).replace("\"kernels\"", &format!("\"{name}\""));
        let manifest = manifest.replace("FEATURES", if compiled { "\"compiled\"" } else { "" });
        write(&directory.join("Cargo.toml"), manifest.as_bytes())?;
        // The versions of the workspace, so that nothing is downloaded.
        let lock = root().join("Cargo.lock");
        std::fs::copy(&lock, directory.join("Cargo.lock"))
            .map_err(|error| format!("cannot copy {}: {error}", lock.display()))?;
        write(&directory.join("src").join("main.rs"), main.as_bytes())?;
        Ok(GeneratedCrate { directory: directory.to_owned() })
    }

    /// Builds and runs the crate; returns what it prints. All crates share one target directory, and so the build of ptx-dsl.
    pub fn run(&self, build: &Build, arguments: &[&Path]) -> Result<String, String> {
        let target = root().join("target").join("kernels").join("target");
        let mut command = cargo();
        command.current_dir(&self.directory).env("CARGO_TARGET_DIR", target).args(["run", "--quiet"]);
        command.envs(build.environment.iter().copied()).env("PTX_DSL_ENGINE", build.engine.name());
        if build.release {
            command.arg("--release");
        }
        command.arg("--").args(arguments);
        let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cannot run cargo: {error}"))?;
        if !output.status.success() {
            let (directory, engine) = (self.directory.display(), build.engine.name());
            return Err(format!("kernels in {directory}, {engine}: {}", output.status));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
