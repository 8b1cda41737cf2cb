// Commands that add files to the context, remove them and exclude them.

import * as vscode from 'vscode';

import { wordsOf } from '../client';
import type { Strata } from '../client';
import type { FilesSelectReply } from '../protocol';
import { fetchPage } from '../pages';
import { isFollowed, pathOf, pathOfLines, uriOf } from '../resources';
import { briefly, confirms, inform, pickWhileTyping, withProgress } from '../shown';
import { counted, exactly } from '../wording';
import type { ContextNode, ExcerptNode, FileNode, PageNode } from '../views/context';
import type { Actions } from './register';

/** The argument that a menu passes to a command: a file, or a node of the tree. */
type Target = vscode.Uri | ContextNode | undefined;

export function fileActions(strata: Strata): Actions {
  return {
    'strata.addToContext': async (target: Target, all?: Target[]) => {
      await select(strata, targets(target, all));
    },
    'strata.removeFromContext': (target: Target, all?: Target[]) =>
      strata.tell('strata.files.deselect', { paths: targets(target, all) }),
    'strata.excludeFromContext': (target: Target, all?: Target[]) =>
      strata.tell('strata.files.exclude', { paths: targets(target, all) }),
    'strata.includeInContext': (target: Target, all?: Target[]) =>
      strata.tell('strata.files.include', { paths: targets(target, all) }),
    'strata.addSelectedLines': () => selectLines(strata),
    'strata.addGlob': () => selectGlob(strata),
    'strata.addFolder': () => selectFolder(strata),
    'strata.clearContext': () => strata.tell('strata.files.clear', {}),
    'strata.reveal': (node: FileNode) => reveal(node),
    'strata.removePage': (node: PageNode) => strata.tell('strata.url.remove', { url: node.url }),
    'strata.addPage': () => addPage(strata),
    'strata.acceptExcerpt': (node: ExcerptNode) => strata.tell('strata.context.pin', { excerpts: [node.excerpt.excerpt] }),
    'strata.dismissExcerpt': (node: ExcerptNode) => strata.tell('strata.context.dismiss', { excerpts: [node.excerpt.excerpt] }),
    'strata.releaseExcerpt': (node: ExcerptNode) => strata.tell('strata.context.unpin', { excerpts: [node.excerpt.excerpt] }),
    'strata.restoreExcerpts': () => strata.tell('strata.context.restore', {}),
    'strata.findSymbol': () => findSymbol(strata),
  };
}

/** Selects the files that were ticked, and deselects those that were unticked. */
export async function setTicks(
  strata: Strata,
  changed: readonly [ContextNode, vscode.TreeItemCheckboxState][],
): Promise<void> {
  const ticked = (state: vscode.TreeItemCheckboxState) =>
    changed.flatMap(([node, now]) => (node.kind === 'file' && now === state ? [node.path] : []));
  const { Checked, Unchecked } = vscode.TreeItemCheckboxState;
  const [wanted, unwanted] = [ticked(Checked), ticked(Unchecked)];
  if (wanted.length > 0) {
    await select(strata, wanted);
  }
  if (unwanted.length > 0) {
    await strata.tell('strata.files.deselect', { paths: unwanted });
  }
}

/** Selects files, and asks for confirmation of those that need it. */
export async function select(strata: Strata, paths: string[]): Promise<FilesSelectReply> {
  let changed: FilesSelectReply;
  try {
    changed = await strata.tell('strata.files.select', { paths });
  } catch (error) {
    // The file was named explicitly, and its name suggests secrets. Any other error cannot be confirmed.
    if ((error as { data?: { kind?: string } }).data?.kind !== 'secret') {
      throw error;
    }
    const reason = wordsOf(error).replace(/^`paths\[\d+\]`: /, '').replace(/;.*$/, '.');
    await confirm('Add it anyway?', reason);
    return strata.tell('strata.files.select', { paths, confirmSecrets: paths });
  }
  const { withheld } = changed;
  if (withheld.length === 0) {
    return changed;
  }
  const first = withheld.slice(0, 5).map(({ path, reason }) => `${path}: ${reason}`);
  const rest = withheld.length > 5 ? [`and ${withheld.length - 5} more`] : [];
  await confirm(`${counted(withheld.length, 'file')} not added. Add them anyway?`, [...first, ...rest].join('\n'));
  const named = withheld.map(({ path }) => path);
  return strata.tell('strata.files.select', { paths: named, confirmSecrets: named });
}

