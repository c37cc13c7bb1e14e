//! What the kernel says of memory, in `/proc/meminfo`.

/// A line of the text of `/proc/meminfo`, such as `MemTotal`, in bytes.
pub fn meminfo_bytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().strip_suffix("kB")?.trim_end().parse::<u64>().ok()?.checked_mul(1024)
}

/// The same of the running system.
pub fn memory_bytes(name: &str) -> Option<u64> {
    meminfo_bytes(&std::fs::read_to_string("/proc/meminfo").ok()?, name)
}
