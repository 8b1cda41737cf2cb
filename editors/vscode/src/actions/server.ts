// Commands about the server itself, and the list of what one would want most.

import * as vscode from 'vscode';

import type { Strata } from '../client';
import type { Actions } from './register';

/** What a click on the meter offers. */
const OFFERED: [string, string, string][] = [
  ['$(open-preview)', 'Preview the Prompt', 'strata.preview'],
  ['$(copy)', 'Copy the Prompt…', 'strata.copyPrompt'],
  ['$(add)', 'Add This File to the Context', 'strata.addToContext'],
  ['$(fold)', 'Compact the Conversation', 'strata.compact'],
  ['$(dashboard)', 'Show How Near a Compaction Is', 'strata.showCompaction'],
  ['$(comment-discussion)', 'New Conversation', 'strata.newSession'],
  ['$(history)', 'Open a Conversation…', 'strata.openSession'],
  ['$(search)', 'Search Conversations and Memory…', 'strata.search'],
  ['$(note)', 'Remember…', 'strata.remember'],
  ['$(question)', 'Explain the Last Cache Break', 'strata.explainBreak'],
  ['$(list-selection)', 'Choose the Layout of Prompts…', 'strata.choosePolicy'],
  ['$(settings-gear)', 'Settings', 'strata.openSettings'],
  ['$(output)', 'Show the Log', 'strata.showLog'],
  ['$(debug-restart)', 'Restart the Server', 'strata.restart'],
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
  const items = OFFERED.map(([icon, label, command]) => ({ label: `${icon} ${label}`, command }));
  const chosen = await vscode.window.showQuickPick(items, { title: 'Strata' });
  if (chosen !== undefined) {
    await vscode.commands.executeCommand(chosen.command);
  }
}
