//! The Debug Adapter Protocol (<https://microsoft.github.io/debug-adapter-protocol>).
//!
//! Warps are threads. Lanes of a warp that are at different statements are frames of its stack. Registers, shared memory and mbarrier objects
//! are scopes; a register has a child for each lane. `stepBack` and `reverseContinue` work. The arguments of `launch` are `program` (a file),
//! `args` (options, as on the command line) and `stopOnEntry`.

mod variables;
mod wire;

use crate::breaks::LineBreak;
use crate::expression::{Condition, Expression};
use crate::session::{Ended, Moment, Outcome, Reason, Session, Stop};
use crate::words;
use ptx_dsl_runtime::debug::WarpId;
use serde_json::{Value, json};
use std::io::{Read, Result, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use variables::Variables;

/// Makes a session of a file and options.
pub type Make<'m> = dyn Fn(&str, &[String]) -> std::result::Result<Session, String> + 'm;

/// What a request answers: the body, or why there is none.
type Answer = std::result::Result<Value, String>;

/// How long a launch may run between looks at requests.
const TICK: Duration = Duration::from_millis(5);

/// Answers the requests of a client until it disconnects. `make` makes the session for `launch`.
///
/// # Errors
/// The output cannot be written.
pub fn serve(mut input: impl Read + Send + 'static, output: &mut dyn Write, make: &Make<'_>) -> Result<()> {
    let (to, requests) = channel();
    std::thread::spawn(move || {
        while let Ok(Some(message)) = wire::read(&mut input) {
            if to.send(message).is_err() {
                break;
            }
        }
    });
    let mut server = Server {
        output,
        make,
        sequence: 0,
        session: None,
        variables: Variables::default(),
        stops_on_entry: false,
        path: String::new(),
        arguments: Vec::new(),
    };
    server.run(&requests)
}

/// The number of a warp as a thread, from 1.
fn thread(id: WarpId) -> u64 {
    ((u64::from(id.slot) * 64 + u64::from(id.rank)) * 64 + u64::from(id.warp)) + 1
}

/// The warp of a thread.
fn warp(thread: u64) -> WarpId {
    let n = thread.saturating_sub(1);
    WarpId { slot: (n / 4096) as u32, rank: (n / 64 % 64) as u32, warp: (n % 64) as u32 }
}

/// The largest number of frames of a stack: a warp has 32 lanes.
const FRAMES: u64 = 32;

struct Server<'s> {
    output: &'s mut dyn Write,
    make: &'s Make<'s>,
    sequence: u64,
    session: Option<Session>,
    variables: Variables,
    stops_on_entry: bool,
    path: String,
    arguments: Vec<String>,
}

