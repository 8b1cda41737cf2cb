"""Tests with an independent client that the model receives what is typed.

pytest-lsp has the capabilities of real editors, so each test runs with those of several editors.
"""

import asyncio
import json
import os
import pathlib
import re

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

# Timeout in seconds, reached only if something hangs.
LIMIT = 60

# For each position encoding, Python's name of the codec and the width of its unit in bytes.
UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}

ON_DISK = 'pub fn greet() {\n    "on disk"\n}\n'


def server():
    return ClientServerConfig(server_command=[os.environ["STRATA_BIN"], "serve"])


@pytest.fixture
def repo(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/greet.rs").write_text(ON_DISK)
    (tmp_path / "src/lib.rs").write_text("mod greet;\n\npub fn add() {}\n")
    return tmp_path


@pytest_lsp.fixture(config=server(), params=["neovim", "visual_studio_code", "emacs"])
async def client(request, repo: pathlib.Path, lsp_client: LanguageClient):
    lsp_client.set_configuration({"model": "gpt-4o"}, section="strata")

    # Editors that announce this capability must answer the request.
    @lsp_client.feature(lsp.CLIENT_REGISTER_CAPABILITY)
    def _(params: lsp.RegistrationParams):
        return None

    folder = lsp.WorkspaceFolder(uri=repo.as_uri(), name="repo")
    capabilities = client_capabilities(request.param)
    params = lsp.InitializeParams(capabilities=capabilities, root_uri=repo.as_uri(), workspace_folders=[folder])
    result = await lsp_client.initialize_session(params)
    lsp_client.position_encoding = result.capabilities.position_encoding
    yield
    # `shutdown_session` waits for the end of the process without a timeout.
    await asyncio.wait_for(lsp_client.shutdown_session(), LIMIT)


class Document:
    """An open document, with positions in the negotiated encoding."""

    def __init__(self, client: LanguageClient, path: pathlib.Path):
        self.client, self.uri, self.version, self.text = client, path.as_uri(), 1, path.read_text()
        item = lsp.TextDocumentItem(uri=self.uri, language_id="rust", version=1, text=self.text)
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def replace(self, old: str, new: str):
        """Replaces the only occurrence of `old` and notifies the server."""
        assert self.text.count(old) == 1, (old, self.text)
        start = self.text.index(old)
        span = lsp.Range(start=self.position(start), end=self.position(start + len(old)))
        self.text = self.text.replace(old, new)
        self.version += 1
        identifier = lsp.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version)
        change = lsp.TextDocumentContentChangePartial(range=span, text=new)
        params = lsp.DidChangeTextDocumentParams(text_document=identifier, content_changes=[change])
        self.client.text_document_did_change(params)

    def type_behind(self, needle: str, keys: str):
        """Types keys one by one after `needle`."""
        for key in keys:
            self.replace(needle, needle + key)
            needle += key

    def position(self, at: int) -> lsp.Position:
        before = re.split("\r\n|\r|\n", self.text[:at])
        codec, width = UNITS[self.client.position_encoding]
        character = len(before[-1].encode(codec)) // width
        return lsp.Position(line=len(before) - 1, character=character)


def plain(value):
    """Converts a reply to dictionaries and lists, regardless of how the client wraps it."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return value


async def run(client: LanguageClient, command: str, **argument):
    params = lsp.ExecuteCommandParams(command=f"strata.{command}", arguments=[argument])
    return plain(await asyncio.wait_for(client.workspace_execute_command_async(params), LIMIT))


async def prompt(client: LanguageClient, **arguments):
    """Returns the text that the model would read."""
    while (await run(client, "server.status"))["index"] != "ready":
        await asyncio.sleep(0.01)
    reply = await run(client, "prompt.assemble", prompt="What is this?", format="anthropic", **arguments)
    texts = []

    def gather(value):
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, list):
            for inner in value:
                gather(inner)
        elif isinstance(value, dict):
            for name in ("system", "messages", "content", "text"):
                gather(value.get(name))

    gather(reply["body"])
    return "\n".join(texts)


async def test_the_prompt_holds_the_typed_text(client: LanguageClient, repo: pathlib.Path):
    document = Document(client, repo / "src/greet.rs")
    document.type_behind("greet() {\n", "    // naïve 🦀 é\n")
    document.replace("on disk", "typed 🦀\r")
    document.type_behind("typed 🦀\r", "\n and more 漢字")
    selected = await run(client, "files.select", paths=["src/greet.rs"])
    assert selected["changed"] == ["src/greet.rs"]

    text = await prompt(client)
    assert text.count(document.text) == 1, "the typed text is not in the prompt exactly once"
    assert "on disk" not in text
    assert (repo / "src/greet.rs").read_text() == ON_DISK, "the file was saved"


async def test_a_deselected_file_leaves_the_very_next_prompt(client: LanguageClient, repo: pathlib.Path):
    document = Document(client, repo / "src/greet.rs")
    document.replace("pub fn greet()", "pub fn greet_é(times: u8)")
    await run(client, "files.select", paths=["src/greet.rs"])
    assert document.text in await prompt(client)
    await run(client, "files.deselect", paths=["src/greet.rs"])
    text = await prompt(client, autoBudget=0)
    assert "on disk" not in text
    assert "src/greet.rs\n pub fn greet_é(times: u8)" in text, "the map block does not show the unsaved text"
    await run(client, "files.exclude", paths=["src/greet.rs"])
    assert "greet_é" not in await prompt(client)


async def test_a_closed_file_is_what_the_disk_has(client: LanguageClient, repo: pathlib.Path):
    document = Document(client, repo / "src/greet.rs")
    document.replace("on disk", "typed")
    await run(client, "files.select", paths=["src/greet.rs"])
    identifier = lsp.TextDocumentIdentifier(uri=document.uri)
    client.text_document_did_close(lsp.DidCloseTextDocumentParams(text_document=identifier))
    assert ON_DISK in await prompt(client)
    (repo / "src/greet.rs").write_text("// written by another program é\n")
    assert "// written by another program é" in await prompt(client)


async def test_the_settings_of_the_editor_count(client: LanguageClient):
    asked = client.capabilities.workspace and client.capabilities.workspace.configuration
    assert asked, "an editor does not support workspace/configuration"
    for _ in range(LIMIT * 100):
        settings = (await run(client, "server.settings"))["settings"]
        if settings["model"] == "gpt-4o":
            break
        await asyncio.sleep(0.01)
    assert settings["model"] == "gpt-4o"
    assert (await run(client, "budget.report"))["maxInputTokens"] == 128_000


async def test_a_turn_is_recorded(client: LanguageClient):
    reply = await run(client, "prompt.assemble", prompt="Who é?")
    recorded = await run(client, "prompt.record", id=reply["id"], response="Nobody 🦀.")
    assert recorded["messages"] == 2
    text = await prompt(client)
    assert "Who é?" in text and "Nobody 🦀." in text


async def test_an_error_names_the_field(client: LanguageClient):
    with pytest.raises(Exception) as error:
        await run(client, "files.select", paths="src/greet.rs")
    assert error.value.code == -32602
    assert plain(error.value.data)["path"] == "paths", json.dumps(plain(error.value.data))
