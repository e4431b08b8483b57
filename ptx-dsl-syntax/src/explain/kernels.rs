//! 05xx: variables, functions and whole kernels.

use super::{Explanation, body, module};

pub(super) const LIST: &[Explanation] = &[
    module(
        501,
        "a kernel returns nothing",
        "An `.entry` has no return parameters; results go to global memory.",
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry (.param .u32 r) k()\n{\n    ret;\n}",
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 r)\n{\n    ret;\n}",
    ),
    module(
        502,
        "parameters too large",
        "The parameters of a kernel take at most 32764 bytes from PTX ISA 8.1 on `sm_70` and later, 4352 before.",
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .b8 x[8000])\n{\n    ret;\n}",
        ".version 8.1\n.target sm_90\n.address_size 64\n.visible .entry k(.param .b8 x[8000])\n{\n    ret;\n}",
    ),
    module(
        503,
        "directives that exclude each other",
        "`.reqntid` and `.maxntid`, and `.reqnctapercluster` and `.maxclusterrank`, say different things about the same number.",
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() .reqntid 128 .maxntid 256\n{\n    ret;\n}",
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() .reqntid 128\n{\n    ret;\n}",
    ),
    module(
        504,
        "argument of a directive",
        "The directive takes other values, or another number of them.",
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() .maxntid 0\n{\n    ret;\n}",
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() .maxntid 128\n{\n    ret;\n}",
    ),
    module(
        505,
        "a directive that needs another",
        "`.minnctapersm` says nothing without a number of threads, `.blocksareclusters` nothing without the sizes of block and cluster.",
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() .minnctapersm 2\n{\n    ret;\n}",
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() .maxntid 128 .minnctapersm 2\n{\n    ret;\n}",
    ),
    module(
        506,
        "a call that does not suit the function",
        "A call has one argument for each parameter, of its type and size, and a place for each return value.",
        ".version 9.0\n.target sm_90\n.address_size 64\n.func f(.param .u32 a)\n{\n    ret;\n}\n.visible .entry k()\n{\n    call f, ();\n    ret;\n}",
        ".version 9.0\n.target sm_90\n.address_size 64\n.func f(.param .u32 a)\n{\n    ret;\n}\n.visible .entry k()\n{\n    .param .u32 x;\n    st.param.u32 [x], 1;\n    call f, (x);\n    ret;\n}",
    ),
    body(
        507,
        "too much static shared memory",
        "Declared shared memory has at most 48 KiB. More is taken at launch: declare `.extern .shared x[]` and give the size there.",
        ".shared .b8 x[65536];",
        ".shared .b8 x[32768];",
    ),
    body(
        508,
        "initial value",
        "Only `.global` and `.const` variables have initial values, as many as they have elements at most.",
        ".shared .b32 x = 1;",
        ".shared .b32 x;\nst.shared.u32 [x], 1;",
    ),
    module(
        509,
        "malformed variable",
        "The declaration is no variable that can be: registers stand in functions, an array without a size is initialised or `.extern`.",
        ".version 9.0\n.target sm_90\n.address_size 64\n.reg .b32 %r;",
        ".version 9.0\n.target sm_90\n.address_size 64\n.global .b32 r;",
    ),
    module(
        511,
        "function defined twice",
        "A function has one body; declarations without one may stand as often as you like.",
        ".version 9.0\n.target sm_90\n.address_size 64\n.func f()\n{\n    ret;\n}\n.func f()\n{\n    ret;\n}",
        ".version 9.0\n.target sm_90\n.address_size 64\n.func f();\n.func f()\n{\n    ret;\n}",
    ),
    module(
        512,
        "declaration and definition differ",
        "A function has the same parameters wherever it is declared.",
        ".version 9.0\n.target sm_90\n.address_size 64\n.func f(.param .u32 a);\n.func f(.param .u64 a)\n{\n    ret;\n}",
        ".version 9.0\n.target sm_90\n.address_size 64\n.func f(.param .u64 a);\n.func f(.param .u64 a)\n{\n    ret;\n}",
    ),
];
