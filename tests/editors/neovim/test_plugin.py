"""Tests the plugin like a user, with all input typed."""

import json
import os
import pathlib
import signal
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from driver import GREET, Editor, shown, until


def lines(editor: Editor) -> list[str]:
    return editor.nvim.current.buffer[:]


def open_context(editor: Editor):
    editor.type(":Strata context<CR>")
    until(lambda: editor.nvim.eval("&filetype") == "strata-context", "the context buffer")
    until(lambda: len(lines(editor)) > 1, "its content")


def files(editor: Editor) -> dict[str, str]:
    return {file["path"]: file["state"] for file in editor.run("files.list")["files"]}


def test_from_typed_text_to_the_prompt(plugin: Editor, repo: pathlib.Path):
    plugin.edit("src/greet.rs")
    plugin.type("ggO// naïve 🦀 漢字<CR>second line é<Esc>")
    plugin.type(":Strata add<CR>")
    until(lambda: files(plugin) == {"src/greet.rs": "selected"}, "selected")
    shown(plugin)
    plugin.type(":Strata preview<CR>")
    until(lambda: "// naïve 🦀 漢字" in lines(plugin), "the typed text in the preview")
    assert (repo / "src/greet.rs").read_text() == GREET, "the file was saved"


def test_the_context_is_edited_like_a_list(plugin: Editor):
    plugin.edit("src/greet.rs")
    plugin.type(":Strata add src/*.rs<CR>")
    until(lambda: len(files(plugin)) == 2, "selected")
    open_context(plugin)
    plugin.type("/greet.rs<CR>dd")
    assert files(plugin)["src/greet.rs"] == "selected", "applied before the buffer was written"
    plugin.type("Go# excluded<CR>dos.txt<Esc>:write<CR>")
    until(lambda: files(plugin) == {"dos.txt": "excluded", "src/lib.rs": "selected"}, "written")
    plugin.type("/lib.rs<CR>-")
    until(lambda: files(plugin) == {"dos.txt": "excluded"}, "deselected")
    plugin.type("/dos.txt<CR>x:wq<CR>")
    until(lambda: files(plugin) == {}, "included")
    until(lambda: plugin.nvim.eval("expand('%:t')") == "greet.rs", "the window is closed")


def test_a_hostile_name_is_only_text(plugin: Editor, repo: pathlib.Path):
    name = "a\nwarning: b %{execute('quit')} \u202e\x1b[2J.rs"
    (repo / name).write_text("fn forged() {}\n")
    plugin.edit("src/greet.rs")
    plugin.type(":Strata status<CR>")
    until(lambda: plugin.run("files.select", paths=[name])["changed"] == [name], "selected")
    open_context(plugin)
    escaped = r"a\u{a}warning: b %{execute('quit')} \u{202e}\u{1b}[2J.rs"
    until(lambda: escaped in lines(plugin), "one line for the file")
    # The line stands for the file, also when it is written back.
    plugin.type(":write<CR>")
    assert files(plugin) == {name: "selected"}
    plugin.lua("require('strata.display').notify(...)", "one\nwarning: two")
    assert plugin.nvim.command_output("1messages").endswith(r"Strata: one\u{a}warning: two")
    plugin.type("/warning<CR>dd:write<CR>")
    until(lambda: files(plugin) == {}, "deselected")


def test_a_visual_selection_is_shown(plugin: Editor):
    plugin.edit("src/greet.rs")
    plugin.type("ggVj:Strata add<CR>")
    until(lambda: files(plugin) == {"src/greet.rs": "selected"}, "selected")
    assert plugin.run("files.list")["files"][0]["lines"] == ["L1-2"]
    plugin.nvim.command("xmap gs <Plug>(strata-add)")
    plugin.type("3GVgs")
    until(lambda: plugin.run("files.list")["files"][0]["lines"] == ["L1-3"], "joined")


def test_the_server_is_killed_while_a_person_types(plugin: Editor):
    plugin.edit("src/lib.rs")
    plugin.edit("src/greet.rs")
    plugin.type(":Strata add % src/lib.rs<CR>")
    until(lambda: len(files(plugin)) == 2, "selected")
    plugin.run("history.addExchange", user="Remember 🦀?", assistant="I do é.")
    until(lambda: plugin.lua("return require('strata').meter() ~= nil"), "the meter")
    server = plugin.server()
    os.kill(server, signal.SIGKILL)
    plugin.type("ggO// typed without a server 漢字<Esc>")
    until(lambda: plugin.servers() not in ([], [server]), "another server")
    attached = "return #vim.lsp.get_clients({ bufnr = 0, name = 'strata' }) == 1"
    until(lambda: plugin.lua(attached), "it is attached")
    plugin.type("Go// typed after é<Esc>")
    shown(plugin)
    prompt = plugin.prompt()
    assert "Remember 🦀?" in prompt and "I do é." in prompt
    assert plugin.run("server.status")["openDocuments"] == 2
    plugin.type("u")
    shown(plugin)


class Provider(BaseHTTPRequestHandler):
    """A stand-in provider that records requests and answers in Anthropic's format."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.asked.append((dict(self.headers), json.loads(body)))
        usage = {"input_tokens": 10, "output_tokens": 3, "cache_creation_input_tokens": 900}
        content = [{"type": "text", "text": "It is é 🦀."}]
        answer = json.dumps({"type": "message", "content": content, "usage": usage}).encode()
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture
def provider():
    server = HTTPServer(("127.0.0.1", 0), Provider)
    server.asked, server.status = [], 200
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


def configure(editor: Editor, provider: HTTPServer):
    url = f"http://127.0.0.1:{provider.server_port}/v1/messages"
    editor.lua("vim.env.KEY = 'k\"ey'")
    options = {"path": os.environ["STRATA_BIN"], "curl": {"url": url, "key_env": "KEY", "max_tokens": 77}}
    editor.nvim.vars["strata"] = options


def test_a_turn_with_curl(plugin: Editor, provider: HTTPServer):
    configure(plugin, provider)
    plugin.edit("src/greet.rs")
    plugin.type(":Strata add<CR>")
    plugin.type(":Strata ask What is \"it\" é?<CR>")
    until(lambda: "It is é 🦀." in lines(plugin), "the answer is shown")
    headers, body = provider.asked[0]
    assert headers["x-api-key"] == 'k"ey'
    assert body["max_tokens"] == 77
    assert "on disk" in json.dumps(body) and 'What is \\"it\\" é?' in json.dumps(body, ensure_ascii=False)
    until(lambda: plugin.run("budget.report")["totals"]["cacheWrite"] == 900, "recorded with its usage")
    texts = [message["content"] for message in plugin.run("history.get")["messages"]]
    assert "It is é 🦀." in json.dumps(texts, ensure_ascii=False)


def test_a_provider_that_refuses(plugin: Editor, provider: HTTPServer):
    configure(plugin, provider)
    provider.status = 529
    plugin.edit("src/greet.rs")
    plugin.type(":Strata ask What?<CR>")
    until(lambda: "529" in plugin.nvim.command_output("messages"), "the error is shown")
    assert plugin.run("history.get")["messages"] == [], "the failed turn was recorded"
