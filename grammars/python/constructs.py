"""Sends letters by train."""
from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar, overload

if TYPE_CHECKING:
    from trains import Train

T = TypeVar("T")
LIMIT: int = 20
NORTH, SOUTH, *OTHERS = "n", "s"
(left, right), middle = (1, 2), 3
first = second = None
type Route[K] = list[K]
handler = lambda letter: letter.weight


@dataclass(
    frozen=True,
    slots=True,
)
class Letter(Generic[T]):
    """One letter."""

    weight: float
    stamps: list[str] = field(default_factory=list)
    sender, receiver = "nobody", "somebody"

    class Meta:
        ordering = ["weight"]

    def __post_init__(self) -> None:
        self.opened = False
        local = self.weight

    # Says whether it is heavy.
    @property
    def heavy(self) -> bool:
        return self.weight > LIMIT

    @heavy.setter
    def heavy(self, value: bool) -> None: ...

    @staticmethod
    @functools.lru_cache(
        maxsize=None,
    )
    def cost(weight: float, *, fast: bool = False) -> float:
        def rate(kind: str) -> float:
            return 1.0

        return rate("a") * weight

    @overload
    def send(self, to: str) -> None: ...
    @overload
    def send(self, to: "Train") -> None: ...
    def send(self, to) -> None:
        pass


async def collect(*boxes: str, **options: int) -> list[Letter]:
    async with open_boxes(boxes) as opened:
        return [letter async for letter in opened]


if LIMIT > 10:
    def sort(letters): return sorted(letters)
else:
    def sort(letters): return letters

try:
    import speedups
except ImportError:
    speedups = None
