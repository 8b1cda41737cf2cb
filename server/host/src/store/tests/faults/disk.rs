//! A disk that fails on demand: wraps SQLite's file access, counts every call that changes a file, and makes calls
//! fail or records them. Installed for the whole process, but only affects threads of tests that request it.
#![expect(unsafe_code, reason = "SQLite's file access is a C interface")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::Once;

use rusqlite::ffi;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// The disk is full: `ENOSPC`.
    Full,
    /// The disk is broken: `EIO`.
    Broken,
    /// Half of the bytes are written; then the disk is full.
    Half,
    /// Data on disk cannot be read: `EIO`.
    Unread,
}

/// How long the fault lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lasting {
    /// A single call.
    Once,
    /// From that call on, until the disk is repaired.
    On,
}

/// A change of a file, as it reached the disk.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Write(PathBuf, usize, Vec<u8>),
    Truncate(PathBuf, usize),
    Delete(PathBuf),
    /// All changes of the file so far are confirmed by the disk.
    Sync(PathBuf),
    /// The number of acknowledgements that the test has recorded.
    Acknowledged(usize),
}

/// What the test on this thread requested.
#[derive(Default)]
struct Plan {
    writes: usize,
    reads: usize,
    failure: Option<(usize, Fault, Lasting)>,
    /// Calls are passed through and not counted.
    is_bypassed: bool,
    recorded: Option<Vec<Change>>,
    /// Number of temporary files that SQLite opened.
    temporary: usize,
    open: HashMap<usize, PathBuf>,
}

/// SQLite's function table for a file, with some functions replaced, and the original table.
#[repr(C)]
struct Methods {
    ours: ffi::sqlite3_io_methods,
    system: &'static ffi::sqlite3_io_methods,
}

/// The system's own file access. It may be used from any thread.
struct System(*mut ffi::sqlite3_vfs);

// SAFETY: SQLite calls it from any thread.
unsafe impl Sync for System {}

// SAFETY: as above.
unsafe impl Send for System {}

thread_local! {
    static PLAN: RefCell<Plan> = RefCell::default();
}

static SYSTEM: std::sync::OnceLock<System> = std::sync::OnceLock::new();

/// Installs the disk, and resets the plan of this thread.
pub(super) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: SQLite returns its default file access, which lives as long as the process, and receives a copy
        // that is leaked and lives as long.
        unsafe {
            assert_eq!(ffi::sqlite3_initialize(), ffi::SQLITE_OK);
            let system = ffi::sqlite3_vfs_find(std::ptr::null());
            let ours = Box::leak(Box::new(*system));
            ours.zName = c"failing".as_ptr();
            ours.pNext = null_mut();
            ours.xOpen = Some(open);
            ours.xDelete = Some(delete);
            assert!(SYSTEM.set(System(system)).is_ok());
            assert_eq!(ffi::sqlite3_vfs_register(ours, 1), ffi::SQLITE_OK);
        }
    });
    plan(|plan| *plan = Plan { open: std::mem::take(&mut plan.open), ..Plan::default() });
}

/// Makes the call with this zero-based number fail: counted among reads for [`Fault::Unread`], otherwise among
/// writes.
pub(super) fn fail(call: usize, fault: Fault, lasting: Lasting) {
    install();
    plan(|plan| plan.failure = Some((call, fault, lasting)));
}

/// Repairs the disk: no further calls fail.
pub(super) fn repair() {
    plan(|plan| plan.failure = None);
}

/// Runs `work` without counting or recording its calls.
pub(super) fn without_faults<T>(work: impl FnOnce() -> T) -> T {
    plan(|plan| plan.is_bypassed = true);
    let result = work();
    plan(|plan| plan.is_bypassed = false);
    result
}

/// Returns the number of writes and of reads since [`install`] or [`fail`].
pub(super) fn calls() -> (usize, usize) {
    plan(|plan| (plan.writes, plan.reads))
}

/// Returns the number of temporary files that SQLite opened.
pub(super) fn temporary_files() -> usize {
    plan(|plan| plan.temporary)
}

/// Records all changes from now on.
pub(super) fn start_recording() {
    install();
    plan(|plan| plan.recorded = Some(Vec::new()));
}

/// Records an acknowledgement among the changes.
pub(super) fn acknowledged(count: usize) {
    plan(|plan| plan.recorded.as_mut().unwrap().push(Change::Acknowledged(count)));
}

pub(super) fn take_recorded() -> Vec<Change> {
    plan(|plan| plan.recorded.take()).unwrap()
}

fn plan<T>(work: impl FnOnce(&mut Plan) -> T) -> T {
    PLAN.with_borrow_mut(work)
}

impl Plan {
    fn write(&mut self) -> Option<Fault> {
        if self.is_bypassed {
            return None;
        }
        self.writes += 1;
        self.failure
            .filter(|(_, fault, _)| *fault != Fault::Unread)
            .and_then(|failure| due_fault(failure, self.writes))
    }

    fn read(&mut self) -> Option<Fault> {
        if self.is_bypassed {
            return None;
        }
        self.reads += 1;
        self.failure
            .filter(|(_, fault, _)| *fault == Fault::Unread)
            .and_then(|failure| due_fault(failure, self.reads))
    }

    fn record(&mut self, change: impl FnOnce() -> Change) {
        if let Some(recorded) = &mut self.recorded {
            recorded.push(change());
        }
    }

    fn path_of(&self, file: *mut ffi::sqlite3_file) -> PathBuf {
        self.open.get(&(file as usize)).cloned().unwrap_or_default()
    }
}

fn due_fault((call, fault, lasting): (usize, Fault, Lasting), number: usize) -> Option<Fault> {
    let is_due = match lasting {
        Lasting::Once => call + 1 == number,
        Lasting::On => call < number,
    };
    is_due.then_some(fault)
}

