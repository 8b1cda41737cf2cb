// Commands that compact the conversation, undo a compaction, and show when the next one is due.

import * as vscode from 'vscode';

import type { Strata } from '../client';
import { madeShorter, notesOf, offerUndo } from '../compactions';
import { inform, withProgress } from '../shown';
import { counted } from '../wording';
import type { Actions } from './register';

export function compactionActions(strata: Strata): Actions {
  return {
    'strata.compact': () => compact(strata),
    'strata.undoCompaction': () => undo(strata),
    'strata.showCompaction': () => vscode.commands.executeCommand('strata.compaction.focus'),
  };
}

async function compact(strata: Strata): Promise<void> {
  const done = await withProgress('Compacting the conversation', (token) => strata.tell('strata.compaction.run', {}, token));
  // Not awaited, because the command is done even while the notification is open.
  void offerUndo(`${madeShorter(done)}${notesOf(done)}`);
}

async function undo(strata: Strata): Promise<void> {
  const { messages } = await strata.tell('strata.compaction.undo', {});
  void inform(`Compaction undone. The model sees ${counted(messages, 'message')}.`);
}
