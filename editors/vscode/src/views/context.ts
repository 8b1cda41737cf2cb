// The tree "Context": shows the content of the next prompt by tier, and files that could be added. Ticking a file selects it.

import * as path from 'node:path';
import * as vscode from 'vscode';

import type { Strata } from '../client';
import type { ExcerptReason, ItemReport, ListedExcerpt, ListedFile, ShownPage, Message, TiersReportReply } from '../protocol';
import { isFollowed, relative, uriOf } from '../resources';
import { line, table, treeItem } from '../shown';
import { counted, exactly, firstWords, tokens } from '../wording';
import { RefreshedTree } from './refreshed';

/** A line of the tree. */
export type ContextNode = Group | FileNode | MessageNode | PageNode | ExcerptNode | PlainNode;

interface Group {
  kind: 'group';
  id: string;
  label: string;
  description: string;
  icon: string;
  /** Initial state of the group: expanded, collapsed, or without children. */
  unfolds: 'open' | 'closed' | 'none';
  children: () => Promise<ContextNode[]> | ContextNode[];
  tooltip?: string;
}

/** State of a file: in the prompt in full, open in an editor but not selected, in the prompt as an outline, excluded, or omitted. */
type Standing = 'selected' | 'open' | 'outlined' | 'excluded' | 'leftOut';

export interface FileNode {
  kind: 'file';
  path: string;
  standing: Standing;
  lines?: string;
  item?: ItemReport;
  listed?: ListedFile;
}

export interface MessageNode {
  kind: 'message';
  message: Message;
  item?: ItemReport;
}

export interface PageNode {
  kind: 'page';
  url: string;
  title: string;
  item: ItemReport;
}

export interface ExcerptNode {
  kind: 'excerpt';
  excerpt: ListedExcerpt;
}

export interface PlainNode {
  kind: 'plain';
  id: string;
  label: string;
  description: string;
  icon: string;
}

const TIERS: Record<string, string> = {
  L0: 'L0 · most stable',
  L1: 'L1',
  L2: 'L2',
  L3: 'L3 · least stable',
  active: 'Active',
};

/** Descriptions of why code is suggested. */
const REASONS: Record<ExcerptReason, string> = {
  trace: 'a stack trace points at it',
  defines: 'a question names it',
  named: 'a question names its file',
  called: 'more relevant code mentions it',
  words: 'it matches words of a question',
  file: 'its file is related to a question',
  open: 'its file is open',
  recent: 'its file changed recently',
};

/** The data shown in the tree, except for the texts of messages. */
interface Shown {
  report: TiersReportReply;
  files: ListedFile[];
  pages: ShownPage[];
  excerpts: ListedExcerpt[];
  /** Server's names of the documents that are open in an editor. */
  open: string[];
}

export class ContextTree extends RefreshedTree<ContextNode, Shown> {
  private readonly watching: vscode.Disposable;

  constructor(strata: Strata) {
    super(strata);
    this.watching = vscode.window.tabGroups.onDidChangeTabs(() => this.soon());
  }

  override dispose(): void {
    this.watching.dispose();
    super.dispose();
  }

  override getTreeItem(node: ContextNode): vscode.TreeItem {
    switch (node.kind) {
      case 'group':
        return groupItem(node);
      case 'file':
        return fileItem(node);
      case 'message':
        return messageItem(node);
      case 'page':
        return pageItem(node);
      case 'excerpt':
        return excerptItem(node);
      case 'plain':
        return plainItem(node);
    }
  }

  protected override async load(): Promise<Shown> {
    const [report, { files }] = await Promise.all([
      this.strata.ask('strata.tiers.report', {}),
      this.strata.ask('strata.files.list', {}),
    ]);
    const pages = report.items.some(({ key }) => key.startsWith('url:'))
      ? (await this.strata.ask('strata.url.list', {})).urls
      : [];
    const { excerpts } = await this.strata.ask('strata.context.list', {});
    return { report, files, pages, excerpts, open: openEditors() };
  }

  protected override top({ report, files, pages, excerpts, open }: Shown): ContextNode[] {
    const chosen = new Set(files.map((file) => file.path));
    const unchosen = open.filter((name) => !chosen.has(name));
    return [
      ...group('open', 'Open editors', 'not in context', 'files', 'open', unchosen, 'open'),
      ...excerptGroups(excerpts),
      ...tierGroups(report, files, pages),
      ...leftOut(report, files),
      ...this.map(report, files),
      ...this.history(report),
      ...excluded(files),
    ];
  }

