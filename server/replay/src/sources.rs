//! Collects the material of a replay.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use strata_app::model::index::OutlineProgress;
use strata_base::cancel::Cancel;
use strata_conversation::trace::Trace;
use strata_conversation::transcript::Transcript;
use strata_host::git::{GitError, TraceOptions, extract_traces};
use strata_prompt::diff::unified_diff;
use strata_prompt::settings::Settings;
use strata_tokens::counting::TokenCounter;
use strata_tokens::models::Models;

use crate::record_file::{
    RecordFileError, find_trace_files, find_transcript_files, read_trace, read_transcript, write_trace,
};

/// Number of unchanged lines around each change in the diffs of an exported trace, as in diffs of `ledger`.
const DIFF_CONTEXT_LINES: usize = 2;

#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Git repositories whose histories become sessions.
    pub repositories: Vec<PathBuf>,
    /// Trace files, or directories that contain some.
    pub traces: Vec<PathBuf>,
    /// Transcripts of coding agents, or directories to search for them.
    pub transcripts: Vec<PathBuf>,
    /// Options for making sessions from Git histories.
    pub session_options: TraceOptions,
    pub workload: Workload,
    /// Whether the pauses between turns are drawn from those of people, instead of a minute each.
    pub has_peoples_pauses: bool,
}

/// How sessions are played (`docs/tiers.md`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Workload {
    /// With all turns, and with the files of a window of turns.
    #[default]
    Windows,
    /// Like a working day, with questions, an agent, and changes of the branch and the model.
    Varied,
    /// With the length, the selected files and the pauses of people's conversations.
    People,
}

#[derive(Debug, Default)]
pub struct Material {
    /// Traces of sessions. Traces made from Git histories come first.
    pub(crate) traces: Vec<Trace>,
    /// Number of traces made from Git histories.
    made: usize,
    pub(crate) workload: Workload,
    /// Whether the pauses between turns are drawn from those of people.
    pub(crate) has_peoples_pauses: bool,
    /// Seed of all random draws.
    pub(crate) seed: u64,
    pub(crate) transcripts: Vec<(String, Transcript)>,
}

/// Why the sessions and conversations to replay could not be collected.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("nothing to replay")]
    Nothing,
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(
        "{}: no usable commit (one that changes up to 10 source files); is the history empty or shallow?",
        .0.display()
    )]
    NoTurns(PathBuf),
    #[error(transparent)]
    Record(#[from] RecordFileError),
    #[error("{}: found no {what}", .place.display())]
    Empty { place: PathBuf, what: &'static str },
    #[error("{}: {error}", .folder.display())]
    Folder { folder: PathBuf, error: io::Error },
}

impl Material {
    /// Reads all sources, and makes sessions from Git histories. `progress` receives the finished and total number of
    /// turns made from histories.
    ///
    /// # Errors
    /// Returns a [`SourceError`] if a source is missing or has nothing to replay.
    pub fn gather(sources: &Sources, mut progress: impl FnMut(OutlineProgress)) -> Result<Self, SourceError> {
        let Sources { repositories, traces, transcripts, session_options, workload, has_peoples_pauses } =
            sources;
        if repositories.is_empty() && traces.is_empty() && transcripts.is_empty() {
            return Err(SourceError::Nothing);
        }
        let (workload, has_peoples_pauses, seed) = (*workload, *has_peoples_pauses, session_options.seed);
        let mut material = Self { workload, has_peoples_pauses, seed, ..Self::default() };
        let total = repositories.len() * session_options.sessions.saturating_mul(session_options.turns);
        for (index, repository) in repositories.iter().enumerate() {
            let before = index * session_options.sessions.saturating_mul(session_options.turns);
            let made = extract_traces(repository, session_options, &Cancel::new(), |done, _| {
                progress(OutlineProgress { done: before + done, total });
            })?;
            if made.is_empty() {
                return Err(SourceError::NoTurns(repository.clone()));
            }
            material.traces.extend(made);
        }
        material.made = material.traces.len();
        for place in traces {
            let paths = find_trace_files(place)?;
            if paths.is_empty() {
                return Err(SourceError::Empty { place: place.clone(), what: "trace (*.json, *.json.gz)" });
            }
            for path in paths {
                material.traces.push(read_trace(&path)?);
            }
        }
        for place in transcripts {
            material.add_transcripts(place)?;
        }
        material.make_names_unique();
        Ok(material)
    }

    /// Writes the sessions made from Git histories to one file each, with the token counts of their diffs for the
    /// configured model. Returns the number of files.
    pub fn export_git_sessions(&self, folder: &Path, settings: &Settings) -> Result<usize, SourceError> {
        let fail = |error| SourceError::Folder { folder: folder.to_owned(), error };
        fs::create_dir_all(folder).map_err(fail)?;
        let (models, counter) = (Models::builtin(), TokenCounter::default());
        let tokenizer = models.resolve(&settings.model).model.tokenizer;
        for trace in self.traces.iter().take(self.made) {
            let weighed = with_diff_tokens(trace, |text| counter.count(tokenizer, text));
            write_trace(&folder.join(format!("{}.json.gz", trace.name)), &weighed)?;
        }
        Ok(self.made)
    }

    /// Creates material as if these sessions had been made from Git histories.
    #[cfg(test)]
    pub(crate) fn from_git_traces(traces: Vec<Trace>) -> Self {
        Self { made: traces.len(), traces, ..Self::default() }
    }

    fn add_transcripts(&mut self, place: &Path) -> Result<(), SourceError> {
        let before = self.transcripts.len();
        for path in find_transcript_files(place)? {
            let transcript = read_transcript(&path)?;
            // The path inside of `place` is empty if `place` is the file itself.
            let inside = path.strip_prefix(place).ok().filter(|inside| inside.file_name().is_some());
            let name = inside.or_else(|| path.file_name().map(Path::new)).unwrap_or(&path);
            let name = name.with_extension("").to_string_lossy().into_owned();
            // Agents create files without any turns.
            if !transcript.turns.is_empty() {
                self.transcripts.push((name, transcript));
            }
        }
        if self.transcripts.len() == before {
            let place = place.to_owned();
            return Err(SourceError::Empty { place, what: "transcript (*.jsonl) with an answer" });
        }
        Ok(())
    }

    /// Appends numbers to repeated session names, since two repositories may have the same name.
    fn make_names_unique(&mut self) {
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        for trace in &mut self.traces {
            let times = taken.entry(trace.name.clone()).or_default();
            *times += 1;
            if *times > 1 {
                trace.name = format!("{}.{times}", trace.name);
            }
        }
    }
}

/// Returns the trace with the token count of each changed file's diff in every turn.
fn with_diff_tokens(trace: &Trace, count: impl Fn(&str) -> usize) -> Trace {
    let mut trace = trace.clone();
    let mut files = trace.files0.clone();
    for turn in &mut trace.turns {
        for (path, text) in &turn.edits {
            if let (Some(before), Some(after)) = (files.get(path), text) {
                turn.diff_tokens
                    .insert(path.clone(), count(&unified_diff(before, after, DIFF_CONTEXT_LINES)));
            }
        }
        for (path, text) in turn.edits.iter().chain(&turn.ext) {
            match text {
                Some(text) => files.insert(path.clone(), text.clone()),
                None => files.remove(path),
            };
        }
    }
    trace
}
