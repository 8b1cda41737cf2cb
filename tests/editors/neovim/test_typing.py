"""A person types in Neovim; the model gets what is on the screen.

Keys go through Neovim's own input queue, as from a terminal. What the buffer holds is asked of Neovim itself.
"""

import os
import pathlib
import time

import pynvim
import pytest

HERE = pathlib.Path(__file__).parent

# Reached by a hang only, in seconds.
LIMIT = 60

GREET = 'pub fn greet() {\n    "on disk"\n}\n'

RUN = """
local command, argument = ...
local client = assert(vim.lsp.get_clients({ name = "strata" })[1], "no client")
local params = { command = "strata." .. command, arguments = { argument } }
-- Without a buffer, Neovim first sends what it holds back of all of them.
local reply = assert(client:request_sync("workspace/executeCommand", params, 60000))
assert(not reply.err, vim.inspect(reply.err))
return reply.result
"""

BUFFER = """
local ending = vim.bo.fileformat == "dos" and "\\r\\n" or "\\n"
return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), ending) .. ending
"""


class Editor:
    def __init__(self, repo: pathlib.Path, home: pathlib.Path):
        self.repo = repo
        # Nothing of the person who runs the tests: no settings, no plugins, no state.
        folders = {name: str(home / name) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
        os.environ.update(folders, HOME=str(home))
        argv = [os.environ["NVIM"], "--embed", "--headless", "--clean", "-u", str(HERE / "init.lua")]
        self.nvim = pynvim.attach("child", argv=argv)

    def edit(self, path: str):
        self.nvim.command(f"edit {self.repo / path}")
        attached = "return #vim.lsp.get_clients({ bufnr = 0, name = 'strata' }) == 1"
        until(lambda: self.nvim.exec_lua(attached), "the server is attached")
        until(lambda: self.run("server.status")["index"] == "ready", "the repository is indexed")

    def type(self, keys: str):
        """Types keys and waits until Neovim has worked them off."""
        while keys:
            taken = self.nvim.input(keys)
            keys = keys.encode()[taken:].decode()
        until(lambda: self.nvim.api.get_mode() == {"mode": "n", "blocking": False}, "normal mode")

    def run(self, command: str, **argument):
        return self.nvim.exec_lua(RUN, command, argument)

    def text(self) -> str:
        return self.nvim.exec_lua(BUFFER)

    def prompt(self) -> str:
        """What the model would read."""
        body = self.run("prompt.assemble", prompt="What is this?", format="anthropic")["body"]
        contents = [body["system"]] + [message["content"] for message in body["messages"]]
        texts = []
        for content in contents:
            texts += [content] if isinstance(content, str) else [block["text"] for block in content]
        return "\n".join(texts)

    def quit(self):
        try:
            self.nvim.command("qall!")
        except (EOFError, OSError):
            pass  # Neovim is gone before it can answer.


def until(condition, what: str):
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.01)


@pytest.fixture
def repo(tmp_path: pathlib.Path) -> pathlib.Path:
    repo = tmp_path / "a répo"
    (repo / ".git").mkdir(parents=True)
    (repo / "src").mkdir()
    (repo / "src/greet.rs").write_text(GREET)
    (repo / "src/lib.rs").write_text("mod greet;\n\npub fn add() {}\n")
    (repo / "dos.txt").write_bytes("first é\r\nsecond\r\n".encode())
    return repo


@pytest.fixture
def editor(repo: pathlib.Path, tmp_path: pathlib.Path):
    editor = Editor(repo, tmp_path / "home")
    yield editor
    editor.quit()


def shown(editor: Editor):
    """The prompt holds exactly what the buffer holds, once."""
    text = editor.text()
    assert editor.prompt().count(text) == 1, text


def test_typed_keys_are_in_the_prompt(editor: Editor, repo: pathlib.Path):
    editor.edit("src/greet.rs")
    editor.run("files.select", paths=["src/greet.rs"])
    editor.type("ggO// naïve 🦀 漢字<CR>second line é<Esc>")
    assert editor.text().startswith("// naïve 🦀 漢字\n")
    shown(editor)
    editor.type("/on disk<CR>cwtyped 👩‍👩‍👧<Esc>")
    assert '"typed 👩‍👩‍👧 disk"' in editor.text()
    shown(editor)
    assert "on disk" not in editor.prompt()
    assert (repo / "src/greet.rs").read_text() == GREET, "nothing was saved"


