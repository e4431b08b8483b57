//! What rust-analyzer answers in `ptx!`, from the items that only it sees (`ptx-dsl-macros/src/editor.rs`). `|` in a text is the cursor.

use super::client::Client;
use super::{available, root, write_package};
use serde_json::{Value, json};
use std::path::PathBuf;

const PARTS: &str = "\
ptx_dsl::ptx! {
    <sm_90, ptx 8.0>
    pub part ring {
        .inline wait(.shared .b64 at, .b32 parity) {
            .reg .pred %again;
        try_again:
            mbarrier.try_wait.parity.shared::cta.b64 %again, [at], parity;
            @!%again bra try_again;
        }
    }
}
";

const MAIN: &str = "\
mod parts;
use ptx_dsl::prelude::*;

ptx! {
    <sm_90, ptx 8.0>
    use crate::parts::ring;

    .func (.reg .b32 %out) twice(.reg .b32 %in) { add.u32 %out, %in, %in; ret; }
    .visible .entry scale(.param .u64 .ptr .global .align 4 x: &mut [u32], .param .u32 n) .reqntid 32
    {
        .reg .pred %p, %done;
        .reg .b32 %r<4>, %sum, %v<4>;
        .reg .b64 %x, %off, %state;
        .shared .align 8 .b64 full;
        ld.param.u64 %x, [x];
        mov.u32 %r0, %tid.x;
        ld.param.u32 %r1, [n];
        setp.ge.u32 %p, %r0, %r1;
        @%p bra $L__done;
        mad.wide.u32 %off, %r0, 4, %x;
        mul.lo.u32 %r2, %r0, 2;
        ld.global.u32 %sum, [%off];
        add.u32 %sum, %sum, 1;
        call (%sum), twice, (%sum);
        st.global.u32 [%off], %sum;
        mbarrier.init.shared::cta.b64 [full], 1;
        mbarrier.arrive.shared::cta.b64 %state, [full];
        ring::wait!(full, 0);
        @for I in 0..4 { mov.u32 %v{I}, I; }
        let %q: b32 = %v0 + 1;
        st.global.u32 [%off], %q;
    $L__done:
        ret;
    }
}

fn main() {
    let on = ptx!(<sm_90, ptx 8.0> |y: &mut [u32], m: u32| .maxntid 32 {
        .reg .b32 %m;
        .reg .b64 %y;
        ld.param.u64 %y, [y];
        ld.param.u32 %m, [m];
        st.global.u32 [%y], %m;
        ret;
    });
    on.launch(&Host::new(), Launch::grid(1), (&mut [0], 1)).unwrap();
}
";

struct Session {
    client: Client,
    main: PathBuf,
    parts: PathBuf,
    wrong: Vec<String>,
}

impl Session {
    /// A place of one of the files, as they are on disk.
    fn place(&self, marked: &str) -> (PathBuf, usize) {
        let (text, cursor) = (marked.replace('|', ""), marked.find('|').expect("a cursor"));
        let find = |file: &str| {
            let mut found = file.match_indices(&text).map(|(at, _)| at + cursor);
            let first = found.next();
            assert!(found.next().is_none(), "`{marked}` is there twice");
            first
        };
        match (find(MAIN), find(PARTS)) {
            (Some(at), None) => (self.main.clone(), at),
            (None, Some(at)) => (self.parts.clone(), at),
            _ => panic!("`{marked}` is not in one of the files"),
        }
    }

    fn ask(&mut self, method: &str, marked: &str, more: Value) -> Value {
        let (path, byte) = self.place(marked);
        self.client.at(method, (&path, byte), more)
    }

    fn check(&mut self, what: &str, good: bool, is: &dyn std::fmt::Debug) {
        if !good {
            self.wrong.push(format!("{what}: {is:?}"));
        }
    }

    fn hover(&mut self, marked: &str, wanted: &[&str]) {
        let answer = self.ask("hover", marked, json!({}));
        let text = answer["contents"]["value"].as_str().unwrap_or_default().replace('\\', "");
        self.check(&format!("hover `{marked}`"), wanted.iter().all(|part| text.contains(part)), &text);
        // each word has one item
        self.check(&format!("items of `{marked}`"), text.matches("::ptx::").count() == 1, &text);
    }

    fn definition(&mut self, marked: &str, wanted: (&str, &str)) {
        let answer = self.ask("definition", marked, json!({}));
        let first = answer.get(0).map(|place| self.client.under(place));
        let good = first.as_ref().is_some_and(|(text, file)| (text.as_str(), file.as_str()) == wanted);
        self.check(&format!("definition `{marked}`"), good, &first);
    }

