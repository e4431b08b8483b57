//! A client of the protocol, with a script.

use super::{SUM, line, session, sum};
use ptx_dsl_debug::dap;
use serde_json::{Value, json};
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::thread::JoinHandle;

struct Client {
    to: PipeWriter,
    from: PipeReader,
    sequence: u64,
    server: Option<JoinHandle<()>>,
    /// Events that came while the client waited for a response.
    events: Vec<Value>,
}

impl Client {
    /// A client of a server in a thread of its own. The file `empty.ptx` has an output without room.
    fn new() -> Self {
        let ((input, to), (from, mut output)) = (pipe().unwrap(), pipe().unwrap());
        let server = std::thread::spawn(move || {
            let make = |program: &str, options: &[String]| match (program, options) {
                ("sum.ptx", [option]) if option == "--resident=1" => Ok(sum()),
                ("fault.ptx", _) => Ok(session("fault.ptx", SUM, vec![vec![0; 256], vec![]])),
                _ => Err(format!("there is no `{program}`")),
            };
            dap::serve(input, &mut output, &make).unwrap();
        });
        Client { to, from, sequence: 0, server: Some(server), events: Vec::new() }
    }

    fn read(&mut self) -> Value {
        let mut header = String::new();
        let mut byte = [0];
        while !header.ends_with("\r\n\r\n") {
            self.from.read_exact(&mut byte).unwrap();
            header.push(byte[0].into());
        }
        let length = header.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        let mut body = vec![0; length];
        self.from.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    /// The response to a request.
    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        self.sequence += 1;
        let request = json!({ "seq": self.sequence, "type": "request", "command": command, "arguments": arguments });
        let body = request.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        loop {
            let message = self.read();
            if message["type"] == "response" {
                assert_eq!((&message["request_seq"], &message["command"]), (&request["seq"], &request["command"]));
                return message;
            }
            self.events.push(message);
        }
    }

    /// The body of the response to a request, which succeeds.
    fn body(&mut self, command: &str, arguments: Value) -> Value {
        let response = self.ask(command, arguments);
        assert_eq!(response["success"], true, "{response}");
        response["body"].clone()
    }

    /// The body of the next event of this name.
    fn event(&mut self, name: &str) -> Value {
        loop {
            match self.events.iter().position(|event| event["event"] == name) {
                Some(at) => return self.events.remove(at)["body"].clone(),
                None => {
                    let message = self.read();
                    assert_eq!(message["type"], "event", "{message}");
                    self.events.push(message);
                }
            }
        }
    }

    /// Launches a program and sets these breakpoints.
    fn launch(program: &str, breakpoints: Value) -> (Self, Value) {
        let mut client = Client::new();
        let can = client.body("initialize", json!({ "adapterID": "ptx" }));
        assert_eq!((&can["supportsStepBack"], &can["supportsDataBreakpoints"]), (&true.into(), &true.into()));
        client.body("launch", json!({ "program": program, "args": ["--resident=1"] }));
        client.event("initialized");
        let set = client.body("setBreakpoints", json!({ "source": { "path": program }, "breakpoints": breakpoints }));
        client.body("setExceptionBreakpoints", json!({ "filters": ["faults"] }));
        client.body("configurationDone", json!({}));
        (client, set)
    }

    /// The line of the first frame of a thread.
    fn line(&mut self, thread: &Value) -> u64 {
        let stack = self.body("stackTrace", json!({ "threadId": thread }));
        stack["stackFrames"][0]["line"].as_u64().unwrap()
    }

    /// The children of the scope of this name, in the first frame of a thread.
    fn scope(&mut self, thread: &Value, name: &str) -> Vec<Value> {
        let stack = self.body("stackTrace", json!({ "threadId": thread }));
        let scopes = self.body("scopes", json!({ "frameId": stack["stackFrames"][0]["id"] }));
        let scope = scopes["scopes"].as_array().unwrap().iter().find(|scope| scope["name"] == name).unwrap().clone();
        self.children(&scope["variablesReference"])
    }

    fn children(&mut self, reference: &Value) -> Vec<Value> {
        let body = self.body("variables", json!({ "variablesReference": reference }));
        body["variables"].as_array().unwrap().clone()
    }

    fn end(mut self) {
        self.body("disconnect", json!({}));
        self.server.take().unwrap().join().unwrap();
    }
}

