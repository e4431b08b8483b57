//! Machine code beside the PTX, by ptxas, and the list of it for the program.

use super::{Error, write as write_text};
use ptx_dsl_runtime::device::text_hash;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Writes machine code of each module in `written` for each target, and `cubins.rs`, which lists it.
pub(super) fn write(folder: &Path, targets: &[String], written: &mut Vec<PathBuf>) -> Result<(), Error> {
    println!("cargo::rerun-if-env-changed=PTXAS");
    let ptxas = std::env::var_os("PTXAS").filter(|path| !path.is_empty()).unwrap_or_else(|| "ptxas".into());
    let texts: Vec<PathBuf> =
        written.iter().filter(|path| path.extension().is_some_and(|e| e == "ptx")).cloned().collect();
    let mut list = "[\n".to_owned();
    if Command::new(&ptxas).arg("--version").output().is_ok_and(|output| output.status.success()) {
        for (text, target) in texts.iter().flat_map(|text| targets.iter().map(move |target| (text, target))) {
            let Some(cubin) = assemble(&ptxas, text, target) else { continue };
            let ptx = std::fs::read_to_string(text).map_err(|e| Error::File(text.clone(), e))?;
            let name = cubin.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let hash = text_hash(&ptx);
            let _ = writeln!(list, "    ::ptx_dsl::cuda::Cubin::new({target:?}, {hash:#x}, include_bytes!({name:?})),");
            written.push(cubin);
        }
    } else {
        println!("cargo::warning=there is no ptxas (`PTXAS`, or in the path): the driver compiles the kernels");
    }
    list += "]\n";
    written.push(write_text(folder.join("cubins.rs"), &list)?);
    Ok(())
}

/// The machine code of a module; without it, ptxas has said why, as a warning.
fn assemble(ptxas: &OsString, text: &Path, target: &str) -> Option<PathBuf> {
    let cubin = text.with_extension(format!("{target}.cubin"));
    let output = Command::new(ptxas).arg(format!("-arch={target}")).arg(text).arg("-o").arg(&cubin).output().ok()?;
    if output.status.success() {
        return Some(cubin);
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = said.lines().next().unwrap_or_default();
    println!("cargo::warning=no machine code of {} for {target}: {line}", text.display());
    None
}
