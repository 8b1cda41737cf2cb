//! What can be typed. The texts here are what `strata help` shows.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

use crate::reply::Audience;

/// Colours of help and usage errors, where the terminal has any.
const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default())
    .error(AnsiColor::Red.on_default().bold())
    .valid(AnsiColor::Green.on_default())
    .invalid(AnsiColor::Yellow.on_default());

/// Decides what a language model gets to see: a context-managing language server and command line tool
#[derive(Debug, Parser)]
#[command(name = "strata", version, subcommand_required = true, arg_required_else_help = true, styles = STYLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve an editor: the language server on standard input and output
    Serve(ServeArguments),
    /// Serve an agent: a server of the Model Context Protocol on standard input and output
    Mcp(McpArguments),
    /// Ask a model: the answer on standard output, what it cost on standard error
    Ask(AskArguments),
    /// Make a prompt: the request on standard output, what is in it on standard error
    Prompt(PromptArguments),
    /// Record what came of a prompt that you sent yourself: the answer on standard input
    Record(RecordArguments),
    /// Show the symbol map of a repository
    Map(MapArguments),
    /// Name the files and definitions that a task is about
    Context(ContextArguments),
    /// Find definitions by their names
    Symbols(SymbolsArguments),
    /// Show the definitions of a file
    Outline(OutlineArguments),
    /// Show where a name is defined and who refers to it
    References(ReferencesArguments),
    /// Search files by a pattern
    Grep(GrepArguments),
    /// Print a file, lines of it, or a definition in it
    Read(ReadArguments),
    /// Count the tokens of files
    Tokens(TokensArguments),
    /// Look after the conversations that are stored for a workspace
    Sessions(SessionsArguments),
    /// Keep notes that outlive every conversation
    Memory(MemoryArguments),
    /// Remember the iterations of an autonomous loop and make the prompt of the next one
    Iteration(IterationArguments),
    /// Play recorded sessions and say what each layout of their prompts costs
    Replay(ReplayArguments),
    /// Show what a session weighs and costs, and keep showing it
    Status(StatusArguments),
    /// Say what works and what does not
    Doctor(DoctorArguments),
    /// Print the JSON Schema of the protocol or of the settings
    Schema(SchemaArguments),
    /// Print a script that completes what is typed in a shell
    Completions(CompletionsArguments),
    /// Print the manual page, or write those of all commands
    Man(ManArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    /// The stored session that the agent is to see: its id or name, or `latest` for the one that was written to last, whichever that is at
    /// the time. Without it the agent has a session of its own, which is not stored
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Trust the folder: its rules, skills and memory become part of the system prompt
    #[arg(long)]
    pub(crate) trusted: bool,
    /// Set this, as in `files.list_budget=0`; the value as in TOML, or a text. It wins over every other place
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) log: LogArguments,
    /// The folder that the agent works in; without it the repository that contains the current directory, or else that directory
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}

/// What a server says of its own doings.
#[derive(Debug, Args)]
pub(crate) struct LogArguments {
    /// What to log to standard error
    #[arg(
        long = "log",
        value_name = "LEVEL",
        env = "STRATA_LOG",
        default_value = "warn",
        ignore_case = true
    )]
    pub(crate) level: LogLevel,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// The repository that a command is about.
#[derive(Debug, Args)]
pub(crate) struct RepositoryArguments {
    /// The repository; without it the one that contains the current directory, or else that directory
    #[arg(long = "repo", value_name = "DIR", global = true)]
    pub(crate) folder: Option<PathBuf>,
    /// Set this, as in `files.list_budget=0`; the value as in TOML, or a text. It wins over every other place
    #[arg(long, value_name = "NAME=VALUE", global = true)]
    pub(crate) set: Vec<String>,
    /// Keep the repository's rules, skills and memory out of the system prompt
    #[arg(long, global = true)]
    pub(crate) untrusted: bool,
}

