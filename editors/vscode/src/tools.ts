// Tools for language models, each of which runs one command of the server. Other chats get all of them, and `@strata` offers the
// read-only ones. `package.json` describes the arguments of a tool, which are those of its command.

import * as vscode from 'vscode';

import type { Strata } from './client';
import { wordsOf } from './client';
import type { Commands, ResultPartInput, Tool as DeclaredTool, ToolResult } from './protocol';
import { json, plain } from './shown';

/** A result whose output is a list of parts. */
type ResultOfParts = ToolResult & { content: ResultPartInput[] };

interface Tool {
  command: keyof Commands;
  /** Message shown while the tool runs, followed by the value of the argument `about`. */
  says: string;
  /** Name of the argument to show. */
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
        invocationMessage: plain(sentenceOf(tool, input)),
        ...(tool.changes && {
          confirmationMessages: { title: tool.says, message: json(input) },
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

/** Runs a read-only command, and removes excluded files from its reply, because commands show them to the user but models must not see them. */
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

/** The tools that a model may call while it answers a question to `@strata`. */
export class OfferedTools {
  private readonly offered: vscode.LanguageModelToolInformation[];

  /** Offers the read-only tools in a fixed order, because every prompt begins with them, and then the tools that the question names. */
  constructor(private readonly request: vscode.ChatRequest) {
    const looking = Object.keys(TOOLS).filter((name) => !TOOLS[name]?.changes);
    const named = request.toolReferences.map(({ name }) => name);
    const known = new Map(vscode.lm.tools.map((tool) => [tool.name, tool]));
    this.offered = [...new Set([...looking, ...named])].map((name) => known.get(name)).filter((tool) => tool !== undefined);
  }

  /** Returns the tools as prompts declare them. */
  declared(): DeclaredTool[] {
    return this.offered.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema ?? { type: 'object' } }));
  }

  /** Returns the tools as the editor's API declares them. */
  forModel(): vscode.LanguageModelChatTool[] {
    return this.declared().map(({ name, description = '', input_schema }) => ({ name, description, inputSchema: input_schema as object }));
  }

  /** Runs tool calls in sequence, which the editor shows in the answer. Errors are returned to the model as results. */
  async answer(calls: readonly vscode.LanguageModelToolCallPart[], token: vscode.CancellationToken): Promise<ResultOfParts[]> {
    const results: ResultOfParts[] = [];
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
