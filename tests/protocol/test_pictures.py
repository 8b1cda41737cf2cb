"""Tests that the recording in README.md shows the current output of the commands."""

import dataclasses
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "pictures"))

import terminal


@pytest.fixture(scope="module")
def steps() -> list[terminal.Step]:
    return terminal.run()


def test_the_recording_is_of_this_binary(steps):
    assert not terminal.check(steps), "the recording is stale; update it with tests/pictures/run terminal"


def test_other_words_and_shares_are_found_and_other_counts_are_not(steps):
    first, *rest = steps

    def with_line(line: str) -> str:
        return terminal.check([dataclasses.replace(first, output=[line, *first.output[1:]]), *rest])

    assert "+no such layout" in with_line("no such layout")
    numbered = next(number for number, line in enumerate(first.output) if "symbol map" in line)
    changed = [*first.output[:numbered], " 1,791  symbol map", *first.output[numbered + 1 :]]
    assert not terminal.check([dataclasses.replace(first, output=changed), *rest])
    *others, last = steps
    uncached = [re.sub(r"\d+ % cached", "15 % cached", line) for line in last.output]
    assert uncached != last.output and terminal.check([*others, dataclasses.replace(last, output=uncached)])
    assert "-" in terminal.check(rest), "a missing command was not detected"
