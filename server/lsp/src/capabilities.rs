//! Builds the server capabilities for the reply to `initialize`.

use std::collections::BTreeSet;

use strata_prompt::settings::LspFeature;
use tower_lsp::ls_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions, ExecuteCommandOptions,
    FileOperationFilter, FileOperationPattern, FileOperationRegistrationOptions, HoverProviderCapability,
    InitializeResult, Notebook, NotebookDocumentSyncOptions, NotebookSelector, OneOf, SaveOptions,
    ServerCapabilities, ServerInfo, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, TextDocumentSyncSaveOptions, WorkDoneProgressOptions,
    WorkspaceFileOperationsServerCapabilities, WorkspaceFoldersServerCapabilities,
    WorkspaceServerCapabilities,
};

use crate::navigation::ACTION_KIND;
use crate::position::PositionEncoding;
use strata_app::commands::COMMANDS;

/// Builds the reply to `initialize`. Announces the features in `offered`; others may be registered later.
pub(crate) fn initialize_result(
    encoding: PositionEncoding,
    offered: &BTreeSet<LspFeature>,
) -> InitializeResult {
    // Request the text on save, which resyncs a buffer that is out of sync.
    let save = TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(true) });
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(save),
        ..TextDocumentSyncOptions::default()
    };
    let folders = WorkspaceFoldersServerCapabilities {
        supported: Some(true),
        change_notifications: Some(OneOf::Left(true)),
    };
    let is_offered = |feature: LspFeature| offered.contains(&feature).then_some(true);
    InitializeResult {
        capabilities: ServerCapabilities {
            position_encoding: Some(encoding.kind()),
            text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
            notebook_document_sync: Some(OneOf::Left(notebook_sync_options())),
            execute_command_provider: Some(ExecuteCommandOptions {
                commands: COMMANDS.iter().map(|command| command.name.to_owned()).collect(),
                work_done_progress_options: WorkDoneProgressOptions { work_done_progress: Some(true) },
            }),
            document_symbol_provider: is_offered(LspFeature::DocumentSymbol).map(OneOf::Left),
            workspace_symbol_provider: is_offered(LspFeature::WorkspaceSymbol).map(OneOf::Left),
            hover_provider: is_offered(LspFeature::Hover).map(HoverProviderCapability::Simple),
            definition_provider: is_offered(LspFeature::Definition).map(OneOf::Left),
            references_provider: is_offered(LspFeature::References).map(OneOf::Left),
            code_action_provider: is_offered(LspFeature::CodeAction).map(|_| code_action_options()),
            code_lens_provider: is_offered(LspFeature::CodeLens)
                .map(|_| CodeLensOptions { resolve_provider: Some(false) }),
            workspace: Some(WorkspaceServerCapabilities {
                workspace_folders: Some(folders),
                file_operations: Some(WorkspaceFileOperationsServerCapabilities {
                    did_create: Some(file_operation_options()),
                    did_rename: Some(file_operation_options()),
                    did_delete: Some(file_operation_options()),
                    ..WorkspaceFileOperationsServerCapabilities::default()
                }),
            }),
            ..ServerCapabilities::default()
        },
        server_info: Some(ServerInfo {
            name: "strata".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
        ..InitializeResult::default()
    }
}

/// Returns the options for receiving all notebooks as documents of cells.
fn notebook_sync_options() -> NotebookDocumentSyncOptions {
    let selector = NotebookSelector::ByNotebook { notebook: Notebook::String("*".to_owned()), cells: None };
    NotebookDocumentSyncOptions { notebook_selector: vec![selector], save: Some(true) }
}

fn code_action_options() -> CodeActionProviderCapability {
    CodeActionProviderCapability::Options(CodeActionOptions {
        code_action_kinds: Some(vec![CodeActionKind::new(ACTION_KIND)]),
        ..CodeActionOptions::default()
    })
}

/// Returns the options for receiving notifications about files and folders of any name.
fn file_operation_options() -> FileOperationRegistrationOptions {
    let pattern = FileOperationPattern { glob: "**/*".to_owned(), matches: None, options: None };
    let filter = FileOperationFilter { scheme: Some("file".to_owned()), pattern };
    FileOperationRegistrationOptions { filters: vec![filter] }
}
