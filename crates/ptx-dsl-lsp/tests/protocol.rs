//! A client that speaks the protocol with the server, over a connection in memory.

use lsp_server::{Connection, Message, Notification, Request, RequestId};
use ptx_dsl_editor::Document;
use serde_json::{Value, json};
use std::thread::JoinHandle;
use std::time::Duration;

const URI: &str = "file:///k.ptx";
const KERNEL: &str = "\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 .ptr .global .align 4 x)
{
    .reg .b32 %r<4>; // \u{1f600} \u{e9}
    .reg .b64 %x;
    ld.param.u64 %x, [x];
    /* \u{1f600} */ ld.global.u32 %r0, [%x];
    st.global.u32 [%x], %r0;
    ret;
}
";

/// A client and the thread of its server.
struct Client {
    connection: Connection,
    server: Option<JoinHandle<()>>,
    requests: i32,
}

impl Client {
    fn new() -> Client {
        let (server, connection) = Connection::memory();
        let format = |text: &str| Some(text.replace("  ret", "    ret"));
        let bodies = |text: &str| {
            let body = text.find("ptx! {").zip(text.rfind('}')).map(|(start, end)| start + 6..end);
            body.into_iter().collect()
        };
        let run = |what: &str, text: &str, kernel: &str| format!("{what} `{kernel}`: {} lines", text.lines().count());
        let tools = ptx_dsl_lsp::Tools { format, bodies, run };
        let thread = std::thread::spawn(move || ptx_dsl_lsp::run(&server, tools).expect("the protocol"));
        let mut client = Client { connection, server: Some(thread), requests: 0 };
        let answer = client.request("initialize", json!({ "capabilities": {} }));
        assert_eq!(answer["capabilities"]["positionEncoding"], "utf-16");
        client.notify("initialized", json!({}));
        client
    }

    fn notify(&self, method: &str, params: Value) {
        let message = Message::Notification(Notification::new(method.to_owned(), params));
        self.connection.sender.send(message).expect("a server");
    }

    /// The next message of the server.
    fn next(&self) -> Message {
        self.connection.receiver.recv_timeout(Duration::from_secs(20)).expect("a message in time")
    }

    /// The findings that the server tells next.
    fn findings(&self) -> Vec<Value> {
        match self.next() {
            Message::Notification(n) if n.method == "textDocument/publishDiagnostics" => {
                n.params["diagnostics"].as_array().expect("a list").clone()
            }
            other => panic!("{other:?}"),
        }
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.try_request(method, params).expect("a result")
    }

    fn try_request(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        let message = Message::Request(Request::new(id.clone(), method.to_owned(), params));
        self.connection.sender.send(message).expect("a server");
        match self.next() {
            Message::Response(response) if response.id == id => match response.error {
                Some(error) => Err(error.message),
                None => Ok(response.result.unwrap_or_default()),
            },
            other => panic!("{other:?}"),
        }
    }

    fn open(&self, text: &str) -> Vec<Value> {
        let document = json!({ "uri": URI, "languageId": "ptx", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        self.findings()
    }

    fn change(&self, changes: Value) -> Vec<Value> {
        let document = json!({ "uri": URI, "version": 2 });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
        self.findings()
    }

    /// A request about a place of the file.
    fn at(&mut self, method: &str, line: u32, character: u32, more: Value) -> Value {
        let mut params =
            json!({ "textDocument": { "uri": URI }, "position": { "line": line, "character": character } });
        params.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        self.request(method, params)
    }

    fn end(mut self) {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.server.take().unwrap().join().expect("the server ends");
    }
}

fn range(line: u32, from: u32, to: u32) -> Value {
    json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } })
}

#[test]
fn findings_follow_the_text() {
    let client = Client::new();
    assert_eq!(client.open(KERNEL), [json!(null); 0]);
    // columns are units of UTF-16: the smiley has two
    let found = client.change(json!([{ "range": range(8, 16, 22), "text": "globl" }]));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["range"], &found[0]["severity"]), (&range(8, 16, 21), &json!(1)));
    assert!(found[0]["message"].as_str().unwrap().contains("did you mean `.global`?"));
    assert!(client.change(json!([{ "range": range(8, 16, 21), "text": "global" }])).is_empty());
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    assert!(client.findings().is_empty());
    client.end();
}

