//! The requests of a client, each with the answer of `answers`.

use crate::documents::{Documents, Open};
use crate::{Format, answers, respond};
use lsp_server::{ErrorCode, Request, RequestId, Response};
use lsp_types::request::{
    CodeActionRequest, Completion, DocumentHighlightRequest, DocumentSymbolRequest, FoldingRangeRequest, Formatting,
    GotoDefinition, HoverRequest, PrepareRenameRequest, References, Rename, Request as Method,
    SemanticTokensFullRequest, SignatureHelpRequest, WorkspaceSymbolRequest,
};
use lsp_types::{Position, Uri};

/// The answer to a request.
pub fn answer(documents: &Documents, format: Format, request: Request) -> Response {
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
            |_, open, _| Ok(answers::formatting(open, format)),
        ),
        CodeActionRequest::METHOD => call.of_file::<CodeActionRequest>(
            |p| (&p.text_document.uri, p.range.start),
            |p, open, _| Ok(Some(answers::actions(&p.text_document.uri, open, open.bytes(p.range)))),
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
