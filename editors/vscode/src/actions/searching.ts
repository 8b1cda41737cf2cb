// A list of search results that is updated while the user types.

import * as vscode from 'vscode';

/** Lets the user choose one of the items that `find` returns for the typed text. Returns `undefined` if none is chosen. */
export function pickWhileTyping<Line extends vscode.QuickPickItem>(
  title: string,
  placeholder: string,
  find: (query: string) => Promise<Line[]>,
): Promise<Line | undefined> {
  const list = vscode.window.createQuickPick<Line>();
  list.title = title;
  list.placeholder = placeholder;
  let asked = 0;
  return new Promise((taken, failed) => {
    list.onDidChangeValue(async (query) => {
      const mine = ++asked;
      try {
        const lines = await find(query);
        if (mine === asked) {
          list.items = lines;
        }
      } catch (error) {
        failed(error);
        list.hide();
      }
    });
    list.onDidAccept(() => {
      taken(list.selectedItems[0]);
      list.hide();
    });
    list.onDidHide(() => {
      taken(undefined);
      list.dispose();
    });
    list.show();
  });
}
