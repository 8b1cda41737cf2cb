// A client of Strata in thirty lines: `node ask.mjs PATH...` asks a provider each line of standard input about files of this folder.
// Requires `npm install vscode-jsonrpc@10`, which reads and writes the messages.
import { spawn } from "node:child_process";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { StreamMessageReader, StreamMessageWriter, createMessageConnection } from "vscode-jsonrpc/node";

const server = spawn(process.env.STRATA ?? "strata", ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
const connection = createMessageConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
connection.listen();
const strata = (name, argument = {}) => connection.sendRequest("workspace/executeCommand", { command: `strata.${name}`, arguments: [argument] });

try {
  const folder = { uri: pathToFileURL(process.cwd()).href, name: basename(process.cwd()) };
  await connection.sendRequest("initialize", { capabilities: {}, workspaceFolders: [folder] });
  await connection.sendNotification("initialized", {});
  await strata("files.select", { paths: process.argv.slice(2) });
  const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": process.env.ANTHROPIC_API_KEY ?? "" };
  for await (const question of createInterface({ input: process.stdin })) {
    const { id, body: prompt } = await strata("prompt.assemble", { prompt: question.trim(), format: "anthropic" });
    const body = JSON.stringify({ ...prompt, max_tokens: 4096 });
    const reply = await fetch(process.env.PROVIDER ?? "https://api.anthropic.com/v1/messages", { method: "POST", headers, body });
    const { content, usage } = await reply.json();
    const { input_tokens: input, output_tokens: output, cache_read_input_tokens: read, cache_creation_input_tokens: write } = usage;
    await strata("prompt.record", { id, response: content, usage: { input, output, cacheRead: read ?? 0, cacheWrite: write ?? 0 } });
    console.log(content.map((block) => block.text ?? "").join(""));
  }
} catch (problem) {
  console.error(problem.message);
  process.exitCode = 1;
}
server.stdin.end();
