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
  /** Deselects all files and removes content added by the client. Keeps exclusions. */
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

/** When to archive results beyond `tool_output.cutoff`. */
export type ArchivalMode =
  /** Immediately. */
  | 'eager'
  /** As soon as archiving costs no more than it saves. */
  | 'cache_aware';

/** Where the model of a summary runs. */
export type AuthorKind =
  /** A model of the client (`strata/summarize`). */
  | 'client'
  /** A model of a provider, asked over HTTP. */
  | 'http'
  /** No model: the summary was extracted from the conversation. */
  | 'extractive';

/** A finished request body. */
export type Body =
  /** A JSON body, ready to POST once the client adds model parameters. */
  | Record<string, unknown>
  /** A text, ready to read or paste. */
  | string;

/** How to return the request body. */
export type BodyAs =
  /** As a JSON object. */
  | 'json'
  /** As a string: the exact text to POST, for clients that would reorder the object's fields. */
  | 'text';

/** Why the prefix shared with the last prompt ended where it did. */
export type BreakReason =
  /** The session's first prompt. */
  | 'first'
  /** Nothing broke: the previous prompt is a prefix of this one. */
  | 'none'
  /** The model, the dialect or the tools changed. */
  | 'model'
  /** The whole cache expired during a pause. */
  | 'expired'
  /** The system prompt changed. */
  | 'system'
  /** A file was deselected. */
  | 'deselected'
  /** A file was excluded. */
  | 'excluded'
  /** A file was selected, and its full text replaced its outline. */
  | 'selected'
  /** A text changed, and the new version replaced the old one. */
  | 'changed'
  /** Content disappeared or no longer fit. */
  | 'vanished'
  /** The conversation was edited, replaced or shortened. */
  | 'history'
  /** The same content moved to another position. */
  | 'moved';

/** A cache breakpoint of a prompt. */
export interface Breakpoint {
  /** Tier that ends at the breakpoint. */
  tier: Tier;
  /** Tokens before the breakpoint. */
  prefixTokens: number;
}

