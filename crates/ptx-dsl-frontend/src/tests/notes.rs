//! Comments stay at their places in the printed text.

use crate::compile_at;
use crate::diag::Diagnostic;
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

/// A finding says where its instruction comes from.
#[test]
fn places_of_findings() {
    let text = "\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<9>;
    add.u32 %r1, %r2, 1;
    .loc 1 10 3
    add.u32 %r3, %r4, 1;
    .loc 2 20 0, function_name NAME, inlined_at 1 10 3
    add.u32 %r5, %r6, 1;
    .loc 1 0 0
    add.u32 %r7, %r8, 1;
    ret;
}
.file 1 \"k.cu\"
.file 2 \"k.h\"
.section .debug_str { NAME: .b8 102,0 }
";
    let found = compile_at(&lex(text).0.tokens, None, None, &[], crate::notes::Notes::default()).diagnostics;
    let last = |d: &Diagnostic| d.notes.last().filter(|note| note.contains("comes from")).cloned();
    let notes: Vec<_> = found.iter().filter(|d| d.code.number == 620).map(last).collect();
    let [first, second] = ["it comes from k.cu:10:3", "it comes from k.h:20, inlined at k.cu:10:3"].map(String::from);
    assert_eq!(notes, [None, Some(first), Some(second), None]);
}

/// File, line and column of the place of each instruction, with the number of the place it is inlined at.
#[test]
fn places_of_instructions() {
    let text = "\
.version 8.0
.target sm_90
.address_size 64
.visible .entry a()
{
    .reg .b32 %r;
    mov.u32 %r, 0;
    .loc 1 10 3
    mov.u32 %r, 1;
    mov.u32 %r, 2;
    {
        .loc 2 20 5, function_name $L__info_string0, inlined_at 1 10 3
        mov.u32 %r, 3;
    }
    mov.u32 %r, 4;
    .loc 1 11 3
    .loc 1 10 3
    .loc 2 20 5, function_name $L__info_string0, inlined_at 1 10 3
    ret;
}
.visible .entry b()
{
    .reg .b32 %r;
    mov.u32 %r, 5;
    .loc 1 30 0
    ret;
}
.file 1 \"k.cu\"
.file 2 \"k.h\", 1234, 5678
.section .debug_str
{
$L__info_string0:
.b8 102,0
}
";
    let hir = compile_at(&lex(text).0.tokens, None, None, &[], crate::notes::Notes::default()).hir;
    let place = |instr| hir.origins.place(hir.origins.of(instr)).map(|p| (p.file, p.line, p.column, p.inlined_at));
    let of: Vec<_> = (0..9).map(place).collect();
    let [first, inlined, again] = [(1, 10, 3, 0), (2, 20, 5, 1), (2, 20, 5, 4)].map(Some);
    assert_eq!(of, [None, first, first, inlined, inlined, again, None, Some((1, 30, 0, 0)), None]);
    assert_eq!(hir.origins.files, [(1, "k.cu".to_owned()), (2, "k.h".to_owned())].into());
}
