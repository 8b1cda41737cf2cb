//! Each style of import over small trees of files.
