"""Chats of the real CodeCompanion, with `/strata` and with the adapter `strata`, typed into their buffers."""

import contextlib
import pathlib

from driver import Editor, until
from neovim import environment, typed_in
from session import FILES, Place, Provider, turns

INIT = pathlib.Path(__file__).with_name("codecompanion.lua")

# Where the plugin and what it needs are.
CHECKOUTS = ("CODECOMPANION", "PLENARY")



class Chat:
    """A chat in a Neovim of its own, typed into its buffer."""

    def __init__(self, editor: Editor, place: Place, provider: Provider):
        self.editor, self.place, self.provider = editor, place, provider
        editor.type(":CodeCompanionChat<CR>")
        until(lambda: editor.lua(CHATS) > 0, "a chat is open")
        self.buffer = editor.lua("return vim.api.nvim_get_current_buf()")

    def send(self, text: str):
        """Types a question and sends it."""
        self.editor.type(f":buffer {self.buffer}<CR>Go{text}<Esc>")
        self.editor.type("<CR>")

    def ask(self, text: str):
        """Asks, and waits for the answer."""
        self.send(text)
        self.wait(text)

    def wait(self, what: str):
        until(lambda: self.editor.lua(IDLE, self.buffer), f"{what} is answered")

    def lua(self, code: str, *arguments):
        return self.editor.lua(f"local chat = require('codecompanion').buf_get_chat(...)\n{code}", self.buffer, *arguments)


@contextlib.contextmanager
def neovim(adapter: str, model: str, place: Place, provider: Provider):
    more = {"STRATA_MODEL": model, "STAND_IN": provider.url, "STAND_IN_KEY": "a key", "CHAT_ADAPTER": adapter}
    with environment({**place.environment, **more}):
        editor = Editor(place.repo, place.home, INIT)
        try:
            editor.type(f":cd {place.repo}<CR>")
            yield editor
        finally:
            editor.quit()


def play(adapter: str, model: str, place: Place, provider: Provider) -> None:
    """The session in a chat: with `/strata` and an adapter of CodeCompanion's, or with the adapter of Strata's."""
    with neovim(adapter, model, place, provider) as editor:
        for path in FILES:
            editor.edit(path)
        editor.type(f":Strata add {' '.join(FILES)}<CR>")
        chat = Chat(editor, place, provider)
        if adapter != OURS:
            editor.lua(SLASH)
        for turn in turns():
            editor.type(f":buffer {turn.path}<CR>")
            editor.type(typed_in(turn))
            chat.send(turn.question)
            until(lambda: len(provider.bill()["bills"]) > turn.number, f"{turn.question} is answered")
            chat.wait(turn.question)


# The name of Strata's adapter.
OURS = "strata"

CHATS = "return #vim.tbl_filter(function(b) return vim.bo[b].filetype == 'codecompanion' end, vim.api.nvim_list_bufs())"

# As completion runs a slash command.
SLASH = """
local chat = require("codecompanion.interactions.chat").buf_get_chat(0)
local config = require("codecompanion.config").interactions.chat.slash_commands.strata
require("codecompanion.interactions.chat.slash_commands").new():execute({ label = "strata", config = config }, chat)
"""

IDLE = """
local chat = require("codecompanion.interactions.chat").buf_get_chat(...)
return chat.current_request == nil
"""
