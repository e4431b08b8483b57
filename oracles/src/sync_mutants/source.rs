//! Kernels and their launches: the lines of tests/mutants/launches.txt, and the texts of the kernels in Rust files.

use ptx_dsl_frontend::compile_rust_file;
use ptx_dsl_frontend::lex::lex_rust;
use ptx_dsl_frontend::notes::Notes;
use std::path::Path;

use crate::tools::read;

/// A kernel that is launched.
pub struct Launch {
    /// The name in the list: a file, and an entry if it is a Rust file.
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
    let list = read(&root.join("tests/mutants/launches.txt"))?;
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
            let source = read(&root.join(file))?;
            let text = if file.ends_with(".rs") {
                let module = module_of(&source, entry).ok_or_else(|| format!("{file} has no kernel `{entry}`"))?;
                module.allows.into_iter().for_each(|name| arguments.extend(["--allow".to_owned(), name]));
                module.text
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

/// A module out of a Rust file.
struct Module {
    text: String,
    /// The findings that its header allows.
    allows: Vec<String>,
}

/// The module of the `ptx!` item that has this entry, or of the expression in the function of this name.
fn module_of(source: &str, entry: &str) -> Option<Module> {
    for (at, _) in source.match_indices("ptx! {") {
        let body = &source[at + "ptx! {".len()..];
        let body = &body[..closing(body)?];
        let is_entry =
            |rest: &str| rest.trim_start().strip_prefix(entry).is_some_and(|r| r.starts_with(['(', ' ', '\n']));
        if body.split(".entry").skip(1).any(is_entry) {
            let (head, allows, module) = header(body)?;
            let text = match printed(body) {
                Some(text) => text,
                None => head + &without_others(module, entry)?,
            };
            return Some(Module { text, allows });
        }
    }
    let function = &source[source.find(&format!("fn {entry}()"))?..];
    let from = function.find("ptx!(")? + "ptx!(".len();
    let (head, allows, closure) = header(&function[from..])?;
    let (parameters, rest) = closure.split_once('|')?.1.split_once('|')?;
    let open = rest.find('{')? + 1;
    let end = open + closing(&rest[open..])? + 1;
    let text = format!("{head}.visible .entry {entry}({}){}", declared(parameters)?, &rest[..end]);
    Some(Module { text, allows })
}

/// The PTX of a module that is written with pieces, expressions or loops of `ptx!`; `None` if it is PTX as it stands.
fn printed(body: &str) -> Option<String> {
    if !body.contains(".inline ") && !body.contains(" let %") {
        return None;
    }
    let (lexed, _) = lex_rust(body);
    let compiled = compile_rust_file(&lexed.tokens, None, None, &[], Notes::default());
    (!compiled.failed()).then_some(compiled.ptx)
}

/// The directives of a module, the findings that it allows, and what follows its header `<..>`.
fn header(text: &str) -> Option<(String, Vec<String>, &str)> {
    let (header, body) = text.split_once('<')?.1.split_once('>')?;
    let target = header.split(',').next()?.trim();
    let version = header.split("ptx ").nth(1)?.split([',', '>']).next()?.trim();
    let lists = header.split("allow(").skip(1).filter_map(|list| list.split(')').next());
    let allows = lists.flat_map(|list| list.split(',')).map(|name| name.trim().to_owned()).collect();
    Some((format!(".version {version}\n.target {target}\n.address_size 64\n"), allows, body))
}

/// The parameters of a closure, as those of an entry.
fn declared(parameters: &str) -> Option<String> {
    let parameter = |text: &str| {
        let (name, ty) = text.split_once(':')?;
        let (name, ty) = (name.trim(), ty.trim());
        let buffer = ty.starts_with("&[") || ty.starts_with("&mut [");
        let space = if buffer { ".u64 .ptr .global .align 16".to_owned() } else { format!(".{ty}") };
        Some(if buffer { format!(".param {space} {name}: {ty}") } else { format!(".param {space} {name}") })
    };
    let all: Option<Vec<String>> = parameters.split(',').map(parameter).collect();
    Some(all?.join(", "))
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

/// Finds the brace that closes the open ones, outside of comments.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_of_a_rust_file_is_a_module() {
        let source = "use x;\nptx! {\n    // } a comment\n    <sm_90, ptx 8.0, allow(PTX0601, PTX0602)>\n    .visible .entry a() { ret; }\n}\n\
                      ptx! { <sm_80, ptx 7.8>\n .visible .entry other(.param .u32 n) { { ret; } }\n}\n\
                      #[test]\nfn f() { let k = ptx!(<sm_90, ptx 8.0> |x: &mut [u32], n: u32| .reqntid 32 { { ret; } }); }\n";
        let text = |entry| module_of(source, entry).unwrap().text;
        assert!(text("other").starts_with(".version 7.8\n.target sm_80\n"), "{}", text("other"));
        assert!(text("other").trim_end().ends_with("{ { ret; } }"), "{}", text("other"));
        assert!(text("a").contains(".entry a() { ret; }"));
        assert_eq!(module_of(source, "a").unwrap().allows, ["PTX0601", "PTX0602"]);
        let closure = ".visible .entry f(.param .u64 .ptr .global .align 16 x: &mut [u32], .param .u32 n) .reqntid 32 { { ret; } }";
        assert!(text("f").ends_with(closure), "{}", text("f"));
        assert!(module_of(source, "missing").is_none());
    }
}
