//! `files.*`: selects, excludes, adds and finds files of a session.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::key::FileKey;
use strata_base::text::{LineStarts, without_byte_order_mark};
use strata_code::symbols;
use strata_conversation::selection::{Choice, Extent, LineRange, Selection};
use strata_host::disk::{ReadError, check_text};
use strata_host::path_patterns::PatternKind;
use strata_host::secrets::secret_rule_by_name;
use strata_host::walk::NameOnlyReason;
use strata_prompt::assembly::Source;
use strata_prompt::layout::{ItemKey, Tier};

use super::expansion::{ExpansionError, expand_pattern};
use super::read::lines_of_definition;
use super::{Access, Command, CommandError, Context, Empty, IndexNeed, NoArguments, default_limit};
use crate::model::path_reference::{FilePart, PathReference};

/// Files that a command applies to.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FilePathsParams {
    /// Files, directories, globs, or parts of a file (`src/lib.rs#L10-40`). Only commands that select files accept parts.
    pub paths: Vec<String>,
    /// Files to select although their names suggest secrets. Their content is not redacted. Defaults to none.
    #[serde(default)]
    pub confirm_secrets: Vec<String>,
}

/// A single file.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnePath {
    /// Path of the file, relative to the workspace folder.
    pub path: String,
}

/// A path, and the content that prompts show for it.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathAndContent {
    /// Path to show the content under. The file need not exist on disk.
    pub path: String,
    /// Text to show in prompts, at most `files.max_bytes` bytes. Must not be binary.
    pub content: String,
}

/// Files or directories that have been renamed.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Renames {
    /// Renames to apply. If several match a file, the first one applies.
    pub files: Vec<Rename>,
}

/// A renamed file or directory.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rename {
    /// Path before the rename, relative to the workspace folder.
    pub from: String,
    /// Path after the rename, relative to the workspace folder.
    pub to: String,
}

/// The result of applying renames to the selection.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RenameReply {
    /// Whether the session referred to a renamed file and was updated.
    pub changed: bool,
}

/// The effect of a command on the selection.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SelectionChange {
    /// Files that the command applied to, sorted by path.
    pub changed: Vec<FileKey>,
    /// Files in a directory or matched by a glob that were not selected, because they must be confirmed or named
    /// explicitly.
    pub withheld: Vec<WithheldFile>,
    /// What differs from the request, as sentences: lines that a file does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A file that was not selected, and why.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WithheldFile {
    /// Path of the file, relative to the workspace folder.
    pub path: FileKey,
    /// Why the file was not selected, as a clause.
    pub reason: String,
}

/// The files that a session selects or excludes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SelectionListing {
    /// Selected and excluded files, sorted by path.
    pub files: Vec<ListedFile>,
}

/// A file that the session selects or excludes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedFile {
    /// Path of the file, relative to the workspace folder.
    pub path: FileKey,
    /// URI of the file. Absent if no editor could open it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Whether the file is selected, deselected or excluded in this session.
    pub state: Choice,
    /// Selected line ranges. Absent if the whole file is selected or excluded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<LineRange>>,
    /// Cache tier of the file in the last recorded turn. Absent if the file is excluded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Number of tokens in the selected text. Absent if the file is excluded or cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<usize>,
    #[serde(flatten)]
    pub source: Option<Source>,
    /// Why the selected file cannot be read. Absent if it can be read, or if it is excluded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A search for workspace files by their paths.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindFilesParams {
    /// Letters of a path, in order. Defaults to an empty string, which matches every path.
    #[serde(default)]
    pub query: String,
    /// Maximum number of files. Defaults to 50.
    #[serde(default = "default_limit")]
    pub limit: usize,
}

/// The files that match a query.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FindReply {
    /// Matching files, closest match first. Sorted by path if the query is empty.
    pub files: Vec<FoundFile>,
}

/// A workspace file, and its state in the session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundFile {
    /// Path of the file, relative to the workspace folder.
    pub path: FileKey,
    /// URI of the file. Absent if no editor could open it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Whether the file is selected, deselected or excluded in this session.
    pub state: Choice,
}

/// Whether a file is selected.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HasReply {
    /// Whether the file, or a range of its lines, is selected.
    pub has: bool,
}

/// Files that were read outside of Strata.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkReadParams {
    /// Paths of the files, relative to the workspace folder.
    pub paths: Vec<String>,
}

/// The files that the session has read.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarkReadReply {
    /// Paths of the files, most recently read last.
    pub files_read: Vec<String>,
}

