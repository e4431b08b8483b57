//! The generators and their packages: from pip, in `target/real`; nvcc as in `cargo xtask nvcc`.

use std::path::{Path, PathBuf};

use crate::tools::{install, nvcc};

/// A compiler that writes PTX.
#[derive(Debug)]
pub struct Generator {
    /// The name, also that of the folder of kernels in `tests/real`.
    pub name: &'static str,
    pub language: Language,
    /// The directory of its packages; Gluon is a part of Triton.
    directory: &'static str,
    packages: &'static [&'static str],
}

/// The way in which kernels are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// By a script of `oracles/src/real_modules`, which imports the packages.
    Python(&'static str),
    /// By nvcc.
    Cuda,
    /// By nvcc, with headers of the packages. A program takes a minute and gigabytes of memory.
    CudaWith(&'static str),
}

/// An installed generator.
#[derive(Debug, PartialEq, Eq)]
pub enum Compiler {
    /// A script, and the directory of the packages that it imports.
    Python { maker: &'static str, packages: PathBuf },
    /// nvcc, and more options for it.
    Nvcc { path: PathBuf, options: Vec<String> },
}

/// All releases are pinned, those of dependencies too: other releases write other modules.
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

const CUTLASS: &[&str] = &["nvidia-cutlass==4.2.0.0"];
const HEADERS: &str = "cutlass_library/source/include";

pub const GENERATORS: [Generator; 6] = [
    Generator { name: "triton", language: Language::Python("make_triton.py"), directory: "triton", packages: TRITON },
    Generator { name: "gluon", language: Language::Python("make_triton.py"), directory: "triton", packages: TRITON },
    Generator { name: "numba", language: Language::Python("make_numba.py"), directory: "numba", packages: NUMBA },
    Generator { name: "cute", language: Language::Python("make_cute.py"), directory: "cute", packages: CUTE },
    Generator { name: "cuda", language: Language::Cuda, directory: "", packages: &[] },
    Generator { name: "cutlass", language: Language::CudaWith(HEADERS), directory: "cutlass", packages: CUTLASS },
];

impl Generator {
    /// Is it too slow for CI?
    pub fn is_slow(&self) -> bool {
        matches!(self.language, Language::CudaWith(_))
    }

    /// The compiler, fetched if it is missing; the error is one line.
    pub fn find_or_fetch(&self, below: &Path) -> Result<Compiler, String> {
        let directory = below.join(self.directory);
        if !self.installed(&directory) {
            std::fs::create_dir_all(below).map_err(|error| format!("{}: {error}", below.display()))?;
            install(&directory, self.packages)?;
        }
        if !self.installed(&directory) {
            return Err(format!("pip left {} incomplete", directory.display()));
        }
        Ok(match self.language {
            Language::Python(maker) => Compiler::Python { maker, packages: directory },
            Language::Cuda => Compiler::Nvcc { path: nvcc::find_or_fetch()?, options: Vec::new() },
            Language::CudaWith(headers) => {
                let include = format!("-I{}", directory.join(headers).display());
                let options = vec![include, "--expt-relaxed-constexpr".to_owned()];
                Compiler::Nvcc { path: nvcc::find_or_fetch()?, options }
            }
        })
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
