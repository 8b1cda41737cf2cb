//! Command-line arguments. `strata help` shows the doc comments of these types.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::styling::{AnsiColor, Styles};
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

use strata_app::commands::cost::CostGrouping;
use strata_app::commands::pack::PackForm;
use strata_app::commands::session::ExportFormat;
use strata_app::commands::symbols::MapSort;
use strata_app::commands::{Format, PolicyName};
use tracing::level_filters::LevelFilter;

use crate::reply::ReplyFormat;
use crate::when::PeriodStart;

/// Colors of help and usage errors, if the terminal supports colors.
const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default())
    .error(AnsiColor::Red.on_default().bold())
    .valid(AnsiColor::Green.on_default())
    .invalid(AnsiColor::Yellow.on_default());

/// Language server and command-line tool that manages what a language model sees
#[derive(Debug, Parser)]
#[command(name = "strata", version, subcommand_required = true, arg_required_else_help = true, styles = STYLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the language server on standard input and output
    Serve(ServeArguments),
    /// Start a Model Context Protocol server on standard input and output, for agents
    Mcp(McpArguments),
    /// Ask a model: prints the answer to standard output and its cost to standard error
    Ask(AskArguments),
    /// Talk with a model at a prompt, with line editing and commands
    Chat(ChatArguments),
    /// Make a prompt: prints the request to standard output and its contents to standard error
    Prompt(PromptArguments),
    /// Record the answer to a prompt you sent yourself, read from standard input
    Record(RecordArguments),
    /// Show the symbol map of a repository
    Map(MapArguments),
    /// Find the files and definitions relevant to a task
    Context(ContextArguments),
    /// Find definitions by name
    Symbols(SymbolsArguments),
    /// Show the definitions of a file
    Outline(OutlineArguments),
    /// Show which rule files apply to files, and why
    Rules(RulesArguments),
    /// Show where a name is defined and where it is used
    References(ReferencesArguments),
    /// Search files for a pattern
    Grep(GrepArguments),
    /// Print a file, lines of it, or a definition in it
    Read(ReadArguments),
    /// Make one text of files and outlines, for pasting into a chat
    Pack(PackArguments),
    /// Count the tokens of files
    Tokens(TokensArguments),
    /// Manage the stored conversations of a workspace
    Sessions(SessionsArguments),
    /// Manage notes that outlive conversations
    Memory(MemoryArguments),
    /// Record the iterations of an autonomous loop and make the prompt for the next one
    Iteration(IterationArguments),
    /// Replay recorded sessions and report the cost of each prompt layout
    Replay(ReplayArguments),
    /// Show the size and cost of a session
    Status(StatusArguments),
    /// Show what conversations cost, in tokens and money
    Cost(CostArguments),
    /// Show and change settings
    Config(ConfigArguments),
    /// Check the installation
    Doctor(DoctorArguments),
    /// Print the JSON Schema of the protocol or of the settings
    Schema(SchemaArguments),
    /// Print a shell completion script
    Completions(CompletionsArguments),
    /// Print the manual page, or write the manual pages of all commands
    Man(ManArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    /// Stored session for the agent: an id, a name, `editor` for the session that your editor shows, or `latest` for
    /// whichever session was used most recently. By default, the agent gets a separate session, which is not stored
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Trust the folder, so that its rules, skills and memory become part of the system prompt
    #[arg(long)]
    pub(crate) trusted: bool,
    /// Override a setting, for example `files.list_budget=0`. The value is TOML or plain text, and takes precedence
    /// over all other sources
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) log: LogArguments,
    /// Workspace folder. Defaults to the repository that contains the current directory, or otherwise to the current
    /// directory
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}

const LOG_LEVELS: [(&str, LevelFilter); 6] = [
    ("off", LevelFilter::OFF),
    ("error", LevelFilter::ERROR),
    ("warn", LevelFilter::WARN),
    ("info", LevelFilter::INFO),
    ("debug", LevelFilter::DEBUG),
    ("trace", LevelFilter::TRACE),
];

