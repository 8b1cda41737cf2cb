//! `symbols.*`: builds the symbol map and outlines, and finds definitions, references and relevant code.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::excerpts::{Excerpt, ShownDefinition};
use strata_code::outline::{self, LEGEND, LocatedSymbol, MapLevel, SymbolKind, numbered_outline};
use strata_code::references::{Confidence, ReferenceQuery, ReferenceReport};
use strata_code::symbols::{
    self, FileRelevance, MapEntry, MapRequest, QuestionWords, RelevanceQuery, Seeds, build_map,
    mentioned_files, rank_files_for_question,
};
use strata_grammars::LanguageId;
use strata_host::path_patterns::PatternKind;

use super::expansion::expand_pattern;
use super::named_file::{read_named_file, resolve_listed_file};
use super::{Access, Command, CommandError, Context, IndexNeed, default_limit};
use crate::model::parsed_file::{NoOutline, ParsedFile};
use crate::model::snapshot::Snapshot;

/// Maximum number of files with syntax errors to list.
const MAX_LISTED_UNPARSED: usize = 4;

/// Size and topic of the symbol map.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapParams {
    /// Token limit for the map. Defaults to the setting `symbols.map_budget`, or else to an eighth of the input
    /// window, but at least 4,000 and at most 64,000.
    pub budget: Option<usize>,
    /// Paths or globs (`src/**/*.rs`) of files that the map must include. Files related to them are ranked
    /// first.
    #[serde(default)]
    pub focus: Vec<String>,
    /// Topic of the map, in plain words. Related code is ranked first. Files and symbols named in the text are always
    /// included.
    #[serde(default)]
    pub about: Option<String>,
    /// Order of the files in the map. Defaults to `rank`.
    #[serde(default)]
    pub sort: MapSort,
}

/// Order of the files in a symbol map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MapSort {
    /// Most important file first.
    #[default]
    Rank,
    /// Sorted by path.
    Path,
}

/// A symbol map that fits a token budget.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapReply {
    /// Explanation of the map's notation.
    pub legend: &'static str,
    /// Text of the map, one block per file.
    pub text: String,
    /// Number of tokens in `text`.
    pub tokens: usize,
    /// Token budget that the map was built for.
    pub budget: usize,
    /// Files with a block, in the order of the blocks.
    pub files: Vec<MapFile>,
    /// Number of outlined files that have no block in the map.
    pub left_out: usize,
}

/// A file with a block in the map.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MapFile {
    /// Path of the file, relative to the workspace folder.
    pub path: FileKey,
    /// Rank of the file by importance, counted from 1.
    pub rank: usize,
    /// Level of detail of the file's block.
    pub level: MapLevel,
    /// Number of tokens in the file's block.
    pub tokens: usize,
}

/// The file to outline.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileParams {
    /// Path of the file, relative to the workspace folder.
    pub path: String,
}

/// The outline of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileReply {
    /// Path of the file, relative to the workspace folder.
    pub path: FileKey,
    /// Name of the file's language.
    pub language: &'static str,
    /// Definitions without their bodies, one per line. Each line contains the line range of the definition and its
    /// head, indented by one space per level.
    pub text: String,
    /// Number of tokens in `text`.
    pub tokens: usize,
    /// Lines with syntax errors, such as `3-9, 20`. Definitions in them may be missing. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unparsed: Option<String>,
}

/// The name to find references to.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReferencesParams {
    /// Name to find. May be qualified by types or modules: `total`, `Cart.total`, `shop.Cart.total`.
    pub name: String,
    /// File to search for definitions of the name. Defaults to all files.
    pub path: Option<String>,
    /// Maximum number of references. Defaults to 200.
    #[serde(default = "default_hit_limit")]
    pub limit: usize,
}

fn default_hit_limit() -> usize {
    200
}

