//! Tests that the cache returns stored outlines, respects its size limit, is private to its owner and shared between
//! processes, and is silently disabled if the disk fails.

use std::fs;
use std::sync::Arc;

use strata_base::cancel::Cancel;
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_code::outline::{language_of, version_hash};
use strata_code::symbols::FileSymbols;

use super::*;
use crate::disk::Stamp;

const DATABASE: &str = "outlines/outlines-1.db";

fn symbols(text: &str) -> Arc<FileSymbols> {
    let key = FileKey::from("a.py");
    let language = language_of(&key, "").unwrap();
    Arc::new(FileSymbols::read(language, &key, text, &Cancel::new()).unwrap())
}

fn key(text: &str) -> OutlineKey {
    OutlineKey::new(
        ContentHash::from_text(text),
        version_hash(language_of(&FileKey::from("a.py"), "").unwrap()),
    )
}

fn text(number: usize) -> String {
    format!("class C{number}:\n    def method_{number}(self, argument: int) -> str: ...\n")
}

fn known_file(number: u64) -> KnownFile {
    let stamp = Stamp { mtime_ns: -5, size: number, identity: u64::MAX - number };
    KnownFile { stamp, hash: ContentHash::from_text(&number.to_string()) }
}

fn update(texts: &[String]) -> OutlineUpdate {
    let outlines = texts.iter().map(|text| (key(text), symbols(text))).collect();
    OutlineUpdate { outlines, ..OutlineUpdate::default() }
}

fn cache() -> (tempfile::TempDir, OutlineCache) {
    let directory = tempfile::tempdir().unwrap();
    let cache = OutlineCache::in_directory(directory.path().to_owned());
    (directory, cache)
}

/// Checks that an outline is stored and that another connection finds it.
fn assert_works(cache: &OutlineCache, directory: &Path) {
    let text = text(7);
    cache.save(Path::new("/work"), &update(std::slice::from_ref(&text)));
    let other = OutlineCache::in_directory(directory.to_owned());
    assert_eq!(other.outline(key(&text)).as_ref(), Some(&symbols(&text).outline));
}

#[test]
fn stored_outlines_are_found_by_the_next_process() {
    let (directory, cache) = cache();
    let texts: Vec<String> = (0..2_500).map(text).collect();
    let files = [("src/a.py".into(), known_file(1)), ("ä/b.py".into(), known_file(2))];
    let folder = Path::new("/home/me/a");
    cache.save(folder, &OutlineUpdate { read_files: files.to_vec(), ..update(&texts) });
    let next = OutlineCache::in_directory(directory.path().to_owned());
    assert_eq!(next.known_files(folder), HashMap::from(files));
    assert_eq!(next.known_files(Path::new("/work")), HashMap::new());
    for text in &texts {
        assert_eq!(next.outline(key(text)).as_ref(), Some(&symbols(text).outline));
    }
    assert_eq!(next.outline(key("another text")), None);

    next.save(
        folder,
        &OutlineUpdate {
            read_files: vec![("src/a.py".into(), known_file(3))],
            deleted: vec!["ä/b.py".into()],
            ..OutlineUpdate::default()
        },
    );
    assert_eq!(cache.known_files(folder), HashMap::from([("src/a.py".into(), known_file(3))]));
    let extent = cache.size().unwrap();
    assert_eq!((extent.outlines, extent.files), (2_500, 1));
    assert!(extent.bytes > 0 && Path::new(&extent.path).ends_with(DATABASE));
}

#[test]
fn a_cache_without_a_directory_stores_nothing() {
    let cache = OutlineCache::default();
    cache.save(Path::new("/work"), &update(&[text(1)]));
    assert_eq!((cache.outline(key(&text(1))), cache.size()), (None, None));
}

