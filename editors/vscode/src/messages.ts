// Messages of a conversation as documents: saving a document changes its message. An input box would allow only one line. The documents
// have a language of their own, so that they are not saved or formatted automatically.

import * as vscode from 'vscode';

import { ask } from './actions/conversation';
import type { Strata } from './client';
import { wordsOf } from './client';
import type { Message, Status } from './protocol';
import { fail, inform, notice } from './shown';

const SCHEME = 'strata-message';
/** Prefix of all paths, by which `package.json` assigns the language. */
const TOP = '/strata-message';

export class Messages implements vscode.FileSystemProvider, vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.emitter.event;
  private readonly registered: vscode.Disposable;
  /** Last reported version of each session. */
  private readonly versions = new Map<string, number>();

  constructor(private readonly strata: Strata) {
    this.registered = vscode.Disposable.from(
      vscode.workspace.registerFileSystemProvider(SCHEME, this, { isCaseSensitive: true }),
      strata.onStatus((status) => this.follow(status)),
    );
  }

  /** Opens a message of a session. */
  async open(message: Message, session: string): Promise<void> {
    textIn(message);
    const name = message.role === 'user' ? 'Question' : 'Answer';
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `${TOP}/${session}/${message.id}/${name}` });
    await vscode.window.showTextDocument(uri, { preview: false });
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    if (placeOf(uri) === undefined) {
      return { type: vscode.FileType.Directory, ctime: 0, mtime: 0, size: 0 };
    }
    const { message, version } = await this.find(uri);
    // The editor requires only that the time grows with each change.
    return { type: vscode.FileType.File, ctime: 0, mtime: version, size: new TextEncoder().encode(textIn(message)).length };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const { message } = await this.find(uri);
    return new TextEncoder().encode(textIn(message));
  }

  async writeFile(uri: vscode.Uri, bytes: Uint8Array): Promise<void> {
    const { message, session } = await this.find(uri);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (text.trim() === '') {
      throw new Error('A message cannot be empty. Hide it, or delete it with all later messages.');
    }
    if (text === textIn(message)) {
      return;
    }
    const content = message.content.map((block) => (block.type === 'text' ? { ...block, text } : block));
    await this.strata.tell('strata.history.edit', { session, id: message.id, content });
    if (message.role === 'user') {
      void this.offerToAsk(session, message, text).catch((error) => fail(`Strata: ${wordsOf(error)}`));
    }
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): never {
    throw vscode.FileSystemError.NoPermissions('Messages cannot be listed or organized in folders.');
  }

  createDirectory(): never {
    throw vscode.FileSystemError.NoPermissions('Messages cannot be listed or organized in folders.');
  }

  delete(): never {
    throw vscode.FileSystemError.NoPermissions('Delete the message in the "Context" view.');
  }

  rename(): never {
    throw vscode.FileSystemError.NoPermissions('Messages cannot be renamed.');
  }

  dispose(): void {
    this.registered.dispose();
    this.emitter.dispose();
  }

  private async find(uri: vscode.Uri): Promise<{ message: Message; session: string; version: number }> {
    const place = placeOf(uri);
    if (place === undefined) {
      throw vscode.FileSystemError.FileIsADirectory(uri);
    }
    const { session, id } = place;
    const { messages, stateVersion } = await this.strata.ask('strata.history.get', { session }).catch((error) => {
      throw vscode.FileSystemError.Unavailable(
        `Cannot read the conversation. Open it in the "Sessions" view and try again. (${notice(wordsOf(error))})`,
      );
    });
    const message = messages.find((one) => one.id === id);
    if (message === undefined) {
      throw vscode.FileSystemError.FileNotFound('The message was deleted from the conversation.');
    }
    return { message, session, version: stateVersion };
  }

  /** Reloads the documents of a session that has changed. */
  private follow({ session, stateVersion }: Status): void {
    if (this.versions.get(session) === stateVersion) {
      return;
    }
    this.versions.set(session, stateVersion);
    const open = vscode.workspace.textDocuments.filter(
      ({ uri }) => uri.scheme === SCHEME && placeOf(uri)?.session === session,
    );
    this.emitter.fire(open.map(({ uri }) => ({ type: vscode.FileChangeType.Changed, uri })));
  }

  private async offerToAsk(session: string, { id }: Message, text: string): Promise<void> {
    const again = 'Ask Again From Here';
    const choice = await inform(
      `The question was changed, but the messages after it were not. "${again}" deletes them and asks the question again.`,
      again,
    );
    if (choice === again) {
      await this.strata.tell('strata.session.load', { id: session });
      await this.strata.tell('strata.history.truncate', { session, from: id });
      await ask(text);
    }
  }
}

/** Returns the text of a message. Throws if the message has no text or several. */
function textIn(message: Message): string {
  const [text, another] = message.content.filter((block) => block.type === 'text');
  if (text === undefined || another !== undefined) {
    throw new Error('Only messages with a single text can be edited.');
  }
  return text.text;
}

/** Returns the message that a path refers to, or `undefined` for a directory. */
function placeOf(uri: vscode.Uri): { session: string; id: number } | undefined {
  const [session, id, name] = uri.path.slice(TOP.length + 1).split('/');
  return session === undefined || id === undefined || name === undefined ? undefined : { session, id: Number(id) };
}