  protected override below(node: ContextNode): Promise<ContextNode[]> | ContextNode[] {
    return node.kind === 'group' ? node.children() : [];
  }

  private map(report: TiersReportReply, files: ListedFile[]): Group[] {
    const outlines = report.items.filter(({ key, position }) => key.startsWith('symbol:') && position !== undefined);
    const chosen = new Set(files.map((file) => file.path));
    return outlines.length === 0
      ? []
      : [
          {
            kind: 'group',
            id: 'map',
            label: 'Map',
            description: `${counted(outlines.length, 'outline')} · ${tokens(sum(outlines))}`,
            icon: 'list-tree',
            unfolds: 'closed',
            tooltip: 'Files the model knows by outline only. Tick one to show it in full.',
            children: () =>
              outlines
                .map((item): FileNode => ({ kind: 'file', path: item.key.slice('symbol:'.length), standing: 'outlined', item }))
                .filter((file) => !chosen.has(file.path))
                .sort((one, other) => one.path.localeCompare(other.path)),
          },
        ];
  }

  private history(report: TiersReportReply): Group[] {
    const items = new Map(report.items.filter(({ key }) => key.startsWith('history:')).map((item) => [item.key, item]));
    return items.size === 0
      ? []
      : [
          {
            kind: 'group',
            id: 'history',
            label: 'History',
            description: `${counted(items.size, 'message')} · ${tokens(sum([...items.values()]))}`,
            icon: 'comment-discussion',
            unfolds: 'closed',
            children: async () => {
              const { messages } = await this.strata.ask('strata.history.get', {});
              return messages.map((message): MessageNode => {
                const item = items.get(`history:${message.id}`);
                return { kind: 'message', message, ...(item && { item }) };
              });
            },
          },
        ];
  }
}

/** Returns the text of a message. Other blocks are replaced by their type. */
export function textOf(message: Message): string {
  return message.content
    .map((block) => block.type === 'text' ? block.text : `[${block.type.replace('_', ' ')}]`)
    .join('\n')
    .trim();
}

/** Returns a group for each tier. Files and pages are listed, and outlines and messages are summarized on one line each. */
function tierGroups(
  report: TiersReportReply,
  files: ListedFile[],
  pages: ShownPage[],
): Group[] {
  const listed = new Map(files.map((file) => [file.path, file]));
  return report.tiers
    .filter((tier) => tier.items > 0 || tier.tokens > 0)
    .map((tier): Group => {
      const children = tierChildren(report.items.filter((item) => item.tier === tier.tier), listed, pages);
      return {
        kind: 'group',
        // The editor remembers by id whether a group is expanded. With the same id, a tier that was empty would stay collapsed.
        id: children.length > 0 ? `tier/${tier.tier}` : `tier/${tier.tier}/empty`,
        label: TIERS[tier.tier] ?? tier.tier,
        description: `${tokens(tier.tokens)}${tier.marked ? ' · cache mark' : ''}`,
        icon: tier.tier === 'active' ? 'zap' : 'layers',
        unfolds: children.length > 0 ? 'open' : 'none',
        tooltip: `${exactly(tier.tokens)} tokens${tier.marked ? ', followed by a cache mark' : ''}`,
        children: () => children,
      };
    });
}

function tierChildren(
  items: ItemReport[],
  listed: Map<string, ListedFile>,
  pages: ShownPage[],
): ContextNode[] {
  const shown: ContextNode[] = [];
  for (const item of items) {
    if (item.key === 'system') {
      shown.push({ kind: 'plain', id: 'system', label: 'System prompt', description: tokens(item.tokens), icon: 'book' });
    } else if (item.key.startsWith('file:')) {
      const [name, lines] = splitLines(item.key.slice('file:'.length));
      const file = listed.get(name);
      shown.push({ kind: 'file', path: name, standing: 'selected', item, ...(lines && { lines }), ...(file && { listed: file }) });
    } else if (item.key.startsWith('url:')) {
      const page = pages.find(({ key }) => key === item.key);
      shown.push({ kind: 'page', url: page?.url ?? '', title: page?.title ?? item.key, item });
    }
  }
  const sums: [string, string, string][] = [
    ['symbol:', 'outline', 'list-tree'],
    ['history:', 'message', 'comment-discussion'],
  ];
  for (const [prefix, noun, icon] of sums) {
    const some = items.filter(({ key, position }) => key.startsWith(prefix) && position !== undefined);
    if (some.length > 0) {
      const id = `${some[0]?.tier}/${noun}s`;
      shown.push({ kind: 'plain', id, label: counted(some.length, noun), description: tokens(sum(some)), icon });
    }
  }
  return shown;
}

