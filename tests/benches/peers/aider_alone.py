"""aider's repository map without aider: stands in for the terminal and the model that it asks for."""

from aider.repomap import RepoMap


class Silent:
    """What the map says to its user is dropped; it reads files through this, as it does through aider's own."""

    def __getattr__(self, _name):
        return lambda *_args, **_kwargs: None

    def read_text(self, path, silent=False):
        try:
            with open(path, encoding="utf-8") as file:
                return file.read()
        except (OSError, UnicodeError):
            return None


class FourCharacters:
    """Stands in for a model: the map asks it for weights only, and four characters stand for a token."""

    def token_count(self, text):
        return len(text) // 4


def map_of(root, **options):
    return RepoMap(root=root, main_model=FourCharacters(), io=Silent(), **options)