pub struct SelectFiles;

impl Command for SelectFiles {
    const NAME: &str = "strata.files.select";
    const SUMMARY: &str = "Selects files, so that prompts contain them in full.";
    const INDEX: IndexNeed = IndexNeed::Files;
    type Args = FilePathsParams;
    type Reply = SelectionChange;

    fn run(params: FilePathsParams, context: &mut Context<'_>) -> Result<SelectionChange, CommandError> {
        let mut selection = context.session.selection.clone();
        let changed = select_into(&mut selection, &params, context)?;
        set_selection(selection, context);
        Ok(changed)
    }
}

pub struct ReplaceSelection;

impl Command for ReplaceSelection {
    const NAME: &str = "strata.files.set";
    const SUMMARY: &str = "Replaces the selection.";
    const INDEX: IndexNeed = IndexNeed::Files;
    type Args = FilePathsParams;
    type Reply = SelectionChange;

    fn run(params: FilePathsParams, context: &mut Context<'_>) -> Result<SelectionChange, CommandError> {
        let mut selection = context.session.selection.clone();
        selection.deselect_all();
        let changed = select_into(&mut selection, &params, context)?;
        set_selection(selection, context);
        Ok(changed)
    }
}

pub struct MarkFilesRead;

impl Command for MarkFilesRead {
    const NAME: &str = "strata.files.markRead";
    const SUMMARY: &str = "Records files that were read outside of Strata.";
    type Args = MarkReadParams;
    type Reply = MarkReadReply;

    fn run(params: MarkReadParams, context: &mut Context<'_>) -> Result<MarkReadReply, CommandError> {
        for (at, path) in params.paths.iter().enumerate() {
            let key = context.resolve_file(&format!("paths[{at}]"), path)?;
            let history = context.session.history.clone();
            context.session.trail.mark_read(key.as_str(), &history);
        }
        context.session.mark_changed();
        let tools = &context.snapshot.settings.tools;
        Ok(MarkReadReply { files_read: context.session.trail.files_read(&context.session.history, tools) })
    }
}

pub struct DeselectFiles;

impl Command for DeselectFiles {
    const NAME: &str = "strata.files.deselect";
    const SUMMARY: &str = "Deselects files, so that prompts contain their outlines instead of their text.";
    const INDEX: IndexNeed = IndexNeed::Files;
    type Args = FilePathsParams;
    type Reply = SelectionChange;

    fn run(params: FilePathsParams, context: &mut Context<'_>) -> Result<SelectionChange, CommandError> {
        change_matching_files(
            &params,
            context,
            |selection| selection.selected.keys().cloned().collect(),
            |selection, key| {
                selection.deselect(key);
            },
        )
    }
}

pub struct IncludeFiles;

impl Command for IncludeFiles {
    const NAME: &str = "strata.files.include";
    const SUMMARY: &str = "Makes excluded files visible to models again.";
    const INDEX: IndexNeed = IndexNeed::Files;
    type Args = FilePathsParams;
    type Reply = SelectionChange;

    fn run(params: FilePathsParams, context: &mut Context<'_>) -> Result<SelectionChange, CommandError> {
        change_matching_files(
            &params,
            context,
            |selection| selection.excluded.iter().cloned().collect(),
            Selection::remove_exclusion,
        )
    }
}

pub struct ExcludeFiles;

impl Command for ExcludeFiles {
    const NAME: &str = "strata.files.exclude";
    const SUMMARY: &str = "Excludes files from prompts entirely.";
    const INDEX: IndexNeed = IndexNeed::Files;
    type Args = FilePathsParams;
    type Reply = SelectionChange;

    fn run(params: FilePathsParams, context: &mut Context<'_>) -> Result<SelectionChange, CommandError> {
        let mut selection = context.session.selection.clone();
        let mut changed = SelectionChange::default();
        for (at, text) in params.paths.iter().enumerate() {
            let path = whole_file_path(at, text, context)?;
            let expansion = expand(&path, context).map_err(|error| invalid_path(at, error, context))?;
            // Excluding a file needs no confirmation, even if selecting it does.
            let withheld = expansion.withheld.into_iter().map(|(key, _)| key);
            for key in expansion.files.into_iter().chain(withheld) {
                selection.exclude(key.clone());
                changed.changed.push(key);
            }
        }
        set_selection(selection, context);
        Ok(changed.sorted())
    }
}

pub struct AddFileContent;

