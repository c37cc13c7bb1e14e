//! Putting values and commands into words.

use crate::look::disk_name;
use seekwell_inspect::{Device, DeviceKind, Evidence, Fact, Inspection};
pub(crate) use seekwell_io::units::{
    bytes, bytes_per_s, requests_per_s as per_s, time as ns, whole_percent as percent,
};

pub(crate) fn evidence(seen: impl Into<String>, from: impl Into<String>) -> Evidence {
    Evidence { seen: seen.into(), from: from.into() }
}

pub(crate) fn fact<T: std::fmt::Display>(what: &str, f: &Fact<T>) -> Evidence {
    evidence(format!("{what}: {}", f.value), &f.from)
}

pub(crate) fn fact_bytes(what: &str, f: &Fact<u64>) -> Evidence {
    evidence(format!("{what}: {}", bytes(f.value)), &f.from)
}

/// A path or name as one word of a shell command.
pub(crate) fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The command that measures the device under the target itself, past the file system; reads only.
pub(crate) fn measure_device(inspection: &Inspection) -> String {
    match &inspection.device {
        Some(d) if d.kind == DeviceKind::Pool => {
            let member = d.below.first().map_or("DISK", |member| &member.name);
            format!("sudo seekwell checkup /dev/{member}")
        }
        Some(d) => format!("sudo seekwell checkup /dev/{}", d.name),
        None => {
            "seekwell checkup DIRECTORY, with a directory on a local disk (findmnt --real lists \
                 what is mounted)"
                .into()
        }
    }
}

/// The command that writes a value to a file only root may write.
pub(crate) fn set(value: &str, path: &str) -> String {
    format!("echo {value} | sudo tee {path}")
}

/// The command that sets one of a disk's queue settings; a partition's are its disk's.
pub(crate) fn set_queue(device: &Device, setting: &str, value: &str) -> String {
    set(value, &format!("/sys/block/{}/queue/{setting}", disk_name(device)))
}

/// The commands that have the kernel forget a disk and find it again, which clears what error
/// handling left behind.
pub(crate) fn replug(device: &Device) -> String {
    let host = device.detail.scsi.as_ref().and_then(|s| s.address.split(':').next());
    match host.filter(|h| !h.is_empty()) {
        Some(host) => format!(
            "with the disk unmounted and out of every array: \
             echo 1 | sudo tee /sys/block/{}/device/delete; \
             echo '- - -' | sudo tee /sys/class/scsi_host/host{host}/scan",
            device.name
        ),
        None => "reboot".to_owned(),
    }
}

/// Tenths of a gigabit a second as people write it.
pub(crate) fn in_gbps(tenths: u64) -> String {
    format!("{}.{} Gbps", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_into_words_with_their_units() {
        assert_eq!(bytes(512), "512 bytes");
        assert_eq!(bytes(128 << 10), "128 KiB");
        assert_eq!(bytes((1 << 30) + (1 << 29)), "1.50 GiB");
        assert_eq!(per_s(1_234_000.0), "1.23M requests/s");
        assert_eq!(per_s(57.6), "57.6 requests/s");
        assert_eq!(bytes_per_s(512e6), "512 MB/s");
        assert_eq!(ns(87_300.0), "87.3 µs");
        assert_eq!(percent(0.426), "43 %");
    }

    #[test]
    fn a_path_with_blanks_stays_one_word_of_a_command() {
        assert_eq!(quote("/mnt/data-1"), "/mnt/data-1");
        assert_eq!(quote("/mnt/my disk"), "'/mnt/my disk'");
        assert_eq!(quote("it's; reboot"), r"'it'\''s; reboot'");
    }
}
