// Reads what the user set of the server's settings. Defaults are the server's business: a value that no one set
// is not sent, so that the files `strata.toml`, `.strata.toml` and `.strata.yaml` keep their say.

import * as vscode from 'vscode';

/** A tree of settings, as the server takes it. */
export interface Tree {
  [name: string]: unknown;
}

interface Block {
  properties: Record<string, unknown>;
}

const SECTION = 'strata';

/** Said also when no one set it: the extension has menus for what the server's code actions do, and a default of its own. */
const OWN_DEFAULTS = ['lsp.code_action'];

/** The values that were set by hand, for the resource when one is named. */
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

/** The extension's first block of settings is the client's own; the others are the server's. */
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
