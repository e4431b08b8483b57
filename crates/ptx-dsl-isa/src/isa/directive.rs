//! Directives (manual chapter 11) and the declarations of chapters 4 and 5: the version and target that they need, and where they
//! are allowed. The parser knows their arguments.

use super::version::{ANY, Ptx, Targets, ptx, sm};

/// The place of a directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// At module scope.
    Module,
    /// Between the parameters and the body of an `.entry`.
    Entry,
    /// Between the parameters and the body of a `.func`.
    Func,
    /// In a body.
    Body,
}

/// A directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Directive {
    /// With its dot.
    pub name: &'static str,
    /// First version.
    pub since: Ptx,
    /// Targets.
    pub requires: Targets,
    /// Where it is allowed.
    pub places: &'static [Place],
}

const MODULE: &[Place] = &[Place::Module];
const ENTRY: &[Place] = &[Place::Entry];
const FUNC: &[Place] = &[Place::Func];
const KERNEL_OR_FUNC: &[Place] = &[Place::Entry, Place::Func];
const BODY: &[Place] = &[Place::Body];
const ANYWHERE: &[Place] = &[Place::Module, Place::Entry, Place::Func, Place::Body];

const fn row(name: &'static str, since: Ptx, requires: Targets, places: &'static [Place]) -> Directive {
    Directive { name, since, requires, places }
}

/// All of them.
#[rustfmt::skip]
pub static DIRECTIVES: &[Directive] = &[
    row(".version", ptx(1, 0), ANY, MODULE),
    row(".target", ptx(1, 0), ANY, MODULE),
    row(".address_size", ptx(2, 3), ANY, MODULE),
    row(".entry", ptx(1, 0), ANY, MODULE),
    row(".func", ptx(1, 0), ANY, MODULE),
    row(".alias", ptx(6, 3), sm(30), MODULE),
    row(".branchtargets", ptx(2, 1), sm(20), BODY),
    row(".calltargets", ptx(2, 1), sm(20), BODY),
    row(".callprototype", ptx(2, 1), sm(20), BODY),
    row(".maxnreg", ptx(1, 3), ANY, ENTRY),
    row(".maxntid", ptx(1, 3), ANY, ENTRY),
    row(".reqntid", ptx(2, 1), ANY, ENTRY),
    row(".minnctapersm", ptx(2, 0), ANY, ENTRY),
    row(".maxnctapersm", ptx(1, 3), ANY, ENTRY),
    row(".noreturn", ptx(6, 4), sm(30), FUNC),
    row(".pragma", ptx(2, 0), ANY, &[Place::Module, Place::Entry, Place::Body]),
    row(".abi_preserve", ptx(9, 0), sm(80), FUNC),
    row(".abi_preserve_control", ptx(9, 0), sm(80), FUNC),
    row("@@DWARF", ptx(1, 2), ANY, ANYWHERE),
    row(".section", ptx(2, 0), ANY, MODULE),
    row(".file", ptx(1, 0), ANY, MODULE),
    row(".loc", ptx(1, 0), ANY, BODY),
    row(".extern", ptx(1, 0), ANY, MODULE),
    row(".visible", ptx(1, 0), ANY, MODULE),
    row(".weak", ptx(3, 1), ANY, MODULE),
    row(".common", ptx(5, 0), sm(20), MODULE),
    row(".reqnctapercluster", ptx(7, 8), sm(90), ENTRY),
    row(".explicitcluster", ptx(7, 8), sm(90), ENTRY),
    row(".maxclusterrank", ptx(7, 8), sm(90), ENTRY),
    row(".blocksareclusters", ptx(9, 0), sm(90), ENTRY),
    row(".minperctamemory", ptx(9, 4), sm(80), ENTRY),
    row(".language", ptx(9, 2), ANY, KERNEL_OR_FUNC),
    row(".loc_intermediate", ptx(9, 4), ANY, BODY),
    row(".nv_intermediate_source_section", ptx(9, 4), ANY, MODULE),
    row(".attribute", ptx(4, 0), sm(30), ANYWHERE),
    row(".ptr", ptx(2, 2), ANY, ENTRY),
    row(".reg", ptx(1, 0), ANY, ANYWHERE),
    row(".sreg", ptx(1, 0), ANY, ANYWHERE),
    row(".const", ptx(1, 0), ANY, MODULE),
    row(".global", ptx(1, 0), ANY, MODULE),
    row(".local", ptx(1, 0), ANY, ANYWHERE),
    row(".param", ptx(1, 0), ANY, ANYWHERE),
    row(".shared", ptx(1, 0), ANY, ANYWHERE),
    row(".tex", ptx(1, 0), ANY, MODULE),
    row(".align", ptx(1, 0), ANY, ANYWHERE),
];

/// Pairs that exclude each other on one kernel: manual 11.4 and 11.7.
pub static EXCLUSIVE: &[(&str, &str)] = &[(".reqntid", ".maxntid"), (".reqnctapercluster", ".maxclusterrank")];

/// Directives that require all of these beside them, each with a value for a help.
pub static NEEDS_ALL: &[(&str, &[(&str, &str)])] =
    &[(".blocksareclusters", &[(".reqntid", " 128"), (".reqnctapercluster", " 2")])];

/// Directives removed in a version, with their replacement. ptxas refuses them; the manual calls them deprecated.
pub static GONE: &[(&str, Ptx, &str)] = &[
    (".maxnctapersm", ptx(2, 1), "write `.minnctapersm`"),
    (".tex", ptx(1, 5), "declare a `.global` variable of type `.texref`"),
];

/// The largest number of `.language`.
pub const LANGUAGES: u64 = 10;

/// A known string of `.pragma`.
#[derive(Debug, Clone, Copy)]
pub struct Pragma {
    /// Its first word.
    pub name: &'static str,
    /// First version.
    pub since: Ptx,
    /// Targets.
    pub requires: Targets,
    /// Only in a body, not before it and not at module scope.
    pub body: bool,
    /// An example of its required argument.
    pub argument: Option<&'static str>,
}

const fn pragma(name: &'static str, since: Ptx, requires: Targets, body: bool) -> Pragma {
    Pragma { name, since, requires, body, argument: None }
}

/// The known strings of `.pragma`, with their requirements. An unknown one is not an error.
pub static PRAGMAS: &[Pragma] = &[
    pragma("nounroll", ptx(2, 0), sm(20), false),
    pragma("used_bytes_mask", ptx(8, 3), sm(50), true),
    pragma("enable_smem_spilling", ptx(8, 7), sm(75), true),
    Pragma { argument: Some("10"), ..pragma("frequency", ptx(9, 0), ANY, true) },
    pragma("mma_throughput", ptx(9, 3), ANY, true),
];

/// A directive by its name.
pub fn directive(name: &str) -> Option<&'static Directive> {
    let mut found = None;
    for row in DIRECTIVES {
        if row.name == name {
            found = Some(row);
            break;
        }
    }
    found
}
