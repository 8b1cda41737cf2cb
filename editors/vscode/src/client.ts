// The one place that talks to the server: starts it, starts it again when it dies, sends commands, hands on what it
// says. It keeps the last thing it heard of the meter and the name of the session, and no state of the context.

import * as vscode from 'vscode';
import { CloseAction, ErrorAction, LanguageClient, State } from 'vscode-languageclient/node';
import type { LanguageClientOptions } from 'vscode-languageclient/node';

import { findBinary } from './binary';
import type { Commands, Compaction, CountTokens, Delta, Notifications, Status, Summarize, Warning } from './protocol';
import { SELECTOR } from './resources';
import { chosenSettings } from './settings';

/** Where the name of the last session is kept, for the next time this workspace is opened. */
const LAST_SESSION = 'session';

/** So many deaths within `DEATHS_WITHIN_MS` and the server is not started again by itself. */
const DEATHS = 5;
const DEATHS_WITHIN_MS = 3 * 60_000;

/** How the server is doing. */
export type Life = 'starting' | 'running' | 'stopped';

/** Answers what the server asks of the client, by name. */
export interface Answers {
  'strata/summarize': (params: Summarize, token: vscode.CancellationToken) => Promise<{ text: string; model: string }>;
  'strata/countTokens': (params: CountTokens, token: vscode.CancellationToken) => Promise<{ inputTokens: number }>;
}

function configuredPath(): string {
  return vscode.workspace.getConfiguration('strata').get('path', '');
}

export class Strata implements vscode.Disposable {
  readonly output = vscode.window.createOutputChannel('Strata', { log: true });

  private readonly statusEmitter = new vscode.EventEmitter<Status>();
  private readonly warningEmitter = new vscode.EventEmitter<Warning>();
  private readonly compactionEmitter = new vscode.EventEmitter<Compaction>();
  private readonly deltaEmitter = new vscode.EventEmitter<Delta>();
  private readonly lifeEmitter = new vscode.EventEmitter<Life>();
  private readonly changeEmitter = new vscode.EventEmitter<void>();

  /** The context meter was told. */
  readonly onStatus = this.statusEmitter.event;
  readonly onWarning = this.warningEmitter.event;
  readonly onCompaction = this.compactionEmitter.event;
  /** A piece of an answer that the server asked for. */
  readonly onDelta = this.deltaEmitter.event;
  readonly onLife = this.lifeEmitter.event;
  /** What was shown of the context may be out of date. */
  readonly onChange = this.changeEmitter.event;

