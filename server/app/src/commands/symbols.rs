//! `symbols.*`: the map of the repository as data.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::code::outline::{LEGEND, SymbolKind};
use strata_engine::code::symbols::{self, MapRequest, Seeds, SymbolIndex, map_within};
use strata_engine::key::FileKey;

use super::{Access, Command, CommandError, Context, default_limit};
use crate::snapshot::Snapshot;

/// How large the map is to be, and what it is about.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MapParams {
    /// What the blocks may weigh together, in tokens; the setting's when absent.
    budget: Option<usize>,
    /// Files whose neighbourhood comes first.
    #[serde(default)]
    focus: Vec<String>,
}

/// The symbol map.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MapReply {
    /// What its signs mean.
    legend: &'static str,
    /// All blocks.
    text: String,
    /// What they weigh together.
    tokens: usize,
    /// What they might weigh.
    budget: usize,
    /// The files with a block.
    files: Vec<MapFile>,
    /// Files with an outline that the budget does not hold.
    left_out: usize,
}

/// A file with a block.
#[derive(Debug, Serialize, JsonSchema)]
struct MapFile {
    /// Which.
    path: FileKey,
    /// What its block weighs.
    tokens: usize,
}

/// A file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FileParams {
    /// By its path below the workspace folder.
    path: String,
}

/// The outline of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FileReply {
    /// Which.
    path: FileKey,
    /// What it is written in.
    language: &'static str,
    /// Its map block.
    text: String,
    /// What that weighs.
    tokens: usize,
}

/// A name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReferencesParams {
    /// A name as it is defined.
    name: String,
    /// Only its definitions in this file; everybody's when absent.
    path: Option<String>,
}

/// Who mentions the name.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReferencesReply {
    /// The name.
    name: String,
    /// Where it is defined, each with who means it.
    definitions: Vec<Definition>,
}

/// A file that defines a name.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SymbolDefinition")]
struct Definition {
    /// Which.
    path: FileKey,
    /// The heads of what has the name there.
    heads: Vec<Box<str>>,
    /// Who mentions it and means this definition, likeliest first.
    referrers: Vec<Referrer>,
}

/// A file that mentions a name.
#[derive(Debug, Serialize, JsonSchema)]
struct Referrer {
    /// Which.
    path: FileKey,
    /// At most 1.
    likelihood: f64,
}

/// What a file has to do with others.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DependentsReply {
    /// Which.
    path: FileKey,
    /// How many files refer to it; those that may mean another count for less.
    incoming: f64,
    /// The files that refer to it, strongest first.
    dependents: Vec<FileKey>,
    /// The files that it refers to, strongest first.
    dependencies: Vec<FileKey>,
    /// The files that its imports mean.
    imports: Vec<FileKey>,
    /// The files that refer to it and that it refers to.
    mutual: Vec<FileKey>,
}

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindParams {
    /// Letters of a name, in order.
    query: String,
    /// How many at most.
    #[serde(default = "default_limit")]
    limit: usize,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FindReply {
    /// The closest first.
    symbols: Vec<FoundSymbol>,
}

/// A definition.
#[derive(Debug, Serialize, JsonSchema)]
struct FoundSymbol {
    /// Its name.
    name: Box<str>,
    /// What it is.
    kind: SymbolKind,
    /// The file that has it.
    path: FileKey,
    /// Where an editor finds that.
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    /// The line that introduces it.
    head: Box<str>,
    /// What it stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<String>,
}

/// What a text is about.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RelevantParams {
    /// What is to be done, in any words.
    query: String,
    /// So many items at most; the setting's when absent.
    limit: Option<usize>,
    /// Items that score less are left out; the setting's when absent.
    min_score: Option<f64>,
}

/// What the text is about.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RelevantReply {
    /// The best first.
    items: Vec<RelevantItem>,
}

/// A file or a definition.
#[derive(Debug, Serialize, JsonSchema)]
struct RelevantItem {
    /// The file.
    path: FileKey,
    /// What it is; absent for a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<SymbolKind>,
    /// Its name; absent for a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// How good it is; the best has 1.
    score: f64,
}

