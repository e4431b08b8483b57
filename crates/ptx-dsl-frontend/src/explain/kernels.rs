//! 05xx: variables, functions and whole kernels.

use super::Explanation;

pub(super) const LIST: &[Explanation] = explained! {
    501 "a kernel returns nothing"
        "An `.entry` has no return parameters; results go to global memory."
    502 "parameters too large"
        "The parameters of a kernel take at most 32764 bytes from PTX ISA 8.1 on `sm_70` and later, 4352 before."
    503 "directives that exclude each other"
        "`.reqntid` and `.maxntid`, and `.reqnctapercluster` and `.maxclusterrank`, say different things about the \
         same number."
    504 "argument of a directive"
        "The directive takes other values, or another number of them."
    505 "a directive that needs another"
        "`.blocksareclusters` says nothing without the sizes of block and cluster."
    506 "a call that does not suit the function"
        "A call has one argument for each parameter, of its type and size, and a place for each return value."
    507 "too much static shared memory"
        "Declared shared memory has at most 48 KiB, on `a` targets all that a multiprocessor has. More is taken at \
         launch: declare `.extern .shared x[]` and give the size there."
    508 "initial value"
        "Only `.global` and `.const` variables have initial values, as many as they have elements at most."
    509 "malformed variable"
        "The declaration is no variable that can be: registers and `.local` variables stand in functions from PTX ISA \
         3.0 on, an array without a size is initialised or `.extern`."
    510 "alias"
        "An alias is another name of a function that is defined in the module with the same parameters; it is no \
         kernel."
    511 "function defined twice"
        "A function has one body; declarations without one may stand as often as you like."
    512 "declaration and definition differ"
        "A function has the same parameters wherever it is declared."
    513 "attribute of another declaration"
        "`.managed` is for `.global` variables; `.unified` for these and for functions."
    514 "linking directive"
        "`.extern` declares what another module defines; `.common` is for `.global` variables."
    515 "malformed pragma"
        "A `.pragma` has strings, and some of them have an argument or a place of their own."
    516 "directive without effect"
        "A warning: the directive says nothing here, or a later one overrides it."
    517 "limit over what any target has"
        "A warning: the directive allows more than there is, or a variable is larger than the memory that the host \
         machine has for variables."
    518 "two sizes of the CTA group"
        "All `tcgen05` instructions of a kernel, and of what it calls, have the same `.cta_group`."
    519 "`.reg` or `.local` of the module"
        "A warning: before PTX ISA 3.0 registers and `.local` variables may stand at module scope, where all \
         functions share them, and ptxas then gives up its ABI for the whole module (PTX ISA 5.1). A kernel is \
         printed with them, and runs on the host machine if no function that it calls names them."
};