/** Returns groups of excerpts: those that the user accepted, and suggestions. */
function excerptGroups(excerpts: ListedExcerpt[]): Group[] {
  const groups: [string, string, string, string, (excerpt: ListedExcerpt) => boolean][] = [
    ['accepted', 'Accepted', 'pinned', 'Suggested code that stays in every prompt.', isAccepted],
    ['suggested', 'Suggested', 'sparkle', 'Code relevant to your questions. Accept what should stay; dismiss what should not be suggested again.', (one) => !isAccepted(one)],
  ];
  return groups.flatMap(([id, label, icon, tooltip, belongs]): Group[] => {
    const some = excerpts.filter(belongs);
    const children = () => some.map((excerpt): ExcerptNode => ({ kind: 'excerpt', excerpt }));
    const description = `${counted(some.length, 'excerpt')} · ${tokens(sum(some))}`;
    return some.length === 0 ? [] : [{ kind: 'group', id, label, description, icon, unfolds: 'open', tooltip, children }];
  });
}

function isAccepted({ standing }: ListedExcerpt): boolean {
  return standing === 'pinned';
}

/** Returns the server's names of the documents that are open in an editor. */
function openEditors(): string[] {
  const names = vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .map(({ input }) => (input instanceof vscode.TabInputText && isFollowed(input.uri) ? relative(input.uri) : undefined));
  return [...new Set(names.filter((name) => name !== undefined))];
}

function excluded(files: ListedFile[]): Group[] {
  const paths = files.filter(({ state }) => state === 'excluded').map((file) => file.path);
  return group('excluded', 'Excluded', counted(paths.length, 'file'), 'eye-closed', 'closed', paths, 'excluded');
}

/** Returns a group of selected files that are in no tier, because they cannot be read or did not fit. */
function leftOut(report: TiersReportReply, files: ListedFile[]): Group[] {
  const shown = new Set(report.items.map(({ key }) => splitLines(key.replace(/^file:/, ''))[0]));
  const missing = files.filter((file) => file.state === 'selected' && !shown.has(file.path));
  if (missing.length === 0) {
    return [];
  }
  return [
    {
      kind: 'group',
      id: 'leftOut',
      label: 'Left out',
      description: counted(missing.length, 'file'),
      icon: 'warning',
      unfolds: 'open',
      tooltip: 'Selected, but too large for the model or unreadable.',
      children: () =>
        missing.map((listed): FileNode => ({ kind: 'file', path: listed.path, standing: 'leftOut', listed })),
    },
  ];
}

function group(
  id: string,
  label: string,
  description: string,
  icon: string,
  unfolds: 'open' | 'closed',
  paths: string[],
  standing: Standing,
): Group[] {
  const children = () => paths.map((name): FileNode => ({ kind: 'file', path: name, standing }));
  return paths.length === 0 ? [] : [{ kind: 'group', id, label, description, icon, unfolds, children }];
}

function splitLines(key: string): [string, string | undefined] {
  const at = key.lastIndexOf('#L');
  return at < 0 ? [key, undefined] : [key.slice(0, at), key.slice(at + 1)];
}

function sum(items: { tokens: number }[]): number {
  return items.reduce((total, item) => total + item.tokens, 0);
}

function groupItem(node: Group): vscode.TreeItem {
  const { Expanded, Collapsed, None } = vscode.TreeItemCollapsibleState;
  const item = treeItem({ ...node, state: { open: Expanded, closed: Collapsed, none: None }[node.unfolds] });
  item.id = node.id;
  item.iconPath = new vscode.ThemeIcon(node.icon);
  item.contextValue = `group.${node.id.split('/')[0]}`;
  return item;
}

function fileItem(node: FileNode): vscode.TreeItem {
  const uri = uriOf(node.path);
  const folder = path.posix.dirname(node.path);
  const description = [
    node.lines?.replace('L', 'lines '),
    folder === '.' || node.path.includes(':') ? undefined : folder,
    node.item && tokens(node.item.tokens),
    node.item && standingOf(node.item),
    node.listed?.problem,
  ]
    .filter((part) => part !== undefined)
    .join(' · ');
  const item = treeItem({ label: path.posix.basename(node.path), description, tooltip: fileTooltip(node) });
  item.id = `${node.standing}/${node.path}${node.lines ? `#${node.lines}` : ''}`;
  item.iconPath = vscode.ThemeIcon.File;
  item.contextValue = `file.${node.standing}`;
  if (uri !== undefined) {
    item.resourceUri = uri;
    item.command = { command: 'vscode.open', title: 'Open', arguments: [uri, { preview: true }] };
  }
  if (node.standing !== 'excluded') {
    const { Checked, Unchecked } = vscode.TreeItemCheckboxState;
    const ticked = node.standing === 'selected' || node.standing === 'leftOut';
    item.checkboxState = {
      state: ticked ? Checked : Unchecked,
      tooltip: ticked ? 'Remove from the context' : 'Show in full',
    };
  }
  return item;
}

