//! The files of `tests/hardware/`, which its README describes: forms by the kinds of their operands, and the results of a GPU.

use std::fmt::Write;

use super::kind::Kind;
use super::values::PARTS;

/// Forms whose operands have the same kinds.
#[derive(Debug, Clone)]
pub struct Set {
    pub kinds: Vec<Kind>,
    pub forms: Vec<Form>,
}

/// One or several instructions. Operands are `%a0`, `%a1`, ...; results are named as [`Width`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    pub text: String,
    /// Digests of the results of a GPU, one for each part of the operands.
    pub result: Option<[u32; PARTS]>,
}

/// Result registers by their letter: `%p0`, `%c0`, `%h0`, `%w0`, `%d0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    Pred,
    Byte,
    Half,
    Word,
    Double,
}

/// Each with its letter.
pub const WIDTHS: [(Width, char, &str); 5] = [
    (Width::Pred, 'p', ".pred"),
    (Width::Byte, 'c', ".b8"),
    (Width::Half, 'h', ".b16"),
    (Width::Word, 'w', ".b32"),
    (Width::Double, 'd', ".b64"),
];

impl Form {
    pub fn new(text: impl Into<String>) -> Form {
        Form { text: text.into(), result: None }
    }

    /// The results, by letter and number.
    pub fn outputs(&self) -> Vec<(Width, String)> {
        let mut found: Vec<(Width, String)> = Vec::new();
        for name in registers(&self.text) {
            let mut letters = name.chars().skip(1);
            let width = letters.next().and_then(|c| WIDTHS.iter().find(|w| w.1 == c)).map(|w| w.0);
            if let Some(width) = width.filter(|_| letters.all(|c| c.is_ascii_digit()))
                && !found.iter().any(|f| f.1 == name)
            {
                found.push((width, name.to_string()));
            }
        }
        found.sort();
        found
    }
}

/// The registers that a text names, with their `%`.
pub fn registers(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('%').map(move |(at, _)| {
        let rest = &text[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        &text[at..at + 1 + end]
    })
}

/// Reads a file.
pub fn read(text: &str) -> Result<Vec<Set>, String> {
    let mut sets: Vec<Set> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = || format!("line {}: {line}", number + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(names) = line.strip_prefix("operands") {
            let kinds: Option<Vec<Kind>> = names.split_whitespace().map(Kind::from_name).collect();
            sets.push(Set { kinds: kinds.ok_or_else(wrong)?, forms: Vec::new() });
            continue;
        }
        let (digests, text) = line.split_once("  ").ok_or_else(wrong)?;
        let mut result = [0; PARTS];
        let mut words = digests.split(' ');
        for part in &mut result {
            *part = words.next().and_then(|w| u32::from_str_radix(w, 16).ok()).ok_or_else(wrong)?;
        }
        let set = sets.last_mut().ok_or_else(wrong)?;
        set.forms.push(Form { text: text.into(), result: Some(result) });
    }
    Ok(sets)
}

/// The line before forms with these operands.
pub fn header(kinds: &[Kind]) -> String {
    let names: Vec<&str> = kinds.iter().map(|k| k.name()).collect();
    format!("\noperands {}\n", names.join(" "))
}

/// Writes a file; forms without a result are left out.
pub fn text(sets: &[Set]) -> String {
    let mut out = String::from("# Digests of what an H200 gave: tests/hardware/README.md.\n");
    for set in sets.iter().filter(|s| s.forms.iter().any(|f| f.result.is_some())) {
        out += &header(&set.kinds);
        for form in &set.forms {
            let Some(result) = form.result else { continue };
            let digests: Vec<String> = result.iter().map(|d| format!("{d:08x}")).collect();
            let _ = writeln!(out, "{}  {}", digests.join(" "), form.text);
        }
    }
    out
}

/// Adds a form to the others of its kinds.
pub fn add(sets: &mut Vec<Set>, kinds: &[Kind], form: Form) {
    let at = sets.iter().position(|s| s.kinds == kinds).unwrap_or_else(|| {
        sets.push(Set { kinds: kinds.to_vec(), forms: Vec::new() });
        sets.len() - 1
    });
    if !sets[at].forms.contains(&form) {
        sets[at].forms.push(form);
    }
}

/// Forms that are left out, each paragraph of `open.txt` with its reason: `#` lines, then a line of words for each kind of form.
pub struct Open(Vec<Vec<String>>);

impl Open {
    pub fn read(text: &str) -> Open {
        let lines = text.lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
        Open(lines.map(|l| l.split_whitespace().map(str::to_owned).collect()).collect())
    }

    /// Is the form on the list?
    pub fn has(&self, form: &Form) -> bool {
        self.0.iter().any(|words| words.iter().all(|w| form.text.contains(w.as_str())))
    }
}

/// A kernel with the forms of a set from `first` on. Names of kernels with approximations begin with `near`.
pub struct Kernel {
    pub name: String,
    pub set: usize,
    pub first: usize,
    pub kinds: Vec<Kind>,
    pub forms: Vec<Form>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_by_letter_and_number() {
        let form = Form::new("add.cc.u32 %w1, %a0, %a1; setp.eq.u32 %p0|%p2, %w1, %tw0; mov.b64 %d0, %cell;");
        let names: Vec<String> = form.outputs().into_iter().map(|o| o.1).collect();
        assert_eq!(names, ["%p0", "%p2", "%w1", "%d0"]);
    }

    #[test]
    fn what_is_written_is_read() {
        let form = Form { text: "add.u32 %w0, %a0, %a1;".into(), result: Some([1, 2, 3, 0xffff_ffff]) };
        let sets = [Set { kinds: vec![Kind::B32, Kind::B32], forms: vec![form.clone(), Form::new("left.out %w0;")] }];
        let again = read(&text(&sets)).unwrap();
        assert_eq!((again.len(), &again[0].kinds, &again[0].forms), (1, &sets[0].kinds, &vec![form]));
        assert!(read("1 2 3 4  add.u32;").is_err() && read("operands b33").is_err());
    }

    #[test]
    fn open_forms_have_all_words() {
        let open = Open::read("# because\nset. @\nmov.b128\n");
        let has = |text: &str| open.has(&Form::new(text));
        assert!(has("@%a2 set.eq.f32.f32 %w0, %a0, %a1;") && has("mov.b128 %tq, {%a0, %a1};"));
        assert!(!has("set.eq.f32.f32 %w0, %a0, %a1;"));
    }
}
