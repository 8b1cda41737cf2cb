//! `memory.*`: notes that outlive every conversation, and the search over them and over all that was ever said in the
//! workspace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::conversation::history::{Kind, MessageId, Role};
use strata_host::store::{Coverage, Fragment, FragmentId, Limits, NewFragment, Scope, SearchHit, Source};

use super::{Access, Command, CommandError, Context, Deferred, Empty, NoArguments};

/// A search finds no more, whoever asks for more.
const MOST_HITS: usize = 1_000;

/// A note.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddParams {
    /// What to keep.
    text: String,
    /// What to file it under.
    #[serde(default)]
    tags: Vec<String>,
}

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchParams {
    /// Words. One without a letter or digit is an error.
    query: String,
    /// How many hits at most: 20 when absent, never more than 1,000.
    limit: Option<usize>,
}

/// A note.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoveParams {
    /// Its number.
    id: i64,
}

/// The note that was added.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AddReply {
    /// Its number.
    id: i64,
}

/// All notes.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Fragments {
    /// In the order in which they were made.
    fragments: Vec<Note>,
}

/// A note.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Note {
    /// Its number.
    id: i64,
    /// What it says.
    text: String,
    /// What it is filed under.
    tags: Vec<String>,
    /// The session in which it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// When, in milliseconds since 1970.
    created_ms: u64,
}

/// The reply of a search, the best first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SearchReply {
    /// The best first.
    hits: Vec<MemoryMatch>,
    /// How many of the newest matches were ranked, when there are too many to rank them all.
    #[serde(skip_serializing_if = "Option::is_none")]
    newest: Option<usize>,
}

/// A place where something was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Hit")]
struct MemoryMatch {
    #[serde(flatten)]
    place: MatchLocation,
    /// When it was said, in milliseconds since 1970, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_ms: Option<u64>,
    /// The words around it.
    snippet: String,
    /// How good it is; compares only within one search.
    score: f64,
}

/// Where something was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "source", rename_all = "snake_case")]
enum MatchLocation {
    /// A note.
    Fragment {
        /// Its number.
        id: i64,
        /// What it is filed under.
        tags: Vec<String>,
    },
    /// A message of a conversation.
    Message {
        /// The session.
        session: String,
        /// The message.
        message: MessageId,
        /// Who speaks.
        role: Role,
        /// What the message is for.
        kind: Kind,
    },
}

pub(super) struct Add;

impl Command for Add {
    const NAME: &str = "strata.memory.add";
    const SUMMARY: &str = "Keeps a note that outlives the session.";
    const ACCESS: Access = Access::Stores;
    type Args = AddParams;
    type Reply = Deferred<AddReply>;

    fn run(params: AddParams, context: &mut Context<'_>) -> Result<Deferred<AddReply>, CommandError> {
        let AddParams { text, tags } = params;
        let note =
            NewFragment { text, tags, session: context.session.id.parse().ok(), created_ms: context.now_ms };
        Ok(context.write_last(move |store| {
            let FragmentId(id) = store.with(|store| store.memory_add(&note))?;
            Ok(AddReply { id })
        }))
    }
}

pub(super) struct List;

impl Command for List {
    const NAME: &str = "strata.memory.list";
    const SUMMARY: &str = "Lists the notes.";
    const ACCESS: Access = Access::Reads;
    type Args = NoArguments;
    type Reply = Fragments;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<Fragments, CommandError> {
        let fragments = context.services.store.with(|store| store.memory_list())?;
        Ok(Fragments { fragments: fragments.into_iter().map(Note::from).collect() })
    }
}

pub(super) struct Remove;

impl Command for Remove {
    const NAME: &str = "strata.memory.remove";
    const SUMMARY: &str = "Removes a note.";
    const ACCESS: Access = Access::Stores;
    type Args = RemoveParams;
    type Reply = Deferred<Empty>;

    fn run(params: RemoveParams, context: &mut Context<'_>) -> Result<Deferred<Empty>, CommandError> {
        Ok(context.write_last(move |store| {
            store.with(|store| store.memory_remove(FragmentId(params.id)))?;
            Ok(Empty {})
        }))
    }
}

pub(super) struct Search;

impl Command for Search {
    const NAME: &str = "strata.memory.search";
    const SUMMARY: &str = "Finds words in all notes and conversations of the workspace.";
    const ACCESS: Access = Access::Reads;
    type Args = SearchParams;
    type Reply = SearchReply;

    fn run(params: SearchParams, context: &mut Context<'_>) -> Result<SearchReply, CommandError> {
        search_in(&params.query, params.limit, &Scope::Workspace, context)
    }
}

pub(super) fn search_in(
    query: &str,
    limit: Option<usize>,
    scope: &Scope,
    context: &Context<'_>,
) -> Result<SearchReply, CommandError> {
    let default = Limits::default();
    let limits = Limits { hits: limit.unwrap_or(default.hits).clamp(1, MOST_HITS), ..default };
    let found = context.services.store.with(|store| store.search(query, scope, limits))?;
    let newest = match found.coverage {
        Coverage::All => None,
        Coverage::Newest(count) => Some(count),
    };
    Ok(SearchReply { hits: found.hits.into_iter().map(MemoryMatch::from).collect(), newest })
}

impl From<Fragment> for Note {
    fn from(fragment: Fragment) -> Self {
        let Fragment { id: FragmentId(id), note: NewFragment { text, tags, session, created_ms } } = fragment;
        Self { id, text, tags, session: session.map(|session| session.as_str().to_owned()), created_ms }
    }
}

impl From<SearchHit> for MemoryMatch {
    fn from(hit: SearchHit) -> Self {
        let SearchHit { source, time_ms, snippet, score } = hit;
        let place = match source {
            Source::Fragment { id: FragmentId(id), tags, .. } => MatchLocation::Fragment { id, tags },
            Source::Message { session, message, role, kind } => {
                MatchLocation::Message { session: session.as_str().to_owned(), message, role, kind }
            }
        };
        Self { place, time_ms, snippet, score }
    }
}