/** Asks the user to confirm. Throws a `CancellationError` if the user declines. */
async function confirm(question: string, detail: string): Promise<void> {
  if (!(await confirms(question, detail, 'Add'))) {
    throw new vscode.CancellationError();
  }
}

function targets(target: Target, all: Target[] | undefined): string[] {
  const some = all?.length ? all : [target ?? vscode.window.activeTextEditor?.document.uri];
  const paths = some.flatMap((one) => {
    if (one instanceof vscode.Uri) {
      return isFollowed(one) ? [pathOf(one)] : [];
    }
    return one?.kind === 'file' ? [one.path] : [];
  });
  if (paths.length === 0) {
    throw new Error('Strata cannot track this document. Open a file, or choose one in the explorer.');
  }
  return [...new Set(paths)];
}

async function selectLines(strata: Strata): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || !isFollowed(editor.document.uri)) {
    throw new Error('Select lines in a file first.');
  }
  const paths = editor.selections.map(({ start, end }) => {
    // A selection that ends at the start of a line does not include that line.
    const last = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
    return pathOfLines(editor.document.uri, start.line + 1, last);
  });
  await select(strata, paths);
}

async function selectGlob(strata: Strata): Promise<void> {
  const glob = await vscode.window.showInputBox({
    title: 'Add files to the model context',
    prompt: 'Path, folder or glob pattern',
    placeHolder: 'src/**/*.ts',
  });
  if (glob !== undefined && glob !== '') {
    const { changed } = await select(strata, [glob]);
    briefly(`Strata: ${counted(changed.length, 'file')} added`);
  }
}

async function selectFolder(strata: Strata): Promise<void> {
  const start = vscode.workspace.workspaceFolders?.[0]?.uri;
  const folders = await vscode.window.showOpenDialog({
    canSelectFiles: false,
    canSelectFolders: true,
    canSelectMany: true,
    openLabel: 'Add to Model Context',
    ...(start && { defaultUri: start }),
  });
  if (folders !== undefined) {
    await select(strata, folders.map(pathOf));
  }
}

async function addPage(strata: Strata): Promise<void> {
  const url = await vscode.window.showInputBox({
    title: 'Add a web page to the model context',
    prompt: 'URL of the page. Strata fetches the page once; to update it, add it again',
    placeHolder: 'https://example.org/manual',
    validateInput: (text) => (text === '' || /^https?:\/\/[^/\s]/i.test(text.trim()) ? undefined : 'The address must begin with http:// or https://'),
  });
  if (url === undefined || url === '') {
    return;
  }
  const page = await withProgress(`Fetching ${url}`, (token) => fetchPage(url.trim(), token));
  const { tokens } = await strata.tell('strata.url.add', page);
  void inform(`Added "${page.title ?? page.url}": ${exactly(tokens)} tokens.`);
}

async function reveal(node: FileNode): Promise<void> {
  const uri = uriOf(node.path);
  if (uri !== undefined) {
    await vscode.commands.executeCommand('revealInExplorer', uri);
  }
}

/** Lets the user find a definition by letters of its name, and adds its file. */
async function findSymbol(strata: Strata): Promise<void> {
  const chosen = await pickWhileTyping('Add the File That Defines…', 'Symbol name, or some of its letters in order', async (query) => {
    const { symbols } = query === '' ? { symbols: [] } : await strata.ask('strata.symbols.find', { query, limit: 50 });
    return symbols.map(({ name, kind, path, head }) => ({
      label: name,
      description: `${kind} · ${path}`,
      detail: head,
      alwaysShow: true,
      path,
    }));
  });
  if (chosen !== undefined) {
    await select(strata, [chosen.path]);
  }
}
