//! Which rule files apply to which files: rules of the whole workspace, rules whose front matter names patterns, and rules
//! of a directory, which apply below it. Follows the documented behavior of the tools whose files these are.
//!
//! | files | front matter | applies |
//! |---|---|---|
//! | Cursor, `*.mdc` | `alwaysApply: true` | always |
//! | | `globs` | if a file matches; a pattern without a slash matches in any directory |
//! | | neither, but others | on request only |
//! | Copilot, `.github/instructions` | `applyTo` | if a file matches; without it, on request only |
//! | Claude Code, `.claude/rules` | `paths` | if a file matches; without it, always |
//! | any | none | always |

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use strata_base::key::FileKey;
use strata_conversation::selection::Choice;
use strata_host::file_owner::ProcessUser;
use strata_host::rule_files::{foreign_rule_path, matches_pattern, rule_files};
use strata_prompt::assembly::SystemContextText;
use strata_prompt::session::Session;

use crate::model::snapshot::Snapshot;

/// Maximum number of patterns to read from one rule file.
const MAX_RULE_PATTERNS: usize = 100;
/// Maximum number of lines of front matter.
const MAX_FRONT_MATTER_LINES: usize = 200;

#[derive(Clone, PartialEq, Eq, Debug)]
enum RuleScope {
    Everywhere,
    /// For files that match one of these patterns.
    Files(Vec<String>),
    /// Only if the user or the model asks for it.
    OnRequest,
}

/// Why a rule file applies, or why not.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RuleReason {
    /// The rule applies to the whole workspace.
    Always,
    /// A file matches a pattern of the rule.
    Pattern {
        /// The pattern.
        pattern: String,
        /// The first file that matches.
        file: FileKey,
    },
    /// The rule is in a directory above a file.
    Directory {
        /// The first file below the directory.
        file: FileKey,
    },
    /// No file matches the patterns of the rule, so it does not apply.
    NoMatch {
        /// The patterns.
        patterns: Vec<String>,
    },
    /// The rule applies only if the user or the model asks for it.
    OnRequest,
}

pub(crate) struct Rule {
    pub(crate) file: SystemContextText,
    pub(crate) reason: RuleReason,
}

impl RuleReason {
    pub(crate) fn is_applicable(&self) -> bool {
        !matches!(self, Self::NoMatch { .. } | Self::OnRequest)
    }
}

/// Returns the rule files of the workspace and of the directories above `files`, with the reason why each applies to
/// `files`. The order is that of the settings. Rules of directories come last, the nearest one at the end, so that it has
/// the last word.
pub(crate) fn rules(snapshot: &Snapshot, session: &Session, files: &[FileKey]) -> Vec<Rule> {
    let patterns = &snapshot.settings.prompt.rules;
    let rule_keys = rule_files(&snapshot.roots, patterns);
    let nested = nested_rule_files(snapshot, patterns, files, &rule_keys);
    let text = |path| read_text(snapshot, session, path);
    let workspace_rules = rule_keys.into_iter().filter_map(text).map(|file| {
        let reason = RuleScope::new(&file).reason(&file.path, files, snapshot);
        Rule { file, reason }
    });
    let mut rules: Vec<Rule> = workspace_rules.collect();
    rules.extend(
        nested.into_iter().filter_map(|(path, file)| {
            Some(Rule { file: text(path)?, reason: RuleReason::Directory { file } })
        }),
    );
    rules
}

/// Returns the text of a file for the system prompt, unless the user excluded the file.
pub(super) fn read_text(snapshot: &Snapshot, session: &Session, path: FileKey) -> Option<SystemContextText> {
    if session.selection.choice(&path) == Choice::Excluded {
        return None;
    }
    let text = snapshot.text(&path, &session.selection);
    let text = text.inspect_err(
        |error| tracing::warn!(path = %path.notice(), %error, "a file was left out of the system prompt"),
    );
    Some(SystemContextText { text: text.ok()?.text, path })
}

