"""The code that Strata shows for a question at several budgets, and the code that the baselines would show for as many tokens."""

from collections.abc import Callable, Iterable

from bm25 import Passage, packed
from excerpts import HEADING, Excerpt, ShownLines
from repositories import Files
from server import Server
from tables import mean

BUDGETS = ("2000", "4000", "8000", "16000")
# The budget of the default settings.
DEFAULT = "default"
WINDOWS, FUNCTIONS = "BM25, windows", "BM25, functions"
RANKERS = ("Strata", WINDOWS, FUNCTIONS)
SHARE_HEAD = ["n", *(f"{int(budget):,}" for budget in BUDGETS), DEFAULT, "tokens"]
# Characters per token of a list without code.
USUAL_LENGTH = 3.0


class Comparison:
    def __init__(self, server: Server, question: str):
        self.excerpts: dict[str, list[Excerpt]] = {budget: server.excerpts(question, int(budget)) for budget in BUDGETS}
        self.excerpts[DEFAULT] = server.excerpts(question)
        self.shown = {"Strata": {budget: ShownLines(excerpts) for budget, excerpts in self.excerpts.items()}}

    def add(self, ranker: str, ranking: list[Passage], characters_per_token: float):
        """Adds what a baseline shows. At the default settings, it gets as many tokens as Strata uses."""
        budgets = {**{budget: int(budget) for budget in BUDGETS}, DEFAULT: self.default_tokens}
        self.shown[ranker] = {budget: packed(ranking, tokens, characters_per_token) for budget, tokens in budgets.items()}

    @property
    def default_tokens(self) -> int:
        return sum(excerpt.tokens for excerpt in self.excerpts[DEFAULT])

    def characters_per_token(self, files: Files, budget: str) -> float:
        """The length of a token of Strata's excerpts, without their headings."""
        excerpts = self.excerpts[budget]
        characters = sum(files.characters(excerpt.path, excerpt.first, excerpt.last) for excerpt in excerpts)
        return characters / max(1, sum(excerpt.tokens - HEADING for excerpt in excerpts)) or USUAL_LENGTH

    def row(self, share: Callable[[ShownLines], float | None]) -> dict:
        """What is recorded of every question: the share of needed places that each ranker shows at each budget."""
        shares = {ranker: {budget: share(shown) for budget, shown in budgets.items()} for ranker, budgets in self.shown.items()}
        return {"default_tokens": self.default_tokens, "shares": shares}


def mean_share(rows: Iterable[dict], ranker: str, budget: str) -> float | None:
    return mean(row["shares"][ranker][budget] for row in rows)


def share_cells(rows: list[dict], ranker: str) -> list:
    """The cells below SHARE_HEAD, which every judge prints."""
    shares = [mean_share(rows, ranker, budget) for budget in (*BUDGETS, DEFAULT)]
    return [len(rows), *shares, mean(row["default_tokens"] for row in rows)]
