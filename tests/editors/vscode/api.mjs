// Runs the tests in `api/` inside VS Code's extension host, like `@vscode/test-electron` on a desktop.

import path from 'node:path';

import { openWorkbench } from './workbench.mjs';

// Only reached if the extension host hangs: on a busy machine, the tests take three times as long as the usual minute.
const PATIENCE_MS = 300_000;

/** Returns the numbers of passed and failed tests. */
export async function runInExtensionHost(files) {
  const bench = await openWorkbench({ driven: true, vsix: process.env.STRATA_VSIX, files });
  const tests = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), 'api');
  let result;
  try {
    const ended = new Promise((done) => bench.page.exposeFunction('codeAutomationExit', done));
    await bench.page.exposeFunction('codeAutomationLog', (_kind, words) => {
      const text = words.join(' ');
      const [, passed, failed] = /^result (\d+) (\d+)/.exec(text) ?? [];
      if (passed !== undefined) {
        result = { passed: Number(passed), failed: Number(failed) };
      } else if (text.startsWith('picture ')) {
        bench.shot(text.slice('picture '.length)).catch(() => undefined);
      } else if (/^(ok |FAIL)/.test(text) || process.env.STRATA_VERBOSE) {
        console.log(text);
      }
    });
    const remote = (file) => `vscode-remote://127.0.0.1:${bench.port}${file}`;
    const payload = [
      ['extensionDevelopmentPath', remote(tests)],
      ['extensionTestsPath', remote(path.join(tests, 'index.cjs'))],
    ];
    await bench.open(`&payload=${encodeURIComponent(JSON.stringify(payload))}`);
    const patience = new Promise((done) => setTimeout(done, PATIENCE_MS, 'no answer').unref());
    const code = await Promise.race([ended, patience]);
    if (result === undefined) {
      await bench.shot('failed-api');
      console.log(`FAIL  the extension host ended without a result: ${code}`);
    }
  } finally {
    await bench.close();
  }
  return result ?? { passed: 0, failed: 1 };
}
