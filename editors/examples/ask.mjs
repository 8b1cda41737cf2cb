// A client of Strata in thirty lines: `node ask.mjs QUESTION PATH...` asks a provider about files of this folder.
// Needs `npm install vscode-jsonrpc@10`, which knows how messages are framed.
import { spawn } from "node:child_process";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { StreamMessageReader, StreamMessageWriter, createMessageConnection } from "vscode-jsonrpc/node";

const server = spawn(process.env.STRATA ?? "strata", ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
const connection = createMessageConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
connection.listen();
const strata = (name, argument = {}) =>
  connection.sendRequest("workspace/executeCommand", { command: `strata.${name}`, arguments: [argument] });

const [question, ...paths] = process.argv.slice(2);
const folder = { uri: pathToFileURL(process.cwd()).href, name: basename(process.cwd()) };
try {
  await connection.sendRequest("initialize", { capabilities: {}, workspaceFolders: [folder] });
  await connection.sendNotification("initialized", {});
  while ((await strata("server.status")).index !== "ready") await new Promise((later) => setTimeout(later, 50));
  await strata("files.select", { paths });
  const prompt = await strata("prompt.assemble", { prompt: question, format: "anthropic" });
  const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": process.env.ANTHROPIC_API_KEY ?? "" };
  const body = JSON.stringify({ ...prompt.body, max_tokens: 4096 });
  const reply = await fetch(process.env.PROVIDER ?? "https://api.anthropic.com/v1/messages", { method: "POST", headers, body });
  const { content, usage } = await reply.json();
  const cached = { cacheRead: usage.cache_read_input_tokens ?? 0, cacheWrite: usage.cache_creation_input_tokens ?? 0 };
  const billed = { input: usage.input_tokens, output: usage.output_tokens, ...cached };
  await strata("prompt.record", { id: prompt.id, response: content, usage: billed });
  console.log(content.map((block) => block.text ?? "").join(""));
} catch (problem) {
  console.error(problem.message);
  process.exitCode = 1;
}
server.stdin.end();
