"""Types into chats of the real CodeCompanion, with `/strata` and with the adapter `strata`."""

import contextlib
import pathlib

from driver import Editor, until
from neovim import SHORT, environment, typed_in
from session import FILES, TURNS, Place, Provider, turns

INIT = pathlib.Path(__file__).with_name("codecompanion.lua")

# Environment variables with the checkouts of the plugin and its dependency.
CHECKOUTS = ("CODECOMPANION", "PLENARY")



class Chat:
    """A chat in Neovim, controlled by typing into its buffer."""

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
        """Sends a question and waits for the answer."""
        self.send(text)
        self.wait(text)

    def wait(self, what: str):
        until(lambda: self.editor.lua(IDLE, self.buffer), f"{what} is answered")

    def lua(self, code: str, *arguments):
        return self.editor.lua(f"local chat = require('codecompanion').buf_get_chat(...)\n{code}", self.buffer, *arguments)


@contextlib.contextmanager
def neovim(adapter: str, model: str, place: Place, provider: Provider, base: str = "anthropic", **more: str):
    more |= {"STRATA_MODEL": model, "STAND_IN": provider.url, "STAND_IN_KEY": "a key"}
    with environment({**place.environment, **more, "CHAT_ADAPTER": adapter, "BASE_ADAPTER": base}):
        editor = Editor(place.repo, place.home, INIT)
        try:
            editor.type(f":cd {place.repo}<CR>")
            yield editor
            assert "Error executing" not in (said := messages(editor)), said
        finally:
            editor.quit()


def messages(editor: Editor) -> str:
    """Returns all messages that Neovim has shown."""
    return editor.nvim.funcs.execute("messages") + editor.lua("return table.concat(NOTIFIED, '\\n')")


def play(adapter: str, base: str, model: str, place: Place, provider: Provider, count: int = TURNS) -> None:
    """Plays the session in a chat, with `/strata` and one of CodeCompanion's adapters, or with Strata's adapter."""
    with neovim(adapter, model, place, provider, base) as editor:
        for path in FILES:
            editor.edit(path)
        editor.type(f":Strata add {' '.join(FILES)}<CR>")
        chat = Chat(editor, place, provider)
        if adapter != OURS:
            editor.lua(SLASH)
        for turn in turns(count):
            editor.type(f":buffer {turn.path}<CR>")
            editor.type(typed_in(turn))
            chat.send(turn.question)
            until(lambda: len(provider.bill()["bills"]) > turn.number, f"{turn.question} is answered")
            chat.wait(turn.question)


def said(editor: Editor) -> list[tuple[str, str]]:
    """Returns the server's conversation as pairs of role and text, with one line for each tool call and result."""
    conversation = []
    for message in editor.run("history.get")["messages"]:
        words = []
        for block in message["content"]:
            kind = block["type"]
            words.append(
                block["text"]
                if kind == "text"
                else f"{kind} {block.get('name', '')}{''.join(part['text'] for part in block.get('content', []))}"
            )
        conversation.append((message["role"], "\n".join(words)))
    return conversation


def shown(chat: Chat) -> list[tuple[str, str]]:
    """Returns the conversation in the chat in the same form."""
    return [tuple(pair) for pair in chat.lua(SHOWN)]


