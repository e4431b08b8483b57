//! Answers about a file as a whole, and about several places at once: hints, call hierarchy, lenses.

use crate::documents::Open;
use crate::{Results, Tools};
use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, CodeAction, CodeActionKind,
    CodeActionOrCommand, CodeLens, Command, ExecuteCommandParams, InlayHint, InlayHintKind, InlayHintLabel,
    InlayHintTooltip, SymbolKind, TextEdit, Uri, WorkspaceEdit,
};
use ptx_dsl_editor::{self as editor, Callable};
use std::collections::HashMap;
use std::ops::Range;

/// The commands of lenses, and what each shows.
pub const COMMANDS: [(&str, &str); 3] =
    [("ptx-dsl.check", "check"), ("ptx-dsl.run", "run"), ("ptx-dsl.explore", "explore")];

pub fn inlay_hints(open: &Open, within: Range<usize>) -> Vec<InlayHint> {
    let of = |document| editor::inlays(document, within.clone());
    let one = |inlay: editor::Inlay| InlayHint {
        position: open.position(inlay.at),
        kind: inlay.text.starts_with(':').then_some(InlayHintKind::TYPE),
        label: InlayHintLabel::String(inlay.text),
        text_edits: None,
        tooltip: Some(InlayHintTooltip::String(inlay.about.to_owned())),
        padding_left: None,
        padding_right: None,
        data: None,
    };
    open.documents().flat_map(of).map(one).collect()
}

/// All edits of helps at once, as an action of the file.
pub fn fix_all(uri: &Uri, open: &Open) -> Option<CodeActionOrCommand> {
    let new_text = editor::fix_all(open.document())?;
    let edit = TextEdit { range: open.lines(&(0..open.document().text().len())), new_text };
    #[allow(clippy::mutable_key_type)]
    let changes = HashMap::from([(uri.clone(), vec![edit])]);
    Some(CodeActionOrCommand::CodeAction(CodeAction {
        title: "apply the helps of all findings".to_owned(),
        kind: Some(CodeActionKind::SOURCE_FIX_ALL),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        ..CodeAction::default()
    }))
}

fn item(uri: &Uri, open: &Open, function: &Callable) -> CallHierarchyItem {
    CallHierarchyItem {
        name: function.name.clone(),
        kind: SymbolKind::FUNCTION,
        tags: None,
        detail: Some(function.declaration.clone()),
        uri: uri.clone(),
        range: open.lines(&function.all),
        selection_range: open.lines(&function.at),
        data: None,
    }
}

pub fn prepare_calls(uri: &Uri, open: &Open, byte: usize) -> Option<Vec<CallHierarchyItem>> {
    let function = editor::callable(open.document_at(byte)?, byte)?;
    Some(vec![item(uri, open, &function)])
}

pub fn incoming_calls(of: &CallHierarchyItem, open: &Open) -> Vec<CallHierarchyIncomingCall> {
    let at = open.bytes(of.selection_range);
    let Some(document) = open.document_at(at.start) else { return Vec::new() };
    let one = |call: editor::Call| CallHierarchyIncomingCall {
        from: item(&of.uri, open, &call.function),
        from_ranges: call.at.iter().map(|at| open.lines(at)).collect(),
    };
    editor::callers(document, &at).into_iter().map(one).collect()
}

pub fn outgoing_calls(of: &CallHierarchyItem, open: &Open) -> Vec<CallHierarchyOutgoingCall> {
    let at = open.bytes(of.selection_range);
    let Some(document) = open.document_at(at.start) else { return Vec::new() };
    let one = |call: editor::Call| CallHierarchyOutgoingCall {
        to: item(&of.uri, open, &call.function),
        from_ranges: call.at.iter().map(|at| open.lines(at)).collect(),
    };
    editor::callees(document, &at).into_iter().map(one).collect()
}

/// A lens for each command at each kernel.
pub fn lenses(uri: &Uri, open: &Open) -> Vec<CodeLens> {
    let kernels = editor::outline(open.document()).into_iter().filter(|o| o.kind == editor::SymbolKind::Kernel);
    let of = |kernel: editor::Outline| {
        let range = open.lines(&kernel.at);
        COMMANDS.map(|(command, title)| CodeLens {
            range,
            command: Some(Command {
                title: title.to_owned(),
                command: command.to_owned(),
                arguments: Some(vec![uri.as_str().into(), kernel.name.clone().into()]),
            }),
            data: None,
        })
    };
    kernels.flat_map(of).collect()
}

/// Runs a command of a lens on the text as it is: its output.
pub fn execute(
    tools: Tools,
    params: &ExecuteCommandParams,
    text: &dyn Fn(&str) -> Option<String>,
) -> Result<Results, String> {
    let argument = |i: usize| params.arguments.get(i).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
    let (uri, kernel) = (argument(0), argument(1));
    let known = COMMANDS.iter().find(|(command, _)| *command == params.command);
    let (_, what) = known.ok_or_else(|| format!("there is no command `{}`", params.command))?;
    let text = text(&uri).ok_or_else(|| format!("`{uri}` is not open"))?;
    let (what, run) = (*what, tools.run);
    Ok(Box::new(move || run(what, &text, &kernel)))
}
