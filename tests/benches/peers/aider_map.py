"""Makes aider's repository map of a directory, without a model.

Called by the bench `aider_map`: `PYTHON aider_map.py CHECKOUT`, a copy that may be written to. Reads one JSON object a line:

- `{"budget": N}` answers `{"text": MAP, "tokens": COUNT}`: the map under a budget of tokens as `RepoMap` makes it, and its
  weight by the count that `RepoMap` was given;
- `{"definitions": true}` answers `{"definitions": [[PATH, NAME], ...]}`: every definition among its tags.

Without a model there is no tokenizer; four characters stand for a token.
"""

import json
import logging
import os
import sys

from aider.repomap import find_src_files
from aider_alone import map_of


def definitions(repo_map, root, files):
    for file in files:
        path = os.path.relpath(file, root)
        for tag in repo_map.get_tags(file, path):
            if tag.kind == "def":
                yield [path, tag.name]


def main():
    logging.disable(logging.CRITICAL)
    root = os.path.realpath(sys.argv[1])
    answers, sys.stdout = sys.stdout, sys.stderr
    repo_map = map_of(root, refresh="always")
    files = find_src_files(root)
    for line in sys.stdin:
        asked = json.loads(line)
        if "budget" in asked:
            text = repo_map.get_ranked_tags_map([], files, asked["budget"]) or ""
            answer = {"text": text, "tokens": len(text) // 4}
        else:
            answer = {"definitions": list(definitions(repo_map, root, files))}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
