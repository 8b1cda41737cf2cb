// Reads the server's settings that the user set in the editor. Does not send defaults, which would override the files
// `strata.toml`, `.strata.toml` and `.strata.yaml`.

import * as vscode from 'vscode';

/** A tree of settings, as the server accepts it. */
export interface Tree {
  [name: string]: unknown;
}

interface Block {
  properties: Record<string, unknown>;
}

const SECTION = 'strata';

/** Settings that are sent even if unset, because the extension's default differs: its menus replace the server's code actions. */
const OWN_DEFAULTS = ['lsp.features'];

/** Returns the values that the user set, for a resource if one is given. */
export function chosenSettings(extension: vscode.Extension<unknown>, resource?: vscode.Uri): Tree {
  const configuration = vscode.workspace.getConfiguration(SECTION, resource);
  const tree: Tree = {};
  for (const name of serverSettings(extension)) {
    const found = configuration.inspect(name);
    const set = [found?.globalValue, found?.workspaceValue, found?.workspaceFolderValue];
    if (OWN_DEFAULTS.includes(name) || set.some((value) => value !== undefined)) {
      plant(tree, name.split('.'), configuration.get(name));
    }
  }
  return tree;
}

/** Returns the names of the server's settings. The extension's first block of settings is its own. */
function serverSettings(extension: vscode.Extension<unknown>): string[] {
  const blocks: Block[] = extension.packageJSON.contributes.configuration;
  return blocks
    .slice(1)
    .flatMap((block) => Object.keys(block.properties))
    .map((name) => name.slice(SECTION.length + 1));
}

function plant(tree: Tree, path: string[], value: unknown): void {
  const [name, ...rest] = path;
  if (name === undefined) {
    return;
  }
  if (rest.length === 0) {
    tree[name] = value;
    return;
  }
  const below = (tree[name] ?? {}) as Tree;
  tree[name] = below;
  plant(below, rest, value);
}
