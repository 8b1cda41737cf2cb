// What Strata takes, replies and says by itself. Made from the Rust types by
// `UPDATE_EXPECT=1 cargo test --test architecture generated`; do not edit.

/** The commands of `workspace/executeCommand`, each with its one argument and its reply. */
export interface Commands {
  /** Selects files, so that prompts contain them in full. */
  'strata.files.select': { params: FilesSelectParams; reply: FilesSelectReply };
  /** Deselects files, so that prompts contain their map blocks. */
  'strata.files.deselect': { params: FilesDeselectParams; reply: FilesDeselectReply };
  /** Replaces the selection. */
  'strata.files.set': { params: FilesSetParams; reply: FilesSetReply };
  /** Excludes files from prompts entirely. */
  'strata.files.exclude': { params: FilesExcludeParams; reply: FilesExcludeReply };
  /** Undoes an exclusion. */
  'strata.files.include': { params: FilesIncludeParams; reply: FilesIncludeReply };
  /** Lists the selected and excluded files. */
  'strata.files.list': { params: FilesListParams; reply: FilesListReply };
  /** Adds a text under a path, regardless of the file on disk. */
  'strata.files.add': { params: FilesAddParams; reply: FilesAddReply };
  /** Same as `strata.files.deselect`. */
  'strata.files.remove': { params: FilesRemoveParams; reply: FilesRemoveReply };
  /** Updates the selection after files were renamed. */
  'strata.files.rename': { params: FilesRenameParams; reply: FilesRenameReply };
  /** Deselects all files and removes texts added by the client. Exclusions stay. */
  'strata.files.clear': { params: FilesClearParams; reply: FilesClearReply };
  /** Finds workspace files by letters of their paths. */
  'strata.files.find': { params: FilesFindParams; reply: FilesFindReply };
  /** Reads the current text of a file, of some of its lines, or of a definition, from the buffer or from disk. */
  'strata.files.read': { params: FilesReadParams; reply: FilesReadReply };
  /** Finds lines that match a pattern in workspace files. */
  'strata.files.grep': { params: FilesGrepParams; reply: FilesGrepReply };
  /** Tells whether a file is selected. */
  'strata.files.has': { params: FilesHasParams; reply: FilesHasReply };
  /** Records files that were read outside of Strata. */
  'strata.files.markRead': { params: FilesMarkReadParams; reply: FilesMarkReadReply };
  /** Selects the current document, or a range of its lines, and shows a message. */
  'strata.here.select': { params: HereSelectParams; reply: HereSelectReply };
  /** Deselects the current document and shows a message. */
  'strata.here.deselect': { params: HereDeselectParams; reply: HereDeselectReply };
  /** Selects the current document, or deselects it if selected, and shows a message. */
  'strata.here.toggle': { params: HereToggleParams; reply: HereToggleReply };
  /** Excludes the current document from prompts and shows a message. */
  'strata.here.exclude': { params: HereExcludeParams; reply: HereExcludeReply };
  /** Undoes the exclusion of the current document and shows a message. */
  'strata.here.include': { params: HereIncludeParams; reply: HereIncludeReply };
  /** Writes the next prompt to a file, and opens it in the editor or shows its path. */
  'strata.here.preview': { params: HerePreviewParams; reply: HerePreviewReply };
  /**
   * Asks the model of the settings `provider.*` what the comment in the range asks, or to explain the code there,
   * and opens the answer in the editor when it is complete.
   */
  'strata.here.ask': { params: HereAskParams; reply: HereAskReply };
  /** Shows a one-line summary of the context. */
  'strata.here.status': { params: HereStatusParams; reply: HereStatusReply };
  /** Makes a prompt: a request body for a provider, with details about its content. */
  'strata.prompt.assemble': { params: PromptAssembleParams; reply: PromptAssembleReply };
  /** Records the outcome of a prompt, which completes the turn. */
  'strata.prompt.record': { params: PromptRecordParams; reply: PromptRecordReply };
  /** Discards a prompt that was not sent. */
  'strata.prompt.discard': { params: PromptDiscardParams; reply: PromptDiscardReply };
  /**
   * Asks the model of `provider.*`: assembles a prompt, sends it, streams the answer, and records it with its
   * usage.
   */
  'strata.prompt.send': { params: PromptSendParams; reply: PromptSendReply };
  /** Previews the next request as a document. */
  'strata.prompt.preview': { params: PromptPreviewParams; reply: PromptPreviewReply };
  /** Compares the next request with an earlier preview. */
  'strata.prompt.changes': { params: PromptChangesParams; reply: PromptChangesReply };
  /** Counts the tokens of a text. */
  'strata.prompt.estimate': { params: PromptEstimateParams; reply: PromptEstimateReply };
  /**
   * Asks the model of `provider.*` with messages that the client keeps: sends them as they are, with cache marks,
   * and streams the answer. Reads and changes no session.
   */
  'strata.model.send': { params: ModelSendParams; reply: ModelSendReply };
  /** Lists the excerpts for a question, or those in the last prompt. */
  'strata.context.list': { params: ContextListParams; reply: ContextListReply };
  /** Pins excerpts, so that every prompt contains them. */
  'strata.context.pin': { params: ContextPinParams; reply: ContextPinReply };
  /** Unpins excerpts. */
  'strata.context.unpin': { params: ContextUnpinParams; reply: ContextUnpinReply };
  /** Removes excerpts from prompts and stops suggesting them in this session. */
  'strata.context.dismiss': { params: ContextDismissParams; reply: ContextDismissReply };
  /** Suggests dismissed excerpts again. */
  'strata.context.restore': { params: ContextRestoreParams; reply: ContextRestoreReply };
  /** Sets the automatic context of this session, or turns it on or off. */
  'strata.context.auto': { params: ContextAutoParams; reply: ContextAutoReply };
  /** Reports the layout of the next prompt, and the reasons for it. */
  'strata.tiers.report': { params: TiersReportParams; reply: TiersReportReply };
  /** Rebuilds the layout with the next prompt. */
  'strata.tiers.rebuild': { params: TiersRebuildParams; reply: TiersRebuildReply };
  /** Reports the cache policy, and sets that of the session. */
  'strata.tiers.policy': { params: TiersPolicyParams; reply: TiersPolicyReply };
  /** Explains why the last recorded prompt missed the cache. */
  'strata.tiers.explainBreak': { params: TiersExplainBreakParams; reply: TiersExplainBreakReply };
  /** Estimates the cost of a pause or of another model. */
  'strata.tiers.forecast': { params: TiersForecastParams; reply: TiersForecastReply };
  /** Adds a message. */
  'strata.history.add': { params: HistoryAddParams; reply: HistoryAddReply };
  /** Adds a question and its answer. */
  'strata.history.addExchange': { params: HistoryAddExchangeParams; reply: HistoryAddExchangeReply };
  /** Reads all messages, including hidden ones. */
  'strata.history.get': { params: HistoryGetParams; reply: HistoryGetReply };
  /** Counts messages and the tokens of those the model sees. */
  'strata.history.count': { params: HistoryCountParams; reply: HistoryCountReply };
  /** Replaces the conversation. */
  'strata.history.set': { params: HistorySetParams; reply: HistorySetReply };
  /** Clears the conversation. */
  'strata.history.clear': { params: HistoryClearParams; reply: HistoryClearReply };
  /** Deletes a message and all later ones. */
  'strata.history.truncate': { params: HistoryTruncateParams; reply: HistoryTruncateReply };
  /** Replaces the content of a message. */
  'strata.history.edit': { params: HistoryEditParams; reply: HistoryEditReply };
  /** Pins a message, so that every compaction keeps it verbatim, or unpins it. */
  'strata.history.pin': { params: HistoryPinParams; reply: HistoryPinReply };
  /** Hides a message from the model or the user, or shows it again. */
  'strata.history.hide': { params: HistoryHideParams; reply: HistoryHideReply };
  /** Resets the tiers of all messages. The conversation stays. */
  'strata.history.reregister': { params: HistoryReregisterParams; reply: HistoryReregisterReply };
  /** Imports a conversation that another program recorded. */
  'strata.history.import': { params: HistoryImportParams; reply: HistoryImportReply };
  /** Truncates a tool output, and adds it to the conversation if it names its call. */
  'strata.toolOutput.add': { params: ToolOutputAddParams; reply: ToolOutputAddReply };
  /** Reads more of a truncated output. */
  'strata.toolOutput.read': { params: ToolOutputReadParams; reply: ToolOutputReadReply };
  /** Records an iteration of an autonomous loop. */
  'strata.iteration.add': { params: IterationAddParams; reply: IterationAddReply };
  /** Makes the prompt for the next iteration. */
  'strata.iteration.prompt': { params: IterationPromptParams; reply: IterationPromptReply };
  /** Reports the state of the loop. */
  'strata.iteration.status': { params: IterationStatusParams; reply: IterationStatusReply };
  /** Saves a note for all sessions. */
  'strata.memory.add': { params: MemoryAddParams; reply: MemoryAddReply };
  /** Searches notes, memory files and conversations of the workspace. */
  'strata.memory.search': { params: MemorySearchParams; reply: MemorySearchReply };
  /** Lists the notes. */
  'strata.memory.list': { params: MemoryListParams; reply: MemoryListReply };
  /** Removes a note. */
  'strata.memory.remove': { params: MemoryRemoveParams; reply: MemoryRemoveReply };
  /** Starts a session and makes it current. */
  'strata.session.new': { params: SessionNewParams; reply: SessionNewReply };
  /** Starts a session with the same files and makes it current. */
  'strata.session.reset': { params: SessionResetParams; reply: SessionResetReply };
  /** Lists the sessions, most recently used first. */
  'strata.session.list': { params: SessionListParams; reply: SessionListReply };
  /** Opens a stored session and makes it current. */
  'strata.session.load': { params: SessionLoadParams; reply: SessionLoadReply };
  /** Lists the tool calls of the session. */
  'strata.session.steps': { params: SessionStepsParams; reply: SessionStepsReply };
  /** Starts a session with a copy of this session's messages and makes it current. */
  'strata.session.fork': { params: SessionForkParams; reply: SessionForkReply };
  /** Names a session. */
  'strata.session.rename': { params: SessionRenameParams; reply: SessionRenameReply };
  /** Deletes a session. */
  'strata.session.delete': { params: SessionDeleteParams; reply: SessionDeleteReply };
  /** Exports a session as text. */
  'strata.session.export': { params: SessionExportParams; reply: SessionExportReply };
  /** Creates a session from a text exported by `strata.session.export` or recorded by another program. */
  'strata.session.import': { params: SessionImportParams; reply: SessionImportReply };
  /** Searches the session. */
  'strata.session.search': { params: SessionSearchParams; reply: SessionSearchReply };
  /** Adds a web page that the client fetched. */
  'strata.url.add': { params: UrlAddParams; reply: UrlAddReply };
  /** Removes a web page. */
  'strata.url.remove': { params: UrlRemoveParams; reply: UrlRemoveReply };
  /** Lists the web pages in the context. */
  'strata.url.list': { params: UrlListParams; reply: UrlListReply };
  /** Reports the size of the next request without its prompt. */
  'strata.budget.report': { params: BudgetReportParams; reply: BudgetReportReply };
  /** Limits the input tokens of every request of the session. */
  'strata.budget.set': { params: BudgetSetParams; reply: BudgetSetReply };
  /** Reports how close the conversation is to compaction. */
  'strata.compaction.status': { params: CompactionStatusParams; reply: CompactionStatusReply };
  /** Compacts the conversation. Replies when the compaction is done. */
  'strata.compaction.run': { params: CompactionRunParams; reply: CompactionRunReply };
  /** Undoes the last compaction. */
  'strata.compaction.undo': { params: CompactionUndoParams; reply: CompactionUndoReply };
  /**
   * Compacts the conversation after the provider rejected a prompt as too long. Replies when the compaction is
   * done.
   */
  'strata.compaction.contextLimitExceeded': { params: CompactionContextLimitExceededParams; reply: CompactionContextLimitExceededReply };
  /** Lists the secrets replaced by placeholders. */
  'strata.redaction.list': { params: RedactionListParams; reply: RedactionListReply };
  /** Restores the secrets in a text before it is applied. */
  'strata.redaction.restore': { params: RedactionRestoreParams; reply: RedactionRestoreReply };
  /** Builds the symbol map. */
  'strata.symbols.map': { params: SymbolsMapParams; reply: SymbolsMapReply };
  /** Outlines a file, with line numbers. */
  'strata.symbols.file': { params: SymbolsFileParams; reply: SymbolsFileReply };
  /** Finds references to a name. */
  'strata.symbols.references': { params: SymbolsReferencesParams; reply: SymbolsReferencesReply };
  /** Reports a file's dependencies and dependents. */
  'strata.symbols.dependents': { params: SymbolsDependentsParams; reply: SymbolsDependentsReply };
  /** Finds definitions by letters of their names. */
  'strata.symbols.find': { params: SymbolsFindParams; reply: SymbolsFindReply };
  /** Finds files and definitions relevant to a text. */
  'strata.symbols.relevant': { params: SymbolsRelevantParams; reply: SymbolsRelevantReply };
  /** Reports the state of the server. */
  'strata.server.status': { params: ServerStatusParams; reply: ServerStatusReply };
  /** Scans and outlines the repository again. */
  'strata.server.reindex': { params: ServerReindexParams; reply: ServerReindexReply };
  /** Reports the effective settings. */
  'strata.server.settings': { params: ServerSettingsParams; reply: ServerSettingsReply };
  /** Lists the models and their properties. */
  'strata.server.models': { params: ServerModelsParams; reply: ServerModelsReply };
}

/** What the server says by itself. */
export interface Notifications {
  /** How full the context is and how much of it is cached. Sent at most four times a second. */
  'strata/status': Status;
  /** A compaction started, ended or failed. */
  'strata/compaction': Compaction;
  /**
   * A piece of the answer to `strata.prompt.send` or `strata.model.send`. Pieces arrive in order, before the reply.
   */
  'strata/delta': Delta;
  /** Something the user should know. */
  'strata/warning': Warning;
}

/** What the server asks of a client that says it answers it. */
export interface Requests {
  /**
   * Asks the client to have a model write a summary. Sent only to clients that list it in `requests` of their
   * `initializationOptions`.
   */
  'strata/summarize': { params: Summarize; reply: Summary };
  /**
   * Asks the client for the provider's token count of a request. Sent only to clients that list it in `requests` of
   * their `initializationOptions`.
   */
  'strata/countTokens': { params: CountTokens; reply: TokenCount };
}

/** When to archive results beyond the cutoff. */
export type ArchivalMode =
  /** Immediately. */
  | 'eager'
  /** When archiving costs no more than it saves. */
  | 'cache_aware';

/** Where the model of a summary runs. */
export type AuthorKind =
  /** A model of the client (`strata/summarize`). */
  | 'client'
  /** A model of a provider, asked over HTTP. */
  | 'http'
  /** No model: the summary was extracted from the conversation. */
  | 'extractive';

/** A finished prompt. */
export type Body =
  /** Ready to POST once the client adds model parameters. */
  | Record<string, unknown>
  /** Ready to read or paste. */
  | string;

/** How a request body is handed over. */
export type BodyAs =
  /** As the JSON object that it is. */
  | 'json'
  /** As a string: the exact text to POST, for clients that would write the object's fields in another order. */
  | 'text';

/** Why the prefix of the last prompt ended where it did. */
export type BreakReason =
  /** The session's first prompt. */
  | 'first'
  /** Nothing: the previous prompt is a prefix of this one. */
  | 'none'
  /** Another model, dialect or tools. */
  | 'model'
  /** The whole cache expired during a pause. */
  | 'expired'
  /** The system prompt was changed. */
  | 'system'
  /** A file was deselected. */
  | 'deselected'
  /** A file was excluded. */
  | 'excluded'
  /** A file was selected, and its full text replaced its outline. */
  | 'selected'
  /** A text changed, and a new version replaced it. */
  | 'changed'
  /** Something vanished, or there was no room for it. */
  | 'vanished'
  /** The conversation was edited, replaced or shortened. */
  | 'history'
  /** The same content moved. */
  | 'moved';

/** A cache breakpoint of a prompt. */
export interface Breakpoint {
  /** The tier that ends there. */
  tier: Tier;
  /** The tokens before it. */
  prefixTokens: number;
}

