// Forwards the chats of other extensions to the configured provider: converts their messages for the server, and its answer to parts of
// the editor's API. Adds nothing from the workspace or from Strata's conversations.

import * as vscode from 'vscode';

import type { Strata } from './client';
import type { ContentBlockInput, Delta, ModelSendParams, ModelSendReply, Usage } from './protocol';

type Messages = readonly vscode.LanguageModelChatRequestMessage[];
type Progress = vscode.Progress<vscode.LanguageModelResponsePart>;
type SentMessage = ModelSendParams['messages'][number];

/** Image types that all providers accept. */
const PICTURES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Role of system messages. The types do not declare it, but the editor's chats use it. */
const SYSTEM = 3;

/** Sends messages to `model`, and reports the answer as it arrives. A cancelled answer is not an error. */
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
    const { usage, error, warnings }: ModelSendReply = await strata.ask('strata.model.send', request, token);
    progress.report(billOf(usage));
    warnings.forEach((warning) => strata.output.warn(warning));
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

/** Converts an image. Drops other binary data, such as cache marks, because it has a meaning only to a specific provider. */
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

/** Returns the usage as a data part, in the form that other model providers use. */
function billOf({ input, output, cacheRead, cacheWrite }: Usage): vscode.LanguageModelDataPart {
  const bill = {
    prompt_tokens: input + cacheRead + cacheWrite,
    completion_tokens: output,
    prompt_tokens_details: { cached_tokens: cacheRead, cache_creation_input_tokens: cacheWrite },
  };
  return new vscode.LanguageModelDataPart(new TextEncoder().encode(JSON.stringify(bill)), 'usage');
}
