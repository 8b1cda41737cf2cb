// Strata as a model provider: if a provider is configured, its model appears in the chat's model list. The server sends the requests with
// its own key, so that the provider's prompt cache works as documented. Prompts of `@strata` are assembled by the server, and those of
// other chats are forwarded. This module holds no key and opens no connection.

import * as vscode from 'vscode';

import { wordsOf } from './client';
import type { Strata } from './client';
import type { Outcome } from './exchange';
import { forward } from './forwarding';
import { VENDOR } from './models';
import type { Delta } from './protocol';
import { label, markdown } from './shown';

/** Status changes within this time are handled together. */
const TOGETHER_MS = 500;

/** Limits and capabilities assumed for a model that the server does not know. */
const UNKNOWN = { max_input: 128_000, max_output: 8192, tools: true, image: null };

export class ModelSource implements vscode.LanguageModelChatProvider, vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<void>();
  readonly onDidChangeLanguageModelChatInformation = this.emitter.event;
  private readonly registered: vscode.Disposable;
  /** Id of the model that was offered last. */
  private offered: string | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly strata: Strata) {
    this.registered = vscode.Disposable.from(
      vscode.lm.registerLanguageModelChatProvider(VENDOR, this),
      // The status is also sent after a change of the settings.
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
      ...{ id, name: label(`Strata: ${id}`), family: id, version: '1', tooltip: 'The model configured in strata.provider' },
      ...{ maxInputTokens: max_input, maxOutputTokens: max_output },
      capabilities: { toolCalling: tools, imageInput: image !== null },
      // The types do not declare this field, but the editor lists the model only with it.
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

  /** Estimates one token for every four characters. */
  async provideTokenCount(_model: unknown, text: string | vscode.LanguageModelChatRequestMessage): Promise<number> {
    const all = typeof text === 'string' ? text : text.content.map((part) => (part as { value?: string }).value ?? '').join('');
    return Math.ceil(all.length / 4);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.registered.dispose();
    this.emitter.dispose();
  }

  /** Returns the model of the configured provider. */
  private async configured(): Promise<string | undefined> {
    if (this.strata.life !== 'running') {
      return undefined;
    }
    const { settings } = await this.strata.ask('strata.server.settings', {});
    return settings.provider.name === null ? undefined : (settings.provider.model ?? settings.model);
  }

  /** Makes the editor update its list if another model is configured. */
  private async follow(): Promise<void> {
    const id = await this.configured().catch(() => this.offered);
    if (id !== this.offered) {
      this.offered = id;
      this.emitter.fire();
    }
  }
}

/** A question that the server sends to its own provider. */
export class SentQuestion {
  /** If `mayLook` is set, the model may call read-only tools. */
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
      const call = about === undefined ? `Calling ${toolCall.name}` : `Calling ${toolCall.name}: ${about}`;
      // The editor shows progress as Markdown.
      this.stream.progress(markdown(call));
    }
    if (notice !== undefined) {
      notices.push(notice);
    }
  }

  /** Returns the outcome. A cancelled answer is not an error. */
  private ended(warnings: string[], error: string | undefined): Outcome {
    const once = [...new Set(warnings)];
    return error === undefined || this.token.isCancellationRequested ? { warnings: once } : { warnings: once, error };
  }
}
