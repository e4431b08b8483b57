//! The answers of `ptx-dsl-editor` in the words of the protocol.

use crate::documents::{Documents, Open};
use crate::{Format, legend};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CompletionItem, CompletionItemKind, CompletionResponse,
    CompletionTextEdit, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DocumentHighlight,
    DocumentSymbol, DocumentSymbolResponse, FoldingRange, FoldingRangeKind, GotoDefinitionResponse, Hover,
    HoverContents, Location, MarkupContent, MarkupKind, NumberOrString, ParameterInformation, ParameterLabel,
    PrepareRenameResponse, SemanticToken, SemanticTokens, SemanticTokensResult, SignatureHelp, SignatureInformation,
    SymbolInformation, SymbolKind as Kind, TextEdit, Uri, WorkspaceEdit, WorkspaceSymbolResponse,
};
use ptx_dsl_editor::{self as editor, CompletionKind, Outline, SymbolKind};
use std::collections::HashMap;
use std::ops::Range;
use std::str::FromStr;

fn markdown(value: String) -> MarkupContent {
    MarkupContent { kind: MarkupKind::Markdown, value }
}

/// The findings of a file.
pub fn diagnostics(uri: &Uri, open: &Open) -> Vec<Diagnostic> {
    // the compiler shows those of Rust
    if !open.is_ptx() {
        return Vec::new();
    }
    let found = open.document().findings().iter();
    let one = |f: &editor::Finding| Diagnostic {
        range: open.lines(&f.at),
        severity: Some(if f.is_error { DiagnosticSeverity::ERROR } else { DiagnosticSeverity::WARNING }),
        code: Some(NumberOrString::String(f.code.clone())),
        source: Some("ptx-dsl".to_owned()),
        message: f.message.clone(),
        related_information: Some(
            f.related
                .iter()
                .map(|r| DiagnosticRelatedInformation {
                    location: Location { uri: uri.clone(), range: open.lines(&r.at) },
                    message: r.text.clone(),
                })
                .collect(),
        ),
        ..Diagnostic::default()
    };
    found.map(one).collect()
}

pub fn hover(open: &Open, byte: usize) -> Option<Hover> {
    let found = editor::hover(open.document_at(byte)?, byte)?;
    Some(Hover { contents: HoverContents::Markup(markdown(found.text)), range: Some(open.lines(&found.at)) })
}

pub fn completion(open: &Open, byte: usize) -> CompletionResponse {
    let one = |(i, c): (usize, editor::Completion)| CompletionItem {
        label: c.text.clone(),
        kind: Some(match c.kind {
            CompletionKind::Opcode => CompletionItemKind::FUNCTION,
            CompletionKind::Qualifier => CompletionItemKind::PROPERTY,
            CompletionKind::Directive => CompletionItemKind::KEYWORD,
            CompletionKind::SpecialRegister => CompletionItemKind::CONSTANT,
            CompletionKind::Name(SymbolKind::Register) => CompletionItemKind::VARIABLE,
            CompletionKind::Name(SymbolKind::Label) => CompletionItemKind::REFERENCE,
            _ => CompletionItemKind::FIELD,
        }),
        detail: Some(c.detail.clone()),
        filter_text: Some(c.text.clone()),
        sort_text: Some(format!("{}{i:05}", u8::from(!c.fits))),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit { range: open.lines(&c.replaces), new_text: c.text })),
        ..CompletionItem::default()
    };
    let found = open.document_at(byte).map_or(Vec::new(), |document| editor::completions(document, byte));
    CompletionResponse::Array(found.into_iter().enumerate().map(one).collect())
}

pub fn signature(open: &Open, byte: usize) -> Option<SignatureHelp> {
    let found = editor::signature(open.document_at(byte)?, byte);
    let active = found.first()?.active;
    let one = |s: editor::Signature| SignatureInformation {
        label: s.label,
        documentation: None,
        parameters: Some(
            s.operands
                .into_iter()
                .map(|(name, text)| ParameterInformation {
                    label: ParameterLabel::Simple(name),
                    documentation: Some(lsp_types::Documentation::String(text)),
                })
                .collect(),
        ),
        active_parameter: None,
    };
    Some(SignatureHelp {
        signatures: found.into_iter().map(one).collect(),
        active_signature: Some(0),
        active_parameter: Some(active as u32),
    })
}

pub fn definition(uri: &Uri, open: &Open, byte: usize) -> Option<GotoDefinitionResponse> {
    let (symbol, _) = open.document_at(byte)?.names().at(byte)?;
    Some(GotoDefinitionResponse::Scalar(Location { uri: uri.clone(), range: open.lines(&symbol.at) }))
}

pub fn references(uri: &Uri, open: &Open, byte: usize, with_declaration: bool) -> Vec<Location> {
    let Some(document) = open.document_at(byte) else { return Vec::new() };
    let declared = document.names().at(byte).map(|(symbol, _)| symbol.at.clone());
    let uses = document.names().uses_of(byte).into_iter();
    let wanted = uses.filter(|at| with_declaration || Some(at) != declared.as_ref());
    wanted.map(|at| Location { uri: uri.clone(), range: open.lines(&at) }).collect()
}

