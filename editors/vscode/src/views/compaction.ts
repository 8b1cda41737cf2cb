// The tree "Compaction": shows the profile, when the next compaction is due, and what the last one did.

import * as vscode from 'vscode';

import { howOf } from '../compactions';
import type { CompactionStatusReply, TriggerMetric } from '../protocol';
import { treeItem } from '../shown';
import { counted, exactly, since, tokens } from '../wording';
import { RefreshedTree } from './refreshed';

/** A line of the tree. */
interface Line {
  id: string;
  label: string;
  description: string;
  icon: string;
  tooltip: string;
}

/** Descriptions of what a profile's trigger counts. */
const MEASURED: Record<TriggerMetric, string> = {
  history_tokens: 'tokens of the conversation',
  context_tokens: 'tokens of the whole request',
  messages: 'messages',
  exchanges: 'exchanges',
};

export class CompactionTree extends RefreshedTree<Line, CompactionStatusReply> {
  protected override async load(): Promise<CompactionStatusReply> {
    const status = await this.strata.ask('strata.compaction.status', {});
    void vscode.commands.executeCommand('setContext', 'strata.compacted', status.last !== undefined);
    return status;
  }

  protected override top(status: CompactionStatusReply): Line[] {
    return linesOf(status);
  }

  override getTreeItem(line: Line): vscode.TreeItem {
    const item = treeItem(line);
    item.id = line.id;
    item.iconPath = new vscode.ThemeIcon(line.icon);
    item.contextValue = `compaction.${line.id}`;
    return item;
  }
}

function linesOf(status: CompactionStatusReply): Line[] {
  const { profile, measured, threshold, percent, distance, limit, running, last } = status;
  const what = measured === undefined ? '' : MEASURED[measured];
  const lines: Line[] = [
    { id: 'next', icon: 'fold', label: 'Next compaction', description: nextOf(status), tooltip: `${status.why}.` },
    {
      ...{ id: 'profile', icon: 'symbol-ruler', label: 'Profile', description: profile },
      tooltip: 'Rules for when to compact and what to keep (strata.compaction.profile).',
    },
  ];
  if (measured !== undefined) {
    lines.push({
      ...{ id: 'threshold', icon: 'dashboard', label: 'Threshold', description: `${percent} % of ${tokens(threshold)} ${what}` },
      tooltip: `Compacts above ${exactly(threshold)} ${what}: now ${exactly(status.tokens)}, ${exactly(distance)} left.`,
    });
  }
  if (limit !== undefined) {
    lines.push({
      ...{ id: 'limit', icon: 'inbox', label: 'Request limit', description: `${tokens(limit)} tokens` },
      tooltip: `A request can hold ${exactly(limit)} tokens: the model's window minus the reserve for its answer.`,
    });
  }
  if (running) {
    lines.push({ id: 'running', icon: 'sync~spin', label: 'Compacting', description: 'now', tooltip: 'Compacting' });
  }
  lines.push(lastOf(last));
  return lines;
}

/** Describes when the next compaction is due. */
function nextOf({ enabled, measured, distance, due }: CompactionStatusReply): string {
  if (!enabled) {
    return 'off';
  }
  if (due) {
    return 'due';
  }
  if (measured === undefined) {
    return 'not automatically';
  }
  // A compaction past its threshold waits until it saves money.
  return distance === 0 ? 'waits until it saves money' : `in ${tokens(distance)} ${MEASURED[measured].split(' ')[0]}`;
}

function lastOf(last: CompactionStatusReply['last']): Line {
  if (last === undefined) {
    return { id: 'none', icon: 'history', label: 'Last compaction', description: 'none', tooltip: 'No compaction in this conversation yet.' };
  }
  const { before, after, timeMs } = last;
  const freed = before.tokens - after.tokens;
  const how = howOf(last.strategy, last.summarisedBy);
  return {
    ...{ id: 'last', icon: 'history', label: 'Last compaction' },
    description: `${since(timeMs, Date.now())} · freed ${tokens(freed)}`,
    tooltip:
      `${counted(before.messages, 'message')} became ${exactly(after.messages)}, ${exactly(before.tokens)} tokens became ` +
      `${exactly(after.tokens)} (profile ${last.profile}). ${how}.`,
  };
}
