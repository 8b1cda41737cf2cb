// The tree "Memory": shows the notes of the workspace.

import * as vscode from 'vscode';

import type { Note } from '../protocol';
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
    const item = new vscode.TreeItem(firstWords(fragment.text));
    item.id = String(fragment.id);
    item.description = fragment.tags.map((tag) => `#${tag}`).join(' ');
    item.tooltip = fragment.text;
    item.iconPath = new vscode.ThemeIcon('note');
    item.contextValue = 'fragment';
    return item;
  }
}
