// The prompt as a document to read: a virtual one that follows the context, folds by part, and shows where the
// cache marks are. The text is the server's; nothing is added to it.

import * as vscode from 'vscode';

import type { Strata } from './client';
import { partsOf } from './parts';

const SCHEME = 'strata';
const LANGUAGE = 'strata-prompt';
const PREVIEW = vscode.Uri.from({ scheme: SCHEME, path: '/Prompt' });

/** News that follow each other within this time are shown together. */
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
    // The system prompt is long, and the same every time.
    await vscode.commands.executeCommand('editor.fold', { selectionLines: [0] });
  }

  async provideTextDocumentContent(): Promise<string> {
    return (await this.strata.ask('strata.prompt.preview', {})).text;
  }

  provideFoldingRanges(document: vscode.TextDocument): vscode.FoldingRange[] {
    return partsOf(document.getText()).parts.map(({ first, last }) => new vscode.FoldingRange(first, last));
  }

  provideDocumentSymbols(document: vscode.TextDocument): vscode.DocumentSymbol[] {
    return partsOf(document.getText())
      .parts.filter(({ depth }) => depth === 1)
      .map(({ title, first, last }) => {
        const range = new vscode.Range(first, 0, last, 0);
        return new vscode.DocumentSymbol(title, '', vscode.SymbolKind.String, range, range);
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
      const { marks } = partsOf(editor.document.getText());
      editor.setDecorations(
        this.mark,
        marks.map(({ line, says }) => ({
          range: editor.document.lineAt(line).range,
          hoverMessage: `Cache mark: ${says}. Everything above can be read from the provider's cache.`,
        })),
      );
    }
  }
}
