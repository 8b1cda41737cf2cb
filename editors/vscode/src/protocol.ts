// Strata's commands, notifications and requests. Generated from the Rust types by
// `UPDATE_EXPECT=1 cargo test --test architecture generated`; do not edit.

/** Commands for `workspace/executeCommand`, each with its argument and its reply. */
export interface Commands {
  /** Selects files, so that prompts contain them in full. */
  'strata.files.select': { params: FilesSelectParams; reply: FilesSelectReply };
  /** Deselects files, so that prompts contain their outlines instead of their text. */
  'strata.files.deselect': { params: FilesDeselectParams; reply: FilesDeselectReply };
  /** Replaces the selection. */
  'strata.files.set': { params: FilesSetParams; reply: FilesSetReply };
  /** Excludes files from prompts entirely. */
  'strata.files.exclude': { params: FilesExcludeParams; reply: FilesExcludeReply };
  /** Makes excluded files visible to models again. */
  'strata.files.include': { params: FilesIncludeParams; reply: FilesIncludeReply };
  /** Lists the selected and excluded files. */
  'strata.files.list': { params: FilesListParams; reply: FilesListReply };
  /** Adds client-provided text under a path. Any file on disk at that path is ignored. */
  'strata.files.add': { params: FilesAddParams; reply: FilesAddReply };
  /** Updates the selection after files are renamed. */
  'strata.files.rename': { params: FilesRenameParams; reply: FilesRenameReply };
  /** Deselects all files and removes content added by the client. Keeps exclusions. */
  'strata.files.clear': { params: FilesClearParams; reply: FilesClearReply };
  /** Finds workspace files whose paths contain the given letters in order. */
  'strata.files.find': { params: FilesFindParams; reply: FilesFindReply };
  /**
   * Reads a file, a range of its lines, or one definition: the editor's buffer if the file is open, otherwise the
   * file on disk.
   */
  'strata.files.read': { params: FilesReadParams; reply: FilesReadReply };
  /** Finds lines that match a pattern in workspace files. */
  'strata.files.grep': { params: FilesGrepParams; reply: FilesGrepReply };
  /** Lists files that changed since an earlier call: on disk, or as unsaved text in an editor. */
  'strata.files.changed': { params: FilesChangedParams; reply: FilesChangedReply };
  /** Reports whether a file is selected. */
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
  /** Includes the current document again if it is excluded, and shows a message. */
  'strata.here.include': { params: HereIncludeParams; reply: HereIncludeReply };
  /** Writes the next prompt to a file, and opens it in the editor or shows its path. */
  'strata.here.preview': { params: HerePreviewParams; reply: HerePreviewReply };
  /**
   * Asks the model in `provider.*` the question in the selected comment, or to explain the selected code. Opens the
   * complete answer in the editor.
   */
  'strata.here.ask': { params: HereAskParams; reply: HereAskReply };
  /** Shows a one-line summary of the context. */
  'strata.here.status': { params: HereStatusParams; reply: HereStatusReply };
  /** Assembles a prompt: a request body for a provider, with a report on its content. */
  'strata.prompt.assemble': { params: PromptAssembleParams; reply: PromptAssembleReply };
  /** Records the outcome of a prompt, which completes the turn. */
  'strata.prompt.record': { params: PromptRecordParams; reply: PromptRecordReply };
  /** Discards a prompt that was not sent. */
  'strata.prompt.discard': { params: PromptDiscardParams; reply: PromptDiscardReply };
  /**
   * Assembles a prompt, sends it to the model in `provider.*`, streams the answer, and records it with its usage.
   */
  'strata.prompt.send': { params: PromptSendParams; reply: PromptSendReply };
  /** Previews the next request as a document. */
  'strata.prompt.preview': { params: PromptPreviewParams; reply: PromptPreviewReply };
  /** Compares the next request with an earlier preview. */
  'strata.prompt.changes': { params: PromptChangesParams; reply: PromptChangesReply };
  /** Counts the tokens in a text. */
  'strata.prompt.estimate': { params: PromptEstimateParams; reply: PromptEstimateReply };
  /** Lists the rule files (`prompt.rules`) that apply to files, and why. */
  'strata.prompt.rules': { params: PromptRulesParams; reply: PromptRulesReply };
  /**
   * Sends a conversation that the client keeps to the model in `provider.*`, with cache breakpoints, and streams
   * the answer. Neither reads nor changes a session.
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
  /** Sets the token limit of automatic context in this session, or toggles it. */
  'strata.context.auto': { params: ContextAutoParams; reply: ContextAutoReply };
  /** Reports the layout of the next prompt and explains it. */
  'strata.tiers.report': { params: TiersReportParams; reply: TiersReportReply };
  /** Rebuilds the layout when the next prompt is assembled. */
  'strata.tiers.rebuild': { params: TiersRebuildParams; reply: TiersRebuildReply };
  /** Reports the cache policy, or sets it for the session. */
  'strata.tiers.policy': { params: TiersPolicyParams; reply: TiersPolicyReply };
  /** Explains why the last recorded prompt missed the cache. */
  'strata.tiers.explainBreak': { params: TiersExplainBreakParams; reply: TiersExplainBreakReply };
  /** Estimates the cost of a pause or of switching to another model. */
  'strata.tiers.forecast': { params: TiersForecastParams; reply: TiersForecastReply };
  /** Adds a message. */
  'strata.history.add': { params: HistoryAddParams; reply: HistoryAddReply };
  /** Adds a question and its answer. */
  'strata.history.addExchange': { params: HistoryAddExchangeParams; reply: HistoryAddExchangeReply };
  /** Returns all messages, including hidden ones. */
  'strata.history.get': { params: HistoryGetParams; reply: HistoryGetReply };
  /** Counts all messages, and the tokens of those that the model sees. */
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
  /** Imports a conversation that another program recorded. */
  'strata.history.import': { params: HistoryImportParams; reply: HistoryImportReply };
  /** Truncates a tool output, and adds it to the conversation if `callId` is given. */
  'strata.toolOutput.add': { params: ToolOutputAddParams; reply: ToolOutputAddReply };
  /** Reads more of a truncated output. */
  'strata.toolOutput.read': { params: ToolOutputReadParams; reply: ToolOutputReadReply };
  /** Records an iteration of an autonomous loop. */
  'strata.iteration.add': { params: IterationAddParams; reply: IterationAddReply };
  /** Builds the prompt for the next iteration. */
  'strata.iteration.prompt': { params: IterationPromptParams; reply: IterationPromptReply };
  /** Reports the state of the loop. */
  'strata.iteration.status': { params: IterationStatusParams; reply: IterationStatusReply };
  /** Saves a note that all sessions share. */
  'strata.memory.add': { params: MemoryAddParams; reply: MemoryAddReply };
  /** Searches notes, memory files and conversations of the workspace. */
  'strata.memory.search': { params: MemorySearchParams; reply: MemorySearchReply };
  /** Lists the notes. */
  'strata.memory.list': { params: MemoryListParams; reply: MemoryListReply };
  /** Removes a note. */
  'strata.memory.remove': { params: MemoryRemoveParams; reply: MemoryRemoveReply };
  /** Starts a session and makes it current. */
  'strata.session.new': { params: SessionNewParams; reply: SessionNewReply };
  /** Starts a session with the same selected files and makes it current. */
  'strata.session.reset': { params: SessionResetParams; reply: SessionResetReply };
  /** Lists the sessions, most recently used first. */
  'strata.session.list': { params: SessionListParams; reply: SessionListReply };
  /** Opens a stored session and makes it current. */
  'strata.session.load': { params: SessionLoadParams; reply: SessionLoadReply };
  /** Lists the tool calls of the session. */
  'strata.session.steps': { params: SessionStepsParams; reply: SessionStepsReply };
  /** Starts a session with a copy of this session's messages and makes it current. */
  'strata.session.fork': { params: SessionForkParams; reply: SessionForkReply };
  /** Renames a session. */
  'strata.session.rename': { params: SessionRenameParams; reply: SessionRenameReply };
  /** Deletes a session. */
  'strata.session.delete': { params: SessionDeleteParams; reply: SessionDeleteReply };
  /** Exports a session as text. */
  'strata.session.export': { params: SessionExportParams; reply: SessionExportReply };
  /** Creates a session from the output of `strata.session.export` or another program's recording. */
  'strata.session.import': { params: SessionImportParams; reply: SessionImportReply };
  /** Adds a web page that the client fetched. */
  'strata.url.add': { params: UrlAddParams; reply: UrlAddReply };
  /** Removes a web page. */
  'strata.url.remove': { params: UrlRemoveParams; reply: UrlRemoveReply };
  /** Lists the web pages in the context. */
  'strata.url.list': { params: UrlListParams; reply: UrlListReply };
  /** Reports the tokens of the next request, excluding the user's new message. */
  'strata.budget.report': { params: BudgetReportParams; reply: BudgetReportReply };
  /** Sets the maximum input tokens of each request in the session. */
  'strata.budget.set': { params: BudgetSetParams; reply: BudgetSetReply };
  /** Reports what the conversations of the workspace were billed, in tokens and money. */
  'strata.cost.report': { params: CostReportParams; reply: CostReportReply };
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
  /** Replaces placeholders with the secrets they stand for, so that the text can be written to a file. */
  'strata.redaction.restore': { params: RedactionRestoreParams; reply: RedactionRestoreReply };
  /** Builds the symbol map. */
  'strata.symbols.map': { params: SymbolsMapParams; reply: SymbolsMapReply };
  /** Outlines a file, with line numbers. */
  'strata.symbols.file': { params: SymbolsFileParams; reply: SymbolsFileReply };
  /** Finds references to a name. */
  'strata.symbols.references': { params: SymbolsReferencesParams; reply: SymbolsReferencesReply };
  /** Reports a file's dependencies and dependents. */
  'strata.symbols.dependents': { params: SymbolsDependentsParams; reply: SymbolsDependentsReply };
  /** Finds definitions whose names contain the given letters in order. */
  'strata.symbols.find': { params: SymbolsFindParams; reply: SymbolsFindReply };
  /** Finds the code that is relevant to a task, ranked as for prompts. */
  'strata.symbols.relevant': { params: SymbolsRelevantParams; reply: SymbolsRelevantReply };
  /** Makes one text of files and outlines, for pasting into a chat. */
  'strata.pack.make': { params: PackMakeParams; reply: PackMakeReply };
  /** Reports the state of the server. */
  'strata.server.status': { params: ServerStatusParams; reply: ServerStatusReply };
  /** Scans and outlines the repository again. */
  'strata.server.reindex': { params: ServerReindexParams; reply: ServerReindexReply };
  /** Reports the effective settings. */
  'strata.server.settings': { params: ServerSettingsParams; reply: ServerSettingsReply };
  /** Lists the models and their properties. */
  'strata.server.models': { params: ServerModelsParams; reply: ServerModelsReply };
}

/** Notifications from the server. */
export interface Notifications {
  /** How full the context is and how much of it is cached. Sent at most four times a second. */
  'strata/status': Status;
  /** A compaction started, ended or failed. */
  'strata/compaction': Compaction;
  /**
   * A piece of the answer to `strata.prompt.send` or `strata.model.send`. Pieces arrive in order, before the reply.
   */
  'strata/delta': Delta;
  /** A warning for the user. */
  'strata/warning': Warning;
}

/** Requests from the server, only to clients that list them in `initializationOptions`. */
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

/** What a number of requests were billed. */
export interface Amount {
  /** Number of requests whose usage was reported. */
  requests: number;
  /** Billed tokens by kind. */
  usage: Usage;
  /** Cost of the input, in tokens of plain input. */
  cost: number;
  /** Cost of input and output in US dollars, without the requests of unknown price. */
  dollars: number;
  /** Number of requests to models of unknown price. */
  unpriced: number;
}

/** When to archive results beyond `tool_output.cutoff`. */
export type ArchivalMode =
  /** Archives immediately. */
  | 'eager'
  /** Archives as soon as the savings exceed the cost of rewriting the cache. */
  | 'cache_aware';

/** How a summary was written: by a model that the client ran, by a provider's model, or without a model. */
export type AuthorKind =
  /** The client ran the model (`strata/summarize`). */
  | 'client'
  /** Strata called a provider's model over HTTP. */
  | 'http'
  /** No model was used. The summary was extracted from the conversation. */
  | 'extractive';

/** A finished request body. */
export type Body =
  /** A JSON body, ready to POST once the client adds model parameters. */
  | Record<string, unknown>
  /** A text to read or paste. */
  | string;

/** How to return the request body. */
export type BodyAs =
  /** As a JSON object. */
  | 'json'
  /** As a string with the exact text to POST, for clients that would reorder the fields of an object. */
  | 'text';

/** Why the prefix that a prompt shares with the previous one ended. */
export type BreakReason =
  /** The prompt is the session's first one. */
  | 'first'
  /** Nothing broke: the previous prompt is a prefix of this prompt. */
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
  /** Tokens of the prompt up to the breakpoint. */
  prefixTokens: number;
}

