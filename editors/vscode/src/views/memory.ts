// The tree "Memory": notes that outlive conversations.

import * as vscode from 'vscode';

import type { Fragment } from '../protocol';
import { firstWords } from '../wording';
import { RefreshedTree } from './refreshed';

export class MemoryTree extends RefreshedTree<Fragment, Fragment[]> {
  protected override async load(): Promise<Fragment[]> {
    return (await this.strata.ask('strata.memory.list', {})).fragments;
  }

  protected override top(fragments: Fragment[]): Fragment[] {
    return fragments;
  }

  override getTreeItem(fragment: Fragment): vscode.TreeItem {
    const item = new vscode.TreeItem(firstWords(fragment.text));
    item.id = String(fragment.id);
    item.description = fragment.tags.map((tag) => `#${tag}`).join(' ');
    item.tooltip = fragment.text;
    item.iconPath = new vscode.ThemeIcon('note');
    item.contextValue = 'fragment';
    return item;
  }
}
