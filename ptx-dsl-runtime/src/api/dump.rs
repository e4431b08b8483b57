//! PTX of launched kernels, as files.

/// With `PTX_DSL_DUMP=directory`, writes the PTX of every launched kernel there, as `<kernel>-<hash>.ptx`; equal text once.
pub fn dump(kernel: &str, ptx: &str) {
    use std::hash::{DefaultHasher, Hash, Hasher};
    static DIRECTORY: std::sync::OnceLock<Option<std::path::PathBuf>> = std::sync::OnceLock::new();
    let Some(directory) = DIRECTORY.get_or_init(|| std::env::var_os("PTX_DSL_DUMP").map(Into::into)) else { return };
    let mut hasher = DefaultHasher::new();
    ptx.hash(&mut hasher);
    let name: String = kernel.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(60).collect();
    let file = directory.join(format!("{name}-{:016x}.ptx", hasher.finish()));
    if !file.exists() {
        let written = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(&file, ptx));
        if let Err(e) = written {
            eprintln!("PTX_DSL_DUMP: cannot write {}: {e}", file.display());
        }
    }
}