/// Logging options
#[derive(Debug, Args)]
pub(crate) struct LogArguments {
    /// Minimum level of messages to log to standard error
    #[arg(
        long = "log",
        value_name = "LEVEL",
        env = "STRATA_LOG",
        default_value = "warn",
        ignore_case = true,
        value_parser = one_of_names(LOG_LEVELS)
    )]
    pub(crate) level: LevelFilter,
}

/// The repository that a command works in, and the settings to use there
#[derive(Debug, Args)]
pub(crate) struct RepositoryArguments {
    /// Repository. Defaults to the one that contains the current directory, or otherwise to the current directory
    #[arg(long = "repo", value_name = "DIR", global = true)]
    pub(crate) folder: Option<PathBuf>,
    /// Override a setting, for example `files.list_budget=0`. The value is TOML or plain text, and takes precedence
    /// over all other sources
    #[arg(long, value_name = "NAME=VALUE", global = true)]
    pub(crate) set: Vec<String>,
    /// Keep the repository's rules, skills and memory out of the system prompt
    #[arg(long, global = true)]
    pub(crate) untrusted: bool,
}

/// Parses a number of tokens, such as `4000` or `4k`.
fn parse_tokens(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => (text, 1),
    };
    let number: usize = digits.parse().map_err(|_| "expected a number, such as 4000 or 4k".to_owned())?;
    number.checked_mul(unit).ok_or_else(|| "too large".to_owned())
}

/// Files that a prompt shows in full or omits
#[derive(Debug, Args)]
pub(crate) struct SelectingArguments {
    /// Show a file, a folder, a glob, or lines of a file (`src/lib.rs#L10-40`) in full
    #[arg(long, value_name = "PATH")]
    pub(crate) select: Vec<String>,
    /// No longer show a file, a folder or a glob in full, but only its outline
    #[arg(long, value_name = "PATH")]
    pub(crate) deselect: Vec<String>,
    /// Hide a file, a folder or a glob entirely, including its name
    #[arg(long, value_name = "PATH")]
    pub(crate) exclude: Vec<String>,
    /// Add a text file from anywhere to the context, or an image (PNG, JPEG, GIF or WebP) to the question
    #[arg(long, value_name = "FILE")]
    pub(crate) attach: Vec<PathBuf>,
    /// Allow a file whose name suggests secrets (pass it to `--select` too)
    #[arg(long, value_name = "PATH")]
    pub(crate) confirm_secrets: Vec<String>,
}

/// The conversation that a question belongs to
#[derive(Debug, Args)]
pub(crate) struct ConversationArguments {
    /// Conversation to continue: an id, a name, `latest` for the most recently used one, `editor` for the one that your
    /// editor shows (with `--fork`), or `new`. Defaults to the most recently used one, unless it is older than a day or was
    /// on another branch
    #[arg(long, value_name = "ID", conflicts_with_all = ["new", "continue_latest"])]
    pub(crate) session: Option<String>,
    /// Start a new conversation, like `--session new`
    #[arg(short, long, conflicts_with = "continue_latest")]
    pub(crate) new: bool,
    /// Continue the most recently used conversation, like `--session latest`
    #[arg(short, long = "continue")]
    pub(crate) continue_latest: bool,
}

/// Asks the model configured in `provider.*` and stores the conversation. Each question continues the conversation; the
/// provider bills little more than the new content at full price. Ctrl-C stops the answer and records the part received
/// so far.
#[derive(Debug, Args)]
pub(crate) struct AskArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    #[command(flatten)]
    pub(crate) conversation: ConversationArguments,
    /// Continue in a copy of the conversation, for example while an editor has it open
    #[arg(long, conflicts_with = "new")]
    pub(crate) fork: bool,
    #[command(flatten)]
    pub(crate) selecting: SelectingArguments,
    /// Token limit for relevant code to add automatically, for example 4000 or 4k; 0 adds none. Defaults to the setting
    /// `context.auto_budget`
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    pub(crate) auto: Option<usize>,
    /// Let the model read the map, outlines, references, files and notes with tools. These tools change nothing
    #[arg(long)]
    pub(crate) tools: bool,
    /// Model name, as the provider writes it
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Layout policy, which determines how prompts use the provider's cache
    #[arg(long, value_parser = one_of_names(PolicyName::ALL.map(|policy| (policy.as_str(), policy))))]
    pub(crate) policy: Option<PolicyName>,
    /// Print the result as JSON when the answer is complete
    #[arg(long)]
    pub(crate) json: bool,
    /// Question; `-` reads it from standard input. Otherwise, text that is piped in becomes part of the context
    #[arg(value_name = "TEXT", required = true)]
    pub(crate) text: Vec<String>,
}

