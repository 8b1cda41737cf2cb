"""Tests that an agent sees what is typed in Neovim, through the official client of the Model Context Protocol."""

import json
import os
import pathlib
import signal
import subprocess

import pytest
from driver import HERE, Editor, only, until


class Agent:
    def __init__(self, repo: pathlib.Path):
        arguments = [os.environ["MCP_PYTHON"], HERE.parent / "agent.py", os.environ["STRATA_BIN"], repo]
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.instructions = self.line()

    def line(self):
        return json.loads(self.process.stdout.readline())

    def call(self, tool: str, **arguments):
        """Returns the structured reply of a tool, or the text of its error."""
        self.process.stdin.write(json.dumps([tool, arguments]) + "\n")
        self.process.stdin.flush()
        return self.line()

    def read(self, path: str):
        return self.call("files_read", path=path)

    def end(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


@pytest.fixture
def agent(repo: pathlib.Path, editor: Editor):
    editor.edit("src/greet.rs")
    agent = Agent(repo)
    yield agent
    agent.end()


def settle(editor: Editor):
    """Sends what Neovim still holds back, and waits until the server has handled it."""
    editor.run("server.status")


def sees_unsaved(agent: Agent, editor: Editor, path: str):
    settle(editor)
    reply = agent.read(path)
    assert (reply["text"], reply["source"]) == (editor.text(), "buffer")
    unsaved = only(reply["freshness"]["unsaved"])
    assert (unsaved["path"], unsaved["editor"], unsaved["version"]) == (path, "Neovim", reply["version"])


def sees_disk(agent: Agent, repo: pathlib.Path, path: str):
    reply = agent.read(path)
    text = (repo / path).read_bytes().decode().replace("\r\n", "\n")
    assert (reply["text"].replace("\r\n", "\n"), reply["source"]) == (text, "disk")
    assert "unsaved" not in reply.get("freshness", {})


def test_an_agent_reads_what_is_typed_undone_and_saved(agent: Agent, editor: Editor, repo: pathlib.Path):
    assert "(view: editor, no unsaved buffers)" in agent.instructions
    editor.type("jA // typed<Esc>")
    assert "// typed" in editor.text()
    sees_unsaved(agent, editor, "src/greet.rs")

    editor.type("u")
    settle(editor)
    sees_disk(agent, repo, "src/greet.rs")

    editor.type("A // saved<Esc>:w<CR>")
    settle(editor)
    sees_disk(agent, repo, "src/greet.rs")
    assert "// saved" in agent.read("src/greet.rs")["text"]


def test_an_agent_reads_the_disk_after_a_buffer_was_closed_without_saving(
    agent: Agent, editor: Editor, repo: pathlib.Path
):
    editor.type("A // discarded<Esc>")
    sees_unsaved(agent, editor, "src/greet.rs")
    # The buffer of another file keeps the server running.
    editor.edit("src/lib.rs")
    editor.type(":bwipeout! greet.rs<CR>")
    settle(editor)
    sees_disk(agent, repo, "src/greet.rs")
    assert "discarded" not in agent.read("src/greet.rs")["text"]


def test_an_agent_reads_a_renamed_file_under_its_new_name(agent: Agent, editor: Editor, repo: pathlib.Path):
    editor.type("A // typed before<Esc>")
    sees_unsaved(agent, editor, "src/greet.rs")
    editor.nvim.command(f"saveas {repo}/src/hello.rs")
    (repo / "src/greet.rs").unlink()
    settle(editor)
    sees_disk(agent, repo, "src/hello.rs")
    assert "typed before" in agent.read("src/hello.rs")["text"]
    gone = agent.read("src/greet.rs")
    assert isinstance(gone, str) and "src/greet.rs" in gone, gone

    editor.type("A // typed after<Esc>")
    sees_unsaved(agent, editor, "src/hello.rs")


def test_an_agent_reads_the_disk_after_neovim_was_killed(agent: Agent, editor: Editor, repo: pathlib.Path):
    # Line endings of the file.
    editor.edit("dos.txt")
    settle(editor)
    sees_disk(agent, repo, "dos.txt")

    editor.type("A lost<Esc>")
    settle(editor)
    assert " lost" in agent.read("dos.txt")["text"]
    os.kill(editor.nvim.funcs.getpid(), signal.SIGKILL)
    until(lambda: agent.read("dos.txt")["source"] == "disk", "the agent reads from the disk")
    sees_disk(agent, repo, "dos.txt")
    assert " lost" not in agent.read("dos.txt")["text"]
