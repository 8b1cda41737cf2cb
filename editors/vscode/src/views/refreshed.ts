// A tree that reloads its data after changes while it is visible.

import * as vscode from 'vscode';

import type { Strata } from '../client';

/** Changes within this time are shown together. */
const TOGETHER_MS = 150;

/**
 * Base class of the trees in the Strata view. Loads the data before redrawing, and redraws only if the data has changed, because
 * clicks on checkboxes are lost while the editor redraws a tree.
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

  /** Loads the data of the tree. */
  protected abstract load(): Promise<Shown>;

  /** Returns the first level of the tree. */
  protected abstract top(shown: Shown): Node[];

  /** Returns the children of a node. */
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

  /** Refreshes the tree only while `view` is visible. Changes in the meantime are shown when it becomes visible again. */
  shownIn(view: vscode.TreeView<Node>): void {
    this.view = view;
    view.onDidChangeVisibility(({ visible }) => {
      if (visible && this.stale) {
        this.soon();
      }
    });
  }

  /** Reloads and redraws the tree unconditionally. */
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
