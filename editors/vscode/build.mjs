// Builds the extension into target/editors/vscode/extension, with the binary when one is named:
//
//   node build.mjs           the unpacked extension
//   node build.mjs --vsix    also target/editors/vscode/strata-<platform>.vsix
//
// STRATA_BIN is the binary to bundle; without it the extension looks for `strata` in the PATH.

import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const root = path.join(here, '../..');
const target = path.join(root, 'target/editors/vscode');
const stage = path.join(target, 'extension');

/** Licences that ask for no more than a notice. */
const ALLOWED = new Set(['MIT', 'ISC', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD']);

fs.rmSync(stage, { recursive: true, force: true });
fs.mkdirSync(stage, { recursive: true });

const { metafile } = await build({
  entryPoints: [path.join(here, 'src/extension.ts')],
  outfile: path.join(stage, 'out/extension.js'),
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  external: ['vscode'],
  legalComments: 'none',
  metafile: true,
  absWorkingDir: here,
  logLevel: 'warning',
});

const { devDependencies, scripts, ...manifest } = JSON.parse(fs.readFileSync(path.join(here, 'package.json'), 'utf8'));
fs.writeFileSync(path.join(stage, 'package.json'), JSON.stringify(manifest, null, 2));
fs.writeFileSync(path.join(stage, 'THIRD-PARTY-NOTICES.txt'), notices(Object.keys(metafile.inputs)));
fs.copyFileSync(path.join(here, 'README.md'), path.join(stage, 'README.md'));
for (const name of ['LICENSE-MIT', 'LICENSE-APACHE']) {
  fs.copyFileSync(path.join(root, name), path.join(stage, name));
}
fs.cpSync(path.join(here, 'media'), path.join(stage, 'media'), { recursive: true });

const binary = process.env.STRATA_BIN;
if (binary) {
  fs.mkdirSync(path.join(stage, 'server'));
  const name = process.platform === 'win32' ? 'strata.exe' : 'strata';
  fs.copyFileSync(binary, path.join(stage, 'server', name));
  fs.chmodSync(path.join(stage, 'server', name), 0o755);
}

// All that is staged is wanted; without this file the packager warns that nothing was left out.
fs.writeFileSync(path.join(stage, '.vscodeignore'), '');

if (process.argv.includes('--vsix')) {
  const platform = `${process.platform}-${process.arch}`;
  const file = path.join(target, `strata-${binary ? platform : 'universal'}.vsix`);
  const args = ['package', '--no-dependencies', '--allow-missing-repository', '--skip-license', '--no-rewrite-relative-links', '--out', file];
  execFileSync(path.join(here, 'node_modules/.bin/vsce'), binary ? [...args, '--target', platform] : args, {
    cwd: stage,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  console.log(path.relative(root, file));
} else {
  console.log(path.relative(root, stage));
}

/** The licences of the packages that `inputs` belong to. Throws when one of them is not allowed. */
function notices(inputs) {
  const packages = new Set(
    inputs.flatMap((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []),
  );
  return [...packages].sort().map(notice).join('\n\n');
}

function notice(folder) {
  const { name, version, license } = JSON.parse(fs.readFileSync(path.join(here, folder, 'package.json'), 'utf8'));
  if (!ALLOWED.has(license)) {
    throw new Error(`${name} ${version} has the licence ${license}, which is not one of ${[...ALLOWED].join(', ')}`);
  }
  const file = fs.readdirSync(path.join(here, folder)).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file ? fs.readFileSync(path.join(here, folder, file), 'utf8').trim() : '';
  return `${name} ${version} (${license})\n\n${text}\n\n${'-'.repeat(72)}`;
}