/// What a prompt shows in full, and what it does not show.
#[derive(Debug, Args)]
pub(crate) struct SelectingArguments {
    /// Show this in full: a file, a folder, a glob, or lines of a file (`src/lib.rs#L10-40`)
    #[arg(long, value_name = "PATH")]
    pub(crate) select: Vec<String>,
    /// Show nothing of this, not even the name: a file, a folder or a glob
    #[arg(long, value_name = "PATH")]
    pub(crate) exclude: Vec<String>,
    /// Show this file although its name says that it holds secrets (`--select` names it, too)
    #[arg(long, value_name = "PATH")]
    pub(crate) confirm_secrets: Vec<String>,
}

/// Asks the model that the settings `provider.*` name, in a stored conversation: each question goes on where the last one ended, and
/// pays for little more than what is new. Ctrl-C ends the answer and records what was said.
#[derive(Debug, Args)]
pub(crate) struct AskArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    /// The conversation to go on with: its id or name, `latest` for the one that was written to last, or `new`
    #[arg(long, value_name = "ID", default_value = "latest")]
    pub(crate) session: String,
    /// Go on in a copy of the conversation, which an editor may have open
    #[arg(long)]
    pub(crate) fork: bool,
    #[command(flatten)]
    pub(crate) selecting: SelectingArguments,
    /// Bring along so many tokens of code that the question is about, 0 for none; 8000 when no file is selected
    #[arg(long, value_name = "TOKENS")]
    pub(crate) auto: Option<usize>,
    /// Let the model look things up: the map, outlines, references, files, notes. It changes nothing
    #[arg(long)]
    pub(crate) tools: bool,
    /// The model, by its provider's name
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How content is laid out for the provider's cache
    #[arg(long, value_parser = ["ledger", "ripple", "flat"])]
    pub(crate) policy: Option<String>,
    /// Print all that came of it as JSON when it is done
    #[arg(long)]
    pub(crate) json: bool,
    /// What to ask; `-` reads it from standard input
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
}

/// Records the answer to a prompt that `strata prompt --session` made, so that the conversation goes on with it.
#[derive(Debug, Args)]
pub(crate) struct RecordArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    #[command(flatten)]
    pub(crate) audience: Audience,
    /// The conversation: its id or name, or `latest` for the one that was written to last
    #[arg(long, value_name = "ID", default_value = "latest")]
    pub(crate) session: String,
    /// Input that the provider billed and that is neither read from its cache nor written to it, in tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) input: Option<u64>,
    /// Output that the provider billed, in tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) output: Option<u64>,
    /// Input that was read from the provider's cache, in tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) cache_read: Option<u64>,
    /// Input that was written to the provider's cache, in tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) cache_write: Option<u64>,
    /// The answer was stopped before its end
    #[arg(long)]
    pub(crate) aborted: bool,
    /// The provider found the prompt too long: the conversation is compacted before the next one. Reads no answer
    #[arg(long)]
    pub(crate) too_long: bool,
    /// The prompt, as `strata prompt --session` named it
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: String,
}

#[derive(Debug, Args)]
pub(crate) struct PromptArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    #[command(flatten)]
    pub(crate) selecting: SelectingArguments,
    /// Bring along so many tokens of code that the question is about, 0 for none; 8000 when no file is selected
    #[arg(long, value_name = "TOKENS")]
    pub(crate) auto: Option<usize>,
    /// Make it the next prompt of this stored session (its id or name, `latest`, or `new`), whose answer is to be recorded
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The model that the prompt is for
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The form of the request
    #[arg(long, value_parser = ["anthropic", "openai", "responses", "gemini", "bedrock", "markdown"])]
    pub(crate) format: Option<String>,
    /// How content is laid out for the provider's cache
    #[arg(long, value_parser = ["ledger", "ripple", "flat"])]
    pub(crate) policy: Option<String>,
    /// Print everything that is known of the prompt as JSON, not the request body alone
    #[arg(long)]
    pub(crate) json: bool,
    /// What to ask; `-` reads it from standard input
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
}

