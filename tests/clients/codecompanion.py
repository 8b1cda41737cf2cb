"""A chat of the real CodeCompanion with `/strata` in it, typed into its buffer."""

import pathlib

from driver import Editor, until
from neovim import environment, typed_in
from session import FILES, Place, Provider, turns

INIT = pathlib.Path(__file__).with_name("codecompanion.lua")

# Where the plugin and what it needs are.
CHECKOUTS = ("CODECOMPANION", "PLENARY")

CHATS = "return #vim.tbl_filter(function(b) return vim.bo[b].filetype == 'codecompanion' end, vim.api.nvim_list_bufs())"


def play(model: str, place: Place, provider: Provider) -> None:
    more = {"STRATA_MODEL": model, "STAND_IN": provider.url, "STAND_IN_KEY": "a key"}
    with environment({**place.environment, **more}):
        editor = Editor(place.repo, place.home, INIT)
        try:
            editor.type(f":cd {place.repo}<CR>")
            for path in FILES:
                editor.edit(path)
            editor.type(f":Strata add {' '.join(FILES)}<CR>")
            editor.type(":CodeCompanionChat<CR>")
            until(lambda: editor.lua(CHATS) == 1, "a chat is open")
            chat = editor.lua("return vim.api.nvim_get_current_buf()")
            editor.lua(SLASH)
            for turn in turns():
                editor.type(f":buffer {turn.path}<CR>")
                editor.type(typed_in(turn))
                editor.type(f":buffer {chat}<CR>Go{turn.question}<Esc>")
                editor.type("<CR>")
                until(lambda: len(provider.bill()["bills"]) > turn.number, f"{turn.question} is answered")
                until(lambda: editor.lua(IDLE, chat), "the chat is ready for the next question")
        finally:
            editor.quit()


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
