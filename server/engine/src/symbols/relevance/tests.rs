//! Texts and the files they are about.
