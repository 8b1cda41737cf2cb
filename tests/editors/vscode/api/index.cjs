// Tests that run inside the real extension host, with the installed extension and the real server.

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const Module = require('node:module');
const path = require('node:path');
const vscode = require('vscode');

const { until } = require('../until.cjs');

const tests = [];
const test = (name, run) => tests.push([name, run]);

let api;
let status;
const folder = vscode.workspace.workspaceFolders[0].uri;
const file = (name) => vscode.Uri.joinPath(folder, name);
const run = (command, ...args) => vscode.commands.executeCommand(command, ...args);

async function open(name) {
  const document = await vscode.workspace.openTextDocument(file(name));
  return vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.One, preview: false });
}

const paths = async (state) =>
  (await run('strata.files.list', {})).files.filter((one) => one.state === state).map((one) => one.path);

/** Returns the process ids of the servers, which are children of this extension host. */
const servers = () =>
  execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)])
    .toString()
    .split('\n')
    .filter((line) => /strata serve/.test(line))
    .map((line) => Number.parseInt(line, 10));

test('the extension starts its server and reports the meter', async () => {
  const extension = vscode.extensions.getExtension('strata.strata');
  api = await extension.activate();
  api.onStatus((now) => (status = now));
  await run('strata.files.select', { paths: ['notes.md'] });
  await until(() => status?.index === 'ready' && status.tokens > 0, 'the meter');
  assert.equal(servers().length, 1);
  await run('strata.files.clear', {});
});

test('every command in the manifest exists', async () => {
  const { contributes } = vscode.extensions.getExtension('strata.strata').packageJSON;
  const there = new Set(await vscode.commands.getCommands(true));
  assert.deepEqual(contributes.commands.filter(({ command }) => !there.has(command)), []);
  assert.ok(there.has('strata.files.select'), 'commands of the server are not commands of the editor');
});

test('other extensions make prompts with unsaved text, and record turns', async () => {
  const editor = await open('src/main.py');
  await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), '# typed, not saved: äö😀\n'));
  const { changed } = await api.select([editor.document.uri]);
  assert.deepEqual(changed, ['src/main.py']);
  const prompt = await api.assemble({ prompt: 'What is this?' });
  assert.match(JSON.stringify(prompt.body), /typed, not saved: äö😀/);
  const recorded = await api.record({ id: prompt.id, response: 'A file.', usage: { input: 10, output: 2, cacheRead: 0, cacheWrite: 0 } });
  assert.equal(recorded.messages, 2);
  assert.deepEqual(await paths('selected'), ['src/main.py']);
  assert.equal(editor.document.isDirty, true);
});

test('files are added, excluded, included and removed', async () => {
  await run('strata.addToContext', file('notes.md'));
  await run('strata.excludeFromContext', file('src/util.py'));
  assert.deepEqual(await paths('selected'), ['notes.md', 'src/main.py']);
  assert.deepEqual(await paths('excluded'), ['src/util.py']);
  await run('strata.includeInContext', { kind: 'file', path: 'src/util.py' });
  await run('strata.removeFromContext', file('notes.md'), [file('notes.md'), file('src/main.py')]);
  assert.deepEqual(await paths('selected'), []);
  assert.deepEqual(await paths('excluded'), []);
});

test('a whole folder is added, and selected lines are added as lines', async () => {
  await run('strata.addToContext', file('src'));
  assert.deepEqual(await paths('selected'), ['src/main.py', 'src/util.py']);
  await run('strata.clearContext');
  const editor = await open('src/util.py');
  // The selection ends at the start of the third line, so it has two lines.
  editor.selection = new vscode.Selection(0, 0, 2, 0);
  await run('strata.addSelectedLines');
  const { files } = await run('strata.files.list', {});
  assert.deepEqual(files.map(({ path, lines }) => [path, lines]), [['src/util.py', ['L1-2']]]);
  await run('strata.clearContext');
});

test('an untitled document can be added', async () => {
  const document = await vscode.workspace.openTextDocument({ content: 'never on a disk\n', language: 'plaintext' });
  await vscode.window.showTextDocument(document);
  await run('strata.addToContext');
  const prompt = await api.assemble({ prompt: 'And this?', dryRun: true });
  assert.match(JSON.stringify(prompt.body), /never on a disk/);
  await run('strata.clearContext');
});

