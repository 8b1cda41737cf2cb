// Tests the server for agents with the protocol's official TypeScript client, in every version of the protocol that it knows.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

const require = createRequire(join(process.env.PACKAGES, "package.json"));
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { LATEST_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS } = require("@modelcontextprotocol/sdk/types.js");

let repo;

before(() => {
  repo = mkdtempSync(join(tmpdir(), "strata-"));
  mkdirSync(join(repo, "src"));
  writeFileSync(join(repo, "src/greet.py"), "def greet_person(name):\n    return name\n\n\ngreet_person('you')\n");
});

after(() => rmSync(repo, { recursive: true, force: true }));

/** A transport that asks for one version of the protocol, where the client would ask for the newest. */
class OfVersion extends StdioClientTransport {
  constructor(version) {
    const { STRATA_BIN, STRATA_STATE_DIR, STRATA_CACHE_DIR } = process.env;
    super({ command: STRATA_BIN, args: ["mcp", repo], env: { STRATA_STATE_DIR, STRATA_CACHE_DIR }, stderr: "ignore" });
    this.version = version;
  }

  send(message, options) {
    if (message.method === "initialize") message.params.protocolVersion = this.version;
    return super.send(message, options);
  }

  setProtocolVersion(version) {
    this.agreed = version;
  }
}

for (const version of SUPPORTED_PROTOCOL_VERSIONS) {
  test(`version ${version}`, async () => {
    const transport = new OfVersion(version);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    try {
      // A version from before the first one published is answered with the newest that both know.
      assert.equal(transport.agreed, version < "2024-11-05" ? LATEST_PROTOCOL_VERSION : version);
      // The client compiles the schemas of all results, and checks each result against its schema.
      const { tools } = await client.listTools();
      assert.ok(tools.length > 10 && tools.every(({ inputSchema }) => inputSchema.type === "object"));
      for (const [name, args, expected] of [
        ["map", {}, "greet_person"],
        ["context", { query: "greet a person" }, "src/greet.py"],
        ["references", { name: "greet_person" }, "complete by name"],
        ["files_read", { path: "src/greet.py:5: greet" }, "greet_person('you')"],
        ["outline", { path: "src/greet.py#greet_person" }, "greet_person"],
      ]) {
        const result = await client.callTool({ name, arguments: args });
        assert.ok(!result.isError && result.content[0].text.includes(expected), `${name}: ${result.content[0].text}`);
      }
      const { resources } = await client.listResources();
      assert.ok(resources.some(({ uri }) => uri === "strata://prompt"));
      assert.deepEqual(await client.ping(), {});
    } finally {
      await client.close();
    }
  });
}
