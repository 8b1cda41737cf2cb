"""What a run of the judges was asked to do."""

import dataclasses
import pathlib


@dataclasses.dataclass(frozen=True)
class Options:
    binary: str
    # Work trees, of which each is removed when its repository is done.
    scratch: pathlib.Path
    # Outlines, which all servers share.
    cache: pathlib.Path
    # Most questions, issues or turns of a repository; 0 is all, and None each judge's own number.
    sample: int | None = None
    # Names of repositories to keep; all if empty.
    only: frozenset[str] = frozenset()

    def chosen(self, repositories: list[str]) -> list[str]:
        """The repositories that `only` names, as OWNER/NAME or NAME."""
        return [name for name in repositories if not self.only or self.only & {name, name.split("/")[1]}]

    def sample_or(self, default: int) -> int:
        sample = default if self.sample is None else self.sample
        return sample or 1_000_000