/** The request to compare with its limit. */
export interface BudgetReportParams {
  /** Model of the request. Defaults to the model of the last prompt, or else to the setting `model`. */
  model?: string | null;
  /** Maximum input tokens that the client allows. Defaults to the model's window, which also caps larger values. */
  maxInputTokens?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of `budget.report`. All sizes are in tokens. */
export interface BudgetReportReply {
  /** Model that the budget applies to. */
  model: string;
  /** Tokens of the conversation. */
  historyTokens: number;
  /** A sixteenth of the input window. For information only, not enforced (`docs/prompt.md`, "Budgets"). */
  maxHistoryTokens: number;
  /** Input window in tokens. */
  maxInputTokens: number;
  /** Tokens reserved for the answer. */
  outputReserve: number;
  /** Tokens of the next request, excluding the user's new message. */
  used: number;
  /** Tokens left for the user's new message. */
  remaining: number;
  /** Tokens that the provider is expected to count, with the error margin, based on reported usage. */
  expected: Expected;
  /** Calibration of the model from reported usage; absent if no usage was reported. */
  calibration?: Taught;
  /** `used` as a share of the window, in percent, rounded to one decimal. */
  percent: number;
  /** Whether a compaction of the conversation is due. */
  needsSummary: boolean;
  /** Tokens by part. They add up to `used`. */
  parts: Record<string, number>;
  /** Files whose text is in the request. */
  files: UsedFile[];
  /** Selected files that do not fit, largest first. */
  shed: FileKey[];
  /** Billed usage of the session so far. */
  totals: Totals;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The token limit of a session. */
export interface BudgetSetParams {
  /** Maximum input tokens of each request in the session. Defaults to the model's window. */
  maxInputTokens?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The new limit. */
export interface BudgetSetReply {
  /**
   * Maximum tokens of a request: the input window minus the reserve for the answer and the margin for estimation
   * error.
   */
  limit: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Tokens reserved in the model's input window. */
export interface BudgetSettings {
  /**
   * Tokens to reserve for the answer. Defaults to the model's maximum output, but at most a sixteenth of the
   * window.
   */
  output_reserve: number | null;
}

/** Tokens reserved in the model's input window. */
export interface BudgetSettingsInput {
  /**
   * Tokens to reserve for the answer. Defaults to the model's maximum output, but at most a sixteenth of the
   * window.
   */
  output_reserve?: number | null;
}

/** Rules of the provider's cache. */
export interface CacheEntry {
  /** How the end of a cached prefix is determined. */
  mode: CacheKind | null;
  /** Minimum tokens of a cached prefix. */
  min_tokens: number | null;
  /** Price of a token read from the cache, as a multiple of the price of plain input. */
  read: number | null;
  /** Possible lifetimes of cache entries, shortest first. */
  lifetimes: CacheLifetime[] | null;
}

/** Rules of the provider's cache. */
export interface CacheEntryInput {
  /** How the end of a cached prefix is determined. */
  mode?: CacheKind | null;
  /** Minimum tokens of a cached prefix. */
  min_tokens?: number | null;
  /** Price of a token read from the cache, as a multiple of the price of plain input. */
  read?: number | null;
  /** Possible lifetimes of cache entries, shortest first. */
  lifetimes?: CacheLifetime[] | null;
}

/** How the end of a cached prefix is determined. */
export type CacheKind =
  /** By markers in the request. */
  | {
    kind: 'explicit';
    /** Maximum markers in one request. */
    max_breakpoints: number;
    /** Number of blocks that a marker looks back for entries, including its own. */
    lookback: number;
  }
  /** By the provider, which reads the longest known prefix. */
  | {
    kind: 'automatic';
    /** Step, in tokens, to which the length of a cached prefix is rounded down. */
    granularity: number;
  }
  /** The provider does not cache. */
  | {
    kind: 'none';
  };

/** A possible lifetime of cache entries. */
export interface CacheLifetime {
  /** Lifetime in seconds since the entry was last written or read. */
  seconds: number;
  /** Price of a token written to the cache; 1 if writes cost the same as plain input. */
  write: number;
}

/** How prompt prefixes are cached. Prices are multiples of the price of plain input. */
export interface CacheRules {
  /** How the end of a cached prefix is determined. */
  kind: CacheKind;
  /** Minimum tokens of a cached prefix. Shorter ones are not cached, without an error. */
  min_tokens: number;
  /** Price of a token read from the cache. */
  read: number;
  /**
   * Possible lifetimes of cache entries and their write prices, shortest first. Empty if the provider does not
   * cache.
   */
  lifetimes: CacheLifetime[];
}

/** Prompt caching. */
export interface CacheSettings {
  /**
   * Layout policy for prompts. Defaults to `ledger` for models whose provider caches prompts, and to `flat` for
   * others.
   */
  policy: PolicyName | null;
  /**
   * Target size of a cached tier, in tokens. If the model's minimum is larger, it applies instead. 0 disables the
   * target.
   */
  min_tokens: number;
  /** How long the provider is asked to keep cache entries. */
  ttl: Ttl;
  /**
   * Whether to append a diff to the prompt when a cached file changes. If off, the prompt is rebuilt from that file
   * onward.
   */
  deltas: boolean;
  /** Whether to omit the diff when the model's own messages already contain the exact edit. */
  history_deltas: boolean;
  /** Maximum growth of a prompt from outdated text and diffs, in percent, before parts of it are rebuilt. */
  slack: number;
}

/** Prompt caching. */
export interface CacheSettingsInput {
  /**
   * Layout policy for prompts. Defaults to `ledger` for models whose provider caches prompts, and to `flat` for
   * others.
   */
  policy?: PolicyName | null;
  /**
   * Target size of a cached tier, in tokens. If the model's minimum is larger, it applies instead. 0 disables the
   * target.
   */
  min_tokens?: number;
  /** How long the provider is asked to keep cache entries. */
  ttl?: Ttl;
  /**
   * Whether to append a diff to the prompt when a cached file changes. If off, the prompt is rebuilt from that file
   * onward.
   */
  deltas?: boolean;
  /** Whether to omit the diff when the model's own messages already contain the exact edit. */
  history_deltas?: boolean;
  /** Maximum growth of a prompt from outdated text and diffs, in percent, before parts of it are rebuilt. */
  slack?: number;
}

/** A reported cache read that is clearly smaller than expected. */
export interface CacheShortfall {
  /** Expected tokens, as counted by Strata. */
  expected: number;
  /** Reported tokens, as counted by the provider. */
  reported: number;
}

/** Charge of one request. `read + written + plain` is its whole input. */
export interface Charge {
  /** Tokens read from the cache. */
  read: number;
  /** Tokens written to the cache; 0 if writes cost nothing extra. */
  written: number;
  /** Tokens neither read from nor written to the cache. */
  plain: number;
  /** Total price, in tokens of plain input. */
  cost: number;
}

/** How a session treats a file. */
export type Choice =
  /** The file is shown in full, or its selected lines are. */
  | 'selected'
  /** Only the file's map block is shown. */
  | 'deselected'
  /** Nothing of the file is shown. */
  | 'excluded';

/** The state of a compaction: parameters of `strata/compaction`, and the reply of `compaction.run`. */
export interface Compaction {
  /** Progress of the compaction. */
  state: CompactionState;
  /** Id of the session. */
  session: string;
  /** Profile of the compaction. */
  profile: string;
  /** Why the conversation is compacted. */
  reason: CompactionReason;
  /** How the conversation was shortened. */
  strategy?: CompactionStrategy;
  /** Size of the conversation before the compaction. */
  before?: ConversationSize;
  /** Size of the conversation after the compaction. */
  after?: ConversationSize;
  /** Who wrote the summary. Absent until it is written, and if the conversation was only truncated. */
  summarisedBy?: SummaryAuthor;
  /** Notes for the user: why no model was asked, or which steps failed. */
  notes?: string[];
  /** Why the compaction failed. */
  error?: string;
}

/** Arguments of a command that takes none. */
export interface CompactionContextLimitExceededParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The state of a compaction: parameters of `strata/compaction`, and the reply of `compaction.run`. */
export interface CompactionContextLimitExceededReply {
  /** Progress of the compaction. */
  state: CompactionState;
  /** Id of the session. */
  session: string;
  /** Profile of the compaction. */
  profile: string;
  /** Why the conversation is compacted. */
  reason: CompactionReason;
  /** How the conversation was shortened. */
  strategy?: CompactionStrategy;
  /** Size of the conversation before the compaction. */
  before?: ConversationSize;
  /** Size of the conversation after the compaction. */
  after?: ConversationSize;
  /** Who wrote the summary. Absent until it is written, and if the conversation was only truncated. */
  summarisedBy?: SummaryAuthor;
  /** Notes for the user: why no model was asked, or which steps failed. */
  notes?: string[];
  /** Why the compaction failed. */
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
  /** The user or the client requested it. */
  | {
    kind: 'asked';
  }
  /** The conversation reached a threshold. */
  | {
    kind: 'due';
  } & TriggerReading
  /** The provider rejected a prompt as too long. */
  | {
    kind: 'context_limit';
  };

/** Which profile to use. */
export interface CompactionRunParams {
  /** Profile to use. Defaults to the profile in the settings. */
  profile?: string | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The state of a compaction: parameters of `strata/compaction`, and the reply of `compaction.run`. */
export interface CompactionRunReply {
  /** Progress of the compaction. */
  state: CompactionState;
  /** Id of the session. */
  session: string;
  /** Profile of the compaction. */
  profile: string;
  /** Why the conversation is compacted. */
  reason: CompactionReason;
  /** How the conversation was shortened. */
  strategy?: CompactionStrategy;
  /** Size of the conversation before the compaction. */
  before?: ConversationSize;
  /** Size of the conversation after the compaction. */
  after?: ConversationSize;
  /** Who wrote the summary. Absent until it is written, and if the conversation was only truncated. */
  summarisedBy?: SummaryAuthor;
  /** Notes for the user: why no model was asked, or which steps failed. */
  notes?: string[];
  /** Why the compaction failed. */
  error?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Conversation compaction. */
export interface CompactionSettings {
  /** Whether to check if the conversation needs compaction. */
  enabled: boolean;
  /** Whether to run a compaction automatically when it is due. */
  auto: boolean;
  /**
   * Compaction profile: `topic`, `continuation`, `checkpoint`, `rolling`, `handoff`, or one of your own from
   * `compaction.profiles`.
   */
  profile: string;
  /** Your own compaction profiles, and overrides for the built-in ones, keyed by profile name. */
  profiles: Record<string, ProfileOptions>;
  /**
   * Who writes summaries. Defaults to your editor's model if it offers one, otherwise to the provider of
   * `compaction.model`, otherwise to no model.
   */
  summariser: SummariserKind;
  /** Model that writes summaries, as the provider names it. */
  model: string | null;
  /** Model that detects topic changes. If unset, the `topic` profile always summarizes. */
  detection_model: string | null;
  /** Provider address, if not the default: `https:`, or `http:` for a server on this machine. */
  base_url: string | null;
  /**
   * Environment variable that holds the provider's key, if not the default one. The name must end in `_API_KEY`,
   * `_TOKEN` or `_KEY`.
   */
  key_env: KeyVariable | null;
  /** Timeout for one model response, in seconds. */
  timeout_s: number;
}

/** Conversation compaction. */
export interface CompactionSettingsInput {
  /** Whether to check if the conversation needs compaction. */
  enabled?: boolean;
  /** Whether to run a compaction automatically when it is due. */
  auto?: boolean;
  /**
   * Compaction profile: `topic`, `continuation`, `checkpoint`, `rolling`, `handoff`, or one of your own from
   * `compaction.profiles`.
   */
  profile?: string;
  /** Your own compaction profiles, and overrides for the built-in ones, keyed by profile name. */
  profiles?: Record<string, ProfileOptionsInput>;
  /**
   * Who writes summaries. Defaults to your editor's model if it offers one, otherwise to the provider of
   * `compaction.model`, otherwise to no model.
   */
  summariser?: SummariserKind;
  /** Model that writes summaries, as the provider names it. */
  model?: string | null;
  /** Model that detects topic changes. If unset, the `topic` profile always summarizes. */
  detection_model?: string | null;
  /** Provider address, if not the default: `https:`, or `http:` for a server on this machine. */
  base_url?: string | null;
  /**
   * Environment variable that holds the provider's key, if not the default one. The name must end in `_API_KEY`,
   * `_TOKEN` or `_KEY`.
   */
  key_env?: KeyVariable | null;
  /** Timeout for one model response, in seconds. */
  timeout_s?: number;
}

/** The progress of a compaction. */
export type CompactionState =
  /** The compaction has started. */
  | 'started'
  /** The conversation has been compacted. */
  | 'ended'
  /** The compaction failed; the conversation is unchanged. */
  | 'failed';

/** The request to compare with its limit. */
export interface CompactionStatusParams {
  /** Model of the request. Defaults to the model of the last prompt, or else to the setting `model`. */
  model?: string | null;
  /** Maximum input tokens that the client allows. Defaults to the model's window, which also caps larger values. */
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

/** Arguments of a command that takes none. */
export interface CompactionUndoParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The undone compaction. */
export interface CompactionUndoReply {
  /** Profile of the undone compaction. */
  profile: string;
  /** Size of the conversation before the undo. */
  before: ConversationSize;
  /** Number of messages that the model sees now. */
  messages: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** How certain it is that a reference refers to the definition. */
export type Confidence =
  /** Only the name matches; the type of the value is unknown. */
  | 'guess'
  /** Scopes, imports or types lead from the reference to the definition. */
  | 'certain';

/** Content of a message: a text, or a list of blocks. */
export type Content = string | ContentBlockInput[];

/** A part of a message. */
export type ContentBlock =
  /** Text written by the user or the model. */
  | {
    type: 'text';
    /** Text of the block. */
    text: string;
  }
  /** An image, inline or by URL. */
  | {
    type: 'image';
    /** Source of the image's bytes. */
    source: ImageSource;
    /** Width in pixels, if known. If unknown, the token estimate is a constant. */
    width?: number;
    /** Height in pixels, if known. */
    height?: number;
  }
  /** The model's reasoning. It is sent back unchanged or not at all. */
  | {
    type: 'thinking';
    /** Text of the reasoning; empty if the provider does not show it. */
    text: string;
    /** Provider's signature of the reasoning (Anthropic's `signature`). */
    signature?: string;
  }
  /** Reasoning that the provider encrypted. It is sent back unchanged or not at all. */
  | {
    type: 'redacted_thinking';
    /** Encrypted reasoning. */
    data: string;
  }
  /** A tool call by the model. */
  | {
    type: 'tool_call';
    /** Id that pairs the call with its result. */
    id: string;
    /** Name of the tool. */
    name: string;
    /** Arguments of the call, which Strata does not interpret. */
    input: unknown;
  }
  /** The result of a tool call. */
  | {
    type: 'tool_result';
    /** `id` of the call. */
    callId: string;
    /** Output of the tool. */
    content: ResultPart[];
    /** Whether the tool succeeded or failed. */
    outcome: ToolOutcome;
  }
  /** A block that only one provider supports. */
  | {
    type: 'foreign';
    /** Provider that the block came from. */
    provider: ForeignProvider;
    /** Block as received, without cache markers. */
    value: unknown;
  };

/** A part of a message. */
export type ContentBlockInput =
  /** Text written by the user or the model. */
  | {
    type: 'text';
    /** Text of the block. */
    text: string;
  }
  /** An image, inline or by URL. */
  | {
    type: 'image';
    /** Source of the image's bytes. */
    source: ImageSource;
    /** Width in pixels, if known. If unknown, the token estimate is a constant. */
    width?: number | null;
    /** Height in pixels, if known. */
    height?: number | null;
  }
  /** The model's reasoning. It is sent back unchanged or not at all. */
  | {
    type: 'thinking';
    /** Text of the reasoning; empty if the provider does not show it. */
    text: string;
    /** Provider's signature of the reasoning (Anthropic's `signature`). */
    signature?: string | null;
  }
  /** Reasoning that the provider encrypted. It is sent back unchanged or not at all. */
  | {
    type: 'redacted_thinking';
    /** Encrypted reasoning. */
    data: string;
  }
  /** A tool call by the model. */
  | {
    type: 'tool_call';
    /** Id that pairs the call with its result. */
    id: string;
    /** Name of the tool. */
    name: string;
    /** Arguments of the call, which Strata does not interpret. */
    input: unknown;
  }
  /** The result of a tool call. */
  | {
    type: 'tool_result';
    /** `id` of the call. */
    callId: string;
    /** Output of the tool. */
    content: ResultPartInput[];
    /** Whether the tool succeeded or failed. */
    outcome?: ToolOutcome;
  }
  /** A block that only one provider supports. */
  | {
    type: 'foreign';
    /** Provider that the block came from. */
    provider: ForeignProvider;
    /** Block as received, without cache markers. */
    value: unknown;
  };

/** The hash of a text, as 32 hexadecimal digits. */
export type ContentHash = string;

/** The token limit of automatic context for this session. */
export interface ContextAutoParams {
  /** Maximum tokens of code to add to each question; 0 turns it off. If absent, toggles between off and 8,000. */
  budget?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The new token limit of automatic context. */
export interface ContextAutoReply {
  /** Maximum tokens of code added to each question. */
  budget: number;
  /** The limit as a sentence for the user. */
  message: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The excerpts to change. */
export interface ContextDismissParams {
  /**
   * Definitions (`src/a.py#Session.send`) or lines (`src/a.py#L10-40`), named as in the reply of
   * `strata.prompt.assemble`.
   */
  excerpts: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing excerpts. */
export interface ContextDismissReply {
  /** Names of the changed excerpts. */
  changed: ExcerptKey[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The context frame: relevant names, placed after the question. */
export interface ContextFrameSettings {
  /** Whether to include a context frame in prompts: names and line numbers relevant to the question. */
  inject: boolean;
  /** Whether to rerank items in favor of open and selected files, and keep only the best `top_k`. */
  rerank: boolean;
  /** Maximum items to keep after reranking. */
  top_k: number;
  /** Minimum relevance score of an item, between 0 and 1. The best item scores 1. */
  min_score: number;
  /** Maximum items if `rerank` is off. */
  max_items: number;
}

/** The context frame: relevant names, placed after the question. */
export interface ContextFrameSettingsInput {
  /** Whether to include a context frame in prompts: names and line numbers relevant to the question. */
  inject?: boolean;
  /** Whether to rerank items in favor of open and selected files, and keep only the best `top_k`. */
  rerank?: boolean;
  /** Maximum items to keep after reranking. */
  top_k?: number;
  /** Minimum relevance score of an item, between 0 and 1. The best item scores 1. */
  min_score?: number;
  /** Maximum items if `rerank` is off. */
  max_items?: number;
}

/** A question to list excerpts for. */
export interface ContextListParams {
  /** Question to select excerpts for. Defaults to the last prompt. */
  prompt?: string | null;
  /** Maximum tokens of code. Defaults to the session's limit, or else to `context.auto_budget`. */
  autoBudget?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The excerpts of a session. */
export interface ContextListReply {
  /** Maximum tokens of code added to each question. */
  autoBudget: number;
  /** Excerpts: pinned ones first, then those for the question, best first, then those for earlier questions. */
  excerpts: ListedExcerpt[];
  /** Dismissed excerpts, which are not suggested again. */
  dismissed: ExcerptKey[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The excerpts to change. */
export interface ContextPinParams {
  /**
   * Definitions (`src/a.py#Session.send`) or lines (`src/a.py#L10-40`), named as in the reply of
   * `strata.prompt.assemble`.
   */
  excerpts: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing excerpts. */
export interface ContextPinReply {
  /** Names of the changed excerpts. */
  changed: ExcerptKey[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface ContextRestoreParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing excerpts. */
export interface ContextRestoreReply {
  /** Names of the changed excerpts. */
  changed: ExcerptKey[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Code that Strata adds to questions automatically, and the memory of autonomous loops. */
export interface ContextSettings {
  /**
   * Maximum tokens of relevant code to add to a question automatically. Relevant code that the prompt already shows
   * counts too. Defaults to 0, which adds none; `strata prompt` and `strata ask` use 8,000 when no file is
   * selected.
   */
  auto_budget: number;
  /**
   * Maximum time, in milliseconds, that a prompt waits for the repository to be indexed. After that, the symbol map
   * is missing or incomplete.
   */
  index_wait_ms: number;
  /** Number of recent iterations of an autonomous loop to keep verbatim. */
  raw_window_size: number;
  /** Number of iterations between updates of an autonomous loop's summary. 0 disables the summary. */
  summarize_every: number;
  /** Maximum tokens of an autonomous loop's summary. */
  max_summary_tokens: number;
}

/** Code that Strata adds to questions automatically, and the memory of autonomous loops. */
export interface ContextSettingsInput {
  /**
   * Maximum tokens of relevant code to add to a question automatically. Relevant code that the prompt already shows
   * counts too. Defaults to 0, which adds none; `strata prompt` and `strata ask` use 8,000 when no file is
   * selected.
   */
  auto_budget?: number;
  /**
   * Maximum time, in milliseconds, that a prompt waits for the repository to be indexed. After that, the symbol map
   * is missing or incomplete.
   */
  index_wait_ms?: number;
  /** Number of recent iterations of an autonomous loop to keep verbatim. */
  raw_window_size?: number;
  /** Number of iterations between updates of an autonomous loop's summary. 0 disables the summary. */
  summarize_every?: number;
  /** Maximum tokens of an autonomous loop's summary. */
  max_summary_tokens?: number;
}

/** The excerpts to change. */
export interface ContextUnpinParams {
  /**
   * Definitions (`src/a.py#Session.send`) or lines (`src/a.py#L10-40`), named as in the reply of
   * `strata.prompt.assemble`.
   */
  excerpts: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing excerpts. */
export interface ContextUnpinReply {
  /** Names of the changed excerpts. */
  changed: ExcerptKey[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Format of an imported conversation. */
export type ConversationForm =
  /** JSON Lines that Claude Code records. */
  | 'claude_code'
  /** Messages of Anthropic's Messages API. */
  | 'anthropic'
  /** Messages of OpenAI's Chat Completions API. */
  | 'openai'
  /** Items of OpenAI's Responses API. */
  | 'openai_responses'
  /** Strata's own format: a list or JSON Lines, where each item is a `NewMessage` or a `Message`. */
  | 'strata';

/** Number and tokens of the messages the model sees. */
export interface ConversationSize {
  /** Messages. */
  messages: number;
  /** Tokens. */
  tokens: number;
}

/** Costs of a session under one cache lifetime. */
export interface CostOutlook {
  /** Actual lifetime of entries after their last use, in seconds. */
  seconds: number;
  /** Total charge of all turns so far. */
  spent: Charge;
  /** Number of pauses longer than the lifetime. */
  expiries: number;
  /** Charge of the next turn if it starts before the cache expires. */
  nextInTime: Charge;
  /** Charge of the next turn if the cache has expired. */
  nextTooLate: Charge;
}

/** A request to count tokens. */
export interface CountTokens {
  /** Model of the request, by its name in the model table. */
  model: string;
  /** Format of the request body. */
  format: Format;
  /** Request body. */
  body: unknown;
}

/** How much of the repository a prompt shows. */
export interface Coverage {
  /** Number of files with a map block. */
  blocks: number;
  /** Number of files named in the repository file list. */
  names: number;
  /** Number of files covered only by the name of their directory. */
  directories: number;
  /** Maximum tokens of the map blocks. */
  mapBudget: number;
}

/** What decided on a layout policy. */
export type DecidedBy =
  /** The index: the repository is still being indexed, so tiers filled now would soon be rewritten. */
  | 'indexing'
  /** The request. */
  | 'request'
  /** The session. */
  | 'session'
  /** The setting `cache.policy`. */
  | 'setting'
  /** The default for the model's kind of cache. */
  | 'model';

/**
 * A piece of an answer that is being written. Has exactly one of `text`, `thinking`, `toolCall`, `toolResult` and
 * `notice`.
 */
export interface Delta {
  /** Name that the client chose for the answer. */
  stream: string;
  /** Id of the session. */
  session: string;
  /** Next piece of text, with known secrets restored. */
  text?: string;
  /** Next piece of reasoning, if the provider shows it. */
  thinking?: string;
  /** Tool call made by the model. */
  toolCall?: DeltaToolCall;
  /** Result of a tool call. */
  toolResult?: DeltaToolResult;
  /** Note for the user, as a sentence, such as that the prompt was too long and is sent again. */
  notice?: string;
}

/** A tool call. */
export interface DeltaToolCall {
  /** Id of the call in the conversation. */
  id: string;
  /** Name of the tool. */
  name: string;
  /** Arguments of the call. */
  input: unknown;
}

/** The result of a tool call. */
export interface DeltaToolResult {
  /** Id of the call. */
  id: string;
  /** Name of the tool. */
  name: string;
  /** Whether the call failed. */
  outcome: ToolOutcome;
  /** Result for the model, at most 2,000 characters. */
  text: string;
}

/** Whether a document's text matches the editor's. */
export type DocumentSync =
  /** The text matches the editor's. */
  | {
    state: 'in_step';
  }
  /**
   * The text may be outdated. The next message with the full text (open, full change, or save with text) repairs
   * it.
   */
  | {
    state: 'out_of_step';
    /** The first problem since the text last matched. */
    reason: OutOfStep;
  };

/** The work of a run. Files that were neither read nor parsed were known. */
export interface Efforts {
  /** Number of files read. */
  read: number;
  /** Number of files parsed, a subset of those read. */
  parsed: number;
}

/**
 * Id of an excerpt: a definition (`src/a.py#Session.send`, `src/a.py#Session.send~2` for the second with that name)
 * or lines (`src/a.py#L10-40`).
 */
export type ExcerptKey = string;

/** The main reason for choosing an excerpt. */
export type ExcerptReason =
  /** The question names the excerpt's file. */
  | 'named'
  /** The excerpt's name or text contains words of the question. */
  | 'words'
  /** The excerpt's file matches the question, or is close to files that do. */
  | 'file'
  /** The excerpt's file is open. */
  | 'open'
  /** The excerpt's file changed recently. */
  | 'recent';

/** Why an excerpt is in a prompt. */
export type ExcerptStanding =
  /** You pinned the excerpt. */
  | 'pinned'
  /** The excerpt is relevant to the last question. */
  | 'wanted'
  /** The excerpt is relevant to an earlier question. It stays while keeping it costs nothing. */
  | 'lingering';

/** The expected bill of a request. */
export interface Expected {
  /** Expected billed input tokens. */
  tokens: number;
  /** Error bound in tokens: nine of ten bills are within it. */
  error: number;
}

/** An export format. */
export type ExportFormat =
  /** Strata's own format: JSON Lines with one message per line, including all metadata. */
  | 'jsonl'
  /** What the model sees, as an Anthropic request. */
  | 'anthropic'
  /** What the model sees, as an OpenAI request. */
  | 'openai'
  /** What the model sees, as Markdown. */
  | 'markdown';

/** An avoidable cost. */
export interface ExtraCost {
  /** Cost, in tokens of uncached input. */
  cost: number;
  /** Cost relative to the next prompt without any cache; 1 is a whole prompt. */
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
 * Name of a file: its path relative to its root with `/` as separator (`src/lib.rs`), preceded by the root's name
 * if there are several roots (`web/src/app.ts`), or `untitled:{name}` for a buffer that was never saved. Cheap to
 * clone; ordered by bytes.
 */
export type FileKey = string;

/** A file with matching lines. */
export interface FileMatches {
  /** Path of the file. */
  path: FileKey;
  /** Matching lines and their context, in order. */
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

/** A path and the content to show for it. */
export interface FilesAddParams {
  /** Path of the file. */
  path: string;
  /** Content of the file. */
  content: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing the selection. */
export interface FilesAddReply {
  /** Changed files, sorted by path. */
  changed: FileKey[];
  /**
   * Files in a selected directory or matched by a pattern that were not selected, because they must be confirmed or
   * named explicitly.
   */
  withheld: WithheldFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface FilesClearParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Reply of a command that has no result. */
export interface FilesClearReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Files to change. */
export interface FilesDeselectParams {
  /** Files, directories, globs, or lines of a file (`src/lib.rs#L10-40`). */
  paths: string[];
  /** Files to select although their names suggest secrets. Their content is not redacted. */
  confirmSecrets?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing the selection. */
export interface FilesDeselectReply {
  /** Changed files, sorted by path. */
  changed: FileKey[];
  /**
   * Files in a selected directory or matched by a pattern that were not selected, because they must be confirmed or
   * named explicitly.
   */
  withheld: WithheldFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Files to change. */
export interface FilesExcludeParams {
  /** Files, directories, globs, or lines of a file (`src/lib.rs#L10-40`). */
  paths: string[];
  /** Files to select although their names suggest secrets. Their content is not redacted. */
  confirmSecrets?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing the selection. */
export interface FilesExcludeReply {
  /** Changed files, sorted by path. */
  changed: FileKey[];
  /**
   * Files in a selected directory or matched by a pattern that were not selected, because they must be confirmed or
   * named explicitly.
   */
  withheld: WithheldFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A search for workspace files. */
export interface FilesFindParams {
  /** Letters of a path, in order. Matches every file if empty. */
  query?: string;
  /** Maximum number of files. */
  limit?: number;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The matching files. */
export interface FilesFindReply {
  /** Files, closest match first, or sorted by path if there is no query. */
  files: FoundFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** What to search for, and where. */
export interface FilesGrepParams {
  /** Regular expression in ripgrep's syntax, matched within each line. */
  pattern: string;
  /** Files, directories or globs to search. Defaults to the whole workspace. */
  paths?: string[];
  /** Whether to match the pattern literally instead of as a regular expression. */
  literal?: boolean;
  /** Whether to ignore case. */
  ignoreCase?: boolean;
  /** Whether to match whole words only. */
  words?: boolean;
  /** Number of lines to show before and after each match, at most 50. */
  context?: number;
  /** Maximum number of matching lines in the reply. */
  limit?: number;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The matches. */
export interface FilesGrepReply {
  /** Files with matches, sorted by name. Lists at most `limit` matching lines. */
  files: FileMatches[];
  /** Number of matching lines, listed or not. */
  total: number;
  /** Number of files with a matching line. */
  totalFiles: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The path of a file. */
export interface FilesHasParams {
  /** Path of the file, relative to the workspace folder. */
  path: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Whether a file is selected. */
export interface FilesHasReply {
  /** Whether the file, or some of its lines, are selected. */
  has: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Files to change. */
export interface FilesIncludeParams {
  /** Files, directories, globs, or lines of a file (`src/lib.rs#L10-40`). */
  paths: string[];
  /** Files to select although their names suggest secrets. Their content is not redacted. */
  confirmSecrets?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing the selection. */
export interface FilesIncludeReply {
  /** Changed files, sorted by path. */
  changed: FileKey[];
  /**
   * Files in a selected directory or matched by a pattern that were not selected, because they must be confirmed or
   * named explicitly.
   */
  withheld: WithheldFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface FilesListParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The files that a session selects or excludes. */
export interface FilesListReply {
  /** Files, sorted by path. */
  files: ListedFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Files that were read by other means than Strata. */
export interface FilesMarkReadParams {
  /** Workspace files. */
  paths: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The files that the session has read. */
export interface FilesMarkReadReply {
  /** Paths of the files, most recently read last. */
  filesRead: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** What to read. */
export interface FilesReadParams {
  /**
   * A file, by its path relative to the workspace folder; lines of it (`src/lib.rs#L10-40`); or a definition in it,
   * by its name (`src/lib.rs#Type.method`).
   */
  path: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The current text of a file, or of a part of it. */
export type FilesReadReply = {
  /** Path of the file. */
  path: FileKey;
  /** Name of the definition, if one was requested. */
  definition?: string;
  /** Lines `from` to `to`. The whole file if no part was requested. */
  text: string;
  /** First line, counted from 1. */
  from: number;
  /** Last line, inclusive. */
  to: number;
  /** Number of lines in the file. */
  lines: number;
  /** Lines of other definitions in the file with the same name. */
  others?: LineRange[];
  /** Number of changes to the session so far. */
  stateVersion: number;
} & (
  /** A buffer that is open in the editor, including unsaved changes. */
  | {
    source: 'buffer';
    /** The editor's version of the document. */
    version: number;
    /** Whether the text is known to match the editor's. */
    sync: DocumentSync;
  }
  /** A file on disk. */
  | {
    source: 'disk';
    /** Time of the last modification, in milliseconds since 1970. */
    mtimeMs: number;
    /** How the bytes were converted to text; absent if they were read as they are. */
    notice?: string;
  }
  /** Content that the client provided. */
  | {
    source: 'given';
  });

/** Files to change. */
export interface FilesRemoveParams {
  /** Files, directories, globs, or lines of a file (`src/lib.rs#L10-40`). */
  paths: string[];
  /** Files to select although their names suggest secrets. Their content is not redacted. */
  confirmSecrets?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing the selection. */
export interface FilesRemoveReply {
  /** Changed files, sorted by path. */
  changed: FileKey[];
  /**
   * Files in a selected directory or matched by a pattern that were not selected, because they must be confirmed or
   * named explicitly.
   */
  withheld: WithheldFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Renamed files or directories. */
export interface FilesRenameParams {
  /** Renames. If several match a file, the first applies. */
  files: Rename[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Whether the session referred to a renamed file. */
export interface FilesRenameReply {
  /** Whether the session was updated. */
  changed: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Files to change. */
export interface FilesSelectParams {
  /** Files, directories, globs, or lines of a file (`src/lib.rs#L10-40`). */
  paths: string[];
  /** Files to select although their names suggest secrets. Their content is not redacted. */
  confirmSecrets?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing the selection. */
export interface FilesSelectReply {
  /** Changed files, sorted by path. */
  changed: FileKey[];
  /**
   * Files in a selected directory or matched by a pattern that were not selected, because they must be confirmed or
   * named explicitly.
   */
  withheld: WithheldFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Files to change. */
export interface FilesSetParams {
  /** Files, directories, globs, or lines of a file (`src/lib.rs#L10-40`). */
  paths: string[];
  /** Files to select although their names suggest secrets. Their content is not redacted. */
  confirmSecrets?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of changing the selection. */
export interface FilesSetReply {
  /** Changed files, sorted by path. */
  changed: FileKey[];
  /**
   * Files in a selected directory or matched by a pattern that were not selected, because they must be confirmed or
   * named explicitly.
   */
  withheld: WithheldFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The result of folding iterations into the summary. */
export interface Fold {
  /** Numbers of the folded iterations. */
  iterations: number[];
  /** Who wrote the summary. */
  by: FoldedBy;
  /** Why there is no summary. */
  problem?: string;
}

/** Who wrote the summary. */
export type FoldedBy =
  | 'model' | 'extractive'
  /** There is no summary: the iterations are kept verbatim until the next interval. */
  | 'nobody';

/** Provider whose format a block is in. */
export type ForeignProvider =
  /** Anthropic's Messages API. */
  | 'anthropic'
  /** OpenAI's Chat Completions API and compatible ones. */
  | 'openai'
  /** OpenAI's Responses API. */
  | 'openai_responses'
  /** Google's `generateContent` API. */
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

/** A workspace file. */
export interface FoundFile {
  /** Path of the file. */
  path: FileKey;
  /** URI of the file. */
  uri?: string;
  /** Whether the file is selected, deselected or excluded. */
  state: Choice;
}

/** A definition. */
export interface FoundSymbol {
  /** Name of the symbol. */
  name: string;
  /** Kind of the symbol. */
  kind: SymbolKind;
  /** Path of the file. */
  path: FileKey;
  /** URI of the file. */
  uri?: string;
  /** Line that introduces the definition. */
  head: string;
  /** The enclosing definition. */
  container?: string;
  /** First line, counted from 1. */
  line?: number;
  /** Last line, inclusive. */
  endLine?: number;
}

/** Index of a custom tokenizer among those given to a `TokenCounter`. */
export type GivenId = number;

/** A document. */
export interface HereAskParams {
  /** URI or path of the document. Defaults to the document that the client mentioned last. */
  uri?: string | null;
  /**
   * Range in the document, as editors report it. Used by `select`, `toggle` and `ask`; an empty range is ignored.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A message for the user. */
export interface HereAskReply {
  /** The message, a sentence. */
  message: string;
  /** Path of the file that a prompt or an answer was written to. */
  path?: string;
  /** URI of that file. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A document. */
export interface HereDeselectParams {
  /** URI or path of the document. Defaults to the document that the client mentioned last. */
  uri?: string | null;
  /**
   * Range in the document, as editors report it. Used by `select`, `toggle` and `ask`; an empty range is ignored.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A message for the user. */
export interface HereDeselectReply {
  /** The message, a sentence. */
  message: string;
  /** Path of the file that a prompt or an answer was written to. */
  path?: string;
  /** URI of that file. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A document. */
export interface HereExcludeParams {
  /** URI or path of the document. Defaults to the document that the client mentioned last. */
  uri?: string | null;
  /**
   * Range in the document, as editors report it. Used by `select`, `toggle` and `ask`; an empty range is ignored.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A message for the user. */
export interface HereExcludeReply {
  /** The message, a sentence. */
  message: string;
  /** Path of the file that a prompt or an answer was written to. */
  path?: string;
  /** URI of that file. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A document. */
export interface HereIncludeParams {
  /** URI or path of the document. Defaults to the document that the client mentioned last. */
  uri?: string | null;
  /**
   * Range in the document, as editors report it. Used by `select`, `toggle` and `ask`; an empty range is ignored.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A message for the user. */
export interface HereIncludeReply {
  /** The message, a sentence. */
  message: string;
  /** Path of the file that a prompt or an answer was written to. */
  path?: string;
  /** URI of that file. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A document. */
export interface HerePreviewParams {
  /** URI or path of the document. Defaults to the document that the client mentioned last. */
  uri?: string | null;
  /**
   * Range in the document, as editors report it. Used by `select`, `toggle` and `ask`; an empty range is ignored.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A message for the user. */
export interface HerePreviewReply {
  /** The message, a sentence. */
  message: string;
  /** Path of the file that a prompt or an answer was written to. */
  path?: string;
  /** URI of that file. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A document. */
export interface HereSelectParams {
  /** URI or path of the document. Defaults to the document that the client mentioned last. */
  uri?: string | null;
  /**
   * Range in the document, as editors report it. Used by `select`, `toggle` and `ask`; an empty range is ignored.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A message for the user. */
export interface HereSelectReply {
  /** The message, a sentence. */
  message: string;
  /** Path of the file that a prompt or an answer was written to. */
  path?: string;
  /** URI of that file. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A document. */
export interface HereStatusParams {
  /** URI or path of the document. Defaults to the document that the client mentioned last. */
  uri?: string | null;
  /**
   * Range in the document, as editors report it. Used by `select`, `toggle` and `ask`; an empty range is ignored.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A message for the user. */
export interface HereStatusReply {
  /** The message, a sentence. */
  message: string;
  /** Path of the file that a prompt or an answer was written to. */
  path?: string;
  /** URI of that file. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A document. */
export interface HereToggleParams {
  /** URI or path of the document. Defaults to the document that the client mentioned last. */
  uri?: string | null;
  /**
   * Range in the document, as editors report it. Used by `select`, `toggle` and `ask`; an empty range is ignored.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A message for the user. */
export interface HereToggleReply {
  /** The message, a sentence. */
  message: string;
  /** Path of the file that a prompt or an answer was written to. */
  path?: string;
  /** URI of that file. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A question and its answer. */
export interface HistoryAddExchangeParams {
  /** Content of the question. */
  user: Content;
  /** Content of the answer. */
  assistant: Content;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The messages that were added. */
export interface HistoryAddExchangeReply {
  /** Numbers of the added messages, in order. */
  ids: MessageId[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A message to add. */
export interface HistoryAddParams {
  /** Who wrote the message. */
  role: Role;
  /** Content of the message. */
  content: Content;
  /** Whether the model sees the message. */
  agent?: Visibility;
  /** Whether the user sees the message. */
  user?: Visibility;
  /** Purpose of the message. */
  kind?: MessageKind;
  /** Whether compactions keep the message verbatim. */
  pin?: Pin;
  /** When the message was written, in milliseconds since 1970. Defaults to now. */
  timeMs?: number | null;
  /** Files that the message mentions. */
  filesMentioned?: FileKey[];
  /** Files that the message modified. */
  filesModified?: FileKey[];
  /** Additional fields from a provider's format, keyed by the provider's name. */
  extra?: Record<string, unknown>;
  /**
   * Number of the message in the reply of `history.get`. Messages are renumbered. A message with a number is added
   * unchanged: the limits for tool outputs do not apply to it.
   */
  id?: MessageId | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The messages that were added. */
export interface HistoryAddReply {
  /** Numbers of the added messages, in order. */
  ids: MessageId[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface HistoryClearParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Reply of a command that has no result. */
export interface HistoryClearReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface HistoryCountParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The size of the conversation. */
export interface HistoryCountReply {
  /** Number of messages, including hidden ones. */
  messages: number;
  /** Tokens of the messages that the model sees. */
  tokens: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A message and its new content. */
export interface HistoryEditParams {
  /** Message to edit. */
  id: MessageId;
  /** New content of the message. */
  content: Content;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Reply of a command that has no result. */
export interface HistoryEditReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface HistoryGetParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The conversation. */
export interface HistoryGetReply {
  /** All messages, including hidden ones. */
  messages: Message[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A message and its visibility. At least one of `agent` and `user` is required. */
export interface HistoryHideParams {
  /** Message to hide or show. */
  id: MessageId;
  /** Whether the model sees the message. Unchanged if absent. */
  agent?: Visibility | null;
  /** Whether the user sees the message. Unchanged if absent. */
  user?: Visibility | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Reply of a command that has no result. */
export interface HistoryHideReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A conversation recorded by another program. */
export interface HistoryImportParams {
  /** The conversation, in any format that `session.import` accepts. */
  text: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The messages that were added. */
export interface HistoryImportReply {
  /** Numbers of the added messages, in order. */
  ids: MessageId[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A message to add. */
export interface HistoryMessage {
  /** Who wrote the message. */
  role: Role;
  /** Content of the message. */
  content: Content;
  /** Whether the model sees the message. */
  agent?: Visibility;
  /** Whether the user sees the message. */
  user?: Visibility;
  /** Purpose of the message. */
  kind?: MessageKind;
  /** Whether compactions keep the message verbatim. */
  pin?: Pin;
  /** When the message was written, in milliseconds since 1970. Defaults to now. */
  timeMs?: number | null;
  /** Files that the message mentions. */
  filesMentioned?: FileKey[];
  /** Files that the message modified. */
  filesModified?: FileKey[];
  /** Additional fields from a provider's format, keyed by the provider's name. */
  extra?: Record<string, unknown>;
  /**
   * Number of the message in the reply of `history.get`. Messages are renumbered. A message with a number is added
   * unchanged: the limits for tool outputs do not apply to it.
   */
  id?: MessageId | null;
}

/** A message to pin or unpin. */
export interface HistoryPinParams {
  /** Message to pin or unpin. */
  id: MessageId;
  /** Whether compactions must keep the message verbatim. `false` unpins it. */
  pinned?: boolean;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Reply of a command that has no result. */
export interface HistoryPinReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface HistoryReregisterParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Reply of a command that has no result. */
export interface HistoryReregisterReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The new conversation. */
export interface HistorySetParams {
  /** Messages, in order. */
  messages: HistoryMessage[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The size of the conversation. */
export interface HistorySetReply {
  /** Number of messages, including hidden ones. */
  messages: number;
  /** Tokens of the messages that the model sees. */
  tokens: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Where to cut off the conversation. */
export interface HistoryTruncateParams {
  /** First message to delete. */
  from: MessageId;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The size of the remaining conversation. */
export interface HistoryTruncateReply {
  /** Number of deleted messages. */
  removed: number;
  /** Number of remaining messages. */
  messages: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A match. */
export type Hit = {
  /** When the matching text was written, in milliseconds since 1970, if known. */
  timeMs?: number;
  /** Words around the match. */
  snippet: string;
  /** Relevance. Scores are only comparable within one search. */
  score: number;
} & (
  /** A note. */
  | {
    source: 'fragment';
    /** Number of the note. */
    id: number;
    /** Tags of the note. */
    tags: string[];
  }
  /** A memory file of the workspace. */
  | {
    source: 'file';
    /** Path of the file. */
    path: FileKey;
    /** First line of the paragraph, counted from 1. */
    line: number;
  }
  /** A message of a conversation. */
  | {
    source: 'message';
    /** Session of the message. */
    session: string;
    /** Number of the message. */
    message: MessageId;
    /** Who wrote the message. */
    role: Role;
    /** Purpose of the message. */
    kind: MessageKind;
  });

/** A value that was ignored, and the reason. */
export interface IgnoredSetting {
  /** Dotted key of the setting, for example `symbols.map_budget`. */
  key: string;
  /** Where the value comes from. */
  origin: SettingOrigin;
  /** Why the value was ignored. */
  reason: string;
}

/** An image in a message. */
export interface Image {
  /** Source of the image's bytes. */
  source: ImageSource;
  /** Width in pixels, if known. If unknown, the token estimate is a constant. */
  width?: number | null;
  /** Height in pixels, if known. */
  height?: number | null;
}

/** Formula for the tokens of images, or `"none"`, which overrides the family's formula. */
export type ImageEntry = ImageFormula | Support;

/** How a model's provider computes the tokens of an image. */
export type ImageFormula =
  /**
   * Anthropic: one token for each started square of 28 x 28 pixels, after scaling the image down to fit both limits
   * (platform.claude.com/docs/en/build-with-claude/vision, "Image costs").
   */
  | {
    kind: 'cells';
    /** Maximum length of the longer side, in pixels. */
    max_side: number;
    /** Maximum tokens of one image. */
    max_tokens: number;
  }
  /**
   * OpenAI up to GPT-4o, o1, o3 and GPT-5: scaled to fit 2,048 x 2,048 pixels, then to a shorter side of 768
   * pixels, then counted in squares of 512 x 512 pixels (developers.openai.com/api/docs/guides/images-vision,
   * "Calculating costs", high detail).
   */
  | {
    kind: 'tiles';
    /** Tokens of every image, regardless of its size. */
    base: number;
    /** Tokens per square. */
    tile: number;
  }
  /**
   * OpenAI from GPT-4.1 mini on: scaled down to at most `max_patches` squares of 32 x 32 pixels, whose number is
   * multiplied by `factor` (same page, "Calculating costs").
   */
  | {
    kind: 'patches';
    /** Maximum number of squares per image. */
    max_patches: number;
    /** Tokens per square. */
    factor: number;
  }
  /**
   * Gemini: one tile for an image of at most 384 x 384 pixels, or else one for each started square of 768 x 768
   * pixels (ai.google.dev/gemini-api/docs/tokens).
   */
  | {
    kind: 'large_tiles';
    /** Tokens per tile. */
    tile: number;
  }
  /** The same number of tokens for every image, including images of unknown size. */
  | {
    kind: 'fixed';
    /** Tokens per image. */
    tokens: number;
  };

/** Source of an image's bytes. */
export type ImageSource =
  /** Inline, as base64. */
  | {
    type: 'base64';
    /** Media type: `image/png`, `image/jpeg`, `image/gif` or `image/webp`. */
    mediaType: string;
    /** Image bytes as base64, without line breaks. */
    data: string;
  }
  /** A URL that the provider fetches. */
  | {
    type: 'url';
    /** URL of the image. */
    url: string;
  };

/** Whether the repository has been indexed. */
export type IndexState =
  /** Indexing is not complete. */
  | 'building'
  /** Indexing is complete. */
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

/** An item, with the URI of its file. */
export type ItemReport = {
  /** Id of the item. */
  key: ItemKey;
  /** Title for display: a file's path, a message's speaker and first words, or a web page's title. */
  title: string;
  /** File that the item belongs to, if any. */
  path?: FileKey;
  /** Lines of the file that the item shows; absent for a whole file. */
  lines?: LineRange[];
  /** Selection state of the file. */
  state?: Choice;
  /** Tier of the item. */
  tier: Tier;
  /** Tokens of the item, including updates. */
  tokens: number;
  /**
   * Zero-based index of the first content block that shows the item. Absent if the item is not shown but keeps its
   * position, such as an outline of a file that is shown in full.
   */
  position?: number;
  /** Last cache break that began with the item. */
  lastBreak?: LastBreak;
  /** URI of the item's file. */
  uri?: string;
} & (Partial<LedgerItemStats> & Partial<RippleItemStats>);

/** A finished iteration, with changes to the loop's environment and files. */
export interface IterationAddParams {
  /** Goal of the loop. Required before its first iteration; a different goal starts a new loop. */
  goal?: string | null;
  /** Prompt of the iteration, and its outcome. */
  iteration: NewIteration;
  /** Facts about the loop's environment, keyed by name. Values are withheld if the name suggests a secret. */
  environment?: Record<string, string> | null;
  /** File changes since the last iteration. */
  fileEvents?: FileEvent[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of adding an iteration. */
export interface IterationAddReply {
  /** Number of the iteration, counted from 1. */
  number: number;
  /** Whether the iteration reports that the goal is reached. */
  promise: LoopPromise;
  /** Iterations that were folded into the summary. Absent if there were none. */
  fold?: Fold;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Which loop to build a prompt for, before its first iteration. */
export interface IterationPromptParams {
  /**
   * Goal of the loop. Defaults to the goal of the running loop; with a different goal, the reply is the first
   * prompt of a new loop.
   */
  goal?: string | null;
  /** Environment to report instead of the last one recorded. */
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

/** Arguments of a command that takes none. */
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
 * Name of an environment variable that contains a provider's key: upper-case letters, digits and underscores,
 * ending in `_API_KEY`, `_TOKEN` or `_KEY`. Other variables, such as `PATH`, are rejected, so that they are never
 * sent to a provider by mistake.
 */
export type KeyVariable = string;

/** A cache break that began with an item. */
export interface LastBreak {
  /** One-based number of the prompt that caused the break. */
  turn: number;
  /** Reason for the break. */
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

/** A summary of the last recorded prompt of a session. */
export interface LastTurn {
  /** Number of prompts recorded so far, including earlier runs. */
  turns: number;
  /** Model that the prompt was sent to. */
  model: string;
  /** Layout policy of the prompt. */
  policy: PolicyName;
  /** Contents of each nonempty tier. */
  tiers: TierWeight[];
  /** Tokens that the provider's cache is believed to hold. */
  cachedTokens: number;
  /** Time when the cached tokens expire, in milliseconds since 1970; absent if nothing is cached. */
  cacheExpiresMs?: number;
  /** Why the prompt did not begin like the previous one, in a sentence. */
  explanation: string;
}

/** Statistics about one item. */
export interface LedgerItemStats {
  /** Probability that the item leaves the prompt at the next turn, from 0 to 1. */
  hazard: number;
  /** Number of turns that a file has been selected and unchanged; absent for items without an age. */
  age?: number;
  /** Whether the item is in the prefix kept from the previous prompt. */
  kept: boolean;
}

/** Lines of a file, counted from 1: `L10` or `L10-40`. */
export type LineRange = string;

/** An excerpt. */
export interface ListedExcerpt {
  /** Name of the excerpt. */
  excerpt: ExcerptKey;
  /** Path of the file. */
  path: FileKey;
  /** URI of the file. */
  uri?: string;
  /** Current lines of the excerpt. Absent if its code no longer exists in the file. */
  lines?: LineRange;
  /** Why the excerpt was chosen. Absent if the user pinned it without a suggestion. */
  reason?: ExcerptReason;
  /** Why the excerpt is in the prompt: pinned, or chosen for the last or an earlier question. */
  standing: ExcerptStanding;
  /** Tokens of the excerpt. */
  tokens: number;
}

/** A file that the session selects or excludes. */
export type ListedFile = {
  /** Path of the file. */
  path: FileKey;
  /** URI of the file. */
  uri?: string;
  /** Whether the file is selected, deselected or excluded. */
  state: Choice;
  /** Selected lines. Absent if the whole file is selected. */
  lines?: LineRange[];
  /** Tier of the file in the last recorded turn. */
  tier?: Tier;
  /** Tokens of the selected text. */
  tokens?: number;
  /** Why the file cannot be read. */
  problem?: string;
} & (Partial<
  /** A buffer that is open in the editor, including unsaved changes. */
  | {
    source: 'buffer';
    /** The editor's version of the document. */
    version: number;
    /** Whether the text is known to match the editor's. */
    sync: DocumentSync;
  }
  /** A file on disk. */
  | {
    source: 'disk';
    /** Time of the last modification, in milliseconds since 1970. */
    mtimeMs: number;
    /** How the bytes were converted to text; absent if they were read as they are. */
    notice?: string;
  }
  /** Content that the client provided. */
  | {
    source: 'given';
  }>);

/** A session. */
export interface ListedSession {
  /** Id of the session, as used in requests. */
  id: string;
  /** Name given by the user; may be empty. */
  name: string;
  /** When the session was started, in milliseconds since 1970. `null` if it has not been saved. */
  createdMs: number | null;
  /** When the session was last written to, in milliseconds since 1970. `null` if it has not been saved. */
  updatedMs: number | null;
  /** Number of messages. */
  messages: number;
  /** Beginning of the first message. */
  preview: string;
  /** Whether the session is open in this server. */
  open: boolean;
  /** Whether this is the current session. */
  current: boolean;
  /** Whether the session is open read-only. */
  readOnly: boolean;
}

/** A higher price for prompts above a size. */
export interface LongContext {
  /** Maximum tokens of a prompt at the plain price. All tokens of a larger prompt cost more. */
  above: number;
  /** Price of a token in a larger prompt, as a multiple of the plain price. */
  input: number;
}

/** Whether an iteration said that the goal is reached. */
export type LoopPromise =
  /** It did not. */
  | 'open'
  /** It did: `<promise>COMPLETE</promise>`. */
  | 'complete';

/**
 * Standard LSP requests, for editors without a plugin. Requests answered from outlines are off by default, because
 * an editor that also runs another language server would show every result twice.
 */
export interface LspSettings {
  /** Whether to answer `textDocument/documentSymbol` requests from outlines. Off by default. */
  document_symbol: boolean;
  /** Whether to answer `workspace/symbol` requests from outlines. Off by default. */
  workspace_symbol: boolean;
  /** Whether to answer `textDocument/hover` requests from outlines. Off by default. */
  hover: boolean;
  /** Whether to answer `textDocument/definition` requests from outlines. Off by default. */
  definition: boolean;
  /** Whether to answer `textDocument/references` requests from outlines. Off by default. */
  references: boolean;
  /**
   * Whether to offer code actions (`textDocument/codeAction`) that add a file or the selected lines to the model's
   * context, remove or exclude the file, and preview the prompt. They are not offered for automatic light-bulb
   * requests. On by default.
   */
  code_action: boolean;
  /**
   * Whether to show a file's state in the model's context above its first line (`textDocument/codeLens`). Off by
   * default.
   */
  code_lens: boolean;
}

/**
 * Standard LSP requests, for editors without a plugin. Requests answered from outlines are off by default, because
 * an editor that also runs another language server would show every result twice.
 */
export interface LspSettingsInput {
  /** Whether to answer `textDocument/documentSymbol` requests from outlines. Off by default. */
  document_symbol?: boolean;
  /** Whether to answer `workspace/symbol` requests from outlines. Off by default. */
  workspace_symbol?: boolean;
  /** Whether to answer `textDocument/hover` requests from outlines. Off by default. */
  hover?: boolean;
  /** Whether to answer `textDocument/definition` requests from outlines. Off by default. */
  definition?: boolean;
  /** Whether to answer `textDocument/references` requests from outlines. Off by default. */
  references?: boolean;
  /**
   * Whether to offer code actions (`textDocument/codeAction`) that add a file or the selected lines to the model's
   * context, remove or exclude the file, and preview the prompt. They are not offered for automatic light-bulb
   * requests. On by default.
   */
  code_action?: boolean;
  /**
   * Whether to show a file's state in the model's context above its first line (`textDocument/codeLens`). Off by
   * default.
   */
  code_lens?: boolean;
}

/** A file with a block in the map. */
export interface MapFile {
  /** Path of the file. */
  path: FileKey;
  /** Rank of the file by importance, counted from 1. */
  rank: number;
  /** Level of detail of the block. */
  level: MapLevel;
  /** Tokens of the block. */
  tokens: number;
}

/** How much of a file its map block shows. Each level includes the previous one. */
export type MapLevel =
  /** The file's path only. */
  | 'path'
  /** The path and the names of top-level definitions. */
  | 'names'
  /** The signatures of definitions that other files refer to. */
  | 'signatures'
  /** The signatures of all public definitions. */
  | 'public'
  /** All signatures, including fields, and the imports. */
  | 'full';

/** The order of a map. */
export type MapSort =
  /** Most important first. */
  | 'rank'
  /** Alphabetical by path. */
  | 'path';

/** A matching line, or a line of context. */
export interface MatchingLine {
  /** Line number, counted from 1. */
  line: number;
  /** Text of the line, at most 300 characters. */
  text: string;
  /** Whether this is a line of context rather than a match. */
  context?: boolean;
}

/** A note to add. */
export interface MemoryAddParams {
  /** Text of the note. */
  text: string;
  /** Tags of the note. */
  tags?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The note that was added. */
export interface MemoryAddReply {
  /** Number of the note. */
  id: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface MemoryListParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** All notes. */
export interface MemoryListReply {
  /** Notes, in order of creation. */
  fragments: Note[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A note to remove. */
export interface MemoryRemoveParams {
  /** Number of the note. */
  id: number;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Reply of a command that has no result. */
export interface MemoryRemoveReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A search query. */
export interface MemorySearchParams {
  /** Words to search for. A query without any letter or digit is an error. */
  query: string;
  /** Maximum number of matches. Defaults to 20, at most 1,000. */
  limit?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The matches of a search. */
export interface MemorySearchReply {
  /** Matches in memory files, then all others, each best first. */
  hits: Hit[];
  /** Number of newest matches that were ranked, if there are too many to rank all. */
  newest?: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A message in a history, with its id. */
export interface Message {
  /** Id of the message. */
  id: MessageId;
  /** Whether the user or the model sent it. */
  role: Role;
  /** Content blocks, in order. */
  content: ContentBlock[];
  /** Whether the model sees it. Hidden messages are neither sent nor counted. */
  agent: Visibility;
  /** Whether the user sees it. */
  user: Visibility;
  /** Purpose of the message. */
  kind: MessageKind;
  /** Whether a compaction may remove it. */
  pin?: Pin;
  /** Time of the message according to the caller, in milliseconds since 1970. */
  timeMs?: number;
  /** Files that the message mentions. */
  filesMentioned?: FileKey[];
  /** Files that the message modified. */
  filesModified?: FileKey[];
  /**
   * Additional fields of the message in a provider's format, keyed by provider, for writing it back unchanged
   * (`exchange`). Neither sent nor counted.
   */
  extra?: Record<string, unknown>;
}

/** Stable id of a message in its session. Never reused or changed by a compaction. */
export type MessageId = number;

/** Purpose of a message, which determines how archival and compaction treat it. */
export type MessageKind =
  /** An ordinary message. */
  | 'normal'
  /** The result of a tool call. */
  | 'tool_result'
  /** A tool result hidden from the model because a summary replaces it. */
  | 'tool_result_archived'
  /** A summary that replaces archived tool results. */
  | 'tool_summary'
  /** A summary written by a compaction. */
  | 'summary'
  /** An event outside the conversation that is reported to the model. */
  | 'system_event'
  /** One iteration of an autonomous loop. */
  | 'iteration';

/** A language model, known or assumed. */
export interface Model {
  /** Name in the model table, or the requested name if the table does not contain it. */
  id: string;
  /** Family in the model table; empty for an unknown model. */
  family: string;
  /** Company that makes the model. */
  provider: ModelProvider;
  /** Tokenizer that counts its tokens. */
  tokenizer: Tokenizer;
  /** Maximum tokens of a request. */
  max_input: number;
  /** Maximum tokens of an answer. */
  max_output: number;
  /** How prompt prefixes are cached and what that costs. */
  cache: CacheRules;
  /** Higher price of long prompts, if any. */
  long_context: LongContext | null;
  /** Token costs of images; `None` if the model does not accept images. */
  image: ImageFormula | null;
  /** Whether the model can call tools. */
  tools: boolean;
  /** Tokens that the provider adds to the text of a request. */
  overheads: TokenOverheads;
}

/** A model or family. Fields missing in a model come from its family. */
export interface ModelEntry {
  /** Family that supplies a model's defaults. */
  family: string | null;
  /** Other names of a model. */
  aliases: string[] | null;
  /** Prefixes of the names of a family's models. */
  prefixes: string[] | null;
  /** Company that makes the model. */
  provider: ModelProvider | null;
  /** How to count tokens. */
  tokenizer: Tokenizer | null;
  /** Maximum tokens of a request. */
  max_input: number | null;
  /** Maximum tokens of an answer. */
  max_output: number | null;
  /** Rules of the provider's cache. */
  cache: CacheEntry;
  /** Higher price of long prompts. */
  long_context: LongContext | null;
  /** Formula for the tokens of images, or `"none"` if the model does not accept images. */
  image: ImageEntry | null;
  /** Whether the model can call tools: `"yes"` or `"none"`. */
  tools: Support | null;
  /** Tokens that the provider adds to the text of a request. */
  overheads: TokenOverheads | null;
}

/** A model or family. Fields missing in a model come from its family. */
export interface ModelEntryInput {
  /** Family that supplies a model's defaults. */
  family?: string | null;
  /** Other names of a model. */
  aliases?: string[] | null;
  /** Prefixes of the names of a family's models. */
  prefixes?: string[] | null;
  /** Company that makes the model. */
  provider?: ModelProvider | null;
  /** How to count tokens. */
  tokenizer?: Tokenizer | null;
  /** Maximum tokens of a request. */
  max_input?: number | null;
  /** Maximum tokens of an answer. */
  max_output?: number | null;
  /** Rules of the provider's cache. */
  cache?: CacheEntryInput;
  /** Higher price of long prompts. */
  long_context?: LongContext | null;
  /** Formula for the tokens of images, or `"none"` if the model does not accept images. */
  image?: ImageEntry | null;
  /** Whether the model can call tools: `"yes"` or `"none"`. */
  tools?: Support | null;
  /** Tokens that the provider adds to the text of a request. */
  overheads?: TokenOverheads | null;
}

/** A message of a conversation that the client keeps. */
export interface ModelMessage {
  /** The speaker. */
  role: Role;
  /** The content. */
  content: Content;
}

/** Company that makes a model. Does not determine the dialect, since gateways serve any model in any dialect. */
export type ModelProvider =
  | 'deepseek'
  /** Maker of Claude. */
  | 'anthropic'
  /** Maker of GPT, the o-series and gpt-oss. */
  | 'openai'
  /** Maker of Gemini and Gemma. */
  | 'google'
  /** Maker of Mistral, Codestral, Devstral and Ministral. */
  | 'mistral'
  /** Maker of Qwen. */
  | 'alibaba'
  /** Maker of Llama. */
  | 'meta'
  /** Maker of Kimi. */
  | 'moonshot'
  /** Maker of GLM. */
  | 'zai'
  /** Maker of Grok. */
  | 'xai'
  /** Any other maker. */
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
 * Families and models, keyed by name. The built-in table and user overrides share this format, in TOML or any other
 * format that serde reads.
 */
export interface ModelTable {
  /** Model families that add to or override the built-in ones, keyed by family name. */
  family: Record<string, ModelEntry>;
  /** Models that add to or override the built-in ones, keyed by model name. */
  model: Record<string, ModelEntry>;
}

/**
 * Families and models, keyed by name. The built-in table and user overrides share this format, in TOML or any other
 * format that serde reads.
 */
export interface ModelTableInput {
  /** Model families that add to or override the built-in ones, keyed by family name. */
  family?: Record<string, ModelEntryInput>;
  /** Models that add to or override the built-in ones, keyed by model name. */
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
  /** Number of the note. */
  id: number;
  /** Text of the note. */
  text: string;
  /** Tags of the note. */
  tags: string[];
  /** Session in which the note was created. */
  session?: string;
  /** When the note was created, in milliseconds since 1970. */
  createdMs: number;
}

/** Why a document's text can no longer be trusted. */
export type OutOfStep =
  /** A change arrived for a document that was not open. */
  | {
    kind: 'never_opened';
  }
  /** A change did not have a higher version than the previous one. */
  | {
    kind: 'version_went_back';
    /** The version that Strata has. */
    have: number;
    /** The version of the change. */
    got: number;
  }
  /** A change referred to a range outside the text. */
  | {
    kind: 'invalid_range';
    /** Description of the problem. */
    detail: string;
  }
  /** A message about the document was invalid. */
  | {
    kind: 'misread';
    /** Description of the problem. */
    detail: string;
  };

/** The id of an output: a message number, or the name of a spilled output. */
export type OutputName =
  /** Number of a message with tool results. */
  | MessageId
  /** Name of an output that was spilled to a file. */
  | string;

/** The effect of a pause under the current lifetime. */
export interface PauseCost {
  /** Length of the pause, in seconds. */
  seconds: number;
  /** Whether the cache expires during the pause. */
  expires: boolean;
  /** Cost, in tokens of uncached input. */
  cost: number;
  /** Cost relative to the next prompt without any cache; 1 is a whole prompt. */
  share: number;
}

/** Whether a compaction may remove a message. */
export type Pin =
  /** A compaction may remove it. */
  | 'free'
  /** The user pinned it, so it stays verbatim. */
  | 'kept';

/** A named layout policy. */
export type PolicyName =
  /** An append-only log: keeps cached content unchanged and appends changes. */
  | 'ledger'
  /** Four cached tiers: content moves to a more stable tier while it stays unchanged. */
  | 'ripple'
  /** A fixed order without breakpoints. */
  | 'flat';

/** A part of a prompt: adjacent blocks of one message with the same content and purpose. */
export interface PreviewPart {
  /** Title of the part. */
  title: string;
  /** Kind of content. */
  part: PromptPart;
  /** Tier of its blocks. */
  tier: Tier;
  /** Tokens of the part, by the model's tokenizer. */
  tokens: number;
  /** Zero-based number of its first line in the text. A line ends with a line feed. */
  line: number;
  /** Number of lines; 0 if nothing in the part can be written as text. */
  lines: number;
  /** Whether a cache breakpoint follows the part. */
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

/** What to assemble. Requires either `prompt` (with or without `images`) or `toolResults`. */
export interface PromptAssembleParams {
  /** The user's question. */
  prompt?: string | null;
  /** Images to send with the prompt. */
  images?: Image[];
  /** Results of the tool calls in the last answer. */
  toolResults?: ToolResult[] | null;
  /** Tools that the model may call, in the order of their declaration. */
  tools?: Tool[];
  /** Format of the request. Defaults to the setting `format`. */
  format?: Format | null;
  /** Layout policy. Defaults to the session's policy, or else to the setting `cache.policy`. */
  policy?: PolicyName | null;
  /** Model to build the prompt for. Defaults to the setting `model`. */
  model?: string | null;
  /**
   * Maximum input tokens that the client allows. The limit of the prompt is derived from this or from the model's
   * window, whichever is smaller.
   */
  maxInputTokens?: number | null;
  /** Maximum tokens of code to add to the prompt as excerpts. Defaults to the setting `context.auto_budget`. */
  autoBudget?: number | null;
  /** Lifetime of cache entries, for clients that support only one. Defaults to the setting `cache.ttl`. */
  ttl?: Ttl | null;
  /** Whether to assemble the prompt without keeping it. Such a prompt cannot be recorded. */
  dryRun?: boolean;
  /** How to return the request body. */
  bodyAs?: BodyAs;
  /**
   * Additional top-level fields of the request body, such as `max_tokens` and `stream`, appended after Strata's
   * own. Fields that Strata sets are rejected. The values do not count as tokens.
   */
  extra?: Record<string, unknown>;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A finished prompt: the reply of `prompt.assemble`. */
export interface PromptAssembleReply {
  /** Id of the prompt for `prompt.record` and `prompt.discard`; absent for a dry run. */
  id?: string;
  /** Model that the prompt is for. */
  model: string;
  /** The dialect of `body`. */
  format: Format;
  /** Layout policy of the prompt. */
  policy: PolicyName;
  /**
   * The request body, or the text of the Markdown format. With `bodyAs: "text"`, the body as the exact text to
   * POST.
   */
  body: Body;
  /** Token counts of the prompt. */
  tokens: TokenReport;
  /** Contents of each tier. */
  tiers: TierReport[];
  /** Cache breakpoints, in order. */
  breakpoints: Breakpoint[];
  /**
   * Expected charge, based on what the provider's cache is believed to hold. `read` is the expected cached read.
   */
  predicted: Charge;
  /** Files whose text is in the prompt, with their versions. */
  files: UsedFile[];
  /** Files of a trusted workspace that the system prompt quotes or lists. */
  systemFiles: SystemFiles;
  /** How much of the repository the prompt shows. */
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
  /** Text of the earlier preview. */
  since: string;
  /** Policy of the earlier preview. Defaults to the session's policy, or else to the setting `cache.policy`. */
  policy?: PolicyName | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Changes since an earlier preview. */
export interface PromptChangesReply {
  /** Text of the current preview. */
  text: string;
  /**
   * Unified diff from the earlier text to the current one. Its hunk headers name the part in which each hunk
   * begins. Empty if nothing changed.
   */
  changes: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A prompt. */
export interface PromptDiscardParams {
  /** The `id` of the prompt, from `strata.prompt.assemble`. */
  id: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Reply of a command that has no result. */
export interface PromptDiscardReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A text to count tokens in. */
export interface PromptEstimateParams {
  /** Text to count. */
  text: string;
  /** Model whose tokenizer to use. Defaults to the setting `model`. */
  model?: string | null;
  /** Maximum input tokens that the client allows. Defaults to the model's window, which also caps larger values. */
  maxInputTokens?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The tokens of a text. */
export interface PromptEstimateReply {
  /** Number of tokens. */
  tokens: number;
  /** Model whose tokenizer was used. */
  model: string;
  /**
   * Maximum tokens of a request to `model`: the input window minus the reserve for the answer and the margin for
   * estimation error.
   */
  limit: number;
  /** Assumptions about the model, if it is missing from the model table. */
  warning?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The purpose of a block: one row of the token breakdown. */
export type PromptPart =
  /** The system prompt, with additions from the settings. */
  | 'system'
  /** Map blocks and their legend. */
  | 'map'
  /** Full texts of selected files. */
  | 'files'
  /** The repository file list. */
  | 'file_list'
  /** Updates of earlier content: diffs, outlines and changes of the file list. */
  | 'updates'
  /** Web pages. */
  | 'urls'
  /** Earlier messages. */
  | 'history'
  /** Tools that the client declares. */
  | 'tools'
  /** Volatile facts: the branch, and the files already read. */
  | 'session_state'
  /** Names relevant to the question. */
  | 'context_frame'
  /** The new prompt or new tool results. */
  | 'prompt'
  /** The format itself: roles, separators and the start of the reply. */
  | 'structure';

/** What to assemble. Requires either `prompt` (with or without `images`) or `toolResults`. */
export interface PromptPreviewParams {
  /** The user's question. */
  prompt?: string | null;
  /** Images to send with the prompt. */
  images?: Image[];
  /** Results of the tool calls in the last answer. */
  toolResults?: ToolResult[] | null;
  /** Tools that the model may call, in the order of their declaration. */
  tools?: Tool[];
  /** Format of the request. Defaults to the setting `format`. */
  format?: Format | null;
  /** Layout policy. Defaults to the session's policy, or else to the setting `cache.policy`. */
  policy?: PolicyName | null;
  /** Model to build the prompt for. Defaults to the setting `model`. */
  model?: string | null;
  /**
   * Maximum input tokens that the client allows. The limit of the prompt is derived from this or from the model's
   * window, whichever is smaller.
   */
  maxInputTokens?: number | null;
  /** Maximum tokens of code to add to the prompt as excerpts. Defaults to the setting `context.auto_budget`. */
  autoBudget?: number | null;
  /** Lifetime of cache entries, for clients that support only one. Defaults to the setting `cache.ttl`. */
  ttl?: Ttl | null;
  /** Whether to assemble the prompt without keeping it. Such a prompt cannot be recorded. */
  dryRun?: boolean;
  /** How to return the request body. */
  bodyAs?: BodyAs;
  /**
   * Additional top-level fields of the request body, such as `max_tokens` and `stream`, appended after Strata's
   * own. Fields that Strata sets are rejected. The values do not count as tokens.
   */
  extra?: Record<string, unknown>;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The next request as readable text: the reply of `prompt.preview`. */
export interface PromptPreviewReply {
  /** The whole prompt as Markdown. */
  text: string;
  /** Tokens of the request. Includes declared tools and the format itself, in addition to the text. */
  tokens: number;
  /** Parts of the text, in order. Every line belongs to exactly one. */
  parts: PreviewPart[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The outcome of a prompt. */
export interface PromptRecordParams {
  /** The `id` of the prompt, from `strata.prompt.assemble`. */
  id: string;
  /** Outcome of the prompt. */
  status?: TurnStatus;
  /** Answer: a text, or its content blocks. */
  response?: Content | null;
  /** Answer that was interrupted, in the same form as `response`. */
  partial?: Content | null;
  /** Usage that the provider reported. */
  usage?: UsageInput | null;
  /**
   * Why the request failed. The prompt then counts as not sent. After `context_limit`, assemble the prompt again
   * and send it: the conversation is compacted first. A second `context_limit` in a row is an error that names the
   * largest parts.
   */
  error?: TurnError | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of `prompt.record`. */
export interface PromptRecordReply {
  /** Id of the prompt. */
  id: string;
  /** How the request ended. */
  status: TurnStatus;
  /** Number of messages in the conversation now. */
  messages: number;
  /** Billed usage of the session so far. */
  totals: Usage;
  /** Warnings for the user. */
  warnings: string[];
  /** Whether to compact the conversation, assemble the prompt again and send it once more. */
  retry?: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A question, and how to deliver the answer. */
export interface PromptSendParams {
  /** Text of the question. */
  prompt: string;
  /** Images to send with the question. */
  images?: Image[];
  /**
   * Name chosen by the client. The answer is streamed under this name in `strata/delta` notifications. If absent,
   * the answer is delivered only in the reply.
   */
  stream?: string | null;
  /** Tools that the model may use while it answers. */
  tools?: SendTools;
  /** Model to ask. Defaults to the setting `provider.model`, or else `model`. */
  model?: string | null;
  /** Layout policy. Defaults to the session's policy, or else to the setting `cache.policy`. */
  policy?: PolicyName | null;
  /** Maximum input tokens. Defaults to the model's window, which also caps larger values. */
  maxInputTokens?: number | null;
  /** Maximum tokens of the answer. Defaults to the setting `provider.max_output_tokens`. */
  maxOutputTokens?: number | null;
  /** Maximum tokens of code to add to the question as excerpts. Defaults to the setting `context.auto_budget`. */
  autoBudget?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of `strata.prompt.send`. */
export interface PromptSendReply {
  /** Id of the session. */
  session: string;
  /** Model that answered. */
  model: string;
  /** Text of the answer, with known secrets restored. */
  text: string;
  /** How the answer ended. */
  end: SendEnd;
  /** Why the answer is incomplete. */
  error?: string;
  /** Billed usage of all requests together. */
  usage: Usage;
  /** Actual cost of the input. */
  cost: SendCost;
  /** Predicted cost of the input. */
  predicted: Charge;
  /** Number of requests that were answered. */
  requests: number;
  /** Number of rounds of tool calls that were answered. */
  rounds: number;
  /** Tools that the model used. */
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
   * Guidelines for using tools and formatting answers. They follow the base system prompt if a request declares
   * tools. An empty string adds nothing.
   */
  tool_guidelines: string;
  /** Extra instructions that follow the base system prompt. */
  system_extra: string;
  /**
   * Rule files to include in the system prompt of trusted workspaces: file names, or paths whose last component can
   * be a glob, such as `.cursor/rules/*.mdc`.
   */
  rules: string[];
  /** Skill files to list in the system prompt of trusted workspaces, by name and description only. */
  skills: string[];
  /** Memory files: notes to include in the system prompt of trusted workspaces. */
  memory: string[];
}

/** The system prompt and its additions. */
export interface PromptSettingsInput {
  /** The base system prompt. */
  system?: string;
  /**
   * Guidelines for using tools and formatting answers. They follow the base system prompt if a request declares
   * tools. An empty string adds nothing.
   */
  tool_guidelines?: string;
  /** Extra instructions that follow the base system prompt. */
  system_extra?: string;
  /**
   * Rule files to include in the system prompt of trusted workspaces: file names, or paths whose last component can
   * be a glob, such as `.cursor/rules/*.mdc`.
   */
  rules?: string[];
  /** Skill files to list in the system prompt of trusted workspaces, by name and description only. */
  skills?: string[];
  /** Memory files: notes to include in the system prompt of trusted workspaces. */
  memory?: string[];
}

/** A problem that did not prevent the prompt but that the user should know about. */
export interface PromptWarning {
  /** The kind of warning. */
  code: PromptWarningCode;
  /** The warning in one sentence. */
  message: string;
  /** The affected file; absent if the warning is not about a file. */
  path?: FileKey;
}

/** Kinds of `Warning`. */
export type PromptWarningCode =
  /** A selected file was left out because it did not fit. */
  | 'shed'
  /** A selected file could not be read. */
  | 'unreadable'
  /** A buffer may be out of sync with the editor. */
  | 'out_of_step'
  /** The model is not in the model table. */
  | 'unknown_model'
  /** Old exchanges were left out because nothing else could be dropped. */
  | 'history_truncated'
  /** The outlines are not complete yet. */
  | 'index_incomplete'
  /** Secrets in a file were replaced by placeholders. */
  | 'redacted'
  /** The symbol map has no room for a file that the session or the request is about. */
  | 'map_full';

/**
 * A provider, identified by its API. Gateways and self-hosted servers offer one of these APIs at their own address.
 */
export type ProviderName =
  /** Anthropic's Messages API. */
  | 'anthropic'
  /** OpenAI's Chat Completions API. Also for OpenRouter, LiteLLM, vLLM and others, with `provider.base_url`. */
  | 'openai'
  /** OpenAI's Responses API. */
  | 'responses'
  /** Google's `generateContent` API. */
  | 'gemini'
  /** Ollama on this machine. Needs no key. */
  | 'ollama';

/** The provider that `strata ask` and `strata.prompt.send` use. */
export interface ProviderSettings {
  /** Provider to send prompts to. If unset, Strata sends nothing, even if a key is available. */
  name: ProviderName | null;
  /** Provider address, if not the default: `https:`, or `http:` for a server on this machine. */
  base_url: string | null;
  /** Model to send prompts to, as the provider names it. Defaults to `model`. */
  model: string | null;
  /**
   * Environment variable that holds the provider's key, if not the default one. The name must end in `_API_KEY`,
   * `_TOKEN` or `_KEY`.
   */
  key_env: KeyVariable | null;
  /**
   * Command, with its arguments, that prints the provider's key, such as `["pass", "show", "anthropic"]`. It runs
   * without a shell and takes precedence over environment variables.
   */
  key_command: string[];
  /** Timeout for one answer, in seconds. */
  timeout_s: number;
  /** Maximum time to wait for more data from the provider, in seconds. */
  stall_s: number;
  /** Maximum retries if the provider is overloaded or fails before the answer begins. */
  retries: number;
  /** Maximum rounds of tool calls per answer. */
  tool_rounds: number;
  /**
   * Maximum tokens per answer. Defaults to `budget.output_reserve` for Anthropic, and to the provider's own limit
   * for others.
   */
  max_output_tokens: number | null;
}

/** The provider that `strata ask` and `strata.prompt.send` use. */
export interface ProviderSettingsInput {
  /** Provider to send prompts to. If unset, Strata sends nothing, even if a key is available. */
  name?: ProviderName | null;
  /** Provider address, if not the default: `https:`, or `http:` for a server on this machine. */
  base_url?: string | null;
  /** Model to send prompts to, as the provider names it. Defaults to `model`. */
  model?: string | null;
  /**
   * Environment variable that holds the provider's key, if not the default one. The name must end in `_API_KEY`,
   * `_TOKEN` or `_KEY`.
   */
  key_env?: KeyVariable | null;
  /**
   * Command, with its arguments, that prints the provider's key, such as `["pass", "show", "anthropic"]`. It runs
   * without a shell and takes precedence over environment variables.
   */
  key_command?: string[];
  /** Timeout for one answer, in seconds. */
  timeout_s?: number;
  /** Maximum time to wait for more data from the provider, in seconds. */
  stall_s?: number;
  /** Maximum retries if the provider is overloaded or fails before the answer begins. */
  retries?: number;
  /** Maximum rounds of tool calls per answer. */
  tool_rounds?: number;
  /**
   * Maximum tokens per answer. Defaults to `budget.output_reserve` for Anthropic, and to the provider's own limit
   * for others.
   */
  max_output_tokens?: number | null;
}

/** Positive factor between two token counts. */
export type Ratio = number;

/** An occurrence of a secret. Never contains the secret itself. */
export interface RedactedSecret {
  /** Rule that found the secret. For a secret from an earlier run of the server, the kind in its placeholder. */
  rule: string;
  /** Placeholder that replaces the secret. */
  placeholder: string;
  /** File that contains the secret. */
  path?: FileKey;
  /** Web page that contains the secret. */
  url?: string;
  /** Message that contains the secret. */
  message?: MessageId;
  /** Line in the file, the page, or the block of the message, counted from 1. */
  line: number;
}

/** Arguments of a command that takes none. */
export interface RedactionListParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The secrets replaced in the session's content. */
export interface RedactionListReply {
  /** Secrets: those in files first, sorted by path, then those in web pages, then those in messages. */
  secrets: RedactedSecret[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A text in which to restore secrets. */
export interface RedactionRestoreParams {
  /** A model's answer, or any other text. */
  text: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The text with its secrets restored. Apply it to a file; do not send it to a model. */
export interface RedactionRestoreReply {
  /** Restored text. */
  text: string;
  /** Number of placeholders replaced. */
  restored: number;
  /**
   * Placeholders that were not replaced because their secrets are unknown: the file is not selected, or the secret
   * was in a message during an earlier run of the server.
   */
  unknown: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Redaction of secrets in text that models see. */
export interface RedactionSettings {
  /** Whether to replace secrets in files, messages and tool results with placeholders. */
  enabled: boolean;
  /** Exceptions that are sent unchanged: placeholders as listed by `strata.redaction.list`, or rule names. */
  allow: string[];
}

/** Redaction of secrets in text that models see. */
export interface RedactionSettingsInput {
  /** Whether to replace secrets in files, messages and tool results with placeholders. */
  enabled?: boolean;
  /** Exceptions that are sent unchanged: placeholders as listed by `strata.redaction.list`, or rule names. */
  allow?: string[];
}

/** A reference. */
export interface ReferenceHit {
  /** Path of the file. */
  path: FileKey;
  /** Line number, counted from 1. */
  line: number;
  /** The line, without surrounding whitespace. */
  text: string;
  /** Whether scopes, imports and types resolve to the definition, or only the name matches. */
  confidence: Confidence;
  /** Whether this is a definition of the name. */
  definition?: boolean;
}

/** A file that refers to a definition. */
export interface Referrer {
  /** Path of the file. */
  path: FileKey;
  /** Likelihood that the file refers to this definition, at most 1. */
  likelihood: number;
}

/** A relevant file or definition. */
export interface RelevantItem {
  /** Path of the file. */
  path: FileKey;
  /** Kind of the definition. Absent for a file. */
  kind?: SymbolKind;
  /** Name of the definition. Absent for a file. */
  name?: string;
  /** Line that introduces the definition. Absent for a file. */
  head?: string;
  /** First line, counted from 1. */
  line?: number;
  /** Last line, inclusive. */
  endLine?: number;
  /** Relevance relative to the best item, which scores 1. */
  score: number;
}

/** A renamed file or directory. */
export interface Rename {
  /** Path before the rename. */
  from: string;
  /** Path after the rename. */
  to: string;
}

/** A part of a tool result. */
export type ResultPart =
  /** Text output. */
  | {
    type: 'text';
    /** Text of the output. */
    text: string;
  }
  /** An image returned by the tool. */
  | {
    type: 'image';
    /** Source of the image's bytes. */
    source: ImageSource;
    /** Width in pixels, if known. If unknown, the token estimate is a constant. */
    width?: number;
    /** Height in pixels, if known. */
    height?: number;
  }
  /** A part that only one provider supports. */
  | {
    type: 'foreign';
    /** Provider that the block came from. */
    provider: ForeignProvider;
    /** Block as received, without cache markers. */
    value: unknown;
  };

/** A part of a tool result. */
export type ResultPartInput =
  /** Text output. */
  | {
    type: 'text';
    /** Text of the output. */
    text: string;
  }
  /** An image returned by the tool. */
  | {
    type: 'image';
    /** Source of the image's bytes. */
    source: ImageSource;
    /** Width in pixels, if known. If unknown, the token estimate is a constant. */
    width?: number | null;
    /** Height in pixels, if known. */
    height?: number | null;
  }
  /** A part that only one provider supports. */
  | {
    type: 'foreign';
    /** Provider that the block came from. */
    provider: ForeignProvider;
    /** Block as received, without cache markers. */
    value: unknown;
  };

/** Statistics about one item. */
export interface RippleItemStats {
  /** Number N: consecutive requests in which the item was unchanged, starting from the entry value of its tier. */
  n: number;
  /** N at which the item is promoted; absent in L0, the most stable tier. */
  threshold?: number;
}

/** Sender of a message. */
export type Role =
  /** The user, or a program that acts for the user. Tool results also have this role. */
  | 'user'
  /** The model. */
  | 'assistant';

/** The cost of the input, in tokens of uncached input. */
export interface SendCost {
  /** Actual cost. */
  paid: number;
  /** Cost without a cache. */
  uncached: number;
  /** Share of the input that was read from the cache, from 0 to 1. */
  readShare: number;
}

/** How an answer ended. */
export type SendEnd =
  /** The model finished. */
  | 'complete'
  /** The answer reached its token limit. */
  | 'output_limit'
  /** The model requested more rounds of tool calls than allowed. */
  | 'tool_rounds'
  /**
   * The model called tools that Strata does not run: those of a forwarded conversation, or some although none were
   * offered.
   */
  | 'tool_calls'
  /** The user stopped the answer. The answer so far is kept. */
  | 'cancelled'
  /** The provider's answer was interrupted. The answer so far is kept. */
  | 'cut'
  /** A later request failed. The answers before it are recorded. */
  | 'failed';

/** The tools that the model may use. */
export type SendTools =
  /** No tools. */
  | 'none'
  /** Strata's read-only tools: map, outlines, references, searches, files, notes. */
  | 'read';

/** Arguments of a command that takes none. */
export interface ServerModelsParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The model table. */
export interface ServerModelsReply {
  /** Models, sorted by name. */
  models: Model[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface ServerReindexParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Reply of a command that has no result. */
export interface ServerReindexReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The language server. */
export interface ServerSettings {
  /** Directory names to skip when scanning, in addition to the built-in list. */
  ignore: string[];
}

/** The language server. */
export interface ServerSettingsInput {
  /** Directory names to skip when scanning, in addition to the built-in list. */
  ignore?: string[];
}

/** Arguments of a command that takes none. */
export interface ServerSettingsParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The effective settings. */
export interface ServerSettingsReply {
  /** All settings. */
  settings: Settings;
  /** Where each value comes from, keyed by setting. */
  origins: Record<string, SettingOrigin>;
  /** Values in a workspace file that it must not set. */
  ignored: IgnoredSetting[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface ServerStatusParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The state of the server. */
export interface ServerStatusReply {
  /** Version of Strata. */
  version: string;
  /** The current session. */
  session: string;
  /** The workspace folders. */
  roots: string[];
  /** Number of open buffers. */
  openDocuments: number;
  /** Whether all files have been outlined. */
  index: IndexState;
  /** Number of files in the workspace. */
  files: number;
  /** Number of files with an outline. */
  outlined: number;
  /** Work done by the last full scan. */
  efforts: Efforts;
  /** Languages that Strata can outline. */
  languages: string[];
  /** Whether the user trusts the workspace. */
  trusted: boolean;
  /**
   * Problems of the scan, and settings without effect: those that a workspace file must not set, and unknown names
   * in `redaction.allow`.
   */
  notes: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A session to delete. */
export interface SessionDeleteParams {
  /** Id of the session. Defaults to the session that the command runs in. */
  id?: string | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Reply of a command that has no result. */
export interface SessionDeleteReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A session and the format to export it in. */
export interface SessionExportParams {
  /** Export format. */
  format?: ExportFormat;
  /** Id of the session. Defaults to the session that the command runs in. */
  id?: string | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** An exported session. */
export interface SessionExportReply {
  /** Export format. */
  format: ExportFormat;
  /** Exported text. */
  text: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** How much of the session to copy. */
export interface SessionForkParams {
  /** Last message to copy. Defaults to the whole conversation. */
  until?: MessageId | null;
  /** Name of the new session. */
  name?: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The session that is now current. */
export interface SessionForkReply {
  /** Id of the session. */
  id: string;
  /** Number of messages. */
  messages: number;
  /** Whether the session is open read-only. */
  readOnly: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A recorded conversation to import. */
export interface SessionImportParams {
  /** Output of another program, or of `session.export`. */
  text: string;
  /** Name of the new session. */
  name?: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The imported session. */
export interface SessionImportReply {
  /** Id of the session. */
  id: string;
  /** Number of messages. */
  messages: number;
  /** Format that was recognized. */
  form: ConversationForm;
  /** Number of lines that contain no message. */
  skipped: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface SessionListParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** All sessions of the workspace. */
export interface SessionListReply {
  /** Sessions, most recently written first. */
  sessions: ListedSession[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A stored session to open. */
export interface SessionLoadParams {
  /** Id of the session. */
  id: string;
  /** Whether to open the session read-only, for example because another server writes to it. */
  readOnly?: boolean;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The session that is now current. */
export interface SessionLoadReply {
  /** Id of the session. */
  id: string;
  /** Number of messages. */
  messages: number;
  /** Whether the session is open read-only. */
  readOnly: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface SessionNewParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The session that is now current. */
export interface SessionNewReply {
  /** Id of the session. */
  id: string;
  /** Number of messages. */
  messages: number;
  /** Whether the session is open read-only. */
  readOnly: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A new name for a session. */
export interface SessionRenameParams {
  /** New name. Empty to remove the name. */
  name: string;
  /** Id of the session. Defaults to the session that the command runs in. */
  id?: string | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Reply of a command that has no result. */
export interface SessionRenameReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface SessionResetParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The session that is now current. */
export interface SessionResetReply {
  /** Id of the session. */
  id: string;
  /** Number of messages. */
  messages: number;
  /** Whether the session is open read-only. */
  readOnly: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A search query. */
export interface SessionSearchParams {
  /** Words to search for. A query without any letter or digit is an error. */
  query: string;
  /** Maximum number of matches. Defaults to 20, at most 1,000. */
  limit?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The matches of a search. */
export interface SessionSearchReply {
  /** Matches in memory files, then all others, each best first. */
  hits: Hit[];
  /** Number of newest matches that were ranked, if there are too many to rank all. */
  newest?: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface SessionStepsParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The tool calls of a session. */
export interface SessionStepsReply {
  /** Tool calls, in order. */
  steps: Step[];
  /** Paths of the files that were read, most recently read last. */
  filesRead: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Source of a setting, weakest first. */
export type SettingLayer =
  /** The built-in defaults. */
  | 'defaults'
  /** `strata.toml` in the user's configuration directory. */
  | 'user'
  /** `.strata.toml` or `.strata.yaml` in a workspace folder. */
  | 'workspace'
  /** Environment variables that begin with `STRATA_`. */
  | 'environment'
  /** The editor's answer to `workspace/configuration`. */
  | 'editor'
  /** Command-line options. */
  | 'commandLine';

/** Where an effective value comes from. */
export interface SettingOrigin {
  /** Layer that the value comes from. */
  layer: SettingLayer;
  /** Display name of the source, such as a file path, `environment` or `editor`. */
  name: string;
}

/** All settings. */
export interface Settings {
  /** Model to build prompts for, as the provider names it. */
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
  /** The context frame: relevant names, placed after the question. */
  context_frame: ContextFrameSettings;
  /** Tokens reserved in the model's input window. */
  budget: BudgetSettings;
  /** Models missing from the built-in table, and overrides for those in it. */
  models: ModelTable;
  /** Paths of tokenizer files (`tokenizer.json`), keyed by model family or model. */
  tokenizers: Record<string, string>;
  /** The provider that `strata ask` and `strata.prompt.send` use. */
  provider: ProviderSettings;
  /** Conversation compaction. */
  compaction: CompactionSettings;
  /** Code that Strata adds to questions automatically, and the memory of autonomous loops. */
  context: ContextSettings;
  /** Patterns that classify tools by name. */
  tools: ToolPatterns;
  /** Tool results: how much of each to keep, and how long the model sees them. */
  tool_output: ToolOutputSettings;
  /** Redaction of secrets in text that models see. */
  redaction: RedactionSettings;
  /** The language server. */
  server: ServerSettings;
  /** Standard LSP requests that other language servers also answer. */
  lsp: LspSettings;
}

/** All settings. */
export interface SettingsInput {
  /** Model to build prompts for, as the provider names it. */
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
  /** The context frame: relevant names, placed after the question. */
  context_frame?: ContextFrameSettingsInput;
  /** Tokens reserved in the model's input window. */
  budget?: BudgetSettingsInput;
  /** Models missing from the built-in table, and overrides for those in it. */
  models?: ModelTableInput;
  /** Paths of tokenizer files (`tokenizer.json`), keyed by model family or model. */
  tokenizers?: Record<string, string>;
  /** The provider that `strata ask` and `strata.prompt.send` use. */
  provider?: ProviderSettingsInput;
  /** Conversation compaction. */
  compaction?: CompactionSettingsInput;
  /** Code that Strata adds to questions automatically, and the memory of autonomous loops. */
  context?: ContextSettingsInput;
  /** Patterns that classify tools by name. */
  tools?: ToolPatternsInput;
  /** Tool results: how much of each to keep, and how long the model sees them. */
  tool_output?: ToolOutputSettingsInput;
  /** Redaction of secrets in text that models see. */
  redaction?: RedactionSettingsInput;
  /** The language server. */
  server?: ServerSettingsInput;
  /** Standard LSP requests that other language servers also answer. */
  lsp?: LspSettingsInput;
}

/** A web page in the session. */
export interface ShownPage {
  /** Address of the page. */
  url: string;
  /** Title of the page. */
  title?: string;
  /** Key of the page's item in the layout. */
  key: ItemKey;
  /** Tier of the page in the last recorded turn. */
  tier: Tier;
  /** Tokens of the page's text. */
  tokens: number;
}

/** The state of the context meter. */
export interface Status {
  /** Id of the current session. */
  session: string;
  /** Model that the prompts are for. */
  model: string;
  /** Tokens of the next request, excluding the user's new message. */
  tokens: number;
  /** Input window of the model, in tokens. */
  window: number;
  /** `tokens` as a percentage of `window`. */
  percent: number;
  /** Percentage of the session's billed input that was read from the cache. */
  cachedPercent: number | null;
  /** Tokens that the next request can read from the cache. Absent if nothing is cached. */
  cachedTokens?: number;
  /** When the cache expires if it is not used before, in milliseconds since 1970. */
  cacheExpiresMs?: number;
  /** How much of the threshold for the next compaction the conversation has used, in percent. */
  compactionPercent: number;
  /**
   * Number of selected files that the next request would leave out because they do not fit. `strata.budget.report`
   * lists them.
   */
  shed: number;
  /** Number of secrets in selected files that were replaced. `strata.redaction.list` lists them. */
  redacted: number;
  /** Whether the conversation is saved to disk. If not, it is lost when the server ends. */
  stored: boolean;
  /** Whether all files have been outlined. */
  index: IndexState;
  /** Number of files in the workspace. */
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
   * The client if it supports `strata/summarize`, otherwise the provider of `compaction.model` if its key is
   * available, otherwise `extractive`.
   */
  | 'auto'
  /** No model: summaries are extracted from the conversation by fixed rules, offline. */
  | 'extractive'
  /** The client, with the editor's own models and keys (`strata/summarize`). */
  | 'client'
  /** A provider over HTTP, with a key from the environment. */
  | 'http';

/** A request to the client's model. */
export interface Summarize {
  /** Purpose of the request. */
  purpose: SummaryPurpose;
  /** System prompt. */
  system: string;
  /** User message. */
  prompt: string;
  /** Maximum tokens of the answer. */
  maxTokens: number;
  /** Model from the settings, as the provider names it. */
  model?: string;
}

/** The answer of a model. */
export type Summary =
  /** Text of the answer. */
  | string
  /** An object, which may also name the model. */
  | {
    /** Text of the answer. */
    text: string;
    /** User-visible name of the model that wrote the answer, shown in `strata/compaction`. */
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

/** Whether a model supports a feature. */
export type Support = 'yes' | 'none';

/** The effect of switching to another model, by its tokenizer and prices. */
export interface SwitchCost {
  /** Model to switch to. */
  model: string;
  /** Tokens of the next prompt for this model. */
  tokens: number;
  /** Charge for the cacheable part, which is not cached for this model yet. */
  charge: Charge;
  /** Cost, in tokens of uncached input. */
  cost: number;
  /** Cost relative to the next prompt without any cache; 1 is a whole prompt. */
  share: number;
}

/** A file that defines the name. */
export interface SymbolDefinition {
  /** Path of the file. */
  path: FileKey;
  /** Heads of the definitions. */
  heads: string[];
  /** Line numbers of the definitions, counted from 1. */
  lines: number[];
  /** Other files that refer to these definitions, most likely first. */
  referrers: Referrer[];
}

/** The kind of a symbol, named after the captures in `outline.scm`. */
export type SymbolKind =
  /** A module or namespace inside a file. */
  | 'module'
  /** A class. */
  | 'class'
  /** A struct, record or union. */
  | 'struct'
  /** An enumeration. */
  | 'enum'
  /** A variant of an enumeration. */
  | 'variant'
  /** An interface, trait or protocol. */
  | 'interface'
  /** An implementation block, named after its type. */
  | 'impl'
  /** A function outside any type. */
  | 'function'
  /** A function inside a type. */
  | 'method'
  /** A field or property of a type. */
  | 'field'
  /** A variable outside any function. */
  | 'variable'
  /** A constant outside any function. */
  | 'constant'
  /** A type alias or associated type. */
  | 'type'
  /** A macro. */
  | 'macro'
  /** A section of a document, named after its heading. */
  | 'section'
  /** A key in a configuration or data file. */
  | 'key';

/** The symbol map. */
export interface SymbolSettings {
  /**
   * Maximum tokens for the symbol map. Defaults to an eighth of the input window, between 4,000 and 64,000: at
   * 4,000 tokens, the map shows nine tenths of the definitions that later commits change, and beyond 8,000 little
   * more.
   */
  map_budget: number | null;
  /** Maximum size, in bytes, of a file that Strata outlines. */
  max_file_bytes: number;
}

/** The symbol map. */
export interface SymbolSettingsInput {
  /**
   * Maximum tokens for the symbol map. Defaults to an eighth of the input window, between 4,000 and 64,000: at
   * 4,000 tokens, the map shows nine tenths of the definitions that later commits change, and beyond 8,000 little
   * more.
   */
  map_budget?: number | null;
  /** Maximum size, in bytes, of a file that Strata outlines. */
  max_file_bytes?: number;
}

/** The file to outline. */
export interface SymbolsDependentsParams {
  /** Path of the file, relative to the workspace folder. */
  path: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The dependencies of a file. */
export interface SymbolsDependentsReply {
  /** Path of the file. */
  path: FileKey;
  /** Number of files that refer to this file, in which uncertain references count less. */
  incoming: number;
  /** Files that refer to this file, strongest first. */
  dependents: FileKey[];
  /** Files that this file refers to, strongest first. */
  dependencies: FileKey[];
  /** Files that this file imports. */
  imports: FileKey[];
  /** Files that this file refers to and that refer to it. */
  mutual: FileKey[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The file to outline. */
export interface SymbolsFileParams {
  /** Path of the file, relative to the workspace folder. */
  path: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The outline of a file. */
export interface SymbolsFileReply {
  /** Path of the file. */
  path: FileKey;
  /** Language of the file. */
  language: string;
  /**
   * Definitions without their bodies, one per line: the line range of the definition, then its head, indented by
   * one space per level.
   */
  text: string;
  /** Tokens of `text`. */
  tokens: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A search query. */
export interface SymbolsFindParams {
  /** Symbol name, or some of its letters in order, optionally qualified (`Type.method`). */
  query: string;
  /** Maximum number of symbols. */
  limit?: number;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The matches. */
export interface SymbolsFindReply {
  /** Matching symbols, closest first. */
  symbols: FoundSymbol[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The size and topic of the map. */
export interface SymbolsMapParams {
  /** Maximum tokens of the map. Defaults to the setting `symbols.map_budget`. */
  budget?: number | null;
  /** Files to always include, as paths or globs such as `src/**\/*.rs`. Related files are ranked first. */
  focus?: string[];
  /**
   * Topic of the map, in plain words. Related code is ranked first, and files and symbols that the text names are
   * always included.
   */
  about?: string | null;
  /** Order of the blocks. */
  sort?: MapSort;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The symbol map. */
export interface SymbolsMapReply {
  /** Legend that explains the map's notation. */
  legend: string;
  /** All blocks, as text. */
  text: string;
  /** Tokens of the map. */
  tokens: number;
  /** Maximum tokens of the map. */
  budget: number;
  /** Files with a block, in the order of the blocks. */
  files: MapFile[];
  /** Number of outlined files without a block. */
  leftOut: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A name to find references to. */
export interface SymbolsReferencesParams {
  /** Name, optionally qualified by types or modules: `total`, `Cart.total`, `shop.Cart.total`. */
  name: string;
  /** Only consider definitions in this file. Defaults to definitions in all files. */
  path?: string | null;
  /** Maximum number of references. */
  limit?: number;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The references to a name. */
export interface SymbolsReferencesReply {
  /** Name from the request. */
  name: string;
  /** Definitions of the name, one entry per file, each with the files that refer to it. */
  definitions: SymbolDefinition[];
  /**
   * References sorted by path and line, including the definitions. If there are more than `limit`, certain ones are
   * kept first.
   */
  hits: ReferenceHit[];
  /** Number of references, listed or not. */
  total: number;
  /**
   * Number of references not listed because they are unlikely: members of values of unknown type, with a name that
   * the language itself defines.
   */
  unlikely: number;
  /** How to narrow the query if references are missing. */
  howToNarrow?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A query for relevant code. */
export interface SymbolsRelevantParams {
  /** Task, in plain words. */
  query: string;
  /** Maximum number of items. Defaults to the limits in the settings `context_frame.*`. */
  limit?: number | null;
  /** Minimum score of an item, between 0 and 1. Defaults to the setting `context_frame.min_score`. */
  minScore?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The relevant code. */
export interface SymbolsRelevantReply {
  /** Items, best first. */
  items: RelevantItem[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Workspace files that the system prompt quotes or lists. */
export interface SystemFiles {
  /** Rule files, quoted. */
  rules: FileKey[];
  /** Skill files, listed with their descriptions. */
  skills: FileKey[];
  /** Memory files, quoted. */
  memory: FileKey[];
}

/** Calibration of a model, as reported to clients. */
export interface Taught {
  /** Ratio of the model's tokens to estimated tokens. */
  factor: number;
  /** Tokens per request beyond the estimate; negative if estimates are too high. */
  overhead: number;
  /** Number of usage reports. */
  reports: number;
}

/** A position, as in the Language Server Protocol. */
export interface TextPosition {
  /** Line, counted from 0. */
  line: number;
  /** Character in the line, counted from 0. */
  character: number;
}

/** A range, as in the Language Server Protocol. */
export interface TextRange {
  /** Start of the range. */
  start: TextPosition;
  /** End of the range, exclusive. */
  end: TextPosition;
}

/** How stable a piece of content is. L0 is the most stable and comes first; active content is not cached. */
export type Tier =
  /** The most stable content. */
  | 'L0'
  /** Stable content. */
  | 'L1'
  /** Content that is becoming stable. */
  | 'L2'
  /** Content that has just become stable enough to be cached. */
  | 'L3'
  /** Content that is not cached. */
  | 'active';

/** One tier of a prompt. */
export interface TierReport {
  /** Name of the tier. */
  tier: Tier;
  /** Number of items in the tier. */
  items: number;
  /** Tokens of the tier. */
  tokens: number;
  /** Whether a cache breakpoint follows the tier. */
  marked: boolean;
}

/** Contents of one tier. */
export interface TierWeight {
  /** Name of the tier. */
  tier: Tier;
  /** Number of items in the tier. */
  items: number;
  /** Tokens of the tier. */
  tokens: number;
}

/** Arguments of a command that takes none. */
export interface TiersExplainBreakParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Why the last recorded prompt missed the cache. */
export interface TiersExplainBreakReply {
  /** Explanation for the user. */
  sentence: string;
  /** One-based number of the prompt that caused the break. */
  turn?: number;
  /** Time of that prompt, in milliseconds since 1970. */
  atMs?: number;
  /** Reason for the break. */
  reason?: BreakReason;
  /** Items in the first block that could not stay in place. */
  items?: ItemKey[];
  /** Tokens of the unchanged prefix. */
  kept?: number;
  /** Tokens after the prefix, which the provider had to process again. */
  rewritten?: number;
  /** Unchanged items after the break that had to be written again. */
  moved?: ItemKey[];
  /** Part of `rewritten`, in tokens, that would have been read from the cache without the break. */
  lost?: number;
  /** Extra cost of writing the `lost` tokens instead of reading them, in tokens of uncached input. */
  cost?: number;
  /** How much less of this prompt the provider read from its cache than expected, if reported. */
  missed?: CacheShortfall;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** What to forecast. */
export interface TiersForecastParams {
  /** Model to estimate the cost of switching to. */
  model?: string | null;
  /** Pause before the next prompt, in seconds since the last one. */
  pauseSeconds?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A cost forecast. */
export interface TiersForecastReply {
  /** Model of the next prompt. */
  model: string;
  /** Lifetime of cache entries in the settings. */
  ttl: Ttl;
  /** Number of recorded prompts that the session remembers. */
  turns: number;
  /** Tokens of the next prompt, excluding the user's new message. */
  tokens: number;
  /** Cacheable tokens of the last prompt. */
  marked: number;
  /** Growth per turn, in tokens. */
  growth: number;
  /** When the cache expires, in milliseconds since 1970. */
  cacheExpiresMs?: number;
  /** Costs if cache entries live five minutes. */
  fiveMinutes: CostOutlook;
  /** Costs if cache entries live one hour. */
  oneHour: CostOutlook;
  /** Lifetime under which the session would have cost less so far; five minutes if both cost the same. */
  cheaper: Ttl;
  /** Extra cost of a pause that exceeds the current lifetime. */
  pastTtl: ExtraCost;
  /** Effect of a pause of `pauseSeconds`. */
  pause?: PauseCost;
  /** Effect of switching to `model`. */
  switch?: SwitchCost;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/**
 * A policy for this session. If `policy` is absent, nothing is changed; `null` removes the session's own policy.
 */
export interface TiersPolicyParams {
  /** New policy of the session. */
  policy?: PolicyName | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The policy of the next prompt, and what determined it. */
export interface TiersPolicyReply {
  /** Chosen policy. */
  policy: PolicyName;
  /** What decided on the policy. */
  decidedBy: DecidedBy;
  /** Policy set in the session. */
  session: PolicyName | null;
  /** Policy set in the settings. */
  setting: PolicyName | null;
  /** Model of the next prompt. */
  model: string;
  /** The model's default policy. */
  modelDefault: PolicyName;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface TiersRebuildParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The predicted cost of a rebuild. */
export interface TiersRebuildReply {
  /** Chosen policy. */
  policy: PolicyName;
  /** What decided on the policy. */
  decidedBy: DecidedBy;
  /**
   * Predicted charge for the next request, excluding the user's new message. Absent if the request would not fit.
   */
  predicted?: Charge;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface TiersReportParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply of `tiers.report`: the layout of the next prompt without its message. */
export interface TiersReportReply {
  /** Model that the prompt is for. */
  model: string;
  /** Chosen policy. */
  policy: PolicyName;
  /** What decided on the policy. */
  decidedBy: DecidedBy;
  /** Number of prompts recorded so far. */
  turns: number;
  /** Last recorded prompt, including one from another process; absent if none was recorded. */
  lastTurn?: LastTurn;
  /** Contents of each nonempty tier. */
  tiers: TierReport[];
  /** Items in prompt order, then items that are not shown but keep a position. */
  items: ItemReport[];
  /** Tokens of the whole prompt. */
  tokens: number;
  /**
   * Expected charge, based on what the provider's cache is believed to hold. `read` is the expected cached read.
   */
  predicted: Charge;
  /**
   * Share of the prompt's tokens that is expected to be read from the cache (`predicted.read`), in percent, rounded
   * to one decimal.
   */
  expectedPercent: number;
  /** Share of the input billed so far that was read from the cache, in percent; absent before the first bill. */
  cachedPercent?: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The provider's token count, as clients may write it. */
export type TokenCount =
  /** Number of tokens. */
  | number
  /** An object, which may have further fields. */
  | {
    /** Number of tokens. */
    inputTokens: number;
  };

/** Tokens that a provider adds to the text of a request. */
export interface TokenOverheads {
  /** Tokens per message, for its role and delimiters. */
  message: number;
  /** Tokens per request, for the beginning of the answer. */
  reply: number;
  /** Tokens per request that declares any tools. */
  tool_prompt: number;
  /** Tokens per declared tool, beyond its name, description and schema. */
  tool: number;
  /** Tokens per tool call and its result, beyond their texts. */
  tool_round_trip: number;
}

/** Token counts of a prompt. */
export interface TokenReport {
  /** Tokens of the whole prompt. */
  total: number;
  /** Tokens by part. They add up to `total`. */
  parts: Record<string, number>;
  /** Tokens that the provider is expected to count, based on reported usage. */
  expected: Expected;
  /** Maximum value of `total`. Smaller than `room` if estimates turned out too low. */
  limit: number;
  /** Maximum tokens by the provider's count: `window` minus `outputReserve`. */
  room: number;
  /** Input window in tokens: the model's, or the client's `maxInputTokens` if that is smaller. */
  window: number;
  /** Tokens reserved for the answer. */
  outputReserve: number;
}

/** How to count the tokens of a model. Written `"o200k"`, `"cl100k"`, `{ o200k_times = 1.21 }` or `"chars"`. */
export type Tokenizer =
  /** Exact count with `o200k_base`. `o200k_harmony` gives the same counts: it only adds special tokens. */
  | 'o200k'
  /** Exact count with `cl100k_base`. */
  | 'cl100k'
  /** The exact `o200k_base` count times a factor, rounded up. */
  | {
    o200k_times: Ratio;
  }
  /** One token per four characters, rounded up. */
  | 'chars'
  /** Count by a custom tokenizer. */
  | {
    given: GivenId;
  };

/** A tool as declared by a client, independent of providers. */
export interface Tool {
  /** Name of the tool, shown to the model. */
  name: string;
  /** Description of the tool, shown to the model. */
  description?: string;
  /** JSON schema of the tool's arguments. Strata passes it on unchanged. */
  input_schema: unknown;
}

/** Outcome of a tool call. */
export type ToolOutcome =
  /** The call succeeded. */
  | 'ok'
  /** The call failed. The content describes the error. */
  | 'error';

/** A tool output, as clients may write it. */
export type ToolOutput =
  /** A string. */
  | string
  /** A list of parts. */
  | ResultPartInput[];

/** A tool output. */
export interface ToolOutputAddParams {
  /** Output of the tool. */
  content: ToolOutput;
  /**
   * Id of the tool call. If given, the result is added to the conversation; otherwise the output is only truncated.
   */
  callId?: string | null;
  /** How the call ended. */
  outcome?: ToolOutcome;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The truncated output. */
export interface ToolOutputAddReply {
  /** Content that the model sees. */
  content: ResultPart[];
  /** Number of the added message, if one was added. */
  id?: MessageId;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Which lines of an output to read. */
export interface ToolOutputReadParams {
  /** Output to read. */
  id: OutputName;
  /** First line, counted from 1. */
  from?: number;
  /** Number of lines. Defaults to 200. */
  count?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A range of lines of an output. */
export interface ToolOutputReadReply {
  /** Text of the lines, including line breaks. */
  text: string;
  /** First line, starting at 1. */
  from: number;
  /** Last line; `from - 1` if there are none. */
  to: number;
  /** Number of lines of the whole output. */
  total: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Tool results: how much of each to keep, and how long the model sees them. 0 means no limit. */
export interface ToolOutputSettings {
  /** Maximum lines to keep per tool output. */
  max_lines: number;
  /** Maximum characters to keep per tool output. */
  max_chars: number;
  /** Maximum bytes to keep per tool output. */
  max_bytes: number;
  /**
   * Size of an output, in characters, above which it is written to a file and replaced by a notice in the
   * conversation.
   */
  large_output_threshold: number;
  /**
   * Maximum disk space, in MiB, for outputs written to files, across all workspaces. When it is exceeded, the
   * oldest files are deleted first.
   */
  spill_quota_mib: number;
  /** Which part of a long output to keep. */
  truncate_mode: TruncateMode;
  /**
   * Maximum tool results that the model sees. Older ones are archived after a turn, or digested when the
   * `checkpoint` profile compacts. 0 means no limit.
   */
  cutoff: number;
  /** How to summarize archived results. */
  summary: ToolSummaryStrategy;
  /** When to archive results beyond `cutoff`. */
  ageing: ArchivalMode;
}

/** Tool results: how much of each to keep, and how long the model sees them. 0 means no limit. */
export interface ToolOutputSettingsInput {
  /** Maximum lines to keep per tool output. */
  max_lines?: number;
  /** Maximum characters to keep per tool output. */
  max_chars?: number;
  /** Maximum bytes to keep per tool output. */
  max_bytes?: number;
  /**
   * Size of an output, in characters, above which it is written to a file and replaced by a notice in the
   * conversation.
   */
  large_output_threshold?: number;
  /**
   * Maximum disk space, in MiB, for outputs written to files, across all workspaces. When it is exceeded, the
   * oldest files are deleted first.
   */
  spill_quota_mib?: number;
  /** Which part of a long output to keep. */
  truncate_mode?: TruncateMode;
  /**
   * Maximum tool results that the model sees. Older ones are archived after a turn, or digested when the
   * `checkpoint` profile compacts. 0 means no limit.
   */
  cutoff?: number;
  /** How to summarize archived results. */
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
  /** `id` of the tool call. */
  callId: string;
  /** Output of the tool. */
  content: ResultPartInput[];
  /** Whether the tool failed. */
  outcome?: ToolOutcome;
}

/** How to summarize archived results. */
export type ToolSummaryStrategy =
  /** With a model; with `heuristic` if the model fails. */
  | 'llm'
  /** With the beginning and the end of each result. */
  | 'heuristic'
  /** No archiving. */
  | 'off';

/** A tool call by the model. */
export interface ToolUse {
  /** Name of the tool. */
  name: string;
  /** Arguments of the call. */
  input: unknown;
  /** Whether the call failed. */
  failed: boolean;
}

/** Billed usage of a session, with its cost. */
export interface Totals {
  /** Input tokens neither read from nor written to the cache. */
  input: number;
  /** Output tokens. */
  output: number;
  /** Input tokens read from the cache. */
  cacheRead: number;
  /** Input tokens written to the cache. */
  cacheWrite: number;
  /** Cost of the input, in tokens of uncached input; absent if no bill was reported. */
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
  /** Only the beginning. */
  | 'head'
  /** The beginning and the end, with a marker between them. */
  | 'head_tail';

/** Requested lifetime of cache entries. */
export type Ttl =
  /** Five minutes after the last use. */
  | '5m'
  /** One hour after the last use. */
  | '1h';

/** Reasons for a failed request that Strata can handle. */
export type TurnError =
  /** The provider rejected the prompt as too long. */
  | 'context_limit';

/** How a request to the provider ended. */
export type TurnStatus =
  /** The answer is complete. */
  | 'complete'
  /** The user stopped the answer. The part received so far counts. */
  | 'aborted'
  /** The request failed. The prompt is treated as not sent. */
  | 'error';

/** A web page and its text. */
export interface UrlAddParams {
  /** Address of the page. */
  url: string;
  /** Title of the page. */
  title?: string | null;
  /** Text of the page, at most `files.max_bytes` bytes. */
  content: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A web page in the session. */
export interface UrlAddReply {
  /** Address of the page. */
  url: string;
  /** Title of the page. */
  title?: string;
  /** Key of the page's item in the layout. */
  key: ItemKey;
  /** Tier of the page in the last recorded turn. */
  tier: Tier;
  /** Tokens of the page's text. */
  tokens: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface UrlListParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The web pages in the session. */
export interface UrlListReply {
  /** Pages, sorted by address. */
  urls: ShownPage[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The address of a web page. */
export interface UrlRemoveParams {
  /** Address of the page. */
  url: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Whether a page was removed. */
export interface UrlRemoveReply {
  /** Whether the session contained the page. */
  removed: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Billed tokens of one request. */
export interface Usage {
  /** Input tokens neither read from nor written to the cache. */
  input: number;
  /** Output tokens. */
  output: number;
  /** Input tokens read from the cache. */
  cacheRead: number;
  /** Input tokens written to the cache. */
  cacheWrite: number;
}

/** Billed tokens of one request. */
export interface UsageInput {
  /** Input tokens neither read from nor written to the cache. */
  input?: number;
  /** Output tokens. */
  output?: number;
  /** Input tokens read from the cache. */
  cacheRead?: number;
  /** Input tokens written to the cache. */
  cacheWrite?: number;
}

/** An excerpt in a prompt. */
export interface UsedExcerpt {
  /** Name of the excerpt, used to pin or dismiss it. */
  excerpt: ExcerptKey;
  /** Current lines of the excerpt; absent if it is no longer in its file. */
  lines?: LineRange;
  /** Why the excerpt was chosen; absent if you pinned it without a question. */
  reason?: ExcerptReason;
  /** Why it is in the prompt. */
  standing: ExcerptStanding;
  /** Tokens of the excerpt in this prompt, including updates. */
  tokens: number;
}

/** A file whose text is in a prompt. */
export type UsedFile = {
  /** Path of the file. */
  path: FileKey;
  /** Hash of the file's whole text. */
  hash: ContentHash;
  /** Tokens of the file in this prompt. */
  tokens: number;
  /** Tier of the file. */
  tier: Tier;
  /** Excerpts of the file that were chosen for a question; empty for a selected file. */
  excerpts?: UsedExcerpt[];
} & (
  /** A buffer that is open in the editor, including unsaved changes. */
  | {
    source: 'buffer';
    /** The editor's version of the document. */
    version: number;
    /** Whether the text is known to match the editor's. */
    sync: DocumentSync;
  }
  /** A file on disk. */
  | {
    source: 'disk';
    /** Time of the last modification, in milliseconds since 1970. */
    mtimeMs: number;
    /** How the bytes were converted to text; absent if they were read as they are. */
    notice?: string;
  }
  /** Content that the client provided. */
  | {
    source: 'given';
  });

/** Whether the model, or the user, sees a message. */
export type Visibility =
  /** The message is shown. */
  | 'shown'
  /** The message is stored, but neither shown nor counted. */
  | 'hidden';

/** A warning for the user. */
export interface Warning {
  /**
   * Machine-readable kind of warning: `outOfStep`, `settings`, `resume`, `store`, `watch`, `compaction`,
   * `redacted`, ...
   */
  code: string;
  /** The warning, as a sentence. */
  message: string;
  /** File that the warning is about. */
  path?: FileKey;
}

/** A file that was not selected. */
export interface WithheldFile {
  /** Path of the file. */
  path: FileKey;
  /** Why the file was not selected, as a clause. */
  reason: string;
}
