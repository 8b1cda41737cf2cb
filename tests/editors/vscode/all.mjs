// Runs all parts of this suite, or only the given ones: `client`, `api`, `ui`, `agent`, `picture`.

import { execFileSync } from 'node:child_process';
import path from 'node:path';

import { checkAgent } from './agent.mjs';
import { runInExtensionHost } from './api.mjs';
import { checkClient } from './client.mjs';
import { runAtTheScreen } from './ui.mjs';
import { Steps } from './workbench.mjs';

const FILES = {
  'notes.md': '# Notes\n\nSome text.\n',
  'greet.py': 'from src.util import double\n\n\ndef greet(name):\n    return f"Hello, {name}, {double(21)} times"\n',
  'src/main.py': 'from util import double\n\n\ndef main():\n    print(double(21))\n',
  'src/util.py': 'def double(number):\n    return number * 2\n\n\nclass Counter:\n    def count(self):\n        return 1\n',
  'src/secret.env': 'TOKEN=nothing\n',
};

const parts = { client: checkClient, api: runInExtensionHost, ui: runAtTheScreen, agent: checkAgent, picture: checkPicture };
const wanted = process.argv.slice(2);
const total = { passed: 0, failed: 0 };
for (const [name, run] of Object.entries(parts)) {
  if (wanted.length === 0 || wanted.includes(name)) {
    console.log(`-- ${name}`);
    const { passed, failed } = await run(FILES);
    total.passed += passed;
    total.failed += failed;
  }
}
console.log(`vscode: ${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;

/** Checks that the screenshot in README.md shows the current state of VS Code. */
async function checkPicture() {
  const steps = new Steps('picture');
  const program = path.join(import.meta.dirname, '../../pictures/vscode.py');
  await steps.step('the screenshot in README.md is up to date', () => {
    execFileSync('python3', [program, 'check'], { stdio: 'inherit' });
  });
  return steps;
}
