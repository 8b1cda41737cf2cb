// What Strata takes, replies and says by itself. Made from the Rust types by
// `UPDATE_EXPECT=1 cargo test --test architecture generated`; do not edit.

/** The commands of `workspace/executeCommand`, each with its one argument and its reply. */
export interface Commands {
  /** Shows files in full. */
  'strata.files.select': { params: FilesSelectParams; reply: FilesSelectReply };
  /** Shows files as map blocks again. */
  'strata.files.deselect': { params: FilesDeselectParams; reply: FilesDeselectReply };
  /** Shows these files in full and no others. */
  'strata.files.set': { params: FilesSetParams; reply: FilesSetReply };
  /** Keeps files out of prompts altogether. */
  'strata.files.exclude': { params: FilesExcludeParams; reply: FilesExcludeReply };
  /** Takes an exclusion back. */
  'strata.files.include': { params: FilesIncludeParams; reply: FilesIncludeReply };
  /** Lists the files that the session chose. */
  'strata.files.list': { params: FilesListParams; reply: FilesListReply };
  /** Shows a text under a path, whatever the disk has there. */
  'strata.files.add': { params: FilesAddParams; reply: FilesAddReply };
  /** Does the same as `strata.files.deselect`. */
  'strata.files.remove': { params: FilesRemoveParams; reply: FilesRemoveReply };
  /** Has the selection follow files that were renamed. */
  'strata.files.rename': { params: FilesRenameParams; reply: FilesRenameReply };
  /** Deselects every file and forgets texts that were handed over; exclusions stay. */
  'strata.files.clear': { params: FilesClearParams; reply: FilesClearReply };
  /** Finds files of the workspace by letters of their paths. */
  'strata.files.find': { params: FilesFindParams; reply: FilesFindReply };
  /** Reads the current text of a file, or of lines or a definition of it: the buffer's, else the disk's. */
  'strata.files.read': { params: FilesReadParams; reply: FilesReadReply };
  /** Finds lines that match a pattern in the files of the workspace. */
  'strata.files.grep': { params: FilesGrepParams; reply: FilesGrepReply };
  /** Says whether a file is shown in full. */
  'strata.files.has': { params: FilesHasParams; reply: FilesHasReply };
  /** Takes note that files were read outside of what Strata sees. */
  'strata.files.markRead': { params: FilesMarkReadParams; reply: FilesMarkReadReply };
  /** Shows the document at hand in full, or the lines of a range, and tells the person. */
  'strata.here.select': { params: HereSelectParams; reply: HereSelectReply };
  /** Shows the document at hand as its map block again, and tells the person. */
  'strata.here.deselect': { params: HereDeselectParams; reply: HereDeselectReply };
  /** Selects the document at hand, or deselects it when it is selected, and tells the person. */
  'strata.here.toggle': { params: HereToggleParams; reply: HereToggleReply };
  /** Keeps the document at hand out of prompts altogether, and tells the person. */
  'strata.here.exclude': { params: HereExcludeParams; reply: HereExcludeReply };
  /** Takes its exclusion back, and tells the person. */
  'strata.here.include': { params: HereIncludeParams; reply: HereIncludeReply };
  /** Writes the next prompt into a file, and opens that in the editor or tells the person where it is. */
  'strata.here.preview': { params: HerePreviewParams; reply: HerePreviewReply };
  /** Tells the person in one line how the context stands. */
  'strata.here.status': { params: HereStatusParams; reply: HereStatusReply };
  /** Makes a prompt: a request body that a provider takes, with all that is known of it. */
  'strata.prompt.assemble': { params: PromptAssembleParams; reply: PromptAssembleReply };
  /** Reports what came of a prompt, which commits the turn. */
  'strata.prompt.record': { params: PromptRecordParams; reply: PromptRecordReply };
  /** Drops a prompt that was not sent. */
  'strata.prompt.discard': { params: PromptDiscardParams; reply: PromptDiscardReply };
  /**
   * Asks the model of the settings `provider.*`: assembles a prompt, sends it, shows the answer as it comes, and
   * records it with what was billed.
   */
  'strata.prompt.send': { params: PromptSendParams; reply: PromptSendReply };
  /** Shows what would be sent, as a document to read. */
  'strata.prompt.preview': { params: PromptPreviewParams; reply: PromptPreviewReply };
  /** Compares what would be sent with an earlier preview of it. */
  'strata.prompt.changes': { params: PromptChangesParams; reply: PromptChangesReply };
  /** Counts the tokens of a text. */
  'strata.prompt.estimate': { params: PromptEstimateParams; reply: PromptEstimateReply };
  /** Lists the excerpts that a question would bring along, or that the last prompt showed. */
  'strata.context.list': { params: ContextListParams; reply: ContextListReply };
  /** Keeps excerpts in every prompt. */
  'strata.context.pin': { params: ContextPinParams; reply: ContextPinReply };
  /** Takes the pins of excerpts back. */
  'strata.context.unpin': { params: ContextUnpinParams; reply: ContextUnpinReply };
  /** Takes excerpts out of prompts; they are not proposed again in this session. */
  'strata.context.dismiss': { params: ContextDismissParams; reply: ContextDismissReply };
  /** Proposes dismissed excerpts again. */
  'strata.context.restore': { params: ContextRestoreParams; reply: ContextRestoreReply };
  /** Sets how much code questions of this session bring along, or switches that on and off. */
  'strata.context.auto': { params: ContextAutoParams; reply: ContextAutoReply };
  /** Says what stands where in the next prompt, and why. */
  'strata.tiers.report': { params: TiersReportParams; reply: TiersReportReply };
  /** Has the next prompt laid afresh. */
  'strata.tiers.rebuild': { params: TiersRebuildParams; reply: TiersRebuildReply };
  /** Says which policy lays out prompts, and chooses the session's own. */
  'strata.tiers.policy': { params: TiersPolicyParams; reply: TiersPolicyReply };
  /** Explains why the last recorded prompt did not begin as the one before. */
  'strata.tiers.explainBreak': { params: TiersExplainBreakParams; reply: TiersExplainBreakReply };
  /** Says what a pause or another model would cost. */
  'strata.tiers.forecast': { params: TiersForecastParams; reply: TiersForecastReply };
  /** Adds a message. */
  'strata.history.add': { params: HistoryAddParams; reply: HistoryAddReply };
  /** Adds a question and its answer. */
  'strata.history.addExchange': { params: HistoryAddExchangeParams; reply: HistoryAddExchangeReply };
  /** Reads all messages, hidden ones included. */
  'strata.history.get': { params: HistoryGetParams; reply: HistoryGetReply };
  /** Counts the messages, and the tokens of what the model sees of them. */
  'strata.history.count': { params: HistoryCountParams; reply: HistoryCountReply };
  /** Replaces the conversation. */
  'strata.history.set': { params: HistorySetParams; reply: HistorySetReply };
  /** Empties the conversation. */
  'strata.history.clear': { params: HistoryClearParams; reply: HistoryClearReply };
  /** Drops a message and all behind it. */
  'strata.history.truncate': { params: HistoryTruncateParams; reply: HistoryTruncateReply };
  /** Replaces the content of a message. */
  'strata.history.edit': { params: HistoryEditParams; reply: HistoryEditReply };
  /** Keeps a message word for word in every compaction, or no longer. */
  'strata.history.pin': { params: HistoryPinParams; reply: HistoryPinReply };
  /** Hides a message from the model or the person, or shows it again. */
  'strata.history.hide': { params: HistoryHideParams; reply: HistoryHideReply };
  /** Forgets the places of messages in the tiers; the conversation stays. */
  'strata.history.reregister': { params: HistoryReregisterParams; reply: HistoryReregisterReply };
  /** Adds a conversation that another program recorded. */
  'strata.history.import': { params: HistoryImportParams; reply: HistoryImportReply };
  /** Cuts an output of a tool to what is kept of it, and adds it to the conversation when it names its call. */
  'strata.toolOutput.add': { params: ToolOutputAddParams; reply: ToolOutputAddReply };
  /** Reads on in an output that was cut. */
  'strata.toolOutput.read': { params: ToolOutputReadParams; reply: ToolOutputReadReply };
  /** Remembers an iteration of an autonomous loop. */
  'strata.iteration.add': { params: IterationAddParams; reply: IterationAddReply };
  /** Makes what the next iteration begins with. */
  'strata.iteration.prompt': { params: IterationPromptParams; reply: IterationPromptReply };
  /** Says where the loop stands. */
  'strata.iteration.status': { params: IterationStatusParams; reply: IterationStatusReply };
  /** Keeps a note that outlives the session. */
  'strata.memory.add': { params: MemoryAddParams; reply: MemoryAddReply };
  /** Finds words in all notes, memory files and conversations of the workspace. */
  'strata.memory.search': { params: MemorySearchParams; reply: MemorySearchReply };
  /** Lists the notes. */
  'strata.memory.list': { params: MemoryListParams; reply: MemoryListReply };
  /** Removes a note. */
  'strata.memory.remove': { params: MemoryRemoveParams; reply: MemoryRemoveReply };
  /** Begins a session and shows it. */
  'strata.session.new': { params: SessionNewParams; reply: SessionNewReply };
  /** Begins a session with the same files in view and shows it. */
  'strata.session.reset': { params: SessionResetParams; reply: SessionResetReply };
  /** Lists the sessions, the one written to last first. */
  'strata.session.list': { params: SessionListParams; reply: SessionListReply };
  /** Opens a stored session and shows it. */
  'strata.session.load': { params: SessionLoadParams; reply: SessionLoadReply };
  /** Lists what the tools did in the session. */
  'strata.session.steps': { params: SessionStepsParams; reply: SessionStepsReply };
  /** Begins a session with the messages of this one and shows it. */
  'strata.session.fork': { params: SessionForkParams; reply: SessionForkReply };
  /** Gives a session a name. */
  'strata.session.rename': { params: SessionRenameParams; reply: SessionRenameReply };
  /** Deletes a session. */
  'strata.session.delete': { params: SessionDeleteParams; reply: SessionDeleteReply };
  /** Writes a session out as text. */
  'strata.session.export': { params: SessionExportParams; reply: SessionExportReply };
  /** Makes a session of a text that `strata.session.export` or another program wrote. */
  'strata.session.import': { params: SessionImportParams; reply: SessionImportReply };
  /** Finds words in the session. */
  'strata.session.search': { params: SessionSearchParams; reply: SessionSearchReply };
  /** Shows a web page that the client fetched. */
  'strata.url.add': { params: UrlAddParams; reply: UrlAddReply };
  /** Shows a web page no longer. */
  'strata.url.remove': { params: UrlRemoveParams; reply: UrlRemoveReply };
  /** Lists the web pages that are shown. */
  'strata.url.list': { params: UrlListParams; reply: UrlListReply };
  /** Says what the next request weighs before its prompt. */
  'strata.budget.report': { params: BudgetReportParams; reply: BudgetReportReply };
  /** Limits the input tokens of every request of the session. */
  'strata.budget.set': { params: BudgetSetParams; reply: BudgetSetReply };
  /** Says how near a compaction is. */
  'strata.compaction.status': { params: CompactionStatusParams; reply: CompactionStatusReply };
  /** Makes the conversation shorter; answered when that is done. */
  'strata.compaction.run': { params: CompactionRunParams; reply: CompactionRunReply };
  /** Takes the last compaction back. */
  'strata.compaction.undo': { params: CompactionUndoParams; reply: CompactionUndoReply };
  /**
   * Makes the conversation shorter after the provider said that a prompt was too long; answered when that is done.
   */
  'strata.compaction.contextLimitExceeded': { params: CompactionContextLimitExceededParams; reply: CompactionContextLimitExceededReply };
  /** Lists the secrets in whose place placeholders stand. */
  'strata.redaction.list': { params: RedactionListParams; reply: RedactionListReply };
  /** Puts the secrets back into a text that is to be applied. */
  'strata.redaction.restore': { params: RedactionRestoreParams; reply: RedactionRestoreReply };
  /** Makes the symbol map. */
  'strata.symbols.map': { params: SymbolsMapParams; reply: SymbolsMapReply };
  /** Outlines one file, with line numbers. */
  'strata.symbols.file': { params: SymbolsFileParams; reply: SymbolsFileReply };
  /** Says who mentions a name. */
  'strata.symbols.references': { params: SymbolsReferencesParams; reply: SymbolsReferencesReply };
  /** Says which files a file depends on, and which depend on it. */
  'strata.symbols.dependents': { params: SymbolsDependentsParams; reply: SymbolsDependentsReply };
  /** Finds definitions by letters of their names. */
  'strata.symbols.find': { params: SymbolsFindParams; reply: SymbolsFindReply };
  /** Names the files and definitions that a text is about. */
  'strata.symbols.relevant': { params: SymbolsRelevantParams; reply: SymbolsRelevantReply };
  /** Says how the server stands. */
  'strata.server.status': { params: ServerStatusParams; reply: ServerStatusReply };
  /** Walks and outlines the repository anew. */
  'strata.server.reindex': { params: ServerReindexParams; reply: ServerReindexReply };
  /** Shows the settings in force. */
  'strata.server.settings': { params: ServerSettingsParams; reply: ServerSettingsReply };
  /** Lists what is known of models. */
  'strata.server.models': { params: ServerModelsParams; reply: ServerModelsReply };
}

/** What the server says by itself. */
export interface Notifications {
  /** How full the context is and how much of it is cached; at most four times a second. */
  'strata/status': Status;
  /** A compaction began, ended or failed. */
  'strata/compaction': Compaction;
  /** A piece of an answer to `strata.prompt.send`, in the order in which it comes, all before the reply. */
  'strata/delta': Delta;
  /** Something that the person should know. */
  'strata/warning': Warning;
}

/** What the server asks of a client that says it answers it. */
export interface Requests {
  /**
   * Asks the client to have a model write a summary. Sent only to clients that name it in the `requests` of their
   * `initializationOptions`.
   */
  'strata/summarize': { params: Summarize; reply: Summary };
  /**
   * Asks the client how many tokens a request is by the provider's own count. Sent only to clients that name it in
   * the `requests` of their `initializationOptions`.
   */
  'strata/countTokens': { params: CountTokens; reply: TokenCount };
}

