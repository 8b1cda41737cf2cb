// How files are called on both sides: the editor has URIs, the server has paths relative to the workspace folder.

import * as path from 'node:path';
import * as vscode from 'vscode';

/** Documents that the server follows. */
export const SELECTOR = [{ scheme: 'file' }, { scheme: 'untitled' }];

/** Whether the server can know it. */
export function isFollowed(uri: vscode.Uri): boolean {
  return SELECTOR.some(({ scheme }) => scheme === uri.scheme);
}

/** What the server is told for a URI. */
export function pathOf(uri: vscode.Uri): string {
  return uri.toString();
}

/** The same for lines of it, counted from 1, the last one included. */
export function pathOfLines(uri: vscode.Uri, first: number, last: number): string {
  return `${relative(uri) ?? uri.fsPath}#L${first}-${last}`;
}

/** The URI of a path that the server named. */
export function uriOf(name: string): vscode.Uri | undefined {
  // Any other name with a colon is that of a file.
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

/** The server's name of an open document. */
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
