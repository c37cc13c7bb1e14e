//! Integer sums that merge: any order, any tree, the same bytes.
//!
//! [`sums!`] declares a struct whose fields are sums; merging, writing and reading follow from the
//! list of fields. Numbers are LEB128, lists of counts name only what is not zero. Additions stop
//! at a bound instead of overflowing, which keeps them associative whatever a file claims.

use seekwell_io::histogram::Histogram;
use seekwell_io::units::Nanos;
use std::collections::BTreeMap;

/// No count of anything is larger; a file that claims more is refused.
pub(super) const MOST: u64 = 1 << 56;
/// The same of sums of times and their squares.
const MOST_SUM: u128 = 1 << 122;
/// No name is longer.
const MOST_NAME: usize = 4096;

/// Something with one canonical form in bytes.
pub(super) trait Wire: Sized {
    fn put(&self, out: &mut Vec<u8>);
    /// Takes it off the front; `None` if it is damaged.
    fn take(from: &mut &[u8]) -> Option<Self>;
}

/// Something that adds up.
pub(super) trait Sum: Wire {
    fn merge(&mut self, other: Self);
}

/// Declares a struct of sums.
macro_rules! sums {
    (
        $(#[$doc:meta])*
        struct $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default)]
        pub(in crate::stats) struct $name { $($(#[$field_doc])* pub $field: $type,)* }

        impl $crate::stats::sum::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::stats::sum::Wire::put(&self.$field, out);)*
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: $crate::stats::sum::Wire::take(from)?,)* })
            }
        }

        impl $crate::stats::sum::Sum for $name {
            fn merge(&mut self, other: Self) {
                $($crate::stats::sum::Sum::merge(&mut self.$field, other.$field);)*
            }
        }
    };
}
pub(super) use sums;

/// All of them together, at most [`u64::MAX`].
pub(super) fn total<'a>(counts: impl IntoIterator<Item = &'a u64>) -> u64 {
    counts.into_iter().fold(0, |sum, n| sum.saturating_add(*n))
}

impl Wire for u128 {
    fn put(&self, out: &mut Vec<u8>) {
        let mut left = *self;
        while left > 0x7f {
            out.push(left as u8 | 0x80);
            left >>= 7;
        }
        out.push(left as u8);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut value = 0;
        for shift in (0..126).step_by(7) {
            let (first, rest) = from.split_first()?;
            *from = rest;
            value |= Self::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                return (value <= MOST_SUM).then_some(value);
            }
        }
        None
    }
}

impl Sum for u128 {
    fn merge(&mut self, other: Self) {
        *self = self.saturating_add(other).min(MOST_SUM);
    }
}

impl Wire for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        u128::from(*self).put(out);
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        Self::try_from(u128::take(from)?).ok().filter(|n| *n <= MOST)
    }
}

impl Sum for u64 {
    fn merge(&mut self, other: Self) {
        *self = self.saturating_add(other).min(MOST);
    }
}

/// Whether any of them said so.
impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(u64::take(from)? != 0)
    }
}

impl Sum for bool {
    fn merge(&mut self, other: Self) {
        *self |= other;
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        out.extend_from_slice(self.as_bytes());
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        let len = usize::try_from(u64::take(from)?).ok().filter(|len| *len <= MOST_NAME)?;
        let (name, rest) = from.split_at_checked(len)?;
        *from = rest;
        Self::from_utf8(name.to_vec()).ok()
    }
}

/// The largest of any 64-bit numbers; 0 of none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Max(pub u64);

impl Wire for Max {
    fn put(&self, out: &mut Vec<u8>) {
        u128::from(self.0).put(out);
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        u64::try_from(u128::take(from)?).ok().map(Self)
    }
}

impl Sum for Max {
    fn merge(&mut self, other: Self) {
        self.0 = self.0.max(other.0);
    }
}

/// The smallest of any, if there is one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Min(pub Option<u64>);

impl Wire for Min {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.map_or(0, |least| u128::from(least) + 1).put(out);
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        let least = u128::take(from)?.checked_sub(1);
        least.map_or(Some(Self(None)), |least| Some(Self(Some(u64::try_from(least).ok()?))))
    }
}

