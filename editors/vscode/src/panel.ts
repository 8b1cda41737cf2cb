// Tracks which turns of the conversation belong to which chat of the editor, so that editing, retrying or removing a turn there also
// removes it from the conversation. Lasts as long as the window. Stores the numbers of messages, not their content.

import * as vscode from 'vscode';

import type { Strata } from './client';

/** A question in the conversation. */
interface Asked {
  session: string;
  message: number;
}

export class PanelTurns {
  /** Turns of each chat, in order. `undefined` for a turn that added no question, or that is older than this window. */
  private readonly chats = new Map<string, (Asked | undefined)[]>();

  constructor(
    private readonly strata: Strata,
    private readonly participant: string,
  ) {}

  /** Removes the turns that the chat no longer shows from the conversation. */
  async follow(request: vscode.ChatRequest, { history }: vscode.ChatContext): Promise<void> {
    const shown = history.filter((turn) => turn instanceof vscode.ChatRequestTurn && turn.participant === this.participant && !turn.command);
    const turns = this.chats.get(chatOf(request)) ?? Array<undefined>(shown.length).fill(undefined);
    this.chats.set(chatOf(request), turns);
    const gone = turns.splice(shown.length).find((turn) => turn !== undefined);
    if (gone === undefined || gone.session !== this.strata.status?.session) {
      return;
    }
    const { messages } = await this.strata.ask('strata.history.get', {});
    if (messages.some(({ id }) => id === gone.message)) {
      await this.strata.tell('strata.history.truncate', { from: gone.message });
    }
  }

  /** Records a turn that has ended, successfully or not. */
  async ended(request: vscode.ChatRequest): Promise<void> {
    const turns = this.chats.get(chatOf(request)) ?? [];
    // Without a server, no question was added.
    const asked = await this.lastQuestion().catch(() => undefined);
    const isNoted = turns.some((turn) => turn?.session === asked?.session && turn?.message === asked?.message);
    turns.push(isNoted ? undefined : asked);
  }

  private async lastQuestion(): Promise<Asked | undefined> {
    const { messages } = await this.strata.ask('strata.history.get', {});
    const question = messages.findLast(({ role, kind }) => role === 'user' && kind === 'normal');
    const session = this.strata.status?.session;
    return question === undefined || session === undefined ? undefined : { session, message: question.id };
  }
}

/** Identifies a chat of the editor. The token is meant for tools, but is the same for all questions of a chat. */
function chatOf({ toolInvocationToken }: vscode.ChatRequest): string {
  return JSON.stringify(toolInvocationToken);
}
