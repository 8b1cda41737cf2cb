"""Controls a real Neovim by typing keys.

Keys go through Neovim's own input queue, as from a terminal. The text of buffers comes from Neovim itself.
"""

import os
import pathlib
import time

import pynvim

HERE = pathlib.Path(__file__).parent

# Timeout in seconds, reached only if something hangs.
LIMIT = 60

GREET = 'pub fn greet() {\n    "on disk"\n}\n'

RUN = """
local command, argument = ...
local client = assert(vim.lsp.get_clients({ name = "strata" })[1], "no client")
local params = { command = "strata." .. command, arguments = { argument } }
-- Called without a buffer, so that Neovim first sends the pending changes of all buffers.
local reply = assert(client:request_sync("workspace/executeCommand", params, 60000))
assert(not reply.err, vim.inspect(reply.err))
return reply.result
"""

BUFFER = """
local ending = vim.bo.fileformat == "dos" and "\\r\\n" or "\\n"
return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), ending) .. ending
"""


class Editor:
    def __init__(self, repo: pathlib.Path, home: pathlib.Path, init: str):
        self.repo = repo
        # Use no settings, plugins or state of the user who runs the tests.
        folders = {name: str(home / name) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
        os.environ.update(folders, HOME=str(home))
        argv = [os.environ["NVIM"], "--embed", "--headless", "--clean", "-u", str(HERE / init)]
        self.nvim = pynvim.attach("child", argv=argv)

    def edit(self, path: str):
        self.nvim.command(f"edit {self.repo / path}")
        attached = "return #vim.lsp.get_clients({ bufnr = 0, name = 'strata' }) == 1"
        until(lambda: self.nvim.exec_lua(attached), "the server is attached")
        until(lambda: self.run("server.status")["index"] == "ready", "the repository is indexed")

    def type(self, keys: str):
        """Types keys, and waits until Neovim has processed them."""
        while keys:
            taken = self.nvim.input(keys)
            keys = keys.encode()[taken:].decode()
        until(lambda: self.nvim.api.get_mode() == {"mode": "n", "blocking": False}, "normal mode")

    def run(self, command: str, **argument):
        return self.nvim.exec_lua(RUN, command, argument)

    def text(self) -> str:
        return self.nvim.exec_lua(BUFFER)

    def prompt(self) -> str:
        """Returns the text that the model would read, without automatic context."""
        body = self.run("prompt.assemble", prompt="What is this?", format="anthropic", autoBudget=0)["body"]
        contents = [body["system"]] + [message["content"] for message in body["messages"]]
        texts = []
        for content in contents:
            texts += [content] if isinstance(content, str) else [block["text"] for block in content]
        return "\n".join(texts)

    def lua(self, code: str, *arguments):
        return self.nvim.exec_lua(code, *arguments)

    def server(self) -> int:
        """Returns the process id of the server, which is a child of Neovim."""
        return only(self.servers())

    def servers(self) -> list[int]:
        pid = self.nvim.funcs.getpid()
        try:
            children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except FileNotFoundError:
            return []
        return [int(child) for child in children if executable(child) == os.environ["STRATA_BIN"]]

    def quit(self):
        try:
            self.nvim.command("qall!")
        except (EOFError, OSError):
            pass  # Neovim has exited without an answer.


def executable(pid: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except FileNotFoundError:
        return ""  # The process has just ended.


def only(values: list):
    assert len(values) == 1, values
    return values[0]


def until(condition, what: str):
    end = time.monotonic() + LIMIT
    while not (found := condition()):
        assert time.monotonic() < end, f"timed out waiting for: {what}"
        time.sleep(0.01)
    return found


def shown(editor: Editor):
    """Checks that the prompt contains the text of the buffer exactly once."""
    text = editor.text()
    assert editor.prompt().count(text) == 1, text
