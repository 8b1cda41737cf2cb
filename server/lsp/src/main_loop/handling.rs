//! Defines how each event is handled, and how the server recovers if its handler panics, so that no request waits
//! forever and no buffer is silently wrong. This is the only module that knows all events.

use super::MainLoop;
use super::meter_state::Meter;
use crate::event::{Event, IndexEnd, Waiter};
use crate::invalid_notification::InvalidNotification;
use crate::world::Action;
use strata_app::commands::CommandError;
use strata_app::runtime::executor::{release_opened, restore};

type Step = Box<dyn FnOnce(&mut MainLoop)>;

/// The handler of an event, and the recovery to run if the handler panics.
pub(super) struct Handling {
    /// Name of the event in errors and logs, which is its method if it has one.
    pub(super) name: &'static str,
    pub(super) handle: Step,
    /// Runs after `handle` has panicked. The world is unchanged at this point.
    pub(super) recover: Step,
}

impl Handling {
    /// Creates a handler without recovery. Dropping the handler also drops the answer channel that it owns, if any, so
    /// that its caller does not wait forever.
    pub(super) fn new(name: &'static str, handle: impl FnOnce(&mut MainLoop) + 'static) -> Self {
        Self { name, handle: Box::new(handle), recover: Box::new(|_| ()) }
    }

    pub(super) fn or_else(self, recover: impl FnOnce(&mut MainLoop) + 'static) -> Self {
        Self { recover: Box::new(recover), ..self }
    }

    /// Sets a recovery that marks the document as out of sync, because the panic lost a change to it.
    fn or_lose(self, uri: &str) -> Self {
        let lost = InvalidNotification {
            method: Some(self.name.to_owned()),
            uri: Some(uri.to_owned()),
            problem: "an internal error".to_owned(),
        };
        self.or_else(|main_loop| main_loop.transition(|world| world.invalid_notification(lost)))
    }

    /// Sets a recovery that scans all files, because the panic lost a report of changed files.
    fn or_rescan(self) -> Self {
        self.or_else(|main_loop| main_loop.act(Action::Rescan))
    }

