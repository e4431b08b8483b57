//! Rust code as text. `quote!` gives [`Code`], whose holes hold what is [`Quoted`]; rustc reads the text of a kernel at once.

use std::fmt;

/// A piece of Rust code.
#[derive(Clone, Debug, Default)]
pub struct Code(String);

/// An identifier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(pub String);

/// Code that is there already.
#[derive(Clone, Copy)]
pub struct Fixed<'a>(pub &'a str);

/// A byte string.
pub struct Bytes<'a>(pub &'a [u8]);

/// `name!("f{}", 1)`: the identifier `f1`.
macro_rules! name {
    ($($text:tt)*) => { $crate::code::Name(format!($($text)*)) };
}
pub(crate) use name;

impl Code {
    /// No code.
    pub fn new() -> Self {
        Code::default()
    }

    /// What `quote!(#hole)` is.
    pub fn one(hole: impl Quoted) -> Self {
        let mut out = Code::new();
        hole.quoted(0, &mut out.0);
        out
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.0.trim_start().is_empty()
    }

    /// More code behind it.
    pub fn extend(&mut self, more: Code) {
        self.0.push_str(&more.0);
    }
}

impl Name {
    /// Is it a keyword with `r#` before it?
    pub fn is_raw(&self) -> bool {
        self.0.starts_with("r#")
    }

    /// Without that.
    pub fn plain(&self) -> &str {
        self.0.strip_prefix("r#").unwrap_or(&self.0)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What can stand in a hole of `quote!`: code and names as they are, strings and numbers as literals of their type, lists one
/// after the other in `#( )*`.
pub trait Quoted {
    /// Writes it, of a list the `n`th.
    fn quoted(&self, n: usize, out: &mut String);

    /// How long a list is; nothing that is the same each time.
    fn count(&self) -> Option<usize> {
        None
    }
}

impl Quoted for Code {
    fn quoted(&self, _: usize, out: &mut String) {
        out.push_str(&self.0);
    }
}

impl Quoted for Name {
    fn quoted(&self, _: usize, out: &mut String) {
        out.push_str(&self.0);
    }
}

impl Quoted for Fixed<'_> {
    fn quoted(&self, _: usize, out: &mut String) {
        out.push_str(self.0);
    }
}

impl Quoted for Bytes<'_> {
    fn quoted(&self, _: usize, out: &mut String) {
        *out += &format!("b\"{}\"", self.0.escape_ascii());
    }
}

impl Quoted for str {
    fn quoted(&self, _: usize, out: &mut String) {
        *out += &format!("{self:?}");
    }
}

impl Quoted for String {
    fn quoted(&self, _: usize, out: &mut String) {
        self.as_str().quoted(0, out);
    }
}

impl Quoted for bool {
    fn quoted(&self, _: usize, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

macro_rules! number {
    ($($t:ident)*) => {$(
        impl Quoted for $t {
            fn quoted(&self, _: usize, out: &mut String) {
                *out += &format!("{self}{}", stringify!($t));
            }
        }
    )*};
}
number!(u8 u16 u32 u64 u128 usize i64);

impl<T: Quoted> Quoted for Option<T> {
    fn quoted(&self, n: usize, out: &mut String) {
        if let Some(some) = self {
            some.quoted(n, out);
        }
    }
}

impl<T: Quoted + ?Sized> Quoted for &T {
    fn quoted(&self, n: usize, out: &mut String) {
        (**self).quoted(n, out);
    }

    fn count(&self) -> Option<usize> {
        (**self).count()
    }
}

impl<T: Quoted> Quoted for [T] {
    fn quoted(&self, n: usize, out: &mut String) {
        self[n].quoted(0, out);
    }

    fn count(&self) -> Option<usize> {
        Some(self.len())
    }
}

impl<T: Quoted> Quoted for Vec<T> {
    fn quoted(&self, n: usize, out: &mut String) {
        self[n].quoted(0, out);
    }

    fn count(&self) -> Option<usize> {
        Some(self.len())
    }
}

impl<T: Quoted, const N: usize> Quoted for [T; N] {
    fn quoted(&self, n: usize, out: &mut String) {
        self[n].quoted(0, out);
    }

    fn count(&self) -> Option<usize> {
        Some(N)
    }
}

/// What `quote!` expands to: its text, in which `\x01` is the next of the holes, and `\x02 body \x03 separator \x04` a body for
/// each of the shortest list in it.
pub fn fill(template: &str, mut holes: &[&dyn Quoted]) -> Code {
    let mut out = String::with_capacity(2 * template.len());
    let mut rest = template;
    while let Some((before, list)) = rest.split_once('\x02') {
        holes = once(before, holes, 0, &mut out);
        let (body, behind) = list.split_once('\x03').unwrap_or((list, ""));
        let (separator, behind) = behind.split_once('\x04').unwrap_or(("", behind));
        let of_body = body.matches('\x01').count();
        let count = holes[..of_body].iter().filter_map(|h| h.count()).min().unwrap_or(0);
        for n in 0..count {
            if n > 0 {
                out.push_str(separator);
            }
            once(body, holes, n, &mut out);
        }
        holes = &holes[of_body..];
        rest = behind;
    }
    once(rest, holes, 0, &mut out);
    Code(out)
}

/// Text without lists; the holes that are left.
fn once<'a, 'h>(text: &str, mut holes: &'h [&'a dyn Quoted], n: usize, out: &mut String) -> &'h [&'a dyn Quoted] {
    let mut parts = text.split('\x01');
    out.push_str(parts.next().unwrap_or(""));
    for part in parts {
        if let [hole, more @ ..] = holes {
            hole.quoted(n, out);
            holes = more;
        }
        out.push_str(part);
    }
    holes
}