impl Sum for Min {
    fn merge(&mut self, other: Self) {
        self.0 = self.0.into_iter().chain(other.0).min();
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        Some((A::take(from)?, B::take(from)?))
    }
}

impl<A: Sum, B: Sum> Sum for (A, B) {
    fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
        self.1.merge(other.1);
    }
}

impl<T: Wire, const N: usize> Wire for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|one| one.put(out));
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        let all: Option<Vec<T>> = (0..N).map(|_| T::take(from)).collect();
        all?.try_into().ok()
    }
}

impl<T: Sum, const N: usize> Sum for [T; N] {
    fn merge(&mut self, other: Self) {
        self.iter_mut().zip(other).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}

impl<K: Wire + Ord, V: Wire> Wire for BTreeMap<K, V> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        for (key, value) in self {
            key.put(out);
            value.put(out);
        }
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        let n = u64::take(from)?;
        (0..n).map(|_| Some((K::take(from)?, V::take(from)?))).collect()
    }
}

impl<K: Wire + Ord, V: Sum + Default> Sum for BTreeMap<K, V> {
    fn merge(&mut self, other: Self) {
        for (key, value) in other {
            self.entry(key).or_default().merge(value);
        }
    }
}

/// `N` counts, of which most are zero.
#[derive(Debug, Clone)]
pub(super) struct Counts<const N: usize>(pub Box<[u64]>);

impl<const N: usize> Default for Counts<N> {
    fn default() -> Self {
        Self(vec![0; N].into_boxed_slice())
    }
}

impl<const N: usize> Wire for Counts<N> {
    fn put(&self, out: &mut Vec<u8>) {
        put_sparse(&self.0, out);
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut all = Self::default();
        for (at, n) in take_sparse(from, N)? {
            all.0[at] = n;
        }
        Some(all)
    }
}

impl<const N: usize> Sum for Counts<N> {
    fn merge(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}

fn put_sparse(counts: &[u64], out: &mut Vec<u8>) {
    let used = || counts.iter().enumerate().filter(|(_, n)| **n > 0);
    (used().count() as u64).put(out);
    for (at, n) in used() {
        (at as u64).put(out);
        n.put(out);
    }
}

fn take_sparse(from: &mut &[u8], most: usize) -> Option<Vec<(usize, u64)>> {
    let n = u64::take(from).filter(|n| *n <= most as u64)?;
    let one = |_| {
        let at = usize::try_from(u64::take(from)?).ok().filter(|at| *at < most)?;
        Some((at, u64::take(from)?))
    };
    (0..n).map(one).collect()
}

impl Wire for Histogram {
    fn put(&self, out: &mut Vec<u8>) {
        let mut bins = vec![0; seekwell_io::histogram::BINS];
        self.sparse().into_iter().for_each(|(bin, n)| bins[bin as usize] = n);
        put_sparse(&bins, out);
        self.sum_ns().put(out);
        for end in [self.min(), self.max()] {
            Max(end.map_or(0, |ns| ns.0)).put(out);
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let bins = take_sparse(from, seekwell_io::histogram::BINS)?;
        let sum_ns = u128::take(from)?;
        let [min, max] = <[Max; 2]>::take(from)?.map(|end| Nanos(end.0));
        let bins: Vec<_> = bins.into_iter().map(|(bin, n)| (bin as u32, n)).collect();
        Self::from_parts(&bins, sum_ns, min, max).filter(|made| made.count() <= MOST)
    }
}

impl Sum for Histogram {
    fn merge(&mut self, other: Self) {
        Self::merge(self, &other);
    }
}

/// Most windows from the first to the last: 48 days of seconds, 8 years of minutes.
const MOST_WINDOWS: u64 = 1 << 22;

/// Counts in windows of equal length, numbered from the epoch.
#[derive(Debug, Clone, Default)]
pub(super) struct Series {
    first: u64,
    counts: Vec<u64>,
    /// It spans too many windows, and nothing is kept.
    too_long: bool,
}

impl Series {
    pub fn add(&mut self, window: u64, n: u64) {
        self.widen(window, window);
        if !self.too_long {
            self.counts[(window - self.first) as usize] += n;
        }
    }

