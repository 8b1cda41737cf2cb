// The chat participant `@strata`: the server makes the prompt, the person's model answers it, the server records the
// turn. The history of the chat panel is not sent: the server has the conversation.

import * as vscode from 'vscode';

import { select } from './actions/files';
import type { Strata } from './client';
import { wordsOf } from './client';
import type { Collected, CompactionNotices } from './compactions';
import { madeShorter, notesOf } from './compactions';
import { Latest } from './latest';
import type { ChatModel } from './models';
import { anyModel, isModel, isTooLong, messagesOf, NO_MODEL, takesMarks, usageOf } from './models';
import type { PromptAssembleParams, PromptAssembleReply, PromptRecordParams } from './protocol';
import { isFollowed, pathOf, pathOfLines } from './resources';
import { exactly } from './wording';

/** So many turns of this window can be taken back by an edit in the panel; older ones stay in the conversation. */
const ASKED = 1000;

/** What is kept with an answer in the panel: where the conversation stood behind it. */
interface Stand {
  session: string;
  /** The first message of the turn. */
  from: number;
  /** What the next message of the conversation will be called, at least. */
  next: number;
}

export class Chat implements vscode.Disposable {
  private readonly participant: vscode.ChatParticipant;
  /** Turns that were asked in a panel of this window, by session and first message. */
  private readonly asked = new Latest<string>(ASKED);

  constructor(
    private readonly strata: Strata,
    private readonly chatModel: ChatModel,
    private readonly compactions: CompactionNotices,
  ) {
    this.participant = vscode.chat.createChatParticipant('strata.chat', (request, context, stream, token) =>
      this.handle(request, context, stream, token),
    );
    this.participant.iconPath = new vscode.ThemeIcon('layers');
  }

  dispose(): void {
    this.participant.dispose();
  }

  private async handle(
    request: vscode.ChatRequest,
    context: vscode.ChatContext,
    stream: vscode.ChatResponseStream,
    token: vscode.CancellationToken,
  ): Promise<vscode.ChatResult> {
    try {
      switch (request.command) {
        case 'new':
          await this.strata.tell('strata.session.new', {});
          stream.markdown('A new conversation was begun.');
          return {};
        case 'compact':
          await vscode.commands.executeCommand('strata.compact');
          stream.markdown('Done. The notification says what came of it.');
          return {};
        default:
          return await this.turn(request, context, stream, token);
      }
    } catch (error) {
      return { errorDetails: { message: wordsOf(error) } };
    }
  }

  private async turn(
    request: vscode.ChatRequest,
    context: vscode.ChatContext,
    stream: vscode.ChatResponseStream,
    token: vscode.CancellationToken,
  ): Promise<vscode.ChatResult> {
    await this.forgetWhatWasTakenBack(context);
    await this.addReferences(request.references);
    const model = request.model ?? (await anyModel());
    if (model === undefined) {
      stream.markdown(NO_MODEL);
      stream.button({ command: 'strata.preview', title: 'Preview the Prompt' });
      stream.button({ command: 'strata.copyPrompt', title: 'Copy the Prompt' });
      return {};
    }
    this.chatModel.last = model;
    const { models } = await this.strata.ask('strata.server.models', {}, token);
    const known = models.find(({ id }) => isModel(model, id));
    const wish: PromptAssembleParams = {
      prompt: request.prompt,
      format: 'anthropic',
      model: known?.id ?? model.family,
      maxInputTokens: model.maxInputTokens,
      // The editor's API has no way to ask for another lifetime.
      ttl: '5m',
    };
    const compacted = this.compactions.collect();
    try {
      const { warnings, error } = await this.sent(wish, model, stream, token);
      await this.compactionEnds(token);
      warnAtTheEnd(warnings, compacted, stream);
      if (error !== undefined) {
        return { errorDetails: { message: error } };
      }
    } finally {
      compacted.stop();
    }
    return { metadata: { strata: await this.stand() } };
  }

  /** Waits for the compaction that the recorded turn made due, so that the answer can say what came of it and the next prompt is short. */
  private async compactionEnds(token: vscode.CancellationToken): Promise<void> {
    const listening: vscode.Disposable[] = [];
    try {
      const ended = new Promise<void>((done) => {
        listening.push(
          this.strata.onCompaction(({ state }) => state !== 'started' && done()),
          // A server that ended says nothing more.
          this.strata.onLife((life) => life !== 'running' && done()),
          token.onCancellationRequested(() => done()),
        );
      });
      const { running } = await this.strata.ask('strata.compaction.status', {});
      if (running && !token.isCancellationRequested) {
        // Without a word of it: behind progress, the editor folds the answer away.
        await ended;
      }
    } finally {
      listening.forEach((one) => one.dispose());
    }
  }

