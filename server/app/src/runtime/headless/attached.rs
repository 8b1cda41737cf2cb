//! The server's side of calls that clients leave to it, so that they need no index of their own.

use std::path::Path;

use serde_json::Value;
use strata_prompt::assembly::IndexState;
use strata_prompt::trust::Trust;

use super::{HeadlessWorkspace, SessionAccess, SessionSource, can_run_on_server};
use crate::commands::CommandDefinition;
use crate::model::live_view::LiveCall;
use crate::model::snapshot::Snapshot;

/// Runs a client's call on the snapshot of a server. The call sees the files as they are now, and the unsaved text of the
/// editor. Returns `None` if the client must run the call itself.
pub fn run_for_client(mut snapshot: Snapshot, call: LiveCall) -> Option<Result<Value, String>> {
    let command = CommandDefinition::by_name(&call.command).filter(|command| can_run_on_server(command))?;
    let [root] = &**snapshot.roots else { return None };
    let folder = root.real.clone();
    if folder != Path::new(&call.folder) || snapshot.index.state != IndexState::Ready {
        return None;
    }
    if !call.is_trusted {
        snapshot.trust = Trust::Untrusted;
    }
    let mut workspace = HeadlessWorkspace::new(folder, snapshot);
    match &call.session {
        None => workspace.open_session(SessionSource::InMemory).ok()?,
        Some(id) => {
            workspace.open_store().ok()?;
            workspace.open_session(SessionSource::Stored(id, SessionAccess::Read)).ok()?;
        }
    }
    workspace.index(|_| ()).ok()?;
    // A client sees unsaved text only, of all editors. The documents of this one are open in the snapshot.
    workspace.attach_editors();
    Some(workspace.execute(command, call.arguments).map_err(|error| error.to_string()))
}
