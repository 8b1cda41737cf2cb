// The only module that talks to the server: starts it, restarts it after a crash, sends commands, and forwards its
// notifications. Keeps the latest status and the id of the session, but no other state of the context.

import * as vscode from 'vscode';
import { CloseAction, ErrorAction, LanguageClient, State } from 'vscode-languageclient/node';
import type { LanguageClientOptions } from 'vscode-languageclient/node';

import { findBinary } from './binary';
import type { Commands, Compaction, CountTokens, Delta, Notifications, Status, Summarize, Warning } from './protocol';
import { SELECTOR } from './resources';
import { chosenSettings } from './settings';
import { fail } from './shown';

/** Key under which the id of the last session is stored, to resume it when the workspace is opened again. */
const LAST_SESSION = 'session';

/** Number of crashes within `DEATHS_WITHIN_MS` after which the server is not restarted automatically. */
const DEATHS = 5;
const DEATHS_WITHIN_MS = 3 * 60_000;

/** State of the server. */
export type Life = 'starting' | 'running' | 'stopped';

/** Handlers for the server's requests to the client, by method name. */
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

  /** Fires when the server reports the context meter. */
  readonly onStatus = this.statusEmitter.event;
  readonly onWarning = this.warningEmitter.event;
  readonly onCompaction = this.compactionEmitter.event;
  /** Fires for each piece of an answer that the server streams. */
  readonly onDelta = this.deltaEmitter.event;
  readonly onLife = this.lifeEmitter.event;
  /** Fires when the displayed context may be out of date. */
  readonly onChange = this.changeEmitter.event;

  private language: LanguageClient | undefined;
  /** Resolves when the previous server has exited. */
  private ending: Promise<void> = Promise.resolve();
  /** Number of restarts requested so far. */
  private restarts = 0;
  private lastStatus: Status | undefined;
  private deaths: number[] = [];
  /** The setting `strata.path`, which a workspace's settings cannot override. */
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
          // The server then requests the values.
          void this.language.sendNotification('workspace/didChangeConfiguration', { settings: null });
        }
      }),
      // Restart, because the server learns only at startup whether the workspace is trusted.
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.restart()),
    );
  }

  /** The status that the server reported last. */
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

  /** Starts the server. Shows errors to the user instead of throwing them. */
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
      // Ignore the error if the server was stopped while it was starting.
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
    // If several restarts overlap, only the last one starts the server.
    if (mine === this.restarts) {
      await this.start();
    }
  }

  async stop(): Promise<void> {
    const language = this.language;
    this.language = undefined;
    if (language?.needsStop()) {
      // `dispose` fails if the server hangs or has not started yet. The library then kills it.
      this.ending = language.dispose().catch((error) => this.output.warn(`the server did not exit: ${wordsOf(error)}`));
    }
    await this.ending;
    this.lifeEmitter.fire('stopped');
  }

  dispose(): void {
    void this.stop();
    this.output.dispose();
  }

  /** Sends a command that changes nothing. */
  async ask<Name extends keyof Commands>(
    command: Name,
    params: Commands[Name]['params'],
    token?: vscode.CancellationToken,
  ): Promise<Commands[Name]['reply']> {
    if (this.language === undefined) {
      throw new Error('The Strata server is not running.');
    }
    const call = { command, arguments: [params] };
    // Omit an absent token, because the library would send `undefined` as a parameter of the request.
    return token === undefined
      ? this.language.sendRequest('workspace/executeCommand', call)
      : this.language.sendRequest('workspace/executeCommand', call, token);
  }

  /** Sends a command that changes something, and then refreshes all views. */
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

  /** Refreshes all views. */
  refresh(): void {
    this.changeEmitter.fire();
  }

  /** Returns the options of a client. `isMeant` returns whether that client is still in use. */
  private options(isMeant: () => boolean): LanguageClientOptions {
    const { extension, workspaceState } = this.context;
    return {
      documentSelector: SELECTOR,
      outputChannel: this.output,
      // A function, so that a restarted server resumes the session that was open when it crashed.
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
    const choice = await fail(message, 'Restart', 'Open Settings', 'Show Log');
    if (choice === 'Restart') {
      await this.restart();
    } else if (choice === 'Open Settings') {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'strata.path');
    } else if (choice === 'Show Log') {
      this.output.show();
    }
  }
}

/** Returns the message of an error. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
