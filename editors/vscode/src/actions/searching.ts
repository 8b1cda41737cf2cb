// A list to choose from whose lines follow what is typed.

import * as vscode from 'vscode';

/** What the user takes of the lines that `find` gives for what they type; nothing when they take none. */
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
