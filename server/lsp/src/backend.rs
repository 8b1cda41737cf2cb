//! The mail slot: every method of the protocol posts its mail before its first `.await`, so that the order on the
//! wire is the order of the state. Knows nothing about what the mail means.

use std::sync::mpsc::Sender;

use serde::de::DeserializeOwned;
use serde_json::Value;
use strata_engine::cancel::Cancel;
use tokio::sync::oneshot;
use tower_lsp::LanguageServer;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types::{
    CreateFilesParams, DeleteFilesParams, DidChangeConfigurationParams, DidChangeTextDocumentParams,
    DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DidSaveTextDocumentParams, DocumentSymbolParams, DocumentSymbolResponse,
    ExecuteCommandParams, GotoDefinitionParams, GotoDefinitionResponse, Hover, HoverParams, InitializeParams,
    InitializeResult, InitializedParams, LSPAny, Location, ReferenceParams, RenameFilesParams,
    TextDocumentPositionParams, WorkDoneProgressCancelParams, WorkspaceSymbolParams, WorkspaceSymbolResponse,
};

use crate::mail::{Call, Mail};
use crate::navigation::{Caret, Declarations, Question};

/// Posts what the client says.
#[derive(Debug)]
pub struct Backend {
    mail: Sender<Mail>,
}

/// Raises its flag when it is dropped: the transport drops a request that was cancelled.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Backend {
    /// A slot that posts to `mail`.
    pub fn new(mail: Sender<Mail>) -> Self {
        Self { mail }
    }

    /// `window/workDoneProgress/cancel`, which the library leaves to us.
    pub async fn progress_cancelled(&self, params: WorkDoneProgressCancelParams) {
        self.post(Mail::ProgressCancelled(params.token));
    }

    /// Posts a question and waits for its answer.
    async fn ask<T: DeserializeOwned>(&self, question: Question) -> Result<Option<T>> {
        let (answer, wait) = oneshot::channel();
        let cancel = Cancel::new();
        let _dropped = CancelOnDrop(cancel.clone());
        self.post(Mail::Asked(question, cancel, answer));
        let found = wait.await.map_err(|_| Error::internal_error())?;
        serde_json::from_value(found).map_err(|_| Error::internal_error())
    }

    fn post(&self, mail: Mail) {
        // The loop is gone when the server is ending; then the mail has no meaning any more.
        let _ = self.mail.send(mail);
    }
}

impl LanguageServer for Backend {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let (answer, wait) = oneshot::channel();
        self.post(Mail::Initialize(Box::new(params), answer));
        match wait.await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(message)) => Err(Error { message: message.into(), ..Error::internal_error() }),
            Err(_) => Err(Error::internal_error()),
        }
    }

    async fn initialized(&self, _: InitializedParams) {
        self.post(Mail::Initialized);
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        self.post(Mail::Opened(params.text_document));
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.post(Mail::Changed(params));
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        self.post(Mail::Saved(params));
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.post(Mail::Closed(params));
    }

    async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        self.post(Mail::FilesChanged(params));
    }

    async fn did_create_files(&self, params: CreateFilesParams) {
        self.post(Mail::FilesCameOrWent(params.files.into_iter().map(|file| file.uri).collect()));
    }

    async fn did_delete_files(&self, params: DeleteFilesParams) {
        self.post(Mail::FilesCameOrWent(params.files.into_iter().map(|file| file.uri).collect()));
    }

    async fn did_rename_files(&self, params: RenameFilesParams) {
        let renamed = params.files.into_iter().map(|file| (file.old_uri, file.new_uri));
        self.post(Mail::FilesRenamed(renamed.collect()));
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        self.post(Mail::FoldersChanged(params));
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        self.post(Mail::SettingsChanged(params.settings));
    }

    async fn document_symbol(&self, params: DocumentSymbolParams) -> Result<Option<DocumentSymbolResponse>> {
        self.ask(Question::Document(params.text_document.uri.to_string())).await
    }

    async fn symbol(&self, params: WorkspaceSymbolParams) -> Result<Option<WorkspaceSymbolResponse>> {
        self.ask(Question::Workspace(params.query)).await
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        self.ask(Question::Hover(caret(&params.text_document_position_params))).await
    }

    async fn goto_definition(&self, params: GotoDefinitionParams) -> Result<Option<GotoDefinitionResponse>> {
        self.ask(Question::Definition(caret(&params.text_document_position_params))).await
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        let declarations = match params.context.include_declaration {
            true => Declarations::Counted,
            false => Declarations::LeftOut,
        };
        self.ask(Question::References(caret(&params.text_document_position), declarations)).await
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<LSPAny>> {
        let (answer, wait) = oneshot::channel();
        let cancel = Cancel::new();
        let _dropped = CancelOnDrop(cancel.clone());
        let arguments: Vec<Value> = params.arguments;
        self.post(Mail::Command(Call { name: params.command, arguments, cancel, answer }));
        match wait.await {
            Ok(Ok(reply)) => Ok(Some(reply)),
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(Error::internal_error()),
        }
    }
}

fn caret(at: &TextDocumentPositionParams) -> Caret {
    Caret { uri: at.text_document.uri.to_string(), position: at.position }
}
