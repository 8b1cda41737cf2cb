//! Tests of index runs: every file is processed once and in order, runs can be cancelled, and a panic is a result.

use std::collections::BTreeMap;

use super::*;
use crate::testing::Tree;

fn options(threads: usize) -> IndexOptions {
    IndexOptions { threads: NonZeroUsize::new(threads).unwrap(), limits: ReadLimits { max_bytes: 1000 } }
}

fn many(count: usize) -> (Tree, Vec<FileKey>) {
    let tree = Tree::new(&[]);
    let keys: Vec<FileKey> = (0..count).map(|n| FileKey::new(format!("{n:04}.txt"))).collect();
    for key in &keys {
        tree.write(&format!("root/{}", key.as_str()), key.as_str());
    }
    (tree, keys)
}

#[test]
fn every_file_is_done_once_and_progress_adds_up() {
    let (tree, keys) = many(200);
    for threads in [1, 4] {
        let mut found = BTreeMap::new();
        let mut last = 0;
        let work = |_: &FileKey, text: &DiskText| text.text.to_string();
        index(&tree.roots(), &keys, options(threads), &Cancel::new(), work, |batch| {
            assert_eq!((batch.done, batch.total), (last + batch.files.len(), 200));
            last = batch.done;
            for file in batch.files {
                assert_eq!(found.insert(file.key, file.outcome.unwrap()), None);
            }
        })
        .unwrap();
        assert_eq!(last, 200);
        assert!(found.iter().all(|(key, text)| key.as_str() == text));
    }
}

#[test]
fn a_bad_file_does_not_stop_the_others() {
    let (tree, mut keys) = many(3);
    tree.write("root/binary", b"\0");
    keys.extend(["missing", "binary", "../outside"].map(FileKey::from));
    let work = |key: &FileKey, _: &DiskText| if key.as_str() == "0001.txt" { panic!("odd") } else { 1 };
    let mut seen = Vec::new();
    index(&tree.roots(), &keys, options(2), &Cancel::new(), work, |batch| seen.extend(batch.files)).unwrap();
    let outcomes: Vec<String> = seen
        .into_iter()
        .map(|file| match file.outcome {
            Ok(value) => value.to_string(),
            Err(skipped) => skipped.to_string(),
        })
        .collect();
    assert_eq!(
        outcomes,
        [
            "1",
            "panicked: odd",
            "1",
            "`missing` does not exist",
            "`binary` is binary",
            "`../outside`: `..` is not allowed; use a path relative to the workspace folder",
        ]
    );
}

#[test]
fn an_index_can_be_cancelled() {
    let (tree, keys) = many(500);
    let cancel = Cancel::new();
    let mut done = 0;
    let result = index(
        &tree.roots(),
        &keys,
        options(1),
        &cancel,
        |_, _| (),
        |batch| {
            done = batch.done;
            cancel.cancel();
        },
    );
    assert_eq!(result, Err(Cancelled));
    assert!((1..500).contains(&done), "{done}");
}

#[test]
fn nothing_to_do_is_done_at_once() {
    let tree = Tree::new(&[]);
    let sink = |_: Batch<IndexedFile<()>>| panic!("unexpected batch");
    assert_eq!(index(&tree.roots(), &[], options(2), &Cancel::new(), |_, _| (), sink), Ok(()));
}

/// Recurses `steps` times, using 64 KiB of stack each time.
fn deep(steps: usize) -> usize {
    let frame = [1_u8; 64 << 10];
    let below = if steps == 0 { 0 } else { deep(steps - 1) };
    below + usize::from(std::hint::black_box(&frame)[steps])
}

#[test]
fn work_may_go_as_deep_as_on_the_threads_of_a_pool() {
    let mut found = Vec::new();
    // Needs at least 3 MiB; threads have 2 MiB by default.
    let work = |_: &()| deep(48);
    spread(&[(), ()], NonZeroUsize::MIN, &Cancel::new(), work, |batch| found.extend(batch.files)).unwrap();
    assert_eq!(found, [49, 49]);
}

#[test]
fn threads_that_the_system_does_not_give_lose_no_files() {
    // Larger than the address space.
    const TOO_MUCH: usize = (usize::MAX >> 4) & !0xffff;
    let files: Vec<usize> = (0..200).collect();
    for given in [0, 1] {
        let stack = |number: usize| if number > given { TOO_MUCH } else { STACK_BYTES };
        let (mut found, mut done) = (Vec::new(), Vec::new());
        let sink = |batch: Batch<usize>| {
            done.push((batch.done, batch.total));
            found.extend(batch.files);
        };
        let threads = NonZeroUsize::new(3).unwrap();
        spread_on(&files, threads, stack, &Cancel::new(), |file| *file, sink).unwrap();
        assert_eq!(found, files, "{given} threads");
        assert_eq!((done.len(), done.last()), (7, Some(&(200, 200))), "{given} threads");
    }
}
