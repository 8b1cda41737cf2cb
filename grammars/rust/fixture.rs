//! A module that shows every construct the outline knows.
use std::collections::{BTreeMap, HashMap as Map};
use crate::key::FileKey;
pub use self::inner::Inner;
extern crate alloc;

mod elsewhere;

/// Text.
pub const LIMIT: usize = 1 << 20;
static mut COUNTER: u32 = 0;
pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, Clone)]
#[non_exhaustive]
/// Between an attribute and its item.
pub struct Größe<'a, T: Ord = u8>
where
    T: Clone,
{
    pub width: u32,
    names: Map<&'a str, Vec<T>>,
}

pub struct Pair(pub u32, String);
struct Unit;

pub(crate) enum Error {
    Io(std::io::Error),
    Parse { line: usize, text: String },
    Code = 3,
}

union Bits { int: u32, float: f32 }

pub trait Shape: Send + Sync {
    const SIDES: usize = 4;
    type Output;
    fn area(&self) -> f64;
    fn name(&self) -> String {
        let local = "x".to_string();
        local
    }
}

impl<'a, T: Ord + Clone> Shape for Größe<'a, T> {
    type Output = T;
    fn area(&self) -> f64 {
        fn helper(x: f64) -> f64 { x }
        helper(self.width as f64) // calls
    }
}

impl<T: Ord> Größe<'_, T> {
    #[must_use]
    pub async unsafe fn new(
        width: u32, // how wide
        names: FileKey,
    ) -> Self {
        compute_names(names, |entry| entry.width);
        BTreeMap::new()
    }
}

#[macro_export]
macro_rules! square {
    ($x:expr) => { $x * $x };
}

pub mod inner {
    pub struct Inner;
    pub extern "C" fn exported() {}
}

extern "C" {
    fn imported(x: i32) -> i32;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture() -> Unit { Unit }

    #[test]
    fn works() { fixture(); }

    #[tokio::test]
    #[ignore]
    async fn works_later() {}
}