pub(super) struct Map;

impl Command for Map {
    const NAME: &str = "strata.symbols.map";
    const SUMMARY: &str = "Makes the symbol map.";
    const ACCESS: Access = Access::Reads;
    const NEEDS_INDEX: bool = true;
    type Args = MapParams;
    type Reply = MapReply;

    fn run(params: MapParams, context: &mut Context<'_>) -> Result<MapReply, CommandError> {
        let snapshot = context.snapshot;
        let focus: Result<Vec<FileKey>, CommandError> = params
            .focus
            .iter()
            .enumerate()
            .map(|(at, path)| known(snapshot, &format!("focus[{at}]"), path))
            .collect();
        let focus = focus?;
        let symbols = snapshot.symbols(context.cancel)?;
        let seeds = Seeds { selected: &focus, ..Seeds::default() };
        let ranking = snapshot.index.references.rank(&seeds);
        let budget = params.budget.unwrap_or_else(|| snapshot.map_budget());
        let count = |text: &str| snapshot.count(text, None).1;
        let nothing = BTreeSet::new();
        let ranked: Vec<FileKey> = focus.iter().chain(ranking.files()).cloned().collect();
        let request = MapRequest { budget, kept: &[], ranked: &ranked, without: &nothing };
        let mut map = map_within(&symbols, &request, &count);
        map.blocks.sort_by(|one, other| one.key.cmp(&other.key));
        let files: Vec<MapFile> = map
            .blocks
            .iter()
            .map(|block| MapFile { path: block.key.clone(), tokens: block.tokens })
            .collect();
        let texts: Vec<&str> = map.blocks.iter().map(|block| &*block.text).collect();
        Ok(MapReply {
            legend: LEGEND,
            text: texts.join("\n"),
            tokens: map.total,
            budget,
            left_out: symbols.len().saturating_sub(files.len()),
            files,
        })
    }
}

/// A file of the workspace. A misspelt one would silently change nothing.
fn known(snapshot: &Snapshot, field: &str, path: &str) -> Result<FileKey, CommandError> {
    let invalid = |message: &str| CommandError::invalid(field, message);
    let key = snapshot.resolve(path).map_err(|error| invalid(&error.to_string()))?;
    if snapshot.is_file(key.as_str()) || snapshot.buffers.contains_key(&key) {
        Ok(key)
    } else {
        Err(invalid(&format!("`{key}` is none of the workspace's files")))
    }
}

pub(super) struct File;

impl Command for File {
    const NAME: &str = "strata.symbols.file";
    const SUMMARY: &str = "Outlines one file.";
    const ACCESS: Access = Access::Reads;
    const NEEDS_INDEX: bool = true;
    type Args = FileParams;
    type Reply = FileReply;

    fn run(params: FileParams, context: &mut Context<'_>) -> Result<FileReply, CommandError> {
        let snapshot = context.snapshot;
        let key = context.file("path", &params.path)?;
        let symbols = snapshot.symbols(context.cancel)?;
        let Some(file) = symbols.get(&key) else {
            let languages = strata_engine::code::outline::languages().join(", ");
            return Err(CommandError::failed(format!(
                "{key} has no outline; there are outlines for {languages}"
            )));
        };
        let text = file.block.text.to_string();
        let tokens = snapshot.count(&text, None).1;
        Ok(FileReply { path: key, language: file.language.name(), text, tokens })
    }
}

pub(super) struct References;

impl Command for References {
    const NAME: &str = "strata.symbols.references";
    const SUMMARY: &str = "Says who mentions a name.";
    const ACCESS: Access = Access::Reads;
    const NEEDS_INDEX: bool = true;
    type Args = ReferencesParams;
    type Reply = ReferencesReply;

    fn run(params: ReferencesParams, context: &mut Context<'_>) -> Result<ReferencesReply, CommandError> {
        let snapshot = context.snapshot;
        let only = params.path.map(|path| known(snapshot, "path", &path)).transpose()?;
        let symbols = snapshot.symbols(context.cancel)?;
        let found = snapshot.index.references.references_to(&params.name).into_iter();
        let wanted = found.filter(|found| only.as_ref().is_none_or(|only| *only == found.definer));
        let definitions = wanted.map(|found| Definition {
            heads: heads(&symbols, &found.definer, &params.name),
            path: found.definer,
            referrers: referrers(found.referrers),
        });
        Ok(ReferencesReply { definitions: definitions.collect(), name: params.name })
    }
}