def play_behaviour(base: str, model: str, place: Place, provider: Provider) -> None:
    """Calls tools, and regenerates, edits, stops and interrupts answers. The server's conversation always equals the chat's."""
    with neovim(OURS, model, place, provider, base, CHAT_TOOL="weather") as editor:
        editor.edit(FILES[2])
        editor.type(f":Strata add {FILES[2]}<CR>")
        chat = Chat(editor, place, provider)

        def both(*expected: tuple[str, str]):
            until(lambda: said(editor) == list(expected), f"the server has {expected}, not {said(editor)}")
            assert shown(chat) == list(expected), shown(chat)

        calls = [{"name": "weather", "input": {"city": "Oslo"}}]
        provider.say([{"tools": calls, "text": "I look."}, {"text": "Take an umbrella."}])
        chat.ask("Does it rain?")
        until(lambda: "umbrella" in shown(chat)[-1][1], "the tool ran and its result was answered")
        asked = [
            ("user", "Does it rain?"),
            ("assistant", "I look.\ntool_call weather"),
            ("user", "tool_result It rains in Oslo."),
            ("assistant", "Take an umbrella."),
        ]
        both(*asked)

        provider.say([{"text": "Take two."}])
        editor.type("gr")
        until(lambda: shown(chat)[-1][1] == "Take two.", "the answer is regenerated")
        asked[-1] = ("assistant", "Take two.")
        both(*asked)

        # Edits a message like CodeCompanion's debug window.
        chat.lua("chat.messages[#chat.messages].content = 'Take none.'")
        provider.say([{"text": "It will stay dry."}])
        chat.ask("Why none?")
        both(*asked[:-1], ("assistant", "Take none."), ("user", "Why none?"), ("assistant", "It will stay dry."))

        provider.say([{"error": 529}])
        chat.ask("Is it warm?")
        assert "verloaded" in messages(editor), messages(editor)
        assert said(editor)[-1] == ("assistant", "It will stay dry."), "the failed question was recorded"
        provider.say([{"text": "It is cold."}])
        # After an error, CodeCompanion sends the last question again.
        editor.type("<CR>")
        chat.wait("the repeated question")
        assert said(editor)[-2:] == [("user", "Is it warm?"), ("assistant", "It is cold.")], said(editor)[-2:]

        provider.say([{"text": "First it is this. " * 30, "error": "stall"}])
        chat.send("What comes?")
        until(lambda: "First it is this." in chat.lua("return table.concat(vim.api.nvim_buf_get_lines(..., 0, -1, false), '')"), "it streams")
        editor.type("q")
        until(lambda: said(editor)[-1][1].startswith("First it is this."), "the partial answer is recorded")
        assert said(editor)[-2] == ("user", "What comes?")
        provider.say([{"text": "That was it."}])
        chat.ask("Go on.")
        assert [text[:20] for _, text in said(editor)[-4:]] == ["What comes?", "First it is this. Fi", "Go on.", "That was it."]

        provider.say([{"text": "Half of it is there. " * 30, "error": "midstream"}])
        chat.ask("And then?")
        until(lambda: said(editor)[-1][1].startswith("Half of it is there."), "the interrupted answer is recorded")
        assert "ended the answer early" in messages(editor)
        provider.say([{"text": "Whole again."}])
        chat.ask("Once more.")
        assert [text[:10] for _, text in said(editor)[-4:]] == ["And then?", "Half of it", "Once more.", "Whole agai"]
        assert [pair[1][:10] for pair in shown(chat)[-4:]] == ["And then?", "Half of it", "Once more.", "Whole agai"]

        before, session = said(editor), editor.run("server.status")["session"]
        other = Chat(editor, place, provider)
        other.ask("Another matter?")
        assert said(editor) == [("user", "Another matter?"), ("assistant", "Whole again.")], said(editor)
        assert editor.run("files.has", path=FILES[2])["has"], "another chat lacks the selected file"
        chat.ask("Back here?")
        assert editor.run("server.status")["session"] == session
        assert said(editor) == [*before, ("user", "Back here?"), ("assistant", "Whole again.")]
    assert len(place.turns()) > 0
    provider.say([{"text": "Done."}])


def play_beyond_the_limit(model: str, place: Place, provider: Provider) -> None:
    """A conversation that exceeds the limit of a request, and a prompt that the provider rejects as too long."""
    provider.say([{"text": "What stands here is long. " * 500}])
    with neovim(OURS, model, place, provider) as editor:
        editor.edit(FILES[2])
        editor.run("budget.set", maxInputTokens=SHORT)
        editor.type(f":Strata add {FILES[2]}<CR>")
        chat = Chat(editor, place, provider)
        for turn in turns(10):
            chat.ask(turn.question)
        until(lambda: f"{model} wrote the summary" in messages(editor), "a message says who wrote the summary")
        assert provider.summaries, "no summary was requested from the model"
        provider.say([{"text": "It fits now."}])
        provider.refuses = True
        chat.ask("Does it fit?")
        assert not provider.refuses, "no request was rejected"
        assert "compacting the conversation and sending it again" in messages(editor)
        assert "It fits now." in "".join(editor.nvim.api.buf_get_lines(chat.buffer, 0, -1, False))
    provider.say([{"text": "Done."}])
    bills = provider.bill()["bills"]
    assert sum(bill["output"] for bill in bills) > SHORT, "the conversation does not exceed the limit"
    assert max(bill["prompt"] for bill in bills) <= SHORT, bills


# The name of Strata's adapter.
OURS = "strata"

# A model by OpenAI, and the body format of each adapter for it.
OTHER = "gpt-5.1"
OTHERS = {"openai": "openai", "openai_responses": "responses"}

CHATS = "return #vim.tbl_filter(function(b) return vim.bo[b].filetype == 'codecompanion' end, vim.api.nvim_list_bufs())"

# Joins consecutive messages of one role, as the server does.
SHOWN = """
local pairs, before = {}, nil
for _, message in ipairs(chat.messages) do
  local words = {}
  if message.role == "tool" then
    words[1] = "tool_result " .. message.content
  elseif message.role ~= "system" then
    words[1] = message.content
    for _, call in ipairs(message.tools and message.tools.calls or {}) do
      table.insert(words, "tool_call " .. call["function"].name)
    end
  end
  local role = message.role == "llm" and "assistant" or "user"
  if #words > 0 and before and before[1] == role then
    before[2] = before[2] .. (role == "user" and "\\n\\n" or "\\n") .. table.concat(words, "\\n")
  elseif #words > 0 then
    before = { role, table.concat(words, "\\n") }
    table.insert(pairs, before)
  end
end
return pairs
"""

# Runs the slash command like completion.
SLASH = """
local chat = require("codecompanion.interactions.chat").buf_get_chat(0)
local config = require("codecompanion.config").interactions.chat.slash_commands.strata
require("codecompanion.interactions.chat.slash_commands").new():execute({ label = "strata", config = config }, chat)
"""

IDLE = """
local chat = require("codecompanion.interactions.chat").buf_get_chat(...)
return chat.current_request == nil
"""