    fn references(&mut self, marked: &str, wanted: &[&str]) {
        let answer = self.ask("references", marked, json!({ "context": { "includeDeclaration": true } }));
        let mut found: Vec<String> =
            answer.as_array().into_iter().flatten().map(|place| self.client.under(place).0).collect();
        found.sort();
        self.check(&format!("references `{marked}`"), found == wanted, &found);
        let highlights = self.ask("documentHighlight", marked, json!({})).as_array().map_or(0, Vec::len);
        self.check(&format!("highlights `{marked}`"), highlights == wanted.len(), &highlights);
    }

    /// How many places are renamed; `None` if rust-analyzer refuses.
    fn rename(&mut self, marked: &str, wanted: Option<usize>) {
        let answer = self.ask("rename", marked, json!({ "newName": "other" }));
        let changes = answer["documentChanges"].as_array();
        let edits = changes.map(|all| all.iter().flat_map(|one| one["edits"].as_array()).flatten().collect::<Vec<_>>());
        let good = edits.as_ref().is_none_or(|all| all.iter().all(|edit| edit["newText"] == "other"));
        let count = edits.map(|all| all.len());
        self.check(&format!("rename `{marked}`"), good && count == wanted, &answer);
    }

    /// What may be written at the cursor in a line that replaces `mul.lo.u32 %r2, %r0, 2;`: exactly this, or at least this.
    fn completion(&mut self, line: &str, exactly: bool, wanted: &[&str]) {
        self.completion_in(("mul.lo.u32 %r2, %r0, 2;", line), exactly, wanted);
    }

    fn completion_in(&mut self, (old, new): (&str, &str), exactly: bool, wanted: &[&str]) {
        assert_eq!(MAIN.matches(old).count(), 1, "`{old}`");
        let text = MAIN.replace(old, new);
        let byte = text.find(new).expect("the line") + new.find('|').expect("a cursor");
        let text = format!("{}{}", &text[..byte], &text[byte + 1..]);
        let path = self.main.clone();
        self.client.open(&path, &text);
        let answer = self.client.at("completion", (&path, byte), json!({}));
        let items = answer["items"].as_array().or(answer.as_array()).cloned().unwrap_or_default();
        let mut labels: Vec<&str> = items.iter().filter_map(|item| item["label"].as_str()).collect();
        labels.sort_unstable();
        let good = match exactly {
            true => labels == wanted,
            false => wanted.iter().all(|word| labels.contains(word)),
        };
        self.check(&format!("completion `{new}`"), good, &labels);
        let inserted = |item: &Value| item["textEdit"]["newText"].as_str().unwrap_or_default().to_owned();
        let words: Vec<String> = items.iter().map(inserted).filter(|text| text.contains(['(', ';'])).collect();
        self.check(&format!("inserted by `{new}`"), words.is_empty(), &words);
    }
}

