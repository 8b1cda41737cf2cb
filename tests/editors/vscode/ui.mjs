// Tests the extension like a user at the screen, only through the page of the editor.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

import { until } from './until.cjs';
import { openWorkbench, Steps } from './workbench.mjs';

const TURNS = 24;

/** Returns the numbers of passed and failed steps. */
export async function runAtTheScreen(files) {
  const bench = await openWorkbench({ vsix: process.env.STRATA_VSIX, files });
  const { page } = bench;
  const steps = new Steps('ui', bench.shot);
  // Each step continues from the state of the previous one.
  const step = (name, run) =>
    steps.step(name, () => (steps.failed > 0 ? Promise.reject(new Error('skipped after a failure')) : run()));
  const box = (name) => bench.row(name).locator('.custom-view-tree-node-item-checkbox');
  const meter = page.locator('.statusbar-item').filter({ hasText: ' / ' });
  const endOfPreview = async () => {
    await bench.openTab('Prompt');
    await page.keyboard.press('Control+End');
    return bench.preview();
  };
  try {
    await step('a file is opened and edited, but not saved', async () => {
      importConversation(bench);
      await bench.open();
      await bench.openFile('greet.py');
      await bench.typeAtEnd('# typed and not saved');
      await meter.first().waitFor({ timeout: 30_000 });
    });
    await step('the file is selected in the Strata view', async () => {
      await bench.showStrata();
      await bench.row('greet.py').waitFor();
      await bench.tick('greet.py', true);
      await bench.row('Active').waitFor();
    });
    await step('the preview shows the typed text, which is not on disk', async () => {
      await bench.command('Strata: Preview Prompt');
      await page.locator('.tab.active').filter({ hasText: 'Prompt' }).waitFor();
      await until(async () => (await bench.preview()).includes('[1] System'), 'the prompt');
      await bench.shot('opened');
      await until(async () => (await endOfPreview()).includes('# typed and not saved'), 'the typed text in the preview');
      assert.doesNotMatch(fs.readFileSync(path.join(bench.workspace, 'greet.py'), 'utf8'), /typed/);
    });
    await step('a deselected file is not in the preview', async () => {
      await bench.tick('greet.py', false);
      await until(async () => !(await endOfPreview()).includes('# typed and not saved'), 'a preview without the typed text');
      await bench.tick('greet.py', true);
      await until(async () => (await endOfPreview()).includes('# typed and not saved'), 'the typed text again');
    });
    await step('a file whose name suggests secrets is added only after confirmation', async () => {
      await bench.command('Strata: Add Files by Pattern');
      const input = page.locator('.quick-input-widget input[placeholder^="src/"]');
      await input.fill('src/secret.env');
      await input.press('Enter');
      const dialog = page.locator('.monaco-dialog-box');
      await dialog.filter({ hasText: 'its name suggests secrets' }).waitFor();
      await bench.shot('secret');
      await dialog.locator('.monaco-button').filter({ hasText: 'Add' }).click();
      await bench.row('secret.env').waitFor();
      await bench.tick('secret.env', false);
      await bench.row('secret.env').waitFor({ state: 'detached' });
    });
    await step('a web page is added by its address', async () => {
      const html = '<title>The manual</title><nav>Home</nav><h1>Turning it on</h1><p>Press the <b>green</b> button.</p>';
      const site = http.createServer((_, reply) => reply.setHeader('content-type', 'text/html').end(html));
      await new Promise((listening) => site.listen(0, '127.0.0.1', listening));
      const input = page.locator('.quick-input-widget input[placeholder^="https://"]');
      await bench.command('Strata: Add Web Page');
      await input.fill('manual');
      await page.locator('.quick-input-message').filter({ hasText: 'http:// or https://' }).waitFor();
      await input.fill(`http://127.0.0.1:${site.address().port}/manual`);
      await input.press('Enter');
      await bench.toast(/Added "The manual": \d+ tokens/);
      await bench.row('The manual').waitFor();
      await until(async () => (await endOfPreview()).includes('Press the green button.'), 'the page in the preview');
      await bench.shot('web-page');
      site.close();
      await bench.act('The manual', 'Remove Web Page');
      await bench.row('The manual').waitFor({ state: 'detached' });
    });
    await step('an earlier conversation is opened and compacted', async () => {
      await bench.command('Strata: Open Conversation');
      await page.locator('.quick-input-widget .monaco-list-row').filter({ hasText: 'Recorded' }).click();
      await bench.row('History').filter({ hasText: `${2 * TURNS} messages` }).waitFor();
      await bench.command('Strata: Compact Conversation');
      const said = await bench.toast(/Conversation compacted/);
      const [, before, after] = /: (\d+) messages became (\d+),/.exec(said);
      assert.equal(Number(before), 2 * TURNS);
      assert.ok(Number(after) < 2 * TURNS, said);
      await bench.row('History').filter({ hasText: `${after} messages` }).waitFor();
      await page.waitForTimeout(800);
      await bench.shot('compacted');
    });
    await step('the compaction view shows the compaction, and the meter how close the next one is', async () => {
      await meter.first().click();
      await page.locator('.quick-input-widget .monaco-list-row').filter({ hasText: 'Show Compaction Status' }).click();
      await bench.row('Last compaction').filter({ hasText: /freed [\d.k]+/ }).waitFor();
      await bench.row('Profile').filter({ hasText: 'topic' }).waitFor();
      await bench.row('Threshold').filter({ hasText: /[\d.]+ % of [\d.k]+ tokens of the conversation/ }).waitFor();
      await bench.row('Request limit').waitFor();
      await meter.first().hover();
      await page.locator('.workbench-hover-container').filter({ hasText: /Next compaction[^]*history used before the next compaction: \d+ %/ }).waitFor();
      await page.waitForTimeout(600);
      await bench.shot('compaction-view');
    });
    await step('the compaction is undone', async () => {
      await bench.act('Last compaction', 'Undo');
      await bench.row('History').filter({ hasText: `${2 * TURNS} messages` }).waitFor();
      await bench.row('Last compaction').filter({ hasText: 'none' }).waitFor();
      await page.locator('.pane-header').filter({ hasText: 'Compaction' }).click();
    });
    await step('a killed server is restarted with its session, and buffers are in sync', async () => {
      await page.keyboard.press('Escape');
      await bench.tick('greet.py', true);
      // The checkbox changes before the server receives the selection.
      await until(async () => (await endOfPreview()).includes('# typed and not saved'), 'the ticked file in the preview');
      await bench.openTab('greet.py');
      const [killed] = servers(bench);
      process.kill(killed, 'SIGKILL');
      await bench.typeAtEnd(' # after the end');
      await until(async () => (await bench.shown()).includes('saved # after the end'), 'the typed text in its editor');
      await until(() => servers(bench).some((pid) => pid !== killed), 'another server');
      await bench.row('History').filter({ hasText: `${2 * TURNS} messages` }).waitFor();
      await until(async () => (await box('greet.py').getAttribute('aria-checked')) === 'true', 'the tick');
      await until(async () => (await endOfPreview()).includes('saved # after the end'), 'the text typed in the meantime, in the preview');
    });
    await step('screenshots in a light and a dark theme', () => takePictures(bench));
    await step('the meter shows that the store cannot be opened', async () => {
      fs.rmSync(bench.env.STRATA_STATE_DIR, { recursive: true });
      fs.writeFileSync(bench.env.STRATA_STATE_DIR, 'no folder');
      await bench.command('Strata: Restart Server');
      await bench.showStrata();
      // The new server has a new session, in which no file is selected.
      await until(async () => (await box('greet.py').getAttribute('aria-checked')) === 'false', 'the new session');
      await bench.tick('greet.py', true);
      await meter.filter({ hasText: 'not saved' }).waitFor();
      await bench.toast(/conversations are not saved/);
      await bench.shot('not-saved');
    });
  } finally {
    await bench.close();
  }
  return steps;
}

