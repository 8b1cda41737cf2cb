// Tests that an agent sees what is typed in VS Code, through the official client of the Model Context Protocol.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';

import { until } from './until.cjs';
import { openWorkbench, Steps } from './workbench.mjs';

/** Returns the numbers of passed and failed steps. */
export async function checkAgent(files) {
  const bench = await openWorkbench({ vsix: process.env.STRATA_VSIX, files });
  const { page } = bench;
  const keys = page.keyboard;
  const steps = new Steps('agent', bench.shot);
  // Each step continues from the state of the previous one.
  const step = (name, run) =>
    steps.step(name, () => (steps.failed > 0 ? Promise.reject(new Error('skipped after a failure')) : run()));
  const onDisk = (name) => fs.readFileSync(path.join(bench.workspace, name), 'utf8');
  let agent;
  /** Waits until the agent reads a text that contains a phrase, from a buffer or from the disk. */
  const reads = async (name, phrase, source) => {
    let reply;
    const isRead = async () => {
      reply = await agent.call('files_read', { path: name });
      return reply.source === source && reply.text.includes(phrase);
    };
    await until(isRead, `the text with ${phrase} from the ${source}`).catch((error) => {
      throw new Error(JSON.stringify(reply), { cause: error });
    });
    return reply;
  };
  const readsUnsaved = async (name, phrase) => {
    const reply = await reads(name, phrase, 'buffer');
    const [unsaved] = reply.freshness.unsaved;
    assert.deepEqual([unsaved.path, unsaved.version], [name, reply.version]);
    assert.match(unsaved.editor, /code/i);
    assert.ok(!onDisk(name).includes(phrase), 'the text is not on disk');
    return reply;
  };
  const readsDisk = async (name) => {
    const reply = await reads(name, '', 'disk');
    assert.equal(reply.text, onDisk(name));
    assert.equal(reply.freshness?.unsaved, undefined);
    return reply;
  };
  try {
    await step('an agent sees that VS Code has the folder open', async () => {
      await bench.open();
      await bench.openFile('greet.py');
      await page.locator('.statusbar-item').filter({ hasText: ' / ' }).first().waitFor({ timeout: 30_000 });
      agent = new Agent(bench);
      assert.match(await agent.instructions, /\(view: editor, no unsaved buffers\)/);
      await readsDisk('greet.py');
    });
    await step('the agent reads what is typed, with its version', async () => {
      await bench.typeAtEnd('# typed');
      const { version } = await readsUnsaved('greet.py', '# typed');
      await keys.type(' again');
      assert.ok((await readsUnsaved('greet.py', '# typed again')).version > version);
    });
    await step('the agent reads the disk once the text is undone', async () => {
      await until(async () => {
        await keys.press('Control+z');
        return (await page.locator('.tab.active.dirty').count()) === 0;
      }, 'the end of undoing');
      await readsDisk('greet.py');
    });
    await step('the agent reads the disk once the text is saved', async () => {
      await bench.typeAtEnd('# saved');
      await readsUnsaved('greet.py', '# saved');
      await keys.press('Control+s');
      await until(() => onDisk('greet.py').includes('# saved'), 'the save');
      await reads('greet.py', '# saved', 'disk');
      await readsDisk('greet.py');
    });
    await step('the agent reads the disk after the file was closed without saving', async () => {
      await bench.typeAtEnd('# discarded');
      await readsUnsaved('greet.py', '# discarded');
      await bench.command('View: Close Editor');
      await page.locator('.monaco-dialog-box .monaco-button').filter({ hasText: /Don.t Save/ }).click();
      await page.locator('.tab').filter({ hasText: 'greet.py' }).waitFor({ state: 'detached' });
      await readsDisk('greet.py');
      assert.doesNotMatch(onDisk('greet.py'), /discarded/);
    });
    await step('the agent reads a renamed file under its new name, with its unsaved text', async () => {
      await bench.openFile('greet.py');
      await bench.typeAtEnd('# before');
      await readsUnsaved('greet.py', '# before');
      const row = page.locator('.explorer-folders-view .monaco-list-row').filter({ hasText: 'greet.py' }).first();
      await row.click();
      await keys.press('F2');
      const name = page.locator('.explorer-folders-view input[type=text]');
      await name.fill('hello.py');
      await name.press('Enter');
      await until(() => fs.existsSync(path.join(bench.workspace, 'hello.py')), 'the new name');
      await readsUnsaved('hello.py', '# before');
      const gone = await agent.call('files_read', { path: 'greet.py' });
      assert.match(String(gone), /greet\.py/);
      await bench.typeAtEnd(' and after');
      await readsUnsaved('hello.py', '# before and after');
    });
    await step('the agent reads the disk after VS Code was killed', async () => {
      killEditor(bench);
      await readsDisk('hello.py');
      assert.doesNotMatch(onDisk('hello.py'), /before/);
      await agent.end();
    });
  } finally {
    agent?.process.kill();
    await bench.close();
  }
  return steps;
}

/** An agent in a process of its own, see `agent.py`. */
class Agent {
  constructor({ env, workspace }) {
    const program = path.join(import.meta.dirname, '../agent.py');
    const stdio = ['pipe', 'pipe', 'inherit'];
    this.process = spawn(process.env.MCP_PYTHON, [program, process.env.STRATA_BIN, workspace], { env, stdio });
    this.lines = readline.createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
    this.instructions = this.line();
  }

  async line() {
    return JSON.parse((await this.lines.next()).value);
  }

  /** Returns the structured reply of a tool, or the text of its error. */
  call(tool, values) {
    this.process.stdin.write(`${JSON.stringify([tool, values])}\n`);
    return this.line();
  }

  async end() {
    const ended = new Promise((done) => this.process.once('exit', done));
    this.process.stdin.end();
    assert.equal(await ended, 0);
  }
}

/** Kills all processes of VS Code, but not its language server, which must notice. */
function killEditor({ group }) {
  const processes = execFileSync('ps', ['-eo', 'pgid=,pid=']).toString().trim().split('\n');
  const members = processes.map((line) => line.trim().split(/\s+/).map(Number)).filter(([id]) => id === group);
  const isServer = (pid) => path.basename(fs.readlinkSync(`/proc/${pid}/exe`)) === 'strata';
  const editor = members.map(([, pid]) => pid).filter((pid) => !isServer(pid));
  assert.ok(editor.length < members.length, 'the language server runs');
  editor.forEach((pid) => process.kill(pid, 'SIGKILL'));
}
