//! Kernels and their launches: the lines of tests/mutants/launches.txt, and the texts of the kernels in Rust files.

use std::path::Path;

/// A kernel that is launched.
pub struct Launch {
    /// As the list names it: a file, and an entry if it is a Rust file.
    pub name: String,
    /// The module.
    pub text: String,
    /// Arguments of `ptx-dsl run`.
    pub arguments: Vec<String>,
}

/// Short names of arguments that many kernels of tests/bugs take.
const SHORT: [(&str, &[&str]); 3] = [
    ("pair", &["--arg", "0=u8[16384]:1", "--arg", "1=u8[16384]"]),
    ("pair_and_map", &["--arg", "0=u8[16384]:1", "--arg", "1=u8[16384]", "--arg", "2=tensormap(u8[32],box=32)"]),
    ("map", &["--arg", "0=tensormap(u8[128]:1,box=128)", "--arg", "1=u8[128]:2"]),
];

/// The launches of the list.
pub fn launches(root: &Path) -> Result<Vec<Launch>, String> {
    let list = super::read(&root.join("tests/mutants/launches.txt"))?;
    let lines = list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split_whitespace();
            let name = words.next().unwrap_or_default();
            let mut arguments = Vec::new();
            for word in words {
                match SHORT.iter().find(|(short, _)| *short == word) {
                    Some((_, long)) => arguments.extend(long.iter().map(|s| (*s).to_owned())),
                    None => arguments.push(word.to_owned()),
                }
            }
            let (file, entry) = name.split_once('#').unwrap_or((name, ""));
            let source = super::read(&root.join(file))?;
            let text = if file.ends_with(".rs") {
                module_of(&source, entry).ok_or_else(|| format!("{file} has no kernel `{entry}`"))?
            } else {
                source
            };
            if !entry.is_empty() {
                arguments.extend(["--entry".to_owned(), entry.to_owned()]);
            }
            Ok(Launch { name: name.to_owned(), text, arguments })
        })
        .collect()
}

/// The module of the `ptx!` item that has this entry.
fn module_of(source: &str, entry: &str) -> Option<String> {
    for (at, _) in source.match_indices("ptx! {") {
        let body = &source[at + "ptx! {".len()..];
        let body = &body[..closing(body)?];
        let is_entry =
            |rest: &str| rest.trim_start().strip_prefix(entry).is_some_and(|r| r.starts_with(['(', ' ', '\n']));
        if body.split(".entry").skip(1).any(is_entry) {
            let start = body.find('<')?;
            let end = header_end(&body[start..])? + start;
            let header = &body[start + 1..end];
            let target = header.split(',').next()?.trim();
            let version = header.split("ptx ").nth(1)?.split([',', '>']).next()?.trim();
            let body = without_others(&body[end + 1..], entry)?;
            return Some(format!(".version {version}\n.target {target}\n.address_size 64\n{body}"));
        }
    }
    None
}

/// The module without its other entries.
fn without_others(body: &str, entry: &str) -> Option<String> {
    let mut kept = String::new();
    let mut rest = body;
    while let Some(at) = rest.find(".visible .entry") {
        let (before, from) = rest.split_at(at);
        let open = from.find('{')? + 1;
        let end = open + closing(&from[open..])? + 1;
        let name =
            from[".visible .entry".len()..].trim_start().split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        kept += before;
        if name == entry {
            kept += &from[..end];
        }
        rest = &from[end..];
    }
    Some(kept + rest)
}

/// Where the braces that are open close, outside of comments.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        match rest[0] {
            b'/' if rest.get(1) == Some(&b'/') => {
                at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                continue;
            }
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where the header `<..>` ends.
fn header_end(text: &str) -> Option<usize> {
    text.find('>')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_of_a_rust_file_is_a_module() {
        let source = "use x;\nptx! {\n    // } a comment\n    <sm_90, ptx 8.0, allow(PTX0601)>\n    .visible .entry a() { ret; }\n}\n\
                      ptx! { <sm_80, ptx 7.8>\n .visible .entry other(.param .u32 n) { { ret; } }\n}\nfn f() {}\n";
        let module = module_of(source, "other").unwrap();
        assert!(module.starts_with(".version 7.8\n.target sm_80\n"), "{module}");
        assert!(module.trim_end().ends_with("{ { ret; } }"), "{module}");
        assert!(module_of(source, "a").unwrap().contains(".entry a() { ret; }"));
        assert!(module_of(source, "missing").is_none());
    }
}
