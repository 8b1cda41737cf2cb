"""`strata ask`, with one process per question. It reads files from disk, so typed lines are saved before each question.

Also compares the money in the replies, and the sum of `strata cost`, with the provider's bill.
"""

import json
import subprocess

from session import FILES, LIMIT, PRECISION, TURNS, Place, Provider, turns

# List prices of input and output, in US dollars per million tokens, from the providers' price lists.
DOLLARS = {
    "claude-sonnet-5-5": (2.0, 10.0),
    "claude-sonnet-4-5": (3.0, 15.0),
    "gpt-5.1": (1.25, 10.0),
    "gpt-5.6-sol": (4.0, 20.0),
    "gpt-6": (2.0, 10.0),
    "gemini-3-flash": (0.5, 3.0),
}

# The path in the base URL of each provider.
PROVIDERS = {"anthropic": "", "openai": "/v1", "responses": "/v1", "gemini": ""}


def dollars_billed(model: str, provider: Provider) -> float:
    of_input, of_output = DOLLARS[model]
    return sum(bill["cost"] * of_input + bill["output"] * of_output for bill in provider.bill()["bills"]) / 1e6


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

    def strata(*arguments: str) -> tuple[dict, str]:
        argv = [environment["TAP_PROGRAM"], *arguments, "--json"]
        run = subprocess.run(argv, cwd=place.repo, env=environment, capture_output=True, text=True, timeout=LIMIT * 5)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout), run.stderr

    paid = 0.0
    for turn in turns(count):
        file = place.repo / turn.path
        file.write_text(turn.typed_into(file.read_text()))
        selected = [word for path in FILES for word in ("--select", path)] if turn.number == 0 else []
        session = "new" if turn.number == 0 else "latest"
        reply, told = strata("ask", "--session", session, *selected, turn.question)
        dollars = reply["cost"]["dollars"]
        assert f"${dollars:.4f}: " in told, f"{told} does not say that it cost {dollars}"
        paid += dollars
        # The totals that the session stores, instead of the usage in the reply.
        status, _ = strata("status")
        asked.append({"totals": status["budget"]["totals"], "predicted": reply["predicted"]})
    billed = dollars_billed(model, provider)
    assert abs(paid - billed) <= PRECISION * billed, f"the closing lines say {paid:.4f}, but {billed:.4f} was billed"
    if not provider.has_pauses:
        as_sent = status["budget"]["comparison"]["actual"]["dollars"]
        assert abs(as_sent - billed) <= PRECISION * billed, f"the status computes {as_sent:.4f}, but {billed:.4f} was billed"
    costs, _ = strata("cost", "--by", "day")
    assert abs(costs["total"]["dollars"] - paid) < 1e-9, f"{costs} is not the sum of the closing lines, {paid}"
    return asked
