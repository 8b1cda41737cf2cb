//! Finds, reads and writes files with recorded work: traces, which are JSON and may be compressed with gzip, and
//! transcripts (recorded sessions of a coding agent). The engine interprets both.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use strata_conversation::trace::Trace;
use strata_conversation::transcript::{Transcript, parse};

/// Maximum size of a transcript, or of a decompressed trace, in bytes. A small compressed file can expand to a very
/// large one.
const MAX_RECORD_BYTES: u64 = 256 << 20;

/// First bytes of a gzip file (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Maximum number of transcripts in one directory tree.
const MAX_TRANSCRIPTS: usize = 2_000;

/// Maximum depth of the directories to search.
const MAX_DIRECTORY_DEPTH: usize = 16;

/// Maximum number of directories to search, so that a search from the root of a disk ends.
const MAX_SEARCHED_FOLDERS: usize = 100_000;

/// A record that could not be found, read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", .path.display())]
pub struct RecordFileError {
    pub path: PathBuf,
    #[source]
    pub(crate) problem: RecordProblem,
}

/// Why a record could not be found, read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordProblem {
    /// The file cannot be read, written or decompressed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The record is larger than [`MAX_RECORD_BYTES`].
    #[error("longer than {} MiB", MAX_RECORD_BYTES >> 20)]
    TooLong,
    /// The content is not a valid trace. The message includes the position of the error.
    #[error("not a trace: {0}")]
    NotATrace(String),
    /// The directory tree contains too many transcripts or directories.
    #[error("more than {MAX_TRANSCRIPTS} transcripts, or too many directories; choose a smaller directory")]
    TooMany,
}

/// Reads a trace. Detects compression by the first bytes of the file.
///
/// # Errors
/// [`RecordFileError`] if the file cannot be read or is not a valid trace.
pub(crate) fn read_trace(path: &Path) -> Result<Trace, RecordFileError> {
    read_trace_within(path, MAX_RECORD_BYTES)
        .map_err(|problem| RecordFileError { path: path.to_owned(), problem })
}

/// Writes a trace, compressed if the file name ends in `.gz`. The output is deterministic. An interrupted write leaves
/// a file `*.part`, but never a partial trace.
///
/// # Errors
/// [`RecordFileError`] if the file cannot be written.
pub(crate) fn write_trace(path: &Path, trace: &Trace) -> Result<(), RecordFileError> {
    write_to(path, trace).map_err(|problem| RecordFileError { path: path.to_owned(), problem })
}

/// Returns the traces (`*.json`, `*.json.gz`) in a directory, sorted by name, or only `place` itself if it is a file.
///
/// # Errors
/// [`RecordFileError`] if `place` does not exist or cannot be read.
pub(crate) fn find_trace_files(place: &Path) -> Result<Vec<PathBuf>, RecordFileError> {
    let fail = |error: io::Error| RecordFileError { path: place.to_owned(), problem: error.into() };
    if !fs::metadata(place).map_err(fail)?.is_dir() {
        return Ok(vec![place.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(place).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if (name.ends_with(".json") || name.ends_with(".json.gz")) && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn read_trace_within(path: &Path, limit: u64) -> Result<Trace, RecordProblem> {
    let mut file = File::open(path)?;
    let mut head = Vec::new();
    Read::by_ref(&mut file).take(GZIP.len() as u64).read_to_end(&mut head)?;
    let compressed = head == GZIP;
    let whole = head.as_slice().chain(file);
    let source: Box<dyn Read> =
        if compressed { Box::new(MultiGzDecoder::new(io::BufReader::new(whole))) } else { Box::new(whole) };
    let mut text = Vec::new();
    source.take(limit + 1).read_to_end(&mut text)?;
    if text.len() as u64 > limit {
        return Err(RecordProblem::TooLong);
    }
    let json = &mut serde_json::Deserializer::from_slice(&text);
    let trace = serde_path_to_error::deserialize(&mut *json).map_err(|error| {
        let place = error.path().to_string();
        RecordProblem::NotATrace(format!("{place}: {}", error.into_inner()))
    })?;
    json.end().map_err(|error| RecordProblem::NotATrace(error.to_string()))?;
    Ok(trace)
}

fn write_to(path: &Path, trace: &Trace) -> Result<(), RecordProblem> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let file = BufWriter::new(File::create(&part)?);
    let json = |error: serde_json::Error| RecordProblem::Io(error.into());
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut file = GzEncoder::new(file, Compression::default());
        serde_json::to_writer(&mut file, trace).map_err(json)?;
        file.finish()?.flush()?;
    } else {
        let mut file = file;
        serde_json::to_writer(&mut file, trace).map_err(json)?;
        file.flush()?;
    }
    fs::rename(&part, path)?;
    Ok(())
}

/// Returns the transcripts (`*.jsonl`) in a directory tree, sorted by path, or only `place` itself if it is a file.
/// Does not follow symbolic links inside the tree.
///
/// # Errors
/// [`RecordFileError`] if `place` cannot be read or contains too many transcripts. Unreadable subdirectories are
/// skipped.
pub(crate) fn find_transcript_files(place: &Path) -> Result<Vec<PathBuf>, RecordFileError> {
    let fail = |problem| RecordFileError { path: place.to_owned(), problem };
    if fs::metadata(place).map_err(|error| fail(error.into()))?.is_file() {
        return Ok(vec![place.to_owned()]);
    }
    fs::read_dir(place).map_err(|error| fail(error.into()))?;
    let mut found = Vec::new();
    let mut waiting = vec![(place.to_owned(), 0)];
    let mut folders = 0;
    while let Some((folder, depth)) = waiting.pop() {
        folders += 1;
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && depth < MAX_DIRECTORY_DEPTH {
                waiting.push((path, depth + 1));
            } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push(path);
            }
        }
        if found.len() > MAX_TRANSCRIPTS || folders > MAX_SEARCHED_FOLDERS {
            return Err(fail(RecordProblem::TooMany));
        }
    }
    found.sort();
    Ok(found)
}