/// Returns the rule files in the directories above `files` that have the name of a rule file of the workspace, each with
/// the first file below it.
fn nested_rule_files(
    snapshot: &Snapshot,
    patterns: &[String],
    files: &[FileKey],
    known: &[FileKey],
) -> Vec<(FileKey, FileKey)> {
    let names = patterns.iter().filter(|pattern| !pattern.contains(['/', '*', '?', '[', '{']));
    let names: Vec<&str> = names.map(String::as_str).collect();
    let mut directories: BTreeSet<&str> = BTreeSet::new();
    let mut nested: Vec<(FileKey, FileKey)> = Vec::new();
    for file in files {
        let mut path = file.as_str();
        while let Some((directory, _)) = path.rsplit_once('/') {
            path = directory;
            if !directories.insert(directory) {
                break;
            }
            let candidates: Vec<String> = names.iter().map(|name| format!("{directory}/{name}")).collect();
            let found_keys = rule_files(&snapshot.roots, &keys_to_folder_paths(snapshot, &candidates));
            // With several folders, another one may have a directory with the same name.
            let found_keys =
                found_keys.into_iter().filter(|key| candidates.iter().any(|place| place == key.as_str()));
            let found_keys =
                found_keys.filter(|key| !known.contains(key) && is_writable_only_by_user(key, snapshot));
            nested.extend(found_keys.map(|key| (key, file.clone())));
        }
    }
    nested.sort_by_key(|(key, _)| (key.as_str().matches('/').count(), key.clone()));
    nested.dedup_by(|one, other| one.0 == other.0);
    nested
}

/// Converts keys to paths below a workspace folder. With several folders, keys begin with the folder's name.
fn keys_to_folder_paths(snapshot: &Snapshot, keys: &[String]) -> Vec<String> {
    let paths = keys.iter().filter_map(|key| match snapshot.roots.len() {
        0 | 1 => Some(key.as_str()),
        _ => key.split_once('/').map(|(_, path)| path),
    });
    paths.map(str::to_owned).collect()
}

/// Whether no other user can change a rule file below a workspace folder. Rules in the folder itself are checked when it is
/// opened.
fn is_writable_only_by_user(key: &FileKey, snapshot: &Snapshot) -> bool {
    let path = keys_to_folder_paths(snapshot, &[key.as_str().to_owned()]);
    match foreign_rule_path(&snapshot.roots, &path, &ProcessUser::current()) {
        None => true,
        Some((place, _)) => snapshot.roots.iter().any(|root| root.real == place),
    }
}

impl RuleScope {
    fn new(file: &SystemContextText) -> Self {
        let Some(head) = front_matter(&file.text) else { return Self::Everywhere };
        let name = file.path.as_str();
        let (is_cursor, is_copilot) = (name.ends_with(".mdc"), name.ends_with(".instructions.md"));
        let field = if is_cursor {
            "globs"
        } else if is_copilot {
            "applyTo"
        } else {
            "paths"
        };
        if is_cursor && field_values(&head, "alwaysApply").iter().any(|value| value == "true") {
            return Self::Everywhere;
        }
        let mut patterns = field_values(&head, field);
        patterns.truncate(MAX_RULE_PATTERNS);
        if is_cursor {
            for pattern in patterns.iter_mut().filter(|pattern| !pattern.contains('/')) {
                *pattern = format!("**/{pattern}");
            }
        }
        match patterns.is_empty() {
            false => Self::Files(patterns),
            true if is_cursor || is_copilot => Self::OnRequest,
            true => Self::Everywhere,
        }
    }

    fn reason(self, rule: &FileKey, files: &[FileKey], snapshot: &Snapshot) -> RuleReason {
        let patterns = match self {
            Self::Everywhere => return RuleReason::Always,
            Self::OnRequest => return RuleReason::OnRequest,
            Self::Files(patterns) => patterns,
        };
        // With several folders, a rule applies in its own folder only.
        let folder = match snapshot.roots.len() {
            0 | 1 => "",
            _ => rule.as_str().find('/').and_then(|end| rule.as_str().get(..=end)).unwrap_or_default(),
        };
        for file in files {
            let Some(path) = file.as_str().strip_prefix(folder) else { continue };
            if let Some(pattern) = patterns.iter().find(|pattern| matches_pattern(pattern, path)) {
                return RuleReason::Pattern { pattern: pattern.clone(), file: file.clone() };
            }
        }
        RuleReason::NoMatch { patterns }
    }
}

