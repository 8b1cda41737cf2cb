//! The registry from file name to language, and each language's data.