/** When results over the cutoff are archived. */
export type ArchivalMode =
  /** At once. */
  | 'eager'
  /** When it costs no more than it saves. */
  | 'cache_aware';

/** Whose model writes a summary. */
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
  /** Nothing broke: what was there stands in front, something was added. */
  | 'none'
  /** Another model, dialect or tools. */
  | 'model'
  /** Nothing was left of the cache after a pause. */
  | 'expired'
  /** The system prompt was changed. */
  | 'system'
  /** A file was deselected. */
  | 'deselected'
  /** A file was excluded. */
  | 'excluded'
  /** A file was selected, and its full text stands for its outline. */
  | 'selected'
  /** A text was changed, and a new version stands in its place. */
  | 'changed'
  /** Something vanished, or there was no room for it. */
  | 'vanished'
  /** The conversation was edited, replaced or shortened. */
  | 'history'
  /** The same content stands in another place. */
  | 'moved';

/** A cache breakpoint of a prompt. */
export interface Breakpoint {
  /** The tier that ends there. */
  tier: Tier;
  /** The tokens in front of it. */
  prefixTokens: number;
}

/** The request that limits are those of. */
export interface BudgetReportParams {
  /** The model; that of the last prompt when absent, and the setting's before the first. */
  model?: string | null;
  /** Maximum input tokens that the client passes on; the model's window when absent or larger. */
  maxInputTokens?: number | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of `budget.report`. All weights are in tokens. */
export interface BudgetReportReply {
  /** The model. */
  model: string;
  /** What the conversation weighs. */
  historyTokens: number;
  /** A sixteenth of the input window: reported, not enforced (`docs/prompt.md`, "Budgets"). */
  maxHistoryTokens: number;
  /** The input window. */
  maxInputTokens: number;
  /** What is kept free for the answer. */
  outputReserve: number;
  /** What the next request weighs before its prompt. */
  used: number;
  /** What the prompt may still weigh. */
  remaining: number;
  /** What reported usage says that the provider will count, with its error bar. */
  expected: Expected;
  /** What reported usage taught about the model; absent before any was reported. */
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
  /** What the session was billed for so far. */
  totals: Totals;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Limits of a session. */
export interface BudgetSetParams {
  /** Maximum input tokens of every request of the session; the model's window when absent. */
  maxInputTokens?: number | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The limits that hold now. */
export interface BudgetSetReply {
  /**
   * Maximum tokens of a request: the input window less the reserve for the answer and what estimates may be off by.
   */
  limit: number;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** What is kept free in the model's window. */
export interface BudgetSettings {
  /** Tokens kept for the answer. Without it: the model's largest output, at most a sixteenth of the window. */
  output_reserve: number | null;
}

/** What is kept free in the model's window. */
export interface BudgetSettingsInput {
  /** Tokens kept for the answer. Without it: the model's largest output, at most a sixteenth of the window. */
  output_reserve?: number | null;
}

/** What an entry says of its provider's cache. */
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

/** What an entry says of its provider's cache. */
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

/** Who says where a cached prefix ends. */
export type CacheKind =
  /** The request, by markers. */
  | {
    kind: 'explicit';
    /** Markers that one request may carry. */
    max_breakpoints: number;
    /** A marker finds entries that end up to so many blocks before it, its own block counted. */
    lookback: number;
  }
  /** The provider: the longest known prefix is read. */
  | {
    kind: 'automatic';
    /** Its length is rounded down to a multiple of this. Tokens. */
    granularity: number;
  }
  /** Nobody: nothing is cached. */
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
  /** Who says where a cached prefix ends. */
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
  /** How prompts are laid out. Without it: `ledger` for models whose provider caches, `flat` for others. */
  policy: PolicyName | null;
  /**
   * What a cached tier should hold at least, in tokens; the model's own minimum counts when it is larger. 0
   * switches the target off.
   */
  min_tokens: number;
  /** How long the provider is asked to keep entries. */
  ttl: Ttl;
  /**
   * Whether a file that changed inside what is cached is brought up to date by a diff further down. Otherwise its
   * current text is laid anew, and all that stands behind the old one with it.
   */
  deltas: boolean;
  /** Whether edits that the model's own messages spell out, and that were made as spelled out, need no diff. */
  history_deltas: boolean;
  /** By how many percent old texts and their updates may lengthen a prompt before some of it is laid anew. */
  slack: number;
}

/** Prompt caching. */
export interface CacheSettingsInput {
  /** How prompts are laid out. Without it: `ledger` for models whose provider caches, `flat` for others. */
  policy?: PolicyName | null;
  /**
   * What a cached tier should hold at least, in tokens; the model's own minimum counts when it is larger. 0
   * switches the target off.
   */
  min_tokens?: number;
  /** How long the provider is asked to keep entries. */
  ttl?: Ttl;
  /**
   * Whether a file that changed inside what is cached is brought up to date by a diff further down. Otherwise its
   * current text is laid anew, and all that stands behind the old one with it.
   */
  deltas?: boolean;
  /** Whether edits that the model's own messages spell out, and that were made as spelled out, need no diff. */
  history_deltas?: boolean;
  /** By how many percent old texts and their updates may lengthen a prompt before some of it is laid anew. */
  slack?: number;
}

/** A provider said that it read clearly less than was expected. */
export interface CacheShortfall {
  /** What was expected, in tokens by our own count. */
  expected: number;
  /** What was reported, in tokens by the provider's count. */
  reported: number;
}

/** What one request cost. `read + written + plain` is all of its input. */
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
  /** Nothing at all. */
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
  /** What it was. */
  before?: ConversationSize;
  /** What it is now. */
  after?: ConversationSize;
  /** Who wrote the summary; absent before it is written, and when the conversation was only cut. */
  summarisedBy?: SummaryAuthor;
  /** What you should know: why a model was not asked, or which steps failed. */
  notes?: string[];
  /** Why it failed. */
  error?: string;
}

/** The arguments of a command that takes none. */
export interface CompactionContextLimitExceededParams {
  /** The session that the command is about; without it the one that is shown. */
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
  /** What it was. */
  before?: ConversationSize;
  /** What it is now. */
  after?: ConversationSize;
  /** Who wrote the summary; absent before it is written, and when the conversation was only cut. */
  summarisedBy?: SummaryAuthor;
  /** What you should know: why a model was not asked, or which steps failed. */
  notes?: string[];
  /** Why it failed. */
  error?: string;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** When a profile looks whether a compaction is due. */
export type CompactionMoment =
  /** After a turn was recorded; the next prompt may still be made of the old conversation. */
  | 'after_turn'
  /** Before a prompt is assembled, which waits for it. */
  | 'before_assembling'
  /** After a turn was recorded, too: a turn is to a conversation what an iteration is to a loop. */
  | 'on_iteration';

/** Why a conversation is compacted. */
export type CompactionReason =
  /** Somebody asked for it. */
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
  /** The session that the command is about; without it the one that is shown. */
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
  /** What it was. */
  before?: ConversationSize;
  /** What it is now. */
  after?: ConversationSize;
  /** Who wrote the summary; absent before it is written, and when the conversation was only cut. */
  summarisedBy?: SummaryAuthor;
  /** What you should know: why a model was not asked, or which steps failed. */
  notes?: string[];
  /** Why it failed. */
  error?: string;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Compaction of the conversation. */
export interface CompactionSettings {
  /** Whether the conversation is watched at all. */
  enabled: boolean;
  /** Whether a compaction that is due runs by itself. */
  auto: boolean;
  /**
   * The rules: `topic`, `continuation`, `checkpoint`, `rolling`, `handoff`, or the name of a profile of one's own.
   */
  profile: string;
  /** Profiles of one's own, and figures that replace those of the five. */
  profiles: Record<string, ProfileOptions>;
  /**
   * Who writes summaries. By default your editor's model where it offers one, else the provider of
   * `compaction.model`, else no model.
   */
  summariser: SummariserKind;
  /** The model that writes summaries, by its provider's name. */
  model: string | null;
  /** The model that finds where the topic changed. Without it, `topic` summarises. */
  detection_model: string | null;
  /** The address of the provider, when not its usual one: `https:`, or `http:` on this machine. */
  base_url: string | null;
  /**
   * The environment variable that holds the provider's key, when not the usual one. Its name ends in `_API_KEY`,
   * `_TOKEN` or `_KEY`.
   */
  key_env: KeyVariable | null;
  /** How long one answer of a model may take, in seconds. */
  timeout_s: number;
}

/** Compaction of the conversation. */
export interface CompactionSettingsInput {
  /** Whether the conversation is watched at all. */
  enabled?: boolean;
  /** Whether a compaction that is due runs by itself. */
  auto?: boolean;
  /**
   * The rules: `topic`, `continuation`, `checkpoint`, `rolling`, `handoff`, or the name of a profile of one's own.
   */
  profile?: string;
  /** Profiles of one's own, and figures that replace those of the five. */
  profiles?: Record<string, ProfileOptionsInput>;
  /**
   * Who writes summaries. By default your editor's model where it offers one, else the provider of
   * `compaction.model`, else no model.
   */
  summariser?: SummariserKind;
  /** The model that writes summaries, by its provider's name. */
  model?: string | null;
  /** The model that finds where the topic changed. Without it, `topic` summarises. */
  detection_model?: string | null;
  /** The address of the provider, when not its usual one: `https:`, or `http:` on this machine. */
  base_url?: string | null;
  /**
   * The environment variable that holds the provider's key, when not the usual one. Its name ends in `_API_KEY`,
   * `_TOKEN` or `_KEY`.
   */
  key_env?: KeyVariable | null;
  /** How long one answer of a model may take, in seconds. */
  timeout_s?: number;
}

/** How far a compaction is. */
export type CompactionState =
  /** It began. */
  | 'started'
  /** The conversation is shorter. */
  | 'ended'
  /** The conversation is as it was. */
  | 'failed';

/** The request that limits are those of. */
export interface CompactionStatusParams {
  /** The model; that of the last prompt when absent, and the setting's before the first. */
  model?: string | null;
  /** Maximum input tokens that the client passes on; the model's window when absent or larger. */
  maxInputTokens?: number | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of `compaction.status`. */
export interface CompactionStatusReply {
  /** Whether the conversation is watched at all. */
  enabled: boolean;
  /** The rules in force. */
  profile: string;
  /** What the condition that is nearest counts; absent when the profile has none. */
  measured?: TriggerMetric;
  /** How much of that there is; tokens of the conversation when the profile has no condition. */
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
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** How a conversation was made shorter. */
export type CompactionStrategy =
  /** It begins where the topic changed. */
  | 'topic_cut'
  /** A model's summary. */
  | 'model'
  /** A summary extracted from the conversation itself. */
  | 'extractive'
  /** The oldest exchanges were dropped. */
  | 'truncated';

/** The arguments of a command that takes none. */
export interface CompactionUndoParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What was taken back. */
export interface CompactionUndoReply {
  /** The profile whose compaction it was. */
  profile: string;
  /** What the conversation was before this. */
  before: ConversationSize;
  /** How many messages the model sees now. */
  messages: number;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** How far a reference is to be trusted. */
export type Confidence =
  /** By its name alone: nothing says what the value is whose member it is. */
  | 'guess'
  /** Scopes, imports or types lead from it to the definition. */
  | 'certain';

/** What a message says: a text, or a list of blocks. */
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
    /** Where its bytes are. */
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
  /** What the tool gave back. */
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
    /** Whose it is. */
    provider: ForeignProvider;
    /** The block as it came, without cache marks. */
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
    /** Where its bytes are. */
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
  /** What the tool gave back. */
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
    /** Whose it is. */
    provider: ForeignProvider;
    /** The block as it came, without cache marks. */
    value: unknown;
  };

/** The hash of a text, as 32 hexadecimal digits. */
export type ContentHash = string;

/** How much code questions bring along from now on. */
export interface ContextAutoParams {
  /** Maximum tokens, 0 for none. Without it: none when questions bring code along now, else 8,000. */
  budget?: number | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** How much code questions bring along now. */
export interface ContextAutoReply {
  /** Maximum tokens. */
  budget: number;
  /** The same in a sentence. */
  message: string;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Excerpts, by name. */
export interface ContextDismissParams {
  /**
   * Definitions (`src/a.py#Session.send`) or lines (`src/a.py#L10-40`), as the reply of `strata.prompt.assemble`
   * names them.
   */
  excerpts: string[];
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What was done to excerpts. */
export interface ContextDismissReply {
  /** Those that it was done to. */
  changed: ExcerptKey[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** What a request is about, as a list of names that stands behind it. */
export interface ContextFrameSettings {
  /** Whether to include a context frame in prompts: the names and lines of what a question is about. */
  inject: boolean;
  /** Whether what is open and selected has a say, and only the best `top_k` are told. */
  rerank: boolean;
  /** So many items stay after that. */
  top_k: number;
  /** Items that score less are left out, between 0 and 1; the best has 1. */
  min_score: number;
  /** So many items at most. */
  max_items: number;
}

/** What a request is about, as a list of names that stands behind it. */
export interface ContextFrameSettingsInput {
  /** Whether to include a context frame in prompts: the names and lines of what a question is about. */
  inject?: boolean;
  /** Whether what is open and selected has a say, and only the best `top_k` are told. */
  rerank?: boolean;
  /** So many items stay after that. */
  top_k?: number;
  /** Items that score less are left out, between 0 and 1; the best has 1. */
  min_score?: number;
  /** So many items at most. */
  max_items?: number;
}

/** What a question would bring along. */
export interface ContextListParams {
  /** The question. Without it: what the last prompt showed. */
  prompt?: string | null;
  /** Maximum tokens of code; the session's or the setting's when absent. */
  autoBudget?: number | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The excerpts of a session. */
export interface ContextListReply {
  /** Maximum tokens of code that a question brings along. */
  autoBudget: number;
  /** Pinned ones, then those that the question is about, best first, then those of earlier questions. */
  excerpts: ListedExcerpt[];
  /** Those that are not proposed again. */
  dismissed: ExcerptKey[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Excerpts, by name. */
export interface ContextPinParams {
  /**
   * Definitions (`src/a.py#Session.send`) or lines (`src/a.py#L10-40`), as the reply of `strata.prompt.assemble`
   * names them.
   */
  excerpts: string[];
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What was done to excerpts. */
export interface ContextPinReply {
  /** Those that it was done to. */
  changed: ExcerptKey[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface ContextRestoreParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What was done to excerpts. */
export interface ContextRestoreReply {
  /** Those that it was done to. */
  changed: ExcerptKey[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The code that questions bring along, and how much an autonomous loop remembers. */
export interface ContextSettings {
  /**
   * Maximum tokens of code that a question brings along: excerpts of the files that it is about. What a prompt
   * shows already counts. 0, the default, switches it off; `strata prompt` and `strata ask` take 8,000 when no file
   * is selected.
   */
  auto_budget: number;
  /**
   * How long a prompt waits for the index when the repository is still being indexed, in milliseconds. A prompt
   * that does not wait any longer has no map or an incomplete one.
   */
  index_wait_ms: number;
  /** Iterations that are kept word for word. */
  raw_window_size: number;
  /** The summary is written anew whenever so many more iterations are done; 0 is never. */
  summarize_every: number;
  /** The most that the summary may weigh, in tokens. */
  max_summary_tokens: number;
}

/** The code that questions bring along, and how much an autonomous loop remembers. */
export interface ContextSettingsInput {
  /**
   * Maximum tokens of code that a question brings along: excerpts of the files that it is about. What a prompt
   * shows already counts. 0, the default, switches it off; `strata prompt` and `strata ask` take 8,000 when no file
   * is selected.
   */
  auto_budget?: number;
  /**
   * How long a prompt waits for the index when the repository is still being indexed, in milliseconds. A prompt
   * that does not wait any longer has no map or an incomplete one.
   */
  index_wait_ms?: number;
  /** Iterations that are kept word for word. */
  raw_window_size?: number;
  /** The summary is written anew whenever so many more iterations are done; 0 is never. */
  summarize_every?: number;
  /** The most that the summary may weigh, in tokens. */
  max_summary_tokens?: number;
}

/** Excerpts, by name. */
export interface ContextUnpinParams {
  /**
   * Definitions (`src/a.py#Session.send`) or lines (`src/a.py#L10-40`), as the reply of `strata.prompt.assemble`
   * names them.
   */
  excerpts: string[];
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What was done to excerpts. */
export interface ContextUnpinReply {
  /** Those that it was done to. */
  changed: ExcerptKey[];
  /** How often the session was changed so far. */
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

/** How many messages the model sees, and what they weigh. */
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
  /** What would be sent. */
  body: unknown;
}

/** How much of the repository a prompt shows. */
export interface Coverage {
  /** Files with a map block. */
  blocks: number;
  /** Files named in the repository file list. */
  names: number;
  /** Files of which only the directory is named. */
  directories: number;
  /** What the map blocks may weigh together, in tokens. */
  mapBudget: number;
}

/** Who decided on a policy. */
export type DecidedBy =
  /**
   * The repository is still being indexed: tiers that are filled while outlines come in would be rewritten at once.
   */
  | 'indexing'
  /** The request itself. */
  | 'request'
  /** The session. */
  | 'session'
  /** The setting `cache.policy`. */
  | 'setting'
  /** Nobody, so the model's cache. */
  | 'model';

/**
 * A piece of an answer that is being written: exactly one of `text`, `thinking`, `toolCall`, `toolResult` and
 * `notice`.
 */
export interface Delta {
  /** What the client called the answer. */
  stream: string;
  /** The session. */
  session: string;
  /** The next piece of what the model says. Placeholders of known secrets are replaced by the secrets. */
  text?: string;
  /** The next piece of what it thinks, where the provider shows that. */
  thinking?: string;
  /** A tool that it calls. */
  toolCall?: DeltaToolCall;
  /** What came of such a call. */
  toolResult?: DeltaToolResult;
  /** What you should know now, in a sentence: the prompt is sent once more because it was too long. */
  notice?: string;
}

/** A tool call. */
export interface DeltaToolCall {
  /** Its name in the conversation. */
  id: string;
  /** The tool. */
  name: string;
  /** What it is called with. */
  input: unknown;
}

/** What came of a tool call. */
export interface DeltaToolResult {
  /** The call. */
  id: string;
  /** The tool. */
  name: string;
  /** Whether it failed. */
  outcome: ToolOutcome;
  /** What the model is told, at most 2,000 characters of it. */
  text: string;
}

/** Whether a document's text is the editor's text. */
export type DocumentSync =
  /** It is. */
  | {
    state: 'in_step';
  }
  /** It may not be; the next full text (open, full change, or save with text) mends it. */
  | {
    state: 'out_of_step';
    /** What went wrong first. */
    reason: OutOfStep;
  };

/** How much a run did. What was neither read nor parsed was known. */
export interface Efforts {
  /** Files that were read. */
  read: number;
  /** Files that were parsed, all of which were read. */
  parsed: number;
}

/**
 * The name of an excerpt: a definition (`src/a.py#Session.send`, `src/a.py#Session.send~2` for the second of that
 * name) or lines (`src/a.py#L10-40`).
 */
export type ExcerptKey = string;

/** What speaks for an excerpt most. */
export type ExcerptReason =
  /** The question names its file. */
  | 'named'
  /** Its name or its text has words of the question. */
  | 'words'
  /** Its file as a whole has words of the question, or is close to those that have. */
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

/** What a request is expected to be billed for. */
export interface Expected {
  /** Tokens. */
  tokens: number;
  /** In nine of ten requests it is not further off than so many tokens. */
  error: number;
}

/** A form that a session is written in. */
export type ExportFormat =
  /** Strata's own lines: all messages with all that is known of them. */
  | 'jsonl'
  /** What the model sees, as a request to Anthropic. */
  | 'anthropic'
  /** What the model sees, as a request to OpenAI. */
  | 'openai'
  /** What the model sees, to read. */
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
  /** What happened. */
  change: FileChange;
}

/**
 * A file's name: its path below its root with `/` between the parts (`src/lib.rs`), behind the root's name when
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

/** Files in full and the repository file list. */
export interface FileSettings {
  /** Larger files are refused, in bytes. */
  max_bytes: number;
  /** What the repository file list may weigh, in tokens. 0 leaves it out. */
  list_budget: number;
}

/** Files in full and the repository file list. */
export interface FileSettingsInput {
  /** Larger files are refused, in bytes. */
  max_bytes?: number;
  /** What the repository file list may weigh, in tokens. 0 leaves it out. */
  list_budget?: number;
}

/** A path with the text that stands for it. */
export interface FilesAddParams {
  /** Where it stands for a file. */
  path: string;
  /** The text. */
  content: string;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What a change of the selection did. */
export interface FilesAddReply {
  /** The files that were changed, in key order. */
  changed: FileKey[];
  /** Files that belong to a folder or pattern but were not taken unasked. */
  withheld: WithheldFile[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface FilesClearParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of a command that only says that it did what it should. */
export interface FilesClearReply {
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Paths: files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
export interface FilesDeselectParams {
  /** Files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
  paths: string[];
  /**
   * Files that are selected although their name says that they hold secrets, and shown as they are, without
   * placeholders in the place of secrets.
   */
  confirmSecrets?: string[];
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What a change of the selection did. */
export interface FilesDeselectReply {
  /** The files that were changed, in key order. */
  changed: FileKey[];
  /** Files that belong to a folder or pattern but were not taken unasked. */
  withheld: WithheldFile[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Paths: files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
export interface FilesExcludeParams {
  /** Files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
  paths: string[];
  /**
   * Files that are selected although their name says that they hold secrets, and shown as they are, without
   * placeholders in the place of secrets.
   */
  confirmSecrets?: string[];
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What a change of the selection did. */
export interface FilesExcludeReply {
  /** The files that were changed, in key order. */
  changed: FileKey[];
  /** Files that belong to a folder or pattern but were not taken unasked. */
  withheld: WithheldFile[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** What to look for among the files of the workspace. */
export interface FilesFindParams {
  /** Letters of a path, in order; every file without any. */
  query?: string;
  /** How many at most. */
  limit?: number;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The files that were found. */
export interface FilesFindReply {
  /** The closest first; without a query in the order of their names. */
  files: FoundFile[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** What to look for, and where. */
export interface FilesGrepParams {
  /** A regular expression as ripgrep takes it, matched within each line. */
  pattern: string;
  /** Files, folders or globs to search; the whole workspace when absent. */
  paths?: string[];
  /** Whether the pattern is a text to be found as it is, not a regular expression. */
  literal?: boolean;
  /** Whether letter case does not count. */
  ignoreCase?: boolean;
  /** Whether a match begins and ends at the borders of words. */
  words?: boolean;
  /** How many lines to show before and after each match, at most 50. */
  context?: number;
  /** Maximum matching lines in the reply. */
  limit?: number;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What was found. */
export interface FilesGrepReply {
  /** In the order of their names, with lines up to the limit. */
  files: FileMatches[];
  /** How many lines match in all. */
  total: number;
  /** How many files have such a line. */
  totalFiles: number;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** One path. */
export interface FilesHasParams {
  /** A file, by its path below the workspace folder. */
  path: string;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** Whether a file is shown in full. */
export interface FilesHasReply {
  /** Whether it is, or some of its lines are. */
  has: boolean;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Paths: files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
export interface FilesIncludeParams {
  /** Files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
  paths: string[];
  /**
   * Files that are selected although their name says that they hold secrets, and shown as they are, without
   * placeholders in the place of secrets.
   */
  confirmSecrets?: string[];
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What a change of the selection did. */
export interface FilesIncludeReply {
  /** The files that were changed, in key order. */
  changed: FileKey[];
  /** Files that belong to a folder or pattern but were not taken unasked. */
  withheld: WithheldFile[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface FilesListParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The files a session chose. */
export interface FilesListReply {
  /** In the order of their names. */
  files: ListedFile[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Files that were read outside. */
export interface FilesMarkReadParams {
  /** Files of the workspace. */
  paths: string[];
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What the session has read. */
export interface FilesMarkReadReply {
  /** The last one last. */
  filesRead: string[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** What to read. */
export interface FilesReadParams {
  /**
   * A file by its path below the workspace folder, lines of it (`src/lib.rs#L10-40`), or a definition in it by its
   * name (`src/lib.rs#Type.method`).
   */
  path: string;
  /** The session that the command is about; without it the one that is shown. */
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
  /** How often the session was changed so far. */
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
    /** What was done to the bytes to read them as text, if anything. */
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
  /**
   * Files that are selected although their name says that they hold secrets, and shown as they are, without
   * placeholders in the place of secrets.
   */
  confirmSecrets?: string[];
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What a change of the selection did. */
export interface FilesRemoveReply {
  /** The files that were changed, in key order. */
  changed: FileKey[];
  /** Files that belong to a folder or pattern but were not taken unasked. */
  withheld: WithheldFile[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Files or folders that have other names now. */
export interface FilesRenameParams {
  /** Each by its names before and after; of several that fit a file the first counts. */
  files: Rename[];
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** Whether the session had to do with any of them. */
export interface FilesRenameReply {
  /** Whether there was anything to follow. */
  changed: boolean;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Paths: files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
export interface FilesSelectParams {
  /** Files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
  paths: string[];
  /**
   * Files that are selected although their name says that they hold secrets, and shown as they are, without
   * placeholders in the place of secrets.
   */
  confirmSecrets?: string[];
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What a change of the selection did. */
export interface FilesSelectReply {
  /** The files that were changed, in key order. */
  changed: FileKey[];
  /** Files that belong to a folder or pattern but were not taken unasked. */
  withheld: WithheldFile[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Paths: files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
export interface FilesSetParams {
  /** Files, folders, globs, or lines of a file (`src/lib.rs#L10-40`). */
  paths: string[];
  /**
   * Files that are selected although their name says that they hold secrets, and shown as they are, without
   * placeholders in the place of secrets.
   */
  confirmSecrets?: string[];
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What a change of the selection did. */
export interface FilesSetReply {
  /** The files that were changed, in key order. */
  changed: FileKey[];
  /** Files that belong to a folder or pattern but were not taken unasked. */
  withheld: WithheldFile[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** What became of iterations that were to be folded into the summary. */
export interface Fold {
  /** Their numbers. */
  iterations: number[];
  /** Who wrote the summary. */
  by: FoldedBy;
  /** Why nobody could. */
  problem?: string;
}

/** Who wrote the summary. */
export type FoldedBy =
  | 'model' | 'extractive'
  /** Nobody: they are kept word for word, and the next interval tries again. */
  | 'nobody';

/** Whose form of messages a block is in. */
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

/** The form in which a prompt leaves the house. */
export type Format =
  /** A body for Anthropic's Messages API. */
  | 'anthropic'
  /** A body for OpenAI's Chat Completions API, which many others speak too. */
  | 'openai'
  /** A body for OpenAI's Responses API. */
  | 'responses'
  /** A body for Google's `generateContent`. */
  | 'gemini'
  /** A body for Bedrock's Converse API, `modelId` included. */
  | 'bedrock'
  /** A text for reading and pasting. */
  | 'markdown';

/** A file of the workspace. */
export interface FoundFile {
  /** Which. */
  path: FileKey;
  /** Where an editor finds it. */
  uri?: string;
  /** What the session chose for it. */
  state: Choice;
}

/** A definition. */
export interface FoundSymbol {
  /** Its name. */
  name: string;
  /** What it is. */
  kind: SymbolKind;
  /** The file that has it. */
  path: FileKey;
  /** Where an editor finds that. */
  uri?: string;
  /** The line that introduces it. */
  head: string;
  /** What it stands in. */
  container?: string;
  /** The first line, from 1. */
  line?: number;
  /** The last line, included. */
  endLine?: number;
}

/** Which of the tokenizers that a `TokenCounter` was given. */
export type GivenId = number;

/** Which document. */
export interface HereDeselectParams {
  /** Its URI or path; the one that the client named last when absent. */
  uri?: string | null;
  /**
   * A part of it, as editors have it. Only `select` and `toggle` make use of that, and only when there is a
   * character in it.
   */
  range?: TextRange | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What the person is shown. */
export interface HereDeselectReply {
  /** A sentence. */
  message: string;
  /** The file that a prompt was written to. */
  path?: string;
  /** The same as a URI. */
  uri?: string;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Which document. */
export interface HereExcludeParams {
  /** Its URI or path; the one that the client named last when absent. */
  uri?: string | null;
  /**
   * A part of it, as editors have it. Only `select` and `toggle` make use of that, and only when there is a
   * character in it.
   */
  range?: TextRange | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What the person is shown. */
export interface HereExcludeReply {
  /** A sentence. */
  message: string;
  /** The file that a prompt was written to. */
  path?: string;
  /** The same as a URI. */
  uri?: string;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Which document. */
export interface HereIncludeParams {
  /** Its URI or path; the one that the client named last when absent. */
  uri?: string | null;
  /**
   * A part of it, as editors have it. Only `select` and `toggle` make use of that, and only when there is a
   * character in it.
   */
  range?: TextRange | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What the person is shown. */
export interface HereIncludeReply {
  /** A sentence. */
  message: string;
  /** The file that a prompt was written to. */
  path?: string;
  /** The same as a URI. */
  uri?: string;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Which document. */
export interface HerePreviewParams {
  /** Its URI or path; the one that the client named last when absent. */
  uri?: string | null;
  /**
   * A part of it, as editors have it. Only `select` and `toggle` make use of that, and only when there is a
   * character in it.
   */
  range?: TextRange | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What the person is shown. */
export interface HerePreviewReply {
  /** A sentence. */
  message: string;
  /** The file that a prompt was written to. */
  path?: string;
  /** The same as a URI. */
  uri?: string;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Which document. */
export interface HereSelectParams {
  /** Its URI or path; the one that the client named last when absent. */
  uri?: string | null;
  /**
   * A part of it, as editors have it. Only `select` and `toggle` make use of that, and only when there is a
   * character in it.
   */
  range?: TextRange | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What the person is shown. */
export interface HereSelectReply {
  /** A sentence. */
  message: string;
  /** The file that a prompt was written to. */
  path?: string;
  /** The same as a URI. */
  uri?: string;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Which document. */
export interface HereStatusParams {
  /** Its URI or path; the one that the client named last when absent. */
  uri?: string | null;
  /**
   * A part of it, as editors have it. Only `select` and `toggle` make use of that, and only when there is a
   * character in it.
   */
  range?: TextRange | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What the person is shown. */
export interface HereStatusReply {
  /** A sentence. */
  message: string;
  /** The file that a prompt was written to. */
  path?: string;
  /** The same as a URI. */
  uri?: string;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Which document. */
export interface HereToggleParams {
  /** Its URI or path; the one that the client named last when absent. */
  uri?: string | null;
  /**
   * A part of it, as editors have it. Only `select` and `toggle` make use of that, and only when there is a
   * character in it.
   */
  range?: TextRange | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What the person is shown. */
export interface HereToggleReply {
  /** A sentence. */
  message: string;
  /** The file that a prompt was written to. */
  path?: string;
  /** The same as a URI. */
  uri?: string;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A question and its answer. */
export interface HistoryAddExchangeParams {
  /** The question. */
  user: Content;
  /** The answer. */
  assistant: Content;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The messages that were added. */
export interface HistoryAddExchangeReply {
  /** Their numbers, in order. */
  ids: MessageId[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A message. */
export interface HistoryAddParams {
  /** Who speaks. */
  role: Role;
  /** What is said. */
  content: Content;
  /** Whether the model sees it. */
  agent?: Visibility;
  /** Whether you see it. */
  user?: Visibility;
  /** What it is for. */
  kind?: MessageKind;
  /** Whether a compaction may take it. */
  pin?: Pin;
  /** When it was said, in milliseconds since 1970; now when absent. */
  timeMs?: number | null;
  /** Files it speaks of. */
  filesMentioned?: FileKey[];
  /** Files that were changed by what it says. */
  filesModified?: FileKey[];
  /** What a provider's form of it said beyond all that, by the provider's name. */
  extra?: Record<string, unknown>;
  /**
   * The number that `history.get` gave it. Messages are numbered again; one that has a number is taken as it is,
   * without the limits of tool outputs.
   */
  id?: MessageId | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The messages that were added. */
export interface HistoryAddReply {
  /** Their numbers, in order. */
  ids: MessageId[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface HistoryClearParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of a command that only says that it did what it should. */
export interface HistoryClearReply {
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface HistoryCountParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** How long the conversation is. */
export interface HistoryCountReply {
  /** All messages, hidden ones included. */
  messages: number;
  /** What the model sees of them, in tokens. */
  tokens: number;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A message and what it is to say. */
export interface HistoryEditParams {
  /** Which message. */
  id: MessageId;
  /** What it says from now on. */
  content: Content;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of a command that only says that it did what it should. */
export interface HistoryEditReply {
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface HistoryGetParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The conversation. */
export interface HistoryGetReply {
  /** All of them, hidden ones included. */
  messages: Message[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A message and who gets to see it. One of `agent` and `user` is needed. */
export interface HistoryHideParams {
  /** Which message. */
  id: MessageId;
  /** Whether the model sees it. */
  agent?: Visibility | null;
  /** Whether the person sees it. */
  user?: Visibility | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of a command that only says that it did what it should. */
export interface HistoryHideReply {
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A conversation that another program recorded. */
export interface HistoryImportParams {
  /** A conversation in any form that `session.import` takes. */
  text: string;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The messages that were added. */
export interface HistoryImportReply {
  /** Their numbers, in order. */
  ids: MessageId[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A message. */
export interface HistoryMessage {
  /** Who speaks. */
  role: Role;
  /** What is said. */
  content: Content;
  /** Whether the model sees it. */
  agent?: Visibility;
  /** Whether you see it. */
  user?: Visibility;
  /** What it is for. */
  kind?: MessageKind;
  /** Whether a compaction may take it. */
  pin?: Pin;
  /** When it was said, in milliseconds since 1970; now when absent. */
  timeMs?: number | null;
  /** Files it speaks of. */
  filesMentioned?: FileKey[];
  /** Files that were changed by what it says. */
  filesModified?: FileKey[];
  /** What a provider's form of it said beyond all that, by the provider's name. */
  extra?: Record<string, unknown>;
  /**
   * The number that `history.get` gave it. Messages are numbered again; one that has a number is taken as it is,
   * without the limits of tool outputs.
   */
  id?: MessageId | null;
}

/** A message that is to stay word for word, or no longer. */
export interface HistoryPinParams {
  /** Which message. */
  id: MessageId;
  /** Whether it is to stay. */
  pinned?: boolean;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of a command that only says that it did what it should. */
export interface HistoryPinReply {
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface HistoryReregisterParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of a command that only says that it did what it should. */
export interface HistoryReregisterReply {
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A whole conversation. */
export interface HistorySetParams {
  /** In order. */
  messages: HistoryMessage[];
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** How long the conversation is. */
export interface HistorySetReply {
  /** All messages, hidden ones included. */
  messages: number;
  /** What the model sees of them, in tokens. */
  tokens: number;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Where the conversation is to end. */
export interface HistoryTruncateParams {
  /** The first message that goes. */
  from: MessageId;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What is left. */
export interface HistoryTruncateReply {
  /** How many messages went. */
  removed: number;
  /** How many messages are left. */
  messages: number;
  /** How often the session was changed so far. */
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
    /** What it is filed under. */
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
    /** Who speaks. */
    role: Role;
    /** What the message is for. */
    kind: MessageKind;
  });

/** A value that was left out, and why. */
export interface IgnoredSetting {
  /** The setting, for instance `symbols.map_budget`. */
  key: string;
  /** Where it stands. */
  origin: SettingOrigin;
  /** Why it does not count. */
  reason: string;
}

/** A picture in a message. */
export interface Image {
  /** Where its bytes are. */
  source: ImageSource;
  /** Width in pixels, when known; without it the token estimate is a constant. */
  width?: number | null;
  /** Height in pixels, when known. */
  height?: number | null;
}

/** A formula, or `"none"`, which takes back what the family says. */
export type ImageEntry = ImageFormula | Support;

/** How a model's provider computes the tokens of an image. */
export type ImageFormula =
  /**
   * Anthropic: one token for each 28 x 28 pixels begun, after the image was scaled down to fit both limits
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
   * Gemini: an image of at most 384 x 384 takes one tile, others one for each 768 x 768 pixels begun
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
  /** Not yet, or not completely. */
  | 'building'
  /** It was. */
  | 'ready';

/**
 * What the client says in `initializationOptions`. What is not known is passed over: a client may keep things of
 * its own there.
 */
export interface InitializationOptions {
  /**
   * The settings as the editor has them. A client that answers `workspace/configuration` is asked again once it is
   * ready.
   */
  settings?: SettingsInput | null;
  /** The requests of Strata's own that the client answers. */
  requests?: string[];
  /** The session to go on with. */
  resume?: string | null;
  /**
   * Whether the user trusts the workspace: whether its rules, skills and memory become part of the system prompt.
   */
  trusted?: boolean;
}

/**
 * The name of one tracked unit of prompt content: `system`, `symbol:{path}`, `file:{path}`, `file:{path}#L1-9`,
 * `excerpt:{path}#{definition}`, `history:{n}`, `url:{hash}`.
 */
export type ItemKey = string;

/** One item, and where it is found. */
export type ItemReport = {
  /** Its name. */
  key: ItemKey;
  /**
   * What people call it: a file by its path, a message by who said it and how it begins, a web page by its title.
   */
  title: string;
  /** The file it belongs to, if it belongs to one. */
  path?: FileKey;
  /** The lines of that file that it shows, when it is not the whole file. */
  lines?: LineRange[];
  /** What is chosen for that file. */
  state?: Choice;
  /** The tier it stands in. */
  tier: Tier;
  /** What it weighs, updates included. */
  tokens: number;
  /**
   * The content block of the prompt that shows it first, counted from 0; absent when it is not shown but keeps its
   * place, as an outline behind the full text of its file does.
   */
  position?: number;
  /** The last break that began with it. */
  lastBreak?: LastBreak;
  /** Where an editor finds its file. */
  uri?: string;
} & (Partial<LedgerItemStats> & Partial<RippleItemStats>);

/** An iteration, and what goes with it. */
export interface IterationAddParams {
  /** What the loop is for; needed before its first iteration, and begins another loop when it changes. */
  goal?: string | null;
  /** What was asked and what came of it. */
  iteration: NewIteration;
  /** What the loop should know of where it runs, by name. Values of names that promise secrets are withheld. */
  environment?: Record<string, string> | null;
  /** What happened to files since the last one. */
  fileEvents?: FileEvent[];
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What became of an iteration. */
export interface IterationAddReply {
  /** Its number, counted from 1. */
  number: number;
  /** Whether it says that the goal is reached. */
  promise: LoopPromise;
  /** What became of the iterations that left the window; absent when none did. */
  fold?: Fold;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The loop that a prompt is for, before its first iteration. */
export interface IterationPromptParams {
  /**
   * What the loop is for; that of the loop that runs when absent. With another one the prompt is that of a first
   * iteration.
   */
  goal?: string | null;
  /** The environment to tell of instead of the one that was reported last. */
  environment?: Record<string, string> | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The prompt of the next iteration. */
export interface IterationPromptReply {
  /** The prompt. */
  text: string;
  /** What it weighs, in tokens. */
  tokens: number;
  /**
   * Its sections in their order with what each weighs: `goal`, `summary`, `iterations`, `state`, `instructions`.
   * Those that there is nothing to say in are not among them.
   */
  parts: [string, number][];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface IterationStatusParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** Where a loop stands. */
export interface IterationStatusReply {
  /** What it is for. */
  goal: string;
  /** How many iterations there were. */
  totalIterations: number;
  /** The numbers of those that are kept word for word. */
  window: number[];
  /** The numbers of those that wait to be folded into the summary. */
  waiting: number[];
  /** The summary holds the iterations from 1 to this one. */
  summarized: number;
  /** What it says. */
  summary: string;
  /** The iteration after which it is written anew. */
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
  /** How often the session was changed so far. */
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
  /** What it was. */
  before: ConversationSize;
  /** What it became. */
  after: ConversationSize;
  /** Who wrote the summary; absent when none was written. */
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
  /** The policy that laid it out. */
  policy: PolicyName;
  /** What stood in each tier that held anything. */
  tiers: TierWeight[];
  /** What the provider's cache is expected to hold, in tokens. */
  cachedTokens: number;
  /** When that will be gone, in milliseconds since 1970; absent when nothing is cached. */
  cacheExpiresMs?: number;
  /** Why it did not begin as the prompt before, in a sentence. */
  explanation: string;
}

/** What is known of one item. */
export interface LedgerItemStats {
  /** The chance that it leaves the prompt at the next turn, from 0 to 1. */
  hazard: number;
  /** Turns that a file has been selected and unchanged; absent for what has no age. */
  age?: number;
  /** Whether it stands in the part that was kept from the prompt before, byte for byte. */
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
  /** How it comes to be there. */
  standing: ExcerptStanding;
  /** The weight of its text, in tokens of the model. */
  tokens: number;
}

/** A file that the session chose. */
export type ListedFile = {
  /** Which. */
  path: FileKey;
  /** Where an editor finds it. */
  uri?: string;
  /** What was chosen for it. */
  state: Choice;
  /** The lines that are shown, when it is not the whole file. */
  lines?: LineRange[];
  /** The tier it stands in since the last recorded turn. */
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
    /** What was done to the bytes to read them as text, if anything. */
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
  /** What the person calls it; empty for none. */
  name: string;
  /** When it was begun, in milliseconds since 1970; `null` when it was not stored yet. */
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
 * Requests of plain LSP, for editors without a plugin. Those that are answered from the outlines are off: where a
 * real language server runs, an editor would show everything twice.
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
   * `textDocument/codeAction`: adds a file or the selected lines to the model's context, takes it out, excludes it,
   * shows the prompt. Offered when somebody asks, not to editors that look for something to light a bulb for.
   */
  code_action: boolean;
  /**
   * `textDocument/codeLens`: how a file stands in the model's context, above its first line. Off, since many people
   * find such lines in the way.
   */
  code_lens: boolean;
}

/**
 * Requests of plain LSP, for editors without a plugin. Those that are answered from the outlines are off: where a
 * real language server runs, an editor would show everything twice.
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
   * `textDocument/codeAction`: adds a file or the selected lines to the model's context, takes it out, excludes it,
   * shows the prompt. Offered when somebody asks, not to editors that look for something to light a bulb for.
   */
  code_action?: boolean;
  /**
   * `textDocument/codeLens`: how a file stands in the model's context, above its first line. Off, since many people
   * find such lines in the way.
   */
  code_lens?: boolean;
}

/** A file with a block. */
export interface MapFile {
  /** Which. */
  path: FileKey;
  /** Its place among all files by how much they matter; the first has 1. */
  rank: number;
  /** How much of it the block shows. */
  level: MapLevel;
  /** What its block weighs. */
  tokens: number;
}

/** How much of a file its map block shows. Each level shows what the one before it shows, and more. */
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
  /** What matters most comes first. */
  | 'rank'
  /** By path. */
  | 'path';

/** A line that matches, or one near it. */
export interface MatchingLine {
  /** From 1. */
  line: number;
  /** At most 300 characters of it. */
  text: string;
  /** Whether it is only near a line that matches. */
  context?: boolean;
}

/** A note. */
export interface MemoryAddParams {
  /** What to keep. */
  text: string;
  /** What to file it under. */
  tags?: string[];
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The note that was added. */
export interface MemoryAddReply {
  /** Its number. */
  id: number;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface MemoryListParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** All notes. */
export interface MemoryListReply {
  /** In the order in which they were made. */
  fragments: Note[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A note. */
export interface MemoryRemoveParams {
  /** Its number. */
  id: number;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of a command that only says that it did what it should. */
export interface MemoryRemoveReply {
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** What to look for. */
export interface MemorySearchParams {
  /** Words. One without a letter or digit is an error. */
  query: string;
  /** How many hits at most: 20 when absent, never more than 1,000. */
  limit?: number | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of a search, the best first. */
export interface MemorySearchReply {
  /** Those in memory files, then all others, the best first. */
  hits: Hit[];
  /** How many of the newest matches were ranked, when there are too many to rank them all. */
  newest?: number;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A message in a history. */
export interface Message {
  /** Its number. */
  id: MessageId;
  /** Who speaks. */
  role: Role;
  /** What is said, in order. */
  content: ContentBlock[];
  /** Whether the model sees it. A hidden message is never sent and never counted. */
  agent: Visibility;
  /** Whether the person sees it. */
  user: Visibility;
  /** What it is for. */
  kind: MessageKind;
  /** Whether a compaction may take it. */
  pin?: Pin;
  /** When it was said, in milliseconds since 1970, as the caller tells it. */
  timeMs?: number;
  /** Files it speaks of. */
  filesMentioned?: FileKey[];
  /** Files that were changed by what it says. */
  filesModified?: FileKey[];
  /**
   * What a provider's form of this message said beyond all that, by the provider's name, so that it can be written
   * as it came (`exchange`). Never sent, never counted.
   */
  extra?: Record<string, unknown>;
}

/** The stable number of a message in its session. Never reused, never renumbered by a compaction. */
export type MessageId = number;

/** What a message is for, which decides how ageing and compaction treat it. */
export type MessageKind =
  /** Ordinary talk. */
  | 'normal'
  /** The result of a tool call. */
  | 'tool_result'
  /** A result hidden from the model because a summary stands for it. */
  | 'tool_result_archived'
  /** The summary that stands for archived results. */
  | 'tool_summary'
  /** The summary that a compaction left. */
  | 'summary'
  /** Something that happened around the conversation, told to the model. */
  | 'system_event'
  /** One iteration of an autonomous loop. */
  | 'iteration';

/** One model, or what is assumed of one. */
export interface Model {
  /** The name in the table, or the name as asked for when the table has none. */
  id: string;
  /** The family in the table; empty for an unknown model. */
  family: string;
  /** Who made it. */
  provider: ModelProvider;
  /** How its tokens are counted. */
  tokenizer: Tokenizer;
  /** Tokens that a request may hold. */
  max_input: number;
  /** Tokens that an answer may hold. */
  max_output: number;
  /** How prompt prefixes are cached and what that costs. */
  cache: CacheRules;
  /** A higher price for long prompts, where there is one. */
  long_context: LongContext | null;
  /** What an image costs; `None` for a model that takes none. */
  image: ImageFormula | null;
  /** Whether it can call tools. */
  tools: boolean;
  /** Tokens that belong to no text. */
  overheads: TokenOverheads;
}

/** What one entry says; the rest comes from its family. */
export interface ModelEntry {
  /** The family a model takes its defaults from. */
  family: string | null;
  /** Names a model also goes by. */
  aliases: string[] | null;
  /** Beginnings of the names that a family claims. */
  prefixes: string[] | null;
  /** Whose protocol and rules hold. */
  provider: ModelProvider | null;
  /** How tokens are counted. */
  tokenizer: Tokenizer | null;
  /** The window for input, in tokens. */
  max_input: number | null;
  /** The longest answer, in tokens. */
  max_output: number | null;
  /** How its provider caches prompts. */
  cache: CacheEntry;
  /** A higher price for long prompts. */
  long_context: LongContext | null;
  /** What a picture costs. */
  image: ImageEntry | null;
  /** Whether it can be given tools. */
  tools: Support | null;
  /** Tokens beyond the texts of a request. */
  overheads: TokenOverheads | null;
}

/** What one entry says; the rest comes from its family. */
export interface ModelEntryInput {
  /** The family a model takes its defaults from. */
  family?: string | null;
  /** Names a model also goes by. */
  aliases?: string[] | null;
  /** Beginnings of the names that a family claims. */
  prefixes?: string[] | null;
  /** Whose protocol and rules hold. */
  provider?: ModelProvider | null;
  /** How tokens are counted. */
  tokenizer?: Tokenizer | null;
  /** The window for input, in tokens. */
  max_input?: number | null;
  /** The longest answer, in tokens. */
  max_output?: number | null;
  /** How its provider caches prompts. */
  cache?: CacheEntryInput;
  /** A higher price for long prompts. */
  long_context?: LongContext | null;
  /** What a picture costs. */
  image?: ImageEntry | null;
  /** Whether it can be given tools. */
  tools?: Support | null;
  /** Tokens beyond the texts of a request. */
  overheads?: TokenOverheads | null;
}

/** Who made a model. It decides nothing by itself: gateways serve any model in any dialect. */
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

/**
 * Families and models by name. The same form serves for the built-in table and for a user's overrides, in TOML or
 * any other format serde reads.
 */
export interface ModelTable {
  /** Families by name. */
  family: Record<string, ModelEntry>;
  /** Models by name. */
  model: Record<string, ModelEntry>;
}

/**
 * Families and models by name. The same form serves for the built-in table and for a user's overrides, in TOML or
 * any other format serde reads.
 */
export interface ModelTableInput {
  /** Families by name. */
  family?: Record<string, ModelEntryInput>;
  /** Models by name. */
  model?: Record<string, ModelEntryInput>;
}

/** One iteration as it is reported. */
export interface NewIteration {
  /** When it ended, in milliseconds since 1970. */
  timeMs?: number;
  /** The program that ran it. */
  cli?: string;
  /** The model that ran it. */
  model?: string;
  /** What it was given. */
  prompt?: string;
  /** What it said. */
  output?: string;
  /** How far it got, as the caller judges. */
  progressScore?: number;
  /** What it accomplished, beside what its output says itself. */
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
  /** What it says. */
  text: string;
  /** What it is filed under. */
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
    /** What is wrong with it. */
    detail: string;
  }
  /** Something was said of it that cannot be read. */
  | {
    kind: 'misread';
    /** What is wrong with it. */
    detail: string;
  };

/** What an output is named by: the number of a message, or the name of a spilled output. */
export type OutputName =
  /** The number of a message with results. */
  | MessageId
  /** The name of an output that went to a file. */
  | string;

/** What a pause of a given length does under the lifetime that is set. */
export interface PauseCost {
  /** How long it is. */
  seconds: number;
  /** Whether what is cached is gone then. */
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
  /** The person wants it to stay word for word. */
  | 'kept';

/** A named tiering rule. */
export type PolicyName =
  /** The prompt is a log: what may stay stays, what changed is brought up to date behind it. */
  | 'ledger'
  /** Content rises through four cached tiers while it stays unchanged. */
  | 'ripple'
  /** One fixed order without breakpoints. */
  | 'flat';

/** A part of a prompt: the blocks of one message that show the same and are for the same. */
export interface PreviewPart {
  /** What people call it. */
  title: string;
  /** What it is for. */
  part: PromptPart;
  /** The tier it stands in. */
  tier: Tier;
  /** What it weighs, in tokens of the model. */
  tokens: number;
  /** Its first line in the text, counted from 0. A line ends with a line feed. */
  line: number;
  /** How many lines it has; 0 when nothing of it can be written as text. */
  lines: number;
  /** Whether a cache breakpoint stands at its end. */
  marked: boolean;
}

/** The profiles that ship. */
export type ProfileName =
  /** Cut where the topic changed, else a summary pair in front of the newest exchanges. */
  | 'topic'
  /** The first message, a summary by phases and themes, the newest messages. */
  | 'continuation'
  /** A structured checkpoint in front of the newest messages. */
  | 'checkpoint'
  /** A running summary in front of the newest iterations. */
  | 'rolling'
  /** Everything becomes one message that another agent can go on from. */
  | 'handoff';

/** Figures that replace those of a profile, or make a new one of it. Every field is optional. */
export interface ProfileOptions {
  /** The profile that it starts from; its own name when that is one of the five, else `topic`. */
  like: ProfileName | null;
  /** When it looks. */
  moment: CompactionMoment | null;
  /**
   * Share of a request's limit that the conversation may weigh, and at least 24,000 tokens, before it is compacted
   * as soon as that pays. 0 never.
   */
  history_share: number | null;
  /** Due when the conversation weighs more, in tokens. 0 never. */
  history_over: number | null;
  /** Due when the whole prompt weighs as much, in tokens. 0 never. */
  context_from: number | null;
  /** Due when the whole prompt weighs more than this share of the window. 0 never. */
  window_share: number | null;
  /** Tokens of the window that are kept free. */
  reserve_tokens: number | null;
  /** The limit in tokens when the window is unknown or not over the reserve. */
  max_tokens: number | null;
  /** The limit in messages when neither is known. */
  max_messages: number | null;
  /** Due when the model sees more messages. 0 never. */
  messages_over: number | null;
  /** Due when there are more exchanges. 0 never. */
  exchanges_over: number | null;
  /** Whether the first message stays. */
  keep_first: boolean | null;
  /** The newest tokens that stay. */
  keep_tokens: number | null;
  /** The newest messages that stay at least. */
  keep_messages: number | null;
  /** The newest exchanges that stay at least. */
  keep_exchanges: number | null;
  /** What the summary may weigh, in tokens. */
  summary_tokens: number | null;
  /** What share of the window the prompt should weigh afterwards. */
  target_share: number | null;
  /** Characters of each tool result that the model which summarises is shown. 0 shows them whole. */
  result_chars: number | null;
  /** Characters of the arguments of each tool call that the model which summarises is shown. 0 shows them whole. */
  call_chars: number | null;
  /** Characters of each result in the digest of `checkpoint`. */
  digest_chars: number | null;
  /** Maximum results that the digest of `checkpoint` names; of older ones it gives the number. */
  digest_lines: number | null;
}

/** Figures that replace those of a profile, or make a new one of it. Every field is optional. */
export interface ProfileOptionsInput {
  /** The profile that it starts from; its own name when that is one of the five, else `topic`. */
  like?: ProfileName | null;
  /** When it looks. */
  moment?: CompactionMoment | null;
  /**
   * Share of a request's limit that the conversation may weigh, and at least 24,000 tokens, before it is compacted
   * as soon as that pays. 0 never.
   */
  history_share?: number | null;
  /** Due when the conversation weighs more, in tokens. 0 never. */
  history_over?: number | null;
  /** Due when the whole prompt weighs as much, in tokens. 0 never. */
  context_from?: number | null;
  /** Due when the whole prompt weighs more than this share of the window. 0 never. */
  window_share?: number | null;
  /** Tokens of the window that are kept free. */
  reserve_tokens?: number | null;
  /** The limit in tokens when the window is unknown or not over the reserve. */
  max_tokens?: number | null;
  /** The limit in messages when neither is known. */
  max_messages?: number | null;
  /** Due when the model sees more messages. 0 never. */
  messages_over?: number | null;
  /** Due when there are more exchanges. 0 never. */
  exchanges_over?: number | null;
  /** Whether the first message stays. */
  keep_first?: boolean | null;
  /** The newest tokens that stay. */
  keep_tokens?: number | null;
  /** The newest messages that stay at least. */
  keep_messages?: number | null;
  /** The newest exchanges that stay at least. */
  keep_exchanges?: number | null;
  /** What the summary may weigh, in tokens. */
  summary_tokens?: number | null;
  /** What share of the window the prompt should weigh afterwards. */
  target_share?: number | null;
  /** Characters of each tool result that the model which summarises is shown. 0 shows them whole. */
  result_chars?: number | null;
  /** Characters of the arguments of each tool call that the model which summarises is shown. 0 shows them whole. */
  call_chars?: number | null;
  /** Characters of each result in the digest of `checkpoint`. */
  digest_chars?: number | null;
  /** Maximum results that the digest of `checkpoint` names; of older ones it gives the number. */
  digest_lines?: number | null;
}

/** What to assemble. Either `prompt` (with or without `images`) or `toolResults`. */
export interface PromptAssembleParams {
  /** What the person asks. */
  prompt?: string | null;
  /** Pictures that go with the prompt. */
  images?: Image[];
  /** Results of the tools that the last answer asked for. */
  toolResults?: ToolResult[] | null;
  /** The tools that the model may ask for, in the order in which they are declared. */
  tools?: Tool[];
  /** The form of the request; the setting's when absent. */
  format?: Format | null;
  /** How the prompt is laid out; the session's or the setting's when absent. */
  policy?: PolicyName | null;
  /** The model it is made for; the setting's when absent. */
  model?: string | null;
  /**
   * Maximum input tokens that the client passes on. What the prompt may weigh follows the model's window or this,
   * whichever is smaller.
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
   * Fields for the top of the request body, such as `max_tokens` and `stream`, behind Strata's own. A field that is
   * Strata's is refused. What they hold is not weighed.
   */
  extra?: Record<string, unknown>;
  /** The session that the command is about; without it the one that is shown. */
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
  /** The tiering rule that laid it out. */
  policy: PolicyName;
  /**
   * The request body, or the text of a format that is no request; with `bodyAs: "text"` the body as the exact text
   * to POST.
   */
  body: Body;
  /** What it weighs. */
  tokens: TokenReport;
  /** What stands in which tier. */
  tiers: TierReport[];
  /** Where the cache breakpoints are. */
  breakpoints: Breakpoint[];
  /**
   * What it will cost, as far as it is known what the provider's cache holds: `read` is the cached read to expect.
   */
  predicted: Charge;
  /** Which version of which file it shows in full. */
  files: UsedFile[];
  /** Which files of a trusted workspace its system prompt quotes or lists. */
  systemFiles: SystemFiles;
  /** How much of the repository it shows. */
  coverage: Coverage;
  /** Selected files that did not fit, largest first. */
  shed: FileKey[];
  /** What the person should know. */
  warnings: PromptWarning[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** An earlier preview. */
export interface PromptChangesParams {
  /** The text of the earlier preview. */
  since: string;
  /** The policy of that preview; the session's or the setting's when absent. */
  policy?: PolicyName | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What has changed since an earlier preview. */
export interface PromptChangesReply {
  /** The text of the preview now. */
  text: string;
  /**
   * A unified diff from the earlier text to this one. Its hunks name the part that they begin in. Empty when
   * nothing has changed.
   */
  changes: string;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A prompt. */
export interface PromptDiscardParams {
  /** By the `id` that `strata.prompt.assemble` gave it. */
  id: string;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of a command that only says that it did what it should. */
export interface PromptDiscardReply {
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A text to weigh. */
export interface PromptEstimateParams {
  /** The text. */
  text: string;
  /** The model whose tokens count; the setting's when absent. */
  model?: string | null;
  /** Maximum input tokens that the client passes on; the model's window when absent or larger. */
  maxInputTokens?: number | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What the text weighs. */
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
  /** What is assumed of the model, when the table of models does not have it. */
  warning?: string;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** What a block is for: the rows of the token breakdown. */
export type PromptPart =
  /** The system prompt and what the settings add to it. */
  | 'system'
  /** Map blocks and their legend. */
  | 'map'
  /** Full texts of selected files. */
  | 'files'
  /** The repository file list. */
  | 'file_list'
  /** What brings texts further up to date: diffs, outlines, changes of the file list. */
  | 'updates'
  /** Web pages. */
  | 'urls'
  /** Earlier messages. */
  | 'history'
  /** The tools the client declares. */
  | 'tools'
  /** What is true right now only: branch, files already read. */
  | 'session_state'
  /** What of the repository the request is about. */
  | 'context_frame'
  /** The new prompt or the new tool results. */
  | 'prompt'
  /** What the format itself costs: roles, separators, the reply's opening. */
  | 'structure';

/** What to assemble. Either `prompt` (with or without `images`) or `toolResults`. */
export interface PromptPreviewParams {
  /** What the person asks. */
  prompt?: string | null;
  /** Pictures that go with the prompt. */
  images?: Image[];
  /** Results of the tools that the last answer asked for. */
  toolResults?: ToolResult[] | null;
  /** The tools that the model may ask for, in the order in which they are declared. */
  tools?: Tool[];
  /** The form of the request; the setting's when absent. */
  format?: Format | null;
  /** How the prompt is laid out; the session's or the setting's when absent. */
  policy?: PolicyName | null;
  /** The model it is made for; the setting's when absent. */
  model?: string | null;
  /**
   * Maximum input tokens that the client passes on. What the prompt may weigh follows the model's window or this,
   * whichever is smaller.
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
   * Fields for the top of the request body, such as `max_tokens` and `stream`, behind Strata's own. A field that is
   * Strata's is refused. What they hold is not weighed.
   */
  extra?: Record<string, unknown>;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What would be sent: the reply of `prompt.preview`. */
export interface PromptPreviewReply {
  /** All of it, as Markdown. */
  text: string;
  /**
   * What the request weighs, in tokens of the model. Beside the parts of the text it has the declared tools and
   * what the format itself costs.
   */
  tokens: number;
  /** What stands where in the text, in its order. Every line belongs to one of them. */
  parts: PreviewPart[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** What came of a prompt. */
export interface PromptRecordParams {
  /** The prompt, by the `id` that `strata.prompt.assemble` gave it. */
  id: string;
  /** How it ended. */
  status?: TurnStatus;
  /** The answer: a text, or its blocks. */
  response?: Content | null;
  /** What came of an answer that was stopped; the same as `response`. */
  partial?: Content | null;
  /** What the provider billed. */
  usage?: UsageInput | null;
  /**
   * Why it failed; the prompt counts as not sent. After `context_limit` assemble it again and send that: the
   * conversation is compacted first. A second one in a row is an error that names the largest parts.
   */
  error?: TurnError | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of `prompt.record`. */
export interface PromptRecordReply {
  /** The prompt. */
  id: string;
  /** How it ended. */
  status: TurnStatus;
  /** How many messages the conversation has now. */
  messages: number;
  /** What the session was billed for so far. */
  totals: Usage;
  /** What the person should know. */
  warnings: string[];
  /** Whether to assemble the prompt again and send it once more: the conversation is compacted first. */
  retry?: boolean;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** What to ask, and how the answer is shown. */
export interface PromptSendParams {
  /** What you ask. */
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
  /** How the prompt is laid out; the session's or the setting's when absent. */
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
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of `strata.prompt.send`. */
export interface PromptSendReply {
  /** The session. */
  session: string;
  /** The model that answered. */
  model: string;
  /** What it said. Placeholders of known secrets are replaced by the secrets. */
  text: string;
  /** Why it ended. */
  end: SendEnd;
  /** Why it ended before it was complete. */
  error?: string;
  /** What the provider billed, for all requests together. */
  usage: Usage;
  /** What the input cost. */
  cost: SendCost;
  /** What the input was expected to cost. */
  predicted: Charge;
  /** How many requests were answered. */
  requests: number;
  /** How many rounds of tool calls were answered. */
  rounds: number;
  /** The tools that the model used. */
  tools: ToolUse[];
  /** Selected files that did not fit. */
  shed: string[];
  /** What you should know. */
  warnings: string[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The system prompt and what is added to it. */
export interface PromptSettings {
  /** The base text. */
  system: string;
  /**
   * What follows the base text in requests that declare tools: how to use them, and what an answer looks like.
   * Empty for nothing.
   */
  tool_guidelines: string;
  /** Further instructions, put behind the base text. */
  system_extra: string;
  /**
   * Files of the workspace whose rules are part of the system prompt, where the workspace is trusted: names, or
   * patterns for the last part of one.
   */
  rules: string[];
  /** Files of the workspace that each describe a skill; only their names and descriptions are shown. */
  skills: string[];
  /** Files of the workspace that hold what is to be remembered. */
  memory: string[];
}

/** The system prompt and what is added to it. */
export interface PromptSettingsInput {
  /** The base text. */
  system?: string;
  /**
   * What follows the base text in requests that declare tools: how to use them, and what an answer looks like.
   * Empty for nothing.
   */
  tool_guidelines?: string;
  /** Further instructions, put behind the base text. */
  system_extra?: string;
  /**
   * Files of the workspace whose rules are part of the system prompt, where the workspace is trusted: names, or
   * patterns for the last part of one.
   */
  rules?: string[];
  /** Files of the workspace that each describe a skill; only their names and descriptions are shown. */
  skills?: string[];
  /** Files of the workspace that hold what is to be remembered. */
  memory?: string[];
}

/** Something the person should know about a prompt that was made all the same. */
export interface PromptWarning {
  /** What kind of thing happened. */
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
  /** A buffer may not be what the editor shows. */
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

/**
 * A provider by the requests that it takes. Gateways and servers of your own take those of one of these, at an
 * address of their own.
 */
export type ProviderName =
  /** Anthropic, by its Messages API. */
  | 'anthropic'
  /** OpenAI, by Chat Completions; also OpenRouter, LiteLLM, vLLM and others, with `provider.base_url`. */
  | 'openai'
  /** OpenAI, by Responses. */
  | 'responses'
  /** Google, by `generateContent`. */
  | 'gemini'
  /** Ollama on this machine, which needs no key. */
  | 'ollama';

/** The provider that `strata ask` and `strata.prompt.send` send prompts to. */
export interface ProviderSettings {
  /** The provider. Without it nothing is sent, whatever keys the environment has. */
  name: ProviderName | null;
  /** The address of the provider, when not its usual one: `https:`, or `http:` on this machine. */
  base_url: string | null;
  /** The model, by its provider's name. Defaults to the setting `model`. */
  model: string | null;
  /**
   * The environment variable that holds the provider's key, when not the usual one. Its name ends in `_API_KEY`,
   * `_TOKEN` or `_KEY`.
   */
  key_env: KeyVariable | null;
  /**
   * A program that prints the provider's key, with its arguments, such as `["pass", "show", "anthropic"]`. It is
   * started without a shell, and used instead of an environment variable.
   */
  key_command: string[];
  /** How long one answer may take, in seconds. */
  timeout_s: number;
  /** How long the provider may send nothing at all, in seconds. */
  stall_s: number;
  /** How often a request is tried again when the provider is overloaded or fails before an answer begins. */
  retries: number;
  /** Maximum rounds of tool calls in one answer. */
  tool_rounds: number;
  /**
   * Maximum tokens of one answer. Defaults to what is kept free for it in the window; providers other than
   * Anthropic have a limit of their own when this is absent.
   */
  max_output_tokens: number | null;
}

/** The provider that `strata ask` and `strata.prompt.send` send prompts to. */
export interface ProviderSettingsInput {
  /** The provider. Without it nothing is sent, whatever keys the environment has. */
  name?: ProviderName | null;
  /** The address of the provider, when not its usual one: `https:`, or `http:` on this machine. */
  base_url?: string | null;
  /** The model, by its provider's name. Defaults to the setting `model`. */
  model?: string | null;
  /**
   * The environment variable that holds the provider's key, when not the usual one. Its name ends in `_API_KEY`,
   * `_TOKEN` or `_KEY`.
   */
  key_env?: KeyVariable | null;
  /**
   * A program that prints the provider's key, with its arguments, such as `["pass", "show", "anthropic"]`. It is
   * started without a shell, and used instead of an environment variable.
   */
  key_command?: string[];
  /** How long one answer may take, in seconds. */
  timeout_s?: number;
  /** How long the provider may send nothing at all, in seconds. */
  stall_s?: number;
  /** How often a request is tried again when the provider is overloaded or fails before an answer begins. */
  retries?: number;
  /** Maximum rounds of tool calls in one answer. */
  tool_rounds?: number;
  /**
   * Maximum tokens of one answer. Defaults to what is kept free for it in the window; providers other than
   * Anthropic have a limit of their own when this is absent.
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
  /** What stands in its place. */
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
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What was replaced in what the session shows. */
export interface RedactionListReply {
  /** Files first, in the order of their names, then web pages, then messages. */
  secrets: RedactedSecret[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A text with placeholders. */
export interface RedactionRestoreParams {
  /** What a model wrote, or any other text. */
  text: string;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The text with secrets. It is for the file that it is applied to, not for a model. */
export interface RedactionRestoreReply {
  /** The text. */
  text: string;
  /** How many placeholders were replaced. */
  restored: number;
  /**
   * Placeholders that stayed, because it is not known what they stand for: the file with the secret is not
   * selected, or the secret came with a message in an earlier run of the server.
   */
  unknown: string[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Secrets in texts that models get to see. */
export interface RedactionSettings {
  /** Whether secrets in files, messages and results of tools are replaced by placeholders. */
  enabled: boolean;
  /** What may pass all the same: placeholders, as `strata.redaction.list` names them, or names of rules. */
  allow: string[];
}

/** Secrets in texts that models get to see. */
export interface RedactionSettingsInput {
  /** Whether secrets in files, messages and results of tools are replaced by placeholders. */
  enabled?: boolean;
  /** What may pass all the same: placeholders, as `strata.redaction.list` names them, or names of rules. */
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
  /** Which. */
  path: FileKey;
  /** At most 1. */
  likelihood: number;
}

/** A file or a definition. */
export interface RelevantItem {
  /** The file. */
  path: FileKey;
  /** What it is; absent for a file. */
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
    /** Where its bytes are. */
    source: ImageSource;
    /** Width in pixels, when known; without it the token estimate is a constant. */
    width?: number;
    /** Height in pixels, when known. */
    height?: number;
  }
  /** Something that only one provider has a form for. */
  | {
    type: 'foreign';
    /** Whose it is. */
    provider: ForeignProvider;
    /** The block as it came, without cache marks. */
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
    /** Where its bytes are. */
    source: ImageSource;
    /** Width in pixels, when known; without it the token estimate is a constant. */
    width?: number | null;
    /** Height in pixels, when known. */
    height?: number | null;
  }
  /** Something that only one provider has a form for. */
  | {
    type: 'foreign';
    /** Whose it is. */
    provider: ForeignProvider;
    /** The block as it came, without cache marks. */
    value: unknown;
  };

/** What is known of one item. */
export interface RippleItemStats {
  /** How many requests in a row it was unchanged, as far as its tier counts. */
  n: number;
  /** The N at which it goes up; absent in L0, which is final. */
  threshold?: number;
}

/** Who speaks. */
export type Role =
  /** The person, or the program that acts for them; tool results come under this role too. */
  | 'user'
  /** The model. */
  | 'assistant';

/** What input cost, in tokens of plain input. */
export interface SendCost {
  /** What was paid. */
  paid: number;
  /** What would have been paid without a cache. */
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
  /** The model called tools although it was offered none. */
  | 'tool_calls'
  /** You stopped it. What came until then is recorded. */
  | 'cancelled'
  /** The provider's answer broke off. What came until then is recorded. */
  | 'cut'
  /** A later request failed. The answers before it are recorded. */
  | 'failed';

/** Which tools the model may use. */
export type SendTools =
  /** None. */
  | 'none'
  /** Those of Strata that change nothing: the map, outlines, references, searches, files, notes. */
  | 'read';

/** The arguments of a command that takes none. */
export interface ServerModelsParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The model table. */
export interface ServerModelsReply {
  /** By name. */
  models: Model[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface ServerReindexParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of a command that only says that it did what it should. */
export interface ServerReindexReply {
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** What the language server shows and does. */
export interface ServerSettings {
  /** Directory names that the walk leaves out besides its own list. */
  ignore: string[];
}

/** What the language server shows and does. */
export interface ServerSettingsInput {
  /** Directory names that the walk leaves out besides its own list. */
  ignore?: string[];
}

/** The arguments of a command that takes none. */
export interface ServerSettingsParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The settings in force. */
export interface ServerSettingsReply {
  /** All of them. */
  settings: Settings;
  /** Where each value comes from, by the setting's name. */
  origins: Record<string, SettingOrigin>;
  /** What a workspace file sets and cannot. */
  ignored: IgnoredSetting[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface ServerStatusParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** How the server stands. */
export interface ServerStatusReply {
  /** Of Strata. */
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
  /** What the last run over all files had to do for that. */
  efforts: Efforts;
  /** The languages that have outlines. */
  languages: string[];
  /** Whether the person trusts the workspace. */
  trusted: boolean;
  /**
   * What the walk could not do, and what is set and changes nothing: settings that a workspace file cannot set,
   * names in `redaction.allow` that there are not.
   */
  notes: string[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A session. */
export interface SessionDeleteParams {
  /** Which; the one that the command is about when absent. */
  id?: string | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of a command that only says that it did what it should. */
export interface SessionDeleteReply {
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A session and a form to write it in. */
export interface SessionExportParams {
  /** The form. */
  format?: ExportFormat;
  /** Which session; the one that the command is about when absent. */
  id?: string | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** A session as text. */
export interface SessionExportReply {
  /** The form. */
  format: ExportFormat;
  /** All of it. */
  text: string;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** How much of the session to take along. */
export interface SessionForkParams {
  /** The last message that the new session has; all of them when absent. */
  until?: MessageId | null;
  /** What to call the new one. */
  name?: string;
  /** The session that the command is about; without it the one that is shown. */
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
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A recorded session. */
export interface SessionImportParams {
  /** What another program, or `session.export`, wrote. */
  text: string;
  /** What to call it. */
  name?: string;
  /** The session that the command is about; without it the one that is shown. */
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
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface SessionListParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** All sessions of the workspace. */
export interface SessionListReply {
  /** The one written to last first. */
  sessions: ListedSession[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A stored session. */
export interface SessionLoadParams {
  /** Its name. */
  id: string;
  /** Open it without the right to write to it, as when another server does. */
  readOnly?: boolean;
  /** The session that the command is about; without it the one that is shown. */
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
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface SessionNewParams {
  /** The session that the command is about; without it the one that is shown. */
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
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** What to call a session. */
export interface SessionRenameParams {
  /** The name; empty for none. */
  name: string;
  /** Which session; the one that the command is about when absent. */
  id?: string | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of a command that only says that it did what it should. */
export interface SessionRenameReply {
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface SessionResetParams {
  /** The session that the command is about; without it the one that is shown. */
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
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** What to look for. */
export interface SessionSearchParams {
  /** Words. One without a letter or digit is an error. */
  query: string;
  /** How many hits at most: 20 when absent, never more than 1,000. */
  limit?: number | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of a search, the best first. */
export interface SessionSearchReply {
  /** Those in memory files, then all others, the best first. */
  hits: Hit[];
  /** How many of the newest matches were ranked, when there are too many to rank them all. */
  newest?: number;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface SessionStepsParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What the tools did. */
export interface SessionStepsReply {
  /** Each call, in order. */
  steps: Step[];
  /** The files that were read, the last one last. */
  filesRead: string[];
  /** How often the session was changed so far. */
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
  /** What the editor answers to `workspace/configuration`. */
  | 'editor'
  /** Options of the command line. */
  | 'commandLine';

/** Where an effective value comes from. */
export interface SettingOrigin {
  /** The layer. */
  layer: SettingLayer;
  /** Where it stands, for a person: a file's path, `environment`, `editor`. */
  name: string;
}

/** All settings. */
export interface Settings {
  /** The model that prompts are made for, by its provider's name. */
  model: string;
  /** The dialect of the request body. */
  format: Format;
  /** Prompt caching. */
  cache: CacheSettings;
  /** The system prompt and what is added to it. */
  prompt: PromptSettings;
  /** The symbol map. */
  symbols: SymbolSettings;
  /** Files in full and the repository file list. */
  files: FileSettings;
  /** Names of what a request is about, laid behind it. */
  context_frame: ContextFrameSettings;
  /** What is kept free in the model's window. */
  budget: BudgetSettings;
  /** What holds for models that the table does not have, or has other figures for. */
  models: ModelTable;
  /** Files that hold tokenizers (`tokenizer.json`), by the family or model that they are for. */
  tokenizers: Record<string, string>;
  /** The provider that prompts are sent to when you ask Strata to send them: `strata ask`, `strata.prompt.send`. */
  provider: ProviderSettings;
  /** Compaction of the conversation. */
  compaction: CompactionSettings;
  /** The code that questions bring along, and how much an autonomous loop remembers. */
  context: ContextSettings;
  /** What the client's tools do, told from their names. */
  tools: ToolPatterns;
  /** Results of tools: how much of them is kept, and for how long they are shown. */
  tool_output: ToolOutputSettings;
  /** Secrets in what models get to see. */
  redaction: RedactionSettings;
  /** What the language server shows and does. */
  server: ServerSettings;
  /** What it answers of what other language servers answer, too. */
  lsp: LspSettings;
}

/** All settings. */
export interface SettingsInput {
  /** The model that prompts are made for, by its provider's name. */
  model?: string;
  /** The dialect of the request body. */
  format?: Format;
  /** Prompt caching. */
  cache?: CacheSettingsInput;
  /** The system prompt and what is added to it. */
  prompt?: PromptSettingsInput;
  /** The symbol map. */
  symbols?: SymbolSettingsInput;
  /** Files in full and the repository file list. */
  files?: FileSettingsInput;
  /** Names of what a request is about, laid behind it. */
  context_frame?: ContextFrameSettingsInput;
  /** What is kept free in the model's window. */
  budget?: BudgetSettingsInput;
  /** What holds for models that the table does not have, or has other figures for. */
  models?: ModelTableInput;
  /** Files that hold tokenizers (`tokenizer.json`), by the family or model that they are for. */
  tokenizers?: Record<string, string>;
  /** The provider that prompts are sent to when you ask Strata to send them: `strata ask`, `strata.prompt.send`. */
  provider?: ProviderSettingsInput;
  /** Compaction of the conversation. */
  compaction?: CompactionSettingsInput;
  /** The code that questions bring along, and how much an autonomous loop remembers. */
  context?: ContextSettingsInput;
  /** What the client's tools do, told from their names. */
  tools?: ToolPatternsInput;
  /** Results of tools: how much of them is kept, and for how long they are shown. */
  tool_output?: ToolOutputSettingsInput;
  /** Secrets in what models get to see. */
  redaction?: RedactionSettingsInput;
  /** What the language server shows and does. */
  server?: ServerSettingsInput;
  /** What it answers of what other language servers answer, too. */
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
  /** The tier it stands in since the last recorded turn. */
  tier: Tier;
  /** The weight of its text, in tokens of the model. */
  tokens: number;
}

/** The context meter. */
export interface Status {
  /** The session that is shown. */
  session: string;
  /** The model that prompts are made for. */
  model: string;
  /** What the next request weighs before its prompt, in tokens. */
  tokens: number;
  /** The model's input window, in tokens. */
  window: number;
  /** `tokens` as a share of `window`, in percent. */
  percent: number;
  /** The share of the session's billed input that was read from the cache, in percent. */
  cachedPercent: number | null;
  /** What the next request can read from the cache, in tokens; absent when nothing is cached. */
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
  /** How many secrets of selected files placeholders stand for; `strata.redaction.list` names them. */
  redacted: number;
  /** Whether what is said is kept on the disk. Where it is not, it ends with the server. */
  stored: boolean;
  /** Whether all files were outlined. */
  index: IndexState;
  /** How many files the workspace has. */
  files: number;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** One step of an exploration. */
export interface Step {
  /** The message that called the tool. */
  message: MessageId;
  /** The tool. */
  tool: string;
  /** The path, the command line or what was looked for; empty when the call does not say. */
  subject: string;
  /** How it ended. */
  ended: StepOutcome;
}

/** How a tool call ended. */
export type StepOutcome =
  /** It did what was asked. */
  | 'well'
  /** It failed. */
  | 'badly'
  /** There is no result among the messages. */
  | 'unanswered';

/** Who writes the summaries of compactions. */
export type SummariserKind =
  /**
   * The client when it answers `strata/summarize`, else the provider of `compaction.model` when its key is there,
   * else no model.
   */
  | 'auto'
  /** No model: they are extracted from the conversation, offline. */
  | 'extractive'
  /** The client, with the models and keys that the editor has (`strata/summarize`). */
  | 'client'
  /** A provider over HTTP; its key comes from the environment. */
  | 'http';

/** What the client is to have a model answer. */
export interface Summarize {
  /** What is asked for. */
  purpose: SummaryPurpose;
  /** The system prompt. */
  system: string;
  /** The user's message. */
  prompt: string;
  /** What the answer may weigh, in tokens. */
  maxTokens: number;
  /** The model that is set for it, as its provider calls it. */
  model?: string;
}

/** What a model said. */
export type Summary =
  /** Its text. */
  | string
  /** The same inside an object, which may say more. */
  | {
    /** Its text. */
    text: string;
    /** The model that wrote it, by the name that its user knows. It stands in `strata/compaction`. */
    model?: string | null;
  };

/** Who wrote a summary. */
export interface SummaryAuthor {
  /** Whose model it was. */
  kind: AuthorKind;
  /** The model, by the name that the client gave with its answer, or by that of `compaction.model`. */
  model?: string;
}

/** What is asked for. */
export type SummaryPurpose =
  /** Where the topic changed. */
  | 'find_topic'
  /** A summary. */
  | 'summarise'
  /** One summary of several. */
  | 'merge';

/** Whether a model can do something at all. */
export type Support = 'yes' | 'none';

/** What switching to another model does. Its tokens are counted and priced as that model does. */
export interface SwitchCost {
  /** The model. */
  model: string;
  /** What the next prompt weighs there. */
  tokens: number;
  /** The bill for what can be cached of it, of which nothing is there yet. */
  charge: Charge;
  /** In tokens of plain input. */
  cost: number;
  /** As a share of the next prompt without any cache; 1 is a whole prompt. */
  share: number;
}

/** A file that defines a name. */
export interface SymbolDefinition {
  /** Which. */
  path: FileKey;
  /** The heads of what has the name there. */
  heads: string[];
  /** The lines that they stand on, from 1. */
  lines: number[];
  /** The other files that mention it and mean this definition, likeliest first. */
  referrers: Referrer[];
}

/** What a symbol is. The words of the captures in `outline.scm`. */
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
  /**
   * What all map blocks together may weigh, in tokens. Without it: an eighth of the input window, between 4,000 and
   * 64,000.
   */
  map_budget: number | null;
  /** Larger files get no outline, in bytes. */
  max_file_bytes: number;
}

/** The symbol map. */
export interface SymbolSettingsInput {
  /**
   * What all map blocks together may weigh, in tokens. Without it: an eighth of the input window, between 4,000 and
   * 64,000.
   */
  map_budget?: number | null;
  /** Larger files get no outline, in bytes. */
  max_file_bytes?: number;
}

/** A file. */
export interface SymbolsDependentsParams {
  /** By its path below the workspace folder. */
  path: string;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What a file has to do with others. */
export interface SymbolsDependentsReply {
  /** Which. */
  path: FileKey;
  /** How many files refer to it; those that may mean another count for less. */
  incoming: number;
  /** The files that refer to it, strongest first. */
  dependents: FileKey[];
  /** The files that it refers to, strongest first. */
  dependencies: FileKey[];
  /** The files that its imports mean. */
  imports: FileKey[];
  /** The files that refer to it and that it refers to. */
  mutual: FileKey[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A file. */
export interface SymbolsFileParams {
  /** By its path below the workspace folder. */
  path: string;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The outline of a file. */
export interface SymbolsFileReply {
  /** Which. */
  path: FileKey;
  /** What it is written in. */
  language: string;
  /**
   * Its definitions without their bodies, a line each: the lines that a definition has in the file, then its head,
   * indented by one space per level.
   */
  text: string;
  /** What that weighs. */
  tokens: number;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** What to look for. */
export interface SymbolsFindParams {
  /** Letters of a name, in order; behind the names of what it is in, where that matters (`Type.method`). */
  query: string;
  /** How many at most. */
  limit?: number;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What was found. */
export interface SymbolsFindReply {
  /** The closest first. */
  symbols: FoundSymbol[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** How large the map is to be, and what it is about. */
export interface SymbolsMapParams {
  /** What the blocks may weigh together, in tokens; the setting's when absent. */
  budget?: number | null;
  /**
   * Files that are there in any case, and whose neighbourhood comes first: paths, or globs such as `src/**\/*.rs`.
   */
  focus?: string[];
  /**
   * What the map is about, in any words: what has those words in common comes first, and what they name is there in
   * any case.
   */
  about?: string | null;
  /** In which order the blocks stand. */
  sort?: MapSort;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The symbol map. */
export interface SymbolsMapReply {
  /** What its signs mean. */
  legend: string;
  /** All blocks. */
  text: string;
  /** What they weigh together. */
  tokens: number;
  /** What they might weigh. */
  budget: number;
  /** The files with a block, in the order of the blocks. */
  files: MapFile[];
  /** Files with an outline that have no block. */
  leftOut: number;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A name. */
export interface SymbolsReferencesParams {
  /** A name as it is defined, or with the types or modules around it: `total`, `Cart.total`, `shop.Cart.total`. */
  name: string;
  /** Only its definitions in this file; everybody's when absent. */
  path?: string | null;
  /** How many hits at most. */
  limit?: number;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** Who mentions the name. */
export interface SymbolsReferencesReply {
  /** The name. */
  name: string;
  /** Where it is defined, each file with who means it. */
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
  /** What to ask for instead, when not all mentions are listed, or none is. */
  howToNarrow?: string;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** What a text is about. */
export interface SymbolsRelevantParams {
  /** What is to be done, in any words. */
  query: string;
  /** So many items at most; the setting's when absent. */
  limit?: number | null;
  /** Items that score less are left out; the setting's when absent. */
  minScore?: number | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What the text is about. */
export interface SymbolsRelevantReply {
  /** The best first. */
  items: RelevantItem[];
  /** How often the session was changed so far. */
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

/** What is told of a calibration. */
export interface Taught {
  /** What one token of our estimate is in the model's own count. */
  factor: number;
  /** What every request has beyond our estimate, in tokens; less than nothing when estimates are too high. */
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
  /** Where it begins. */
  start: TextPosition;
  /** Where it ends, exclusive. */
  end: TextPosition;
}

/**
 * How stable content has proved to be: L0 is the most stable and stands first; active content is not cached at all.
 */
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
  /** Which. */
  tier: Tier;
  /** What it holds. */
  items: number;
  /** Its weight in tokens. */
  tokens: number;
  /** Whether a breakpoint stands behind it. */
  marked: boolean;
}

/** What one tier held. */
export interface TierWeight {
  /** The tier. */
  tier: Tier;
  /** How many items stood in it. */
  items: number;
  /** Its weight in tokens. */
  tokens: number;
}

/** The arguments of a command that takes none. */
export interface TiersExplainBreakParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What the last recorded prompt broke. */
export interface TiersExplainBreakReply {
  /** In plain words. */
  sentence: string;
  /** The prompt that brought it about, counted from 1. */
  turn?: number;
  /** When, in milliseconds since 1970. */
  atMs?: number;
  /** Why. */
  reason?: BreakReason;
  /** What stood in the first block that could not stay. */
  items?: ItemKey[];
  /** Tokens of the prefix that stayed as it was. */
  kept?: number;
  /** Tokens behind it, which the provider had to take in anew. */
  rewritten?: number;
  /** What stood behind it before and was written again without having changed. */
  moved?: ItemKey[];
  /** Tokens of `rewritten` that would have been read from the cache had nothing broken. */
  lost?: number;
  /** What that cost: those tokens at the difference between writing and reading, in tokens of plain input. */
  cost?: number;
  /** What the provider read less of this prompt than was expected, if it said so. */
  missed?: CacheShortfall;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** What might come. */
export interface TiersForecastParams {
  /** A model to switch to. */
  model?: string | null;
  /** How long the next prompt is to wait after the last one. */
  pauseSeconds?: number | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What comes next. */
export interface TiersForecastReply {
  /** The model of the next prompt. */
  model: string;
  /** The lifetime that is set. */
  ttl: Ttl;
  /** Prompts that were recorded, as far as they are remembered. */
  turns: number;
  /** What the next prompt weighs before its request, in tokens. */
  tokens: number;
  /** What of the last prompt can be cached, in tokens. */
  marked: number;
  /** By how much that grew per turn, in tokens. */
  growth: number;
  /** When what is cached will be gone, in milliseconds since 1970. */
  cacheExpiresMs?: number;
  /** With entries that live five minutes. */
  fiveMinutes: CostOutlook;
  /** With entries that live an hour. */
  oneHour: CostOutlook;
  /** The lifetime under which the session would have cost less so far; five minutes when it is all the same. */
  cheaper: Ttl;
  /** What a pause past the lifetime that is set would cost. */
  pastTtl: ExtraCost;
  /** What the pause that was asked about would do. */
  pause?: PauseCost;
  /** What the model that was asked about would do. */
  switch?: SwitchCost;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A policy for this session. Without the field nothing is changed; `null` takes the session's own policy back. */
export interface TiersPolicyParams {
  /** The session's own from now on. */
  policy?: PolicyName | null;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** Which policy lays out the next prompt, and who decided that. */
export interface TiersPolicyReply {
  /** The policy. */
  policy: PolicyName;
  /** Who decided. */
  decidedBy: DecidedBy;
  /** The session's own. */
  session: PolicyName | null;
  /** The setting's. */
  setting: PolicyName | null;
  /** The model of the next prompt. */
  model: string;
  /** What suits the model. */
  modelDefault: PolicyName;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface TiersRebuildParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What a rebuild will cost. */
export interface TiersRebuildReply {
  /** The policy. */
  policy: PolicyName;
  /** Who decided. */
  decidedBy: DecidedBy;
  /** What the next request will be charged before its prompt; absent when it would not fit. */
  predicted?: Charge;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface TiersReportParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The reply of `tiers.report`: the next prompt before its request. */
export interface TiersReportReply {
  /** The model. */
  model: string;
  /** The policy. */
  policy: PolicyName;
  /** Who decided. */
  decidedBy: DecidedBy;
  /** Prompts that were recorded so far. */
  turns: number;
  /** The last recorded prompt, whichever process recorded it; absent before any was. */
  lastTurn?: LastTurn;
  /** What stands in each tier that holds anything. */
  tiers: TierReport[];
  /** Every item in the order of the prompt, then those that only keep a place. */
  items: ItemReport[];
  /** What all of it weighs, in tokens. */
  tokens: number;
  /**
   * What it would be charged, as far as it is known what the provider's cache holds: `read` is the cached read to
   * expect.
   */
  predicted: Charge;
  /** `predicted.read` as a share of all its tokens, in percent, rounded to one decimal. */
  expectedPercent: number;
  /** The share of the input billed so far that was read from the cache, in percent; absent before anything was. */
  cachedPercent?: number;
  /** How often the session was changed so far. */
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

/** Tokens that a provider adds to what the request spells. */
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

/** What a prompt weighs, in tokens. */
export interface TokenReport {
  /** All of it. */
  total: number;
  /** By part; the parts add up to the total. */
  parts: Record<string, number>;
  /** What reported usage says that the provider will count. */
  expected: Expected;
  /** What it may weigh at most by this count: less than the room when estimates turned out too low. */
  limit: number;
  /** What it may be by the provider's count. */
  room: number;
  /** The input window: the model's, or the client's `maxInputTokens` where that is smaller. */
  window: number;
  /** What is kept free for the answer. */
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
  /** What the model calls it by. */
  name: string;
  /** What it does, told to the model. */
  description?: string;
  /** A JSON schema of its arguments, opaque to Strata. */
  input_schema: unknown;
}

/** How a tool call ended. */
export type ToolOutcome =
  /** It did what was asked. */
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
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** What is kept of an output. */
export interface ToolOutputAddReply {
  /** What the model is shown. */
  content: ResultPart[];
  /** The message, when one was added. */
  id?: MessageId;
  /** How often the session was changed so far. */
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
  /** The session that the command is about; without it the one that is shown. */
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
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** Results of tools: how much of them is kept, and for how long they are shown. A limit of 0 is none. */
export interface ToolOutputSettings {
  /** Lines that are kept of one output. */
  max_lines: number;
  /** Characters that are kept of one output. */
  max_chars: number;
  /** Bytes that are kept of one output. */
  max_bytes: number;
  /** Outputs of more characters go to a file, and only a notice is kept. */
  large_output_threshold: number;
  /**
   * What outputs in files may take together, in MiB, those of all workspaces included: the oldest make room when
   * one is written.
   */
  spill_quota_mib: number;
  /** Which part of a long output is kept. */
  truncate_mode: TruncateMode;
  /**
   * Tool results that the model may see. Older ones are archived after a turn, and digested by a compaction with
   * `checkpoint`. 0 is no cutoff.
   */
  cutoff: number;
  /** Who sums up what is archived. */
  summary: ToolSummaryStrategy;
  /** When results are archived. */
  ageing: ArchivalMode;
}

/** Results of tools: how much of them is kept, and for how long they are shown. A limit of 0 is none. */
export interface ToolOutputSettingsInput {
  /** Lines that are kept of one output. */
  max_lines?: number;
  /** Characters that are kept of one output. */
  max_chars?: number;
  /** Bytes that are kept of one output. */
  max_bytes?: number;
  /** Outputs of more characters go to a file, and only a notice is kept. */
  large_output_threshold?: number;
  /**
   * What outputs in files may take together, in MiB, those of all workspaces included: the oldest make room when
   * one is written.
   */
  spill_quota_mib?: number;
  /** Which part of a long output is kept. */
  truncate_mode?: TruncateMode;
  /**
   * Tool results that the model may see. Older ones are archived after a turn, and digested by a compaction with
   * `checkpoint`. 0 is no cutoff.
   */
  cutoff?: number;
  /** Who sums up what is archived. */
  summary?: ToolSummaryStrategy;
  /** When results are archived. */
  ageing?: ArchivalMode;
}

/**
 * Patterns for the names of tools, `*` for any characters and `?` for one, without regard to case. A name is tried
 * against the edit patterns first, then commands, reads, searches.
 */
export interface ToolPatterns {
  /** Tools that show files. */
  read_tools: string[];
  /** Tools that change files. */
  edit_tools: string[];
  /** Tools that run command lines. */
  command_tools: string[];
  /** Tools that look for something. */
  search_tools: string[];
}

/**
 * Patterns for the names of tools, `*` for any characters and `?` for one, without regard to case. A name is tried
 * against the edit patterns first, then commands, reads, searches.
 */
export interface ToolPatternsInput {
  /** Tools that show files. */
  read_tools?: string[];
  /** Tools that change files. */
  edit_tools?: string[];
  /** Tools that run command lines. */
  command_tools?: string[];
  /** Tools that look for something. */
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

/** Who says in a few words what archived results were. */
export type ToolSummaryStrategy =
  /** A model; when it fails, as `heuristic`. */
  | 'llm'
  /** The beginning and the end of what they said. */
  | 'heuristic'
  /** Nobody: results are never archived. */
  | 'off';

/** A tool that a model used. */
export interface ToolUse {
  /** The tool. */
  name: string;
  /** What it was called with. */
  input: unknown;
  /** Whether the call failed. */
  failed: boolean;
}

/** What a session was billed for. */
export interface Totals {
  /** Input that was neither read from nor written to the cache. */
  input: number;
  /** Output. */
  output: number;
  /** Input read from the cache. */
  cacheRead: number;
  /** Input written to the cache. */
  cacheWrite: number;
  /** What the input cost, in tokens of plain input; absent before anything was billed. */
  cost?: number;
}

/** What a condition counts. */
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
  /** What is counted. */
  measured: TriggerMetric;
  /** How much of it there is. */
  now: number;
  /** How much of it there may be. */
  limit: number;
  /** Whether that makes a compaction due. */
  due: boolean;
}

/** Which part of a text stays when it is too long. */
export type TruncateMode =
  /** Its beginning. */
  | 'head'
  /** Its beginning and its end, with a marker between them. */
  | 'head_tail';

/** How long a provider is asked to keep a prefix. */
export type Ttl =
  /** Five minutes from its last use. */
  | '5m'
  /** One hour from its last use. */
  | '1h';

/** Why a request failed, where Strata can do something about it. */
export type TurnError =
  /** The provider says that the prompt is too long. */
  | 'context_limit';

/** How a request ended. */
export type TurnStatus =
  /** The whole answer came. */
  | 'complete'
  /** The person stopped it; what came so far counts. */
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
  /** The session that the command is about; without it the one that is shown. */
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
  /** The tier it stands in since the last recorded turn. */
  tier: Tier;
  /** The weight of its text, in tokens of the model. */
  tokens: number;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** The arguments of a command that takes none. */
export interface UrlListParams {
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** The pages that the session shows. */
export interface UrlListReply {
  /** In the order of their addresses. */
  urls: ShownPage[];
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** A page. */
export interface UrlRemoveParams {
  /** Its address. */
  url: string;
  /** The session that the command is about; without it the one that is shown. */
  session?: string | null;
}

/** Whether there was such a page. */
export interface UrlRemoveReply {
  /** Whether there was. */
  removed: boolean;
  /** How often the session was changed so far. */
  stateVersion: number;
}

/** What the provider billed for one request, in tokens. */
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

/** What the provider billed for one request, in tokens. */
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
  /** How it comes to be in the prompt. */
  standing: ExcerptStanding;
  /** What it weighs in this prompt, updates included, in tokens. */
  tokens: number;
}

/** What a prompt says about one file it used. */
export type UsedFile = {
  /** Its name. */
  path: FileKey;
  /** The hash of its whole text. */
  hash: ContentHash;
  /** What it weighs in this prompt, in tokens. */
  tokens: number;
  /** The tier it stands in. */
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
    /** What was done to the bytes to read them as text, if anything. */
    notice?: string;
  }
  /** Handed over by the client. */
  | {
    source: 'given';
  });

/** Whether somebody gets to see a message. */
export type Visibility =
  /** Shown. */
  | 'shown'
  /** Kept in the store, not shown, not counted. */
  | 'hidden';

/** Something that the person should know. */
export interface Warning {
  /**
   * What kind of thing, for programs: `outOfStep`, `settings`, `resume`, `store`, `watch`, `compaction`,
   * `redacted`, ...
   */
  code: string;
  /** It in a sentence. */
  message: string;
  /** The file that it is about. */
  path?: FileKey;
}

/** A file that was not taken unasked. */
export interface WithheldFile {
  /** Which. */
  path: FileKey;
  /** Why, as a clause. */
  reason: string;
}
