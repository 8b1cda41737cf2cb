"""Issues: are the files and functions that a fix changes found?

The issues are those of SWE-bench Lite, with the files and functions of their fixes, as in the published answers of LocAgent
(gersteinlab/LocAgent), an agent with a model. Strata sees the commit before the fix, with its history. file@K and function@K are the
shares of issues whose files and functions are all among the first K. A hunk of the fix is shown if a shown excerpt touches it.

`excerpts` are those of the prompt with 8,000 tokens of code, and `context` is what agents get as relevant code. Both rank the definitions
of which they show enough. BM25 over windows has no functions to rank.
"""

import collections
import json
import random
import re
from collections.abc import Iterable, Iterator

from bm25 import Bm25, Passage, functions, windows
from citations import is_auxiliary
from comparison import FUNCTIONS, RANKERS, SHARE_HEAD, WINDOWS, Comparison, share_cells
from excerpts import Excerpt, ShownLines
from options import Options
from repositories import Files, Mirror, WorkTree, git, listed
from server import Server
from tables import mean, print_table

LOCAGENT = "gersteinlab/LocAgent"
ANSWERS = "evaluation/loc_output/locagent/claude_3-5/loc_outputs.jsonl"
# The budget of the list whose files and functions are ranked.
RANKED = "8000"
SAMPLE = 20
RANKS = {"file": (1, 5, 10), "function": (5, 10)}
# A function counts as shown if half of it is, or this many lines.
MOST_LINES = 20
# Passages of a ranking that count.
MOST_WINDOWS, MOST_FUNCTIONS = 600, 2000

Hunk = tuple[str, int, int]
# Files, and functions as `PATH:NAME`, best first. Functions are None if the ranker has none.
Ranking = tuple[list[str], list[str] | None]


def distinct(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))


def hunks(patch: str) -> list[Hunk]:
    """The runs of lines that a patch changes, or after which it inserts: path, first line, last line."""
    found, path, line, run = [], None, 0, None

    def close():
        nonlocal run
        if run:
            found.append((path, *run))
        run = None

    for text in patch.split("\n"):
        if text.startswith("--- a/"):
            close()
            path = text[6:].strip()
        elif text.startswith("@@"):
            close()
            line = int(re.match(r"@@ -(\d+)", text)[1])
        elif text.startswith("-") and not text.startswith("---"):
            run = (run[0], max(run[1], line)) if run else (line, line)
            line += 1
        elif text.startswith("+") and not text.startswith("+++"):
            run = run or (max(1, line - 1), max(1, line - 1))
        elif text.startswith(" "):
            close()
            line += 1
    close()
    return found


def definitions_in(files: Files, excerpt: Excerpt) -> list[str]:
    """The definitions of which an excerpt shows enough."""
    found = []
    for definition in sorted(files.definitions(excerpt.path), key=lambda definition: definition.first):
        shown = min(excerpt.last, definition.last) - max(excerpt.first, definition.first) + 1
        is_half = shown * 2 >= definition.last - definition.first + 1
        if shown > 0 and (is_half or definition.kind != "class" and shown >= MOST_LINES):
            found.append(f"{excerpt.path}:{definition.name}")
    return found


def ranking_of(files: Files, excerpts: list[Excerpt]) -> Ranking:
    definitions = distinct(name for excerpt in excerpts for name in definitions_in(files, excerpt))
    return distinct(excerpt.path for excerpt in excerpts), definitions


def judge(mirror: Mirror, options: Options) -> Iterator[dict]:
    answers = mirror.find(LOCAGENT)
    if not answers:
        return
    by_repository = collections.defaultdict(list)
    for line in git(answers, "show", f"HEAD:{ANSWERS}").split("\n"):
        if line:
            issue = json.loads(line)
            by_repository[issue["meta_data"]["repo"].rsplit("/", 1)[-1]].append(issue)
    for repository in options.chosen(listed("code")):
        name = repository.split("/")[1]
        issues = sorted(by_repository[name], key=lambda issue: issue["instance_id"])
        sample = options.sample_or(SAMPLE)
        if sample < len(issues):
            issues = sorted(random.Random(7).sample(issues, sample), key=lambda issue: issue["instance_id"])
        bare = mirror.find(repository) if issues else None
        if bare:
            with WorkTree(bare, options.scratch / name) as tree:
                for issue in issues:
                    commit = issue["meta_data"]["base_commit"]
                    if tree.move(commit):
                        yield {"judge": "issues", "repository": name, "id": issue["instance_id"], **judge_issue(issue, tree, options)}
                    else:
                        mirror.missing.append(f"{repository} at {commit}")


