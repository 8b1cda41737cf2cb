// Asks one of the editor's models a question: assembles and sends prompts, answers the model's tool calls, and records the outcome of
// each request. Does not use the history of the chat panel.

import * as vscode from 'vscode';

import { wordsOf } from './client';
import type { Strata } from './client';
import { isTooLong, messagesOf, takesMarks, usageOf } from './models';
import type { Content, PromptAssembleParams, PromptAssembleReply, PromptRecordParams } from './protocol';
import type { OfferedTools } from './tools';
import { counted, exactly } from './wording';

/** The outcome of a question, to be shown after the answer. */
export interface Outcome {
  /** Warnings about the prompts, without duplicates. */
  warnings: string[];
  /** Why the answer is missing or incomplete. */
  error?: string;
}

/** The answer to one request. */
interface Reply {
  /** Tokens of the prompt. */
  total: number;
  text: string;
  calls: vscode.LanguageModelToolCallPart[];
  usage?: PromptRecordParams['usage'];
  error?: string;
}

/** Sent to the model with the results of the last round of tool calls. */
const LAST_ROUND = 'No more tool calls are possible for this question. Answer with what you know.';

export class Exchange {
  private readonly warnings = new Set<string>();

  /** If `tools` is undefined, the model gets no tools. At most `rounds` rounds of tool calls are answered. */
  constructor(
    private readonly strata: Strata,
    private readonly model: vscode.LanguageModelChat,
    private readonly tools: OfferedTools | undefined,
    private readonly rounds: number,
    private readonly stream: vscode.ChatResponseStream,
    private readonly token: vscode.CancellationToken,
  ) {}

  /** Asks `question`. `parameters` apply to each of its prompts. */
  async run(question: string, parameters: PromptAssembleParams): Promise<Outcome> {
    const common = this.tools === undefined ? parameters : { ...parameters, tools: this.tools.declared() };
    let next: PromptAssembleParams = { ...common, prompt: question };
    for (let round = 1; ; round += 1) {
      const { calls, error } = await this.sent(next);
      if (error !== undefined) {
        return { warnings: [...this.warnings], error };
      }
      if (this.tools === undefined || calls.length === 0 || this.token.isCancellationRequested) {
        break;
      }
      if (round > this.rounds) {
        const limit = `the limit of ${counted(this.rounds, 'round')} (strata.chat.toolRounds)`;
        this.warnings.add(`The model reached ${limit}; its last tool calls were not answered.`);
        break;
      }
      const toolResults = await this.tools.answer(calls, this.token);
      if (this.token.isCancellationRequested) {
        break;
      }
      if (round === this.rounds) {
        toolResults.at(-1)?.content.push({ type: 'text', text: LAST_ROUND });
      }
      next = { ...common, toolResults };
    }
    return { warnings: [...this.warnings] };
  }

  /** Sends a prompt and records the outcome. If the provider rejects it as too long, compacts the conversation and sends it again. */
  private async sent(parameters: PromptAssembleParams): Promise<Reply> {
    const prompt = await this.strata.ask('strata.prompt.assemble', parameters, this.token);
    if (parameters.toolResults === undefined) {
      this.stream.progress(`Prompt: ${exactly(prompt.tokens.total)} tokens`);
    }
    const reply = await this.replyTo(prompt);
    const recorded = await this.strata.tell('strata.prompt.record', this.recordOf(prompt, reply));
    if (recorded.retry && !this.token.isCancellationRequested) {
      this.stream.progress('The model rejected the prompt as too long. Compacting the conversation and sending it again');
      const again = await this.sent(parameters);
      this.warnings.add(`The model rejected a prompt of ${exactly(reply.total)} tokens as too long. Strata sent one of ${exactly(again.total)} instead.`);
      return again;
    }
    [...prompt.warnings.map(({ message }) => message), ...recorded.warnings].forEach((warning) => this.warnings.add(warning));
    return reply;
  }

  /** Returns the model's answer, and shows it as it arrives. Stops as soon as the user cancels, even if the provider continues. */
  private async replyTo({ body, tokens }: PromptAssembleReply): Promise<Reply> {
    const reply: Reply = { total: tokens.total, text: '', calls: [] };
    const listening: vscode.Disposable[] = [];
    const stopped = new Promise<undefined>((stop) => listening.push(this.token.onCancellationRequested(() => stop(undefined))));
    try {
      const options = this.tools === undefined ? {} : { tools: this.tools.forModel() };
      const messages = messagesOf(body, { marks: takesMarks(this.model) });
      const answer = await Promise.race([this.model.sendRequest(messages, options, this.token), stopped]);
      const parts = answer?.stream[Symbol.asyncIterator]();
      for (let next = await Promise.race([parts?.next(), stopped]); next && !next.done; next = await Promise.race([parts?.next(), stopped])) {
        this.take(next.value, reply);
      }
    } catch (error) {
      if (!this.token.isCancellationRequested) {
        reply.error = wordsOf(error);
      }
    } finally {
      listening.forEach((one) => one.dispose());
    }
    return reply;
  }

  private take(part: unknown, reply: Reply): void {
    if (part instanceof vscode.LanguageModelTextPart) {
      reply.text += part.value;
      this.stream.markdown(part.value);
    } else if (part instanceof vscode.LanguageModelToolCallPart) {
      reply.calls.push(part);
    } else {
      reply.usage = usageOf(part) ?? reply.usage;
    }
  }

  private recordOf(prompt: PromptAssembleReply, { text, calls, usage, error }: Reply): PromptRecordParams {
    const id = prompt.id ?? '';
    if (error !== undefined) {
      const refused = text === '' && calls.length === 0 && isTooLong(error);
      return { id, status: 'error', partial: text, ...(refused && { error: 'context_limit' }) };
    }
    if (this.token.isCancellationRequested) {
      return { id, status: 'aborted', partial: text, ...(usage && { usage }) };
    }
    return { id, status: 'complete', response: contentOf(text, calls), ...(usage && { usage }) };
  }
}

/** Returns an answer as the content of a message. */
function contentOf(text: string, calls: vscode.LanguageModelToolCallPart[]): Content {
  if (calls.length === 0) {
    return text;
  }
  return [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ callId, name, input }) => ({ type: 'tool_call' as const, id: callId, name, input })),
  ];
}
