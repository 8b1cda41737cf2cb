"""Ranks the files of a repository by aider's repository map, without a model.

Called by the benches `relevance` and `content`: `PYTHON aider_rank.py CHECKOUT`. Reads one JSON object a line, `{"parent": COMMIT,
"text": MESSAGE}`; checks the commit out in CHECKOUT (a clone that may be overwritten) and answers with one line,
`{"ranked": [PATH, ...]}`: the files in the order of their first ranked tag, as `RepoMap.get_ranked_tags` gives them. With
`"budget": N` it answers `{"map": TEXT}` instead, the map of at most N tokens (of four characters) for the message.

What a message mentions is found the way aider's `base_coder.Coder` finds it (`get_ident_mentions`, `get_file_mentions`,
`get_ident_filename_matches`); those methods are called as they are, on a stand-in for a chat without files.
"""

import json
import logging
import os
import subprocess
import sys

from aider.coders.base_coder import Coder
from aider_alone import map_of


class Chat:
    """A chat with no files added, over the files of a checkout."""

    get_ident_mentions = Coder.get_ident_mentions
    get_ident_filename_matches = Coder.get_ident_filename_matches
    get_file_mentions = Coder.get_file_mentions
    abs_read_only_fnames = ()

    def __init__(self, files):
        self.files = files

    def get_all_relative_files(self):
        return self.files

    def get_addable_relative_files(self):
        return set(self.files)

    def get_inchat_relative_files(self):
        return []


def git(root, *arguments):
    done = subprocess.run(
        ["git", "-C", root, *arguments], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    return done.stdout.decode("utf-8", "replace")


def mentioned(root, text):
    files = [name for name in git(root, "ls-files", "-z").split("\0") if name]
    files = [name for name in files if os.path.isfile(os.path.join(root, name))]
    chat = Chat(files)
    identifiers = chat.get_ident_mentions(text)
    names = chat.get_file_mentions(text) | chat.get_ident_filename_matches(identifiers)
    return files, names, identifiers


def rank(repo_map, root, text):
    files, names, identifiers = mentioned(root, text)
    tags = repo_map.get_ranked_tags([], [os.path.join(root, name) for name in files], names, identifiers)
    ranked = list(dict.fromkeys(tag[0] for tag in tags))
    return ranked + sorted(set(files) - set(ranked))


def ranked_map(repo_map, root, text, budget):
    files, names, identifiers = mentioned(root, text)
    files = [os.path.join(root, name) for name in files]
    return repo_map.get_ranked_tags_map([], files, budget, names, identifiers) or ""


def main():
    logging.disable(logging.CRITICAL)
    root = os.path.realpath(sys.argv[1])
    answers, sys.stdout = sys.stdout, sys.stderr
    repo_map = map_of(root)
    for line in sys.stdin:
        asked = json.loads(line)
        git(root, "checkout", "--quiet", "--force", "--detach", asked["parent"])
        if "budget" in asked:
            answer = {"map": ranked_map(repo_map, root, asked["text"], asked["budget"])}
        else:
            answer = {"ranked": rank(repo_map, root, asked["text"])}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
