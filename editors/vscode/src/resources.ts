// Converts between the names of files: the editor uses URIs, the server uses paths relative to the workspace folder.

import * as path from 'node:path';
import * as vscode from 'vscode';

/** Documents that the server tracks. */
export const SELECTOR = [{ scheme: 'file' }, { scheme: 'untitled' }];

/** Returns whether the server tracks a document. */
export function isFollowed(uri: vscode.Uri): boolean {
  return SELECTOR.some(({ scheme }) => scheme === uri.scheme);
}

/** Returns the name of a file for the server. */
export function pathOf(uri: vscode.Uri): string {
  return uri.toString();
}

/** Returns the name of lines of a file for the server. Lines are counted from 1, and `last` is inclusive. */
export function pathOfLines(uri: vscode.Uri, first: number, last: number): string {
  return `${relative(uri) ?? uri.fsPath}#L${first}-${last}`;
}

/** Returns the URI of a path from the server. */
export function uriOf(name: string): vscode.Uri | undefined {
  // Any other name with a colon is a file name.
  if (name.startsWith('untitled:')) {
    return vscode.Uri.parse(name);
  }
  if (path.isAbsolute(name)) {
    return vscode.Uri.file(name);
  }
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length <= 1) {
    return folders[0] && vscode.Uri.joinPath(folders[0].uri, name);
  }
  const [first, ...rest] = name.split('/');
  const folder = folders.find((candidate) => path.basename(candidate.uri.fsPath) === first || candidate.name === first);
  return folder && vscode.Uri.joinPath(folder.uri, ...rest);
}

/** Returns the server's name for an open document. */
export function relative(uri: vscode.Uri): string | undefined {
  if (uri.scheme !== 'file') {
    return uri.toString();
  }
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  if (folder === undefined) {
    return undefined;
  }
  const below = path.relative(folder.uri.fsPath, uri.fsPath).split(path.sep).join('/');
  const several = (vscode.workspace.workspaceFolders?.length ?? 0) > 1;
  return several ? `${path.basename(folder.uri.fsPath)}/${below}` : below;
}
