//! The table of the tools that models may call: what each is called, what a model is told of it, which command answers it, and how much of
//! the answer is handed over at once. What a tool takes and replies is described nowhere here: that is the command's.

mod call;
mod pages;
mod schemas;
pub mod text;

use serde_json::Value;

use crate::commands::{Access, Definition};

use pages::Shape;

pub use call::{Reply, ToolHost, answer, call};
pub use schemas::Schemas;

/// Shows the selection.
const FILES_LIST: &str = "strata.files.list";

/// Something an agent can call.
#[derive(Debug)]
pub struct Tool {
    pub name: &'static str,
    /// What a person is shown.
    pub title: &'static str,
    /// What a model goes by when it chooses.
    pub description: &'static str,
    pub command: &'static str,
    /// Arguments of this command that are not for a model to give.
    hidden: &'static [&'static str],
    /// How its reply is taken apart when it is long.
    shape: Shape,
    /// Its reply as a model reads it.
    text: fn(&Value) -> String,
}

/// What all tools that change the selection have in common.
const CHANGES_THE_SELECTION: Tool = Tool {
    name: "",
    title: "",
    description: "",
    command: "",
    hidden: &["confirmSecrets"],
    shape: Shape::Clipped(&["changed", "withheld"]),
    text: text::files_changed,
};

