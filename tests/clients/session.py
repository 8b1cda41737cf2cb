"""The session that every client plays, the provider that bills it, and the checks. Independent of the clients.

The session has thirty turns on one repository, with four selected files. Before each question, a line is typed into one of the files
and not saved. The stand-in provider bills by the providers' documented rules, regardless of what Strata predicts.
"""

import contextlib
import dataclasses
import http.server
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

TAP = pathlib.Path(__file__).with_name("tap")

TURNS = 30
# Number of turns for variants of a session.
SHORTENED = 10
FILES = ["src/flask/app.py", "src/flask/ctx.py", "src/flask/sessions.py", "src/flask/helpers.py"]
# Selected in sessions that type into a random file.
FIVE_FILES = [*FILES, "src/flask/config.py"]

# Text that occurs in every request for a summary, and in no other request.
SUMMARY = b"<conversation>"

# Timeout in seconds, reached only if something hangs.
LIMIT = 60

# Maximum relative error of a predicted cost.
PRECISION = 0.02


@dataclasses.dataclass(frozen=True)
class Turn:
    """One turn of the user, who types a line at the top or the end of a file and asks a question."""

    number: int
    path: str
    at_top: bool
    line: str
    question: str

    def typed_into(self, text: str) -> str:
        return self.line + "\n" + text if self.at_top else text + self.line + "\n"


@dataclasses.dataclass(frozen=True)
class Call:
    """A tool of the VS Code extension that the model calls, and the command that answers it."""

    tool: str
    command: str
    input: dict

    def scripted(self) -> dict:
        return {"text": f"I look with {self.tool}.", "tools": [{"name": self.tool, "input": self.input}]}


def calls(turn: Turn) -> list[Call]:
    """Returns the tool calls of the model before its answer, each in its own request."""
    name = turn.line.partition(" ")[0]
    return [
        Call("strata_outline", "symbols.file", {"path": turn.path}),
        Call("strata_grep", "files.grep", {"pattern": name}),
    ]


def turn_in(number: int, path: str, at_top: bool) -> Turn:
    line = f"TYPED_{number} = 'turn {number}'"
    question = f"Question {number}: who reads what I typed into {path.rpartition('/')[2]}?"
    return Turn(number, path, at_top, line, question)


def turns(count: int = TURNS) -> list[Turn]:
    return [turn_in(number, FILES[number % len(FILES)], number % 3 == 0) for number in range(count)]


def random_turns(seed: int) -> list[Turn]:
    """Returns the turns of a session that types into a random file of five, at its top or end."""
    random_number = random.Random(seed)
    return [turn_in(number, random_number.choice(FIVE_FILES), random_number.random() < 0.5) for number in range(TURNS)]


