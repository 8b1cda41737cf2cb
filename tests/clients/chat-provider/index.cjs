// A chat model for the editor that forwards to the stand-in provider. STAND_IN_KIND (`anthropic`, `openai` or `editor`) selects how messages
// are converted. If the kind reports a bill, it is returned as a data part `usage`.

const vscode = require('vscode');

const { STAND_IN_URL: url, STAND_IN_MODEL: model, STAND_IN_KIND: kind } = process.env;
const maxInputTokens = Number(process.env.STAND_IN_MAX_INPUT_TOKENS);

const { path, bodyOf, partsOf, billOf } = {
  anthropic: () => require('./anthropic.cjs'),
  openai: () => require('./openai.cjs'),
  editor: () => require('./editor.cjs'),
}[kind]();

const provider = {
  provideLanguageModelChatInformation: () => [
    {
      ...{ id: model, name: model, family: model, version: '1', maxInputTokens, maxOutputTokens: 8192 },
      ...{ capabilities: { toolCalling: true }, isUserSelectable: true },
    },
  ],
  provideLanguageModelChatResponse: async (_model, messages, { tools = [] }, progress) => {
    const reply = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'a key' },
      body: JSON.stringify(bodyOf(model, messages, tools)),
    });
    const answer = await reply.json();
    if (answer.error) {
      throw new Error(answer.error.message);
    }
    partsOf(answer).forEach((part) => progress.report(part));
    if (billOf) {
      const bill = JSON.stringify(billOf(answer.usage));
      progress.report(new vscode.LanguageModelDataPart(new TextEncoder().encode(bill), 'usage'));
    }
  },
  provideTokenCount: async (_model, text) => {
    const said = typeof text === 'string' ? text : text.content.map((part) => part.value ?? '').join('');
    return Math.ceil(said.length / 4);
  },
};

exports.activate = async (context) => {
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider('stand-in', provider));
  // The editor requests a provider's models only when they are needed.
  await vscode.lm.selectChatModels({ vendor: 'stand-in' });
};
