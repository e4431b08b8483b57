//! 05xx: variables, functions and whole kernels.

use ptx_dsl_isa::code::Code;
use ptx_dsl_isa::code::classes::{PROTOCOL, SUSPICIOUS};

codes! {
    KERNEL_RETURNS 501 "a kernel returns nothing"
        "An `.entry` has no return parameters; results go to global memory."
    PARAMETERS_TOO_LARGE 502 "parameters too large"
        "The parameters of a kernel take at most 32764 bytes from PTX ISA 8.1 on `sm_70` and later, 4352 before."
    EXCLUSIVE_DIRECTIVES 503 "directives that exclude each other"
        "`.reqntid` and `.maxntid` set the same number in different ways, and so do `.reqnctapercluster` and \
         `.maxclusterrank`."
    DIRECTIVE_ARGUMENT 504 "argument of a directive"
        "The directive takes other values, or another number of values."
    DIRECTIVE_DEPENDENCE 505 "directive that needs another"
        "`.blocksareclusters` has no meaning without the sizes of block and cluster."
    CALL_MISMATCH 506 "call that does not match the function"
        "A call has one argument for each parameter, of the same type and size, and a place for each return value."
    TOO_MUCH_SHARED 507 "too much static shared memory"
        "Declared shared memory is limited to 48 KiB, and on `a` targets to the shared memory of a multiprocessor. To \
         use more, declare `.extern .shared x[]` and give the size at launch."
    INITIAL_VALUE 508 "initial value"
        "Only `.global` and `.const` variables have initial values, and at most one for each element."
    MALFORMED_VARIABLE 509 "malformed variable"
        "Registers and `.local` variables are declared in functions from PTX ISA 3.0 on. An array without a size is \
         initialised or `.extern`."
    ALIAS 510 "alias"
        "An alias is another name of a function that the module defines with the same parameters. It cannot name a \
         kernel."
    DEFINED_TWICE 511 "function defined twice"
        "A function has one body. Declarations without a body may be repeated."
    DECLARATION_MISMATCH 512 "declaration and definition differ"
        "All declarations of a function have the same parameters."
    MISPLACED_ATTRIBUTE 513 "attribute of another declaration"
        "`.managed` is for `.global` variables; `.unified` is for `.global` variables and functions."
    LINKING 514 "linking directive"
        "`.extern` declares what another module defines; `.common` is for `.global` variables."
    MALFORMED_PRAGMA 515 "malformed `.pragma` or `.loc`"
        "A `.pragma` has strings. Some of them have an argument, or are allowed only in certain places. A `.loc` of inlined code \
         follows one of the place where it is inlined, and names a function whose name is in a section."
    DIRECTIVE_WITHOUT_EFFECT 516 "directive without effect"
        "A warning: the directive has no effect here, or a later one overrides it."
        ["" "a directive without effect", SUSPICIOUS]
    LIMIT_TOO_HIGH 517 "limit above that of every target"
        "A warning: the directive allows more than any target has, or a variable is larger than the memory that the \
         host machine has for variables."
        ["" "a limit over what any target has", SUSPICIOUS]
    CTA_GROUP_SIZES 518 "two sizes of the CTA group"
        "All `tcgen05` instructions of a kernel and of the functions that it calls have the same `.cta_group`."
    MODULE_REGISTER 519 "`.reg` or `.local` at module scope"
        "A warning: before PTX ISA 3.0, registers and `.local` variables may be declared at module scope. All \
         functions then share them, and ptxas compiles the whole module without its ABI (PTX ISA 5.1). A kernel is printed \
         with them, and runs on the host machine if no function that it calls uses them."
        ["" "a register or `.local` variable of the module", SUSPICIOUS]
    SHORT_INITIAL_LIST 520 "list of initial values that is not full"
        "A warning: inner braces are not places. ptxas and the driver put all values one after another, so those after a list \
         that is not full move up. Fill the list with zeros. A list at the end need not be full."
        ["" "an initial value that moves up because a list before it is not full", SUSPICIOUS]
    UNDOCUMENTED_OPERAND 521 "operand that the manual does not have"
        "A warning: ptxas takes the sum of a register and a number as a source operand, `add.u32 %r3, %r1+1, %r2`. It adds the \
         number in the width of the register, and the instruction takes the sum. It also takes `_` as a second result of an \
         instruction that has one. The manual has neither."
        ["" "an operand that ptxas takes and the manual does not have", PROTOCOL]
    POINTER_TO_OWN_SPACE 522 "kernel parameter that points to `.shared` or `.local`"
        "A warning: ptxas accepts `.ptr .shared` and `.ptr .local` on a parameter of a kernel, as OpenCL writes them. The CUDA \
         driver (580, tried with PTX and with a cubin) refuses such a module as a whole: CUDA_ERROR_INVALID_IMAGE. It takes \
         `.ptr .global`, `.ptr .const` and `.ptr` alone. Pass an offset without `.ptr`, or use dynamic shared memory."
        ["" "a parameter of a kernel that points to `.shared` or `.local`", SUSPICIOUS]
}