pub fn highlights(open: &Open, byte: usize) -> Vec<DocumentHighlight> {
    let uses = open.document_at(byte).map_or(Vec::new(), |document| document.names().uses_of(byte)).into_iter();
    uses.map(|at| DocumentHighlight { range: open.lines(&at), kind: None }).collect()
}

pub fn prepare_rename(open: &Open, byte: usize) -> Option<PrepareRenameResponse> {
    let (symbol, at) = open.document_at(byte)?.names().at(byte)?;
    // one register of a range has no name of its own
    let is_whole = at.len() == symbol.name.len();
    is_whole.then(|| PrepareRenameResponse::Range(open.lines(&at)))
}

pub fn rename(uri: &Uri, open: &Open, byte: usize, to: &str) -> Result<WorkspaceEdit, String> {
    let edits = open.document_at(byte).ok_or("no PTX is here")?.names().rename(byte, to)?;
    let edits = edits.into_iter().map(|(at, new_text)| TextEdit { range: open.lines(&at), new_text });
    Ok(workspace_edit(uri, edits.collect()))
}

/// An edit of one file. The protocol's map has addresses as keys.
#[allow(clippy::mutable_key_type)]
fn workspace_edit(uri: &Uri, edits: Vec<TextEdit>) -> WorkspaceEdit {
    WorkspaceEdit { changes: Some(HashMap::from([(uri.clone(), edits)])), ..WorkspaceEdit::default() }
}

fn kind(kind: SymbolKind) -> Kind {
    match kind {
        SymbolKind::Kernel | SymbolKind::Function => Kind::FUNCTION,
        SymbolKind::Parameter => Kind::FIELD,
        SymbolKind::Label => Kind::KEY,
        _ => Kind::VARIABLE,
    }
}

pub fn outline(open: &Open) -> DocumentSymbolResponse {
    #[allow(deprecated)]
    fn one(open: &Open, o: Outline) -> DocumentSymbol {
        DocumentSymbol {
            name: o.name,
            detail: Some(o.detail),
            kind: kind(o.kind),
            tags: None,
            deprecated: None,
            range: open.lines(&o.all),
            selection_range: open.lines(&o.at),
            children: Some(o.inside.into_iter().map(|inner| one(open, inner)).collect()),
        }
    }
    let all = editor::outline(open.document()).into_iter().map(|o| one(open, o));
    DocumentSymbolResponse::Nested(all.collect())
}

/// The kernels, functions and variables of all open files whose names contain a text.
pub fn symbols(documents: &Documents, query: &str) -> WorkspaceSymbolResponse {
    let query = query.to_lowercase();
    let mut found = Vec::new();
    for (uri, open) in documents.all().filter(|(_, open)| open.is_ptx()) {
        let Ok(uri) = Uri::from_str(uri) else { continue };
        for o in editor::outline(open.document()) {
            if o.name.to_lowercase().contains(&query) {
                #[allow(deprecated)]
                found.push(SymbolInformation {
                    name: o.name,
                    kind: kind(o.kind),
                    tags: None,
                    deprecated: None,
                    location: Location { uri: uri.clone(), range: open.lines(&o.at) },
                    container_name: None,
                });
            }
        }
    }
    WorkspaceSymbolResponse::Flat(found)
}

pub fn folds(open: &Open) -> Vec<FoldingRange> {
    let one = |fold: editor::Fold| FoldingRange {
        start_line: open.position(fold.at.start).line,
        end_line: open.position(fold.at.end).line,
        kind: Some(if fold.is_comment { FoldingRangeKind::Comment } else { FoldingRangeKind::Region }),
        ..FoldingRange::default()
    };
    editor::folds(open.document()).into_iter().map(one).collect()
}

pub fn semantic_tokens(open: &Open) -> SemanticTokensResult {
    let mut last = lsp_types::Position::default();
    let mut data = Vec::new();
    for word in editor::words(open.document()) {
        let (start, end) = (open.position(word.at.start), open.position(word.at.end));
        // a token of the protocol is on one line
        if start.line != end.line {
            continue;
        }
        let delta_line = start.line - last.line;
        let delta_start = if delta_line == 0 { start.character - last.character } else { start.character };
        data.push(SemanticToken {
            delta_line,
            delta_start,
            length: end.character - start.character,
            token_type: legend::number(word.kind),
            token_modifiers_bitset: if word.is_declaration { legend::DECLARATION } else { 0 },
        });
        last = start;
    }
    SemanticTokensResult::Tokens(SemanticTokens { result_id: None, data })
}

pub fn formatting(open: &Open, format: Format) -> Option<Vec<TextEdit>> {
    let text = open.document().text();
    let new_text = format(text)?;
    if new_text == text {
        return Some(Vec::new());
    }
    Some(vec![TextEdit { range: open.lines(&(0..text.len())), new_text }])
}

pub fn actions(uri: &Uri, open: &Open, within: Range<usize>) -> Vec<CodeActionOrCommand> {
    let of = diagnostics(uri, open);
    let one = |fix: editor::Fix| {
        let edit = TextEdit { range: open.lines(&fix.at), new_text: fix.text };
        CodeActionOrCommand::CodeAction(CodeAction {
            title: fix.title,
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: of.get(fix.finding).map(|d| vec![d.clone()]),
            edit: Some(workspace_edit(uri, vec![edit])),
            ..CodeAction::default()
        })
    };
    editor::fixes(open.document(), within).into_iter().map(one).collect()
}
