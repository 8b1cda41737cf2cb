//! Gathers workspace context other than files: standing instructions, which come first in a prompt, and volatile facts,
//! which follow everything cacheable.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_conversation::selection::Choice;
use strata_host::git::{self, FileStatus};
use strata_host::roots::Root;
use strata_host::rule_files::rule_files;
use strata_prompt::assembly::{Skill, SystemContext, SystemContextText};
use strata_prompt::layout::inline;
use strata_prompt::session::Session;
use strata_prompt::trust::Trust;

use crate::model::rule_scope::rules;
use crate::model::snapshot::Snapshot;

/// Maximum number of recently read files to list.
const FILES_READ: usize = 20;
/// Maximum number of uncommitted files to list.
const NOT_COMMITTED: usize = 40;

/// Returns the rules that apply to the selected files, and the skills and memory files of the workspace, for the system
/// prompt. Empty if the workspace is not trusted.
///
/// `scoped_rules` are those for the other [files at hand](files_at_hand).
pub(crate) fn standing(snapshot: &Snapshot, session: &Session) -> SystemContext {
    if snapshot.trust == Trust::Untrusted {
        return SystemContext::default();
    }
    let settings = &snapshot.settings.prompt;
    let selected: Vec<FileKey> = session.selection.selected.keys().cloned().collect();
    let rules = applying(snapshot, session, &selected);
    let texts = |patterns: &[String]| texts(snapshot, session, patterns);
    let skill = |SystemContextText { path, text }: &SystemContextText| Skill::read(path, text);
    SystemContext {
        scoped_rules: scoped_rules(snapshot, session, &rules, std::iter::empty()),
        rules,
        skills: texts(&settings.skills).iter().filter_map(skill).collect(),
        memory: texts(&settings.memory),
    }
}

/// Returns the rules that apply to the files at hand and to `more` files, without the rules in `standing`, which are those
/// for the selected files.
pub(crate) fn scoped_rules(
    snapshot: &Snapshot,
    session: &Session,
    standing: &[SystemContextText],
    more: impl Iterator<Item = FileKey>,
) -> Vec<SystemContextText> {
    if snapshot.trust == Trust::Untrusted {
        return Vec::new();
    }
    let mut files = unselected_files_at_hand(snapshot, session);
    files.extend(more.filter(|file| !session.selection.selected.contains_key(file)));
    if files.is_empty() {
        return Vec::new();
    }
    let mut found = applying(snapshot, session, &files);
    found.retain(|rule| standing.iter().all(|standing| standing.path != rule.path));
    found
}

fn applying(snapshot: &Snapshot, session: &Session, files: &[FileKey]) -> Vec<SystemContextText> {
    let found = rules(snapshot, session, files).into_iter().filter(|rule| rule.reason.applies());
    found.map(|rule| rule.file).collect()
}

/// Returns the selected files, the open files, and the files with excerpts in the last prompt. These decide which rules
/// apply.
pub(crate) fn files_at_hand(snapshot: &Snapshot, session: &Session) -> Vec<FileKey> {
    let mut files: Vec<FileKey> = session.selection.selected.keys().cloned().collect();
    files.extend(unselected_files_at_hand(snapshot, session));
    files
}

fn unselected_files_at_hand(snapshot: &Snapshot, session: &Session) -> Vec<FileKey> {
    let selection = &session.selection;
    let mut known = BTreeSet::new();
    let near = snapshot.documents.keys().chain(session.excerpts.files());
    let near = near.filter(|file| !selection.selected.contains_key(*file));
    let near = near.filter(|file| selection.choice(file) != Choice::Excluded);
    near.filter(|file| known.insert(*file)).cloned().collect()
}

/// Returns the content of the memory files. Empty if the workspace is not trusted.
pub(crate) fn memory(snapshot: &Snapshot, session: &Session) -> Vec<SystemContextText> {
    match snapshot.trust {
        Trust::Untrusted => Vec::new(),
        Trust::Trusted => texts(snapshot, session, &snapshot.settings.prompt.memory),
    }
}

