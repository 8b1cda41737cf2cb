// Builds the extension into target/editors/vscode/extension:
//
//   node build.mjs           the unpacked extension
//   node build.mjs --vsix    also target/editors/vscode/strata-<platform>.vsix
//
// STRATA_BIN is the binary to bundle. Without it, the extension looks for `strata` in the PATH. STRATA_TARGET is the Rust target triple
// of the binary, and defaults to this platform.

import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { partsOfTheServer, notices } from '../../.ci/notices.mjs';

const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const root = path.join(here, '../..');
const target = path.join(root, 'target/editors/vscode');
const stage = path.join(target, 'extension');

/** Licences that require nothing but a notice. */
const ALLOWED = new Set(['MIT', 'ISC', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD']);

/** VS Code's names for the platforms that the server is built for. */
const PLATFORMS = {
  'x86_64-unknown-linux-gnu': 'linux-x64',
  'aarch64-unknown-linux-gnu': 'linux-arm64',
  'x86_64-unknown-linux-musl': 'alpine-x64',
  'aarch64-apple-darwin': 'darwin-arm64',
  'x86_64-apple-darwin': 'darwin-x64',
  'x86_64-pc-windows-msvc': 'win32-x64',
  'x86_64-pc-windows-gnu': 'win32-x64',
};

const triple = process.env.STRATA_TARGET;
const platform = triple ? PLATFORMS[triple] : `${process.platform}-${process.arch}`;
if (!platform) {
  throw new Error(`STRATA_TARGET: unknown platform ${triple}; expected one of ${Object.keys(PLATFORMS).join(', ')}`);
}

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
fs.copyFileSync(path.join(here, 'README.md'), path.join(stage, 'README.md'));
for (const name of ['LICENSE-MIT', 'LICENSE-APACHE']) {
  fs.copyFileSync(path.join(root, name), path.join(stage, name));
}
fs.cpSync(path.join(here, 'media'), path.join(stage, 'media'), { recursive: true });

const binary = process.env.STRATA_BIN;
const bundled = [...packagesOf(Object.keys(metafile.inputs)), ...(binary ? partsOfTheServer(triple) : [])];
fs.writeFileSync(path.join(stage, 'THIRD-PARTY-NOTICES.txt'), notices(bundled));
if (binary) {
  fs.mkdirSync(path.join(stage, 'server'));
  const name = platform.startsWith('win32-') ? 'strata.exe' : 'strata';
  fs.copyFileSync(binary, path.join(stage, 'server', name));
  fs.chmodSync(path.join(stage, 'server', name), 0o755);
}

// Package everything that is staged. Without this file, the packager warns that nothing is ignored.
fs.writeFileSync(path.join(stage, '.vscodeignore'), '');

if (process.argv.includes('--vsix')) {
  const file = path.join(target, `strata-${binary ? platform : 'universal'}.vsix`);
  const args = ['package', '--no-dependencies', '--allow-missing-repository', '--skip-license', '--no-rewrite-relative-links', '--out', file];
  const vsce = path.join(here, 'node_modules/@vscode/vsce/vsce');
  execFileSync(process.execPath, [vsce, ...args, ...(binary ? ['--target', platform] : [])], {
    cwd: stage,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  console.log(path.relative(root, file));
} else {
  console.log(path.relative(root, stage));
}

/** Returns the packages that `inputs` belong to. Throws if the licence of a package is not allowed. */
function packagesOf(inputs) {
  const folders = new Set(
    inputs.flatMap((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []),
  );
  return [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(fs.readFileSync(path.join(here, folder, 'package.json'), 'utf8'));
    if (!ALLOWED.has(license)) {
      throw new Error(`${name} ${version} has the licence ${license}, which is not one of ${[...ALLOWED].join(', ')}`);
    }
    return { name, version, license, folder: path.join(here, folder) };
  });
}
