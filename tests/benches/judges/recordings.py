"""Reads the conversations that users of aider recorded in their repositories, in `.aider.chat.history.md`.

A recording has sessions. A turn of a session is one question with all requests that it caused: the answer, then corrections after failed
edits, lint or tests, and files that the model asked for. Lines of the user begin with `####`, lines of aider with `>`, and all others
are of the model.
"""

import collections
import contextlib
import dataclasses
import pathlib
import re

from repositories import git
from server import Server, ServerError

FILE = ".aider.chat.history.md"
# Sessions that start with the same text at least this often are started by a program.
REPEATED = 8

COUNT = r"[\d.,]+[kM]?"
TOKENS = re.compile(rf"> Tokens: ({COUNT}) sent(?:, {COUNT} cache write)?(?:, {COUNT} cache hit)?(?:, ({COUNT}) received)?")
COST = re.compile(r"Cost: \$([\d.]+) (?:message|send|request), \$([\d.]+) session")
STARTED = re.compile(r"# aider chat started at ")
COMMAND = re.compile(r"([/!])(\S*)\s*(.*)", re.DOTALL)
# Commands that may carry a question.
ASKING = {"ask", "code", "architect", "context"}
# The end of a line that asks a question and repeats the user's answer.
YES_OR_NO = r"\s*\(Y\)es.*?: *([A-Za-z]?)[\w ]*$"
REPEATED_ANSWER = re.compile(r"\? \(Y\)es/\(N\)o.*: *(all|skip all|yes|no|skip|[a-z])?\s*$")


@dataclasses.dataclass
class Request:
    sent: int
    received: int
    answer: str
    # What aider printed before the request: for corrections, what the model is told.
    prelude: str


@dataclasses.dataclass
class Commit:
    """A commit that aider made, as the recording names it and as the repository contains it."""

    hash: str
    subject: str
    # Whether it contains only what the user had changed before.
    of_user: bool
    # Requests of the turn before the commit.
    after: int
    commit: str | None = None
    parent: str | None = None


@dataclasses.dataclass
class Turn:
    question: str
    # `question`, or the command whose output is the question.
    kind: str
    model: str | None
    # The files that the user had added before the question.
    files: list[str]
    read_only: list[str]
    # Names of files that the repository never contained.
    unknown_files: int
    # Lines of output of commands that the user added, which the recording lacks.
    output_lines: int
    # Whether the user cleared the history before this turn.
    is_cleared: bool
    requests: list[Request] = dataclasses.field(default_factory=list)
    edited: list[str] = dataclasses.field(default_factory=list)
    created: list[str] = dataclasses.field(default_factory=list)
    # The files that the user added when the model mentioned them.
    accepted: list[str] = dataclasses.field(default_factory=list)
    commits: list[Commit] = dataclasses.field(default_factory=list)
    # The commits before and after the turn's edits, and the files that the turn changed.
    base: str | None = None
    head: str | None = None
    changed: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Session:
    # Whether the beginning is missing, so that the files are not known.
    is_truncated: bool = False
    has_message_option: bool = False
    # Whether a program started it, and not a user.
    is_scripted: bool = False
    model: str | None = None
    turns: list[Turn] = dataclasses.field(default_factory=list)


def recorded(repository: pathlib.Path) -> list[Session]:
    """The sessions of a repository, with their commits."""
    text = longest_version(repository)
    sessions = Reader(Paths(repository)).read(text) if text else []
    resolve_commits(repository, sessions)
    beginnings = collections.Counter(session.turns[0].question[:60] for session in sessions if session.turns)
    for session in sessions:
        repetitions = beginnings[session.turns[0].question[:60]] if session.turns else 0
        session.is_scripted = session.has_message_option or repetitions >= REPEATED
    return sessions


def exclude_recordings(server: Server, folder: pathlib.Path):
    """Keeps recordings out of prompts, because they contain later questions with their answers."""
    for path in sorted(folder.glob(".aider*")):
        # A file that Git ignores cannot be excluded, and is in no prompt.
        with contextlib.suppress(ServerError):
            server.run("files.exclude", paths=[path.name])


