"""The example programs. They read files from disk, so typed lines are saved before each question."""

import os
import pathlib
import shutil
import subprocess
import sys

from session import FILES, LIMIT, Place, Provider, turns

EXAMPLES = pathlib.Path(__file__).parents[2] / "editors/examples"


def command(example: str) -> list[str]:
    if example.endswith(".py"):
        return [sys.executable, str(EXAMPLES / example)]
    # Node looks for packages in the directories above the file.
    copy = pathlib.Path(os.environ["PACKAGES"]) / example
    shutil.copy(EXAMPLES / example, copy)
    return ["node", str(copy)]


def play(example: str, model: str, place: Place, provider: Provider) -> None:
    more = {"STRATA": place.environment["STRATA_BIN"], "STRATA_MODEL": model, "PROVIDER": provider.url + "/v1/messages"}
    environment = {**place.environment, **more, "ANTHROPIC_API_KEY": "a key"}
    pipe = subprocess.PIPE
    argv = command(example) + FILES
    process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, cwd=place.repo, env=environment, text=True)
    try:
        for turn in turns():
            file = place.repo / turn.path
            file.write_text(turn.typed_into(file.read_text()))
            process.stdin.write(turn.question + "\n")
            process.stdin.flush()
            assert process.stdout.readline().strip(), "no answer"
        process.stdin.close()
        assert process.wait(LIMIT) == 0
    finally:
        process.kill()
        process.wait()
