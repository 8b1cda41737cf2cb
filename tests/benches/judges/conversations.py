"""Conversations: what would recorded conversations have cost with Strata's defaults, compared with what they cost?

Plays each conversation that a user had with aider (a session, or the part of one up to where the user cleared the history): the same
files, the same questions and the recorded answers, in a work tree that moves through the commits. A token read from the cache costs 0.1,
a token written to it 1.25, or 2 if it lives for an hour, and any other token 1. aider's tokens are those that it sent, at 1. Strata's
tokens are converted to those of the recorded model, by the recorded tokens of its answers.

The cost with pauses assumes that what a pause outlives is written again. A pause is the time between the commits of two consecutive
turns, and an unknown pause has the lengths of the known ones. Recordings lack the output of commands, although its tokens were sent;
the row of complete requests leaves out conversations with it.
"""

import collections
import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

from options import Options
from player import Player, Request
from recordings import Session, Turn, recorded
from repositories import Mirror, WorkTree, git, listed
from server import ServerError
from tables import mean, print_table

# Prices in tokens of plain input.
READ, WRITTEN, WRITTEN_FOR_AN_HOUR = 0.1, 1.25, 2.0
# Lifetimes of cache entries in seconds.
LIFETIME, EXTENDED_LIFETIME = 300, 3600
# Conversations with more selected files are left out.
MOST_FILES = 300
# Answers from which a model's tokens are estimated have at least this many tokens, and there must be at least this many of them.
SHORTEST_ANSWER, FEWEST_ANSWERS = 150, 5
# Tokens per token of o200k: of known families of models, of others, and the range of plausible estimates.
FAMILIES = {"claude": 1.21, "gpt": 1.0, "o1": 1.0, "o3": 1.0, "deepseek": 1.1, "gemini": 1.15}
OTHER_FAMILY = 1.1
PLAUSIBLE = (0.8, 1.7)
# A question of aider that starts a request of its editor, which Strata does not have.
OF_EDITOR = re.compile(r"Edit the files\?")
CONTINUE = "Go on."
CHARGES = ("read", "written", "writtenExtended", "plain")


def conversations(sessions: list[Session]) -> Iterator[list[Turn]]:
    """The sessions of users, divided where the history was cleared."""
    for session in sessions:
        part: list[Turn] = []
        for turn in () if session.is_truncated or session.is_scripted else session.turns:
            if part and turn.is_cleared:
                yield part
                part = []
            if turn.requests:
                part.append(turn)
        if part:
            yield part


def trees_before_requests(sessions: list[Session]) -> dict[int, list[str]]:
    """The commit of the work tree before each request of a turn, by the turn's identity; turns without a known one are missing."""
    trees, waiting, state = {}, [], None
    for turn in (turn for session in sessions for turn in session.turns):
        known = [commit for commit in turn.commits if commit.commit]
        with_parent = [commit for commit in known if commit.parent]
        if with_parent:
            # Without a commit of aider, the tree before the turn contains what the user committed.
            state = next((commit.parent for commit in with_parent if not commit.of_user), with_parent[0].commit)
            for earlier in waiting:
                trees[id(earlier)] = [state] * (len(earlier.requests) + 1)
            waiting = []
        elif state is None:
            waiting.append(turn)
            continue
        states = [state]
        for position in range(1, len(turn.requests) + 1):
            made = [commit.commit for commit in known if commit.after <= position]
            state = made[-1] if made else state
            states.append(state)
        trees[id(turn)] = states
        state = known[-1].commit if known else state
    return trees


def requests_of(turns: list[Turn], trees: dict[int, list[str]]) -> list[Request]:
    found = []
    for index, turn in enumerate(turns):
        states = trees.get(id(turn), [None])
        all_files = sorted({*turn.files, *turn.accepted, *turn.edited, *turn.created})
        commit = next((commit.commit for commit in reversed(turn.commits) if commit.commit), None)
        for position, request in enumerate(turn.requests):
            if OF_EDITOR.search(request.prelude):
                continue
            is_first = position == 0
            found.append(
                Request(
                    turn=index,
                    position=position,
                    prompt=(turn.question if is_first else request.prelude.strip()) or CONTINUE,
                    answer=request.answer or ".",
                    sent=request.sent,
                    received=request.received,
                    files=(turn.files if is_first else all_files) + turn.read_only,
                    tree=states[min(position, len(states) - 1)],
                    model=turn.model,
                    commit=commit,
                    are_files_known=turn.unknown_files == 0,
                    output_lines=turn.output_lines,
                )
            )
    return found


