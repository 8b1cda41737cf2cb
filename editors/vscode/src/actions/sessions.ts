// Commands for whole conversations and for notes.

import * as vscode from 'vscode';

import type { Strata } from '../client';
import type { Commands, Hit, ListedSession, Note } from '../protocol';
import { uriOf } from '../resources';
import { confirms, inform, pick, pickWhileTyping } from '../shown';
import type { Choice } from '../shown';
import { titleOf } from '../views/sessions';
import { counted, firstWords, since } from '../wording';
import type { Actions } from './register';

export function sessionActions(strata: Strata): Actions {
  return {
    'strata.newSession': () => strata.tell('strata.session.new', {}),
    'strata.resetSession': () => strata.tell('strata.session.reset', {}),
    'strata.openSession': async (session?: ListedSession) => open(strata, session ?? (await pickSession(strata))),
    'strata.renameSession': async (session?: ListedSession) => rename(strata, session ?? (await pickSession(strata))),
    'strata.deleteSession': async (session?: ListedSession) => remove(strata, session ?? (await pickSession(strata))),
    'strata.forkSession': () => strata.tell('strata.session.fork', {}),
    'strata.exportSession': async (session?: ListedSession) => exportTo(strata, session ?? (await pickSession(strata))),
    'strata.importSession': () => importFrom(strata),
    'strata.search': () => search(strata),
    'strata.remember': () => remember(strata),
    'strata.forget': (fragment: Note) => strata.tell('strata.memory.remove', { id: fragment.id }),
    'strata.copyMemory': (fragment: Note) => vscode.env.clipboard.writeText(fragment.text),
  };
}

async function pickSession(strata: Strata): Promise<ListedSession | undefined> {
  const { sessions } = await strata.ask('strata.session.list', {});
  const items = sessions.map((session) => ({
    label: titleOf(session),
    description: [session.updatedMs && since(session.updatedMs, Date.now()), session.current && 'current']
      .filter(Boolean)
      .join(' · '),
    session,
  }));
  return (await pick('Which conversation?', items))?.session;
}

async function open(strata: Strata, session: ListedSession | undefined): Promise<void> {
  if (session !== undefined) {
    await strata.tell('strata.session.load', { id: session.id });
  }
}

async function rename(strata: Strata, session: ListedSession | undefined): Promise<void> {
  if (session === undefined) {
    return;
  }
  const name = await vscode.window.showInputBox({ title: 'Name of the conversation', value: session.name });
  if (name !== undefined) {
    await strata.tell('strata.session.rename', { id: session.id, name });
  }
}

async function remove(strata: Strata, session: ListedSession | undefined): Promise<void> {
  if (session === undefined) {
    return;
  }
  const question = `Delete the conversation "${titleOf(session)}"? This cannot be undone.`;
  if (await confirms(question, undefined, 'Delete')) {
    await strata.tell('strata.session.delete', { id: session.id });
  }
}

async function exportTo(strata: Strata, session: ListedSession | undefined): Promise<void> {
  if (session === undefined) {
    return;
  }
  type Format = NonNullable<Commands['strata.session.export']['params']['format']>;
  const formats: (Choice & { format: Format; language: string })[] = [
    { label: 'Markdown', description: 'to read', format: 'markdown', language: 'markdown' },
    { label: 'Strata', description: 'everything, one JSON object per line', format: 'jsonl', language: 'jsonl' },
    { label: 'Anthropic', description: 'a request body', format: 'anthropic', language: 'json' },
    { label: 'OpenAI', description: 'a request body', format: 'openai', language: 'json' },
  ];
  const chosen = await pick('Export as', formats);
  if (chosen !== undefined) {
    const { text } = await strata.ask('strata.session.export', { id: session.id, format: chosen.format });
    await vscode.window.showTextDocument(
      await vscode.workspace.openTextDocument({ content: text, language: chosen.language }),
    );
  }
}

async function importFrom(strata: Strata): Promise<void> {
  const [file] = (await vscode.window.showOpenDialog({ openLabel: 'Import', title: 'Import a conversation' })) ?? [];
  if (file === undefined) {
    return;
  }
  const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  const { id, messages } = await strata.tell('strata.session.import', { text });
  const show = 'Open';
  if ((await inform(`Imported ${counted(messages, 'message')}.`, show)) === show) {
    await strata.tell('strata.session.load', { id });
  }
}

const ICONS: Record<Hit['source'], string> = { fragment: 'note', file: 'file', message: 'comment' };

/** Returns a short description of where a match was found. */
function whereOf(hit: Hit): string | undefined {
  switch (hit.source) {
    case 'message':
      return hit.role;
    case 'file':
      return hit.path;
    case 'fragment':
      return undefined;
  }
}

/** Searches conversations and memory while the user types. */
async function search(strata: Strata): Promise<void> {
  const title = 'Search conversations and memory';
  const chosen = await pickWhileTyping(title, 'Words to search for', async (query) => {
    const { hits } = /[\p{L}\p{N}]/u.test(query) ? await strata.ask('strata.memory.search', { query }) : { hits: [] };
    return hits.map((hit) => ({
      icon: ICONS[hit.source],
      label: firstWords(hit.snippet, 90),
      description: [whereOf(hit), hit.timeMs && since(hit.timeMs, Date.now())].filter(Boolean).join(' · '),
      alwaysShow: true,
      hit,
    }));
  });
  const hit = chosen?.hit;
  if (hit?.source === 'message' && hit.session !== undefined) {
    await strata.tell('strata.session.load', { id: hit.session });
    await vscode.commands.executeCommand('strata.context.focus');
  } else if (hit?.source === 'file') {
    const at = new vscode.Position(hit.line - 1, 0);
    const uri = uriOf(hit.path);
    if (uri !== undefined) {
      await vscode.window.showTextDocument(uri, { selection: new vscode.Range(at, at) });
    }
  } else if (hit !== undefined) {
    await vscode.commands.executeCommand('strata.memory.focus');
  }
}

async function remember(strata: Strata): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const selected = editor && editor.document.getText(editor.selection);
  const text = await vscode.window.showInputBox({
    title: 'Remember',
    prompt: 'A note for all conversations; #words become its tags',
    value: selected ?? '',
  });
  if (text !== undefined && text.trim() !== '') {
    const tags = [...text.matchAll(/(?:^|\s)#([\p{L}\p{N}_-]+)/gu)].map(([, tag]) => tag ?? '');
    await strata.tell('strata.memory.add', { text, tags });
  }
}
