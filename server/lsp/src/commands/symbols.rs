//! `symbols.*`: the map of the repository as data.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use strata_engine::key::FileKey;
use strata_engine::outline::LEGEND;
use strata_engine::symbols::{MapRequest, Seeds, map_within};

use super::{CommandError, Context};
use crate::snapshot::Snapshot;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MapParams {
    /// What the blocks may weigh together, in tokens; the setting's when absent.
    budget: Option<usize>,
    /// Files whose neighbourhood comes first.
    #[serde(default)]
    focus: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MapReply {
    legend: &'static str,
    text: String,
    tokens: usize,
    budget: usize,
    files: Vec<MapFile>,
    /// Files with an outline that the budget does not hold.
    left_out: usize,
}

#[derive(Debug, Serialize)]
struct MapFile {
    path: FileKey,
    tokens: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileParams {
    path: String,
}

#[derive(Debug, Serialize)]
pub(super) struct FileReply {
    path: FileKey,
    language: &'static str,
    text: String,
    tokens: usize,
}

pub(super) fn map(params: MapParams, context: &mut Context<'_>) -> Result<MapReply, CommandError> {
    let snapshot = context.snapshot;
    let focus: Result<Vec<FileKey>, CommandError> =
        params.focus.iter().enumerate().map(|(at, path)| focus(snapshot, at, path)).collect();
    let focus = focus?;
    let symbols = snapshot.symbols(context.cancel)?;
    let seeds = Seeds { selected: &focus, ..Seeds::default() };
    let ranking = snapshot.index.references.rank(&seeds);
    let budget = params.budget.unwrap_or_else(|| snapshot.map_budget());
    let count = |text: &str| snapshot.count(text, None).1;
    let nothing = BTreeSet::new();
    let request = MapRequest { budget, kept: &[], ranked: ranking.files(), without: &nothing };
    let mut map = map_within(&symbols, &request, &count);
    map.blocks.sort_by(|one, other| one.key.cmp(&other.key));
    let files: Vec<MapFile> =
        map.blocks.iter().map(|block| MapFile { path: block.key.clone(), tokens: block.tokens }).collect();
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

/// A file that the map is to be about. A misspelt one would silently change nothing.
fn focus(snapshot: &Snapshot, at: usize, path: &str) -> Result<FileKey, CommandError> {
    let invalid = |message: &str| CommandError::invalid(&format!("focus[{at}]"), message);
    let key = snapshot.resolve(path).map_err(|error| invalid(&error.to_string()))?;
    if snapshot.is_file(key.as_str()) || snapshot.buffers.contains_key(&key) {
        Ok(key)
    } else {
        Err(invalid(&format!("`{key}` is none of the workspace's files")))
    }
}

pub(super) fn file(params: FileParams, context: &mut Context<'_>) -> Result<FileReply, CommandError> {
    let snapshot = context.snapshot;
    let key =
        snapshot.resolve(&params.path).map_err(|error| CommandError::invalid("path", &error.to_string()))?;
    let symbols = snapshot.symbols(context.cancel)?;
    let Some(file) = symbols.get(&key) else {
        let languages = strata_engine::outline::languages().join(", ");
        return Err(CommandError::failed(format!(
            "{key} has no outline; there are outlines for {languages}"
        )));
    };
    let text = file.block.text.to_string();
    let tokens = snapshot.count(&text, None).1;
    Ok(FileReply { path: key, language: file.language.name(), text, tokens })
}
