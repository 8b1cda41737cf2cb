"""`strata ask`, a process for each question. It reads files from the disk: what is typed is saved before each question."""

import json
import subprocess

from session import FILES, LIMIT, TURNS, Place, Provider, turns

# The provider of a model of each form, and what its address ends in.
PROVIDERS = {"anthropic": "", "openai": "/v1", "responses": "/v1", "gemini": ""}


class Asked:
    """What was predicted and billed of each question, as the `tap` notes it of a server."""

    def __init__(self):
        self.turns, self.totals = [], dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0)

    def note(self, reply: dict):
        for name in self.totals:
            self.totals[name] += reply["usage"][name]
        self.turns.append({"totals": dict(self.totals), "predicted": reply["predicted"]})


def play(form: str, model: str, place: Place, provider: Provider, count: int = TURNS) -> list[dict]:
    settings = {
        "STRATA_PROVIDER_NAME": form,
        "STRATA_PROVIDER_BASE_URL": provider.url + PROVIDERS[form],
        "STRATA_PROVIDER_MODEL": model,
        "ANTHROPIC_API_KEY": "a key",
        "OPENAI_API_KEY": "a key",
        "GEMINI_API_KEY": "a key",
    }
    environment, asked = {**place.environment, **settings}, Asked()
    for turn in turns(count):
        file = place.repo / turn.path
        file.write_text(turn.typed_into(file.read_text()))
        selected = [word for path in FILES for word in ("--select", path)] if turn.number == 0 else []
        session = "new" if turn.number == 0 else "latest"
        argv = [environment["TAP_PROGRAM"], "ask", "--json", "--session", session, *selected, turn.question]
        run = subprocess.run(argv, cwd=place.repo, env=environment, capture_output=True, text=True, timeout=LIMIT * 5)
        assert run.returncode == 0, run.stderr
        asked.note(json.loads(run.stdout))
    return asked.turns
