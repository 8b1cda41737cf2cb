// Fetches a web page as text. Follows no links, and keeps nothing.

import * as vscode from 'vscode';

/** Timeout of a request. */
const PATIENCE_MS = 20_000;
/** Maximum size of a page including its markup. The server limits the size of the text. */
const MAX_BYTES = 4 << 20;

/** A page, as `strata.url.add` accepts it. */
export interface Page {
  url: string;
  title?: string;
  content: string;
}

/** Fetches a page. Throws an error with the reason if the page cannot be fetched or is not text. */
export async function fetchPage(url: string, token: vscode.CancellationToken): Promise<Page> {
  const stop = new AbortController();
  const cancelled = token.onCancellationRequested(() => stop.abort());
  const late = setTimeout(() => stop.abort(), PATIENCE_MS);
  try {
    const reply = await fetch(url, { signal: stop.signal, headers: { accept: 'text/html, text/plain, text/markdown, */*;q=0.1' } });
    if (!reply.ok) {
      throw new Error(`the server answered ${reply.status} ${reply.statusText}`.trim());
    }
    const type = reply.headers.get('content-type') ?? 'text/html';
    if (!/^(text\/|application\/(json|xml|xhtml\+xml))/i.test(type)) {
      throw new Error(`its content type is ${type}, not text`);
    }
    const text = await textOf(reply);
    return /html/i.test(type) ? { url, ...readable(text) } : { url, content: text };
  } catch (error) {
    if (token.isCancellationRequested) {
      throw new vscode.CancellationError();
    }
    throw new Error(`${url} was not added: ${stop.signal.aborted ? `no answer within ${PATIENCE_MS / 1000} s` : reasonOf(error)}.`);
  } finally {
    clearTimeout(late);
    cancelled.dispose();
  }
}

async function textOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, size] = ['', 0];
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) {
      throw new Error(`it is larger than ${MAX_BYTES >> 20} MB`);
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Returns the message of an error. For network errors, the cause says more than the error itself. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as { cause?: { message?: string }; message?: string };
  return cause?.message || message || String(error);
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', mdash: '—', ndash: '–', hellip: '…' };

/** Elements that are omitted with all their content. */
const LEFT_OUT = new Set(['script', 'style', 'head', 'nav', 'svg', 'noscript', 'template']);
const BLOCKS = /^(p|div|section|h[1-6]|ul|ol|table|blockquote|dl|main|article|header|footer|pre)$/;
const LINES = /^(br|li|tr|dt|dd)$/;

/** Returns the title and the text of an HTML page, with an empty line around each block. Takes linear time for any input. */
export function readable(html: string): { title?: string; content: string } {
  let content = '';
  let preformatted = 0;
  for (let at = 0; at < html.length; ) {
    const open = positionOf(html, '<', at);
    const text = decoded(html.slice(at, open));
    const shown = preformatted > 0 ? text : text.replace(/\s+/g, ' ');
    content += preformatted === 0 && content.endsWith('\n') ? shown.trimStart() : shown;
    if (html.startsWith('<!--', open)) {
      at = positionOf(html, '-->', open) + 3;
      continue;
    }
    at = positionOf(html, '>', open) + 1;
    const [, slash, tag = ''] = /^<(\/?)([a-z][a-z0-9]*)/i.exec(html.slice(open, open + 20)) ?? [];
    const name = tag.toLowerCase();
    if (LEFT_OUT.has(name) && !slash) {
      const end = new RegExp(`</${name}\\s*>`, 'gi');
      end.lastIndex = at;
      at = end.exec(html) === null ? html.length : end.lastIndex;
    }
    preformatted = Math.max(0, preformatted + (name !== 'pre' ? 0 : slash ? -1 : 1));
    content += spaceFor(name, slash === '/') + (slash === '/' ? '' : markOf(name));
  }
  const [, title] = /<title[^>]{0,200}>([^<]{0,500})<\/title/i.exec(html.slice(0, 100_000)) ?? [];
  const called = decoded(title ?? '').replace(/\s+/g, ' ').trim();
  const lines = content.split('\n').map((line) => line.trimEnd());
  return { ...(called && { title: called }), content: lines.join('\n').replace(/\n{3,}/g, '\n\n').trim() };
}

/** Returns the position of `text` after `from`, or the end if it does not occur. */
function positionOf(html: string, text: string, from: number): number {
  const at = html.indexOf(text, from);
  return at < 0 ? html.length : at;
}

function spaceFor(name: string, ends: boolean): string {
  return BLOCKS.test(name) ? '\n\n' : LINES.test(name) && !ends ? '\n' : '';
}

function markOf(name: string): string {
  return name === 'li' ? '- ' : /^h[1-6]$/.test(name) ? `${'#'.repeat(Number(name[1]))} ` : '';
}

function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{1,8}));/gi, (whole, decimal, hex, name) => {
    const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : undefined;
    return code === undefined ? (ENTITIES[name] ?? whole) : code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
