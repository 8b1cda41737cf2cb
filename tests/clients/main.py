"""Plays the session through each client with the stand-in provider, and prints its cost: `main.py STAND_IN FLASK [CLIENT...]`."""

import contextlib
import dataclasses
import functools
import inspect
import multiprocessing
import os
import pathlib
import signal
import sys
import time
import traceback
from collections.abc import Callable

import ask
import ask_chat
import bodies
import examples
import neovim  # Imported first, since it makes its driver available to the others.
import codecompanion
import gptel
import vscode
from session import HEADING, SHORTENED, TURNS, Provider, Row, Turn, calls, judged, place, random_turns, share_billed, turns

# Maximum cost of a client, relative to the unchanged bodies.
NEARLY = 1.05

# Maximum cost of a chat that only appends to the previous request.
CODECOMPANION = 0.35

# Maximum cost of `strata ask` with pauses between the questions.
ASK_WITH_PAUSES = 0.18

# How many sessions run at the same time. Each waits for its client part of the time.
WORKERS = os.cpu_count() + 1

# The model for most clients.
MODEL = "claude-sonnet-5-5"

# The model for clients that use OpenAI's dialect.
OPENAI_MODEL = "gpt-5.1"

# Maximum cost of a session in which the model calls tools.
WITH_TOOLS = 0.11

# Maximum cost of another extension's chat with Strata as the source of the model. It sends a long file in two requests per turn.
OTHER_CHAT = 0.12
REQUESTS_WITH_TOOLS = len(calls(turns()[0])) + 1


@dataclasses.dataclass(frozen=True)
class Play:
    """A session of one client: a row of the table, or a test of its behavior."""

    client: str
    title: str
    model: str
    # Called with the model, a place and a provider. A client that runs its server itself returns the recorded turns. A session with parts
    # is a generator that yields after each part except the last.
    session: Callable
    limit: float | None = None
    # Title and model of the unchanged bodies that determine the cost limit.
    like: tuple[str, str] | None = None
    count: int = TURNS
    requests: int = 1
    # The seed of a session that types into random files.
    seed: int | None = None
    records: bool = True
    # Makes its own checks, and has no row in the table.
    checks_itself: bool = False
    # Options of the stand-in provider.
    options: tuple[str, ...] = ()
    # A test of the client's behavior that the session continues with.
    next_part: "Play | None" = None

    def parts(self) -> list["Play"]:
        return [self, *(self.next_part.parts() if self.next_part else [])]

    def turns(self) -> list[Turn]:
        return turns(self.count) if self.seed is None else random_turns(self.seed)

    def is_wanted(self, wanted: tuple[str, ...]) -> bool:
        if self.client == "gptel" and self.client not in wanted:
            return False
        return not wanted or any(part.client in wanted or part.client.partition("-")[0] in wanted for part in self.parts())

    def missing(self) -> list[str]:
        """Returns the environment variables that must name a checkout of the client, but are not set."""
        needed = {"codecompanion": codecompanion.CHECKOUTS, "gptel": gptel.CHECKOUTS}
        return [name for name in needed.get(self.client, ()) if name not in os.environ]


def posted(form: str) -> str:
    return f"bodies, {form}"


def with_pauses(play: Play, limit: float) -> Play:
    """Returns a session in which the provider's clock moves by the pauses of people between two answers. Strata's clock stands still, so
    that the predicted cost differs."""
    options = ("--pauses", "people")
    return dataclasses.replace(play, title=f"{play.title}, pauses", limit=limit, like=None, records=False, options=options)