/** The request to compare with its limit. */
export interface BudgetReportParams {
  /** The model; that of the last prompt when absent, and the setting's before the first. */
  model?: string | null;
  /** Maximum input tokens that the client passes on; the model's window when absent or larger. */
  maxInputTokens?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of `budget.report`. All weights are in tokens. */
export interface BudgetReportReply {
  /** The model. */
  model: string;
  /** Tokens of the conversation. */
  historyTokens: number;
  /** A sixteenth of the input window: reported, not enforced (`docs/prompt.md`, "Budgets"). */
  maxHistoryTokens: number;
  /** The input window. */
  maxInputTokens: number;
  /** Tokens reserved for the answer. */
  outputReserve: number;
  /** Tokens of the next request without its prompt. */
  used: number;
  /** Tokens left for the prompt. */
  remaining: number;
  /** The expected count by the provider, with its error bar, from reported usage. */
  expected: Expected;
  /** Calibration of the model from reported usage; absent without reports. */
  calibration?: Taught;
  /** `used` as a share of the window, in percent, rounded to one decimal. */
  percent: number;
  /** Whether the conversation should be compacted. */
  needsSummary: boolean;
  /** `used` by part. */
  parts: Record<string, number>;
  /** The files shown in full. */
  files: UsedFile[];
  /** Selected files that would not fit, largest first. */
  shed: FileKey[];
  /** Billed usage of the session so far. */
  totals: Totals;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Limits of a session. */
export interface BudgetSetParams {
  /** Maximum input tokens of every request of the session; the model's window when absent. */
  maxInputTokens?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The limits that hold now. */
export interface BudgetSetReply {
  /**
   * Maximum tokens of a request: the input window less the reserve for the answer and what estimates may be off by.
   */
  limit: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Tokens reserved in the model's window. */
export interface BudgetSettings {
  /** Tokens reserved for the answer. Defaults to the model's maximum output, at most a sixteenth of the window. */
  output_reserve: number | null;
}

/** Tokens reserved in the model's window. */
export interface BudgetSettingsInput {
  /** Tokens reserved for the answer. Defaults to the model's maximum output, at most a sixteenth of the window. */
  output_reserve?: number | null;
}

/** An entry's cache rules. */
export interface CacheEntry {
  /** Who decides what is cached. */
  mode: CacheKind | null;
  /** The shortest prefix that is cached, in tokens. */
  min_tokens: number | null;
  /** Price of reading, as a multiple of plain input. */
  read: number | null;
  /** How long entries can be asked to live. */
  lifetimes: CacheLifetime[] | null;
}

/** An entry's cache rules. */
export interface CacheEntryInput {
  /** Who decides what is cached. */
  mode?: CacheKind | null;
  /** The shortest prefix that is cached, in tokens. */
  min_tokens?: number | null;
  /** Price of reading, as a multiple of plain input. */
  read?: number | null;
  /** How long entries can be asked to live. */
  lifetimes?: CacheLifetime[] | null;
}

/** Who decides where a cached prefix ends. */
export type CacheKind =
  /** The request, by markers. */
  | {
    kind: 'explicit';
    /** Markers that one request may carry. */
    max_breakpoints: number;
    /** Blocks a marker looks back for entries, including its own. */
    lookback: number;
  }
  /** The provider: the longest known prefix is read. */
  | {
    kind: 'automatic';
    /** Its length is rounded down to a multiple of this. Tokens. */
    granularity: number;
  }
  /** No one: the provider does not cache. */
  | {
    kind: 'none';
  };

/** One choice of how long a cache entry lives. */
export interface CacheLifetime {
  /** Seconds since the entry was last written or read. */
  seconds: number;
  /** Price of writing it; 1 where writes cost what plain input costs. */
  write: number;
}

/** How prompt prefixes are cached. Prices are multiples of the price of plain input. */
export interface CacheRules {
  /** Who decides where a cached prefix ends. */
  kind: CacheKind;
  /** A shorter prefix is not cached, silently. Tokens. */
  min_tokens: number;
  /** Price of a cached read. */
  read: number;
  /** How long entries live and what writing them costs, shortest life first. Empty without a cache. */
  lifetimes: CacheLifetime[];
}

/** Prompt caching. */
export interface CacheSettings {
  /** Layout policy for prompts. Defaults to `ledger` for models whose provider caches and `flat` for others. */
  policy: PolicyName | null;
  /**
   * Target size of a cached tier, in tokens. The model's own minimum applies if it is larger. 0 disables the
   * target.
   */
  min_tokens: number;
  /** How long to ask the provider to keep cache entries. */
  ttl: Ttl;
  /** Whether to append a diff when a cached file changes. If off, the prompt is rebuilt from that file on. */
  deltas: boolean;
  /** Whether to omit the diff when the model's own messages already contain the exact edit. */
  history_deltas: boolean;
  /** Maximum growth of a prompt, in percent, through outdated text and diffs before parts of it are rebuilt. */
  slack: number;
}

/** Prompt caching. */
export interface CacheSettingsInput {
  /** Layout policy for prompts. Defaults to `ledger` for models whose provider caches and `flat` for others. */
  policy?: PolicyName | null;
  /**
   * Target size of a cached tier, in tokens. The model's own minimum applies if it is larger. 0 disables the
   * target.
   */
  min_tokens?: number;
  /** How long to ask the provider to keep cache entries. */
  ttl?: Ttl;
  /** Whether to append a diff when a cached file changes. If off, the prompt is rebuilt from that file on. */
  deltas?: boolean;
  /** Whether to omit the diff when the model's own messages already contain the exact edit. */
  history_deltas?: boolean;
  /** Maximum growth of a prompt, in percent, through outdated text and diffs before parts of it are rebuilt. */
  slack?: number;
}

/** A provider said that it read clearly less than was expected. */
export interface CacheShortfall {
  /** Expected tokens, by our own count. */
  expected: number;
  /** Reported tokens, by the provider's count. */
  reported: number;
}

/** The charge of one request. `read + written + plain` is its whole input. */
export interface Charge {
  /** Tokens read from the cache. */
  read: number;
  /** Tokens written to it. Where writes cost nothing extra none are reported. */
  written: number;
  /** Tokens that were neither. */
  plain: number;
  /** The price of all of them, in tokens of plain input. */
  cost: number;
}

/** What a session does with a file. */
export type Choice =
  /** Shown in full, or as the chosen lines. */
  | 'selected'
  /** Map block only. */
  | 'deselected'
  /** The prompt shows nothing of it. */
  | 'excluded';

/** `strata/compaction`, and the reply of `compaction.run`. */
export interface Compaction {
  /** How far it is. */
  state: CompactionState;
  /** The session. */
  session: string;
  /** The profile. */
  profile: string;
  /** Why. */
  reason: CompactionReason;
  /** How the conversation was made shorter. */
  strategy?: CompactionStrategy;
  /** The size before. */
  before?: ConversationSize;
  /** The size now. */
  after?: ConversationSize;
  /** Who wrote the summary; absent before it is written, and if the conversation was only cut. */
  summarisedBy?: SummaryAuthor;
  /** Notes for the user: why no model was asked, or which steps failed. */
  notes?: string[];
  /** Why it failed. */
  error?: string;
}

/** The arguments of a command that takes none. */
export interface CompactionContextLimitExceededParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** `strata/compaction`, and the reply of `compaction.run`. */
export interface CompactionContextLimitExceededReply {
  /** How far it is. */
  state: CompactionState;
  /** The session. */
  session: string;
  /** The profile. */
  profile: string;
  /** Why. */
  reason: CompactionReason;
  /** How the conversation was made shorter. */
  strategy?: CompactionStrategy;
  /** The size before. */
  before?: ConversationSize;
  /** The size now. */
  after?: ConversationSize;
  /** Who wrote the summary; absent before it is written, and if the conversation was only cut. */
  summarisedBy?: SummaryAuthor;
  /** Notes for the user: why no model was asked, or which steps failed. */
  notes?: string[];
  /** Why it failed. */
  error?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** When a profile checks whether a compaction is due. */
export type CompactionMoment =
  /** After each turn. The next prompt may still use the uncompacted conversation. */
  | 'after_turn'
  /** Before each prompt, which waits for the compaction. */
  | 'before_assembling'
  /** After each turn, which counts as an iteration. */
  | 'on_iteration';

/** Why a conversation is compacted. */
export type CompactionReason =
  /** On request. */
  | {
    kind: 'asked';
  }
  /** It has grown too long. */
  | {
    kind: 'due';
  } & TriggerReading
  /** The provider said that the prompt was too long. */
  | {
    kind: 'context_limit';
  };

/** Which rules to follow. */
export interface CompactionRunParams {
  /** The profile; the one in force when absent. */
  profile?: string | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** `strata/compaction`, and the reply of `compaction.run`. */
export interface CompactionRunReply {
  /** How far it is. */
  state: CompactionState;
  /** The session. */
  session: string;
  /** The profile. */
  profile: string;
  /** Why. */
  reason: CompactionReason;
  /** How the conversation was made shorter. */
  strategy?: CompactionStrategy;
  /** The size before. */
  before?: ConversationSize;
  /** The size now. */
  after?: ConversationSize;
  /** Who wrote the summary; absent before it is written, and if the conversation was only cut. */
  summarisedBy?: SummaryAuthor;
  /** Notes for the user: why no model was asked, or which steps failed. */
  notes?: string[];
  /** Why it failed. */
  error?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Conversation compaction. */
export interface CompactionSettings {
  /** Whether to check when the conversation needs compaction. */
  enabled: boolean;
  /** Whether to run a due compaction automatically. */
  auto: boolean;
  /**
   * Compaction profile: `topic`, `continuation`, `checkpoint`, `rolling`, `handoff`, or a profile of your own from
   * `compaction.profiles`.
   */
  profile: string;
  /** Your own compaction profiles, and values that override those of the built-in profiles. */
  profiles: Record<string, ProfileOptions>;
  /**
   * Who writes summaries. By default your editor's model if it offers one, otherwise the provider of
   * `compaction.model`, otherwise no model.
   */
  summariser: SummariserKind;
  /** Model that writes summaries, by its provider's name for it. */
  model: string | null;
  /** Model that detects topic changes. If unset, `topic` always summarizes. */
  detection_model: string | null;
  /** Provider address, if not the default one: `https:`, or `http:` on this machine. */
  base_url: string | null;
  /**
   * Environment variable that holds the provider's key, if not the default one. Its name ends in `_API_KEY`,
   * `_TOKEN` or `_KEY`.
   */
  key_env: KeyVariable | null;
  /** Timeout for one model response, in seconds. */
  timeout_s: number;
}

/** Conversation compaction. */
export interface CompactionSettingsInput {
  /** Whether to check when the conversation needs compaction. */
  enabled?: boolean;
  /** Whether to run a due compaction automatically. */
  auto?: boolean;
  /**
   * Compaction profile: `topic`, `continuation`, `checkpoint`, `rolling`, `handoff`, or a profile of your own from
   * `compaction.profiles`.
   */
  profile?: string;
  /** Your own compaction profiles, and values that override those of the built-in profiles. */
  profiles?: Record<string, ProfileOptionsInput>;
  /**
   * Who writes summaries. By default your editor's model if it offers one, otherwise the provider of
   * `compaction.model`, otherwise no model.
   */
  summariser?: SummariserKind;
  /** Model that writes summaries, by its provider's name for it. */
  model?: string | null;
  /** Model that detects topic changes. If unset, `topic` always summarizes. */
  detection_model?: string | null;
  /** Provider address, if not the default one: `https:`, or `http:` on this machine. */
  base_url?: string | null;
  /**
   * Environment variable that holds the provider's key, if not the default one. Its name ends in `_API_KEY`,
   * `_TOKEN` or `_KEY`.
   */
  key_env?: KeyVariable | null;
  /** Timeout for one model response, in seconds. */
  timeout_s?: number;
}

/** How far a compaction is. */
export type CompactionState =
  /** It began. */
  | 'started'
  /** The conversation is shorter. */
  | 'ended'
  /** The conversation is unchanged. */
  | 'failed';

/** The request to compare with its limit. */
export interface CompactionStatusParams {
  /** The model; that of the last prompt when absent, and the setting's before the first. */
  model?: string | null;
  /** Maximum input tokens that the client passes on; the model's window when absent or larger. */
  maxInputTokens?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of `compaction.status`. */
export interface CompactionStatusReply {
  /** Whether the conversation is watched at all. */
  enabled: boolean;
  /** The rules in force. */
  profile: string;
  /** What the nearest condition measures; absent if the profile has none. */
  measured?: TriggerMetric;
  /** Its current value; tokens of the conversation if the profile has no condition. */
  tokens: number;
  /** How much there may be. */
  threshold: number;
  /** `tokens` as a share of `threshold`, in percent, rounded to one decimal. */
  percent: number;
  /** How much is left until one is due, in what `measured` counts; 0 when one is due. */
  distance: number;
  /**
   * Maximum tokens of a request: the input window less the reserve for the answer and what estimates may be off by.
   */
  limit?: number;
  /** Whether one is due. */
  due: boolean;
  /** Why none is due, or which condition makes one due. */
  why: string;
  /** Whether one is running. */
  running: boolean;
  /** All conditions. */
  conditions: TriggerReading[];
  /** The last one that was committed and not undone. */
  last?: LastCompaction;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** How a conversation was made shorter. */
export type CompactionStrategy =
  /** The conversation now starts at the last topic change. */
  | 'topic_cut'
  /** A model's summary. */
  | 'model'
  /** A summary extracted from the conversation itself. */
  | 'extractive'
  /** The oldest exchanges were dropped. */
  | 'truncated';

/** The arguments of a command that takes none. */
export interface CompactionUndoParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The undone compaction. */
export interface CompactionUndoReply {
  /** The profile whose compaction it was. */
  profile: string;
  /** The size of the conversation before. */
  before: ConversationSize;
  /** How many messages the model sees now. */
  messages: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** How far a reference is to be trusted. */
export type Confidence =
  /** Only the name matches; the type of the value is unknown. */
  | 'guess'
  /** Scopes, imports or types lead from it to the definition. */
  | 'certain';

/** Content of a message: a text, or a list of blocks. */
export type Content = string | ContentBlockInput[];

/** One part of a message. */
export type ContentBlock =
  /** Text. */
  | {
    type: 'text';
    /** The text. */
    text: string;
  }
  /** A picture. */
  | {
    type: 'image';
    /** The source of its bytes. */
    source: ImageSource;
    /** Width in pixels, when known; without it the token estimate is a constant. */
    width?: number;
    /** Height in pixels, when known. */
    height?: number;
  }
  /** The model's reasoning, given back to it unchanged or not at all. */
  | {
    type: 'thinking';
    /** The reasoning; empty where the provider does not show it. */
    text: string;
    /** The provider's seal over it (Anthropic `signature`). */
    signature?: string;
  }
  /** Reasoning that the provider sent encrypted, given back to it unchanged or not at all. */
  | {
    type: 'redacted_thinking';
    /** The ciphertext. */
    data: string;
  }
  /** The model asks for a tool. */
  | {
    type: 'tool_call';
    /** Pairs the call with its result. */
    id: string;
    /** The tool's name. */
    name: string;
    /** The arguments, opaque to Strata. */
    input: unknown;
  }
  /** The result of a tool. */
  | {
    type: 'tool_result';
    /** The `id` of the call. */
    callId: string;
    /** The output. */
    content: ResultPart[];
    /** Whether the tool failed. */
    outcome: ToolOutcome;
  }
  /** Something that only one provider has a form for. */
  | {
    type: 'foreign';
    /** Its provider. */
    provider: ForeignProvider;
    /** The block as received, without cache marks. */
    value: unknown;
  };

/** One part of a message. */
export type ContentBlockInput =
  /** Text. */
  | {
    type: 'text';
    /** The text. */
    text: string;
  }
  /** A picture. */
  | {
    type: 'image';
    /** The source of its bytes. */
    source: ImageSource;
    /** Width in pixels, when known; without it the token estimate is a constant. */
    width?: number | null;
    /** Height in pixels, when known. */
    height?: number | null;
  }
  /** The model's reasoning, given back to it unchanged or not at all. */
  | {
    type: 'thinking';
    /** The reasoning; empty where the provider does not show it. */
    text: string;
    /** The provider's seal over it (Anthropic `signature`). */
    signature?: string | null;
  }
  /** Reasoning that the provider sent encrypted, given back to it unchanged or not at all. */
  | {
    type: 'redacted_thinking';
    /** The ciphertext. */
    data: string;
  }
  /** The model asks for a tool. */
  | {
    type: 'tool_call';
    /** Pairs the call with its result. */
    id: string;
    /** The tool's name. */
    name: string;
    /** The arguments, opaque to Strata. */
    input: unknown;
  }
  /** The result of a tool. */
  | {
    type: 'tool_result';
    /** The `id` of the call. */
    callId: string;
    /** The output. */
    content: ResultPartInput[];
    /** Whether the tool failed. */
    outcome?: ToolOutcome;
  }
  /** Something that only one provider has a form for. */
  | {
    type: 'foreign';
    /** Its provider. */
    provider: ForeignProvider;
    /** The block as received, without cache marks. */
    value: unknown;
  };

/** The hash of a text, as 32 hexadecimal digits. */
export type ContentHash = string;

/** How much code questions bring along from now on. */
export interface ContextAutoParams {
  /** Maximum tokens, 0 for none. Without it: none when questions bring code along now, else 8,000. */
  budget?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** How much code questions bring along now. */
export interface ContextAutoReply {
  /** Maximum tokens. */
  budget: number;
  /** The same in a sentence. */
  message: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Excerpts, by name. */
export interface ContextDismissParams {
  /**
   * Definitions (`src/a.py#Session.send`) or lines (`src/a.py#L10-40`), as the reply of `strata.prompt.assemble`
   * names them.
   */
  excerpts: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing excerpts. */
export interface ContextDismissReply {
  /** The changed excerpts. */
  changed: ExcerptKey[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A list of relevant names that follows the question. */
export interface ContextFrameSettings {
  /** Whether to include a context frame in prompts: names and line numbers relevant to the question. */
  inject: boolean;
  /** Whether to rerank items, favoring open and selected files, and keep the best `top_k`. */
  rerank: boolean;
  /** Maximum items kept after reranking. */
  top_k: number;
  /** Minimum relevance score, between 0 and 1. The best item scores 1. */
  min_score: number;
  /** Maximum items without reranking. */
  max_items: number;
}

/** A list of relevant names that follows the question. */
export interface ContextFrameSettingsInput {
  /** Whether to include a context frame in prompts: names and line numbers relevant to the question. */
  inject?: boolean;
  /** Whether to rerank items, favoring open and selected files, and keep the best `top_k`. */
  rerank?: boolean;
  /** Maximum items kept after reranking. */
  top_k?: number;
  /** Minimum relevance score, between 0 and 1. The best item scores 1. */
  min_score?: number;
  /** Maximum items without reranking. */
  max_items?: number;
}

/** A question to list excerpts for. */
export interface ContextListParams {
  /** The question. Defaults to the last prompt. */
  prompt?: string | null;
  /** Maximum tokens of code; the session's or the setting's when absent. */
  autoBudget?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The excerpts of a session. */
export interface ContextListReply {
  /** Maximum tokens of code that a question brings along. */
  autoBudget: number;
  /** Pinned ones, then those for the question, best first, then those of earlier questions. */
  excerpts: ListedExcerpt[];
  /** Excerpts not suggested again. */
  dismissed: ExcerptKey[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Excerpts, by name. */
export interface ContextPinParams {
  /**
   * Definitions (`src/a.py#Session.send`) or lines (`src/a.py#L10-40`), as the reply of `strata.prompt.assemble`
   * names them.
   */
  excerpts: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing excerpts. */
export interface ContextPinReply {
  /** The changed excerpts. */
  changed: ExcerptKey[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface ContextRestoreParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing excerpts. */
export interface ContextRestoreReply {
  /** The changed excerpts. */
  changed: ExcerptKey[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Code added to questions automatically, and the memory of autonomous loops. */
export interface ContextSettings {
  /**
   * Maximum tokens of relevant code added to a question automatically. Code the prompt already shows counts too.
   * Defaults to 0, which adds none; `strata prompt` and `strata ask` use 8,000 when no file is selected.
   */
  auto_budget: number;
  /**
   * How long a prompt waits while the repository is being indexed, in milliseconds. After that, the symbol map is
   * missing or incomplete.
   */
  index_wait_ms: number;
  /** Number of recent iterations kept verbatim. */
  raw_window_size: number;
  /** Number of iterations between updates of the summary. 0 disables it. */
  summarize_every: number;
  /** Maximum tokens for the summary. */
  max_summary_tokens: number;
}

/** Code added to questions automatically, and the memory of autonomous loops. */
export interface ContextSettingsInput {
  /**
   * Maximum tokens of relevant code added to a question automatically. Code the prompt already shows counts too.
   * Defaults to 0, which adds none; `strata prompt` and `strata ask` use 8,000 when no file is selected.
   */
  auto_budget?: number;
  /**
   * How long a prompt waits while the repository is being indexed, in milliseconds. After that, the symbol map is
   * missing or incomplete.
   */
  index_wait_ms?: number;
  /** Number of recent iterations kept verbatim. */
  raw_window_size?: number;
  /** Number of iterations between updates of the summary. 0 disables it. */
  summarize_every?: number;
  /** Maximum tokens for the summary. */
  max_summary_tokens?: number;
}

/** Excerpts, by name. */
export interface ContextUnpinParams {
  /**
   * Definitions (`src/a.py#Session.send`) or lines (`src/a.py#L10-40`), as the reply of `strata.prompt.assemble`
   * names them.
   */
  excerpts: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing excerpts. */
export interface ContextUnpinReply {
  /** The changed excerpts. */
  changed: ExcerptKey[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A form in which a conversation is exchanged. */
export type ConversationForm =
  /** The lines that Claude Code records. */
  | 'claude_code'
  /** Messages of Anthropic's API. */
  | 'anthropic'
  /** Messages of OpenAI's Chat Completions API. */
  | 'openai'
  /** Items of OpenAI's Responses API. */
  | 'openai_responses'
  /** Strata's own: a line, or an item of a list, is a `NewMessage` or a `Message`. */
  | 'strata';

/** Number and tokens of the messages the model sees. */
export interface ConversationSize {
  /** Messages. */
  messages: number;
  /** Tokens. */
  tokens: number;
}

/** A session under one lifetime. */
export interface CostOutlook {
  /** How long entries really live after their last use. Seconds. */
  seconds: number;
  /** All turns so far together. */
  spent: Charge;
  /** Pauses that were too long. */
  expiries: number;
  /** The next turn when it comes in time. */
  nextInTime: Charge;
  /** The next turn after a pause that is too long. */
  nextTooLate: Charge;
}

/** A request whose tokens the client is to have counted. */
export interface CountTokens {
  /** The model that it is for, by its name in the table. */
  model: string;
  /** The form of the body. */
  format: Format;
  /** The request body. */
  body: unknown;
}

/** How much of the repository a prompt shows. */
export interface Coverage {
  /** Files with a map block. */
  blocks: number;
  /** Files named in the repository file list. */
  names: number;
  /** Files covered by a directory's name only. */
  directories: number;
  /** Maximum tokens of the map blocks. */
  mapBudget: number;
}

/** Where the choice of a policy came from. */
export type DecidedBy =
  /** The repository is being indexed. Tiers filled now would be rewritten at once. */
  | 'indexing'
  /** The request itself. */
  | 'request'
  /** The session. */
  | 'session'
  /** The setting `cache.policy`. */
  | 'setting'
  /** The model's kind of cache, by default. */
  | 'model';

/**
 * A piece of an answer that is being written: exactly one of `text`, `thinking`, `toolCall`, `toolResult` and
 * `notice`.
 */
export interface Delta {
  /** The client's name for the answer. */
  stream: string;
  /** The session. */
  session: string;
  /** The next piece of text. Known secrets are restored. */
  text?: string;
  /** The next piece of reasoning, if the provider shows it. */
  thinking?: string;
  /** A tool that it calls. */
  toolCall?: DeltaToolCall;
  /** The outcome of such a call. */
  toolResult?: DeltaToolResult;
  /** A note for the user, in a sentence, such as that a too long prompt is sent again. */
  notice?: string;
}

/** A tool call. */
export interface DeltaToolCall {
  /** Its name in the conversation. */
  id: string;
  /** The tool. */
  name: string;
  /** Its arguments. */
  input: unknown;
}

/** The outcome of a tool call. */
export interface DeltaToolResult {
  /** The call. */
  id: string;
  /** The tool. */
  name: string;
  /** Whether it failed. */
  outcome: ToolOutcome;
  /** The result for the model, at most 2,000 characters. */
  text: string;
}

/** Whether a document's text is the editor's text. */
export type DocumentSync =
  /** The text is current. */
  | {
    state: 'in_step';
  }
  /** The text may be outdated; the next full text (open, full change, or save with text) repairs it. */
  | {
    state: 'out_of_step';
    /** The first problem. */
    reason: OutOfStep;
  };

/** The work of a run. Everything neither read nor parsed was known. */
export interface Efforts {
  /** Files that were read. */
  read: number;
  /** Parsed files, all of which were read. */
  parsed: number;
}

/**
 * Id of an excerpt: a definition (`src/a.py#Session.send`, `src/a.py#Session.send~2` for the second with that name)
 * or lines (`src/a.py#L10-40`).
 */
export type ExcerptKey = string;

/** The main reason for choosing an excerpt. */
export type ExcerptReason =
  /** The question names its file. */
  | 'named'
  /** Its name or its text has words of the question. */
  | 'words'
  /** Its file matches the question, or is close to files that do. */
  | 'file'
  /** Its file is open. */
  | 'open'
  /** Its file changed lately. */
  | 'recent';

/** How an excerpt comes to be in a prompt. */
export type ExcerptStanding =
  /** You pinned it. */
  | 'pinned'
  /** The last question is about it. */
  | 'wanted'
  /** An earlier question was about it. It stays where it costs nothing to leave it. */
  | 'lingering';

/** The expected bill of a request. */
export interface Expected {
  /** Tokens. */
  tokens: number;
  /** Error bound for nine of ten requests, in tokens. */
  error: number;
}

/** A form that a session is written in. */
export type ExportFormat =
  /** Strata's own format: all messages with all their metadata, one per line. */
  | 'jsonl'
  /** What the model sees, as an Anthropic request. */
  | 'anthropic'
  /** What the model sees, as an OpenAI request. */
  | 'openai'
  /** What the model sees, as Markdown. */
  | 'markdown';

/** A cost that could be avoided. */
export interface ExtraCost {
  /** In tokens of plain input. */
  cost: number;
  /** As a share of the next prompt without any cache; 1 is a whole prompt. */
  share: number;
}

/** What happened to a file. */
export type FileChange =
  /** It was not there before. */
  | 'created'
  /** Its content changed. */
  | 'modified'
  /** It is gone. */
  | 'deleted';

/** Something that happened to a file while the loop ran. */
export interface FileEvent {
  /** When, in milliseconds since 1970; now when absent. */
  timeMs?: number;
  /** The file. */
  path: string;
  /** The kind of change. */
  change: FileChange;
}

/**
 * A file's name: its path below its root with `/` between the parts (`src/lib.rs`), after the root's name when
 * there are several roots (`web/src/app.ts`), or `untitled:{name}` for a buffer that was never saved. Cheap to
 * clone; ordered by bytes.
 */
export type FileKey = string;

/** A file with lines that match. */
export interface FileMatches {
  /** The file. */
  path: FileKey;
  /** In order. */
  lines: MatchingLine[];
}

/** Full files and the repository file list. */
export interface FileSettings {
  /** Maximum size, in bytes, of a file that can be added to the context. */
  max_bytes: number;
  /** Maximum tokens for the repository file list. 0 omits the list. */
  list_budget: number;
}

/** Full files and the repository file list. */
export interface FileSettingsInput {
  /** Maximum size, in bytes, of a file that can be added to the context. */
  max_bytes?: number;
  /** Maximum tokens for the repository file list. 0 omits the list. */
  list_budget?: number;
}

/** A path with the text that replaces it. */
export interface FilesAddParams {
  /** Its position for a file. */
  path: string;
  /** The text. */
  content: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing the selection. */
export interface FilesAddReply {
  /** The files that were changed, in key order. */
  changed: FileKey[];
  /** Files that belong to a folder or pattern but were rejected unasked. */
  withheld: WithheldFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface FilesClearParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of a command without a result. */
export interface FilesClearReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Paths: files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
export interface FilesDeselectParams {
  /** Files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
  paths: string[];
  /** Files to select although their names suggest secrets. They are shown unredacted. */
  confirmSecrets?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing the selection. */
export interface FilesDeselectReply {
  /** The files that were changed, in key order. */
  changed: FileKey[];
  /** Files that belong to a folder or pattern but were rejected unasked. */
  withheld: WithheldFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Paths: files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
export interface FilesExcludeParams {
  /** Files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
  paths: string[];
  /** Files to select although their names suggest secrets. They are shown unredacted. */
  confirmSecrets?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing the selection. */
export interface FilesExcludeReply {
  /** The files that were changed, in key order. */
  changed: FileKey[];
  /** Files that belong to a folder or pattern but were rejected unasked. */
  withheld: WithheldFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A search for workspace files. */
export interface FilesFindParams {
  /** Letters of a path, in order; every file without any. */
  query?: string;
  /** How many at most. */
  limit?: number;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The files that were found. */
export interface FilesFindReply {
  /** The closest first; without a query in the order of their names. */
  files: FoundFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** What to search for, and where. */
export interface FilesGrepParams {
  /** A regular expression as ripgrep takes it, matched within each line. */
  pattern: string;
  /** Files, folders or globs to search; the whole workspace when absent. */
  paths?: string[];
  /** Whether to match the pattern literally instead of as a regular expression. */
  literal?: boolean;
  /** Whether case is ignored. */
  ignoreCase?: boolean;
  /** Whether a match begins and ends at the borders of words. */
  words?: boolean;
  /** How many lines to show before and after each match, at most 50. */
  context?: number;
  /** Maximum matching lines in the reply. */
  limit?: number;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The matches. */
export interface FilesGrepReply {
  /** Sorted by name, with lines up to the limit. */
  files: FileMatches[];
  /** How many lines match in all. */
  total: number;
  /** How many files have such a line. */
  totalFiles: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** One path. */
export interface FilesHasParams {
  /** A file, by its path below the workspace folder. */
  path: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Whether a file is shown in full. */
export interface FilesHasReply {
  /** Whether it is, or some of its lines are. */
  has: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Paths: files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
export interface FilesIncludeParams {
  /** Files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
  paths: string[];
  /** Files to select although their names suggest secrets. They are shown unredacted. */
  confirmSecrets?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing the selection. */
export interface FilesIncludeReply {
  /** The files that were changed, in key order. */
  changed: FileKey[];
  /** Files that belong to a folder or pattern but were rejected unasked. */
  withheld: WithheldFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface FilesListParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The files a session chose. */
export interface FilesListReply {
  /** Sorted by name. */
  files: ListedFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Files that were read outside. */
export interface FilesMarkReadParams {
  /** Files of the workspace. */
  paths: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The files that the session has read. */
export interface FilesMarkReadReply {
  /** The last one last. */
  filesRead: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** What to read. */
export interface FilesReadParams {
  /**
   * A file by its path below the workspace folder, lines of it (`src/lib.rs#L10-40`), or a definition in it by its
   * name (`src/lib.rs#Type.method`).
   */
  path: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The current text of a file, or of a part of it. */
export type FilesReadReply = {
  /** The file. */
  path: FileKey;
  /** The name of the definition, when one was asked for. */
  definition?: string;
  /** The lines from `from` to `to`; all of them when no part was asked for. */
  text: string;
  /** The first line, from 1. */
  from: number;
  /** The last line, included. */
  to: number;
  /** How many lines the file has. */
  lines: number;
  /** Where else the file has a definition of this very name. */
  others?: LineRange[];
  /** Number of changes to the session so far. */
  stateVersion: number;
} & (
  /** An open buffer, unsaved changes included. */
  | {
    source: 'buffer';
    /** The editor's version of the document. */
    version: number;
    /** Whether it is known to be the editor's text. */
    sync: DocumentSync;
  }
  /** The disk. */
  | {
    source: 'disk';
    /** When it was last changed, in milliseconds since 1970. */
    mtimeMs: number;
    /** How the bytes were converted to text, if not directly. */
    notice?: string;
  }
  /** Handed over by the client. */
  | {
    source: 'given';
  });

/** Paths: files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
export interface FilesRemoveParams {
  /** Files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
  paths: string[];
  /** Files to select although their names suggest secrets. They are shown unredacted. */
  confirmSecrets?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing the selection. */
export interface FilesRemoveReply {
  /** The files that were changed, in key order. */
  changed: FileKey[];
  /** Files that belong to a folder or pattern but were rejected unasked. */
  withheld: WithheldFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Files or folders that have other names now. */
export interface FilesRenameParams {
  /** Each by its names before and after; of several that fit a file the first counts. */
  files: Rename[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Whether the session had to do with any of them. */
export interface FilesRenameReply {
  /** Whether there was anything to follow. */
  changed: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Paths: files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
export interface FilesSelectParams {
  /** Files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
  paths: string[];
  /** Files to select although their names suggest secrets. They are shown unredacted. */
  confirmSecrets?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing the selection. */
export interface FilesSelectReply {
  /** The files that were changed, in key order. */
  changed: FileKey[];
  /** Files that belong to a folder or pattern but were rejected unasked. */
  withheld: WithheldFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Paths: files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
export interface FilesSetParams {
  /** Files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
  paths: string[];
  /** Files to select although their names suggest secrets. They are shown unredacted. */
  confirmSecrets?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing the selection. */
export interface FilesSetReply {
  /** The files that were changed, in key order. */
  changed: FileKey[];
  /** Files that belong to a folder or pattern but were rejected unasked. */
  withheld: WithheldFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The result of folding iterations into the summary. */
export interface Fold {
  /** Their numbers. */
  iterations: number[];
  /** Who wrote the summary. */
  by: FoldedBy;
  /** Why there is no summary. */
  problem?: string;
}

/** Who wrote the summary. */
export type FoldedBy =
  | 'model' | 'extractive'
  /** No one: they are kept verbatim until the next interval. */
  | 'nobody';

/** The provider whose format a block is in. */
export type ForeignProvider =
  /** Anthropic's Messages API. */
  | 'anthropic'
  /** OpenAI's Chat Completions API, which many others speak too. */
  | 'openai'
  /** OpenAI's Responses API. */
  | 'openai_responses'
  /** Google's `generateContent`. */
  | 'gemini'
  /** Bedrock's Converse API. */
  | 'bedrock';

/** Output format of a prompt. */
export type Format =
  /** Anthropic Messages API. */
  | 'anthropic'
  /** OpenAI Chat Completions API, which many other providers accept. */
  | 'openai'
  /** OpenAI Responses API. */
  | 'responses'
  /** Google `generateContent`. */
  | 'gemini'
  /** Bedrock Converse API, including `modelId`. */
  | 'bedrock'
  /** Markdown, for reading and pasting. */
  | 'markdown';

/** A file of the workspace. */
export interface FoundFile {
  /** The file. */
  path: FileKey;
  /** Where an editor finds it. */
  uri?: string;
  /** Its selection state. */
  state: Choice;
}

/** A definition. */
export interface FoundSymbol {
  /** Its name. */
  name: string;
  /** Its kind. */
  kind: SymbolKind;
  /** Its file. */
  path: FileKey;
  /** Where an editor finds that. */
  uri?: string;
  /** The line that introduces it. */
  head: string;
  /** Its container. */
  container?: string;
  /** The first line, from 1. */
  line?: number;
  /** The last line, included. */
  endLine?: number;
}

/** Which of the tokenizers that a `TokenCounter` was given. */
export type GivenId = number;

/** Which document. */
export interface HereAskParams {
  /** Its URI or path; the one that the client named last when absent. */
  uri?: string | null;
  /**
   * A part of it, as editors have it. `select`, `toggle` and `ask` make use of that, and only when there is a
   * character in it.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The text shown to the user. */
export interface HereAskReply {
  /** A sentence. */
  message: string;
  /** The file that a prompt or an answer was written to. */
  path?: string;
  /** The same as a URI. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Which document. */
export interface HereDeselectParams {
  /** Its URI or path; the one that the client named last when absent. */
  uri?: string | null;
  /**
   * A part of it, as editors have it. `select`, `toggle` and `ask` make use of that, and only when there is a
   * character in it.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The text shown to the user. */
export interface HereDeselectReply {
  /** A sentence. */
  message: string;
  /** The file that a prompt or an answer was written to. */
  path?: string;
  /** The same as a URI. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Which document. */
export interface HereExcludeParams {
  /** Its URI or path; the one that the client named last when absent. */
  uri?: string | null;
  /**
   * A part of it, as editors have it. `select`, `toggle` and `ask` make use of that, and only when there is a
   * character in it.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The text shown to the user. */
export interface HereExcludeReply {
  /** A sentence. */
  message: string;
  /** The file that a prompt or an answer was written to. */
  path?: string;
  /** The same as a URI. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Which document. */
export interface HereIncludeParams {
  /** Its URI or path; the one that the client named last when absent. */
  uri?: string | null;
  /**
   * A part of it, as editors have it. `select`, `toggle` and `ask` make use of that, and only when there is a
   * character in it.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The text shown to the user. */
export interface HereIncludeReply {
  /** A sentence. */
  message: string;
  /** The file that a prompt or an answer was written to. */
  path?: string;
  /** The same as a URI. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Which document. */
export interface HerePreviewParams {
  /** Its URI or path; the one that the client named last when absent. */
  uri?: string | null;
  /**
   * A part of it, as editors have it. `select`, `toggle` and `ask` make use of that, and only when there is a
   * character in it.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The text shown to the user. */
export interface HerePreviewReply {
  /** A sentence. */
  message: string;
  /** The file that a prompt or an answer was written to. */
  path?: string;
  /** The same as a URI. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Which document. */
export interface HereSelectParams {
  /** Its URI or path; the one that the client named last when absent. */
  uri?: string | null;
  /**
   * A part of it, as editors have it. `select`, `toggle` and `ask` make use of that, and only when there is a
   * character in it.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The text shown to the user. */
export interface HereSelectReply {
  /** A sentence. */
  message: string;
  /** The file that a prompt or an answer was written to. */
  path?: string;
  /** The same as a URI. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Which document. */
export interface HereStatusParams {
  /** Its URI or path; the one that the client named last when absent. */
  uri?: string | null;
  /**
   * A part of it, as editors have it. `select`, `toggle` and `ask` make use of that, and only when there is a
   * character in it.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The text shown to the user. */
export interface HereStatusReply {
  /** A sentence. */
  message: string;
  /** The file that a prompt or an answer was written to. */
  path?: string;
  /** The same as a URI. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Which document. */
export interface HereToggleParams {
  /** Its URI or path; the one that the client named last when absent. */
  uri?: string | null;
  /**
   * A part of it, as editors have it. `select`, `toggle` and `ask` make use of that, and only when there is a
   * character in it.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The text shown to the user. */
export interface HereToggleReply {
  /** A sentence. */
  message: string;
  /** The file that a prompt or an answer was written to. */
  path?: string;
  /** The same as a URI. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A question and its answer. */
export interface HistoryAddExchangeParams {
  /** The question. */
  user: Content;
  /** The answer. */
  assistant: Content;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The messages that were added. */
export interface HistoryAddExchangeReply {
  /** Their numbers, in order. */
  ids: MessageId[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A message. */
export interface HistoryAddParams {
  /** The speaker. */
  role: Role;
  /** The content. */
  content: Content;
  /** Whether the model sees it. */
  agent?: Visibility;
  /** Whether you see it. */
  user?: Visibility;
  /** Its purpose. */
  kind?: MessageKind;
  /** Whether a compaction may take it. */
  pin?: Pin;
  /** When it was said, in milliseconds since 1970; now when absent. */
  timeMs?: number | null;
  /** Files it speaks of. */
  filesMentioned?: FileKey[];
  /** Files changed by this message. */
  filesModified?: FileKey[];
  /** Further fields from a provider's format, by the provider's name. */
  extra?: Record<string, unknown>;
  /**
   * The number from `history.get`. Messages are numbered again; one with a number is added unchanged, without the
   * limits for tool outputs.
   */
  id?: MessageId | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The messages that were added. */
export interface HistoryAddReply {
  /** Their numbers, in order. */
  ids: MessageId[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface HistoryClearParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of a command without a result. */
export interface HistoryClearReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface HistoryCountParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** How long the conversation is. */
export interface HistoryCountReply {
  /** All messages, hidden ones included. */
  messages: number;
  /** Tokens of what the model sees of them. */
  tokens: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A message and its new content. */
export interface HistoryEditParams {
  /** Which message. */
  id: MessageId;
  /** The new content. */
  content: Content;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of a command without a result. */
export interface HistoryEditReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface HistoryGetParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The conversation. */
export interface HistoryGetReply {
  /** All of them, hidden ones included. */
  messages: Message[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A message and who gets to see it. One of `agent` and `user` is needed. */
export interface HistoryHideParams {
  /** Which message. */
  id: MessageId;
  /** Whether the model sees it. */
  agent?: Visibility | null;
  /** Whether the user sees it. */
  user?: Visibility | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of a command without a result. */
export interface HistoryHideReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A conversation that another program recorded. */
export interface HistoryImportParams {
  /** A conversation in any form that `session.import` takes. */
  text: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The messages that were added. */
export interface HistoryImportReply {
  /** Their numbers, in order. */
  ids: MessageId[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A message. */
export interface HistoryMessage {
  /** The speaker. */
  role: Role;
  /** The content. */
  content: Content;
  /** Whether the model sees it. */
  agent?: Visibility;
  /** Whether you see it. */
  user?: Visibility;
  /** Its purpose. */
  kind?: MessageKind;
  /** Whether a compaction may take it. */
  pin?: Pin;
  /** When it was said, in milliseconds since 1970; now when absent. */
  timeMs?: number | null;
  /** Files it speaks of. */
  filesMentioned?: FileKey[];
  /** Files changed by this message. */
  filesModified?: FileKey[];
  /** Further fields from a provider's format, by the provider's name. */
  extra?: Record<string, unknown>;
  /**
   * The number from `history.get`. Messages are numbered again; one with a number is added unchanged, without the
   * limits for tool outputs.
   */
  id?: MessageId | null;
}

/** A message that is to stay verbatim, or no longer. */
export interface HistoryPinParams {
  /** Which message. */
  id: MessageId;
  /** Whether it is to stay. */
  pinned?: boolean;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of a command without a result. */
export interface HistoryPinReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface HistoryReregisterParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of a command without a result. */
export interface HistoryReregisterReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A whole conversation. */
export interface HistorySetParams {
  /** In order. */
  messages: HistoryMessage[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** How long the conversation is. */
export interface HistorySetReply {
  /** All messages, hidden ones included. */
  messages: number;
  /** Tokens of what the model sees of them. */
  tokens: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Where the conversation is to end. */
export interface HistoryTruncateParams {
  /** The first message that goes. */
  from: MessageId;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The remaining conversation. */
export interface HistoryTruncateReply {
  /** How many messages went. */
  removed: number;
  /** How many messages are left. */
  messages: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A place where something was found. */
export type Hit = {
  /** When it was said, in milliseconds since 1970, where that is known. */
  timeMs?: number;
  /** The words around it. */
  snippet: string;
  /** How good it is; compares only within one search. */
  score: number;
} & (
  /** A note. */
  | {
    source: 'fragment';
    /** Its number. */
    id: number;
    /** Its tags. */
    tags: string[];
  }
  /** A memory file of the workspace. */
  | {
    source: 'file';
    /** The file. */
    path: FileKey;
    /** The first line of the paragraph, counted from 1. */
    line: number;
  }
  /** A message of a conversation. */
  | {
    source: 'message';
    /** The session. */
    session: string;
    /** The message. */
    message: MessageId;
    /** The speaker. */
    role: Role;
    /** The purpose of the message. */
    kind: MessageKind;
  });

/** A value that was left out, and why. */
export interface IgnoredSetting {
  /** The setting, for instance `symbols.map_budget`. */
  key: string;
  /** Its position. */
  origin: SettingOrigin;
  /** Why it does not count. */
  reason: string;
}

/** A picture in a message. */
export interface Image {
  /** The source of its bytes. */
  source: ImageSource;
  /** Width in pixels, when known; without it the token estimate is a constant. */
  width?: number | null;
  /** Height in pixels, when known. */
  height?: number | null;
}

/** A formula, or `"none"`, which overrides the family. */
export type ImageEntry = ImageFormula | Support;

/** How a model's provider computes the tokens of an image. */
export type ImageFormula =
  /**
   * Anthropic: one token for each 28 x 28 pixels started, after the image was scaled down to fit both limits
   * (platform.claude.com/docs/en/build-with-claude/vision, "Image costs").
   */
  | {
    kind: 'cells';
    /** The longer side, in pixels. */
    max_side: number;
    /** Tokens of one image. */
    max_tokens: number;
  }
  /**
   * OpenAI up to GPT-4o, o1, o3 and GPT-5: scaled into 2,048 x 2,048, then to a shorter side of 768, then counted
   * in squares of 512 (developers.openai.com/api/docs/guides/images-vision, "Calculating costs", high detail).
   */
  | {
    kind: 'tiles';
    /** Tokens of any image. */
    base: number;
    /** Tokens of each square. */
    tile: number;
  }
  /**
   * OpenAI from GPT-4.1 mini on: squares of 32 pixels, scaled down to at most `max_patches` of them, times a factor
   * (same page, "Calculating costs").
   */
  | {
    kind: 'patches';
    /** Squares of one image. */
    max_patches: number;
    /** Tokens of each square. */
    factor: number;
  }
  /**
   * Gemini: an image of at most 384 x 384 takes one tile, others one for each 768 x 768 pixels started
   * (ai.google.dev/gemini-api/docs/tokens).
   */
  | {
    kind: 'large_tiles';
    /** Tokens of each tile. */
    tile: number;
  }
  /** The same for any image, also of unknown size. */
  | {
    kind: 'fixed';
    /** Tokens of one image. */
    tokens: number;
  };

/** Where the bytes of an image are. */
export type ImageSource =
  /** Inline, base64. */
  | {
    type: 'base64';
    /** `image/png`, `image/jpeg`, `image/gif` or `image/webp`. */
    mediaType: string;
    /** The bytes, base64 without line breaks. */
    data: string;
  }
  /** At an address that the provider fetches. */
  | {
    type: 'url';
    /** The address. */
    url: string;
  };

/** Whether the repository was indexed. */
export type IndexState =
  /** Not complete yet. */
  | 'building'
  /** It was. */
  | 'ready';

/** The client's `initializationOptions`. Unknown fields are ignored, since clients may keep their own there. */
export interface InitializationOptions {
  /**
   * The settings as the editor has them. A client that answers `workspace/configuration` is asked again once it is
   * ready.
   */
  settings?: SettingsInput | null;
  /** The requests of Strata's own that the client answers. */
  requests?: string[];
  /** The session to continue with. */
  resume?: string | null;
  /**
   * Whether the user trusts the workspace: whether its rules, skills and memory become part of the system prompt.
   */
  trusted?: boolean;
}

/**
 * Id of a tracked unit of prompt content: `system`, `symbol:{path}`, `file:{path}`, `file:{path}#L1-9`,
 * `excerpt:{path}#{definition}`, `history:{n}`, `url:{hash}`.
 */
export type ItemKey = string;

/** One item, and where it is found. */
export type ItemReport = {
  /** Its name. */
  key: ItemKey;
  /** Display title: a file's path, a message's speaker and beginning, a web page's title. */
  title: string;
  /** The file it belongs to, if it belongs to one. */
  path?: FileKey;
  /** The lines of that file that it shows, when it is not the whole file. */
  lines?: LineRange[];
  /** The selection state of that file. */
  state?: Choice;
  /** Its tier. */
  tier: Tier;
  /** Its tokens, including updates. */
  tokens: number;
  /**
   * The content block of the prompt that shows it first, counted from 0; absent when it is not shown but keeps its
   * place, as an outline after the full text of its file does.
   */
  position?: number;
  /** The last break that began with it. */
  lastBreak?: LastBreak;
  /** Where an editor finds its file. */
  uri?: string;
} & (Partial<LedgerItemStats> & Partial<RippleItemStats>);

/** An iteration, and what goes with it. */
export interface IterationAddParams {
  /** Goal of the loop. Required before its first iteration; a different goal starts a new loop. */
  goal?: string | null;
  /** The prompt and its outcome. */
  iteration: NewIteration;
  /** Facts about the loop's environment, by name. Values of names that suggest secrets are withheld. */
  environment?: Record<string, string> | null;
  /** Changes of files since the last iteration. */
  fileEvents?: FileEvent[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of adding an iteration. */
export interface IterationAddReply {
  /** Its number, counted from 1. */
  number: number;
  /** Whether it says that the goal is reached. */
  promise: LoopPromise;
  /** What happened to iterations that left the window; absent if none did. */
  fold?: Fold;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The loop that a prompt is for, before its first iteration. */
export interface IterationPromptParams {
  /**
   * Goal of the loop. Defaults to that of the running loop; a different goal gives the prompt of a first iteration.
   */
  goal?: string | null;
  /** Environment to report instead of the last one. */
  environment?: Record<string, string> | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The prompt of the next iteration. */
export interface IterationPromptReply {
  /** The prompt. */
  text: string;
  /** Its tokens. */
  tokens: number;
  /**
   * Its sections in order, with their tokens: `goal`, `summary`, `iterations`, `state`, `instructions`. Omits empty
   * ones.
   */
  parts: [string, number][];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface IterationStatusParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The state of a loop. */
export interface IterationStatusReply {
  /** Its goal. */
  goal: string;
  /** How many iterations there were. */
  totalIterations: number;
  /** Numbers of the iterations kept verbatim. */
  window: number[];
  /** Numbers of the iterations waiting for the summary. */
  waiting: number[];
  /** The summary holds the iterations from 1 to this one. */
  summarized: number;
  /** The summary. */
  summary: string;
  /** The iteration after which it is written again. */
  nextSummaryAt: number | null;
  /** The program that ran the last iteration. */
  currentCli: string;
  /** The model that ran the last iteration. */
  currentModel: string;
  /** When the loop began, in milliseconds since 1970. */
  startedMs: number;
  /** How far the last iteration got. */
  progressScore: number | null;
  /** Whether the goal is reached. */
  promise: LoopPromise;
  /** The last iteration that said so. */
  completed: number | null;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/**
 * The name of an environment variable that holds a provider's key: upper-case letters, digits and underscores,
 * ending in `_API_KEY`, `_TOKEN` or `_KEY`. Any other variable, such as `PATH`, is refused, so that a mistake never
 * sends it to a provider.
 */
export type KeyVariable = string;

/** When something was broken, and why. */
export interface LastBreak {
  /** The prompt that broke it, counted from 1. */
  turn: number;
  /** Why. */
  reason: BreakReason;
}

/** A compaction that was committed. */
export interface LastCompaction {
  /** The profile that made it. */
  profile: string;
  /** How the conversation was made shorter. */
  strategy: CompactionStrategy;
  /** The size before. */
  before: ConversationSize;
  /** The size after. */
  after: ConversationSize;
  /** Who wrote the summary; absent if there is none. */
  summarisedBy?: SummaryAuthor;
  /** When, in milliseconds since 1970. */
  timeMs: number;
}

/** The last recorded prompt of a session. */
export interface LastTurn {
  /** How many prompts were recorded, over all runs. */
  turns: number;
  /** The model that it went to. */
  model: string;
  /** The policy of its layout. */
  policy: PolicyName;
  /** The content of each nonempty tier. */
  tiers: TierWeight[];
  /** Tokens expected in the provider's cache. */
  cachedTokens: number;
  /** When that will be gone, in milliseconds since 1970; absent when nothing is cached. */
  cacheExpiresMs?: number;
  /** Why it did not begin as the prompt before, in a sentence. */
  explanation: string;
}

/** Statistics about one item. */
export interface LedgerItemStats {
  /** The chance that it leaves the prompt at the next turn, from 0 to 1. */
  hazard: number;
  /** Turns that a file has been selected and unchanged; absent for what has no age. */
  age?: number;
  /** Whether it is in the prefix kept from the previous prompt. */
  kept: boolean;
}

/** Lines of a file, counted from 1: `L10` or `L10-40`. */
export type LineRange = string;

/** An excerpt. */
export interface ListedExcerpt {
  /** Its name. */
  excerpt: ExcerptKey;
  /** The file. */
  path: FileKey;
  /** Where an editor finds that. */
  uri?: string;
  /** Its lines now; absent when it is gone from its file. */
  lines?: LineRange;
  /** Why it was chosen; absent when you pinned it unasked. */
  reason?: ExcerptReason;
  /** Why it is there. */
  standing: ExcerptStanding;
  /** The weight of its text, in tokens of the model. */
  tokens: number;
}

/** A file that the session chose. */
export type ListedFile = {
  /** The file. */
  path: FileKey;
  /** Where an editor finds it. */
  uri?: string;
  /** Its selection state. */
  state: Choice;
  /** The lines that are shown, when it is not the whole file. */
  lines?: LineRange[];
  /** Its tier in the last recorded turn. */
  tier?: Tier;
  /** The weight of its shown text, in tokens of the model. */
  tokens?: number;
  /** Why it cannot be shown. */
  problem?: string;
} & (Partial<
  /** An open buffer, unsaved changes included. */
  | {
    source: 'buffer';
    /** The editor's version of the document. */
    version: number;
    /** Whether it is known to be the editor's text. */
    sync: DocumentSync;
  }
  /** The disk. */
  | {
    source: 'disk';
    /** When it was last changed, in milliseconds since 1970. */
    mtimeMs: number;
    /** How the bytes were converted to text, if not directly. */
    notice?: string;
  }
  /** Handed over by the client. */
  | {
    source: 'given';
  }>);

/** A session. */
export interface ListedSession {
  /** Its name on the wire. */
  id: string;
  /** The user's name for it; may be empty. */
  name: string;
  /** When it was started, in milliseconds since 1970; `null` when it was not saved. */
  createdMs: number | null;
  /** When it was last written to, likewise. */
  updatedMs: number | null;
  /** How many messages it has. */
  messages: number;
  /** The beginning of its first message. */
  preview: string;
  /** Whether it is open in this server. */
  open: boolean;
  /** Whether it is the one that is shown. */
  current: boolean;
  /** Whether it is open without the right to write to it. */
  readOnly: boolean;
}

/** A higher price for prompts that pass a size. */
export interface LongContext {
  /** Prompts of more tokens pay more, for all of their tokens. */
  above: number;
  /** The multiple of the plain price. */
  input: number;
}

/** Whether an iteration said that the goal is reached. */
export type LoopPromise =
  /** It did not. */
  | 'open'
  /** It did: `<promise>COMPLETE</promise>`. */
  | 'complete';

/**
 * Standard LSP requests, for editors without a plugin. Those answered from outlines are off by default, because
 * next to another language server an editor would show everything twice.
 */
export interface LspSettings {
  /** `textDocument/documentSymbol` */
  document_symbol: boolean;
  /** `workspace/symbol` */
  workspace_symbol: boolean;
  /** `textDocument/hover` */
  hover: boolean;
  /** `textDocument/definition` */
  definition: boolean;
  /** `textDocument/references` */
  references: boolean;
  /**
   * `textDocument/codeAction`: adds a file or the selected lines to the model's context, removes or excludes the
   * file, and previews the prompt. Not offered for automatic light-bulb requests.
   */
  code_action: boolean;
  /** `textDocument/codeLens`: shows a file's state in the model's context above its first line. Off by default. */
  code_lens: boolean;
}

/**
 * Standard LSP requests, for editors without a plugin. Those answered from outlines are off by default, because
 * next to another language server an editor would show everything twice.
 */
export interface LspSettingsInput {
  /** `textDocument/documentSymbol` */
  document_symbol?: boolean;
  /** `workspace/symbol` */
  workspace_symbol?: boolean;
  /** `textDocument/hover` */
  hover?: boolean;
  /** `textDocument/definition` */
  definition?: boolean;
  /** `textDocument/references` */
  references?: boolean;
  /**
   * `textDocument/codeAction`: adds a file or the selected lines to the model's context, removes or excludes the
   * file, and previews the prompt. Not offered for automatic light-bulb requests.
   */
  code_action?: boolean;
  /** `textDocument/codeLens`: shows a file's state in the model's context above its first line. Off by default. */
  code_lens?: boolean;
}

/** A file with a block. */
export interface MapFile {
  /** The file. */
  path: FileKey;
  /** Its place among all files by how much they matter; the first has 1. */
  rank: number;
  /** How much of it the block shows. */
  level: MapLevel;
  /** Tokens of its block. */
  tokens: number;
}

/** How much of a file its map block shows. Each level includes the previous one. */
export type MapLevel =
  /** The file's path alone. */
  | 'path'
  /** The path and the names of top-level definitions. */
  | 'names'
  /** The signatures of definitions that others refer to. */
  | 'signatures'
  /** The signatures of everything public. */
  | 'public'
  /** Every signature, fields, imports. */
  | 'full';

/** The order of a map. */
export type MapSort =
  /** Most important first. */
  | 'rank'
  /** By path. */
  | 'path';

/** A line that matches, or one near it. */
export interface MatchingLine {
  /** From 1. */
  line: number;
  /** At most 300 characters. */
  text: string;
  /** Whether it is only near a line that matches. */
  context?: boolean;
}

/** A note. */
export interface MemoryAddParams {
  /** The note. */
  text: string;
  /** Its tags. */
  tags?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The note that was added. */
export interface MemoryAddReply {
  /** Its number. */
  id: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface MemoryListParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** All notes. */
export interface MemoryListReply {
  /** In order of creation. */
  fragments: Note[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A note. */
export interface MemoryRemoveParams {
  /** Its number. */
  id: number;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of a command without a result. */
export interface MemoryRemoveReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A search query. */
export interface MemorySearchParams {
  /** Words. One without a letter or digit is an error. */
  query: string;
  /** How many hits at most: 20 when absent, never more than 1,000. */
  limit?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of a search, best first. */
export interface MemorySearchReply {
  /** Those in memory files, then all others, best first. */
  hits: Hit[];
  /** How many of the newest matches were ranked, when there are too many to rank them all. */
  newest?: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A message in a history. */
export interface Message {
  /** Its number. */
  id: MessageId;
  /** The speaker. */
  role: Role;
  /** The content, in order. */
  content: ContentBlock[];
  /** Whether the model sees it. A hidden message is never sent and never counted. */
  agent: Visibility;
  /** Whether the user sees it. */
  user: Visibility;
  /** Its purpose. */
  kind: MessageKind;
  /** Whether a compaction may take it. */
  pin?: Pin;
  /** Time of the message, in milliseconds since 1970, from the caller. */
  timeMs?: number;
  /** Files it speaks of. */
  filesMentioned?: FileKey[];
  /** Files changed by this message. */
  filesModified?: FileKey[];
  /**
   * Further fields of this message in a provider's format, by the provider's name, for writing it back unchanged
   * (`exchange`). Never sent, never counted.
   */
  extra?: Record<string, unknown>;
}

/** The stable number of a message in its session. Never reused, never renumbered by a compaction. */
export type MessageId = number;

/** The purpose of a message, which decides how archival and compaction treat it. */
export type MessageKind =
  /** Ordinary talk. */
  | 'normal'
  /** The result of a tool call. */
  | 'tool_result'
  /** A result hidden from the model because a summary replaces it. */
  | 'tool_result_archived'
  /** The summary that replaces archived results. */
  | 'tool_summary'
  /** The summary that a compaction left. */
  | 'summary'
  /** An event around the conversation, reported to the model. */
  | 'system_event'
  /** One iteration of an autonomous loop. */
  | 'iteration';

/** A model, known or assumed. */
export interface Model {
  /** The name in the table, or the name as asked for when the table has none. */
  id: string;
  /** The family in the table; empty for an unknown model. */
  family: string;
  /** Its maker. */
  provider: ModelProvider;
  /** Its tokenizer. */
  tokenizer: Tokenizer;
  /** Tokens that a request may hold. */
  max_input: number;
  /** Tokens that an answer may hold. */
  max_output: number;
  /** How prompt prefixes are cached and what that costs. */
  cache: CacheRules;
  /** A higher price for long prompts, if there is one. */
  long_context: LongContext | null;
  /** The cost of images; `None` if the model takes none. */
  image: ImageFormula | null;
  /** Whether it can call tools. */
  tools: boolean;
  /** Tokens that belong to no text. */
  overheads: TokenOverheads;
}

/** One entry; missing fields come from its family. */
export interface ModelEntry {
  /** The family a model takes its defaults from. */
  family: string | null;
  /** Names a model also goes by. */
  aliases: string[] | null;
  /** Beginnings of the names that a family claims. */
  prefixes: string[] | null;
  /** The provider whose protocol and rules apply. */
  provider: ModelProvider | null;
  /** How tokens are counted. */
  tokenizer: Tokenizer | null;
  /** The window for input, in tokens. */
  max_input: number | null;
  /** The longest answer, in tokens. */
  max_output: number | null;
  /** The provider's cache. */
  cache: CacheEntry;
  /** A higher price for long prompts. */
  long_context: LongContext | null;
  /** The cost of pictures. */
  image: ImageEntry | null;
  /** Whether it can be given tools. */
  tools: Support | null;
  /** Tokens beyond the texts of a request. */
  overheads: TokenOverheads | null;
}

/** One entry; missing fields come from its family. */
export interface ModelEntryInput {
  /** The family a model takes its defaults from. */
  family?: string | null;
  /** Names a model also goes by. */
  aliases?: string[] | null;
  /** Beginnings of the names that a family claims. */
  prefixes?: string[] | null;
  /** The provider whose protocol and rules apply. */
  provider?: ModelProvider | null;
  /** How tokens are counted. */
  tokenizer?: Tokenizer | null;
  /** The window for input, in tokens. */
  max_input?: number | null;
  /** The longest answer, in tokens. */
  max_output?: number | null;
  /** The provider's cache. */
  cache?: CacheEntryInput;
  /** A higher price for long prompts. */
  long_context?: LongContext | null;
  /** The cost of pictures. */
  image?: ImageEntry | null;
  /** Whether it can be given tools. */
  tools?: Support | null;
  /** Tokens beyond the texts of a request. */
  overheads?: TokenOverheads | null;
}

/** A message of a conversation that the client keeps. */
export interface ModelMessage {
  /** The speaker. */
  role: Role;
  /** The content. */
  content: Content;
}

/** The maker of a model. Does not determine the dialect, since gateways serve any model in any dialect. */
export type ModelProvider =
  /** Claude. */
  | 'anthropic'
  /** GPT, o-series, gpt-oss. */
  | 'openai'
  /** Gemini, Gemma. */
  | 'google'
  /** DeepSeek. */
  | 'deepseek'
  /** Mistral, Codestral, Devstral, Ministral. */
  | 'mistral'
  /** Qwen. */
  | 'alibaba'
  /** Llama. */
  | 'meta'
  /** Kimi. */
  | 'moonshot'
  /** GLM. */
  | 'zai'
  /** Grok. */
  | 'xai'
  /** Anything else. */
  | 'other';

/** A conversation, and how to show the answer. */
export interface ModelSendParams {
  /** The messages, oldest first; the last are what the model is to answer. */
  messages: ModelMessage[];
  /** Instructions above the messages. */
  system?: string;
  /** The tools that the model may call. Strata runs none of them: results come with the next request. */
  tools?: Tool[];
  /**
   * A name of the client's choice under which it is shown the answer as it comes (`strata/delta`). Without it the
   * answer comes with the reply only.
   */
  stream?: string | null;
  /** The model; that of the setting `provider.model` or else `model` when absent. */
  model?: string | null;
  /** Maximum tokens of the answer; the setting `provider.max_output_tokens` when absent. */
  maxOutputTokens?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of `strata.model.send`. */
export interface ModelSendReply {
  /** The model that answered. */
  model: string;
  /** Its answer, with known secrets restored: content of the assistant's message in the next request. */
  content: ContentBlock[];
  /** Why it ended. */
  end: SendEnd;
  /** Why it ended before it was complete. */
  error?: string;
  /** The billed usage. */
  usage: Usage;
  /** The cost of the input. */
  cost: SendCost;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/**
 * Families and models by name. The built-in table and a user's overrides share this form, in TOML or any other
 * format that serde reads.
 */
export interface ModelTable {
  /** Model families, by name. */
  family: Record<string, ModelEntry>;
  /** Models, by name. */
  model: Record<string, ModelEntry>;
}

/**
 * Families and models by name. The built-in table and a user's overrides share this form, in TOML or any other
 * format that serde reads.
 */
export interface ModelTableInput {
  /** Model families, by name. */
  family?: Record<string, ModelEntryInput>;
  /** Models, by name. */
  model?: Record<string, ModelEntryInput>;
}

/** An iteration as reported. */
export interface NewIteration {
  /** When it ended, in milliseconds since 1970. */
  timeMs?: number;
  /** The program that ran it. */
  cli?: string;
  /** The model that ran it. */
  model?: string;
  /** Its prompt. */
  prompt?: string;
  /** Its output. */
  output?: string;
  /** How far it got, as the caller judges. */
  progressScore?: number;
  /** Accomplishments in addition to those in the output. */
  progressMarkers?: string[];
  /** Paths of the files that it changed. */
  fileChanges?: string[];
  /** How long it took, in milliseconds. */
  durationMs?: number;
}

/** A note. */
export interface Note {
  /** Its number. */
  id: number;
  /** Its text. */
  text: string;
  /** Its tags. */
  tags: string[];
  /** The session in which it was made. */
  session?: string;
  /** When, in milliseconds since 1970. */
  createdMs: number;
}

/** Why a document's text can no longer be trusted. */
export type OutOfStep =
  /** A change arrived for a document that was never opened. */
  | {
    kind: 'never_opened';
  }
  /** A change did not carry a higher version than the one before it. */
  | {
    kind: 'version_went_back';
    /** The version Strata has. */
    have: number;
    /** The version the change carried. */
    got: number;
  }
  /** A change named a range that is not in the text. */
  | {
    kind: 'invalid_range';
    /** What is wrong. */
    detail: string;
  }
  /** Something was said of it that cannot be read. */
  | {
    kind: 'misread';
    /** What is wrong. */
    detail: string;
  };

/** The id of an output: a message number, or the name of a spilled output. */
export type OutputName =
  /** The number of a message with results. */
  | MessageId
  /** The name of an output that went to a file. */
  | string;

/** The effect of a pause under the current lifetime. */
export interface PauseCost {
  /** How long it is. */
  seconds: number;
  /** Whether the cache will have expired. */
  expires: boolean;
  /** In tokens of plain input. */
  cost: number;
  /** As a share of the next prompt without any cache; 1 is a whole prompt. */
  share: number;
}

/** Whether a compaction may take a message. */
export type Pin =
  /** It may. */
  | 'free'
  /** The user wants it to stay verbatim. */
  | 'kept';

/** A named layout policy. */
export type PolicyName =
  /** An append-only log: keeps what is cached and appends changes after it. */
  | 'ledger'
  /** Four cached tiers: content moves up while it stays unchanged. */
  | 'ripple'
  /** A fixed order without breakpoints. */
  | 'flat';

/** A part of a prompt: the blocks of one message that show the same and are for the same. */
export interface PreviewPart {
  /** Its title. */
  title: string;
  /** Its kind of content. */
  part: PromptPart;
  /** Its tier. */
  tier: Tier;
  /** Its tokens, for the model. */
  tokens: number;
  /** Its first line in the text, counted from 0. A line ends with a line feed. */
  line: number;
  /** How many lines it has; 0 when nothing of it can be written as text. */
  lines: number;
  /** Whether it ends with a cache breakpoint. */
  marked: boolean;
}

/** The built-in profiles. */
export type ProfileName =
  /** Cuts where the topic changed, or else replaces older exchanges with a pair of summary messages. */
  | 'topic'
  /** Keeps the first message, a summary by phases and themes, and the newest messages. */
  | 'continuation'
  /** Keeps a structured checkpoint and the newest messages. */
  | 'checkpoint'
  /** Keeps a running summary and the newest iterations. */
  | 'rolling'
  /** Turns the conversation into one message from which another agent can continue. */
  | 'handoff';

/** Overrides for a built-in profile, or a profile of your own. Every field is optional. */
export interface ProfileOptions {
  /** Profile to start from. Defaults to the built-in profile of the same name, or `topic`. */
  like: ProfileName | null;
  /** When to check whether a compaction is due. */
  moment: CompactionMoment | null;
  /**
   * Maximum share of the request limit for the conversation. Above it, and above 24,000 tokens, Strata compacts as
   * soon as that saves money. 0 disables the trigger.
   */
  history_share: number | null;
  /** Maximum tokens of the conversation before a compaction is due. 0 disables the trigger. */
  history_over: number | null;
  /** Tokens of the whole prompt at which a compaction is due. 0 disables the trigger. */
  context_from: number | null;
  /** Maximum share of the window for the whole prompt before a compaction is due. 0 disables the trigger. */
  window_share: number | null;
  /** Tokens to keep free in the window. */
  reserve_tokens: number | null;
  /** Limit in tokens if the window is unknown or no larger than the reserve. */
  max_tokens: number | null;
  /** Limit in messages if neither the window nor `max_tokens` is known. */
  max_messages: number | null;
  /** Maximum messages the model sees before a compaction is due. 0 disables the trigger. */
  messages_over: number | null;
  /** Maximum exchanges before a compaction is due. 0 disables the trigger. */
  exchanges_over: number | null;
  /** Whether to keep the first message. */
  keep_first: boolean | null;
  /** Tokens of newest messages to keep. */
  keep_tokens: number | null;
  /** Minimum number of newest messages to keep. */
  keep_messages: number | null;
  /** Minimum number of newest exchanges to keep. */
  keep_exchanges: number | null;
  /** Maximum tokens of the summary. */
  summary_tokens: number | null;
  /** Target share of the window for the compacted prompt. */
  target_share: number | null;
  /** Maximum characters of each tool result in the summarizer's input. 0 means no limit. */
  result_chars: number | null;
  /** Maximum characters of each tool call's arguments in the summarizer's input. 0 means no limit. */
  call_chars: number | null;
  /** Maximum characters of each result in the digest of `checkpoint`. */
  digest_chars: number | null;
  /** Maximum results listed in the digest of `checkpoint`. Older ones are only counted. */
  digest_lines: number | null;
}

/** Overrides for a built-in profile, or a profile of your own. Every field is optional. */
export interface ProfileOptionsInput {
  /** Profile to start from. Defaults to the built-in profile of the same name, or `topic`. */
  like?: ProfileName | null;
  /** When to check whether a compaction is due. */
  moment?: CompactionMoment | null;
  /**
   * Maximum share of the request limit for the conversation. Above it, and above 24,000 tokens, Strata compacts as
   * soon as that saves money. 0 disables the trigger.
   */
  history_share?: number | null;
  /** Maximum tokens of the conversation before a compaction is due. 0 disables the trigger. */
  history_over?: number | null;
  /** Tokens of the whole prompt at which a compaction is due. 0 disables the trigger. */
  context_from?: number | null;
  /** Maximum share of the window for the whole prompt before a compaction is due. 0 disables the trigger. */
  window_share?: number | null;
  /** Tokens to keep free in the window. */
  reserve_tokens?: number | null;
  /** Limit in tokens if the window is unknown or no larger than the reserve. */
  max_tokens?: number | null;
  /** Limit in messages if neither the window nor `max_tokens` is known. */
  max_messages?: number | null;
  /** Maximum messages the model sees before a compaction is due. 0 disables the trigger. */
  messages_over?: number | null;
  /** Maximum exchanges before a compaction is due. 0 disables the trigger. */
  exchanges_over?: number | null;
  /** Whether to keep the first message. */
  keep_first?: boolean | null;
  /** Tokens of newest messages to keep. */
  keep_tokens?: number | null;
  /** Minimum number of newest messages to keep. */
  keep_messages?: number | null;
  /** Minimum number of newest exchanges to keep. */
  keep_exchanges?: number | null;
  /** Maximum tokens of the summary. */
  summary_tokens?: number | null;
  /** Target share of the window for the compacted prompt. */
  target_share?: number | null;
  /** Maximum characters of each tool result in the summarizer's input. 0 means no limit. */
  result_chars?: number | null;
  /** Maximum characters of each tool call's arguments in the summarizer's input. 0 means no limit. */
  call_chars?: number | null;
  /** Maximum characters of each result in the digest of `checkpoint`. */
  digest_chars?: number | null;
  /** Maximum results listed in the digest of `checkpoint`. Older ones are only counted. */
  digest_lines?: number | null;
}

/** What to assemble. Either `prompt` (with or without `images`) or `toolResults`. */
export interface PromptAssembleParams {
  /** The user's question. */
  prompt?: string | null;
  /** Pictures that go with the prompt. */
  images?: Image[];
  /** Results of the tools that the last answer asked for. */
  toolResults?: ToolResult[] | null;
  /** The tools that the model may ask for, in the order in which they are declared. */
  tools?: Tool[];
  /** The form of the request; the setting's when absent. */
  format?: Format | null;
  /** Layout policy. Defaults to that of the session or the settings. */
  policy?: PolicyName | null;
  /** The model it is made for; the setting's when absent. */
  model?: string | null;
  /**
   * Maximum input tokens that the client passes on. The limit of the prompt follows from the smaller of this and
   * the model's window.
   */
  maxInputTokens?: number | null;
  /**
   * Maximum tokens of code that the prompt brings along: excerpts of the files that it is about; the setting
   * `context.auto_budget` when absent.
   */
  autoBudget?: number | null;
  /** Lifetime of cache entries, for clients that cannot ask for another; the setting's when absent. */
  ttl?: Ttl | null;
  /** Assemble without keeping the prompt: it cannot be recorded. */
  dryRun?: boolean;
  /** How the request body is handed over. */
  bodyAs?: BodyAs;
  /**
   * Top-level fields of the request body, such as `max_tokens` and `stream`, added after Strata's own. Strata's own
   * fields are rejected. The values are not counted.
   */
  extra?: Record<string, unknown>;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A finished prompt: the reply of `prompt.assemble`. */
export interface PromptAssembleReply {
  /** Names the prompt for `prompt.record` and `prompt.discard`; absent from a dry run. */
  id?: string;
  /** The model it is made for. */
  model: string;
  /** The dialect of `body`. */
  format: Format;
  /** The policy that laid it out. */
  policy: PolicyName;
  /**
   * The request body, or the text of the Markdown format. With `bodyAs: "text"`, the body as the exact text to
   * POST.
   */
  body: Body;
  /** Its tokens. */
  tokens: TokenReport;
  /** The content of the tiers. */
  tiers: TierReport[];
  /** Where the cache breakpoints are. */
  breakpoints: Breakpoint[];
  /** The expected cost, as far as the provider's cache is known. `read` is the expected cached read. */
  predicted: Charge;
  /** The versions of the files shown in full. */
  files: UsedFile[];
  /** Which files of a trusted workspace its system prompt quotes or lists. */
  systemFiles: SystemFiles;
  /** How much of the repository it shows. */
  coverage: Coverage;
  /** Selected files that did not fit, largest first. */
  shed: FileKey[];
  /** Warnings for the user. */
  warnings: PromptWarning[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** An earlier preview. */
export interface PromptChangesParams {
  /** The text of the earlier preview. */
  since: string;
  /** The policy of that preview; the session's or the setting's when absent. */
  policy?: PolicyName | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Changes since an earlier preview. */
export interface PromptChangesReply {
  /** The text of the preview now. */
  text: string;
  /**
   * A unified diff from the earlier text to this one. Its hunks name the part that they begin in. Empty when
   * nothing has changed.
   */
  changes: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A prompt. */
export interface PromptDiscardParams {
  /** The `id` from `strata.prompt.assemble`. */
  id: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of a command without a result. */
export interface PromptDiscardReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A text to count. */
export interface PromptEstimateParams {
  /** The text. */
  text: string;
  /** The model whose tokens count; the setting's when absent. */
  model?: string | null;
  /** Maximum input tokens that the client passes on; the model's window when absent or larger. */
  maxInputTokens?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The tokens of a text. */
export interface PromptEstimateReply {
  /** Tokens of the model. */
  tokens: number;
  /** The model whose tokens were counted. */
  model: string;
  /**
   * Maximum tokens of a request to that model: the input window less the reserve for the answer and what estimates
   * may be off by.
   */
  limit: number;
  /** What is assumed of a model missing from the table. */
  warning?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The purpose of a block: the rows of the token breakdown. */
export type PromptPart =
  /** The system prompt with additions from the settings. */
  | 'system'
  /** Map blocks and their legend. */
  | 'map'
  /** Full texts of selected files. */
  | 'files'
  /** The repository file list. */
  | 'file_list'
  /** Updates of earlier texts: diffs, outlines, changes of the file list. */
  | 'updates'
  /** Web pages. */
  | 'urls'
  /** Earlier messages. */
  | 'history'
  /** The tools the client declares. */
  | 'tools'
  /** Volatile facts: branch, files already read. */
  | 'session_state'
  /** Names relevant to the request. */
  | 'context_frame'
  /** The new prompt or the new tool results. */
  | 'prompt'
  /** The format itself: roles, separators, the beginning of the reply. */
  | 'structure';

/** What to assemble. Either `prompt` (with or without `images`) or `toolResults`. */
export interface PromptPreviewParams {
  /** The user's question. */
  prompt?: string | null;
  /** Pictures that go with the prompt. */
  images?: Image[];
  /** Results of the tools that the last answer asked for. */
  toolResults?: ToolResult[] | null;
  /** The tools that the model may ask for, in the order in which they are declared. */
  tools?: Tool[];
  /** The form of the request; the setting's when absent. */
  format?: Format | null;
  /** Layout policy. Defaults to that of the session or the settings. */
  policy?: PolicyName | null;
  /** The model it is made for; the setting's when absent. */
  model?: string | null;
  /**
   * Maximum input tokens that the client passes on. The limit of the prompt follows from the smaller of this and
   * the model's window.
   */
  maxInputTokens?: number | null;
  /**
   * Maximum tokens of code that the prompt brings along: excerpts of the files that it is about; the setting
   * `context.auto_budget` when absent.
   */
  autoBudget?: number | null;
  /** Lifetime of cache entries, for clients that cannot ask for another; the setting's when absent. */
  ttl?: Ttl | null;
  /** Assemble without keeping the prompt: it cannot be recorded. */
  dryRun?: boolean;
  /** How the request body is handed over. */
  bodyAs?: BodyAs;
  /**
   * Top-level fields of the request body, such as `max_tokens` and `stream`, added after Strata's own. Strata's own
   * fields are rejected. The values are not counted.
   */
  extra?: Record<string, unknown>;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The next request: the reply of `prompt.preview`. */
export interface PromptPreviewReply {
  /** All of it, as Markdown. */
  text: string;
  /** Tokens of the request. Includes declared tools and the format itself, in addition to the text. */
  tokens: number;
  /** The parts of the text, in order. Every line belongs to one. */
  parts: PreviewPart[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The outcome of a prompt. */
export interface PromptRecordParams {
  /** The prompt, by the `id` that `strata.prompt.assemble` gave it. */
  id: string;
  /** Its outcome. */
  status?: TurnStatus;
  /** The answer: a text, or its blocks. */
  response?: Content | null;
  /** The outcome of an answer that was stopped; the same as `response`. */
  partial?: Content | null;
  /** The billed usage. */
  usage?: UsageInput | null;
  /**
   * Why it failed; the prompt counts as not sent. After `context_limit` assemble it again and send that: the
   * conversation is compacted first. A second one in a row is an error that names the largest parts.
   */
  error?: TurnError | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of `prompt.record`. */
export interface PromptRecordReply {
  /** The prompt. */
  id: string;
  /** Its outcome. */
  status: TurnStatus;
  /** How many messages the conversation has now. */
  messages: number;
  /** Billed usage of the session so far. */
  totals: Usage;
  /** Warnings for the user. */
  warnings: string[];
  /** Whether to assemble the prompt again and send it once more: the conversation is compacted first. */
  retry?: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The question, and how to show the answer. */
export interface PromptSendParams {
  /** The question. */
  prompt: string;
  /** Pictures that go with it. */
  images?: Image[];
  /**
   * A name of the client's choice under which it is shown the answer as it comes (`strata/delta`). Without it the
   * answer comes with the reply only.
   */
  stream?: string | null;
  /** The tools that the model may use while it answers. */
  tools?: SendTools;
  /** The model; that of the setting `provider.model` or else `model` when absent. */
  model?: string | null;
  /** Layout policy. Defaults to that of the session or the settings. */
  policy?: PolicyName | null;
  /** Maximum input tokens; the model's window when absent or larger. */
  maxInputTokens?: number | null;
  /** Maximum tokens of the answer; the setting `provider.max_output_tokens` when absent. */
  maxOutputTokens?: number | null;
  /**
   * Maximum tokens of code that the prompt brings along: excerpts of the files that it is about; the setting
   * `context.auto_budget` when absent.
   */
  autoBudget?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of `strata.prompt.send`. */
export interface PromptSendReply {
  /** The session. */
  session: string;
  /** The model that answered. */
  model: string;
  /** Its text, with known secrets restored. */
  text: string;
  /** Why it ended. */
  end: SendEnd;
  /** Why it ended before it was complete. */
  error?: string;
  /** Billed usage of all requests together. */
  usage: Usage;
  /** The cost of the input. */
  cost: SendCost;
  /** The expected cost of the input. */
  predicted: Charge;
  /** How many requests were answered. */
  requests: number;
  /** How many rounds of tool calls were answered. */
  rounds: number;
  /** The tools that the model used. */
  tools: ToolUse[];
  /** Selected files that did not fit. */
  shed: string[];
  /** Warnings for the user. */
  warnings: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The system prompt and its additions. */
export interface PromptSettings {
  /** The base system prompt. */
  system: string;
  /**
   * Guidelines for using tools and formatting answers, added to the base system prompt when a request declares
   * tools. An empty string adds nothing.
   */
  tool_guidelines: string;
  /** Extra instructions, added after the base system prompt. */
  system_extra: string;
  /**
   * Rule files whose content joins the system prompt in trusted workspaces: names, or paths with a pattern as the
   * last part.
   */
  rules: string[];
  /** Skill files. The prompt lists only their names and descriptions. */
  skills: string[];
  /** Memory files: notes that belong in every prompt. */
  memory: string[];
}

/** The system prompt and its additions. */
export interface PromptSettingsInput {
  /** The base system prompt. */
  system?: string;
  /**
   * Guidelines for using tools and formatting answers, added to the base system prompt when a request declares
   * tools. An empty string adds nothing.
   */
  tool_guidelines?: string;
  /** Extra instructions, added after the base system prompt. */
  system_extra?: string;
  /**
   * Rule files whose content joins the system prompt in trusted workspaces: names, or paths with a pattern as the
   * last part.
   */
  rules?: string[];
  /** Skill files. The prompt lists only their names and descriptions. */
  skills?: string[];
  /** Memory files: notes that belong in every prompt. */
  memory?: string[];
}

/** Something the user should know about a prompt that was made anyway. */
export interface PromptWarning {
  /** The kind of warning. */
  code: PromptWarningCode;
  /** It in one sentence. */
  message: string;
  /** The file it is about. */
  path?: FileKey;
}

/** The kinds of `Warning`. */
export type PromptWarningCode =
  /** A selected file was left out because it did not fit. */
  | 'shed'
  /** A selected file could not be read. */
  | 'unreadable'
  /** A buffer may be out of sync with the editor. */
  | 'out_of_step'
  /** The model is not in the table. */
  | 'unknown_model'
  /** Old exchanges were left out because nothing else was left to leave out. */
  | 'history_truncated'
  /** The outlines are not complete yet. */
  | 'index_incomplete'
  /** Secrets in a file were replaced by placeholders. */
  | 'redacted'
  /** The map has no room for a file that the session or the request is about. */
  | 'map_full';

/** A provider by its API. Gateways and self-hosted servers use one of these APIs at their own address. */
export type ProviderName =
  /** Anthropic's Messages API. */
  | 'anthropic'
  /** OpenAI's Chat Completions API. Also OpenRouter, LiteLLM, vLLM and others, with `provider.base_url`. */
  | 'openai'
  /** OpenAI's Responses API. */
  | 'responses'
  /** Google's `generateContent` API. */
  | 'gemini'
  /** Ollama on this machine. Needs no key. */
  | 'ollama';

/** The provider for `strata ask` and `strata.prompt.send`. */
export interface ProviderSettings {
  /** Provider to send prompts to. If unset, Strata sends nothing, even if a key is available. */
  name: ProviderName | null;
  /** Provider address, if not the default one: `https:`, or `http:` on this machine. */
  base_url: string | null;
  /** Model, by its provider's name for it. Defaults to `model`. */
  model: string | null;
  /**
   * Environment variable that holds the provider's key, if not the default one. Its name ends in `_API_KEY`,
   * `_TOKEN` or `_KEY`.
   */
  key_env: KeyVariable | null;
  /**
   * Command that prints the provider's key, with its arguments, such as `["pass", "show", "anthropic"]`. Runs
   * without a shell and takes precedence over environment variables.
   */
  key_command: string[];
  /** Timeout for one answer, in seconds. */
  timeout_s: number;
  /** Timeout when the provider stops sending data, in seconds. */
  stall_s: number;
  /** Maximum retries when the provider is overloaded or fails before the answer begins. */
  retries: number;
  /** Maximum rounds of tool calls per answer. */
  tool_rounds: number;
  /**
   * Maximum tokens per answer. Defaults to the reserve for the answer with Anthropic, and to the provider's own
   * limit elsewhere.
   */
  max_output_tokens: number | null;
}

/** The provider for `strata ask` and `strata.prompt.send`. */
export interface ProviderSettingsInput {
  /** Provider to send prompts to. If unset, Strata sends nothing, even if a key is available. */
  name?: ProviderName | null;
  /** Provider address, if not the default one: `https:`, or `http:` on this machine. */
  base_url?: string | null;
  /** Model, by its provider's name for it. Defaults to `model`. */
  model?: string | null;
  /**
   * Environment variable that holds the provider's key, if not the default one. Its name ends in `_API_KEY`,
   * `_TOKEN` or `_KEY`.
   */
  key_env?: KeyVariable | null;
  /**
   * Command that prints the provider's key, with its arguments, such as `["pass", "show", "anthropic"]`. Runs
   * without a shell and takes precedence over environment variables.
   */
  key_command?: string[];
  /** Timeout for one answer, in seconds. */
  timeout_s?: number;
  /** Timeout when the provider stops sending data, in seconds. */
  stall_s?: number;
  /** Maximum retries when the provider is overloaded or fails before the answer begins. */
  retries?: number;
  /** Maximum rounds of tool calls per answer. */
  tool_rounds?: number;
  /**
   * Maximum tokens per answer. Defaults to the reserve for the answer with Anthropic, and to the provider's own
   * limit elsewhere.
   */
  max_output_tokens?: number | null;
}

/** A positive factor between two token counts. */
export type Ratio = number;

/** One secret at one place. Never says the secret. */
export interface RedactedSecret {
  /**
   * The rule that found it; for one that came in an earlier run of the server the kind that the placeholder says.
   */
  rule: string;
  /** Its placeholder. */
  placeholder: string;
  /** The file that it is in. */
  path?: FileKey;
  /** The web page that it is in. */
  url?: string;
  /** The message that it is in. */
  message?: MessageId;
  /** The line of the file, of the page or of the block of the message, counted from 1. */
  line: number;
}

/** The arguments of a command that takes none. */
export interface RedactionListParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The secrets replaced in the session's content. */
export interface RedactionListReply {
  /** Files first, in the order of their names, then web pages, then messages. */
  secrets: RedactedSecret[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A text with placeholders. */
export interface RedactionRestoreParams {
  /** A model's answer, or any other text. */
  text: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The text with secrets. It is for the file that it is applied to, not for a model. */
export interface RedactionRestoreReply {
  /** The text. */
  text: string;
  /** How many placeholders were replaced. */
  restored: number;
  /**
   * Placeholders that stayed, because their secrets are unknown: the file is not selected, or the secret came with
   * a message in an earlier run of the server.
   */
  unknown: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Secrets in text that models see. */
export interface RedactionSettings {
  /** Whether to replace secrets in files, messages and tool results with placeholders. */
  enabled: boolean;
  /** Exceptions that are sent unchanged: placeholders as listed by `strata.redaction.list`, or rule names. */
  allow: string[];
}

/** Secrets in text that models see. */
export interface RedactionSettingsInput {
  /** Whether to replace secrets in files, messages and tool results with placeholders. */
  enabled?: boolean;
  /** Exceptions that are sent unchanged: placeholders as listed by `strata.redaction.list`, or rule names. */
  allow?: string[];
}

/** A mention. */
export interface ReferenceHit {
  /** The file. */
  path: FileKey;
  /** From 1. */
  line: number;
  /** The line, without the white space around it. */
  text: string;
  /** Whether scopes, imports and types lead to the definition, or it has the name and no more. */
  confidence: Confidence;
  /** Whether the name is defined there. */
  definition?: boolean;
}

/** A file that mentions a name. */
export interface Referrer {
  /** The file. */
  path: FileKey;
  /** At most 1. */
  likelihood: number;
}

/** A file or a definition. */
export interface RelevantItem {
  /** The file. */
  path: FileKey;
  /** Its kind; absent for a file. */
  kind?: SymbolKind;
  /** Its name; absent for a file. */
  name?: string;
  /** The line that introduces it; absent for a file. */
  head?: string;
  /** The first line, from 1. */
  line?: number;
  /** The last line, included. */
  endLine?: number;
  /** How good it is; the best has 1. */
  score: number;
}

/** One of them, by its names before and after. */
export interface Rename {
  /** Its name before. */
  from: string;
  /** Its name now. */
  to: string;
}

/** One part of a tool's result. */
export type ResultPart =
  /** Text output. */
  | {
    type: 'text';
    /** The output. */
    text: string;
  }
  /** A picture the tool made. */
  | {
    type: 'image';
    /** The source of its bytes. */
    source: ImageSource;
    /** Width in pixels, when known; without it the token estimate is a constant. */
    width?: number;
    /** Height in pixels, when known. */
    height?: number;
  }
  /** Something that only one provider has a form for. */
  | {
    type: 'foreign';
    /** Its provider. */
    provider: ForeignProvider;
    /** The block as received, without cache marks. */
    value: unknown;
  };

/** One part of a tool's result. */
export type ResultPartInput =
  /** Text output. */
  | {
    type: 'text';
    /** The output. */
    text: string;
  }
  /** A picture the tool made. */
  | {
    type: 'image';
    /** The source of its bytes. */
    source: ImageSource;
    /** Width in pixels, when known; without it the token estimate is a constant. */
    width?: number | null;
    /** Height in pixels, when known. */
    height?: number | null;
  }
  /** Something that only one provider has a form for. */
  | {
    type: 'foreign';
    /** Its provider. */
    provider: ForeignProvider;
    /** The block as received, without cache marks. */
    value: unknown;
  };

/** Statistics about one item. */
export interface RippleItemStats {
  /** How many requests in a row it was unchanged, as far as its tier counts. */
  n: number;
  /** The N at which it goes up; absent in L0, which is final. */
  threshold?: number;
}

/** The speaker of a message. */
export type Role =
  /** The user, or the program that acts for them; tool results come under this role too. */
  | 'user'
  /** The model. */
  | 'assistant';

/** The cost of input, in tokens of plain input. */
export interface SendCost {
  /** The actual cost. */
  paid: number;
  /** The cost without a cache. */
  uncached: number;
  /** The share of the input that was read from the cache, from 0 to 1. */
  readShare: number;
}

/** Why an answer ended. */
export type SendEnd =
  /** The model was done. */
  | 'complete'
  /** The limit of an answer was reached. */
  | 'output_limit'
  /** The model asked for more rounds of tool calls than there may be. */
  | 'tool_rounds'
  /**
   * The model called tools that Strata does not run: those of a forwarded conversation, or some although it was
   * offered none.
   */
  | 'tool_calls'
  /** You stopped it. The answer so far is kept. */
  | 'cancelled'
  /** The provider's answer was interrupted. The answer so far is kept. */
  | 'cut'
  /** A later request failed. The answers before it are recorded. */
  | 'failed';

/** Which tools the model may use. */
export type SendTools =
  /** None. */
  | 'none'
  /** Strata's read-only tools: map, outlines, references, searches, files, notes. */
  | 'read';

/** The arguments of a command that takes none. */
export interface ServerModelsParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The model table. */
export interface ServerModelsReply {
  /** Sorted by name. */
  models: Model[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface ServerReindexParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of a command without a result. */
export interface ServerReindexReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The language server itself. */
export interface ServerSettings {
  /** Directory names to skip when scanning, in addition to the built-in list. */
  ignore: string[];
}

/** The language server itself. */
export interface ServerSettingsInput {
  /** Directory names to skip when scanning, in addition to the built-in list. */
  ignore?: string[];
}

/** The arguments of a command that takes none. */
export interface ServerSettingsParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The settings in force. */
export interface ServerSettingsReply {
  /** All of them. */
  settings: Settings;
  /** Where each value comes from, by the setting's name. */
  origins: Record<string, SettingOrigin>;
  /** Values in a workspace file that it cannot set. */
  ignored: IgnoredSetting[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface ServerStatusParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The state of the server. */
export interface ServerStatusReply {
  /** The version of Strata. */
  version: string;
  /** The session that is shown. */
  session: string;
  /** The workspace folders. */
  roots: string[];
  /** How many buffers are open. */
  openDocuments: number;
  /** Whether all files were outlined. */
  index: IndexState;
  /** How many files the workspace has. */
  files: number;
  /** How many of them have an outline. */
  outlined: number;
  /** The work of the last run over all files. */
  efforts: Efforts;
  /** The languages that have outlines. */
  languages: string[];
  /** Whether the user trusts the workspace. */
  trusted: boolean;
  /**
   * Problems of the scan, and settings without effect: those that a workspace file cannot set, and unknown names in
   * `redaction.allow`.
   */
  notes: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A session. */
export interface SessionDeleteParams {
  /** Which; the one that the command is about when absent. */
  id?: string | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of a command without a result. */
export interface SessionDeleteReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A session and a form to write it in. */
export interface SessionExportParams {
  /** The form. */
  format?: ExportFormat;
  /** Which session; the one that the command is about when absent. */
  id?: string | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A session as text. */
export interface SessionExportReply {
  /** The form. */
  format: ExportFormat;
  /** All of it. */
  text: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** How much of the session to take along. */
export interface SessionForkParams {
  /** The last message that the new session has; all of them when absent. */
  until?: MessageId | null;
  /** Name of the new session. */
  name?: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The session that is shown now. */
export interface SessionForkReply {
  /** Its name. */
  id: string;
  /** How many messages it has. */
  messages: number;
  /** Whether it is open without the right to write to it. */
  readOnly: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A recorded session. */
export interface SessionImportParams {
  /** The output of another program or of `session.export`. */
  text: string;
  /** Its name. */
  name?: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The session that was made. */
export interface SessionImportReply {
  /** Its name. */
  id: string;
  /** How many messages it has. */
  messages: number;
  /** The form that the text was in. */
  form: ConversationForm;
  /** Lines that hold no message. */
  skipped: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface SessionListParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** All sessions of the workspace. */
export interface SessionListReply {
  /** The one written to last first. */
  sessions: ListedSession[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A stored session. */
export interface SessionLoadParams {
  /** Its name. */
  id: string;
  /** Open it without the right to write to it, as when another server does. */
  readOnly?: boolean;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The session that is shown now. */
export interface SessionLoadReply {
  /** Its name. */
  id: string;
  /** How many messages it has. */
  messages: number;
  /** Whether it is open without the right to write to it. */
  readOnly: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface SessionNewParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The session that is shown now. */
export interface SessionNewReply {
  /** Its name. */
  id: string;
  /** How many messages it has. */
  messages: number;
  /** Whether it is open without the right to write to it. */
  readOnly: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A session's new name. */
export interface SessionRenameParams {
  /** The name; empty for none. */
  name: string;
  /** Which session; the one that the command is about when absent. */
  id?: string | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of a command without a result. */
export interface SessionRenameReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface SessionResetParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The session that is shown now. */
export interface SessionResetReply {
  /** Its name. */
  id: string;
  /** How many messages it has. */
  messages: number;
  /** Whether it is open without the right to write to it. */
  readOnly: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A search query. */
export interface SessionSearchParams {
  /** Words. One without a letter or digit is an error. */
  query: string;
  /** How many hits at most: 20 when absent, never more than 1,000. */
  limit?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of a search, best first. */
export interface SessionSearchReply {
  /** Those in memory files, then all others, best first. */
  hits: Hit[];
  /** How many of the newest matches were ranked, when there are too many to rank them all. */
  newest?: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface SessionStepsParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The tool calls of a session. */
export interface SessionStepsReply {
  /** Each call, in order. */
  steps: Step[];
  /** The files that were read, the last one last. */
  filesRead: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Where settings come from, the weakest first. */
export type SettingLayer =
  /** Built in. */
  | 'defaults'
  /** `strata.toml` in the user's configuration directory. */
  | 'user'
  /** `.strata.toml` or `.strata.yaml` in a workspace folder. */
  | 'workspace'
  /** Variables that begin with `STRATA_`. */
  | 'environment'
  /** The editor's answer to `workspace/configuration`. */
  | 'editor'
  /** Options of the command line. */
  | 'commandLine';

/** Where an effective value comes from. */
export interface SettingOrigin {
  /** The layer. */
  layer: SettingLayer;
  /** Its position, for a user: a file's path, `environment`, `editor`. */
  name: string;
}

/** All settings. */
export interface Settings {
  /** Model the prompts are for, by its provider's name for it. */
  model: string;
  /** Format of the request body. */
  format: Format;
  /** Prompt caching. */
  cache: CacheSettings;
  /** The system prompt and its additions. */
  prompt: PromptSettings;
  /** The symbol map. */
  symbols: SymbolSettings;
  /** Full files and the repository file list. */
  files: FileSettings;
  /** A list of relevant names that follows the question. */
  context_frame: ContextFrameSettings;
  /** Tokens reserved in the model's window. */
  budget: BudgetSettings;
  /** Models missing from the built-in table, and overrides for those in it. */
  models: ModelTable;
  /** Tokenizer files (`tokenizer.json`), by model family or model. */
  tokenizers: Record<string, string>;
  /** The provider for `strata ask` and `strata.prompt.send`. */
  provider: ProviderSettings;
  /** Conversation compaction. */
  compaction: CompactionSettings;
  /** Code added to questions automatically, and the memory of autonomous loops. */
  context: ContextSettings;
  /** How tools are classified by name. */
  tools: ToolPatterns;
  /** Tool results: how much of each is kept, and how long the model sees it. */
  tool_output: ToolOutputSettings;
  /** Secrets in text that models see. */
  redaction: RedactionSettings;
  /** The language server itself. */
  server: ServerSettings;
  /** Standard LSP requests that other language servers answer too. */
  lsp: LspSettings;
}

/** All settings. */
export interface SettingsInput {
  /** Model the prompts are for, by its provider's name for it. */
  model?: string;
  /** Format of the request body. */
  format?: Format;
  /** Prompt caching. */
  cache?: CacheSettingsInput;
  /** The system prompt and its additions. */
  prompt?: PromptSettingsInput;
  /** The symbol map. */
  symbols?: SymbolSettingsInput;
  /** Full files and the repository file list. */
  files?: FileSettingsInput;
  /** A list of relevant names that follows the question. */
  context_frame?: ContextFrameSettingsInput;
  /** Tokens reserved in the model's window. */
  budget?: BudgetSettingsInput;
  /** Models missing from the built-in table, and overrides for those in it. */
  models?: ModelTableInput;
  /** Tokenizer files (`tokenizer.json`), by model family or model. */
  tokenizers?: Record<string, string>;
  /** The provider for `strata ask` and `strata.prompt.send`. */
  provider?: ProviderSettingsInput;
  /** Conversation compaction. */
  compaction?: CompactionSettingsInput;
  /** Code added to questions automatically, and the memory of autonomous loops. */
  context?: ContextSettingsInput;
  /** How tools are classified by name. */
  tools?: ToolPatternsInput;
  /** Tool results: how much of each is kept, and how long the model sees it. */
  tool_output?: ToolOutputSettingsInput;
  /** Secrets in text that models see. */
  redaction?: RedactionSettingsInput;
  /** The language server itself. */
  server?: ServerSettingsInput;
  /** Standard LSP requests that other language servers answer too. */
  lsp?: LspSettingsInput;
}

/** A page that the session shows. */
export interface ShownPage {
  /** Its address. */
  url: string;
  /** Its title. */
  title?: string;
  /** Its item. */
  key: ItemKey;
  /** Its tier in the last recorded turn. */
  tier: Tier;
  /** The weight of its text, in tokens of the model. */
  tokens: number;
}

/** The context meter. */
export interface Status {
  /** The session that is shown. */
  session: string;
  /** The model the prompts are for. */
  model: string;
  /** Tokens of the next request without its prompt. */
  tokens: number;
  /** The model's input window, in tokens. */
  window: number;
  /** `tokens` as a share of `window`, in percent. */
  percent: number;
  /** The share of the session's billed input that was read from the cache, in percent. */
  cachedPercent: number | null;
  /** Tokens that the next request can read from the cache; absent if nothing is cached. */
  cachedTokens?: number;
  /** When that will be gone unless it is used before, in milliseconds since 1970. */
  cacheExpiresMs?: number;
  /** How near the conversation is to a compaction, in percent. */
  compactionPercent: number;
  /**
   * How many selected files the next request would leave out because they do not fit; `strata.budget.report` names
   * them.
   */
  shed: number;
  /** Number of secrets in selected files that were replaced; `strata.redaction.list` lists them. */
  redacted: number;
  /** Whether the conversation is saved to disk. Otherwise it ends with the server. */
  stored: boolean;
  /** Whether all files were outlined. */
  index: IndexState;
  /** How many files the workspace has. */
  files: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** One step of an exploration. */
export interface Step {
  /** The message that called the tool. */
  message: MessageId;
  /** The tool. */
  tool: string;
  /** The path, command line or query; empty if the call has none. */
  subject: string;
  /** Its outcome. */
  ended: StepOutcome;
}

/** How a tool call ended. */
export type StepOutcome =
  /** It succeeded. */
  | 'well'
  /** It failed. */
  | 'badly'
  /** Its result is not among the messages. */
  | 'unanswered';

/** Who writes compaction summaries. */
export type SummariserKind =
  /**
   * The client if it answers `strata/summarize`, otherwise the provider of `compaction.model` if its key is
   * available, otherwise no model.
   */
  | 'auto'
  /** No model: summaries are extracted from the conversation, offline. */
  | 'extractive'
  /** The client, with the editor's own models and keys (`strata/summarize`). */
  | 'client'
  /** A provider over HTTP, with the key from the environment. */
  | 'http';

/** A question for the client's model. */
export interface Summarize {
  /** Its purpose. */
  purpose: SummaryPurpose;
  /** The system prompt. */
  system: string;
  /** The user's message. */
  prompt: string;
  /** Maximum tokens of the answer. */
  maxTokens: number;
  /** The model that is set for it, as its provider calls it. */
  model?: string;
}

/** A model's answer. */
export type Summary =
  /** Its text. */
  | string
  /** The same inside an object, which may say more. */
  | {
    /** Its text. */
    text: string;
    /** The user-visible name of the model that wrote it, shown in `strata/compaction`. */
    model?: string | null;
  };

/** Who wrote a summary. */
export interface SummaryAuthor {
  /** Where the model runs. */
  kind: AuthorKind;
  /** The model, by the name that the client gave with its answer, or by that of `compaction.model`. */
  model?: string;
}

/** The purpose of a question. */
export type SummaryPurpose =
  /** Where the topic changed. */
  | 'find_topic'
  /** A summary. */
  | 'summarise'
  /** One summary of several. */
  | 'merge';

/** Whether a model can do something at all. */
export type Support = 'yes' | 'none';

/** The effect of switching to another model, with its tokens and prices. */
export interface SwitchCost {
  /** The model. */
  model: string;
  /** Tokens of the next prompt there. */
  tokens: number;
  /** The charge for its cacheable part, none of which is cached yet. */
  charge: Charge;
  /** In tokens of plain input. */
  cost: number;
  /** As a share of the next prompt without any cache; 1 is a whole prompt. */
  share: number;
}

/** A file that defines a name. */
export interface SymbolDefinition {
  /** The file. */
  path: FileKey;
  /** The heads of what has the name there. */
  heads: string[];
  /** Their lines, from 1. */
  lines: number[];
  /** The other files that mention it and mean this definition, likeliest first. */
  referrers: Referrer[];
}

/** The kind of a symbol, named after the captures in `outline.scm`. */
export type SymbolKind =
  /** A module or name space inside a file. */
  | 'module'
  /** A class. */
  | 'class'
  /** A structure, record or union. */
  | 'struct'
  /** An enumeration. */
  | 'enum'
  /** One of an enumeration's values. */
  | 'variant'
  /** An interface, trait or protocol. */
  | 'interface'
  /** An implementation block; its name is the type's. */
  | 'impl'
  /** A function outside any type. */
  | 'function'
  /** A function inside a type. */
  | 'method'
  /** A named part of a type. */
  | 'field'
  /** A variable outside any function. */
  | 'variable'
  /** A constant outside any function. */
  | 'constant'
  /** A type alias or associated type. */
  | 'type'
  /** A macro. */
  | 'macro'
  /** A part of a document, under its heading. */
  | 'section'
  /** A key of settings or data. */
  | 'key';

/** The symbol map. */
export interface SymbolSettings {
  /** Maximum tokens for the symbol map. Defaults to an eighth of the input window, between 4,000 and 64,000. */
  map_budget: number | null;
  /** Maximum file size, in bytes, for which Strata builds an outline. */
  max_file_bytes: number;
}

/** The symbol map. */
export interface SymbolSettingsInput {
  /** Maximum tokens for the symbol map. Defaults to an eighth of the input window, between 4,000 and 64,000. */
  map_budget?: number | null;
  /** Maximum file size, in bytes, for which Strata builds an outline. */
  max_file_bytes?: number;
}

/** A file. */
export interface SymbolsDependentsParams {
  /** Its path below the workspace folder. */
  path: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Dependencies. */
export interface SymbolsDependentsReply {
  /** The file. */
  path: FileKey;
  /** Number of files that refer to it. Uncertain references count less. */
  incoming: number;
  /** The files that refer to it, strongest first. */
  dependents: FileKey[];
  /** The files that it refers to, strongest first. */
  dependencies: FileKey[];
  /** The files that its imports mean. */
  imports: FileKey[];
  /** The files that refer to it and that it refers to. */
  mutual: FileKey[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A file. */
export interface SymbolsFileParams {
  /** Its path below the workspace folder. */
  path: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The outline of a file. */
export interface SymbolsFileReply {
  /** The file. */
  path: FileKey;
  /** Its language. */
  language: string;
  /**
   * Its definitions without their bodies, a line each: the lines that a definition has in the file, then its head,
   * indented by one space per level.
   */
  text: string;
  /** Its tokens. */
  tokens: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A search query. */
export interface SymbolsFindParams {
  /** Symbol name, or letters of it in order, optionally qualified (`Type.method`). */
  query: string;
  /** How many at most. */
  limit?: number;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The matches. */
export interface SymbolsFindReply {
  /** The closest first. */
  symbols: FoundSymbol[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The size and topic of the map. */
export interface SymbolsMapParams {
  /** Maximum tokens of the blocks. Defaults to the setting. */
  budget?: number | null;
  /** Files to always include, with related files ranked first: paths, or globs such as `src/**\/*.rs`. */
  focus?: string[];
  /** Topic of the map, in plain words: related code is ranked first, and what the text names is always included. */
  about?: string | null;
  /** Order of the blocks. */
  sort?: MapSort;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The symbol map. */
export interface SymbolsMapReply {
  /** The legend. */
  legend: string;
  /** All blocks. */
  text: string;
  /** Their total tokens. */
  tokens: number;
  /** Their maximum tokens. */
  budget: number;
  /** The files with a block, in the order of the blocks. */
  files: MapFile[];
  /** Files with an outline that have no block. */
  leftOut: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A name. */
export interface SymbolsReferencesParams {
  /** A name, optionally qualified by types or modules: `total`, `Cart.total`, `shop.Cart.total`. */
  name: string;
  /** Only its definitions in this file; everybody's when absent. */
  path?: string | null;
  /** How many hits at most. */
  limit?: number;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The references to a name. */
export interface SymbolsReferencesReply {
  /** The name. */
  name: string;
  /** Its definitions, each with the files that refer to it. */
  definitions: SymbolDefinition[];
  /** Mentions by path and line, definitions among them; certain ones first where there are more than the limit. */
  hits: ReferenceHit[];
  /** How many mentions there are, listed or not. */
  total: number;
  /**
   * Mentions that are not among them: of members of values of unknown type, by a name that the language brings
   * along.
   */
  unlikely: number;
  /** How to narrow the query if references are missing. */
  howToNarrow?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A query for relevant code. */
export interface SymbolsRelevantParams {
  /** The task, in plain words. */
  query: string;
  /** Maximum items. Defaults to the setting. */
  limit?: number | null;
  /** Items that score less are left out; the setting's when absent. */
  minScore?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The relevant code. */
export interface SymbolsRelevantReply {
  /** The best first. */
  items: RelevantItem[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Files of the workspace that the system prompt quotes or lists. */
export interface SystemFiles {
  /** Rules, quoted. */
  rules: FileKey[];
  /** Skills, listed with their descriptions. */
  skills: FileKey[];
  /** Memory, quoted. */
  memory: FileKey[];
}

/** A report about a calibration. */
export interface Taught {
  /** The model's tokens per estimated token. */
  factor: number;
  /** Overhead per request beyond our estimate, in tokens; negative if estimates are too high. */
  overhead: number;
  /** How often usage was reported. */
  reports: number;
}

/** A position of the protocol. */
export interface TextPosition {
  /** The line, from 0. */
  line: number;
  /** The character in it, from 0. */
  character: number;
}

/** A range of the protocol. */
export interface TextRange {
  /** Its start. */
  start: TextPosition;
  /** Its end, exclusive. */
  end: TextPosition;
}

/** How stable content has proved to be. L0 is the most stable and comes first; active content is not cached. */
export type Tier =
  /** The most stable. */
  | 'L0'
  /** Stable. */
  | 'L1'
  /** Settling. */
  | 'L2'
  /** Newly graduated. */
  | 'L3'
  /** Not cached. */
  | 'active';

/** One tier of a prompt. */
export interface TierReport {
  /** The tier. */
  tier: Tier;
  /** Number of its items. */
  items: number;
  /** Its weight in tokens. */
  tokens: number;
  /** Whether a breakpoint follows it. */
  marked: boolean;
}

/** The content of one tier. */
export interface TierWeight {
  /** The tier. */
  tier: Tier;
  /** Number of its items. */
  items: number;
  /** Its weight in tokens. */
  tokens: number;
}

/** The arguments of a command that takes none. */
export interface TiersExplainBreakParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The last recorded prompt's cache break. */
export interface TiersExplainBreakReply {
  /** In plain words. */
  sentence: string;
  /** The prompt that brought it about, counted from 1. */
  turn?: number;
  /** When, in milliseconds since 1970. */
  atMs?: number;
  /** Why. */
  reason?: BreakReason;
  /** The items in the first block that could not stay. */
  items?: ItemKey[];
  /** Tokens of the unchanged prefix. */
  kept?: number;
  /** Tokens after it, which the provider had to take in again. */
  rewritten?: number;
  /** Unchanged items after the break that were written again. */
  moved?: ItemKey[];
  /** Tokens of `rewritten` that would have been read from the cache had nothing broken. */
  lost?: number;
  /** The cost of writing them instead of reading them, in tokens of plain input. */
  cost?: number;
  /** How much less of this prompt the provider read than expected, if reported. */
  missed?: CacheShortfall;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** What to forecast. */
export interface TiersForecastParams {
  /** A model to switch to. */
  model?: string | null;
  /** How long the next prompt is to wait after the last one. */
  pauseSeconds?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The forecast. */
export interface TiersForecastReply {
  /** The model of the next prompt. */
  model: string;
  /** The lifetime that is set. */
  ttl: Ttl;
  /** Number of recorded prompts, as far as remembered. */
  turns: number;
  /** Tokens of the next prompt without its request. */
  tokens: number;
  /** Cacheable tokens of the last prompt. */
  marked: number;
  /** Growth per turn, in tokens. */
  growth: number;
  /** When the cache expires, in milliseconds since 1970. */
  cacheExpiresMs?: number;
  /** With entries that live five minutes. */
  fiveMinutes: CostOutlook;
  /** With entries that live an hour. */
  oneHour: CostOutlook;
  /** The lifetime under which the session would have cost less so far; five minutes when it is anyway. */
  cheaper: Ttl;
  /** Extra cost of a pause beyond the current lifetime. */
  pastTtl: ExtraCost;
  /** The effect of the pause in the request. */
  pause?: PauseCost;
  /** The effect of the model in the request. */
  switch?: SwitchCost;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A policy for this session. Without the field nothing is changed; `null` takes the session's own policy back. */
export interface TiersPolicyParams {
  /** The session's own from now on. */
  policy?: PolicyName | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The policy of the next prompt, and where it was chosen. */
export interface TiersPolicyReply {
  /** The policy. */
  policy: PolicyName;
  /** Where the choice came from. */
  decidedBy: DecidedBy;
  /** The session's own. */
  session: PolicyName | null;
  /** The setting's. */
  setting: PolicyName | null;
  /** The model of the next prompt. */
  model: string;
  /** The model's default. */
  modelDefault: PolicyName;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface TiersRebuildParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The cost of a rebuild. */
export interface TiersRebuildReply {
  /** The policy. */
  policy: PolicyName;
  /** Where the choice came from. */
  decidedBy: DecidedBy;
  /** The charge for the next request without its prompt; absent if it would not fit. */
  predicted?: Charge;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface TiersReportParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of `tiers.report`: the next prompt before its request. */
export interface TiersReportReply {
  /** The model. */
  model: string;
  /** The policy. */
  policy: PolicyName;
  /** Where the choice came from. */
  decidedBy: DecidedBy;
  /** Prompts that were recorded so far. */
  turns: number;
  /** The last recorded prompt, whichever process recorded it; absent before any was. */
  lastTurn?: LastTurn;
  /** The content of each nonempty tier. */
  tiers: TierReport[];
  /** Every item in prompt order, then those that only keep a position. */
  items: ItemReport[];
  /** Tokens of everything. */
  tokens: number;
  /** The expected charge, as far as the provider's cache is known. `read` is the expected cached read. */
  predicted: Charge;
  /** `predicted.read` as a share of all its tokens, in percent, rounded to one decimal. */
  expectedPercent: number;
  /** The share of the input billed so far that was read from the cache, in percent; absent before anything was. */
  cachedPercent?: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** How many tokens a provider counts. */
export type TokenCount =
  /** The number. */
  | number
  /** The same inside an object, which may say more. */
  | {
    /** The number. */
    inputTokens: number;
  };

/** Tokens that a provider adds to the text of a request. */
export interface TokenOverheads {
  /** For each message, its role and delimiters. */
  message: number;
  /** Once, for the beginning of the answer. */
  reply: number;
  /** Once, when the request declares any tool. */
  tool_prompt: number;
  /** For each declared tool, beyond its name, description and schema. */
  tool: number;
  /** For each tool call with its result, beyond their texts. */
  tool_round_trip: number;
}

/** The tokens of a prompt. */
export interface TokenReport {
  /** All of it. */
  total: number;
  /** By part. The parts add up to the total. */
  parts: Record<string, number>;
  /** The expected count by the provider, from reported usage. */
  expected: Expected;
  /** Maximum tokens by this count. Less than `room` if estimates turned out too low. */
  limit: number;
  /** Maximum tokens by the provider's count. */
  room: number;
  /** The input window: the model's, or the client's `maxInputTokens` where that is smaller. */
  window: number;
  /** Tokens reserved for the answer. */
  outputReserve: number;
}

/** How the tokens of a model are counted. Written `"o200k"`, `"cl100k"`, `{ o200k_times = 1.21 }` or `"chars"`. */
export type Tokenizer =
  /** Exactly, with `o200k_base`. `o200k_harmony` counts alike: it adds special tokens only. */
  | 'o200k'
  /** Exactly, with `cl100k_base`. */
  | 'cl100k'
  /** The exact `o200k_base` count times a factor, rounded up. */
  | {
    o200k_times: Ratio;
  }
  /** One token for four characters, rounded up. */
  | 'chars'
  /** With a tokenizer that the counter was given. */
  | {
    given: GivenId;
  };

/** A tool as a client declares it, in no provider's form. */
export interface Tool {
  /** Name of the tool for the model. */
  name: string;
  /** Description for the model. */
  description?: string;
  /** A JSON schema of its arguments, opaque to Strata. */
  input_schema: unknown;
}

/** How a tool call ended. */
export type ToolOutcome =
  /** It succeeded. */
  | 'ok'
  /** It failed; the content says how. */
  | 'error';

/** An output as a client may give it. */
export type ToolOutput =
  /** A text. */
  | string
  /** Its parts. */
  | ResultPartInput[];

/** An output of a tool. */
export interface ToolOutputAddParams {
  /** The output. */
  content: ToolOutput;
  /** The call that it answers. With it the result is added to the conversation; without it only cut. */
  callId?: string | null;
  /** How the call ended. */
  outcome?: ToolOutcome;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The kept part of an output. */
export interface ToolOutputAddReply {
  /** What the model sees. */
  content: ResultPart[];
  /** The message, when one was added. */
  id?: MessageId;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Lines of an output. */
export interface ToolOutputReadParams {
  /** Which output. */
  id: OutputName;
  /** The first line, counted from 1. */
  from?: number;
  /** How many lines; 200 when absent. */
  count?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Some lines of an output. */
export interface ToolOutputReadReply {
  /** The lines with their ends. */
  text: string;
  /** The first of them, counted from 1. */
  from: number;
  /** The last of them; one less than `from` when there are none. */
  to: number;
  /** How many lines the output has. */
  total: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Tool results: how much of each is kept, and how long the model sees it. 0 means no limit. */
export interface ToolOutputSettings {
  /** Maximum lines kept of one output. */
  max_lines: number;
  /** Maximum characters kept of one output. */
  max_chars: number;
  /** Maximum bytes kept of one output. */
  max_bytes: number;
  /** Outputs longer than this many characters are written to a file, and the conversation keeps a notice. */
  large_output_threshold: number;
  /**
   * Maximum disk space for outputs written to files, in MiB, over all workspaces. The oldest files are deleted
   * first.
   */
  spill_quota_mib: number;
  /** Which part of a long output to keep. */
  truncate_mode: TruncateMode;
  /**
   * Maximum tool results the model sees. Older ones are archived after a turn, or digested when `checkpoint`
   * compacts. 0 means no limit.
   */
  cutoff: number;
  /** Who summarizes archived results. */
  summary: ToolSummaryStrategy;
  /** When to archive results beyond `cutoff`. */
  ageing: ArchivalMode;
}

/** Tool results: how much of each is kept, and how long the model sees it. 0 means no limit. */
export interface ToolOutputSettingsInput {
  /** Maximum lines kept of one output. */
  max_lines?: number;
  /** Maximum characters kept of one output. */
  max_chars?: number;
  /** Maximum bytes kept of one output. */
  max_bytes?: number;
  /** Outputs longer than this many characters are written to a file, and the conversation keeps a notice. */
  large_output_threshold?: number;
  /**
   * Maximum disk space for outputs written to files, in MiB, over all workspaces. The oldest files are deleted
   * first.
   */
  spill_quota_mib?: number;
  /** Which part of a long output to keep. */
  truncate_mode?: TruncateMode;
  /**
   * Maximum tool results the model sees. Older ones are archived after a turn, or digested when `checkpoint`
   * compacts. 0 means no limit.
   */
  cutoff?: number;
  /** Who summarizes archived results. */
  summary?: ToolSummaryStrategy;
  /** When to archive results beyond `cutoff`. */
  ageing?: ArchivalMode;
}

/**
 * Patterns for tool names: `*` matches any characters, `?` matches one, and case is ignored. Edit patterns are
 * tried first, then commands, reads and searches.
 */
export interface ToolPatterns {
  /** Tools that read files. */
  read_tools: string[];
  /** Tools that change files. */
  edit_tools: string[];
  /** Tools that run command lines. */
  command_tools: string[];
  /** Tools that search. */
  search_tools: string[];
}

/**
 * Patterns for tool names: `*` matches any characters, `?` matches one, and case is ignored. Edit patterns are
 * tried first, then commands, reads and searches.
 */
export interface ToolPatternsInput {
  /** Tools that read files. */
  read_tools?: string[];
  /** Tools that change files. */
  edit_tools?: string[];
  /** Tools that run command lines. */
  command_tools?: string[];
  /** Tools that search. */
  search_tools?: string[];
}

/** The result of one tool call. */
export interface ToolResult {
  /** The `id` of the call. */
  callId: string;
  /** The output. */
  content: ResultPartInput[];
  /** Whether the tool failed. */
  outcome?: ToolOutcome;
}

/** How archived results are summarized. */
export type ToolSummaryStrategy =
  /** By a model, or as `heuristic` if the model fails. */
  | 'llm'
  /** By the beginning and the end of each result. */
  | 'heuristic'
  /** Not at all: results are never archived. */
  | 'off';

/** A tool that a model used. */
export interface ToolUse {
  /** The tool. */
  name: string;
  /** Its arguments. */
  input: unknown;
  /** Whether the call failed. */
  failed: boolean;
}

/** Billed usage of a session. */
export interface Totals {
  /** Input that was neither read from nor written to the cache. */
  input: number;
  /** Output. */
  output: number;
  /** Input read from the cache. */
  cacheRead: number;
  /** Input written to the cache. */
  cacheWrite: number;
  /** Cost of the input, in tokens of plain input; absent without a bill. */
  cost?: number;
}

/** What a condition measures. */
export type TriggerMetric =
  /** Tokens of the conversation. */
  | 'history_tokens'
  /** Tokens of the whole prompt. */
  | 'context_tokens'
  /** Messages that the model sees. */
  | 'messages'
  /** Exchanges among them. */
  | 'exchanges';

/** One condition of a trigger, held against a conversation. */
export interface TriggerReading {
  /** What is measured. */
  measured: TriggerMetric;
  /** How much of it there is. */
  now: number;
  /** How much of it there may be. */
  limit: number;
  /** Whether that makes a compaction due. */
  due: boolean;
}

/** Which part of a long text to keep. */
export type TruncateMode =
  /** The beginning. */
  | 'head'
  /** The beginning and the end, with a marker between them. */
  | 'head_tail';

/** How long to ask a provider to keep a prefix. */
export type Ttl =
  /** Five minutes after the last use. */
  | '5m'
  /** One hour after the last use. */
  | '1h';

/** Why a request failed, where Strata can do something about it. */
export type TurnError =
  /** The provider says that the prompt is too long. */
  | 'context_limit';

/** How a request ended. */
export type TurnStatus =
  /** The whole answer came. */
  | 'complete'
  /** The user stopped it; the answer so far counts. */
  | 'aborted'
  /** It failed; the prompt is treated as not sent. */
  | 'error';

/** A page with its text. */
export interface UrlAddParams {
  /** Its address. */
  url: string;
  /** Its title. */
  title?: string | null;
  /** Its text, at most `files.max_bytes`. */
  content: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A page that the session shows. */
export interface UrlAddReply {
  /** Its address. */
  url: string;
  /** Its title. */
  title?: string;
  /** Its item. */
  key: ItemKey;
  /** Its tier in the last recorded turn. */
  tier: Tier;
  /** The weight of its text, in tokens of the model. */
  tokens: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface UrlListParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The pages that the session shows. */
export interface UrlListReply {
  /** Sorted by address. */
  urls: ShownPage[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A page. */
export interface UrlRemoveParams {
  /** Its address. */
  url: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Whether there was such a page. */
export interface UrlRemoveReply {
  /** Whether there was. */
  removed: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Billed tokens of one request. */
export interface Usage {
  /** Input that was neither read from nor written to the cache. */
  input: number;
  /** Output. */
  output: number;
  /** Input read from the cache. */
  cacheRead: number;
  /** Input written to the cache. */
  cacheWrite: number;
}

/** Billed tokens of one request. */
export interface UsageInput {
  /** Input that was neither read from nor written to the cache. */
  input?: number;
  /** Output. */
  output?: number;
  /** Input read from the cache. */
  cacheRead?: number;
  /** Input written to the cache. */
  cacheWrite?: number;
}

/** An excerpt in a prompt. */
export interface UsedExcerpt {
  /** Its name, by which it is pinned and dismissed. */
  excerpt: ExcerptKey;
  /** Its lines now; absent when it is gone from its file. */
  lines?: LineRange;
  /** Why it was chosen; absent when you pinned it unasked. */
  reason?: ExcerptReason;
  /** Why it is in the prompt. */
  standing: ExcerptStanding;
  /** Its tokens in this prompt, including updates. */
  tokens: number;
}

/** A file in a prompt. */
export type UsedFile = {
  /** Its name. */
  path: FileKey;
  /** The hash of its whole text. */
  hash: ContentHash;
  /** Its tokens in this prompt. */
  tokens: number;
  /** Its tier. */
  tier: Tier;
  /** The parts of it that were chosen for a question; empty for a selected file. */
  excerpts?: UsedExcerpt[];
} & (
  /** An open buffer, unsaved changes included. */
  | {
    source: 'buffer';
    /** The editor's version of the document. */
    version: number;
    /** Whether it is known to be the editor's text. */
    sync: DocumentSync;
  }
  /** The disk. */
  | {
    source: 'disk';
    /** When it was last changed, in milliseconds since 1970. */
    mtimeMs: number;
    /** How the bytes were converted to text, if not directly. */
    notice?: string;
  }
  /** Handed over by the client. */
  | {
    source: 'given';
  });

/** Whether a party sees a message. */
export type Visibility =
  /** Shown. */
  | 'shown'
  /** Kept in the store, not shown, not counted. */
  | 'hidden';

/** Something the user should know. */
export interface Warning {
  /**
   * The kind of warning, for programs: `outOfStep`, `settings`, `resume`, `store`, `watch`, `compaction`,
   * `redacted`, ...
   */
  code: string;
  /** It in a sentence. */
  message: string;
  /** The file that it is about. */
  path?: FileKey;
}

/** A file that was rejected unasked. */
export interface WithheldFile {
  /** The file. */
  path: FileKey;
  /** Why, as a clause. */
  reason: string;
}
