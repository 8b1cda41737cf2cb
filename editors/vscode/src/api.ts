// The API for other extensions. The README shows how to use it.

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

/** The API that `vscode.extensions.getExtension('strata.strata').activate()` resolves to. */
export interface StrataApi {
  /** Assembles a request body without changing the conversation. Pass the `id` of the reply to `record`. */
  assemble(request: PromptAssembleParams, token?: vscode.CancellationToken): Promise<PromptAssembleReply>;
  /** Adds the question and its answer to the conversation. */
  record(outcome: PromptRecordParams): Promise<PromptRecordReply>;
  /** Selects files, which prompts then contain in full: URIs, paths, folders, globs, or lines (`src/lib.rs#L10-40`). */
  select(paths: (string | vscode.Uri)[]): Promise<FilesSelectReply>;
  /** Fires whenever the context meter changes. */
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