#[test]
fn a_name_is_found_renamed_and_completed() {
    let mut client = Client::new();
    client.open(KERNEL);
    let hover = client.at("textDocument/hover", 9, 20, json!({}));
    assert!(hover["contents"]["value"].as_str().unwrap().contains(".reg .b64 %x"), "{hover}");
    let definition = client.at("textDocument/definition", 9, 20, json!({}));
    assert_eq!(definition["range"], range(6, 14, 16));
    let uses = client.at("textDocument/references", 9, 20, json!({ "context": { "includeDeclaration": true } }));
    assert_eq!(uses.as_array().unwrap().len(), 4);
    let uses = client.at("textDocument/references", 9, 20, json!({ "context": { "includeDeclaration": false } }));
    assert_eq!(uses.as_array().unwrap().len(), 3);
    assert_eq!(client.at("textDocument/documentHighlight", 9, 20, json!({})).as_array().unwrap().len(), 4);
    assert_eq!(client.at("textDocument/prepareRename", 9, 20, json!({})), range(9, 19, 21));
    let edit = client.at("textDocument/rename", 9, 20, json!({ "newName": "%in" }));
    assert_eq!(edit["changes"][URI].as_array().unwrap().len(), 4);
    // one register of a range has no name of its own
    assert_eq!(client.at("textDocument/prepareRename", 9, 25, json!({})), Value::Null);
    let refused = client.try_request(
        "textDocument/rename",
        json!({ "textDocument": { "uri": URI }, "position": { "line": 9, "character": 20 }, "newName": "1" }),
    );
    assert_eq!(refused, Err("`1` is no name".to_owned()));
    client.change(json!([{ "range": range(9, 4, 28), "text": "st.global." }]));
    let list = client.at("textDocument/completion", 9, 14, json!({}));
    let labels: Vec<&str> = list.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap()).collect();
    assert!(labels.contains(&"u32") && labels.contains(&"v4") && !labels.contains(&"shared"), "{labels:?}");
    client.change(json!([{ "range": range(9, 4, 14), "text": "st.global.u32 [%x], " }]));
    let help = client.at("textDocument/signatureHelp", 9, 24, json!({}));
    assert_eq!(
        (&help["activeParameter"], &help["signatures"][0]["parameters"][0]["label"]),
        (&json!(1), &json!("[a]"))
    );
    client.end();
}

#[test]
fn a_file_has_an_outline_colours_folds_and_edits() {
    let mut client = Client::new();
    client.open(&KERNEL.replace("ld.global.u32", "ld.globl.u32").replace("    ret", "  ret"));
    let file = json!({ "textDocument": { "uri": URI } });
    let outline = client.request("textDocument/documentSymbol", file.clone());
    assert_eq!((&outline[0]["name"], &outline[0]["children"][0]["name"]), (&json!("k"), &json!("x")));
    let symbols = client.request("workspace/symbol", json!({ "query": "K" }));
    assert_eq!(symbols.as_array().unwrap().len(), 1);
    let folds = client.request("textDocument/foldingRange", file.clone());
    assert_eq!((&folds[0]["startLine"], &folds[0]["endLine"]), (&json!(3), &json!(11)));
    let colours = client.request("textDocument/semanticTokens/full", file.clone());
    assert!(colours["data"].as_array().unwrap().len().is_multiple_of(5) && colours["data"][4].is_number());
    let params = json!({ "textDocument": { "uri": URI }, "range": range(8, 16, 16), "context": { "diagnostics": [] } });
    let actions = client.request("textDocument/codeAction", params);
    let edit = &actions[0]["edit"]["changes"][URI][0];
    assert_eq!((&edit["newText"], &edit["range"]["start"]["line"]), (&json!(".global"), &json!(8)));
    let options = json!({ "textDocument": { "uri": URI }, "options": { "tabSize": 4, "insertSpaces": true } });
    let edits = client.request("textDocument/formatting", options);
    assert!(edits[0]["newText"].as_str().unwrap().contains("    ret"));
    client.end();
}

