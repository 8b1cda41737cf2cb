"""`:Strata ask` in a real Neovim, into which everything is typed."""

import contextlib
import os
import pathlib
import sys

from session import FILES, Place, Provider, turns

sys.path.append(str(pathlib.Path(__file__).parents[1] / "editors/neovim"))
from driver import Editor  # noqa: E402


@contextlib.contextmanager
def environment(values: dict[str, str]):
    """The driver starts Neovim with what this process has."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def typed_in(turn) -> str:
    """Keys that type the line of a turn. Ctrl-U takes an indent back."""
    return f"{'ggO' if turn.at_top else 'Go'}<C-U>{turn.line}<Esc>"


def play(model: str, place: Place, provider: Provider) -> None:
    with environment({**place.environment, "STRATA_MODEL": model, "STAND_IN_KEY": "a key"}):
        editor = Editor(place.repo, place.home, "plugin.lua")
        try:
            curl = {"url": provider.url + "/v1/messages", "key_env": "STAND_IN_KEY"}
            editor.nvim.vars["strata"] = {"path": os.environ["STRATA_BIN"], "curl": curl}
            editor.type(f":cd {place.repo}<CR>")
            for path in FILES:
                editor.edit(path)
            editor.type(f":Strata add {' '.join(FILES)}<CR>")
            for turn in turns():
                editor.type(f":buffer {turn.path}<CR>")
                editor.type(typed_in(turn))
                editor.type(f":Strata ask {turn.question}<CR>")
                place.wait_for_turn(turn)
        finally:
            editor.quit()
