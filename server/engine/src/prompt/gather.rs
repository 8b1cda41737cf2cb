//! Collects the pieces of one prompt and weighs them. Reads the session and the workspace; orders nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::history::{ContentBlock, Message, Sides, emergency_truncate, project};
use crate::key::FileKey;
use crate::models::{Model, Structure};
use crate::selection::{Choice, Extent};
use crate::session::Session;
use crate::settings::Settings;
use crate::symbols::{MapEntry, MapRequest, MapSelection, file_list, map_within};
use crate::tokens::{ImageSize, UNKNOWN_IMAGE_TOKENS};
use crate::wire::{self, Tool, pieces_of};

use super::assemble::{Ask, Coverage, Means, Workspace};
use super::content::{Content, Count, Piece, Said, Weighed};
use super::fit::Plan;
use super::layout::ItemKey;
use super::piece::{self, FileText};

/// Everything about weights: the model's limits and the settings' wishes.
pub(super) struct Measure<'a> {
    model: &'a Model,
    means: Means<'a>,
}

impl<'a> Measure<'a> {
    pub(super) fn new(model: &'a Model, means: Means<'a>) -> Self {
        Self { model, means }
    }

    pub(super) fn settings(&self) -> &Settings {
        self.means.settings
    }

    pub(super) fn model_id(&self) -> &str {
        &self.model.id
    }

    pub(super) fn counter(&self) -> impl Fn(&str) -> usize + use<'a> {
        let (counter, tokenizer) = (self.means.counter, self.model.tokenizer);
        move |text| counter.count(tokenizer, text)
    }

    /// The model's smallest cacheable prefix, in tokens.
    pub(super) fn cache_minimum(&self) -> usize {
        self.model.cache.min_tokens
    }

    /// The model's input window, in tokens.
    pub(super) fn window(&self) -> usize {
        self.model.max_input
    }

    /// What is kept free for the answer: as set, or the model's largest output up to a sixteenth of the
    /// window.
    pub(super) fn output_reserve(&self) -> usize {
        let default = self.model.max_output.min(self.window() / 16);
        self.settings().budget.output_reserve.unwrap_or(default)
    }

    /// What a prompt may weigh: 90 % of the window (seed 003, "Pre-Request Shedding"), less when the answer
    /// needs more room than that leaves.
    pub(super) fn limit(&self) -> usize {
        (self.window() / 10 * 9).min(self.window().saturating_sub(self.output_reserve()))
    }

    /// What map blocks may weigh together (`prompt.md`, "The map and the file list have budgets"); never
    /// more than half of a very small window.
    pub(super) fn map_budget(&self) -> usize {
        let default = (self.window() / 8).clamp(4_000, 64_000).min(self.window() / 2);
        self.settings().symbols.map_budget.unwrap_or(default)
    }

    /// What the repository file list may weigh.
    pub(super) fn list_budget(&self) -> usize {
        self.settings().files.list_budget.min(self.window() / 8)
    }

    /// What the format itself costs.
    pub(super) fn structure(&self, structure: Structure) -> usize {
        self.model.structure_tokens(structure)
    }

    /// What the texts of the declared tools weigh.
    pub(super) fn tools(&self, tools: &[Tool]) -> usize {
        let count = self.counter();
        let weigh = |tool: &Tool| {
            count(&tool.name) + count(&tool.description) + count(&tool.input_schema.to_string())
        };
        tools.iter().map(weigh).sum()
    }

    /// What a content block weighs: the sum of its pieces.
    pub(super) fn block(&self, block: &ContentBlock) -> usize {
        let count = self.counter();
        pieces_of(block)
            .into_iter()
            .map(|piece| match piece {
                wire::Piece::Text(text) => count(&text),
                wire::Piece::Picture(sides) => self.picture(sides),
            })
            .sum()
    }

    /// What a picture weighs; a model that takes none is charged what an unknown one costs.
    fn picture(&self, sides: Option<Sides>) -> usize {
        let size = sides.map(|Sides { width, height }| ImageSize { width, height });
        self.model.image.as_ref().map_or(UNKNOWN_IMAGE_TOKENS, |formula| formula.tokens(size))
    }

    /// Blocks with their weights.
    pub(super) fn weighed(&self, blocks: impl IntoIterator<Item = ContentBlock>) -> Vec<Weighed> {
        let weigh = |content| Weighed { tokens: self.block(&content), content };
        blocks.into_iter().map(weigh).collect()
    }

    /// What a message weighs, its share of the format included.
    pub(super) fn message(&self, message: &Message) -> usize {
        let blocks: usize = message.body.content.iter().map(|block| self.block(block)).sum();
        blocks + self.model.overheads.message
    }
}

/// The pieces of one prompt.
pub(super) struct Gathered<'a> {
    pub(super) content: Content<'a>,
    /// The members of the map, in order.
    pub(super) members: Vec<FileKey>,
    pub(super) coverage: Coverage,
    /// How many old messages were left out.
    pub(super) truncated: usize,
}

