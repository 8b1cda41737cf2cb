// Plays the first minute after the installation of the extension: opens a file, selects it, and previews the prompt.
// Called by ../first_prompt. Prints the time of each step.

import { until } from './until.cjs';
import { openWorkbench } from './workbench.mjs';

const { STRATA_VSIX, STRATA_WORKSPACE } = process.env;
let last = performance.now();
const say = (what) => {
  const now = performance.now();
  console.log(`  ${what.padEnd(56)} ${((now - last) / 1000).toFixed(1).padStart(7)} s`);
  last = now;
};

const bench = await openWorkbench({ vsix: STRATA_VSIX, files: {}, folder: STRATA_WORKSPACE });
try {
  say('extension installed and VS Code started');
  await bench.open();
  await bench.openFile('README.md');
  say('file opened');
  await bench.showStrata();
  await bench.tick('README.md', true);
  await bench.row('Active').waitFor();
  say('file selected in the Strata view');
  await bench.command('Strata: Preview Prompt');
  await until(async () => (await bench.preview()).includes('[1] System'), 'the prompt');
  say('prompt shown');
  await bench.shot('first-prompt');
} finally {
  await bench.close();
}