fn heads(symbols: &SymbolIndex, key: &FileKey, name: &str) -> Vec<Box<str>> {
    let all = symbols.get(key).into_iter().flat_map(|file| file.outline.visible());
    all.filter(|symbol| *symbol.name == *name).map(|symbol| symbol.head.clone()).collect()
}

fn referrers(referrers: Vec<(FileKey, f64)>) -> Vec<Referrer> {
    referrers.into_iter().map(|(path, likelihood)| Referrer { path, likelihood }).collect()
}

pub(super) struct Dependents;

impl Command for Dependents {
    const NAME: &str = "strata.symbols.dependents";
    const SUMMARY: &str = "Says which files a file depends on, and which depend on it.";
    const ACCESS: Access = Access::Reads;
    const NEEDS_INDEX: bool = true;
    type Args = FileParams;
    type Reply = DependentsReply;

    fn run(params: FileParams, context: &mut Context<'_>) -> Result<DependentsReply, CommandError> {
        let snapshot = context.snapshot;
        let key = known(snapshot, "path", &params.path)?;
        let references = &snapshot.index.references;
        let owned = |keys: Vec<&FileKey>| keys.into_iter().cloned().collect::<Vec<FileKey>>();
        let dependents = owned(references.dependents(&key));
        let dependencies = owned(references.dependencies(&key));
        let both: BTreeSet<&FileKey> = dependencies.iter().collect();
        let mutual = dependents.iter().filter(|key| both.contains(key)).cloned().collect();
        let imports = owned(references.imports(&key));
        Ok(DependentsReply {
            incoming: references.incoming(&key),
            path: key,
            dependents,
            dependencies,
            imports,
            mutual,
        })
    }
}

pub(super) struct Find;

impl Command for Find {
    const NAME: &str = "strata.symbols.find";
    const SUMMARY: &str = "Finds definitions by letters of their names.";
    const ACCESS: Access = Access::Reads;
    const NEEDS_INDEX: bool = true;
    type Args = FindParams;
    type Reply = FindReply;

    fn run(params: FindParams, context: &mut Context<'_>) -> Result<FindReply, CommandError> {
        let symbols = context.snapshot.symbols(context.cancel)?;
        let found = symbols::find(&symbols, &params.query, params.limit, context.cancel)?;
        let found = found.into_iter().map(|found| FoundSymbol {
            name: found.symbol.name.clone(),
            kind: found.symbol.kind,
            path: found.file.clone(),
            uri: context.snapshot.address(found.file),
            head: found.symbol.head.clone(),
            container: found.container.map(str::to_owned),
        });
        Ok(FindReply { symbols: found.collect() })
    }
}

pub(super) struct Relevant;

impl Command for Relevant {
    const NAME: &str = "strata.symbols.relevant";
    const SUMMARY: &str = "Names the files and definitions that a text is about.";
    const ACCESS: Access = Access::Reads;
    const NEEDS_INDEX: bool = true;
    type Args = RelevantParams;
    type Reply = RelevantReply;

    fn run(params: RelevantParams, context: &mut Context<'_>) -> Result<RelevantReply, CommandError> {
        let mut settings = context.snapshot.settings.context_frame;
        if let Some(limit) = params.limit {
            (settings.top_k, settings.max_items) = (limit, limit);
        }
        settings.min_score = params.min_score.unwrap_or(settings.min_score);
        let Context { snapshot, session, cancel, .. } = context;
        let items = snapshot.relevant(session, &params.query, &settings, cancel)?;
        let items = items.into_iter().map(|item| RelevantItem {
            path: item.file,
            kind: item.kind,
            name: item.name,
            score: (item.score * 1_000.0).round() / 1_000.0,
        });
        Ok(RelevantReply { items: items.collect() })
    }
}
