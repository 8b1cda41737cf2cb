//! What a server and its clients say to each other: JSON, one request and one reply. A reply of another version of the
//! protocol has at least the fields of [`VersionHeader`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strata_code::document::{Document, DocumentSync};
use strata_code::notebook::CellKind;

/// Version of the protocol. Both sides must have the same.
pub(super) const PROTOCOL: u32 = 1;

/// A client's question for the documents in a folder.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DocumentsRequest {
    pub(super) protocol: u32,
    /// The client's workspace folder: absolute, without links.
    pub(super) folder: String,
    /// Stamps of the texts that the client has, by URI. The server does not send them again.
    pub(super) known: BTreeMap<String, u64>,
}

/// A client's call of a command that only reads, and needs an index.
#[derive(Debug, Serialize, Deserialize)]
pub struct LiveCall {
    pub(super) protocol: u32,
    /// The client's workspace folder: absolute, without links.
    pub folder: String,
    pub command: String,
    pub arguments: Value,
    /// Id of the stored session to use. Absent if nothing is selected or excluded.
    pub session: Option<String>,
    /// Whether the client trusts the folder. The call has no more trust than its client, whatever the editor's user trusts.
    pub is_trusted: bool,
}

/// The outcome of a call. Without a result or an error, the server cannot run the call.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CallReply {
    pub(super) protocol: u32,
    pub(super) version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<Value>,
    /// Why the command failed, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

/// The part of a reply that every version has.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct VersionHeader {
    pub(super) protocol: u32,
    /// The server's version of Strata.
    pub(super) version: String,
}

/// A server's documents in a folder.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reply {
    pub(super) protocol: u32,
    pub(super) version: String,
    /// Whether the editor has the folder, one above or one below it as a workspace folder.
    pub(super) is_open: bool,
    /// Name of the editor.
    pub(super) editor: Option<String>,
    /// Id of the conversation that the editor shows, if the editor has only this folder open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<String>,
    /// Whether any file may be out of sync with the editor.
    pub(super) are_messages_lost: bool,
    pub(super) documents: Vec<LiveDocument>,
    pub(super) notebooks: Vec<LiveNotebook>,
}

/// An open document.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LiveDocument {
    pub(super) uri: String,
    /// The editor's version.
    pub(super) version: i32,
    /// Identifies the text among all of this server.
    pub(super) stamp: u64,
    /// The editor's identifier for the language.
    pub(super) language: String,
    /// When the document was last edited, in milliseconds since 1970. 0 if it was only opened.
    pub(super) edited_at: u64,
    /// When the document was opened or last saved.
    pub(super) saved_at: u64,
    pub(super) sync: DocumentSync,
    /// URI of the notebook that contains the document, if it is a cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) notebook: Option<String>,
    /// The text. Absent if the client has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
}

/// An open notebook. The texts of its cells are documents.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LiveNotebook {
    pub(super) uri: String,
    pub(super) version: i32,
    pub(super) edited_at: u64,
    pub(super) saved_at: u64,
    pub(super) sync: DocumentSync,
    pub(super) cells: Vec<LiveCell>,
}

/// A cell of an open notebook.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LiveCell {
    pub(super) kind: CellKind,
    pub(super) uri: String,
}

impl LiveDocument {
    pub(super) fn to_document(&self, text: &str) -> Document {
        let mut document = Document::open(text, self.version, self.language.clone());
        document.sync = self.sync.clone();
        document
    }
}
