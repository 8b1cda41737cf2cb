"""Tests the server for agents with the protocol's official Python client, in both of the protocol's lifecycles, and with raw lines.

Each test starts its own server on a small repository.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import re
import subprocess
import threading

import pytest
from mcp import Client, MCPError, StdioServerParameters

# Timeout in seconds, reached only if something hangs.
LIMIT = 60

ENVIRONMENT = ("STRATA_STATE_DIR", "STRATA_CACHE_DIR")

TOOLS = [
    "map", "context", "symbols", "outline", "references", "dependents", "files_find", "files_read", "grep", "files_changed", "files_list",
    "files_select", "files_deselect", "files_exclude", "files_include", "rules", "memory_search", "memory_add", "tool_output_read", "count_tokens",
]
CHANGING = ["files_select", "files_deselect", "files_exclude", "files_include", "memory_add"]


@pytest.fixture
def repo(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/greet.py").write_text('def greet_person(name):\n    """Says hello."""\n    return "hello " + name\n')
    (tmp_path / "src/app.py").write_text("from greet import greet_person\n\n\ndef main():\n    print(greet_person('you'))\n")
    (tmp_path / "notes.txt").write_text("".join(f"line {n}\n" for n in range(1, 2001)))
    (tmp_path / ".env").write_text("TOKEN=not-for-models\n")
    return tmp_path


@contextlib.asynccontextmanager
async def connected(repo: pathlib.Path, *arguments: str, mode: str = "auto"):
    environment = {name: os.environ[name] for name in ENVIRONMENT}
    server = StdioServerParameters(
        command=os.environ["STRATA_BIN"], args=["mcp", *arguments, str(repo)], env=environment
    )
    async with asyncio.timeout(LIMIT), Client(server, mode=mode) as client:
        yield client


# `legacy` uses the handshake of all versions before July 2026; `auto` sends self-contained requests.
@pytest.fixture(params=["legacy", "auto"])
def mode(request) -> str:
    return request.param


def text(result) -> str:
    [block] = result.content
    return block.text


async def call(client: Client, tool: str, **arguments):
    """Returns a tool's structured reply. The client checks it against the schema provided by the server."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text(result)
    return result.structured_content


async def refused(client: Client, tool: str, **arguments) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text(result)
    return text(result)


async def test_the_server_introduces_itself_and_its_tools(repo, mode):
    async with connected(repo, mode=mode) as client:
        assert client.server_info.name == "strata"
        assert str(repo) in client.instructions
        assert (client.protocol_version >= "2026-07-28") == (mode == "auto")
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools) == TOOLS
    for name, tool in tools.items():
        assert len(tool.description) > 20 and tool.title and tool.output_schema["type"] == "object", name
        assert tool.annotations.read_only_hint == (name not in CHANGING), name
        assert tool.annotations.destructive_hint is False and tool.annotations.open_world_hint is False, name
        given = tool.input_schema["properties"]
        assert "session" not in given and "confirmSecrets" not in given, name
    assert tools["context"].input_schema["required"] == ["query"]


