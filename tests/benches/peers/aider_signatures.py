"""Makes aider's repository map of commits for the words of a message, without a model.

Called by the bench `map`: `PYTHON aider_signatures.py CHECKOUT`. Reads one JSON object a line, `{"parent": COMMIT, "text": MESSAGE,
"budgets": [N, ...]}`; checks the commit out in CHECKOUT (a clone that may be overwritten) and answers with one line, `{"maps":
[TEXT, ...]}`: the map under each budget as `RepoMap` makes it. What a message mentions is found as `aider_rank.py` does.
Files are ranked once for all budgets.
"""

import json
import logging
import os
import sys

from aider_alone import map_of
from aider_rank import Chat, git


def maps(repo_map, root, text, budgets):
    files = [name for name in git(root, "ls-files", "-z").split("\0") if name]
    files = [name for name in files if os.path.isfile(os.path.join(root, name))]
    chat = Chat(files)
    identifiers = chat.get_ident_mentions(text)
    names = chat.get_file_mentions(text) | chat.get_ident_filename_matches(identifiers)
    paths = [os.path.join(root, name) for name in files]
    ranked = repo_map.get_ranked_tags([], paths, names, identifiers)
    repo_map.get_ranked_tags = lambda *_arguments, **_options: ranked
    repo_map.tree_cache = {}
    try:
        return [
            repo_map.get_ranked_tags_map_uncached([], paths, budget, names, identifiers) or "" for budget in budgets
        ]
    finally:
        del repo_map.get_ranked_tags


def main():
    logging.disable(logging.CRITICAL)
    root = os.path.realpath(sys.argv[1])
    answers, sys.stdout = sys.stdout, sys.stderr
    repo_map = map_of(root)
    for line in sys.stdin:
        asked = json.loads(line)
        git(root, "checkout", "--quiet", "--force", "--detach", asked["parent"])
        made = maps(repo_map, root, asked["text"], asked["budgets"])
        print(json.dumps({"maps": made}), file=answers, flush=True)


if __name__ == "__main__":
    main()