impl Server<'_> {
    fn run(&mut self, requests: &Receiver<Value>) -> Result<()> {
        loop {
            let runs = self.session.as_ref().is_some_and(Session::is_running);
            if runs {
                let outcome = self.session.as_mut().and_then(|session| session.poll(TICK));
                self.pass_printed()?;
                if let Some(outcome) = outcome {
                    self.tell(outcome)?;
                }
            }
            let request =
                match if runs { requests.recv_timeout(Duration::ZERO) } else { requests.recv().map_err(Into::into) } {
                    Ok(request) => request,
                    Err(RecvTimeoutError::Timeout) => continue,
                    // the client is gone
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                };
            if request["type"] != "request" {
                continue;
            }
            let command = request["command"].as_str().unwrap_or_default().to_owned();
            let answer = self.answer(&command, &request["arguments"]);
            let is_launched = answer.is_ok() && matches!(command.as_str(), "launch" | "restart");
            self.respond(&request, answer)?;
            match command.as_str() {
                // breakpoints can be set from now on: the code is known
                "launch" if is_launched => self.event("initialized", json!({}))?,
                "restart" if is_launched => self.configured()?,
                "configurationDone" => self.configured()?,
                "disconnect" | "terminate" => {
                    self.session = None;
                    if command == "disconnect" {
                        return Ok(());
                    }
                    self.event("terminated", json!({}))?;
                }
                _ => {}
            }
        }
    }

    fn send(&mut self, mut message: Value) -> Result<()> {
        self.sequence += 1;
        message["seq"] = self.sequence.into();
        wire::write(self.output, &message)
    }

    fn event(&mut self, name: &str, body: Value) -> Result<()> {
        self.send(json!({ "type": "event", "event": name, "body": body }))
    }

    fn respond(&mut self, request: &Value, answer: Answer) -> Result<()> {
        let mut response = json!({ "type": "response", "request_seq": request["seq"], "command": request["command"] });
        match answer {
            Ok(body) => {
                response["success"] = true.into();
                response["body"] = body;
            }
            Err(message) => {
                response["success"] = false.into();
                response["message"] = message.clone().into();
                response["body"] = json!({ "error": { "id": 1, "format": message, "showUser": true } });
            }
        }
        self.send(response)
    }

    /// Passes on what the kernel has printed.
    fn pass_printed(&mut self) -> Result<()> {
        let text = self.session.as_ref().map(Session::take_printed).unwrap_or_default();
        if text.is_empty() {
            return Ok(());
        }
        self.event("output", json!({ "category": "stdout", "output": text }))
    }

    /// The launch goes on from its entry, or tells that it is there.
    fn configured(&mut self) -> Result<()> {
        let Some(session) = &mut self.session else { return Ok(()) };
        if !self.stops_on_entry {
            session.go();
            return Ok(());
        }
        match session.stop().cloned() {
            Some(stop) => self.tell(Outcome::Stopped(stop)),
            None => Ok(()),
        }
    }

    /// Tells the client what has become of a command.
    fn tell(&mut self, outcome: Outcome) -> Result<()> {
        self.variables.clear();
        match outcome {
            Outcome::Stopped(stop) => {
                let (reason, ids): (&str, Vec<u32>) = match &stop.reason {
                    Reason::Entry | Reason::Start => ("entry", Vec::new()),
                    Reason::Pause => ("pause", Vec::new()),
                    Reason::Breakpoint(id) | Reason::Condition(id, _) => ("breakpoint", vec![*id]),
                    Reason::Write { id, .. } | Reason::Phase { id, .. } => ("data breakpoint", vec![*id]),
                    Reason::Fault(_) => ("exception", Vec::new()),
                    Reason::Step => ("step", Vec::new()),
                };
                let text = words::reason(&stop.reason);
                let body = json!({
                    "reason": reason,
                    "description": text.lines().next(),
                    "text": text,
                    "threadId": thread(stop.at.warp),
                    "allThreadsStopped": true,
                    "hitBreakpointIds": ids,
                });
                self.event("stopped", body)
            }
            Outcome::Ended(ended) => {
                let (text, category, code) = match ended {
                    Ended::Well(report) => (
                        format!("the launch has ended: {} turns, {} instructions\n", report.turns, report.instructions),
                        "console",
                        0,
                    ),
                    Ended::Failed(text) => (format!("{text}\n"), "stderr", 3),
                };
                self.event("output", json!({ "category": category, "output": text }))?;
                self.event("exited", json!({ "exitCode": code }))?;
                self.event("terminated", json!({}))
            }
        }
    }

    fn session(&mut self) -> std::result::Result<&mut Session, String> {
        self.session.as_mut().ok_or_else(|| "nothing is launched".into())
    }

    /// The session, if the launch stands still, with the stop.
    fn standing(&mut self) -> std::result::Result<(&mut Session, Stop), String> {
        let session = self.session()?;
        let stop = session.stop().cloned().ok_or("the launch does not stand still")?;
        Ok((session, stop))
    }

    fn answer(&mut self, command: &str, arguments: &Value) -> Answer {
        match command {
            "initialize" => Ok(capabilities()),
            "launch" => self.launch(arguments),
            "restart" => {
                self.session()?.start();
                self.begin()
            }
            "setBreakpoints" => self.set_breakpoints(arguments),
            "setExceptionBreakpoints" => {
                let faults = arguments["filters"].as_array().is_some_and(|all| all.iter().any(|f| f == "faults"));
                self.session()?.set_breaks(|breaks| breaks.faults = faults);
                Ok(json!({}))
            }
            "dataBreakpointInfo" => self.data_breakpoint_info(arguments),
            "setDataBreakpoints" => self.set_data_breakpoints(arguments),
            "configurationDone" | "disconnect" | "terminate" => Ok(json!({})),
            "threads" => self.threads(),
            "stackTrace" => self.stack_trace(arguments),
            "scopes" => {
                let frame = arguments["frameId"].as_u64().unwrap_or(1);
                let (session, stop) = self.standing()?;
                let at = moment(session, frame, &stop);
                Ok(json!({ "scopes": self.variables.scopes(at) }))
            }
            "variables" => {
                let reference = arguments["variablesReference"].as_u64().unwrap_or(0);
                let session = self.session.as_ref().ok_or("nothing is launched")?;
                Ok(json!({ "variables": self.variables.children(session, reference)? }))
            }
            "evaluate" => self.evaluate(arguments),
            "exceptionInfo" => {
                let (_, stop) = self.standing()?;
                let Reason::Fault(text) = stop.reason else { return Err("there is no fault".into()) };
                Ok(json!({ "exceptionId": "fault", "description": text, "breakMode": "always" }))
            }
            "continue" | "next" | "stepIn" | "stepBack" | "reverseContinue" => {
                let thread = arguments["threadId"].as_u64();
                let (session, stop) = self.standing()?;
                let of = thread.map_or(stop.at.warp, warp);
                match command {
                    "continue" => session.go(),
                    "stepBack" => session.step_back(of),
                    "reverseContinue" => session.go_back(),
                    _ => session.step(of),
                }
                Ok(json!({ "allThreadsContinued": true }))
            }
            "pause" => {
                self.session()?.pause();
                Ok(json!({}))
            }
            "source" => {
                let text = self.session()?.source().text.clone();
                Ok(json!({ "content": text }))
            }
            _ => Err(format!("`{command}` is not supported")),
        }
    }

    fn launch(&mut self, arguments: &Value) -> Answer {
        let program = arguments["program"].as_str().ok_or("`program` is missing: the path of a .ptx file")?;
        let options = arguments["args"].as_array().cloned().unwrap_or_default();
        let options: Option<Vec<String>> = options.iter().map(|option| Some(option.as_str()?.to_owned())).collect();
        self.arguments = options.ok_or("`args` is a list of strings, such as `[\"--arg\", \"x=f32[64]\"]`")?;
        self.path = std::path::absolute(program).map_or_else(|_| program.into(), |path| path.display().to_string());
        self.stops_on_entry = arguments["stopOnEntry"].as_bool().unwrap_or(false);
        let mut session = (self.make)(program, &self.arguments)?;
        session.start();
        self.session = Some(session);
        self.begin()
    }

    /// Waits until the launch is at its first statement.
    fn begin(&mut self) -> Answer {
        match self.session()?.wait() {
            Some(Outcome::Stopped(_)) => Ok(json!({})),
            Some(Outcome::Ended(Ended::Failed(text))) => Err(text),
            _ => Err("the kernel has no statement".into()),
        }
    }

    fn set_breakpoints(&mut self, arguments: &Value) -> Answer {
        let asked = arguments["breakpoints"].as_array().cloned().unwrap_or_default();
        let path = arguments["source"]["path"].as_str().unwrap_or_default();
        let same = std::path::absolute(path).is_ok_and(|path| path.display().to_string() == self.path);
        let session = self.session()?;
        if !same {
            let none = asked.iter().map(|_| json!({ "verified": false, "message": "this file is not launched" }));
            return Ok(json!({ "breakpoints": none.collect::<Vec<_>>() }));
        }
        let program = session.program().cloned().ok_or("the launch has not begun")?;
        let mut lines = Vec::new();
        let answers: Vec<Value> = asked
            .iter()
            .map(|of| {
                let line = of["line"].as_u64().and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
                let condition = of["condition"].as_str().filter(|text| !text.trim().is_empty()).map(Condition::parse);
                let condition = match condition.transpose() {
                    Ok(condition) => condition,
                    Err(message) => return json!({ "verified": false, "message": message }),
                };
                let Some(line) = program.nearest(line) else {
                    return json!({ "verified": false, "message": "there is no statement from this line on" });
                };
                let id = session.new_id();
                lines.push(LineBreak { id, line, condition });
                json!({ "id": id, "verified": true, "line": line })
            })
            .collect();
        session.set_breaks(|breaks| breaks.lines = lines);
        Ok(json!({ "breakpoints": answers }))
    }

    fn data_breakpoint_info(&mut self, arguments: &Value) -> Answer {
        let name = arguments["name"].as_str().unwrap_or_default().to_owned();
        let reference = arguments["variablesReference"].as_u64();
        let text = match reference.and_then(|reference| self.variables.memory(reference, &name)) {
            Some(text) => text,
            None => name,
        };
        let (session, stop) = self.standing()?;
        match words::range(session, &text, stop.at) {
            Ok(_) => Ok(json!({ "dataId": text, "description": text, "accessTypes": ["write"] })),
            Err(message) => Ok(json!({ "dataId": null, "description": message })),
        }
    }

    fn set_data_breakpoints(&mut self, arguments: &Value) -> Answer {
        let (session, stop) = self.standing()?;
        session.set_breaks(|breaks| breaks.writes.clear());
        let asked = arguments["breakpoints"].as_array().cloned().unwrap_or_default();
        let answers: Vec<Value> = asked
            .iter()
            .map(|of| match words::watch(session, of["dataId"].as_str().unwrap_or_default(), stop.at) {
                Ok(id) => json!({ "id": id, "verified": true }),
                Err(message) => json!({ "verified": false, "message": message }),
            })
            .collect();
        Ok(json!({ "breakpoints": answers }))
    }

    fn threads(&mut self) -> Answer {
        let session = self.session()?;
        let rows = session.ask(|machine| machine.warps()).unwrap_or_default();
        let mut threads: Vec<Value> = Vec::new();
        for row in rows {
            let id = thread(row.id);
            let state = format!("{}{}", words::state(&row.state), words::lanes(row.lanes));
            match threads.last_mut().filter(|last| last["id"] == id) {
                Some(last) => {
                    last["name"] = format!("{}; {state}", last["name"].as_str().unwrap_or_default()).into();
                }
                None => {
                    let name = format!("{}: {state}", words::warp(row.id, Some(row.cta)));
                    threads.push(json!({ "id": id, "name": name }));
                }
            }
        }
        if threads.is_empty() {
            // a client asks while the launch runs, too
            threads.push(json!({ "id": 1, "name": "the launch" }));
        }
        Ok(json!({ "threads": threads }))
    }

    fn stack_trace(&mut self, arguments: &Value) -> Answer {
        let of = warp(arguments["threadId"].as_u64().unwrap_or(1));
        let path = self.path.clone();
        let (session, _) = self.standing()?;
        let name = std::path::Path::new(&path).file_name().map(|name| name.to_string_lossy().into_owned());
        let rows = session.ask(|machine| machine.warps()).unwrap_or_default();
        let mut own: Vec<_> = rows.into_iter().filter(|row| row.id == of).collect();
        own.sort_by_key(|row| row.state != ptx_dsl_runtime::debug::LaneState::Runs);
        let frames = own.iter().enumerate().map(|(n, row)| {
            let text = if row.line == 0 { "between statements" } else { row.text.as_str() };
            json!({
                "id": thread(of) * FRAMES + n as u64,
                "name": format!("{text}{}", words::lanes(row.lanes)),
                "line": row.line,
                "column": 1,
                "source": { "name": name, "path": path },
            })
        });
        let frames: Vec<Value> = frames.collect();
        Ok(json!({ "totalFrames": frames.len(), "stackFrames": frames }))
    }

    fn evaluate(&mut self, arguments: &Value) -> Answer {
        let text = arguments["expression"].as_str().unwrap_or_default();
        let expression = Expression::parse(text)?;
        let frame = arguments["frameId"].as_u64();
        let (session, stop) = self.standing()?;
        let at = frame.map_or(stop.at, |frame| moment(session, frame, &stop));
        let value = session.ask(move |machine| expression.value(machine, at.warp));
        let value = value.ok_or("the launch does not stand still")??;
        let (shown, ty) = (value.show(), value.ty.name());
        let reference = self.variables.lanes_of(value);
        Ok(json!({ "result": shown, "type": format!(".{ty}"), "variablesReference": reference }))
    }
}

/// The lanes of a frame.
fn moment(session: &Session, frame: u64, stop: &Stop) -> Moment {
    let of = warp(frame / FRAMES);
    if of == stop.at.warp && frame.is_multiple_of(FRAMES) {
        return stop.at;
    }
    let rows = session.ask(|machine| machine.warps()).unwrap_or_default();
    let own: Vec<_> = rows.iter().filter(|row| row.id == of).collect();
    let lanes = own.get((frame % FRAMES) as usize).map_or(u32::MAX, |row| row.lanes);
    Moment { count: stop.at.count, warp: of, lanes }
}

fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsConditionalBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsStepBack": true,
        "supportsRestartRequest": true,
        "supportsTerminateRequest": true,
        "supportsExceptionInfoRequest": true,
        "supportsEvaluateForHovers": true,
        "exceptionBreakpointFilters": [{ "filter": "faults", "label": "Faults", "default": true }],
    })
}
