// The meter in the status bar: shows how full the window is, how much is cached and for how long, how close the next
// compaction is, and problems.

import * as vscode from 'vscode';

import type { Strata } from '../client';
import type { Status } from '../protocol';
import { table } from '../shown';
import { counted, countdown, exactly, tokens } from '../wording';

const TICK_MS = 1000;

export class Meter implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('strata.meter', vscode.StatusBarAlignment.Right, 90);
  private readonly listening: vscode.Disposable[];
  private readonly clock: NodeJS.Timeout;
  private unsaved: string | undefined;
  private compacting = false;

  constructor(private readonly strata: Strata) {
    this.item.name = 'Strata';
    this.item.command = 'strata.actions';
    this.listening = [
      strata.onStatus(() => this.draw()),
      strata.onLife((life) => {
        if (life === 'starting') {
          this.unsaved = undefined;
          // A compaction ends without a notification if its server stops.
          this.compacting = false;
        }
        this.draw();
      }),
      strata.onCompaction(({ state }) => {
        this.compacting = state === 'started';
        this.draw();
      }),
      strata.onWarning(({ code, message }) => {
        if (code === 'store') {
          this.unsaved = message;
          this.draw();
        }
      }),
    ];
    // Redraw while the cache lifetime counts down, and once after it has expired.
    this.clock = setInterval(() => {
      if ((strata.status?.cacheExpiresMs ?? 0) > Date.now() - 2 * TICK_MS) {
        this.draw();
      }
    }, TICK_MS);
    this.draw();
    this.item.show();
  }

  dispose(): void {
    clearInterval(this.clock);
    this.listening.forEach((one) => one.dispose());
    this.item.dispose();
  }

  private draw(): void {
    const { life, status } = this.strata;
    if (life !== 'running' || status === undefined) {
      this.item.text = life === 'stopped' ? '$(error) Strata' : '$(loading~spin) Strata';
      this.item.tooltip = life === 'stopped' ? 'The Strata server is not running' : 'The Strata server is starting';
      this.item.backgroundColor =
        life === 'stopped' ? new vscode.ThemeColor('statusBarItem.errorBackground') : undefined;
      return;
    }
    const left = (status.cacheExpiresMs ?? 0) - Date.now();
    const parts = [`$(layers) ${tokens(status.tokens)} / ${tokens(status.window)}`];
    if (status.cachedPercent !== null) {
      parts.push(`$(database) ${Math.round(status.cachedPercent)}%${left > 0 ? ` ${countdown(left)}` : ''}`);
    }
    parts.push(this.compacting ? '$(sync~spin) compacting' : `$(fold) ${Math.round(status.compactionPercent)}%`);
    if (status.index === 'building') {
      parts.push('$(loading~spin)');
    }
    const unsaved = this.unsaved ?? (status.stored ? undefined : 'The conversation will be lost when the server stops.');
    if (unsaved !== undefined) {
      parts.push('$(warning) not saved');
    }
    if (status.shed > 0) {
      parts.push(`$(warning) ${counted(status.shed, 'file')} left out`);
    }
    this.item.text = parts.join('  ');
    this.item.tooltip = tooltip(status, left, unsaved);
    const wrong = unsaved !== undefined || status.shed > 0 || status.percent >= 90;
    const color = wrong ? 'statusBarItem.warningBackground' : undefined;
    this.item.backgroundColor = color === undefined ? undefined : new vscode.ThemeColor(color);
  }
}

function tooltip(status: Status, left: number, unsaved: string | undefined): vscode.MarkdownString {
  const rows: [string, string][] = [
    ['Next prompt', `${exactly(status.tokens)} of ${exactly(status.window)} tokens (${status.percent} %)`],
    ['Model', status.model],
    ['Cache hit rate', status.cachedPercent === null ? 'no requests yet' : `${status.cachedPercent} %`],
    [
      'Cached now',
      left > 0 && status.cachedTokens !== undefined
        ? `${exactly(status.cachedTokens)} tokens, for ${countdown(left)}`
        : 'nothing',
    ],
    ['Cost so far', status.dollars === undefined ? 'unknown' : dollars(status.dollars)],
    ['Next compaction', nearness(status.compactionPercent)],
    ...(status.shed > 0 ? [['Left out', `${counted(status.shed, 'selected file')} that did not fit`] as [string, string]] : []),
    ['Index', status.index === 'ready' ? `${exactly(status.files)} files` : 'being built'],
  ];
  return table('Strata', rows, unsaved === undefined ? undefined : ['Not saved.', unsaved]);
}

/** Formats an amount of money: `$0.0123`, `$4.56`. */
function dollars(amount: number): string {
  return `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
}

/** Describes how close the next compaction is. */
function nearness(percent: number): string {
  return percent < 100
    ? `history used before the next compaction: ${Math.round(percent)} %`
    : 'when it costs less than it saves';
}
