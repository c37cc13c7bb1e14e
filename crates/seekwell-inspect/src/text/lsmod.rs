//! `lsmod`, and `/proc/modules`, which has the same first columns.

const MOST: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    pub name: String,
    pub size: u64,
    pub used_by: Vec<String>,
}

/// The modules of the text; lines that are none are passed over.
pub fn parse_lsmod(text: &str) -> Vec<Module> {
    text.lines().filter_map(line).take(MOST).collect()
}

fn line(line: &str) -> Option<Module> {
    // libata  409600  2 ahci,libahci, and a fourth column of /proc/modules
    let mut words = line.split_whitespace();
    let name = words.next().filter(|n| n.len() <= 64 && n.chars().all(word))?;
    let size = words.next()?.parse().ok()?;
    words.next()?.parse::<i64>().ok()?;
    let users = words.next().unwrap_or("").split(',');
    let used_by = users.filter(|u| !u.is_empty() && *u != "-").map(str::to_owned);
    Some(Module { name: name.to_owned(), size, used_by: used_by.take(256).collect() })
}

fn word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_read_from_lsmod_and_from_proc() {
        let text = "Module                  Size  Used by\nahci                   49152  3\n\
                    libata                409600  2 ahci,libahci\n\
                    sg 40960 0 - Live 0xffffffffc0405000\n";
        let all = parse_lsmod(text);
        let names: Vec<_> = all.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["ahci", "libata", "sg"]);
        assert_eq!(all[1].used_by, ["ahci", "libahci"]);
        assert_eq!((all[1].size, all[2].used_by.len()), (409_600, 0));
    }

    #[test]
    fn text_that_is_no_list_of_modules_gives_none() {
        for text in ["", "ahci", "ahci x y", "\0\u{1b}[31m 1 2", "a b c d e f"] {
            assert!(parse_lsmod(text).is_empty(), "{text:?}");
        }
        assert_eq!(parse_lsmod(&"m 1 0\n".repeat(9000)).len(), MOST);
    }
}
