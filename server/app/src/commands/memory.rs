//! `memory.*`: stores notes that outlive a conversation, and searches notes, memory files and all conversations in the
//! workspace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::key::FileKey;
use strata_conversation::history::{MessageId, MessageKind, Role};
use strata_host::store::{
    FoundPassage, HitSource, MatchedWords, NewNote, NoteId, RankingCoverage, SearchHit, SearchResults,
    StoreError, StoredNote, search_passages,
};
use strata_prompt::assembly::SystemContextText;

use super::{Access, Command, CommandError, Context, DeferredReply, Empty, NoArguments};
use crate::model::workspace_context;

/// Maximum number of matches, unless a client requests another number.
const DEFAULT_MATCHES: usize = 20;
/// Maximum number of matches that a client can request.
const MAX_MATCHES: usize = 1_000;
/// Maximum number of matches in memory files, which are listed before all others.
const MAX_MEMORY_FILE_MATCHES: usize = 5;

/// A note to add.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddParams {
    /// Text of the note.
    pub text: String,
    /// Tags of the note. Defaults to none.
    #[serde(default)]
    pub tags: Vec<String>,
}

/// A search in notes, memory files and conversations.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchParams {
    /// Words to search for. Must contain at least one letter or digit.
    pub query: String,
    /// Maximum number of matches. At most 1,000; defaults to 20.
    pub limit: Option<usize>,
}

/// A note to remove.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveParams {
    /// Number of the note, as reported by `strata.memory.list`.
    pub id: i64,
}

/// The note that was added.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AddReply {
    /// Number that identifies the new note.
    pub id: i64,
}

/// All notes of the workspace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Fragments {
    /// Notes, oldest first.
    pub fragments: Vec<Note>,
}

/// A note that outlives its conversation.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// Number that identifies the note.
    pub id: i64,
    /// Text of the note.
    pub text: String,
    /// Tags of the note.
    pub tags: Vec<String>,
    /// Id of the session in which the note was created. Absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// When the note was created, in milliseconds since 1970.
    pub created_ms: u64,
}

/// The matches of a search.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct SearchReply {
    /// Matches in memory files, then all other matches. Each group is sorted by relevance, best first.
    pub hits: Vec<MemoryMatch>,
    /// How many of the newest matches were ranked, if there were too many to rank them all. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest: Option<usize>,
}

/// A passage that matches a query.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Hit")]
pub struct MemoryMatch {
    #[serde(flatten)]
    pub place: MatchLocation,
    /// When the matching text was written, in milliseconds since 1970. Absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// Text around the first match.
    pub snippet: String,
    /// Relevance of the match, where higher is better. Scores are comparable only within one search.
    pub score: f64,
}

/// The note, file or message in which a match was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "source", rename_all = "snake_case")]
pub enum MatchLocation {
    /// A note.
    Fragment {
        /// Number of the note.
        id: i64,
        /// Tags of the note.
        tags: Vec<String>,
    },
    /// A memory file of the workspace.
    File {
        /// Path of the file, relative to the workspace folder.
        path: FileKey,
        /// First line of the matching paragraph, counted from 1.
        line: usize,
    },
    /// A message of a conversation.
    Message {
        /// Id of the session that contains the message.
        session: String,
        /// Number of the message.
        message: MessageId,
        /// Role of the message's author.
        role: Role,
        /// Purpose of the message.
        kind: MessageKind,
    },
}

pub struct AddNote;

impl Command for AddNote {
    const NAME: &str = "strata.memory.add";
    const SUMMARY: &str = "Saves a note that all sessions share.";
    const ACCESS: Access = Access::Stores;
    type Args = AddParams;
    type Reply = DeferredReply<AddReply>;

    fn run(params: AddParams, context: &mut Context<'_>) -> Result<DeferredReply<AddReply>, CommandError> {
        let AddParams { text, tags } = params;
        let note =
            NewNote { text, tags, session: context.session.id.parse().ok(), created_ms: context.now_ms };
        Ok(context.schedule_write_with_reply(move |store| {
            let NoteId(id) = store.with_store(|store| store.add_note(&note))?;
            Ok(AddReply { id })
        }))
    }
}

pub struct ListNotes;

impl Command for ListNotes {
    const NAME: &str = "strata.memory.list";
    const SUMMARY: &str = "Lists the notes.";
    const ACCESS: Access = Access::Reads;
    type Args = NoArguments;
    type Reply = Fragments;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<Fragments, CommandError> {
        let fragments = context.services.store.with_store(|store| store.list_notes())?;
        Ok(Fragments { fragments: fragments.into_iter().map(Note::from).collect() })
    }
}

pub struct RemoveNote;

impl Command for RemoveNote {
    const NAME: &str = "strata.memory.remove";
    const SUMMARY: &str = "Removes a note.";
    const ACCESS: Access = Access::Stores;
    type Args = RemoveParams;
    type Reply = DeferredReply<Empty>;

