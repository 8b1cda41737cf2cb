// Tools for the models that other chats use: each is one command of the server. What a tool takes is described in
// `package.json`, and is what its command takes.

import * as vscode from 'vscode';

import type { Strata } from './client';
import type { Commands } from './protocol';

/** A tool's command, and what is said while it runs. */
const TOOLS: Record<string, { command: keyof Commands; says: string; changes: boolean }> = {
  strata_map: { command: 'strata.symbols.map', says: 'Reading the symbol map', changes: false },
  strata_outline: { command: 'strata.symbols.file', says: 'Reading an outline', changes: false },
  strata_find_symbol: { command: 'strata.symbols.find', says: 'Looking for a definition', changes: false },
  strata_references: { command: 'strata.symbols.references', says: 'Looking for references', changes: false },
  strata_relevant: { command: 'strata.symbols.relevant', says: 'Looking for what this is about', changes: false },
  strata_search_memory: { command: 'strata.memory.search', says: 'Searching memory', changes: false },
  strata_remember: { command: 'strata.memory.add', says: 'Noting this down', changes: true },
  strata_select_files: { command: 'strata.files.select', says: 'Adding files to the context', changes: true },
};

export function registerTools(strata: Strata): vscode.Disposable {
  const registered = Object.entries(TOOLS).map(([name, { command, says, changes }]) =>
    vscode.lm.registerTool<object>(name, {
      prepareInvocation: ({ input }) => ({
        invocationMessage: says,
        ...(changes && {
          confirmationMessages: { title: says, message: new vscode.MarkdownString().appendCodeblock(JSON.stringify(input, null, 2), 'json') },
        }),
      }),
      invoke: async ({ input }, token) => {
        const send = changes ? strata.tell : strata.ask;
        const reply = await send.call(strata, command, input as never, token);
        return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(JSON.stringify(reply))]);
      },
    }),
  );
  return vscode.Disposable.from(...registered);
}