    fn widen(&mut self, from: u64, to: u64) {
        let (low, high) = match self.counts.len() as u64 {
            0 => (from, to),
            n => (self.first.min(from), (self.first + n - 1).max(to)),
        };
        self.too_long |= high - low >= MOST_WINDOWS;
        if self.too_long {
            (self.first, self.counts) = (0, Vec::new());
            return;
        }
        if low < self.first && !self.counts.is_empty() {
            let before = (self.first - low) as usize;
            self.counts.splice(0..0, std::iter::repeat_n(0, before));
        }
        self.first = low;
        if high - low >= self.counts.len() as u64 {
            self.counts.resize((high - low + 1) as usize, 0);
        }
    }

    /// The counts from one window on, up to before another; none if there were too many.
    pub fn between(&self, from: u64, to: u64) -> &[u64] {
        let at = |window: u64| window.saturating_sub(self.first).min(self.counts.len() as u64);
        self.counts.get(at(from) as usize..at(to) as usize).unwrap_or(&[])
    }
}

impl Wire for Series {
    fn put(&self, out: &mut Vec<u8>) {
        self.too_long.put(out);
        self.first.put(out);
        (self.counts.len() as u64).put(out);
        put_sparse(&self.counts, out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let (too_long, first) = (bool::take(from)?, u64::take(from)?);
        let n = u64::take(from).filter(|n| *n <= MOST_WINDOWS)? as usize;
        let used = take_sparse(from, n)?;
        // The ends are used, so a few bytes do not ask for much memory many times over.
        let whole = n == 0 || (used.first()?.0 == 0 && used.last()?.0 == n - 1);
        let mut counts = vec![0; if whole { n } else { return None }];
        used.into_iter().for_each(|(at, n)| counts[at] = n);
        Some(Self { first, counts, too_long })
    }
}

impl Sum for Series {
    fn merge(&mut self, other: Self) {
        self.too_long |= other.too_long;
        let n = other.counts.len() as u64;
        if n == 0 {
            return if self.too_long {
                self.widen(0, MOST_WINDOWS)
            };
        }
        self.widen(other.first, other.first + n - 1);
        if !self.too_long {
            let from = (other.first - self.first) as usize;
            self.counts[from..].iter_mut().zip(other.counts).for_each(|(mine, n)| mine.merge(n));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(of: &impl Wire) -> Vec<u8> {
        let mut out = Vec::new();
        of.put(&mut out);
        out
    }

    #[test]
    fn numbers_keep_their_value_and_those_out_of_bounds_are_refused() {
        for n in [0, 1, 127, 128, MOST] {
            assert_eq!(u64::take(&mut &bytes(&n)[..]), Some(n));
        }
        assert_eq!(u64::take(&mut &bytes(&Max(MOST + 1))[..]), None);
        assert_eq!(u128::take(&mut &[0xff; 40][..]), None);
        for least in [None, Some(0), Some(u64::MAX)] {
            assert_eq!(Min::take(&mut &bytes(&Min(least))[..]).expect("a number").0, least);
        }
    }

    #[test]
    fn a_series_is_the_same_whichever_window_came_first() {
        let of = |windows: &[u64]| {
            let mut series = Series::default();
            windows.iter().for_each(|w| series.add(*w, 1));
            series
        };
        let mut merged = of(&[9, 7]);
        merged.merge(of(&[3, 12, 9]));
        assert_eq!(bytes(&merged), bytes(&of(&[12, 9, 9, 7, 3])));
        assert_eq!(merged.between(3, 10), [1, 0, 0, 0, 1, 0, 2]);
        let mut long = of(&[1, MOST_WINDOWS + 1]);
        assert_eq!(bytes(&long), bytes(&of(&[MOST_WINDOWS + 9, 5, 1])));
        merged.merge(long.clone());
        long.merge(of(&[4]));
        assert_eq!(bytes(&merged), bytes(&long));
        assert!(long.between(0, 9).is_empty());
    }
}
