// Access to the editor's models: for chat turns, and for the summaries and token counts that the server requests. The
// user chooses the model. No keys are needed.

import * as vscode from 'vscode';

import type { Answers } from './client';
import type { Usage } from './protocol';

/** Vendor name of Strata's own model provider. */
export const VENDOR = 'strata';

/** Message shown if no model is available. */
export const NO_MODEL =
  'No language model is available in this editor. You can still preview or copy the prompt.';

/** The model of the last chat request, which writes summaries unless the settings name another model. */
export class ChatModel {
  last: vscode.LanguageModelChat | undefined;
}

/** Returns the first available model. */
export async function anyModel(): Promise<vscode.LanguageModelChat | undefined> {
  return (await vscode.lm.selectChatModels())[0];
}

/** Returns whether a model has this name. Ignores case, and treats dots like hyphens. */
export function isModel({ id, family }: vscode.LanguageModelChat, name: string): boolean {
  const plain = (text: string) => text.toLowerCase().replaceAll('.', '-');
  return [id, family].map(plain).includes(plain(name));
}

/** Returns the models of other vendors. Excludes Strata's own model, because the server would wait for itself. */
async function otherModels(): Promise<vscode.LanguageModelChat[]> {
  return (await vscode.lm.selectChatModels()).filter(({ vendor }) => vendor !== VENDOR);
}

async function modelNamed(name: string): Promise<vscode.LanguageModelChat | undefined> {
  return (await otherModels()).find((model) => isModel(model, name));
}

/** Returns the handlers for the server's requests to the editor's models. */
export function modelAnswers(chatModel: ChatModel): Answers {
  return {
    'strata/summarize': async ({ system, prompt, model }, token) => {
      const named = model ? await modelNamed(model) : undefined;
      const chosen = named ?? chatModel.last ?? (await needModel());
      const messages = [system, prompt].map((text) => vscode.LanguageModelChatMessage.User(text));
      const options = { justification: 'Strata summarizes the older part of the conversation.' };
      const answer = await chosen.sendRequest(messages, options, token);
      let text = '';
      for await (const part of answer.text) {
        text += part;
      }
      return { text, model: chosen.name };
    },
    'strata/countTokens': async ({ model, format, body }, token) => {
      const named = await modelNamed(model);
      if (named === undefined || format !== 'anthropic') {
        throw new Error(`No model in this editor can count tokens for ${model}.`);
      }
      const counts = messagesOf(body, { marks: false }).map((message) => named.countTokens(message, token));
      return { inputTokens: (await Promise.all(counts)).reduce((total, count) => total + count, 0) };
    },
  };
}

async function needModel(): Promise<vscode.LanguageModelChat> {
  const [model] = await otherModels();
  if (model === undefined) {
    throw new Error(NO_MODEL);
  }
  return model;
}

/** Messages of providers for a prompt that is too long. The editor's API has no error code for this. */
const TOO_LONG =
  /prompt is too long|context_length_exceeded|maximum context length|context window|exceeds? (the )?(maximum number of tokens|token limit|context)|input is too long/i;
/** Messages about rate limits, which are not about the length of a prompt. */
const RATE = /rate limit|quota|per minute/i;

/** Returns whether an error message says that the prompt is too long for the model. */
export function isTooLong(message: string): boolean {
  return TOO_LONG.test(message) && !RATE.test(message);
}

/** Returns whether the model accepts cache marks. Providers of other models may mistake an unknown part for an image. */
export function takesMarks({ id, family }: vscode.LanguageModelChat): boolean {
  const wanted = vscode.workspace.getConfiguration('strata').get('chat.cacheMarks', true);
  return wanted && [id, family].some((name) => name.toLowerCase().includes('claude'));
}

/** Returns whether the model can call tools. The types do not declare this capability, but the editor's models have it. */
export function callsTools(model: vscode.LanguageModelChat): boolean {
  const { capabilities } = model as { capabilities?: { supportsToolCalling?: boolean } };
  return capabilities?.supportsToolCalling !== false;
}

