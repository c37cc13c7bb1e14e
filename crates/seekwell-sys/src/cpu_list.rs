//! Lists of processors as the kernel writes them.

use std::collections::BTreeSet;

/// More than any kernel is built for (`NR_CPUS` is at most 8192).
const MOST: usize = 1 << 16;

/// The numbers in a list such as `0-3,8`; `None` if it is not such a list.
pub fn cpu_list(list: &str) -> Option<BTreeSet<u32>> {
    let mut all = BTreeSet::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        let range = first..=last;
        if range.is_empty() || (last - first) as usize >= MOST {
            return None;
        }
        all.extend(range);
    }
    (all.len() <= MOST).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_numbers_are_read_and_nonsense_is_not() {
        let list = |text| cpu_list(text).map(|all| all.into_iter().collect::<Vec<_>>());
        assert_eq!(list("0-3,8"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(list("0\n"), Some(vec![0]));
        for nonsense in ["3-0", "", "all", "0-4294967295"] {
            assert_eq!(list(nonsense), None, "{nonsense}");
        }
    }
}
