//! Writes the PTX text of every instance of every kernel to a folder: `cargo run -p ptx-dsl-kernels --example texts -- target/kernels`.

use ptx_dsl_kernels::instances;
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| "target/kernels".into()));
    std::fs::create_dir_all(&folder)?;
    instances().try_for_each(|instance| std::fs::write(folder.join(instance.name).with_extension("ptx"), instance.ptx))
}
