// Commands that make the conversation shorter, and take that back.

import * as vscode from 'vscode';

import type { Strata } from '../client';
import { counted, exactly } from '../wording';
import type { Actions } from './register';

export function compactionActions(strata: Strata): Actions {
  return {
    'strata.compact': () => compact(strata),
    'strata.undoCompaction': () => undo(strata),
  };
}

async function compact(strata: Strata): Promise<void> {
  const where = { location: vscode.ProgressLocation.Notification, title: 'Compacting the conversation', cancellable: true };
  const done = await vscode.window.withProgress(where, (_, token) => strata.tell('strata.compaction.run', {}, token));
  if (done.before === undefined || done.after === undefined) {
    return;
  }
  const { before, after } = done;
  const notes = done.notes?.length ? ` ${done.notes.join(' ')}` : '';
  // Not awaited: the command is done, whatever the person answers.
  void offerUndo(
    `The conversation was compacted: ${counted(before.messages, 'message')} became ${exactly(after.messages)}, ` +
      `${exactly(before.tokens)} tokens became ${exactly(after.tokens)}.${notes}`,
  );
}

async function offerUndo(message: string): Promise<void> {
  const choice = await vscode.window.showInformationMessage(message, 'Undo', 'Open Preview');
  if (choice === 'Undo') {
    await vscode.commands.executeCommand('strata.undoCompaction');
  } else if (choice === 'Open Preview') {
    await vscode.commands.executeCommand('strata.preview');
  }
}

async function undo(strata: Strata): Promise<void> {
  const { messages } = await strata.tell('strata.compaction.undo', {});
  void vscode.window.showInformationMessage(`The compaction was undone: the model sees ${counted(messages, 'message')}.`);
}