impl Command for AddFileContent {
    const NAME: &str = "strata.files.add";
    const SUMMARY: &str = "Adds client-provided text under a path. Any file on disk at that path is ignored.";
    type Args = PathAndContent;
    type Reply = SelectionChange;

    fn run(params: PathAndContent, context: &mut Context<'_>) -> Result<SelectionChange, CommandError> {
        let key = context.resolve_file("path", &params.path)?;
        let content = without_byte_order_mark(&params.content);
        check_text(&key, content, context.snapshot.settings.files.max_bytes)
            .map_err(|error| CommandError::invalid("content", &error.to_string()))?;
        let mut selection = context.session.selection.clone();
        selection.select_with_text(key.clone(), content.into());
        set_selection(selection, context);
        Ok(SelectionChange { changed: vec![key], ..SelectionChange::default() })
    }
}

pub struct RenameFiles;

impl Command for RenameFiles {
    const NAME: &str = "strata.files.rename";
    const SUMMARY: &str = "Updates the selection after files are renamed.";
    type Args = Renames;
    type Reply = RenameReply;

    fn run(params: Renames, context: &mut Context<'_>) -> Result<RenameReply, CommandError> {
        let mut renames = Vec::new();
        for (at, Rename { from, to }) in params.files.iter().enumerate() {
            let key = |name: &str, text: &str| context.resolve_file(&format!("files[{at}].{name}"), text);
            renames.push((key("from", from)?, key("to", to)?));
        }
        let moved = |key: &FileKey| {
            renames.iter().find_map(|(from, to)| match key.as_str().strip_prefix(from.as_str())? {
                "" => Some(to.clone()),
                below => below.starts_with('/').then(|| FileKey::new(format!("{}{below}", to.as_str()))),
            })
        };
        Ok(RenameReply { changed: context.session.move_files(moved) })
    }
}

pub struct ClearSelection;

impl Command for ClearSelection {
    const NAME: &str = "strata.files.clear";
    const SUMMARY: &str = "Deselects all files and removes content added by the client. Keeps exclusions.";
    type Args = NoArguments;
    type Reply = Empty;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<Empty, CommandError> {
        let mut selection = context.session.selection.clone();
        selection.deselect_all();
        set_selection(selection, context);
        Ok(Empty {})
    }
}

pub struct CheckIfSelected;

impl Command for CheckIfSelected {
    const NAME: &str = "strata.files.has";
    const SUMMARY: &str = "Reports whether a file is selected.";
    const ACCESS: Access = Access::Reads;
    type Args = OnePath;
    type Reply = HasReply;

    fn run(params: OnePath, context: &mut Context<'_>) -> Result<HasReply, CommandError> {
        let key = context.resolve_file("path", &params.path)?;
        Ok(HasReply { has: context.session.selection.choice(&key) == Choice::Selected })
    }
}

pub struct ListSelection;

impl Command for ListSelection {
    const NAME: &str = "strata.files.list";
    const SUMMARY: &str = "Lists the selected and excluded files.";
    const ACCESS: Access = Access::Reads;
    type Args = NoArguments;
    type Reply = SelectionListing;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<SelectionListing, CommandError> {
        let selection = &context.session.selection;
        let selected = selection.selected.iter().map(|(key, extent)| {
            let item = match extent {
                Extent::Whole => ItemKey::File(key.clone()),
                Extent::Lines(lines) => match lines.first() {
                    Some(first) => ItemKey::Lines(key.clone(), *first),
                    None => ItemKey::File(key.clone()),
                },
            };
            let mut listed = ListedFile {
                path: key.clone(),
                uri: context.snapshot.editor_uri(key),
                state: Choice::Selected,
                lines: match extent {
                    Extent::Whole => None,
                    Extent::Lines(lines) => Some(lines.clone()),
                },
                tier: Some(context.session.tier_of(&item)),
                tokens: None,
                source: None,
                problem: None,
            };
            match context.snapshot.text(key, selection) {
                Ok(file) => {
                    listed.tokens = Some(context.snapshot.count_file_tokens(key, &file, extent));
                    listed.source = Some(file.source);
                }
                Err(error) => listed.problem = Some(error.to_string()),
            }
            listed
        });
        let excluded = selection.excluded.iter().map(|key| ListedFile {
            path: key.clone(),
            uri: context.snapshot.editor_uri(key),
            state: Choice::Excluded,
            lines: None,
            tier: None,
            tokens: None,
            source: None,
            problem: None,
        });
        let mut files: Vec<ListedFile> = selected.chain(excluded).collect();
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(SelectionListing { files })
    }
}

