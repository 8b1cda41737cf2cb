//! `pack.*`: makes one text of files and outlines, for pasting into a chat.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::external::ExternalText;
use strata_base::key::FileKey;
use strata_base::text::first_line;
use strata_code::outline::language_of;
use strata_code::symbols::{
    FileRelevance, MapRequest, QuestionWords, Ranking, RelevanceQuery, Seeds, build_map,
    rank_files_for_question,
};
use strata_prompt::layout::fence_for;

use super::expansion::expand_pattern;
use super::{Access, Command, CommandError, Context, IndexNeed};

/// Token limit for the pack of a whole workspace, unless requested otherwise.
const DEFAULT_WORKSPACE_BUDGET: usize = 30_000;
/// Share of the budget that files in full may take if not all of them fit. The rest is for outlines.
const MAX_FULL_FILES_SHARE: f64 = 0.8;
/// Estimated tokens around the text of a file.
const FILE_OVERHEAD: usize = 12;
/// Estimated tokens of a pack besides its files and outlines.
const PACK_OVERHEAD: usize = 100;
/// Number of files that do not fit after which no more files are read.
const MAX_MISFITS_BEFORE_STOP: usize = 20;

/// What to pack, and how.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackParams {
    /// Paths or globs of the files to pack. Defaults to all files of the workspace.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Question that the pack is for. The files relevant to it come in full first, and the question comes last.
    pub question: Option<String>,
    /// Token limit for the pack. Files that do not fit are outlined. Defaults to no limit if `paths` names files, and
    /// otherwise to 30,000.
    pub budget: Option<usize>,
    /// Form of the pack. Defaults to `markdown`.
    #[serde(default)]
    pub form: PackForm,
}

/// Form of a pack.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PackForm {
    /// Headings and code blocks.
    #[default]
    Markdown,
    /// A `<file path="...">` element around each file, whose text is not escaped.
    Xml,
}

/// Files and outlines as one text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pack {
    /// The text.
    pub text: String,
    /// Number of tokens in `text`.
    pub tokens: usize,
    /// Model whose tokenizer was used.
    pub model: String,
    /// Number of files in full.
    pub full: usize,
    /// Number of files of which the text contains an outline, or only the name.
    pub outlined: usize,
    /// Number of files that did not fit at all.
    pub omitted: usize,
    /// Number of secrets that placeholders replace.
    pub redacted: usize,
    /// Files that cannot be shown.
    pub skipped: Vec<SkippedFile>,
}

/// A file that cannot be shown, with the reason.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SkippedFile {
    /// Path of the file, relative to the workspace folder.
    pub path: FileKey,
    /// Why the file cannot be shown.
    pub reason: String,
}

pub struct MakePack;

impl Command for MakePack {
    const NAME: &str = "strata.pack.make";
    const SUMMARY: &str = "Makes one text of files and outlines, for pasting into a chat.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Outlines;
    type Args = PackParams;
    type Reply = Pack;

    fn run(params: PackParams, context: &mut Context<'_>) -> Result<Pack, CommandError> {
        let mut skipped = Vec::new();
        let candidates = files_to_pack(&params, context, &mut skipped)?;
        let is_whole = params.paths.is_empty();
        let budget = params.budget.unwrap_or(if is_whole { DEFAULT_WORKSPACE_BUDGET } else { usize::MAX });
        let question = params.question.as_deref().map(str::trim).filter(|question| !question.is_empty());
        let index = &context.snapshot.index;
        let query = question.map(|text| RelevanceQuery { text, ..RelevanceQuery::default() });
        let relevance = query.map(|query| FileRelevance::new(index.lexical(), &index.references, &query));
        let ranking = match &relevance {
            Some(relevance) => rank_files_for_question(relevance, &index.references, &Seeds::default()),
            None => index.references.rank(&Seeds::default()),
        };
        let about = relevance.as_ref().map(QuestionWords::new);
        let builder = PackBuilder { context, question, about, ranking };
        let mut limit = budget;
        loop {
            let contents = builder.contents(&candidates, limit, &mut skipped)?;
            let text = match params.form {
                PackForm::Markdown => contents.markdown(),
                PackForm::Xml => contents.xml(),
            };
            let (model, tokens) = builder.context.snapshot.count_text_tokens(&text, None);
            let over = tokens.saturating_sub(budget);
            if over > 0 && limit > over && !(contents.files.is_empty() && contents.outlines.is_empty()) {
                limit -= over;
                continue;
            }
            return Ok(Pack {
                text,
                tokens,
                model,
                full: contents.files.len(),
                outlined: contents.outlined,
                omitted: contents.omitted,
                redacted: contents.files.iter().map(|file| file.redacted).sum(),
                skipped,
            });
        }
    }
}