/// The references to a name.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReferencesReply {
    /// Name from the request.
    pub name: String,
    /// Definitions of the name, one entry per file, each with the files that refer to it.
    pub definitions: Vec<FileDefinitions>,
    /// References sorted by path and line, including the definitions. If there are more than `limit`, definitions take
    /// precedence, then the most certain references.
    pub hits: Vec<ReferenceLine>,
    /// Number of references found, including those beyond `limit`.
    pub total: usize,
    /// Number of references omitted because they match only by name, and the language itself also defines this name.
    /// Most of them refer to something else.
    pub unlikely: usize,
    /// Whether every line of indexed code that contains the name is listed.
    pub complete: bool,
    /// Number of lines of code that contain the name and are not references: something else has the name, or it could
    /// not be resolved.
    pub other_code_lines: usize,
    /// Number of lines of comments, strings and documents that contain the name.
    pub other_text_lines: usize,
    /// How to narrow the query. Absent if all references are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how_to_narrow: Option<String>,
}

/// The definitions of a name in one file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SymbolDefinition")]
pub struct FileDefinitions {
    /// Path of the file, relative to the workspace folder.
    pub path: FileKey,
    /// Lines that introduce the definitions, such as the signatures of functions.
    pub heads: Vec<Box<str>>,
    /// Line numbers of the definitions, counted from 1.
    pub lines: Vec<usize>,
    /// Other files that refer to these definitions, most likely first.
    pub referrers: Vec<Referrer>,
}

/// A file that refers to a definition.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Referrer {
    /// Path of the file, relative to the workspace folder.
    pub path: FileKey,
    /// Likelihood that the file refers to this definition, from 0 to 1.
    pub likelihood: f64,
}

/// A line that refers to the name.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReferenceHit")]
pub struct ReferenceLine {
    /// Path of the file, relative to the workspace folder.
    pub path: FileKey,
    /// Line number, counted from 1.
    pub line: usize,
    /// Text of the line, without surrounding whitespace.
    pub text: String,
    /// How certain the reference is: resolved through scopes, imports and types, or matched only by name.
    pub confidence: Confidence,
    /// Whether this is a definition of the name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub definition: bool,
}

/// The dependencies of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DependentsReply {
    /// Path of the file, relative to the workspace folder.
    pub path: FileKey,
    /// Number of files that refer to this file. Uncertain references count as less than 1.
    pub incoming: f64,
    /// Files that refer to this file, strongest relation first.
    pub dependents: Vec<FileKey>,
    /// Files that this file refers to, strongest relation first.
    pub dependencies: Vec<FileKey>,
    /// Files that this file imports.
    pub imports: Vec<FileKey>,
    /// Files that this file refers to and that refer back to it.
    pub mutual: Vec<FileKey>,
}

/// A search for symbols by name.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindParams {
    /// Name of a symbol, or some of its letters in order. May be qualified (`Type.method`).
    pub query: String,
    /// Maximum number of symbols. Defaults to 50.
    #[serde(default = "default_limit")]
    pub limit: usize,
}

/// The symbols that match a query.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FindReply {
    /// Matching symbols, closest match first.
    pub symbols: Vec<FoundSymbol>,
    /// Number of files with syntax errors, whose definitions may be missing. Absent if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub incomplete: usize,
    /// The first files with syntax errors, each with the lines that could not be parsed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unparsed: Vec<UnparsedFile>,
}

/// A file with syntax errors.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UnparsedFile {
    /// Path of the file, relative to the workspace folder.
    pub path: FileKey,
    /// Lines that could not be parsed, such as `3-9, 20`.
    pub lines: String,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A symbol that matches the query.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundSymbol {
    /// Name of the symbol.
    pub name: Box<str>,
    /// Kind of the symbol.
    pub kind: SymbolKind,
    /// Path of the file, relative to the workspace folder.
    pub path: FileKey,
    /// URI of the file. Absent if no editor could open it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Line that introduces the definition.
    pub head: Box<str>,
    /// Name of the enclosing definition. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    #[serde(flatten)]
    pub extent: Option<DefinitionLines>,
}

/// The line range of a definition in its file.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DefinitionLines {
    /// First line of the definition, counted from 1.
    pub line: u32,
    /// Last line of the definition, inclusive.
    pub end_line: u32,
}

