"""Measures what an agent spends to find code in a repository: five look-ups for each of several functions of Django, only with the tools
of `strata mcp`. Prints the calls and tokens of each look-up, and exits with 1 if a look-up is wrong, or takes more than three calls or
3,000 tokens.

    STRATA_BIN=target/release/strata python look_ups.py TREE [NAME...]

The agent follows fixed steps, like a model that has read the descriptions of the tools. An answer is right if it contains everything that
a plain search of the tree finds. Tokens are counted by `count_tokens` for gpt-4o, in the larger form of each result (text or structured
content).
"""

import ast
import asyncio
import json
import os
import pathlib
import re
import sys
import tempfile

from mcp import Client, StdioServerParameters

NAMES = ["salted_hmac", "get_cookie_signer", "get_default_password_validators"]
MOST_CALLS, MOST_TOKENS = 3, 3_000
# Token limit for each of two results.
HALF = MOST_TOKENS // 2


class Agent:
    def __init__(self, client: Client):
        self.client = client
        self.results: list[tuple[str, str]] = []

    async def call(self, tool: str, **arguments) -> dict:
        result = await self.client.call_tool(tool, arguments)
        [block] = result.content
        if result.is_error:
            raise RuntimeError(f"{tool}: {block.text}")
        self.results.append((block.text, json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))))
        return result.structured_content

    async def tokens(self) -> int:
        total = 0
        for forms in self.results:
            weights = []
            for text in forms:
                counted = await self.client.call_tool("count_tokens", {"text": text, "model": "gpt-4o"})
                weights.append(counted.structured_content["tokens"])
            total += max(weights)
        return total

    def said(self) -> str:
        return "\n".join(text for text, _ in self.results)


class Truth:
    """The facts about a function that a plain search of the tree finds."""

    def __init__(self, tree: pathlib.Path, name: str):
        self.calls: dict[str, list[int]] = {}
        for path in sorted(tree.rglob("*.py")):
            text = path.read_text(encoding="utf-8", errors="replace")
            if name not in text:
                continue
            key = path.relative_to(tree).as_posix()
            lines = text.splitlines()
            for number, line in enumerate(lines, 1):
                if re.match(rf"\s*def {name}\(", line):
                    self.path, self.line = key, number
                elif re.search(rf"(?<!\w){name}\(", line):
                    self.calls.setdefault(key, []).append(number)
        source = (tree / self.path).read_text(encoding="utf-8")
        [definition] = [
            node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef) and node.name == name
        ]
        self.last_line = source.splitlines()[definition.end_lineno - 1].strip()
        self.settings = sorted(
            {
                node.attr
                for node in ast.walk(definition)
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "settings"
            }
        )


async def where_is_it_defined(agent: Agent, name: str, truth: Truth) -> bool:
    found = await agent.call("symbols", query=name, limit=5)
    first = found["symbols"][0]
    return (first["path"], first["line"]) == (truth.path, truth.line)


async def who_calls_it(agent: Agent, name: str, truth: Truth) -> bool:
    await agent.call("references", name=name, max_tokens=MOST_TOKENS - 100)
    return all(path in agent.said() for path in truth.calls)


async def read_its_body(agent: Agent, name: str, truth: Truth) -> bool:
    found = await agent.call("symbols", query=name, limit=1)
    read = await agent.call("files_read", path=f"{found['symbols'][0]['path']}#{name}", max_tokens=MOST_TOKENS - 300)
    return read["from"] <= truth.line and read["text"].rstrip().endswith(truth.last_line)


async def what_breaks_if_its_signature_changes(agent: Agent, name: str, truth: Truth) -> bool:
    found = await agent.call("grep", pattern=rf"\b{name}\(", max_tokens=MOST_TOKENS - 100)
    lines = {file["path"]: [line["line"] for line in file["lines"]] for file in found["files"]}
    return all(set(numbers) <= set(lines.get(path, [])) for path, numbers in truth.calls.items())


async def which_settings_feed_it(agent: Agent, name: str, truth: Truth) -> bool:
    found = await agent.call("symbols", query=name, limit=1)
    read = await agent.call("files_read", path=f"{found['symbols'][0]['path']}#{name}", max_tokens=HALF)
    settings = sorted(set(re.findall(r"\bsettings\.([A-Z][A-Z_0-9]*)", read["text"])))
    pattern = rf"^({'|'.join(settings)})\s*="
    defaults = await agent.call("grep", pattern=pattern, paths=["django/conf/global_settings.py"], max_tokens=HALF)
    defined = {line["text"].split("=")[0].strip() for file in defaults["files"] for line in file["lines"]}
    return set(truth.settings) <= set(settings) and set(truth.settings) <= defined


LOOK_UPS = [
    where_is_it_defined,
    who_calls_it,
    read_its_body,
    what_breaks_if_its_signature_changes,
    which_settings_feed_it,
]


async def main(tree: pathlib.Path, names: list[str]) -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as state:
        environment = {"STRATA_STATE_DIR": state, "STRATA_CACHE_DIR": f"{state}/cache"}
        server = StdioServerParameters(command=os.environ["STRATA_BIN"], args=["mcp", str(tree)], env=environment)
        async with Client(server) as client:
            print(f"{'function':33}{'look-up':40}{'calls':>5}{'tokens':>8}  right")
            for name in names:
                truth = Truth(tree, name)
                for look_up in LOOK_UPS:
                    agent = Agent(client)
                    is_right = await look_up(agent, name, truth)
                    calls, tokens = len(agent.results), await agent.tokens()
                    holds = is_right and calls <= MOST_CALLS and tokens <= MOST_TOKENS
                    failed += not holds
                    print(f"{name:33}{look_up.__name__.replace('_', ' '):40}{calls:5}{tokens:8}  {'yes' if is_right else 'NO'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] or NAMES)))
