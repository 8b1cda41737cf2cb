"""`strata ask`, with one process per question. It reads files from disk, so typed lines are saved before each question."""

import json
import subprocess

from session import FILES, LIMIT, TURNS, Place, Provider, turns

# The path in the base URL of each provider.
PROVIDERS = {"anthropic": "", "openai": "/v1", "responses": "/v1", "gemini": ""}


def play(form: str, model: str, place: Place, provider: Provider, count: int = TURNS) -> list[dict]:
    settings = {
        "STRATA_PROVIDER_NAME": form,
        "STRATA_PROVIDER_BASE_URL": provider.url + PROVIDERS[form],
        "STRATA_PROVIDER_MODEL": model,
        "ANTHROPIC_API_KEY": "a key",
        "OPENAI_API_KEY": "a key",
        "GEMINI_API_KEY": "a key",
    }
    environment, asked = {**place.environment, **settings}, []

    def strata(*arguments: str) -> dict:
        argv = [environment["TAP_PROGRAM"], *arguments, "--json"]
        run = subprocess.run(argv, cwd=place.repo, env=environment, capture_output=True, text=True, timeout=LIMIT * 5)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)

    for turn in turns(count):
        file = place.repo / turn.path
        file.write_text(turn.typed_into(file.read_text()))
        selected = [word for path in FILES for word in ("--select", path)] if turn.number == 0 else []
        session = "new" if turn.number == 0 else "latest"
        reply = strata("ask", "--session", session, *selected, turn.question)
        # The totals that the session stores, instead of the usage in the reply.
        asked.append({"totals": strata("status")["budget"]["totals"], "predicted": reply["predicted"]})
    return asked
