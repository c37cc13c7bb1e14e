//! What control groups allow of each device: throttling that no setting of the disk shows.

use crate::model::{Fact, IoLimit};
use crate::reader::{Reader, show};
use std::path::{Path, PathBuf};

/// Files of the first version, and whether each is of writes and of bytes.
const VERSION_1: [(&str, bool, bool); 4] = [
    ("blkio.throttle.read_bps_device", false, true),
    ("blkio.throttle.read_iops_device", false, false),
    ("blkio.throttle.write_bps_device", true, true),
    ("blkio.throttle.write_iops_device", true, false),
];

/// The limits of this process's groups and all above them.
pub(super) fn read(r: &Reader<'_>) -> Vec<Fact<IoLimit>> {
    let Ok(groups) = r.view.text(Path::new("/proc/self/cgroup")) else { return Vec::new() };
    let mut out = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { continue };
        let group = Path::new(group.trim_start_matches('/'));
        let root = Path::new("/sys/fs/cgroup");
        if controllers.is_empty() {
            above(root, group).for_each(|dir| of_version_2(r, &dir.join("io.max"), &mut out));
        } else if controllers.split(',').any(|name| name == "blkio") {
            for dir in above(&root.join("blkio"), group) {
                for (file, writes, bytes) in VERSION_1 {
                    of_version_1(r, &dir.join(file), (writes, bytes), &mut out);
                }
            }
        }
    }
    out
}

/// A group's folder and those above it.
fn above<'a>(root: &'a Path, group: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
    group.ancestors().map(move |group| root.join(group))
}

/// `7:0 20` on each line.
fn of_version_1(
    r: &Reader<'_>,
    path: &Path,
    (writes, bytes): (bool, bool),
    out: &mut Vec<Fact<IoLimit>>,
) {
    for line in r.view.text(path).unwrap_or_default().lines() {
        let Some((dev, per_s)) = line.split_once(' ') else { continue };
        let Ok(per_s) = per_s.trim().parse() else { continue };
        let limit = IoLimit { dev: dev.to_owned(), writes, bytes, per_s };
        out.push(Fact::new(limit, show(path)));
    }
}

/// `7:0 rbps=max wbps=max riops=max wiops=20` on each line.
fn of_version_2(r: &Reader<'_>, path: &Path, out: &mut Vec<Fact<IoLimit>>) {
    for line in r.view.text(path).unwrap_or_default().lines() {
        let mut words = line.split_whitespace();
        let Some(dev) = words.next() else { continue };
        for (key, value) in words.filter_map(|word| word.split_once('=')) {
            let Ok(per_s) = value.parse() else { continue };
            let (writes, bytes) = (key.starts_with('w'), key.ends_with("bps"));
            let limit = IoLimit { dev: dev.to_owned(), writes, bytes, per_s };
            out.push(Fact::new(limit, show(path)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::fake::Fake;

    #[test]
    fn limits_of_both_versions_are_read_from_the_group_and_those_above_it() {
        let v1 = "/sys/fs/cgroup/blkio/a/blkio.throttle.write_iops_device";
        let v2 = "8:0 rbps=1048576 wbps=max riops=max wiops=max\n";
        let view = Fake::new()
            .file("/proc/self/cgroup", "7:blkio:/a/b\n4:memory:/x\n0::/c\n")
            .file(v1, "7:0 20\n")
            .file("/sys/fs/cgroup/c/io.max", v2);
        let limits = read(&Reader::new(&view));
        let told: Vec<_> = limits.iter().map(|l| l.value.clone()).collect();
        let limit =
            |dev: &str, writes, bytes, per_s| IoLimit { dev: dev.to_owned(), writes, bytes, per_s };
        assert_eq!(told, [limit("7:0", true, false, 20), limit("8:0", false, true, 1 << 20)]);
        assert_eq!(limits[0].from, v1);
    }
}