class Provider:
    """The stand-in provider, behind a relay that stores the last request."""

    def __init__(self, program: pathlib.Path, *options: str):
        argv = [os.environ["STAND_IN_PYTHON"], str(program), "--exact", *options]
        # Strata's clock knows nothing of the pauses that the provider adds.
        self.has_pauses = "--pauses" in options
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        self.stand_in = self.process.stdout.readline().strip()
        self.last, provider = b"", self
        # Requests for summaries, and whether to reject the next other request as too long.
        self.summaries, self.refuses = [], False
        self.answers = [{"text": "Done."}]
        # Cleared to hold back answers.
        self.answering = threading.Event()
        self.answering.set()

        class Relay(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                provider.last = body
                provider.answering.wait(LIMIT)
                if SUMMARY in body:
                    provider.summaries.append(body)
                    return self.answered_with({"text": "## Summary\nThey asked who reads what was typed."}, body)
                if provider.refuses:
                    provider.refuses = False
                    return self.answered_with({"error": "context"}, body)
                self.answered(body)

            def answered_with(self, answer, body):
                provider.tell("/script", [answer])
                self.answered(body)
                provider.tell("/script", provider.answers)

            def answered(self, body):
                with provider.forwarded(self.path, body, self.headers) as reply:
                    self.send_response(reply.status)
                    self.send_header("content-type", reply.headers["content-type"])
                    if length := reply.headers["content-length"]:
                        self.send_header("content-length", length)
                    else:
                        # A stream, which ends when the connection is closed.
                        self.send_header("connection", "close")
                    self.end_headers()
                    # The client may have disconnected.
                    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                        while part := reply.read1():
                            self.wfile.write(part)

            def log_message(self, *_):
                pass

        self.relay = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Relay)
        threading.Thread(target=self.relay.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.relay.server_port}"

    def forwarded(self, path: str, body: bytes, headers):
        passed = {name: headers[name] for name in ("x-api-key", "x-goog-api-key", "authorization", "content-type") if headers[name]}
        try:
            return urllib.request.urlopen(urllib.request.Request(self.stand_in + path, body, passed))
        except urllib.error.HTTPError as refused:
            return refused

    def post(self, path: str, body: dict) -> dict:
        key = {"x-api-key": "a key", "content-type": "application/json"}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), key)
        try:
            with urllib.request.urlopen(request) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as refused:
            raise AssertionError(f"{path} was rejected: {refused.read().decode()}") from None

    def bill(self) -> dict:
        with urllib.request.urlopen(self.stand_in + "/bill") as reply:
            return json.load(reply)

    def say(self, answers: list[dict]):
        """Sets the next answers. The last one is repeated."""
        self.answers = answers
        self.tell("/script", answers)

    def tell(self, path: str, what):
        request = urllib.request.Request(self.stand_in + path, json.dumps(what).encode())
        with urllib.request.urlopen(request) as reply:
            reply.read()

    def close(self):
        self.relay.shutdown()
        self.process.kill()
        self.process.wait()


@dataclasses.dataclass
class Place:
    """A repository and a home directory for one session, with the log of the server's replies."""

    repo: pathlib.Path
    home: pathlib.Path
    environment: dict[str, str]

    def turns(self) -> list[dict]:
        """Returns the recorded turns, oldest first, each with its `predicted` cost and the `totals` up to this turn."""
        log, predicted, turns = self.home / "tap", {}, []
        for line in log.read_text().splitlines() if log.exists() else ():
            line = json.loads(line)
            if "totals" in line:
                turns.append({**line, "predicted": predicted[line["prompt"]]})
            else:
                predicted[line["prompt"]] = line["predicted"]
        return turns

    def wait_for_turn(self, turn: Turn, requests: int = 1):
        """Waits until a turn is answered and recorded. `requests` is the number of requests per turn."""
        until(lambda: len(self.turns()) >= (turn.number + 1) * requests, f"{turn.question} is answered and recorded")


@contextlib.contextmanager
def place(source: pathlib.Path):
    with tempfile.TemporaryDirectory(prefix="strata-clients-") as top:
        top = pathlib.Path(top).resolve()
        home, repo = top / "home", top / "flask"
        home.mkdir()
        shutil.copytree(source, repo)
        names = {"HOME": home, "STRATA_STATE_DIR": home / "state", "STRATA_CACHE_DIR": home / "cache"}
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            names[f"XDG_{name}_HOME"] = home / name.lower()
        names |= {"TAP_PROGRAM": os.environ["STRATA_BIN"], "TAP_LOG": home / "tap", "STRATA_BIN": TAP}
        # Log only errors, since servers warn about the tests' own variables, which begin like settings.
        environment = {**os.environ, "STRATA_LOG": "error", **{name: str(path) for name, path in names.items()}}
        committed(repo, environment)
        yield Place(repo, home, environment)


def committed(repo: pathlib.Path, environment: dict[str, str]):
    """Creates a Git repository with one commit that contains all files."""
    who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "--quiet"], ["add", "--all"], [*who, "commit", "--quiet", "--message=All files"]):
        subprocess.run(["git", *arguments], cwd=repo, env=environment, check=True)


