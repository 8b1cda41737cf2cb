// A user of VS Code, who selects files, types into them without saving, and asks `@strata` or another chat. Reads actions from standard
// input, one JSON object per line, and writes a line after each. `vscode.py` waits for the answers.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';

import { until } from '../editors/vscode/until.cjs';
import { openWorkbench } from '../editors/vscode/workbench.mjs';

const { STRATA_EXTENSION, STAND_IN_MODEL, STAND_IN_KIND, STAND_IN_URL, STRATA_BIN, REPO } = process.env;

const settings = {
  'strata.path': STRATA_BIN,
  'editor.autoIndent': 'none',
  'editor.autoClosingQuotes': 'never',
  'editor.parameterHints.enabled': false,
  'editor.minimap.enabled': false,
  'editor.occurrencesHighlight': 'off',
  'editor.stickyScroll.enabled': false,
  'breadcrumbs.enabled': false,
  'workbench.reduceMotion': 'on',
  // On a busy machine, tooltips cover the line below for a long time.
  'workbench.hover.delay': 60_000,
};

// Whether Strata itself provides the model.
const isSource = STAND_IN_KIND === 'strata' || STAND_IN_KIND === 'other';
const participant = STAND_IN_KIND === 'other' ? '@other' : '@strata';
const besides = { strata: [], other: ['other-chat'] }[STAND_IN_KIND] ?? ['chat-provider'];
const extensions = [STRATA_EXTENSION, ...besides.map((name) => path.join(import.meta.dirname, name))];
const bench = await openWorkbench({ extensions, files: {}, folder: REPO, settings });
if (isSource) {
  const folder = path.join(bench.env.XDG_CONFIG_HOME, 'strata');
  fs.mkdirSync(folder, { recursive: true });
  const provider = `[provider]\nname = "anthropic"\nbase_url = "${STAND_IN_URL}"\nmodel = "${STAND_IN_MODEL}"\n`;
  fs.writeFileSync(path.join(folder, 'strata.toml'), provider);
}
const { page } = bench;
const box = page.locator('.interactive-session .interactive-input-part .monaco-editor').first();

/** Switches to the tab of a file, or opens the file with Go to File. */
async function open(file) {
  const name = file.split('/').at(-1);
  const tab = page.locator('.tabs-container .tab').filter({ hasText: name });
  if ((await tab.count()) === 0) {
    const input = page.locator('.quick-input-widget input[type=text]');
    const found = page.locator('.quick-input-widget .monaco-list-row.focused').filter({ hasText: name });
    await page.keyboard.press('Control+P');
    await input.fill(file);
    // Recently opened files are listed until the search has finished.
    await found.filter({ hasText: path.dirname(file) }).waitFor();
    await page.keyboard.press('Enter');
  }
  await tab.first().click();
  await page.locator('.tab.active').filter({ hasText: name }).waitFor();
  await page.locator('.editor-group-container.active .view-lines').first().click();
}

async function select(pattern) {
  await bench.command('Strata: Add Files by Pattern');
  const input = page.locator('.quick-input-widget input[placeholder^="src/"]');
  await input.fill(pattern);
  await input.press('Enter');
}

/** Waits until the last answer visibly contains a text. */
async function see(text) {
  await page.locator('.interactive-session .interactive-response').last().getByText(text).last().waitFor();
}

async function ask(question) {
  await box.click();
  // The chat keeps the participant of the previous question.
  const asked = await box.locator('.view-lines').textContent();
  await page.keyboard.insertText(asked.includes(participant) ? question : `${participant} ${question}`);
  await page.keyboard.press('Enter');
}

/** Starts another chat in the same view. */
async function startChat() {
  await page.locator('.auxiliarybar .action-label[aria-label^="New Chat"]').first().click();
  await page.locator('.interactive-session .interactive-request').first().waitFor({ state: 'detached' });
  await box.waitFor();
}

