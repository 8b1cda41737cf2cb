// A tree that asks the server again when something changed, as long as someone looks at it.

import * as vscode from 'vscode';

import type { Strata } from '../client';

/** News that follow each other within this time are shown together. */
const TOGETHER_MS = 150;

/**
 * The part that all trees of the Strata view share. What is shown is asked for first and drawn only when it differs: while
 * the editor draws a tree again, a tick on it is lost.
 */
export abstract class RefreshedTree<Node, Shown> implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.emitter.event;

  private readonly listening: vscode.Disposable;
  private timer: NodeJS.Timeout | undefined;
  private stale = false;
  private view: vscode.TreeView<Node> | undefined;
  private shown: Shown | undefined;

  constructor(protected readonly strata: Strata) {
    this.listening = strata.onChange(() => this.soon());
  }

  abstract getTreeItem(node: Node): vscode.TreeItem;

  /** Asks for all that the tree is made of. */
  protected abstract load(): Promise<Shown>;

  /** The first level of the tree. */
  protected abstract top(shown: Shown): Node[];

  /** What is below a line of it. */
  protected below(_node: Node): Promise<Node[]> | Node[] {
    return [];
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node !== undefined) {
      return this.below(node);
    }
    if (this.strata.life !== 'running') {
      return [];
    }
    this.shown ??= await this.load();
    return this.top(this.shown);
  }

  /** Refreshes only while `view` is seen, and once more when it is seen again. */
  shownIn(view: vscode.TreeView<Node>): void {
    this.view = view;
    view.onDidChangeVisibility(({ visible }) => {
      if (visible && this.stale) {
        this.soon();
      }
    });
  }

  /** Draws the tree again, whatever it shows. */
  redraw(): void {
    this.shown = undefined;
    this.emitter.fire();
  }

  dispose(): void {
    this.listening.dispose();
    this.emitter.dispose();
    clearTimeout(this.timer);
  }

  protected soon(): void {
    this.stale = true;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      if (this.view?.visible !== false) {
        this.stale = false;
        void this.refresh();
      }
    }, TOGETHER_MS);
  }

  private async refresh(): Promise<void> {
    if (this.strata.life !== 'running') {
      this.redraw();
      return;
    }
    const next = await this.load().catch(() => undefined);
    if (next !== undefined && JSON.stringify(next) !== JSON.stringify(this.shown)) {
      this.shown = next;
      this.emitter.fire();
    }
  }
}
