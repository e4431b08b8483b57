//! `ptx-dsl doctor`: what of CUDA this machine has, and what to do about what is missing. Nothing of it is needed to run on the host.

use ptx_dsl::cuda::{Gpu, GpuError, supported_ptx};
use std::ffi::OsString;
use std::process::Command;

/// Prints the findings. The status is 0: a machine without a GPU is not broken.
pub fn run() -> u8 {
    let mut text = format!("ptx-dsl {}: checks PTX ISA up to 9.4\n", env!("CARGO_PKG_VERSION"));
    text += "host: runs kernels without any of the following\n";
    text += &features();
    text += &driver();
    text += &ptxas(std::env::var_os("PTXAS").filter(|path| !path.is_empty()));
    crate::write_out(&text);
    0
}

/// The features that the command line is built with, and how to get those that are missing.
fn features() -> String {
    let all = [("cli", true), ("cuda", true), ("debug", cfg!(feature = "debug")), ("lsp", cfg!(feature = "lsp"))];
    let those = |built: bool| {
        all.iter().filter(|(_, is_built)| *is_built == built).map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    };
    match those(false) {
        missing if missing.is_empty() => format!("features: {}\n", those(true)),
        missing => format!(
            "features: {}; without {missing}: `cargo install --path ptx-dsl --features cli,{}`\n",
            those(true),
            missing.replace(", ", ",")
        ),
    }
}

/// The driver and its devices.
fn driver() -> String {
    match Gpu::count() {
        Err(error @ GpuError::NoDriver) => format!("driver: {error}\n"),
        Err(error) => format!("driver: {error}; is its kernel module loaded, and of the same version?\n"),
        Ok(0) => "driver: loaded, but it shows no GPU; see `nvidia-smi` and `CUDA_VISIBLE_DEVICES`\n".to_owned(),
        Ok(count) => (0..count).map(device).collect(),
    }
}

fn device(ordinal: usize) -> String {
    // SAFETY: nothing is launched.
    #[allow(unsafe_code)]
    match unsafe { Gpu::new(ordinal) } {
        Ok(gpu) => {
            let (major, minor) = supported_ptx(gpu.properties().cuda);
            format!("GPU {ordinal}: {gpu}, which reads PTX up to {major}.{minor}\n")
        }
        Err(error) => format!("GPU {ordinal}: {error}\n"),
    }
}

/// The version of ptxas: that of the environment, or the one in the path.
fn ptxas(of_environment: Option<OsString>) -> String {
    let path = of_environment.unwrap_or_else(|| "ptxas".into());
    let output = Command::new(&path).arg("--version").output();
    let text = output.ok().filter(|output| output.status.success());
    let text = text.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let release = text.as_deref().and_then(|text| text.lines().find(|line| line.contains("release")));
    match release {
        Some(release) => format!("ptxas: {} ({})\n", release.trim(), path.display()),
        None => format!(
            "ptxas: `{}` does not run; only cubins need it: `pip install nvidia-cuda-nvcc`, and set PTXAS to its bin/ptxas\n",
            path.display()
        ),
    }
}
