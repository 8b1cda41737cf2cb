#!/usr/bin/env python3
"""A module that shows every construct the outline knows."""
from __future__ import annotations

import os, re
import numpy as np
from . import siblings
from ..base.models import Model as BaseModel, Manager
from typing import (
    Any,
    overload,
)

DEFAULT_TIMEOUT = 30
NAMES: dict[str, int] = {}
pending: list[str]
type Pair[T] = tuple[T, T]
type Plain = int

if os.name == "nt":
    SEPARATOR = ";"
else:
    def fallback(): ...


class Größe(BaseModel, metaclass=Meta):
    """Not in the outline."""

    objects = Manager()
    name, other = 1, 2
    limit: int = 10

    class Meta:
        ordering = ["name"]

    def __init__(self, width, height=None, *args, sep=" , (x", **kwargs):
        self.width = width
        self.height: float = height
        self.width = width + 1
        local = self.width
        self.deep.er = local

    @property
    def area(self) -> float:
        def helper(x):
            inner = x
            return inner
        return helper(self.width) * self.height

    @overload
    @app.route("/a/very/long/path/that/goes/on/and/on", methods=["GET", "POST", "PUT", "DELETE"])
    async def fetch(
        self,
        url: str,  # where from
        timeout: float = DEFAULT_TIMEOUT,
        query="a default string that is far too long to be of any use to a reader of the map",
    ) -> dict[str, Any]:
        for row in siblings.rows(url):
            yield row


def main(argv=None, *, flag: bool = False) -> int:
    size = Größe(1, 2, sep=re.escape(argv))
    return size.area


def test_main():
    assert main() == 0
