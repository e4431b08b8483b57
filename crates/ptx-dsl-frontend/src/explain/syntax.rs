//! 01xx: syntax, before names are resolved.

use super::Explanation;

pub(super) const LIST: &[Explanation] = explained! {
    101 "unknown character"
        "PTX is written in ASCII. Only comments hold other characters; `#` lines of the C preprocessor are not PTX."
    102 "string without an end"
        "A string ends with the next double quote, on the line it begins on; a backslash means nothing in it."
    103 "comment without an end"
        "A comment that begins with `/*` ends with `*/`. Comments do not nest."
    110 "something else is expected here"
        "The syntax asks for something else at this place; the message says for what."
    111 "missing semicolon"
        "Instructions and declarations in a body end with `;`. Labels end with `:`, blocks with `}`."
    112 "a bracket is never closed"
        "Every `(`, `[` and `{` needs its counterpart. The place shown is the one that stays open."
    113 "a bracket closes nothing"
        "A closing bracket stands where none is open. Often one too many stands further up."
    114 "unknown directive"
        "There is no directive of this name (PTX ISA 4.3.1, 11)."
    115 "directive in the wrong place"
        "Directives of a kernel, such as `.maxntid`, stand between its parameters and its body; those of a module at \
         its beginning."
    116 "instruction outside of a function"
        "At module scope stand directives, variables and functions only. Instructions belong into the body of a \
         function."
    117 "a list without a label"
        "`.branchtargets`, `.calltargets` and `.callprototype` are named by a label in front of them; the instruction \
         refers to it."
    118 "a body behind a semicolon"
        "Directives between the parameters and the body stand without `;`: one there ends a declaration without a \
         body."
    119 "a statement of C"
        "PTX has no calls with parentheses around the operands, no `if` and no loops, no assignments and no \
         operators: an instruction names its operation, its destination and its sources, and runs under a guard."
    120 "malformed number"
        "Integers are decimal, `0x`, `0b` or octal with a leading `0`; exact floating-point numbers are `0f` and \
         eight or `0d` and sixteen hexadecimal digits. There are no digit separators."
    121 "number too large"
        "Integer constants have 64 bits (PTX ISA 4.5.1)."
    122 "a constant integer is needed"
        "Array sizes and arguments of directives are constant integers."
    130 "unknown item in the header"
        "The header of `ptx!` is `<target {, option}, ptx M.m {, allow(PTX0601)}>`."
    131 "the header lacks the target or the version"
        "A header names both, for all availability is checked against them."
    132 "header and directive disagree"
        "A module has one version, one target and one address size. Where the header and `.version`, `.target` or \
         `.address_size` both stand, they say the same."
    133 "no level to set"
        "`allow`, `warn` and `deny` in the header are for warnings and for findings of protocol and flow, 06xx. What \
         breaks the language cannot be allowed."
    140 "nested too deeply"
        "This front end follows 64 levels of blocks, brackets and expressions."
    141 "expression too long"
        "This front end takes 256 operators in one constant expression."
    142 "no array to index"
        "An index selects an element of an array of known size, as an operand of `ld`, `ldu`, `st`, `mov` or `cvta`; \
         inside of brackets a byte offset is written."
    143 "unknown type in a declaration"
        "There is no such type, or no such attribute of a declaration."
    144 "declaration without a type"
        "A declaration gives the state space, the type and the names, in this order."
    145 "given twice"
        "An alignment, a type or an attribute is given once in a declaration."
    146 "no component of a register"
        "The components of a vector register are `.x .y .z .w` or `.r .g .b .a`. Video instructions select bytes and \
         half-words with `.b0` to `.b3`, `.h0` and `.h1`."
    147 "a parameter with several names"
        "Unlike a declaration in a body, a parameter has one name: state space and type are repeated for each."
    148 "empty vector"
        "A vector operand has elements."
};

/// Errors that only the macros find.
pub(super) const RUST: &[Explanation] = explained! { rust
    150 "parameters of a closure without an end"
        "The parameters of a kernel in expression form stand between two bars."
    151 "malformed parameter of a closure"
        "A parameter is a name and a Rust type: a slice, or a scalar of 32 or 64 bits."
    152 "no file to include"
        "`include_ptx!` takes the path of a file, relative to the source file that it stands in."
    153 "the Rust type does not suit the parameter"
        "A slice needs a `.u64` parameter, a scalar a parameter of its size."
    154 "a kernel captures nothing"
        "A kernel in expression form is no Rust closure with surroundings: values of Rust are its parameters. The \
         closure that `on` gives owns what it needs, so nothing is moved into it either."
};
