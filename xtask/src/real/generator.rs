//! The generators, and where they come from: pip, into `target/real`; nvcc as `cargo xtask nvcc` has it.

use std::path::{Path, PathBuf};

use crate::{nvcc, ptxas};

/// A compiler that writes PTX.
#[derive(Debug)]
pub struct Generator {
    /// Its kernels are in `tests/real/<name>`.
    pub name: &'static str,
    /// What compiles a file of kernels, in `xtask/src/real`; none for nvcc.
    pub maker: Option<&'static str>,
    /// Where its packages go; Gluon is a part of Triton.
    directory: &'static str,
    packages: &'static [&'static str],
}

/// All releases are pinned, those of what they need, too: other releases write other modules.
const TRITON: &[&str] = &["triton==3.9.0"];
const NUMBA: &[&str] = &[
    "numba==0.68.1",
    "numba-cuda==0.30.4",
    "llvmlite==0.50.0",
    "numpy==2.4.6",
    "cuda-bindings==13.5.0",
    "cuda-core==1.2.2",
    "cuda-pathfinder==1.9.0",
    "packaging==26.3",
    "typing_extensions==4.16.0",
    "nvidia-nvvm==13.5.37",
    "nvidia-cuda-nvrtc==13.5.37",
    "nvidia-cuda-runtime==13.5.37",
];
const CUTE: &[&str] = &[
    "nvidia-cutlass-dsl==4.8.1",
    "nvidia-cutlass-dsl-libs-base==4.8.1",
    "nvidia-cutlass-dsl-libs-core==4.8.1",
    "nvidia-cutlass-dsl-libs-cu12==4.8.1",
    "cuda-bindings==13.5.0",
    "cuda-pathfinder==1.9.0",
    "numpy==2.4.6",
    "typing_extensions==4.16.0",
];

pub const GENERATORS: [Generator; 5] = [
    Generator { name: "triton", maker: Some("make_triton.py"), directory: "triton", packages: TRITON },
    Generator { name: "gluon", maker: Some("make_triton.py"), directory: "triton", packages: TRITON },
    Generator { name: "numba", maker: Some("make_numba.py"), directory: "numba", packages: NUMBA },
    Generator { name: "cute", maker: Some("make_cute.py"), directory: "cute", packages: CUTE },
    Generator { name: "cuda", maker: None, directory: "", packages: &[] },
];

impl Generator {
    /// The directory of the packages, or nvcc. Fetched if it is missing; the error is one line.
    pub fn find_or_fetch(&self, below: &Path) -> Result<PathBuf, String> {
        if self.maker.is_none() {
            return nvcc::fetch::find_or_fetch();
        }
        let directory = below.join(self.directory);
        if !self.installed(&directory) {
            std::fs::create_dir_all(below).map_err(|error| format!("{}: {error}", below.display()))?;
            ptxas::fetch(&directory, self.packages)?;
        }
        if self.installed(&directory) {
            Ok(directory)
        } else {
            Err(format!("pip left {} incomplete", directory.display()))
        }
    }

    /// pip leaves a directory for each release that it has installed.
    fn installed(&self, directory: &Path) -> bool {
        self.packages.iter().all(|package| directory.join(mark(package)).is_dir())
    }
}

/// The name of that directory.
fn mark(package: &str) -> String {
    let (name, version) = package.split_once("==").unwrap_or((package, ""));
    format!("{}-{version}.dist-info", name.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn releases_leave_marks() {
        assert_eq!(super::mark("numba-cuda==0.30.4"), "numba_cuda-0.30.4.dist-info");
    }
}
