; Everything that the languages share is in language.toml.
