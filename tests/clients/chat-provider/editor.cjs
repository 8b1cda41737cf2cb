// Converts messages like the editor's own chat extension when other extensions use its models: adds its own rules at the start, drops cache
// marks, makes each text of the user a message, and keeps only the first text of an answer. Reports no bill.

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
