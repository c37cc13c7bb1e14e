//! The file that names a fleet's hosts.

use crate::error::FleetError;
use seekwell_sys::read_file_or_pipe;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The most that is read of such a file: a million hosts.
const MAX_BYTES: u64 = 64 << 20;

/// A host, as OpenSSH knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// What `ssh` takes: `db1`, `root@10.0.0.7`, `ssh://db1:2222`.
    pub name: String,
    /// Where it stands: `rack=r1`, `hypervisor=h3`.
    pub labels: BTreeMap<String, String>,
}

/// Reads a file of hosts: one a line, then its labels as `KEY=VALUE`; `#` begins a comment.
///
/// # Errors
/// [`FleetError::Read`], or [`FleetError::Hosts`] with the line that is wrong.
pub fn hosts(path: &Path) -> Result<Vec<Host>, FleetError> {
    let unreadable = |source| FleetError::Read { path: path.to_path_buf(), source };
    let text = String::from_utf8(read_file_or_pipe(path, MAX_BYTES).map_err(unreadable)?);
    let wrong =
        |line: usize, reason: String| FleetError::Hosts { path: path.to_path_buf(), line, reason };
    parse(&text.map_err(|_| wrong(1, "it is not UTF-8 text".into()))?)
        .map_err(|(line, reason)| wrong(line, reason))
}

/// The hosts of a text, or the number of a wrong line and what is wrong with it.
fn parse(text: &str) -> Result<Vec<Host>, (usize, String)> {
    let (mut hosts, mut names) = (Vec::new(), BTreeSet::new());
    for (line, text) in (1..).zip(text.lines()) {
        let mut words = text.split('#').next().unwrap_or_default().split_whitespace();
        let Some(name) = words.next() else { continue };
        // `ssh` would take it for an option.
        if name.starts_with('-') || name.contains(char::is_control) {
            return Err((line, format!("{name:?} is no host name")));
        }
        if !names.insert(name.to_owned()) {
            return Err((line, format!("{name} is named a second time")));
        }
        let mut labels = BTreeMap::new();
        for word in words {
            let label =
                word.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty());
            let Some((key, value)) = label else {
                return Err((line, format!("{word:?} is no label; needed: KEY=VALUE, as rack=r1")));
            };
            labels.insert(key.to_owned(), value.to_owned());
        }
        hosts.push(Host { name: name.to_owned(), labels });
    }
    if hosts.is_empty() { Err((1, "it names no host".into())) } else { Ok(hosts) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_is_a_host_with_its_labels() {
        let hosts = parse("# web\n\nweb1 rack=a hypervisor=h1 # old\nroot@10.0.0.7\n").unwrap();
        assert_eq!(hosts[0].labels["hypervisor"], "h1");
        assert_eq!((hosts.len(), hosts[1].name.as_str()), (2, "root@10.0.0.7"));
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, line, word) in [
            ("a\n-oProxyCommand=reboot\n", 2, "no host name"),
            ("a\nb\na\n", 3, "second time"),
            ("a rack\n", 1, "KEY=VALUE"),
            ("# none\n", 1, "names no host"),
        ] {
            let (at, reason) = parse(text).unwrap_err();
            assert!(at == line && reason.contains(word), "{text:?}: {at} {reason}");
        }
    }

    proptest! {
        #[test]
        fn any_text_gives_hosts_that_ssh_takes_for_hosts_or_an_error(text in "(?s).{0,200}") {
            if let Ok(hosts) = parse(&text) {
                prop_assert!(hosts.iter().all(|h| !h.name.is_empty() && !h.name.starts_with('-')));
            }
        }
    }
}
