//! 015x to 017x: Rust around kernels, which only the macros and `check` of a Rust file find.

use ptx_dsl_isa::code::Code;
use ptx_dsl_isa::code::classes::{ILLEGAL, SUSPICIOUS};

codes! { rust
    UNTERMINATED_PARAMETERS 150 "unterminated parameters of a closure"
        "The parameters of a kernel in expression form are between two bars."
    MALFORMED_PARAMETER 151 "malformed parameter of a closure"
        "A parameter is a name and a Rust type: a slice, or a scalar of 32 or 64 bits."
    NO_INCLUDED_FILE 152 "no file to include"
        "`include_ptx!` takes the path of a file, relative to the source file of the call."
    RUST_TYPE_MISMATCH 153 "Rust type that does not match the parameter"
        "A slice needs a `.u64` parameter, and a scalar a parameter of its size. A floating-point number needs a floating-point \
         parameter, and an integer an integer parameter; `.b32` takes both. A struct by value derives `ptx_dsl::Param`, is `#[repr(C)]`, \
         and has the size of an array of bytes and no larger alignment: `.param .align 8 .b8 options[24]: Options`."
    CAPTURE 154 "capture in a kernel"
        "A kernel in expression form cannot capture Rust values: pass them as parameters. It takes no `move` either, because the closure \
         that `on` returns owns what it needs."
    MALFORMED_CONSTANT 155 "malformed constant"
        "A constant has a name, a type and a value: `const TILE: u32 = crate::TILE;`. The value is a Rust expression, in the \
         scope around the macro. A kernel with const parameters, `.entry k<const N: u32>()`, is alone in its module \
         unless it lists the values, `.entry k<const N: u32 in [2, 4]>()`."
    UNKNOWN_CONSTANT_VALUE 156 "constant whose value the macro does not know"
        "A macro runs before rustc evaluates constants. The bounds of `@for` and the conditions of `@if` decide which statements there \
         are, so they need a constant that is declared with a number, or a const parameter that lists its values. So do sizes of \
         parameters, offsets in them, and operands that choose a form of an instruction."
    MALFORMED_REPETITION 157 "malformed repetition"
        "A repetition runs over a range or a list of constant integers, `@for I in 0..4 { ... }`; a condition is a constant integer, \
         `@if I > 0 { ... } else { ... }`. A const parameter lists its values in the same way, `<const N: u32 in [2, 4]>`."
    OTHER_ELEMENT_TYPE 158 "access of another type than the elements"
        "A warning: the kernel accesses floating-point values of one type, and Rust passes a slice of another floating-point type. \
         Integers have no such warning, in the kernel or in Rust, because they may hold the bits of floating-point numbers."
        ["" "an access of another type than the elements of the slice", SUSPICIOUS]
    MALFORMED_PART 159 "malformed part"
        "A part is `pub part ring { ... }`, alone in its `ptx!`, and another module names it with `use crate::parts::ring;`. Its pieces \
         are `.inline wait(.reg .b32 %bar, .b32 %parity) { ... }` and `.layout stages(full, const N: u32) { ... }`."
    PIECE_USE 160 "use of a piece that does not fit"
        "A use, `ring::wait!(%bar, 0);`, gives one argument for each parameter of the piece. A register parameter takes a register of the \
         same type, and a parameter by value also a constant. Other parameters take variables of the same state space, constant integers, \
         or labels of the kernel."
    LOAD_OF_NO_FIELD 161 "load that suits no field"
        "A parameter by value has a Rust struct or array as its type, and the load does not have the type of the field at its offset. \
         `.u32` and `.s32` load whole integers or floats, `.f32` an `f32` or an integer with its bits, `.b32` any bits."
    MALFORMED_EXPRESSION 162 "malformed integer expression"
        "`let %x = %ctaid.x * 128 + %lane / 4;` computes integers of 32 and 64 bits and predicates, with one instruction for each operator. \
         Operands have one type: `.b32` registers and numbers are `u32`, and `as u64` converts. `/` and `%` take powers of two, because any \
         other division is many instructions."
    MALFORMED_CONTROL 163 "malformed run-time control"
        "`if %x < %n { ... } else { ... }`, `while %x < %n { ... }` and `loop { ... }` branch when the kernel runs, on a comparison or a \
         predicate. `break` and `continue` are within a loop. `@if` and `@for` are written out by the macro, over constants."
    ASSERTION 164 "assertion that does not hold"
        "`const _: () = assert!(STAGES <= 8, \"shared memory has room for eight\");` checks constants of a module, a kernel or a piece: by the \
         macro where it knows them, else by rustc, for each instance of a kernel."
    DESCRIPTOR 165 "wrong field of a descriptor"
        "`descriptor::wgmma(stride: 1024, swizzle: 128)`, `descriptor::tcgen05(...)` and `descriptor::instruction(kind: f16, ...)` are numbers \
         in constant expressions. Offsets are in bytes, multiples of 16, and a field must have room for them."
    REGION 166 "malformed region of shared memory"
        "`.region smem: SHARED { .align 1024 .b8 stages[49152]; .b64 full[4]; }` names parts of a variable that is declared before. Their \
         sizes are known to the macro, and their alignments are at most that of the variable."
    LAYOUT 167 "malformed layout of a tile"
        "`layout Tile = f16[128, 64] swizzle 128;` describes 128 rows of 64 elements in shared memory, as a tensor copy writes them. Rows have a \
         multiple of the bytes that the swizzle permutes, and a tile a multiple of its alignment. `Tile.bytes`, `Tile.rows` and \
         `Tile.columns` are numbers, `Tile.at(%row, %column)` is the offset of an element, and `.shared Tile stages[4];` declares tiles."
    NOT_CHECKED 170 "not checked"
        "`ptx-dsl check` reads Rust files without rustc. It finds parts in the file itself, in the other files that are given, and in the \
         modules of the crate (`mod name;` from `lib.rs` or `main.rs`). It cannot find those of other crates, or expand `macro_rules!`. \
         Give the file with the part, too; or use `cargo check`, and `--allow PTX0170` for `ptx-dsl check`."
        ["" "what the command line cannot check", ILLEGAL]
}
