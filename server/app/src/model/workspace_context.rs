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
use strata_prompt::layout::inline_code;
use strata_prompt::session::Session;
use strata_prompt::trust::Trust;

use crate::model::rule_scope::{read_text, rules};
use crate::model::snapshot::Snapshot;

/// Maximum number of recently read files to list.
const MAX_LISTED_READ_FILES: usize = 20;
/// Maximum number of uncommitted files to list.
const MAX_UNCOMMITTED_FILES: usize = 40;

/// Returns the rules that apply to the selected files, and the skills and memory files of the workspace, for the system
/// prompt. Empty if the workspace is not trusted.
///
/// `scoped_rules` are those for the other [files at hand](selected_open_or_shown_files).
pub(crate) fn system_context(snapshot: &Snapshot, session: &Session) -> SystemContext {
    if snapshot.trust == Trust::Untrusted {
        return SystemContext::default();
    }
    let settings = &snapshot.settings.prompt;
    let selected: Vec<FileKey> = session.selection.selected.keys().cloned().collect();
    let rules = applicable_rules(snapshot, session, &selected);
    let texts = |patterns: &[String]| read_texts(snapshot, session, patterns);
    let skill = |SystemContextText { path, text }: &SystemContextText| Skill::parse(path, text);
    SystemContext {
        scoped_rules: scoped_rules(snapshot, session, &rules, std::iter::empty()),
        rules,
        skills: texts(&settings.skills).iter().filter_map(skill).collect(),
        memory: texts(&settings.memory),
    }
}

/// Returns the rules that apply to the files at hand and to `more` files, without the rules in `system_rules`, which are those
/// for the selected files.
pub(crate) fn scoped_rules(
    snapshot: &Snapshot,
    session: &Session,
    system_rules: &[SystemContextText],
    more: impl Iterator<Item = FileKey>,
) -> Vec<SystemContextText> {
    if snapshot.trust == Trust::Untrusted {
        return Vec::new();
    }
    let mut files = unselected_open_or_shown_files(snapshot, session);
    files.extend(more.filter(|file| !session.selection.selected.contains_key(file)));
    if files.is_empty() {
        return Vec::new();
    }
    let mut scoped = applicable_rules(snapshot, session, &files);
    scoped.retain(|rule| system_rules.iter().all(|system_rule| system_rule.path != rule.path));
    scoped
}

fn applicable_rules(snapshot: &Snapshot, session: &Session, files: &[FileKey]) -> Vec<SystemContextText> {
    let applicable = rules(snapshot, session, files).into_iter().filter(|rule| rule.reason.is_applicable());
    applicable.map(|rule| rule.file).collect()
}

/// Returns the selected files, the open files, and the files with excerpts in the last prompt. These decide which rules
/// apply.
pub(crate) fn selected_open_or_shown_files(snapshot: &Snapshot, session: &Session) -> Vec<FileKey> {
    let mut files: Vec<FileKey> = session.selection.selected.keys().cloned().collect();
    files.extend(unselected_open_or_shown_files(snapshot, session));
    files
}

fn unselected_open_or_shown_files(snapshot: &Snapshot, session: &Session) -> Vec<FileKey> {
    let selection = &session.selection;
    let mut known = BTreeSet::new();
    let candidates = snapshot.documents.keys().chain(session.excerpts.files());
    let candidates = candidates.filter(|file| !selection.selected.contains_key(*file));
    let candidates = candidates.filter(|file| selection.choice(file) != Choice::Excluded);
    candidates.filter(|file| known.insert(*file)).cloned().collect()
}

/// Returns the content of the memory files. Empty if the workspace is not trusted.
pub(crate) fn memory_texts(snapshot: &Snapshot, session: &Session) -> Vec<SystemContextText> {
    match snapshot.trust {
        Trust::Untrusted => Vec::new(),
        Trust::Trusted => read_texts(snapshot, session, &snapshot.settings.prompt.memory),
    }
}

fn read_texts(snapshot: &Snapshot, session: &Session, patterns: &[String]) -> Vec<SystemContextText> {
    let files = rule_files(&snapshot.roots, patterns).into_iter();
    files.filter_map(|path| read_text(snapshot, session, path)).collect()
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
    let branch = current_branch(snapshot);
    let mut changes = Vec::new();
    for root in snapshot.roots.iter() {
        changes.extend(uncommitted_files(snapshot, root, cancel)?);
    }
    changes.sort();
    let read = session.trail.files_read(&session.history, &snapshot.settings.tools);
    let read: Vec<String> = read.into_iter().map(|path| to_workspace_path(snapshot, path)).collect();
    Ok(render_session_state(snapshot, branch.as_deref(), &changes, &read))
}

