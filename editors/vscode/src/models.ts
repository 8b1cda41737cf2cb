// The way to the person's own models, through the editor: for chat turns, and for summaries and counts that
// the server asks for. Which model is used is the person's choice; nothing here holds a key.

import * as vscode from 'vscode';

import type { Answers } from './client';
import type { Usage } from './protocol';

/** Said where no model is there. */
export const NO_MODEL =
  'No language model is installed in this editor. The prompt itself needs none: open the preview, or copy it for any other place.';

/** The first model that answers to the name, or any. */
export async function anyModel(name?: string | null): Promise<vscode.LanguageModelChat | undefined> {
  return (name ? await modelNamed(name) : undefined) ?? (await vscode.lm.selectChatModels())[0];
}

/** Whether it is the model of this name, however it writes its version. */
export function isModel({ id, family }: vscode.LanguageModelChat, name: string): boolean {
  const plain = (text: string) => text.toLowerCase().replaceAll('.', '-');
  return [id, family].map(plain).includes(plain(name));
}

async function modelNamed(name: string): Promise<vscode.LanguageModelChat | undefined> {
  return (await vscode.lm.selectChatModels()).find((model) => isModel(model, name));
}

/** What the server asks of the editor's models. */
export function modelAnswers(): Answers {
  return {
    'strata/summarize': async ({ system, prompt, model }, token) => {
      const chosen = await needModel(model);
      const messages = [system, prompt].map((text) => vscode.LanguageModelChatMessage.User(text));
      const options = { justification: 'Strata summarises the older part of the conversation.' };
      const answer = await chosen.sendRequest(messages, options, token);
      let text = '';
      for await (const part of answer.text) {
        text += part;
      }
      return { text };
    },
    'strata/countTokens': async ({ model, format, body }, token) => {
      const named = await modelNamed(model);
      if (named === undefined || format !== 'anthropic') {
        throw new Error(`No model of this editor counts for ${model}.`);
      }
      const counts = messagesOf(body).map((message) => named.countTokens(message, token));
      return { inputTokens: (await Promise.all(counts)).reduce((total, count) => total + count, 0) };
    },
  };
}

async function needModel(name?: string | null): Promise<vscode.LanguageModelChat> {
  const model = await anyModel(name);
  if (model === undefined) {
    throw new Error(NO_MODEL);
  }
  return model;
}

/** A block of the request bodies that the server makes for Anthropic's Messages API. */
interface Block {
  type: string;
  text?: string;
  [field: string]: unknown;
}

/** Such a body. */
interface Body {
  system?: Block[];
  messages: { role: 'user' | 'assistant'; content: string | Block[] }[];
}

/** The same as messages of the editor's API, which knows no system prompt: it goes first, as the user's. */
export function messagesOf(body: unknown): vscode.LanguageModelChatMessage[] {
  const { system = [], messages } = body as Body;
  const said = [...(system.length > 0 ? [{ role: 'user' as const, content: system }] : []), ...messages];
  return said.map(({ role, content }) => {
    const parts = typeof content === 'string' ? [new vscode.LanguageModelTextPart(content)] : content.map(partOf);
    return role === 'user'
      ? vscode.LanguageModelChatMessage.User(parts as (vscode.LanguageModelTextPart | vscode.LanguageModelToolResultPart)[])
      : vscode.LanguageModelChatMessage.Assistant(parts as (vscode.LanguageModelTextPart | vscode.LanguageModelToolCallPart)[]);
  });
}

type Part = vscode.LanguageModelTextPart | vscode.LanguageModelToolCallPart | vscode.LanguageModelToolResultPart;

function partOf(block: Block): Part {
  switch (block.type) {
    case 'tool_use':
      return new vscode.LanguageModelToolCallPart(String(block['id']), String(block['name']), block['input'] as object);
    case 'tool_result': {
      const content = block['content'];
      const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : ((content ?? []) as Block[]);
      const texts = blocks.map(({ text, type }) => new vscode.LanguageModelTextPart(text ?? `[${type}]`));
      return new vscode.LanguageModelToolResultPart(String(block['tool_use_id']), texts);
    }
    default:
      return new vscode.LanguageModelTextPart(block.text ?? `[${block.type}]`);
  }
}

/** What a provider said of its bill, when it sent that along as data: there is no field for it in the editor's API. */
export function usageOf(part: unknown): Usage | undefined {
  const { mimeType, data } = part as { mimeType?: string; data?: Uint8Array };
  if (mimeType !== 'usage' || data === undefined) {
    return undefined;
  }
  try {
    const usage = JSON.parse(new TextDecoder().decode(data));
    const cacheRead = usage.prompt_tokens_details?.cached_tokens ?? 0;
    const [prompt, output] = [usage.prompt_tokens, usage.completion_tokens];
    return Number.isInteger(prompt) && Number.isInteger(output)
      ? { input: prompt - cacheRead, output, cacheRead, cacheWrite: 0 }
      : undefined;
  } catch {
    return undefined;
  }
}
