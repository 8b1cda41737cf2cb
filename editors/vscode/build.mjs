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
fs.copyFileSync(path.join(here, 'README.md'), path.join(stage, 'README.md'));
for (const name of ['LICENSE-MIT', 'LICENSE-APACHE']) {
  fs.copyFileSync(path.join(root, name), path.join(stage, name));
}
fs.cpSync(path.join(here, 'media'), path.join(stage, 'media'), { recursive: true });

const binary = process.env.STRATA_BIN;
const bundled = [...packagesOf(Object.keys(metafile.inputs)), ...(binary ? cratesOfTheServer() : [])];
fs.writeFileSync(path.join(stage, 'THIRD-PARTY-NOTICES.txt'), notices(bundled));
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

/** The packages that `inputs` belong to. Throws when the licence of one is not allowed. */
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

/** The crates that the server is made of. Which licences they may have is the business of `deny.toml`. */
function cratesOfTheServer() {
  const cargo = (...args) => execFileSync('cargo', args, { cwd: root, maxBuffer: 1 << 28, encoding: 'utf8' });
  const [, host] = /^host: (.*)$/m.exec(execFileSync('rustc', ['-vV'], { encoding: 'utf8' }));
  const metadata = ['metadata', '--format-version', '1', '--locked', '--filter-platform', host];
  const { packages, resolve } = JSON.parse(cargo(...metadata));
  const known = new Map(packages.map((one) => [one.id, one]));
  const linked = new Map(resolve.nodes.map(({ id, deps }) => [id, deps.filter(isLinked).map(({ pkg }) => pkg)]));
  const found = new Set();
  const follow = (id) => {
    if (!found.has(id)) {
      found.add(id);
      linked.get(id).forEach(follow);
    }
  };
  follow(packages.find(({ name, source }) => name === 'strata' && source === null).id);
  return [...found]
    .map((id) => known.get(id))
    .filter(({ source }) => source !== null)
    .map(({ name, version, license, manifest_path }) => ({ name, version, license, folder: path.dirname(manifest_path) }))
    .sort((one, other) => one.name.localeCompare(other.name));
}

/** Whether a dependency becomes part of the program; the others are for its build and its tests. */
function isLinked({ dep_kinds }) {
  return dep_kinds.some(({ kind }) => kind === null);
}

/** Who made what, and each text of a licence once. */
function notices(components) {
  const texts = new Map();
  for (const { name, version, license, folder } of components) {
    const files = fs.readdirSync(folder).filter((entry) => /^(licen[cs]e|copying|notice|unlicense)/i.test(entry));
    const read = files.map((file) => path.join(folder, file)).filter((file) => fs.statSync(file).isFile());
    const text = read.map((file) => fs.readFileSync(file, 'utf8').trim()).join('\n\n');
    texts.set(text, [...(texts.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  return [...texts].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`).join(`\n${'-'.repeat(72)}\n\n`);
}
