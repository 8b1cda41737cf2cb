"""`@strata` in the chat box of a real VS Code, with a chat model that forwards to the stand-in provider."""

import json
import os
import pathlib
import subprocess
import threading

from session import FILES, LIMIT, Place, Provider, turns

HERE = pathlib.Path(__file__).parent


class Window:
    """A VS Code in a browser, in which `vscode.mjs` types."""

    def __init__(self, place: Place, provider: Provider, model: str, max_input_tokens: int):
        stand_in = {"STAND_IN_URL": provider.url, "STAND_IN_MODEL": model, "STAND_IN_MAX_INPUT_TOKENS": str(max_input_tokens)}
        # The set-up of VS Code has a home of its own.
        names = ("TAP_PROGRAM", "TAP_LOG", "STRATA_BIN")
        environment = {**os.environ, **stand_in, **{name: place.environment[name] for name in names}, "REPO": str(place.repo)}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(["node", str(HERE / "vscode.mjs")], stdin=pipe, stdout=pipe, env=environment, text=True)

    def do(self, **turn):
        self.process.stdin.write(json.dumps(turn) + "\n")
        self.process.stdin.flush()
        # The first line waits for the start of VS Code.
        timer = threading.Timer(2 * LIMIT, self.process.kill)
        timer.start()
        try:
            assert self.process.stdout.readline() == "done\n", f"VS Code did not do {turn}"
        finally:
            timer.cancel()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(LIMIT)
        finally:
            self.process.kill()
            self.process.wait()


def play_beyond_the_limit(model: str, place: Place, provider: Provider) -> None:
    """A conversation longer than the chat model takes: every question is answered, and no request is too long. It is compacted by the
    chat's own model, which the answer says, and that can be undone. A prompt that is refused as too long is sent once more."""
    limit = 20_000
    provider.say([{"text": "What stands here is long. " * 500}])
    with Window(place, provider, model, limit) as window:
        window.do(select=FILES[2])
        for turn in turns()[:10]:
            window.do(question=turn.question)
            place.wait_for_turn(turn)
        window.do(see="What stands here is long.", shot="clients-answer")
        window.do(see=f"{model} wrote the summary", shot="clients-beyond-the-limit")
        assert provider.summaries, "the chat's model was asked for no summary"
        provider.say([{"text": "It fits now."}])
        provider.refuses = True
        window.do(question="Question 10: does it fit?")
        window.do(see="tokens too long. One of", shot="clients-refused")
        assert not provider.refuses, "nothing was refused"
        window.do(press="Undo the Compaction", toast="The compaction was undone")
        # More than the model takes by itself.
        window.do(select=FILES[0])
        window.do(question="Question 11: and with this file?")
        window.do(see="was left out of this prompt because it does not fit", shot="clients-left-out")
    provider.say([{"text": "Done."}])
    bills = provider.bill()["bills"]
    assert sum(bill["output"] for bill in bills) > limit, "the conversation is no longer than the limit"
    assert max(bill["prompt"] for bill in bills) <= limit, bills


def play(model: str, place: Place, provider: Provider) -> None:
    with Window(place, provider, model, 1_000_000) as window:
        for path in FILES:
            window.do(select=path)
        for turn in turns():
            window.do(path=turn.path, at_top=turn.at_top, line=turn.line, question=turn.question)
            place.wait_for_turn(turn)
        window.do(shot="clients-session")
