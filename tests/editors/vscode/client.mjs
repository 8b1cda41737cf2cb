// Tests restrictions on the client, its manifest, and the parts that need no editor.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

import { Steps } from './workbench.mjs';

const root = path.resolve(path.dirname(new URL(import.meta.url).pathname), '../../..');
const client = path.join(root, 'editors/vscode');
const manifest = JSON.parse(fs.readFileSync(path.join(client, 'package.json'), 'utf8'));

/** Allowed imports and packages, which exclude tokenizers, parsers and stores. */
const IMPORTS = new Set(['vscode', 'vscode-languageclient/node', 'node:fs', 'node:path']);
const PACKAGES = new Set(['@types/node', '@types/vscode', '@vscode/vsce', 'esbuild', 'typescript', 'vscode-languageclient']);

const sources = fs
  .readdirSync(path.join(client, 'src'), { recursive: true })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: fs.readFileSync(path.join(client, 'src', name), 'utf8') }));
const everything = sources.map(({ text }) => text).join('\n');

/** Returns the numbers of passed and failed steps. */
export async function checkClient() {
  const steps = new Steps('client');
  await steps.step('the client imports nothing that could count, parse or store', () => {
    const pattern = /(?:\bfrom|^import) '([^'.\n][^'\n]*)'/gm;
    assert.doesNotMatch(everything, /\b(?:require|import)\(/);
    const foreign = sources.flatMap(({ name, text }) =>
      [...text.matchAll(pattern)].filter(([, module]) => !IMPORTS.has(module)).map(([, module]) => `${name}: ${module}`),
    );
    assert.deepEqual(foreign, []);
    const all = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
    assert.deepEqual(all.filter((name) => !PACKAGES.has(name)), []);
    assert.ok(sources.length > 10);
  });
  await steps.step('only one file talks to the server', () => {
    const talk = /vscode-languageclient|sendRequest\('|sendNotification\('/;
    assert.deepEqual(sources.filter(({ text }) => talk.test(text)).map(({ name }) => name), ['client.ts']);
  });
  await steps.step('every file begins with a comment about its purpose', () => {
    assert.deepEqual(sources.filter(({ text }) => !/^\/\/ /.test(text)).map(({ name }) => name), []);
  });
  await steps.step('the manifest and the sources name the same commands', () => {
    const declared = manifest.contributes.commands.map(({ command }) => command).sort();
    const registered = [...everything.matchAll(/^ {4}'(strata\.\w+)':/gm)].map(([, name]) => name).sort();
    assert.deepEqual(registered, declared);
    const used = Object.values(manifest.contributes.menus).flat().map(({ command }) => command);
    assert.deepEqual(used.filter((name) => !declared.includes(name)), []);
  });
  await steps.step("all commands of the server that the client uses are documented", () => {
    const documented = fs.readFileSync(path.join(root, 'docs/commands.md'), 'utf8');
    const used = new Set([...everything.matchAll(/'(strata\.\w+\.(?!focus)\w+)'/g)].map(([, name]) => name));
    assert.ok(used.size > 20);
    assert.deepEqual([...used].filter((name) => !documented.includes(`\`${name}\``)), []);
  });
  await steps.step('every tool in the manifest is registered', () => {
    const declared = manifest.contributes.languageModelTools.map(({ name }) => name).sort();
    const registered = [...everything.matchAll(/^ {2}(strata_\w+):/gm)].map(([, name]) => name).sort();
    assert.deepEqual(registered, declared);
  });
  await steps.step('only settings that the user has set are sent to the server', async () => {
    const { chosenSettings, person } = await load('settings', 'export { person } from "vscode"');
    const named = ['files.list_budget', 'cache.policy', 'cache.ttl', 'prompt.system', 'path'];
    named.forEach((name) => person.set(name, {}));
    const blocks = [{ properties: { 'strata.path': {} } }];
    blocks.push({ properties: Object.fromEntries(named.slice(0, 4).map((name) => [`strata.${name}`, {}])) });
    const extension = { packageJSON: { contributes: { configuration: blocks } } };
    assert.deepEqual(chosenSettings(extension), {});
    person.set('cache.policy', { globalValue: null }).set('cache.ttl', { workspaceValue: '1h' }).set('path', { globalValue: '/bin/strata' });
    person.set('files.list_budget', { globalValue: 1, workspaceFolderValue: 2 });
    assert.deepEqual(chosenSettings(extension), { files: { list_budget: 2 }, cache: { policy: null, ttl: '1h' } });
    // The extension has its own default for this setting, which is always sent.
    blocks[1].properties['strata.lsp.features'] = {};
    person.set('lsp.features', {});
    assert.deepEqual(chosenSettings(extension).lsp, { features: 'a default' });
  });
  await steps.step('numbers and times are formatted', async () => {
    const wording = await load('wording');
    assert.deepEqual([0, 999, 1000, 12_400, 999_499, 999_500, 1_000_000].map(wording.tokens), ['0', '999', '1k', '12.4k', '999k', '1M', '1M']);
    assert.deepEqual([0, 900, 61_000, 3_600_000].map(wording.countdown), ['0:00', '0:01', '1:01', '1:00:00']);
    assert.equal(wording.counted(1, 'file'), '1 file');
    assert.equal(wording.firstWords('a\n  b '.repeat(30), 10).length, 10);
  });
  await steps.step('cache marks follow the marked parts for Claude models, unless they are disabled', async () => {
    const { messagesOf, person, takesMarks } = await load('models', 'export { person } from "vscode"');
    const text = (said, more = {}) => ({ type: 'text', text: said, ...more });
    const mark = { cache_control: { type: 'ephemeral' } };
    const body = {
      system: [text('rules', mark)],
      messages: [
        { role: 'user', content: [text('a file', mark), text('a question')] },
        { role: 'assistant', content: [text('one'), text('two', mark), { type: 'tool_use', id: 't', name: 'n', input: {} }] },
        { role: 'user', content: [text('and now?')] },
      ],
    };
    const drawn = (marks) =>
      messagesOf(body, { marks }).map(({ content }) =>
        content.map((part) => part.value ?? part.name ?? `<${part.mimeType} ${new TextDecoder().decode(part.data)}>`),
      );
    const marked = '<cache_control ephemeral>';
    assert.deepEqual(drawn(true), [['rules', marked], ['a file', marked, 'a question'], ['one\n\ntwo', marked, 'n'], ['and now?']]);
    assert.deepEqual(drawn(false), [['rules'], ['a file', 'a question'], ['one\n\ntwo', 'n'], ['and now?']]);
    assert.equal(takesMarks({ id: 'x', family: 'claude-sonnet-5-5' }), true);
    assert.equal(takesMarks({ id: 'gpt-5.1', family: 'gpt-5.1' }), false);
    person.set('chat.cacheMarks', { globalValue: false });
    assert.equal(takesMarks({ id: 'x', family: 'claude-sonnet-5-5' }), false);
  });
  await steps.step('tool results are in a separate message', async () => {
    const { messagesOf } = await load('models');
    const result = { type: 'tool_result', tool_use_id: 't', content: 'found', cache_control: { type: 'ephemeral' } };
    const body = { messages: [{ role: 'user', content: [result, { type: 'text', text: 'and what is true right now' }] }] };
    const kinds = messagesOf(body, { marks: true }).map(({ content }) => content.map((part) => part.mimeType ?? part.constructor.name));
    assert.deepEqual(kinds, [['LanguageModelToolResultPart', 'cache_control'], ['LanguageModelTextPart']]);
  });
  await steps.step('a web page is converted to text', async () => {
    const { readable } = await load('pages');
    const page = `<html><head><title>A &amp; B</title><style>p {}</style></head><body><nav>Home</nav><h1>Top</h1>
      <p>One\n two <b>three</b>&#33;</p><ul><li>a</li><li>b</li></ul><pre>if x:\n  y</pre><script>no()</script><!-- no --></body></html>`;
    assert.deepEqual(readable(page), { title: 'A & B', content: '# Top\n\nOne two three!\n\n- a\n- b\n\nif x:\n  y' });
    assert.deepEqual(readable('no <b>end <script>of it'), { content: 'no end' });
  });
  await steps.step('the binary is the configured one, the bundled one, or the one in the PATH', async () => {
    const { findBinary } = await load('binary');
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strata-binary-'));
    const put = (name) => {
      const file = path.join(folder, name);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, '', { mode: 0o755 });
      return file;
    };
    const places = { configured: '', extension: path.join(folder, 'extension'), searchPath: `.:${path.join(folder, 'bin')}` };
    assert.throws(() => findBinary(places), /add the strata program to your PATH/);
    const inPath = put('bin/strata');
    assert.equal(findBinary(places), inPath);
    const bundled = put('extension/server/strata');
    assert.equal(findBinary(places), bundled);
    assert.throws(() => findBinary({ ...places, configured: path.join(folder, 'none') }), /strata\.path/);
    assert.equal(findBinary({ ...places, configured: inPath }), inPath);
    fs.rmSync(folder, { recursive: true });
  });
  await steps.step('a binary that pip or npm installed is found, and speaks the protocol', async () => {
    const { findBinary } = await load('binary');
    for (const manager of ['pip', 'npm']) {
      const bin = path.join(process.env.STRATA_INSTALLED, manager, 'bin');
      const command = findBinary({ configured: '', extension: os.tmpdir(), searchPath: bin });
      assert.equal(command, path.join(bin, 'strata'));
      const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { capabilities: {} } });
      const input = `Content-Length: ${message.length}\r\n\r\n${message}`;
      assert.match(spawnSync(command, ['serve'], { input }).stdout.toString(), /"executeCommandProvider"/);
    }
  });
  await steps.step('the package has its licenses, and no sources or tests', () => {
    const stage = process.env.STRATA_EXTENSION;
    const there = fs.readdirSync(stage).filter((name) => !name.startsWith('.')).sort();
    const expected = ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'THIRD-PARTY-NOTICES.txt', 'media', 'out', 'package.json', 'server'];
    assert.deepEqual(there, expected);
    const notices = fs.readFileSync(path.join(stage, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    assert.match(notices, /^vscode-languageclient .* \(MIT\)$/m);
    assert.match(notices, /^tokio .* \(MIT\)$/m);
    const bundled = fs.statSync(path.join(stage, 'server/strata'));
    assert.equal(bundled.size, fs.statSync(process.env.STRATA_BIN).size);
  });
  return steps;
}

/** Loads a source file of the client as a module, with a mock of the editor's API and additional exports. */
async function load(name, more = '') {
  const require = createRequire(path.join(client, 'package.json'));
  const { build } = require('esbuild');
  const outfile = path.join(path.dirname(process.env.STRATA_EXTENSION), 'parts', `${name}.mjs`);
  await build({
    stdin: { contents: `export * from './${name}';\n${more}`, resolveDir: path.join(client, 'src') },
    alias: { vscode: path.join(path.dirname(new URL(import.meta.url).pathname), 'settings_of_a_person.mjs') },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  return import(pathToFileURL(outfile).href);
}
