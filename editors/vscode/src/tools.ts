// Tools for language models: each is one command of the server. Other chats get all of them, `@strata` offers those that only look. What
// a tool takes is described in `package.json`, and is what its command takes.

import * as vscode from 'vscode';

import type { Strata } from './client';
import { wordsOf } from './client';
import type { Commands, Tool as DeclaredTool, ToolResult } from './protocol';

interface Tool {
  command: keyof Commands;
  /** What is shown while it runs, followed by what it is about. */
  says: string;
  /** The argument that says what it is about. */
  about?: string;
  changes: boolean;
}

const TOOLS: Record<string, Tool> = {
  strata_map: { command: 'strata.symbols.map', says: 'Reading the symbol map', changes: false },
  strata_relevant: { command: 'strata.symbols.relevant', says: 'Finding relevant code', about: 'query', changes: false },
  strata_find_symbol: { command: 'strata.symbols.find', says: 'Finding definitions', about: 'query', changes: false },
  strata_outline: { command: 'strata.symbols.file', says: 'Reading an outline', about: 'path', changes: false },
  strata_references: { command: 'strata.symbols.references', says: 'Finding references', about: 'name', changes: false },
  strata_read: { command: 'strata.files.read', says: 'Reading', about: 'path', changes: false },
  strata_grep: { command: 'strata.files.grep', says: 'Searching in files', about: 'pattern', changes: false },
  strata_search_memory: { command: 'strata.memory.search', says: 'Searching memory', about: 'query', changes: false },
  strata_remember: { command: 'strata.memory.add', says: 'Saving a note', changes: true },
  strata_select_files: { command: 'strata.files.select', says: 'Adding files to the context', changes: true },
};

export function registerTools(strata: Strata): vscode.Disposable {
  const registered = Object.entries(TOOLS).map(([name, tool]) =>
    vscode.lm.registerTool<Record<string, unknown>>(name, {
      prepareInvocation: ({ input }) => ({
        invocationMessage: sentenceOf(tool, input),
        ...(tool.changes && {
          confirmationMessages: { title: tool.says, message: new vscode.MarkdownString().appendCodeblock(JSON.stringify(input, null, 2), 'json') },
        }),
      }),
      invoke: async ({ input }, token) => {
        const reply = tool.changes ? await strata.tell(tool.command, input as never, token) : await look(strata, tool, input, token);
        return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(JSON.stringify(reply))]);
      },
    }),
  );
  return vscode.Disposable.from(...registered);
}

/** What a command replies, without the files that a model is to see nothing of: a command answers you, who may see them. */
async function look(strata: Strata, { command }: Tool, input: object, token: vscode.CancellationToken): Promise<object> {
  const reply: object = await strata.ask(command, input as never, token);
  const { path: about } = reply as { path?: unknown };
  const { files } = await strata.ask('strata.files.list', {}, token);
  const excluded = new Set<unknown>(files.flatMap(({ path, state }) => (state === 'excluded' ? [path] : [])));
  if (excluded.has(about)) {
    throw new Error(`${about} is excluded from the context.`);
  }
  const isShown = (entry: unknown) => !excluded.has((entry as { path?: unknown } | null)?.path ?? entry);
  return Object.fromEntries(Object.entries(reply).map(([name, value]) => [name, Array.isArray(value) ? value.filter(isShown) : value]));
}

function sentenceOf({ says, about }: Tool, input: Record<string, unknown>): string {
  const what = about === undefined ? undefined : input[about];
  return typeof what === 'string' ? `${says}: ${what}` : says;
}

/** The tools of one answer of `@strata`. */
export class OfferedTools {
  private readonly offered: vscode.LanguageModelToolInformation[];

  /** Those that only look, in an order that stays, since they begin every prompt; then those that the question names. */
  constructor(private readonly request: vscode.ChatRequest) {
    const looking = Object.keys(TOOLS).filter((name) => !TOOLS[name]?.changes);
    const named = request.toolReferences.map(({ name }) => name);
    const known = new Map(vscode.lm.tools.map((tool) => [tool.name, tool]));
    this.offered = [...new Set([...looking, ...named])].map((name) => known.get(name)).filter((tool) => tool !== undefined);
  }

  /** As prompts declare them. */
  declared(): DeclaredTool[] {
    return this.offered.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema ?? { type: 'object' } }));
  }

  /** As the editor's models take them. */
  forModel(): vscode.LanguageModelChatTool[] {
    return this.declared().map(({ name, description = '', input_schema }) => ({ name, description, inputSchema: input_schema as object }));
  }

  /** Answers calls one after the other; the editor shows each in the answer. A call that fails says so to the model. */
  async answer(calls: readonly vscode.LanguageModelToolCallPart[], token: vscode.CancellationToken): Promise<ToolResult[]> {
    const results: ToolResult[] = [];
    for (const { callId, name, input } of calls) {
      try {
        if (!this.offered.some((tool) => tool.name === name)) {
          throw new Error(`Unknown tool ${name}.`);
        }
        const { toolInvocationToken } = this.request;
        const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken }, token);
        results.push({ callId, content: content.map((part) => ({ type: 'text', text: textOf(part) })) });
      } catch (error) {
        results.push({ callId, content: [{ type: 'text', text: wordsOf(error) }], outcome: 'error' });
      }
    }
    return results;
  }
}

function textOf(part: unknown): string {
  return part instanceof vscode.LanguageModelTextPart ? part.value : '[not text]';
}
