// The chat of another extension. It asks the model that the user has chosen, keeps the conversation itself, and answers the calls of its
// own tool. Reported bills are logged to OTHER_CHAT_LOG, one JSON object per line.

const fs = require('node:fs');

const vscode = require('vscode');

const { LanguageModelChatMessage, LanguageModelDataPart, LanguageModelTextPart, LanguageModelToolCallPart, LanguageModelToolResultPart } = vscode;

const INSTRUCTIONS = 'Answer questions about the file below, and call `typed` to see the lines that were typed into a file.';

const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const tools = [{ name: 'typed', description: 'Returns the lines that were typed into a file, given its path.', inputSchema: schema }];

/** An image of one pixel. */
const PICTURE = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

/** The conversation. */
const messages = [];

const uriOf = (path) => vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, path);

/** Returns the first message of all conversations, with a mark that other sources of models support. */
async function beginning() {
  const file = new TextDecoder().decode(await vscode.workspace.fs.readFile(uriOf('src/flask/app.py')));
  const mark = new LanguageModelDataPart(new TextEncoder().encode('ephemeral'), 'cache_control');
  return LanguageModelChatMessage.User([new LanguageModelTextPart(`${INSTRUCTIONS}\n\n${file}`), mark]);
}

/** Sends a request and shows the text of its answer. */
async function sent(model, stream, token) {
  const { stream: answer } = await model.sendRequest(messages, { tools }, token);
  let [text, calls] = ['', []];
  for await (const part of answer) {
    if (part instanceof LanguageModelTextPart) {
      text += part.value;
      stream.markdown(part.value);
    } else if (part instanceof LanguageModelToolCallPart) {
      calls.push(part);
    } else if (part.mimeType === 'usage') {
      fs.appendFileSync(process.env.OTHER_CHAT_LOG, `${new TextDecoder().decode(part.data)}\n`);
    }
  }
  return { text, calls };
}

/** Answers a call of the tool from the editor's text, saved or not. */
async function typed({ callId, input }) {
  const lines = (await vscode.workspace.openTextDocument(uriOf(input.path))).getText().split('\n');
  const text = lines.filter((line) => line.startsWith('TYPED_')).join('\n');
  return new LanguageModelToolResultPart(callId, [new LanguageModelTextPart(text)]);
}

/** Returns a question, with an image if it mentions a picture. */
function question(prompt) {
  const picture = prompt.includes('picture') ? [LanguageModelDataPart.image(PICTURE, 'image/png')] : [];
  return LanguageModelChatMessage.User([new LanguageModelTextPart(prompt), ...picture]);
}

async function handle({ model, prompt }, _context, stream, token) {
  const before = messages.length;
  messages.push(...(before === 0 ? [await beginning()] : []), question(prompt));
  try {
    for (;;) {
      const { text, calls } = await sent(model, stream, token);
      messages.push(LanguageModelChatMessage.Assistant([...(text === '' ? [] : [new LanguageModelTextPart(text)]), ...calls]));
      if (calls.length === 0) {
        return {};
      }
      messages.push(LanguageModelChatMessage.User(await Promise.all(calls.map(typed))));
    }
  } catch (error) {
    messages.length = before;
    return { errorDetails: { message: error.message } };
  }
}

exports.activate = (context) => {
  context.subscriptions.push(vscode.chat.createChatParticipant('other-chat.other', handle));
};
