//! A client of rust-analyzer over its protocol. Places are bytes of texts without other characters than ASCII.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// How long an answer may take: the first ones wait for a build.
const PATIENCE: Duration = Duration::from_secs(600);

/// A server with the files that are open in it.
pub struct Client {
    server: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    id: u64,
    /// The texts of the open files, with their versions.
    open: HashMap<PathBuf, (String, u64)>,
    findings: HashMap<String, Vec<Value>>,
}

impl Client {
    /// Starts rust-analyzer in a directory and waits until it has read the workspace.
    pub fn start(root: &Path, target: &Path) -> Client {
        let mut server = Command::new("rust-analyzer")
            .current_dir(root)
            .env("CARGO_TARGET_DIR", target)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("rust-analyzer starts");
        let (to, output) = (server.stdin.take().expect("input"), server.stdout.take().expect("output"));
        let (sender, from) = channel();
        std::thread::spawn(move || read(output, &sender));
        let mut client = Client { server, to, from, id: 0, open: HashMap::new(), findings: HashMap::new() };
        let capabilities = json!({
            "textDocument": {
                "hover": { "contentFormat": ["markdown"] },
                "completion": { "completionItem": { "snippetSupport": true } },
                "rename": { "prepareSupport": true },
            },
            "workspace": { "configuration": true, "workspaceEdit": { "documentChanges": true } },
            "experimental": { "serverStatusNotification": true },
        });
        client.ask(
            "initialize",
            json!({
                "processId": null,
                "rootUri": format!("file://{}", root.display()),
                "capabilities": capabilities,
                "initializationOptions": { "checkOnSave": false },
            }),
        );
        client.tell("initialized", json!({}));
        client.wait(&|message| {
            message["method"] == "experimental/serverStatus" && message["params"]["quiescent"] == true
        });
        client
    }

    /// Opens a file, or changes its text.
    pub fn open(&mut self, path: &Path, text: &str) {
        let uri = format!("file://{}", path.display());
        let version = self.open.get(path).map_or(1, |(_, version)| version + 1);
        self.open.insert(path.to_owned(), (text.to_owned(), version));
        match version {
            1 => self.tell(
                "textDocument/didOpen",
                json!({ "textDocument": { "uri": uri, "languageId": "rust", "version": 1, "text": text } }),
            ),
            _ => self.tell(
                "textDocument/didChange",
                json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": [{ "text": text }] }),
            ),
        }
    }

    /// Asks about a place of an open file.
    pub fn at(&mut self, method: &str, (path, byte): (&Path, usize), more: Value) -> Value {
        let text = &self.open[path].0[..byte];
        let line = text.matches('\n').count();
        let character = byte - text.rfind('\n').map_or(0, |end| end + 1);
        let mut params = json!({
            "textDocument": { "uri": format!("file://{}", path.display()) },
            "position": { "line": line, "character": character },
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            params[key] = value.clone();
        }
        self.ask(&format!("textDocument/{method}"), params)
    }

    /// The findings of an open file, once there were none for a while.
    pub fn findings(&mut self, path: &Path) -> Vec<Value> {
        let until = Instant::now() + Duration::from_secs(10);
        while Instant::now() < until {
            if let Ok(message) = self.from.recv_timeout(Duration::from_millis(100)) {
                self.receive(message);
            }
        }
        self.findings.remove(&format!("file://{}", path.display())).unwrap_or_default()
    }

    /// The text of a place in an open file or on disk, and the name of the file.
    pub fn under(&self, place: &Value) -> (String, String) {
        let uri = place["targetUri"].as_str().or(place["uri"].as_str()).expect("a file");
        let range =
            if place["targetSelectionRange"].is_null() { &place["range"] } else { &place["targetSelectionRange"] };
        let path = PathBuf::from(uri.trim_start_matches("file://"));
        let text = match self.open.get(&path) {
            Some((text, _)) => text.clone(),
            None => std::fs::read_to_string(&path).expect("a file"),
        };
        let number = |value: &Value| value.as_u64().expect("a number") as usize;
        let line = text.lines().nth(number(&range["start"]["line"])).unwrap_or_default();
        let end = number(&range["end"]["character"]).min(line.len());
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (line[number(&range["start"]["character"]).min(end)..end].to_owned(), name)
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        loop {
            self.id += 1;
            let id = self.id;
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params.clone() }));
            let answer = self.wait(&|message| message["method"].is_null() && message["id"] == id);
            // cancelled, or the text has changed meanwhile
            if matches!(answer["error"]["code"].as_i64(), Some(-32802..=-32800)) {
                continue;
            }
            return if answer["error"].is_null() { answer["result"].clone() } else { answer["error"].clone() };
        }
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("written");
        self.to.flush().expect("written");
    }

    /// The next message of a kind. What the server asks meanwhile is answered.
    fn wait(&mut self, wanted: &dyn Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.from.recv_timeout(left).expect("rust-analyzer answers");
            if wanted(&message) {
                return message;
            }
            self.receive(message);
        }
    }

    fn receive(&mut self, message: Value) {
        let Some(method) = message["method"].as_str() else { return };
        if method == "textDocument/publishDiagnostics" {
            let uri = message["params"]["uri"].as_str().unwrap_or_default().to_owned();
            self.findings.insert(uri, message["params"]["diagnostics"].as_array().cloned().unwrap_or_default());
        } else if !message["id"].is_null() {
            // no settings, and yes to everything else
            let items = message["params"]["items"].as_array().map_or(0, Vec::len);
            let result =
                if method == "workspace/configuration" { vec![Value::Null; items].into() } else { Value::Null };
            self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Reads messages until the output ends.
fn read(output: ChildStdout, to: &Sender<Value>) {
    let mut output = BufReader::new(output);
    loop {
        let mut size = 0;
        let mut line = String::new();
        while output.read_line(&mut line).is_ok_and(|n| n > 0) && !line.trim().is_empty() {
            if let Some(length) = line.strip_prefix("Content-Length:") {
                size = length.trim().parse().expect("a length");
            }
            line.clear();
        }
        let mut body = vec![0; size];
        if size == 0 || output.read_exact(&mut body).is_err() {
            return;
        }
        let Ok(message) = serde_json::from_slice(&body) else { return };
        if to.send(message).is_err() {
            return;
        }
    }
}
