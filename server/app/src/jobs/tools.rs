//! The table of tools for models: the name, description and command of each tool, and how to split long replies. The
//! commands define the arguments and replies.

mod call;
mod pages;
mod schemas;
pub mod text;

use serde_json::Value;

use crate::commands::{Access, CommandDefinition};

use pages::Pagination;

pub use call::{ToolHost, ToolReply, call_tool, call_tool_for_user};
pub use schemas::ToolSchemas;

const FILES_LIST_COMMAND: &str = "strata.files.list";

/// A tool that a model can call.
#[derive(Debug)]
pub struct Tool {
    pub name: &'static str,
    /// Title for the user.
    pub title: &'static str,
    /// Description for the model.
    pub description: &'static str,
    pub command: &'static str,
    /// Arguments of the command that a model must not set.
    hidden: &'static [&'static str],
    /// How to split a long reply.
    shape: Pagination,
    /// Renders the reply as text for a model.
    text: fn(&Value) -> String,
}

/// Template for tools that change the selection.
const SELECTION_TOOL_TEMPLATE: Tool = Tool {
    name: "",
    title: "",
    description: "",
    command: "",
    hidden: &["confirmSecrets"],
    shape: Pagination::Clipped(&["changed", "withheld"]),
    text: text::render_selection_change,
};