/// Returns the lines between two lines of `---` at the top of a text. `None` if there are none.
fn front_matter(text: &str) -> Option<Vec<&str>> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    lines.next().filter(|line| line.trim_end() == "---")?;
    let mut head = Vec::new();
    for line in lines.take(MAX_FRONT_MATTER_LINES) {
        if line.trim_end() == "---" {
            return Some(head);
        }
        head.push(line);
    }
    None
}

/// Returns the values of a field: words separated by commas, or a list. Not all of these are YAML, since patterns begin
/// with `*`, which the tools accept without quotes.
fn field_values(head: &[&str], field: &str) -> Vec<String> {
    let mut lines = head.iter();
    let value = lines.find_map(|line| line.strip_prefix(field)?.trim_start().strip_prefix(':'));
    let Some(value) = value.map(str::trim) else { return Vec::new() };
    let inline = value.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or(value);
    let mut values = split_list(inline);
    if value.is_empty() {
        let items = lines.map_while(|line| line.trim_start().strip_prefix("- "));
        values.extend(items.flat_map(split_list));
    }
    values
}

/// Splits a list at commas outside of braces, and removes quotes.
fn split_list(list: &str) -> Vec<String> {
    let unquoted = |text: &str| text.trim().trim_matches(['"', '\'']).trim().to_owned();
    let mut depth = 0usize;
    let parts = without_quotes(list).split(move |character| {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    });
    parts.map(unquoted).filter(|part| !part.is_empty()).collect()
}

/// Removes the quotes around a whole list, as in `"**/*.ts,**/*.tsx"`.
fn without_quotes(list: &str) -> &str {
    let list = list.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = list.strip_prefix(quote).and_then(|list| list.strip_suffix(quote))
            && !inner.contains(quote)
        {
            return inner;
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(name: &str, head: &str) -> RuleScope {
        let text = format!("---\n{head}\n---\nText.\n");
        RuleScope::new(&SystemContextText { path: name.into(), text: text.into() })
    }

    fn files(patterns: &[&str]) -> RuleScope {
        RuleScope::Files(patterns.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_front_matter_sets_the_scope_of_a_rule() {
        let (cursor, copilot, claude) =
            (".cursor/rules/a.mdc", ".github/instructions/a.instructions.md", ".claude/rules/a.md");
        for (name, head, expected) in [
            (cursor, "globs: src/**/*.ts,*.tsx\nalwaysApply: false", files(&["src/**/*.ts", "**/*.tsx"])),
            (cursor, "globs: [\"src/*.{ts,tsx}\", 'b/**']", files(&["src/*.{ts,tsx}", "b/**"])),
            (cursor, "globs:\n  - a/*.py\n  - \"b/*.py\"\ndescription: x", files(&["a/*.py", "b/*.py"])),
            (cursor, "globs: a/*\nalwaysApply: true", RuleScope::Everywhere),
            (cursor, "description: how to test\nglobs:\nalwaysApply: false", RuleScope::OnRequest),
            (copilot, "applyTo: \"**/*.ts,**/*.tsx\"", files(&["**/*.ts", "**/*.tsx"])),
            (copilot, "description: x", RuleScope::OnRequest),
            (
                claude,
                "paths:\n  - \"src/**/*.{ts,tsx}\"\n  - lib/*.ts",
                files(&["src/**/*.{ts,tsx}", "lib/*.ts"]),
            ),
            (claude, "paths: src/api/**", files(&["src/api/**"])),
            (claude, "title: x", RuleScope::Everywhere),
            ("AGENTS.md", "title: x", RuleScope::Everywhere),
        ] {
            assert_eq!(scope(name, head), expected, "{name}: {head}");
        }
        for text in ["No head.", "---\nglobs: a", "----\nglobs: a\n---\n", ""] {
            let file = SystemContextText { path: cursor.into(), text: text.into() };
            assert_eq!(RuleScope::new(&file), RuleScope::Everywhere, "{text}");
        }
    }
}
