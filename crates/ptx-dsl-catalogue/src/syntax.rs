//! 01xx: syntax, before names are resolved.

use ptx_dsl_isa::code::Code;

codes! {
    UNKNOWN_CHARACTER 101 "unknown character"
        "PTX is ASCII. Only comments may contain other characters. `#` lines of the C preprocessor are not PTX."
    UNTERMINATED_STRING 102 "unterminated string"
        "A string ends with the next double quote, on the line where it begins. A backslash has no special meaning in \
         it."
    UNTERMINATED_COMMENT 103 "unterminated comment"
        "A comment that begins with `/*` ends with `*/`. Comments do not nest."
    UNEXPECTED_TOKEN 110 "unexpected token"
        "The syntax needs something else at this place. The message says what."
    MISSING_SEMICOLON 111 "missing semicolon"
        "Instructions and declarations in a body end with `;`. Labels end with `:`, blocks with `}`."
    UNCLOSED_BRACKET 112 "unclosed bracket"
        "Every `(`, `[` and `{` needs its counterpart. The place shown is the bracket that stays open."
    UNMATCHED_BRACKET 113 "unmatched closing bracket"
        "No bracket is open here. Often there is one closing bracket too many before this place."
    UNKNOWN_DIRECTIVE 114 "unknown directive"
        "No directive has this name (PTX ISA 4.3.1, 11)."
    MISPLACED_DIRECTIVE 115 "directive in the wrong place"
        "Directives of a kernel, such as `.maxntid`, come between its parameters and its body, and those of a module \
         at its beginning."
    INSTRUCTION_OUTSIDE 116 "instruction outside of a function"
        "Module scope has only directives, variables and functions. Instructions belong in the body of a function."
    LIST_WITHOUT_LABEL 117 "list without a label"
        "A label before `.branchtargets`, `.calltargets` or `.callprototype` names it, and the instruction refers to \
         that label."
    BODY_AFTER_SEMICOLON 118 "body after a semicolon"
        "Directives between the parameters and the body have no `;`. A semicolon there ends a declaration without a \
         body."
    C_STATEMENT 119 "statement of C"
        "PTX has no calls with parentheses around the operands, no `if`, loops, assignments or operators. An \
         instruction names its operation, its destination and its sources, and can have a guard."
    MALFORMED_NUMBER 120 "malformed number"
        "Integers are decimal, hexadecimal (`0x`), binary (`0b`) or octal (a leading `0`). Exact floating-point numbers are `0f` and \
         eight hexadecimal digits, or `0d` and sixteen. There are no digit separators."
    NUMBER_TOO_LARGE 121 "number too large"
        "Integer constants have 64 bits (PTX ISA 4.5.1)."
    CONSTANT_NEEDED 122 "constant integer needed"
        "Array sizes and arguments of directives are constant integers."
    UNKNOWN_HEADER_ITEM 130 "unknown item in the header"
        "The header of `ptx!` is `<target {, option}, ptx M.m {, allow(PTX0601)}>`."
    INCOMPLETE_HEADER 131 "header without a target or version"
        "The header gives both, because every instruction is checked against them."
    HEADER_CONFLICT 132 "header and directive disagree"
        "A module has one version, one target and one address size. If the header and `.version`, `.target` or \
         `.address_size` both give one, they must be the same."
    NO_LEVEL 133 "code without a level"
        "`allow`, `warn` and `deny` in the header are for warnings and for the findings of protocol and flow (06xx). \
         Errors in the language cannot be allowed."
    NESTED_TOO_DEEPLY 140 "nested too deeply"
        "The front end allows 64 nested blocks, brackets and expressions."
    EXPRESSION_TOO_LONG 141 "expression too long"
        "The front end allows 256 operators in one constant expression."
    INDEX_WITHOUT_ARRAY 142 "index without an array"
        "An index selects an element of an array of known size, as an operand of `ld`, `ldu`, `st`, `mov` or `cvta`. \
         Within brackets, write a byte offset."
    UNKNOWN_TYPE 143 "unknown type in a declaration"
        "No type, or no attribute of a declaration, has this name."
    DECLARATION_WITHOUT_TYPE 144 "declaration without a type"
        "A declaration gives the state space, the type and the names, in this order."
    DECLARATION_ORDER 145 "given twice or in another order"
        "A declaration gives an alignment, a type or an attribute only once, in the order `.space .align N .vec .type name`. \
         In a parameter of a kernel `.ptr .space .align N` follows the type."
    UNKNOWN_COMPONENT 146 "unknown component of a register"
        "The components of a vector register are `.x .y .z .w` or `.r .g .b .a`. Video instructions select bytes and \
         half-words with `.b0` to `.b3`, `.h0` and `.h1`."
    SEVERAL_PARAMETER_NAMES 147 "parameter with several names"
        "Unlike a declaration in a body, a parameter has one name. Repeat the state space and the type for each \
         parameter."
    EMPTY_VECTOR 148 "empty vector"
        "A vector operand has at least one element."
}