/// All tools, in the order in which they are listed.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "map",
        title: "Repository map",
        description: "Shows the most important files with their definitions, without bodies, ranked by how much other \
                      code refers to them. Call it first in a repository you do not know.",
        command: "strata.symbols.map",
        hidden: &["budget", "sort"],
        shape: Pagination::Budget { argument: "budget" },
        text: text::render_map,
    },
    Tool {
        name: "context",
        title: "Relevant code",
        description: "Finds the files and definitions relevant to a task, best first, with their lines. Names from the \
                      code count most. Call it at the start of a task.",
        command: "strata.symbols.relevant",
        hidden: &["minScore"],
        shape: Pagination::Lists(&["items"]),
        text: text::render_relevant_code,
    },
    Tool {
        name: "symbols",
        title: "Find definitions",
        description: "Finds definitions by some letters of their names in order (`hdlsws` finds `HeadlessWorkspace`) \
                      or by a dotted name (`Type.method`). To see a body, read `path#Type.method` with `files_read`.",
        command: "strata.symbols.find",
        hidden: &[],
        shape: Pagination::Lists(&["symbols"]),
        text: text::render_symbols,
    },
    Tool {
        name: "outline",
        title: "File outline",
        description: "Lists the definitions of a file with their lines, without bodies.",
        command: "strata.symbols.file",
        hidden: &[],
        shape: Pagination::Lines("text"),
        text: text::render_outline,
    },
    Tool {
        name: "references",
        title: "References",
        description: "Finds where a name is defined and every line that refers to it. Call it before you change or rename something. Follows scopes, imports and type annotations; a line marked `guess` \
                      only has the same name.",
        command: "strata.symbols.references",
        hidden: &[],
        shape: Pagination::Lists(&["hits", "definitions"]),
        text: text::render_references,
    },
    Tool {
        name: "dependents",
        title: "Dependencies",
        description: "Shows which files depend on a file and which it depends on, strongest first.",
        command: "strata.symbols.dependents",
        hidden: &[],
        shape: Pagination::Lists(&["dependents", "dependencies", "imports", "mutual"]),
        text: text::render_dependents,
    },
    Tool {
        name: "files_find",
        title: "Find files",
        description: "Finds files whose paths contain the given letters in order. Without a query, lists all files. \
                      Skips ignored files.",
        command: "strata.files.find",
        hidden: &[],
        shape: Pagination::Lists(&["files"]),
        text: text::render_found_files,
    },
    Tool {
        name: "files_read",
        title: "Read a file",
        description: "Reads a file, some of its lines (`src/lib.rs#L10-40`) or a definition \
                      (`src/lib.rs#Type.method`). Secrets are replaced by placeholders (`[secret:…]`).",
        command: "strata.files.read",
        hidden: &[],
        shape: Pagination::Lines("text"),
        text: text::render_file_text,
    },
    Tool {
        name: "grep",
        title: "Search in files",
        description: "Finds lines that match a regular expression (ripgrep syntax). Skips ignored, binary and excluded \
                      files. For definitions and their callers, prefer `symbols` and `references`.",
        command: "strata.files.grep",
        hidden: &[],
        shape: Pagination::Nested { outer: "files", inner: "lines" },
        text: text::render_grep_matches,
    },
    Tool {
        name: "files_changed",
        title: "Changed files",
        description: "Lists files that changed since an earlier call, on disk or in the user's editor.",
        command: "strata.files.changed",
        hidden: &[],
        shape: Pagination::Lists(&["files"]),
        text: text::render_changed_files,
    },
    Tool {
        name: "files_list",
        title: "Selected files",
        description: "Lists the files that the user selected for the prompt or excluded from it, with their tokens.",
        command: FILES_LIST_COMMAND,
        hidden: &[],
        shape: Pagination::Lists(&["files"]),
        text: text::render_file_list,
    },
    Tool {
        name: "files_select",
        title: "Select files",
        description: "Adds files, directories, globs or lines of a file in full to the prompt (`strata://prompt`). \
                      Skips files whose names suggest secrets.",
        command: "strata.files.select",
        ..SELECTION_TOOL_TEMPLATE
    },
    Tool {
        name: "files_deselect",
        title: "Deselect files",
        description: "Shows files in the prompt by their definitions only, without bodies.",
        command: "strata.files.deselect",
        ..SELECTION_TOOL_TEMPLATE
    },
    Tool {
        name: "files_exclude",
        title: "Exclude files",
        description: "Hides files, directories or globs from the prompt, including their names.",
        command: "strata.files.exclude",
        ..SELECTION_TOOL_TEMPLATE
    },
    Tool {
        name: "files_include",
        title: "Include files again",
        description: "Undoes `files_exclude`.",
        command: "strata.files.include",
        ..SELECTION_TOOL_TEMPLATE
    },
    Tool {
        name: "rules",
        title: "Rules",
        description: "Lists the rule files (AGENTS.md and others) for files. Call it before you change them.",
        command: "strata.prompt.rules",
        hidden: &[],
        shape: Pagination::Whole,
        text: text::render_rules,
    },
    Tool {
        name: "memory_search",
        title: "Search notes and conversations",
        description: "Searches the notes and all stored conversations about this workspace.",
        command: "strata.memory.search",
        hidden: &[],
        shape: Pagination::Lists(&["hits"]),
        text: text::render_memory_hits,
    },
    Tool {
        name: "memory_add",
        title: "Save a note",
        description: "Saves a note about this workspace for later conversations: a decision, a convention, a fact that was hard to find.",
        command: "strata.memory.add",
        hidden: &[],
        shape: Pagination::Whole,
        text: text::render_saved_note,
    },
    Tool {
        name: "tool_output_read",
        title: "Read more of a tool output",
        description: "Reads lines of a truncated tool output. The truncation notice names its `id`.",
        command: "strata.toolOutput.read",
        hidden: &[],
        shape: Pagination::Numbered,
        text: text::render_tool_output,
    },
    Tool {
        name: "count_tokens",
        title: "Count tokens",
        description: "Counts the tokens of a text.",
        command: "strata.prompt.estimate",
        hidden: &["maxInputTokens"],
        shape: Pagination::Whole,
        text: text::render_token_count,
    },
];

impl Tool {
    pub fn by_name(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    pub fn access(&self) -> Access {
        CommandDefinition::by_name(self.command).map_or(Access::Changes, |command| command.access)
    }

    /// Returns whether the tool lists or changes the selection itself, including excluded files.
    fn is_about_selection(&self) -> bool {
        self.command == FILES_LIST_COMMAND || self.access() == Access::Changes
    }

    /// Returns the arguments of the command that a model must not set, including `session`.
    fn hidden_arguments(&self) -> impl Iterator<Item = &'static str> {
        self.hidden.iter().copied().chain(["session"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_names_are_unique_and_their_commands_exist() {
        let mut names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        let plain = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        assert!(names.iter().all(plain), "{names:?}");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TOOLS.len());
        let unknown: Vec<&str> = TOOLS
            .iter()
            .map(|tool| tool.command)
            .filter(|command| CommandDefinition::by_name(command).is_none())
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