def longest_version(repository: pathlib.Path) -> str:
    """The longest version of the recording in any commit and directory."""
    every_path = git(repository, "log", "--all", "--no-renames", "--name-only", "--format=").split("\n")
    longest = (0, "")
    for path in {path for path in every_path if path.endswith(FILE)}:
        for commit in git(repository, "log", "--all", "--no-renames", "--format=%H", "--diff-filter=AM", "--", path).split():
            size = git(repository, "cat-file", "-s", f"{commit}:{path}").strip()
            if size and int(size) > longest[0]:
                longest = (int(size), f"{commit}:{path}")
    return git(repository, "cat-file", "blob", longest[1]) if longest[0] else ""


def number(text: str | None) -> int:
    """`1.2k` as 1200."""
    if not text:
        return 0
    factor = {"k": 1e3, "M": 1e6}.get(text[-1])
    return int(float(text[:-1].replace(",", "")) * factor) if factor else int(float(text.replace(",", "")))


def without_thoughts(answer: str) -> str:
    """The part of an answer that aider sends again in later requests."""
    answer = re.sub(r"(?s)►\W*THINKING\W.*?►\W*ANSWER\W*\n", "", answer)
    return re.sub(r"(?s)<think>.*?</think>", "", answer).strip()


class Paths:
    """Maps names in a recording, which may be absolute paths of another machine, to paths of the repository."""

    def __init__(self, repository: pathlib.Path):
        self.paths = {path for path in git(repository, "log", "--all", "--no-renames", "--name-only", "--format=").split("\n") if path}
        self.by_name = collections.defaultdict(list)
        for path in self.paths:
            self.by_name[path.rsplit("/", 1)[-1]].append(path)

    def find(self, name: str) -> str | None:
        path = name.strip().strip("\"'").replace("\\", "/").removeprefix("./")
        parts = path.split("/")
        for start in range(len(parts)):
            if (end := "/".join(parts[start:])) in self.paths:
                return end
        if path.startswith("/") or ":" in path[:3] or ".." in path:
            return None
        longer = [candidate for candidate in self.by_name.get(parts[-1], []) if candidate.endswith("/" + path)]
        return longer[0] if len(longer) == 1 else None