    pub(super) fn of(event: Event) -> Self {
        match event {
            Event::Initialize(params, answer) => {
                Self::new("initialize", move |main_loop| main_loop.initialize(&params, answer))
            }
            Event::Greeting(code, message) => {
                Self::new("greeting", move |main_loop| main_loop.greetings.push((code, message)))
            }
            Event::Initialized => Self::new("initialized", MainLoop::initialized),
            Event::Opened(item) => {
                let uri = item.uri.to_string();
                Self::new("textDocument/didOpen", move |main_loop| {
                    main_loop.transition(|world| world.opened(&item));
                })
                .or_lose(&uri)
            }
            Event::Changed(params) => {
                let uri = params.text_document.uri.to_string();
                Self::new("textDocument/didChange", move |main_loop| {
                    main_loop.transition(|world| world.changed(&params));
                })
                .or_lose(&uri)
            }
            Event::Saved(params) => {
                let uri = params.text_document.uri.to_string();
                Self::new("textDocument/didSave", move |main_loop| {
                    main_loop.transition(|world| world.saved(&params));
                })
                .or_lose(&uri)
            }
            Event::Closed(params) => {
                let uri = params.text_document.uri.to_string();
                Self::new("textDocument/didClose", move |main_loop| {
                    main_loop.transition(|world| world.closed(&params));
                })
                .or_lose(&uri)
            }
            Event::NotebookOpened(params) => {
                let uri = params.notebook_document.uri.to_string();
                Self::new("notebookDocument/didOpen", move |main_loop| {
                    main_loop.transition(|world| world.notebook_opened(&params));
                })
                .or_lose(&uri)
            }
            Event::NotebookChanged(params) => {
                let uri = params.notebook_document.uri.to_string();
                Self::new("notebookDocument/didChange", move |main_loop| {
                    main_loop.transition(|world| world.notebook_changed(&params));
                })
                .or_lose(&uri)
            }
            Event::NotebookSaved(params) => {
                let uri = params.notebook_document.uri.to_string();
                Self::new("notebookDocument/didSave", move |main_loop| {
                    main_loop.transition(|world| world.notebook_saved(&params));
                })
                .or_lose(&uri)
            }
            Event::NotebookClosed(params) => {
                let uri = params.notebook_document.uri.to_string();
                Self::new("notebookDocument/didClose", move |main_loop| {
                    main_loop.transition(|world| world.notebook_closed(&params));
                })
                .or_lose(&uri)
            }
            Event::InvalidNotification(invalid) => {
                let again = invalid.clone();
                Self::new("invalid_notification", |main_loop| {
                    main_loop.transition(|world| world.invalid_notification(invalid));
                })
                .or_else(|main_loop| main_loop.transition(|world| world.invalid_notification(again)))
            }
            Event::Named(uri) => Self::new("named", move |main_loop| main_loop.named(&uri)),
            Event::FilesChanged(params) => Self::new("workspace/didChangeWatchedFiles", move |main_loop| {
                main_loop.transition(|world| world.files_changed(&params));
            })
            .or_rescan(),
            Event::FilesCameOrWent(uris) => Self::new("workspace/didCreateFiles", move |main_loop| {
                main_loop.transition(|world| world.files_came_or_went(&uris));
            })
            .or_rescan(),
            Event::FilesRenamed(renamed) => Self::new("workspace/didRenameFiles", move |main_loop| {
                main_loop.files_renamed(&renamed);
            })
            .or_rescan(),
            Event::ClientDoesNotWatch => Self::new("client does not watch", MainLoop::watch_ourselves),
            Event::Seen(sight) => Self::new("seen", move |main_loop| {
                main_loop.transition(|world| world.seen(&sight));
            })
            .or_rescan(),
            Event::Watched(watched) => {
                Self::new("watched", |main_loop| main_loop.watched(watched)).or_rescan()
            }
            Event::FoldersChanged(params) => {
                Self::new("workspace/didChangeWorkspaceFolders", move |main_loop| {
                    main_loop.folders_changed(&params);
                })
                .or_rescan()
            }
            Event::SettingsChanged(tree) => Self::new("workspace/didChangeConfiguration", |main_loop| {
                main_loop.settings_changed(tree);
            }),
            Event::Settings(question, tree) => {
                Self::new("settings", move |main_loop| main_loop.settings_received(question, tree))
            }
            Event::WorkspaceSettings(look, found) => {
                Self::new("workspace settings", move |main_loop| main_loop.workspace_settings(look, found))
            }
            Event::ProgressCancelled(token) => {
                Self::new("window/workDoneProgress/cancel", move |main_loop| {
                    main_loop.indexing.cancel(&token);
                    main_loop.compactions.cancel(&token);
                    main_loop.sends.cancel(&token);
                })
            }
            Event::Drafted(session, number, draft) => {
                let id = session.clone();
                Self::new("drafted", move |main_loop| main_loop.drafted(&session, number, draft)).or_else(
                    move |main_loop| main_loop.compaction_ended(&id, number, Err(CommandError::Internal)),
                )
            }
            Event::Sent(number, sent) => Self::new("sent", move |main_loop| main_loop.sent(number, sent))
                .or_else(move |main_loop| main_loop.sent(number, Err(CommandError::Internal))),
            Event::Aged(session, aged) => {
                let id = session.clone();
                Self::new("aged", move |main_loop| main_loop.aged(&session, aged)).or_else(move |main_loop| {
                    main_loop.ageing.remove(&id);
                })
            }
            Event::Measured(session, measured) => {
                let id = session.clone();
                Self::new("measured", move |main_loop| main_loop.measured(&session, measured)).or_else(
                    move |main_loop| {
                        main_loop.measuring.remove(&id);
                    },
                )
            }
            Event::Asked(question, cancel, answer) => {
                Self::new("question", |main_loop| main_loop.asked(question, cancel, answer))
            }
            Event::Command(call) => {
                Self::new("workspace/executeCommand", |main_loop| main_loop.enqueue(call))
            }
            Event::Show(shown) => Self::new("show", |main_loop| main_loop.show(shown)),
            Event::CommandDone(session, done) => {
                let id = session.clone();
                let effects = done.outcome.effects.clone();
                let compaction = match done.waits {
                    Waiter::Compaction(number) => Some(number),
                    Waiter::Caller(..) | Waiter::Nobody => None,
                };
                Self::new("command done", move |main_loop| main_loop.command_done(&session, *done)).or_else(
                    move |main_loop| {
                        let (sessions, services) = (&main_loop.world.sessions, &main_loop.services);
                        if let Some(before) = sessions.get(&id) {
                            // Accessing the disk on the main loop is acceptable in this rare case. It must happen
                            // before the next task is stored.
                            restore(before, services);
                        }
                        // Release sessions that were opened for writing but not installed, so that other processes can
                        // write to them.
                        release_opened(&effects, sessions, services);
                        if let Some(number) = compaction {
                            main_loop.compaction_ended(&id, number, Err(CommandError::Internal));
                        }
                        main_loop.finish_turn(&id);
                    },
                )
            }
            Event::Parsed(key, parsed) => {
                let stuck = key.clone();
                Self::new("parsed", |main_loop| main_loop.parsed(key, parsed)).or_else(move |main_loop| {
                    main_loop.parsing.remove(&stuck);
                })
            }
            Event::IndexSoFar(run, index) => {
                Self::new("index so far", move |main_loop| main_loop.indexed_so_far(run, index))
            }
            Event::Indexed(run, end) => Self::new("indexed", move |main_loop| main_loop.indexed(run, end))
                .or_else(move |main_loop| main_loop.indexed(run, IndexEnd::Failed)),
            Event::Attached(answer) => Self::new("attached", move |main_loop| main_loop.attached(&answer)),
            Event::Metered(status) => {
                Self::new("metered", |main_loop| main_loop.metered(status)).or_reset_meter()
            }
            Event::Goodbye => Self::new("goodbye", |_| ()),
        }
    }

    /// Sets a recovery that resets the meter, because the panic lost its reading.
    pub(super) fn or_reset_meter(self) -> Self {
        self.or_else(|main_loop| main_loop.meter = Meter::default())
    }
}