#[derive(Debug, Args)]
pub(crate) struct MapArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    /// What the map may weigh, in tokens; without it what a prompt would hold
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<usize>,
    /// Show this file in any case, and what is close to it before others; a directory or a glob names several
    #[arg(long, value_name = "PATH")]
    pub(crate) focus: Vec<String>,
    /// Show what has to do with this text before others
    #[arg(long, value_name = "TEXT")]
    pub(crate) about: Option<String>,
    /// The order of the files: what matters most first, or by path
    #[arg(long, value_enum, default_value_t)]
    pub(crate) sort: MapSort,
    /// Print what the signs of the map mean, too
    #[arg(long)]
    pub(crate) legend: bool,
    /// Print the map as JSON, with the rank, level and weight of each file
    #[arg(long)]
    pub(crate) json: bool,
}

/// The order of a map.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MapSort {
    #[default]
    Rank,
    Path,
}

/// What all questions about the code have in common.
#[derive(Debug, Args)]
pub(crate) struct QueryArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    /// Maximum tokens of the result; all of it without this
    #[arg(long, value_name = "TOKENS", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) budget: Option<usize>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ContextArguments {
    #[command(flatten)]
    pub(crate) query: QueryArguments,
    /// Maximum files and definitions
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// The task, in any words; `-` reads it from standard input
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
}

