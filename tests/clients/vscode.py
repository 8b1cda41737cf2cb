"""`@strata` in the chat box of a real VS Code, with a chat model that forwards to the stand-in provider."""

import itertools
import json
import os
import pathlib
import re
import subprocess
import threading
from collections.abc import Iterator

from session import FILES, LIMIT, SHORTENED, TURNS, Place, Provider, calls, recording_faults, turns, until

HERE = pathlib.Path(__file__).parent


class Window:
    """A VS Code in a browser, controlled by `vscode.mjs`."""

    def __init__(self, place: Place, provider: Provider, model: str, max_input_tokens: int, kind: str = "anthropic"):
        stand_in = {"STAND_IN_URL": provider.url, "STAND_IN_MODEL": model, "STAND_IN_MAX_INPUT_TOKENS": str(max_input_tokens)}
        # Strata uses this key if it provides the model.
        stand_in |= {"STAND_IN_KIND": kind, "ANTHROPIC_API_KEY": "a key"}
        # The setup of VS Code uses its own home directory.
        names = ("TAP_PROGRAM", "TAP_LOG", "STRATA_BIN")
        stand_in |= {"REPO": str(place.repo), "OTHER_CHAT_LOG": str(place.home / "other-chat")}
        environment = {**os.environ, **stand_in, **{name: place.environment[name] for name in names}}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(["node", str(HERE / "vscode.mjs")], stdin=pipe, stdout=pipe, env=environment, text=True)

    def do(self, **turn):
        self.process.stdin.write(json.dumps(turn) + "\n")
        self.process.stdin.flush()
        # The first action waits until VS Code has started.
        timer = threading.Timer(2 * LIMIT, self.process.kill)
        timer.start()
        try:
            assert self.process.stdout.readline() == "done\n", f"VS Code did not perform {turn}"
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
    """A conversation that exceeds the limit of the chat model. Every question is answered, and no request is too long. The chat's own model
    compacts the conversation, which the answer announces and which can be undone. A prompt that is rejected as too long is sent once more."""
    limit = 20_000
    provider.say([{"text": "What stands here is long. " * 500}])
    with Window(place, provider, model, limit) as window:
        window.do(select=FILES[2])
        for turn in turns(10):
            window.do(question=turn.question)
            place.wait_for_turn(turn)
        window.do(see="What stands here is long.", shot="clients-answer")
        window.do(see=f"{model} wrote the summary", shot="clients-beyond-the-limit")
        assert provider.summaries, "no summary was requested from the chat's model"
        provider.say([{"text": "It fits now."}])
        provider.refuses = True
        window.do(question="Question 10: does it fit?")
        window.do(see="tokens as too long. Strata sent one of", shot="clients-refused")
        assert not provider.refuses, "no request was rejected"
        window.do(press="Undo Compaction", toast="Compaction undone")
        # This file alone exceeds the limit of the model.
        window.do(select=FILES[0])
        window.do(question="Question 11: and with this file?")
        window.do(see="was left out of this prompt because it does not fit", shot="clients-left-out")
    provider.say([{"text": "Done."}])
    bills = provider.bill()["bills"]
    assert sum(bill["output"] for bill in bills) > limit, "the conversation does not exceed the limit"
    assert max(bill["prompt"] for bill in bills) <= limit, bills


def play(kind: str, model: str, place: Place, provider: Provider, count: int = TURNS) -> None:
    """Uses a chat model that converts messages like extensions of this `kind`, or the model of Strata's own provider (`strata`)."""
    with Window(place, provider, model, 1_000_000, kind) as window:
        ask_about_files(window, kind, place, count)


def ask_about_files(window: Window, kind: str, place: Place, count: int) -> None:
    for path in FILES:
        window.do(select=path)
    for turn in turns(count):
        window.do(path=turn.path, at_top=turn.at_top, line=turn.line, question=turn.question)
        place.wait_for_turn(turn)
    window.do(shot=f"clients-{kind}")


def check_questions(window: Window, provider: Provider, *questions: str) -> None:
    """Checks that the chat shows exactly these questions, and that the last request contains them."""
    window.do(shows=list(questions))
    sent = re.findall(r"Say \w+\.", provider.last.decode())
    assert sent == list(questions), f"{sent} was sent, and the chat shows {questions}"


