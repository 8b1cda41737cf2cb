//! Tests of parallel runs: every file is processed once and in order, and runs can be cancelled.

use super::*;

fn threads(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

#[test]
fn every_file_is_processed_once_and_progress_adds_up() {
    let files: Vec<usize> = (0..200).collect();
    for count in [1, 4] {
        let mut results = Vec::new();
        for_each_parallel(
            &files,
            threads(count),
            &Cancel::new(),
            |file| *file,
            |batch| {
                results.extend(batch.files);
                assert_eq!((batch.done, batch.total), (results.len(), 200));
            },
        )
        .unwrap();
        results.sort_unstable();
        assert_eq!(results, files);
    }
}

#[test]
fn a_run_can_be_cancelled() {
    let cancel = Cancel::new();
    let mut done = 0;
    let result = for_each_parallel(
        &[(); 500],
        threads(1),
        &cancel,
        |()| (),
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
    let sink = |_: Batch<()>| panic!("unexpected batch");
    assert_eq!(for_each_parallel(&[(); 0], threads(2), &Cancel::new(), |()| (), sink), Ok(()));
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
        for_each_parallel_with_stack(&files, threads(3), stack, &Cancel::new(), |file| *file, sink).unwrap();
        assert_eq!(results, files, "{available} threads");
        assert_eq!((progress.len(), progress.last()), (7, Some(&(200, 200))), "{available} threads");
    }
}
