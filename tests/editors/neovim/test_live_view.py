"""Tests that an agent sees what is typed in Neovim, in a process of its own."""

import json
import os
import pathlib
import signal
import subprocess

from driver import Editor, until


class Agent:
    def __init__(self, repo: pathlib.Path):
        arguments = [os.environ["STRATA_BIN"], "mcp", str(repo)]
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.last_id = 0
        client = {"name": "test", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.instructions = self.request("initialize", hello)["instructions"]
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method: str, params: dict) -> dict:
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        while (reply := json.loads(self.process.stdout.readline())).get("id") != self.last_id:
            pass
        return reply["result"]

    def read(self, path: str) -> dict:
        call = {"name": "files_read", "arguments": {"path": path}}
        return self.request("tools/call", call)["structuredContent"]

    def end(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def settle(editor: Editor):
    """Sends what Neovim still holds back, and waits until the server has handled it."""
    editor.run("server.status")


def test_an_agent_reads_what_is_typed_undone_and_saved_and_survives_a_kill(editor: Editor, repo: pathlib.Path):
    editor.edit("src/greet.rs")
    agent = Agent(repo)
    assert "(view: editor, no unsaved buffers)" in agent.instructions

    editor.type("jA // typed<Esc>")
    settle(editor)
    reply = agent.read("src/greet.rs")
    assert reply["text"] == editor.text() and "// typed" in reply["text"]
    [unsaved] = reply["freshness"]["unsaved"]
    assert (unsaved["path"], unsaved["editor"], unsaved["version"]) == ("src/greet.rs", "Neovim", reply["version"])

    editor.type("u")
    settle(editor)
    reply = agent.read("src/greet.rs")
    assert (reply["text"], reply["source"]) == ((repo / "src/greet.rs").read_text(), "disk")

    editor.type("A // saved<Esc>:w<CR>")
    settle(editor)
    reply = agent.read("src/greet.rs")
    assert reply["source"] == "disk" and "// saved" in reply["text"]

    # Line endings of the file.
    editor.edit("dos.txt")
    settle(editor)
    assert agent.read("dos.txt")["source"] == "disk"

    editor.type("A lost<Esc>")
    settle(editor)
    assert " lost" in agent.read("dos.txt")["text"]
    os.kill(editor.nvim.funcs.getpid(), signal.SIGKILL)
    until(lambda: agent.read("dos.txt")["source"] == "disk", "the agent reads from the disk")
    assert " lost" not in agent.read("dos.txt")["text"]
    agent.end()