/// Talks with the model configured in `provider.*`, as `strata ask` does, and stores the conversation. Lines that begin with
/// `/` are commands, such as `/select PATH`, `/undo` and `/cost`; `/help` lists them. Ctrl-C stops an answer, and Ctrl-D
/// ends the program.
#[derive(Debug, Args)]
pub(crate) struct ChatArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    #[command(flatten)]
    pub(crate) conversation: ConversationArguments,
    #[command(flatten)]
    pub(crate) selecting: SelectingArguments,
    /// Let the model read the map, outlines, references, files and notes with tools. These tools change nothing
    #[arg(long)]
    pub(crate) tools: bool,
    /// Model name, as the provider writes it
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
}

/// Records the answer to a prompt made by `strata prompt --session`, so that the conversation can continue.
#[derive(Debug, Args)]
pub(crate) struct RecordArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    #[command(flatten)]
    pub(crate) reply_format: ReplyFormat,
    /// Conversation: an id, a name, or `latest` for the most recently used one
    #[arg(long, value_name = "ID", default_value = "latest")]
    pub(crate) session: String,
    /// Billed input tokens that were neither read from nor written to the cache
    #[arg(long, value_name = "TOKENS")]
    pub(crate) input: Option<u64>,
    /// Billed output tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) output: Option<u64>,
    /// Input tokens read from the provider's cache
    #[arg(long, value_name = "TOKENS")]
    pub(crate) cache_read: Option<u64>,
    /// Input tokens written to the provider's cache
    #[arg(long, value_name = "TOKENS")]
    pub(crate) cache_write: Option<u64>,
    /// The answer was interrupted, and standard input contains only its beginning
    #[arg(long)]
    pub(crate) aborted: bool,
    /// The provider rejected the prompt as too long. Compacts the conversation before the next prompt, and reads no
    /// answer
    #[arg(long)]
    pub(crate) too_long: bool,
    /// Id of the prompt, as printed by `strata prompt --session`
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: String,
}

#[derive(Debug, Args)]
pub(crate) struct PromptArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    #[command(flatten)]
    pub(crate) selecting: SelectingArguments,
    /// Token limit for relevant code to add automatically, for example 4000 or 4k; 0 adds none. Defaults to the setting
    /// `context.auto_budget`
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    pub(crate) auto: Option<usize>,
    /// Make the next prompt of a stored session (an id, a name, `latest`, or `new`), so that its answer can be recorded
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Model to make the prompt for
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Format of the request body
    #[arg(long, value_parser = one_of_names(Format::ALL.iter().map(|format| (format.as_str(), *format))))]
    pub(crate) format: Option<Format>,
    /// Layout policy, which determines how prompts use the provider's cache
    #[arg(long, value_parser = one_of_names(PolicyName::ALL.map(|policy| (policy.as_str(), policy))))]
    pub(crate) policy: Option<PolicyName>,
    /// Print the prompt with all its details as JSON, instead of only the request body
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the request body to this file instead of standard output
    #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,
    /// Question; `-` reads it from standard input. Otherwise, text that is piped in becomes part of the context
    #[arg(value_name = "TEXT", required = true)]
    pub(crate) text: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct MapArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    /// Token limit for the map, for example 4000 or 4k. Defaults to `symbols.map_budget`, or else to an eighth of the
    /// model's window, between 4,000 and 64,000
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    pub(crate) budget: Option<usize>,
    /// Always include a file, a directory or a glob, and rank related files first
    #[arg(long, value_name = "PATH")]
    pub(crate) focus: Vec<String>,
    /// Rank code that is related to this text first
    #[arg(long, value_name = "TEXT")]
    pub(crate) about: Option<String>,
    /// Order of the files: most important first, or by path
    #[arg(long, value_parser = one_of_names([("rank", MapSort::Rank), ("path", MapSort::Path)]), default_value = "rank")]
    pub(crate) sort: MapSort,
    /// Also print a legend that explains the map's notation
    #[arg(long)]
    pub(crate) legend: bool,
    /// Print the map as JSON, with the rank, level and size of each file
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options shared by all queries
#[derive(Debug, Args)]
pub(crate) struct QueryArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    /// Token limit for the result. Unlimited by default
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
    /// Maximum number of files and definitions
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Description of the task in plain words; `-` reads it from standard input
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
}

