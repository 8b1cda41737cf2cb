//! Defines how each event is handled, and how the server recovers if its handler panics, so that no request waits
//! forever and no buffer is silently wrong. This is the only module that knows all events.

use super::MainLoop;
use super::meter_state::ContextMeterState;
use crate::event::{Event, IndexEnd};
use crate::invalid_notification::InvalidNotification;
use crate::world::{Action, ServerState};

type HandlerFn = Box<dyn FnOnce(&mut MainLoop)>;

/// The handler of an event, and the recovery to run if the handler panics.
pub(super) struct EventHandler {
    /// Name of the event in errors and logs, which is its method if it has one.
    pub(super) name: &'static str,
    pub(super) handle: HandlerFn,
    /// Runs after `handle` has panicked. The world is unchanged at this point.
    pub(super) recover: HandlerFn,
}

impl EventHandler {
    /// Creates a handler without recovery. Dropping the handler also drops the answer channel that it owns, if any, so
    /// that its caller does not wait forever.
    pub(super) fn new(name: &'static str, handle: impl FnOnce(&mut MainLoop) + 'static) -> Self {
        Self { name, handle: Box::new(handle), recover: Box::new(|_| ()) }
    }

    pub(super) fn recovering_with(self, recover: impl FnOnce(&mut MainLoop) + 'static) -> Self {
        Self { recover: Box::new(recover), ..self }
    }

    /// Creates the handler of a message about a document. The recovery marks the document as out of sync, because the
    /// panic lost a change to it.
    fn for_document(
        name: &'static str,
        uri: &str,
        next: impl FnOnce(&mut ServerState) -> Vec<Action> + 'static,
    ) -> Self {
        let lost = InvalidNotification {
            method: Some(name.to_owned()),
            uri: Some(uri.to_owned()),
            problem: "an internal error".to_owned(),
        };
        Self::new(name, |main_loop| main_loop.install_next_state(next)).recovering_with(|main_loop| {
            main_loop.install_next_state(|world| world.invalid_notification(lost));
        })
    }

    /// Sets a recovery that scans all files, because the panic lost a report of changed files.
    fn recovering_by_rescan(self) -> Self {
        self.recovering_with(|main_loop| main_loop.perform_action(Action::Rescan))
    }

