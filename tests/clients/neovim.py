"""`:Strata ask` in a real Neovim, with all input typed."""

import contextlib
import os
import pathlib
import re
import sys

from ask import dollars_billed
from session import FILES, PRECISION, TURNS, Place, Provider, turns, until

sys.path.append(str(pathlib.Path(__file__).parents[1] / "editors/neovim"))
from driver import Editor  # noqa: E402


@contextlib.contextmanager
def environment(values: dict[str, str]):
    """Sets environment variables of this process, which the driver passes to Neovim."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def typed_in(turn) -> str:
    """Returns the keys that type the line of a turn. Ctrl-U removes automatic indentation."""
    return f"{'ggO' if turn.at_top else 'Go'}<C-U>{turn.line}<Esc>"


# Token limit for a request in the sessions that exceed the limit.
SHORT = 20_000


def play_beyond_the_limit(model: str, place: Place, provider: Provider) -> None:
    """A conversation that exceeds the limit of a request. The model of `:Strata ask` compacts it, which is announced and can be undone.
    A prompt that the provider rejects as too long is sent once more."""
    provider.say([{"text": "What stands here is long. " * 500}])
    with environment({**place.environment, "STRATA_MODEL": model, "STAND_IN_KEY": "a key"}):
        editor = Editor(place.repo, place.home, "plugin.lua")
        try:
            curl = {"url": provider.url + "/v1/messages", "key_env": "STAND_IN_KEY"}
            editor.nvim.vars["strata"] = {"path": os.environ["STRATA_BIN"], "curl": curl}
            editor.type(f":cd {place.repo}<CR>")
            editor.edit(FILES[2])
            editor.run("budget.set", maxInputTokens=SHORT)
            editor.type(f":Strata add {FILES[2]}<CR>")
            for turn in turns(10):
                editor.type(f":Strata ask {turn.question}<CR>")
                place.wait_for_turn(turn)
            until(lambda: f"{model} wrote the summary" in editor.nvim.funcs.execute("messages"), "a message says who wrote the summary")
            assert provider.summaries, "no summary was requested from the model"
            provider.say([{"text": "It fits now."}])
            provider.refuses = True
            editor.type(":Strata ask Does it fit?<CR>")
            until(lambda: "It fits now." in editor.text(), "the answer")
            assert not provider.refuses, "no request was rejected"
            assert "compacting the conversation and sending it again" in editor.nvim.funcs.execute("messages")
            until(lambda: not editor.run("compaction.status")["running"], "no compaction is running")
            editor.type(":Strata compaction<CR>")
            until(lambda: "Last compaction     just now" in editor.text(), "the compaction buffer")
            before = editor.run("compaction.status")["last"]
            editor.type("u")
            until(lambda: "compaction undone" in editor.nvim.funcs.execute("messages"), "undone")
            assert editor.run("compaction.status").get("last") != before
        finally:
            editor.quit()
    provider.say([{"text": "Done."}])
    bills = provider.bill()["bills"]
    assert sum(bill["output"] for bill in bills) > SHORT, "the conversation does not exceed the limit"
    assert max(bill["prompt"] for bill in bills) <= SHORT, bills


def sends(provider: Provider) -> dict[str, str]:
    """Returns settings with which the server sends prompts itself."""
    settings = {"NAME": "anthropic", "BASE_URL": provider.url, "KEY_ENV": "STAND_IN_KEY"}
    return {f"STRATA_PROVIDER_{name}": value for name, value in settings.items()}


def play_sending(model: str, place: Place, provider: Provider) -> None:
    """Calls tools, stops answers and sends a prompt that is too long while the server sends the requests."""
    with environment({**place.environment, "STRATA_MODEL": model, "STAND_IN_KEY": "a key", **sends(provider)}):
        editor = Editor(place.repo, place.home, "plugin.lua")
        try:
            editor.type(f":cd {place.repo}<CR>")
            editor.edit(FILES[2])
            editor.type(f":Strata add {FILES[2]}<CR>")

            def answers() -> str:
                lines = "return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('strata://answer'), 0, -1, false), '\\n')"
                return editor.lua("if vim.fn.bufnr('strata://answer') < 0 then return '' end " + lines)

            def last() -> tuple[str, str]:
                message = editor.run("history.get")["messages"][-1]
                return message["role"], "".join(block.get("text", "") for block in message["content"])

            grep = {"name": "grep", "input": {"pattern": "class SecureCookie"}}
            provider.say([{"tools": [grep], "text": "I look."}, {"text": "It is in sessions.py."}])
            editor.type(":Strata! ask Where are cookies made?<CR>")
            until(lambda: "It is in sessions.py." in answers(), "the answer")
            assert "I look.\n\n`grep class SecureCookie`\n\nIt is in sessions.py." in answers(), answers()
            until(lambda: "% cached" in editor.nvim.funcs.execute("messages"), "the cost of the answer")
            assert last() == ("assistant", "It is in sessions.py.")

            provider.say([{"text": "First it is this. " * 30, "error": "stall"}])
            editor.type(":Strata ask What comes?<CR>")
            until(lambda: "First it is this." in answers(), "it streams")
            editor.type(":Strata cancel<CR>")
            until(lambda: last()[1].startswith("First it is this."), "the partial answer is recorded")

            provider.say([{"text": "It fits now."}])
            provider.refuses = True
            editor.type(":Strata ask Does it fit?<CR>")
            until(lambda: "It fits now." in answers(), "the answer")
            assert not provider.refuses, "no request was rejected"
            until(lambda: last() == ("assistant", "It fits now."), "it is recorded")
        finally:
            editor.quit()
    provider.say([{"text": "Done."}])


def play(model: str, place: Place, provider: Provider, sent_by_server: bool = False, count: int = TURNS) -> None:
    more = sends(provider) if sent_by_server else {}
    with environment({**place.environment, "STRATA_MODEL": model, "STAND_IN_KEY": "a key", **more}):
        editor = Editor(place.repo, place.home, "plugin.lua")
        try:
            if not sent_by_server:
                curl = {"url": provider.url + "/v1/messages", "key_env": "STAND_IN_KEY"}
                editor.nvim.vars["strata"] = {"path": os.environ["STRATA_BIN"], "curl": curl}
            editor.type(f":cd {place.repo}<CR>")
            for path in FILES:
                editor.edit(path)
            editor.type(f":Strata add {' '.join(FILES)}<CR>")
            for turn in turns(count):
                editor.type(f":buffer {turn.path}<CR>")
                editor.type(typed_in(turn))
                editor.type(f":Strata ask {turn.question}<CR>")
                place.wait_for_turn(turn)
            billed = dollars_billed(model, provider)

            def shown() -> float:
                text = re.search(r"\$([\d.]+)", editor.lua("return require('strata').statusline()"))
                return float(text[1]) if text else 0.0

            until(lambda: abs(shown() - billed) <= PRECISION * billed, f"the statusline shows the {billed:.4f} dollars that were billed")
        finally:
            editor.quit()
