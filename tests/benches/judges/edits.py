"""Edits: does the prompt show the places that the model then changed?

The questions are those that users asked aider in their repositories, as they recorded them, with no file selected. Strata sees the commit
before the turn's edits. A hunk is the changed lines of a file that existed, or the line before an insertion. It is shown if all of its
lines are. Large trees have more than 64,000 tokens of source. The baseline searches all source files.
"""

import math
import pathlib
import re
import statistics
import sys
from collections.abc import Iterator

from bm25 import Bm25, functions, windows
from comparison import BUDGETS, FUNCTIONS, RANKERS, SHARE_HEAD, WINDOWS, Comparison, share_cells
from excerpts import ShownLines
from options import Options
from recordings import Turn, exclude_recordings, recorded
from repositories import Mirror, WorkTree, git, listed
from server import Server, ServerError
from tables import mean, print_table

# Most turns of a repository, evenly drawn.
SAMPLE = 40
# Turns with more hunks are reformatting or generated code.
MOST_HUNKS = 200
# Larger files are not edited by a model, and are left out of the baseline.
LARGEST_EDITED, LARGEST_SOURCE = 1_000_000, 300_000
LARGE_TREE = 64_000
TOKENS_PER_CHARACTER = 0.3
SOURCE = re.compile(
    r"\.(py|rs|tsx?|jsx?|mjs|cjs|go|java|kt|cs|cpp|cc|hpp|c|h|rb|php|vue|svelte|lua|exs?|dart|swift|mo|did|ino|sh|sql|html|css|scss)$"
)
GENERATED = re.compile(
    r"(^|/)(node_modules|dist|build|\.next|vendor|venv|\.venv|target|__pycache__)/|(^|/)\.aider|\.lock$|-lock\.(json|yaml)$"
    r"|\.min\.(js|css)$|\.(png|jpe?g|gif|svg|ico|pdf|db|sqlite3?|pyc|woff2?|ttf|zip|gz|mp3|wav|mp4|parquet|xlsx?)$",
    re.IGNORECASE,
)

Hunk = tuple[str, int, int]


def hunks(repository: pathlib.Path, turn: Turn) -> list[Hunk]:
    """The hunks of a turn in files that are not new: path, first line, last line."""
    found, path = [], None
    diff = git(repository, "diff", "--no-renames", "--no-ext-diff", "--unified=0", turn.base, turn.head)
    for line in diff.split("\n"):
        if line.startswith("--- "):
            path = line[6:].rstrip("\t") if line.startswith("--- a/") and not GENERATED.search(line[6:].rstrip("\t")) else None
        elif line.startswith("@@") and path in turn.changed:
            first, count = re.match(r"@@ -(\d+)(?:,(\d+))?", line).groups()
            first = max(int(first), 1)
            found.append((path, first, first + max(int(count or 1), 1) - 1))
    return found


def judge(mirror: Mirror, options: Options) -> Iterator[dict]:
    for repository in options.chosen(listed("recorded")):
        if not (bare := mirror.find(repository)):
            continue
        turns = [turn for session in recorded(bare) if not session.is_scripted for turn in session.turns if turn.requests and turn.base]
        step = max(1, math.ceil(len(turns) / options.sample_or(SAMPLE)))
        with WorkTree(bare, options.scratch / repository.replace("/", "+")) as tree:
            for number, turn in list(enumerate(turns))[::step]:
                changed = hunks(bare, turn) if turn.kind == "question" else []
                if not 0 < len(changed) <= MOST_HUNKS:
                    continue
                tree.move(turn.base)
                changed = [hunk for hunk in changed if is_editable(tree.path / hunk[0])]
                try:
                    if changed:
                        yield {"judge": "edits", "repository": repository, "turn": number, **judge_turn(turn, changed, tree, options)}
                except ServerError as error:
                    print(f"{repository}, turn {number}, is left out: {error}", file=sys.stderr)


def is_editable(file: pathlib.Path) -> bool:
    return file.is_file() and file.stat().st_size < LARGEST_EDITED


def judge_turn(turn: Turn, changed: list[Hunk], tree: WorkTree, options: Options) -> dict:
    files = tree.files()
    with Server(options.binary, tree.path, options.cache) as server:
        exclude_recordings(server, tree.path)
        comparison = Comparison(server, turn.question)
    source = [path for path in files.paths if SOURCE.search(path) and not GENERATED.search(path)]
    sizes = {path: files.characters(path, 1, len(files.lines(path))) for path in source}
    source = [path for path in source if sizes[path] < LARGEST_SOURCE]
    characters_per_token = comparison.characters_per_token(files, BUDGETS[-1])
    for label, passages in ((WINDOWS, windows(files, source)), (FUNCTIONS, functions(files, source, has_blank_lines=True))):
        comparison.add(label, Bm25(passages).ranking(turn.question, has_rest=True), characters_per_token)
    selected = {*turn.files, *turn.read_only}
    selected_bytes = sum((tree.path / path).stat().st_size for path in selected if (tree.path / path).is_file())
    return {
        "source_tokens": round(sum(sizes[path] for path in source) * TOKENS_PER_CHARACTER),
        "selected_share": mean(float(path in selected) for path, _, _ in changed),
        "selected_tokens": round(selected_bytes / characters_per_token),
        **comparison.row(lambda shown: share_contained(changed, shown)),
    }


def share_contained(changed: list[Hunk], shown: ShownLines) -> float | None:
    return mean(float(shown.of(path).issuperset(range(first, last + 1))) for path, first, last in changed)


def report(rows: list[dict]):
    large = [row for row in rows if row["source_tokens"] > LARGE_TREE]
    repositories = len({row["repository"] for row in rows})
    print(f"Share of a turn's hunks that are shown in full, by tokens of code: {len(rows)} turns (repositories: {repositories}).\n")
    table = []
    for title, group in (("", rows), (" in large trees", large)):
        if group:
            table += [[ranker + title, *share_cells(group, ranker)] for ranker in RANKERS]
            selected = mean(row["selected_share"] for row in group)
            median = statistics.median(row["selected_tokens"] for row in group)
            table.append([f"files that users selected{title}", len(group), *[None] * len(BUDGETS), selected, f"median {median:,.0f}"])
    print_table(["", *SHARE_HEAD], table)