class Reader:
    """Follows a recording line by line: the files in the chat, the turns, and what each of them changed."""

    def __init__(self, paths: Paths):
        self.paths = paths
        self.sessions: list[Session] = []

    def start_session(self, **fields):
        self.sessions.append(Session(**fields))
        # Files by path, in the order in which they were added.
        self.chat: dict[str, None] = {}
        self.read_only: dict[str, None] = {}
        self.unknown: set[str] = set()
        self.turn: Turn | None = None
        # A command whose output becomes a question if a request follows: its name and text.
        self.pending: tuple[str, str] | None = None
        self.model: str | None = None
        self.is_cleared = self.is_user_commit = False
        self.output_lines = 0
        self.start_request()

    def start_request(self):
        self.answer: list[str] = []
        self.said: list[str] = []
        self.last_path: str | None = None

    @property
    def session(self) -> Session:
        return self.sessions[-1]

    def read(self, text: str) -> list[Session]:
        lines = text.split("\n")
        # Without a start near the beginning, the beginning is missing.
        start = next((index for index, line in enumerate(lines[:400]) if STARTED.match(line)), None)
        if start is None:
            self.start_session(is_truncated=True)
        # aider ends the lines of the user with two spaces. Headings in answers have none.
        marked = [line for line in lines if re.match(r"####( |$)", line)]
        has_spaces = sum(line.endswith("  ") for line in marked) > 0.5 * max(1, len(marked))

        def is_of_user(line: str) -> bool:
            return bool(re.match(r"####( |$)", line)) and (line.endswith("  ") or not has_spaces)

        index = start or 0
        while index < len(lines):
            line = lines[index]
            index += 1
            if STARTED.match(line):
                self.start_session()
            elif is_of_user(line) and REPEATED_ANSWER.search(line):
                # The answer to several questions of aider at once.
                self.read_notice(line[5:].strip(), line)
            elif is_of_user(line):
                message = [line[5:].rstrip()]
                while index < len(lines) and is_of_user(lines[index]):
                    message.append(lines[index][5:].rstrip())
                    index += 1
                self.read_message("\n".join(message).strip())
            elif match := TOKENS.match(line):
                self.read_request(number(match[1]), number(match[2]))
            elif line.startswith(">"):
                self.read_notice(line[1:].strip(), line)
            elif not COST.match(line):
                self.answer.append(line)
        return self.sessions

    def start_turn(self, question: str, kind: str):
        self.turn = Turn(
            question=question,
            kind=kind,
            model=self.model or self.session.model,
            files=sorted(self.chat),
            read_only=sorted(self.read_only),
            unknown_files=len(self.unknown),
            output_lines=self.output_lines,
            is_cleared=self.is_cleared,
        )
        self.session.turns.append(self.turn)
        self.is_cleared, self.output_lines = False, 0

    def read_message(self, message: str):
        self.start_request()
        self.pending = None
        if message in ("", "<blank>"):
            return
        command = COMMAND.match(message)
        if command and (command[1] == "!" or re.match(r"[a-z-]+$", command[2])):
            name, text = "run" if command[1] == "!" else command[2], command[3].strip()
            self.is_cleared |= name in ("clear", "reset")
            if name == "model" and text:
                self.model = text
            if name not in ASKING or not text:
                self.turn, self.pending = None, (name, message)
                return
            message = text
        self.start_turn(message, "question")

    def read_request(self, sent: int, received: int):
        if self.turn is None and self.pending:
            name, command = self.pending
            output = "\n".join(self.said)
            self.start_turn(f"I ran this command:\n\n{command}\n\nAnd got this output:\n\n{output}", name)
            self.pending, self.said = None, []
        if self.turn is not None:
            self.turn.requests.append(Request(sent, received, without_thoughts("\n".join(self.answer)), "\n".join(self.said)))
        self.start_request()

    def add(self, name: str, files: dict[str, None] | None = None):
        path = self.paths.find(name)
        if path is None:
            self.unknown.add(name.strip())
        else:
            (self.chat if files is None else files)[path] = None

    def drop(self, name: str):
        path = self.paths.find(name)
        self.chat.pop(path, None)
        self.read_only.pop(path, None)

    def read_notice(self, text: str, line: str):
        """Reads a line of aider."""
        if "--message" in text and "aider" in text and not self.session.turns:
            self.session.has_message_option = True
        if not self.read_event(text):
            self.said.append(text)
            if line.endswith("  "):
                self.last_path = text

    def read_event(self, text: str) -> bool:
        """Whether a line says something about models, files or commits, and not to the model."""
        if match := re.match(r"(?:Main model|Models?): (\S*) with (\S+) edit format", text):
            self.model = match[1] or self.model
            self.session.model = self.session.model or self.model
        elif re.match(r"Repo-map: (?:basic )?using [\d.]+ tokens|Repo-map: (?:disabled|universal.*none)", text):
            pass
        elif re.match(r"Git repo: \S+ with [\d,]+ files|Restored previous conversation history", text):
            pass
        elif re.match(r"\$ +[\d.]+ +[\d,]+ (?:system messages|chat history|repository map)", text):
            pass
        else:
            return self.read_file_event(text) or self.read_commit(text)
        return True

    def read_file_event(self, text: str) -> bool:
        added = re.match(r"Added (.+?) to (?:the chat|read-only (?:chat )?files)(?: \(read-only\))?\.?$", text)
        if added and "lines of output" not in text:
            self.add(added[1], self.read_only if "read-only" in text else None)
        elif match := re.match(r"Added ([\d,]+) lines? of output to the chat", text):
            self.output_lines += number(match[1])
        elif match := re.match(r"(?:Removed (?:read-only file )?|Dropping (?!all files))(.+?) from the chat\.?$", text):
            self.drop(match[1])
        elif match := re.match(r"Moved (.+?) from (read-only|editable) (?:to|files to) .+", text):
            if path := self.paths.find(match[1]):
                source, target = (self.read_only, self.chat) if match[2] == "read-only" else (self.chat, self.read_only)
                source.pop(path, None)
                target[path] = None
        elif text.startswith(("Dropping all files from the chat", "All files dropped")):
            for files in (self.chat, self.read_only, self.unknown):
                files.clear()
            self.is_cleared |= "history cleared" in text
        else:
            return self.read_proposal(text)
        return True

    def read_proposal(self, text: str) -> bool:
        """Reads a question of aider about a file, with the user's answer."""
        create = r"(Create new file|Allow edits to file that has not been added to the chat)\?"
        allow = r"Allow (creation of new file|edits to) (\S+?)(?: which was not previously provided)?\?"
        if match := re.match(r"Add (.+?) to the chat\?" + YES_OR_NO, text):
            name, is_accepted = self.last_path if match[1] in ("file", "files") else match[1], match[2].lower() in ("y", "a", "")
            is_file = not (match[1] == "output" or "command output" in match[1] or match[1].startswith("URL"))
            if is_file and name is not None and is_accepted:
                self.add(name)
                if self.turn is not None:
                    self.turn.accepted.append(self.paths.find(name) or name)
        elif match := re.match(create + YES_OR_NO, text) or re.match(allow + YES_OR_NO, text):
            name = self.last_path if match.lastindex == 2 else match[2]
            if name and match[match.lastindex].lower() in ("y", "a", ""):
                self.add(name)
                if self.turn is not None and match[1].lower().startswith("creat"):
                    self.turn.created.append(self.paths.find(name) or name)
        else:
            return False
        return True

    def read_commit(self, text: str) -> bool:
        if match := re.match(r"Applied edit to (.+)", text):
            path, self.is_user_commit = self.paths.find(match[1]), False
            if self.turn is not None and path and path not in self.turn.edited:
                self.turn.edited.append(path)
            if path and path not in self.chat:
                self.add(match[1])
        elif re.match(r"Committing .+ before applying edits", text):
            self.is_user_commit = True
        elif match := re.match(r"(?:Commit|Committed) ([0-9a-f]{7,40}) (.*)", text):
            if self.turn is not None:
                self.turn.commits.append(Commit(match[1], match[2].strip(), self.is_user_commit, len(self.turn.requests)))
            self.is_user_commit = False
        elif text.startswith(("All chat history cleared", "Chat history cleared")):
            self.is_cleared = True
        else:
            return False
        return True