fn system() -> *mut ffi::sqlite3_vfs {
    SYSTEM.get().unwrap().0
}

/// Returns the system's functions for an open file.
///
/// # Safety
/// The file must have been opened by [`open`] and not be closed.
unsafe fn methods(file: *mut ffi::sqlite3_file) -> &'static ffi::sqlite3_io_methods {
    // SAFETY: `open` has set this to our table, which lives as long as the process.
    unsafe { (*(*file).pMethods.cast::<Methods>()).system }
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    let path = match name.is_null() {
        true => None,
        // SAFETY: SQLite passes a string that ends with a NUL.
        false => Some(path(unsafe { CStr::from_ptr(name) })),
    };
    let creates = flags & ffi::SQLITE_OPEN_CREATE != 0 && path.as_deref().is_none_or(|path| !path.exists());
    let fault = plan(|plan| {
        plan.temporary += usize::from(path.is_none());
        if creates { plan.write() } else { None }
    });
    if fault.is_some() {
        // SAFETY: SQLite passes a valid `file`; a null table tells it that no file was opened.
        unsafe { (*file).pMethods = std::ptr::null() };
        return ffi::SQLITE_CANTOPEN;
    }
    // SAFETY: the arguments are SQLite's own. An opened file gets a function table of the same layout.
    unsafe {
        let opened = (*system()).xOpen.unwrap()(system(), name, file, flags, out);
        if let Some(methods) = (*file).pMethods.as_ref() {
            (*file).pMethods = std::ptr::from_ref(ours(methods)).cast();
        }
        if opened == ffi::SQLITE_OK {
            plan(|plan| plan.open.insert(file as usize, path.unwrap_or_default()));
        }
        opened
    }
}

/// Returns a table with our functions and the system's. There are few of them, and each is created once per thread.
fn ours(system: &'static ffi::sqlite3_io_methods) -> &'static Methods {
    thread_local! {
        static TABLES: RefCell<HashMap<usize, &'static Methods>> = RefCell::default();
    }
    TABLES.with_borrow_mut(|tables| {
        *tables.entry(std::ptr::from_ref(system) as usize).or_insert_with(|| {
            let mut ours = *system;
            ours.xRead = Some(read);
            ours.xWrite = Some(write);
            ours.xTruncate = Some(truncate);
            ours.xSync = Some(sync);
            ours.xShmMap = system.xShmMap.map(|_| shm_map as _);
            &*Box::leak(Box::new(Methods { ours, system }))
        })
    })
}

unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    // SAFETY: the string ends with a NUL.
    let path = path(unsafe { CStr::from_ptr(name) });
    if plan(Plan::write).is_some() {
        return ffi::SQLITE_IOERR_DELETE;
    }
    plan(|plan| plan.record(|| Change::Delete(path)));
    // SAFETY: the arguments are SQLite's own.
    unsafe { (*system()).xDelete.unwrap()(system(), name, sync) }
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, to: *mut c_void, bytes: c_int, at: i64) -> c_int {
    if plan(Plan::read).is_some() {
        return ffi::SQLITE_IOERR_READ;
    }
    // SAFETY: the arguments are SQLite's own.
    unsafe { methods(file).xRead.unwrap()(file, to, bytes, at) }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    from: *const c_void,
    bytes: c_int,
    at: i64,
) -> c_int {
    let fault = plan(Plan::write);
    let (written, code) = match fault {
        None => (bytes, ffi::SQLITE_OK),
        Some(Fault::Half) => (bytes / 2, ffi::SQLITE_FULL),
        Some(Fault::Full) => (0, ffi::SQLITE_FULL),
        Some(Fault::Broken | Fault::Unread) => (0, ffi::SQLITE_IOERR_WRITE),
    };
    plan(|plan| {
        let path = plan.path_of(file);
        plan.record(|| {
            // SAFETY: SQLite passes the number of bytes in the buffer.
            let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), size(bytes)) };
            Change::Write(path, size(at), bytes.to_vec())
        });
    });
    // SAFETY: the arguments are SQLite's own, and `written` does not exceed its buffer.
    let system_code = unsafe { methods(file).xWrite.unwrap()(file, from, written, at) };
    if code == ffi::SQLITE_OK { system_code } else { code }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, to: i64) -> c_int {
    if plan(Plan::write).is_some() {
        return ffi::SQLITE_IOERR_TRUNCATE;
    }
    plan(|plan| {
        let path = plan.path_of(file);
        plan.record(|| Change::Truncate(path, size(to)));
    });
    // SAFETY: the arguments are SQLite's own.
    unsafe { methods(file).xTruncate.unwrap()(file, to) }
}

/// Does not sync the system's file: the process that reads it later runs on the same system.
unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    if plan(Plan::write).is_some() {
        return ffi::SQLITE_IOERR_FSYNC;
    }
    plan(|plan| {
        let path = plan.path_of(file);
        plan.record(|| Change::Sync(path));
    });
    ffi::SQLITE_OK
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    page: c_int,
    bytes: c_int,
    extend: c_int,
    to: *mut *mut c_void,
) -> c_int {
    if extend != 0 && plan(Plan::write).is_some() {
        return ffi::SQLITE_IOERR_SHMSIZE;
    }
    // SAFETY: the arguments are SQLite's own.
    unsafe { methods(file).xShmMap.unwrap()(file, page, bytes, extend, to) }
}

fn size(number: impl TryInto<usize>) -> usize {
    number.try_into().ok().unwrap()
}

fn path(name: &CStr) -> PathBuf {
    Path::new(name.to_str().unwrap()).to_owned()
}
