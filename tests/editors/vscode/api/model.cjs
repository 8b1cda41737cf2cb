// A language model of the editor that says back how much it was asked, so that tests need no real one.

const vscode = require('vscode');

/** The requests it got, oldest first: the text of each message. */
const asked = [];

/** The names of the tools that each of them offered. */
const offered = [];

/** What the next requests fail with. */
const failures = [];

/** How the next requests are answered: each is given a way to report parts, and a token. */
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
    progress.report(new vscode.LanguageModelTextPart('## Goal\nThe stand-in '));
    progress.report(new vscode.LanguageModelTextPart('has answered.'));
  },
  provideTokenCount: async (_model, text) => textOf(text).length,
};

exports.activate = (context) => {
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider('stand-in', provider));
  return { asked, offered, failures, answers };
};
