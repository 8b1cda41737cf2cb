//! Tests of index runs: every file is processed once and in order, runs can be cancelled, and a panic is a result.

use std::collections::BTreeMap;

use super::*;
use crate::testing::TestTree;

fn options(threads: usize) -> IndexOptions {
    IndexOptions { threads: NonZeroUsize::new(threads).unwrap(), limits: ReadLimits { max_bytes: 1000 } }
}

fn many(count: usize) -> (TestTree, Vec<FileKey>) {
    let tree = TestTree::new(&[]);
    let keys: Vec<FileKey> = (0..count).map(|n| FileKey::new(format!("{n:04}.txt"))).collect();
    for key in &keys {
        tree.write(&format!("root/{}", key.as_str()), key.as_str());
    }
    (tree, keys)
}

#[test]
fn every_file_is_processed_once_and_progress_adds_up() {
    let (tree, keys) = many(200);
    for threads in [1, 4] {
        let mut texts = BTreeMap::new();
        let mut last = 0;
        let work = |_: &FileKey, text: &DiskText| text.text.to_string();
        index_files(&tree.roots(), &keys, options(threads), &Cancel::new(), work, |batch| {
            assert_eq!((batch.done, batch.total), (last + batch.files.len(), 200));
            last = batch.done;
            for file in batch.files {
                assert_eq!(texts.insert(file.key, file.outcome.unwrap()), None);
            }
        })
        .unwrap();
        assert_eq!(last, 200);
        assert!(texts.iter().all(|(key, text)| key.as_str() == text));
    }
}

#[test]
fn a_bad_file_does_not_stop_the_others() {
    let (tree, mut keys) = many(3);
    tree.write("root/binary", b"\0");
    keys.extend(["missing", "binary", "../outside"].map(FileKey::from));
    let work = |key: &FileKey, _: &DiskText| if key.as_str() == "0001.txt" { panic!("odd") } else { 1 };
    let mut files = Vec::new();
    index_files(&tree.roots(), &keys, options(2), &Cancel::new(), work, |batch| files.extend(batch.files))
        .unwrap();
    let outcomes: Vec<String> = files
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
    let result = index_files(
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
fn an_empty_list_of_files_is_finished_immediately() {
    let tree = TestTree::new(&[]);
    let sink = |_: Batch<IndexedFile<()>>| panic!("unexpected batch");
    assert_eq!(index_files(&tree.roots(), &[], options(2), &Cancel::new(), |_, _| (), sink), Ok(()));
}

/// Recurses `steps` times, using 64 KiB of stack each time.
fn recurse(steps: usize) -> usize {
    let frame = [1_u8; 64 << 10];
    let below = if steps == 0 { 0 } else { recurse(steps - 1) };
    below + usize::from(std::hint::black_box(&frame)[steps])
}

#[test]
fn index_threads_have_the_stack_size_of_pool_threads() {
    let mut results = Vec::new();
    // Needs at least 3 MiB; threads have 2 MiB by default.
    let work = |_: &()| recurse(48);
    for_each_parallel(&[(), ()], NonZeroUsize::MIN, &Cancel::new(), work, |batch| {
        results.extend(batch.files);
    })
    .unwrap();
    assert_eq!(results, [49, 49]);
}

#[test]
fn no_files_are_lost_if_threads_cannot_be_started() {
    // Larger than the address space.
    const TOO_LARGE: usize = (usize::MAX >> 4) & !0xffff;
    let files: Vec<usize> = (0..200).collect();
    for available in [0, 1] {
        let stack = |number: usize| if number > available { TOO_LARGE } else { STACK_BYTES };
        let (mut results, mut progress) = (Vec::new(), Vec::new());
        let sink = |batch: Batch<usize>| {
            progress.push((batch.done, batch.total));
            results.extend(batch.files);
        };
        let threads = NonZeroUsize::new(3).unwrap();
        for_each_parallel_with_stack(&files, threads, stack, &Cancel::new(), |file| *file, sink).unwrap();
        assert_eq!(results, files, "{available} threads");
        assert_eq!((progress.len(), progress.last()), (7, Some(&(200, 200))), "{available} threads");
    }
}