/// Collects what `plan` allows.
pub(super) fn gather<'a>(
    workspace: &'a Workspace<'a>,
    session: &Session,
    ask: &Ask,
    measure: &'a Measure<'a>,
    plan: &Plan,
    count: Count<'a>,
) -> Gathered<'a> {
    let shown = shown_in_full(workspace, session, plan);
    let selection = map_members(workspace, session, plan, count);
    let members = selection.blocks.iter().map(|entry| entry.key.clone()).collect();
    let (behind, in_map): (Vec<MapEntry>, Vec<MapEntry>) =
        selection.blocks.into_iter().partition(|entry| shown.contains(&entry.key));
    let shown_in_full = behind.into_iter().map(|entry| entry.key).collect();
    let map: Vec<Piece> = in_map
        .into_iter()
        .map(|MapEntry { key, text, hash, tokens }| Piece { key: ItemKey::Symbol(key), text, hash, tokens })
        .collect();

    let files = session
        .selection
        .selected()
        .iter()
        .filter(|(key, _)| shown.contains(*key))
        .filter_map(|(key, extent)| Some(piece::pieces(key, workspace.texts.get(key)?, extent, count)))
        .flatten()
        .collect();

    let listed: Vec<FileKey> = workspace
        .listing
        .iter()
        .filter(|key| session.selection.choice(key) != Choice::Excluded)
        .cloned()
        .collect();
    let focus = focus(workspace, session);
    let list = file_list(&listed, &focus, plan.list_budget, count);

    let Spoken { history, request, truncated } = spoken(session, ask, measure, plan);
    let coverage = Coverage {
        blocks: map.len(),
        names: list.names,
        directories: list.directories,
        map_budget: plan.map_budget,
    };
    let content = Content {
        system: system_prompt(measure.settings()),
        map,
        shown_in_full,
        files,
        urls: Vec::new(),
        file_list: list.text.into(),
        history,
        request,
        seeds: workspace.seeds,
        count,
    };
    Gathered { content, members, coverage, truncated }
}

/// What the conversation weighs, as far as the model sees it, in tokens of the model that is set.
pub fn history_tokens(session: &Session, means: Means<'_>) -> usize {
    let resolved = means.models.resolve(&means.settings.model);
    let measure = Measure::new(&resolved.model, means);
    session.history.visible().map(|message| measure.message(message)).sum()
}

/// What the shown part of a file weighs, in tokens of the model that is set.
pub fn weigh_file(key: &FileKey, file: &FileText, extent: &Extent, means: Means<'_>) -> usize {
    let resolved = means.models.resolve(&means.settings.model);
    let count = Measure::new(&resolved.model, means).counter();
    piece::pieces(key, file, extent, &count).iter().map(|piece| piece.tokens).sum()
}

/// What map blocks may weigh together for the model that is set, in tokens.
pub fn map_budget(means: Means<'_>) -> usize {
    let resolved = means.models.resolve(&means.settings.model);
    Measure::new(&resolved.model, means).map_budget()
}

/// The ids of the tool calls at the end of the conversation that have no result yet.
pub(super) fn open_calls(session: &Session) -> BTreeSet<String> {
    let mut open = BTreeSet::new();
    for message in session.history.visible() {
        for block in &message.body.content {
            match block {
                ContentBlock::ToolCall { id, .. } => {
                    open.insert(id.clone());
                }
                ContentBlock::ToolResult { call_id, .. } => {
                    open.remove(call_id);
                }
                _ => {}
            }
        }
    }
    open
}

/// The selected files that the plan shows and whose text is at hand.
fn shown_in_full(workspace: &Workspace<'_>, session: &Session, plan: &Plan) -> BTreeSet<FileKey> {
    let shown = |key: &&FileKey| workspace.texts.contains_key(*key) && !plan.shed().contains(key);
    session.selection.selected().keys().filter(shown).cloned().collect()
}

/// The members of the map: those of last time in their order, then newcomers in key order. What is selected
/// or open comes first, so that the block of a file is there the moment the file is deselected.
fn map_members(workspace: &Workspace<'_>, session: &Session, plan: &Plan, count: Count<'_>) -> MapSelection {
    if plan.map_budget == 0 {
        return MapSelection::default();
    }
    let focus = focus(workspace, session);
    let ranked: Vec<FileKey> = focus.iter().cloned().chain(workspace.references.rank(&focus)).collect();
    let request = MapRequest {
        budget: plan.map_budget,
        kept: &session.map_members,
        ranked: &ranked,
        without: session.selection.excluded(),
    };
    let mut selection = map_within(workspace.symbols, &request, count);
    let kept: BTreeSet<&FileKey> = session.map_members.iter().collect();
    let first_new = selection.blocks.iter().position(|entry| !kept.contains(&entry.key));
    if let Some(newcomers) = first_new.and_then(|at| selection.blocks.get_mut(at..)) {
        newcomers.sort_by(|one, other| one.key.cmp(&other.key));
    }
    selection
}

/// The files that the session is about: selected ones, then open ones.
fn focus(workspace: &Workspace<'_>, session: &Session) -> Vec<FileKey> {
    session.selection.selected().keys().chain(workspace.open).cloned().collect()
}

/// The conversation with the new request, as the model gets to see them.
struct Spoken {
    history: Vec<Said>,
    request: Vec<Weighed>,
    truncated: usize,
}

fn spoken(session: &Session, ask: &Ask, measure: &Measure<'_>, plan: &Plan) -> Spoken {
    let visible: Vec<Arc<Message>> = session.history.visible().cloned().collect();
    let kept = match plan.history_limit {
        Some(limit) => emergency_truncate(&visible, limit, |message| measure.message(message)),
        None => &visible[..],
    };
    let request = ask.request.message().map_or(Vec::new(), |message| message.content);
    let thinking = ask.format.unwrap_or(measure.settings().format).thinking();
    let projection = project(kept.iter().map(|message| &**message), &request, thinking);
    let history = projection.history.into_iter().map(|projected| Said {
        id: projected.id,
        speaker: projected.role.into(),
        blocks: measure.weighed(projected.content),
    });
    Spoken {
        history: history.collect(),
        request: measure.weighed(projection.results.into_iter().chain(projection.prompt)),
        truncated: visible.len() - kept.len(),
    }
}

fn system_prompt(settings: &Settings) -> Arc<str> {
    let parts = [&settings.prompt.system, &settings.prompt.system_extra];
    let parts: Vec<&str> =
        parts.into_iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n").into()
}
