//! The commands of lenses: this program runs once more on the text of the editor, so that a kernel that does not end leaves the server alone.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// How many schedules `explore` tries.
const SCHEDULES: &str = "100";

/// The output of `check`, `run` or `explore` for a kernel of a text.
pub fn run(what: &str, text: &str, kernel: &str) -> String {
    match output(what, text, kernel) {
        Ok(text) | Err(text) => text,
    }
}

fn output(what: &str, text: &str, kernel: &str) -> Result<String, String> {
    let file = std::env::temp_dir().join(format!("ptx-dsl-lens-{}-{kernel}.ptx", std::process::id()));
    let written = std::fs::File::create(&file).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| format!("{}: {error}", file.display()))?;
    let result = command(what, &file, kernel);
    let _ = std::fs::remove_file(&file);
    let name = file.display().to_string();
    result.map(|text| text.replace(&name, "k.ptx"))
}

fn command(what: &str, file: &Path, kernel: &str) -> Result<String, String> {
    if what == "check" {
        let text = program(&["check".as_ref(), file.as_os_str()])?;
        return Ok(if text.trim().is_empty() { "there are no findings\n".to_owned() } else { text });
    }
    // without arguments it says which ones suit the kernel, and has tried them
    let proposal = program(&["run".as_ref(), file.as_os_str()])?;
    let of_kernel = proposal.split("# kernel ").find(|text| text.starts_with(&format!("`{kernel}`")));
    let line = of_kernel.and_then(|text| text.lines().find(|line| line.starts_with("ptx-dsl run ")));
    let Some(line) = line else { return Ok(proposal) };
    let mut words = words(line);
    words.drain(..3.min(words.len()));
    let mut all = vec!["run".to_owned(), file.display().to_string()];
    all.append(&mut words);
    if what == "explore" {
        all.extend(["--explore".to_owned(), SCHEDULES.to_owned()]);
    }
    let all: Vec<&std::ffi::OsStr> = all.iter().map(|word| word.as_ref()).collect();
    Ok(format!("{line}\n\n{}", program(&all)?))
}

/// The words of a command line: `'` groups.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// What this program says with these arguments.
fn program(arguments: &[&std::ffi::OsStr]) -> Result<String, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(own).args(arguments).stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(text(&output.stdout) + &text(&output.stderr))
}
