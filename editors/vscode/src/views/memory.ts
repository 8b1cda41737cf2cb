// The tree "Memory": shows the notes of the workspace.

import * as vscode from 'vscode';

import type { Note } from '../protocol';
import { treeItem } from '../shown';
import { firstWords } from '../wording';
import { RefreshedTree } from './refreshed';

export class MemoryTree extends RefreshedTree<Note, Note[]> {
  protected override async load(): Promise<Note[]> {
    return (await this.strata.ask('strata.memory.list', {})).fragments;
  }

  protected override top(fragments: Note[]): Note[] {
    return fragments;
  }

  override getTreeItem(fragment: Note): vscode.TreeItem {
    const description = fragment.tags.map((tag) => `#${tag}`).join(' ');
    const item = treeItem({ label: firstWords(fragment.text), description, tooltip: fragment.text });
    item.id = String(fragment.id);
    item.iconPath = new vscode.ThemeIcon('note');
    item.contextValue = 'fragment';
    return item;
  }
}