def resolve_commits(repository: pathlib.Path, sessions: list[Session]):
    """Finds the commits of turns in the repository, and what they changed. A commit that was rewritten is found by a unique subject."""
    log = [line.split("\x01") for line in git(repository, "log", "--all", "--format=%H%x01%P%x01%s").split("\n") if line]
    parents = {commit: commit_parents.split()[0] if commit_parents else None for commit, commit_parents, _ in log}
    by_short_hash, by_subject = {}, collections.defaultdict(list)
    for commit, _, subject in log:
        by_short_hash.setdefault(commit[:7], commit)
        by_subject[subject.strip()].append(commit)
    for turn in (turn for session in sessions for turn in session.turns):
        for commit in turn.commits:
            found = by_short_hash.get(commit.hash[:7], "")
            same_subject = by_subject.get(commit.subject, [])
            commit.commit = found if found.startswith(commit.hash) else same_subject[0] if len(same_subject) == 1 else None
            commit.parent = parents[commit.commit] if commit.commit else None
        own = [commit for commit in turn.commits if commit.commit and commit.parent and not commit.of_user]
        if own:
            turn.base, turn.head = own[0].parent, own[-1].commit
        changed = set()
        for commit in own:
            changed.update(git(repository, "diff", "--no-renames", "--name-only", "-z", commit.parent, commit.commit).split("\0"))
        changed.discard("")
        # Leaves out what the user committed between edits.
        turn.changed = sorted(changed & set(turn.edited)) or sorted(changed)