#[test]
fn rust_analyzer_answers_in_kernels() {
    if !available() {
        return;
    }
    let directory = root().join("target").join("editor-answers");
    write_package(&directory, &[("src/main.rs", MAIN), ("src/parts.rs", PARTS)]);
    let (main, parts) = (directory.join("src/main.rs"), directory.join("src/parts.rs"));
    let mut client = Client::start(&directory, &root().join("target"));
    client.open(&main, MAIN);
    client.open(&parts, PARTS);
    let mut session = Session { client, main, parts, wrong: Vec::new() };
    let s = &mut session;

    // opcodes: the form in use, the section, versions, the host
    s.hover("ma|d.wide", &["mad.mode.type d, a, b, c;", "PTX ISA 9.7.1.4", "since PTX ISA 1.0", "Host: runs it."]);
    s.hover("arrive.shared::c|ta.b64 %state", &["`.shared::cta`", "Shared memory of the executing CTA", "PTX ISA 7.8"]);
    s.hover("try|_wait.parity", &["mbarrier.try_wait.parity", "PTX ISA 7.8", "`sm_90` or higher"]);
    s.hover("mad.wi|de", &["twice as wide", "`.hi`, `.lo`, `.wide`"]);
    s.hover("mul.l|o.u32", &["The lower half of the product"]);
    s.hover("wide.u|32", &["an unsigned integer of 32 bits", "`.s64`"]);
    // names: the declaration, and what is known of them
    s.hover("add.u32 %su|m,", &[".reg .b32 %sum"]);
    s.hover("st.global.u32 [%of|f], %sum", &[".reg .b64 %off", "`.global *x + ...`"]);
    s.hover("mov.u32 %r|0", &[".reg .b32 %r<4>", "Known: 0 to 31"]);
    s.hover("%r|<4>", &[".reg .b32 %r<4>", "registers"]);
    s.hover("mov.u32 %v|{I}", &[".reg .b32 %v<4>"]);
    s.hover("bra $L_|_done", &["label, 1 use"]);
    s.hover("ld.param.u64 %x, [x|]", &[".param .u64 .ptr .global x", "parameter"]);
    s.hover("init.shared::cta.b64 [fu|ll]", &[".shared .align 8 .b64 full", "variable"]);
    s.hover(", twi|ce,", &[".func (.reg .b32 %out) twice(.reg .b32 %in)"]);
    s.hover("ring::wa|it!", &[".inline wait(.shared .b64 at, .b32 parity)"]);
    s.hover("[%off], %|q;", &[".reg .b32 %q"]);
    s.hover("%ti|d.x", &["special register", "The index of the thread in its CTA"]);
    s.hover("tid.|x", &["`%tid.x`"]);
    s.hover(".re|g .pred %p", &["Declares registers"]);
    s.hover("[y|];", &[".param .u64 .ptr .global y"]);
    s.hover("[a|t], parity", &[".shared .b64 at"]);

    s.definition("add.u32 %su|m,", ("sum", "main.rs"));
    s.definition("bra $L_|_done", ("L__done", "main.rs"));
    s.definition(", twi|ce,", ("twice", "main.rs"));
    s.definition("ring::wa|it!", ("wait", "parts.rs"));
    s.definition("%aga|in, [at]", ("again", "parts.rs"));
    s.references("add.u32 %su|m,", &["sum"; 7]);
    s.references("[%off], %q|;", &["q"; 2]);
    s.rename("add.u32 %su|m,", Some(7));
    s.rename("bra $L_|_done", Some(2));
    s.rename("init.shared::cta.b64 [fu|ll]", Some(4));
    s.rename("ld.param.u64 %x, [x|]", Some(2));
    s.rename("[a|t], parity", Some(2));
    // one register of a range has no name of its own; others call a piece; a word is none
    s.rename("mov.u32 %r|0", None);
    s.rename("ring::wa|it!", None);
    s.rename("inline wa|it(", None);
    s.rename("ma|d.wide", None);

    let main = s.main.clone();
    let found = s.client.findings(&main);
    s.check("findings", found.is_empty(), &found);

    let registers = ["q", "r0", "r1", "r2", "r3", "sum", "v0", "v1", "v2", "v3"];
    let mbarrier = [
        "arrive",
        "arrive_drop",
        "check_layout",
        "complete_tx",
        "expect_tx",
        "init",
        "inval",
        "pending_count",
        "test_wait",
        "try_wait",
    ];
    s.completion("|", false, &["add", "ld", "mbarrier", "wgmma"]);
    s.completion("mu|", false, &["mad", "mul"]);
    s.completion("@%p mu|", false, &["mad", "mul"]);
    s.completion("mbarrier.|", true, &mbarrier);
    s.completion("mbarrier.in| [full], 1;", true, &mbarrier);
    s.completion("mbarrier.init.shared::|.b64 [full], 1;", true, &["cta"]);
    s.completion("mad.wide.|", false, &["s16", "s32", "u16", "u32"]);
    s.completion("mad.wide.u32 %|, %r0, 4, %x;", true, &["off", "state", "x"]);
    s.completion("mul.lo.u32 %|, %r0, 2;", true, &registers);
    s.completion("mul.lo.u32 %r2, %s|", true, &registers);
    s.completion("mul.lo.u64 %o|, %off, 2;", true, &["off", "state", "x"]);
    s.completion("@%| bra $L__done;", true, &["done", "p"]);
    s.completion("bra $|;", true, &["L__done"]);
    s.completion("mov.u32 %r2, %t|;", false, &["tid", "ctaid", "r0"]);
    s.completion("mov.u32 %r2, %tid.|;", true, &["w", "x", "y", "z"]);
    s.completion("ld.shared.u64 %x, [f|];", false, &["full"]);
    s.completion(".r|", false, &["reg", "shared"]);
    s.completion(".reg .|", false, &["b32", "pred", "f32"]);
    s.completion_in(("st.global.u32 [%y], %m;", "st.global.u32 [%|], %m;"), true, &["m", "y"]);
    s.completion_in(("st.global.u32 [%y], %m;", "st.|"), false, &["global", "shared", "u32"]);

    // half-written and wrong statements have the findings of the front end and no others
    let text =
        MAIN.replace("mul.lo.u32 %r2, %r0, 2;", "mul.lo.u32 %r2, ;").replace("ld.global.u32 %sum", "ld.globl.u32 %sun");
    s.client.open(&main, &text);
    let found = s.client.findings(&main);
    let ours = |finding: &Value| finding["message"].as_str().is_some_and(|message| message.starts_with("[PTX"));
    s.check("findings of mistakes", found.len() >= 2 && found.iter().all(ours), &found);

    assert!(session.wrong.is_empty(), "{}", session.wrong.join("\n\n"));
}
