//! The endpoint at which other processes of the user ask for the open documents. Requests join the queue of events, so a
//! reply contains every change that arrived before its request.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use strata_app::model::live_view::{ServedView, open_live_endpoint};
use strata_app::runtime::headless::run_for_client;

use super::MainLoop;
use super::endpoint_state::EndpointState;
use crate::event::Event;

/// Maximum time for which a request waits for the main loop, which never computes for long.
const MAIN_LOOP_TIMEOUT: Duration = Duration::from_secs(5);

impl MainLoop {
    /// Lets other processes of the user ask for the open documents.
    pub(crate) fn with_endpoint(mut self) -> Self {
        self.endpoint = EndpointState::Requested;
        self
    }

    pub(super) fn open_endpoint(&mut self) {
        if !matches!(self.endpoint, EndpointState::Requested) {
            return;
        }
        let events = self.events.clone();
        let read = move || {
            let (answer, view) = channel();
            events.send(Event::ViewRequested(answer)).ok()?;
            view.recv_timeout(MAIN_LOOP_TIMEOUT).ok()
        };
        let opened = open_live_endpoint(read, |view, call| run_for_client(view.snapshot, call));
        if let Err(error) = &opened {
            tracing::warn!(%error, "agents and the command line cannot see unsaved text");
        }
        self.endpoint = EndpointState::Opened { _endpoint: opened.ok() };
    }

    pub(super) fn serve_view(&self, answer: &Sender<ServedView>) {
        let snapshot = &self.world.snapshot;
        // Fails if the request is no longer waiting.
        let _ = answer.send(ServedView {
            snapshot: snapshot.clone(),
            are_messages_lost: snapshot.lost.has_losses(),
            editor: self.world.client.name.clone(),
            session: self.world.sessions.current_id().clone(),
        });
    }
}
