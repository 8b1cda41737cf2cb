"""Plays recorded conversations through a server, in a work tree that moves through the commits."""

import dataclasses
import time

from options import Options
from recordings import exclude_recordings
from repositories import WorkTree, git
from server import Server, ServerError

# Seconds for which the server may wait for more changes of files before it reads them.
SETTLING = 0.5
# Timeout in seconds.
LIMIT = 60


@dataclasses.dataclass
class Request:
    turn: int
    # Position in the turn, of which later requests are corrections.
    position: int
    prompt: str
    answer: str
    sent: int
    received: int
    files: list[str]
    tree: str | None
    model: str | None
    commit: str | None
    # Whether the repository contained all files that the user added.
    are_files_known: bool
    # Lines of output of commands that the user added, which the recording lacks.
    output_lines: int


class Player:
    """Plays the conversations of a repository, each in a session of its own, with one server."""

    def __init__(self, tree: WorkTree, options: Options):
        self.tree, self.options = tree, options
        self.server: Server | None = None
        self.commit: str | None = None

    def play(self, requests: list[Request]) -> list[dict]:
        """The predicted charge of each request."""
        is_moved = self.commit != requests[0].tree
        if is_moved:
            self.commit = requests[0].tree
            self.tree.move(self.commit)
        if self.server is None:
            self.server = Server(self.options.binary, self.tree.path, self.options.cache)
        else:
            self.server.run("session.new")
            if is_moved:
                self.server.run("server.reindex")
        self.settle()
        exclude_recordings(self.server, self.tree.path)
        return [self.ask(request) for request in requests]

    def ask(self, request: Request) -> dict:
        if request.tree != self.commit:
            self.move(request.tree)
        self.select([path for path in dict.fromkeys(request.files) if (self.tree.path / path).is_file()])
        prompt = self.server.run("prompt.assemble", prompt=request.prompt)
        charge = prompt["predicted"]
        usage = {"input": charge["plain"], "output": request.received, "cacheRead": charge["read"], "cacheWrite": charge["written"]}
        self.server.run("prompt.record", id=prompt["id"], response=request.answer, usage=usage)
        return charge

    def move(self, commit: str):
        """Moves the work tree, as if the files were edited while the server runs."""
        listed = git(self.tree.path, "diff", "--no-renames", "--name-status", "-z", self.commit, commit).split("\0")
        kinds = {"A": 1, "D": 3}
        changes = [
            {"uri": (self.tree.path / path).as_uri(), "type": kinds.get(kind, 2)} for kind, path in zip(listed[::2], listed[1::2])
        ]
        self.commit = commit
        self.tree.move(commit)
        self.server.notify("workspace/didChangeWatchedFiles", {"changes": changes})
        exclude_recordings(self.server, self.tree.path)
        self.settle()

    def settle(self):
        """Waits until the server has read what changed, because a prompt during a large change would contain only a part of it."""
        before, deadline = None, time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            time.sleep(SETTLING)
            status = self.server.run("server.status")
            now = (status["index"], status["files"], status["outlined"])
            if now == before and now[0] == "ready":
                return
            before = now

    def select(self, paths: list[str]):
        try:
            self.server.run("files.set", paths=paths)
        except ServerError:
            # A file cannot be selected, or contains a secret.
            self.server.run("files.set", paths=[])
            for path in paths:
                for confirmed in ({"confirmSecrets": [path]}, {}):
                    try:
                        self.server.run("files.select", paths=[path], **confirmed)
                        break
                    except ServerError:
                        pass

    def stop(self):
        if self.server:
            self.server.__exit__()
        self.server = self.commit = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