/// The task to find relevant code for.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RelevantParams {
    /// Description of the task, in plain words.
    pub query: String,
    /// Maximum number of items. Defaults to 20.
    #[serde(default = "default_relevant_item_limit")]
    pub limit: usize,
    /// Minimum score of an item, between 0 and 1. Defaults to 0.
    #[serde(default)]
    pub min_score: f64,
}

/// Default maximum number of relevant items.
pub fn default_relevant_item_limit() -> usize {
    20
}

/// Token limit for the code of all items in one reply, the same as for code that the command line adds to a prompt.
const MAX_RELEVANT_CODE_TOKENS: usize = 8_000;

/// The code that is relevant to a task.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RelevantReply {
    /// Relevant files and definitions, best first.
    pub items: Vec<RelevantItem>,
}

/// A relevant definition, or relevant lines.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RelevantItem {
    /// Path of the file, relative to the workspace folder.
    pub path: FileKey,
    /// Kind of the definition. Absent for lines that are not one definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<SymbolKind>,
    /// Qualified name of the definition. Absent for lines that are not one definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Line that introduces the definition. Absent for lines that are not one definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Box<str>>,
    #[serde(flatten)]
    pub extent: DefinitionLines,
    /// Relevance relative to the best item, whose score is 1.
    pub score: f64,
}

pub struct BuildSymbolMap;

impl Command for BuildSymbolMap {
    const NAME: &str = "strata.symbols.map";
    const SUMMARY: &str = "Builds the symbol map.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Outlines;
    type Args = MapParams;
    type Reply = MapReply;

    fn run(params: MapParams, context: &mut Context<'_>) -> Result<MapReply, CommandError> {
        let snapshot = context.snapshot;
        let mut focus = Vec::new();
        for (at, path) in params.focus.iter().enumerate() {
            focus.extend(expand_focus(snapshot, &format!("focus[{at}]"), path, context.cancel)?);
        }
        let symbols = snapshot.symbols(context.cancel)?;
        let references = &snapshot.index.references;
        let seeds = Seeds { selected: &focus, ..Seeds::default() };
        let about = params.about.as_deref().filter(|about| !about.trim().is_empty());
        let relevance = about.map(|text| {
            FileRelevance::new(snapshot.index.lexical(), references, &RelevanceQuery { text, seeds })
        });
        let words = relevance.as_ref().map(QuestionWords::new);
        let ranking = match &relevance {
            Some(relevance) => rank_files_for_question(relevance, references, &seeds),
            None => references.rank(&seeds),
        };
        let named = about.map(|about| mentioned_files(about, &snapshot.index.files, references));
        let required: Vec<FileKey> = focus.iter().cloned().chain(named.into_iter().flatten()).collect();
        let budget = params.budget.unwrap_or_else(|| snapshot.standalone_map_budget());
        let count = |text: &str| snapshot.count_text_tokens(text, None).1;
        let request = |budget| MapRequest {
            budget,
            kept: &[],
            required: &required,
            ranking: &ranking,
            about: words.as_ref(),
            without: &context.session.selection.excluded,
        };
        let ranks: BTreeMap<&FileKey, usize> =
            ranking.files.iter().enumerate().map(|(at, key)| (key, at + 1)).collect();
        let last = ranking.files.len() + 1;
        let rank = |block: &MapEntry| ranks.get(&block.key).copied().unwrap_or(last);
        let mut blocks_within = budget;
        let (map, text, tokens) = loop {
            let mut map = build_map(&symbols, references, &request(blocks_within), &count);
            if let Some(first) = map.missing.first() {
                let needed = map.required_tokens.max(budget + 1);
                return Err(CommandError::invalid(
                    "budget",
                    &budget_error(budget, needed, first, map.missing.len()),
                ));
            }
            match params.sort {
                MapSort::Rank => map
                    .blocks
                    .sort_by(|one, other| rank(one).cmp(&rank(other)).then_with(|| one.key.cmp(&other.key))),
                MapSort::Path => map.blocks.sort_by(|one, other| one.key.cmp(&other.key)),
            }
            let texts: Vec<&str> = map.blocks.iter().map(|block| &*block.text).collect();
            let text = join_blocks(&texts);
            // The empty lines between blocks count as tokens, too.
            let tokens = count(&text);
            if tokens <= budget {
                break (map, text, tokens);
            }
            blocks_within = blocks_within.saturating_sub(tokens - budget);
        };
        let file = |block: &MapEntry| MapFile {
            path: block.key.clone(),
            rank: rank(block),
            level: block.detail.level,
            tokens: block.tokens,
        };
        let files: Vec<MapFile> = map.blocks.iter().map(file).collect();
        let shown = map.blocks.iter().filter(|block| symbols.get(&block.key).is_some()).count();
        Ok(MapReply {
            legend: LEGEND,
            text,
            tokens,
            budget,
            left_out: symbols.len().saturating_sub(shown),
            files,
        })
    }
}