#[test]
fn a_client_stops_looks_and_steps_in_both_directions() {
    let store = line(SUM, "st.shared.f32");
    let (mut client, set) =
        Client::launch("sum.ptx", json!([{ "line": store }, { "line": 2, "condition": "lane == 40" }]));
    let (first, second) = (&set["breakpoints"][0], &set["breakpoints"][1]);
    assert_eq!((&first["line"], &second["line"]), (&store.into(), &line(SUM, "ld.param.u64 %x").into()));
    let stop = client.event("stopped");
    assert_eq!((&stop["reason"], &stop["hitBreakpointIds"]), (&"breakpoint".into(), &json!([first["id"]])));
    let thread = stop["threadId"].clone();
    assert_eq!(client.line(&thread), u64::from(store));
    let threads = client.body("threads", json!({}))["threads"].as_array().unwrap().clone();
    assert_eq!(threads.len(), 2);
    assert_eq!(threads[0]["name"], "CTA (0,0,0) warp 0: runs");
    // a register has its type and its lanes
    let registers = client.scope(&thread, "Registers");
    let a = registers.iter().find(|row| row["name"] == "%a").unwrap().clone();
    assert_eq!(a["type"], ".f32");
    let lanes = client.children(&a["variablesReference"]);
    assert_eq!((lanes.len(), &lanes[7]["name"], &lanes[7]["value"]), (32, &"lane 7".into(), &"7.0".into()));
    let value =
        |client: &mut Client, text: &str| client.body("evaluate", json!({ "expression": text }))["result"].clone();
    assert_eq!(value(&mut client, "[shared + 4]:f32"), "0.0");
    client.body("next", json!({ "threadId": thread }));
    // warp 1 comes to its breakpoint first
    let stop = client.event("stopped");
    assert_eq!(stop["reason"], "breakpoint");
    assert_eq!(value(&mut client, "[shared + 4]:f32"), "1.0");
    assert_eq!(value(&mut client, "%a[0]"), "32.0");
    client.body("stepBack", json!({ "threadId": stop["threadId"] }));
    assert_eq!(client.event("stopped")["reason"], "step");
    assert_eq!(client.line(&stop["threadId"]), u64::from(store) - 1);
    client.body("reverseContinue", json!({ "threadId": stop["threadId"] }));
    let back = client.event("stopped");
    assert_eq!((&back["reason"], &back["threadId"]), (&"breakpoint".into(), &thread));
    assert_eq!(value(&mut client, "[shared + 4]:f32"), "0.0");
    client.end();
}

#[test]
fn a_client_watches_memory_and_sees_the_end() {
    let (mut client, _) = Client::launch("sum.ptx", json!([{ "line": line(SUM, "ld.param.u64 %o") }]));
    client.event("stopped");
    let info = client.body("dataBreakpointInfo", json!({ "name": "[shared + 160]:f32" }));
    client.body("setDataBreakpoints", json!({ "breakpoints": [{ "dataId": info["dataId"] }] }));
    client.body("setBreakpoints", json!({ "source": { "path": "sum.ptx" }, "breakpoints": [] }));
    client.body("continue", json!({ "threadId": 1 }));
    let stop = client.event("stopped");
    assert_eq!(stop["reason"], "data breakpoint");
    assert!(stop["text"].as_str().unwrap().contains("warp 1 of CTA rank 0 lanes 0x00000100"), "{stop}");
    client.body("continue", json!({ "threadId": 1 }));
    assert_eq!(client.event("exited")["exitCode"], 0);
    client.event("terminated");
    let late = client.ask("next", json!({ "threadId": 1 }));
    assert_eq!((&late["success"], &late["message"]), (&false.into(), &"the launch does not stand still".into()));
    client.end();
}

#[test]
fn a_client_sees_a_fault() {
    let (mut client, _) = Client::launch("fault.ptx", json!([]));
    let stop = client.event("stopped");
    assert_eq!(stop["reason"], "exception");
    assert_eq!(client.line(&stop["threadId"]), u64::from(line(SUM, "st.global.f32 [%o], %b")));
    let info = client.body("exceptionInfo", json!({ "threadId": stop["threadId"] }));
    assert!(info["description"].as_str().unwrap().contains("st.global.f32"), "{info}");
    client.body("continue", json!({ "threadId": 1 }));
    assert_eq!(client.event("exited")["exitCode"], 3);
    client.end();
}

#[test]
fn wrong_requests_have_errors() {
    let mut client = Client::new();
    for (command, arguments) in [
        ("launch", json!({ "program": "none.ptx" })),
        ("launch", json!({})),
        ("threads", json!({})),
        ("variables", json!({ "variablesReference": u64::MAX })),
        ("evaluate", json!({ "expression": "%a" })),
        ("stackTrace", json!({ "threadId": u64::MAX })),
        ("fly", json!(7)),
    ] {
        let response = client.ask(command, arguments);
        assert_eq!(response["success"], false, "{response}");
    }
    client.end();
}
