//! A CUDA program, the options in its first lines, and its compilation by nvcc.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{files, output_of, read};

/// A program in a file of its own.
#[derive(Debug, Clone)]
pub struct Program {
    pub name: String,
    pub path: PathBuf,
    /// `// nvcc: ...`: more options.
    pub options: Vec<String>,
    /// `// targets: ...`; empty: all.
    pub targets: Vec<String>,
}

impl Program {
    /// All programs of a directory, by name.
    pub fn all(directory: &Path) -> Result<Vec<Program>, String> {
        files(directory, "cu")?.into_iter().map(Program::read).collect()
    }

    fn read(path: PathBuf) -> Result<Program, String> {
        let text = read(&path)?;
        let words = |key: &str| -> Vec<String> {
            let lines = text.lines().take_while(|line| line.starts_with("//"));
            let found = lines.filter_map(|line| line.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(": "));
            found.flat_map(str::split_whitespace).map(str::to_owned).collect()
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Program { name, options: words("nvcc"), targets: words("targets"), path })
    }

    /// Compiles the program for an architecture to PTX, with further options.
    pub fn compile(&self, nvcc: &Path, architecture: &str, more: &[String], output: &Path) -> Result<(), String> {
        let mut command = Command::new(nvcc);
        command.args(["-ptx", "-std=c++17"]).arg(format!("-arch={architecture}")).args(&self.options).args(more);
        command.arg("-o").arg(output).arg(&self.path);
        output_of(command).map(drop)
    }

    /// The options that nvcc would pass to ptxas.
    pub fn ptxas_options(&self) -> Vec<&'static str> {
        let of = |option: &String| match option.as_str() {
            "-G" => Some("-g"),
            "-lineinfo" => Some("-lineinfo"),
            "-rdc=true" => Some("-c"),
            _ => None,
        };
        self.options.iter().filter_map(of).collect()
    }
}
