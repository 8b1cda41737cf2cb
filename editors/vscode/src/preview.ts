// Preview of the prompt: a virtual document that follows the context, can be folded by part, and shows the cache marks.
// The server provides the text and its parts.

import * as vscode from 'vscode';

import type { Strata } from './client';
import type { PreviewPart } from './protocol';
import { documentSymbol } from './shown';
import { exactly } from './wording';

const SCHEME = 'strata';
const LANGUAGE = 'strata-prompt';
const PREVIEW = vscode.Uri.from({ scheme: SCHEME, path: '/Prompt' });

/** Changes within this time are shown together. */
const TOGETHER_MS = 200;

export class Preview
  implements vscode.TextDocumentContentProvider, vscode.FoldingRangeProvider, vscode.DocumentSymbolProvider, vscode.Disposable
{
  private readonly emitter = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.emitter.event;

  private readonly registered: vscode.Disposable[];
  private readonly mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    color: new vscode.ThemeColor('strata.cacheMarkForeground'),
    borderColor: new vscode.ThemeColor('strata.cacheMarkForeground'),
    borderStyle: 'dashed',
    borderWidth: '0 0 1px 0',
    overviewRulerColor: new vscode.ThemeColor('strata.cacheMarkForeground'),
    overviewRulerLane: vscode.OverviewRulerLane.Full,
  });
  private timer: NodeJS.Timeout | undefined;
  /** Parts of the text that was provided last. */
  private parts: PreviewPart[] = [];

  constructor(private readonly strata: Strata) {
    const selector = { scheme: SCHEME };
    this.registered = [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.languages.registerFoldingRangeProvider(selector, this),
      vscode.languages.registerDocumentSymbolProvider(selector, this),
      strata.onChange(() => this.soon()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.drawMarks(document)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.drawMarks()),
    ];
  }

  /** Opens the preview beside the editor. */
  async show(): Promise<void> {
    const document = await vscode.workspace.openTextDocument(PREVIEW);
    await vscode.languages.setTextDocumentLanguage(document, LANGUAGE);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: false });
    this.drawMarks();
    // Fold the system prompt and the map, which are long and seldom change.
    const long = this.parts.filter(({ part }) => part === 'system' || part === 'map');
    await vscode.commands.executeCommand('editor.fold', { selectionLines: long.map(({ line }) => line) });
  }

  async provideTextDocumentContent(): Promise<string> {
    const { text, parts } = await this.strata.ask('strata.prompt.preview', {});
    this.parts = parts;
    return text;
  }

  provideFoldingRanges(document: vscode.TextDocument): vscode.FoldingRange[] {
    return this.partsIn(document).map(({ line, lines }) => new vscode.FoldingRange(line, line + lines - 1));
  }

  provideDocumentSymbols(document: vscode.TextDocument): vscode.DocumentSymbol[] {
    return this.partsIn(document).map(({ title, tokens, tier, line, lines }) => {
      const range = new vscode.Range(line, 0, line + lines - 1, 0);
      const detail = `${exactly(tokens)} tokens · ${tier}`;
      return documentSymbol(title, detail, range);
    });
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.registered.forEach((one) => one.dispose());
    this.mark.dispose();
    this.emitter.dispose();
  }

  private soon(): void {
    const open = vscode.workspace.textDocuments.some(({ uri }) => uri.scheme === SCHEME);
    if (open) {
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        this.emitter.fire(PREVIEW);
      }, TOGETHER_MS);
    }
  }

  private drawMarks(changed?: vscode.TextDocument): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.scheme !== SCHEME || (changed !== undefined && changed !== editor.document)) {
        continue;
      }
      const marked = this.partsIn(editor.document).filter((part) => part.marked);
      editor.setDecorations(
        this.mark,
        marked.map(({ tier, line, lines }) => ({
          range: lastWritten(editor.document, line + lines - 1).range,
          hoverMessage: `Cache mark: ${tier}. The provider can cache everything above.`,
        })),
      );
    }
  }

  /** Returns the parts that lie within the document, which may not show the latest text yet. */
  private partsIn(document: vscode.TextDocument): PreviewPart[] {
    return this.parts.filter(({ line, lines }) => lines > 0 && line + lines <= document.lineCount);
  }
}

/** Returns the last line up to `last` that is not blank, because a part includes the blank line after it. */
function lastWritten(document: vscode.TextDocument, last: number): vscode.TextLine {
  const line = document.lineAt(last);
  return last > 0 && line.isEmptyOrWhitespace ? lastWritten(document, last - 1) : line;
}
