//! The requests of a client, each with the answer of `answers`.

use crate::documents::{Documents, Open};
use crate::{Tools, answers, more, respond};
use lsp_server::{ErrorCode, Request, RequestId, Response};
use lsp_types::request::{
    CallHierarchyIncomingCalls, CallHierarchyOutgoingCalls, CallHierarchyPrepare, CodeActionRequest, CodeLensRequest,
    Completion, DocumentHighlightRequest, DocumentSymbolRequest, FoldingRangeRequest, Formatting, GotoDefinition,
    HoverRequest, InlayHintRequest, PrepareRenameRequest, References, Rename, Request as Method,
    SemanticTokensFullRequest, SignatureHelpRequest, WorkspaceSymbolRequest,
};
use lsp_types::{CodeActionKind, CodeActionOrCommand, CodeActionParams, Position, Uri};

/// The answer to a request.
pub fn answer(documents: &Documents, tools: Tools, request: Request) -> Response {
    let Request { id, method, params } = request;
    let call = Call { documents, id, params };
    match method.as_str() {
        HoverRequest::METHOD => call.at::<HoverRequest>(
            |p| (&p.text_document_position_params.text_document.uri, p.text_document_position_params.position),
            |_, open, byte| Ok(answers::hover(open, byte)),
        ),
        Completion::METHOD => call.at::<Completion>(
            |p| (&p.text_document_position.text_document.uri, p.text_document_position.position),
            |_, open, byte| Ok(Some(answers::completion(open, byte))),
        ),
        SignatureHelpRequest::METHOD => call.at::<SignatureHelpRequest>(
            |p| (&p.text_document_position_params.text_document.uri, p.text_document_position_params.position),
            |_, open, byte| Ok(answers::signature(open, byte)),
        ),
        GotoDefinition::METHOD => call.at::<GotoDefinition>(
            |p| (&p.text_document_position_params.text_document.uri, p.text_document_position_params.position),
            |p, open, byte| {
                let uri = &p.text_document_position_params.text_document.uri;
                Ok(answers::definition(uri, open, byte))
            },
        ),
        References::METHOD => call.at::<References>(
            |p| (&p.text_document_position.text_document.uri, p.text_document_position.position),
            |p, open, byte| {
                let uri = &p.text_document_position.text_document.uri;
                Ok(Some(answers::references(uri, open, byte, p.context.include_declaration)))
            },
        ),
        DocumentHighlightRequest::METHOD => call.at::<DocumentHighlightRequest>(
            |p| (&p.text_document_position_params.text_document.uri, p.text_document_position_params.position),
            |_, open, byte| Ok(Some(answers::highlights(open, byte))),
        ),
        PrepareRenameRequest::METHOD => call.at::<PrepareRenameRequest>(
            |p| (&p.text_document.uri, p.position),
            |_, open, byte| Ok(answers::prepare_rename(open, byte)),
        ),
        Rename::METHOD => call.at::<Rename>(
            |p| (&p.text_document_position.text_document.uri, p.text_document_position.position),
            |p, open, byte| {
                let uri = &p.text_document_position.text_document.uri;
                answers::rename(uri, open, byte, &p.new_name).map(Some)
            },
        ),
        DocumentSymbolRequest::METHOD => call.of_file::<DocumentSymbolRequest>(
            |p| (&p.text_document.uri, Position::default()),
            |_, open, _| Ok(Some(answers::outline(open))),
        ),
        FoldingRangeRequest::METHOD => call.of_file::<FoldingRangeRequest>(
            |p| (&p.text_document.uri, Position::default()),
            |_, open, _| Ok(Some(answers::folds(open))),
        ),
        SemanticTokensFullRequest::METHOD => call.of_file::<SemanticTokensFullRequest>(
            |p| (&p.text_document.uri, Position::default()),
            |_, open, _| Ok(Some(answers::semantic_tokens(open))),
        ),
        Formatting::METHOD => call.of_file::<Formatting>(
            |p| (&p.text_document.uri, Position::default()),
            |_, open, _| Ok(answers::formatting(open, tools.format)),
        ),
        CodeActionRequest::METHOD => call.of_file::<CodeActionRequest>(
            |p| (&p.text_document.uri, p.range.start),
            |p, open, _| Ok(Some(actions(p, open))),
        ),
        InlayHintRequest::METHOD => call.at::<InlayHintRequest>(
            |p| (&p.text_document.uri, p.range.start),
            |p, open, _| Ok(Some(more::inlay_hints(open, open.bytes(p.range)))),
        ),
        CodeLensRequest::METHOD => call.of_file::<CodeLensRequest>(
            |p| (&p.text_document.uri, Position::default()),
            |p, open, _| Ok(Some(more::lenses(&p.text_document.uri, open))),
        ),
        CallHierarchyPrepare::METHOD => call.at::<CallHierarchyPrepare>(
            |p| (&p.text_document_position_params.text_document.uri, p.text_document_position_params.position),
            |p, open, byte| Ok(more::prepare_calls(&p.text_document_position_params.text_document.uri, open, byte)),
        ),
        CallHierarchyIncomingCalls::METHOD => call.at::<CallHierarchyIncomingCalls>(
            |p| (&p.item.uri, p.item.selection_range.start),
            |p, open, _| Ok(Some(more::incoming_calls(&p.item, open))),
        ),
        CallHierarchyOutgoingCalls::METHOD => call.at::<CallHierarchyOutgoingCalls>(
            |p| (&p.item.uri, p.item.selection_range.start),
            |p, open, _| Ok(Some(more::outgoing_calls(&p.item, open))),
        ),
        WorkspaceSymbolRequest::METHOD => {
            let Call { id, params, .. } = call;
            match serde_json::from_value::<<WorkspaceSymbolRequest as Method>::Params>(params) {
                Ok(params) => respond(id, Ok(Some(answers::symbols(documents, &params.query)))),
                Err(error) => Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string()),
            }
        }
        _ => {
            let message = format!("this server has no method `{method}`");
            Response::new_err(call.id, ErrorCode::MethodNotFound as i32, message)
        }
    }
}