/// Finds workspace files by a fuzzy match on their paths. Skips ignored files.
pub struct FindFiles;

impl Command for FindFiles {
    const NAME: &str = "strata.files.find";
    const SUMMARY: &str = "Finds workspace files whose paths contain the given letters in order.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Files;
    type Args = FindFilesParams;
    type Reply = FindReply;

    fn run(params: FindFilesParams, context: &mut Context<'_>) -> Result<FindReply, CommandError> {
        let Context { snapshot, session, cancel, .. } = context;
        snapshot.index.listed_entries()?;
        let keys = symbols::find_files(&snapshot.index.files, &params.query, params.limit, cancel)?;
        let files = keys.into_iter().map(|key| FoundFile {
            path: key.clone(),
            uri: snapshot.editor_uri(key),
            state: session.selection.choice(key),
        });
        Ok(FindReply { files: files.collect() })
    }
}

impl FilePathsParams {
    /// Creates arguments that name one document, or some of its lines.
    pub(super) fn for_document(key: &FileKey, lines: Option<LineRange>) -> Self {
        let path = match lines {
            Some(lines) => format!("{}#{lines}", key.as_str()),
            None => key.as_str().to_owned(),
        };
        Self { paths: vec![path], confirm_secrets: Vec::new() }
    }
}

impl SelectionChange {
    fn sorted(mut self) -> Self {
        self.changed.sort();
        self.changed.dedup();
        self
    }
}

/// The files that a path or glob matches.
pub(super) struct Expansion {
    pub(super) kind: PatternKind,
    pub(super) files: Vec<FileKey>,
    pub(super) withheld: Vec<(FileKey, NameOnlyReason)>,
}

pub(super) fn expand(text: &str, context: &Context<'_>) -> Result<Expansion, ExpansionError> {
    // Content added by the client may have a path that does not exist on disk.
    if let Some((key, _)) = context.session.selection.selected.get_key_value(text) {
        return Ok(Expansion { kind: PatternKind::File, files: vec![key.clone()], withheld: Vec::new() });
    }
    if let Some(key) = context.snapshot.find_document(text) {
        let (files, withheld) = match secret_rule_by_name(&key) {
            Some(rule) => (Vec::new(), vec![(key, NameOnlyReason::Secret(rule))]),
            None => (vec![key], Vec::new()),
        };
        return Ok(Expansion { kind: PatternKind::File, files, withheld });
    }
    let expansion = expand_pattern(context.snapshot, text, context.cancel)?;
    Ok(Expansion { kind: expansion.kind, files: expansion.files, withheld: expansion.withheld })
}

fn select_into(
    selection: &mut Selection,
    params: &FilePathsParams,
    context: &Context<'_>,
) -> Result<SelectionChange, CommandError> {
    let mut changed = SelectionChange::default();
    // Accept not only the path that Strata reported, but any form that `paths` accepts, such as a URI or a path with
    // lines.
    let resolve = |text: &String| context.snapshot.resolve(text).ok();
    let confirmed_keys: Vec<FileKey> = params.confirm_secrets.iter().filter_map(resolve).collect();
    let confirmed = |key: &FileKey| {
        confirmed_keys.contains(key) || params.confirm_secrets.iter().any(|path| path == key.as_str())
    };
    for (at, text) in params.paths.iter().enumerate() {
        let PathReference { path, part } = parse_reference(text, context);
        let expansion = expand(&path, context).map_err(|error| invalid_path(at, error, context))?;
        let named_itself = expansion.kind == PatternKind::File;
        if let (Some(_), false) = (&part, named_itself) {
            return Err(CommandError::invalid(
                &format!("paths[{at}]"),
                "lines can only be selected in a single file",
            ));
        }
        let (confirmed_files, withheld): (Vec<_>, Vec<_>) =
            expansion.withheld.into_iter().partition(|(key, _)| confirmed(key));
        for key in expansion.files.into_iter().chain(confirmed_files.into_iter().map(|(key, _)| key)) {
            // Reject an unreadable file now, with the reason, rather than when the next prompt is assembled.
            let mut lines = None;
            if named_itself {
                let text_result = if confirmed(&key) {
                    context.snapshot.unscreened_text(&key, selection)
                } else {
                    context.snapshot.text(&key, selection)
                };
                let field = format!("paths[{at}]");
                let file = text_result.map_err(|error| match error {
                    ReadError::Secret { .. } => CommandError::unconfirmed_secret(&field, &error.to_string()),
                    other => CommandError::invalid(&field, &other.to_string()),
                })?;
                lines = match &part {
                    Some(FilePart::Lines(lines)) => Some(*lines),
                    Some(FilePart::Definition(name)) => {
                        Some(lines_of_definition(&key, name, &file, context)?)
                    }
                    None => None,
                };
                if let Some(range) = lines {
                    changed.notes.extend(select_lines(selection, &key, range, &file.text, &field)?);
                }
            }
            if lines.is_none() {
                selection.select(key.clone());
            }
            if confirmed(&key) {
                selection.allow_unredacted(key.clone());
            }
            changed.changed.push(key);
        }
        for (path, reason) in withheld {
            if named_itself {
                let message = format!(
                    "`{}` needs confirmation: {reason}; to select it, name it in confirmSecrets (--confirm-secrets on the command \
                     line)",
                    path.notice()
                );
                return Err(CommandError::unconfirmed_secret(&format!("paths[{at}]"), &message));
            }
            changed.withheld.push(WithheldFile { path, reason: reason.to_string() });
        }
    }
    Ok(changed.sorted())
}

