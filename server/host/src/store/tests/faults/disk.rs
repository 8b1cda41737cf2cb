//! A disk that fails when it is told to: SQLite's own access to files, with every call that changes one counted, and made to fail
//! or noted down. It stands between SQLite and the system for all of this process, and does something only on the
//! thread of a test that asked for it.
#![expect(unsafe_code, reason = "SQLite's access to files is an interface of C")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::Once;

use rusqlite::ffi;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// No room: `ENOSPC`.
    Full,
    /// The disk is broken: `EIO`.
    Broken,
    /// Half of the bytes are written, and then there is no room.
    Half,
    /// What stands on disk cannot be read: `EIO`.
    Unread,
}

/// How long it goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lasting {
    /// For one call.
    Once,
    /// From that call on, until the disk is repaired.
    On,
}

/// One change of a file, as it reached the disk.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Write(PathBuf, usize, Vec<u8>),
    Truncate(PathBuf, usize),
    Delete(PathBuf),
    /// All changes of the file so far are on disk for good.
    Sync(PathBuf),
    /// The test has taken note of so many acknowledgements.
    Acknowledged(usize),
}

/// What a test asked for on its thread.
#[derive(Default)]
struct Plan {
    writes: usize,
    reads: usize,
    fails: Option<(usize, Fault, Lasting)>,
    /// Calls pass and do not count.
    aside: bool,
    noted: Option<Vec<Change>>,
    /// Files that SQLite opened for itself, in a directory for temporary files.
    temporary: usize,
    open: HashMap<usize, PathBuf>,
}

/// SQLite's functions for a file, some of them ours, and those that were there.
#[repr(C)]
struct Methods {
    ours: ffi::sqlite3_io_methods,
    system: &'static ffi::sqlite3_io_methods,
}

/// The system's own access to files. Both were made to be shared by threads.
struct System(*mut ffi::sqlite3_vfs);

// SAFETY: SQLite calls it from any thread.
unsafe impl Sync for System {}

// SAFETY: as above.
unsafe impl Send for System {}

thread_local! {
    static PLAN: RefCell<Plan> = RefCell::default();
}

static SYSTEM: std::sync::OnceLock<System> = std::sync::OnceLock::new();

/// Puts the disk in its place, and forgets what was asked for on this thread.
pub(super) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: SQLite is asked for what it has by default, which lives as long as the process, and gets a copy of it
        // that does as well.
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

/// The call of this number, from 0, goes wrong: of those that read for [`Fault::Unread`], else of those that write.
pub(super) fn fail(call: usize, fault: Fault, lasting: Lasting) {
    install();
    plan(|plan| plan.fails = Some((call, fault, lasting)));
}

/// Nothing goes wrong from now on.
pub(super) fn mend() {
    plan(|plan| plan.fails = None);
}

/// Does something of which the disk takes no notice.
pub(super) fn aside<T>(work: impl FnOnce() -> T) -> T {
    plan(|plan| plan.aside = true);
    let done = work();
    plan(|plan| plan.aside = false);
    done
}

/// How many calls there were that wrote, and that read, since [`install`] or [`fail`].
pub(super) fn calls() -> (usize, usize) {
    plan(|plan| (plan.writes, plan.reads))
}

/// How many files SQLite has put into a directory for temporary files.
pub(super) fn temporary_files() -> usize {
    plan(|plan| plan.temporary)
}

/// Notes all changes from now on.
pub(super) fn note() {
    install();
    plan(|plan| plan.noted = Some(Vec::new()));
}

/// Notes an acknowledgement among the changes.
pub(super) fn acknowledged(count: usize) {
    plan(|plan| plan.noted.as_mut().unwrap().push(Change::Acknowledged(count)));
}

/// The changes that were noted.
pub(super) fn noted() -> Vec<Change> {
    plan(|plan| plan.noted.take()).unwrap()
}

fn plan<T>(work: impl FnOnce(&mut Plan) -> T) -> T {
    PLAN.with_borrow_mut(work)
}

impl Plan {
    fn write(&mut self) -> Option<Fault> {
        if self.aside {
            return None;
        }
        self.writes += 1;
        self.fails.filter(|(_, fault, _)| *fault != Fault::Unread).and_then(|fails| due(fails, self.writes))
    }