/// The actions that the client wants: the edits of the findings in its range, and all of the file at once.
fn actions(params: &CodeActionParams, open: &Open) -> Vec<CodeActionOrCommand> {
    let uri = &params.text_document.uri;
    let wants = |kind: &CodeActionKind| {
        let begins = |only: &CodeActionKind| kind.as_str().starts_with(only.as_str());
        params.context.only.as_ref().is_none_or(|only| only.iter().any(begins))
    };
    let mut found = Vec::new();
    if wants(&CodeActionKind::QUICKFIX) {
        found.extend(answers::actions(uri, open, open.bytes(params.range)));
    }
    if wants(&CodeActionKind::SOURCE_FIX_ALL) && !open.document().findings().is_empty() {
        found.extend(more::fix_all(uri, open));
    }
    found
}

/// A request with its parameters.
struct Call<'d> {
    documents: &'d Documents,
    id: RequestId,
    params: serde_json::Value,
}

impl Call<'_> {
    /// Answers a request about a file of PTX as a whole. In a file of Rust another server has the answer.
    fn of_file<R: Method>(
        self,
        place: impl FnOnce(&R::Params) -> (&Uri, Position),
        answer: impl FnOnce(&R::Params, &Open, usize) -> Result<R::Result, String>,
    ) -> Response
    where
        R::Result: Default,
    {
        self.at::<R>(place, |params, open, byte| match open.is_ptx() {
            true => answer(params, open, byte),
            false => Ok(R::Result::default()),
        })
    }

    /// Answers a request about a place of a file. `place` finds it in the parameters.
    fn at<R: Method>(
        self,
        place: impl FnOnce(&R::Params) -> (&Uri, Position),
        answer: impl FnOnce(&R::Params, &Open, usize) -> Result<R::Result, String>,
    ) -> Response {
        let params: R::Params = match serde_json::from_value(self.params) {
            Ok(params) => params,
            Err(error) => return Response::new_err(self.id, ErrorCode::InvalidParams as i32, error.to_string()),
        };
        let (uri, position) = place(&params);
        let Some(open) = self.documents.get(uri) else {
            let message = format!("`{}` is not open", uri.as_str());
            return Response::new_err(self.id, ErrorCode::InvalidParams as i32, message);
        };
        let byte = open.byte(position);
        respond(self.id, answer(&params, open, byte))
    }
}