async function takePictures(bench) {
  const { page } = bench;
  const meter = page.locator('.statusbar-item').filter({ hasText: ' / ' }).first();
  for (const theme of ['light', 'dark']) {
    const themed = page.locator(theme === 'dark' ? '.monaco-workbench.vs-dark' : '.monaco-workbench.vs');
    if (!(await themed.isVisible())) {
      await bench.command('Preferences: Toggle between Light/Dark Themes');
      await themed.waitFor();
    }
    const picture = async (name) => {
      // Wait for animations of the workbench to end.
      await page.waitForTimeout(600);
      await bench.shot(`${name}-${theme}`);
    };
    await bench.showStrata();
    await bench.openTab('Prompt');
    await picture('preview');
    await meter.click();
    await page.locator('.quick-input-widget .monaco-list-row').filter({ hasText: 'Copy Prompt' }).waitFor();
    await picture('actions');
    await page.keyboard.press('Escape');
    for (const title of ['Sessions', 'Memory']) {
      await page.locator('.pane-header').filter({ hasText: title }).click();
    }
    await bench.row('History').click();
    await meter.hover();
    await page.locator('.workbench-hover-container').first().waitFor();
    await picture('trees');
    await bench.row('History').click();
    for (const title of ['Sessions', 'Memory']) {
      await page.locator('.pane-header').filter({ hasText: title }).click();
    }
    await page.keyboard.press('Control+Shift+E');
    await page.locator('.explorer-folders-view .monaco-list-row').filter({ hasText: 'greet.py' }).click({ button: 'right' });
    await page.locator('.context-view .action-label').filter({ hasText: 'Add to Model Context' }).waitFor();
    await picture('explorer');
    await page.keyboard.press('Escape');
    await bench.command('Strata: Open Settings');
    await page.locator('.settings-editor').waitFor();
    await picture('settings');
    await page.keyboard.press('Escape');
    await page.locator('.settings-editor').waitFor({ state: 'detached' });
    await bench.command('Strata: Open Walkthrough');
    await page.locator('.gettingStartedContainer').first().waitFor();
    // The text next to the steps takes the focus when it appears, even from the command palette.
    await until(async () => {
      const found = page.frames().map((frame) => frame.getByText('Add files to the prompt').count().catch(() => 0));
      return (await Promise.all(found)).some((count) => count > 0);
    }, 'the text next to the steps');
    await bench.command('View: Toggle Maximize Editor Group');
    await picture('walkthrough');
    await bench.command('View: Toggle Maximize Editor Group');
  }
}

/** Imports an earlier conversation into the store of this workspace with the command line. */
function importConversation(bench) {
  const messages = Array.from({ length: TURNS }, (_, turn) => [
    { role: 'user', content: `Recorded question ${turn}: change greet.py. ${'word '.repeat(150)}` },
    { role: 'assistant', content: `Recorded answer ${turn}. ${'word '.repeat(150)}` },
  ]).flat();
  const file = path.join(bench.home, 'recorded.json');
  fs.writeFileSync(file, JSON.stringify({ messages }));
  const args = ['sessions', 'import', file, '--repo', bench.workspace];
  execFileSync(process.env.STRATA_BIN, args, { env: bench.env, stdio: 'ignore' });
}

/** Returns the process ids of the language servers that this VS Code started. */
function servers(bench) {
  return execFileSync('ps', ['-eo', 'pid=,pgid=,args='])
    .toString()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, group, ...args]) => Number(group) === bench.group && /strata serve$/.test(args.join(' ')))
    .map(([pid]) => Number(pid));
}
