//! Collects and measures the pieces of one prompt, without ordering them.

use std::collections::BTreeSet;
use std::sync::Arc;

use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_code::symbols::{
    self, MapEntry, MapMember, MapRequest, MapSelection, QuestionWords, build_map, mentioned_files,
    rank_files_for_question,
};
use strata_conversation::history::{Message, emergency_truncate, project};
use strata_conversation::selection::Choice;

use crate::session::Session;

use super::excerpt_piece;
use super::fit::ContentPlan;
use super::measure::Measure;
use super::piece;
use super::request::{PromptRequest, Request};
use super::system_context::system_prompt;
use super::workspace::Workspace;
use crate::layout::{
    CountFn, CountedBlock, FileListInput, ItemKey, LayoutContent, PromptPiece, RetainedExcerpts, SentMessage,
};

/// The content gathered for one prompt, and what was left out of it.
pub(super) struct PromptContent<'a> {
    pub(super) content: LayoutContent<'a>,
    /// Files that have a map block after this prompt, in map order.
    pub(super) members: Vec<MapMember>,
    /// Files relevant to the session or the request that do not fit into the map.
    pub(super) unmapped: Vec<FileKey>,
    /// Number of old messages omitted.
    pub(super) truncated: usize,
    /// Call ids of tool results in the request that answer no pending tool call.
    pub(super) unmatched: Vec<String>,
}

pub(super) fn gather_content<'a>(
    workspace: &'a Workspace<'a>,
    session: &'a Session,
    prompt_request: &PromptRequest,
    measure: &'a Measure<'a>,
    plan: &ContentPlan,
    count: CountFn<'a>,
) -> PromptContent<'a> {
    let full_files = files_in_full(workspace, session, plan);
    let selection = select_map_members(workspace, session, prompt_request, plan, count);
    let members: Vec<MapMember> = selection.blocks.iter().map(MapEntry::to_member).collect();
    let member_paths: BTreeSet<FileKey> = members.iter().map(|member| member.path.clone()).collect();
    let unmapped = selection.missing.into_iter().filter(|key| !full_files.contains(key)).collect();
    let (superseded, shown_entries): (Vec<MapEntry>, Vec<MapEntry>) =
        selection.blocks.into_iter().partition(|entry| full_files.contains(&entry.key));
    let shown_paths: BTreeSet<&FileKey> = shown_entries.iter().map(|entry| &entry.key).collect();
    // Members that do not fit into this prompt are hidden instead of removed, so that they keep their positions.
    let not_fitting = session.map_members.iter().filter_map(|member| {
        let key = &member.path;
        let text = member.current_block_text(workspace.symbols)?;
        let is_hidden = !shown_paths.contains(key) && session.selection.choice(key) != Choice::Excluded;
        is_hidden.then(|| (key.clone(), ContentHash::from_text(&text)))
    });
    let superseded = superseded.into_iter().map(|entry| (entry.key, entry.hash));
    let hidden = not_fitting.chain(superseded).collect();
    let map: Vec<PromptPiece> = shown_entries
        .into_iter()
        .map(|MapEntry { key, text, hash, tokens, .. }| PromptPiece {
            key: ItemKey::Symbol(key),
            body: Arc::clone(&text),
            notice: Arc::default(),
            text,
            hash,
            tokens,
        })
        .collect();

    let selected_pieces = session
        .selection
        .selected
        .iter()
        .filter(|(key, _)| full_files.contains(*key))
        .filter_map(|(key, extent)| Some(piece::file_pieces(key, workspace.texts.get(key)?, extent, count)))
        .flatten();
    let excerpts = workspace.excerpts;
    let placed = excerpts.placed_excerpts().take(plan.excerpts).map(|item| excerpt_piece::piece(item, count));
    let retained_excerpts = RetainedExcerpts {
        pieces: excerpts.retained_excerpts().map(|item| excerpt_piece::piece(item, count)).collect(),
        allowance: excerpts.allowance,
    };
    let files = selected_pieces.chain(placed).collect();

    let is_excluded = |key: &&FileKey| session.selection.choice(key) == Choice::Excluded;
    let listed_files = workspace.listing.iter().filter(|key| !is_excluded(key)).cloned();
    let (outlined, listed): (Vec<FileKey>, Vec<FileKey>) =
        listed_files.partition(|key| member_paths.contains(key));

    let GatheredConversation { history, request, truncated, unmatched } =
        gather_conversation(session, prompt_request, measure, plan);
    let content = LayoutContent {
        system: system_prompt(&measure.settings().prompt, &prompt_request.tools, workspace.system_context),
        map,
        hidden,
        files,
        retained_excerpts,
        urls: session.pages.iter().map(|page| piece::web_page_piece(page, count)).collect(),
        tree: FileListInput {
            files: listed,
            outlined,
            focus: focus_files(workspace, session),
            budget: plan.list_budget,
        },
        history,
        request,
        session_state: workspace.session_state.into(),
        context_frame: workspace.context_frame.into(),
        trust: workspace.trust,
        excluded: &session.selection.excluded,
        seeds: workspace.seeds,
        framing: 0,
        count,
    };
    PromptContent { content, members, unmapped, truncated, unmatched }
}