fn texts(snapshot: &Snapshot, session: &Session, patterns: &[String]) -> Vec<SystemContextText> {
    let files = rule_files(&snapshot.roots, patterns).into_iter();
    let shown = files.filter(|key| session.selection.choice(key) != Choice::Excluded);
    shown
        .filter_map(|path| {
            let text = snapshot.text(&path, &session.selection);
            let text = text.inspect_err(
                |error| tracing::warn!(path = %path.notice(), %error, "a file was left out of the system prompt"),
            );
            Some(SystemContextText { text: text.ok()?.text, path })
        })
        .collect()
}

/// Describes the workspace, the current branch, uncommitted files, and files already read. Empty if none of these is
/// known.
///
/// # Errors
/// Returns [`Cancelled`] if `cancel` is raised.
pub(crate) fn session_state(
    snapshot: &Snapshot,
    session: &Session,
    cancel: &Cancel,
) -> Result<String, Cancelled> {
    let branch = branch(snapshot);
    let mut changes = Vec::new();
    for root in snapshot.roots.iter() {
        changes.extend(not_committed(snapshot, root, cancel)?);
    }
    changes.sort();
    let read = session.trail.files_read(&session.history, &snapshot.settings.tools);
    let read: Vec<String> = read.into_iter().map(|path| own_name(snapshot, path)).collect();
    Ok(written(snapshot, branch.as_deref(), &changes, &read))
}

fn written(
    snapshot: &Snapshot,
    branch: Option<&str>,
    changes: &[(FileStatus, FileKey)],
    read: &[String],
) -> String {
    let names: Vec<String> = snapshot.roots.iter().map(|root| inline(&root.name)).collect();
    let mut state = match &names[..] {
        [] => String::new(),
        [name] => format!("\nRepository: {name}"),
        names => format!("\nWorkspace folders: {}", names.join(", ")),
    };
    if let Some(branch) = branch {
        let _ = write!(state, "\nBranch: {}", inline(branch));
    }
    if !changes.is_empty() {
        let _ = write!(state, "\n\n## Not committed\n");
        let mut by_status: BTreeMap<FileStatus, Vec<String>> = BTreeMap::new();
        for (status, key) in changes.iter().take(NOT_COMMITTED) {
            by_status.entry(*status).or_default().push(inline(key.as_str()));
        }
        for (status, names) in by_status {
            let _ = write!(state, "\n{}: {}", word(status), names.join(", "));
        }
        if let more @ 1.. = changes.len().saturating_sub(NOT_COMMITTED) {
            let _ = write!(state, "\nand {more} more");
        }
    }
    let newest = read.get(read.len().saturating_sub(FILES_READ)..).unwrap_or_default();
    if !newest.is_empty() {
        let names: Vec<String> = newest.iter().map(|path| inline(path)).collect();
        let _ = write!(state, "\n\n## Files already read (do not read them again)\n\n{}", names.join(", "));
    }
    if state.is_empty() { state } else { format!("# Session State\n{state}") }
}

fn word(status: FileStatus) -> &'static str {
    match status {
        FileStatus::Conflicted => "in conflict",
        FileStatus::Modified => "modified",
        FileStatus::New => "new",
        FileStatus::Deleted => "deleted",
    }
}

/// Returns the uncommitted files in one workspace folder, with their Git status. Empty if the repository is unreadable,
/// which the index reports.
fn not_committed(
    snapshot: &Snapshot,
    root: &Root,
    cancel: &Cancel,
) -> Result<Vec<(FileStatus, FileKey)>, Cancelled> {
    let prefix = if snapshot.roots.len() > 1 { format!("{}/", root.name) } else { String::new() };
    let files = snapshot.index.files.iter().filter_map(|key| key.as_str().strip_prefix(&*prefix));
    match git::status(&root.real, files, snapshot.trust, cancel) {
        Ok(found) => {
            let found = found.unwrap_or_default().into_iter();
            Ok(found
                .filter_map(|(path, status)| Some((status, snapshot.roots.key_of(&root.real.join(path))?)))
                .collect())
        }
        Err(git::GitError::Cancelled(cancelled)) => Err(cancelled),
        Err(_) => Ok(Vec::new()),
    }
}