class TokenCounter:
    """Converts Strata's tokens to those of the recorded models."""

    def __init__(self, binary: str, sessions: list[Session]):
        self.binary = binary
        first_requests = [(turn.model, turn.requests[0]) for session in sessions for turn in session.turns if turn.requests]
        answers = [(model, request) for model, request in first_requests if request.received >= SHORTEST_ANSWER and request.answer]
        texts = [request.answer for _, request in answers]
        o200k, own = self.count(texts, "--model", "gpt-4o"), self.count(texts)
        # Tokens of the default model per token of o200k, without the error of rounding.
        self.default = round(sum(own) / sum(o200k), 2) if texts else 1.0
        self.by_model = collections.defaultdict(list)
        for (model, request), tokens in zip(answers, o200k):
            if tokens:
                self.by_model[model].append(request.received / tokens)

    def count(self, texts: list[str], *arguments: str) -> list[int]:
        with tempfile.TemporaryDirectory() as folder:
            for index, text in enumerate(texts):
                pathlib.Path(folder, f"{index}.txt").write_text(text)
            git(folder, "init", "--quiet")
            command = [self.binary, "tokens", "--repo", folder, "--json", *arguments]
            own = {"XDG_CONFIG_HOME": folder, "STRATA_STATE_DIR": f"{folder}/.git/state", "STRATA_CACHE_DIR": f"{folder}/.git/cache"}
            counted = subprocess.run(command, capture_output=True, env={**os.environ, **own}, check=True)
            tokens = {file["path"]: file["tokens"] for file in json.loads(counted.stdout)["files"]}
        return [tokens.get(f"{index}.txt", 0) for index in range(len(texts))]

    def factor(self, model: str | None) -> float:
        """Tokens of a recorded model per token of Strata's default model."""
        estimates = self.by_model.get(model, [])
        factor = statistics.median(estimates) if len(estimates) >= FEWEST_ANSWERS else 0
        if not PLAUSIBLE[0] <= factor <= PLAUSIBLE[1]:
            name = (model or "").lower()
            factor = next((factor for family, factor in FAMILIES.items() if family in name), OTHER_FAMILY)
        return factor / self.default


def judge(mirror: Mirror, options: Options) -> Iterator[dict]:
    for repository in options.chosen(listed("recorded")):
        if not (bare := mirror.find(repository)):
            continue
        sessions = recorded(bare)
        trees, counter = trees_before_requests(sessions), TokenCounter(options.binary, sessions)
        times = dict(line.split() for line in git(bare, "log", "--all", "--format=%H %at").split("\n") if line)
        with WorkTree(bare, options.scratch / repository.replace("/", "+")) as tree, Player(tree, options) as player:
            for number, turns in enumerate(list(conversations(sessions))[: options.sample or None]):
                requests = requests_of(turns, trees)
                has_trees = all(request.tree for request in requests)
                if not requests or not has_trees or max(len(request.files) for request in requests) > MOST_FILES:
                    continue
                try:
                    charges = player.play(requests)
                except ServerError as error:
                    print(f"{repository}, conversation {number}, is left out: {error}", file=sys.stderr)
                    player.stop()
                    continue
                model = collections.Counter(request.model for request in requests).most_common(1)[0][0]
                factor = counter.factor(model)
                yield {
                    "judge": "conversations",
                    "repository": repository,
                    "conversation": number,
                    "turns": len(turns),
                    "files": len(git(tree.path, "ls-files").splitlines()),
                    "requests": [request_row(request, charge, factor, times) for request, charge in zip(requests, charges)],
                }


def request_row(request: Request, charge: dict, factor: float, times: dict[str, str]) -> dict:
    return {
        "turn": request.turn,
        "position": request.position,
        "sent": request.sent,
        "are_files_known": request.are_files_known,
        "output_lines": request.output_lines,
        "time": int(times[request.commit]) if request.commit in times else None,
        "charge": {kind: charge[kind] * factor for kind in CHARGES},
    }


