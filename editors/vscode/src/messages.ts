// Messages of a conversation as documents: what is changed in one and saved is what the message says from then on. An input box
// would do for one line only.

import * as vscode from 'vscode';

import { ask } from './actions/conversation';
import type { Strata } from './client';
import { wordsOf } from './client';
import type { Message } from './protocol';

const SCHEME = 'strata-message';

export class Messages implements vscode.FileSystemProvider, vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.emitter.event;
  private readonly registered: vscode.Disposable;

  constructor(private readonly strata: Strata) {
    this.registered = vscode.workspace.registerFileSystemProvider(SCHEME, this, { isCaseSensitive: true });
  }

  /** Opens a message of the session that is shown. */
  async open(message: Message): Promise<void> {
    const session = this.strata.status?.session;
    if (session === undefined) {
      throw new Error('The server has not said yet which conversation it shows. Try again.');
    }
    textIn(message);
    const name = message.role === 'user' ? 'Question.md' : 'Answer.md';
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${session}/${message.id}/${name}` });
    await vscode.window.showTextDocument(uri, { preview: false });
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    return { type: vscode.FileType.File, ctime: 0, mtime: 0, size: (await this.readFile(uri)).length };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return new TextEncoder().encode(textIn(await this.find(uri)));
  }

  async writeFile(uri: vscode.Uri, bytes: Uint8Array): Promise<void> {
    const message = await this.find(uri);
    const { session, id } = placeOf(uri);
    const text = new TextDecoder().decode(bytes);
    if (text.trim() === '') {
      throw new Error('A message cannot be empty. It can be hidden, or removed with all that follow.');
    }
    const content = message.content.map((block) => (block.type === 'text' ? { ...block, text } : block));
    await this.strata.tell('strata.history.edit', { session, id, content });
    if (message.role === 'user') {
      void this.offerToAsk(uri, text).catch((error) => vscode.window.showErrorMessage(`Strata: ${wordsOf(error)}`));
    }
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): never {
    throw vscode.FileSystemError.NoPermissions('Messages are not in folders.');
  }

  createDirectory(): never {
    throw vscode.FileSystemError.NoPermissions('Messages are not in folders.');
  }

  delete(): never {
    throw vscode.FileSystemError.NoPermissions('Remove it in the view "Context".');
  }

  rename(): never {
    throw vscode.FileSystemError.NoPermissions('Messages have no names.');
  }

  dispose(): void {
    this.registered.dispose();
    this.emitter.dispose();
  }

  private async find(uri: vscode.Uri): Promise<Message> {
    const { session, id } = placeOf(uri);
    const { messages } = await this.strata.ask('strata.history.get', { session });
    const message = messages.find((one) => one.id === id);
    if (message === undefined) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    return message;
  }

  private async offerToAsk(uri: vscode.Uri, text: string): Promise<void> {
    const again = 'Ask Again From Here';
    const { session, id } = placeOf(uri);
    const choice = await vscode.window.showInformationMessage(
      `The question was changed; what follows was kept. "${again}" removes that and sends the question to the model.`,
      again,
    );
    if (choice === again) {
      await this.strata.tell('strata.session.load', { id: session });
      await this.strata.tell('strata.history.truncate', { session, from: id });
      await ask(text);
    }
  }
}

/** The one text of a message. */
function textIn(message: Message): string {
  const [text, another] = message.content.filter((block) => block.type === 'text');
  if (text === undefined || another !== undefined) {
    throw new Error('Only a message with one text can be edited.');
  }
  return text.text;
}

function placeOf(uri: vscode.Uri): { session: string; id: number } {
  const [, session = '', id = ''] = uri.path.split('/');
  return { session, id: Number(id) };
}
