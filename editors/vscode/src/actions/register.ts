// How the extension's commands are registered: each may fail, and what failed is told to the user.
//
// A command of the extension has a name of two parts (`strata.preview`). Names of three parts (`strata.files.select`)
// are the server's, which the language client registers.

import * as vscode from 'vscode';

import { wordsOf } from '../client';

/** A command by its name. VS Code passes along what a menu was opened on. */
export type Actions = Record<string, (...args: never[]) => unknown>;

/** Registers all of them. */
export function register(actions: Actions): vscode.Disposable {
  const registered = Object.entries(actions).map(([name, action]) =>
    vscode.commands.registerCommand(name, async (...args: unknown[]) => {
      try {
        return await (action as (...args: unknown[]) => unknown)(...args);
      } catch (error) {
        if (!(error instanceof vscode.CancellationError)) {
          void vscode.window.showErrorMessage(`Strata: ${wordsOf(error)}`);
        }
        return undefined;
      }
    }),
  );
  return vscode.Disposable.from(...registered);
}
