// Converts the editor's messages like extensions for OpenAI-compatible providers: joins the texts of a message, makes each tool result a
// separate message, and drops data parts other than images. A tool call must be followed by a message that contains only results.

const vscode = require('vscode');

const textOf = (parts) => parts.flatMap((part) => (part instanceof vscode.LanguageModelTextPart ? [part.value] : [])).join('');
const isCall = (part) => part instanceof vscode.LanguageModelToolCallPart;
const isResult = (part) => part instanceof vscode.LanguageModelToolResultPart;

function messagesOf(messages) {
  return messages.flatMap(({ role, content }, at) => {
    const text = textOf(content);
    if (role === vscode.LanguageModelChatMessageRole.Assistant) {
      const calls = content.filter(isCall);
      if (calls.length > 0 && !messages[at + 1]?.content.every(isResult)) {
        throw new Error('Tool call part must be followed by a User message with a LanguageModelToolResultPart with a matching callId.');
      }
      const tool_calls = calls.map(({ callId: id, name, input }) => ({
        ...{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } },
      }));
      return [{ role: 'assistant', ...(text && { content: text }), ...(calls.length > 0 && { tool_calls }) }];
    }
    const results = content.filter(isResult).map((part) => ({ role: 'tool', tool_call_id: part.callId, content: textOf(part.content) }));
    return [...results, ...(text ? [{ role: 'user', content: text }] : [])];
  });
}

const toolsOf = (tools) =>
  tools.map(({ name, description, inputSchema: parameters }) => ({ type: 'function', function: { name, description, parameters } }));

exports.path = '/v1/chat/completions';

exports.bodyOf = (model, messages, tools) => ({
  ...{ model, max_completion_tokens: 1024, messages: messagesOf(messages) },
  ...(tools.length > 0 && { tools: toolsOf(tools) }),
});

exports.partsOf = ({ choices: [{ message }] }) => [
  ...(message.content ? [new vscode.LanguageModelTextPart(message.content)] : []),
  ...(message.tool_calls ?? []).map(
    ({ id, function: { name, arguments: input } }) => new vscode.LanguageModelToolCallPart(id, name, JSON.parse(input)),
  ),
];

exports.billOf = ({ prompt_tokens, completion_tokens, prompt_tokens_details }) => ({ prompt_tokens, completion_tokens, prompt_tokens_details });
