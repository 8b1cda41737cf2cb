//! Tracks the workspace folders as the client names them. The host converts them to roots.

use std::path::PathBuf;

use strata_host::roots::{RootFolder, Roots};
use strata_host::uri;
use tower_lsp::ls_types::{DidChangeWorkspaceFoldersParams, InitializeParams, WorkspaceFolder};

/// The workspace folders by URI, in the client's order.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkspaceFolders(Vec<(String, RootFolder)>);

/// Returns the workspace folders from `initialize`. Uses the single root URI that older clients send instead of a list.
pub(crate) fn workspace_folders(params: &InitializeParams) -> WorkspaceFolders {
    if let Some(folders) = &params.workspace_folders {
        return WorkspaceFolders(folders.iter().filter_map(uri_and_folder).collect());
    }
    #[expect(deprecated, reason = "older clients send a single root instead of a list")]
    let root = params.root_uri.as_ref();
    let root = root
        .and_then(|uri| Some((uri.to_string(), RootFolder { name: None, path: folder_path(uri.as_str())? })));
    WorkspaceFolders(root.into_iter().collect())
}

impl WorkspaceFolders {
    pub(crate) fn change(&mut self, params: &DidChangeWorkspaceFoldersParams) {
        let removed: Vec<String> = params.event.removed.iter().map(|folder| folder.uri.to_string()).collect();
        self.0.retain(|(uri, _)| !removed.contains(uri));
        self.0.extend(params.event.added.iter().filter_map(uri_and_folder));
    }

    /// Returns the roots for these folders. Omits folders whose paths cannot be resolved.
    pub(crate) fn roots(&self) -> Roots {
        let folders: Vec<RootFolder> = self.0.iter().map(|(_, folder)| folder.clone()).collect();
        match Roots::new(folders.clone()) {
            Ok(roots) => roots,
            Err(error) => {
                tracing::warn!(%error, "a workspace folder cannot be used");
                let usable = folders.into_iter().filter(|folder| Roots::new([folder.clone()]).is_ok());
                Roots::new(usable).unwrap_or_default()
            }
        }
    }
}

fn uri_and_folder(folder: &WorkspaceFolder) -> Option<(String, RootFolder)> {
    let path = folder_path(folder.uri.as_str())?;
    Some((folder.uri.to_string(), RootFolder { name: folder_display_name(&folder.name), path }))
}

/// Returns the display name of a client's folder. Some clients (Neovim, kakoune-lsp) send the whole path, which would
/// appear in prompts and keys, so only the last component is used.
fn folder_display_name(name: &str) -> Option<String> {
    let last_component = name.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next()?;
    (!last_component.is_empty()).then(|| last_component.to_owned())
}

fn folder_path(text: &str) -> Option<PathBuf> {
    match uri::to_path(text) {
        Ok(path) => Some(path),
        Err(error) => {
            tracing::warn!(%error, "a workspace folder is not a directory on this machine");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_name_that_is_a_path_is_shortened_to_its_last_component() {
        for (name, expected) in [
            ("app", Some("app")),
            ("my app", Some("my app")),
            ("/home/me/src/app", Some("app")),
            ("/home/me/src/app/", Some("app")),
            (r"C:\Users\me\app", Some("app")),
            ("/", None),
            ("", None),
        ] {
            assert_eq!(folder_display_name(name).as_deref(), expected, "{name}");
        }
    }
}