    fn read(&mut self) -> Option<Fault> {
        if self.aside {
            return None;
        }
        self.reads += 1;
        self.fails.filter(|(_, fault, _)| *fault == Fault::Unread).and_then(|fails| due(fails, self.reads))
    }

    fn note(&mut self, change: impl FnOnce() -> Change) {
        if let Some(noted) = &mut self.noted {
            noted.push(change());
        }
    }

    fn name(&self, file: *mut ffi::sqlite3_file) -> PathBuf {
        self.open.get(&(file as usize)).cloned().unwrap_or_default()
    }
}

fn due((call, fault, lasting): (usize, Fault, Lasting), now: usize) -> Option<Fault> {
    let due = match lasting {
        Lasting::Once => call + 1 == now,
        Lasting::On => call < now,
    };
    due.then_some(fault)
}

fn system() -> *mut ffi::sqlite3_vfs {
    SYSTEM.get().unwrap().0
}

/// The functions of the system for an open file.
///
/// # Safety
/// The file was opened by [`open`] and is not closed.
unsafe fn methods(file: *mut ffi::sqlite3_file) -> &'static ffi::sqlite3_io_methods {
    // SAFETY: `open` has put our table there, which lives as long as the process.
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
        // SAFETY: SQLite hands over a text that ends with a zero.
        false => Some(path(unsafe { CStr::from_ptr(name) })),
    };
    let creates = flags & ffi::SQLITE_OPEN_CREATE != 0 && path.as_deref().is_none_or(|path| !path.exists());
    let fault = plan(|plan| {
        plan.temporary += usize::from(path.is_none());
        if creates { plan.write() } else { None }
    });
    if fault.is_some() {
        // SAFETY: SQLite wants to see that nothing was opened.
        unsafe { (*file).pMethods = std::ptr::null() };
        return ffi::SQLITE_CANTOPEN;
    }
    // SAFETY: the arguments are SQLite's own. What is opened gets a table of functions of the same kind.
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

/// The table in which ours stand before those of the system. There are few, and each is made once for a thread.
fn ours(system: &'static ffi::sqlite3_io_methods) -> &'static Methods {
    thread_local! {
        static MADE: RefCell<HashMap<usize, &'static Methods>> = RefCell::default();
    }
    MADE.with_borrow_mut(|made| {
        *made.entry(std::ptr::from_ref(system) as usize).or_insert_with(|| {
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
    // SAFETY: a text that ends with a zero.
    let path = path(unsafe { CStr::from_ptr(name) });
    if plan(Plan::write).is_some() {
        return ffi::SQLITE_IOERR_DELETE;
    }
    plan(|plan| plan.note(|| Change::Delete(path)));
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
    let (written, answer) = match fault {
        None => (bytes, ffi::SQLITE_OK),
        Some(Fault::Half) => (bytes / 2, ffi::SQLITE_FULL),
        Some(Fault::Full) => (0, ffi::SQLITE_FULL),
        Some(Fault::Broken | Fault::Unread) => (0, ffi::SQLITE_IOERR_WRITE),
    };
    plan(|plan| {
        let path = plan.name(file);
        plan.note(|| {
            // SAFETY: SQLite says how many bytes there are.
            let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), size(bytes)) };
            Change::Write(path, size(at), bytes.to_vec())
        });
    });
    // SAFETY: the arguments are SQLite's own, and no more bytes than it has.
    let done = unsafe { methods(file).xWrite.unwrap()(file, from, written, at) };
    if answer == ffi::SQLITE_OK { done } else { answer }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, to: i64) -> c_int {
    if plan(Plan::write).is_some() {
        return ffi::SQLITE_IOERR_TRUNCATE;
    }
    plan(|plan| {
        let path = plan.name(file);
        plan.note(|| Change::Truncate(path, size(to)));
    });
    // SAFETY: the arguments are SQLite's own.
    unsafe { methods(file).xTruncate.unwrap()(file, to) }
}

/// The system is not asked: the process that looks at the file later runs on the same one.
unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    if plan(Plan::write).is_some() {
        return ffi::SQLITE_IOERR_FSYNC;
    }
    plan(|plan| {
        let path = plan.name(file);
        plan.note(|| Change::Sync(path));
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
