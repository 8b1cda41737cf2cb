//! Bakes bread.
#![allow(dead_code)]

use std::collections::HashMap;
use std::fmt;

cfg_if::cfg_if! {
    if #[cfg(unix)] {
        /// Heats the oven.
        pub fn heat(to: u32) -> u32 { to }
        pub struct Oven { pub heat: u32 }
    } else {
        pub fn cool() {}
    }
}

thread_local! {
    static TIMER: std::cell::Cell<u32> = std::cell::Cell::new(0);
}

pub const LOAVES: usize = 12;
static mut COUNT: u32 = 0;
pub type Recipe<'a> = HashMap<&'a str, u32>;

/// A loaf.
#[derive(
    Clone,
    Debug,
)]
pub struct Loaf<T: Clone, const N: usize> {
    pub crust: T,
    #[doc(hidden)] pub(crate) weight: [u32; N],
}
pub struct Grams(pub u32, u8);
pub struct Nothing;

#[repr(u8)]
pub enum Flour { Rye = 1, Wheat { fine: bool }, Mixed(u32, u32) }

pub union Bits { int: u32, float: f32 }

pub trait Knead: fmt::Debug {
    type Output;
    const TIMES: u32 = 3;
    fn knead(&mut self, times: u32) -> Self::Output;
    fn rest(&self) {}
}

impl<T: Clone, const N: usize> Loaf<T, N> {
    pub const fn weight(&self) -> u32 { 3 }
    /// Cuts it.
    #[must_use]
    #[inline]
    pub async unsafe fn cut<'a>(&'a self, slices: usize) -> Vec<&'a T> {
        fn thin() {}
        const INNER: u32 = 1;
        Vec::new()
    }
}

impl<T: Clone, const N: usize> fmt::Display for Loaf<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { Ok(()) }
}
impl Knead for Grams { type Output = (); fn knead(&mut self, times: u32) {} }
impl From<u32> for Grams { fn from(from: u32) -> Self { Self(from, 0) } }
impl From<u8> for Grams { fn from(from: u8) -> Self { Self(0, from) } }

#[macro_export]
macro_rules! slice { ($e:expr) => { $e }; }

pub mod shelf {
    pub(super) fn put(loaf: &str) {}
    pub mod top { pub struct Basket; }
}

extern "C" { fn oven_on(level: i32) -> i32; }

#[cfg(test)]
mod tests {
    #[test]
    fn rises() {}
}