/** Repeats the last question with the button below its answer. */
async function retry() {
  const button = page.locator('.interactive-session .interactive-response').last().locator('.codicon-refresh');
  await button.last().click();
}

/** Edits a question in the chat. */
async function edit(said, question) {
  await page.locator('.interactive-session .interactive-request').filter({ hasText: said }).locator('.rendered-markdown, .value').first().click();
  const input = page.locator('.interactive-session').locator('.interactive-request, .interactive-item-container.editing').locator('.monaco-editor').first();
  await input.waitFor();
  await input.click();
  await page.keyboard.press('Control+A');
  await page.keyboard.type(`@strata ${question}`);
  await page.keyboard.press('Enter');
}

/** Waits until exactly these questions are visible. */
async function shows(questions) {
  // The list contains only visible questions, and one more at its top.
  await page.setViewportSize({ width: 1360, height: 1800 });
  await until(async () => {
    const texts = (await page.locator('.interactive-session .interactive-request').allTextContents()).join('\n');
    return String([...new Set(texts.match(/Say \w+\./g))].sort()) === String([...questions].sort());
  }, `the questions ${questions}`);
}

try {
  await bench.open();
  await page.locator('.statusbar-item').filter({ hasText: ' / ' }).first().waitFor({ timeout: 60_000 });
  await bench.command('Chat: Open Chat');
  await box.waitFor();
  // Questions cannot be asked before the models are available.
  await page.locator('.interactive-input-part').filter({ hasText: STAND_IN_MODEL.slice(0, 8) }).first().waitFor();
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const turn = JSON.parse(line);
    if (turn.select) {
      await select(turn.select);
    } else if (turn.unfold) {
      await page.locator('.interactive-session .interactive-response').last().getByText(turn.unfold).click();
    } else if (turn.see) {
      await see(turn.see);
      await page.waitForTimeout(600);
      await bench.shot(turn.shot);
    } else if (turn.noToast) {
      const texts = await page.locator('.notification-list-item-message').allTextContents();
      assert.ok(!texts.some((text) => text.includes(turn.noToast)), `unexpected message: ${texts}`);
    } else if (turn.shows) {
      await shows(turn.shows);
    } else if (turn.newChat) {
      await startChat();
    } else if (turn.retry) {
      await retry();
    } else if (turn.cancel) {
      await page.locator('.interactive-session .codicon-stop-circle').first().click();
    } else if (turn.edit) {
      await edit(turn.edit, turn.question);
    } else if (turn.row) {
      await bench.showStrata();
      await bench.row(turn.row).waitFor();
      if (turn.action) {
        await bench.act(turn.row, turn.action);
      }
      if (turn.shot) {
        await page.waitForTimeout(600);
        await bench.shot(turn.shot);
      }
    } else if (turn.gone) {
      await bench.row(turn.gone).waitFor({ state: 'detached' });
    } else if (turn.press) {
      await page.locator('.interactive-session .monaco-button').filter({ hasText: turn.press }).last().click();
      await bench.toast(new RegExp(turn.toast));
    } else if (turn.theme) {
      await bench.command('Preferences: Toggle between Light/Dark Themes');
      await page.locator(turn.theme === 'dark' ? '.monaco-workbench.vs-dark' : '.monaco-workbench.vs').waitFor();
      await page.waitForTimeout(600);
      await bench.shot(turn.shot);
    } else if (turn.shot) {
      await bench.shot(turn.shot);
    } else {
      if (turn.path) {
        await open(turn.path);
        await page.keyboard.press(turn.at_top ? 'Control+Home' : 'Control+End');
        // At once, since the editor takes as long for a text as for a single key.
        await page.keyboard.insertText(turn.line);
        await page.keyboard.press('Enter');
      }
      await ask(turn.question);
    }
    console.log('done');
  }
} catch (error) {
  await bench.shot('failed-clients').catch(() => undefined);
  throw error;
} finally {
  await bench.close();
}
