//! Checks what clippy must forbid in the engine. `server/engine/clippy.toml` contains the whole list; this
//! module lists the minimum.

use toml::{Table, Value};

/// Methods that must be disallowed.
const METHODS: &[&str] = &[
    "std::fs::File::open",
    "std::fs::read_to_string",
    "std::fs::write",
    "std::path::Path::exists",
    "std::path::Path::canonicalize",
    "std::env::var",
    "std::env::current_dir",
    "std::net::TcpStream::connect",
    "std::net::TcpListener::bind",
    "std::process::Command::new",
    "std::process::exit",
    "std::thread::spawn",
    "std::thread::sleep",
    "std::time::Instant::now",
    "std::time::SystemTime::now",
    "jiff::Timestamp::now",
    "jiff::Zoned::now",
    "jiff::tz::TimeZone::system",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
];

/// Types that must be disallowed.
const TYPES: &[&str] = &[
    "std::fs::File",
    "std::net::TcpStream",
    "std::process::Command",
    "std::thread::JoinHandle",
    "std::time::Instant",
    "std::time::SystemTime",
];

/// Returns the items that the configuration does not forbid, and those that it forbids without a reason.
pub(crate) fn gaps(text: &str) -> Vec<String> {
    let table: Table = match text.parse() {
        Ok(table) => table,
        Err(error) => return vec![format!("server/engine/clippy.toml: {error}")],
    };
    let mut found = Vec::new();
    for (list, least) in [("disallowed-methods", METHODS), ("disallowed-types", TYPES)] {
        let entries = table.get(list).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let field = |entry: &Value, name: &str| entry.get(name).and_then(Value::as_str).map(str::to_owned);
        let paths: Vec<String> = entries.iter().filter_map(|entry| field(entry, "path")).collect();
        for path in least.iter().filter(|path| !paths.iter().any(|own| own == *path)) {
            found.push(format!("{list} does not contain {path}"));
        }
        for entry in entries.iter().filter(|entry| field(entry, "reason").is_none_or(|why| why.is_empty())) {
            found.push(format!("{list} gives no reason for {entry:?}"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_found() {
        assert_eq!(gaps("").len(), METHODS.len() + TYPES.len());
        let one = "disallowed-methods = [{ path = \"std::env::var\", reason = \"arguments\" }]";
        assert_eq!(gaps(one).len(), METHODS.len() + TYPES.len() - 1);
        assert!(gaps("disallowed-methods = 1 2").len() == 1);
    }

    #[test]
    fn a_reason_is_asked_for() {
        let silent = gaps("disallowed-methods = [\"std::env::var\"]");
        assert!(silent.iter().any(|gap| gap.contains("no reason")), "{silent:?}");
    }
}