#[derive(Debug, Args)]
pub(crate) struct SymbolsArguments {
    #[command(flatten)]
    pub(crate) query: QueryArguments,
    /// Maximum number of definitions
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Name, or some of its letters in order. `Type.method` finds a member of a type
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct OutlineArguments {
    #[command(flatten)]
    pub(crate) query: QueryArguments,
    /// File to outline
    #[arg(value_name = "PATH")]
    pub(crate) path: String,
}

#[derive(Debug, Args)]
pub(crate) struct RulesArguments {
    #[command(flatten)]
    pub(crate) query: QueryArguments,
    /// Files, which need not exist. By default, only rules that always apply
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReferencesArguments {
    #[command(flatten)]
    pub(crate) query: QueryArguments,
    /// Only show definitions in this file
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// Maximum number of references
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) limit: usize,
    /// Exact name of the definition
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct GrepArguments {
    #[command(flatten)]
    pub(crate) query: QueryArguments,
    /// Match the pattern literally instead of as a regular expression
    #[arg(short = 'F', long)]
    pub(crate) fixed_strings: bool,
    /// Ignore letter case
    #[arg(short, long)]
    pub(crate) ignore_case: bool,
    /// Match only whole words
    #[arg(short, long)]
    pub(crate) word_regexp: bool,
    /// Number of lines to show before and after each match
    #[arg(short = 'C', long, value_name = "LINES", default_value_t = 0, hide_default_value = true)]
    pub(crate) context: usize,
    /// Maximum number of matching lines
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) limit: usize,
    /// Regular expression in ripgrep syntax, matched against single lines
    #[arg(value_name = "PATTERN")]
    pub(crate) pattern: String,
    /// Search only these files, folders or globs
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReadArguments {
    #[command(flatten)]
    pub(crate) query: QueryArguments,
    /// File, lines of a file (`src/lib.rs#L10-40`), or a definition in a file (`src/lib.rs#Type.method`)
    #[arg(value_name = "PATH")]
    pub(crate) path: String,
}

#[derive(Debug, Args)]
pub(crate) struct TokensArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    /// Model to count tokens for
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Number of directory levels to show. Defaults to as many as fit in 100 lines
    #[arg(long, value_name = "LEVELS")]
    pub(crate) depth: Option<usize>,
    /// Print the token count of every file as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Count only these files, folders or globs
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
}

/// Makes one text of files and outlines, for pasting into a chat. Without paths, packs the whole repository. Files that do
/// not fit into the budget are outlined, the least important first. Leaves out ignored files, and replaces secrets.
#[derive(Debug, Args)]
pub(crate) struct PackArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    /// Question that the text is for. Relevant files come first, and the text ends with the question
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) question: Option<String>,
    /// Token limit for the text, for example 30k. Defaults to no limit for paths, and to 30k for the whole repository
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    pub(crate) budget: Option<usize>,
    /// Hide a file, a folder or a glob entirely
    #[arg(long, value_name = "PATH")]
    pub(crate) exclude: Vec<String>,
    /// Form of the text
    #[arg(long, value_parser = one_of_names([("markdown", PackForm::Markdown), ("xml", PackForm::Xml)]), default_value = "markdown")]
    pub(crate) format: PackForm,
    /// Copy the text to the clipboard of the terminal (OSC 52), instead of printing it
    #[arg(short, long, conflicts_with_all = ["output", "json"])]
    pub(crate) copy: bool,
    /// Write the text to this file instead of standard output
    #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,
    /// Print the text and what it contains as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Pack only these files, folders or globs
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    #[command(flatten)]
    pub(crate) reply_format: ReplyFormat,
    #[command(subcommand)]
    pub(crate) command: SessionsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the conversations, most recently used first
    List,
    /// Show what the model sees of a conversation
    Show {
        /// Session id or name
        id: String,
    },
    /// Export a conversation to standard output or a file
    Export {
        /// Session id or name
        id: String,
        /// Format of the export
        #[arg(long, visible_alias = "as", value_enum, default_value_t = ExportFormatArgument::Jsonl)]
        format: ExportFormatArgument,
        /// Write to this file instead of standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Import conversations: exports, recordings of other agents, or message lists for Anthropic or OpenAI
    Import {
        /// Files to import; `-` is standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Search all conversations and notes
    Search {
        /// Words to search for
        #[arg(required = true, value_name = "WORD")]
        words: Vec<String>,
        /// Maximum number of results
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// Delete conversations and everything stored with them
    Delete {
        /// Session ids or names
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    /// Rename a conversation
    Rename {
        /// Session id or name
        id: String,
        /// New name
        name: String,
    },
    /// Start a new conversation with a copy of another conversation's messages
    Fork {
        /// Id or name of the session to copy
        id: String,
        /// Number of the last message to copy. Copies all messages by default
        #[arg(long, value_name = "MESSAGE")]
        until: Option<u64>,
        /// Name of the new conversation
        #[arg(long, default_value = "", hide_default_value = true)]
        name: String,
    },
    /// Compact a conversation now
    Compact {
        /// Session id or name
        id: String,
        /// Compaction profile: topic, continuation, checkpoint, rolling or handoff
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
    },
}

/// Export formats
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormatArgument {
    /// All messages with their metadata, one JSON object per line
    Jsonl,
    /// The conversation as the model sees it, as an Anthropic request
    Anthropic,
    /// The conversation as the model sees it, as an OpenAI request
    Openai,
    /// The conversation as the model sees it, as Markdown
    Markdown,
    /// A transcript of Claude Code (for `~/.claude/projects`)
    ClaudeCode,
    /// A rollout file of Codex (for `~/.codex/sessions`)
    Codex,
    /// A session of Gemini CLI (for `~/.gemini/tmp/*/chats`)
    GeminiCli,
    /// An export of opencode (for `opencode import`)
    Opencode,
}

impl From<ExportFormatArgument> for ExportFormat {
    fn from(form: ExportFormatArgument) -> Self {
        match form {
            ExportFormatArgument::Jsonl => Self::Jsonl,
            ExportFormatArgument::Anthropic => Self::Anthropic,
            ExportFormatArgument::Openai => Self::OpenAi,
            ExportFormatArgument::Markdown => Self::Markdown,
            ExportFormatArgument::ClaudeCode => Self::ClaudeCode,
            ExportFormatArgument::Codex => Self::Codex,
            ExportFormatArgument::GeminiCli => Self::GeminiCli,
            ExportFormatArgument::Opencode => Self::Opencode,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct MemoryArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    #[command(flatten)]
    pub(crate) reply_format: ReplyFormat,
    #[command(subcommand)]
    pub(crate) command: MemoryCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Save a note
    Add {
        /// Text of the note; `-` reads it from standard input
        text: String,
        /// Tag to file the note under
        #[arg(long, value_name = "TAG")]
        tag: Vec<String>,
    },
    /// List the notes
    List,
    /// Search all notes and conversations
    Search {
        /// Words to search for
        #[arg(required = true, value_name = "WORD")]
        words: Vec<String>,
        /// Maximum number of results
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// Delete a note
    Remove {
        /// Number of the note, as `strata memory list` shows it
        id: i64,
    },
}

#[derive(Debug, Args)]
pub(crate) struct IterationArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    #[command(flatten)]
    pub(crate) reply_format: ReplyFormat,
    #[command(flatten)]
    pub(crate) memory: LoopArguments,
    /// Session that stores the loop. Created if it does not exist
    #[arg(long, value_name = "ID", default_value = "iteration", global = true)]
    pub(crate) session: String,
    #[command(subcommand)]
    pub(crate) command: IterationCommand,
}

/// Limits of a loop's memory
#[derive(Debug, Args)]
pub(crate) struct LoopArguments {
    /// Read the limits from the section `context` of this file (`*.toml`, `*.yaml`)
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// Number of recent iterations to keep verbatim (`raw_window_size`). Defaults to 5
    #[arg(long, value_name = "N", global = true)]
    pub(crate) context_window: Option<usize>,
    /// Number of iterations between updates of the summary; 0 disables updates. Defaults to 10
    #[arg(long, value_name = "N", global = true)]
    pub(crate) summarize_every: Option<u64>,
    /// Token limit for the summary. Defaults to 2,000
    #[arg(long, value_name = "TOKENS", global = true)]
    pub(crate) max_summary_tokens: Option<usize>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum IterationCommand {
    /// Record an iteration
    Add(Box<ReportArguments>),
    /// Print the prompt for the next iteration
    Prompt(LoopPromptArguments),
    /// Show the state of the loop
    Status,
}

/// Prompt for the next iteration
#[derive(Debug, Args)]
pub(crate) struct LoopPromptArguments {
    /// Goal of the loop. Required before its first iteration
    #[arg(long, value_name = "TEXT")]
    pub(crate) goal: Option<String>,
    #[command(flatten)]
    pub(crate) surroundings: EnvironmentArguments,
}

/// Environment of a loop
#[derive(Debug, Args)]
pub(crate) struct EnvironmentArguments {
    /// Set an environment fact (`NAME=value`), or use the current value of an environment variable (`NAME`). Replaces
    /// earlier facts. Values of names that suggest secrets are withheld
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) env: Vec<String>,
}

/// Report of a finished iteration
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Goal of the loop. Required once; a different goal starts a new loop
    #[arg(long, value_name = "TEXT")]
    pub(crate) goal: Option<String>,
    /// Prompt that the iteration received
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) prompt: String,
    /// File with the output of the iteration; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Program that ran the iteration
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub(crate) cli: String,
    /// Model that ran the iteration
    #[arg(long, value_name = "MODEL", default_value = "", hide_default_value = true)]
    pub(crate) model: String,
    /// Your rating of the iteration's progress, on a scale of your choice
    #[arg(long, value_name = "NUMBER", default_value_t = 0.0, hide_default_value = true)]
    pub(crate) score: f64,
    /// Accomplishment to record in addition to those in the `<progress>` section of the output
    #[arg(long, value_name = "TEXT")]
    pub(crate) marker: Vec<String>,
    /// File that the iteration changed
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Vec<String>,
    /// File created since the previous iteration, by this iteration or by anyone else
    #[arg(long, value_name = "PATH")]
    pub(crate) created: Vec<String>,
    /// File modified since the previous iteration
    #[arg(long, value_name = "PATH")]
    pub(crate) modified: Vec<String>,
    /// File deleted since the previous iteration
    #[arg(long, value_name = "PATH")]
    pub(crate) deleted: Vec<String>,
    #[command(flatten)]
    pub(crate) surroundings: EnvironmentArguments,
    /// Duration of the iteration, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0, hide_default_value = true)]
    pub(crate) duration: u64,
}

/// Replays recorded sessions prompt by prompt, and reports the cost of their input under each policy and under the
/// layouts of other tools, relative to the cost without a cache. Checks every prompt, for example that it contains the
/// current text of each selected file, and that the provider would read from its cache what the cost calculation
/// assumes (docs/tiers.md). Exits with 1 if a check fails.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("source").args(["git", "trace", "transcripts"]).required(true).multiple(true))]
pub(crate) struct ReplayArguments {
    /// Make sessions from the Git history of this repository. Each commit is a turn, with its message as the prompt and
    /// its diff as the answer
    #[arg(long, value_name = "DIR")]
    pub(crate) git: Vec<PathBuf>,
    /// Replay this trace, or all traces in this folder
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Vec<PathBuf>,
    /// Replay the conversations that Claude Code recorded in or below this folder (`*.jsonl`)
    #[arg(long, value_name = "DIR")]
    pub(crate) transcripts: Vec<PathBuf>,
    /// Replay only with this policy: `ledger` (an append-only log that preserves what the provider has cached), `ripple`
    /// (cached tiers; content that stays unchanged moves up) or `flat` (a fixed order)
    #[arg(long, value_name = "NAME", value_parser = one_of_names(PolicyName::ALL.map(|policy| (policy.as_str(), policy))))]
    pub(crate) policy: Vec<PolicyName>,
    /// Number of sessions to make from each Git history. Defaults to 20, or to 4 if the workload is not `people`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) sessions: Option<u16>,
    /// Maximum number of turns in each session
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) turns: u16,
    /// Random seed that determines where sessions start
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// How long the sessions are, and what happens in them (docs/tiers.md). Defaults to `people` with `--git`, and to
    /// `windows` with `--explain`, with `--export` and for traces
    #[arg(long, value_name = "NAME", value_enum)]
    pub(crate) workload: Option<WorkloadArgument>,
    /// Draw the pauses between turns from those of people, instead of a minute each, and let cache entries live as long
    /// as is expected to pay
    #[arg(long, value_name = "WHOSE", value_enum)]
    pub(crate) pauses: Option<PausesArgument>,
    /// Token limit for the symbol map in each prompt. Defaults to the limit in other prompts
    #[arg(long, value_name = "TOKENS")]
    pub(crate) map: Option<usize>,
    /// Model whose prices, limits and tokenizer to use
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Show every change as a diff, even an edit that the model's own messages contain
    #[arg(long)]
    pub(crate) explicit_deltas: bool,
    /// Also report why `ledger` costs more than the lower bound for any layout, broken down by cause
    #[arg(long)]
    pub(crate) explain: bool,
    /// Also replay each session with `ledger` and up to this many tokens of automatic context per question
    #[arg(long, value_name = "TOKENS", default_value_t = 0, hide_default_value = true)]
    pub(crate) auto: usize,
    /// Compact the conversations after each message with every profile, without a model, and report which facts survive
    /// and whether providers accept the result
    #[arg(long, requires = "transcripts")]
    #[arg(conflicts_with_all = ["git", "trace", "policy", "explicit_deltas", "explain", "export"])]
    pub(crate) compaction: bool,
    /// Maximum number of compactions per conversation and profile, spread evenly. By default, one after each message
    #[arg(long, value_name = "N", requires = "compaction", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) cuts: Option<u16>,
    /// Export the sessions made from Git histories to this folder, as traces
    #[arg(long, value_name = "DIR")]
    pub(crate) export: Option<PathBuf>,
    /// Print all results as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Workloads of a replay
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorkloadArgument {
    /// Length, selected files and pauses are drawn from 137 recorded conversations
    People,
    /// A stress test: long sessions in which files often leave the selection
    Windows,
    /// Like `windows`, with questions, an agent's tool calls, pauses, another branch, a second model and a compaction
    Varied,
}

/// Pauses between turns
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PausesArgument {
    /// 485 pauses in recorded conversations: 36 % are longer than five minutes, 5 % longer than half an hour
    People,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    /// Send a short test request to the model that writes summaries, if one is configured. The provider bills this
    /// request
    #[arg(long)]
    pub(crate) ask: bool,
    /// Check that the configured provider accepts the key (free of charge)
    #[arg(long)]
    pub(crate) online: bool,
    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    /// Print the schema of the settings instead of the protocol's
    #[arg(long)]
    pub(crate) settings: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    /// Keep running, and print the status whenever it changes
    #[arg(short, long)]
    pub(crate) watch: bool,
    /// Print each status as one line of JSON, which combines the replies to several commands
    #[arg(long)]
    pub(crate) json: bool,
    /// Session id or name. Defaults to the most recently used session
    pub(crate) id: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// List the settings that differ from their defaults, and where each is set
    List {
        /// List all settings
        #[arg(long)]
        all: bool,
        /// Print all settings as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the value of a setting
    Get {
        /// Name of the setting, for example `symbols.map_budget`
        #[arg(value_name = "NAME", value_parser = SettingName, hide_possible_values = true)]
        name: String,
    },
    /// Change a setting in your settings file, if the result is valid
    Set {
        /// Name of the setting, for example `symbols.map_budget`
        #[arg(value_name = "NAME", value_parser = SettingName, hide_possible_values = true)]
        name: String,
        /// Value, as TOML or plain text
        value: String,
        /// Change the repository's settings (`.strata.toml`) instead of your own
        #[arg(short, long)]
        workspace: bool,
    },
    /// Remove a setting from your settings file
    Unset {
        /// Name of the setting
        #[arg(value_name = "NAME", value_parser = SettingName, hide_possible_values = true)]
        name: String,
        /// Change the repository's settings (`.strata.toml`) instead of your own
        #[arg(short, long)]
        workspace: bool,
    },
    /// Edit your settings file in your editor (`VISUAL` or `EDITOR`), and check it
    Edit {
        /// Edit the repository's settings instead of your own
        #[arg(short, long)]
        workspace: bool,
    },
    /// Print the path of your settings file
    Path {
        /// Print the path of the repository's settings file
        #[arg(short, long)]
        workspace: bool,
    },
}

/// Parses names of settings, and lets shells complete those that exist. Names in tables, such as those of models, are free.
#[derive(Clone)]
struct SettingName;

static SETTING_NAMES: LazyLock<Vec<String>> = LazyLock::new(strata_app::runtime::headless::setting_names);

impl TypedValueParser for SettingName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(SETTING_NAMES.iter().map(|name| PossibleValue::new(name.as_str()))))
    }
}

/// Shows what the conversations of a workspace were billed. Costs in money use the list prices that Strata knows for each
/// model, at the time of each request. Set other prices, in US dollars per million tokens, in a settings file:
/// `[models.model."my-model"]` and below it `price = { input = 3.0, output = 15.0 }`. Conversations that you delete no
/// longer count, nor do summaries that a provider wrote.
#[derive(Debug, Args)]
pub(crate) struct CostArguments {
    #[command(flatten)]
    pub(crate) repository: RepositoryArguments,
    /// First day (UTC), as a date such as 2026-03-31, or a number of days up to today, such as 7d
    #[arg(long, value_name = "DAY", value_parser = PeriodStart::parse)]
    pub(crate) since: Option<PeriodStart>,
    /// What to add costs up by
    #[arg(long, value_parser = one_of_names(COST_GROUPINGS), default_value = "session")]
    pub(crate) by: CostGrouping,
    /// Print the costs as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const COST_GROUPINGS: [(&str, CostGrouping); 3] =
    [("session", CostGrouping::Session), ("model", CostGrouping::Model), ("day", CostGrouping::Day)];

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// Shell to generate the script for
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Write a page for each command to this folder, for example `~/.local/share/man/man1`
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// Returns a parser for the name of one of `values`.
fn one_of_names<T: Copy + Send + Sync + 'static>(
    values: impl IntoIterator<Item = (&'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let values: Vec<(&'static str, T)> = values.into_iter().collect();
    let names: Vec<&'static str> = values.iter().map(|(name, _)| *name).collect();
    PossibleValuesParser::new(names).try_map(move |given| {
        let value = values.iter().find(|(name, _)| name.eq_ignore_ascii_case(&given));
        value.map(|(_, value)| *value).ok_or("unknown name")
    })
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
