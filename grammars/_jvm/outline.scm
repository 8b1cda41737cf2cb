; What the languages share is in language.toml.