  private language: LanguageClient | undefined;
  /** The end of the server before. */
  private ending: Promise<void> = Promise.resolve();
  /** How often it was to be started again. */
  private restarts = 0;
  private lastStatus: Status | undefined;
  private deaths: number[] = [];
  /** The setting `strata.path`. A workspace's file may name it too, which changes nothing. */
  private path = configuredPath();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly answers: Answers,
  ) {
    context.subscriptions.push(
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (configuredPath() !== this.path) {
          this.path = configuredPath();
          void this.restart();
        } else if (event.affectsConfiguration('strata') && this.language?.isRunning()) {
          // The server asks for the values.
          void this.language.sendNotification('workspace/didChangeConfiguration', { settings: null });
        }
      }),
      // Whether the workspace is trusted is said once, at the start.
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.restart()),
    );
  }

  /** The meter as it was told last. */
  get status(): Status | undefined {
    return this.lastStatus;
  }

  get life(): Life {
    switch (this.language?.state) {
      case State.Running:
        return 'running';
      case State.Starting:
        return 'starting';
      default:
        return 'stopped';
    }
  }

  /** Starts the server. Does not throw: what went wrong is shown to the user. */
  async start(): Promise<void> {
    let language: LanguageClient | undefined;
    try {
      const binary = findBinary({
        configured: this.path,
        extension: this.context.extensionPath,
        searchPath: process.env['PATH'] ?? '',
      });
      this.output.info(`starting ${binary}`);
      const isMeant = () => language === this.language;
      language = new LanguageClient('strata', 'Strata', { command: binary, args: ['serve'] }, this.options(isMeant));
      this.language = language;
      this.listen(language);
      await language.start();
    } catch (error) {
      // One that was ended while it started is no one's business any more.
      if (language === this.language) {
        this.lifeEmitter.fire('stopped');
        void this.offerRestart(`Strata failed to start. ${wordsOf(error)}`);
      }
    }
  }

  async restart(): Promise<void> {
    this.deaths = [];
    this.restarts += 1;
    const mine = this.restarts;
    await this.stop();
    // Of several at once the last one starts it: each would start a server of its own.
    if (mine === this.restarts) {
      await this.start();
    }
  }

  async stop(): Promise<void> {
    const language = this.language;
    this.language = undefined;
    if (language?.needsStop()) {
      // One that hangs, or has not started yet, is an error here; the library kills it.
      this.ending = language.dispose().catch((error) => this.output.warn(`the server did not exit: ${wordsOf(error)}`));
    }
    await this.ending;
    this.lifeEmitter.fire('stopped');
  }

  dispose(): void {
    void this.stop();
    this.output.dispose();
  }

  /** Sends a command that only looks. */
  async ask<Name extends keyof Commands>(
    command: Name,
    params: Commands[Name]['params'],
    token?: vscode.CancellationToken,
  ): Promise<Commands[Name]['reply']> {
    if (this.language === undefined) {
      throw new Error('The Strata server is not running.');
    }
    const call = { command, arguments: [params] };
    // Without a token: the library takes `undefined` for a parameter of the request.
    return token === undefined
      ? this.language.sendRequest('workspace/executeCommand', call)
      : this.language.sendRequest('workspace/executeCommand', call, token);
  }

  /** Sends a command that changes something, after which everything that is shown is asked for again. */
  async tell<Name extends keyof Commands>(
    command: Name,
    params: Commands[Name]['params'],
    token?: vscode.CancellationToken,
  ): Promise<Commands[Name]['reply']> {
    try {
      return await this.ask(command, params, token);
    } finally {
      this.changeEmitter.fire();
    }
  }

  /** Has everything that is shown asked for again. */
  refresh(): void {
    this.changeEmitter.fire();
  }

  /** `isMeant` says whether the client that these are for has not been given up. */
  private options(isMeant: () => boolean): LanguageClientOptions {
    const { extension, workspaceState } = this.context;
    return {
      documentSelector: SELECTOR,
      outputChannel: this.output,
      // A function: a server that is started again is told of the session that was open when it died.
      initializationOptions: () => ({
        settings: chosenSettings(extension),
        resume: workspaceState.get<string>(LAST_SESSION),
        trusted: vscode.workspace.isTrusted,
        requests: Object.keys(this.answers),
      }),
      middleware: {
        workspace: {
          configuration: ({ items }) =>
            items.map(({ scopeUri }) =>
              chosenSettings(extension, scopeUri === undefined ? undefined : vscode.Uri.parse(scopeUri)),
            ),
        },
      },
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue }),
        closed: () => (isMeant() ? this.died() : { action: CloseAction.DoNotRestart, handled: true }),
      },
    };
  }

  private listen(language: LanguageClient): void {
    const on = <Name extends keyof Notifications>(name: Name, hear: (params: Notifications[Name]) => void) =>
      language.onNotification(name, hear);
    on('strata/status', (status) => this.heard(status));
    on('strata/warning', (warning) => this.warningEmitter.fire(warning));
    on('strata/delta', (delta) => this.deltaEmitter.fire(delta));
    on('strata/compaction', (news) => {
      this.compactionEmitter.fire(news);
      this.changeEmitter.fire();
    });
    language.onRequest('strata/summarize', this.answers['strata/summarize']);
    language.onRequest('strata/countTokens', this.answers['strata/countTokens']);
    language.onDidChangeState(({ newState }) => {
      this.lifeEmitter.fire(this.life);
      if (newState === State.Running) {
        this.changeEmitter.fire();
      }
    });
  }

  private heard(status: Status): void {
    if (status.session !== this.lastStatus?.session) {
      void this.context.workspaceState.update(LAST_SESSION, status.session);
    }
    this.lastStatus = status;
    this.statusEmitter.fire(status);
    this.changeEmitter.fire();
  }

  private died(): { action: CloseAction; handled: boolean } {
    const now = Date.now();
    this.deaths = [...this.deaths.filter((death) => now - death < DEATHS_WITHIN_MS), now];
    if (this.deaths.length < DEATHS) {
      this.output.warn('the server exited and is restarting');
      return { action: CloseAction.Restart, handled: true };
    }
    void this.offerRestart(`The Strata server exited ${DEATHS} times within three minutes.`);
    return { action: CloseAction.DoNotRestart, handled: true };
  }

  private async offerRestart(message: string): Promise<void> {
    const choice = await vscode.window.showErrorMessage(message, 'Start Again', 'Open Settings', 'Show Log');
    if (choice === 'Start Again') {
      await this.restart();
    } else if (choice === 'Open Settings') {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'strata.path');
    } else if (choice === 'Show Log') {
      this.output.show();
    }
  }
}

/** What an error says to the user. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
