// Collects the notices that licenses require: the names of all parts of the server, and each license text once.
//
//   node .ci/notices.mjs TARGET    prints the notices of the server for a platform
//
// `deny.toml` lists the licenses that are allowed.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(import.meta.url);
const root = path.join(path.dirname(here), '..');

/** Returns the crates and data that are part of the server for `target`, which defaults to this machine. */
export function partsOfTheServer(target) {
  const cargo = (...args) => execFileSync('cargo', args, { cwd: root, maxBuffer: 1 << 28, encoding: 'utf8' });
  const [, host] = /^host: (.*)$/m.exec(execFileSync('rustc', ['-vV'], { encoding: 'utf8' }));
  // With the features that `.ci/package` builds.
  const features = ['--features', 'strata/tokenizer-files'];
  const metadata = ['metadata', '--format-version', '1', '--locked', ...features, '--filter-platform', target ?? host];
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
  const crates = [...found]
    .map((id) => known.get(id))
    .filter(({ source }) => source !== null)
    .map(({ name, version, license, manifest_path }) => ({ name, version, license, folder: path.dirname(manifest_path) }));
  const folder = path.join(root, 'server/engine/tokens/vocabularies');
  const vocabularies = { name: 'tiktoken', version: 'vocabularies', license: 'MIT', folder };
  return [...crates, vocabularies].sort((one, other) => one.name.localeCompare(other.name));
}

/** Whether a dependency becomes part of the program, unlike build and test dependencies. */
function isLinked({ dep_kinds }) {
  return dep_kinds.some(({ kind }) => kind === null);
}

/** Formats the notices: each license text once, after the components that it applies to. */
export function notices(components) {
  const texts = new Map();
  for (const { name, version, license, folder } of components) {
    const files = fs.readdirSync(folder).filter((entry) => /^(licen[cs]e|copying|notice|unlicense)/i.test(entry));
    const read = files.map((file) => path.join(folder, file)).filter((file) => fs.statSync(file).isFile());
    const text = read.map((file) => fs.readFileSync(file, 'utf8').trim()).join('\n\n');
    texts.set(text, [...(texts.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  return [...texts].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`).join(`\n${'-'.repeat(72)}\n\n`);
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === here) {
  process.stdout.write(notices(partsOfTheServer(process.argv[2])));
}
