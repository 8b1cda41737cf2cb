//! Classifies tools by their names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a tool does, according to its name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ToolPurpose {
    /// The tool changes files.
    Edit,
    /// The tool runs shell commands.
    Command,
    /// The tool reads files.
    Read,
    /// The tool searches.
    Search,
    /// The tool does something else.
    Other,
}

/// Patterns that classify tools by name, for summaries and the list of files read. `*` matches any characters, `?`
/// matches one, and case is ignored. Edit patterns are tried first, then commands, reads and searches.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolPatterns {
    /// Names of tools that read files. The files they read are listed in later prompts, so that the model does not
    /// read them again.
    pub read_tools: Vec<String>,
    /// Names of tools that change files. Compaction keeps the paths of the files they change.
    pub edit_tools: Vec<String>,
    /// Names of tools that run shell commands. Summaries written without a model list these commands and which of
    /// them failed.
    pub command_tools: Vec<String>,
    /// Names of tools that search or list files. The files in their results do not count as read.
    pub search_tools: Vec<String>,
}

impl Default for ToolPatterns {
    /// Covers the tools of Claude Code, Codex, Cursor, Aider-like agents and MCP file servers, according to
    /// their manuals and recorded sessions.
    fn default() -> Self {
        let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Self {
            read_tools: list(&[
                "read",
                "read_*",
                "*read*file*",
                "*view*file*",
                "*open*file*",
                "*get*file*content*",
                "*notebook*read*",
                "view",
                "cat",
            ]),
            edit_tools: list(&[
                "edit",
                "edit_*",
                "multi*edit",
                "*edit*file*",
                "*notebook*edit*",
                "*edit*notebook*",
                "write",
                "write_*",
                "*write*file*",
                "*create*file*",
                "*delete*file*",
                "*remove*file*",
                "*str_replace*",
                "*search_replace*",
                "*replace*in*file*",
                "*apply*patch*",
                "*apply*diff*",
                "*insert*content*",
                "replace",
                "insert",
            ]),
            command_tools: list(&[
                "bash",
                "*shell",
                "shell*",
                "*shell*command*",
                "*terminal*",
                "*exec*",
                "*run*command*",
                "run",
            ]),
            search_tools: list(&[
                "grep",
                "glob",
                "ls",
                "*search*",
                "*grep*",
                "*glob*",
                "*find*",
                "list_*",
                "*list*dir*",
                "*list*file*",
                "*fetch*",
            ]),
        }
    }
}

impl ToolPatterns {
    pub(crate) fn purpose(&self, name: &str) -> ToolPurpose {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, name));
        if any(&self.edit_tools) {
            ToolPurpose::Edit
        } else if any(&self.command_tools) {
            ToolPurpose::Command
        } else if any(&self.read_tools) {
            ToolPurpose::Read
        } else if any(&self.search_tools) {
            ToolPurpose::Search
        } else {
            ToolPurpose::Other
        }
    }
}

/// Maximum bytes of a name or pattern that are compared. Providers allow names of at most 64 characters.
const MAX_COMPARED_NAME_BYTES: usize = 256;

/// Whether `name` matches `pattern`. On a mismatch, backtracks to the last `*` only.
fn matches(pattern: &str, name: &str) -> bool {
    let pattern = pattern.as_bytes().get(..MAX_COMPARED_NAME_BYTES).unwrap_or(pattern.as_bytes());
    let name = name.as_bytes().get(..MAX_COMPARED_NAME_BYTES).unwrap_or(name.as_bytes());
    let (mut pattern_at, mut name_at) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while name_at < name.len() {
        match pattern.get(pattern_at) {
            Some(b'*') => {
                star = Some((pattern_at + 1, name_at));
                pattern_at += 1;
            }
            Some(&expected) if expected == b'?' || expected.eq_ignore_ascii_case(&name[name_at]) => {
                pattern_at += 1;
                name_at += 1;
            }
            _ => {
                let Some((restart, matched)) = star else { return false };
                star = Some((restart, matched + 1));
                pattern_at = restart;
                name_at = matched + 1;
            }
        }
    }
    pattern[pattern_at..].iter().all(|&rest| rest == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_known_agents_are_classified() {
        let tools = ToolPatterns::default();
        let assert_purpose = |purpose, names: &[&str]| {
            for name in names {
                assert_eq!(tools.purpose(name), purpose, "{name}");
            }
        };
        assert_purpose(
            ToolPurpose::Read,
            &["Read", "read_file", "mcp__fs__read_text_file", "view_file", "read_many_files"],
        );
        assert_purpose(
            ToolPurpose::Edit,
            &[
                "Edit",
                "MultiEdit",
                "Write",
                "NotebookEdit",
                "apply_patch",
                "search_replace",
                "edit_file",
                "write_file",
                "write_to_file",
                "str_replace_editor",
                "str_replace_based_edit_tool",
                "delete_file",
                "apply_diff",
                "create_file",
                "insert_content",
                "edit_notebook",
            ],
        );
        assert_purpose(
            ToolPurpose::Command,
            &[
                "Bash",
                "shell",
                "local_shell",
                "run_terminal_cmd",
                "execute_command",
                "exec_command",
                "run_shell_command",
            ],
        );
        assert_purpose(
            ToolPurpose::Search,
            &["Grep", "Glob", "LS", "codebase_search", "list_dir", "WebSearch", "WebFetch", "file_search"],
        );
        assert_purpose(ToolPurpose::Other, &["TodoWrite", "Task", "think", "update_plan", ""]);
    }

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, fits) in [
            ("*", "", true),
            ("", "", true),
            ("", "x", false),
            ("a*b", "aXbXb", true),
            ("a*b", "aXbX", false),
            ("?", "é", false),
            ("*read*", "Readme", true),
            ("**a**", "ba", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
