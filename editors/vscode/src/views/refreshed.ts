// A tree that asks the server anew when something changed, as long as somebody looks at it.

import * as vscode from 'vscode';

import type { Strata } from '../client';

/** News that follow each other within this time are shown together. */
const TOGETHER_MS = 150;

/** The part that all trees of the Strata view share. */
export abstract class RefreshedTree<Node> implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.emitter.event;

  private readonly listening: vscode.Disposable;
  private timer: NodeJS.Timeout | undefined;
  private stale = false;
  private view: vscode.TreeView<Node> | undefined;

  constructor(protected readonly strata: Strata) {
    this.listening = strata.onChange(() => this.soon());
  }

  abstract getTreeItem(node: Node): vscode.TreeItem;
  abstract getChildren(node?: Node): Promise<Node[]>;

  /** Refreshes only while `view` is seen, and once more when it is seen again. */
  shownIn(view: vscode.TreeView<Node>): void {
    this.view = view;
    view.onDidChangeVisibility(({ visible }) => {
      if (visible && this.stale) {
        this.soon();
      }
    });
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
        this.emitter.fire();
      }
    }, TOGETHER_MS);
  }
}
