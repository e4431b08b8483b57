//! One file of kernels, compiled to PTX.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Options;
use super::generator::{Compiler, Generator};
use crate::nvcc_modules::program::Program;
use crate::tools::{files, is_named, output_of, root};

/// A file of kernels to compile, and the folder for the modules.
pub struct Make<'a> {
    generator: &'a Generator,
    output: PathBuf,
    wanted: &'a Options,
    source: Source<'a>,
}

enum Source<'a> {
    /// The kernels of a Python file, by a script that imports packages.
    Python { maker: &'static str, packages: &'a Path, file: PathBuf },
    /// A CUDA program for a target, by nvcc with further options.
    Cuda { nvcc: &'a Path, options: &'a [String], program: Program, target: String },
}

/// A module for a target: its path, or why it is missing.
#[derive(Debug, PartialEq, Eq)]
pub struct Made {
    pub generator: &'static str,
    pub name: String,
    pub target: String,
    pub result: Result<PathBuf, String>,
}

impl<'a> Make<'a> {
    /// The jobs for the files in a directory.
    pub fn all(
        generator: &'a Generator,
        compiler: &'a Compiler,
        sources: &Path,
        output: &Path,
        wanted: &'a Options,
    ) -> Result<Vec<Self>, String> {
        std::fs::create_dir_all(output).map_err(|error| format!("{}: {error}", output.display()))?;
        let sources: Vec<_> = match compiler {
            Compiler::Python { maker, packages } => {
                files(sources, "py")?.into_iter().map(|file| Source::Python { maker, packages, file }).collect()
            }
            Compiler::Nvcc { path, options } => {
                let job = |(program, target)| Source::Cuda { nvcc: path, options, program, target };
                programs(Program::all(sources)?, wanted).into_iter().map(job).collect()
            }
        };
        let job = |source| Make { generator, output: output.to_owned(), wanted, source };
        Ok(sources.into_iter().map(job).collect())
    }

    /// Compiles.
    pub fn run(&self) -> Vec<Made> {
        match &self.source {
            Source::Python { maker, packages, file } => self.python(maker, packages, file),
            Source::Cuda { nvcc, options, program, target } => {
                let path = self.output.join(format!("{}.{target}.ptx", program.name));
                let result = program.compile(nvcc, &architecture(target), options, &path).map(|()| path);
                vec![self.made(&program.name, target, result)]
            }
        }
    }

    fn python(&self, maker: &str, packages: &Path, file: &Path) -> Vec<Made> {
        let mut command = Command::new("python3");
        command.arg(root().join("oracles").join("src").join("real_modules").join(maker)).arg(file).arg(&self.output);
        command.args(self.wanted.targets()).arg("--packages").arg(packages);
        if !self.wanted.all {
            command.arg("--some");
        }
        for name in &self.wanted.names {
            command.args(["--only", name]);
        }
        command.env("TRITON_CACHE_DIR", self.output.with_file_name("cache"));
        // Leaves nothing in the source tree.
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        let (told, failure) = match output_of(command) {
            Ok(told) => (told, None),
            // An assertion in a compiler ends the whole process; earlier results are kept.
            Err(told) => (told.clone(), Some(told)),
        };
        let mut made: Vec<Made> = told.lines().filter_map(|line| self.line(line)).collect();
        let nothing = made.is_empty() && self.wanted.is_whole();
        if let Some(reason) = failure.or_else(|| nothing.then(|| format!("{} makes no module", file.display()))) {
            made.push(self.made(&file.file_stem().unwrap_or_default().to_string_lossy(), "-", Err(reason)));
        }
        made
    }

    /// Reads `made <module> <target>` or `failed <module> <target>`.
    fn line(&self, line: &str) -> Option<Made> {
        let [word, name, target] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
        let path = |extension: &str| self.output.join(format!("{name}.{target}.{extension}"));
        let result = match word {
            "made" => Ok(path("ptx")),
            "failed" => Err(std::fs::read_to_string(path("failed")).unwrap_or_else(|error| error.to_string())),
            _ => return None,
        };
        Some(self.made(name, target, result))
    }

    fn made(&self, name: &str, target: &str, result: Result<PathBuf, String>) -> Made {
        Made { generator: self.generator.name, name: name.to_owned(), target: target.to_owned(), result }
    }
}

/// Compiles programs with their targets one by one, because the headers take long to compile.
fn programs(programs: Vec<Program>, wanted: &Options) -> Vec<(Program, String)> {
    let known = wanted.targets();
    let mut pairs = Vec::new();
    let named = programs.into_iter().enumerate().filter(|(_, program)| is_named(&program.name, &wanted.names));
    for (place, program) in named {
        for (turn, target) in program.targets.iter().enumerate() {
            let chosen = wanted.all || turn == place % program.targets.len();
            if chosen && known.contains(&target.as_str()) {
                pairs.push((program.clone(), target.clone()));
            }
        }
    }
    pairs
}

/// nvcc's name of a target with all of its features.
fn architecture(target: &str) -> String {
    if target == "sm_80" { target.to_owned() } else { format!("{target}a") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real_modules::generator::GENERATORS;

    fn program(name: &str) -> Program {
        let targets = ["sm_80", "sm_90"].map(str::to_owned).to_vec();
        Program { name: name.to_owned(), path: PathBuf::new(), options: Vec::new(), targets }
    }

    fn shown(wanted: &Options) -> Vec<String> {
        let pairs = programs(vec![program("one"), program("two")], wanted);
        pairs.into_iter().map(|(program, target)| format!("{}.{target}", program.name)).collect()
    }

    #[test]
    fn programs_take_turns_at_their_targets() {
        let some = Options::default();
        let all = Options { all: true, ..Options::default() };
        let names = vec!["tw".to_owned()];
        let target = Some("sm_90".to_owned());
        assert_eq!(shown(&some), ["one.sm_80", "two.sm_90"]);
        assert_eq!(shown(&Options { names, ..all.clone() }), ["two.sm_80", "two.sm_90"]);
        assert_eq!(shown(&Options { target: target.clone(), ..some }), ["two.sm_90"]);
        assert_eq!(shown(&Options { target, ..all }), ["one.sm_90", "two.sm_90"]);
    }

    #[test]
    fn lines_of_the_makers() {
        let wanted = Options::default();
        let directory = std::env::temp_dir().join(format!("ptx-dsl-real-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("b.sm_90.failed"), "no such layout").unwrap();
        let source = Source::Python { maker: "", packages: Path::new(""), file: PathBuf::new() };
        let make = Make { generator: &GENERATORS[0], output: directory.clone(), wanted: &wanted, source };
        assert_eq!(make.line("made a sm_80").unwrap().result, Ok(directory.join("a.sm_80.ptx")));
        assert_eq!(make.line("failed b sm_90").unwrap().result, Err("no such layout".to_owned()));
        assert!(make.line("nanobind: leaked 4 instances!").is_none());
        std::fs::remove_dir_all(directory).unwrap();
    }
}