  /** Sends a prompt and records what came of it. One that the provider finds too long is compacted and sent once more. */
  private async sent(
    wish: PromptAssembleParams,
    model: vscode.LanguageModelChat,
    stream: vscode.ChatResponseStream,
    token: vscode.CancellationToken,
  ): Promise<{ total: number; warnings: string[]; error?: string }> {
    const prompt = await this.strata.ask('strata.prompt.assemble', wish, token);
    const { total } = prompt.tokens;
    stream.progress(`Prompt of ${exactly(total)} tokens`);
    const outcome = await answer(prompt, model, stream, token);
    const recorded = await this.strata.tell('strata.prompt.record', outcome.record);
    if (recorded.retry && !token.isCancellationRequested) {
      stream.progress('The model found the prompt too long: the conversation is compacted and sent once more');
      const again = await this.sent(wish, model, stream, token);
      const shorter = `The model found the prompt of ${exactly(total)} tokens too long. One of ${exactly(again.total)} was sent instead.`;
      return { ...again, warnings: [shorter, ...again.warnings] };
    }
    const warnings = [...prompt.warnings.map(({ message }) => message), ...recorded.warnings];
    return { total, warnings, ...(outcome.error !== undefined && { error: outcome.error }) };
  }

  /** Files that the question refers to are shown in full from now on. */
  private async addReferences(references: readonly vscode.ChatPromptReference[]): Promise<void> {
    const paths = references.flatMap(({ value }) => {
      if (value instanceof vscode.Uri) {
        return isFollowed(value) ? [pathOf(value)] : [];
      }
      return value instanceof vscode.Location && isFollowed(value.uri)
        ? [pathOfLines(value.uri, value.range.start.line + 1, value.range.end.line + 1)]
        : [];
    });
    if (paths.length > 0) {
      await select(this.strata, paths);
    }
  }

  /** Notes where the conversation stands, so that an edit of this turn in the panel is noticed. */
  private async stand(): Promise<Stand | undefined> {
    const { messages } = await this.strata.ask('strata.history.get', {});
    const last = messages.at(-1);
    const question = messages.findLast(({ role, kind }) => role === 'user' && kind === 'normal');
    const session = this.strata.status?.session;
    if (last === undefined || question === undefined || session === undefined) {
      return undefined;
    }
    this.asked.add(`${session}/${question.id}`);
    return { session, from: question.id, next: last.id + 1 };
  }

  /**
   * When a message was edited or asked again in the panel, the turns behind it are gone from there. They leave the
   * conversation too, provided that nothing but turns of the panel stands there.
   */
  private async forgetWhatWasTakenBack(context: vscode.ChatContext): Promise<void> {
    const stand = context.history
      .filter((turn) => turn instanceof vscode.ChatResponseTurn)
      .map((turn) => turn.result.metadata?.['strata'] as Stand | undefined)
      .findLast((one) => one !== undefined);
    if (stand === undefined || stand.session !== this.strata.status?.session) {
      return;
    }
    const { messages } = await this.strata.ask('strata.history.get', {});
    const behind = messages.find(({ id }) => id >= stand.next);
    if (behind !== undefined && this.asked.has(`${stand.session}/${behind.id}`)) {
      await this.strata.tell('strata.history.truncate', { from: behind.id });
    }
  }
}

/** What you should know of the prompt, behind the answer, where it stays: what was left out of it, and that it was compacted. */
function warnAtTheEnd(warnings: string[], compacted: Collected, stream: vscode.ChatResponseStream): void {
  const line = (icon: string, message: string) => {
    const literal = message.replace(/[\\`*_{}[\]()#+\-.!<>|~$&]/g, '\\$&');
    stream.markdown(new vscode.MarkdownString(`\n\n$(${icon}) ${literal}`, true));
  };
  warnings.forEach((message) => line('warning', message));
  compacted.ended.forEach((news) => line('fold', `${madeShorter(news)}${notesOf(news)}`));
  if (compacted.ended.length > 0) {
    stream.button({ command: 'strata.undoCompaction', title: 'Undo the Compaction' });
  }
}

/** Sends the prompt and says what is to be recorded, whatever comes of it. */
async function answer(
  prompt: PromptAssembleReply,
  model: vscode.LanguageModelChat,
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
): Promise<{ record: PromptRecordParams; error?: string }> {
  const id = prompt.id ?? '';
  let text = '';
  let usage: PromptRecordParams['usage'];
  try {
    const reply = await model.sendRequest(messagesOf(prompt.body, { marks: takesMarks(model) }), {}, token);
    for await (const part of reply.stream) {
      if (part instanceof vscode.LanguageModelTextPart) {
        text += part.value;
        stream.markdown(part.value);
      } else {
        usage = usageOf(part) ?? usage;
      }
    }
  } catch (error) {
    if (!token.isCancellationRequested) {
      const message = wordsOf(error);
      const refused = text === '' && isTooLong(message);
      return { record: { id, status: 'error', partial: text, ...(refused && { error: 'context_limit' }) }, error: message };
    }
  }
  const status = token.isCancellationRequested ? 'aborted' : 'complete';
  const said = status === 'complete' ? { response: text } : { partial: text };
  return { record: { id, status, ...said, ...(usage && { usage }) } };
}