/** A block of a request body for Anthropic's Messages API. */
interface Block {
  type: string;
  text?: string;
  [field: string]: unknown;
}

/** A request body for Anthropic's Messages API. */
interface Body {
  system?: Block[];
  messages: { role: 'user' | 'assistant'; content: string | Block[] }[];
}

type UserPart = vscode.LanguageModelTextPart | vscode.LanguageModelToolResultPart | vscode.LanguageModelDataPart;
type AssistantPart = vscode.LanguageModelTextPart | vscode.LanguageModelToolCallPart | vscode.LanguageModelDataPart;

/** Converts a body to messages of the editor's API. The API has no system prompt, so it becomes the first user message. */
export function messagesOf(body: unknown, { marks }: { marks: boolean }): vscode.LanguageModelChatMessage[] {
  const { system = [], messages } = body as Body;
  const said = [...(system.length > 0 ? [{ role: 'user' as const, content: system }] : []), ...messages];
  return said.flatMap(resultsFirst).map(({ role, blocks }) => {
    return role === 'user'
      ? vscode.LanguageModelChatMessage.User(partsOf(blocks, marks) as UserPart[])
      : vscode.LanguageModelChatMessage.Assistant(partsOf(joined(blocks), marks) as AssistantPart[]);
  });
}

/** Splits a message after its tool results, because some providers reject other content in the same message. */
function resultsFirst({ role, content }: Body['messages'][number]): { role: 'user' | 'assistant'; blocks: Block[] }[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const end = blocks.findLastIndex(({ type }) => type === 'tool_result') + 1;
  return [blocks.slice(0, end), blocks.slice(end)].filter((part) => part.length > 0).map((part) => ({ role, blocks: part }));
}

/** Merges all text blocks of an answer into the first, because some providers keep only the first text block. */
function joined(blocks: Block[]): Block[] {
  const isText = ({ type }: Block) => type === 'text';
  const texts = blocks.filter(isText);
  const [first] = texts;
  if (first === undefined || texts.length === 1) {
    return blocks;
  }
  const mark = texts.find(marked)?.['cache_control'];
  const whole = { ...first, text: texts.map(({ text }) => text).join('\n\n'), ...(mark !== undefined && { cache_control: mark }) };
  return blocks.flatMap((block) => (block === first ? [whole] : isText(block) ? [] : [block]));
}

const marked = (block: Block) => block['cache_control'] !== undefined;

/** Converts blocks to parts. A cache mark becomes a separate part after the marked one, which is the convention among chat extensions. */
function partsOf(blocks: Block[], marks: boolean): (UserPart | AssistantPart)[] {
  return blocks.flatMap((block) => (marks && marked(block) ? [partOf(block), mark()] : [partOf(block)]));
}

function mark(): vscode.LanguageModelDataPart {
  return new vscode.LanguageModelDataPart(new TextEncoder().encode('ephemeral'), 'cache_control');
}

function partOf(block: Block): UserPart | AssistantPart {
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

/** Returns the usage that a provider reported in a data part, because the editor's API has no field for it. */
export function usageOf(part: unknown): Usage | undefined {
  const { mimeType, data } = part as { mimeType?: string; data?: Uint8Array };
  if (mimeType !== 'usage' || data === undefined) {
    return undefined;
  }
  try {
    const usage = JSON.parse(new TextDecoder().decode(data));
    const details = usage.prompt_tokens_details ?? {};
    const cacheRead = details.cached_tokens ?? 0;
    const cacheWrite = details.cache_creation_input_tokens ?? details.cache_write_tokens ?? 0;
    const [prompt, output] = [usage.prompt_tokens, usage.completion_tokens];
    return Number.isInteger(prompt) && Number.isInteger(output)
      ? { input: prompt - cacheRead - cacheWrite, output, cacheRead, cacheWrite }
      : undefined;
  } catch {
    return undefined;
  }
}