test('the preview shows typed text immediately, and folds by part', async () => {
  const editor = await open('src/util.py');
  await run('strata.addToContext', editor.document.uri);
  await run('strata.preview');
  const preview = await until(() => vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'strata'), 'the preview');
  await until(() => preview.getText().includes('def double'), 'the text of the file');
  await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), '# another line\n'));
  await until(() => preview.getText().includes('# another line'), 'the typed text');
  const folds = await run('vscode.executeFoldingRangeProvider', preview.uri);
  const titles = folds.map(({ start }) => preview.lineAt(start).text);
  assert.ok(titles.some((title) => /^# \[1\] System/.test(title)), titles.join('\n'));
  assert.ok(titles.some((title) => /^## `src\/util.py`/.test(title)), titles.join('\n'));
  await run('strata.clearContext');
  await until(() => !preview.getText().includes('# another line'), 'a preview without the file');
  await run('workbench.action.closeEditorsInOtherGroups');
});

test('settings are sent to the server, and can be reset', async () => {
  const settings = async () => (await run('strata.server.settings', {})).settings;
  const configuration = vscode.workspace.getConfiguration('strata');
  await configuration.update('files.list_budget', 123, vscode.ConfigurationTarget.Workspace);
  await until(async () => (await settings()).files.list_budget === 123, 'the new value');
  await configuration.update('files.list_budget', undefined, vscode.ConfigurationTarget.Workspace);
  await until(async () => (await settings()).files.list_budget !== 123, 'the value before');
});

test('a settings file in the workspace can set sizes, but no addresses', async () => {
  const folder = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, '.vscode');
  const place = vscode.Uri.joinPath(folder, 'settings.json');
  const hostile = {
    'strata.files.list_budget': 321,
    'strata.path': '/bin/false',
    'strata.compaction.summariser': 'http',
    'strata.compaction.base_url': 'http://127.0.0.1:9',
    'strata.redaction.enabled': false,
  };
  const before = (await run('strata.server.settings', {})).settings;
  await vscode.workspace.fs.writeFile(place, Buffer.from(JSON.stringify(hostile)));
  await until(async () => (await run('strata.server.settings', {})).settings.files.list_budget === 321, 'the size');
  const after = (await run('strata.server.settings', {})).settings;
  assert.deepEqual([after.compaction, after.redaction], [before.compaction, before.redaction]);
  assert.equal(vscode.workspace.getConfiguration('strata').inspect('path').workspaceValue, undefined);
  await vscode.workspace.fs.delete(folder, { recursive: true });
  await until(async () => (await run('strata.server.settings', {})).settings.files.list_budget !== 321, 'the value before');
});

test('a message is edited as a document, with its line breaks', async () => {
  await run('strata.history.addExchange', { user: 'One\nTwo', assistant: 'Three' });
  const question = async () => (await run('strata.history.get', {})).messages.at(-2);
  await run('strata.editMessage', { message: await question() });
  const { document } = vscode.window.activeTextEditor;
  assert.equal(document.getText(), 'One\nTwo');
  assert.equal(document.languageId, 'strata-message');
  const write = async (text) => {
    const all = new vscode.Range(0, 0, document.lineCount, 0);
    await vscode.window.activeTextEditor.edit((edit) => edit.replace(all, text));
    return document.save();
  };
  assert.equal(await write('One\n\n  Two\nThree'), true);
  assert.deepEqual((await question()).content, [{ type: 'text', text: 'One\n\n  Two\nThree' }]);
  assert.equal(await write('').catch(() => false), false, 'an empty message was accepted');
  assert.equal((await question()).content[0].text, 'One\n\n  Two\nThree');
  await run('workbench.action.files.revert');
  await run('strata.history.edit', { id: (await question()).id, content: 'Said otherwise' });
  await until(() => document.getText() === 'Said otherwise', 'the change from elsewhere');
  await run('strata.history.truncate', { from: (await question()).id });
  await run('workbench.action.closeActiveEditor');
});

test('a compaction of the conversation can be undone', async () => {
  for (let turn = 0; turn < 20; turn += 1) {
    const filler = `${turn} `.repeat(300);
    await run('strata.history.addExchange', { user: `Change src/main.py. ${filler}`, assistant: `Done. ${filler}` });
  }
  const count = async () => (await run('strata.compaction.status', {})).tokens;
  const before = await count();
  await run('strata.compact');
  assert.ok((await count()) < before / 2, 'the conversation is hardly shorter');
  await run('strata.undoCompaction');
  assert.equal(await count(), before);
});

test("the editor's own model writes summaries, without a setting", async () => {
  const model = await vscode.extensions.getExtension('strata-tests.stand-in').activate();
  await until(async () => (await vscode.lm.selectChatModels()).length > 0, 'the stand-in model');
  await run('strata.compact');
  const { last } = await run('strata.compaction.status', {});
  assert.equal(last.strategy, 'model');
  assert.deepEqual(last.summarisedBy, { kind: 'client', model: 'Echo' });
  assert.equal(model.asked.length > 0, true);
  const { messages } = await run('strata.history.get', {});
  assert.match(JSON.stringify(messages), /The stand-in has answered/);
});

test('the chat participant sends the prompt to the chosen model and records the turn', async () => {
  const model = await vscode.extensions.getExtension('strata-tests.stand-in').activate();
  const before = (await run('strata.history.get', {})).messages.length;
  await run('strata.addToContext', file('src/util.py'));
  await run('workbench.action.chat.open', { query: '@strata What does double do?' });
  const { messages } = await until(async () => {
    const now = await run('strata.history.get', {});
    return now.messages.length === before + 2 && now;
  }, 'the recorded turn');
  assert.match(JSON.stringify(messages.at(-2)), /What does double do\?/);
  assert.match(JSON.stringify(messages.at(-1)), /The stand-in has answered/);
  assert.match(model.asked.at(-1).join('\n'), /def double/);
  console.log('picture chat');
  const times = model.asked.length;
  await run('strata.regenerate');
  const again = await until(async () => {
    const now = await run('strata.history.get', {});
    return model.asked.length > times && now.messages.length === before + 2 && now;
  }, 'the turn that replaces it');
  assert.match(JSON.stringify(again.messages.at(-2)), /What does double do\?/);
  assert.ok(again.messages.at(-2).id > messages.at(-2).id, 'it is still the old message');
  await run('strata.clearContext');
});

test('if the model rejects a prompt as too long, the conversation is compacted and the prompt is sent once more', async () => {
  const model = await vscode.extensions.getExtension('strata-tests.stand-in').activate();
  for (let turn = 0; turn < 20; turn += 1) {
    const filler = `${turn} `.repeat(300);
    await run('strata.history.addExchange', { user: `Change src/util.py. ${filler}`, assistant: `Done. ${filler}` });
  }
  const times = model.asked.length;
  model.failures.push('prompt is too long: 210000 tokens > 200000 maximum');
  await run('workbench.action.chat.open', { query: '@strata Does it fit now?' });
  const { last } = await until(async () => {
    const { messages } = await run('strata.history.get', {});
    const isAnswered = /Does it fit now\?/.test(JSON.stringify(messages.at(-2)));
    return isAnswered && (await run('strata.compaction.status', {}));
  }, 'the answer');
  assert.deepEqual(last.summarisedBy, { kind: 'client', model: 'Echo' });
  const [refused, summary, sent] = model.asked.slice(times).map((texts) => texts.join('\n'));
  assert.match(summary, /<conversation>/);
  assert.ok(sent.length < refused.length / 2, `${sent.length} of ${refused.length}`);
  console.log('picture too-long');
  await run('strata.undoCompaction');
});

const anotherConversation = async () => {
  const { session } = status;
  await run('strata.newSession');
  await until(() => status.session !== session, 'another session');
};

/** Returns an answer that calls a tool, after a few words. */
const calling = (name, input) => (progress) => {
  progress.report(new vscode.LanguageModelTextPart('I look. '));
  progress.report(new vscode.LanguageModelToolCallPart(`call-${name}`, name, input));
};
const saying = (text) => (progress) => progress.report(new vscode.LanguageModelTextPart(text));

test('the model of @strata calls tools that only read, and gets their results', async () => {
  const model = await vscode.extensions.getExtension('strata-tests.stand-in').activate();
  // The previous conversation is so long that it would be compacted.
  await anotherConversation();
  const before = (await run('strata.history.get', {})).messages.length;
  model.answers.push(calling('strata_outline', { path: 'src/util.py' }), calling('strata_read', { path: 'no/such.py' }), saying('It doubles.'));
  const first = model.asked.length;
  await run('workbench.action.chat.open', { query: '@strata What is in src/util.py?' });
  const { messages } = await until(async () => {
    const now = await run('strata.history.get', {});
    return now.messages.length === before + 6 && now;
  }, 'the answers and results');
  const [, call, result, another, error, answer] = messages.slice(before).map(({ content }) => content);
  assert.deepEqual(call, [
    { type: 'text', text: 'I look. ' },
    { type: 'tool_call', id: 'call-strata_outline', name: 'strata_outline', input: { path: 'src/util.py' } },
  ]);
  assert.match(result[0].content[0].text, /class Counter/);
  assert.equal(another.at(-1).name, 'strata_read');
  assert.equal(error[0].outcome, 'error');
  assert.deepEqual(answer, [{ type: 'text', text: 'It doubles.' }]);
  assert.match(model.asked[first + 1].join('\n'), /class Counter/);
  const looking = ['map', 'relevant', 'find_symbol', 'outline', 'references', 'read', 'grep', 'search_memory'];
  assert.deepEqual(model.offered.slice(first), Array(3).fill(looking.map((name) => `strata_${name}`)));
});

test('tool calls are answered for a limited number of rounds, and a limit of 0 offers no tools', async () => {
  const model = await vscode.extensions.getExtension('strata-tests.stand-in').activate();
  const configuration = vscode.workspace.getConfiguration('strata');
  const count = async () => (await run('strata.history.get', {})).messages.length;
  const look = calling('strata_map', {});
  await configuration.update('chat.toolRounds', 1, vscode.ConfigurationTarget.Global);
  let before = await count();
  model.answers.push(look, look);
  await run('workbench.action.chat.open', { query: '@strata Look around.' });
  await until(async () => (await count()) === before + 4, 'two answers and one result');
  assert.match(model.asked.at(-1).join('\n'), /No more tool calls are possible/);
  assert.equal(model.answers.length, 0);
  await configuration.update('chat.toolRounds', 0, vscode.ConfigurationTarget.Global);
  before = await count();
  await run('workbench.action.chat.open', { query: '@strata And without?' });
  await until(async () => (await count()) === before + 2, 'the answer');
  assert.deepEqual(model.offered.at(-1), []);
  await configuration.update('chat.toolRounds', undefined, vscode.ConfigurationTarget.Global);
});

test('the received part of a cancelled answer is recorded, and a failed question can be asked again', async () => {
  const model = await vscode.extensions.getExtension('strata-tests.stand-in').activate();
  const messages = async () => (await run('strata.history.get', {})).messages;
  const before = (await messages()).length;
  let started;
  const isStarted = new Promise((done) => (started = done));
  model.answers.push(async (progress, token) => {
    saying('The first words')(progress);
    started();
    await new Promise((done) => token.onCancellationRequested(done));
  });
  await run('workbench.action.chat.open', { query: '@strata Tell me everything.' });
  await isStarted;
  // Wait until the words reach the extension.
  await new Promise((done) => setTimeout(done, 500));
  await run('workbench.action.chat.cancel');
  const [question, partial] = await until(async () => {
    const now = (await messages()).slice(before);
    return now.length === 2 && now;
  }, 'the partial answer');
  assert.match(JSON.stringify(question), /Tell me everything/);
  assert.match(JSON.stringify(partial), /The first words/);
  model.failures.push('529 Overloaded');
  const times = model.asked.length;
  await run('workbench.action.chat.open', { query: '@strata Are you there?' });
  await until(() => model.asked.length === times + 1, 'the request that fails');
  // The next question can be asked only after the editor shows the error.
  await new Promise((done) => setTimeout(done, 1500));
  await run('workbench.action.chat.open', { query: '@strata Are you there?' });
  const after = await until(async () => {
    const now = (await messages()).slice(before);
    return now.length === 4 && now;
  }, 'the answer');
  assert.equal(after.filter((message) => /Are you there/.test(JSON.stringify(message))).length, 1);
  assert.match(JSON.stringify(after.at(-1)), /The stand-in has answered/);
});

/** The links that the editor makes of a notification (`parseLinkedText` in its sources), and the icons of a label. */
const LINK = /\[[^\]]+\]\((?:https?:\/\/|command:|file:)[^)\s]+/i;
const ICON = /\$\([a-z~-]+\)/;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