/// Returns the error message for a budget that is too small for the required files.
fn budget_error(budget: usize, needed: usize, first: &FileKey, missing: usize) -> String {
    let others = if missing == 1 { String::new() } else { format!(" and {} more", missing - 1) };
    format!(
        "a budget of {budget} tokens is too small for `{}`{others}; their names alone take {needed} tokens. Raise the budget or focus \
         on fewer files",
        first.notice()
    )
}

/// Expands a path, a directory or a glob to files. Rejects paths that do not exist, because a misspelled one would
/// silently have no effect.
fn expand_focus(
    snapshot: &Snapshot,
    field: &str,
    path: &str,
    cancel: &Cancel,
) -> Result<Vec<FileKey>, CommandError> {
    if let Some(key) = snapshot.find_document(path) {
        return Ok(vec![key]);
    }
    let expansion =
        expand_pattern(snapshot, path, cancel).map_err(|error| error.into_command_error(field, snapshot))?;
    // A withheld file is included if it was named explicitly, because its name may be shown.
    let withheld = expansion.withheld.into_iter().map(|(key, _)| key);
    let is_single_file = expansion.kind == PatternKind::File;
    Ok(expansion.files.into_iter().chain(withheld.filter(|_| is_single_file)).collect())
}

/// Joins blocks, with an empty line before and after each block of several lines.
fn join_blocks(texts: &[&str]) -> String {
    let mut joined = String::new();
    let is_long = |text: &str| text.trim_end().contains('\n');
    for (at, text) in texts.iter().enumerate() {
        let previous = at.checked_sub(1).and_then(|previous| texts.get(previous));
        if previous.is_some_and(|previous| is_long(previous) || is_long(text)) {
            joined.push('\n');
        }
        joined.push_str(text);
    }
    joined
}

pub struct OutlineFile;

impl Command for OutlineFile {
    const NAME: &str = "strata.symbols.file";
    const SUMMARY: &str = "Outlines a file, with line numbers.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Files;
    type Args = FileParams;
    type Reply = FileReply;

    fn run(params: FileParams, context: &mut Context<'_>) -> Result<FileReply, CommandError> {
        let snapshot = context.snapshot;
        let (key, file) = read_named_file(&params.path, context)?;
        let file = ParsedFile::parse(snapshot, &key, file.text, context.cancel)?
            .map_err(|reason| no_outline(&key, reason))?;
        let mut text = numbered_outline(&file.places, &file.lines);
        let unparsed = (!file.unparsed.is_empty()).then(|| file.unparsed.to_string());
        if let Some(lines) = &unparsed {
            let _ = writeln!(text, "… unparsed lines {lines}: definitions in them may be missing");
        }
        let tokens = snapshot.count_text_tokens(&text, None).1;
        Ok(FileReply { path: key, language: file.language, text, tokens, unparsed })
    }
}

/// Returns the error of a command that needs the outline of a file without one.
fn no_outline(key: &FileKey, reason: NoOutline) -> CommandError {
    let languages = match reason {
        NoOutline::UnknownLanguage => {
            let languages: Vec<&str> = LanguageId::all().map(|language| language.name).collect();
            format!("; supported languages: {}", languages.join(", "))
        }
        NoOutline::TooLarge { .. } | NoOutline::Unparsed(_) => String::new(),
    };
    CommandError::failed(format!("{} has no outline: {reason}{languages}", key.notice()))
}

