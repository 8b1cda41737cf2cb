//! Implements the protocol's methods. Every method posts its event before its first `.await`, so that events arrive in
//! wire order. Does not interpret events.

use std::sync::mpsc::Sender;

use strata_app::runtime::session_runtime::{Caller, CommandCall, ReplySender};
use strata_base::cancel::{Cancel, CancelOnDrop};
use tokio::sync::oneshot;
use tower_lsp::LanguageServer;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types::{
    CodeActionParams, CodeActionResponse, CodeLens, CodeLensParams, CreateFilesParams, DeleteFilesParams,
    DidChangeConfigurationParams, DidChangeNotebookDocumentParams, DidChangeTextDocumentParams,
    DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams, DidCloseNotebookDocumentParams,
    DidCloseTextDocumentParams, DidOpenNotebookDocumentParams, DidOpenTextDocumentParams,
    DidSaveNotebookDocumentParams, DidSaveTextDocumentParams, DocumentSymbolParams, DocumentSymbolResponse,
    ExecuteCommandParams, GotoDefinitionParams, GotoDefinitionResponse, Hover, HoverParams, InitializeParams,
    InitializeResult, InitializedParams, LSPAny, Location, ReferenceParams, RenameFilesParams,
    TextDocumentPositionParams, WorkDoneProgressCancelParams, WorkspaceSymbolParams, WorkspaceSymbolResponse,
};

use crate::command_error;
use crate::event::Event;
use crate::navigation::{Caret, DeclarationInclusion, LspRequest};
use crate::pending_answer::request_event;
use crate::progress_token;
use crate::reply_rendering::UserMessage;

/// Converts the client's messages to events for the main loop.
#[derive(Debug)]
pub(crate) struct Backend {
    events: Sender<Event>,
}

impl Backend {
    pub(crate) fn new(events: Sender<Event>) -> Self {
        Self { events }
    }

    /// Handles `window/workDoneProgress/cancel`, which the library does not dispatch.
    pub(crate) async fn progress_cancelled(&self, params: WorkDoneProgressCancelParams) {
        self.post(Event::ProgressCancelled(progress_token::from_lsp(params.token)));
    }

    fn post(&self, event: Event) {
        // The main loop has ended if the server is shutting down, so the event no longer matters.
        let _ = self.events.send(event);
    }
}

impl LanguageServer for Backend {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let (answer, receiver) = oneshot::channel();
        self.post(Event::Initialize(Box::new(params), answer));
        receiver.await.map_err(|_| Error::internal_error())
    }

    async fn initialized(&self, _: InitializedParams) {
        self.post(Event::Initialized);
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        self.post(Event::Opened(params.text_document));
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.post(Event::Changed(params));
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        self.post(Event::Saved(params));
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.post(Event::Closed(params));
    }

    async fn notebook_did_open(&self, params: DidOpenNotebookDocumentParams) {
        self.post(Event::NotebookOpened(params));
    }

    async fn notebook_did_change(&self, params: DidChangeNotebookDocumentParams) {
        self.post(Event::NotebookChanged(params));
    }

    async fn notebook_did_save(&self, params: DidSaveNotebookDocumentParams) {
        self.post(Event::NotebookSaved(params));
    }

    async fn notebook_did_close(&self, params: DidCloseNotebookDocumentParams) {
        self.post(Event::NotebookClosed(params));
    }

    async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        self.post(Event::FilesChanged(params));
    }

    async fn did_create_files(&self, params: CreateFilesParams) {
        self.post(Event::FilesCreatedOrDeleted(params.files.into_iter().map(|file| file.uri).collect()));
    }

    async fn did_delete_files(&self, params: DeleteFilesParams) {
        self.post(Event::FilesCreatedOrDeleted(params.files.into_iter().map(|file| file.uri).collect()));
    }

    async fn did_rename_files(&self, params: RenameFilesParams) {
        let renamed = params.files.into_iter().map(|file| (file.old_uri, file.new_uri));
        self.post(Event::FilesRenamed(renamed.collect()));
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        self.post(Event::FoldersChanged(params));
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        self.post(Event::SettingsChanged(params.settings));
    }

    async fn document_symbol(&self, params: DocumentSymbolParams) -> Result<Option<DocumentSymbolResponse>> {
        let (event, answer) = request_event(LspRequest::Document(params.text_document.uri.to_string()));
        self.post(event);
        answer.receive().await
    }

    async fn symbol(&self, params: WorkspaceSymbolParams) -> Result<Option<WorkspaceSymbolResponse>> {
        let (event, answer) = request_event(LspRequest::Workspace(params.query));
        self.post(event);
        answer.receive().await
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let (event, answer) =
            request_event(LspRequest::Hover(caret_from_params(&params.text_document_position_params)));
        self.post(event);
        answer.receive().await
    }

    async fn goto_definition(&self, params: GotoDefinitionParams) -> Result<Option<GotoDefinitionResponse>> {
        let (event, answer) =
            request_event(LspRequest::Definition(caret_from_params(&params.text_document_position_params)));
        self.post(event);
        answer.receive().await
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        let declarations = match params.context.include_declaration {
            true => DeclarationInclusion::Included,
            false => DeclarationInclusion::Excluded,
        };
        let (event, answer) = request_event(LspRequest::References(
            caret_from_params(&params.text_document_position),
            declarations,
        ));
        self.post(event);
        answer.receive().await
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        let (event, answer) = request_event(LspRequest::Actions(Box::new(params)));
        self.post(event);
        answer.receive().await
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        let (event, answer) = request_event(LspRequest::Lens(params.text_document.uri.to_string()));
        self.post(event);
        answer.receive().await
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<LSPAny>> {
        let (answer, receiver) = oneshot::channel();
        let cancel = Cancel::new();
        let _dropped = CancelOnDrop(cancel.clone());
        let caller = Caller {
            cancel,
            token: params.work_done_progress_params.work_done_token.map(progress_token::from_lsp),
            // The receiver is gone if the request was cancelled.
            reply: ReplySender::new(|outcome| drop(answer.send(outcome))),
        };
        self.post(Event::Command(CommandCall::from_json(&params.command, params.arguments, caller)));
        let Ok(outcome) = receiver.await else { return Err(Error::internal_error()) };
        if let Some(message) = UserMessage::for_outcome(&params.command, &outcome) {
            self.post(Event::ShowMessage(message));
        }
        Ok(Some(outcome.map_err(command_error::to_json_rpc)?))
    }
}

fn caret_from_params(params: &TextDocumentPositionParams) -> Caret {
    Caret { uri: params.text_document.uri.to_string(), position: params.position }
}
