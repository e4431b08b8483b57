//! The language server of PTX: answers over the Language Server Protocol what `ptx-dsl-editor` knows of the open files.
//!
//! [`serve`] runs it on standard input and output, [`run`] on any connection, for tests. Each answer is about the text as it is then. The
//! findings of a file are told when the client pauses.

mod answers;
mod documents;
mod legend;
mod more;
mod requests;

use crossbeam_channel::RecvTimeoutError;
use lsp_server::{Connection, Message, Notification, Response};
use lsp_types::notification::Notification as _;
use lsp_types::notification::{DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, PublishDiagnostics};
use lsp_types::request::{ExecuteCommand, Request as _};
use lsp_types::{
    CallHierarchyServerCapability, CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions,
    CompletionOptions, DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    ExecuteCommandOptions, FoldingRangeProviderCapability, HoverProviderCapability, InitializeParams, OneOf,
    PositionEncodingKind, PublishDiagnosticsParams, RenameOptions, SemanticTokensFullOptions, SemanticTokensOptions,
    ServerCapabilities, SignatureHelpOptions, TextDocumentSyncCapability, TextDocumentSyncKind, Uri,
};
use std::error::Error;
use std::time::Duration;

pub use documents::{Bodies, Documents};

/// The client has paused if it says nothing for so long.
const PAUSE: Duration = Duration::from_millis(15);

/// Formats a file; `None` if it cannot be read as PTX.
pub type Format = fn(&str) -> Option<String>;

/// Runs a command of a lens on a text and a kernel of it: `check`, `run` or `explore`. The result is for people to read.
pub type Run = fn(&str, &str, &str) -> String;

/// Makes the results of a command, which may take long.
type Results = Box<dyn FnOnce() -> String + Send>;

/// What the server does not know itself.
#[derive(Clone, Copy)]
pub struct Tools {
    /// The layout of a file of PTX.
    pub format: Format,
    /// The bodies of `ptx!` in a file of Rust.
    pub bodies: Bodies,
    /// The commands of lenses.
    pub run: Run,
}

/// Runs the server on standard input and output until the client ends it.
///
/// # Errors
/// The client breaks the protocol, or a stream fails.
pub fn serve(tools: Tools) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (connection, threads) = Connection::stdio();
    run(&connection, tools)?;
    drop(connection);
    threads.join()?;
    Ok(())
}

/// Runs the server on a connection until the client ends it.
///
/// # Errors
/// The client breaks the protocol, or the connection fails.
pub fn run(connection: &Connection, tools: Tools) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (id, params) = connection.initialize_start()?;
    let params: InitializeParams = serde_json::from_value(params)?;
    let encodings = params.capabilities.general.and_then(|general| general.position_encodings).unwrap_or_default();
    let is_utf8 = encodings.contains(&PositionEncodingKind::UTF8);
    let capabilities = serde_json::json!({
        "capabilities": capabilities(is_utf8),
        "serverInfo": { "name": "ptx-dsl", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, capabilities)?;
    let mut server = Server { documents: Documents::new(is_utf8, tools.bodies), changed: Vec::new() };
    loop {
        let message = match server.changed.is_empty() {
            true => connection.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => connection.receiver.recv_timeout(PAUSE),
        };
        let message = match message {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => {
                for uri in std::mem::take(&mut server.changed) {
                    connection.sender.send(server.findings(uri))?;
                }
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request)? {
                    return Ok(());
                }
                if request.method == ExecuteCommand::METHOD {
                    server.execute(connection, tools, request)?;
                    continue;
                }
                let response = requests::answer(&server.documents, tools, request);
                connection.sender.send(Message::Response(response))?;
            }
            Message::Notification(notification) => server.notice(notification),
            Message::Response(_) => {}
        }
    }
}

/// What the server can do.
fn capabilities(is_utf8: bool) -> ServerCapabilities {
    let encoding = if is_utf8 { PositionEncodingKind::UTF8 } else { PositionEncodingKind::UTF16 };
    ServerCapabilities {
        position_encoding: Some(encoding),
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([".", "%", "@", "["].map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some([" ", ","].map(str::to_owned).to_vec()),
            ..SignatureHelpOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: lsp_types::WorkDoneProgressOptions::default(),
        })),
        document_formatting_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, CodeActionKind::SOURCE_FIX_ALL]),
            ..CodeActionOptions::default()
        })),
        inlay_hint_provider: Some(OneOf::Left(true)),
        call_hierarchy_provider: Some(CallHierarchyServerCapability::Simple(true)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: more::COMMANDS.iter().map(|(command, _)| (*command).to_owned()).collect(),
            ..ExecuteCommandOptions::default()
        }),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: legend::legend(),
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        ..ServerCapabilities::default()
    }
}

struct Server {
    documents: Documents,
    /// The files whose findings the client does not know yet.
    changed: Vec<Uri>,
}

impl Server {
    /// Runs a command of a lens beside the server, which goes on answering.
    fn execute(
        &self,
        connection: &Connection,
        tools: Tools,
        request: lsp_server::Request,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let lsp_server::Request { id, params, .. } = request;
        let text = |uri: &str| {
            let (_, open) = self.documents.all().find(|(known, _)| *known == uri)?;
            Some(open.text().to_owned())
        };
        let params = serde_json::from_value(params).map_err(|error| error.to_string());
        match params.and_then(|params| more::execute(tools, &params, &text)) {
            Ok(results) => {
                let sender = connection.sender.clone();
                // the client may be gone when it is done
                std::thread::spawn(move || sender.send(Message::Response(Response::new_ok(id, results()))));
            }
            Err(error) => connection.sender.send(Message::Response(respond::<()>(id, Err(error))))?,
        }
        Ok(())
    }

    /// Takes a notification.
    fn notice(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        let uri = match method.as_str() {
            DidOpenTextDocument::METHOD => {
                let Ok(DidOpenTextDocumentParams { text_document }) = serde_json::from_value(params) else {
                    return;
                };
                self.documents.open(text_document.uri.clone(), text_document.text);
                text_document.uri
            }
            DidChangeTextDocument::METHOD => {
                let Ok(DidChangeTextDocumentParams { text_document, content_changes }) = serde_json::from_value(params)
                else {
                    return;
                };
                self.documents.change(&text_document.uri, content_changes);
                text_document.uri
            }
            DidCloseTextDocument::METHOD => {
                let Ok(DidCloseTextDocumentParams { text_document }) = serde_json::from_value(params) else {
                    return;
                };
                self.documents.close(&text_document.uri);
                text_document.uri
            }
            _ => return,
        };
        if !self.changed.contains(&uri) {
            self.changed.push(uri);
        }
    }

    /// The findings of a file; none if it is closed.
    fn findings(&self, uri: Uri) -> Message {
        let diagnostics = self.documents.get(&uri).map_or(Vec::new(), |open| answers::diagnostics(&uri, open));
        let params = PublishDiagnosticsParams { uri, diagnostics, version: None };
        Message::Notification(Notification::new(PublishDiagnostics::METHOD.to_owned(), params))
    }
}

/// A response with a result, or with an error of the client.
fn respond<T: serde::Serialize>(id: lsp_server::RequestId, result: Result<T, String>) -> Response {
    match result {
        Ok(result) => Response::new_ok(id, result),
        Err(message) => Response::new_err(id, lsp_server::ErrorCode::RequestFailed as i32, message),
    }
}
