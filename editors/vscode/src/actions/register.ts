// Registers the extension's commands, and shows their errors to the user.
//
// Commands of the extension have names of two parts (`strata.preview`). Names of three parts (`strata.files.select`)
// are commands of the server, which the language client registers.

import * as vscode from 'vscode';

import { wordsOf } from '../client';
import { fail } from '../shown';

/** Commands by name. VS Code passes the item that a menu was opened on. */
export type Actions = Record<string, (...args: never[]) => unknown>;

export function register(actions: Actions): vscode.Disposable {
  const registered = Object.entries(actions).map(([name, action]) =>
    vscode.commands.registerCommand(name, async (...args: unknown[]) => {
      try {
        return await (action as (...args: unknown[]) => unknown)(...args);
      } catch (error) {
        if (!(error instanceof vscode.CancellationError)) {
          void fail(`Strata: ${wordsOf(error)}`);
        }
        return undefined;
      }
    }),
  );
  return vscode.Disposable.from(...registered);
}