async def test_the_code_is_known(repo, mode):
    async with connected(repo, mode=mode) as client:
        result = await client.call_tool("map", {})
        assert "greet_person(name)" in text(result) and "src/app.py" in text(result)
        assert result.structured_content["text"] in text(result)
        found = await call(client, "symbols", query="grtprsn")
        assert [(symbol["path"], symbol["line"]) for symbol in found["symbols"]] == [("src/greet.py", 1)]
        outline = await call(client, "outline", path="src/app.py")
        assert "4-5 " in outline["text"] and "main()" in outline["text"] and "print" not in outline["text"]
        body = await client.call_tool("files_read", {"path": "src/app.py#main"})
        assert text(body) == "src/app.py#L4-5 of 5 lines\ndef main():\n    print(greet_person('you'))\n"
        lines = await client.call_tool("grep", {"pattern": "greet_person\\("})
        assert text(lines).splitlines() == ["src/app.py", "5:     print(greet_person('you'))", "src/greet.py", "1: def greet_person(name):"]
        assert "did you mean `src/app.py`" in await refused(client, "outline", path="src/ap.py")
        references = await call(client, "references", name="greet_person")
        assert ("src/greet.py", True) in [(hit["path"], hit.get("definition", False)) for hit in references["hits"]]
        [definition] = references["definitions"]
        assert definition["path"] == "src/greet.py"
        assert [referrer["path"] for referrer in definition["referrers"]] == ["src/app.py"]
        about = await call(client, "dependents", path="src/greet.py")
        assert about["dependents"] == ["src/app.py"]
        items = (await call(client, "context", query="what does greet_person say?"))["items"]
        assert items[0]["path"] == "src/greet.py"
        files = await call(client, "files_find", query="app")
        assert [file["path"] for file in files["files"]] == ["src/app.py"]
        counted = await client.call_tool("count_tokens", {"text": "hello world", "model": "gpt-4o"})
        assert counted.structured_content["tokens"] == 2 and text(counted) == "2 tokens for gpt-4o"


async def test_what_changes_on_disk_is_seen_by_the_next_call(repo):
    async with connected(repo) as client:
        assert (await call(client, "symbols", query="farewell"))["symbols"] == []
        (repo / "src/farewell.py").write_text("def farewell():\n    pass\n")
        [symbol] = (await call(client, "symbols", query="farewell"))["symbols"]
        assert symbol["path"] == "src/farewell.py"


async def test_results_keep_to_their_budget_and_go_on(repo):
    async with connected(repo) as client:
        parts, cursor = [], None
        while True:
            arguments = {"path": "notes.txt", "max_tokens": 500} | ({"cursor": cursor} if cursor else {})
            result = await client.call_tool("files_read", arguments)
            said = await call(client, "count_tokens", text=json.dumps(result.structured_content))
            assert said["tokens"] < 600, "only slightly above the limit, since Python's JSON contains spaces"
            parts.append(result.structured_content["text"])
            assert parts[-1].endswith("\n")
            cursor = result.structured_content.get("nextCursor")
            if cursor is None:
                break
            assert cursor in text(result), "the cursor is also in the text for models"
        assert len(parts) > 5 and "".join(parts) == (repo / "notes.txt").read_text()

        for n in range(300):
            (repo / f"src/part_{n}.py").write_text(f"def part_{n}():\n    pass\n")
        names, cursor = [], None
        while True:
            arguments = {"query": "part", "limit": 1000, "max_tokens": 1000} | ({"cursor": cursor} if cursor else {})
            page = await call(client, "symbols", **arguments)
            names += [symbol["name"] for symbol in page["symbols"]]
            cursor = page.get("nextCursor")
            if cursor is None:
                break
        assert sorted(names) == sorted(f"part_{n}" for n in range(300))

        small = await client.call_tool("map", {"max_tokens": 400})
        assert small.structured_content["leftOut"] > 200 and "max_tokens" in text(small)
        assert (await call(client, "count_tokens", text=text(small)))["tokens"] <= 400
        changed = await client.call_tool("files_select", {"paths": ["src"], "max_tokens": 300})
        shown = changed.structured_content
        assert shown["more"] + len(shown["changed"]) == 302


async def test_errors_are_results_that_say_what_to_do(repo, mode):
    async with connected(repo, mode=mode) as client:
        assert "nowhere.py" in await refused(client, "outline", path="nowhere.py")
        assert "`query`" in await refused(client, "context")
        assert "no such field" in await refused(client, "map", **{"no such field": 1})
        assert "max_tokens" in await refused(client, "map", max_tokens=0)
        assert "cursor" in await refused(client, "files_read", path="notes.txt", cursor="elsewhere")
        assert "paths[0]" in await refused(client, "files_select", paths=["../outside"])
        assert "`query`" in await refused(client, "symbols", query=5)
        with pytest.raises(MCPError, match="unknown tool `rm`"):
            await client.call_tool("rm", {})
        assert (await call(client, "files_list"))["files"] == [], "a failed call changed the selection"