/// Resolves a file that the index has an outline of.
///
/// # Errors
/// Returns why there is no outline, since a reply about such a file would be empty.
fn resolve_outlined_file(path: &str, context: &Context<'_>) -> Result<FileKey, CommandError> {
    let snapshot = context.snapshot;
    let key = resolve_listed_file(snapshot, "path", path)?;
    if snapshot.symbols(context.cancel)?.get(&key).is_none() {
        let (key, file) = read_named_file(path, context)?;
        if let Err(reason) = ParsedFile::parse(snapshot, &key, file.text, context.cancel)? {
            return Err(no_outline(&key, reason));
        }
    }
    Ok(key)
}

pub struct FindReferences;

impl Command for FindReferences {
    const NAME: &str = "strata.symbols.references";
    const SUMMARY: &str = "Finds references to a name.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Outlines;
    type Args = ReferencesParams;
    type Reply = ReferencesReply;

    fn run(params: ReferencesParams, context: &mut Context<'_>) -> Result<ReferencesReply, CommandError> {
        let snapshot = context.snapshot;
        let only = params.path.map(|path| resolve_outlined_file(&path, context)).transpose()?;
        let query = ReferenceQuery::new(&params.name, only.as_ref());
        let report = snapshot.references(&query, context.cancel)?;
        let how_to_narrow = narrowing_hint(&report, &query, params.limit);
        let definitions = group_definitions(&report);
        let total = report.hits.len();
        let mut hits = report.hits;
        if total > params.limit {
            hits.sort_by_key(|hit| (!hit.is_definition, Reverse(hit.confidence)));
            hits.truncate(params.limit);
            hits.sort_by(|a, b| a.file.cmp(&b.file).then_with(|| a.range.start.cmp(&b.range.start)));
        }
        let hits = hits.into_iter().map(|hit| ReferenceLine {
            text: snapshot.screen.redact_text(&hit.text).into_owned(),
            path: hit.file,
            line: hit.line,
            confidence: hit.confidence,
            definition: hit.is_definition,
        });
        Ok(ReferencesReply {
            definitions,
            hits: hits.collect(),
            total,
            unlikely: report.unlikely,
            complete: report.other_lines.code == 0 && report.unsearched == 0 && total <= params.limit,
            other_code_lines: report.other_lines.code,
            other_text_lines: report.other_lines.text,
            how_to_narrow,
            name: params.name,
        })
    }
}

/// Groups the definitions in a report by file, with the files that refer to them.
fn group_definitions(report: &ReferenceReport) -> Vec<FileDefinitions> {
    let mut files: BTreeMap<&FileKey, FileDefinitions> = BTreeMap::new();
    for symbol in &report.definitions {
        let definition = files.entry(&symbol.file).or_insert_with(|| FileDefinitions {
            path: symbol.file.clone(),
            heads: Vec::new(),
            lines: Vec::new(),
            referrers: Vec::new(),
        });
        definition.heads.push(symbol.head.clone());
        definition.lines.push(symbol.line);
    }
    let unresolved_likelihood = 1.0 / files.len().max(1) as f64;
    for (file, definition) in &mut files {
        let mut referrers: BTreeMap<&FileKey, f64> = BTreeMap::new();
        for hit in report.hits.iter().filter(|hit| hit.file != **file) {
            let is_in_file =
                |at: &usize| report.definitions.get(*at).is_some_and(|symbol| symbol.file == **file);
            let likelihood = match hit.definition_indices.as_slice() {
                [] => unresolved_likelihood,
                targets if targets.iter().any(is_in_file) => 1.0 / targets.len() as f64,
                _ => continue,
            };
            let highest = referrers.entry(&hit.file).or_default();
            *highest = highest.max(likelihood);
        }
        let referrers = referrers.into_iter();
        definition.referrers =
            referrers.map(|(path, likelihood)| Referrer { path: path.clone(), likelihood }).collect();
        definition.referrers.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
    }
    files.into_values().collect()
}