def test_each_prompt_holds_the_text_of_its_moment(editor: Editor):
    editor.edit("src/greet.rs")
    editor.run("files.select", paths=["src/greet.rs"])
    # Neovim holds changes back for a moment; a request must not overtake them.
    for number in range(10):
        editor.type(f"Go// line {number} é<Esc>")
        shown(editor)


def test_undo_and_redo(editor: Editor):
    editor.edit("src/greet.rs")
    editor.run("files.select", paths=["src/greet.rs"])
    editor.type("ggO// 🦀 one<Esc>")
    editor.type("GO// é two<Esc>")
    editor.type("dd")
    shown(editor)
    editor.type("uuu")
    assert editor.text() == GREET
    shown(editor)
    editor.type("<C-r><C-r>")
    assert "// é two" in editor.text()
    shown(editor)


def test_substitution_in_the_whole_file(editor: Editor):
    editor.edit("src/greet.rs")
    editor.run("files.select", paths=["src/greet.rs"])
    editor.type("yyppp")
    editor.type(":%s/e/🦀é/g<CR>")
    assert editor.text().count("gr🦀é🦀ét") == 4
    shown(editor)
    editor.type(":g/disk/d<CR>")
    shown(editor)
    editor.type(":%d<CR>")
    assert "🦀" not in editor.prompt()
    editor.type("u:sort!<CR>")
    shown(editor)


def test_edits_inside_multibyte_text(editor: Editor):
    editor.edit("src/greet.rs")
    editor.run("files.select", paths=["src/greet.rs"])
    editor.type("ggOa🦀b漢c<CR>é🦀é🦀<CR>x<Esc>")
    for keys in [
        "gg0lx",  # deletes an astral character
        "jlrÄ",  # replaces one
        "ggJ",  # joins lines
        "gg0<C-v>Gl~",  # a block
        "gg0<C-v>GI→<Esc>",  # a column typed in all lines at once
        "ggyyGpggddGP",  # lines moved to the end
        "gg0qaA🦀<Esc>jq3@a",  # a macro
        "ggguG",
        ">G",
    ]:
        editor.type(keys)
        shown(editor)


def test_a_file_with_dos_line_ends(editor: Editor):
    editor.edit("dos.txt")
    editor.run("files.select", paths=["dos.txt"])
    assert editor.text() == "first é\r\nsecond\r\n"
    shown(editor)
    editor.type("ggA 🦀<CR>between<Esc>jddGoend é<Esc>")
    assert "between\r\n" in editor.text()
    shown(editor)


def test_deselecting_and_excluding(editor: Editor):
    editor.edit("src/greet.rs")
    editor.run("files.select", paths=["src/greet.rs"])
    editor.type("Gopub fn typed_later(é: u8) {}<Esc>")
    shown(editor)
    editor.run("files.deselect", paths=["src/greet.rs"])
    prompt = editor.prompt()
    assert "on disk" not in prompt
    assert "src/greet.rs\n pub fn greet()\n pub fn typed_later(é: u8)" in prompt, "its map block"
    editor.run("files.exclude", paths=["src/greet.rs"])
    assert "greet.rs" not in editor.prompt()


def test_saving_and_closing(editor: Editor, repo: pathlib.Path):
    editor.edit("src/greet.rs")
    editor.run("files.select", paths=["src/greet.rs"])
    editor.type("ggOsaved é<Esc>:write<CR>")
    shown(editor)
    editor.type("Goclosed before it was saved<Esc>")
    shown(editor)
    editor.edit("src/lib.rs")
    editor.nvim.command("bdelete! #")
    assert "closed before it was saved" not in editor.prompt()
    assert (repo / "src/greet.rs").read_text() in editor.prompt()


def test_a_reload_from_disk(editor: Editor, repo: pathlib.Path):
    editor.edit("src/greet.rs")
    editor.run("files.select", paths=["src/greet.rs"])
    editor.type("ggOgone soon<Esc>")
    (repo / "src/greet.rs").write_text("// written by another program 🦀\n")
    editor.type(":edit!<CR>")
    assert editor.text() == "// written by another program 🦀\n"
    shown(editor)


def test_the_server_ends_with_the_editor(editor: Editor):
    editor.edit("src/greet.rs")
    pid = editor.nvim.funcs.getpid()
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    servers = [child for child in children if os.readlink(f"/proc/{child}/exe") == os.environ["STRATA_BIN"]]
    assert len(servers) == 1, "one server for all buffers"
    editor.edit("src/lib.rs")
    editor.quit()
    until(lambda: not pathlib.Path(f"/proc/{servers[0]}").exists(), "the server has ended")
