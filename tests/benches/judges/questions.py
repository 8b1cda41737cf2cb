"""Questions: how much of the code that a good answer cites is in the prompt?

The questions, with answers, are those of SWE-QA-Bench (peng-weihan/SWE-QA-Bench) about the commits that it pins. A place is a range of
lines or a definition that the answer cites; tests count. The share of a place is the share of its lines that the prompt shows. Precision
is the share of the shown lines that the answer cites. The baseline leaves out tests, examples and documents, unless the question mentions
tests.
"""

import json
import random
import re
from collections.abc import Iterator

from bm25 import Bm25, functions, windows
from citations import Citations, Place, is_auxiliary
from comparison import BUDGETS, DEFAULT, FUNCTIONS, RANKERS, SHARE_HEAD, WINDOWS, Comparison, share_cells
from excerpts import ShownLines
from options import Options
from repositories import Files, Mirror, WorkTree, git, listed
from server import Server
from tables import mean, print_table

BENCHMARK = "peng-weihan/SWE-QA-Bench"
# Most questions of a repository.
SAMPLE = 32
CODE = re.compile(r"\.(py|pyi|pyx|rs|ts|tsx|js|go|c|h|cpp|java)$")


def cited_lines(shown: ShownLines, place: Place) -> int:
    return len(place.lines & shown.of(place.path))


def share(shown: ShownLines, places: list[Place]) -> float | None:
    return mean(cited_lines(shown, place) / len(place.lines) for place in places)


def precision(shown: ShownLines, places: list[Place]) -> float | None:
    return sum(cited_lines(shown, place) for place in places) / len(shown) if len(shown) else None


def judge(mirror: Mirror, options: Options) -> Iterator[dict]:
    benchmark = mirror.find(BENCHMARK)
    if not benchmark:
        return
    pinned = [line.split() for line in git(benchmark, "show", "HEAD:repo_commit.txt").split("\n") if line.strip()]
    commits = {url.rstrip("/").split("/")[-1]: commit for url, commit in pinned}
    for repository in options.chosen(listed("code")):
        name = repository.split("/")[1]
        texts = git(benchmark, "show", f"HEAD:Benchmark/{name}.jsonl").split("\n")
        questions = list(enumerate(json.loads(text) for text in texts if text))
        sample = options.sample_or(SAMPLE)
        if sample < len(questions):
            questions = sorted(random.Random(7).sample(questions, sample))
        if bare := mirror.find(repository):
            with WorkTree(bare, options.scratch / name) as tree:
                if tree.move(commits[name]):
                    yield from judge_repository(name, tree, questions, options)
                else:
                    mirror.missing.append(f"{repository} at {commits[name]}")


def judge_repository(name: str, tree: WorkTree, questions: list[tuple[int, dict]], options: Options) -> Iterator[dict]:
    files = tree.files()
    citations = Citations(files)
    code = [path for path in files.paths if CODE.search(path)]
    baselines = {WINDOWS: Bm25(windows(files, code)), FUNCTIONS: Bm25(functions(files, code))}
    with Server(options.binary, tree.path, options.cache) as server:
        for number, item in questions:
            places = citations.places(item["answer"])
            if places:
                row = judge_question(server, files, baselines, item["question"], places)
                yield {"judge": "questions", "repository": name, "number": number, **row}


def judge_question(server: Server, files: Files, baselines: dict[str, Bm25], question: str, places: list[Place]) -> dict:
    comparison = Comparison(server, question)
    characters_per_token = comparison.characters_per_token(files, BUDGETS[-1])
    wants_tests = bool(re.search(r"\btests?\b", question, re.IGNORECASE))
    for label, baseline in baselines.items():
        ranking = baseline.ranking(question, lambda path: wants_tests or not is_auxiliary(path))
        comparison.add(label, ranking, characters_per_token)
    row = comparison.row(lambda shown: share(shown, places))
    return row | {"precision": {ranker: precision(shown[DEFAULT], places) for ranker, shown in comparison.shown.items()}}


def report(rows: list[dict]):
    repositories = len({row["repository"] for row in rows})
    print(f"Share of the cited places that are shown, by tokens of code: {len(rows)} questions (repositories: {repositories}).\n")
    table = [[ranker, *share_cells(rows, ranker), mean(row["precision"][ranker] for row in rows)] for ranker in RANKERS]
    print_table(["", *SHARE_HEAD, "precision"], table)