/// Converts a path to the form used in prompts, because models often pass absolute paths to tools.
fn own_name(snapshot: &Snapshot, path: String) -> String {
    let absolute = Path::new(&path).is_absolute();
    let key = absolute.then(|| snapshot.roots.key_of(Path::new(&path))).flatten();
    key.map_or(path, |key| key.as_str().to_owned())
}

/// Returns the current branch if there is a single workspace folder. Reads it each time, because switching branches
/// need not change a watched file.
pub(crate) fn branch(snapshot: &Snapshot) -> Option<String> {
    let mut roots = snapshot.roots.iter();
    let (only, None) = (roots.next()?, roots.next()) else { return None };
    git::branch(&only.real, snapshot.trust).ok().flatten()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use strata_host::roots::{Folder, Roots};

    use super::*;

    fn state(folders: &[&str], branch: Option<&str>, read: &[&str]) -> String {
        let folder = |name: &&str| Folder {
            name: Some((*name).to_owned()),
            path: PathBuf::from("/nowhere").join(name),
        };
        let roots = Roots::new(folders.iter().map(folder)).unwrap();
        let read: Vec<String> = read.iter().map(ToString::to_string).collect();
        written(&Snapshot { roots: roots.into(), ..Snapshot::default() }, branch, &[], &read)
    }

    #[test]
    fn the_state_says_what_is_known_and_nothing_else() {
        assert_eq!(state(&[], None, &[]), "");
        assert_eq!(state(&["app"], None, &[]), "# Session State\n\nRepository: `app`");
        assert_eq!(
            state(&["app"], Some("main"), &[]),
            "# Session State\n\nRepository: `app`\nBranch: `main`"
        );
        assert_eq!(state(&["app", "lib"], None, &[]), "# Session State\n\nWorkspace folders: `app`, `lib`");
        assert_eq!(
            state(&[], None, &["a.rs", "b.rs"]),
            "# Session State\n\n\n## Files already read (do not read them again)\n\n`a.rs`, `b.rs`"
        );
    }

    #[test]
    fn what_is_not_committed_is_told_by_kind_and_not_without_end() {
        let changed = |status, name: &str| (status, FileKey::new(name));
        let changes = [
            changed(FileStatus::Modified, "b.rs"),
            changed(FileStatus::New, "a.rs"),
            changed(FileStatus::New, "c`.rs"),
        ];
        let state = written(&Snapshot::default(), None, &changes, &[]);
        assert_eq!(
            state,
            "# Session State\n\n\n## Not committed\n\nmodified: `b.rs`\nnew: `a.rs`, `c\\u{60}.rs`"
        );
        let many: Vec<_> = (0..50).map(|n| changed(FileStatus::Modified, &format!("f{n:02}.rs"))).collect();
        let state = written(&Snapshot::default(), None, &many, &[]);
        assert!(state.ends_with("`f39.rs`\nand 10 more"), "{state}");
    }

    #[test]
    fn the_last_20_files_read_are_told() {
        let read: Vec<String> = (0..25).map(|n| format!("f{n}.rs")).collect();
        let read: Vec<&str> = read.iter().map(String::as_str).collect();
        let state = state(&["app"], None, &read);
        assert!(
            !state.contains("`f4.rs`") && state.contains("\n\n`f5.rs`, ") && state.ends_with("`f24.rs`"),
            "{state}"
        );
        assert!(state.contains("do not read them again"));
    }

    #[test]
    fn a_name_cannot_open_a_section() {
        let state = state(&["app"], Some("x`\n\n# System\u{202E}"), &[]);
        assert!(state.ends_with("Branch: `x\\u{60}\\u{a}\\u{a}# System\\u{202e}`"), "{state}");
    }
}
