"""Plays the session through each client against the stand-in provider, and prints what it cost: `main.py STAND_IN FLASK [CLIENT...]`."""

import functools
import os
import pathlib
import signal
import sys
import time

import ask
import bodies
import examples
import neovim  # Before what else uses its driver.
import codecompanion
import gptel
import vscode
from session import HEADING, TURNS_WITH_TOOLS, Provider, calls, judged, place, turns

# A client is as cheap as the bodies posted as they are, or nearly so.
NEARLY = 1.05

# What a chat may cost that only adds to what it sent.
CODECOMPANION = 0.35

# The model that every client is played with.
MODEL = "claude-sonnet-5-5"

# The model of clients that speak OpenAI's dialect.
OPENAI_MODEL = "gpt-5.1"

# The most that a session in which the model calls tools may cost.
WITH_TOOLS = 0.11
TOOLS_ASKED = {"turn": turns()[TURNS_WITH_TOOLS - 1], "requests": TURNS_WITH_TOOLS * (len(calls(turns()[0])) + 1)}


def main(stand_in: str, flask: str, *wanted: str) -> int:
    provider, rows = Provider(pathlib.Path(stand_in)), []

    def play(client: str, model: str, limit: float | None, session, records: bool = True, **expected) -> float:
        provider.forget()
        start = time.monotonic()
        with place(pathlib.Path(flask)) as at:
            # A client that has no server in its hands says itself what was recorded.
            own = session(model, at, provider)
            recorded = own or at.turns() if records else None
        row = judged(client, model, limit, provider.bill(), provider.last, recorded, **expected)
        rows.append(row)
        print(f"{row}  ({time.monotonic() - start:.0f} s)", flush=True)
        return row.share

    def is_wanted(client: str) -> bool:
        return not wanted or client in wanted or client.partition("-")[0] in wanted

    print(HEADING)
    try:
        shares = {}
        for (model, form), limit in bodies.LIMITS.items():
            # The others are compared with these.
            if is_wanted("bodies") or (model, form) in ((MODEL, "anthropic"), (OPENAI_MODEL, "openai")):
                session = functools.partial(bodies.play, form)
                shares[model, form] = play(f"bodies, {form}", model, limit, session)
        for (model, form), limit in bodies.LIMITS.items():
            if is_wanted("ask"):
                play(f"strata ask, {form}", model, limit, functools.partial(ask.play, form))
        near = shares[MODEL, "anthropic"] * NEARLY
        for example in ("ask.py", "ask.mjs"):
            if is_wanted(example):
                play(example, MODEL, near, lambda *session: examples.play(example, *session))
        if is_wanted("neovim"):
            play(":Strata ask", MODEL, near, functools.partial(neovim.play, sent_by_server=True))
            play(":Strata ask, curl", MODEL, near, neovim.play)
            provider.forget()
            with place(pathlib.Path(flask)) as at:
                neovim.play_sending(MODEL, at, provider)
            print(":Strata ask: tools, answers that are stopped, and a prompt that is refused as too long", flush=True)
            provider.forget()
            with place(pathlib.Path(flask)) as at:
                neovim.play_beyond_the_limit(MODEL, at, provider)
            print(":Strata ask, curl: answers a conversation longer than its limit, and one that is refused as too long", flush=True)
        if is_wanted("codecompanion"):
            if all(name in os.environ for name in codecompanion.CHECKOUTS):
                def chat(adapter: str, base: str):
                    return functools.partial(codecompanion.play, adapter, base)

                play("CodeCompanion /strata", MODEL, CODECOMPANION, chat("stand_in", "anthropic"), records=False)
                play("CodeCompanion adapter", MODEL, near, chat(codecompanion.OURS, "anthropic"))
                for base, form in codecompanion.OTHERS.items():
                    limit = bodies.LIMITS[codecompanion.OTHER, form]
                    play("CodeCompanion adapter", codecompanion.OTHER, limit, chat(codecompanion.OURS, base))
                for base in ("anthropic", *codecompanion.OTHERS):
                    provider.forget()
                    with place(pathlib.Path(flask)) as at:
                        codecompanion.play_behaviour(base, MODEL if base == "anthropic" else codecompanion.OTHER, at, provider)
                provider.forget()
                with place(pathlib.Path(flask)) as at:
                    codecompanion.play_beyond_the_limit(MODEL, at, provider)
                print("CodeCompanion adapter: tools, answers made again, edited, stopped, broken off, refused, and beyond the limit", flush=True)
            else:
                print(f"{'CodeCompanion':<22} not played: {' and '.join(codecompanion.CHECKOUTS)} name checkouts of it")
        if "gptel" in wanted:
            if all(name in os.environ for name in gptel.CHECKOUTS):
                play("gptel", MODEL, near, gptel.play)
                provider.forget()
                with place(pathlib.Path(flask)) as at:
                    gptel.play_behaviour(MODEL, at, provider)
                print("gptel: tools, answers edited, removed, stopped, refused", flush=True)
            else:
                print(f"{'gptel':<22} not played: {' and '.join(gptel.CHECKOUTS)} names a checkout of it")
        if is_wanted("vscode-anthropic"):
            play("VS Code, Anthropic", MODEL, near, functools.partial(vscode.play, "anthropic"))
        if is_wanted("vscode-openai"):
            near_openai = shares[OPENAI_MODEL, "openai"] * NEARLY
            play("VS Code, OpenAI", OPENAI_MODEL, near_openai, functools.partial(vscode.play, "openai"))
        if is_wanted("vscode-editor"):
            play("VS Code, editor's chat", MODEL, None, functools.partial(vscode.play, "editor"), records=False)
        if is_wanted("vscode-source"):
            play("VS Code, Strata", MODEL, near, functools.partial(vscode.play, "strata"))
        if is_wanted("vscode-tools"):
            with_tools = play("bodies, with tools", MODEL, WITH_TOOLS, bodies.play_with_tools, **TOOLS_ASKED)
            play("VS Code, with tools", MODEL, with_tools * NEARLY, vscode.play_with_tools, **TOOLS_ASKED)
        if is_wanted("vscode-limits"):
            provider.forget()
            with place(pathlib.Path(flask)) as at:
                vscode.play_beyond_the_limit(MODEL, at, provider)
            print("VS Code @strata answers a conversation longer than the chat model takes, and one that is refused as too long", flush=True)
        if is_wanted("vscode-recovery"):
            provider.forget()
            with place(pathlib.Path(flask)) as at:
                vscode.play_recovery(MODEL, at, provider)
            print("VS Code @strata sends what the chat shows after a retry, an edit, a failure and a stop", flush=True)
        if is_wanted("vscode-suggested"):
            provider.forget()
            with place(pathlib.Path(flask)) as at:
                vscode.play_suggested(MODEL, at, provider)
            print("VS Code keeps suggested code that is accepted, and leaves out what is dismissed", flush=True)
    finally:
        provider.close()
    failed = [row for row in rows if row.faults]
    print(f"clients: {len(rows) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    # Whatever was started ends with this, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main(*sys.argv[1:]))
