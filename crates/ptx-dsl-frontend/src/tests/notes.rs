//! Comments stay at their places in the printed text.

use crate::compile_at;
use crate::lex::lex;

fn printed(text: &str) -> String {
    let (lexed, _) = lex(text);
    let compiled = compile_at(&lexed.tokens, None, None, &[], lexed.notes());
    assert!(!compiled.failed(), "{:?}", compiled.diagnostics);
    compiled.ptx
}

const WRITTEN: &str = "\
// first
/* several
 * lines */
.version 8.0 // the version
.target sm_90
.address_size 64

// about g
.global .u32 g; // after g
.global .u32 h; /* before k */ .visible .entry k( // (
    .param .u64 a, // about a, k2
    // before b
    .param .u64 b
    // last parameter
) .reqntid 32 // directive
{
    .reg .b32 %r; .reg .pred %p; // registers
    mov.u32 %r, 1; // one
  setp.eq.u32 %p, %r, 1;
    // before a guard
    @!%p bra L;
  /* before a label */
L: // label
    add.u32 %r, /* inside */ %r, // goes on
        // more
        1;
    {
        // in a block
        ret;
        // end of a block
    } // after a block
    // end of the body
} // end of k
// between
.visible .entry k2() { ret; }
// end
/* very end */
";

const PRINTED: &str = "\
// first
/* several
 * lines */
.version 8.0 // the version
.target sm_90
.address_size 64

// about g
.global .u32 g; // after g
.global .u32 h; /* before k */

.visible .entry k( // (
    .param .u64 a, // about a, k2
    // before b
    .param .u64 b
    // last parameter
)
.reqntid 32
{ // directive
    .reg .b32 %r;
    .reg .pred %p; // registers
    mov.u32 %r, 1; // one
    setp.eq.u32 %p, %r, 1;
    // before a guard
    @!%p bra L;
    /* before a label */
L: // label
    add.u32 %r, %r, 1; /* inside */ // goes on
    // more
    {
        // in a block
        ret;
        // end of a block
    } // after a block
    // end of the body
} // end of k

// between
.visible .entry k2()
{
    ret;
}
// end
/* very end */
";

#[test]
fn comments_stay_at_their_places() {
    assert_eq!(printed(WRITTEN), PRINTED);
    assert_eq!(printed(PRINTED), PRINTED);
}

#[test]
fn names_in_comments_need_nothing() {
    let (lexed, _) = lex(WRITTEN);
    let compiled = compile_at(&lexed.tokens, None, None, &[], lexed.notes());
    let entries = compiled.entries();
    let k = entries.alone("k").unwrap();
    assert!(
        !k.contains("k2()") && !k.contains("global") && k.contains("// about a, k2") && k.starts_with("// first"),
        "{k}"
    );
    let k2 = entries.alone("k2").unwrap();
    assert!(k2.contains("// between") && !k2.contains("// end of k\n"), "{k2}");
}