/// Explains how to narrow a query if some references are not listed. Returns `None` if all are.
fn narrowing_hint(report: &ReferenceReport, query: &ReferenceQuery<'_>, limit: usize) -> Option<String> {
    let mut parts = Vec::new();
    if report.definitions.is_empty() {
        parts.push(match report.hits.is_empty() {
            true => format!("no definition with the name `{}` was found", query.name),
            false => format!(
                "no definition with the name `{}` was found in the workspace, so all lines of code that mention it are listed",
                query.name
            ),
        });
    }
    if report.unsearched > 0 {
        parts.push(format!(
            "{} files were not searched, because they cannot be read, or because the files searched before them \
             reached the size limit; search for the name as text",
            report.unsearched
        ));
    }
    let unlisted = report.hits.len().saturating_sub(limit);
    if unlisted > 0 {
        parts.push(format!("{unlisted} more references are not listed; raise `limit` to see them"));
    }
    if report.unlikely > 0 {
        parts.push(format!(
            "{} possible references to `{}` are not listed, because their types are unknown and the language defines this name \
             too; search for the name as text to find them",
            report.unlikely, query.name
        ));
    }
    let guesses = report.hits.iter().filter(|hit| hit.confidence == Confidence::Guess).count();
    if report.definitions.len() > 1 && (unlisted > 0 || guesses > 0) {
        let examples = report.definitions.iter().filter_map(|definition| definition.container.last());
        let example = examples.map(|container| format!("`{container}.{}`", query.name)).next();
        let example = example.map_or(String::new(), |example| format!(" (such as {example})"));
        parts.push(format!(
            "{} definitions have this name: qualify it with its type{example}, or pass its `path`",
            report.definitions.len()
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

pub struct ReportDependencies;

impl Command for ReportDependencies {
    const NAME: &str = "strata.symbols.dependents";
    const SUMMARY: &str = "Reports a file's dependencies and dependents.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Outlines;
    type Args = FileParams;
    type Reply = DependentsReply;

    fn run(params: FileParams, context: &mut Context<'_>) -> Result<DependentsReply, CommandError> {
        let snapshot = context.snapshot;
        let key = resolve_outlined_file(&params.path, context)?;
        let references = &snapshot.index.references;
        let owned = |keys: Vec<&FileKey>| keys.into_iter().cloned().collect::<Vec<FileKey>>();
        let dependents = owned(references.dependents(&key));
        let dependencies = owned(references.dependencies(&key));
        let dependency_set: BTreeSet<&FileKey> = dependencies.iter().collect();
        let mutual = dependents.iter().filter(|key| dependency_set.contains(key)).cloned().collect();
        let imports = owned(references.imports(&key));
        Ok(DependentsReply {
            incoming: references.referrer_weight(&key),
            path: key,
            dependents,
            dependencies,
            imports,
            mutual,
        })
    }
}

pub struct FindSymbols;

impl Command for FindSymbols {
    const NAME: &str = "strata.symbols.find";
    const SUMMARY: &str = "Finds definitions whose names contain the given letters in order.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Outlines;
    type Args = FindParams;
    type Reply = FindReply;

    fn run(params: FindParams, context: &mut Context<'_>) -> Result<FindReply, CommandError> {
        let symbols = context.snapshot.symbols(context.cancel)?;
        let matches = symbols::find_symbols(&symbols, &params.query, params.limit, context.cancel)?;
        let mut pages = ParsedFiles::default();
        let mut listed = Vec::new();
        for found in matches {
            let file = pages.open(found.file, context)?;
            // The file may have changed since it was outlined.
            let place = file.and_then(|file| {
                let place = file
                    .places
                    .get(found.symbol_index)
                    .filter(|place| place.symbol.name == found.symbol.name);
                Some(lines_of(file, place?))
            });
            listed.push(FoundSymbol {
                name: found.symbol.name.clone(),
                kind: found.symbol.kind,
                path: found.file.clone(),
                uri: context.snapshot.editor_uri(found.file),
                head: found.symbol.head.clone(),
                container: found.container.map(str::to_owned),
                extent: place,
            });
        }
        let broken = || symbols.iter().filter(|(_, file)| !file.outline.unparsed_lines.is_empty());
        let unparsed = broken().take(MAX_LISTED_UNPARSED).map(|(key, file)| UnparsedFile {
            path: key.clone(),
            lines: file.outline.unparsed_lines.to_string(),
        });
        Ok(FindReply { symbols: listed, incomplete: broken().count(), unparsed: unparsed.collect() })
    }
}

/// Files needed for one reply, each parsed once.
#[derive(Default)]
struct ParsedFiles {
    files: BTreeMap<FileKey, Option<ParsedFile>>,
    /// Size of the files parsed, in bytes.
    bytes: u64,
}

/// Maximum size of the files that are parsed for the lines of definitions in one reply, in bytes.
const MAX_PARSED_BYTES: u64 = 32 << 20;

impl ParsedFiles {
    fn open(&mut self, key: &FileKey, context: &Context<'_>) -> Result<Option<&ParsedFile>, CommandError> {
        if !self.files.contains_key(key) {
            if self.bytes > MAX_PARSED_BYTES {
                return Ok(None);
            }
            let file = ParsedFile::open(context.snapshot, key, &context.session.selection, context.cancel)?;
            self.bytes += file.as_ref().map_or(0, |file| file.text.len() as u64);
            self.files.insert(key.clone(), file);
        }
        Ok(self.files.get(key).and_then(Option::as_ref))
    }
}

fn lines_of(file: &ParsedFile, place: &LocatedSymbol) -> DefinitionLines {
    let (line, end_line) = file.definition_lines(place);
    DefinitionLines { line, end_line }
}

/// A relevant definition, or relevant lines outside of definitions.
struct RankedCode {
    file: FileKey,
    /// Name and ordinal of the definition.
    definition: Option<(String, u32)>,
    extent: DefinitionLines,
    score: f64,
}

impl RankedCode {
    /// Returns each definition of an excerpt, or the excerpt itself if it contains none.
    fn from_excerpt(excerpt: Excerpt) -> Vec<Self> {
        let extent = DefinitionLines { line: excerpt.lines.start + 1, end_line: excerpt.lines.end };
        if excerpt.definitions.is_empty() {
            return vec![Self { file: excerpt.file, definition: None, extent, score: excerpt.score }];
        }
        let file = excerpt.file;
        let code = |shown: ShownDefinition| Self {
            file: file.clone(),
            definition: Some((shown.name, shown.ordinal)),
            extent,
            score: shown.score,
        };
        excerpt.definitions.into_iter().map(code).collect()
    }
}

pub struct FindRelevantCode;

impl Command for FindRelevantCode {
    const NAME: &str = "strata.symbols.relevant";
    const SUMMARY: &str = "Finds the code that is relevant to a task, ranked as for prompts.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Outlines;
    type Args = RelevantParams;
    type Reply = RelevantReply;

    fn run(params: RelevantParams, context: &mut Context<'_>) -> Result<RelevantReply, CommandError> {
        let excerpts = context.snapshot.relevant_excerpts(
            context.session,
            &params.query,
            MAX_RELEVANT_CODE_TOKENS,
            context.cancel,
        )?;
        let mut ranked: Vec<RankedCode> = excerpts.into_iter().flat_map(RankedCode::from_excerpt).collect();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        let best = ranked.first().map_or(1.0, |code| code.score.max(f64::MIN_POSITIVE));
        ranked.retain(|code| code.score / best >= params.min_score);
        let mut pages = ParsedFiles::default();
        let mut listed = Vec::new();
        for code in ranked.into_iter().take(params.limit) {
            let mut definition = None;
            if let Some((name, ordinal)) = &code.definition
                && let Some(file) = pages.open(&code.file, context)?
            {
                let candidates = outline::find_definitions(&file.places, name);
                let place = usize::try_from(*ordinal).ok().and_then(|at| candidates.get(at).copied());
                definition =
                    place.map(|place| (place.symbol.kind, place.symbol.head.clone(), lines_of(file, place)));
            }
            listed.push(RelevantItem {
                path: code.file,
                kind: definition.as_ref().map(|(kind, ..)| *kind),
                head: definition.as_ref().map(|(_, head, _)| head.clone()),
                extent: definition.map_or(code.extent, |(.., lines)| lines),
                name: code.definition.map(|(name, _)| name),
                score: (code.score / best * 1_000.0).round() / 1_000.0,
            });
        }
        Ok(RelevantReply { items: listed })
    }
}