/// Selects lines of a file. Returns a sentence if the file has only some of them.
fn select_lines(
    selection: &mut Selection,
    key: &FileKey,
    range: LineRange,
    text: &str,
    field: &str,
) -> Result<Option<String>, CommandError> {
    let count = LineStarts::new(text).count();
    let existing = LineRange::new(range.first(), range.last().min(count));
    let existing = existing
        .ok_or_else(|| CommandError::invalid(field, &format!("`{}` has {count} lines", key.notice())))?;
    selection.select_lines(key.clone(), existing);
    selection.relocate_lines(key, text);
    Ok((existing != range).then(|| {
        format!("`{}` has {count} lines, so {existing} is selected instead of {range}", key.notice())
    }))
}

/// Applies `change` to the selected or excluded files (`chosen`) that match the paths. The files need not exist on disk
/// any more.
fn change_matching_files(
    params: &FilePathsParams,
    context: &mut Context<'_>,
    chosen: fn(&Selection) -> BTreeSet<FileKey>,
    change: fn(&mut Selection, &FileKey),
) -> Result<SelectionChange, CommandError> {
    let mut selection = context.session.selection.clone();
    let candidates = chosen(&selection);
    let mut changed = SelectionChange::default();
    for (at, text) in params.paths.iter().enumerate() {
        let path = whole_file_path(at, text, context)?;
        let expanded = match candidates.get(&*path) {
            Some(key) => Ok(BTreeSet::from([key.clone()])),
            None => expand(&path, context).map(|expansion| {
                let withheld = expansion.withheld.into_iter().map(|(key, _)| key);
                expansion.files.into_iter().chain(withheld).collect()
            }),
        };
        let matching = expanded.as_ref().ok();
        let folder = format!("{}/", path.trim_end_matches('/'));
        let count_before = changed.changed.len();
        for key in &candidates {
            if matching.is_some_and(|matching: &BTreeSet<FileKey>| matching.contains(key))
                || key.as_str().starts_with(&folder)
            {
                change(&mut selection, key);
                changed.changed.push(key.clone());
            }
        }
        if let (Err(error), true) = (expanded, changed.changed.len() == count_before) {
            return Err(invalid_path(at, error, context));
        }
    }
    set_selection(selection, context);
    Ok(changed.sorted())
}

fn set_selection(selection: Selection, context: &mut Context<'_>) {
    if context.session.selection != selection {
        context.session.selection = selection;
        context.session.mark_changed();
    }
}

/// Returns the path that `paths[at]` names, which must not be a part of a file.
fn whole_file_path(at: usize, text: &str, context: &Context<'_>) -> Result<String, CommandError> {
    let PathReference { path, part } = parse_reference(text, context);
    match part {
        None => Ok(path),
        Some(_) => {
            let message = format!("only whole files can be deselected, excluded or included; pass `{path}`");
            Err(CommandError::invalid(&format!("paths[{at}]"), &message))
        }
    }
}

fn parse_reference(text: &str, context: &Context<'_>) -> PathReference {
    match context.session.selection.selected.contains_key(text) {
        true => PathReference::without_part(text),
        false => context.snapshot.path_reference(text),
    }
}

pub(super) fn invalid_path(at: usize, error: ExpansionError, context: &Context<'_>) -> CommandError {
    error.into_command_error(&format!("paths[{at}]"), context.snapshot)
}
