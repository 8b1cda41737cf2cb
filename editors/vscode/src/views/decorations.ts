// Marks files that are in the context or excluded from it, wherever the editor lists files.

import * as vscode from 'vscode';

import type { Strata } from '../client';
import { uriOf } from '../resources';

/** Changes within this time are handled together. */
const TOGETHER_MS = 300;

const SELECTED: vscode.FileDecoration = {
  badge: '◆',
  tooltip: 'In the model context',
  color: new vscode.ThemeColor('strata.selectedForeground'),
};
const EXCLUDED: vscode.FileDecoration = {
  badge: '⊘',
  tooltip: 'Excluded from the model context',
  color: new vscode.ThemeColor('strata.excludedForeground'),
};

export class Decorations implements vscode.FileDecorationProvider, vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<vscode.Uri[]>();
  readonly onDidChangeFileDecorations = this.emitter.event;

  private readonly listening: vscode.Disposable;
  private timer: NodeJS.Timeout | undefined;
  /** Current decorations, by URI. */
  private painted = new Map<string, vscode.FileDecoration>();

  constructor(private readonly strata: Strata) {
    this.listening = strata.onChange(() => {
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        // Ignore errors. If the server has stopped, a change is reported after it restarts.
        this.paint().catch(() => undefined);
      }, TOGETHER_MS);
    });
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    return this.painted.get(uri.toString());
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.listening.dispose();
    this.emitter.dispose();
  }

  private async paint(): Promise<void> {
    const wanted = vscode.workspace.getConfiguration('strata').get('decorations', true);
    const next = new Map<string, vscode.FileDecoration>();
    if (wanted && this.strata.life === 'running') {
      const { files } = await this.strata.ask('strata.files.list', {});
      for (const { path, state } of files) {
        const uri = uriOf(path);
        if (uri !== undefined) {
          next.set(uri.toString(), state === 'selected' ? SELECTED : EXCLUDED);
        }
      }
    }
    const changed = [...new Set([...this.painted.keys(), ...next.keys()])].filter(
      (uri) => this.painted.get(uri) !== next.get(uri),
    );
    this.painted = next;
    if (changed.length > 0) {
      this.emitter.fire(changed.map((uri) => vscode.Uri.parse(uri)));
    }
  }
}
