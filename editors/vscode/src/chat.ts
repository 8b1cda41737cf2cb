// The chat participant `@strata`: the server assembles the prompt, the user's model answers it, and the server records
// the turn. The history of the chat panel is not sent, because the server keeps the conversation.

import * as vscode from 'vscode';

import { select } from './actions/files';
import type { Strata } from './client';
import { wordsOf } from './client';
import type { Collected, CompactionNotices } from './compactions';
import { madeShorter, notesOf } from './compactions';
import { Exchange } from './exchange';
import type { Outcome } from './exchange';
import type { ChatModel } from './models';
import { anyModel, callsTools, isModel, NO_MODEL, VENDOR } from './models';
import { PanelTurns } from './panel';
import { isFollowed, pathOf, pathOfLines } from './resources';
import { markdown, remark } from './shown';
import { SentQuestion } from './source';
import { OfferedTools } from './tools';

const PARTICIPANT = 'strata.chat';

export class Chat implements vscode.Disposable {
  private readonly participant: vscode.ChatParticipant;
  private readonly turns: PanelTurns;
  /** Resolves when the previous turn ends, because the conversation can have only one turn at a time. */
  private ending: Promise<unknown> = Promise.resolve();
  private answering = 0;

  constructor(
    private readonly strata: Strata,
    private readonly chatModel: ChatModel,
    private readonly compactions: CompactionNotices,
  ) {
    this.turns = new PanelTurns(strata, PARTICIPANT);
    this.participant = vscode.chat.createChatParticipant(PARTICIPANT, (request, context, stream, token) =>
      this.handle(request, context, stream, token),
    );
    this.participant.iconPath = new vscode.ThemeIcon('layers');
  }

  dispose(): void {
    this.participant.dispose();
  }

  /** Whether a question is being answered. Warnings about its prompts then appear at the end of the answer. */
  get isAnswering(): boolean {
    return this.answering > 0;
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
          stream.markdown('Started a new conversation.');
          return {};
        case 'compact':
          await vscode.commands.executeCommand('strata.compact');
          stream.markdown('Done. See the notification for the result.');
          return {};
        default:
          return await this.inTurn(() => this.turn(request, context, stream, token));
      }
    } catch (error) {
      return { errorDetails: { message: markdown(wordsOf(error)) } };
    }
  }

  /** Runs a turn after all earlier turns have ended. */
  private inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
    const result = this.ending.then(run);
    this.ending = result.catch(() => undefined);
    return result;
  }

  private async turn(
    request: vscode.ChatRequest,
    context: vscode.ChatContext,
    stream: vscode.ChatResponseStream,
    token: vscode.CancellationToken,
  ): Promise<vscode.ChatResult> {
    await this.turns.follow(request, context);
    try {
      return await this.answer(request, stream, token);
    } finally {
      await this.turns.ended(request);
    }
  }

  private async answer(
    request: vscode.ChatRequest,
    stream: vscode.ChatResponseStream,
    token: vscode.CancellationToken,
  ): Promise<vscode.ChatResult> {
    await this.addReferences(request.references);
    const model = request.model ?? (await anyModel());
    if (model === undefined) {
      stream.markdown(NO_MODEL);
      stream.button({ command: 'strata.preview', title: 'Preview Prompt' });
      stream.button({ command: 'strata.copyPrompt', title: 'Copy Prompt' });
      return {};
    }
    const compacted = this.compactions.collect();
    this.answering += 1;
    try {
      const { warnings, error } = await this.outcome(request, model, stream, token);
      await this.compactionEnds(token);
      warnAtTheEnd(warnings, compacted, stream);
      return error === undefined ? {} : { errorDetails: { message: markdown(error) } };
    } finally {
      this.answering -= 1;
      compacted.stop();
    }
  }

  private async outcome(
    request: vscode.ChatRequest,
    model: vscode.LanguageModelChat,
    stream: vscode.ChatResponseStream,
    token: vscode.CancellationToken,
  ): Promise<Outcome> {
    const rounds = vscode.workspace.getConfiguration('strata').get('chat.toolRounds', 16);
    if (model.vendor === VENDOR) {
      return new SentQuestion(this.strata, model.id, rounds > 0, stream, token).run(request.prompt);
    }
    this.chatModel.last = model;
    const { models } = await this.strata.ask('strata.server.models', {}, token);
    const known = models.find(({ id }) => isModel(model, id));
    const tools = rounds > 0 && callsTools(model) ? new OfferedTools(request) : undefined;
    const exchange = new Exchange(this.strata, model, tools, rounds, stream, token);
    return exchange.run(request.prompt, {
      format: 'anthropic',
      model: known?.id ?? model.family,
      maxInputTokens: model.maxInputTokens,
      // The editor's API cannot request another lifetime.
      ttl: '5m',
    });
  }

  /** Waits for the compaction that the recorded turn triggered, so that the answer can report it and the next prompt is short. */
  private async compactionEnds(token: vscode.CancellationToken): Promise<void> {
    const listening: vscode.Disposable[] = [];
    try {
      const ended = new Promise<void>((done) => {
        listening.push(
          this.strata.onCompaction(({ state }) => state !== 'started' && done()),
          // A stopped server sends no more notifications.
          this.strata.onLife((life) => life !== 'running' && done()),
          token.onCancellationRequested(() => done()),
        );
      });
      const { running } = await this.strata.ask('strata.compaction.status', {});
      if (running && !token.isCancellationRequested) {
        // Show no progress, because the editor would collapse the answer above it.
        await ended;
      }
    } finally {
      listening.forEach((one) => one.dispose());
    }
  }

  /** Selects the files that the question refers to. */
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
}

/** Adds warnings about the prompt and notices of compactions to the end of the answer, where they stay visible. */
function warnAtTheEnd(warnings: string[], compacted: Collected, stream: vscode.ChatResponseStream): void {
  const line = (icon: string, message: string) => stream.markdown(remark(icon, message));
  warnings.forEach((message) => line('warning', message));
  compacted.ended.forEach((news) => line('fold', `${madeShorter(news)}${notesOf(news)}`));
  if (compacted.ended.length > 0) {
    stream.button({ command: 'strata.undoCompaction', title: 'Undo Compaction' });
  }
}
