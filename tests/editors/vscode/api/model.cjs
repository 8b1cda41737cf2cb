// A language model for the editor with scripted answers, so that tests need no real model.

const vscode = require('vscode');

/** All requests, oldest first, as lists of message texts. */
const asked = [];

/** The names of the tools in each request. */
const offered = [];

/** Error messages for the next requests. */
const failures = [];

/** Functions that answer the next requests, called with a progress reporter and a cancellation token. */
const answers = [];

const textOf = (message) =>
  typeof message === 'string' ? message : message.content.map((part) => part.value ?? part.content?.map(({ value }) => value).join('') ?? '').join('');

const provider = {
  provideLanguageModelChatInformation: () => [
    {
      ...{ id: 'echo', name: 'Echo', family: 'echo', version: '1', maxInputTokens: 100_000, maxOutputTokens: 1000 },
      ...{ capabilities: { toolCalling: true, agentMode: true }, isUserSelectable: true, isDefault: true },
    },
  ],
  provideLanguageModelChatResponse: async (_model, messages, { tools = [] }, progress, token) => {
    asked.push(messages.map(textOf));
    offered.push(tools.map(({ name }) => name));
    if (answers.length > 0) {
      return answers.shift()(progress, token);
    }
    if (failures.length > 0) {
      throw new Error(failures.shift());
    }
    progress.report(new vscode.LanguageModelTextPart('## Asked\nThe stand-in '));
    progress.report(new vscode.LanguageModelTextPart('has answered.'));
  },
  provideTokenCount: async (_model, text) => textOf(text).length,
};

exports.activate = (context) => {
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider('stand-in', provider));
  return { asked, offered, failures, answers };
};