/// Returns the selected files whose text was read and that the plan does not drop.
fn files_in_full(workspace: &Workspace<'_>, session: &Session, plan: &ContentPlan) -> BTreeSet<FileKey> {
    let omitted_files: BTreeSet<&FileKey> = plan.omitted_files().iter().collect();
    let is_in_full = |key: &&FileKey| workspace.texts.contains_key(*key) && !omitted_files.contains(key);
    session.selection.selected.keys().filter(is_in_full).cloned().collect()
}

/// Selects the files that have a block in the map: previous ones in their order, then new ones in key order. Selected,
/// open and mentioned files take precedence. A selected file keeps its block so that it can be shown as soon as the
/// file is deselected.
fn select_map_members(
    workspace: &Workspace<'_>,
    session: &Session,
    prompt_request: &PromptRequest,
    plan: &ContentPlan,
    count: CountFn<'_>,
) -> MapSelection {
    if plan.map_budget == 0 {
        return MapSelection::default();
    }
    let question = match &prompt_request.request {
        Request::Prompt { text, .. } if !text.trim().is_empty() => Some(text.as_str()),
        _ => None,
    };
    let mut required = focus_files(workspace, session);
    if let Some(text) = question {
        required.extend(mentioned_files(text, workspace.listing, workspace.references));
    }
    let selected: Vec<FileKey> = session.selection.selected.keys().cloned().collect();
    let seeds = symbols::Seeds { selected: &selected, open: workspace.open, ..symbols::Seeds::default() };
    // Only the first map of a conversation follows the question, because later ones keep its blocks.
    let (symbols, references) = (workspace.symbols, workspace.references);
    let relevance = workspace.relevance.filter(|_| session.map_members.is_empty());
    let question_words = relevance.map(QuestionWords::new);
    let ranking = match relevance {
        Some(relevance) => rank_files_for_question(relevance, references, &seeds),
        None => references.rank(&seeds),
    };
    let request = MapRequest {
        budget: plan.map_budget,
        kept: &session.map_members,
        required: &required,
        ranking: &ranking,
        about: question_words.as_ref(),
        without: &session.selection.excluded,
    };
    let mut selection = build_map(symbols, references, &request, count);
    let previous_paths: BTreeSet<&FileKey> = session.map_members.iter().map(|member| &member.path).collect();
    let first_new = selection.blocks.iter().position(|entry| !previous_paths.contains(&entry.key));
    if let Some(new_entries) = first_new.and_then(|index| selection.blocks.get_mut(index..)) {
        new_entries.sort_by(|one, other| one.key.cmp(&other.key));
    }
    selection
}

/// Returns the files that the session is about: selected files, then open ones.
fn focus_files(workspace: &Workspace<'_>, session: &Session) -> Vec<FileKey> {
    session.selection.selected.keys().chain(workspace.open).cloned().collect()
}

/// The conversation and the new request, as sent to the model.
struct GatheredConversation {
    history: Vec<SentMessage>,
    request: Vec<CountedBlock>,
    truncated: usize,
    unmatched: Vec<String>,
}

fn gather_conversation(
    session: &Session,
    prompt_request: &PromptRequest,
    measure: &Measure<'_>,
    plan: &ContentPlan,
) -> GatheredConversation {
    let messages = session.history.messages().iter();
    let sent: Vec<Arc<Message>> = messages.filter(|message| message.body.is_sent()).cloned().collect();
    let kept_messages = match plan.history_limit {
        Some(limit) => emergency_truncate(&sent, limit, |message| measure.count_message(message)),
        None => &sent[..],
    };
    let request = prompt_request.request.message().map_or(Vec::new(), |message| message.content);
    let provider = measure.format(prompt_request).foreign_provider();
    let projection = project(kept_messages.iter().map(|message| &**message), &request, provider);
    let history = projection.history.into_iter().map(|projected| SentMessage {
        id: projected.id,
        speaker: projected.role.into(),
        blocks: measure.counted_blocks(projected.content),
    });
    GatheredConversation {
        history: history.collect(),
        request: measure.counted_blocks(projection.results.into_iter().chain(projection.prompt)),
        truncated: sent.len() - kept_messages.len(),
        unmatched: projection.unmatched,
    }
}
