// Reports automatic compactions: in the answer during a chat turn, otherwise in a notification. Compactions that the user requested
// are reported by their command.

import * as vscode from 'vscode';

import type { Strata } from './client';
import type { Compaction, LastCompaction, SummaryAuthor } from './protocol';
import { inform } from './shown';
import { counted, exactly } from './wording';

/** The compactions that end before `stop` is called. */
export interface Collected {
  ended: Compaction[];
  stop(): void;
}

export class CompactionNotices implements vscode.Disposable {
  private readonly listening: vscode.Disposable;
  private readonly collecting = new Set<Compaction[]>();

  constructor(strata: Strata) {
    this.listening = strata.onCompaction((news) => {
      if (news.state !== 'ended' || news.reason.kind === 'asked') {
        return;
      }
      if (this.collecting.size === 0) {
        void offerUndo(`${madeShorter(news)}${notesOf(news)}`);
      }
      this.collecting.forEach((ended) => ended.push(news));
    });
  }

  /** Starts to collect compactions, which are then not reported in notifications. */
  collect(): Collected {
    const ended: Compaction[] = [];
    this.collecting.add(ended);
    return { ended, stop: () => this.collecting.delete(ended) };
  }

  dispose(): void {
    this.listening.dispose();
  }
}

/** Shows what a compaction did, and offers to undo it. */
export async function offerUndo(message: string): Promise<void> {
  const choice = await inform(message, 'Undo', 'Open Preview');
  if (choice === 'Undo') {
    await vscode.commands.executeCommand('strata.undoCompaction');
  } else if (choice === 'Open Preview') {
    await vscode.commands.executeCommand('strata.preview');
  }
}

/** `Conversation compacted: 46 messages became 9, 25,310 tokens became 4,870. Echo wrote the summary.` */
export function madeShorter({ before, after, strategy, summarisedBy }: Compaction): string {
  const sizes =
    before === undefined || after === undefined
      ? ''
      : `: ${counted(before.messages, 'message')} became ${exactly(after.messages)}, ` +
        `${exactly(before.tokens)} tokens became ${exactly(after.tokens)}`;
  return `Conversation compacted${sizes}. ${howOf(strategy, summarisedBy)}.`;
}

/** Describes how the conversation was compacted, in a sentence without its full stop. */
export function howOf(strategy: LastCompaction['strategy'] | undefined, author: SummaryAuthor | null | undefined): string {
  switch (author?.kind) {
    case 'client':
      return `${author.model ?? "The editor's model"} wrote the summary`;
    case 'http':
      return `${author.model ?? 'The provider'} wrote the summary`;
    case 'extractive':
      return 'Summarized without a model';
    default:
      return strategy === 'topic_cut' ? 'The conversation now starts at the last topic change' : 'The oldest messages were removed';
  }
}

/** Returns the notes of a compaction as sentences, with a leading space. */
export function notesOf({ notes }: Compaction): string {
  return notes?.length ? ` ${notes.map((note) => `${note[0]?.toUpperCase()}${note.slice(1)}.`).join(' ')}` : '';
}
