//! What the kernel shows of itself, read through one trait.
//!
//! Everything that looks at `/sys`, `/proc`, `/dev` or `/run` goes through [`View`], so that the
//! same code runs on the live system, on a folder a snapshot was unpacked to, on a snapshot kept
//! as text, and on fakes that fail or lie. Nothing here writes.

mod activity;
mod background;
mod bundle;
mod cgroup;
mod class;
mod cpu_list;
mod cpu_time;
mod entry;
pub mod fake;
mod filler;
mod folder;
mod kmsg;
mod live;
pub mod mark;
mod mask;
mod memory;
mod mounts;
mod nearest;
pub mod nvme;
mod path_text;
mod patient;
mod privilege;
mod recording;
pub mod seats;
mod sip;
mod snapshot;
mod stat;
pub mod thread;
mod tree;
pub mod units;
mod usb;
mod view;
mod whole;

pub use activity::{DEEP_IDLE_US, HostActivity, HostCounters, Swapped};
pub use background::Background;
pub use bundle::Bundle;
pub use cgroup::{MemoryCgroup, Version};
pub use class::{Class, Classified};
pub use cpu_list::cpu_list;
pub use cpu_time::CpuTime;
pub use filler::{
    FORMAT, LISTING, LSPCI, MAX_DEPTH, MAX_ENTRIES, MAX_FILE, MAX_HELD, MAX_PATH, SECTIONS,
    SnapshotError,
};
pub use kmsg::{KMSG, KmsgReader, KmsgRecord, read_kmsg};
pub use live::Live;
pub use mask::Mask;
pub use memory::{meminfo_bytes, memory_bytes};
pub use mounts::{DevId, Mount, parse_mountinfo, unescape};
pub use nearest::{did_you_mean, distance, nearest};
pub use path_text::{path_text, text_path};
pub use patient::Patient;
pub use privilege::{sudo, sudo_if_denied};
pub use recording::Recording;
pub use snapshot::{Snapshot, unused};
pub use stat::DiskCounters;
pub use usb::usb_device;
pub use view::{MAX_BYTES, View, ViewError};
pub use whole::{MAX_TEXT, is_wrong_file, read_file, read_file_or_pipe, read_text};