test('a hostile name is only text', async () => {
  const names = [
    '[Repair workspace](command:workbench.action.terminal.sendSequence?%7B%22text%22%3A%22x%22%7D).py',
    '![x](https:evil.example).py',
    '$(sync~spin) a\nwarning: b\u202e\u200b\u061c\u{e0041}.py',
  ];
  // The editor gives each extension an API of its own, by the place of the file that asks for it.
  const { extensionPath, packageJSON } = vscode.extensions.getExtension('strata.strata');
  const theirs = Module._load('vscode', { filename: path.join(extensionPath, packageJSON.main) }, false);
  const { window, TreeItem, MarkdownString } = theirs;
  const { showWarningMessage, showErrorMessage, showInformationMessage } = window;
  const shown = { notification: [], label: [], markdown: [] };
  const heard = (message) => Promise.resolve(void shown.notification.push(message));
  Object.assign(window, { showWarningMessage: heard, showErrorMessage: heard, showInformationMessage: heard });
  theirs.TreeItem = class extends TreeItem {
    constructor(label, state) {
      super(label, state);
      shown.label.push(label);
    }
  };
  theirs.MarkdownString = class extends MarkdownString {
    constructor(value, icons) {
      super(value, icons);
      shown.markdown.push(this);
    }
  };
  const configuration = vscode.workspace.getConfiguration('strata');
  try {
    await configuration.update('lsp.features', ['hover'], vscode.ConfigurationTarget.Global);
    await run('strata.context.focus');
    for (const [n, name] of names.entries()) {
      const token = `ghp_${`R4nD0m${n}xYzAbCdEfGhIjKlMnOpQrS`.padStart(36, '0')}`;
      await vscode.workspace.fs.writeFile(file(name), Buffer.from(`def hostile_${n}():\n    return "${token}"\n`));
      await run('strata.files.select', { paths: [name] });
    }
    // A dry run does not warn.
    const { id } = await api.assemble({ prompt: 'What is hostile?' });
    await api.record({ id, response: 'These files.' });
    const basenames = (label) => label.includes('warning') || label.includes('evil') || label.includes('Repair');
    await until(() => shown.notification.length >= names.length, 'warnings about secrets');
    await until(() => shown.label.filter(basenames).length >= names.length, 'the files in the tree');
    await run('strata.addToContext', file(`${names[0]}x`));
    await until(() => shown.notification.length > names.length, 'an error');
    const hovers = [];
    for (const name of names) {
      const document = await vscode.workspace.openTextDocument(file(name));
      const found = await until(async () => {
        const all = await run('vscode.executeHoverProvider', document.uri, new vscode.Position(0, 5));
        return all.length > 0 && all;
      }, 'a hover');
      hovers.push(...found.flatMap(({ contents }) => contents.map((content) => content.value ?? content)));
    }
    shown.notification.forEach((text) => assert.doesNotMatch(text, LINK));
    for (const text of [...shown.notification, ...shown.label]) {
      assert.doesNotMatch(text, ICON);
      assert.doesNotMatch(text, HIDDEN);
    }
    for (const text of [...shown.markdown.map(({ value }) => value), ...hovers]) {
      // The extension's own icons are the only ones, and what is left without escapes and code is plain.
      const bare = text.replace(/```[^]*?```/g, '').replace(/\\[^]/g, '').replace(/\$\([a-z-]+\)/g, '');
      assert.doesNotMatch(bare, /!?\[|\]\(|https?:|www\.|[<`]/);
      assert.doesNotMatch(text.replaceAll('\n', ''), HIDDEN);
    }
    assert.ok(hovers.length >= names.length && shown.markdown.length >= names.length);
  } finally {
    Object.assign(window, { showWarningMessage, showErrorMessage, showInformationMessage });
    Object.assign(theirs, { TreeItem, MarkdownString });
    await configuration.update('lsp.features', undefined, vscode.ConfigurationTarget.Global);
    await run('strata.clearContext');
    await Promise.all(names.map((name) => vscode.workspace.fs.delete(file(name))));
  }
});

test('suggested code is accepted, dismissed and suggested again', async () => {
  await run('strata.context.auto', { budget: 4000 });
  const prompt = await api.assemble({ prompt: 'What does double do, and what does Counter count?' });
  await api.record({ id: prompt.id, response: 'It doubles.' });
  const standings = async () => {
    const { excerpts } = await run('strata.context.list', {});
    return new Map(excerpts.map((excerpt) => [excerpt.excerpt, excerpt.standing]));
  };
  const suggested = (await run('strata.context.list', {})).excerpts;
  assert.ok(suggested.length > 0);
  const [excerpt] = suggested;
  const name = excerpt.excerpt;
  await run('strata.acceptExcerpt', { kind: 'excerpt', excerpt });
  assert.equal((await standings()).get(name), 'pinned');
  await run('strata.releaseExcerpt', { kind: 'excerpt', excerpt });
  assert.notEqual((await standings()).get(name), 'pinned');
  await run('strata.dismissExcerpt', { kind: 'excerpt', excerpt });
  assert.equal((await standings()).has(name), false);
  assert.deepEqual((await run('strata.context.list', {})).dismissed, [name]);
  await run('strata.restoreExcerpts');
  assert.deepEqual((await run('strata.context.list', {})).dismissed, []);
  await run('strata.context.auto', { budget: 0 });
});

test('other models can call its tools', async () => {
  const call = async (name, input) => {
    const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });
    return JSON.parse(content.map((part) => part.value).join(''));
  };
  const { symbols } = await call('strata_find_symbol', { query: 'double' });
  assert.equal(symbols[0].path, 'src/util.py');
  assert.match((await call('strata_map', {})).text, /src\/util.py/);
  await run('strata.excludeFromContext', file('src/util.py'));
  await assert.rejects(call('strata_read', { path: 'src/util.py' }), /excluded/);
  await assert.rejects(call('strata_outline', { path: file('src/util.py').toString() }), /excluded/);
  assert.deepEqual((await call('strata_find_symbol', { query: 'double' })).symbols, []);
  assert.doesNotMatch(JSON.stringify(await call('strata_references', { name: 'double' })), /util\.py/);
  await run('strata.includeInContext', file('src/util.py'));
  const { contributes } = vscode.extensions.getExtension('strata.strata').packageJSON;
  const offered = new Set(vscode.lm.tools.map(({ name }) => name));
  assert.deepEqual(contributes.languageModelTools.filter(({ name }) => !offered.has(name)), []);
});

test('an earlier session is opened, and a note is deleted', async () => {
  const first = status.session;
  await anotherConversation();
  const { sessions } = await run('strata.session.list', {});
  await run('strata.openSession', sessions.find(({ id }) => id === first));
  await until(() => status.session === first, 'the first session again');
  const { id } = await run('strata.memory.add', { text: 'Tests live in tests/', tags: [] });
  await run('strata.forget', { id });
  assert.deepEqual((await run('strata.memory.list', {})).fragments, []);
});

test('a killed server is restarted with its session, and buffers are in sync', async () => {
  const editor = await open('notes.md');
  await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), 'before the end\n'));
  await run('strata.addToContext', editor.document.uri);
  await until(() => status.files > 0, 'the meter');
  const { session } = status;
  const messages = (await run('strata.history.get', {})).messages.length;
  const [pid] = servers();
  process.kill(pid, 'SIGKILL');
  await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), 'after the end\n'));
  await until(() => servers().some((other) => other !== pid), 'another server');
  const { body } = await until(
    async () => api.assemble({ prompt: 'Still there?', dryRun: true }).catch(() => undefined),
    'a prompt of the new server',
  );
  assert.match(JSON.stringify(body), /after the end\\nbefore the end/);
  await until(() => status.session === session, 'the same session');
  assert.deepEqual(await paths('selected'), ['notes.md']);
  assert.equal((await run('strata.history.get', {})).messages.length, messages);
});

test('several simultaneous restarts leave one server', async () => {
  const [old] = servers();
  await Promise.all([run('strata.restart'), run('strata.restart'), run('strata.restart')]);
  await until(() => servers().length === 1 && !servers().includes(old), 'one other server');
  assert.ok(await api.assemble({ prompt: 'Still there?', dryRun: true }));
});

test('a restart replaces a server that hangs', async () => {
  const [old] = servers();
  process.kill(old, 'SIGSTOP');
  await run('strata.restart');
  await until(() => servers().length === 1 && !servers().includes(old), 'another server in its place');
  assert.ok(await api.assemble({ prompt: 'Still there?', dryRun: true }));
});

exports.run = async () => {
  let failed = 0;
  for (const [name, body] of tests) {
    try {
      await body();
      console.log(`ok    ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL  ${name}: ${error.stack ?? error}`);
    }
  }
  console.log(`result ${tests.length - failed} ${failed}`);
  if (failed > 0) {
    throw new Error(`${failed} failed`);
  }
};
