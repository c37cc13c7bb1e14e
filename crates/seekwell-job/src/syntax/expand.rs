//! `${VARIABLE}`, and the keywords `$ncpus`, `$mb_memory`, `$pagesize`.

use crate::surroundings::Surroundings;

/// The longest value after expansion, in bytes: as long as a line may be.
const LONGEST: usize = 8192;

/// The value with variables and keywords replaced, and whether a keyword was among them. A variable
/// that is not set is empty, as in fio. None when the value becomes too long.
pub(crate) fn expand(value: &str, around: &Surroundings) -> Option<(String, bool)> {
    let mut out = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let Some((name, later)) = after.split_once('}') else {
            out.push_str("${");
            rest = after;
            continue;
        };
        out.push_str(around.variables.get(name).map_or("", String::as_str));
        rest = later;
        if out.len() > LONGEST {
            return None;
        }
    }
    out.push_str(rest);
    let mut keyword = false;
    let known = [
        ("$ncpus", around.cpus),
        ("$mb_memory", around.memory_mib),
        ("$pagesize", around.page_bytes),
    ];
    for (word, number) in known {
        if out.contains(word) {
            keyword = true;
            out = out.replace(word, &number.to_string());
        }
    }
    (out.len() <= LONGEST).then_some((out, keyword))
}