/// Reads a transcript, replacing invalid UTF-8.
///
/// # Errors
/// [`RecordFileError`] if the file cannot be read or is too large.
pub(crate) fn read_transcript(path: &Path) -> Result<Transcript, RecordFileError> {
    read_transcript_within(path, MAX_RECORD_BYTES)
        .map_err(|problem| RecordFileError { path: path.to_owned(), problem })
}

fn read_transcript_within(path: &Path, limit: u64) -> Result<Transcript, RecordProblem> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(RecordProblem::TooLong);
    }
    Ok(parse(&String::from_utf8_lossy(&bytes)))
}

#[cfg(test)]
mod trace_tests {
    use strata_conversation::trace::{SelectionRule, TraceTurn};

    use super::*;

    fn trace() -> Trace {
        Trace {
            name: "demo-0".into(),
            files0: [("a.py".to_owned(), "x = 1\n".repeat(1000))].into(),
            recency: [("a.py".to_owned(), 3)].into(),
            sel: SelectionRule::Window(5),
            turns: vec![TraceTurn {
                prompt: "p".into(),
                answer: "\u{2028}\r\n".into(),
                edits: [("a.py".to_owned(), None)].into(),
                touched: vec!["a.py".into()],
                ..TraceTurn::default()
            }],
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let [plain, compressed] = ["t.json", "t.json.gz"].map(|name| folder.path().join(name));
        for path in [&plain, &compressed] {
            write_trace(path, &trace()).unwrap();
            assert_eq!(read_trace(path).unwrap(), trace());
        }
        assert_eq!(fs::read(&compressed).unwrap()[..2], GZIP);
        assert!(fs::metadata(&compressed).unwrap().len() * 10 < fs::metadata(&plain).unwrap().len());
        let first = fs::read(&compressed).unwrap();
        write_trace(&compressed, &trace()).unwrap();
        assert_eq!(fs::read(&compressed).unwrap(), first);
    }

    #[test]
    fn a_folder_stands_for_the_traces_in_it() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.json.gz", "a.json"] {
            write_trace(&folder.path().join(name), &trace()).unwrap();
        }
        fs::write(folder.path().join("c.txt"), "").unwrap();
        let found = find_trace_files(folder.path()).unwrap();
        assert_eq!(found, ["a.json", "b.json.gz"].map(|name| folder.path().join(name)));
        assert_eq!(find_trace_files(&found[0]).unwrap(), found[..1]);
        assert!(find_trace_files(&folder.path().join("none")).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "a temporary file is left");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.json");
        let json = serde_json::to_string(&trace()).unwrap();
        for (text, expected) in [
            (json.replace(r#""touched":["a.py"]"#, r#""touched":[7]"#), "turns[0].touched[0]: invalid type"),
            (json.replace("win5", "rand"), "sel: unknown selection rule \"rand\""),
            (json.replace("\"turns\"", "\"turn\""), "missing field `turns`"),
            (format!("{json}x"), "trailing characters"),
            (json[..100].to_owned(), "EOF while parsing"),
            (String::new(), "EOF while parsing"),
        ] {
            fs::write(&path, text).unwrap();
            let error = read_trace(&path).unwrap_err().to_string();
            assert!(error.contains("t.json: not a trace: ") && error.contains(expected), "{error}");
        }
        let missing = read_trace(&folder.path().join("none.json")).unwrap_err();
        assert!(matches!(missing.problem, RecordProblem::Io(_)));
    }

    #[test]
    fn a_broken_archive_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.json.gz");
        write_trace(&path, &trace()).unwrap();
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert!(matches!(read_trace(&path).unwrap_err().problem, RecordProblem::Io(_)));
    }

    #[test]
    fn a_small_archive_of_much_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["t.json", "t.json.gz"] {
            let path = folder.path().join(name);
            write_trace(&path, &trace()).unwrap();
            let length = serde_json::to_vec(&trace()).unwrap().len() as u64;
            assert!(matches!(read_trace_within(&path, length - 1), Err(RecordProblem::TooLong)));
            assert_eq!(read_trace_within(&path, length).unwrap(), trace());
        }
    }
}

#[cfg(test)]
mod transcript_tests {
    use super::*;

    const LINE: &str = r#"{"type":"assistant","message":{"id":"m","model":"x","content":"yes"}}"#;

    #[test]
    fn records_are_found_in_all_folders_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["b/c.jsonl", "a.jsonl", "b/a.json", "b/d/e.jsonl"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, LINE).unwrap();
        }
        let found = find_transcript_files(folder.path()).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.strip_prefix(folder.path()).unwrap()).collect();
        assert_eq!(names, ["a.jsonl", "b/c.jsonl", "b/d/e.jsonl"].map(Path::new));
        assert_eq!(find_transcript_files(&found[0]).unwrap(), [found[0].clone()]);
        assert!(find_transcript_files(&folder.path().join("none")).is_err());
        assert_eq!(read_transcript(&found[0]).unwrap().turns.len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_folder_above_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.jsonl"), LINE).unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).unwrap();
        assert_eq!(find_transcript_files(folder.path()).unwrap().len(), 1);
    }

    #[test]
    fn a_record_that_is_too_long_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, LINE).unwrap();
        assert!(matches!(read_transcript_within(&path, LINE.len() as u64 - 1), Err(RecordProblem::TooLong)));
        assert_eq!(read_transcript_within(&path, LINE.len() as u64).unwrap().turns.len(), 1);
    }
}