/// Returns the files to pack. Adds those that need the user's confirmation to `skipped`.
fn files_to_pack(
    params: &PackParams,
    context: &Context<'_>,
    skipped: &mut Vec<SkippedFile>,
) -> Result<BTreeSet<FileKey>, CommandError> {
    let (snapshot, excluded) = (context.snapshot, &context.session.selection.excluded);
    if params.paths.is_empty() {
        let shown = snapshot.index.entries.iter().filter(|entry| entry.name_only.is_none());
        let shown = shown.map(|entry| &entry.key).filter(|key| !excluded.contains(*key));
        return Ok(shown.cloned().collect());
    }
    let mut files = BTreeSet::new();
    for (at, path) in params.paths.iter().enumerate() {
        let expansion = expand_pattern(snapshot, path, context.cancel)
            .map_err(|error| error.into_command_error(&format!("paths[{at}]"), snapshot))?;
        files.extend(expansion.files.into_iter().filter(|key| !excluded.contains(key)));
        let withheld = expansion.withheld.into_iter();
        skipped.extend(withheld.map(|(path, reason)| SkippedFile { path, reason: reason.to_string() }));
    }
    Ok(files)
}

/// The choice of what to show of each file.
struct PackBuilder<'a, 'c> {
    context: &'a Context<'c>,
    question: Option<&'a str>,
    /// The words of the question.
    about: Option<QuestionWords>,
    /// All files, most relevant to the question first.
    ranking: Ranking,
}

struct PackContents<'a> {
    name: String,
    /// Files in full, sorted by path.
    files: Vec<PackedFile>,
    outlines: String,
    outlined: usize,
    omitted: usize,
    question: Option<&'a str>,
}

struct PackedFile {
    path: FileKey,
    language: &'static str,
    text: String,
    redacted: usize,
}

impl<'a> PackBuilder<'a, '_> {
    /// Chooses what fits into `budget` tokens.
    fn contents(
        &self,
        candidates: &BTreeSet<FileKey>,
        budget: usize,
        skipped: &mut Vec<SkippedFile>,
    ) -> Result<PackContents<'a>, CommandError> {
        let snapshot = self.context.snapshot;
        let available =
            budget.saturating_sub(PACK_OVERHEAD + self.question.map_or(0, |text| self.count(text)));
        let (mut files, mut sizes) = (BTreeMap::new(), Vec::new());
        let (mut total, mut misses) = (0, 0);
        let ranked = self.ranking.files.iter().filter(|key| candidates.contains(*key));
        let in_ranking: BTreeSet<&FileKey> = self.ranking.files.iter().collect();
        let unranked = candidates.iter().filter(|key| !in_ranking.contains(key));
        for key in ranked.chain(unranked) {
            self.context.cancel.check()?;
            if misses >= MAX_MISFITS_BEFORE_STOP || skipped.iter().any(|file| file.path == *key) {
                continue;
            }
            let file = match snapshot.text(key, &self.context.session.selection) {
                Ok(file) => file,
                Err(error) => {
                    skipped.push(SkippedFile { path: key.clone(), reason: error.to_string() });
                    continue;
                }
            };
            let tokens = self.count(&file.text) + FILE_OVERHEAD;
            if total + tokens > available {
                misses += 1;
                continue;
            }
            total += tokens;
            sizes.push((key.clone(), tokens));
            let language = language_of(key, first_line(&file.text)).map_or("", |language| language.name);
            let packed = PackedFile {
                path: key.clone(),
                language,
                text: file.text.to_string(),
                redacted: file.redacted.len(),
            };
            files.insert(key.clone(), packed);
        }
        let remaining = |files: &BTreeMap<FileKey, PackedFile>| candidates.len() - files.len();
        if misses > 0 {
            // Make room for outlines. The least relevant files give way.
            while total as f64 > available as f64 * MAX_FULL_FILES_SHARE
                && let Some((key, tokens)) = sizes.pop()
            {
                files.remove(&key);
                total -= tokens;
            }
        }
        let (outlines, outlined) = match misses {
            0 => (String::new(), 0),
            _ => self.outlines(candidates, &files, available - total)?,
        };
        let unreadable = skipped.iter().filter(|file| candidates.contains(&file.path)).count();
        let omitted = remaining(&files).saturating_sub(outlined + unreadable);
        let folder = snapshot.roots.iter().next().map(|root| root.real.clone());
        let name = folder.as_deref().and_then(|folder| folder.file_name()).unwrap_or_default();
        Ok(PackContents {
            name: name.to_string_lossy().into_owned(),
            files: files.into_values().collect(),
            outlines,
            outlined,
            omitted,
            question: self.question,
        })
    }

    /// Returns outlines of the candidates that are not shown in full, and their number.
    fn outlines(
        &self,
        candidates: &BTreeSet<FileKey>,
        full: &BTreeMap<FileKey, PackedFile>,
        budget: usize,
    ) -> Result<(String, usize), CommandError> {
        let snapshot = self.context.snapshot;
        let symbols = snapshot.symbols(self.context.cancel)?;
        let is_wanted = |key: &FileKey| candidates.contains(key) && !full.contains_key(key);
        let without = symbols.keys().filter(|key| !is_wanted(key)).cloned().collect();
        let request = MapRequest {
            budget,
            kept: &[],
            required: &[],
            ranking: &self.ranking,
            about: self.about.as_ref(),
            without: &without,
        };
        let count = |text: &str| self.count(text);
        let mut blocks = build_map(&symbols, &snapshot.index.references, &request, &count).blocks;
        blocks.sort_by(|one, other| one.key.cmp(&other.key));
        let texts: Vec<&str> = blocks.iter().map(|block| block.text.trim_end()).collect();
        Ok((texts.join("\n"), blocks.len()))
    }

    fn count(&self, text: &str) -> usize {
        self.context.snapshot.count_text_tokens(text, None).1
    }
}