def judge_issue(issue: dict, tree: WorkTree, options: Options) -> dict:
    text, files = issue["meta_data"]["problem_statement"], tree.files()
    with Server(options.binary, tree.path, options.cache) as server:
        relevant = server.run("symbols.relevant", query=text, limit=400, minScore=0)["items"]
        comparison = Comparison(server, text)
    code = [path for path in files.paths if path.endswith(".py")]
    source = [path for path in code if not is_auxiliary(path)]
    # Tests count for the rarity of words in windows, but are not ranked.
    by_window = Bm25(windows(files, code)).ranking(text, lambda path: not is_auxiliary(path))[:MOST_WINDOWS]
    by_function = Bm25(functions(files, source)).ranking(text)[:MOST_FUNCTIONS]
    characters_per_token = comparison.characters_per_token(files, RANKED)
    comparison.add(WINDOWS, by_window, characters_per_token)
    comparison.add(FUNCTIONS, by_function, characters_per_token)

    context = [Excerpt(item["path"], item["line"], item["endLine"], 0) for item in relevant]
    rankings: dict[str, Ranking] = {
        "Strata, excerpts": ranking_of(files, comparison.excerpts[RANKED]),
        "Strata, context": ranking_of(files, context),
        WINDOWS: (distinct(passage.path for passage in by_window), None),
        FUNCTIONS: (distinct(passage.path for passage in by_function), names_of(files, by_function)),
        "LocAgent with a model": (distinct(issue["found_files"]), distinct(issue["found_entities"])),
    }
    changes = issue["meta_data"]["gt_file_changes"]
    changed_files = distinct(change["file"] for change in changes)
    changed_functions = distinct(name for change in changes for name in change["changes"].get("edited_entities", ()))
    ranks = {ranker: found_among_first(ranking, changed_files, changed_functions) for ranker, ranking in rankings.items()}
    patch = hunks(issue["meta_data"]["patch"])
    return {"ranks": ranks, **comparison.row(lambda shown: share_touched(patch, shown))}


def names_of(files: Files, passages: list[Passage]) -> list[str]:
    """The functions that passages are, or that they begin in."""
    around = [(path, files.enclosing(path, first, min(last, first + 1))) for path, first, last, _ in passages]
    return distinct(f"{path}:{definition.name}" for path, definition in around if definition and definition.kind != "class")


def found_among_first(ranking: Ranking, changed_files: list[str], changed_functions: list[str]) -> dict[str, float]:
    """Whether all files and all functions are among the first. Functions are left out if there are none to find."""
    found = {}
    for kind, wanted, ranked in (("file", changed_files, ranking[0]), ("function", changed_functions, ranking[1])):
        if wanted and ranked is not None:
            found |= {f"{kind}@{count}": float(set(wanted) <= set(ranked[:count])) for count in RANKS[kind]}
    return found


def share_touched(patch: list[Hunk], shown: ShownLines) -> float | None:
    return mean(float(not shown.of(path).isdisjoint(range(first, last + 1))) for path, first, last in patch)


def report(rows: list[dict]):
    counts = collections.Counter(row["repository"] for row in rows)
    per_repository = ", ".join(f"{name} {count}" for name, count in counts.items())
    with_functions = sum("function@5" in row["ranks"]["Strata, context"] for row in rows)
    print(f"Share of issues whose changed files and functions are all among the first: {len(rows)} issues ({per_repository}).")
    print(f"Issues that change functions: {with_functions}.\n")
    keys = [f"{kind}@{count}" for kind, counts in RANKS.items() for count in counts]
    table = [[label, *(mean(row["ranks"][label].get(key) for row in rows) for key in keys)] for label in rows[0]["ranks"]]
    print_table(["", *keys], table)
    print("Share of the fix's hunks that the shown code touches, by tokens of code.\n")
    print_table(["", *SHARE_HEAD], [[ranker, *share_cells(rows, ranker)] for ranker in RANKERS])