def plays() -> list[Play]:
    """Returns all sessions. The unchanged bodies come first, since limits depend on them, and then the slowest sessions."""
    near, partial = {"like": (posted("anthropic"), MODEL)}, functools.partial
    near_openai = {"like": (posted("openai"), OPENAI_MODEL)}
    with_tools = {"count": SHORTENED, "requests": REQUESTS_WITH_TOOLS}
    other = codecompanion.OTHER

    def short(session: Callable, *arguments) -> dict:
        return {"session": partial(session, *arguments, count=SHORTENED), "count": SHORTENED}

    def behavior(client: str, title: str) -> Play:
        return Play(client, title, MODEL, session=None, checks_itself=True)

    def chat(adapter: str, base: str) -> Callable:
        return partial(codecompanion.play, adapter, base)

    all_bodies = [
        Play("bodies", posted(form), model, partial(bodies.play, form), limit) for (model, form), limit in bodies.LIMITS.items()
    ]
    asked = Play("ask", "strata ask, anthropic", MODEL, partial(ask.play, "anthropic"), **near)
    return [
        *all_bodies,
        *(with_pauses(play, bodies.LIMITS_WITH_PAUSES[play.model]) for play in all_bodies if play.model in bodies.LIMITS_WITH_PAUSES),
        *(
            Play("bodies", "bodies, random files", model, partial(bodies.play_random_files, "openai", seed), limit, seed=seed)
            for (model, seed), limit in bodies.LIMITS_OF_RANDOM_FILES.items()
        ),
        Play("bodies", posted("with tools"), MODEL, bodies.play_with_tools, WITH_TOOLS, **with_tools),
        Play("vscode-anthropic", "VS Code, Anthropic", MODEL, partial(vscode.play, "anthropic"), **near),
        Play("vscode-tools", "VS Code, with tools", MODEL, vscode.play_with_tools, like=(posted("with tools"), MODEL), **with_tools),
        Play("vscode-openai", "VS Code, OpenAI", OPENAI_MODEL, **short(vscode.play, "openai"), **near_openai),
        Play(
            "vscode-source", "VS Code, Strata", MODEL, vscode.play_source, count=SHORTENED, **near,
            next_part=behavior("vscode-source", "VS Code, Strata: tools, overloaded, stopped"),
        ),
        Play(
            "vscode-other", "VS Code, another chat", MODEL, vscode.play_other_chat, OTHER_CHAT, count=SHORTENED, requests=2, records=False,
            next_part=behavior("vscode-other", "VS Code, another chat: overloaded, stopped, picture"),
        ),
        Play("vscode-editor", "VS Code, editor's chat", MODEL, **short(vscode.play, "editor"), records=False),
        Play("vscode-limits", "VS Code, beyond the limit of the chat model", MODEL, vscode.play_beyond_the_limit, checks_itself=True),
        Play(
            "vscode-suggested", "VS Code, suggested code", MODEL, vscode.play_suggested, checks_itself=True,
            next_part=behavior("vscode-recovery", "VS Code, asked again, edited, failed, stopped"),
        ),
        Play("neovim", ":Strata ask", MODEL, partial(neovim.play, sent_by_server=True), **near),
        Play("neovim", ":Strata ask, curl", MODEL, **short(neovim.play), **near),
        Play("neovim", ":Strata ask, tools, stopped, refused", MODEL, neovim.play_sending, checks_itself=True),
        Play("neovim", ":Strata ask, curl, beyond the limit", MODEL, neovim.play_beyond_the_limit, checks_itself=True),
        asked,
        with_pauses(asked, ASK_WITH_PAUSES),
        *(
            Play("ask", f"strata ask, {form}", model, **short(ask.play, form), like=(posted(form), model))
            for model, form in bodies.LIMITS
            if (model, form) != (MODEL, "anthropic")
        ),
        Play("chat", "strata chat: thirty questions, stopped, pasted, killed", MODEL, ask_chat.play, checks_itself=True),
        *(Play(example, example, MODEL, partial(examples.play, example), **near) for example in ("ask.py", "ask.mjs")),
        Play("codecompanion", "CodeCompanion /strata", MODEL, chat("stand_in", "anthropic"), CODECOMPANION, records=False),
        Play("codecompanion", "CodeCompanion adapter", MODEL, chat(codecompanion.OURS, "anthropic"), **near),
        *(
            Play("codecompanion", "CodeCompanion adapter", other, chat(codecompanion.OURS, base), like=(posted(form), other))
            for base, form in codecompanion.OTHERS.items()
        ),
        *(
            Play("codecompanion", f"CodeCompanion, {base}: tools, again, edited, stopped", model, partial(codecompanion.play_behaviour, base), checks_itself=True)
            for base, model in {"anthropic": MODEL, **dict.fromkeys(codecompanion.OTHERS, other)}.items()
        ),
        Play("codecompanion", "CodeCompanion, beyond the limit", MODEL, codecompanion.play_beyond_the_limit, checks_itself=True),
        Play("gptel", "gptel", MODEL, gptel.play, **near),
        Play("gptel", "gptel, tools, edited, removed, stopped, refused", MODEL, gptel.play_behaviour, checks_itself=True),
    ]


