//! What a mistyped name may have meant.

/// Characters of a name that are looked at: names of kernel objects, settings and metrics are
/// shorter, and what was typed may be anything.
const MOST: usize = 64;

/// The candidates that differ from `name` by at most one character and one more for every four it
/// has, or that begin with it if it has three at least; the most similar first, equals in
/// alphabetical order.
///
/// ```
/// use seekwell_sys::nearest;
/// assert_eq!(nearest("shceduler", ["scheduler", "readahead"]), ["scheduler"]);
/// ```
pub fn nearest<N: AsRef<str> + Ord>(name: &str, candidates: impl IntoIterator<Item = N>) -> Vec<N> {
    let most = 1 + name.chars().count() / 4;
    let near = |candidate: N| {
        let far = distance(name, candidate.as_ref());
        let begins = name.len() > 2 && candidate.as_ref().starts_with(name);
        (far <= most || begins).then_some((far, candidate))
    };
    let mut ranked: Vec<(usize, N)> = candidates.into_iter().filter_map(near).collect();
    ranked.sort();
    ranked.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The end of a message about an unknown name: the name that was probably meant, if any.
///
/// ```
/// use seekwell_sys::did_you_mean;
/// assert_eq!(did_you_mean(Some("sda")), "; did you mean sda?");
/// assert_eq!(did_you_mean(None::<&str>), "");
/// ```
pub fn did_you_mean(near: Option<impl std::fmt::Display>) -> String {
    near.map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}

/// Levenshtein's distance: how many characters have to be put in, taken out or changed to make one
/// name of the other (Levenshtein, 1966). Only the first 64 characters of each count.
pub fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(MOST).collect();
    let b: Vec<char> = b.chars().take(MOST).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_single_changes() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("sda", "sda"), 0);
        assert_eq!(distance("é", "e"), 1, "characters, not bytes");
        assert_eq!(distance(&"a".repeat(9000), ""), MOST);
    }

    #[test]
    fn the_most_similar_come_first_and_strangers_not_at_all() {
        let disks = ["sdb", "sda", "nvme0n1p1", "nvme0n1"];
        assert_eq!(nearest("sdq", disks), ["sda", "sdb"]);
        assert_eq!(nearest("nvm0n1", disks), ["nvme0n1"]);
        assert_eq!(nearest("nvme0", disks), ["nvme0n1", "nvme0n1p1"], "what begins with it");
        assert!(nearest("something", disks).is_empty());
        assert!(nearest("", Vec::<String>::new()).is_empty());
    }
}
