// What Strata's commands take and reply, and what the server says by itself. Types only: nothing here runs.

/** Requests a client may send through `workspace/executeCommand`, by name. */
export interface Commands {
  'strata.files.select': { params: Paths; reply: Changed };
  'strata.files.deselect': { params: Paths; reply: Changed };
  'strata.files.exclude': { params: Paths; reply: Changed };
  'strata.files.include': { params: Paths; reply: Changed };
  'strata.files.clear': { params: None; reply: None };
  'strata.files.list': { params: None; reply: { files: Listed[] } };
  'strata.prompt.assemble': { params: Assemble; reply: Assembled };
  'strata.prompt.record': { params: Outcome; reply: Recorded };
  'strata.prompt.discard': { params: { id: string }; reply: None };
  'strata.prompt.preview': { params: Partial<Assemble>; reply: { text: string; tokens: number } };
  'strata.tiers.report': { params: None; reply: TiersReport };
  'strata.tiers.rebuild': { params: None; reply: { policy: string; predicted?: Charge } };
  'strata.tiers.policy': {
    params: { policy?: string | null };
    reply: { policy: string; decidedBy: string; session: string | null; modelDefault: string };
  };
  'strata.tiers.explainBreak': { params: None; reply: { sentence: string } };
  'strata.url.list': { params: None; reply: { urls: { url: string; title: string; key: string; tokens: number }[] } };
  'strata.url.remove': { params: { url: string }; reply: { removed: boolean } };
  'strata.history.get': { params: None; reply: { messages: Message[] } };
  'strata.history.edit': { params: { id: number; content: string | Content[] }; reply: None };
  'strata.history.pin': { params: { id: number; pinned?: boolean }; reply: None };
  'strata.history.hide': { params: { id: number; agent?: Visibility; user?: Visibility }; reply: None };
  'strata.history.truncate': { params: { from: number }; reply: { removed: number; messages: number } };
  'strata.compaction.status': { params: None; reply: { enabled: boolean; profile: string; running: boolean } };
  'strata.compaction.run': { params: { profile?: string }; reply: Compaction };
  'strata.compaction.undo': { params: None; reply: { profile: string; messages: number } };
  'strata.compaction.contextLimitExceeded': { params: None; reply: Compaction };
  'strata.symbols.map': {
    params: { budget?: number; focus?: string[] };
    reply: { legend: string; text: string; tokens: number };
  };
  'strata.symbols.file': { params: { path: string }; reply: { path: string; text: string; tokens: number } };
  'strata.symbols.find': {
    params: { query: string; limit?: number };
    reply: { symbols: { name: string; kind: string; path: string; head: string; container?: string }[] };
  };
  'strata.symbols.references': { params: { name: string; path?: string }; reply: object };
  'strata.symbols.relevant': { params: { query: string; limit?: number; minScore?: number }; reply: object };
  'strata.memory.add': { params: { text: string; tags?: string[] }; reply: { id: number } };
  'strata.memory.list': { params: None; reply: { fragments: Fragment[] } };
  'strata.memory.remove': { params: { id: number }; reply: None };
  'strata.memory.search': { params: { query: string; limit?: number }; reply: { hits: Hit[] } };
  'strata.session.new': { params: None; reply: Opened };
  'strata.session.reset': { params: None; reply: Opened };
  'strata.session.load': { params: { id: string; readOnly?: boolean }; reply: Opened };
  'strata.session.fork': { params: { until?: number; name?: string }; reply: Opened };
  'strata.session.list': { params: None; reply: { sessions: Session[] } };
  'strata.session.rename': { params: { name: string; id?: string }; reply: None };
  'strata.session.delete': { params: { id: string }; reply: None };
  'strata.session.export': {
    params: { format?: 'jsonl' | 'anthropic' | 'openai' | 'markdown'; id?: string };
    reply: { format: string; text: string };
  };
  'strata.session.import': {
    params: { text: string; name?: string };
    reply: { id: string; messages: number; form: string };
  };
  'strata.session.search': { params: { query: string; limit?: number }; reply: { hits: Hit[] } };
  'strata.toolOutput.read': {
    params: { id: number | string; from?: number; count?: number };
    reply: { text: string; from: number; to: number; total: number };
  };
  'strata.server.status': { params: None; reply: { version: string; index: string; files: number; notes: string[] } };
  'strata.server.reindex': { params: None; reply: None };
  'strata.server.models': { params: None; reply: { models: { id: string; provider: string }[] } };
}

