//! Finds nvcc: `NVCC`, then `target/nvcc`, then pip.

use std::path::{Path, PathBuf};

use super::{pip, root, runs};

/// nvcc, its front end and headers. CCCL has its own versions.
const PACKAGES: [&str; 5] = [
    "nvidia-cuda-nvcc==13.5.37",
    "nvidia-nvvm==13.5.37",
    "nvidia-cuda-crt==13.5.37",
    "nvidia-cuda-runtime==13.5.37",
    "nvidia-cuda-cccl==13.3.5.0.6",
];

/// nvcc's path, installed with pip if missing; the error is one line.
pub fn find_or_fetch() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("NVCC").filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return if runs(&path) { Ok(path) } else { Err(format!("NVCC={} does not run", path.display())) };
    }
    // nvcc calls the C++ preprocessor of the host's compiler.
    if !runs(Path::new("gcc")) {
        return Err("nvcc needs gcc, which does not run".to_owned());
    }
    let directory = root().join("target").join("nvcc");
    let nvcc = directory.join("nvidia").join("cu13").join("bin").join("nvcc");
    if !runs(&nvcc) {
        pip::install(&directory, &PACKAGES)?;
    }
    if runs(&nvcc) { Ok(nvcc) } else { Err(format!("{} holds no nvcc that runs here", PACKAGES[0])) }
}
