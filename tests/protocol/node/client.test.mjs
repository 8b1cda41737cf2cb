// Tests the real binary with Microsoft's own protocol library, which VS Code uses.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.env.PACKAGES, "package.json"));
const protocol = require("vscode-languageserver-protocol/node");

const ON_DISK = 'pub fn greet() {\n    "on disk"\n}\n';
const greet = () => pathToFileURL(join(repo, "src/greet.rs")).href;

let repo;
let clients;

beforeEach(() => {
  repo = mkdtempSync(join(tmpdir(), "strata-"));
  mkdirSync(join(repo, "src"));
  writeFileSync(join(repo, "src/greet.rs"), ON_DISK);
  clients = [];
});

afterEach(() => {
  for (const { server } of clients) server.kill("SIGKILL");
  rmSync(repo, { recursive: true, force: true });
});

/** Starts a server and connects to it, without sending a message. */
function connect() {
  const server = spawn(process.env.STRATA_BIN, ["serve"], { stdio: ["pipe", "pipe", "ignore"] });
  // The library may still write while the server exits.
  server.stdin.on("error", () => {});
  const reader = new protocol.StreamMessageReader(server.stdout);
  const connection = protocol.createProtocolConnection(reader, new protocol.StreamMessageWriter(server.stdin));
  const ended = new Promise((resolve) => server.on("exit", (code) => resolve(code)));
  const client = { server, connection, ended };
  clients.push(client);
  connection.listen();
  return client;
}

/** Like `connect`, but completes the handshake. */
async function start(options = {}) {
  const client = connect();
  const { connection } = client;
  options.prepare?.(connection);
  client.initialized = await connection.sendRequest(protocol.InitializeRequest.type, {
    processId: process.pid,
    rootUri: null,
    capabilities: options.capabilities ?? {},
    initializationOptions: options.initializationOptions,
    workspaceFolders: [{ uri: pathToFileURL(repo).href, name: "repo" }],
  });
  await connection.sendNotification(protocol.InitializedNotification.type, {});
  client.run = (name, argument = {}) =>
    connection.sendRequest(protocol.ExecuteCommandRequest.type, { command: `strata.${name}`, arguments: [argument] });
  while ((await client.run("server.status")).index !== "ready") await new Promise((later) => setTimeout(later, 10));
  return client;
}

function open({ connection }, text = ON_DISK) {
  const textDocument = { uri: greet(), languageId: "rust", version: 1, text };
  return connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, { textDocument });
}

/** Sends a change without waiting until it is written. */
function change({ connection }, version, start, end, text) {
  const textDocument = { uri: greet(), version };
  const contentChanges = [{ range: { start, end }, text }];
  return connection.sendNotification(protocol.DidChangeTextDocumentNotification.type, { textDocument, contentChanges });
}

const promptOf = async ({ run }) =>
  JSON.stringify((await run("prompt.assemble", { prompt: "What is this?", format: "openai" })).body);

test("typed text is in the prompt, in order", async () => {
  const client = await start();
  open(client);
  await client.run("files.select", { paths: ["src/greet.rs"] });
  const typed = Array.from({ length: 400 }, (_, at) => "abcdefghijklmnopqrstuvwxyzé漢"[at % 28]);
  typed.forEach((key, at) => change(client, at + 2, { line: 0, character: at }, { line: 0, character: at }, key));
  assert.ok((await promptOf(client)).includes(`${typed.join("")}pub fn greet()`));
  const all = { line: 3, character: 0 };
  change(client, 402, { line: 0, character: 0 }, all, "all of it 🦀\n");
  const prompt = await promptOf(client);
  assert.ok(prompt.includes("all of it 🦀"));
  assert.ok(!prompt.includes("on disk"));
});

test("the library accepts the server's capabilities", async () => {
  const { initialized } = await start();
  assert.equal(initialized.capabilities.textDocumentSync.change, protocol.TextDocumentSyncKind.Incremental);
  assert.ok(initialized.capabilities.executeCommandProvider.commands.includes("strata.prompt.assemble"));
  assert.equal(initialized.serverInfo.name, "strata");
});

test("a turn is recorded, and the next prompt continues from it", async () => {
  const client = await start();
  const prompt = await client.run("prompt.assemble", { prompt: "Who é?", format: "anthropic" });
  const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 };
  const recorded = await client.run("prompt.record", { id: prompt.id, response: "Nobody 🦀.", usage });
  assert.equal(recorded.messages, 2);
  assert.ok((await promptOf(client)).includes("Nobody 🦀."));
});

test("an error names the invalid field", async () => {
  const { run } = await start();
  await assert.rejects(run("files.select", { paths: ["../outside"] }), (error) => {
    assert.equal(error.code, protocol.ErrorCodes.InvalidParams);
    assert.equal(error.data.path, "paths[0]");
    return true;
  });
});

test("the server requests settings and applies them", async () => {
  const asked = [];
  const client = await start({
    capabilities: { workspace: { configuration: true } },
    prepare: (connection) =>
      connection.onRequest(protocol.ConfigurationRequest.type, ({ items }) => {
        asked.push(...items);
        return items.map(() => ({ model: "gpt-4o" }));
      }),
  });
  assert.equal((await client.run("server.settings")).settings.model, "gpt-4o");
  assert.equal(asked[0].section, "strata");
});

test("the server reports progress to clients that show it", async () => {
  const kinds = [];
  await start({
    capabilities: { window: { workDoneProgress: true } },
    prepare: (connection) => {
      connection.onRequest(protocol.WorkDoneProgressCreateRequest.type, () => {});
      connection.onUnhandledProgress(({ value }) => kinds.push(value.kind));
    },
  });
  assert.equal(kinds[0], "begin");
});

test("the client writes summaries if it offers to", async () => {
  let asked;
  const client = await start({
    initializationOptions: { requests: ["strata/summarize"], settings: { compaction: { summariser: "client" } } },
    prepare: (connection) =>
      connection.onRequest("strata/summarize", (request) => {
        asked = request;
        return { text: "The summary é." };
      }),
  });
  for (let number = 0; number < 30; number += 1) {
    await client.run("history.addExchange", { user: `question ${number}`, assistant: "words ".repeat(200) });
  }
  const news = await client.run("compaction.run", { profile: "continuation" });
  assert.equal(news.state, "ended");
  assert.ok(asked.prompt.includes("question 3"));
  assert.ok((await promptOf(client)).includes("The summary é."));
});

test("a cancelled request is answered", async () => {
  const { connection } = await start();
  const source = new protocol.CancellationTokenSource();
  const argument = { command: "strata.symbols.map", arguments: [{}] };
  const reply = connection.sendRequest(protocol.ExecuteCommandRequest.type, argument, source.token);
  source.cancel();
  const answer = await reply.then(() => "in time", (error) => error.code);
  assert.ok(answer === "in time" || answer === protocol.LSPErrorCodes.RequestCancelled, String(answer));
});

test("after shutdown and exit, the process exits with 0 although its input is open", async () => {
  const { connection, ended } = await start();
  await connection.sendRequest(protocol.ShutdownRequest.type);
  await connection.sendNotification(protocol.ExitNotification.type);
  assert.equal(await ended, 0);
});

test("after exit without shutdown, the process exits with 1", async () => {
  const { connection, ended } = await start();
  await connection.sendNotification(protocol.ExitNotification.type);
  assert.equal(await ended, 1);
});

test("shutdown may have null parameters, as sent by Emacs", async () => {
  const { connection } = await start();
  assert.equal(await connection.sendRequest("shutdown", null), null);
});