impl PackContents<'_> {
    /// Returns a sentence about what the pack contains.
    fn summary(&self) -> String {
        let mut parts = vec![crate::format::pluralize(self.files.len(), "file") + " in full"];
        if self.outlined > 0 {
            parts.push(format!("{} in outline", self.outlined));
        }
        if self.omitted > 0 {
            parts.push(format!("{} left out", self.omitted));
        }
        format!("{}.", parts.join(", "))
    }

    // Writing to a string does not fail.
    fn markdown(&self) -> String {
        let name = ExternalText::new(&self.name).line();
        let mut text = format!("# {name}\n\n{}\n", self.summary());
        for PackedFile { path, language, text: content, .. } in &self.files {
            let path = ExternalText::new(path.as_str()).line();
            let _ = write!(text, "\n## {path}\n\n{}", code_block(language, content));
        }
        if !self.outlines.is_empty() {
            let _ = write!(text, "\n## Outlines of other files\n\n{}", code_block("", &self.outlines));
        }
        if let Some(question) = self.question {
            let _ = write!(text, "\n## Question\n\n{question}\n");
        }
        text
    }

    fn xml(&self) -> String {
        let tag = self.unused_tag();
        let mut text = format!("<{tag}s of=\"{}\">\n{}\n", escape_attribute(&self.name), self.summary());
        for PackedFile { path, text: content, .. } in &self.files {
            let content = content.trim_end_matches('\n');
            let path = escape_attribute(&ExternalText::new(path.as_str()).line().to_string());
            let _ = write!(text, "\n<{tag} path=\"{path}\">\n{content}\n</{tag}>\n");
        }
        if !self.outlines.is_empty() {
            let _ = write!(text, "\n<outlines>\n{}\n</outlines>\n", self.outlines.trim_end());
        }
        let _ = writeln!(text, "</{tag}s>");
        if let Some(question) = self.question {
            let _ = write!(text, "\n{question}\n");
        }
        text
    }

    /// Returns a name for the elements around files that no file can end.
    fn unused_tag(&self) -> String {
        let mut tag = "file".to_owned();
        while self.files.iter().any(|file| file.text.contains(&format!("</{tag}"))) {
            tag.push('_');
        }
        tag
    }
}

fn code_block(language: &str, content: &str) -> String {
    let fence = fence_for(content);
    format!("{fence}{language}\n{}\n{fence}\n", content.trim_end_matches('\n'))
}

fn escape_attribute(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('\n', "&#10;")
}