/// Two functions, an mbarrier with two copies, and two mistakes.
const CALLS: &str = "\
.version 8.6
.target sm_90
.address_size 64
.func (.reg .b32 %out) twice(.reg .b32 %in)
{
    add.u32 %out, %in, %in;
    ret;
}
.visible .entry k(.param .u64 .ptr .global .align 16 x)
{
    .reg .b32 %r;
    .reg .b64 %x, %state;
    .reg .pred %p;
    .shared .align 16 .b8 tile[512];
    .shared .align 8 .b64 full;
    ld.param.u64 %x, [x];
    mbarrier.init.shared::cta.b64 [full], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 %state, [full], 512;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%x], 256, [full];
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile + 256], [%x + 256], 256, [full];
    mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
    ld.shared.u32 %r, [tile];
    call (%r), twice, (%r);
    call (%r), twice, (%r);
    st.global.u32 [%x], %r;
    ret;
}
";

#[test]
fn functions_have_callers_and_callees() {
    let mut client = Client::new();
    client.open(CALLS);
    let line = |text: &str| CALLS.lines().position(|line| line.contains(text)).expect("the line") as u32;
    let prepared = client.at("textDocument/prepareCallHierarchy", line("call (%r)"), 16, json!({}));
    assert_eq!((&prepared[0]["name"], &prepared[0]["selectionRange"]["start"]["line"]), (&json!("twice"), &json!(3)));
    let callers = client.request("callHierarchy/incomingCalls", json!({ "item": prepared[0] }));
    assert_eq!(callers.as_array().unwrap().len(), 1, "{callers}");
    assert_eq!((&callers[0]["from"]["name"], callers[0]["fromRanges"].as_array().unwrap().len()), (&json!("k"), 2));
    let callees = client.request("callHierarchy/outgoingCalls", json!({ "item": callers[0]["from"] }));
    assert_eq!((&callees[0]["to"]["name"], callees[0]["fromRanges"].as_array().unwrap().len()), (&json!("twice"), 2));
    let none = client.request("callHierarchy/outgoingCalls", json!({ "item": prepared[0] }));
    assert_eq!(none, json!([]));
    client.end();
}

#[test]
fn hints_tell_places_phases_and_bytes() {
    let mut client = Client::new();
    let found = client.open(CALLS);
    assert!(found.iter().all(|f| f["severity"] != 1), "{found:?}");
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let hints = client.request("textDocument/inlayHint", json!({ "textDocument": { "uri": URI }, "range": range }));
    let lines: Vec<&str> = CALLS.lines().collect();
    let shown: Vec<(&str, &str)> = hints
        .as_array()
        .unwrap()
        .iter()
        .map(|hint| {
            let place = |key: &str| hint["position"][key].as_u64().unwrap() as usize;
            (lines[place("line")][..place("character")].rsplit(' ').next().unwrap(), hint["label"].as_str().unwrap())
        })
        .collect();
    let wanted = [
        ("512", " copies: 256 + 256 = 512 bytes"),
        ("[%x]", " .global *x"),
        ("256]", " .global *x + 256"),
        ("0", " phase 0, 2, ..."),
        ("[%x]", " .global *x"),
    ];
    assert_eq!(shown, wanted);
    client.end();
}

#[test]
fn all_helps_are_applied_at_once() {
    let mut client = Client::new();
    let wrong = KERNEL.replace("ld.global.u32", "ld.globl.u32").replace("st.global.u32", "st.globl.u32");
    assert_eq!(client.open(&wrong).len(), 2);
    let context = json!({ "diagnostics": [], "only": ["source.fixAll"] });
    let params = json!({ "textDocument": { "uri": URI }, "range": range(0, 0, 0), "context": context });
    let actions = client.request("textDocument/codeAction", params);
    assert_eq!(actions.as_array().unwrap().len(), 1, "{actions}");
    assert_eq!(actions[0]["edit"]["changes"][URI][0]["newText"], KERNEL);
    client.end();
}

