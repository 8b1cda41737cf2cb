// Shows the server's warnings to the user: files that did not fit, secrets that were replaced, or a session that could
// not be opened or saved. A warning that is already visible is not shown again.

import type * as vscode from 'vscode';

import type { Strata } from './client';
import { line, warn } from './shown';

/** Codes of the warnings that are shown to the user. The others are only logged. */
const LOUD = new Set(['store', 'resume', 'compaction', 'redacted', 'shed']);

/** Codes of warnings about a prompt, which the chat's answer also shows. */
const IN_ANSWERS = new Set(['redacted', 'shed']);

/** Shows warnings. `isAnswering` returns whether the chat is answering a question. */
export function showWarnings(strata: Strata, isAnswering: () => boolean): vscode.Disposable {
  const showing = new Set<string>();
  return strata.onWarning(async ({ code, message, path }) => {
    strata.output.warn(line(`${code}: ${path === undefined ? '' : `${path}: `}${message}`));
    if (!LOUD.has(code) || showing.has(message) || (IN_ANSWERS.has(code) && isAnswering())) {
      return;
    }
    showing.add(message);
    const choice = await warn(`Strata: ${message}`, 'Show Log');
    showing.delete(message);
    if (choice !== undefined) {
      strata.output.show();
    }
  });
}
