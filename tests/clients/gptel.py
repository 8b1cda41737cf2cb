"""A chat of the real gptel in Emacs, with Strata's backend."""

import json
import os
import pathlib
import subprocess

from session import FILES, LIMIT, Place, Provider, turns

SCRIPT = pathlib.Path(__file__).with_name("gptel.el")

# Environment variable with the checkout of the package.
CHECKOUTS = ("GPTEL",)


def lisp(value) -> str:
    if isinstance(value, bool):
        return "t" if value else "nil"
    return json.dumps(value, ensure_ascii=False)


class Emacs:
    """An Emacs that performs one action for each line of its input."""

    def __init__(self, model: str, place: Place, provider: Provider, **more: str):
        more |= {"STRATA_MODEL": model, "STAND_IN_HOST": provider.url.removeprefix("http://")}
        argv = [os.environ.get("EMACS", "emacs"), "--quick", "--batch", "--load", str(SCRIPT)]
        pipe = subprocess.PIPE
        environment = {**place.environment, **more}
        self.process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=place.repo, env=environment, text=True)

    def do(self, what: str, *arguments) -> dict:
        self.process.stdin.write(f"({what} {' '.join(map(lisp, arguments))})\n")
        self.process.stdin.flush()
        # Skip Emacs's own output before the state.
        while line := self.process.stdout.readline():
            if line.startswith("{"):
                return json.loads(line)
        raise AssertionError(self.process.stderr.read())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.process.communicate(timeout=LIMIT)
        finally:
            self.process.kill()
            self.process.wait()


def play(model: str, place: Place, provider: Provider) -> None:
    with Emacs(model, place, provider) as emacs:
        emacs.do("add", *FILES)
        for turn in turns():
            emacs.do("type", turn.path, turn.at_top, turn.line)
            emacs.do("ask", turn.question)


def play_behaviour(model: str, place: Place, provider: Provider) -> None:
    """Calls tools, and edits, removes and stops messages. The server's conversation always equals the one in the buffer."""
    with Emacs(model, place, provider, CHAT_TOOL="weather") as emacs:
        calls = [{"name": "weather", "input": {"city": "Oslo"}}]
        provider.say([{"tools": calls, "text": "I look."}, {"text": "Take an umbrella."}])
        asked = ["Does it rain?", "I look.\nweather", "result", "Take an umbrella."]
        assert [text for _, text in emacs.do("ask", asked[0])["history"]] == asked

        provider.say([{"text": "It will stay dry."}])
        asked += ["And tomorrow?", "It will stay dry."]
        assert [text for _, text in emacs.do("ask", asked[-2])["history"]] == asked

        emacs.do("replace", "stay dry", "pour")
        provider.say([{"text": "Yes."}])
        asked[-1:] = ["It will pour.", "Sure?", "Yes."]
        assert [text for _, text in emacs.do("ask", "Sure?")["history"]] == asked

        emacs.do("remove-from", "Sure?")
        provider.say([{"text": "A lot."}])
        asked[-2:] = ["How much?", "A lot."]
        assert [text for _, text in emacs.do("ask", "How much?")["history"]] == asked

        provider.say([{"error": 529}])
        state = emacs.do("ask", "Is it warm?")
        assert "verloaded" in " ".join(state["said"]), state["said"]
        assert [text for _, text in state["history"]] == asked, "the failed question was recorded"

        provider.say([{"text": "First it is this. " * 30, "error": "stall"}])
        state = emacs.do("stop", "What comes?", "First it is this.")
        assert state["history"][-1][1].startswith("First it is this."), state["history"][-1]

        provider.say([{"text": "It fits now."}])
        provider.refuses = True
        state = emacs.do("ask", "Does it fit?")
        assert not provider.refuses, "no request was rejected"
        assert "compacting the conversation and sending it again" in " ".join(state["said"])
        assert state["history"][-1][1] == "It fits now."
    provider.say([{"text": "Done."}])
