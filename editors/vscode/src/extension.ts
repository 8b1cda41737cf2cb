// Entry point of the extension: creates its parts and starts the server.

import * as vscode from 'vscode';

import { compactionActions } from './actions/compaction';
import { conversationActions } from './actions/conversation';
import { fileActions, setTicks } from './actions/files';
import { promptActions } from './actions/prompt';
import { register } from './actions/register';
import { serverActions } from './actions/server';
import { sessionActions } from './actions/sessions';
import { apiOf } from './api';
import type { StrataApi } from './api';
import { Chat } from './chat';
import { Strata, wordsOf } from './client';
import { CompactionNotices } from './compactions';
import { Messages } from './messages';
import { ChatModel, modelAnswers } from './models';
import { Preview } from './preview';
import { fail } from './shown';
import { ModelSource } from './source';
import { registerTools } from './tools';
import { CompactionTree } from './views/compaction';
import { ContextTree } from './views/context';
import type { ContextNode } from './views/context';
import { Decorations } from './views/decorations';
import { MemoryTree } from './views/memory';
import { Meter } from './views/meter';
import type { RefreshedTree } from './views/refreshed';
import { SessionsTree } from './views/sessions';
import { showWarnings } from './warnings';

let running: Strata | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<StrataApi> {
  const chatModel = new ChatModel();
  const strata = new Strata(context, modelAnswers(chatModel));
  running = strata;
  const preview = new Preview(strata);
  const compactions = new CompactionNotices(strata);
  const messages = new Messages(strata);
  const decorations = new Decorations(strata);
  const contextTree = new ContextTree(strata);
  const chat = new Chat(strata, chatModel, compactions);
  context.subscriptions.push(
    strata,
    preview,
    compactions,
    messages,
    decorations,
    vscode.window.registerFileDecorationProvider(decorations),
    new Meter(strata),
    chat,
    registerTools(strata),
    new ModelSource(strata),
    showWarnings(strata, () => chat.isAnswering),
    register({
      ...fileActions(strata),
      ...promptActions(strata, preview),
      ...compactionActions(strata),
      ...conversationActions(strata, messages),
      ...sessionActions(strata),
      ...serverActions(strata),
    }),
    ...showTree('strata.context', contextTree, (view) =>
      view.onDidChangeCheckboxState(({ items }) => tick(strata, contextTree, items)),
    ),
    ...showTree('strata.compaction', new CompactionTree(strata)),
    ...showTree('strata.sessions', new SessionsTree(strata)),
    ...showTree('strata.memory', new MemoryTree(strata)),
  );
  const life = strata.onLife((now) => vscode.commands.executeCommand('setContext', 'strata.life', now));
  context.subscriptions.push(life);
  await strata.start();
  return apiOf(strata);
}

/** Stops the server. The editor waits until it has exited. */
export async function deactivate(): Promise<void> {
  await running?.stop();
}

function showTree<Node, Shown>(
  id: string,
  tree: RefreshedTree<Node, Shown>,
  also?: (view: vscode.TreeView<Node>) => vscode.Disposable,
): vscode.Disposable[] {
  const view = vscode.window.createTreeView(id, {
    treeDataProvider: tree,
    showCollapseAll: true,
    canSelectMany: true,
    manageCheckboxStateManually: true,
  });
  tree.shownIn(view);
  return [tree, view, ...(also ? [also(view)] : [])];
}

async function tick(
  strata: Strata,
  tree: ContextTree,
  changed: readonly [ContextNode, vscode.TreeItemCheckboxState][],
): Promise<void> {
  try {
    await setTicks(strata, changed);
  } catch (error) {
    if (!(error instanceof vscode.CancellationError)) {
      void fail(`Strata: ${wordsOf(error)}`);
    }
    // Reset the checkboxes to the actual selection.
    tree.redraw();
  }
}
