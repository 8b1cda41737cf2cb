// What the extension offers to other extensions. The README shows how to use it.

import type * as vscode from 'vscode';

import type { Strata } from './client';
import type {
  FilesSelectReply,
  PromptAssembleParams,
  PromptAssembleReply,
  PromptRecordParams,
  PromptRecordReply,
  Status,
} from './protocol';

/** `vscode.extensions.getExtension('strata.strata').activate()` resolves to this. */
export interface StrataApi {
  /** Makes a request body. It changes nothing; the reply's `id` names it for `record`. */
  assemble(request: PromptAssembleParams, token?: vscode.CancellationToken): Promise<PromptAssembleReply>;
  /** Commits the turn: the question and its answer join the conversation. */
  record(outcome: PromptRecordParams): Promise<PromptRecordReply>;
  /** Shows files in full: URIs, paths, folders, globs, or lines (`src/lib.rs#L10-40`). */
  select(paths: (string | vscode.Uri)[]): Promise<FilesSelectReply>;
  /** The context meter, as often as it changes. */
  onStatus: vscode.Event<Status>;
}

export function apiOf(strata: Strata): StrataApi {
  return {
    assemble: (request, token) => strata.ask('strata.prompt.assemble', request, token),
    record: (outcome) => strata.tell('strata.prompt.record', outcome),
    select: (paths) => strata.tell('strata.files.select', { paths: paths.map(String) }),
    onStatus: strata.onStatus,
  };
}
