// Controls VS Code like a user: `vscode.mjs REPOSITORY PICTURE` asks `@strata` the QUESTIONS in the chat, opens the views, takes the
// screenshot, and prints its text. Called by vscode.py.

import fs from 'node:fs';
import path from 'node:path';

import { until } from '../editors/vscode/until.cjs';
import { openWorkbench } from '../editors/vscode/workbench.mjs';

const { STRATA_EXTENSION, STRATA_BIN, HOME, QUESTIONS, AUTO } = process.env;
const [repository, picture] = process.argv.slice(2);

const SIZE = { width: 1340, height: 740 };
const settings = {
  'strata.path': STRATA_BIN,
  'strata.context.auto_budget': Number(AUTO),
  'editor.minimap.enabled': false,
  'editor.fontSize': 13,
  'editor.occurrencesHighlight': 'off',
  'editor.stickyScroll.enabled': false,
  'breadcrumbs.enabled': false,
  'workbench.reduceMotion': 'on',
  'workbench.layoutControl.enabled': false,
  'window.commandCenter': false,
  // Tooltips cover the line below.
  'workbench.hover.delay': 60_000,
};

const bench = await openWorkbench({ extensions: [STRATA_EXTENSION], files: {}, folder: repository, settings });
const { page } = bench;
const box = page.locator('.interactive-session .interactive-input-part .monaco-editor').first();

/** Asks a question, and waits until the turn is recorded. */
async function ask(question, number) {
  await box.click();
  // The chat keeps the participant of the previous question.
  const typed = await box.locator('.view-lines').textContent();
  await page.keyboard.insertText(typed.includes('@strata') ? question : `@strata ${question}`);
  await page.keyboard.press('Enter');
  await bench.row('History').filter({ hasText: `${2 * number} messages` }).waitFor();
}

/** Opens a file by its path with Go to File. */
async function openFile(file) {
  const name = path.basename(file);
  await page.keyboard.press('Control+P');
  await page.locator('.quick-input-widget input[type=text]').fill(file);
  await page.locator('.quick-input-widget .monaco-list-row.focused').filter({ hasText: name }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.tab.active').filter({ hasText: name }).waitFor();
}

/** Moves the border between two parts. */
async function drag(border, by) {
  await page.mouse.move(border, 300);
  await page.mouse.down();
  await page.mouse.move(border + by, 300, { steps: 5 });
  await page.mouse.up();
}

/** Returns the text in the screenshot, except code, with one line for each row. */
async function read() {
  const trimmed = (text) => text.replaceAll('\u00a0', ' ').replace(/\s+/g, ' ').trim();
  const rows = await page.locator('.sidebar .pane-body .monaco-list-row').evaluateAll((found) =>
    found.map((row) => {
      const texts = [...row.querySelectorAll('.label-name, .label-description')].map((part) => part.textContent);
      const box = row.querySelector('.custom-view-tree-node-item-checkbox');
      const tick = box ? (box.getAttribute('aria-checked') === 'true' ? '[x] ' : '[ ] ') : '';
      return '  '.repeat(Number(row.getAttribute('aria-level')) - 1) + tick + texts.join(' ');
    }),
  );
  const meter = await page.locator('.statusbar-item').filter({ hasText: ' / ' }).first().textContent();
  const preview = await bench.preview();
  const chat = await page.locator('.interactive-request .rendered-markdown, .interactive-response .rendered-markdown').allTextContents();
  return [
    '# Context',
    ...rows.map((row) => row.replaceAll('\u00a0', ' ')),
    '# Meter',
    trimmed(meter),
    '# The end of the prompt',
    ...preview.slice(preview.lastIndexOf('<!-- cache breakpoint')).split('\n').filter(Boolean),
    '# Chat',
    // A question that sticks to the top of the chat is listed twice.
    ...new Set(chat.map(trimmed)),
  ].join('\n');
}

try {
  fs.cpSync(path.join(HOME, '.config'), bench.env.XDG_CONFIG_HOME, { recursive: true });
  await page.setViewportSize(SIZE);
  await bench.open();
  await page.locator('.statusbar-item').filter({ hasText: ' / ' }).first().waitFor();
  await bench.command('Preferences: Toggle between Light/Dark Themes');
  await page.locator('.monaco-workbench.vs-dark').waitFor();
  await openFile('shop/checkout.py');
  await bench.typeAtEnd('# TODO: test this with a slow bank');
  await bench.showStrata();
  await bench.tick('checkout.py', true);
  await bench.row('Active').waitFor();
  await bench.command('Chat: Open Chat');
  await box.waitFor();
  await page.locator('.interactive-input-part').filter({ hasText: 'claude' }).first().waitFor();
  const side = await page.locator('.part.sidebar').boundingBox();
  await drag(side.x + side.width, 110);
  const edge = await page.locator('.part.auxiliarybar').boundingBox();
  await drag(edge.x - 1, -90);
  for (const [index, question] of QUESTIONS.split('\n').entries()) {
    await ask(question, index + 1);
  }
  await bench.command('Strata: Preview Prompt');
  await until(async () => (await bench.preview()).includes('[1] System'), 'the prompt');
  await bench.command('View: Move Editor into Left Group');
  await page.keyboard.press('Control+End');
  // Syntax highlighting appears a moment later.
  const code = page.locator('[data-uri^="strata:"] .view-line').filter({ hasText: 'class Checkout' });
  await until(async () => (await code.locator('span > span').count()) > 1, 'syntax highlighting');
  // Wait for animations of the workbench to end.
  await page.waitForTimeout(1000);
  await page.screenshot({ path: picture });
  console.log(await read());
} catch (error) {
  await bench.shot('failed-pictures').catch(() => undefined);
  throw error;
} finally {
  await bench.close();
}
