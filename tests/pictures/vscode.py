"""Takes the screenshot of VS Code: a user asks `@strata` about the shop, and the views show the prompt. Also stores its text.

    vscode.py renew    writes docs/pictures/vscode.png and vscode.txt
    vscode.py check    fails if the text of a new run differs from vscode.txt, except in numbers

Needs the programs that tests/editors/vscode/tools installs, so run it through `vscode`."""

import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

import demo
from terminal import masked

PICTURE = pathlib.Path(__file__).parents[2] / "docs/pictures/vscode.png"
# Token limit for automatic context, in addition to the selected file.
AUTO = 440
WORDS = PICTURE.with_suffix(".txt")


def run(picture: pathlib.Path) -> str:
    """Takes the screenshot and returns its text."""
    program = pathlib.Path(__file__).with_name("vscode.mjs")
    with demo.shop() as (repo, environment):
        environment |= {name: value for name, value in os.environ.items() if name.startswith("STRATA_")}
        environment |= {"QUESTIONS": "\n".join([demo.QUESTION, demo.FOLLOW_UP]), "AUTO": str(AUTO)}
        argv = ["node", str(program), str(repo), str(picture)]
        return subprocess.run(argv, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def check(words: str) -> str:
    """Returns the difference between the screenshot and a run as a diff."""
    pictured, shown = masked(WORDS.read_text().splitlines()), masked(words.splitlines())
    return "\n".join(difflib.unified_diff(pictured, shown, WORDS.name, "a run", lineterm=""))


if __name__ == "__main__":
    if sys.argv[1:] == ["renew"]:
        WORDS.write_text(run(PICTURE))
    else:
        with tempfile.TemporaryDirectory() as folder:
            stale = check(run(pathlib.Path(folder) / PICTURE.name))
        if stale:
            sys.exit(f"{stale}\nThe screenshot is stale; update it with tests/pictures/run vscode")