async def test_secrets_stay_here(repo):
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"
    (repo / "src/config.py").write_text(f'GITHUB = "{token}"\n')
    async with connected(repo) as client:
        read = await client.call_tool("files_read", {"path": "src/config.py"})
        assert token not in text(read) and "[secret:" in text(read)
        assert "suggests secrets" in await refused(client, "files_read", path=".env")
        selected = await call(client, "files_select", paths=["*", "src"])
        assert [file["path"] for file in selected["withheld"]] == [".env"]
        assert "confirmSecrets" in await refused(client, "files_select", paths=[".env"], confirmSecrets=[".env"])
        await refused(client, "files_select", paths=[".env"])
        [prompt] = (await client.read_resource("strata://prompt")).contents
        assert "GITHUB" in prompt.text and token not in prompt.text and "not-for-models" not in prompt.text
        await call(client, "memory_add", text=f"the key is {token}")
        found = await client.call_tool("memory_search", {"query": "key"})
        assert "the key is" in text(found) and token not in text(found)


async def test_selections_reach_the_prompt(repo, mode):
    async with connected(repo, mode=mode) as client:
        selected = await call(client, "files_select", paths=["src/greet.py", "notes.txt#L10-12"])
        assert selected == {"changed": ["notes.txt", "src/greet.py"], "withheld": []}
        listed = (await call(client, "files_list"))["files"]
        assert [(file["path"], file["state"], file.get("lines")) for file in listed] == [
            ("notes.txt", "selected", ["L10-12"]), ("src/greet.py", "selected", None)
        ]
        [prompt] = (await client.read_resource("strata://prompt?text=Why%3F")).contents
        assert prompt.mime_type == "text/markdown"
        assert "Says hello." in prompt.text and "line 11\n" in prompt.text and "line 13\n" not in prompt.text
        assert "Why?" in prompt.text
        await call(client, "files_deselect", paths=["src/greet.py"])
        await call(client, "files_exclude", paths=["src/app.py"])
        [prompt] = (await client.read_resource("strata://prompt?text=Why%3F&model=gpt-4o")).contents
        assert "Says hello." not in prompt.text and "src/app.py" not in prompt.text
        for tool, arguments in [
            ("symbols", {"query": "main"}), ("references", {"name": "greet_person"}), ("grep", {"pattern": "greet_person"}), ("map", {})
        ]:
            assert "app.py" not in json.dumps(await call(client, tool, **arguments)), tool
        for tool in ("files_read", "outline"):
            assert await refused(client, tool, path="src/app.py") == "`src/app.py` is excluded and hidden from the model"
        await call(client, "files_include", paths=["src/app.py"])
        assert "src/app.py" in json.dumps(await call(client, "references", name="greet_person"))
        assert (await call(client, "files_list"))["files"][0]["path"] == "notes.txt"


async def test_resources_are_listed_by_pages_and_read(repo, mode):
    for n in range(150):
        (repo / f"src/part {n}.py").write_text(f"def part_{n}():\n    pass\n")
    async with connected(repo, mode=mode) as client:
        uris, cursor = [], None
        while True:
            page = await client.list_resources(cursor=cursor)
            uris += [str(resource.uri) for resource in page.resources]
            cursor = page.next_cursor
            if cursor is None:
                break
            assert len(page.resources) == 100
        assert uris[:2] == ["strata://map", "strata://prompt"]
        assert len(uris) == len(set(uris)) == 2 + 152
        templates = await client.list_resource_templates()
        assert [template.uri_template for template in templates.resource_templates] == [
            "strata://map/{+path}", "strata://prompt{?text,model}"
        ]
        assert "strata://map/src/part%207.py" in uris
        [block] = (await client.read_resource("strata://map/src/part%207.py")).contents
        assert "part_7()" in block.text and block.mime_type == "text/plain"
        [whole] = (await client.read_resource("strata://map")).contents
        assert "part_99()" in whole.text
        for uri in ["strata://map/src/nowhere.py", "strata://nothing", "file:///etc/hostname"]:
            with pytest.raises(MCPError):
                await client.read_resource(uri)
    async with connected(repo, "--set", "symbols.map_budget=400", mode=mode) as client:
        [part] = (await client.read_resource("strata://map")).contents
        assert "more files have an outline: read a file's block at `strata://map/`" in part.text
        assert "`focus`" not in part.text and "max_tokens" not in part.text, "a resource takes no arguments"