#[cfg(unix)]
#[test]
fn the_cache_is_accessible_only_to_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let (directory, cache) = cache();
    assert_works(&cache, directory.path());
    let mode = |path: &str| fs::metadata(directory.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("outlines"), mode(DATABASE)), (0o700, 0o600));
    for entry in fs::read_dir(directory.path().join("outlines")).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{entry:?}");
    }
}

#[test]
fn a_file_that_is_not_a_database_is_replaced() {
    for garbage in [
        &b"not a database at all, but long enough to be looked at by anybody who wants to"[..],
        b"",
        &[0; 5_000],
    ] {
        let (directory, cache) = cache();
        fs::create_dir(directory.path().join("outlines")).unwrap();
        fs::write(directory.path().join(DATABASE), garbage).unwrap();
        assert_works(&cache, directory.path());
    }
}

#[test]
fn a_database_of_another_program_is_replaced() {
    let (directory, cache) = cache();
    fs::create_dir(directory.path().join("outlines")).unwrap();
    let other = rusqlite::Connection::open(directory.path().join(DATABASE)).unwrap();
    other.execute_batch("CREATE TABLE outlines (what, ever)").unwrap();
    drop(other);
    assert_works(&cache, directory.path());
}

/// Truncates, zeroes or inverts part of the database file. The cache never returns wrong data, and works again after
/// one process has noticed the damage.
#[test]
fn a_damaged_database_returns_no_wrong_outlines_and_is_rebuilt() {
    let texts: Vec<String> = (0..600).map(text).collect();
    for damage in 0..12 {
        let (directory, cache) = cache();
        let files = (0..600_u64).map(|n| (format!("src/{n}.py").into(), known_file(n))).collect();
        cache.save(Path::new("/work"), &OutlineUpdate { read_files: files, ..update(&texts) });
        drop(cache);
        let path = directory.path().join(DATABASE);
        let mut bytes = fs::read(&path).unwrap();
        let (at, length) = (bytes.len() * damage / 12, bytes.len());
        match damage % 3 {
            0 => bytes.truncate(at.max(700)),
            1 => bytes[at..(at + 20_000).min(length)].fill(0),
            _ => bytes[at..(at + 9_000).min(length)].iter_mut().for_each(|byte| *byte ^= 0x5a),
        }
        fs::write(&path, bytes).unwrap();

        let cache = OutlineCache::in_directory(directory.path().to_owned());
        for text in &texts {
            let outline = cache.outline(key(text));
            assert!(outline.is_none_or(|outline| outline == symbols(text).outline), "damage {damage}");
        }
        for _ in 0..2 {
            cache.save(Path::new("/work"), &update(&texts));
        }
        let next = OutlineCache::in_directory(directory.path().to_owned());
        assert!(texts.iter().all(|text| next.outline(key(text)).is_some()), "damage {damage}");
    }
}

/// Windows deletes no file that is open, so the database is replaced when the last thread has closed it.
#[test]
fn a_damaged_database_is_replaced_when_no_thread_uses_it() {
    let (directory, cache) = cache();
    assert_works(&cache, directory.path());
    let [one, other] = [cache.borrow_database().unwrap(), cache.borrow_database().unwrap()];
    cache.discard_database(one, "a test");
    assert!(cache.borrow_database().is_none(), "another thread still has the damaged database open");
    assert_eq!(cache.outline(key(&text(7))), None);
    cache.return_database(other);
    assert_eq!(cache.outline(key(&text(7))), None, "the new database is empty");
    assert_works(&cache, directory.path());
}

#[test]
fn concurrent_writers_lose_nothing() {
    let (directory, _) = cache();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let directory = directory.path().to_owned();
            scope.spawn(move || {
                let cache = OutlineCache::in_directory(directory);
                for round in 0..10 {
                    let texts: Vec<String> = (0..20).map(|n| text(writer * 1_000 + round * 20 + n)).collect();
                    cache.save(Path::new(&format!("/home/me/{writer}")), &update(&texts));
                    assert!(texts.iter().all(|text| cache.outline(key(text)).is_some()));
                }
            });
        }
    });
    let cache = OutlineCache::in_directory(directory.path().to_owned());
    assert_eq!(cache.size().unwrap().outlines, 800);
    assert!((0..200).all(|n| cache.outline(key(&text(3_000 + n))).is_some()));
}