#[test]
fn lenses_run_their_commands_beside_the_server() {
    let mut client = Client::new();
    client.open(KERNEL);
    let lenses = client.request("textDocument/codeLens", json!({ "textDocument": { "uri": URI } }));
    let titles: Vec<&str> =
        lenses.as_array().unwrap().iter().map(|lens| lens["command"]["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["check", "run", "explore"]);
    let (command, arguments) = (&lenses[1]["command"]["command"], &lenses[1]["command"]["arguments"]);
    let said = client.request("workspace/executeCommand", json!({ "command": command, "arguments": arguments }));
    assert_eq!(said, "run `k`: 12 lines");
    assert!(client.try_request("workspace/executeCommand", json!({ "command": "other", "arguments": [] })).is_err());
    client.end();
}

#[test]
fn wrong_requests_are_errors_and_the_server_goes_on() {
    let mut client = Client::new();
    assert!(client.try_request("textDocument/hover", json!({ "position": 3 })).is_err());
    let unknown = json!({ "textDocument": { "uri": "file:///other" }, "position": { "line": 0, "character": 0 } });
    assert_eq!(client.try_request("textDocument/hover", unknown), Err("`file:///other` is not open".to_owned()));
    assert!(client.try_request("textDocument/noSuchMethod", json!({})).is_err());
    client.open(KERNEL);
    // places after the end are the end
    assert_eq!(client.at("textDocument/hover", 900, 900, json!({})), Value::Null);
    assert!(client.at("textDocument/hover", 8, 900, json!({})).is_null());
    client.end();
}

#[test]
fn a_macro_in_rust_is_known_and_the_rest_is_left_to_others() {
    let mut client = Client::new();
    let uri = "file:///k.rs";
    let text = "\
use ptx_dsl::prelude::*;
ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k(.param .u64 .ptr .global .align 4 x: &mut [u32]) {
        .reg .b32 %v;
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        @for I in 0..2 { ld.global.u32 %v, [%x + 4 * I]; }
        st.globl.u32 [%x], %v;
        ret;
    }
}
";
    let document = json!({ "uri": uri, "languageId": "rust", "version": 1, "text": text });
    client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    assert!(client.findings().is_empty(), "the compiler shows those of Rust");
    let mut at = |method: &str, line: u32, character: u32| {
        let place = json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } });
        client.request(method, place)
    };
    assert!(at("textDocument/hover", 0, 6).is_null());
    let hover = at("textDocument/hover", 6, 9);
    assert!(hover["contents"]["value"].as_str().unwrap().contains("PTX ISA 9.7.9.8"), "{hover}");
    assert_eq!(at("textDocument/definition", 8, 23)["range"], range(5, 18, 20));
    assert_eq!(at("textDocument/documentHighlight", 8, 23).as_array().unwrap().len(), 4);
    let file = json!({ "textDocument": { "uri": uri } });
    assert!(at("textDocument/completion", 8, 11).as_array().unwrap().iter().any(|item| item["label"] == "global"));
    assert!(client.request("textDocument/documentSymbol", file).is_null(), "rust-analyzer has the outline");
    client.end();
}

/// After any edits, the findings are those of the text as it is then: the client keeps the text too.
#[test]
fn no_edits_leave_a_stale_answer() {
    let mut client = Client::new();
    client.open(KERNEL);
    let mut text: Vec<Vec<u16>> = KERNEL.split('\n').map(|line| line.encode_utf16().collect()).collect();
    let mut state = 7u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n.max(1)
    };
    for _ in 0..60 {
        let line = random(text.len());
        let (from, to) = (random(text[line].len() + 1), random(text[line].len() + 1));
        let (from, to) = (from.min(to), from.max(to));
        let whole = |at: usize| at == text[line].len() || !(0xdc00..0xe000).contains(&text[line][at]);
        if !whole(from) || !whole(to) {
            continue;
        }
        let new = ["", "%r9", "\u{1f600}", ".", ";", "}", "ld.", "/*", "st.global.u32 [%x], %r1;"][random(9)];
        text[line].splice(from..to, new.encode_utf16());
        let found = client.change(json!([{ "range": range(line as u32, from as u32, to as u32), "text": new }]));
        let lines: Vec<String> = text.iter().map(|line| String::from_utf16(line).expect("whole characters")).collect();
        let document = Document::new(lines.join("\n"));
        let messages = |d: &Document| d.findings().iter().map(|f| f.message.clone()).collect::<Vec<_>>();
        let told: Vec<String> = found.iter().map(|f| f["message"].as_str().unwrap().to_owned()).collect();
        assert_eq!(told, messages(&document), "line {line}, {from} to {to}: `{new}` gives\n{}", document.text());
        let _ = client.at("textDocument/completion", line as u32, from as u32, json!({}));
    }
    client.end();
}
