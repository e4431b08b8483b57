//! 01xx: syntax, before names are resolved.

use super::Explanation;

pub(super) const LIST: &[Explanation] = explained! {
    101 "unknown character"
        "PTX is ASCII. Only comments may contain other characters. `#` lines of the C preprocessor are not PTX."
    102 "unterminated string"
        "A string ends with the next double quote, on the line where it begins. A backslash has no special meaning in \
         it."
    103 "unterminated comment"
        "A comment that begins with `/*` ends with `*/`. Comments do not nest."
    110 "unexpected token"
        "The syntax needs something else at this place. The message says what."
    111 "missing semicolon"
        "Instructions and declarations in a body end with `;`. Labels end with `:`, blocks with `}`."
    112 "unclosed bracket"
        "Every `(`, `[` and `{` needs its counterpart. The place shown is the bracket that stays open."
    113 "unmatched closing bracket"
        "No bracket is open here. Often there is one closing bracket too many before this place."
    114 "unknown directive"
        "No directive has this name (PTX ISA 4.3.1, 11)."
    115 "directive in the wrong place"
        "Directives of a kernel, such as `.maxntid`, come between its parameters and its body, and those of a module \
         at its beginning."
    116 "instruction outside of a function"
        "Module scope has only directives, variables and functions. Instructions belong in the body of a function."
    117 "list without a label"
        "A label before `.branchtargets`, `.calltargets` or `.callprototype` names it, and the instruction refers to \
         that label."
    118 "body after a semicolon"
        "Directives between the parameters and the body have no `;`. A semicolon there ends a declaration without a \
         body."
    119 "statement of C"
        "PTX has no calls with parentheses around the operands, no `if`, loops, assignments or operators. An \
         instruction names its operation, its destination and its sources, and can have a guard."
    120 "malformed number"
        "Integers are decimal, hexadecimal (`0x`), binary (`0b`) or octal (a leading `0`). Exact floating-point numbers are `0f` and \
         eight hexadecimal digits, or `0d` and sixteen. There are no digit separators."
    121 "number too large"
        "Integer constants have 64 bits (PTX ISA 4.5.1)."
    122 "constant integer needed"
        "Array sizes and arguments of directives are constant integers."
    130 "unknown item in the header"
        "The header of `ptx!` is `<target {, option}, ptx M.m {, allow(PTX0601)}>`."
    131 "header without a target or version"
        "The header gives both, because every instruction is checked against them."
    132 "header and directive disagree"
        "A module has one version, one target and one address size. If the header and `.version`, `.target` or \
         `.address_size` both give one, they must be the same."
    133 "code without a level"
        "`allow`, `warn` and `deny` in the header are for warnings and for the findings of protocol and flow (06xx). \
         Errors in the language cannot be allowed."
    140 "nested too deeply"
        "The front end allows 64 nested blocks, brackets and expressions."
    141 "expression too long"
        "The front end allows 256 operators in one constant expression."
    142 "index without an array"
        "An index selects an element of an array of known size, as an operand of `ld`, `ldu`, `st`, `mov` or `cvta`. \
         Within brackets, write a byte offset."
    143 "unknown type in a declaration"
        "No type, or no attribute of a declaration, has this name."
    144 "declaration without a type"
        "A declaration gives the state space, the type and the names, in this order."
    145 "given twice or in another order"
        "A declaration gives an alignment, a type or an attribute only once, in the order `.space .align N .vec .type name`. \
         In a parameter of a kernel `.ptr .space .align N` follows the type."
    146 "unknown component of a register"
        "The components of a vector register are `.x .y .z .w` or `.r .g .b .a`. Video instructions select bytes and \
         half-words with `.b0` to `.b3`, `.h0` and `.h1`."
    147 "parameter with several names"
        "Unlike a declaration in a body, a parameter has one name. Repeat the state space and the type for each \
         parameter."
    148 "empty vector"
        "A vector operand has at least one element."
};

/// Errors that only the macros find.
pub(super) const RUST: &[Explanation] = explained! { rust
    150 "unterminated parameters of a closure"
        "The parameters of a kernel in expression form are between two bars."
    151 "malformed parameter of a closure"
        "A parameter is a name and a Rust type: a slice, or a scalar of 32 or 64 bits."
    152 "no file to include"
        "`include_ptx!` takes the path of a file, relative to the source file of the call."
    153 "Rust type that does not match the parameter"
        "A slice needs a `.u64` parameter, and a scalar a parameter of its size. A floating-point number needs a floating-point \
         parameter, and an integer an integer parameter; `.b32` takes both. A struct by value derives `ptx_dsl::Param`, is `#[repr(C)]`, \
         and has the size of an array of bytes and no larger alignment: `.param .align 8 .b8 options[24]: Options`."
    154 "capture in a kernel"
        "A kernel in expression form cannot capture Rust values: pass them as parameters. It takes no `move` either, because the closure \
         that `on` returns owns what it needs."
    155 "malformed constant"
        "A constant has a name, a type and a value: `const TILE: u32 = crate::TILE;`. The value is a Rust expression, in the \
         scope around the macro. A kernel with const parameters, `.entry k<const N: u32>()`, is alone in its module \
         unless it lists the values, `.entry k<const N: u32 in [2, 4]>()`."
    156 "constant whose value the macro does not know"
        "A macro runs before rustc evaluates constants. The bounds of `@for` and the conditions of `@if` decide which statements there \
         are, so they need a constant that is declared with a number, or a const parameter that lists its values. So do sizes of \
         parameters, offsets in them, and operands that choose a form of an instruction."
    157 "malformed repetition"
        "A repetition runs over a range or a list of constant integers, `@for I in 0..4 { ... }`; a condition is a constant integer, \
         `@if I > 0 { ... } else { ... }`. A const parameter lists its values in the same way, `<const N: u32 in [2, 4]>`."
    158 "access of another type than the elements"
        "A warning: the kernel accesses floating-point values of one type, and Rust passes a slice of another floating-point type. \
         Integers have no such warning, in the kernel or in Rust, because they may hold the bits of floating-point numbers."
    159 "malformed part"
        "A part is `pub part ring { ... }`, alone in its `ptx!`, and another module names it with `use crate::parts::ring;`. Its pieces \
         are `.inline wait(.reg .b32 %bar, .b32 %parity) { ... }` and `.layout stages(full, const N: u32) { ... }`."
    160 "use of a piece that does not fit"
        "A use, `ring::wait!(%bar, 0);`, gives one argument for each parameter of the piece. A register parameter takes a register of the \
         same type, and a parameter by value also a constant. Other parameters take variables of the same state space, constant integers, \
         or labels of the kernel."
    161 "load that suits no field"
        "A parameter by value has a Rust struct or array as its type, and the load does not have the type of the field at its offset. \
         `.u32` and `.s32` load whole integers or floats, `.f32` an `f32` or an integer with its bits, `.b32` any bits."
    170 "not checked"
        "`ptx-dsl check` reads Rust files without rustc. It finds parts in the file itself, in the other files that are given, and in the \
         modules of the crate (`mod name;` from `lib.rs` or `main.rs`). It cannot find those of other crates, or expand `macro_rules!`. \
         Give the file with the part, too; or use `cargo check`, and `--allow PTX0170` for `ptx-dsl check`."
};