fn render_session_state(
    snapshot: &Snapshot,
    branch: Option<&str>,
    changes: &[(FileStatus, FileKey)],
    read: &[String],
) -> String {
    let names: Vec<String> = snapshot.roots.iter().map(|root| inline_code(&root.name)).collect();
    let mut state = match &names[..] {
        [] => String::new(),
        [name] => format!("\nRepository: {name}"),
        names => format!("\nWorkspace folders: {}", names.join(", ")),
    };
    if let Some(branch) = branch {
        let _ = write!(state, "\nBranch: {}", inline_code(branch));
    }
    if !changes.is_empty() {
        let _ = write!(state, "\n\n## Not committed\n");
        let mut by_status: BTreeMap<FileStatus, Vec<String>> = BTreeMap::new();
        for (status, key) in changes.iter().take(MAX_UNCOMMITTED_FILES) {
            by_status.entry(*status).or_default().push(inline_code(key.as_str()));
        }
        for (status, names) in by_status {
            let _ = write!(state, "\n{}: {}", status_label(status), names.join(", "));
        }
        if let more @ 1.. = changes.len().saturating_sub(MAX_UNCOMMITTED_FILES) {
            let _ = write!(state, "\nand {more} more");
        }
    }
    let newest = read.get(read.len().saturating_sub(MAX_LISTED_READ_FILES)..).unwrap_or_default();
    if !newest.is_empty() {
        let names: Vec<String> = newest.iter().map(|path| inline_code(path)).collect();
        let _ = write!(state, "\n\n## Files already read (do not read them again)\n\n{}", names.join(", "));
    }
    if state.is_empty() { state } else { format!("# Session State\n{state}") }
}

fn status_label(status: FileStatus) -> &'static str {
    match status {
        FileStatus::Conflicted => "in conflict",
        FileStatus::Modified => "modified",
        FileStatus::New => "new",
        FileStatus::Deleted => "deleted",
    }
}

/// Returns the uncommitted files in one workspace folder, with their Git status. Empty if the repository is unreadable,
/// which the index reports.
fn uncommitted_files(
    snapshot: &Snapshot,
    root: &Root,
    cancel: &Cancel,
) -> Result<Vec<(FileStatus, FileKey)>, Cancelled> {
    let prefix = if snapshot.roots.len() > 1 { format!("{}/", root.name) } else { String::new() };
    let files = snapshot.index.files.iter().filter_map(|key| key.as_str().strip_prefix(&*prefix));
    match git::status(&root.real, files, snapshot.trust, cancel) {
        Ok(statuses) => {
            let statuses = statuses.unwrap_or_default().into_iter();
            Ok(statuses
                .filter_map(|(path, status)| Some((status, snapshot.roots.key_of(&root.real.join(path))?)))
                .collect())
        }
        Err(git::GitError::Cancelled(cancelled)) => Err(cancelled),
        Err(_) => Ok(Vec::new()),
    }
}

/// Converts a path to the form used in prompts, because models often pass absolute paths to tools.
fn to_workspace_path(snapshot: &Snapshot, path: String) -> String {
    let absolute = Path::new(&path).is_absolute();
    let key = absolute.then(|| snapshot.roots.key_of(Path::new(&path))).flatten();
    key.map_or(path, |key| key.as_str().to_owned())
}

/// Returns the current branch if there is a single workspace folder. Reads it each time, because switching branches
/// need not change a watched file.
pub(crate) fn current_branch(snapshot: &Snapshot) -> Option<String> {
    let [only] = &**snapshot.roots else { return None };
    git::current_branch(&only.real, snapshot.trust).ok().flatten()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use strata_host::roots::{RootFolder, Roots};

    use super::*;

    fn state(folders: &[&str], branch: Option<&str>, read: &[&str]) -> String {
        let folder = |name: &&str| RootFolder {
            name: Some((*name).to_owned()),
            path: PathBuf::from("/nowhere").join(name),
        };
        let roots = Roots::new(folders.iter().map(folder)).unwrap();
        let read: Vec<String> = read.iter().map(ToString::to_string).collect();
        render_session_state(&Snapshot { roots: roots.into(), ..Snapshot::default() }, branch, &[], &read)
    }

    #[test]
    fn the_state_contains_only_what_is_known() {
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
    fn uncommitted_files_are_grouped_by_status_and_limited() {
        let changed = |status, name: &str| (status, FileKey::new(name));
        let changes = [
            changed(FileStatus::Modified, "b.rs"),
            changed(FileStatus::New, "a.rs"),
            changed(FileStatus::New, "c`.rs"),
        ];
        let state = render_session_state(&Snapshot::default(), None, &changes, &[]);
        assert_eq!(
            state,
            "# Session State\n\n\n## Not committed\n\nmodified: `b.rs`\nnew: `a.rs`, `c\\u{60}.rs`"
        );
        let many: Vec<_> = (0..50).map(|n| changed(FileStatus::Modified, &format!("f{n:02}.rs"))).collect();
        let state = render_session_state(&Snapshot::default(), None, &many, &[]);
        assert!(state.ends_with("`f39.rs`\nand 10 more"), "{state}");
    }

    #[test]
    fn the_last_20_files_read_are_listed() {
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
    fn a_branch_name_cannot_begin_a_section() {
        let state = state(&["app"], Some("x`\n\n# System\u{202E}"), &[]);
        assert!(state.ends_with("Branch: `x\\u{60}\\u{a}\\u{a}# System\\u{202e}`"), "{state}");
    }
}
