// Commands that control the server, and the list of the most common actions.

import * as vscode from 'vscode';

import type { Strata } from '../client';
import { pick } from '../shown';
import type { Actions } from './register';

/** Actions offered by a click on the meter: icon, label and command. */
const OFFERED: [string, string, string][] = [
  ['open-preview', 'Preview Prompt', 'strata.preview'],
  ['copy', 'Copy Prompt…', 'strata.copyPrompt'],
  ['add', 'Add This File to Context', 'strata.addToContext'],
  ['fold', 'Compact Conversation', 'strata.compact'],
  ['dashboard', 'Show Compaction Status', 'strata.showCompaction'],
  ['comment-discussion', 'New Conversation', 'strata.newSession'],
  ['history', 'Open Conversation…', 'strata.openSession'],
  ['search', 'Search Conversations and Memory…', 'strata.search'],
  ['note', 'Remember…', 'strata.remember'],
  ['question', 'Explain Last Cache Miss', 'strata.explainBreak'],
  ['list-selection', 'Choose Cache Policy…', 'strata.choosePolicy'],
  ['settings-gear', 'Settings', 'strata.openSettings'],
  ['output', 'Show Log', 'strata.showLog'],
  ['debug-restart', 'Restart Server', 'strata.restart'],
];

export function serverActions(strata: Strata): Actions {
  return {
    'strata.actions': () => chooseAction(),
    'strata.restart': () => strata.restart(),
    'strata.showLog': () => strata.output.show(),
    'strata.refresh': () => strata.refresh(),
    'strata.reindex': () => strata.tell('strata.server.reindex', {}),
    'strata.openSettings': () =>
      vscode.commands.executeCommand('workbench.action.openSettings', '@ext:strata.strata'),
    'strata.openWalkthrough': () =>
      vscode.commands.executeCommand('workbench.action.openWalkthrough', 'strata.strata#start', false),
  };
}

async function chooseAction(): Promise<void> {
  const items = OFFERED.map(([icon, label, command]) => ({ icon, label, command }));
  const chosen = await pick('Strata', items);
  if (chosen !== undefined) {
    await vscode.commands.executeCommand(chosen.command);
  }
}
