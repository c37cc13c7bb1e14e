//! fio's engines by name, and the options of its command.

use crate::job::EngineKind;

/// What is known of an engine.
pub(crate) enum Found {
    /// This program has it, or one that does the same.
    Kind(EngineKind),
    /// fio has it; this program does not, because it is for something else.
    Refused(&'static str),
    /// Unknown; these names are near.
    Unknown(Vec<&'static str>),
}

const DONE: &[(&str, EngineKind)] = &[
    ("sync", EngineKind::Sync),
    ("psync", EngineKind::Psync),
    ("vsync", EngineKind::Vsync),
    ("pvsync", EngineKind::Pvsync),
    ("pvsync2", EngineKind::Pvsync2),
    ("libaio", EngineKind::Libaio),
    ("linuxaio", EngineKind::Libaio),
    ("aio", EngineKind::Libaio),
    ("io_uring", EngineKind::IoUring),
    ("io_uring_cmd", EngineKind::IoUringCmd),
    ("posixaio", EngineKind::Posixaio),
    ("posix-aio", EngineKind::Posixaio),
    ("mmap", EngineKind::Mmap),
    ("null", EngineKind::Null),
];

/// Storage behind a network or a library of its own.
const REMOTE: &str = "it reaches storage through a network or a library, not through the kernel's \
                      files and block devices";
/// SCSI and zone commands.
const PASSTHROUGH: &str = "it sends commands past the block layer, where this program cannot check \
                           what they write to";
/// Memory as storage.
const MEMORY: &str = "it drives persistent memory, accelerators or raw flash through a library";
/// File system calls.
const FILES: &str = "it measures file system calls other than reads and writes; see \
                     `seekwell bench --suite fs`";
/// Not storage.
const OTHER: &str = "it does not drive storage";

/// Why engines are refused, and their names, separated by blanks.
const REFUSED: &[(&str, &str)] = &[
    (OTHER, "net netsplice rdma cpuio page_fault"),
    ("it runs programs that the job file names", "exec"),
    ("it loads a library that the job file names", "external cpp_null"),
    ("it is for pipes", "splice"),
    ("it is for Windows", "windowsaio"),
    ("it is for Solaris", "solarisaio"),
    (
        FILES,
        "e4defrag falloc ftruncate filecreate filestat filedelete filexattr dircreate \
         dirstat dirdelete",
    ),
    (
        REMOTE,
        "gfapi gfapi_async rados rbd http nfs nbd libhdfs libiscsi dfs ime_psync \
         ime_psyncv ime_aio guasi fusion-aw-sync",
    ),
    (PASSTHROUGH, "sg libzbc libblkio xnvme"),
    (
        MEMORY,
        "mtd pmemblk libpmem dev-dax libcufile libhipfile librpma_apm_client \
         librpma_apm_server librpma_gpspm_client librpma_gpspm_server",
    ),
];

/// Finds an engine by its name.
pub(crate) fn engine(name: &str) -> Found {
    if let Some((_, kind)) = DONE.iter().find(|(known, _)| *known == name) {
        return Found::Kind(*kind);
    }
    let external = name.starts_with("external:") || name.starts_with('/') || name.starts_with("./");
    let base = if external { "external" } else { name };
    let is_named = |names: &str| names.split_ascii_whitespace().any(|known| known == base);
    match REFUSED.iter().find(|(_, names)| is_named(names)) {
        Some((why, _)) => Found::Refused(why),
        None => {
            let known = DONE.iter().map(|(known, _)| *known);
            Found::Unknown(seekwell_sys::nearest(name, known))
        }
    }
}

/// Options of the fio command itself, separated by blanks.
pub(super) const COMMAND: &str = "output output-format append-terse minimal \
     terse-version eta eta-interval eta-newline status-interval section showcmd parse-only \
     readonly max-jobs debug client server \
     daemonize remote-config idle-prof inflate-log trigger trigger-file trigger-remote \
     trigger-timeout aux-path alloc-size warnings-fatal bandwidth-log latency-log \
     merge-blktrace-only cmdhelp enghelp crctest cpuclock-test help version";
