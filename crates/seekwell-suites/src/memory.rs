//! How much memory a suite may fill: what is more does not fit into the page cache.

use seekwell_sys::MemoryCgroup;
use std::fs::read_to_string;

/// Memory of the machine, or what a cgroup leaves of it, in bytes; `None` if the kernel does not
/// say.
pub fn usable_bytes() -> Option<u64> {
    let info = rustix::system::sysinfo();
    // The fields are as wide as the machine's words, and the unit is for machines of 32 bits.
    let whole = u64::from(info.mem_unit).saturating_mul(info.totalram as u64);
    let cgroup = || {
        let own = read_to_string("/proc/self/cgroup").ok()?;
        let cgroup = MemoryCgroup::find(&read_to_string("/proc/self/mounts").ok()?, &own)?;
        cgroup.limit(|path| read_to_string(path).ok())
    };
    Some(cgroup().map_or(whole, |limit| whole.min(limit))).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_more_than_the_machine_has_is_usable() {
        let whole = seekwell_sys::memory_bytes("MemTotal").unwrap();
        let usable = super::usable_bytes().unwrap();
        assert!(usable > 0 && usable <= whole, "{usable} of {whole} bytes");
    }
}