@dataclasses.dataclass
class Played:
    play: Play
    row: Row | None
    bills: list[dict]
    seconds: float
    # The error, if the session did not finish.
    failure: str | None = None

    def is_failed(self) -> bool:
        return bool(self.failure or (self.row and self.row.faults))

    def __str__(self) -> str:
        if self.failure:
            return f"{self.play.title}  FAILED  ({self.seconds:.0f} s)\n{self.failure}"
        return f"{self.row or self.play.title + ': passed'}  ({self.seconds:.0f} s)"


def played(play: Play, limit: float | None, stand_in: str, flask: str) -> list[Played]:
    """Plays a session, and returns the result of each part."""
    results, start = [], time.monotonic()
    try:
        with contextlib.closing(Provider(pathlib.Path(stand_in), *play.options)) as provider, place(pathlib.Path(flask)) as at:
            session = play.session(play.model, at, provider)
            for part in play.parts():
                own = next(session, None) if inspect.isgenerator(session) else session
                bill, row = provider.bill(), None
                if not part.checks_itself:
                    recorded = own or at.turns() if part.records else None
                    row = judged(part.title, part.model, limit, bill, provider.last, recorded, part.turns(), part.requests)
                results.append(Played(part, row, bill["bills"], time.monotonic() - start))
                start = time.monotonic()
    except Exception:
        failure = traceback.format_exc()
        results += [Played(part, None, [], time.monotonic() - start, failure) for part in play.parts()[len(results) :]]
    return results


def in_the_pool(task: tuple) -> list[Played]:
    return played(*task)


def main(stand_in: str, flask: str, *wanted: str) -> int:
    known = plays()
    chosen = [play for play in known if play.is_wanted(wanted)]
    for client in {play.client: play.missing() for play in chosen if play.missing()}.items():
        print(f"{client[0]}: skipped; set {' and '.join(client[1])} to checkouts")
    chosen = [play for play in chosen if not play.missing()]
    # Sessions that determine the limits of others come first.
    compared = {play.like for play in chosen}
    first = [play for play in known if play in chosen and play.client == "bodies" or (play.title, play.model) in compared]
    print(HEADING, flush=True)
    results = []
    with multiprocessing.Pool(WORKERS) as pool:

        def run(tasks: list[tuple[Play, float | None]]):
            for parts in pool.imap_unordered(in_the_pool, [(*task, stand_in, flask) for task in tasks]):
                for result in parts:
                    print(result, flush=True)
                    results.append(result)

        run([(play, play.limit) for play in first])
        bills = {(done.play.title, done.play.model): done.bills for done in results}

        def limit_of(play: Play) -> float | None:
            if not play.like:
                return play.limit
            return share_billed(bills[play.like][: play.count * play.requests]) * NEARLY

        run([(play, limit_of(play)) for play in chosen if play not in first])
    failed = sum(done.is_failed() for done in results)
    print(f"clients: {len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    # Exit normally, so that all started processes end too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main(*sys.argv[1:]))
