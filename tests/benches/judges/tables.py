"""Means, and tables of figures."""

import math
from collections.abc import Iterable


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are known."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def print_table(head: list, rows: list[list]):
    """Aligns the first column to the left, and the others to the right."""
    cells = [[cell(value) for value in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    for label, *figures in cells:
        print("  ".join([label.ljust(widths[0]), *(figure.rjust(width) for figure, width in zip(figures, widths[1:]))]))
    print(flush=True)
