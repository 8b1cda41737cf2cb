// Chats of other extensions with Strata as the source of the model: their messages go to the server as they are, and its answer goes
// back in parts of the editor. Nothing of the workspace or of a Strata conversation is added.

import * as vscode from 'vscode';

import type { Strata } from './client';
import type { ContentBlockInput, Delta, ModelSendParams, ModelSendReply, Usage } from './protocol';

type Messages = readonly vscode.LanguageModelChatRequestMessage[];
type Progress = vscode.Progress<vscode.LanguageModelResponsePart>;
type SentMessage = ModelSendParams['messages'][number];

/** What all providers take. */
const PICTURES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** The role of instructions; not in the types, but chats of the editor use it. */
const SYSTEM = 3;

/** Sends messages to `model`, and reports the answer as it comes. A stopped answer is not an error. */
export async function forward(
  strata: Strata,
  model: string,
  messages: Messages,
  tools: readonly vscode.LanguageModelChatTool[],
  progress: Progress,
  token: vscode.CancellationToken,
): Promise<void> {
  const stream = crypto.randomUUID();
  const listening = strata.onDelta((delta) => delta.stream === stream && report(delta, progress));
  try {
    const request = { ...conversationOf(messages), tools: tools.map(declared), model, stream };
    const { usage, error }: ModelSendReply = await strata.ask('strata.model.send', request, token);
    progress.report(billOf(usage));
    if (error !== undefined) {
      throw new Error(`The answer is incomplete: ${error}`);
    }
  } catch (error) {
    if (!token.isCancellationRequested) {
      throw error;
    }
  } finally {
    listening.dispose();
  }
}

function report({ text, toolCall }: Delta, progress: Progress): void {
  if (text !== undefined) {
    progress.report(new vscode.LanguageModelTextPart(text));
  }
  if (toolCall !== undefined) {
    progress.report(new vscode.LanguageModelToolCallPart(toolCall.id, toolCall.name, toolCall.input as object));
  }
}

function declared({ name, description, inputSchema }: vscode.LanguageModelChatTool): NonNullable<ModelSendParams['tools']>[number] {
  return { name, description, input_schema: inputSchema ?? { type: 'object', properties: {} } };
}

function conversationOf(messages: Messages): { system: string; messages: SentMessage[] } {
  const isSystem = ({ role }: Messages[number]) => (role as number) === SYSTEM;
  const system = messages.filter(isSystem).flatMap(({ content }) => content.flatMap(textsOf));
  const said = messages.filter((message) => !isSystem(message)).map(({ role, content }): SentMessage => {
    const speaker = role === vscode.LanguageModelChatMessageRole.Assistant ? 'assistant' : 'user';
    return { role: speaker, content: content.flatMap(blocksOf) };
  });
  return { system: system.join('\n\n'), messages: said };
}

function blocksOf(part: unknown): ContentBlockInput[] {
  if (part instanceof vscode.LanguageModelToolCallPart) {
    return [{ type: 'tool_call', id: part.callId, name: part.name, input: part.input }];
  }
  if (part instanceof vscode.LanguageModelToolResultPart) {
    const content = part.content.flatMap((inner) => [...picturesOf(inner), ...textBlocksOf(inner)]);
    return [{ type: 'tool_result', callId: part.callId, content }];
  }
  return [...picturesOf(part), ...textBlocksOf(part)];
}

const textBlocksOf = (part: unknown) => textsOf(part).map((text) => ({ type: 'text' as const, text }));

/** Pictures. Other data that is no text says something to one provider only: a cache mark, its own state. */
function picturesOf(part: unknown) {
  if (!(part instanceof vscode.LanguageModelDataPart) || !PICTURES.has(part.mimeType)) {
    return [];
  }
  const data = Buffer.from(part.data).toString('base64');
  return [{ type: 'image' as const, source: { type: 'base64' as const, mediaType: part.mimeType, data } }];
}

function textsOf(part: unknown): string[] {
  if (part instanceof vscode.LanguageModelTextPart) {
    return [part.value];
  }
  if (part instanceof vscode.LanguageModelPromptTsxPart) {
    return [JSON.stringify(part.value)];
  }
  const isText = part instanceof vscode.LanguageModelDataPart && /^text\/|json$/.test(part.mimeType);
  return isText ? [new TextDecoder().decode(part.data)] : [];
}

/** The bill as data, as other sources of models tell it. */
function billOf({ input, output, cacheRead, cacheWrite }: Usage): vscode.LanguageModelDataPart {
  const bill = {
    prompt_tokens: input + cacheRead + cacheWrite,
    completion_tokens: output,
    prompt_tokens_details: { cached_tokens: cacheRead, cache_creation_input_tokens: cacheWrite },
  };
  return new vscode.LanguageModelDataPart(new TextEncoder().encode(JSON.stringify(bill)), 'usage');
}