#[derive(Debug, Args)]
pub(crate) struct SymbolsArguments {
    #[command(flatten)]
    pub(crate) query: QueryArguments,
    /// Maximum definitions
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// The name or letters of it in order; `Type.method` finds a member of one type
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct OutlineArguments {
    #[command(flatten)]
    pub(crate) query: QueryArguments,
    /// The file
    #[arg(value_name = "PATH")]
    pub(crate) path: String,
}

#[derive(Debug, Args)]
pub(crate) struct ReferencesArguments {
    #[command(flatten)]
    pub(crate) query: QueryArguments,
    /// Only what this file defines
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// The name as it is defined
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct GrepArguments {
    #[command(flatten)]
    pub(crate) query: QueryArguments,
    /// The pattern is a text to be found as it is, not a regular expression
    #[arg(short = 'F', long)]
    pub(crate) fixed_strings: bool,
    /// Letter case does not count
    #[arg(short, long)]
    pub(crate) ignore_case: bool,
    /// Matches begin and end at the borders of words
    #[arg(short, long)]
    pub(crate) word_regexp: bool,
    /// Lines to show before and after each match
    #[arg(short = 'C', long, value_name = "LINES", default_value_t = 0, hide_default_value = true)]
    pub(crate) context: usize,
    /// Maximum matching lines
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) limit: usize,
    /// What to look for: a regular expression as ripgrep takes it, matched within each line
    #[arg(value_name = "PATTERN")]
    pub(crate) pattern: String,
    /// Search these only: files, folders or globs
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReadArguments {
    #[command(flatten)]
    pub(crate) query: QueryArguments,
    /// A file, lines of it (`src/lib.rs#L10-40`), or a definition in it (`src/lib.rs#Type.method`)
    #[arg(value_name = "PATH")]
    pub(crate) path: String,
}

#[derive(Debug, Args)]
pub(crate) struct TokensArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    /// The model whose tokens are counted
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How many levels of folders to show; without it as many as fit into 100 lines
    #[arg(long, value_name = "LEVELS")]
    pub(crate) depth: Option<usize>,
    /// Print every file as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Count these only: files, folders or globs
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    #[command(flatten)]
    pub(crate) audience: Audience,
    #[command(subcommand)]
    pub(crate) command: SessionsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List them, the one written to last first
    List,
    /// Show what the model sees of a conversation
    Show {
        /// The session, by its id or its name
        id: String,
    },
    /// Write a conversation in a form that other programs take
    Export {
        /// The session, by its id or its name
        id: String,
        /// The form
        #[arg(long, value_enum, default_value_t = SessionForm::Jsonl)]
        format: SessionForm,
        /// Write to this file and not to standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Store conversations that were exported, that Claude Code recorded, or that are message lists of Anthropic or OpenAI
    Import {
        /// The files; `-` is standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Find words in all conversations and notes
    Search {
        /// What to look for
        #[arg(required = true, value_name = "WORD")]
        words: Vec<String>,
        /// How many places to show at most
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// Delete conversations with all that belongs to them
    Delete {
        /// The sessions, by their ids or names
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    /// Give a conversation a name
    Rename {
        /// The session, by its id or its name
        id: String,
        /// Its name
        name: String,
    },
    /// Begin a new conversation with what was said in another
    Fork {
        /// The session, by its id or its name
        id: String,
        /// The last message that the new one has, by its number
        #[arg(long, value_name = "MESSAGE")]
        until: Option<u64>,
        /// What the new one is called
        #[arg(long, default_value = "", hide_default_value = true)]
        name: String,
    },
    /// Make a conversation shorter
    Compact {
        /// The session, by its id or its name
        id: String,
        /// The rules: topic, continuation, checkpoint, rolling or handoff
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
    },
}

/// A form that a conversation is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SessionForm {
    /// All messages with all that is known of them, a line each
    Jsonl,
    /// What the model sees, as a request to Anthropic
    Anthropic,
    /// What the model sees, as a request to OpenAI
    Openai,
    /// What the model sees, to read
    Markdown,
}

impl SessionForm {
    /// Its name in commands.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Anthropic => "anthropic",
            Self::Openai => "openai",
            Self::Markdown => "markdown",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct MemoryArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    #[command(flatten)]
    pub(crate) audience: Audience,
    #[command(subcommand)]
    pub(crate) command: MemoryCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Keep a note
    Add {
        /// What to keep; `-` reads it from standard input
        text: String,
        /// File it under this
        #[arg(long, value_name = "TAG")]
        tag: Vec<String>,
    },
    /// List the notes
    List,
    /// Find words in all notes and conversations
    Search {
        /// What to look for
        #[arg(required = true, value_name = "WORD")]
        words: Vec<String>,
        /// How many places to show at most
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// Remove a note
    Remove {
        /// Its number
        id: i64,
    },
}

#[derive(Debug, Args)]
pub(crate) struct IterationArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    #[command(flatten)]
    pub(crate) audience: Audience,
    #[command(flatten)]
    pub(crate) memory: LoopArguments,
    /// The session that the loop is kept in; it is begun when there is none
    #[arg(long, value_name = "ID", default_value = "iteration", global = true)]
    pub(crate) session: String,
    #[command(subcommand)]
    pub(crate) command: IterationCommand,
}

/// How much a loop remembers.
#[derive(Debug, Args)]
pub(crate) struct LoopArguments {
    /// Read these figures from the section `context` of this file (`*.toml`, `*.yaml`)
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// How many iterations are kept word for word (`raw_window_size`); 5 without it
    #[arg(long, value_name = "N", global = true)]
    pub(crate) context_window: Option<usize>,
    /// Write the summary anew every so many iterations, 0 never; 10 without it
    #[arg(long, value_name = "N", global = true)]
    pub(crate) summarize_every: Option<u64>,
    /// The most that the summary may weigh, in tokens; 2,000 without it
    #[arg(long, value_name = "TOKENS", global = true)]
    pub(crate) max_summary_tokens: Option<usize>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum IterationCommand {
    /// Remember an iteration
    Add(Box<ReportArguments>),
    /// Print the prompt of the next iteration
    Prompt(PromptOfLoopArguments),
    /// Say where the loop stands
    Status,
}

/// What the next iteration is for.
#[derive(Debug, Args)]
pub(crate) struct PromptOfLoopArguments {
    /// What the loop is for: needed before its first iteration
    #[arg(long, value_name = "TEXT")]
    pub(crate) goal: Option<String>,
    #[command(flatten)]
    pub(crate) surroundings: EnvironmentArguments,
}

/// Where a loop runs.
#[derive(Debug, Args)]
pub(crate) struct EnvironmentArguments {
    /// Tell the loop this of its environment, or the value of this variable. Replaces what it was told before; values whose names
    /// may mean a secret are withheld
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) env: Vec<String>,
}

/// What an iteration was.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// What the loop is for: needed once, and begins another loop when it changes
    #[arg(long, value_name = "TEXT")]
    pub(crate) goal: Option<String>,
    /// What the iteration was given
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) prompt: String,
    /// The file with what it said; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The program that ran it
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub(crate) cli: String,
    /// The model that ran it
    #[arg(long, value_name = "MODEL", default_value = "", hide_default_value = true)]
    pub(crate) model: String,
    /// How far it got, as you judge
    #[arg(long, value_name = "NUMBER", default_value_t = 0.0, hide_default_value = true)]
    pub(crate) score: f64,
    /// Something that it accomplished, beside what its output says in `<progress>`
    #[arg(long, value_name = "TEXT")]
    pub(crate) marker: Vec<String>,
    /// A file that it changed
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Vec<String>,
    /// A file that appeared since the last iteration, whoever made it
    #[arg(long, value_name = "PATH")]
    pub(crate) created: Vec<String>,
    /// A file whose content changed since the last iteration
    #[arg(long, value_name = "PATH")]
    pub(crate) modified: Vec<String>,
    /// A file that is gone since the last iteration
    #[arg(long, value_name = "PATH")]
    pub(crate) deleted: Vec<String>,
    #[command(flatten)]
    pub(crate) surroundings: EnvironmentArguments,
    /// How long it took, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0, hide_default_value = true)]
    pub(crate) duration: u64,
}

/// Plays recorded sessions through the engine, prompt by prompt, and says what their input costs under each policy and
/// under the layouts of others, as a share of what it costs without a cache. Every prompt is checked on the way: that it
/// holds the current text of what is selected, that the provider would read from its cache what was relied on, and so
/// on (docs/tiers.md). The exit code is 1 when one does not hold.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("source").args(["git", "trace", "transcripts"]).required(true).multiple(true))]
pub(crate) struct ReplayArguments {
    /// Make sessions of the history of this repository: a commit is a turn, its message the prompt, its diff the answer
    #[arg(long, value_name = "DIR")]
    pub(crate) git: Vec<PathBuf>,
    /// Play this trace, or all traces in this folder
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Vec<PathBuf>,
    /// Play the conversations that Claude Code recorded in and below this folder (`*.jsonl`)
    #[arg(long, value_name = "DIR")]
    pub(crate) transcripts: Vec<PathBuf>,
    /// Play under this policy, and not under all
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Vec<PolicyArgument>,
    /// How many sessions to make of each history
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) sessions: u16,
    /// How many turns each of those has at most
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) turns: u16,
    /// Start the sessions elsewhere in the history
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// The model whose prices, limits and tokens count
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Edits that the model's own messages spell out need no diff in the prompt
    #[arg(long)]
    pub(crate) history_deltas: bool,
    /// Play the sessions once more with so many tokens of code that each question brings along
    #[arg(long, value_name = "TOKENS", default_value_t = 0, hide_default_value = true)]
    pub(crate) auto: usize,
    /// Compact the conversations by every profile behind each of their messages, without a model, and say what is still
    /// named afterwards and whether providers would take it
    #[arg(long, requires = "transcripts")]
    #[arg(conflicts_with_all = ["git", "trace", "policy", "history_deltas", "export"])]
    pub(crate) compaction: bool,
    /// Compact behind so many messages of each conversation at most, evenly spread
    #[arg(long, value_name = "N", requires = "compaction", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) cuts: Option<u16>,
    /// Write the sessions made of histories into this folder, as traces
    #[arg(long, value_name = "DIR")]
    pub(crate) export: Option<PathBuf>,
    /// Print all figures as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A policy by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyArgument {
    /// A log that keeps what the provider holds
    Ledger,
    /// Tiers through which content rises while it stays unchanged
    Ripple,
    /// One fixed order
    Flat,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    /// Ask the model that writes summaries for a word, where the settings name one; the provider bills that
    #[arg(long)]
    pub(crate) ask: bool,
    /// Ask the provider that the settings name whether it takes the key, which costs nothing
    #[arg(long)]
    pub(crate) online: bool,
    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    /// Print the schema of the settings, and not that of the protocol
    #[arg(long)]
    pub(crate) settings: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    /// Go on, and show what changes
    #[arg(short, long)]
    pub(crate) watch: bool,
    /// Print what the commands reply as JSON, a line each time
    #[arg(long)]
    pub(crate) json: bool,
    /// The session, by its id or its name; without it the one that was written to last
    pub(crate) id: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Write a page for each command into this folder, such as `~/.local/share/man/man1`
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_options_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }
}
