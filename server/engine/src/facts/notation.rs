//! Many paths in few characters.

/// Writes paths compactly.
pub fn bundle(paths: &[&str]) -> String {
    paths.join(", ")
}

/// The paths in a bundle.
pub fn unbundle(text: &str) -> Vec<String> {
    text.split(", ").map(str::to_owned).collect()
}