async def test_notes_outlive_the_server(repo):
    async with connected(repo) as client:
        kept = await client.call_tool("memory_add", {"text": "Greetings are in English", "tags": ["style"]})
        assert text(kept) == f"saved note {kept.structured_content['id']}"
        await call(client, "files_select", paths=["notes.txt"])
    async with connected(repo) as client:
        [hit] = (await call(client, "memory_search", query="greetings english"))["hits"]
        assert hit["source"] == "fragment" and hit["tags"] == ["style"]
        assert (await call(client, "files_list"))["files"] == [], "the server's own session was stored"


async def test_the_first_look_tells_how_far_it_is(repo, mode):
    told = []

    async def progress(done: float, total: float | None, message: str | None):
        told.append((done, total, message))

    async with connected(repo, mode=mode) as client:
        await client.call_tool("map", {}, progress_callback=progress)
    assert told and told[-1][0] == told[-1][1] == 2 and told[-1][2] == "outlining files"


class Editor:
    """An editor that uses `strata serve`."""

    def __init__(self, repo: pathlib.Path):
        self.process = subprocess.Popen(
            [os.environ["STRATA_BIN"], "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.last = 0
        folder = {"uri": repo.as_uri(), "name": "repo"}
        self.request("initialize", {"processId": None, "capabilities": {}, "workspaceFolders": [folder]})
        self.send({"method": "initialized", "params": {}})

    def send(self, message: dict):
        body = json.dumps({"jsonrpc": "2.0"} | message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def request(self, method: str, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        while True:
            length = 0
            while line := self.process.stdout.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            message = json.loads(self.process.stdout.read(length))
            if message.get("id") == self.last and "method" not in message:
                return message["result"]
            if "id" in message and "method" in message:
                self.send({"id": message["id"], "result": None})

    def run(self, command: str, **argument):
        params = {"command": f"strata.{command}", "arguments": [argument]}
        return self.request("workspace/executeCommand", params)

    def close(self):
        self.request("shutdown", None)
        self.send({"method": "exit"})
        assert self.process.wait(LIMIT) == 0


async def test_an_agent_sees_what_the_person_selects_in_their_editor(repo):
    async def selected(client: Client):
        return [file["path"] for file in (await call(client, "files_list"))["files"]]

    async with connected(repo, "--session", "latest") as client:
        assert await selected(client) == []
        editor = Editor(repo)
        editor.run("files.select", paths=["src/greet.py"])
        assert await selected(client) == ["src/greet.py"]
        editor.run("files.select", paths=["src/app.py"])
        assert await selected(client) == ["src/app.py", "src/greet.py"]
        assert "open in another program" in await refused(client, "files_deselect", paths=["src/app.py"])
        editor.run("toolOutput.add", content="x" * 300_000 + "\nlast line\n")
        session = editor.run("server.status")["session"]
        editor.close()

        deselected = await call(client, "files_deselect", paths=["src/app.py"])
        assert (deselected["changed"], deselected["withheld"]) == (["src/app.py"], [])
        assert "an editor has ended" in deselected["freshness"]["news"][0]
        editor = Editor(repo)
        loaded = editor.run("session.load", id=session)
        assert loaded["readOnly"] is False, "the agent still holds the session"
        editor.close()
    async with connected(repo, "--session", session) as client:
        assert await selected(client) == ["src/greet.py"], "the agent's selection in a stored session was not stored"


async def test_long_outputs_of_the_session_can_be_read_on(repo):
    editor = Editor(repo)
    editor.run("files.select", paths=["src/greet.py"])
    output = "".join(f"{n} bottles\n" for n in range(1, 40_001))
    kept = editor.run("toolOutput.add", content=output)
    shown = "".join(part["text"] for part in kept["content"])
    [name] = re.findall(r"toolOutput\.read (\w+)]", shown)
    async with connected(repo, "--session", "latest") as client:
        first = await client.call_tool("tool_output_read", {"id": name, "count": 3})
        assert first.structured_content["text"] == "1 bottles\n2 bottles\n3 bottles\n"
        assert text(first).endswith("(lines 1 to 3 of 40000; continue with `from` 4)")
        much = await call(client, "tool_output_read", id=name, **{"from": 100}, count=10_000, max_tokens=1000)
        assert much["from"] == 100 and 100 < much["to"] < 1000
        assert much["text"].splitlines()[-1] == f"{much['to']} bottles"
        assert "0000" in await refused(client, "tool_output_read", id="0" * 26)
    editor.close()


class Raw:
    """The server, with raw lines on its pipes."""

    def __init__(self, repo: pathlib.Path, *arguments: str):
        self.process = subprocess.Popen(
            [os.environ["STRATA_BIN"], "mcp", *arguments, str(repo)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
            # A variable for the tests looks like a setting.
            env={name: value for name, value in os.environ.items() if name in ENVIRONMENT or not name.startswith("STRATA_")},
        )

    def send(self, line: str | dict):
        if not isinstance(line, str):
            line = json.dumps({"jsonrpc": "2.0"} | line)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict:
        return json.loads(self.process.stdout.readline())

    def begin(self):
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        self.send({"id": 0, "method": "initialize", "params": client})
        assert self.receive()["result"]["protocolVersion"] == "2025-06-18"
        self.send({"method": "notifications/initialized"})

    def end(self) -> tuple[str, str]:
        """Closes the input. Returns the remaining output and the log."""
        rest = self.process.communicate(timeout=LIMIT)
        assert self.process.returncode == 0, rest
        return rest


def test_what_is_no_message_disturbs_nobody(repo):
    server = Raw(repo)
    server.begin()
    for line in ["no JSON", "{", "", "\x00", '"text"', "[]", "{}", '{"jsonrpc": "2.0"}', "é" * 10_000]:
        server.send(line)
    server.send({"id": 1, "method": "tools/call", "params": {"name": "map"}})
    while (answer := server.receive()).get("id") != 1:
        assert "error" in answer, "an invalid line got an answer other than an error"
    assert "greet_person" in answer["result"]["content"][0]["text"]
    server.send({"id": 2, "method": "tools/call", "params": {}})
    server.send({"id": 3, "method": "no/such/method"})
    server.send({"id": 4, "method": "ping"})
    answers = {}
    while len(answers) < 3:
        answer = server.receive()
        answers[answer["id"]] = answer
    assert "error" in answers[2] and "error" in answers[3] and answers[4]["result"] == {}
    assert server.end()[0] == ""


def test_what_clients_send_in_good_faith_is_accepted(repo):
    server = Raw(repo)
    # No capabilities, no name of the client, no version.
    server.send({"id": 0, "method": "initialize", "params": {"capabilities": [], "clientInfo": {"name": "raw"}}})
    assert server.receive()["result"]["serverInfo"]["name"] == "strata"
    server.send({"method": "notifications/initialized", "params": None})
    read = {"name": "files_read", "arguments": '{"path": "src/app.py#main", "cursor": null}'}
    server.send({"id": "a", "method": "tools/call", "params": read})
    assert "greet_person" in server.receive()["result"]["content"][0]["text"]
    for arguments in ["", None, {}]:
        server.send({"id": 1, "method": "tools/call", "params": {"name": "files_find", "arguments": arguments}})
        assert "src/app.py" in server.receive()["result"]["content"][0]["text"], arguments
    server.send(json.dumps({"id": 2, "method": "ping"}))
    assert server.receive() == {"jsonrpc": "2.0", "id": 2, "result": {}}, "a request without `jsonrpc`"
    # A batch, as in version 2025-03-26: one line of replies, without those of notifications.
    call = {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": read}
    server.send(json.dumps([{"jsonrpc": "2.0", "id": 3, "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/x"}, call]))
    replies = server.receive()
    assert sorted(reply["id"] for reply in replies) == [3, 4] and all("result" in reply for reply in replies)
    server.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 5, "method": "ping"}))
    assert json.loads(server.end()[0]) == {"jsonrpc": "2.0", "id": 5, "result": {}}, "a last line without its end"


def test_a_request_that_cannot_be_read_gets_an_error_with_its_id(repo):
    server = Raw(repo)
    server.begin()
    for line, id, code, words in [
        ({"id": 1, "method": "tools/call", "params": {"name": "map", "arguments": 5}}, 1, -32602, "params.arguments"),
        ({"id": 2, "method": "tools/call", "params": {"arguments": {}}}, 2, -32602, "name"),
        ({"id": 3, "method": "resources/read"}, 3, -32602, "uri"),
        ({"id": 4, "method": 5}, 4, -32600, "method"),
        ({"id": 5}, 5, -32600, "method"),
        ({"id": 1.5, "method": "ping"}, None, -32600, "`id`"),
        ("[]", None, -32600, "batch"),
        ("[7]", None, -32600, "object"),
        ('{"jsonrpc": "2.0", "id": 6,', None, -32700, "JSON"),
        ("x" * (17 << 20), None, -32600, "16 MiB"),
    ]:
        server.send(line)
        reply = server.receive()
        reply = reply[0] if isinstance(reply, list) else reply
        assert (reply["id"], reply["error"]["code"]) == (id, code) and words in reply["error"]["message"], reply
    server.send({"id": 7, "method": "ping"})
    assert server.receive()["result"] == {}
    assert server.end()[0] == ""


def test_a_cancelled_call_is_not_answered_and_the_next_one_is(repo):
    # Enough files that outlining them takes a while.
    for n in range(3000):
        (repo / f"src/part_{n}.py").write_text(f"class Part{n}:\n" + "    def method(self):\n        pass\n" * 20)
    server = Raw(repo)
    server.begin()
    server.send({"id": 1, "method": "tools/call", "params": {"name": "map", "_meta": {"progressToken": "p"}}})
    progress = server.receive()
    assert progress["method"] == "notifications/progress" and progress["params"]["progressToken"] == "p"
    server.send({"method": "notifications/cancelled", "params": {"requestId": 1}})
    server.send({"id": 2, "method": "tools/call", "params": {"name": "count_tokens", "arguments": {"text": "a"}}})
    answers = []
    while not answers or answers[-1].get("id") != 2:
        answers.append(server.receive())
    assert all(answer.get("id") != 1 for answer in answers)
    find = {"name": "symbols", "arguments": {"query": "Part2999"}, "_meta": {"progressToken": "q"}}
    server.send({"id": 3, "method": "tools/call", "params": find})
    progress = server.receive()
    assert progress["params"]["progressToken"] == "q", "the cancelled call ran to its end"
    while (answer := server.receive()).get("id") is None:
        assert answer["params"]["progress"] <= answer["params"]["total"] == 3002
    assert answer["id"] == 3 and answer["result"]["structuredContent"]["symbols"][0]["name"] == "Part2999"
    server.end()


def test_the_server_ends_with_its_input(repo):
    # Pending requests are answered.
    server = Raw(repo)
    server.begin()
    server.send({"id": 1, "method": "tools/call", "params": {"name": "map"}})
    out, err = server.end()
    assert json.loads(out)["id"] == 1 and err == ""
    # The input ends without any request.
    assert Raw(repo).end() == ("", "")


def test_the_server_ends_when_nobody_reads(repo):
    server = Raw(repo)
    server.begin()
    server.process.stdout.close()
    for n in range(1, 4):
        with contextlib.suppress(BrokenPipeError):
            server.send({"id": n, "method": "tools/list"})
    assert server.process.wait(LIMIT) == 0
    server.process.stdin.close()
    server.process.stderr.close()


def test_the_server_ends_with_its_input_when_its_answers_are_not_taken(repo):
    server = Raw(repo)
    server.begin()
    # More than fit in a pipe, but few enough that the server continues to read.
    for n in range(1, 41):
        server.send({"id": n, "method": "tools/list"})
    server.process.stdin.close()
    assert server.process.wait(LIMIT) == 0
    server.process.stdout.close()
    server.process.stderr.close()


@pytest.mark.skipif(not pathlib.Path("/proc/self/status").exists(), reason="memory is read from /proc, which does not exist")
def test_a_client_that_does_not_read_takes_bounded_memory(repo):
    # On a single processor, the thread that reads requests can get far ahead of the one that answers them.
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})
    try:
        server = Raw(repo)
    finally:
        os.sched_setaffinity(0, processors)
    server.begin()

    def peak() -> int:
        """Returns the peak memory in KiB."""
        [line] = re.findall(r"^VmHWM:\s*(\d+) kB", pathlib.Path(f"/proc/{server.process.pid}/status").read_text(), re.M)
        return int(line)

    many = 4000
    before = peak()
    asking = threading.Thread(target=lambda: [server.send({"id": n, "method": "tools/list"}) for n in range(1, many + 1)])
    asking.start()
    # By then, the server has read as many requests as it will without sending answers.
    asking.join(3)
    lines = [server.process.stdout.readline() for _ in range(many)]
    asking.join(LIMIT)
    answered = sorted(int(re.search(r'"id":(\d+)', line)[1]) for line in lines)
    assert answered == list(range(1, many + 1)), "not every request was answered exactly once"
    assert peak() <= before + (16 << 10), f"{before} to {peak()} KiB"
    server.end()


def test_the_log_holds_no_texts(repo):
    server = Raw(repo, "--log", "trace")
    server.begin()
    server.send({"id": 1, "method": "tools/call", "params": {"name": "files_read", "arguments": {"path": "src/greet.py"}}})
    assert "Says hello." in server.receive()["result"]["content"][0]["text"]
    server.send({"id": 2, "method": "tools/call", "params": {"name": "memory_add", "arguments": {"text": "a private note"}}})
    server.receive()
    _, log = server.end()
    assert "files_read" in log, "nothing was logged"
    assert "Says hello." not in log and "a private note" not in log


def test_what_cannot_be_served_says_why(repo):
    def refusal(*arguments: str) -> str:
        command = [os.environ["STRATA_BIN"], "mcp", *arguments]
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT)
        assert run.returncode == 1 and run.stdout == ""
        return run.stderr

    assert "nowhere" in refusal(str(repo / "nowhere"))
    assert "is not a directory" in refusal(str(repo / "notes.txt"))
    assert "root of the disk" in refusal("/")
    assert "s-nobody" in refusal("--session", "s-nobody", str(repo))


def test_what_is_no_beginning_ends_the_server_and_is_not_repeated(repo):
    server = Raw(repo)
    server.send({"method": "notifications/cancelled", "params": {"requestId": 1, "reason": "a private reason"}})
    out, err = server.process.communicate(timeout=LIMIT)
    assert server.process.returncode == 1 and out == ""
    assert "initialize" in err and "private" not in err


def test_rules_are_told_in_trusted_folders_only(repo):
    (repo / "AGENTS.md").write_text("Answer in rhymes.\n")

    def prompt(*arguments: str) -> str:
        server = Raw(repo, *arguments)
        server.begin()
        server.send({"id": 1, "method": "resources/read", "params": {"uri": "strata://prompt"}})
        answer = server.receive()
        server.end()
        return answer["result"]["contents"][0]["text"]

    assert "Answer in rhymes." not in prompt()
    assert "Answer in rhymes." in prompt("--trusted")