    fn run(params: RemoveParams, context: &mut Context<'_>) -> Result<DeferredReply<Empty>, CommandError> {
        Ok(context.schedule_write_with_reply(move |store| {
            store.with_store(|store| store.remove_note(NoteId(params.id)))?;
            Ok(Empty {})
        }))
    }
}

pub struct SearchMemory;

impl Command for SearchMemory {
    const NAME: &str = "strata.memory.search";
    const SUMMARY: &str = "Searches notes, memory files and conversations of the workspace.";
    const ACCESS: Access = Access::Reads;
    type Args = SearchParams;
    type Reply = SearchReply;

    fn run(params: SearchParams, context: &mut Context<'_>) -> Result<SearchReply, CommandError> {
        let limit = params.limit.unwrap_or(DEFAULT_MATCHES).clamp(1, MAX_MATCHES);
        let stored = context.services.store.with_store(|store| store.search(&params.query, limit))?;
        let files = workspace_context::memory_texts(context.snapshot, context.session);
        let (in_files, matched) = search_files(&files, &params.query, limit)?;
        // If only one source matches all words, drop the matches of the other source, which match only some.
        let (in_files, stored) = match (matched, stored.matched) {
            (MatchedWords::Some, MatchedWords::All) if !stored.hits.is_empty() => (Vec::new(), Some(stored)),
            (MatchedWords::All, MatchedWords::Some) if !in_files.is_empty() => (in_files, None),
            _ => (in_files, Some(stored)),
        };
        let stored_matches = stored.map(SearchReply::from).unwrap_or_default();
        let hits = in_files.into_iter().chain(stored_matches.hits).take(limit).collect();
        Ok(SearchReply { hits, ..stored_matches })
    }
}

/// Searches the paragraphs of memory files for a query.
fn search_files(
    files: &[SystemContextText],
    query: &str,
    limit: usize,
) -> Result<(Vec<MemoryMatch>, MatchedWords), StoreError> {
    let passages: Vec<(&FileKey, usize, &str)> = files
        .iter()
        .flat_map(|file| {
            numbered_paragraphs(&file.text).into_iter().map(|(line, text)| (&file.path, line, text))
        })
        .collect();
    let texts: Vec<&str> = passages.iter().map(|(_, _, text)| *text).collect();
    let (passages_found, matched) = search_passages(&texts, query, limit.min(MAX_MEMORY_FILE_MATCHES))?;
    let to_match = |FoundPassage { index, snippet, score }| {
        let (path, line, _) = *passages.get(index)?;
        let place = MatchLocation::File { path: path.clone(), line };
        Some(MemoryMatch { place, time_ms: None, snippet, score })
    };
    Ok((passages_found.into_iter().filter_map(to_match).collect(), matched))
}

/// Splits text into paragraphs, each with the number of its first line, counted from 1. Empty lines separate
/// paragraphs, and a heading starts a new one.
fn numbered_paragraphs(text: &str) -> Vec<(usize, &str)> {
    let mut paragraphs = Vec::new();
    let mut paragraph_start: Option<(usize, usize)> = None;
    let mut offset = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        if (line.trim().is_empty() || line.starts_with('#'))
            && let Some((first, start)) = paragraph_start.take()
        {
            paragraphs.extend(text.get(start..offset).map(|paragraph| (first, paragraph)));
        }
        if !line.trim().is_empty() && paragraph_start.is_none() {
            paragraph_start = Some((number, offset));
        }
        offset += line.len();
    }
    if let Some((first, start)) = paragraph_start {
        paragraphs.extend(text.get(start..).map(|paragraph| (first, paragraph)));
    }
    paragraphs
}

impl From<SearchResults> for SearchReply {
    fn from(results: SearchResults) -> Self {
        let newest = match results.coverage {
            RankingCoverage::All => None,
            RankingCoverage::Newest(count) => Some(count),
        };
        Self { hits: results.hits.into_iter().map(MemoryMatch::from).collect(), newest }
    }
}

impl From<StoredNote> for Note {
    fn from(fragment: StoredNote) -> Self {
        let StoredNote { id: NoteId(id), note: NewNote { text, tags, session, created_ms } } = fragment;
        Self { id, text, tags, session: session.map(|session| session.as_str().to_owned()), created_ms }
    }
}

impl From<SearchHit> for MemoryMatch {
    fn from(hit: SearchHit) -> Self {
        let SearchHit { source, time_ms, snippet, score } = hit;
        let place = match source {
            HitSource::Fragment { id: NoteId(id), tags } => MatchLocation::Fragment { id, tags },
            HitSource::Message { session, message, role, kind } => {
                MatchLocation::Message { session: session.as_str().to_owned(), message, role, kind }
            }
        };
        Self { place, time_ms, snippet, score }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_have_the_number_of_their_first_line() {
        let text = "\n# Build\nUse cargo.\n\n\n- one\n- two\n## Tests\nRun them";
        let expected = [(2, "# Build\nUse cargo.\n"), (6, "- one\n- two\n"), (8, "## Tests\nRun them")];
        assert_eq!(numbered_paragraphs(text), expected);
        assert_eq!(numbered_paragraphs(""), []);
    }
}
