// Messages of the editor as its own chat extension passes them on for others: rules of its own go first, marks are dropped, each text
// of the user is a message, and of an answer only the first text counts. It says nothing of the bill.

const vscode = require('vscode');

const anthropic = require('./anthropic.cjs');

const RULES = 'Follow the content policies. Answer with code blocks where code is asked for.';

function messagesOf(messages) {
  return messages.map(({ role, content }) => {
    const parts = content.filter((part) => !(part instanceof vscode.LanguageModelDataPart));
    if (role !== vscode.LanguageModelChatMessageRole.Assistant) {
      return { role, content: parts };
    }
    const first = parts.find((part) => part instanceof vscode.LanguageModelTextPart);
    return { role, content: parts.filter((part) => part === first || part instanceof vscode.LanguageModelToolCallPart) };
  });
}

exports.path = anthropic.path;

exports.bodyOf = (model, messages, tools) => ({ ...anthropic.bodyOf(model, messagesOf(messages), tools), system: RULES });

exports.partsOf = anthropic.partsOf;