@dataclasses.dataclass
class Played:
    """A request with what the tables select by."""

    conversation: dict
    request: dict
    is_first: bool
    # Seconds since the previous turn; None if a time is unknown, or for corrections.
    pause: float | None
    # Tokens at the beginning of the prompt whose cache entries live for an hour.
    extended: float

    def cost(self, expired: float, extended_expired: float) -> float:
        """The cost, given the probabilities that entries of five minutes and of an hour have expired. What expired is written again."""
        charge = self.request["charge"]
        extended_read = min(charge["read"], self.extended)
        return (
            charge["plain"]
            + price(charge["written"] - charge["writtenExtended"], WRITTEN, 1.0)
            + price(charge["writtenExtended"], WRITTEN_FOR_AN_HOUR, 1.0)
            + price(charge["read"] - extended_read, WRITTEN, expired)
            + price(extended_read, WRITTEN_FOR_AN_HOUR, extended_expired)
        )


def price(tokens: float, of_writing: float, is_written: float) -> float:
    """The price of tokens that are written with a probability, and otherwise read."""
    return tokens * (is_written * of_writing + (1 - is_written) * READ)


def played(rows: list[dict]) -> list[Played]:
    found = []
    for conversation in rows:
        times = {request["turn"]: request["time"] for request in conversation["requests"]}
        extended = 0.0
        for index, request in enumerate(conversation["requests"]):
            before = times.get(request["turn"] - 1)
            is_known = request["position"] == 0 and request["time"] and before
            charge = request["charge"]
            found.append(Played(conversation, request, index == 0, request["time"] - before if is_known else None, extended))
            # Entries of an hour are in front of entries of five minutes.
            extended = charge["read"] + charge["writtenExtended"] if charge["writtenExtended"] else min(extended, charge["read"])
    return found


GROUPS: dict[str, Callable[[Played], bool]] = {
    "all requests": lambda played: True,
    "first requests": lambda played: played.is_first,
    "later requests": lambda played: not played.is_first,
    "conversations of 1 to 3 turns": lambda played: played.conversation["turns"] <= 3,
    "of 4 to 7 turns": lambda played: 4 <= played.conversation["turns"] <= 7,
    "of 8 or more turns": lambda played: played.conversation["turns"] >= 8,
    "repositories of up to 50 files": lambda played: played.conversation["files"] <= 50,
    "of 51 to 400 files": lambda played: 50 < played.conversation["files"] <= 400,
    "of more than 400 files": lambda played: played.conversation["files"] > 400,
    "complete requests": lambda played: played.request["are_files_known"]
    and not any(request["output_lines"] for request in played.conversation["requests"]),
}


def report(rows: list[dict]):
    requests = played(rows)
    pauses = [request.pause for request in requests if request.pause is not None and request.pause >= 0 and not request.is_first]
    repositories = len({row["repository"] for row in rows})

    def share_longer(seconds: int) -> float:
        return mean(float(pause > seconds) for pause in pauses) or 0.0

    def cost_with_pauses(request: Played) -> float:
        if request.is_first or request.request["position"] > 0:
            return request.cost(0.0, 0.0)
        if request.pause is None:
            return request.cost(share_longer(LIFETIME), share_longer(EXTENDED_LIFETIME))
        return request.cost(float(request.pause > LIFETIME), float(request.pause > EXTENDED_LIFETIME))

    print(f"Cost in tokens of plain input: {len(rows)} conversations (repositories: {repositories}). Of {len(pauses)} known pauses,")
    print(f"{share_longer(LIFETIME):.0%} are longer than five minutes and {share_longer(EXTENDED_LIFETIME):.0%} longer than an hour.")
    print("`paid` is what aider sent, per request, and `prompt` what Strata would have sent. Costs are shares of what was paid.\n")
    table = []
    for title, accepts in GROUPS.items():
        group = [request for request in requests if accepts(request)]
        if not group:
            continue
        paid = sum(request.request["sent"] for request in group)
        charges = [request.request["charge"] for request in group]
        prompts = sum(charge["read"] + charge["written"] + charge["plain"] for charge in charges)
        costs = [sum(request.cost(0.0, 0.0) for request in group), sum(cost_with_pauses(request) for request in group)]
        distinct = len({id(request.conversation) for request in group})
        table.append([title, len(group), distinct, paid / len(group), prompts / len(group), *(cost / paid for cost in costs)])
    print_table(["", "requests", "conversations", "paid", "prompt", "cost", "with pauses"], table)
