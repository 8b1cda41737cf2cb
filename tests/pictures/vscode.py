"""The screenshot of VS Code: a user asks `@strata` about the shop, and the views show the prompt. Beside it stands what is read there.

    vscode.py renew    writes docs/pictures/vscode.png and vscode.txt
    vscode.py check    fails when a run no longer shows what vscode.txt says, apart from numbers

Needs what tests/editors/vscode/tools installs; `vscode` is the way in."""

import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

import demo
from terminal import masked

PICTURE = pathlib.Path(__file__).parents[2] / "docs/pictures/vscode.png"
# Tokens of code that come with a question, besides the file that is ticked.
AUTO = 440
WORDS = PICTURE.with_suffix(".txt")


def run(picture: pathlib.Path) -> str:
    """Takes the picture. Returns what is read in it."""
    program = pathlib.Path(__file__).with_name("vscode.mjs")
    with demo.shop() as (repo, environment):
        environment |= {name: value for name, value in os.environ.items() if name.startswith("STRATA_")}
        environment |= {"QUESTIONS": "\n".join([demo.QUESTION, demo.FOLLOW_UP]), "AUTO": str(AUTO)}
        argv = ["node", str(program), str(repo), str(picture)]
        return subprocess.run(argv, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def check(words: str) -> str:
    """What a run shows otherwise than the screenshot, as a diff."""
    pictured, shown = masked(WORDS.read_text().splitlines()), masked(words.splitlines())
    return "\n".join(difflib.unified_diff(pictured, shown, WORDS.name, "a run", lineterm=""))


if __name__ == "__main__":
    if sys.argv[1:] == ["renew"]:
        WORDS.write_text(run(PICTURE))
    else:
        with tempfile.TemporaryDirectory() as folder:
            stale = check(run(pathlib.Path(folder) / PICTURE.name))
        if stale:
            sys.exit(f"{stale}\nThe screenshot is stale; renew it with tests/pictures/run vscode")
