// Tells the user what the server warns of: files that did not fit, secrets that were taken out, a session that could
// not be opened or saved. The same warning is told once while it lasts.

import * as vscode from 'vscode';

import type { Strata } from './client';

/** Codes that interrupt; the others are in the log. */
const LOUD = new Set(['store', 'resume', 'compaction', 'redacted', 'shed']);

/** Those of a prompt, which the answer in the chat says as well. */
const IN_ANSWERS = new Set(['redacted', 'shed']);

/** `isAnswering` says whether the chat is answering a question. */
export function showWarnings(strata: Strata, isAnswering: () => boolean): vscode.Disposable {
  const showing = new Set<string>();
  return strata.onWarning(async ({ code, message, path }) => {
    strata.output.warn(`${code}: ${path === undefined ? '' : `${path}: `}${message}`);
    if (!LOUD.has(code) || showing.has(message) || (IN_ANSWERS.has(code) && isAnswering())) {
      return;
    }
    showing.add(message);
    const choice = await vscode.window.showWarningMessage(`Strata: ${message}`, 'Show Log');
    showing.delete(message);
    if (choice !== undefined) {
      strata.output.show();
    }
  });
}