/** Model and token limit of the request to report on, if they differ from those of the next request. */
export interface BudgetReportParams {
  /** Model of the request. Defaults to the model of the last prompt, or else to the setting `model`. */
  model?: string | null;
  /**
   * Maximum input tokens that the client allows. Defaults to the limit of the last prompt. The model's window and
   * the session's own limit apply as well.
   */
  maxInputTokens?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply to `budget.report`. All sizes are in tokens. */
export interface BudgetReportReply {
  /** Model that the budget applies to. */
  model: string;
  /** Tokens of the conversation. */
  historyTokens: number;
  /**
   * A sixteenth of the input window, as a guideline for the length of the conversation. It is not enforced
   * (`docs/prompt.md`, "Budgets").
   */
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
  /** `used` as a percentage of the input window, rounded to one decimal. */
  percent: number;
  /** Whether the conversation should be compacted. */
  needsSummary: boolean;
  /** Tokens of each part. They add up to `used`. */
  parts: Record<string, number>;
  /** Files whose text is in the request. */
  files: UsedFile[];
  /** Selected files that do not fit, largest first. */
  shed: FileKey[];
  /** Billed usage of the session so far. */
  totals: Totals;
  /** What the billed requests would have cost under other conditions; absent if no bill was reported. */
  comparison?: CostComparison;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Token limit to set for the session. */
export interface BudgetSetParams {
  /**
   * Maximum input tokens of each request. If absent, the session's own limit is removed and the model's window
   * applies.
   */
  maxInputTokens?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The token limit that now applies to requests in the session. */
export interface BudgetSetReply {
  /**
   * Token limit for a request: the input window minus the reserve for the answer and the margin for estimation
   * error.
   */
  limit: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** How the model's input window is divided. */
export interface BudgetSettings {
  /**
   * Tokens of the input window to reserve for the answer. Defaults to the model's maximum output, but at most a
   * sixteenth of the window.
   */
  output_reserve: number | null;
}

/** How the model's input window is divided. */
export interface BudgetSettingsInput {
  /**
   * Tokens of the input window to reserve for the answer. Defaults to the model's maximum output, but at most a
   * sixteenth of the window.
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
  mode?: CacheKindInput | null;
  /** Minimum tokens of a cached prefix. */
  min_tokens?: number | null;
  /** Price of a token read from the cache, as a multiple of the price of plain input. */
  read?: number | null;
  /** Possible lifetimes of cache entries, shortest first. */
  lifetimes?: CacheLifetime[] | null;
}

/** How the end of a cached prefix is determined. */
export type CacheKind =
  /** Markers in the request end the cached prefixes. */
  | {
    kind: 'explicit';
    /** Maximum number of markers in one request that write a cache entry. */
    max_breakpoints: number;
    /**
     * Maximum number of markers in one request, if only the last `max_breakpoints` of them write an entry and the
     * others are only compared with existing entries. 0 if all markers write.
     */
    max_matched: number;
    /** Number of blocks, including its own, in which a marker looks for a cache entry. */
    lookback: number;
  }
  /** The provider caches every prefix and reads the longest known one. */
  | {
    kind: 'automatic';
    /** Step, in tokens, to which the length of a cached prefix is rounded down. */
    granularity: number;
  }
  /** The provider does not cache. */
  | {
    kind: 'none';
  };

/** How the end of a cached prefix is determined. */
export type CacheKindInput =
  /** Markers in the request end the cached prefixes. */
  | {
    kind: 'explicit';
    /** Maximum number of markers in one request that write a cache entry. */
    max_breakpoints: number;
    /**
     * Maximum number of markers in one request, if only the last `max_breakpoints` of them write an entry and the
     * others are only compared with existing entries. 0 if all markers write.
     */
    max_matched?: number;
    /** Number of blocks, including its own, in which a marker looks for a cache entry. */
    lookback: number;
  }
  /** The provider caches every prefix and reads the longest known one. */
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

/** Layout of prompts for the provider's prompt cache. */
export interface CacheSettings {
  /**
   * Layout policy: how prompts are ordered and where cache breakpoints go. Defaults to `ledger` for models whose
   * provider caches prompts, and to `flat` for all others.
   */
  policy: PolicyName | null;
  /**
   * Cache lifetime to request from the provider. `1h` keeps the cache through longer pauses, but the provider may
   * charge more for writing to it. `auto` chooses the lifetime that is expected to cost less for each breakpoint,
   * given the pauses of the session so far.
   */
  ttl: CacheTtl;
  /**
   * Whether to append a diff to the prompt when a cached file changes. If off, Strata rewrites the prompt from that
   * file on, which nearly doubles the input cost.
   */
  deltas: boolean;
  /**
   * Whether to omit the diff of a changed file if the model's own messages already contain exactly that edit. The
   * prompt then says that the edit was applied. If off, every change is shown as a diff, so the model does not have
   * to apply its own edits to know the current text, but prompts are longer. In replays of Git histories, input
   * costs 0.27 of its price without a cache if on, and 0.31 if off.
   */
  history_deltas: boolean;
}

/** Layout of prompts for the provider's prompt cache. */
export interface CacheSettingsInput {
  /**
   * Layout policy: how prompts are ordered and where cache breakpoints go. Defaults to `ledger` for models whose
   * provider caches prompts, and to `flat` for all others.
   */
  policy?: PolicyName | null;
  /**
   * Cache lifetime to request from the provider. `1h` keeps the cache through longer pauses, but the provider may
   * charge more for writing to it. `auto` chooses the lifetime that is expected to cost less for each breakpoint,
   * given the pauses of the session so far.
   */
  ttl?: CacheTtl;
  /**
   * Whether to append a diff to the prompt when a cached file changes. If off, Strata rewrites the prompt from that
   * file on, which nearly doubles the input cost.
   */
  deltas?: boolean;
  /**
   * Whether to omit the diff of a changed file if the model's own messages already contain exactly that edit. The
   * prompt then says that the edit was applied. If off, every change is shown as a diff, so the model does not have
   * to apply its own edits to know the current text, but prompts are longer. In replays of Git histories, input
   * costs 0.27 of its price without a cache if on, and 0.31 if off.
   */
  history_deltas?: boolean;
}

/** A reported cache read that is clearly smaller than expected. */
export interface CacheShortfall {
  /** Number of tokens expected to be read from the cache, as counted by Strata. */
  expected: number;
  /** Number of tokens reported as read from the cache, as counted by the provider. */
  reported: number;
}

/** How the lifetimes of cache entries are chosen. */
export type CacheTtl =
  /** For each breakpoint, the lifetime that is expected to cost less. */
  | 'auto'
  /** Five minutes after the last use. */
  | '5m'
  /** One hour after the last use. */
  | '1h';

/** A file that changed. */
export interface ChangedFile {
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** What happened to the file. Only the last change counts. */
  change: FileChange;
  /** Whether an editor has unsaved text of the file. */
  unsaved: boolean;
}

/** Charge of one request. `read + written + plain` is its whole input. */
export interface Charge {
  /** Tokens read from the cache. */
  read: number;
  /** Tokens written to the cache; 0 if writes cost nothing extra. */
  written: number;
  /** Tokens of `written` whose entries live for an hour, if `cache.ttl` is `auto`. */
  writtenExtended: number;
  /** Tokens neither read from nor written to the cache. */
  plain: number;
  /** Total price, in tokens of plain input. */
  cost: number;
}

/** How a session treats a file. */
export type Choice =
  /** The whole file or its selected lines are shown. */
  | 'selected'
  /** Only the file's map block is shown. */
  | 'deselected'
  /** The file is not shown at all. */
  | 'excluded';

/** The state of a compaction. Sent to clients as `strata/compaction`, and returned by `strata.compaction.run`. */
export interface Compaction {
  /** Whether the compaction has started, ended or failed. */
  state: CompactionState;
  /** Id of the session being compacted. */
  session: string;
  /** Name of the compaction profile. */
  profile: string;
  /** Why the conversation is compacted. */
  reason: CompactionReason;
  /** How the conversation was shortened. Absent until the compaction has ended. */
  strategy?: CompactionStrategy;
  /** Size of the conversation before the compaction. Absent if unknown, such as when the compaction failed. */
  before?: ConversationSize;
  /** Size of the conversation after the compaction. Absent until the compaction has ended. */
  after?: ConversationSize;
  /** Who wrote the summary. Absent until it is written, and if the conversation was only truncated. */
  summarisedBy?: SummaryAuthor;
  /** Notes for the user, such as why no model was asked or which steps failed. */
  notes?: string[];
  /** Why the compaction failed. Absent unless it failed. */
  error?: string;
}

/** Arguments of a command that takes none. */
export interface CompactionContextLimitExceededParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The state of a compaction. Sent to clients as `strata/compaction`, and returned by `strata.compaction.run`. */
export interface CompactionContextLimitExceededReply {
  /** Whether the compaction has started, ended or failed. */
  state: CompactionState;
  /** Id of the session being compacted. */
  session: string;
  /** Name of the compaction profile. */
  profile: string;
  /** Why the conversation is compacted. */
  reason: CompactionReason;
  /** How the conversation was shortened. Absent until the compaction has ended. */
  strategy?: CompactionStrategy;
  /** Size of the conversation before the compaction. Absent if unknown, such as when the compaction failed. */
  before?: ConversationSize;
  /** Size of the conversation after the compaction. Absent until the compaction has ended. */
  after?: ConversationSize;
  /** Who wrote the summary. Absent until it is written, and if the conversation was only truncated. */
  summarisedBy?: SummaryAuthor;
  /** Notes for the user, such as why no model was asked or which steps failed. */
  notes?: string[];
  /** Why the compaction failed. Absent unless it failed. */
  error?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** When Strata checks whether a compaction is due. */
export type CompactionMoment =
  /** Checks after each turn. The next prompt may still use the uncompacted conversation. */
  | 'after_turn'
  /** Checks before each prompt is assembled. If a compaction is due, the prompt waits until it is finished. */
  | 'before_assembling'
  /** Checks after each turn, because every turn counts as an iteration. */
  | 'on_iteration';

/** Why a conversation is compacted. */
export type CompactionReason =
  /** The user or the client requested the compaction. */
  | {
    kind: 'asked';
  }
  /** The conversation reached a threshold of the profile. */
  | {
    kind: 'due';
  } & TriggerReading
  /** The provider rejected a prompt as too long. */
  | {
    kind: 'context_limit';
  };

/** The compaction to run. */
export interface CompactionRunParams {
  /** Name of the compaction profile. Defaults to the setting `compaction.profile`. */
  profile?: string | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The state of a compaction. Sent to clients as `strata/compaction`, and returned by `strata.compaction.run`. */
export interface CompactionRunReply {
  /** Whether the compaction has started, ended or failed. */
  state: CompactionState;
  /** Id of the session being compacted. */
  session: string;
  /** Name of the compaction profile. */
  profile: string;
  /** Why the conversation is compacted. */
  reason: CompactionReason;
  /** How the conversation was shortened. Absent until the compaction has ended. */
  strategy?: CompactionStrategy;
  /** Size of the conversation before the compaction. Absent if unknown, such as when the compaction failed. */
  before?: ConversationSize;
  /** Size of the conversation after the compaction. Absent until the compaction has ended. */
  after?: ConversationSize;
  /** Who wrote the summary. Absent until it is written, and if the conversation was only truncated. */
  summarisedBy?: SummaryAuthor;
  /** Notes for the user, such as why no model was asked or which steps failed. */
  notes?: string[];
  /** Why the compaction failed. Absent unless it failed. */
  error?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Settings for compacting conversations. */
export interface CompactionSettings {
  /**
   * Whether to check if a compaction is due. If off, conversations are compacted only on request, or when the model
   * rejects a prompt as too long.
   */
  enabled: boolean;
  /**
   * Whether to compact automatically when a compaction is due. If off, Strata only reports that one is due
   * (`strata.compaction.status`).
   */
  auto: boolean;
  /**
   * Compaction profile, which decides when to compact, what to keep, and what the summary looks like: `topic`,
   * `continuation`, `checkpoint`, `rolling`, `handoff`, or one that you define in `compaction.profiles`.
   */
  profile: string;
  /** Profiles of your own, and overrides for the built-in ones, keyed by profile name. */
  profiles: Record<string, ProfileOptions>;
  /**
   * What writes summaries. By default, your editor's model if the editor offers one, else the provider of
   * `compaction.model`, else fixed rules without a model.
   */
  summariser: SummariserKind;
  /**
   * Model that writes summaries, by the name its provider uses. A prefix such as `ollama/` selects the provider.
   */
  model: string | null;
  /**
   * Model that finds topic changes for the `topic` profile. If unset, the profile always summarizes instead of
   * cutting where the topic changed.
   */
  detection_model: string | null;
  /**
   * Base URL of the provider that writes summaries, for a gateway, a proxy or your own server. Must be `https:`, or
   * `http:` for a server on this machine. Defaults to the provider's public address.
   */
  base_url: string | null;
  /**
   * Environment variable that contains the key for `compaction.model`. Its name must end in `_API_KEY`, `_TOKEN` or
   * `_KEY`. Defaults to the provider's usual variable, such as `ANTHROPIC_API_KEY`.
   */
  key_env: KeyVariable | null;
  /**
   * Maximum time for an answer from the model that writes summaries, in seconds. After that, Strata summarizes
   * without a model.
   */
  timeout_s: number;
}

/** Settings for compacting conversations. */
export interface CompactionSettingsInput {
  /**
   * Whether to check if a compaction is due. If off, conversations are compacted only on request, or when the model
   * rejects a prompt as too long.
   */
  enabled?: boolean;
  /**
   * Whether to compact automatically when a compaction is due. If off, Strata only reports that one is due
   * (`strata.compaction.status`).
   */
  auto?: boolean;
  /**
   * Compaction profile, which decides when to compact, what to keep, and what the summary looks like: `topic`,
   * `continuation`, `checkpoint`, `rolling`, `handoff`, or one that you define in `compaction.profiles`.
   */
  profile?: string;
  /** Profiles of your own, and overrides for the built-in ones, keyed by profile name. */
  profiles?: Record<string, ProfileOptionsInput>;
  /**
   * What writes summaries. By default, your editor's model if the editor offers one, else the provider of
   * `compaction.model`, else fixed rules without a model.
   */
  summariser?: SummariserKind;
  /**
   * Model that writes summaries, by the name its provider uses. A prefix such as `ollama/` selects the provider.
   */
  model?: string | null;
  /**
   * Model that finds topic changes for the `topic` profile. If unset, the profile always summarizes instead of
   * cutting where the topic changed.
   */
  detection_model?: string | null;
  /**
   * Base URL of the provider that writes summaries, for a gateway, a proxy or your own server. Must be `https:`, or
   * `http:` for a server on this machine. Defaults to the provider's public address.
   */
  base_url?: string | null;
  /**
   * Environment variable that contains the key for `compaction.model`. Its name must end in `_API_KEY`, `_TOKEN` or
   * `_KEY`. Defaults to the provider's usual variable, such as `ANTHROPIC_API_KEY`.
   */
  key_env?: KeyVariable | null;
  /**
   * Maximum time for an answer from the model that writes summaries, in seconds. After that, Strata summarizes
   * without a model.
   */
  timeout_s?: number;
}

/** The progress of a compaction. */
export type CompactionState =
  /** The compaction has started. */
  | 'started'
  /** The conversation has been compacted. */
  | 'ended'
  /** The compaction failed. The conversation is unchanged. */
  | 'failed';

/** Model and token limit of the request to report on, if they differ from those of the next request. */
export interface CompactionStatusParams {
  /** Model of the request. Defaults to the model of the last prompt, or else to the setting `model`. */
  model?: string | null;
  /**
   * Maximum input tokens that the client allows. Defaults to the limit of the last prompt. The model's window and
   * the session's own limit apply as well.
   */
  maxInputTokens?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Reply to `compaction.status`. */
export interface CompactionStatusReply {
  /** Whether compaction is enabled (`compaction.enabled`). */
  enabled: boolean;
  /** Name of the active profile. */
  profile: string;
  /** Quantity measured by the condition that is closest to being met. Absent if the profile has no condition. */
  measured?: TriggerMetric;
  /**
   * Current value of the quantity in `measured`, or the tokens of the conversation if the profile has no condition.
   */
  tokens: number;
  /** Limit of the quantity in `measured`; 0 if the profile has no condition. */
  threshold: number;
  /** `tokens` as a percentage of `threshold`, rounded to one decimal. */
  percent: number;
  /** Difference between `threshold` and `tokens`; 0 when a compaction is due. */
  distance: number;
  /**
   * Token limit for a request: the input window minus a reserve for the answer and for estimation errors. Absent if
   * there is no limit.
   */
  limit?: number;
  /** Whether compaction is enabled and a condition is met. */
  due: boolean;
  /** Which condition makes a compaction due, or why none is due. */
  why: string;
  /** Whether a compaction is running. */
  running: boolean;
  /** All conditions with their current values. */
  conditions: TriggerReading[];
  /** The last compaction that was committed and not undone. */
  last?: LastCompaction;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** How a compaction shortened a conversation. */
export type CompactionStrategy =
  /** The conversation was cut at the last topic change, without a summary. */
  | 'topic_cut'
  /** A model summarized the older messages. */
  | 'model'
  /** The older messages were replaced with a summary extracted without a model. */
  | 'extractive'
  /** The oldest exchanges were dropped. */
  | 'truncated';

/** Arguments of a command that takes none. */
export interface CompactionUndoParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The compaction that was undone. */
export interface CompactionUndoReply {
  /** Name of the profile that the compaction used. */
  profile: string;
  /** Size of the conversation before the undo. */
  before: ConversationSize;
  /** Number of messages that the model sees after the undo. */
  messages: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A cost that is compared with others. */
export interface ComparedCost {
  /** Cost of the input, in tokens of uncached input. */
  cost: number;
  /** Cost of input and output in US dollars; absent if the price of a model is unknown. */
  dollars?: number;
  /** `cost` as a fraction of the cost without a cache. */
  share: number;
}

/** How certain it is that a reference refers to the definition. */
export type Confidence =
  /** Only the name matches; the type of the value is unknown. */
  | 'guess'
  /** Scopes, imports or types lead from the reference to the definition. */
  | 'certain';

/** Content of a message: a string or a list of blocks. */
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
    /** Width in pixels, if known. If the size is unknown, the token estimate is a constant. */
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
    /** Id of the call that the result answers. */
    callId: string;
    /** Parts of the tool's output. */
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
    /** Width in pixels, if known. If the size is unknown, the token estimate is a constant. */
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
    /** Id of the call that the result answers. */
    callId: string;
    /** Parts of the tool's output. */
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

/** Token limit of automatic context to set for this session. */
export interface ContextAutoParams {
  /**
   * Token limit for code to add to each question. 0 turns automatic context off. If absent, automatic context is
   * turned off if it is on, and otherwise set to the setting `context.auto_budget`, or to 6,000 tokens if that is
   * 0.
   */
  budget?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The new token limit of automatic context. */
export interface ContextAutoReply {
  /** Token limit for code to add to each question. 0 means that automatic context is off. */
  budget: number;
  /** The new limit, as a sentence for the user. */
  message: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Excerpts that a command applies to. */
export interface ContextDismissParams {
  /**
   * Definitions (`src/a.py#Session.send`) or lines (`src/a.py#L10-40`), named as in the reply to
   * `strata.prompt.assemble`.
   */
  excerpts: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The excerpts that a command changed. */
export interface ContextDismissReply {
  /** Names of the changed excerpts. */
  changed: ExcerptKey[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The context frame: a list of names relevant to the question, placed after it. */
export interface ContextFrameSettings {
  /**
   * Whether to add a context frame to each prompt: the names and lines of the definitions most relevant to the
   * question.
   */
  inject: boolean;
  /**
   * Whether to rank items higher if they relate to open or selected files. If on, `top_k` limits the number of
   * items.
   */
  rerank: boolean;
  /** Maximum number of items if `rerank` is on. */
  top_k: number;
  /** Minimum score of an item, from 0 to 1. The best match scores 1. Lower this to include weaker matches. */
  min_score: number;
  /** Maximum number of items. If `rerank` is on, `top_k` applies too, and the smaller limit counts. */
  max_items: number;
}

/** The context frame: a list of names relevant to the question, placed after it. */
export interface ContextFrameSettingsInput {
  /**
   * Whether to add a context frame to each prompt: the names and lines of the definitions most relevant to the
   * question.
   */
  inject?: boolean;
  /**
   * Whether to rank items higher if they relate to open or selected files. If on, `top_k` limits the number of
   * items.
   */
  rerank?: boolean;
  /** Maximum number of items if `rerank` is on. */
  top_k?: number;
  /** Minimum score of an item, from 0 to 1. The best match scores 1. Lower this to include weaker matches. */
  min_score?: number;
  /** Maximum number of items. If `rerank` is on, `top_k` applies too, and the smaller limit counts. */
  max_items?: number;
}

/** The question to list excerpts for. */
export interface ContextListParams {
  /** Question to select excerpts for. Defaults to the last prompt. */
  prompt?: string | null;
  /**
   * Token limit for code to select. Defaults to the session's limit, or else to the setting `context.auto_budget`.
   */
  autoBudget?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The excerpts in the context of a session, and those that were dismissed. */
export interface ContextListReply {
  /** Token limit for code that could be selected for the question. 0 means that automatic context is off. */
  autoBudget: number;
  /** Pinned excerpts, then those selected for the question (best first), then those kept from earlier questions. */
  excerpts: ListedExcerpt[];
  /** Dismissed excerpts, which are not suggested again. */
  dismissed: ExcerptKey[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Excerpts that a command applies to. */
export interface ContextPinParams {
  /**
   * Definitions (`src/a.py#Session.send`) or lines (`src/a.py#L10-40`), named as in the reply to
   * `strata.prompt.assemble`.
   */
  excerpts: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The excerpts that a command changed. */
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

/** The excerpts that a command changed. */
export interface ContextRestoreReply {
  /** Names of the changed excerpts. */
  changed: ExcerptKey[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Automatically added code, indexing, and the memory of autonomous loops. */
export interface ContextSettings {
  /**
   * Token limit for relevant code that Strata adds to a request. Code that is already in the prompt counts toward
   * the limit. A report of more than 60 words gets all of it, another request two thirds, and a question that asks
   * for no change half. 0 adds none.
   */
  auto_budget: number;
  /**
   * Maximum time that a command waits for the index, in milliseconds. After that, a prompt is built with an
   * incomplete symbol map and a warning, and other commands fail because the index is not ready.
   */
  index_wait_ms: number;
  /** Number of recent iterations of an autonomous loop to keep verbatim. Older iterations are summarized. */
  raw_window_size: number;
  /** Number of iterations of an autonomous loop after which its summary is rewritten. 0 never rewrites it. */
  summarize_every: number;
  /** Token limit for an autonomous loop's summary. */
  max_summary_tokens: number;
}

/** Automatically added code, indexing, and the memory of autonomous loops. */
export interface ContextSettingsInput {
  /**
   * Token limit for relevant code that Strata adds to a request. Code that is already in the prompt counts toward
   * the limit. A report of more than 60 words gets all of it, another request two thirds, and a question that asks
   * for no change half. 0 adds none.
   */
  auto_budget?: number;
  /**
   * Maximum time that a command waits for the index, in milliseconds. After that, a prompt is built with an
   * incomplete symbol map and a warning, and other commands fail because the index is not ready.
   */
  index_wait_ms?: number;
  /** Number of recent iterations of an autonomous loop to keep verbatim. Older iterations are summarized. */
  raw_window_size?: number;
  /** Number of iterations of an autonomous loop after which its summary is rewritten. 0 never rewrites it. */
  summarize_every?: number;
  /** Token limit for an autonomous loop's summary. */
  max_summary_tokens?: number;
}

/** Excerpts that a command applies to. */
export interface ContextUnpinParams {
  /**
   * Definitions (`src/a.py#Session.send`) or lines (`src/a.py#L10-40`), named as in the reply to
   * `strata.prompt.assemble`.
   */
  excerpts: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The excerpts that a command changed. */
export interface ContextUnpinReply {
  /** Names of the changed excerpts. */
  changed: ExcerptKey[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Format of an imported conversation. */
export type ConversationForm =
  /** JSON Lines recorded by Claude Code. */
  | 'claude_code'
  /** JSON Lines recorded by Codex. */
  | 'codex'
  /** A session recorded by Gemini CLI. */
  | 'gemini_cli'
  /** An export of opencode. */
  | 'opencode'
  /** Aider's chat history in Markdown. */
  | 'aider'
  /** ChatGPT's export of conversations, of which the one updated last is imported. */
  | 'chatgpt'
  /** Messages of Anthropic's Messages API. */
  | 'anthropic'
  /** Messages of OpenAI's Chat Completions API. */
  | 'openai'
  /** Items of OpenAI's Responses API. */
  | 'openai_responses'
  /** Strata's own format: a list or JSON Lines, where each item is a `NewMessage` or a `Message`. */
  | 'strata';

/** Number and total tokens of the messages that the model sees. */
export interface ConversationSize {
  /** Number of messages. */
  messages: number;
  /** Total tokens of the messages. */
  tokens: number;
}

/** What the billed requests of a session would have cost under other conditions, with the same prompts. */
export interface CostComparison {
  /** Number of compared requests: those that were recorded with the billed usage. */
  requests: number;
  /**
   * As the requests were sent, as Strata computes it. About what was billed, unless the provider's cache lost
   * entries.
   */
  actual: ComparedCost;
  /** If each request had followed the previous one immediately. */
  withoutPauses: ComparedCost;
  /** If the provider had no cache. */
  withoutCache: ComparedCost;
  /**
   * If all cache entries had the same lifetime, for each lifetime that `cache.ttl` can choose for the model,
   * shortest first. Empty if there is no choice.
   */
  lifetimes: LifetimeCost[];
}

/** A part of the costs. */
export interface CostEntry {
  /** Id of the conversation. */
  session?: string;
  /** Name or beginning of the conversation. */
  about?: string;
  /** Model that answered. */
  model?: string;
  /** Beginning of the day, in milliseconds since 1970. */
  dayMs?: number;
  /** Number of requests whose usage was reported. */
  requests: number;
  /** Billed tokens by kind. */
  usage: Usage;
  /** Cost of the input, in tokens of plain input. */
  cost: number;
  /** Cost of input and output in US dollars, without the requests of unknown price. */
  dollars: number;
  /** Number of requests to models of unknown price. */
  unpriced: number;
}

/** How to group costs. */
export type CostGrouping =
  /** One entry for each conversation, most recently used first. */
  | 'session'
  /** One entry for each model, by name. */
  | 'model'
  /** One entry for each day, oldest first. */
  | 'day';

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
  /** Charge for the next turn if the cache has expired by then. */
  nextTooLate: Charge;
}

/** Which costs to report. */
export interface CostReportParams {
  /**
   * Omit days that ended before this time, in milliseconds since 1970. Days are those of UTC. By default, all days
   * count.
   */
  sinceMs?: number | null;
  /** What to add costs up by. Defaults to `session`. */
  by?: CostGrouping;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/**
 * What the stored and open conversations of the workspace were billed. Does not include summaries that a provider
 * wrote, nor conversations that were deleted.
 */
export interface CostReportReply {
  /** Costs, added up as requested. */
  entries: CostEntry[];
  /** Sum of all entries. */
  total: Amount;
  /** Source and date of the prices. */
  prices: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A request to count the tokens in the body of a model request. */
export interface CountTokens {
  /** Model of the request, by its name in the model table. */
  model: string;
  /** Format of `body`. */
  format: Format;
  /** Request body whose tokens to count. */
  body: unknown;
}

/** How much of the repository a prompt shows. */
export interface Coverage {
  /** Number of files with a map block. */
  blocks: number;
  /** Number of files that the repository file list names. */
  names: number;
  /** Number of files that the repository file list covers only by the name of their directory. */
  directories: number;
  /** Token limit for all map blocks together. */
  mapBudget: number;
}

/** What decided the choice of a layout policy. */
export type DecidedBy =
  /**
   * Indexing is in progress. Until it is complete, the policy is `flat`, because filled tiers would soon be
   * rewritten.
   */
  | 'indexing'
  /** The policy that the request asked for. */
  | 'request'
  /** The policy set for the session. */
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
  /** Name that the client chose for the stream. */
  stream: string;
  /** Id of the session that the answer belongs to. */
  session: string;
  /**
   * Next piece of text. With `redaction.show_secrets`, known secrets are restored in answers of
   * `strata.prompt.send`.
   */
  text?: string;
  /** Next piece of reasoning, if the provider shows it. Secrets as in `text`. */
  thinking?: string;
  /**
   * Tool call that the model made. Known secrets are restored only in answers of `strata.model.send`, and only in
   * calls of the tools in `redaction.edit_tools`.
   */
  toolCall?: DeltaToolCall;
  /** Result of a tool call. */
  toolResult?: DeltaToolResult;
  /** Note for the user, as a sentence. For example, the prompt was too long and is sent again. */
  notice?: string;
}

/** A tool call that the model made. */
export interface DeltaToolCall {
  /** Id of the call in the conversation. */
  id: string;
  /** Name of the tool. */
  name: string;
  /** Arguments of the call. */
  input: unknown;
}

/** The result of a tool call that the model made. */
export interface DeltaToolResult {
  /** Id of the call in the conversation. */
  id: string;
  /** Name of the tool. */
  name: string;
  /** Whether the call succeeded or failed. */
  outcome: ToolOutcome;
  /** Result that the model receives, truncated to 2,000 characters. */
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
    /** The first problem since the text last matched the editor's. */
    reason: OutOfStep;
  };

/** The work done by an index run. Files with a stored outline need not be read or parsed. */
export interface Efforts {
  /** Number of files that were read. */
  read: number;
  /** Number of files that were parsed, a subset of those read. */
  parsed: number;
}

/**
 * Id of an excerpt: a definition (`src/a.py#Session.send`, `src/a.py#Session.send~2` for the second with that name)
 * or lines (`src/a.py#L10-40`).
 */
export type ExcerptKey = string;

/** The main reason for choosing an excerpt. */
export type ExcerptReason =
  /** A stack trace in the question points at the excerpt. */
  | 'trace'
  /** The question spells the name of a definition in the excerpt. */
  | 'defines'
  /** The question names the excerpt's file. */
  | 'named'
  /** More relevant code mentions a definition in the excerpt. */
  | 'called'
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
  /**
   * The excerpt is relevant only to an earlier question, or its file no longer contains it. It stays only as long
   * as its part of the prompt is not rewritten.
   */
  | 'lingering';

/** The expected bill of a request. */
export interface Expected {
  /** Number of input tokens expected to be billed. */
  tokens: number;
  /** Error bound, in tokens: nine of ten bills differ from `tokens` by at most this much. */
  error: number;
}

/** Format of an exported conversation. */
export type ExportFormat =
  /** Strata's own format: JSON Lines with one message per line, including all metadata. */
  | 'jsonl'
  /** The messages that the model sees, as an Anthropic request body. */
  | 'anthropic'
  /** The messages that the model sees, as an OpenAI request body. */
  | 'openai'
  /** The messages that the model sees, as Markdown. */
  | 'markdown'
  /** The messages that the model sees, as a transcript of Claude Code. */
  | 'claude_code'
  /** The messages that the model sees, as a rollout file of Codex. */
  | 'codex'
  /** The messages that the model sees, as a session of Gemini CLI. */
  | 'gemini_cli'
  /** The messages that the model sees, as an export of opencode. */
  | 'opencode';

/** The extra cost that a pause or a model switch adds to the next prompt. */
export interface ExtraCost {
  /** Extra cost, in tokens of uncached input. */
  cost: number;
  /** Extra cost as a fraction of the cost of sending the whole next prompt without a cache. */
  share: number;
}

/** What happened to a file. */
export type FileChange = 'created' | 'changed' | 'deleted';

/** Kind of change to a file. */
export type FileChangeInput =
  /** The file was created. */
  | 'created'
  /** The content of the file was changed. */
  | 'modified'
  /** The file was deleted. */
  | 'deleted';

/** A change that was made to a file while the loop was running. */
export interface FileEvent {
  /** Time of the change, in milliseconds since 1970. Defaults to the current time. */
  timeMs?: number;
  /** Path of the changed file. */
  path: string;
  /** Kind of change. */
  change: FileChangeInput;
}

/**
 * Name of a file: its path relative to its root with `/` as separator (`src/lib.rs`), preceded by the root's name
 * if there are several roots (`web/src/app.ts`), or `untitled:{name}` for a buffer that was never saved. Ordered by
 * bytes.
 */
export type FileKey = string;

/** A file with matching lines. */
export interface FileMatches {
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** Matching lines and their context lines, in file order. */
  lines: MatchingLine[];
}

/** Limits on selected files, and on the list of files that are not in the symbol map. */
export interface FileSettings {
  /** Maximum size of a file or web page in the context, in bytes. */
  max_bytes: number;
  /**
   * Token limit for the list of files that are not in the symbol map. Directories are collapsed to stay within it.
   * 0 omits the list.
   */
  list_budget: number;
}

/** Limits on selected files, and on the list of files that are not in the symbol map. */
export interface FileSettingsInput {
  /** Maximum size of a file or web page in the context, in bytes. */
  max_bytes?: number;
  /**
   * Token limit for the list of files that are not in the symbol map. Directories are collapsed to stay within it.
   * 0 omits the list.
   */
  list_budget?: number;
}

/** A path, and the content that prompts show for it. */
export interface FilesAddParams {
  /** Path to show the content under. The file need not exist on disk. */
  path: string;
  /** Text to show in prompts, at most `files.max_bytes` bytes. Must not be binary. */
  content: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The effect of a command on the selection. */
export interface FilesAddReply {
  /** Files that the command applied to, sorted by path. */
  changed: FileKey[];
  /**
   * Files in a directory or matched by a glob that were not selected, because they must be confirmed or named
   * explicitly.
   */
  withheld: WithheldFile[];
  /** What differs from the request, as sentences: lines that a file does not have. */
  notes?: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The state to compare with. */
export interface FilesChangedParams {
  /** `state` of an earlier reply. Without it, the reply only has the current `state`. */
  since?: string | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Files that changed, and the current state. */
export interface FilesChangedReply {
  /** The current state of all files. Valid as `since` until the server ends. */
  state: string;
  /** Files that changed since `since`, sorted by path. */
  files: ChangedFile[];
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

/** Files that a command applies to. */
export interface FilesDeselectParams {
  /**
   * Files, directories, globs, or parts of a file (`src/lib.rs#L10-40`). Only commands that select files accept
   * parts.
   */
  paths: string[];
  /** Files to select although their names suggest secrets. Their content is not redacted. Defaults to none. */
  confirmSecrets?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The effect of a command on the selection. */
export interface FilesDeselectReply {
  /** Files that the command applied to, sorted by path. */
  changed: FileKey[];
  /**
   * Files in a directory or matched by a glob that were not selected, because they must be confirmed or named
   * explicitly.
   */
  withheld: WithheldFile[];
  /** What differs from the request, as sentences: lines that a file does not have. */
  notes?: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Files that a command applies to. */
export interface FilesExcludeParams {
  /**
   * Files, directories, globs, or parts of a file (`src/lib.rs#L10-40`). Only commands that select files accept
   * parts.
   */
  paths: string[];
  /** Files to select although their names suggest secrets. Their content is not redacted. Defaults to none. */
  confirmSecrets?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The effect of a command on the selection. */
export interface FilesExcludeReply {
  /** Files that the command applied to, sorted by path. */
  changed: FileKey[];
  /**
   * Files in a directory or matched by a glob that were not selected, because they must be confirmed or named
   * explicitly.
   */
  withheld: WithheldFile[];
  /** What differs from the request, as sentences: lines that a file does not have. */
  notes?: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A search for workspace files by their paths. */
export interface FilesFindParams {
  /** Letters of a path, in order. Defaults to an empty string, which matches every path. */
  query?: string;
  /** Maximum number of files. Defaults to 50. */
  limit?: number;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The files that match a query. */
export interface FilesFindReply {
  /** Matching files, closest match first. Sorted by path if the query is empty. */
  files: FoundFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A pattern, and the files to search for it. */
export interface FilesGrepParams {
  /** Regular expression, matched within each line. Has the syntax of ripgrep. */
  pattern: string;
  /** Files, directories or globs to search. Defaults to the whole workspace. */
  paths?: string[];
  /** Whether to match the pattern literally. Defaults to `false`. */
  literal?: boolean;
  /** Whether to ignore case. Defaults to `false`. */
  ignoreCase?: boolean;
  /** Whether to match whole words only. Defaults to `false`. */
  words?: boolean;
  /** Number of lines to show before and after each match. At most 50; defaults to 0. */
  context?: number;
  /** Maximum number of matching lines. Defaults to 100. */
  limit?: number;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The lines that match a pattern. */
export interface FilesGrepReply {
  /** Files with matches, sorted by path. They list at most `limit` matching lines in total. */
  files: FileMatches[];
  /** Number of matching lines, including those beyond `limit`. */
  total: number;
  /** Number of files with a matching line, including those that are not listed. */
  totalFiles: number;
  /** Number of files that were not searched, because those before them have more than 1 GiB. Absent if all were. */
  notSearched?: number;
  /**
   * Files that could not be searched, at most 20: too large, or not readable. Absent if there are none. Binary
   * files do not count.
   */
  unreadable?: UnreadableFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A single file. */
export interface FilesHasParams {
  /** Path of the file, relative to the workspace folder. */
  path: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Whether a file is selected. */
export interface FilesHasReply {
  /** Whether the file, or a range of its lines, is selected. */
  has: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Files that a command applies to. */
export interface FilesIncludeParams {
  /**
   * Files, directories, globs, or parts of a file (`src/lib.rs#L10-40`). Only commands that select files accept
   * parts.
   */
  paths: string[];
  /** Files to select although their names suggest secrets. Their content is not redacted. Defaults to none. */
  confirmSecrets?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The effect of a command on the selection. */
export interface FilesIncludeReply {
  /** Files that the command applied to, sorted by path. */
  changed: FileKey[];
  /**
   * Files in a directory or matched by a glob that were not selected, because they must be confirmed or named
   * explicitly.
   */
  withheld: WithheldFile[];
  /** What differs from the request, as sentences: lines that a file does not have. */
  notes?: string[];
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
  /** Selected and excluded files, sorted by path. */
  files: ListedFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Files that were read outside of Strata. */
export interface FilesMarkReadParams {
  /** Paths of the files, relative to the workspace folder. */
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

/** The file, lines or definition to read. */
export interface FilesReadParams {
  /**
   * Path of a file, relative to the workspace folder. May be followed by lines (`src/lib.rs#L10-40`) or the name of
   * a definition (`src/lib.rs#Type.method`).
   */
  path: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The current text of a file, or of a part of it. */
export type FilesReadReply = {
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** Qualified name of the definition. Absent unless a definition was requested. */
  definition?: string;
  /** Text of lines `from` to `to`. Contains the whole file if no part was requested. */
  text: string;
  /** First line of `text`, counted from 1. */
  from: number;
  /** Last line of `text`, inclusive. */
  to: number;
  /** Total number of lines in the file. */
  lines: number;
  /**
   * Line ranges of other definitions in the file with the same name, and of parts that do not follow the definition
   * directly.
   */
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
    /**
     * Note on how the bytes were converted to text, or that the editor may show different text. Absent if there is
     * none.
     */
    notice?: string;
    /** Why the editor may show other text; absent unless a message about the file was lost or invalid. */
    outOfStep?: OutOfStep;
  }
  /** Content that the client provided. */
  | {
    source: 'given';
  });

/** Files or directories that have been renamed. */
export interface FilesRenameParams {
  /** Renames to apply. If several match a file, the first one applies. */
  files: Rename[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of applying renames to the selection. */
export interface FilesRenameReply {
  /** Whether the session referred to a renamed file and was updated. */
  changed: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Files that a command applies to. */
export interface FilesSelectParams {
  /**
   * Files, directories, globs, or parts of a file (`src/lib.rs#L10-40`). Only commands that select files accept
   * parts.
   */
  paths: string[];
  /** Files to select although their names suggest secrets. Their content is not redacted. Defaults to none. */
  confirmSecrets?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The effect of a command on the selection. */
export interface FilesSelectReply {
  /** Files that the command applied to, sorted by path. */
  changed: FileKey[];
  /**
   * Files in a directory or matched by a glob that were not selected, because they must be confirmed or named
   * explicitly.
   */
  withheld: WithheldFile[];
  /** What differs from the request, as sentences: lines that a file does not have. */
  notes?: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Files that a command applies to. */
export interface FilesSetParams {
  /**
   * Files, directories, globs, or parts of a file (`src/lib.rs#L10-40`). Only commands that select files accept
   * parts.
   */
  paths: string[];
  /** Files to select although their names suggest secrets. Their content is not redacted. Defaults to none. */
  confirmSecrets?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The effect of a command on the selection. */
export interface FilesSetReply {
  /** Files that the command applied to, sorted by path. */
  changed: FileKey[];
  /**
   * Files in a directory or matched by a glob that were not selected, because they must be confirmed or named
   * explicitly.
   */
  withheld: WithheldFile[];
  /** What differs from the request, as sentences: lines that a file does not have. */
  notes?: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The outcome of an attempt to fold iterations into the summary. */
export interface Fold {
  /** Numbers of the iterations that were due to be folded into the summary. */
  iterations: number[];
  /** Who wrote the summary. */
  by: FoldedBy;
  /** Why no usable summary was written. Absent unless `by` is `nobody`. */
  problem?: string;
}

/** Who wrote the summary. */
export type FoldedBy =
  | 'model' | 'extractive'
  /**
   * No usable summary was written. Strata tries again at the next interval. If too many iterations are waiting, it
   * extracts a summary without a model instead.
   */
  | 'nobody';

/** Provider that defines the format of a block. */
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
  /** Anthropic's Messages API. */
  | 'anthropic'
  /**
   * OpenAI's Chat Completions API, which OpenRouter, LiteLLM, vLLM and many others also accept, with
   * `provider.base_url`.
   */
  | 'openai'
  /** OpenAI's Responses API. */
  | 'responses'
  /** Google's `generateContent` API. */
  | 'gemini'
  /**
   * Amazon Bedrock's Converse API. The body also contains `modelId`, which belongs in the request's URL. Strata
   * sends requests with a Bedrock API key; AWS access keys are not supported.
   */
  | 'bedrock'
  /** Cohere's v2 chat API. */
  | 'cohere'
  /** Markdown, for reading and pasting. */
  | 'markdown';

/** A workspace file, and its state in the session. */
export interface FoundFile {
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** URI of the file. Absent if no editor could open it. */
  uri?: string;
  /** Whether the file is selected, deselected or excluded in this session. */
  state: Choice;
}

/** A symbol that matches the query. */
export interface FoundSymbol {
  /** Name of the symbol. */
  name: string;
  /** Kind of the symbol. */
  kind: SymbolKind;
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** URI of the file. Absent if no editor could open it. */
  uri?: string;
  /** Line that introduces the definition. */
  head: string;
  /** Name of the enclosing definition. Absent if there is none. */
  container?: string;
  /** First line of the definition, counted from 1. */
  line?: number;
  /** Last line of the definition, inclusive. */
  endLine?: number;
}

/** Index of a custom tokenizer among those given to a `TokenCounter`. */
export type GivenId = number;

/** The document that a command applies to, and optionally a range in it. */
export interface HereAskParams {
  /** URI or path of the document. Defaults to the document that the client mentioned last. */
  uri?: string | null;
  /**
   * Range in the document, as editors report it. Only `select`, `toggle` and `ask` use it, and they ignore an empty
   * range.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The outcome of a command, as a message for the user. */
export interface HereAskReply {
  /** Message to show to the user, as a sentence. */
  message: string;
  /** Path of the file that a prompt or an answer was written to. Absent for other commands. */
  path?: string;
  /** URI of the file that a prompt or an answer was written to. Absent for other commands. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The document that a command applies to, and optionally a range in it. */
export interface HereDeselectParams {
  /** URI or path of the document. Defaults to the document that the client mentioned last. */
  uri?: string | null;
  /**
   * Range in the document, as editors report it. Only `select`, `toggle` and `ask` use it, and they ignore an empty
   * range.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The outcome of a command, as a message for the user. */
export interface HereDeselectReply {
  /** Message to show to the user, as a sentence. */
  message: string;
  /** Path of the file that a prompt or an answer was written to. Absent for other commands. */
  path?: string;
  /** URI of the file that a prompt or an answer was written to. Absent for other commands. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The document that a command applies to, and optionally a range in it. */
export interface HereExcludeParams {
  /** URI or path of the document. Defaults to the document that the client mentioned last. */
  uri?: string | null;
  /**
   * Range in the document, as editors report it. Only `select`, `toggle` and `ask` use it, and they ignore an empty
   * range.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The outcome of a command, as a message for the user. */
export interface HereExcludeReply {
  /** Message to show to the user, as a sentence. */
  message: string;
  /** Path of the file that a prompt or an answer was written to. Absent for other commands. */
  path?: string;
  /** URI of the file that a prompt or an answer was written to. Absent for other commands. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The document that a command applies to, and optionally a range in it. */
export interface HereIncludeParams {
  /** URI or path of the document. Defaults to the document that the client mentioned last. */
  uri?: string | null;
  /**
   * Range in the document, as editors report it. Only `select`, `toggle` and `ask` use it, and they ignore an empty
   * range.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The outcome of a command, as a message for the user. */
export interface HereIncludeReply {
  /** Message to show to the user, as a sentence. */
  message: string;
  /** Path of the file that a prompt or an answer was written to. Absent for other commands. */
  path?: string;
  /** URI of the file that a prompt or an answer was written to. Absent for other commands. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The document that a command applies to, and optionally a range in it. */
export interface HerePreviewParams {
  /** URI or path of the document. Defaults to the document that the client mentioned last. */
  uri?: string | null;
  /**
   * Range in the document, as editors report it. Only `select`, `toggle` and `ask` use it, and they ignore an empty
   * range.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The outcome of a command, as a message for the user. */
export interface HerePreviewReply {
  /** Message to show to the user, as a sentence. */
  message: string;
  /** Path of the file that a prompt or an answer was written to. Absent for other commands. */
  path?: string;
  /** URI of the file that a prompt or an answer was written to. Absent for other commands. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The document that a command applies to, and optionally a range in it. */
export interface HereSelectParams {
  /** URI or path of the document. Defaults to the document that the client mentioned last. */
  uri?: string | null;
  /**
   * Range in the document, as editors report it. Only `select`, `toggle` and `ask` use it, and they ignore an empty
   * range.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The outcome of a command, as a message for the user. */
export interface HereSelectReply {
  /** Message to show to the user, as a sentence. */
  message: string;
  /** Path of the file that a prompt or an answer was written to. Absent for other commands. */
  path?: string;
  /** URI of the file that a prompt or an answer was written to. Absent for other commands. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The document that a command applies to, and optionally a range in it. */
export interface HereStatusParams {
  /** URI or path of the document. Defaults to the document that the client mentioned last. */
  uri?: string | null;
  /**
   * Range in the document, as editors report it. Only `select`, `toggle` and `ask` use it, and they ignore an empty
   * range.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The outcome of a command, as a message for the user. */
export interface HereStatusReply {
  /** Message to show to the user, as a sentence. */
  message: string;
  /** Path of the file that a prompt or an answer was written to. Absent for other commands. */
  path?: string;
  /** URI of the file that a prompt or an answer was written to. Absent for other commands. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The document that a command applies to, and optionally a range in it. */
export interface HereToggleParams {
  /** URI or path of the document. Defaults to the document that the client mentioned last. */
  uri?: string | null;
  /**
   * Range in the document, as editors report it. Only `select`, `toggle` and `ask` use it, and they ignore an empty
   * range.
   */
  range?: TextRange | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The outcome of a command, as a message for the user. */
export interface HereToggleReply {
  /** Message to show to the user, as a sentence. */
  message: string;
  /** Path of the file that a prompt or an answer was written to. Absent for other commands. */
  path?: string;
  /** URI of the file that a prompt or an answer was written to. Absent for other commands. */
  uri?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A question and its answer. */
export interface HistoryAddExchangeParams {
  /** Content of the question: a string or a list of blocks. */
  user: Content;
  /** Content of the answer: a string or a list of blocks. */
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

/** A message to add to the conversation. */
export interface HistoryAddParams {
  /** Role of the message's author. */
  role: Role;
  /** Content of the message: a string or a list of blocks. Must not be empty. */
  content: Content;
  /** Whether the model sees the message. Defaults to `shown`. */
  agent?: Visibility;
  /** Whether the user sees the message. Defaults to `shown`. */
  user?: Visibility;
  /** Purpose of the message. Defaults to `normal`. */
  kind?: MessageKind;
  /** Whether compactions must keep the message verbatim (`kept`) or may remove it (`free`, the default). */
  pin?: Pin;
  /** When the message was written, in milliseconds since 1970. Defaults to the current time. */
  timeMs?: number | null;
  /** Paths of files that the message mentions. */
  filesMentioned?: FileKey[];
  /** Paths of files that the message modified. */
  filesModified?: FileKey[];
  /**
   * Number that `strata.history.get` returned for the message, if the client sends such a message back. The message
   * gets a new number. The limits for tool outputs do not apply to it, and a missing `timeMs` stays missing.
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
  /** Number of tokens in the messages that the model sees. */
  tokens: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A message and its new content. */
export interface HistoryEditParams {
  /** Number of the message to edit. */
  id: MessageId;
  /** New content of the message: a string or a list of blocks. Must not be empty. */
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

/** All messages of the conversation. */
export interface HistoryGetReply {
  /** Messages, oldest first, including hidden ones. */
  messages: Message[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A message and its new visibility. At least one of `agent` and `user` must be given. */
export interface HistoryHideParams {
  /** Number of the message to hide or show. */
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
  /** The conversation, in any format that `strata.session.import` accepts. */
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

/** A message to add to the conversation. */
export interface HistoryMessage {
  /** Role of the message's author. */
  role: Role;
  /** Content of the message: a string or a list of blocks. Must not be empty. */
  content: Content;
  /** Whether the model sees the message. Defaults to `shown`. */
  agent?: Visibility;
  /** Whether the user sees the message. Defaults to `shown`. */
  user?: Visibility;
  /** Purpose of the message. Defaults to `normal`. */
  kind?: MessageKind;
  /** Whether compactions must keep the message verbatim (`kept`) or may remove it (`free`, the default). */
  pin?: Pin;
  /** When the message was written, in milliseconds since 1970. Defaults to the current time. */
  timeMs?: number | null;
  /** Paths of files that the message mentions. */
  filesMentioned?: FileKey[];
  /** Paths of files that the message modified. */
  filesModified?: FileKey[];
  /**
   * Number that `strata.history.get` returned for the message, if the client sends such a message back. The message
   * gets a new number. The limits for tool outputs do not apply to it, and a missing `timeMs` stays missing.
   */
  id?: MessageId | null;
}

/** A message to pin or unpin. */
export interface HistoryPinParams {
  /** Number of the message to pin or unpin. */
  id: MessageId;
  /** Whether compactions must keep the message verbatim. Defaults to `true`; `false` unpins the message. */
  pinned?: boolean;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Reply of a command that has no result. */
export interface HistoryPinReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The messages that replace the conversation. */
export interface HistorySetParams {
  /** Messages, oldest first. */
  messages: HistoryMessage[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The size of the conversation. */
export interface HistorySetReply {
  /** Number of messages, including hidden ones. */
  messages: number;
  /** Number of tokens in the messages that the model sees. */
  tokens: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The point from which to delete messages. */
export interface HistoryTruncateParams {
  /** Number of the first message to delete. All later messages are deleted too. */
  from: MessageId;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The result of truncating the conversation. */
export interface HistoryTruncateReply {
  /** Number of deleted messages. */
  removed: number;
  /** Number of remaining messages. */
  messages: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A passage that matches a query. */
export type Hit = {
  /** When the matching text was written, in milliseconds since 1970. Absent if unknown. */
  timeMs?: number;
  /** Text around the first match. */
  snippet: string;
  /** Relevance of the match, where higher is better. Scores are comparable only within one search. */
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
    /** Path of the file, relative to the workspace folder. */
    path: FileKey;
    /** First line of the matching paragraph, counted from 1. */
    line: number;
  }
  /** A message of a conversation. */
  | {
    source: 'message';
    /** Id of the session that contains the message. */
    session: string;
    /** Number of the message. */
    message: MessageId;
    /** Role of the message's author. */
    role: Role;
    /** Purpose of the message. */
    kind: MessageKind;
  });

/** A value that was ignored, and the reason. */
export interface IgnoredSetting {
  /** Dotted key of the setting, for example `symbols.map_budget`. */
  key: string;
  /** Source of the value. */
  origin: SettingOrigin;
  /** Why the value was ignored. */
  reason: string;
}

/** An image in a message. */
export interface Image {
  /** Source of the image's bytes. */
  source: ImageSource;
  /** Width in pixels, if known. If the size is unknown, the token estimate is a constant. */
  width?: number | null;
  /** Height in pixels, if known. */
  height?: number | null;
}

/** Formula for the tokens of images, or `"none"`, which overrides the family's formula. */
export type ImageEntry = ImageFormula | Support;

/** How a model's provider computes the tokens of an image. */
export type ImageFormula =
  /**
   * Anthropic: one token for each full or partial square of 28 x 28 pixels, after scaling the image down to fit
   * both limits (platform.claude.com/docs/en/build-with-claude/vision, "Image costs").
   */
  | {
    kind: 'cells';
    /** Maximum length of the longer side, in pixels. */
    max_side: number;
    /** Token limit for one image. */
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
   * multiplied by `factor` (developers.openai.com/api/docs/guides/images-vision, "Calculating costs").
   */
  | {
    kind: 'patches';
    /** Maximum number of squares per image. */
    max_patches: number;
    /** Tokens per square. */
    factor: number;
  }
  /**
   * Gemini: one tile for an image of at most 384 x 384 pixels, otherwise one for each full or partial square of 768
   * x 768 pixels (ai.google.dev/gemini-api/docs/tokens).
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
  /** Image bytes encoded as base64. */
  | {
    type: 'base64';
    /** Media type: `image/png`, `image/jpeg`, `image/gif` or `image/webp`. */
    mediaType: string;
    /** Image bytes as base64, without line breaks. */
    data: string;
  }
  /** URL that the provider fetches. */
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

/**
 * The client's `initializationOptions`. Unknown fields are ignored, since clients may store their own options
 * there.
 */
export interface InitializationOptions {
  /**
   * The editor's settings. A client that supports `workspace/configuration` is asked for them again once it is
   * initialized.
   */
  settings?: SettingsInput | null;
  /** Strata-specific requests that the client answers, by method. */
  requests?: string[];
  /** Id of the session to resume. */
  resume?: string | null;
  /**
   * Whether the user trusts the workspace. Only a trusted workspace adds its rules, skills and memory to the system
   * prompt.
   */
  trusted?: boolean;
}

/** Cost of input. */
export interface InputCost {
  /** Number of tokens of plain input that cost the same. */
  tokens: number;
  /** Cost in US dollars; absent if the price is unknown. */
  dollars?: number;
}

/**
 * Id of a tracked unit of prompt content: `system`, `symbol:{path}`, `file:{path}`, `file:{path}#L1-9`,
 * `excerpt:{path}#{definition}`, `history:{n}`, `url:{hash}`.
 */
export type ItemKey = string;

/** An item of the layout, with the URI of its file. */
export type ItemReport = {
  /** Id of the item. */
  key: ItemKey;
  /** Title for display: a file's path, a message's speaker and first words, or a web page's title. */
  title: string;
  /** File that the item belongs to, if any. */
  path?: FileKey;
  /** Selected lines that the item shows; absent for a whole file, an excerpt, or an item without a file. */
  lines?: LineRange[];
  /** Selection state of the file that the item belongs to; absent if the item belongs to no file. */
  state?: Choice;
  /** Tier that the item is in. */
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
  /** URI of the item's file. Absent if the item has no file that an editor could open. */
  uri?: string;
} & (Partial<LedgerItemStats> & Partial<RippleItemStats>);

/** A finished iteration, with changes to the loop's environment and files. */
export interface IterationAddParams {
  /** Goal of the loop. Required for the first iteration. A different goal starts a new loop. */
  goal?: string | null;
  /** Prompt and outcome of the iteration. */
  iteration: NewIteration;
  /**
   * Facts about the loop's environment, keyed by name. They replace the recorded ones, which are kept if this is
   * absent. The value of a fact is withheld if its name suggests a secret.
   */
  environment?: Record<string, string> | null;
  /** File changes since the previous iteration. Defaults to none. */
  fileEvents?: FileEvent[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** An iteration that was recorded. */
export interface IterationAddReply {
  /** Number of the iteration within its loop, counted from 1. */
  number: number;
  /** Whether the iteration reports that the goal is reached. */
  promise: LoopPromise;
  /** Outcome of folding older iterations into the summary. Absent if no iterations were due. */
  fold?: Fold;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The loop to build a prompt for. */
export interface IterationPromptParams {
  /**
   * Goal of the loop. Defaults to the goal of the running loop. With a different goal, the reply is the first
   * prompt of a new loop.
   */
  goal?: string | null;
  /** Environment facts to use in this prompt instead of the recorded ones. */
  environment?: Record<string, string> | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Prompt of the next iteration. */
export interface IterationPromptReply {
  /** Text of the prompt. */
  text: string;
  /** Tokens of the prompt. */
  tokens: number;
  /** Non-empty sections in order, with their tokens: `goal`, `summary`, `iterations`, `state`, `instructions`. */
  parts: [string, number][];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface IterationStatusParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** State of a loop. */
export interface IterationStatusReply {
  /** Goal of the loop. */
  goal: string;
  /** Number of iterations so far. */
  totalIterations: number;
  /** Numbers of the iterations kept verbatim. */
  window: number[];
  /** Numbers of the iterations waiting to be summarized. */
  waiting: number[];
  /** Number of the last summarized iteration; 0 if there is no summary. */
  summarized: number;
  /** Summary of older iterations; empty if there is none. */
  summary: string;
  /** Number of the iteration after which the summary is rewritten. Absent if it is never rewritten. */
  nextSummaryAt: number | null;
  /** Name of the program that ran the last iteration. */
  currentCli: string;
  /** Name of the model that the last iteration used. */
  currentModel: string;
  /** Time when the loop started, in milliseconds since 1970. */
  startedMs: number;
  /** Progress score of the last iteration. Absent if there is no iteration in memory. */
  progressScore: number | null;
  /** Whether an iteration promised that the goal is reached. */
  promise: LoopPromise;
  /** Number of the last iteration that promised that the goal is reached. Absent if none did. */
  completed: number | null;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/**
 * Name of an environment variable that contains a provider's key: upper-case letters, digits and underscores,
 * ending in `_API_KEY`, `_TOKEN` or `_KEY`. Rejects other variables, such as `PATH`, so that they are never sent to
 * a provider by mistake.
 */
export type KeyVariable = string;

/** A cache break that began with an item. */
export interface LastBreak {
  /** One-based number of the prompt that caused the break. */
  turn: number;
  /** Reason for the break. */
  reason: BreakReason;
}

/** A committed compaction. */
export interface LastCompaction {
  /** Name of the profile that was applied. */
  profile: string;
  /** How the conversation was shortened. */
  strategy: CompactionStrategy;
  /** Messages and tokens before the compaction. */
  before: ConversationSize;
  /** Messages and tokens after the compaction. */
  after: ConversationSize;
  /** Author of the summary, if there is one. */
  summarisedBy?: SummaryAuthor;
  /** Time of the commit, in milliseconds since 1970. */
  timeMs: number;
}

/** A summary of the last recorded prompt of a session. */
export interface LastTurn {
  /** Number of prompts that the session has recorded so far, including those from before a restart of Strata. */
  turns: number;
  /** Model that the prompt was sent to. */
  model: string;
  /** Layout policy of the prompt. */
  policy: PolicyName;
  /** Items and tokens of each nonempty tier. */
  tiers: TierWeight[];
  /** Tokens that the provider's cache is believed to contain. */
  cachedTokens: number;
  /** Time when the cached tokens expire, in milliseconds since 1970; absent if nothing is cached. */
  cacheExpiresMs?: number;
  /** One or two sentences that say what broke the cache, or that nothing did. */
  explanation: string;
}

/** Statistics of policy `ledger` about one item. */
export interface LedgerItemStats {
  /** Probability that the item leaves the prompt at the next turn, from 0 to 1. */
  hazard: number;
  /**
   * Number of turns since the file was selected or last changed, up to the highest age that Strata distinguishes;
   * absent for items other than files.
   */
  age?: number;
  /** Whether the item is in the prefix kept from the previous prompt. */
  kept: boolean;
}

/** What the requests would have cost if all cache entries had this lifetime. */
export interface LifetimeCost {
  /** Lifetime after the last use, in seconds. */
  seconds: number;
  /** Cost of the input, in tokens of uncached input. */
  cost: number;
  /** Cost of input and output in US dollars; absent if the price of a model is unknown. */
  dollars?: number;
  /** `cost` as a fraction of the cost without a cache. */
  share: number;
}

/** Lines of a file, counted from 1: `L10` or `L10-40`. */
export type LineRange = string;

/** Price of a model, in US dollars per million tokens. */
export interface ListPrice {
  /** Price of plain input. */
  input: number;
  /** Price of output. */
  output: number;
}

/** An excerpt, and why it is in the prompt. */
export interface ListedExcerpt {
  /** Name of the excerpt, in the form that `strata.context.pin` accepts. */
  excerpt: ExcerptKey;
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** URI of the file. Absent if no editor could open it. */
  uri?: string;
  /** Current line range of the excerpt. Absent if its code no longer exists in the file. */
  lines?: LineRange;
  /** Why Strata selected the excerpt. Absent if the user pinned an excerpt that Strata had not selected. */
  reason?: ExcerptReason;
  /** Why the excerpt is in the prompt: pinned, or chosen for the last or an earlier question. */
  standing: ExcerptStanding;
  /** Number of tokens in the excerpt. */
  tokens: number;
}

/** A file that the session selects or excludes. */
export type ListedFile = {
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** URI of the file. Absent if no editor could open it. */
  uri?: string;
  /** Whether the file is selected, deselected or excluded in this session. */
  state: Choice;
  /** Selected line ranges. Absent if the whole file is selected or excluded. */
  lines?: LineRange[];
  /** Cache tier of the file in the last recorded turn. Absent if the file is excluded. */
  tier?: Tier;
  /** Number of tokens in the selected text. Absent if the file is excluded or cannot be read. */
  tokens?: number;
  /** Why the selected file cannot be read. Absent if it can be read, or if it is excluded. */
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
    /**
     * Note on how the bytes were converted to text, or that the editor may show different text. Absent if there is
     * none.
     */
    notice?: string;
    /** Why the editor may show other text; absent unless a message about the file was lost or invalid. */
    outOfStep?: OutOfStep;
  }
  /** Content that the client provided. */
  | {
    source: 'given';
  }>);

/** A rule file. */
export interface ListedRule {
  /** Path of the rule file. */
  path: FileKey;
  /** Why the rule applies, or why not. */
  reason: RuleReason;
}

/** An open or stored session. */
export interface ListedSession {
  /** Id of the session, as used in requests. */
  id: string;
  /** Name given by the user. Empty if there is none. */
  name: string;
  /** When the session was created, in milliseconds since 1970. `null` if it has not been saved. */
  createdMs: number | null;
  /** When the session was last written to, in milliseconds since 1970. `null` if it has not been saved. */
  updatedMs: number | null;
  /** Number of messages in the session. */
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
  /** Token limit for a prompt at the plain price. All tokens of a larger prompt cost more. */
  above: number;
  /** Price of a token in a larger prompt, as a multiple of the plain price. */
  input: number;
  /** Price of a token of the answer to a larger prompt, as a multiple of the plain price. */
  output: number;
}

/** A higher price for prompts above a size. */
export interface LongContextInput {
  /** Token limit for a prompt at the plain price. All tokens of a larger prompt cost more. */
  above: number;
  /** Price of a token in a larger prompt, as a multiple of the plain price. */
  input: number;
  /** Price of a token of the answer to a larger prompt, as a multiple of the plain price. */
  output?: number;
}

/** Whether an iteration declared that the goal has been reached. */
export type LoopPromise =
  /** The output contains no promise. */
  | 'open'
  /** The output contains `<promise>COMPLETE</promise>`. */
  | 'complete';

/** A standard LSP request that Strata can answer. */
export type LspFeature =
  /** Symbols of a file (`textDocument/documentSymbol`). */
  | 'document_symbol'
  /** Symbols of all files (`workspace/symbol`). */
  | 'workspace_symbol'
  /** Signature and documentation of a name (`textDocument/hover`). */
  | 'hover'
  /** Definitions of a name (`textDocument/definition`). */
  | 'definition'
  /** References to a name (`textDocument/references`). */
  | 'references'
  /** Code actions for a file (`textDocument/codeAction`). */
  | 'code_action'
  /** Code lens above the first line of a file (`textDocument/codeLens`). */
  | 'code_lens';

/** Standard LSP requests, for editors without a plugin. */
export interface LspSettings {
  /**
   * Standard LSP requests that Strata answers. `document_symbol`, `workspace_symbol`, `hover`, `definition` and
   * `references` are answered from outlines. They are off by default, because an editor that also runs another
   * language server would show every result twice. `code_action` offers code actions that add the file or the
   * selected lines to the model's context, remove or exclude the file, and preview the prompt. They do not trigger
   * the light bulb. `code_lens` shows the state of a file in the model's context above its first line. No workspace
   * file sets this, because these features make the editor show text of the repository.
   */
  features: LspFeature[];
}

/** Standard LSP requests, for editors without a plugin. */
export interface LspSettingsInput {
  /**
   * Standard LSP requests that Strata answers. `document_symbol`, `workspace_symbol`, `hover`, `definition` and
   * `references` are answered from outlines. They are off by default, because an editor that also runs another
   * language server would show every result twice. `code_action` offers code actions that add the file or the
   * selected lines to the model's context, remove or exclude the file, and preview the prompt. They do not trigger
   * the light bulb. `code_lens` shows the state of a file in the model's context above its first line. No workspace
   * file sets this, because these features make the editor show text of the repository.
   */
  features?: LspFeature[];
}

/** A file with a block in the map. */
export interface MapFile {
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** Rank of the file by importance, counted from 1. */
  rank: number;
  /** Level of detail of the file's block. */
  level: MapLevel;
  /** Number of tokens in the file's block. */
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

/** Order of the files in a symbol map. */
export type MapSort =
  /** Most important file first. */
  | 'rank'
  /** Sorted by path. */
  | 'path';

/** A matching line or a context line. */
export interface MatchingLine {
  /** Line number, counted from 1. */
  line: number;
  /** Text of the line, truncated to 300 characters. */
  text: string;
  /** Whether this is a context line rather than a match. Absent if `false`. */
  context?: boolean;
}

/** A note to add. */
export interface MemoryAddParams {
  /** Text of the note. */
  text: string;
  /** Tags of the note. Defaults to none. */
  tags?: string[];
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The note that was added. */
export interface MemoryAddReply {
  /** Number that identifies the new note. */
  id: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface MemoryListParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** All notes of the workspace. */
export interface MemoryListReply {
  /** Notes, oldest first. */
  fragments: Note[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A note to remove. */
export interface MemoryRemoveParams {
  /** Number of the note, as reported by `strata.memory.list`. */
  id: number;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Reply of a command that has no result. */
export interface MemoryRemoveReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A search in notes, memory files and conversations. */
export interface MemorySearchParams {
  /** Words to search for. Must contain at least one letter or digit. */
  query: string;
  /** Maximum number of matches. At most 1,000; defaults to 20. */
  limit?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The matches of a search. */
export interface MemorySearchReply {
  /** Matches in memory files, then all other matches. Each group is sorted by relevance, best first. */
  hits: Hit[];
  /** How many of the newest matches were ranked, if there were too many to rank them all. Absent otherwise. */
  newest?: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A message in a history, with its id. */
export interface Message {
  /** Id of the message in its session. */
  id: MessageId;
  /** Sender of the message: the user or the model. */
  role: Role;
  /** Content blocks of the message, in order. */
  content: ContentBlock[];
  /** Whether the model sees the message. Hidden messages are neither sent nor counted. */
  agent: Visibility;
  /** Whether the user sees the message. */
  user: Visibility;
  /** Purpose of the message. */
  kind: MessageKind;
  /** Whether a compaction may remove the message. */
  pin?: Pin;
  /** Time of the message according to the caller, in milliseconds since 1970. */
  timeMs?: number;
  /** Files that the message mentions. */
  filesMentioned?: FileKey[];
  /** Files that the message modified. */
  filesModified?: FileKey[];
}

/** Stable id of a message in its session. An id is never reused, and a compaction does not change it. */
export type MessageId = number;

/** Purpose of a message, which determines how archival and compaction treat it. */
export type MessageKind =
  /** An ordinary message from the user or the model. */
  | 'normal'
  /** The result of a tool call. */
  | 'tool_result'
  /** A tool result that a summary replaces. The model only receives a stub of it. */
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
  /** How to count the tokens of its input. */
  tokenizer: Tokenizer;
  /** Token limit for a request. */
  max_input: number;
  /** Token limit for an answer. */
  max_output: number;
  /** How prompt prefixes are cached and what that costs. */
  cache: CacheRules;
  /** List price; absent if it is unknown. */
  price?: ListPrice;
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
  /** Token limit for a request. */
  max_input: number | null;
  /** Token limit for an answer. */
  max_output: number | null;
  /** Rules of the provider's cache. */
  cache: CacheEntry;
  /** Price in US dollars per million tokens. Costs in money are unknown without it. */
  price: ListPrice | null;
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
  /** Token limit for a request. */
  max_input?: number | null;
  /** Token limit for an answer. */
  max_output?: number | null;
  /** Rules of the provider's cache. */
  cache?: CacheEntryInput;
  /** Price in US dollars per million tokens. Costs in money are unknown without it. */
  price?: ListPrice | null;
  /** Higher price of long prompts. */
  long_context?: LongContextInput | null;
  /** Formula for the tokens of images, or `"none"` if the model does not accept images. */
  image?: ImageEntry | null;
  /** Whether the model can call tools: `"yes"` or `"none"`. */
  tools?: Support | null;
  /** Tokens that the provider adds to the text of a request. */
  overheads?: TokenOverheads | null;
}

/** A message of a conversation that the client stores itself. */
export interface ModelMessage {
  /** Role of the message's author. */
  role: Role;
  /** Content of the message: a string or a list of blocks. */
  content: Content;
}

/**
 * Company that makes a model. Does not determine the request format, since gateways serve any model in any format.
 */
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

/** A conversation to forward, and how to deliver the answer. */
export interface ModelSendParams {
  /** Messages, oldest first. The model answers those at the end. */
  messages: ModelMessage[];
  /** System prompt. Defaults to none. */
  system?: string;
  /**
   * Tools that the model may call. Strata does not run them: the client adds their results to the messages of the
   * next request.
   */
  tools?: Tool[];
  /**
   * Name chosen by the client. The answer is streamed under this name in `strata/delta` notifications. If absent,
   * the answer is delivered only in the reply.
   */
  stream?: string | null;
  /** Model to ask. Defaults to the setting `provider.model`, or else `model`. */
  model?: string | null;
  /** Token limit for the answer. Defaults to the setting `provider.max_output_tokens`. */
  maxOutputTokens?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The answer to a forwarded conversation, with its usage and cost. */
export interface ModelSendReply {
  /** Model that answered. */
  model: string;
  /**
   * Content of the answer. Known secrets are restored only in the arguments of the tools in `redaction.edit_tools`.
   * Pass it as the assistant's message in the next request.
   */
  content: ContentBlock[];
  /** How the answer ended. */
  end: SendEnd;
  /** Error that ended the answer early. Absent unless `end` is `cut`. */
  error?: string;
  /** Billed token usage of the request. */
  usage: Usage;
  /** Cost of the input. */
  cost: SendCost;
  /** Warnings for the user. For example, a tool call contains placeholders. */
  warnings: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Families and models, keyed by name: additions to the built-in table, and overrides for its entries. */
export interface ModelTable {
  /** Source and date of the prices, as shown with costs. */
  prices: string | null;
  /** Model families to add or override, keyed by family name. */
  family: Record<string, ModelEntry>;
  /** Models to add or override, keyed by model name. */
  model: Record<string, ModelEntry>;
}

/** Families and models, keyed by name: additions to the built-in table, and overrides for its entries. */
export interface ModelTableInput {
  /** Source and date of the prices, as shown with costs. */
  prices?: string | null;
  /** Model families to add or override, keyed by family name. */
  family?: Record<string, ModelEntryInput>;
  /** Models to add or override, keyed by model name. */
  model?: Record<string, ModelEntryInput>;
}

/** An iteration to add to a loop. */
export interface NewIteration {
  /** Time when the iteration ended, in milliseconds since 1970. */
  timeMs?: number;
  /** Name of the program that ran the iteration. */
  cli?: string;
  /** Name of the model that the iteration used. */
  model?: string;
  /** Prompt of the iteration. Strata keeps its first 500 characters. */
  prompt?: string;
  /** Output of the iteration. Strata keeps its first 5,000 characters. */
  output?: string;
  /** Progress made by the iteration, on a scale of the caller's choice. */
  progressScore?: number;
  /** Accomplishments in addition to those tagged in the output. */
  progressMarkers?: string[];
  /** Paths of the files that the iteration changed. */
  fileChanges?: string[];
  /** Duration of the iteration, in milliseconds. */
  durationMs?: number;
}

/** A note that outlives its conversation. */
export interface Note {
  /** Number that identifies the note. */
  id: number;
  /** Text of the note. */
  text: string;
  /** Tags of the note. */
  tags: string[];
  /** Id of the session in which the note was created. Absent if unknown. */
  session?: string;
  /** When the note was created, in milliseconds since 1970. */
  createdMs: number;
}

/** The reason that a document's text may differ from the editor's. */
export type OutOfStep =
  /** A change arrived for a document that was not open. */
  | {
    kind: 'never_opened';
  }
  /** A change did not have a higher version than the previous one. */
  | {
    kind: 'version_went_back';
    /** Version of the text in Strata. */
    have: number;
    /** Version of the change. */
    got: number;
  }
  /** A change referred to a range outside the text. */
  | {
    kind: 'invalid_range';
    /** Why the range is invalid. */
    detail: string;
  }
  /** Another buffer of the same file has different text. Prompts show the one that was edited last. */
  | {
    kind: 'open_twice';
    /** The other buffer, as the editor names it. */
    other: string;
  }
  /** The text of a notebook's cell is missing. */
  | {
    kind: 'missing_cell';
  }
  /** Cells of a notebook are open, but not the notebook, so their place in it is unknown. */
  | {
    kind: 'stray_cells';
  }
  /** A message about the document was invalid. */
  | {
    kind: 'misread';
    /** Why the message is invalid. */
    detail: string;
  };

/** Identifier of a tool output: a message number (also as a string), or the name of a spilled output. */
export type OutputName =
  /** Number of a message with tool results. */
  | MessageId
  /** Name of an output that was spilled to a file. */
  | string;

/** Form of a pack. */
export type PackForm =
  /** Headings and code blocks. */
  | 'markdown'
  /** A `<file path="...">` element around each file, whose text is not escaped. */
  | 'xml';

/** What to pack, and how. */
export interface PackMakeParams {
  /** Paths or globs of the files to pack. Defaults to all files of the workspace. */
  paths?: string[];
  /** Question that the pack is for. The files relevant to it come in full first, and the question comes last. */
  question?: string | null;
  /**
   * Token limit for the pack. Files that do not fit are outlined. Defaults to no limit if `paths` names files, and
   * otherwise to 30,000.
   */
  budget?: number | null;
  /** Form of the pack. Defaults to `markdown`. */
  form?: PackForm;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Files and outlines as one text. */
export interface PackMakeReply {
  /** The text. */
  text: string;
  /** Number of tokens in `text`. */
  tokens: number;
  /** Model whose tokenizer was used. */
  model: string;
  /** Number of files in full. */
  full: number;
  /** Number of files of which the text contains an outline, or only the name. */
  outlined: number;
  /** Number of files that did not fit at all. */
  omitted: number;
  /** Number of secrets that placeholders replace. */
  redacted: number;
  /** Files that cannot be shown. */
  skipped: SkippedFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The effect of a pause on the cost of the next prompt. */
export interface PauseCost {
  /** Length of the pause, in seconds. */
  seconds: number;
  /** Whether the cache expires during the pause. */
  expires: boolean;
  /** Extra cost, in tokens of uncached input. */
  cost: number;
  /** Extra cost as a fraction of the cost of sending the whole next prompt without a cache. */
  share: number;
}

/** Whether a compaction may remove a message. */
export type Pin =
  /** A compaction may remove the message. */
  | 'free'
  /** The user pinned the message, so it stays verbatim. */
  | 'kept';

/** Name of a layout policy. */
export type PolicyName =
  /** An append-only log: keeps cached content unchanged and appends changes. */
  | 'ledger'
  /** Four cached tiers: content moves to a more stable tier while it stays unchanged. */
  | 'ripple'
  /** A fixed order without breakpoints. */
  | 'flat';

/** A part of a prompt: adjacent blocks of one message with the same content and purpose. */
export interface PreviewPart {
  /** Title of the part, for display. */
  title: string;
  /** Purpose of the part's blocks. */
  part: PromptPart;
  /** Tier of the part's blocks. */
  tier: Tier;
  /** Token count of the part, according to the model's tokenizer. */
  tokens: number;
  /** Zero-based number of the part's first line in the text. A line ends with a line feed. */
  line: number;
  /** Number of lines in the part; 0 if nothing in it can be shown as text. */
  lines: number;
  /** Whether a cache breakpoint follows the part. */
  marked: boolean;
}

/** A built-in compaction profile. */
export type ProfileName =
  /**
   * Cuts the conversation where the topic changed. Otherwise replaces older exchanges with a pair of summary
   * messages.
   */
  | 'topic'
  /** Keeps the first message, a summary by phases and themes, and the newest messages. */
  | 'continuation'
  /** Keeps a structured checkpoint and the newest messages. */
  | 'checkpoint'
  /** Keeps a running summary and the newest iterations. */
  | 'rolling'
  /** Replaces the conversation with one message from which another agent can continue. */
  | 'handoff';

/** A compaction profile of your own, or overrides for a built-in one. Every field is optional. */
export interface ProfileOptions {
  /**
   * Built-in profile that supplies every value not set here. Defaults to the built-in profile of the same name, or
   * else to `topic`.
   */
  like: ProfileName | null;
  /** When to check whether a compaction is due: after a turn, before a prompt is built, or after an iteration. */
  moment: CompactionMoment | null;
  /**
   * Size of the conversation, in tokens, above which it is compacted as soon as compacting saves money. 0 disables
   * this condition.
   */
  pays_over: number | null;
  /** Size of the conversation, in tokens, above which a compaction is due. 0 disables this condition. */
  history_over: number | null;
  /** Size of the whole prompt, in tokens, at which a compaction is due. 0 disables this condition. */
  context_from: number | null;
  /**
   * Share of the input window, from 0 to 1. A compaction is due when the whole prompt exceeds this share. 0
   * disables this condition.
   */
  window_share: number | null;
  /**
   * Tokens of the input window to keep free. A compaction is due when the whole prompt leaves no more than this.
   */
  reserve_tokens: number | null;
  /**
   * Size of the whole prompt, in tokens, at which a compaction is due if the window is unknown or not larger than
   * `reserve_tokens`.
   */
  max_tokens: number | null;
  /**
   * Number of messages at which a compaction is due if the window is unknown or not larger than `reserve_tokens`,
   * and `max_tokens` is 0.
   */
  max_messages: number | null;
  /**
   * Number of messages above which a compaction is due, not counting those hidden from the model. 0 disables this
   * condition.
   */
  messages_over: number | null;
  /**
   * Number of exchanges above which a compaction is due. An exchange is a user message with everything up to the
   * next one. 0 disables this condition.
   */
  exchanges_over: number | null;
  /** Whether to keep the first message verbatim. */
  keep_first: boolean | null;
  /** How much of the end of the conversation to keep verbatim, in tokens. If 0, `keep_messages` applies instead. */
  keep_tokens: number | null;
  /**
   * Number of newest messages to keep verbatim if `keep_tokens` is 0, or if it would leave nothing to summarize.
   */
  keep_messages: number | null;
  /**
   * Number of newest exchanges to keep verbatim even if they exceed `keep_tokens`. Fewer are kept if they exceed
   * six times `keep_tokens`, half of the request limit, or the size at which a compaction is due.
   */
  keep_exchanges: number | null;
  /** Token limit for the summary. */
  summary_tokens: number | null;
  /**
   * Target size of the compacted prompt, as a share of the input window from 0 to 1. To reach it, kept tool results
   * and the summary are shortened.
   */
  target_share: number | null;
  /** Maximum length of each tool result that the summarizing model sees, in characters. 0 means no limit. */
  result_chars: number | null;
  /**
   * Maximum length of each tool call's arguments that the summarizing model sees, in characters. 0 means no limit.
   */
  call_chars: number | null;
  /**
   * Maximum length of each result in the digest of older tool results, in characters. Applies only to `checkpoint`
   * and to profiles based on it (`like`).
   */
  digest_chars: number | null;
  /**
   * Maximum number of results listed in the digest of older tool results, newest first. The others are only
   * counted. Applies only to `checkpoint` and to profiles based on it (`like`).
   */
  digest_lines: number | null;
}

/** A compaction profile of your own, or overrides for a built-in one. Every field is optional. */
export interface ProfileOptionsInput {
  /**
   * Built-in profile that supplies every value not set here. Defaults to the built-in profile of the same name, or
   * else to `topic`.
   */
  like?: ProfileName | null;
  /** When to check whether a compaction is due: after a turn, before a prompt is built, or after an iteration. */
  moment?: CompactionMoment | null;
  /**
   * Size of the conversation, in tokens, above which it is compacted as soon as compacting saves money. 0 disables
   * this condition.
   */
  pays_over?: number | null;
  /** Size of the conversation, in tokens, above which a compaction is due. 0 disables this condition. */
  history_over?: number | null;
  /** Size of the whole prompt, in tokens, at which a compaction is due. 0 disables this condition. */
  context_from?: number | null;
  /**
   * Share of the input window, from 0 to 1. A compaction is due when the whole prompt exceeds this share. 0
   * disables this condition.
   */
  window_share?: number | null;
  /**
   * Tokens of the input window to keep free. A compaction is due when the whole prompt leaves no more than this.
   */
  reserve_tokens?: number | null;
  /**
   * Size of the whole prompt, in tokens, at which a compaction is due if the window is unknown or not larger than
   * `reserve_tokens`.
   */
  max_tokens?: number | null;
  /**
   * Number of messages at which a compaction is due if the window is unknown or not larger than `reserve_tokens`,
   * and `max_tokens` is 0.
   */
  max_messages?: number | null;
  /**
   * Number of messages above which a compaction is due, not counting those hidden from the model. 0 disables this
   * condition.
   */
  messages_over?: number | null;
  /**
   * Number of exchanges above which a compaction is due. An exchange is a user message with everything up to the
   * next one. 0 disables this condition.
   */
  exchanges_over?: number | null;
  /** Whether to keep the first message verbatim. */
  keep_first?: boolean | null;
  /** How much of the end of the conversation to keep verbatim, in tokens. If 0, `keep_messages` applies instead. */
  keep_tokens?: number | null;
  /**
   * Number of newest messages to keep verbatim if `keep_tokens` is 0, or if it would leave nothing to summarize.
   */
  keep_messages?: number | null;
  /**
   * Number of newest exchanges to keep verbatim even if they exceed `keep_tokens`. Fewer are kept if they exceed
   * six times `keep_tokens`, half of the request limit, or the size at which a compaction is due.
   */
  keep_exchanges?: number | null;
  /** Token limit for the summary. */
  summary_tokens?: number | null;
  /**
   * Target size of the compacted prompt, as a share of the input window from 0 to 1. To reach it, kept tool results
   * and the summary are shortened.
   */
  target_share?: number | null;
  /** Maximum length of each tool result that the summarizing model sees, in characters. 0 means no limit. */
  result_chars?: number | null;
  /**
   * Maximum length of each tool call's arguments that the summarizing model sees, in characters. 0 means no limit.
   */
  call_chars?: number | null;
  /**
   * Maximum length of each result in the digest of older tool results, in characters. Applies only to `checkpoint`
   * and to profiles based on it (`like`).
   */
  digest_chars?: number | null;
  /**
   * Maximum number of results listed in the digest of older tool results, newest first. The others are only
   * counted. Applies only to `checkpoint` and to profiles based on it (`like`).
   */
  digest_lines?: number | null;
}

/** What to assemble. Requires either `prompt` (with or without `images`) or `toolResults`. */
export interface PromptAssembleParams {
  /** Text of the user's question. */
  prompt?: string | null;
  /** Images to send with the question. Defaults to none. */
  images?: Image[];
  /** Results of the tool calls in the last answer, and late ones of earlier calls. */
  toolResults?: ToolResult[] | null;
  /** Tools that the model may call, in the order in which to declare them. Defaults to none. */
  tools?: Tool[];
  /**
   * Whether the model may call the tools. Declare the same tools in each request, even if the model may not call
   * them, because the provider's cache contains their declarations. Defaults to `auto`.
   */
  toolChoice?: ToolChoice;
  /** Format of the request. Defaults to the setting `format`. */
  format?: Format | null;
  /** Layout policy. Defaults to the session's policy, or else to the setting `cache.policy`. */
  policy?: PolicyName | null;
  /** Model to build the prompt for. Defaults to the setting `model`. */
  model?: string | null;
  /**
   * Maximum input tokens that the client allows. Defaults to no limit besides the model's window and the session's
   * own limit.
   */
  maxInputTokens?: number | null;
  /**
   * Token limit for code to add to the prompt as excerpts. Defaults to the session's limit, or else to the setting
   * `context.auto_budget`.
   */
  autoBudget?: number | null;
  /** Lifetime of cache entries, for clients that support only one lifetime. Defaults to the setting `cache.ttl`. */
  ttl?: CacheTtl | null;
  /** Whether to assemble the prompt without remembering it, so that it cannot be recorded. Defaults to `false`. */
  dryRun?: boolean;
  /** How to return the request body. Defaults to `json`. */
  bodyAs?: BodyAs;
  /**
   * Additional top-level fields of the request body, such as `max_tokens` and `stream`, appended after Strata's
   * own. Fields that Strata sets are rejected. Token counts do not include these additional fields.
   */
  extra?: Record<string, unknown>;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A finished prompt: the reply to `prompt.assemble`. */
export interface PromptAssembleReply {
  /** Id of the prompt for `prompt.record` and `prompt.discard`; absent for a dry run. */
  id?: string;
  /** Model that the prompt was assembled for. */
  model: string;
  /** Dialect of `body`. */
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
  /** Items and tokens of each tier. */
  tiers: TierReport[];
  /** Cache breakpoints, in order. */
  breakpoints: Breakpoint[];
  /** Expected charge, given what the provider's cache is believed to contain. */
  predicted: Charge;
  /** Expected cost of the input before it is sent. */
  cost: PromptCost;
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

/** An earlier preview to compare with. */
export interface PromptChangesParams {
  /** Text of the earlier preview, as returned by `strata.prompt.preview`. */
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
   * Unified diff from the earlier text to the current one. Each hunk header names the part of the prompt in which
   * the hunk begins. Empty if nothing changed.
   */
  changes: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Expected cost of a prompt's input. */
export interface PromptCost {
  /** Cost if the provider's cache contains what it is believed to contain. */
  expected: InputCost;
  /** Cost if the provider's cache contains nothing. */
  cold: InputCost;
  /** Cost if the provider's cache contains everything that it may keep of this prompt. */
  warm: InputCost;
  /** Price of the answer in US dollars per million tokens; absent if it is unknown. */
  outputPrice?: number;
}

/** A prompt that was assembled. */
export interface PromptDiscardParams {
  /** Id of the prompt, as returned by `strata.prompt.assemble`. */
  id: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Reply of a command that has no result. */
export interface PromptDiscardReply {
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A text, and the model to count its tokens for. */
export interface PromptEstimateParams {
  /** Text whose tokens to count. */
  text: string;
  /** Model whose tokenizer to use. Defaults to the setting `model`. */
  model?: string | null;
  /**
   * Maximum input tokens that the client allows. Defaults to no limit besides the model's window and the session's
   * own limit.
   */
  maxInputTokens?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The number of tokens in a text, and the limit of the model. */
export interface PromptEstimateReply {
  /** Number of tokens in the text. */
  tokens: number;
  /** Model whose tokenizer was used. */
  model: string;
  /**
   * Token limit for a request to `model`: the input window minus the reserve for the answer and the margin for
   * estimation error.
   */
  limit: number;
  /** Warning about the properties assumed for a model that is missing from the model table. */
  warning?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Purpose of a block, and one row of the token breakdown. */
export type PromptPart =
  /** The system prompt, with additions from the settings. */
  | 'system'
  /** Map blocks, with the legend that explains them. */
  | 'map'
  /** Texts of selected files and excerpts. */
  | 'files'
  /** The list of the repository's files. */
  | 'file_list'
  /** Updates to earlier content: diffs, outlines and changes to the file list. */
  | 'updates'
  /** Web pages in the context. */
  | 'urls'
  /** Earlier messages of the conversation. */
  | 'history'
  /** Tools that the client declares. */
  | 'tools'
  /** Volatile facts, such as the branch and the files already read. */
  | 'session_state'
  /** The context frame, which names code relevant to the question. */
  | 'context_frame'
  /** The new prompt or new tool results. */
  | 'prompt'
  /** Overhead of the request format, such as roles, separators and the start of the reply. */
  | 'structure';

/** What to assemble. Requires either `prompt` (with or without `images`) or `toolResults`. */
export interface PromptPreviewParams {
  /** Text of the user's question. */
  prompt?: string | null;
  /** Images to send with the question. Defaults to none. */
  images?: Image[];
  /** Results of the tool calls in the last answer, and late ones of earlier calls. */
  toolResults?: ToolResult[] | null;
  /** Tools that the model may call, in the order in which to declare them. Defaults to none. */
  tools?: Tool[];
  /**
   * Whether the model may call the tools. Declare the same tools in each request, even if the model may not call
   * them, because the provider's cache contains their declarations. Defaults to `auto`.
   */
  toolChoice?: ToolChoice;
  /** Format of the request. Defaults to the setting `format`. */
  format?: Format | null;
  /** Layout policy. Defaults to the session's policy, or else to the setting `cache.policy`. */
  policy?: PolicyName | null;
  /** Model to build the prompt for. Defaults to the setting `model`. */
  model?: string | null;
  /**
   * Maximum input tokens that the client allows. Defaults to no limit besides the model's window and the session's
   * own limit.
   */
  maxInputTokens?: number | null;
  /**
   * Token limit for code to add to the prompt as excerpts. Defaults to the session's limit, or else to the setting
   * `context.auto_budget`.
   */
  autoBudget?: number | null;
  /** Lifetime of cache entries, for clients that support only one lifetime. Defaults to the setting `cache.ttl`. */
  ttl?: CacheTtl | null;
  /** Whether to assemble the prompt without remembering it, so that it cannot be recorded. Defaults to `false`. */
  dryRun?: boolean;
  /** How to return the request body. Defaults to `json`. */
  bodyAs?: BodyAs;
  /**
   * Additional top-level fields of the request body, such as `max_tokens` and `stream`, appended after Strata's
   * own. Fields that Strata sets are rejected. Token counts do not include these additional fields.
   */
  extra?: Record<string, unknown>;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The next request as readable text: the reply to `prompt.preview`. */
export interface PromptPreviewReply {
  /** The whole prompt as Markdown. */
  text: string;
  /** Tokens of the request, including declared tools and the format itself, which `text` does not show. */
  tokens: number;
  /** Parts of the text, in order. Every line belongs to exactly one part. */
  parts: PreviewPart[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The outcome of a prompt. */
export interface PromptRecordParams {
  /** Id of the prompt, as returned by `strata.prompt.assemble`. */
  id: string;
  /** How the request ended. Defaults to `complete`. */
  status?: TurnStatus;
  /** The model's answer: a string or a list of content blocks. */
  response?: Content | null;
  /**
   * The part of an interrupted answer that was received, in the same form as `response`. Cannot be combined with
   * `response`.
   */
  partial?: Content | null;
  /** Token usage that the provider reported. */
  usage?: UsageInput | null;
  /**
   * Why the request failed. The prompt then counts as not sent. After `context_limit`, assemble and send the prompt
   * again: the conversation is compacted first. A second `context_limit` in a row is an error that names the
   * largest parts of the prompt.
   */
  error?: TurnError | null;
  /** Token limit that the provider stated with `context_limit`. */
  limit?: number | null;
  /** Tokens of the request that the provider stated with `context_limit`. */
  requested?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The reply to `prompt.record`. */
export interface PromptRecordReply {
  /** Id of the recorded prompt. */
  id: string;
  /** How the request ended. */
  status: TurnStatus;
  /** Number of messages in the conversation after this prompt was recorded. */
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

/** The files to list rules for. */
export interface PromptRulesParams {
  /**
   * Paths of files, which need not exist. Defaults to the files that are selected, open, or excerpted in the last
   * prompt.
   */
  paths?: string[] | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The rule files of the workspace. */
export interface PromptRulesReply {
  /** Whether the user trusts the workspace. If not, no rule is part of a prompt. */
  trusted: boolean;
  /** Rule files that apply to the files, in the order of the prompt. If they disagree, the last one counts. */
  rules: ListedRule[];
  /** Rule files that do not apply to the files. */
  others: ListedRule[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A question, and how to deliver the answer. */
export interface PromptSendParams {
  /** Text of the question. */
  prompt: string;
  /** Images to send with the question. Defaults to none. */
  images?: Image[];
  /**
   * Name chosen by the client. The answer is streamed under this name in `strata/delta` notifications. If absent,
   * the answer is delivered only in the reply.
   */
  stream?: string | null;
  /** Tools that the model may use while it answers. Defaults to `none`. */
  tools?: SendTools;
  /** Model to ask. Defaults to the setting `provider.model`, or else `model`. */
  model?: string | null;
  /** Layout policy. Defaults to the session's policy, or else to the setting `cache.policy`. */
  policy?: PolicyName | null;
  /**
   * Maximum input tokens of each request. Defaults to no limit besides the model's window and the session's own
   * limit.
   */
  maxInputTokens?: number | null;
  /** Token limit for the answer. Defaults to the setting `provider.max_output_tokens`. */
  maxOutputTokens?: number | null;
  /**
   * Token limit for code to add to the question as excerpts. Defaults to the session's limit, or else to the
   * setting `context.auto_budget`.
   */
  autoBudget?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The answer to a question, with its usage and cost. */
export interface PromptSendReply {
  /** Id of the session in which the question was asked. */
  session: string;
  /** Model that answered. */
  model: string;
  /**
   * Text of the answer. With `redaction.show_secrets`, known secrets are restored outside of addresses, links and
   * images.
   */
  text: string;
  /** How the answer ended. */
  end: SendEnd;
  /** Error that ended the answer early. Absent unless `end` is `cut` or `failed`. */
  error?: string;
  /** Billed token usage of all requests together. */
  usage: Usage;
  /** Actual cost. */
  cost: SendCost;
  /** Predicted cost of the input. */
  predicted: Charge;
  /** Number of requests that were answered. */
  requests: number;
  /** Number of rounds of tool calls that were answered. */
  rounds: number;
  /** Tool calls that the model made, in order. */
  tools: ToolUse[];
  /** Paths of the selected files that were omitted because they did not fit. */
  shed: string[];
  /** Warnings for the user. */
  warnings: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The system prompt and its additions. */
export interface PromptSettings {
  /** Base system prompt. Replaces the built-in one. */
  system: string;
  /**
   * Guidelines for using tools and formatting answers, added to the system prompt of requests that declare tools.
   * An empty string adds nothing.
   */
  tool_guidelines: string;
  /** Your own instructions, added to the system prompt after `system` and `tool_guidelines`. */
  system_extra: string;
  /**
   * Rule files whose text is added to the system prompt, in trusted workspaces only. Each entry is a file name, or
   * a path whose last component may be a glob, such as `.cursor/rules/*.mdc`. Files whose front matter names
   * patterns (`globs`, `applyTo`, `paths`) apply if a file matches that is selected, open or excerpted. A file name
   * also stands for files with this name in the directories above these files. Rules for files that are only open
   * or excerpted follow the request, so that the rest of the prompt stays cached.
   */
  rules: string[];
  /**
   * Skill files to list in the system prompt by name, description and path, in trusted workspaces only. The model
   * reads a skill's file before it uses the skill.
   */
  skills: string[];
  /**
   * Files with notes that are added to the system prompt, in trusted workspaces only. They survive every
   * compaction.
   */
  memory: string[];
}

/** The system prompt and its additions. */
export interface PromptSettingsInput {
  /** Base system prompt. Replaces the built-in one. */
  system?: string;
  /**
   * Guidelines for using tools and formatting answers, added to the system prompt of requests that declare tools.
   * An empty string adds nothing.
   */
  tool_guidelines?: string;
  /** Your own instructions, added to the system prompt after `system` and `tool_guidelines`. */
  system_extra?: string;
  /**
   * Rule files whose text is added to the system prompt, in trusted workspaces only. Each entry is a file name, or
   * a path whose last component may be a glob, such as `.cursor/rules/*.mdc`. Files whose front matter names
   * patterns (`globs`, `applyTo`, `paths`) apply if a file matches that is selected, open or excerpted. A file name
   * also stands for files with this name in the directories above these files. Rules for files that are only open
   * or excerpted follow the request, so that the rest of the prompt stays cached.
   */
  rules?: string[];
  /**
   * Skill files to list in the system prompt by name, description and path, in trusted workspaces only. The model
   * reads a skill's file before it uses the skill.
   */
  skills?: string[];
  /**
   * Files with notes that are added to the system prompt, in trusted workspaces only. They survive every
   * compaction.
   */
  memory?: string[];
}

/** A problem that the user should know about, although the prompt was assembled. */
export interface PromptWarning {
  /** The kind of warning. */
  code: PromptWarningCode;
  /** The warning in one sentence. */
  message: string;
  /** The affected file; absent if the warning is not about a file. */
  path?: FileKey;
}

/** What a `Warning` is about. */
export type PromptWarningCode =
  /**
   * A selected file or some excerpts were omitted because they did not fit, or because files were too large to
   * search.
   */
  | 'shed'
  /** A selected file could not be read. */
  | 'unreadable'
  /** A buffer may be out of sync with the editor. */
  | 'out_of_step'
  /** The model is not in the model table. */
  | 'unknown_model'
  /** Old exchanges were omitted because nothing else was left to drop. */
  | 'history_truncated'
  /** The repository's outlines are not complete yet. */
  | 'index_incomplete'
  /** Secrets in a file were replaced by placeholders. */
  | 'redacted'
  /** A file no longer has lines that are selected. */
  | 'lines_missing'
  /** The symbol map has no space left for a file that the session or the request is about. */
  | 'map_full';

/** A provider, identified by its API. Also applies to gateways and self-hosted servers that offer the same API. */
export type ProviderName =
  /** Anthropic's Messages API. */
  | 'anthropic'
  /**
   * OpenAI's Chat Completions API, which OpenRouter, LiteLLM, vLLM and many others also accept, with
   * `provider.base_url`.
   */
  | 'openai'
  /** OpenAI's Responses API. */
  | 'responses'
  /** Google's `generateContent` API. */
  | 'gemini'
  /**
   * Amazon Bedrock's Converse API. The body also contains `modelId`, which belongs in the request's URL. Strata
   * sends requests with a Bedrock API key; AWS access keys are not supported.
   */
  | 'bedrock'
  /** Cohere's v2 chat API. */
  | 'cohere'
  /** Ollama on this machine. Needs no key. */
  | 'ollama';

/** The provider that `strata ask` and `strata.prompt.send` use. */
export interface ProviderSettings {
  /**
   * API of the provider to send prompts to. Strata sends nothing unless this is set, even if a key is available.
   */
  name: ProviderName | null;
  /**
   * Base URL of the provider, for a gateway, a proxy or your own server. Must be `https:`, or `http:` for a server
   * on this machine. Defaults to the provider's public address.
   */
  base_url: string | null;
  /** Model to send prompts to, by the name the provider uses. Defaults to the setting `model`. */
  model: string | null;
  /**
   * Environment variable that contains the provider's key. Its name must end in `_API_KEY`, `_TOKEN` or `_KEY`.
   * Defaults to the provider's usual variable, such as `ANTHROPIC_API_KEY`.
   */
  key_env: KeyVariable | null;
  /**
   * Command that prints the provider's key, as a program and its arguments, such as `["pass", "show",
   * "anthropic"]`. Runs without a shell, and takes precedence over environment variables.
   */
  key_command: string[];
  /** Maximum time for one request, including retries, in seconds. */
  timeout_s: number;
  /**
   * Maximum time without any data from the provider, in seconds. Raise it for models that send nothing while they
   * reason.
   */
  stall_s: number;
  /** Maximum number of retries if the provider is overloaded or fails before the answer begins. */
  retries: number;
  /**
   * Maximum rounds of tool calls per answer. After the last one, the model is asked to answer with what it knows.
   */
  tool_rounds: number;
  /**
   * Token limit for an answer. Defaults to the tokens reserved for the answer (`budget.output_reserve`) with
   * Anthropic, and to the provider's own limit with others.
   */
  max_output_tokens: number | null;
}

/** The provider that `strata ask` and `strata.prompt.send` use. */
export interface ProviderSettingsInput {
  /**
   * API of the provider to send prompts to. Strata sends nothing unless this is set, even if a key is available.
   */
  name?: ProviderName | null;
  /**
   * Base URL of the provider, for a gateway, a proxy or your own server. Must be `https:`, or `http:` for a server
   * on this machine. Defaults to the provider's public address.
   */
  base_url?: string | null;
  /** Model to send prompts to, by the name the provider uses. Defaults to the setting `model`. */
  model?: string | null;
  /**
   * Environment variable that contains the provider's key. Its name must end in `_API_KEY`, `_TOKEN` or `_KEY`.
   * Defaults to the provider's usual variable, such as `ANTHROPIC_API_KEY`.
   */
  key_env?: KeyVariable | null;
  /**
   * Command that prints the provider's key, as a program and its arguments, such as `["pass", "show",
   * "anthropic"]`. Runs without a shell, and takes precedence over environment variables.
   */
  key_command?: string[];
  /** Maximum time for one request, including retries, in seconds. */
  timeout_s?: number;
  /**
   * Maximum time without any data from the provider, in seconds. Raise it for models that send nothing while they
   * reason.
   */
  stall_s?: number;
  /** Maximum number of retries if the provider is overloaded or fails before the answer begins. */
  retries?: number;
  /**
   * Maximum rounds of tool calls per answer. After the last one, the model is asked to answer with what it knows.
   */
  tool_rounds?: number;
  /**
   * Token limit for an answer. Defaults to the tokens reserved for the answer (`budget.output_reserve`) with
   * Anthropic, and to the provider's own limit with others.
   */
  max_output_tokens?: number | null;
}

/** Positive factor between two token counts. */
export type Ratio = number;

/** An occurrence of a secret. Never contains the secret itself. */
export interface RedactedSecret {
  /** Rule that found the secret. For a secret from an earlier run of the server, the label in its placeholder. */
  rule: string;
  /** Placeholder that the model sees instead of the secret. */
  placeholder: string;
  /** Path of the file that contains the secret. Absent if it is not in a file. */
  path?: FileKey;
  /** Address of the web page that contains the secret. Absent if it is not in a web page. */
  url?: string;
  /** Number of the message that contains the secret. Absent if it is not in a message. */
  message?: MessageId;
  /** Line of the secret in the file, the page, or the block of the message, counted from 1. */
  line: number;
}

/** Arguments of a command that takes none. */
export interface RedactionListParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The secrets that placeholders replace in the session's content. */
export interface RedactionListReply {
  /** Secrets in files, sorted by path, then secrets in web pages, then secrets in messages. */
  secrets: RedactedSecret[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A text in which to restore secrets. */
export interface RedactionRestoreParams {
  /** Text that contains placeholders, such as a model's answer. */
  text: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The text with its secrets restored. Apply it to a file; do not send it to a model. */
export interface RedactionRestoreReply {
  /** Text with known secrets restored. */
  text: string;
  /** Number of placeholders that were replaced. */
  restored: number;
  /**
   * Placeholders that were not replaced because their secrets are unknown: the file is not selected, or the secret
   * was found in a message during an earlier run of the server.
   */
  unknown: string[];
  /**
   * Placeholders that were not replaced because they are inside an address, or in the target of a link or an image,
   * and the secret was not found in the same address.
   */
  withheld: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Redaction of secrets in text that models see. */
export interface RedactionSettings {
  /** Whether to replace secrets in files, messages and tool results with placeholders before a model sees them. */
  enabled: boolean;
  /** Secrets to send unchanged: placeholders as listed by `strata.redaction.list`, or names of rules. */
  allow: string[];
  /**
   * Whether to show secrets instead of their placeholders in answers of `strata ask` and `strata.prompt.send`,
   * except inside addresses, links and images. Editors may store the answers that they show.
   */
  show_secrets: boolean;
  /**
   * Names of tools whose calls through `strata.model.send` edit your own files. Their arguments get secrets instead
   * of placeholders, except inside addresses that the secret does not belong to.
   */
  edit_tools: string[];
}

/** Redaction of secrets in text that models see. */
export interface RedactionSettingsInput {
  /** Whether to replace secrets in files, messages and tool results with placeholders before a model sees them. */
  enabled?: boolean;
  /** Secrets to send unchanged: placeholders as listed by `strata.redaction.list`, or names of rules. */
  allow?: string[];
  /**
   * Whether to show secrets instead of their placeholders in answers of `strata ask` and `strata.prompt.send`,
   * except inside addresses, links and images. Editors may store the answers that they show.
   */
  show_secrets?: boolean;
  /**
   * Names of tools whose calls through `strata.model.send` edit your own files. Their arguments get secrets instead
   * of placeholders, except inside addresses that the secret does not belong to.
   */
  edit_tools?: string[];
}

/** A line that refers to the name. */
export interface ReferenceHit {
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** Line number, counted from 1. */
  line: number;
  /** Text of the line, without surrounding whitespace. */
  text: string;
  /** How certain the reference is: resolved through scopes, imports and types, or matched only by name. */
  confidence: Confidence;
  /** Whether this is a definition of the name. */
  definition?: boolean;
}

/** A file that refers to a definition. */
export interface Referrer {
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** Likelihood that the file refers to this definition, from 0 to 1. */
  likelihood: number;
}

/** A relevant definition, or relevant lines. */
export interface RelevantItem {
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** Kind of the definition. Absent for lines that are not one definition. */
  kind?: SymbolKind;
  /** Qualified name of the definition. Absent for lines that are not one definition. */
  name?: string;
  /** Line that introduces the definition. Absent for lines that are not one definition. */
  head?: string;
  /** First line of the definition, counted from 1. */
  line: number;
  /** Last line of the definition, inclusive. */
  endLine: number;
  /** Relevance relative to the best item, whose score is 1. */
  score: number;
}

/** A renamed file or directory. */
export interface Rename {
  /** Path before the rename, relative to the workspace folder. */
  from: string;
  /** Path after the rename, relative to the workspace folder. */
  to: string;
}

/** A part of a tool result. */
export type ResultPart =
  /** Text returned by the tool. */
  | {
    type: 'text';
    /** Text of the output. */
    text: string;
  }
  /** Image returned by the tool. */
  | {
    type: 'image';
    /** Source of the image's bytes. */
    source: ImageSource;
    /** Width in pixels, if known. If the size is unknown, the token estimate is a constant. */
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
  /** Text returned by the tool. */
  | {
    type: 'text';
    /** Text of the output. */
    text: string;
  }
  /** Image returned by the tool. */
  | {
    type: 'image';
    /** Source of the image's bytes. */
    source: ImageSource;
    /** Width in pixels, if known. If the size is unknown, the token estimate is a constant. */
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

/** Statistics of policy `ripple` about one item. */
export interface RippleItemStats {
  /**
   * Stability counter. Starts at the entry value of the item's tier, and increases with each consecutive request in
   * which the item is unchanged.
   */
  n: number;
  /** Value of `n` at which the item is promoted; absent in L0, the most stable tier. */
  threshold?: number;
}

/** Sender of a message. */
export type Role =
  /** The user, or a program that acts for the user. Tool results also have this role. */
  | 'user'
  /** The model that answers. */
  | 'assistant';

/** Why a rule file applies, or why not. */
export type RuleReason =
  /** The rule applies to the whole workspace. */
  | {
    kind: 'always';
  }
  /** A file matches a pattern of the rule. */
  | {
    kind: 'pattern';
    /** The pattern. */
    pattern: string;
    /** The first file that matches. */
    file: FileKey;
  }
  /** The rule is in a directory above a file. */
  | {
    kind: 'directory';
    /** The first file below the directory. */
    file: FileKey;
  }
  /** No file matches the patterns of the rule, so it does not apply. */
  | {
    kind: 'no_match';
    /** The patterns. */
    patterns: string[];
  }
  /** The rule applies only if the user or the model asks for it. */
  | {
    kind: 'on_request';
  };

/**
 * The cost of an answer. Costs in tokens are those of the input, as the number of uncached input tokens that would
 * cost the same.
 */
export interface SendCost {
  /** Actual cost, including the effect of the cache. */
  paid: number;
  /** Cost if nothing had been cached. */
  uncached: number;
  /** Share of the input that was read from the cache, from 0 to 1. */
  readShare: number;
  /** Cost of input and output in US dollars. Absent if the price is unknown, or no usage was reported. */
  dollars?: number;
}

/** How an answer ended. */
export type SendEnd =
  /** The model finished its answer. */
  | 'complete'
  /** The answer reached its token limit. */
  | 'output_limit'
  /** The model requested more rounds of tool calls than the setting `provider.tool_rounds` allows. */
  | 'tool_rounds'
  /**
   * The model called tools that Strata does not run: tools of a forwarded conversation, or tools that were not
   * offered.
   */
  | 'tool_calls'
  /** The user stopped the answer. The partial answer is kept. */
  | 'cancelled'
  /** The provider's answer was interrupted. The partial answer is kept. */
  | 'cut'
  /** A later request failed. The answers to earlier requests are recorded. */
  | 'failed';

/** The tools that the model may use while it answers. */
export type SendTools =
  /** No tools. */
  | 'none'
  /** Strata's read-only tools, such as the map, outlines, references, searches, files and notes. */
  | 'read';

/** Arguments of a command that takes none. */
export interface ServerModelsParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The model table. */
export interface ServerModelsReply {
  /** Known models, sorted by name. */
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

/** Scanning of workspace folders. */
export interface ServerSettings {
  /** Names of directories to skip when scanning the workspace, in addition to the built-in list. */
  ignore: string[];
}

/** Scanning of workspace folders. */
export interface ServerSettingsInput {
  /** Names of directories to skip when scanning the workspace, in addition to the built-in list. */
  ignore?: string[];
}

/** Arguments of a command that takes none. */
export interface ServerSettingsParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The effective settings, and where they come from. */
export interface ServerSettingsReply {
  /** Effective value of every setting. */
  settings: Settings;
  /** Origin of each value, keyed by setting. */
  origins: Record<string, SettingOrigin>;
  /** Values that were ignored because a workspace file must not set them. */
  ignored: IgnoredSetting[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface ServerStatusParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The state of the server and its workspace. */
export interface ServerStatusReply {
  /** Version of the running server. */
  version: string;
  /** Id of the current session. */
  session: string;
  /** Absolute paths of the workspace folders. */
  roots: string[];
  /** Number of documents that are open in the editor. */
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
   * Problems found by the scan, and settings that have no effect: those that a workspace file must not set, and
   * unknown names in `redaction.allow`.
   */
  notes: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A session to delete. */
export interface SessionDeleteParams {
  /** Id of the session to delete. Defaults to the session that the command runs in. */
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
  /** Format of the export. Defaults to `jsonl`. */
  format?: ExportFormat;
  /** Id of the session to export. Defaults to the session that the command runs in. */
  id?: string | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** An exported session. */
export interface SessionExportReply {
  /** Format of the exported text. */
  format: ExportFormat;
  /** The exported conversation. */
  text: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Options for copying a session. */
export interface SessionForkParams {
  /** Number of the last message to copy. Defaults to the last message of the conversation. */
  until?: MessageId | null;
  /** Name of the new session. Defaults to none. */
  name?: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The session that is now current. */
export interface SessionForkReply {
  /** Id of the session. */
  id: string;
  /** Number of messages in the session. */
  messages: number;
  /** Whether the session is open read-only. */
  readOnly: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A recorded conversation to import. */
export interface SessionImportParams {
  /** A conversation that another program recorded, or the output of `strata.session.export`. */
  text: string;
  /** Name of the new session. Defaults to none. */
  name?: string;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The imported session. */
export interface SessionImportReply {
  /** Id of the new session. */
  id: string;
  /** Number of imported messages. */
  messages: number;
  /** Format that was recognized in the text. */
  form: ConversationForm;
  /** Number of lines in the text that contain no message. */
  skipped: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Arguments of a command that takes none. */
export interface SessionListParams {
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The open and stored sessions of the workspace. */
export interface SessionListReply {
  /** Sessions that have not been saved, then saved ones, most recently written first. */
  sessions: ListedSession[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A stored session to open. */
export interface SessionLoadParams {
  /** Id of the session to open. */
  id: string;
  /**
   * Whether to open the session read-only, for example because another server writes to it. Defaults to `false`.
   */
  readOnly?: boolean;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The session that is now current. */
export interface SessionLoadReply {
  /** Id of the session. */
  id: string;
  /** Number of messages in the session. */
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
  /** Number of messages in the session. */
  messages: number;
  /** Whether the session is open read-only. */
  readOnly: boolean;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A new name for a session. */
export interface SessionRenameParams {
  /** New name of the session. An empty string removes the name. */
  name: string;
  /** Id of the session to rename. Defaults to the session that the command runs in. */
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
  /** Number of messages in the session. */
  messages: number;
  /** Whether the session is open read-only. */
  readOnly: boolean;
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
  /** Tool calls, oldest first. */
  steps: Step[];
  /** Paths of the files that were read, most recently read last. */
  filesRead: string[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Where a setting comes from, from the weakest source to the strongest. */
export type SettingLayer =
  /** The built-in defaults. */
  | 'defaults'
  /** `strata.toml` in the user's configuration directory. */
  | 'user'
  /** `.strata.toml` or `.strata.yaml` in a workspace folder. */
  | 'workspace'
  /** Environment variables that begin with `STRATA_`. */
  | 'environment'
  /** Settings sent by the editor. */
  | 'editor'
  /** Command-line options. */
  | 'commandLine';

/** Where the effective value of a setting comes from. */
export interface SettingOrigin {
  /** Layer that the value comes from. */
  layer: SettingLayer;
  /** Display name of the source, such as a file path, `environment` or `editor`. */
  name: string;
}

/** All settings of Strata. */
export interface Settings {
  /**
   * Model that prompts are built for, by the name its provider uses. Determines how tokens are counted, the size of
   * the input window, and the rules of the prompt cache.
   */
  model: string;
  /**
   * Format of the request body, named after the API that accepts it. `markdown` is plain text for reading or
   * pasting. Defaults to the format of the model's own API: `anthropic`, `gemini`, or else `openai`.
   */
  format: Format | null;
  /** Layout of prompts for the provider's prompt cache. */
  cache: CacheSettings;
  /** The system prompt and its additions. */
  prompt: PromptSettings;
  /** The symbol map, which outlines the repository's files. */
  symbols: SymbolSettings;
  /** Selected files, and the list of files that are not in the symbol map. */
  files: FileSettings;
  /** The context frame: a list of names relevant to the question, placed after it. */
  context_frame: ContextFrameSettings;
  /** How the model's input window is divided. */
  budget: BudgetSettings;
  /** Models to add to the built-in table, and overrides for models in it. */
  models: ModelTable;
  /**
   * Absolute paths of tokenizer files (`tokenizer.json`), keyed by model family or model name. Add one to count
   * tokens exactly for models whose tokens Strata otherwise estimates.
   */
  tokenizers: Record<string, string>;
  /** The provider that `strata ask` and `strata.prompt.send` use. */
  provider: ProviderSettings;
  /** When and how to compact conversations. */
  compaction: CompactionSettings;
  /** Automatically added code, indexing, and the memory of autonomous loops. */
  context: ContextSettings;
  /** Patterns that classify tools by name. */
  tools: ToolPatterns;
  /** Tool results: how much of each to keep, and how long the model sees them. */
  tool_output: ToolOutputSettings;
  /** Redaction of secrets in text that models see. */
  redaction: RedactionSettings;
  /** Scanning of workspace folders. */
  server: ServerSettings;
  /** Standard LSP requests that Strata answers. */
  lsp: LspSettings;
}

/** All settings of Strata. */
export interface SettingsInput {
  /**
   * Model that prompts are built for, by the name its provider uses. Determines how tokens are counted, the size of
   * the input window, and the rules of the prompt cache.
   */
  model?: string;
  /**
   * Format of the request body, named after the API that accepts it. `markdown` is plain text for reading or
   * pasting. Defaults to the format of the model's own API: `anthropic`, `gemini`, or else `openai`.
   */
  format?: Format | null;
  /** Layout of prompts for the provider's prompt cache. */
  cache?: CacheSettingsInput;
  /** The system prompt and its additions. */
  prompt?: PromptSettingsInput;
  /** The symbol map, which outlines the repository's files. */
  symbols?: SymbolSettingsInput;
  /** Selected files, and the list of files that are not in the symbol map. */
  files?: FileSettingsInput;
  /** The context frame: a list of names relevant to the question, placed after it. */
  context_frame?: ContextFrameSettingsInput;
  /** How the model's input window is divided. */
  budget?: BudgetSettingsInput;
  /** Models to add to the built-in table, and overrides for models in it. */
  models?: ModelTableInput;
  /**
   * Absolute paths of tokenizer files (`tokenizer.json`), keyed by model family or model name. Add one to count
   * tokens exactly for models whose tokens Strata otherwise estimates.
   */
  tokenizers?: Record<string, string>;
  /** The provider that `strata ask` and `strata.prompt.send` use. */
  provider?: ProviderSettingsInput;
  /** When and how to compact conversations. */
  compaction?: CompactionSettingsInput;
  /** Automatically added code, indexing, and the memory of autonomous loops. */
  context?: ContextSettingsInput;
  /** Patterns that classify tools by name. */
  tools?: ToolPatternsInput;
  /** Tool results: how much of each to keep, and how long the model sees them. */
  tool_output?: ToolOutputSettingsInput;
  /** Redaction of secrets in text that models see. */
  redaction?: RedactionSettingsInput;
  /** Scanning of workspace folders. */
  server?: ServerSettingsInput;
  /** Standard LSP requests that Strata answers. */
  lsp?: LspSettingsInput;
}

/** A web page in the session. */
export interface ShownPage {
  /** Address of the page. */
  url: string;
  /** Title of the page. Absent if it has none. */
  title?: string;
  /** Key that identifies the page in the layout of prompts. */
  key: ItemKey;
  /** Tier of the page in the last recorded turn. */
  tier: Tier;
  /** Number of tokens in the page's text. */
  tokens: number;
}

/** A file that cannot be shown, with the reason. */
export interface SkippedFile {
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** Why the file cannot be shown. */
  reason: string;
}

/** The size and cost of the current session's context, as the context meter shows them. */
export interface Status {
  /** Id of the current session. */
  session: string;
  /** Model that prompts are built for. */
  model: string;
  /** Number of tokens in the next request, excluding the user's new message. */
  tokens: number;
  /** Input window of the model, in tokens. */
  window: number;
  /** `tokens` as a percentage of `window`. */
  percent: number;
  /**
   * Percentage of the session's billed input tokens that were read from the cache. Absent until input is billed.
   */
  cachedPercent: number | null;
  /**
   * What the session cost so far, in US dollars. Absent if the price of a model is unknown, or nothing was billed.
   */
  dollars?: number;
  /** Number of tokens that the next request can read from the cache. Absent if nothing is cached. */
  cachedTokens?: number;
  /** When the cache expires unless it is used before, in milliseconds since 1970. Absent if nothing is cached. */
  cacheExpiresMs?: number;
  /** How close the conversation is to the next compaction, as a percentage of the threshold. */
  compactionPercent: number;
  /**
   * Number of selected files that the next request omits because they do not fit. `strata.budget.report` lists
   * them.
   */
  shed: number;
  /** Number of secrets in selected files that placeholders replace. `strata.redaction.list` lists them. */
  redacted: number;
  /** Whether the conversation is saved to disk. If not, it is lost when the server exits. */
  stored: boolean;
  /** Whether all files have been outlined. */
  index: IndexState;
  /** Number of files in the workspace. */
  files: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A tool call and its outcome. */
export interface Step {
  /** Message that called the tool. */
  message: MessageId;
  /** Name of the tool. */
  tool: string;
  /** Path, command line or query; empty if the call has none. */
  subject: string;
  /** Whether the call succeeded or failed, if its result is known. */
  ended: StepOutcome;
}

/** Outcome of a tool call. */
export type StepOutcome =
  /** The call succeeded. */
  | 'well'
  /** The call failed. */
  | 'badly'
  /** The result of the call is not among the messages. */
  | 'unanswered';

/** Author of compaction summaries. */
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

/** A question for the client's model. */
export interface Summarize {
  /** What the answer is used for. */
  purpose: SummaryPurpose;
  /** System prompt of the request. */
  system: string;
  /** User message of the request. */
  prompt: string;
  /** Token limit for the answer. */
  maxTokens: number;
  /** Model from the settings, as the provider names it. Absent if the settings name none. */
  model?: string;
}

/** The answer of the client's model. */
export type Summary =
  /** Text of the answer. */
  | string
  /** An object with the answer, and optionally the model that wrote it. */
  | {
    /** Text of the answer. */
    text: string;
    /** Display name of the model that wrote the answer, shown in `strata/compaction`. */
    model?: string | null;
  };

/** Author of a compaction's summary: a model, or Strata itself if no model was used. */
export interface SummaryAuthor {
  /** Where the model runs, or `extractive` if no model was used. */
  kind: AuthorKind;
  /**
   * Name of the model: the one that the client reported with its answer, or `compaction.model`. Absent if no model
   * was used or the client did not report one.
   */
  model?: string;
}

/** What a model is asked to do for a compaction. */
export type SummaryPurpose =
  /** Finds where the topic changed. */
  | 'find_topic'
  /** Summarizes a conversation or a part of it. */
  | 'summarise'
  /** Merges the summaries of several parts into one. */
  | 'merge';

/** Whether a model supports a feature. */
export type Support = 'yes' | 'none';

/** The effect of switching to another model on the size and cost of the next prompt. */
export interface SwitchCost {
  /** Model to switch to. */
  model: string;
  /** Number of tokens in the next prompt, as counted for this model. */
  tokens: number;
  /** Charge for the cacheable part of the prompt, which is not cached for this model yet. */
  charge: Charge;
  /** Extra cost, in tokens of uncached input. */
  cost: number;
  /** Extra cost as a fraction of the cost of sending the whole next prompt without a cache. */
  share: number;
}

/** The definitions of a name in one file. */
export interface SymbolDefinition {
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** Lines that introduce the definitions, such as the signatures of functions. */
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

/** The symbol map, which outlines the repository's files. */
export interface SymbolSettings {
  /**
   * Token limit for the symbol map. Defaults to 1,000 in a prompt, and otherwise to an eighth of the input window,
   * but at least 4,000 and at most 64,000.
   */
  map_budget: number | null;
}

/** The symbol map, which outlines the repository's files. */
export interface SymbolSettingsInput {
  /**
   * Token limit for the symbol map. Defaults to 1,000 in a prompt, and otherwise to an eighth of the input window,
   * but at least 4,000 and at most 64,000.
   */
  map_budget?: number | null;
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
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** Number of files that refer to this file. Uncertain references count as less than 1. */
  incoming: number;
  /** Files that refer to this file, strongest relation first. */
  dependents: FileKey[];
  /** Files that this file refers to, strongest relation first. */
  dependencies: FileKey[];
  /** Files that this file imports. */
  imports: FileKey[];
  /** Files that this file refers to and that refer back to it. */
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
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** Name of the file's language. */
  language: string;
  /**
   * Definitions without their bodies, one per line. Each line contains the line range of the definition and its
   * head, indented by one space per level.
   */
  text: string;
  /** Number of tokens in `text`. */
  tokens: number;
  /** Lines with syntax errors, such as `3-9, 20`. Definitions in them may be missing. Absent if there are none. */
  unparsed?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** A search for symbols by name. */
export interface SymbolsFindParams {
  /** Name of a symbol, or some of its letters in order. May be qualified (`Type.method`). */
  query: string;
  /** Maximum number of symbols. Defaults to 50. */
  limit?: number;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The symbols that match a query. */
export interface SymbolsFindReply {
  /** Matching symbols, closest match first. */
  symbols: FoundSymbol[];
  /** Number of files with syntax errors, whose definitions may be missing. Absent if there are none. */
  incomplete?: number;
  /** The first files with syntax errors, each with the lines that could not be parsed. */
  unparsed?: UnparsedFile[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Size and topic of the symbol map. */
export interface SymbolsMapParams {
  /**
   * Token limit for the map. Defaults to the setting `symbols.map_budget`, or else to an eighth of the input
   * window, but at least 4,000 and at most 64,000.
   */
  budget?: number | null;
  /** Paths or globs (`src/**\/*.rs`) of files that the map must include. Files related to them are ranked first. */
  focus?: string[];
  /**
   * Topic of the map, in plain words. Related code is ranked first. Files and symbols named in the text are always
   * included.
   */
  about?: string | null;
  /** Order of the files in the map. Defaults to `rank`. */
  sort?: MapSort;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A symbol map that fits a token budget. */
export interface SymbolsMapReply {
  /** Explanation of the map's notation. */
  legend: string;
  /** Text of the map, one block per file. */
  text: string;
  /** Number of tokens in `text`. */
  tokens: number;
  /** Token budget that the map was built for. */
  budget: number;
  /** Files with a block, in the order of the blocks. */
  files: MapFile[];
  /** Number of outlined files that have no block in the map. */
  leftOut: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The name to find references to. */
export interface SymbolsReferencesParams {
  /** Name to find. May be qualified by types or modules: `total`, `Cart.total`, `shop.Cart.total`. */
  name: string;
  /** File to search for definitions of the name. Defaults to all files. */
  path?: string | null;
  /** Maximum number of references. Defaults to 200. */
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
   * References sorted by path and line, including the definitions. If there are more than `limit`, definitions take
   * precedence, then the most certain references.
   */
  hits: ReferenceHit[];
  /** Number of references found, including those beyond `limit`. */
  total: number;
  /**
   * Number of references omitted because they match only by name, and the language itself also defines this name.
   * Most of them refer to something else.
   */
  unlikely: number;
  /** Whether every line of indexed code that contains the name is listed. */
  complete: boolean;
  /**
   * Number of lines of code that contain the name and are not references: something else has the name, or it could
   * not be resolved.
   */
  otherCodeLines: number;
  /** Number of lines of comments, strings and documents that contain the name. */
  otherTextLines: number;
  /** How to narrow the query. Absent if all references are listed. */
  howToNarrow?: string;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The task to find relevant code for. */
export interface SymbolsRelevantParams {
  /** Description of the task, in plain words. */
  query: string;
  /** Maximum number of items. Defaults to 20. */
  limit?: number;
  /** Minimum score of an item, between 0 and 1. Defaults to 0. */
  minScore?: number;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The code that is relevant to a task. */
export interface SymbolsRelevantReply {
  /** Relevant files and definitions, best first. */
  items: RelevantItem[];
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Workspace files that the system prompt quotes or lists. */
export interface SystemFiles {
  /** Rule files that the prompt quotes. */
  rules: FileKey[];
  /** Skill files that the system prompt lists with their descriptions. */
  skills: FileKey[];
  /** Memory files that the system prompt quotes. */
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

/** A position in a document, as in the Language Server Protocol. */
export interface TextPosition {
  /** Line number, counted from 0. */
  line: number;
  /** Character offset in the line, counted from 0. */
  character: number;
}

/** A range in a document, as in the Language Server Protocol. */
export interface TextRange {
  /** Start of the range, inclusive. */
  start: TextPosition;
  /** End of the range, exclusive. */
  end: TextPosition;
}

/** How stable a piece of content is. L0 is the most stable and comes first; `active` content is not cached. */
export type Tier =
  /** The most stable content, which comes first in the prompt. */
  | 'L0'
  /** Cached content that is less stable than L0. */
  | 'L1'
  /** Cached content that is less stable than L1. */
  | 'L2'
  /** The least stable content that is still cached. */
  | 'L3'
  /** Content after the last cache breakpoint, which is not cached. */
  | 'active';

/** Items and tokens of one tier of a prompt. */
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

/** Items and tokens of one tier. */
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
  /** Time of the prompt that caused the break, in milliseconds since 1970. */
  atMs?: number;
  /** Reason for the break. */
  reason?: BreakReason;
  /** Items in the first block that did not stay in place. */
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
  /**
   * Tokens that the provider was expected to read from its cache for this prompt, and those that it read; absent if
   * there was no clear shortfall or no usage was reported.
   */
  missed?: CacheShortfall;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The pause or model switch whose cost to forecast. */
export interface TiersForecastParams {
  /** Model to forecast a switch to. If absent, no switch is forecast. */
  model?: string | null;
  /** Length of the pause to forecast, in seconds since the last prompt. If absent, no pause is forecast. */
  pauseSeconds?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** Cost forecast for the next prompt. */
export interface TiersForecastReply {
  /** Model of the next prompt. */
  model: string;
  /** Lifetime of cache entries, from the setting `cache.ttl`. */
  ttl: CacheTtl;
  /** Number of recorded prompts that the session remembers. */
  turns: number;
  /** Number of tokens in the next prompt, excluding the user's new message. */
  tokens: number;
  /**
   * Number of tokens in the cacheable part of the last recorded prompt, or of the next prompt if none has been
   * recorded yet.
   */
  marked: number;
  /** Average growth of the cacheable part of the prompt per turn, in tokens. */
  growth: number;
  /** When the cache expires, in milliseconds since 1970. Absent if nothing is cached. */
  cacheExpiresMs?: number;
  /** Costs if cache entries live five minutes. */
  fiveMinutes: CostOutlook;
  /** Costs if cache entries live one hour. */
  oneHour: CostOutlook;
  /** Lifetime under which the session would have cost less so far; five minutes if both cost the same. */
  cheaper: Ttl;
  /** Extra cost if the next prompt is sent after the cache has expired. */
  pastTtl: ExtraCost;
  /** Effect of a pause of `pauseSeconds`. Absent if none was requested. */
  pause?: PauseCost;
  /** Effect of switching to `model`. Absent if none was requested. */
  switch?: SwitchCost;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Cache policy to set for this session. */
export interface TiersPolicyParams {
  /** New policy of the session. `null` removes the session's own policy. If absent, nothing changes. */
  policy?: PolicyName | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The policy of the next prompt, and what determined it. */
export interface TiersPolicyReply {
  /** The chosen policy. */
  policy: PolicyName;
  /** What decided the choice. */
  decidedBy: DecidedBy;
  /** Policy set for the session. `null` if none is set. */
  session: PolicyName | null;
  /** Policy in the settings. `null` if none is set. */
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
  /** The chosen policy. */
  policy: PolicyName;
  /** What decided the choice. */
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

/** The reply to `tiers.report`: the layout of the next prompt without its message. */
export interface TiersReportReply {
  /** Model that the prompt was laid out for. */
  model: string;
  /** The chosen policy. */
  policy: PolicyName;
  /** What decided the choice. */
  decidedBy: DecidedBy;
  /** Number of prompts recorded so far. */
  turns: number;
  /** Summary of the last recorded prompt, which may come from another process; absent if none was recorded. */
  lastTurn?: LastTurn;
  /** Items and tokens of each nonempty tier. */
  tiers: TierReport[];
  /** Items in prompt order, followed by items that are not shown but keep their positions. */
  items: ItemReport[];
  /** Tokens of the whole prompt. */
  tokens: number;
  /** Expected charge, given what the provider's cache is believed to contain. */
  predicted: Charge;
  /**
   * Percentage of the prompt's tokens that is expected to be read from the cache (`predicted.read`), rounded to one
   * decimal.
   */
  expectedPercent: number;
  /** Percentage of the input billed so far that was read from the cache; absent before the first bill. */
  cachedPercent?: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The provider's token count, in either of the forms that clients may send. */
export type TokenCount =
  /** A bare number of tokens. */
  | number
  /** An object with the number of tokens. Further fields are ignored. */
  | {
    /** Number of input tokens. */
    inputTokens: number;
  };

/** Tokens that a provider adds to the text of a request. */
export interface TokenOverheads {
  /** Tokens per message, for its role and delimiters. */
  message: number;
  /** Tokens per request, for the beginning of the answer. */
  reply: number;
  /** Tokens per request, if it declares any tools. */
  tool_prompt: number;
  /** Tokens per declared tool, beyond its name, description and schema. */
  tool: number;
  /** Tokens per tool call and its result, in addition to their text. */
  tool_round_trip: number;
}

/** Token counts of a prompt. */
export interface TokenReport {
  /** Tokens of the whole prompt. */
  total: number;
  /** Tokens of each part. They add up to `total`. */
  parts: Record<string, number>;
  /** Tokens that the provider is expected to count, based on reported usage. */
  expected: Expected;
  /** Maximum value of `total`: `room` minus the margin for estimation error. */
  limit: number;
  /** Token limit for a prompt, as the provider counts them: `window` minus `outputReserve`. */
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

/** Whether the model may call the declared tools. */
export type ToolChoice =
  /** The model decides. */
  | 'auto'
  /**
   * The model may call none. The declarations stay, because they are part of the cached prefix. Bedrock has no such
   * option.
   */
  | 'none';

/** Outcome of a tool call. */
export type ToolOutcome =
  /** The call succeeded. */
  | 'ok'
  /** The call failed. The content describes the error. */
  | 'error';

/** Content of a tool output: a string or a list of parts. */
export type ToolOutput = string | ResultPartInput[];

/** A tool output to truncate, and optionally to add to the conversation. */
export interface ToolOutputAddParams {
  /** Content of the output: a string or a list of parts. */
  content: ToolOutput;
  /**
   * Id of the tool call that produced the output. If given, the result is added to the conversation. If absent, the
   * output is only truncated.
   */
  callId?: string | null;
  /** How the tool call ended. Defaults to `ok`. */
  outcome?: ToolOutcome;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** The truncated output, and the number of the message that was added. */
export interface ToolOutputAddReply {
  /** Content that the model sees, truncated to the limits for tool outputs. */
  content: ResultPart[];
  /** Number of the added message. Absent if none was added. */
  id?: MessageId;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** The lines of a tool output to read. */
export interface ToolOutputReadParams {
  /** Output to read: the number of a message, or the name of a spilled output. */
  id: OutputName;
  /** First line to read, counted from 1. Defaults to 1. */
  from?: number;
  /** Number of lines to read. Defaults to 200. */
  count?: number | null;
  /** The session. Defaults to the current one. */
  session?: string | null;
}

/** A range of lines from a tool output. */
export interface ToolOutputReadReply {
  /** Text of the lines, including line breaks. */
  text: string;
  /** Number of the first line, starting at 1. */
  from: number;
  /** Number of the last line; `from - 1` if there are no lines. */
  to: number;
  /** Number of lines in the whole output. */
  total: number;
  /** Number of changes to the session so far. */
  stateVersion: number;
}

/** Tool results: how much of each to keep, and how long the model sees them. */
export interface ToolOutputSettings {
  /** Maximum length of a tool output, in lines. Longer outputs are truncated. 0 means no limit. */
  max_lines: number;
  /**
   * Maximum length of a tool output, in bytes. Longer outputs are truncated. 0 means no limit in bytes. A limit of
   * 204,800 characters always applies.
   */
  max_bytes: number;
  /**
   * Size of a tool output, in characters, above which it is saved to a file instead of truncated. The conversation
   * then contains a notice, and the model can read the file in parts. 0 never saves an output to a file.
   */
  large_output_threshold: number;
  /** Which part of a truncated tool output to keep: only the beginning, or the beginning and the end. */
  truncate_mode: TruncateMode;
  /**
   * Maximum number of tool results that the model sees in full. Older ones are archived: replaced by stubs and
   * summarized. 0 means no limit.
   */
  cutoff: number;
  /**
   * How archived tool results are summarized: by a model (`llm`), or by keeping the beginning and the end of each
   * (`heuristic`). With `off`, nothing is archived.
   */
  summary: ToolSummaryStrategy;
  /**
   * When to archive tool results beyond `cutoff`: immediately, or once that saves more than rewriting the cache
   * costs.
   */
  ageing: ArchivalMode;
}

/** Tool results: how much of each to keep, and how long the model sees them. */
export interface ToolOutputSettingsInput {
  /** Maximum length of a tool output, in lines. Longer outputs are truncated. 0 means no limit. */
  max_lines?: number;
  /**
   * Maximum length of a tool output, in bytes. Longer outputs are truncated. 0 means no limit in bytes. A limit of
   * 204,800 characters always applies.
   */
  max_bytes?: number;
  /**
   * Size of a tool output, in characters, above which it is saved to a file instead of truncated. The conversation
   * then contains a notice, and the model can read the file in parts. 0 never saves an output to a file.
   */
  large_output_threshold?: number;
  /** Which part of a truncated tool output to keep: only the beginning, or the beginning and the end. */
  truncate_mode?: TruncateMode;
  /**
   * Maximum number of tool results that the model sees in full. Older ones are archived: replaced by stubs and
   * summarized. 0 means no limit.
   */
  cutoff?: number;
  /**
   * How archived tool results are summarized: by a model (`llm`), or by keeping the beginning and the end of each
   * (`heuristic`). With `off`, nothing is archived.
   */
  summary?: ToolSummaryStrategy;
  /**
   * When to archive tool results beyond `cutoff`: immediately, or once that saves more than rewriting the cache
   * costs.
   */
  ageing?: ArchivalMode;
}

/**
 * Patterns that classify tools by name, for summaries and the list of files read. `*` matches any characters, `?`
 * matches one, and case is ignored. Edit patterns are tried first, then commands, reads and searches.
 */
export interface ToolPatterns {
  /**
   * Names of tools that read files. The files they read are listed in later prompts, so that the model does not
   * read them again.
   */
  read_tools: string[];
  /** Names of tools that change files. Compaction keeps the paths of the files they change. */
  edit_tools: string[];
  /**
   * Names of tools that run shell commands. Summaries written without a model list these commands and which of them
   * failed.
   */
  command_tools: string[];
  /** Names of tools that search or list files. The files in their results do not count as read. */
  search_tools: string[];
}

/**
 * Patterns that classify tools by name, for summaries and the list of files read. `*` matches any characters, `?`
 * matches one, and case is ignored. Edit patterns are tried first, then commands, reads and searches.
 */
export interface ToolPatternsInput {
  /**
   * Names of tools that read files. The files they read are listed in later prompts, so that the model does not
   * read them again.
   */
  read_tools?: string[];
  /** Names of tools that change files. Compaction keeps the paths of the files they change. */
  edit_tools?: string[];
  /**
   * Names of tools that run shell commands. Summaries written without a model list these commands and which of them
   * failed.
   */
  command_tools?: string[];
  /** Names of tools that search or list files. The files in their results do not count as read. */
  search_tools?: string[];
}

/** The result of one tool call. */
export interface ToolResult {
  /** Id of the tool call that this result answers. */
  callId: string;
  /** Output of the tool: a string or a list of parts. */
  content: ToolOutput;
  /** Whether the tool failed. */
  outcome?: ToolOutcome;
}

/** How to summarize archived tool results. */
export type ToolSummaryStrategy =
  /** Summarizes with a model, or with `heuristic` if the model fails. */
  | 'llm'
  /** Quotes the beginning and the end of each result. */
  | 'heuristic'
  /** Does not archive results. */
  | 'off';

/** A tool call that the model made. */
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
  /** Cost of input and output in US dollars; absent if the price of a model is unknown or no bill was reported. */
  dollars?: number;
}

/** Quantity that a condition measures. */
export type TriggerMetric =
  /** Tokens of the conversation. */
  | 'history_tokens'
  /** Tokens of the whole prompt. */
  | 'context_tokens'
  /** Number of messages that the model sees. */
  | 'messages'
  /** Number of exchanges among the messages that the model sees. */
  | 'exchanges';

/** A condition that can make a compaction due, with its current value. */
export interface TriggerReading {
  /** Quantity that the condition measures. */
  measured: TriggerMetric;
  /** Current value of the quantity. */
  now: number;
  /** Limit of the quantity. Some conditions are met when it is reached, others only when it is exceeded. */
  limit: number;
  /** Whether this condition makes a compaction due. */
  due: boolean;
}

/** Which part of a long output to keep. */
export type TruncateMode =
  /** Keeps only the beginning. */
  | 'head'
  /** Keeps the beginning and the end, with a marker between them. */
  | 'head_tail';

/** Lifetime of cache entries that a request asks for. */
export type Ttl =
  /** Five minutes after the last use. */
  | '5m'
  /** One hour after the last use. */
  | '1h';

/** A cause of a failed request that Strata can recover from. */
export type TurnError =
  /** The provider rejected the prompt as too long. */
  | 'context_limit';

/** How a request to the provider ended. */
export type TurnStatus =
  /** The answer is complete. */
  | 'complete'
  /** The user stopped the answer. The part received so far is kept. */
  | 'aborted'
  /** The request failed. The prompt is treated as not sent. */
  | 'error';

/** A file with syntax errors. */
export interface UnparsedFile {
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** Lines that could not be parsed, such as `3-9, 20`. */
  lines: string;
}

/** A file that could not be searched. */
export interface UnreadableFile {
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** Reason why the file could not be searched. */
  reason: string;
}

/** A web page to add to the session. */
export interface UrlAddParams {
  /** Address of the page, with a scheme and a host. */
  url: string;
  /** Title of the page. Defaults to none. */
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
  /** Title of the page. Absent if it has none. */
  title?: string;
  /** Key that identifies the page in the layout of prompts. */
  key: ItemKey;
  /** Tier of the page in the last recorded turn. */
  tier: Tier;
  /** Number of tokens in the page's text. */
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

/** The result of removing a page. */
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
  /** Current lines of the excerpt; absent if the file no longer contains it. */
  lines?: LineRange;
  /** Why the excerpt was chosen for a question; absent if you pinned it and it was not chosen for any question. */
  reason?: ExcerptReason;
  /** Whether the excerpt is pinned, relevant to the last question, or left from an earlier one. */
  standing: ExcerptStanding;
  /** Position among the excerpts of the prompt, most relevant first; 0 for the first. */
  rank: number;
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
  /** Tier of the first block that shows the file. */
  tier: Tier;
  /** Excerpts of the file that the prompt shows; empty for a file selected as a whole. */
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
    /**
     * Note on how the bytes were converted to text, or that the editor may show different text. Absent if there is
     * none.
     */
    notice?: string;
    /** Why the editor may show other text; absent unless a message about the file was lost or invalid. */
    outOfStep?: OutOfStep;
  }
  /** Content that the client provided. */
  | {
    source: 'given';
  });

/** Whether a message is shown to the model or to the user. */
export type Visibility =
  /** The message is shown. */
  | 'shown'
  /** The message is hidden. A message hidden from the model is neither sent nor counted. */
  | 'hidden';

/** A warning for the user. */
export interface Warning {
  /**
   * Machine-readable kind of the warning: `outOfStep`, `settings`, `resume`, `store`, `watch`, `compaction`,
   * `redacted`, ...
   */
  code: string;
  /** Text of the warning, as a sentence. */
  message: string;
  /** File that the warning is about. Absent if it is not about a file. */
  path?: FileKey;
}

/** A file that was not selected, and why. */
export interface WithheldFile {
  /** Path of the file, relative to the workspace folder. */
  path: FileKey;
  /** Why the file was not selected, as a clause. */
  reason: string;
}