    pub(super) fn for_event(event: Event) -> Self {
        match event {
            Event::Initialize(params, answer) => {
                Self::new("initialize", move |main_loop| main_loop.initialize(&params, answer))
            }
            Event::StartupWarning(code, message) => {
                Self::new("greeting", move |main_loop| main_loop.startup_warnings.push((code, message)))
            }
            Event::Initialized => Self::new("initialized", MainLoop::initialized),
            Event::Opened(item) => {
                let uri = item.uri.to_string();
                Self::for_document("textDocument/didOpen", &uri, move |world| world.buffer_opened(&item))
            }
            Event::Changed(params) => {
                let uri = params.text_document.uri.to_string();
                Self::for_document("textDocument/didChange", &uri, move |world| world.buffer_changed(&params))
            }
            Event::Saved(params) => {
                let uri = params.text_document.uri.to_string();
                Self::for_document("textDocument/didSave", &uri, move |world| world.buffer_saved(&params))
            }
            Event::Closed(params) => {
                let uri = params.text_document.uri.to_string();
                Self::for_document("textDocument/didClose", &uri, move |world| world.buffer_closed(&params))
            }
            Event::NotebookOpened(params) => {
                let uri = params.notebook_document.uri.to_string();
                Self::for_document("notebookDocument/didOpen", &uri, move |world| {
                    world.notebook_opened(&params)
                })
            }
            Event::NotebookChanged(params) => {
                let uri = params.notebook_document.uri.to_string();
                Self::for_document("notebookDocument/didChange", &uri, move |world| {
                    world.notebook_changed(&params)
                })
            }
            Event::NotebookSaved(params) => {
                let uri = params.notebook_document.uri.to_string();
                Self::for_document("notebookDocument/didSave", &uri, move |world| {
                    world.notebook_saved(&params)
                })
            }
            Event::NotebookClosed(params) => {
                let uri = params.notebook_document.uri.to_string();
                Self::for_document("notebookDocument/didClose", &uri, move |world| {
                    world.notebook_closed(&params)
                })
            }
            Event::InvalidNotification(invalid) => {
                let retried = invalid.clone();
                Self::new("invalid_notification", |main_loop| {
                    main_loop.install_next_state(|world| world.invalid_notification(invalid));
                })
                .recovering_with(|main_loop| {
                    main_loop.install_next_state(|world| world.invalid_notification(retried));
                })
            }
            Event::DocumentReferenced(uri) => {
                Self::new("named", move |main_loop| main_loop.set_current_document(&uri))
            }
            Event::FilesChanged(params) => Self::new("workspace/didChangeWatchedFiles", move |main_loop| {
                main_loop.install_next_state(|world| world.files_changed(&params));
            })
            .recovering_by_rescan(),
            Event::FilesCreatedOrDeleted(uris) => Self::new("workspace/didCreateFiles", move |main_loop| {
                main_loop.install_next_state(|world| world.files_created_or_deleted(&uris));
            })
            .recovering_by_rescan(),
            Event::FilesRenamed(renamed) => Self::new("workspace/didRenameFiles", move |main_loop| {
                main_loop.files_renamed(&renamed);
            })
            .recovering_by_rescan(),
            Event::ClientCannotWatch => Self::new("client does not watch", MainLoop::watch_as_server),
            Event::WatcherReported(event) => Self::new("seen", move |main_loop| {
                main_loop.install_next_state(|world| world.watcher_reported(&event));
            })
            .recovering_by_rescan(),
            Event::WatchingStarted(folders) => {
                Self::new("watched", |main_loop| main_loop.handle_watch_result(folders))
                    .recovering_by_rescan()
            }
            Event::FoldersChanged(params) => {
                Self::new("workspace/didChangeWorkspaceFolders", move |main_loop| {
                    main_loop.folders_changed(&params);
                })
                .recovering_by_rescan()
            }
            Event::SettingsChanged(tree) => Self::new("workspace/didChangeConfiguration", |main_loop| {
                main_loop.settings_changed(tree);
            }),
            Event::Settings(request, tree) => {
                Self::new("settings", move |main_loop| main_loop.settings_received(request, tree))
            }
            Event::WorkspaceSettings(read, sources) => Self::new("workspace settings", move |main_loop| {
                main_loop.workspace_settings_read(read, sources);
            }),
            Event::ProgressCancelled(token) => {
                Self::new("window/workDoneProgress/cancel", move |main_loop| {
                    main_loop.indexing.cancel(&token);
                    main_loop.sessions.cancel(&token);
                })
            }
            Event::Session(event) => {
                let lost = event.recovery_event();
                Self::new(event.name(), move |main_loop| {
                    main_loop.with_sessions(|sessions, host| sessions.handle(event, host));
                })
                .recovering_with(move |main_loop| {
                    main_loop.with_sessions(|sessions, host| sessions.handle(lost, host));
                })
            }
            Event::LspRequest(request, cancel, answer) => {
                Self::new("question", |main_loop| main_loop.answer_lsp_request(request, cancel, answer))
            }
            Event::Command(call) => Self::new("workspace/executeCommand", |main_loop| {
                main_loop.with_sessions(|sessions, host| sessions.enqueue(call, host));
            }),
            Event::ShowMessage(message) => Self::new("show", |main_loop| main_loop.show_message(message)),
            Event::Parsed(key, parsed) => {
                let parsed_key = key.clone();
                Self::new("parsed", |main_loop| main_loop.parse_finished(key, parsed)).recovering_with(
                    move |main_loop| {
                        main_loop.parsing.remove(&parsed_key);
                    },
                )
            }
            Event::PartialIndex(run, index) => {
                Self::new("index so far", move |main_loop| main_loop.install_partial_index(run, index))
            }
            Event::IndexRunEnded(run, end) => {
                Self::new("indexed", move |main_loop| main_loop.index_run_ended(run, end))
                    .recovering_with(move |main_loop| main_loop.index_run_ended(run, IndexEnd::Failed))
            }
            Event::ViewRequested(answer) => {
                Self::new("attached", move |main_loop| main_loop.serve_view(&answer))
            }
            Event::MeterRead(status) => {
                Self::new("metered", |main_loop| main_loop.meter_was_read(status)).recovering_by_meter_reset()
            }
            Event::Shutdown => Self::new("goodbye", |_| ()),
        }
    }

    /// Sets a recovery that resets the meter, because the panic lost its reading.
    pub(super) fn recovering_by_meter_reset(self) -> Self {
        self.recovering_with(|main_loop| main_loop.meter = ContextMeterState::default())
    }
}
