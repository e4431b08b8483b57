//! Input: files, standard input, lists of files.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Error, Read};
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use ptx_dsl::build::rust_source;

use crate::folders::expanded;

/// How files of machine code begin.
const MACHINE_CODE: [(&[u8], &str); 2] =
    [(b"\x7fELF", "an ELF file"), (&0xBA55_ED50_u32.to_le_bytes(), "a fat binary")];

/// A file named on the command line or in a list.
#[derive(Debug, Clone)]
pub enum Input {
    /// `-`
    Stdin,
    /// A path.
    File(PathBuf),
}

impl Input {
    /// Its name in messages.
    pub fn name(&self) -> String {
        match self {
            Input::Stdin => "<stdin>".to_string(),
            Input::File(path) => path.display().to_string(),
        }
    }

    /// As an argument of the command line.
    pub fn argument(&self) -> String {
        match self {
            Input::Stdin => "-".to_string(),
            Input::File(path) if path.as_os_str().as_encoded_bytes().starts_with(b"-") => {
                format!("./{}", path.display())
            }
            Input::File(path) => path.display().to_string(),
        }
    }

    /// Its bytes.
    pub fn bytes(&self) -> Result<Vec<u8>, String> {
        let bytes = match self {
            Input::Stdin => limited(std::io::stdin().lock()),
            Input::File(path) => read(path),
        };
        bytes.map_err(|e| format!("cannot read `{}`: {e}", self.name()))
    }

    /// Its text. Bytes that are not UTF-8 become U+FFFD: the lexer reports them where they are not in a comment.
    pub fn read(&self) -> Result<String, String> {
        let bytes = self.bytes()?;
        if let Some((_, what)) = MACHINE_CODE.iter().find(|(magic, _)| bytes.starts_with(magic)) {
            let name = self.name();
            return Err(format!(
                "`{name}` is {what}, not PTX; `cuobjdump -ptx` prints the PTX of a file that has some"
            ));
        }
        Ok(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(e) => String::from_utf8_lossy(e.as_bytes()).into_owned(),
        })
    }
}

/// The bytes of a file. Of a pipe or a device not too many, because it may have no end.
pub fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let file = File::open(path)?;
    if file.metadata()?.is_file() { std::fs::read(path) } else { limited(file) }
}

/// The bytes of what is perhaps no regular file.
fn limited(from: impl Read) -> std::io::Result<Vec<u8>> {
    const MOST: u64 = 256 << 20;
    let mut bytes = Vec::new();
    from.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(Error::other("it is not a regular file, and has more than 256 MiB"));
    }
    Ok(bytes)
}

/// Is it a file of Rust?
pub fn is_rust(file: &Input) -> bool {
    matches!(file, Input::File(path) if rust_source::is_rust(path))
}

/// The files to check: those that are named, with lists, folders and patterns expanded, each once.
pub fn inputs_and_folders(matches: &ArgMatches) -> Result<Vec<Input>, String> {
    let all = inputs(matches)?.into_iter().map(expanded).collect::<Result<Vec<_>, _>>()?;
    let mut known = HashSet::new();
    let is_new = |input: &Input| !matches!(input, Input::File(path) if !known.insert(path.clone()));
    Ok(all.into_iter().flatten().filter(is_new).collect())
}

/// All named files, with lists expanded.
pub fn inputs(matches: &ArgMatches) -> Result<Vec<Input>, String> {
    let mut out = Vec::new();
    for argument in matches.get_many::<OsString>("files").into_iter().flatten() {
        match list_path(argument) {
            Some(list) => {
                let text = input(list).read()?;
                let lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
                out.extend(lines.map(|l| input(OsStr::new(l))));
            }
            None => out.push(input(argument)),
        }
    }
    Ok(out)
}

/// `-` or a path.
pub fn input(argument: &OsStr) -> Input {
    if argument == "-" { Input::Stdin } else { Input::File(PathBuf::from(argument)) }
}

/// `list.txt` of `@list.txt`.
fn list_path(argument: &OsStr) -> Option<&OsStr> {
    argument.to_str()?.strip_prefix('@').map(OsStr::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_no_option() {
        let argument = |file: &str| input(OsStr::new(file)).argument();
        assert_eq!(["-", "-x.ptx", "./-x.ptx", "x.ptx"].map(argument), ["-", "./-x.ptx", "./-x.ptx", "x.ptx"]);
    }
}
