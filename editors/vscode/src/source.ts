// Strata as a source of models: where a provider is configured, chats are offered its model. The server asks it with its own key, so that
// prompts are cached as the provider documents it: those of `@strata` are its own, those of other chats are forwarded. Nothing here holds a
// key or opens a connection.

import * as vscode from 'vscode';

import { wordsOf } from './client';
import type { Strata } from './client';
import type { Outcome } from './exchange';
import { forward } from './forwarding';
import { VENDOR } from './models';
import type { Delta } from './protocol';

/** News that follow each other within this time are looked at together. */
const TOGETHER_MS = 500;

/** What a model takes and gives when the server does not know it. */
const UNKNOWN = { max_input: 128_000, max_output: 8192, tools: true, image: null };

export class ModelSource implements vscode.LanguageModelChatProvider, vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<void>();
  readonly onDidChangeLanguageModelChatInformation = this.emitter.event;
  private readonly registered: vscode.Disposable;
  /** The model that was offered last. */
  private offered: string | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly strata: Strata) {
    this.registered = vscode.Disposable.from(
      vscode.lm.registerLanguageModelChatProvider(VENDOR, this),
      // It comes after a change of the settings, too.
      strata.onStatus(() => {
        this.timer ??= setTimeout(() => {
          this.timer = undefined;
          void this.follow();
        }, TOGETHER_MS);
      }),
    );
  }

  async provideLanguageModelChatInformation(): Promise<vscode.LanguageModelChatInformation[]> {
    const id = await this.configured();
    this.offered = id;
    if (id === undefined) {
      return [];
    }
    const { models } = await this.strata.ask('strata.server.models', {});
    const { max_input, max_output, tools, image } = models.find((model) => model.id === id) ?? UNKNOWN;
    const model = {
      ...{ id, name: `Strata: ${id}`, family: id, version: '1', tooltip: 'The model configured in strata.provider' },
      ...{ maxInputTokens: max_input, maxOutputTokens: max_output },
      capabilities: { toolCalling: tools, imageInput: image !== null },
      // Not in the types; without it the editor does not list the model.
      isUserSelectable: true,
    };
    return [model];
  }

  async provideLanguageModelChatResponse(
    { id }: vscode.LanguageModelChatInformation,
    messages: readonly vscode.LanguageModelChatRequestMessage[],
    { tools = [] }: vscode.ProvideLanguageModelChatResponseOptions,
    progress: vscode.Progress<vscode.LanguageModelResponsePart>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    await forward(this.strata, id, messages, tools, progress, token);
  }

  /** A guess of four characters a token: nothing is counted here. */
  async provideTokenCount(_model: unknown, text: string | vscode.LanguageModelChatRequestMessage): Promise<number> {
    const all = typeof text === 'string' ? text : text.content.map((part) => (part as { value?: string }).value ?? '').join('');
    return Math.ceil(all.length / 4);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.registered.dispose();
    this.emitter.dispose();
  }

  /** The model of the provider that the settings name. */
  private async configured(): Promise<string | undefined> {
    if (this.strata.life !== 'running') {
      return undefined;
    }
    const { settings } = await this.strata.ask('strata.server.settings', {});
    return settings.provider.name === null ? undefined : (settings.provider.model ?? settings.model);
  }

  /** Has the editor ask again when another model is configured. */
  private async follow(): Promise<void> {
    const id = await this.configured().catch(() => this.offered);
    if (id !== this.offered) {
      this.offered = id;
      this.emitter.fire();
    }
  }
}

/** A question that the server asks its own provider. */
export class SentQuestion {
  /** With `mayLook` the model may call tools that only look. */
  constructor(
    private readonly strata: Strata,
    private readonly model: string,
    private readonly mayLook: boolean,
    private readonly stream: vscode.ChatResponseStream,
    private readonly token: vscode.CancellationToken,
  ) {}

  async run(prompt: string): Promise<Outcome> {
    const stream = crypto.randomUUID();
    const notices: string[] = [];
    const listening = this.strata.onDelta((delta) => delta.stream === stream && this.show(delta, notices));
    try {
      const tools = this.mayLook ? 'read' : 'none';
      const { warnings, error } = await this.strata.tell('strata.prompt.send', { prompt, stream, tools, model: this.model }, this.token);
      return this.ended([...notices, ...warnings], error);
    } catch (error) {
      return this.ended(notices, wordsOf(error));
    } finally {
      listening.dispose();
    }
  }

  private show({ text, toolCall, notice }: Delta, notices: string[]): void {
    if (text !== undefined) {
      this.stream.markdown(text);
    }
    if (toolCall !== undefined) {
      const about = Object.values(toolCall.input as object).find((value) => typeof value === 'string');
      this.stream.progress(about === undefined ? `Calls ${toolCall.name}` : `Calls ${toolCall.name}: ${about}`);
    }
    if (notice !== undefined) {
      notices.push(notice);
    }
  }

  /** What was stopped is not an error. */
  private ended(warnings: string[], error: string | undefined): Outcome {
    const once = [...new Set(warnings)];
    return error === undefined || this.token.isCancellationRequested ? { warnings: once } : { warnings: once, error };
  }
}
