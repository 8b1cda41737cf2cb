// The tree "Sessions": shows the conversations of this workspace, newest first.

import * as vscode from 'vscode';

import type { ListedSession } from '../protocol';
import { treeItem } from '../shown';
import { counted, firstWords, since } from '../wording';
import { RefreshedTree } from './refreshed';

export class SessionsTree extends RefreshedTree<ListedSession, ListedSession[]> {
  protected override async load(): Promise<ListedSession[]> {
    return (await this.strata.ask('strata.session.list', {})).sessions;
  }

  protected override top(sessions: ListedSession[]): ListedSession[] {
    return sessions;
  }

  override getTreeItem(session: ListedSession): vscode.TreeItem {
    const description = [
      session.updatedMs === null ? 'not saved' : since(session.updatedMs, Date.now()),
      session.readOnly ? 'read-only' : undefined,
    ]
      .filter((part) => part !== undefined)
      .join(' · ');
    const tooltip = `${session.preview}\n\n${counted(session.messages, 'message')} · ${session.id}`;
    const item = treeItem({ label: titleOf(session), description, tooltip });
    item.id = session.id;
    item.iconPath = new vscode.ThemeIcon(session.current ? 'comment-discussion' : 'comment');
    item.contextValue = session.current ? 'session.current' : 'session';
    if (!session.current) {
      item.command = { command: 'strata.openSession', title: 'Open', arguments: [session] };
    }
    return item;
  }
}

/** Returns the title of a session. */
export function titleOf(session: ListedSession): string {
  return session.name || firstWords(session.preview, 24) || session.id;
}