def play_with_tools(model: str, place: Place, provider: Provider) -> None:
    """The model calls tools before each answer; the answer shows the calls."""
    with Window(place, provider, model, 1_000_000) as window:
        for path in FILES:
            window.do(select=path)
        for turn in turns(SHORTENED):
            looked_up = calls(turn)
            provider.say([*(call.scripted() for call in looked_up), {"text": f"Done with {turn.number}."}])
            window.do(path=turn.path, at_top=turn.at_top, line=turn.line, question=turn.question)
            place.wait_for_turn(turn, len(looked_up) + 1)
        # The editor collapses the calls once the answer is complete.
        window.do(unfold="Completed")
        window.do(see=f"Reading an outline: {turn.path}", shot="clients-tools-light")
        window.do(theme="dark", shot="clients-tools-dark")
    provider.say([{"text": "Done."}])


def play_source(model: str, place: Place, provider: Provider) -> Iterator[None]:
    """Uses the model of Strata's own provider. Then, in the same chat, the model calls tools, is retried if it is overloaded, and can be
    stopped."""
    with Window(place, provider, model, 1_000_000, "strata") as window:
        ask_about_files(window, "strata", place, SHORTENED)
        yield

        def sent_as_shown(*questions: str):
            check_questions(window, provider, *questions)

        window.do(select=FILES[2])
        grep = {"name": "grep", "input": {"pattern": "class SecureCookie"}}
        provider.say([{"text": "I look.", "tools": [grep]}, {"text": "It is in sessions."}])
        window.do(question="Say one.")
        window.do(see="It is in sessions.", shot="clients-source-tools")
        assert b"tool_result" in provider.last and b"class SecureCookieSession" in provider.last, "the model did not receive the result"
        provider.say([{"error": 529}, {"text": "After a while."}])
        window.do(question="Say two.")
        window.do(see="After a while.", shot="clients-source-again")
        sent_as_shown("Say one.", "Say two.")
        provider.say([{"error": 529}])
        window.do(question="Say three.")
        window.do(see="verloaded", shot="clients-source-overloaded")
        provider.say([{"text": "It is there."}])
        window.do(retry=True)
        window.do(see="It is there.", shot="clients-source-retried")
        sent_as_shown("Say one.", "Say two.", "Say three.")
        provider.answering.clear()
        window.do(question="Say four.")
        until(lambda: b"Say four." in provider.last, "the question is sent")
        window.do(cancel=True)
        provider.answering.set()
        provider.say([{"text": "Here it is."}])
        window.do(retry=True)
        window.do(see="Here it is.", shot="clients-source-stopped")
        sent_as_shown("Say one.", "Say two.", "Say three.", "Say four.")


def play_other_chat(model: str, place: Place, provider: Provider) -> Iterator[None]:
    """A chat of another extension, with Strata as the source of the model and a tool call before each answer. Each request reads everything
    that the previous one sent from the cache, and the chat receives the provider's bill. Then the chat shows errors, can be stopped, and
    sends images."""
    with Window(place, provider, model, 1_000_000, "other") as window:
        for turn in turns(SHORTENED):
            look = {"text": "I look.", "tools": [{"name": "typed", "input": {"path": turn.path}}]}
            provider.say([look, {"text": f"Done with {turn.number}."}])
            window.do(path=turn.path, at_top=turn.at_top, line=turn.line, question=turn.question)
            window.do(see=f"Done with {turn.number}.", shot="clients-other")
        provider.say([{"text": "Done."}])
        bills = provider.bill()["bills"]
        for before, now in itertools.pairwise(bills):
            assert now["read"] == before["read"] + before["written"], f"{now} reads less than the previous request sent: {before}"
            assert now["plain"] < 10, f"{now} does not cache all of its input"
        told = [usage_of(json.loads(line)) for line in (place.home / "other-chat").read_text().splitlines()]
        faults = recording_faults(told, bills)
        assert not faults, faults
        assert not place.turns(), "a chat of another extension was recorded"
        yield
        provider.say([{"error": 529}])
        window.do(question="Say one.")
        window.do(see="verloaded", shot="clients-other-overloaded")
        provider.say([{"text": "Here it is."}])
        provider.answering.clear()
        window.do(question="Say two.")
        until(lambda: b"Say two." in provider.last, "the question is sent")
        window.do(cancel=True)
        provider.answering.set()
        window.do(question="Say three.")
        window.do(see="Here it is.", shot="clients-other-stopped")
        assert b"Say three." in provider.last and b"Say one." not in provider.last, provider.last
        provider.say([{"text": "It is a pixel."}])
        window.do(question="What does the picture show?")
        window.do(see="It is a pixel.", shot="clients-other-picture")
        [*_, picture] = json.loads(provider.last)["messages"][-1]["content"]
        assert picture["source"]["media_type"] == "image/png", picture
        # The chat's own mark is not part of the request.
        assert picture["cache_control"] == {"type": "ephemeral"}, "the last message has no cache breakpoint"