/** Describes an item as its policy sees it: its change risk (`ledger`), or its progress to the next tier (`ripple`). */
function standingOf(item: ItemReport): string | undefined {
  if (item.n !== undefined) {
    return item.threshold === undefined ? `N ${item.n}` : `N ${item.n}/${item.threshold}`;
  }
  return item.hazard === undefined ? undefined : `change risk ${percent(item.hazard)}`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

function fileTooltip(node: FileNode): vscode.MarkdownString {
  const { item, listed } = node;
  const rows: [string, string | undefined][] = [
    ['Tokens', item && exactly(item.tokens)],
    ['Tier', item?.tier],
    ['Age', item?.age === undefined ? undefined : counted(item.age, 'turn')],
    ['Change risk', item?.hazard === undefined ? undefined : percent(item.hazard)],
    ['N', item?.n === undefined ? undefined : `${item.n}${item.threshold === undefined ? '' : ` of ${item.threshold}`}`],
    ['Last break', item?.lastBreak && `turn ${item.lastBreak.turn}, ${item.lastBreak.reason}`],
    ['Text from', listed?.source === 'buffer' ? `the editor, version ${listed.version}` : listed?.source],
    ['Problem', listed?.problem],
  ];
  return table(`${node.path}${node.lines ? `, ${node.lines.replace('L', 'lines ')}` : ''}`, rows);
}

function messageItem({ message, item: tracked }: MessageNode): vscode.TreeItem {
  const text = textOf(message);
  const kind = message.kind.replaceAll('_', ' ');
  const pinned = message.pin === 'kept';
  const about = [
    `message ${message.id}`,
    message.kind === 'normal' ? message.role : kind,
    pinned ? 'pinned' : undefined,
    message.agent === 'hidden' ? 'hidden from the model' : undefined,
    tracked && `${tracked.tier}, ${exactly(tracked.tokens)} tokens`,
  ];
  const tooltip = `${firstWords(text, 600)}\n\n${about.filter((part) => part !== undefined).join(' · ')}`;
  const item = treeItem({ label: firstWords(text) || `(${kind})`, tooltip });
  item.id = `message/${message.id}`;
  item.iconPath = new vscode.ThemeIcon(
    pinned ? 'pinned' : message.agent === 'hidden' ? 'eye-closed' : message.role === 'user' ? 'account' : 'sparkle',
  );
  item.contextValue = `message.${message.role}.${pinned ? 'pinned' : 'loose'}.${message.agent}`;
  return item;
}

function pageItem(node: PageNode): vscode.TreeItem {
  const item = treeItem({ label: node.title, description: tokens(node.item.tokens), tooltip: node.url });
  item.id = node.item.key;
  item.iconPath = new vscode.ThemeIcon('globe');
  item.contextValue = 'page';
  return item;
}

function excerptItem({ excerpt }: ExcerptNode): vscode.TreeItem {
  const { excerpt: key, path: file, uri, lines, reason, tokens: weight } = excerpt;
  const item = treeItem({
    label: key.slice(file.length + 1).replace(/^L(?=\d)/, 'lines '),
    description: `${path.posix.basename(file)} · ${tokens(weight)}`,
    tooltip: [line(file), lines?.replace('L', 'lines '), reason && `Suggested because ${REASONS[reason]}`].filter(Boolean).join('\n'),
  });
  item.id = `excerpt/${key}`;
  item.iconPath = new vscode.ThemeIcon('symbol-method');
  item.contextValue = isAccepted(excerpt) ? 'acceptedExcerpt' : 'excerpt';
  if (uri !== undefined && lines !== undefined) {
    const [first = 1, last = first] = lines.slice(1).split('-').map(Number);
    const selection = new vscode.Range(first - 1, 0, last, 0);
    item.command = { command: 'vscode.open', title: 'Show', arguments: [vscode.Uri.parse(uri), { selection, preview: true }] };
  }
  return item;
}

function plainItem(node: PlainNode): vscode.TreeItem {
  const item = treeItem(node);
  item.id = `plain/${node.id}`;
  item.iconPath = new vscode.ThemeIcon(node.icon);
  item.contextValue = 'plain';
  return item;
}
