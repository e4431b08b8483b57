//! Names of C++ in messages and for `--entry`: nvcc makes `_Z3addPfi` of `add(float*, int)`.

use cpp_demangle::{DemangleOptions, Symbol};
use std::borrow::Cow;

/// A longer name says less than the one in the PTX.
const LONGEST: usize = 200;

/// The name in C++.
fn of_cpp(name: &str, options: &DemangleOptions) -> Option<String> {
    let shown = Symbol::new(name.strip_prefix("_Z").map(|_| name)?).ok()?.demangle_with_options(options).ok()?;
    (shown.len() <= LONGEST).then_some(shown)
}

/// The same with its parameters, or the name itself.
pub fn shown(name: &str) -> String {
    of_cpp(name, &DemangleOptions::new().no_return_type()).unwrap_or_else(|| name.to_owned())
}

/// A message with names of C++ between backticks.
pub fn in_message(text: &str) -> Cow<'_, str> {
    if !text.contains("`_Z") {
        return Cow::Borrowed(text);
    }
    // every second piece is between backticks, unless there is an odd one: then it has no name
    let pieces = text.split('`').map(|piece| match piece.starts_with("_Z") {
        true => shown(piece),
        false => piece.to_owned(),
    });
    Cow::Owned(pieces.collect::<Vec<_>>().join("`"))
}

/// The name in the PTX of the kernel that somebody asks for: this name, or the only one with this name in C++, with or without its
/// parameters and namespaces.
pub fn entry(text: &str, asked: &str) -> String {
    let entries: Vec<&str> = entries(text).collect();
    if entries.contains(&asked) {
        return asked.to_owned();
    }
    let bare = DemangleOptions::new().no_params().no_return_type();
    let fits = |name: &&&str| {
        let bare = of_cpp(name, &bare);
        bare.as_deref().is_some_and(|bare| bare == asked || bare.ends_with(&format!("::{asked}")))
            || shown(name) == asked
    };
    let mut found = entries.iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(only), None) => (*only).to_owned(),
        _ => asked.to_owned(),
    }
}

/// Has a module several kernels?
pub fn has_several(text: &str) -> bool {
    entries(text).nth(1).is_some()
}

/// Has a module the kernel that somebody asks for?
pub fn has(text: &str, asked: &str) -> bool {
    let name = entry(text, asked);
    entries(text).any(|entry| entry == name)
}

/// The names after `.entry`.
pub fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.split(".entry").skip(1).map(|rest| {
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$' || c == '%'));
        &rest[..end.unwrap_or(rest.len())]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages() {
        let text = "kernel `_Z3addPfi`: byte 4 of `_ZZN2ns5countEvE4tile`, `_Z`, `_Zzz`, `ld [_Z3addPfi];` and `";
        let wanted = "kernel `add(float*, int)`: byte 4 of `ns::count()::tile`, `_Z`, `_Zzz`, `ld [_Z3addPfi];` and `";
        assert_eq!(in_message(text), wanted);
        assert_eq!(in_message("`main`"), "`main`");
    }

    #[test]
    fn kernels() {
        let text = ".visible .entry _Z3addPfi(.param .u64 a)\n{ }\n.entry plain() { } .visible .entry _ZN2ns3subEv() { }\n\
                    .entry _Z3mulIfEvT_() { } .entry _Z3mulIdEvT_() { }";
        for (asked, wanted) in [
            ("add", "_Z3addPfi"),
            ("add(float*, int)", "_Z3addPfi"),
            ("_Z3addPfi", "_Z3addPfi"),
            ("plain", "plain"),
            ("sub", "_ZN2ns3subEv"),
            ("ns::sub", "_ZN2ns3subEv"),
            ("mul<float>", "_Z3mulIfEvT_"),
            ("mul", "mul"),
            ("other", "other"),
        ] {
            assert_eq!(entry(text, asked), wanted, "{asked}");
        }
    }
}