def usage_of(bill: dict) -> dict:
    """Converts a bill that a chat received to Strata's fields."""
    read, written = (bill["prompt_tokens_details"][name] for name in ("cached_tokens", "cache_creation_input_tokens"))
    plain = bill["prompt_tokens"] - read - written
    return {"input": plain, "output": bill["completion_tokens"], "cacheRead": read, "cacheWrite": written}


def check_recovery(window: Window, place: Place, provider: Provider) -> None:
    """Retries, edits and cancels questions, some of which fail. The model always receives exactly the questions that the chat shows."""
    window.do(newChat=True)
    before = len(place.turns())

    def wait_for(turns: int):
        until(lambda: len(place.turns()) == before + turns, f"turn {turns} is recorded")

    def sent_as_shown(*questions: str):
        check_questions(window, provider, *questions)

    window.do(select=FILES[2])
    window.do(question="Say one.")
    wait_for(1)
    window.do(retry=True)
    wait_for(2)
    sent_as_shown("Say one.")
    provider.say([{"error": 529}])
    window.do(question="Say two.")
    window.do(see="Overloaded", shot="clients-overloaded")
    provider.say([{"text": "Done."}])
    window.do(retry=True)
    # The failed prompt is recorded too, as not sent.
    wait_for(4)
    sent_as_shown("Say one.", "Say two.")
    provider.answering.clear()
    window.do(question="Say three.")
    until(lambda: b"Say three." in provider.last, "the question is sent")
    window.do(cancel=True)
    wait_for(5)
    provider.answering.set()
    window.do(retry=True)
    wait_for(6)
    sent_as_shown("Say one.", "Say two.", "Say three.")
    window.do(edit="Say two.", question="Say four.")
    wait_for(7)
    sent_as_shown("Say one.", "Say four.")
    window.do(edit="Say one.", question="Say five.")
    wait_for(8)
    sent_as_shown("Say five.")
    window.do(path=FILES[2], at_top=True, line=f"KEY = '{'gh' + 'p_' + 'a1B2c3D4e5' * 3 + 'f6G7h8'}'", question="Say six.")
    wait_for(9)
    window.do(see="replaced by a placeholder", shot="clients-redacted")
    # The message is shown only once.
    window.do(noToast="replaced by a placeholder")


def play_suggested(model: str, place: Place, provider: Provider) -> Iterator[None]:
    """Automatic context is suggested to the user. Accepted excerpts stay, and dismissed ones are removed from the next prompt.
    Then questions are retried, edited and cancelled in another chat of the same window."""
    with Window(place, provider, model, 1_000_000) as window:
        questions = iter(range(1, 10))

        def sent_with(question: str) -> str:
            window.do(question=question)
            asked = next(questions)
            until(lambda: len(place.turns()) == asked, f"{question} is answered and recorded")
            return provider.last.decode()

        # Texts in the bodies of these functions, which occur nowhere else in the repository except in documents.
        kept, left = "FLASK_SKIP_DOTENV", "if text else"
        sent = sent_with("What do get_load_dotenv and Config.from_file do?")
        assert kept in sent and left in sent, "no code was added for the question"
        window.do(row="Suggested", shot="clients-suggested-light")
        window.do(row="get_load_dotenv", action="Accept")
        window.do(row="Accepted")
        window.do(row="config.py", action="Dismiss")
        window.do(theme="dark", shot="clients-suggested-dark")
        for color in ("blue", "red", "grey", "black"):
            sent = sent_with(f"Why is the sky {color}?")
        assert kept in sent, "the accepted code did not stay"
        assert left not in sent, "the dismissed code was not removed"
        window.do(row="get_load_dotenv", action="Undo Accept")
        window.do(gone="Accepted")
        yield
        check_recovery(window, place, provider)
