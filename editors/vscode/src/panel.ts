// Which turns of the conversation were asked in which chat of the editor, so that one that is edited, asked again or removed there leaves
// the conversation too. It lives as long as the window and keeps names of messages, never what they say.

import * as vscode from 'vscode';

import type { Strata } from './client';

/** A question in the conversation. */
interface Asked {
  session: string;
  message: number;
}

export class PanelTurns {
  /** The turns of each chat in order; nothing for one that left no question, or was asked before this window was opened. */
  private readonly chats = new Map<string, (Asked | undefined)[]>();

  constructor(
    private readonly strata: Strata,
    private readonly participant: string,
  ) {}

  /** Takes the turns out of the conversation that the chat no longer shows. */
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

  /** Notes the turn that ended, however it did. */
  async ended(request: vscode.ChatRequest): Promise<void> {
    const turns = this.chats.get(chatOf(request)) ?? [];
    // Without a server nothing was left.
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

/** What tells one chat of the editor from another. The token is made for tools, and is the same for all questions of a chat. */
function chatOf({ toolInvocationToken }: vscode.ChatRequest): string {
  return JSON.stringify(toolInvocationToken);
}