#[test]
fn one_connection_stays_open_after_a_run() {
    let (_directory, cache) = cache();
    let tables = [cache.borrow_database(), cache.borrow_database(), cache.borrow_database()];
    tables.into_iter().flatten().for_each(|table| cache.return_database(table));
    let connections = || cache.lock_state().idle.len();
    assert_eq!(connections(), 3);
    cache.save(Path::new("/work"), &update(&[text(1)]));
    assert_eq!(connections(), 1);
    assert!(cache.outline(key(&text(1))).is_some());
}

#[test]
fn the_cache_evicts_the_least_recently_used_outlines_beyond_its_limit() {
    let directory = tempfile::tempdir().unwrap();
    let mut table = OutlineDatabase::open(directory.path()).unwrap();
    let limit = 1 << 20;
    let mut outlines = 0;
    for day in 0..40 {
        let texts: Vec<String> = (0..500).map(|n| text(day * 500 + n)).collect();
        let files = vec![(format!("{day}.py").into(), known_file(1))];
        let folder = format!("/home/me/{day}");
        let update = OutlineUpdate { read_files: files, ..update(&texts) };
        table.save(Path::new(&folder), &update, i64::try_from(day).unwrap() * 10, limit).unwrap();
        // The first ones are used continuously.
        let used = (0..100).map(|n| key(&text(n))).collect();
        table
            .save(
                Path::new("/home/me/0"),
                &OutlineUpdate { used, ..OutlineUpdate::default() },
                i64::try_from(day).unwrap() * 10,
                limit,
            )
            .unwrap();
        outlines = table.size().unwrap().outlines;
    }
    let bytes = fs::metadata(directory.path().join(DATABASE)).unwrap().len();
    assert!(bytes <= limit * 2 && outlines > 500, "{bytes} bytes, {outlines} outlines");
    let is_cached = |table: &mut OutlineDatabase, n| table.outline(key(&text(n))).unwrap().is_some();
    assert!((0..100).all(|n| is_cached(&mut table, n)), "outlines in continuous use were evicted");
    assert!((19_500..20_000).all(|n| is_cached(&mut table, n)), "new");
    assert!((500..1_000).all(|n| !is_cached(&mut table, n)), "old");
    assert_eq!(table.known_files(Path::new("/home/me/1")).unwrap(), HashMap::new());
    assert_eq!(table.known_files(Path::new("/home/me/0")).unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn the_cache_is_disabled_if_its_directory_cannot_be_created() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let cache = OutlineCache::in_directory(file.path().join("below"));
    cache.save(Path::new("/work"), &update(&[text(1)]));
    assert_eq!((cache.outline(key(&text(1))), cache.size()), (None, None));
}

#[cfg(not(any(windows, target_os = "macos")))]
#[test]
fn the_cache_directory_follows_the_variables() {
    let directory_for = |variables: &[(&str, &str)]| {
        let variable = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into());
        cache_directory(variable)
    };
    let (configured, xdg, home) =
        (("STRATA_CACHE_DIR", "/own"), ("XDG_CACHE_HOME", "/xdg"), ("HOME", "/home/me"));
    assert_eq!(directory_for(&[configured, xdg, home]), Some("/own".into()));
    assert_eq!(directory_for(&[xdg, home]), Some("/xdg/strata".into()));
    assert_eq!(directory_for(&[("XDG_CACHE_HOME", "here"), home]), Some("/home/me/.cache/strata".into()));
    assert_eq!(directory_for(&[home]), Some("/home/me/.cache/strata".into()));
    assert_eq!(directory_for(&[("HOME", "")]), None);
}