def recorded(turns: list[dict]) -> list[dict]:
    """Returns the recorded usage of each request."""
    before, each = {}, []
    for total in (turn["totals"] for turn in turns):
        each.append({name: total[name] - before.get(name, 0) for name in ("input", "output", "cacheRead", "cacheWrite")})
        before = total
    return each


def until(condition, what: str, limit: float = LIMIT):
    end = time.monotonic() + limit
    while not (found := condition()):
        assert time.monotonic() < end, f"timed out waiting for: {what}"
        time.sleep(0.01)
    return found


@dataclasses.dataclass
class Row:
    """A row of the table."""

    client: str
    model: str
    share: float
    # Cost of a request, in input tokens at list price.
    cost: float
    read: float
    predicted: float | None
    limit: float | None
    faults: list[str]

    def __str__(self) -> str:
        predicted = "-" if self.predicted is None else f"{self.predicted:.3f}"
        limit = "-" if self.limit is None else f"{self.limit:.3f}"
        end = "" if not self.faults else "  FAILED: " + "; ".join(self.faults)
        return (
            f"{self.client:<24} {self.model:<18} {self.cost:>8,.0f} {self.share:>7.3f} {limit:>8} {self.read:>7.0%} {predicted:>10}{end}"
        )


HEADING = f"{'client':<24} {'model':<18} {'cost':>8} {'share':>7} {'at most':>8} {'read':>7} {'predicted':>10}"


def judged(
    client: str,
    model: str,
    limit: float | None,
    bill: dict,
    last: bytes,
    turns_recorded: list[dict] | None,
    played: list[Turn],
    requests: int,
) -> Row:
    """Returns the row of a session with `requests` requests per turn, with its faults. `turns_recorded` is None for clients that record
    nothing, and `limit` is None if the cost is only reported."""
    faults, bills, turn = [], bill["bills"], played[-1]
    if len(bills) != len(played) * requests:
        faults.append(f"{len(bills)} requests were billed, not {len(played) * requests}")
    text = json.dumps(json.loads(last or b"{}"), ensure_ascii=False)
    for what, wanted in (("typed line", turn.line), ("question", turn.question)):
        if wanted not in text:
            faults.append(f"the last request does not contain the {what}")
    share = bill["share"] or 0.0
    if limit is not None and share > limit:
        faults.append(f"the session costs {share:.3f} of its price without a cache")
    predicted = None
    if turns_recorded is not None:
        faults += recording_faults(recorded(turns_recorded), bills)
        predicted = share_of([turn["predicted"] for turn in turns_recorded])
        if abs(predicted - share) > PRECISION * share:
            faults.append(f"predicted {predicted:.4f}, but {share:.4f} was billed")
    return Row(client, model, share, bill["cost"] / max(len(bills), 1), bill["read_share"] or 0.0, predicted, limit, faults)


def share_billed(bills: list[dict]) -> float:
    """Returns the cost of requests as a share of their price without a cache."""
    return sum(bill["cost"] for bill in bills) / max(sum(bill["prompt"] for bill in bills), 1)


def share_of(charges: list[dict]) -> float:
    tokens = sum(charge["read"] + charge["written"] + charge["plain"] for charge in charges)
    return sum(charge["cost"] for charge in charges) / max(tokens, 1)


def recording_faults(ours: list[dict], bills: list[dict]) -> list[str]:
    if len(ours) != len(bills):
        return [f"{len(ours)} requests were recorded and {len(bills)} billed"]
    names = {"input": "plain", "cacheRead": "read", "cacheWrite": "written", "output": "output"}
    for number, (our, bill) in enumerate(zip(ours, bills)):
        wrong = [f"{name} {our[name]}, not {bill[theirs]}" for name, theirs in names.items() if our[name] != bill[theirs]]
        if wrong:
            return [f"the record of request {number} differs from the bill: {', '.join(wrong)}"]
    return []