/// All tools, in the order in which they are listed.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "map",
        title: "Map of the repository",
        description: "Shows the most important files of the repository with their definitions (types, functions, headings) but \
                      without bodies, ranked by how much the rest refers to them. Call it first in a repository that you do \
                      not know: it is far cheaper than reading files. Name files or globs in `focus` to see what lies around \
                      them, and say in `about` what you want to do to see definitions that have to do with it.",
        command: "strata.symbols.map",
        hidden: &["budget", "sort"],
        shape: Shape::Budget { argument: "budget" },
        text: text::map,
    },
    Tool {
        name: "context",
        title: "What a task is about",
        description: "Names the files and definitions that a task is about, the best first, with their lines. Describe the task in plain words; \
                      names of things in the code count most. Call it at the beginning of a task to know where to look, then \
                      `outline` or `files_read` what it names.",
        command: "strata.symbols.relevant",
        hidden: &["minScore"],
        shape: Shape::Lists(&["items"]),
        text: text::context,
    },
    Tool {
        name: "symbols",
        title: "Find definitions",
        description: "Says where definitions are, by letters of their names in order (`hdlsws` finds `HeadlessWorkspace`) or by a \
                      dotted name (`Type.method`). Call it when you know a name, or part of one, but not the file. To see a body, \
                      read `path#Type.method` with `files_read`.",
        command: "strata.symbols.find",
        hidden: &[],
        shape: Shape::Lists(&["symbols"]),
        text: text::symbols,
    },
    Tool {
        name: "outline",
        title: "Outline of a file",
        description: "Shows all definitions of one file with their lines, without their bodies. Call it in place of reading a file whose details \
                      you do not need, or before you read a part of a large one.",
        command: "strata.symbols.file",
        hidden: &[],
        shape: Shape::Lines("text"),
        text: text::outline,
    },
    Tool {
        name: "references",
        title: "Who mentions a name",
        description: "Lists where a name is defined and every line that refers to it, as `path:line: text`. Call it before you \
                      change, rename or remove something. Takes `name` or `Type.name`. Follows scopes, imports and written \
                      types; a line marked `guess` has the name and no more.",
        command: "strata.symbols.references",
        hidden: &[],
        shape: Shape::Lists(&["hits", "definitions"]),
        text: text::references,
    },
    Tool {
        name: "dependents",
        title: "What a file has to do with others",
        description: "Says which files depend on a file and which it depends on, the strongest first. Call it to learn what a \
                      change of the file may break, or what to read to understand it.",
        command: "strata.symbols.dependents",
        hidden: &[],
        shape: Shape::Lists(&["dependents", "dependencies", "imports", "mutual"]),
        text: text::dependents,
    },
    Tool {
        name: "files_find",
        title: "Find files",
        description: "Finds files by letters of their paths, in order; lists all of them without a query. Files that ignore \
                      rules leave out are not among them.",
        command: "strata.files.find",
        hidden: &[],
        shape: Shape::Lists(&["files"]),
        text: text::files_found,
    },
    Tool {
        name: "files_read",
        title: "Read a file",
        description: "Reads a file of the workspace, lines of it (`src/lib.rs#L10-40`) or a definition in it \
                      (`src/lib.rs#Type.method`), a part at a time. Passwords and keys in it are replaced by placeholders \
                      such as [secret:github-token:1a2b3c4d5e6f]. Try `outline` first when the file may be large.",
        command: "strata.files.read",
        hidden: &[],
        shape: Shape::Lines("text"),
        text: text::file,
    },
    Tool {
        name: "grep",
        title: "Search in files",
        description: "Finds lines that match a regular expression (ripgrep's syntax) in the files of the workspace, with their \
                      numbers. Ignored, binary and excluded files are not searched. For definitions and their callers `symbols` and \
                      `references` say more.",
        command: "strata.files.grep",
        hidden: &[],
        shape: Shape::Nested { outer: "files", inner: "lines" },
        text: text::matches,
    },
    Tool {
        name: "files_list",
        title: "Selected files",
        description: "Lists the files that were selected or excluded for the prompt, with what each weighs in tokens. Call it to \
                      learn what the person wants to be looked at: their editor shows the same list.",
        command: FILES_LIST,
        hidden: &[],
        shape: Shape::Lists(&["files"]),
        text: text::files_listed,
    },
    Tool {
        name: "files_select",
        title: "Select files",
        description: "Selects files, folders, globs or lines of a file (`src/lib.rs#L10-40`): the prompt (`strata://prompt`) \
                      holds them in full from now on. Files whose names promise secrets are left out, and named.",
        command: "strata.files.select",
        ..CHANGES_THE_SELECTION
    },
    Tool {
        name: "files_deselect",
        title: "Deselect files",
        description: "Takes a selection back: the prompt has the files' definitions without bodies again.",
        command: "strata.files.deselect",
        ..CHANGES_THE_SELECTION
    },
    Tool {
        name: "files_exclude",
        title: "Exclude files",
        description: "Keeps files, folders or globs out of the prompt altogether, definitions and names included.",
        command: "strata.files.exclude",
        ..CHANGES_THE_SELECTION
    },
    Tool {
        name: "files_include",
        title: "Include files again",
        description: "Takes an exclusion back.",
        command: "strata.files.include",
        ..CHANGES_THE_SELECTION
    },
    Tool {
        name: "memory_search",
        title: "Search notes and conversations",
        description: "Finds words in the notes, in `MEMORY.md` and in all stored conversations about this workspace, the best first. Call it \
                      before you ask the person what was decided, tried or explained before.",
        command: "strata.memory.search",
        hidden: &[],
        shape: Shape::Lists(&["hits"]),
        text: text::hits,
    },
    Tool {
        name: "memory_add",
        title: "Keep a note",
        description: "Keeps a note about this workspace that outlives the conversation and is found by `memory_search`. Use it for \
                      decisions, conventions and what was hard to find out, in a sentence or two that can be understood alone.",
        command: "strata.memory.add",
        hidden: &[],
        shape: Shape::Whole,
        text: text::note_kept,
    },
    Tool {
        name: "tool_output_read",
        title: "Read on in an output",
        description: "Reads lines of a long output of a tool that the session shows only in part: by the name behind \
                      `toolOutput.read` where it was cut, or by the number of its message.",
        command: "strata.toolOutput.read",
        hidden: &[],
        shape: Shape::Numbered,
        text: text::output,
    },
    Tool {
        name: "count_tokens",
        title: "Count tokens",
        description: "Counts the tokens of a text, as the model that is named counts them, or else the one that is set.",
        command: "strata.prompt.estimate",
        hidden: &[],
        shape: Shape::Whole,
        text: text::tokens,
    },
];

impl Tool {
    pub fn named(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    pub fn access(&self) -> Access {
        Definition::named(self.command).map_or(Access::Changes, |command| command.access)
    }

    /// Whether its answer depends on which files there are and what is in them.
    pub fn needs_index(&self) -> bool {
        Definition::named(self.command).is_some_and(|command| command.needs_index)
    }

    /// Whether it shows or changes the selection itself, excluded files included.
    fn is_about_selection(&self) -> bool {
        self.command == FILES_LIST || self.access() == Access::Changes
    }

    /// All arguments of the command that are not for a model to give: also which session it is about.
    fn hidden(&self) -> impl Iterator<Item = &'static str> {
        self.hidden.iter().copied().chain(["session"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_a_name_of_its_own_and_a_command() {
        let mut names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        let plain = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        assert!(names.iter().all(plain), "{names:?}");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TOOLS.len());
        let unknown: Vec<&str> = TOOLS
            .iter()
            .map(|tool| tool.command)
            .filter(|command| Definition::named(command).is_none())
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
