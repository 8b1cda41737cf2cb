// What the extension offers to other extensions. The README shows how to use it.

import type * as vscode from 'vscode';

import type { Strata } from './client';
import type { Assemble, Assembled, Changed, Outcome, Recorded, Status } from './protocol';

/** `vscode.extensions.getExtension('strata.strata').activate()` resolves to this. */
export interface StrataApi {
  /** Makes a request body. It changes nothing; the reply's `id` names it for `record`. */
  assemble(request: Assemble, token?: vscode.CancellationToken): Promise<Assembled>;
  /** Commits the turn: the question and its answer join the conversation. */
  record(outcome: Outcome): Promise<Recorded>;
  /** Shows files in full: URIs, paths, folders, globs, or lines (`src/lib.rs#L10-40`). */
  select(paths: (string | vscode.Uri)[]): Promise<Changed>;
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
