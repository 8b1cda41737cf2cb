// Converts the editor's messages like bring-your-own-key extensions for Anthropic: a data part `cache_control` marks the block before it,
// consecutive messages of one role become one message, and other data parts are images.

const vscode = require('vscode');

const decoded = (part) => new TextDecoder().decode(part.data);

function blocksOf(parts) {
  const blocks = [];
  for (const part of parts) {
    if (part instanceof vscode.LanguageModelDataPart && part.mimeType === 'cache_control' && decoded(part) === 'ephemeral') {
      if (blocks.length === 0) {
        blocks.push({ type: 'text', text: ' ' });
      }
      blocks.at(-1).cache_control = { type: 'ephemeral' };
    } else if (part instanceof vscode.LanguageModelDataPart) {
      const data = Buffer.from(part.data).toString('base64');
      blocks.push({ type: 'image', source: { type: 'base64', media_type: part.mimeType, data } });
    } else if (part instanceof vscode.LanguageModelToolCallPart) {
      blocks.push({ type: 'tool_use', id: part.callId, name: part.name, input: part.input });
    } else if (part instanceof vscode.LanguageModelToolResultPart) {
      blocks.push({ type: 'tool_result', tool_use_id: part.callId, content: blocksOf(part.content) });
    } else if (part.value !== '') {
      blocks.push({ type: 'text', text: part.value });
    }
  }
  return blocks;
}

function messagesOf(messages) {
  const made = [];
  for (const { role, content } of messages) {
    const name = role === vscode.LanguageModelChatMessageRole.Assistant ? 'assistant' : 'user';
    if (made.at(-1)?.role === name) {
      made.at(-1).content.push(...blocksOf(content));
    } else {
      made.push({ role: name, content: blocksOf(content) });
    }
  }
  return made;
}

const toolsOf = (tools) => tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }));

exports.path = '/v1/messages';

exports.bodyOf = (model, messages, tools) => ({
  ...{ model, max_tokens: 1024, messages: messagesOf(messages) },
  ...(tools.length > 0 && { tools: toolsOf(tools) }),
});

exports.partsOf = ({ content }) =>
  content.map((block) =>
    block.type === 'tool_use'
      ? new vscode.LanguageModelToolCallPart(block.id, block.name, block.input)
      : new vscode.LanguageModelTextPart(block.text),
  );

exports.billOf = ({ input_tokens, output_tokens, cache_read_input_tokens: cached_tokens, cache_creation_input_tokens }) => ({
  prompt_tokens: input_tokens + cached_tokens + cache_creation_input_tokens,
  completion_tokens: output_tokens,
  prompt_tokens_details: { cached_tokens, cache_creation_input_tokens },
});
