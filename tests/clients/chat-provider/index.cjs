// A chat model of the editor that forwards to the stand-in provider, with messages converted as bring-your-own-key extensions for
// Anthropic do it: a data part `cache_control` marks the block before it, neighbours of one role become one message, any other
// data part is a picture. The bill goes back as a data part `usage`.

const vscode = require('vscode');

const { STAND_IN_URL: url, STAND_IN_MODEL: model } = process.env;
const maxInputTokens = Number(process.env.STAND_IN_MAX_INPUT_TOKENS);

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

const provider = {
  provideLanguageModelChatInformation: () => [
    {
      ...{ id: model, name: model, family: model, version: '1', maxInputTokens, maxOutputTokens: 8192 },
      ...{ capabilities: { toolCalling: true }, isUserSelectable: true },
    },
  ],
  provideLanguageModelChatResponse: async (_model, messages, _options, progress) => {
    const reply = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'a key' },
      body: JSON.stringify({ model, max_tokens: 1024, messages: messagesOf(messages) }),
    });
    const { content, usage, error } = await reply.json();
    if (error) {
      throw new Error(error.message);
    }
    for (const { text } of content) {
      progress.report(new vscode.LanguageModelTextPart(text));
    }
    const { input_tokens, output_tokens, cache_read_input_tokens: cached_tokens, cache_creation_input_tokens } = usage;
    const bill = {
      prompt_tokens: input_tokens + cached_tokens + cache_creation_input_tokens,
      completion_tokens: output_tokens,
      prompt_tokens_details: { cached_tokens, cache_creation_input_tokens },
    };
    progress.report(new vscode.LanguageModelDataPart(new TextEncoder().encode(JSON.stringify(bill)), 'usage'));
  },
  provideTokenCount: async (_model, text) => {
    const said = typeof text === 'string' ? text : text.content.map((part) => part.value ?? '').join('');
    return Math.ceil(said.length / 4);
  },
};

exports.activate = async (context) => {
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider('stand-in', provider));
  // The editor asks a provider for its models when somebody wants them.
  await vscode.lm.selectChatModels({ vendor: 'stand-in' });
};
