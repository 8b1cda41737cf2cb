// Commands about the messages of the conversation.

import * as vscode from 'vscode';

import type { Strata } from '../client';
import type { Messages } from '../messages';
import type { Message } from '../protocol';
import { confirms, pick } from '../shown';
import { textOf } from '../views/context';
import type { MessageNode } from '../views/context';
import { firstWords } from '../wording';
import type { Actions } from './register';

export function conversationActions(strata: Strata, messages: Messages): Actions {
  return {
    'strata.pinMessage': ({ message }: MessageNode) => strata.tell('strata.history.pin', { id: message.id, pinned: true }),
    'strata.unpinMessage': ({ message }: MessageNode) =>
      strata.tell('strata.history.pin', { id: message.id, pinned: false }),
    'strata.hideMessage': ({ message }: MessageNode) =>
      strata.tell('strata.history.hide', { id: message.id, agent: 'hidden' }),
    'strata.showMessage': ({ message }: MessageNode) =>
      strata.tell('strata.history.hide', { id: message.id, agent: 'shown' }),
    'strata.editMessage': async (node?: MessageNode) => {
      const session = strata.status?.session;
      if (session === undefined) {
        throw new Error('The server has not reported the current conversation yet. Try again.');
      }
      const message = node?.message ?? (await pickQuestion(strata, session));
      return message && messages.open(message, session);
    },
    'strata.regenerate': async (node?: MessageNode) => regenerate(strata, node?.message),
    'strata.truncateFrom': ({ message }: MessageNode) => truncate(strata, message),
    'strata.forkFrom': ({ message }: MessageNode) => strata.tell('strata.session.fork', { until: message.id }),
  };
}

/** Opens the chat and sends a question to `@strata`. */
export async function ask(question: string): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.chat.open', { query: `@strata ${question}` });
}

/** Deletes the last question, or the one that leads to `message`, with everything after it, and asks it again. */
async function regenerate(strata: Strata, message: Message | undefined): Promise<void> {
  const { messages } = await strata.ask('strata.history.get', {});
  const until = message === undefined ? messages.length : messages.findIndex(({ id }) => id === message.id) + 1;
  const question = messages.slice(0, until).findLast(({ role, kind }) => role === 'user' && kind === 'normal');
  if (question === undefined) {
    throw new Error('No question has been asked yet.');
  }
  await strata.tell('strata.history.truncate', { from: question.id });
  await ask(textOf(question));
}

async function truncate(strata: Strata, message: Message): Promise<void> {
  if (await confirms('Delete this message and all later ones?', firstWords(textOf(message), 200), 'Delete')) {
    await strata.tell('strata.history.truncate', { from: message.id });
  }
}

async function pickQuestion(strata: Strata, session: string): Promise<Message | undefined> {
  const { messages } = await strata.ask('strata.history.get', { session });
  const questions = messages.filter(({ role, kind }) => role === 'user' && kind === 'normal').reverse();
  if (questions.length === 0) {
    throw new Error('No question has been asked yet.');
  }
  const items = questions.map((message) => ({ label: firstWords(textOf(message), 100), message }));
  return (await pick('Edit which message?', items))?.message;
}