/** What the server says by itself, by name. */
export interface Notifications {
  'strata/status': Status;
  'strata/warning': Warning;
  'strata/compaction': Compaction;
}

/** What the server asks of the client, by name. */
export interface Requests {
  'strata/summarize': { params: Summarize; reply: { text: string } };
  'strata/countTokens': { params: CountTokens; reply: { tokens: number } };
}

export type None = Record<string, never>;

export type Visibility = 'shown' | 'hidden';

export interface Paths {
  paths: string[];
  confirmSecrets?: string[];
}

export interface Changed {
  changed: string[];
  withheld?: { path: string; reason: string }[];
}

export interface Listed {
  path: string;
  state: 'selected' | 'excluded';
  lines?: string[];
  tier?: string;
  tokens?: number;
  source?: 'buffer' | 'disk' | 'given';
  version?: number;
  problem?: string;
}

export interface Assemble {
  prompt: string;
  format?: 'anthropic' | 'openai' | 'markdown';
  model?: string;
  policy?: string;
  dryRun?: boolean;
}

export interface Assembled {
  id?: string;
  model: string;
  format: string;
  body: unknown;
  tokens: { total: number; limit: number; window: number };
  shed: { path: string; tokens: number }[];
  warnings: Warning[];
}

export interface Outcome {
  id: string;
  status?: 'complete' | 'aborted' | 'error';
  response?: string | Content[];
  partial?: string | Content[];
  usage?: { input: number; output: number; cacheRead: number; cacheWrite: number };
}

export interface Recorded {
  id: string;
  status: string;
  messages: number;
  warnings: Warning[];
}

export interface Charge {
  read: number;
  written: number;
  plain: number;
  cost: number;
}

export interface TiersReport {
  model: string;
  policy: string;
  decidedBy: string;
  turns: number;
  tiers: { tier: string; items: number; tokens: number; marked: boolean }[];
  items: Item[];
  tokens: number;
}

export interface Item {
  key: string;
  tier: string;
  tokens: number;
  position?: number;
  hazard?: number;
  age?: number;
  kept?: boolean;
  n?: number;
  threshold?: number;
  lastBreak?: { turn: number; reason: string };
}

export type Content = { type: string; text?: string; [field: string]: unknown };

export interface Message {
  id: number;
  role: 'user' | 'assistant';
  content: Content[];
  agent: Visibility;
  user: Visibility;
  kind: string;
  pin?: unknown;
}

export interface Fragment {
  id: number;
  text: string;
  tags: string[];
  session: string;
  createdMs: number;
}

export interface Hit {
  source: 'fragment' | 'message';
  id?: number;
  session?: string;
  message?: number;
  role?: string;
  tags?: string[];
  snippet: string;
  timeMs?: number;
}

export interface Opened {
  id: string;
  messages: number;
  readOnly: boolean;
}

export interface Session {
  id: string;
  name: string;
  createdMs: number;
  updatedMs: number;
  messages: number;
  preview: string;
  open: boolean;
  current: boolean;
  readOnly: boolean;
}

export interface Status {
  session: string;
  model: string;
  tokens: number;
  window: number;
  percent: number;
  cachedPercent: number | null;
  cachedTokens?: number;
  cacheExpiresMs?: number;
  compactionPercent: number;
  index: 'building' | 'ready';
  files: number;
  stateVersion: number;
}

export interface Warning {
  code: string;
  message: string;
  path?: string;
}

export interface Compaction {
  state: 'started' | 'ended' | 'failed';
  session: string;
  profile: string;
  reason: { kind: string };
  strategy?: string;
  before?: { messages: number; tokens: number };
  after?: { messages: number; tokens: number };
  notes?: string[];
  error?: string;
}

export interface Summarize {
  purpose: string;
  system: string;
  prompt: string;
  maxTokens: number;
  model?: string;
}

export interface CountTokens {
  text: string;
  model?: string;
}
