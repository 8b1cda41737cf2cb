// Shows text from outside: names of files, symbols and models, titles, messages of the server, words of a model. Whoever wrote it may
// want it to be read as something else: notifications turn `[x](command:y)` into links that run commands, labels turn `$(x)` into
// icons, and Markdown loads images. No other module calls the editor's APIs for notifications, lists, trees and Markdown.

import * as vscode from 'vscode';

/** Characters that are not visible, as in the server: control characters, `Default_Ignorable_Code_Point`, line and paragraph separators. */
const INVISIBLE = /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;
/** What has a meaning in Markdown, also in GitHub's, where addresses become links. */
const ACTIVE = /[\\`*_{}[\]()<>&|!~$@:#^]|(?<=[wW\d])\.|(?<=^|\s)[-+=]/g;

/** An entry of a list that the user picks from. `icon` is the name of a product icon. */
export interface Choice {
  icon?: string;
  label: string;
  description?: string;
  detail?: string;
  alwaysShow?: boolean;
}

/** A line of a tree. `tooltip` may have several lines, or be the result of `table`. */
export interface TreeLine {
  label: string;
  description?: string | undefined;
  tooltip?: string | vscode.MarkdownString | undefined;
  state?: vscode.TreeItemCollapsibleState;
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/** For the log: one line. */
export function line(text: string): string {
  return text.replace(INVISIBLE, escaped);
}

/** For labels and tooltips: one line without icons. */
export function label(text: string): string {
  return line(text).replace(/(?<=\$)\(/g, escaped);
}

/** For notifications: one line without links and icons. */
export function notice(text: string): string {
  return line(text).replace(/(?<=[\]$])\(/g, escaped);
}

/** For Markdown: one line that is only text. */
export function markdown(text: string): string {
  return line(text).replace(/^\s/, escaped).replace(ACTIVE, '\\$&');
}

/** Lines of plain text, such as the details of a question. */
function lines(text: string): string {
  return text.split('\n').map(label).join('\n');
}

export function inform<Action extends string>(message: string, ...actions: Action[]): Thenable<Action | undefined> {
  return vscode.window.showInformationMessage(notice(message), ...actions);
}

export function warn<Action extends string>(message: string, ...actions: Action[]): Thenable<Action | undefined> {
  return vscode.window.showWarningMessage(notice(message), ...actions);
}

export function fail<Action extends string>(message: string, ...actions: Action[]): Thenable<Action | undefined> {
  return vscode.window.showErrorMessage(notice(message), ...actions);
}

/** Asks in a dialog, and returns whether the user chose `action`. `detail` may have several lines. */
export async function confirms(question: string, detail: string | undefined, action: string): Promise<boolean> {
  const options = { modal: true, ...(detail !== undefined && { detail: lines(detail) }) };
  return (await vscode.window.showWarningMessage(notice(question), options, action)) === action;
}

/** Shows a message in the status bar for a few seconds. */
export function briefly(message: string): void {
  vscode.window.setStatusBarMessage(label(message), 4000);
}

/** Runs `work`, which the user can cancel, and shows a notification meanwhile. */
export function withProgress<Result>(title: string, work: (token: vscode.CancellationToken) => Thenable<Result>): Thenable<Result> {
  const options = { location: vscode.ProgressLocation.Notification, title: notice(title), cancellable: true };
  return vscode.window.withProgress(options, (_, token) => work(token));
}

/** Lets the user pick one of `choices`. */
export async function pick<Some extends Choice>(title: string, choices: readonly Some[]): Promise<Some | undefined> {
  return (await vscode.window.showQuickPick(choices.map(itemOf), { title: label(title) }))?.choice;
}

/** Lets the user pick one of the choices that `find` returns for the typed text, which are updated while the user types. */
export function pickWhileTyping<Some extends Choice>(
  title: string,
  placeholder: string,
  find: (query: string) => Promise<Some[]>,
): Promise<Some | undefined> {
  const list = vscode.window.createQuickPick<Item<Some>>();
  list.title = title;
  list.placeholder = placeholder;
  let asked = 0;
  return new Promise((taken, failed) => {
    list.onDidChangeValue(async (query) => {
      const mine = ++asked;
      try {
        const choices = await find(query);
        if (mine === asked) {
          list.items = choices.map(itemOf);
        }
      } catch (error) {
        failed(error);
        list.hide();
      }
    });
    list.onDidAccept(() => {
      taken(list.selectedItems[0]?.choice);
      list.hide();
    });
    list.onDidHide(() => {
      taken(undefined);
      list.dispose();
    });
    list.show();
  });
}

/** Creates the item of a tree. */
export function treeItem({ label: name, description, tooltip, state }: TreeLine): vscode.TreeItem {
  const item = new vscode.TreeItem(label(name), state ?? vscode.TreeItemCollapsibleState.None);
  if (description !== undefined) {
    item.description = label(description);
  }
  item.tooltip = typeof tooltip === 'string' ? lines(tooltip) : tooltip;
  return item;
}

/** Creates a tooltip: a heading, optionally a warning, and rows of a name and a value. */
export function table(heading: string, rows: readonly (readonly [string, string | undefined])[], warning?: readonly [string, string]): vscode.MarkdownString {
  const text = new vscode.MarkdownString(`**${markdown(heading)}**\n\n`, true);
  if (warning !== undefined) {
    text.appendMarkdown(`$(warning) **${markdown(warning[0])}** ${markdown(warning[1])}\n\n`);
  }
  text.appendMarkdown('| | |\n|---|---|\n');
  for (const [name, value] of rows) {
    if (value !== undefined) {
      text.appendMarkdown(`| ${markdown(name)} | ${markdown(value)} |\n`);
    }
  }
  return text;
}

/** A line of text after an icon, for an answer in the chat. */
export function remark(icon: string, message: string): vscode.MarkdownString {
  return new vscode.MarkdownString(`\n\n$(${icon}) ${markdown(message)}`, true);
}

/** A line of text, where the editor takes Markdown. */
export function plain(message: string): vscode.MarkdownString {
  return new vscode.MarkdownString(markdown(message));
}

/** A value as JSON. */
export function json(value: unknown): vscode.MarkdownString {
  return new vscode.MarkdownString().appendCodeblock(lines(JSON.stringify(value, null, 2)), 'json');
}

/** A symbol of a document. */
export function documentSymbol(name: string, detail: string, range: vscode.Range): vscode.DocumentSymbol {
  return new vscode.DocumentSymbol(label(name), label(detail), vscode.SymbolKind.String, range, range);
}

type Item<Some> = vscode.QuickPickItem & { choice: Some };

function itemOf<Some extends Choice>(choice: Some): Item<Some> {
  const { icon, label: name, description, detail, alwaysShow } = choice;
  return {
    label: `${icon === undefined ? '' : `$(${icon}) `}${label(name)}`,
    ...(description !== undefined && { description: label(description) }),
    ...(detail !== undefined && { detail: label(detail) }),
    ...(alwaysShow !== undefined && { alwaysShow }),
    choice,
  };
}
